//! From the steps of a run to a graph.

use std::collections::HashMap;

use recal_il::isa::{Algebra, LaneOp, lane};

use crate::NONE;
use crate::Step;
use crate::emit::Frame;
use crate::encode::inst::{PGATHERDD, PSCATTERDD};
use crate::flow::Runs;
use crate::graph::{self, Form, Graph, Node, Val};
use crate::kept::Kept;
use crate::tree::{Run, Tree, each_run};

/// Most instructions of a run.
const LONGEST: usize = 12000;

/// Makes the code of runs.
pub struct Translator<'c, C, U> {
    /// The words of rows that never change.
    pub constant: &'c C,
    /// Lanes that do not execute never show what they have in a row.
    pub unseen: &'c U,
    /// Instructions on floats take denormals as zeros.
    pub lazy: bool,
    /// How many flushes there are, those in loops counted several times.
    pub flushes: usize,
    /// What the innermost loop finds ready.
    pub kept: Option<Kept>,
}

impl<C: Fn(u32) -> Option<u32>, U: Fn(u32) -> bool> Runs for Translator<'_, C, U> {
    fn run(&mut self, frame: &mut Frame<'_>, run: &Run<'_>) -> Option<Option<u8>> {
        let (mut graph, outputs, test) = self.graph(run, Graph::new(self.lazy))?;
        let flush = |node: &&Node| matches!(node, Node::Inst(inst) if inst.form == Form::Flush);
        let often = if frame.pinned.is_empty() { 1 } else { 16 };
        self.flushes += often * graph.nodes.iter().filter(flush).count();
        if self.lazy {
            let (mut plain, outputs_of_plain, test_of_plain) = self.graph(run, Graph::plain())?;
            let wanted: Vec<Val> =
                outputs_of_plain.iter().map(|&(_, val)| val).chain(test_of_plain).collect();
            let doubts = plain.doubts(&wanted);
            let store = |node: &Node| matches!(node, Node::Inst(inst) if matches!(inst.form, Form::Store | Form::Return));
            let pays = plain.plain_products.len() > 4 + 2 * doubts.len() && !plain.nodes.iter().any(store);
            if let Some(doubted) = if pays { plain.doubted(doubts) } else { None } {
                let body = frame.attempt(&mut plain, &outputs_of_plain, self.unseen, test_of_plain, doubted);
                let slow = frame.block(&mut graph, &outputs, self.unseen, test);
                return Some(frame.attempted(body, slow));
            }
        }
        Some(frame.block(&mut graph, &outputs, self.unseen, test))
    }

    fn constant(&self, row: u32) -> bool {
        (self.constant)(row).is_some()
    }

    fn enter(&mut self, frame: &mut Frame<'_>, body: &[Tree<'_>]) {
        let mut kept = Kept::new(body, self.lazy);
        each_run(body, &mut |run| {
            // What can't be made is noticed when its code is wanted.
            if let Some((graph, outputs, _)) = self.graph(run, Graph::new(self.lazy)) {
                kept.want(&graph, &outputs);
            }
        });
        kept.compute(frame);
        self.kept = Some(kept);
    }

    fn leave(&mut self, frame: &mut Frame<'_>) {
        if let Some(kept) = self.kept.take() {
            kept.end(frame);
        }
    }
}

/// A graph, the rows that it changes and the mask of its test.
type Made = (Graph, Vec<(u32, Val)>, Option<Val>);

impl<C: Fn(u32) -> Option<u32>, U> Translator<'_, C, U> {
    /// The steps of a run in a graph, which is empty.
    fn graph(&self, run: &Run<'_>, mut graph: Graph) -> Option<Made> {
        let mut values = Values { constant: self.constant, rows: HashMap::new(), written: Vec::new() };
        for step in &run.steps {
            values.step(&mut graph, step);
            if graph.unsupported || graph.nodes.len() > LONGEST {
                return None;
            }
        }
        let test = run.test.map(|row| {
            let word = values.value(&mut graph, row);
            graph.tested(word)
        });
        values.written.sort_unstable();
        values.written.dedup();
        let live = values.written.iter().filter(|&&row| run.live.contains(row));
        let outputs = live.map(|&row| (row, values.rows[&row])).collect();
        if let Some(kept) = &self.kept {
            kept.replace(&mut graph);
        }
        Some((graph, outputs, test))
    }
}

/// What rows hold.
struct Values<'c, C> {
    constant: &'c C,
    rows: HashMap<u32, Val>,
    written: Vec<u32>,
}

