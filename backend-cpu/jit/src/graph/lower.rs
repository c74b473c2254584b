//! A program in the operations that a target has.

use super::{Graph, Inst, Leave, NO, Node, Val};
use crate::op::Op;
use crate::target::Target;

impl Graph {
    /// The same for a target, and where each value is in it.
    pub fn lowered(&self, target: &dyn Target) -> (Graph, Vec<Val>) {
        let mut graph = Graph { fixed: self.fixed.settled(), ..Graph::new(self.lazy) };
        graph.reserve(self.nodes.len());
        let mut place: Vec<Val> = Vec::with_capacity(self.nodes.len());
        for (&node, &step) in self.nodes.iter().zip(&self.origins) {
            graph.step = step;
            let moved = |val: Val| if val == NO { NO } else { place[val as usize] };
            let val = match node {
                Node::Inst(Inst { op, args, mask }) => {
                    graph.lower(target, Inst { op, args: args.map(moved), mask: moved(mask) })
                }
                node => graph.add(node),
            };
            place.push(val);
        }
        for (&val, parts) in &self.groups {
            let parts = parts.map(|val| if val == NO { NO } else { place[val as usize] });
            graph.groups.insert(place[val as usize], parts);
        }
        graph.step = NO;
        self.shapes.iter().for_each(|(&val, &shape)| graph.shape(place[val as usize], shape));
        graph.same = self.same.iter().map(|&val| place[val as usize]).collect();
        let moved = |leave: &Leave| {
            let test = place[leave.test as usize];
            match graph.complemented(test) {
                Some(test) => Leave { test, nonzero: !leave.nonzero, ..*leave },
                None => Leave { test, ..*leave },
            }
        };
        graph.leaves = self.leaves.iter().map(moved).collect();
        graph.inside = self.inside.iter().map(|&(view, val)| (view, place[val as usize])).collect();
        (graph, place)
    }

    /// What a mask is the complement of.
    pub fn complemented(&self, mask: Val) -> Option<Val> {
        match self.as_inst(mask) {
            Some(Inst { op: Op::Not, args: [inner, ..], mask: NO }) => Some(inner),
            _ => None,
        }
    }

    fn lower(&mut self, target: &dyn Target, inst: Inst) -> Val {
        match inst.op {
            // A sum that takes denormals as zeros flushes.
            Op::Flush if self.lazy => {
                let zero = self.add(Node::Word(0x8000_0000));
                self.binary(Op::FAdd, inst.args[0], zero)
            }
            // A shift and a sum are done before a product of words is.
            Op::Mul
                if let Node::Word(word @ 3..) = self.node(inst.args[1])
                    && (word - 1).is_power_of_two()
                    && inst.mask == NO
                    && target.multiplies_slowly() =>
            {
                let [a, ..] = inst.args;
                let more = self.unary(Op::ShlBy((word - 1).ilog2() as u8), a);
                self.binary(Op::Add, more, a)
            }
            _ => target.lower(self, inst),
        }
    }
}
