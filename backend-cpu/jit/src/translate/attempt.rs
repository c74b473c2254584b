//! Blocks, and what is tried before them.

use super::Translator;
use crate::emit;
use crate::graph::pairs::Made;
use crate::graph::{Graph, NO, Node, Val};
use crate::op::Op;
use crate::program::{Block, Straight};
use crate::tree::Run;

/// How many loads of words at known distances make up for a block that is there twice.
const NEAR: usize = 16;

impl Translator<'_> {
    pub(super) fn block(&mut self, run: &Run<'_>) -> Option<Block> {
        let made = self.graph(run, Graph::new(self.lazy))?;
        self.wide |= made.0.gains_from_whole(self.kept.is_some());
        let flush = |node: &&Node| matches!(node, Node::Inst(inst) if inst.op == Op::Flush);
        let often = if self.kept.is_some() { 16 } else { 1 };
        self.flushes += often * made.0.nodes.iter().filter(flush).count();
        // Where there are few flushes, there are few products.
        let tried = self.lazy || !self.target.denormals_as_zeros();
        let leaves = !made.0.leaves.is_empty();
        let attempt = if tried && !leaves { self.attempt(&made) } else { None };
        let body = self.straight(made);
        let attempt = attempt.or_else(|| if leaves { None } else { self.near(&body) });
        Some(Block { body, attempt })
    }

    /// The same with one question where many loads are, if that pays.
    fn near(&self, body: &Straight) -> Option<(Straight, Val)> {
        let Straight { graph, outputs, test, .. } = body;
        let loads = |node: &&Node| matches!(node, Node::Inst(inst) if inst.op.loads());
        if graph.nodes.iter().filter(loads).count() < NEAR {
            return None;
        }
        let values: Vec<(u32, Val)> = outputs.iter().map(|output| (output.row, output.val)).collect();
        let pays = emit::near(graph, &graph.needed(&values, *test), self.target) >= NEAR;
        let straight =
            || Straight { graph: graph.to_extend(), outputs: outputs.clone(), test: *test, next: Vec::new() };
        (pays && !graph.nodes.iter().any(Node::acts)).then(|| (straight(), NO))
    }

    /// The same without tests for zeros, if that pays.
    fn attempt(&self, made: &Made) -> Option<(Straight, Val)> {
        let (full, outputs, test) = made;
        let doubts = full.few_doubts(&wanted(made))?;
        let (mut plain, mut outputs) = (full.without_asking(), outputs.clone());
        plain.believe(&doubts, &mut outputs);
        let doubted = plain.doubted(doubts)?;
        let values = outputs.iter().map(|(_, val)| *val).chain(*test).chain([doubted]);
        let (graph, place) = plain.lowered(self.target, values);
        Some((self.placed(graph, &place, outputs, *test), place[doubted.index()]))
    }
}

/// What leaves a block.
fn wanted((_, outputs, test): &Made) -> Vec<Val> {
    outputs.iter().map(|&(_, val)| val).chain(*test).collect()
}
