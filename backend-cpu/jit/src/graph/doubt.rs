//! Products that were made without asking for zeros, and what must be looked at before they are believed.

use super::{Graph, Inst, NO, Node, Val};
use crate::op::{Kind, Op, Relation};
use recal_il::bits::BitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Products that do not ask for zeros are worth more code from so many on, and so many more for each value that is looked at.
const FEWEST: usize = 4;
const EACH: usize = 2;

impl Graph {
    /// The same values, to which more can be added, where products ask no more.
    pub fn without_asking(&self) -> Graph {
        let mut graph = self.to_extend();
        for product in self.asking.iter() {
            if let Node::Inst(inst @ Inst { op: Op::FMul, .. }) = &mut graph.nodes[product as usize] {
                inst.mask = NO;
            }
        }
        graph
    }

    /// What [`Graph::doubts`] says of products that ask, where they would not, if that pays, and can be done again.
    pub fn few_doubts(&self, wanted: &[Val]) -> Option<Vec<Val>> {
        let products = self.asking.len();
        let pays = |doubts: usize| products > FEWEST + EACH * doubts;
        if !pays(0) || !self.may_be_done_again(&self.asking) {
            return None;
        }
        Some(self.doubts(wanted, &self.asking)).filter(|doubts| pays(doubts.len()))
    }

    /// What must not be in doubt but is, if the values `wanted` leave the block and the `plain` products do not ask for zeros.
    pub fn doubts(&self, wanted: &[Val], plain: &BitSet) -> Vec<Val> {
        // Who does not ask reads no answer.
        let operands = |val: Val, inst: Inst| {
            let is_plain = plain.contains(val.into());
            let mask = if is_plain { NO } else { inst.mask };
            (Inst { mask, ..inst }.operands(), is_plain)
        };
        let mut needed = vec![false; self.nodes.len()];
        wanted.iter().for_each(|&val| needed[val.index()] = true);
        for (val, node) in self.numbered().rev() {
            if let (Node::Inst(inst), true) = (*node, needed[val.index()]) {
                operands(val, inst).0.for_each(|arg| needed[arg.index()] = true);
            }
        }
        let mut doubtful = vec![false; self.nodes.len()];
        let mut doubts = FxHashSet::default();
        for (val, node) in self.numbered().filter(|(val, _)| needed[val.index()]) {
            if let Node::Inst(inst) = *node {
                let (operands, is_plain) = operands(val, inst);
                doubtful[val.index()] =
                    hands_on(inst.op, operands, is_plain, &doubtful, &mut doubts) || is_plain;
            }
        }
        wanted.iter().filter(|&&val| doubtful[val.index()]).for_each(|val| _ = doubts.insert(*val));
        let mut doubts: Vec<Val> = doubts.into_iter().collect();
        doubts.sort_unstable();
        doubts
    }

    /// True if all that is done but computing is to tell results of tests, in which no product has a part: they may be told twice.
    fn may_be_done_again(&self, plain: &BitSet) -> bool {
        if !self.nodes.iter().any(Node::acts) {
            return true;
        }
        let mut needed = vec![false; self.nodes.len()];
        for (val, node) in self.numbered().rev() {
            let Node::Inst(inst) = *node else { continue };
            needed[val.index()] |= inst.op.acts();
            let product = needed[val.index()] && plain.contains(val.into());
            if product || inst.op.acts() && inst.op != Op::Return {
                return false;
            }
            if needed[val.index()] {
                inst.operands().for_each(|arg| needed[arg.index()] = true);
            }
        }
        true
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
        for val in self.values() {
            let Some(inst) = self.as_inst(val) else { continue };
            let moved = |arg: Val| instead.get(&arg).copied().unwrap_or(arg);
            let inst = Inst { args: inst.args.map(moved), mask: moved(inst.mask), ..inst };
            self.nodes[val.index()] = Node::Inst(inst);
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

/// A result is in doubt if an operand is, or the operand must be free of doubt.
///
/// Sums and `plain` products of values in doubt are right, or NaN, or -0 where +0 is right: a zero factor makes +0, or
/// here a zero of any sign or NaN; sums of zeros are -0 only if all of them are. A difference would turn -0 into +0, and so
/// would a product by IEEE's rules with a negative number, where -0 is right.
fn hands_on(
    op: Op,
    operands: impl Iterator<Item = Val>,
    plain: bool,
    doubtful: &[bool],
    doubts: &mut FxHashSet<Val>,
) -> bool {
    let mut handed = false;
    for (place, arg) in operands.enumerate().filter(|(_, arg)| doubtful[arg.index()]) {
        match op {
            Op::FAdd | Op::Flush => handed = true,
            Op::FMul if plain => handed = true,
            Op::FSub if place == 0 => handed = true,
            _ => _ = doubts.insert(arg),
        }
    }
    handed
}
