//! Products that were made without asking for zeros, and what must be looked at before they are believed.

use super::{Graph, Inst, Node, Val};
use crate::graph::NO;
use crate::op::{Kind, Op, Relation};
use rustc_hash::{FxHashMap, FxHashSet};

impl Graph {
    /// What must not be in doubt but is, if the values `wanted` leave the block.
    pub fn doubts(&self, wanted: &[Val]) -> Vec<Val> {
        let mut needed = vec![false; self.nodes.len()];
        wanted.iter().for_each(|&val| needed[val as usize] = true);
        for val in (0..self.nodes.len()).rev().filter(|&val| self.as_inst(val as Val).is_some()) {
            if let (Node::Inst(inst), true) = (self.nodes[val], needed[val]) {
                inst.operands().for_each(|arg| needed[arg as usize] = true);
            }
        }
        let mut doubtful = vec![false; self.nodes.len()];
        let mut doubts = FxHashSet::default();
        for (val, node) in self.nodes.iter().enumerate().filter(|&(val, _)| needed[val]) {
            if let Node::Inst(inst) = node {
                let plain = self.plain_products.contains(&(val as Val));
                let handed = self.hands_on(*inst, plain, &doubtful, &mut doubts);
                doubtful[val] = handed || plain;
            }
        }
        doubts.extend(wanted.iter().filter(|&&val| doubtful[val as usize]));
        let mut doubts: Vec<Val> = doubts.into_iter().collect();
        doubts.sort_unstable();
        doubts
    }

    /// True if all that is done but computing is to tell results of tests, in which no product has a part: they may be told twice.
    pub fn may_be_done_again(&self) -> bool {
        let mut needed = vec![false; self.nodes.len()];
        for val in (0..self.nodes.len()).rev() {
            let Some(inst) = self.as_inst(val as Val) else { continue };
            needed[val] |= inst.op.acts();
            let product = needed[val] && self.plain_products.contains(&(val as Val));
            if product || inst.op.acts() && inst.op != Op::Return {
                return false;
            }
            if needed[val] {
                inst.operands().for_each(|arg| needed[arg as usize] = true);
            }
        }
        true
    }

    /// A result is in doubt if an operand is, or the operand must be free of doubt.
    ///
    /// Sums and `plain` products of values in doubt are right, or NaN, or -0 where +0 is right: a zero factor makes +0, or
    /// here a zero of any sign or NaN; sums of zeros are -0 only if all of them are. A difference would turn -0 into +0, and so
    /// would a product by IEEE's rules with a negative number, where -0 is right.
    fn hands_on(&self, inst: Inst, plain: bool, doubtful: &[bool], doubts: &mut FxHashSet<Val>) -> bool {
        let mut handed = false;
        for (place, arg) in inst.operands().enumerate() {
            let on = match inst.op {
                Op::FAdd | Op::Flush => true,
                Op::FMul => plain,
                Op::FSub => place == 0,
                _ => false,
            };
            match doubtful[arg as usize] {
                true if on => handed = true,
                true => _ = doubts.insert(arg),
                false => {}
            }
        }
        handed
    }

    /// The lanes in which a value of the list is NaN or -0; `None` if there is no value.
    pub fn doubted(&mut self, list: Vec<Val>) -> Option<Val> {
        let mut all = None;
        for val in list {
            let lanes = self.unary(Op::Doubtful, val);
            all = Some(all.map_or(lanes, |all| self.binary(Op::Either, all, lanes)));
        }
        all
    }

    /// Values of the list are not NaN: choices that only ask whether they are have been made.
    pub fn believe(&mut self, list: &[Val], outputs: &mut [(u32, Val)]) {
        let mut instead: FxHashMap<Val, Val> = FxHashMap::default();
        for val in 0..self.nodes.len() as Val {
            let Some(inst) = self.as_inst(val) else { continue };
            let moved = |arg: Val| instead.get(&arg).copied().unwrap_or(arg);
            let inst = Inst { args: inst.args.map(moved), mask: moved(inst.mask), ..inst };
            self.nodes[val as usize] = Node::Inst(inst);
            let Inst { op: Op::Select, args: [mask, _, other], mask: NO } = inst else { continue };
            let asks = Some((Op::Compare(Kind::Float, Relation::Unordered, false), [other, other, NO], NO));
            if self.parts(mask) == asks && list.contains(&other) {
                instead.insert(val, other);
            }
        }
        outputs.iter_mut().for_each(|(_, val)| *val = instead.get(val).copied().unwrap_or(*val));
    }

    /// The mask says that neither of the factors is zero.
    pub(super) fn asks_for_zeros(&self, mask: Val, factors: [Val; 2]) -> bool {
        let asked = |mask| match self.parts(mask) {
            Some((Op::Compare(Kind::Float, Relation::Equal, true), [val, zero, _], within))
                if self.word_of(zero) == Some(0) =>
            {
                Some((val, within))
            }
            _ => None,
        };
        let Some((first, within)) = asked(mask) else { return false };
        let others: Vec<Val> = factors.into_iter().filter(|&val| val != first).collect();
        match asked(within) {
            Some((second, NO)) => others == [second],
            Some(_) => false,
            None if within != NO => false,
            // A constant was looked at before.
            None => others.iter().all(|&val| self.word_of(val).is_some()),
        }
    }
}
