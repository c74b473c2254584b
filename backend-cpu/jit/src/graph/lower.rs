//! A program in the operations that a target has.

use super::{Graph, Inst, Leave, NO, Node, Val};
use rustc_hash::FxHashMap;

use crate::NONE;
use crate::op::Op;
use crate::target::Target;

impl Graph {
    /// The last of some values of another graph, each behind its operands; what nothing is computed for may be something else here.
    pub fn copied(
        &mut self,
        from: &Graph,
        values: &[Val],
        mut leaf: impl FnMut(&mut Graph, Node) -> Val,
    ) -> Val {
        let (mut own, mut last) = (FxHashMap::default(), NO);
        for &val in values {
            let moved = |arg: Val| own.get(&arg).copied().unwrap_or(NO);
            last = match from.node(val) {
                Node::Inst(inst) => {
                    let inst = Inst { args: inst.args.map(moved), mask: moved(inst.mask), ..inst };
                    self.add(Node::Inst(inst))
                }
                node => leaf(self, node),
            };
            own.insert(val, last);
        }
        last
    }

    /// What these values need, and what acts, for a target, and where each value is in it; [`NO`]: nowhere.
    pub fn lowered(&self, target: &dyn Target, wanted: impl IntoIterator<Item = Val>) -> (Graph, Vec<Val>) {
        // Loads of an element stay together.
        let needed = self.reached(wanted, |val| self.groups.get(&val).copied());
        let count = needed.iter().filter(|needed| **needed).count();
        let mut graph = Graph { fixed: self.fixed.settled(), ..Graph::new(self.lazy) };
        graph.reserve(count + count / 2);
        let mut place: Vec<Val> = vec![NO; self.nodes.len()];
        for val in (0..self.nodes.len()).filter(|val| needed[*val]) {
            graph.step = self.origins[val];
            let moved = |val: Val| if val == NO { NO } else { place[val.index()] };
            place[val] = match self.nodes[val] {
                Node::Inst(Inst { op, args, mask }) => {
                    graph.lower(target, Inst { op, args: args.map(moved), mask: moved(mask) })
                }
                node => graph.add(node),
            };
        }
        let place_of = |val: Val| place.get(val.index()).copied().filter(|val| *val != NO);
        for (&val, parts) in &self.groups {
            place_of(val).map(|val| graph.groups.insert(val, parts.map(|val| place_of(val).unwrap_or(NO))));
        }
        graph.step = NONE;
        let shapes = self.shapes.iter().filter_map(|(&val, &shape)| Some((place_of(val)?, shape)));
        shapes.for_each(|(val, shape)| graph.shape(val, shape));
        graph.same.reserve(self.same.len());
        graph.same.extend(self.same.iter().filter_map(|&val| place_of(val)));
        let moved = |leave: &Leave| {
            let test = place[leave.test.index()];
            match graph.complemented(test) {
                Some(test) => Leave { test, nonzero: !leave.nonzero, ..*leave },
                None => Leave { test, ..*leave },
            }
        };
        graph.leaves = self.leaves.iter().map(moved).collect();
        graph.inside = self.inside.iter().filter_map(|&(view, val)| Some((view, place_of(val)?))).collect();
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