impl<C: Fn(u32) -> Option<u32>> Values<'_, C> {
    fn value(&mut self, graph: &mut Graph, row: u32) -> Val {
        *self.rows.entry(row).or_insert_with(|| match (self.constant)(row) {
            Some(word) => graph.word(word),
            None => graph.add(Node::Row(row)),
        })
    }

    fn write(&mut self, row: u32, val: Val) {
        self.rows.insert(row, val);
        self.written.push(row);
    }

    fn step(&mut self, graph: &mut Graph, step: &Step<'_>) {
        match *step {
            Step::Lane { op, ids, writes } => {
                let (to, from) = ids.split_at(writes);
                let words: Vec<Val> = from.iter().map(|&row| self.value(graph, row)).collect();
                graph.floats = false;
                let (lo, hi) = lane::apply(graph, op, &words);
                // Code that looks at the bits of floats on the way may want denormals.
                graph.unsupported |= graph.lazy && graph.floats && !flushes(op);
                to.iter().zip(std::iter::once(lo).chain(hi)).for_each(|(&row, val)| self.write(row, val));
            }
            Step::Load { view, address, to, flush } => {
                let (bytes, two) = (self.value(graph, address), graph.word(2));
                let first = graph.shr(bytes, two);
                let reach = 4 - to.iter().rev().take_while(|&&row| row == NONE).count() as u32;
                self.load(graph, view, first, reach, to, flush);
            }
            Step::Sample { view, sample, coordinates, to, flush } => {
                let coordinates = coordinates.map(|row| (row != NONE).then(|| self.value(graph, row)));
                let first = graph.sampled(view, &sample, coordinates);
                if sample.words == 1 {
                    let word = graph.inst(Form::Load, PGATHERDD, [first, graph::NO, graph::NO], view);
                    for (k, row) in to.into_iter().enumerate().filter(|&(_, row)| row != NONE) {
                        self.write(row, if flush >> k & 1 == 1 { graph.flush(word) } else { word });
                    }
                    return;
                }
                let mut inside = to;
                for (k, row) in (0..4).zip(to).filter(|&(k, row)| k >= sample.words && row != NONE) {
                    let word = graph.word(if k == 3 { sample.missing } else { 0 });
                    self.write(row, if flush >> k & 1 == 1 { graph.flush(word) } else { word });
                    inside[k as usize] = NONE;
                }
                self.load(graph, view, first, sample.words, inside, flush);
            }
            Step::Store { view, address, from } => {
                let (bytes, two) = (self.value(graph, address), graph.word(2));
                let index = graph.shr(bytes, two);
                let from = self.value(graph, from);
                graph.inst(Form::Store, PSCATTERDD, [index, from, graph::NO], view);
            }
            Step::Test { row } => {
                let word = self.value(graph, row);
                graph.result(word);
            }
            Step::If { .. } | Step::Else | Step::EndIf | Step::Loop | Step::EndLoop | Step::Break(_) => {
                unreachable!("constructs are no steps of a run")
            }
        }
    }

    /// Loads components of elements of `words` words, whose first words have the numbers `first`.
    fn load(&mut self, graph: &mut Graph, view: u8, first: Val, words: u32, to: [u32; 4], flush: u8) {
        let wanted = to.iter().filter(|&&row| row != NONE).count();
        let group = (wanted > 1).then(|| graph.group(view, first, if words > 2 { 4 } else { 2 }));
        for (k, row) in (0..4u32).zip(to).filter(|&(_, row)| row != NONE) {
            let word = match group {
                Some(parts) => parts[k as usize],
                None => {
                    let offset = graph.word(k);
                    let index = graph.iadd(first, offset);
                    graph.inst(Form::Load, PGATHERDD, [index, graph::NO, graph::NO], view)
                }
            };
            self.write(row, if flush >> k & 1 == 1 { graph.flush(word) } else { word });
        }
    }
}

/// The operation takes flushed floats, gives what is flushed, and has no denormals on the way that matter.
fn flushes(op: LaneOp) -> bool {
    use LaneOp::*;
    matches!(
        op,
        Flush
            | Canon
            | Add
            | Sub
            | Mul
            | MulIeee
            | Mad
            | MadIeee
            | Fma
            | Lrp
            | Min
            | Max
            | MinIeee
            | MaxIeee
            | Min3
            | Med3
            | Max3
            | Clamp
            | Saturate
            | Sgn
            | Frc
            | Floor
            | Ceil
            | Trunc
            | RoundNearest
            | Rnd
            | Div
            | Rcp
            | Sqrt
            | Ne
            | Eq
            | Ge
            | Gt
            | Le
            | Lt
            | SetNe
            | SetEq
            | SetGe
            | SetGt
            | SetLe
            | SetLt
            | Cmov
            | FtoiFlr
            | FtoiRpi
    )
}
