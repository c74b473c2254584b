//! Addresses of elements in general registers: in loops that add up products vectors have enough to do, and who waits for an
//! address that comes from one waits long.

use std::collections::HashMap;

use recal_il::ir::lines::Shape;

use super::Body;
use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::target::{Base, Scalar};

/// Registers that there are for it.
const REGISTERS: usize = 3;
/// Most operations, so that they do not cost more than what they replace.
const MOST: usize = 8;

/// For each access whose address is computed in general registers, the values that it is computed from.
pub type Addresses = HashMap<Val, Vec<Val>>;

/// The accesses of a graph for which that can be done: to whole elements that are known to be inside.
pub fn addresses(graph: &Graph) -> Addresses {
    let mut found = Addresses::new();
    for val in 0..graph.nodes.len() as Val {
        let Some(Inst { op, args: [first, ..], .. }) = graph.as_inst(val) else { continue };
        let shape = graph.shape_of(first);
        let view = match op {
            Op::Part(view, _) | Op::Pair(view, _) if shape == Shape::Same => view,
            Op::Member(view, _) if shape != Shape::Any => view,
            _ => continue,
        };
        let mut leaves = Vec::new();
        if graph.inside.contains(&(view, first))
            && collect(graph, first, &mut leaves, &mut 0).is_some_and(|n| n <= REGISTERS)
        {
            leaves.sort_unstable();
            leaves.dedup();
            found.insert(val, leaves);
        }
    }
    found
}

/// The operation and operands of a value that is computed in general registers.
fn computed(graph: &Graph, val: Val) -> Option<(Op, Val, Val)> {
    match graph.as_inst(val)? {
        Inst { op: op @ (Op::Add | Op::Mul | Op::MinSigned | Op::MaxSigned), args: [a, b, _], mask: NO } => {
            Some((op, a, b))
        }
        Inst { op: op @ Op::ShlBy(_), args: [a, ..], mask: NO } => Some((op, a, NO)),
        _ => None,
    }
}

/// Notes what a value is computed from; the registers that it takes, or `None` if it is too much.
fn collect(graph: &Graph, val: Val, leaves: &mut Vec<Val>, count: &mut usize) -> Option<usize> {
    let Some((_, a, b)) = computed(graph, val) else {
        leaves.push(val);
        return Some(1);
    };
    *count += 1;
    if *count > MOST {
        return None;
    }
    let first = collect(graph, a, leaves, count)?;
    if b == NO {
        return Some(first);
    }
    let second = collect(graph, b, leaves, count)?;
    let (simple, other) = (computed(graph, b).is_none() || computed(graph, a).is_none(), first.max(second));
    Some(if simple { other } else { first.max(second + 1) })
}

impl Body<'_, '_> {
    /// Computes the address of the word with a number in its first lane.
    pub(super) fn address(&mut self, view: u8, first: Val) {
        self.compute(first, 0);
        self.target.element(&mut self.frame.code, view);
    }

    fn compute(&mut self, val: Val, to: u8) {
        let Some((op, a, b)) = computed(self.graph, val) else {
            let place = self.single_of(val);
            return self.target.scalar(&mut self.frame.code, Scalar::Move, to, Ok(place));
        };
        let op = match op {
            Op::ShlBy(n) => {
                self.compute(a, to);
                return self.target.scalar(&mut self.frame.code, Scalar::Shl(n), to, Err(to));
            }
            Op::Add => Scalar::Add,
            Op::Mul => Scalar::Mul,
            Op::MinSigned => Scalar::Min,
            _ => Scalar::Max,
        };
        let (long, short) = if computed(self.graph, a).is_some() { (a, b) } else { (b, a) };
        if computed(self.graph, short).is_none() {
            self.compute(long, to);
            let place = self.single_of(short);
            return self.target.scalar(&mut self.frame.code, op, to, Ok(place));
        }
        self.compute(long, to);
        self.compute(short, to + 1);
        self.target.scalar(&mut self.frame.code, op, to, Err(to + 1));
    }

    /// Where the word that the first lane has of a value is in memory; it is put there if it is not.
    fn single_of(&mut self, val: Val) -> (Base, u32) {
        let place = self.place[val as usize];
        match self.graph.node(val) {
            Node::Word(word) => return (Base::Pool, self.frame.pool.word(word)),
            Node::Field(view, field) => return (Base::Views, self.target.field(view, field)),
            Node::Kept(number) => return (Base::Stack, self.frame.kept[number as usize]),
            Node::Row(row) if place.register.is_none() && self.frame.pin(row).is_none() => {
                return self.frame.place_of(row);
            }
            _ => {}
        }
        if let Some(at) = place.word.or(place.slot) {
            return (Base::Stack, at);
        }
        let from = self.fetch(val);
        let at = self.room(4);
        self.target.first_to_stack(&mut self.frame.code, from, at);
        self.place[val as usize].word = Some(at);
        (Base::Stack, at)
    }
}
