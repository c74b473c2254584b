//! Addresses of elements in general registers: in loops that add up products vectors have enough to do, and who waits for an
//! address that comes from one waits long.

use std::collections::BTreeMap;

use recal_il::ir::lines::Shape;
use rustc_hash::{FxHashMap, FxHashSet};

use super::packs::{Found, Packs};
use super::{Body, Held};
use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::target::{Base, Scalar, Target};
use smallvec::smallvec;

/// Registers that there are for it.
const REGISTERS: usize = 2;
/// Most operations, so that they do not cost more than what they replace.
pub const MOST: usize = 8;

/// Accesses whose addresses are computed in general registers.
#[derive(Default)]
pub struct Addresses {
    /// For each, the values that its address is computed from.
    pub leaves: FxHashMap<Val, Vec<Val>>,
    /// Those of them that vectors compute. Of each the first lane's word is put on the stack at once: an address that comes from
    /// a vector comes late, so they are computed before anything else is.
    pub words: FxHashSet<Val>,
    /// Where several loads are so many bytes from.
    pub bases: Vec<Origin>,
    /// Those loads, with the number of their base and how far they are.
    pub near: FxHashMap<Val, (u8, u32)>,
    /// Accesses whose addresses the round begins with.
    pub packed: FxHashMap<Val, Found>,
}

/// What several loads are a known distance from: an address in bytes, the same for a line or that of lanes side by side.
pub struct Origin {
    pub view: u8,
    pub address: Val,
    /// The number of the last word that any of them touches, from there on.
    pub last: u32,
}

/// What the next round of a loop finds ready, by number, and the addresses that it begins with.
#[derive(Clone, Copy, Default)]
pub struct Round<'a> {
    pub next: &'a [(u32, Val)],
    pub packs: Option<&'a Packs>,
}

/// How accesses find their addresses.
#[derive(Clone, Copy)]
pub enum Addressing<'a> {
    /// Each by itself.
    Alone,
    /// In general registers, see [`Addresses::of`], but for those that a round begins with.
    Scalar(Round<'a>),
    /// From bases that registers hold, see [`Addresses::near`].
    Near(&'a dyn Target),
}

/// Most bytes that a load is from its base.
const FARTHEST: u32 = 1 << 16;

impl Addresses {
    /// Loads of words and elements at known distances from each other, where all lanes execute: whether they are inside is asked once,
    /// before anything else is done.
    pub fn near(graph: &Graph, needed: &[bool], target: &dyn Target) -> Addresses {
        let mut found: Vec<(Origin, Vec<(Val, u32)>)> = Vec::new();
        let mut sums: Vec<Terms> = Vec::new();
        for val in graph.values().filter(|val| needed[val.index()]) {
            let Some(Inst { op, args: [index, ..], mask: NO }) = graph.as_inst(val) else { continue };
            let shape = graph.shape_of(index).among(target.lanes());
            let (view, more) = match op {
                Op::Load(view) if matches!(shape, Shape::Same | Shape::Step(1)) => {
                    (view, target.reach(shape, 1))
                }
                Op::Part(view, _) | Op::Pair(view, _) => {
                    let count = graph.groups[&val].iter().filter(|part| **part != NO).count();
                    (view, target.reach(shape, count as u32))
                }
                _ => continue,
            };
            let Some(more) = more else { continue };
            if let Some((address, bytes)) = distance(graph, index) {
                let last = bytes / 4 + more;
                match found.iter_mut().find(|(base, _)| (base.view, base.address) == (view, address)) {
                    Some((base, loads)) => {
                        base.last = base.last.max(last);
                        loads.push((val, bytes));
                    }
                    None => found.push((Origin { view, address, last }, vec![(val, bytes)])),
                }
                sums.resize(found.len(), Vec::new());
            } else if let Some((address, terms, first)) = linear(graph, index) {
                let known = (0..found.len()).find(|at| found[*at].0.view == view && sums[*at] == terms);
                let at = known.unwrap_or_else(|| {
                    found.push((Origin { view, address, last: 0 }, Vec::new()));
                    sums.push(terms);
                    found.len() - 1
                });
                let (base, loads) = &mut found[at];
                // How far each is from no address yet: the least of them becomes it.
                base.last = base.last.max(more);
                loads.push((val, first));
            }
        }
        for ((base, loads), _) in found.iter_mut().zip(&sums).filter(|(_, terms)| !terms.is_empty()) {
            settle(graph, base, loads);
        }
        // Loads of parts of an element are one.
        let accesses = |(_, loads): &(Origin, Vec<(Val, u32)>)| {
            let first = |(val, _): &(Val, u32)| graph.groups.get(val).map_or(*val, |parts| parts[0]);
            loads.iter().map(first).collect::<FxHashSet<Val>>().len()
        };
        found.retain(|base| accesses(base) > 1);
        found.sort_by_key(|base| std::cmp::Reverse(accesses(base)));
        found.truncate(usize::from(target.addresses()));
        let mut addresses = Addresses::default();
        for (number, (base, loads)) in (0..).zip(found) {
            addresses.bases.push(base);
            for (val, bytes) in loads {
                addresses.near.insert(val, (number, bytes));
                addresses.leaves.insert(val, Vec::new());
            }
        }
        addresses
    }

    /// The accesses among those that are `needed` for which that can be done: to whole elements that are known to be inside.
    pub fn of(graph: &Graph, needed: &[bool]) -> Addresses {
        let accesses: Vec<(Val, Val)> = graph
            .values()
            .filter(|val| needed[val.index()])
            .filter_map(|val| {
                let Inst { op, args: [first, ..], .. } = graph.as_inst(val)?;
                let shape = graph.shape_of(first);
                let view = match op {
                    Op::Part(view, _) | Op::Pair(view, _) if shape == Shape::Same => view,
                    Op::Member(view, _) if shape != Shape::Any => view,
                    _ => return None,
                };
                let from = graph.beside.get(&val).map_or(first, |(from, _)| *from);
                graph.inside.contains(&(view, first)).then_some((val, from))
            })
            .collect();
        // What several addresses have in common is computed once.
        let mut firsts: Vec<Val> = accesses.iter().map(|(_, first)| *first).collect();
        firsts.sort_unstable();
        firsts.dedup();
        let mut parts: FxHashMap<Val, usize> = FxHashMap::default();
        for first in firsts {
            let mut open = vec![first];
            let mut seen = FxHashSet::default();
            while let Some(val) = open.pop() {
                let Some((_, a, b)) = arithmetic(graph, val) else { continue };
                if seen.len() <= MOST && seen.insert(val) {
                    *parts.entry(val).or_default() += 1;
                    open.extend([a, b].into_iter().filter(|arg| *arg != NO));
                }
            }
        }
        let mut found = Addresses {
            words: parts.iter().filter(|(_, n)| **n > 1).map(|(val, _)| *val).collect(),
            ..Addresses::default()
        };
        for (val, first) in accesses {
            let mut leaves = Vec::new();
            if found.collect(graph, first, &mut leaves, &mut 0).is_some_and(|n| n <= REGISTERS) {
                leaves.sort_unstable();
                leaves.dedup();
                found.leaves.insert(val, leaves);
            }
        }
        found.note_words(graph);
        found
    }

    fn note_words(&mut self, graph: &Graph) {
        let of_vectors = |val: &Val| matches!(graph.node(*val), Node::Inst(_));
        self.words = self.leaves.values().flatten().copied().filter(of_vectors).collect();
    }

    /// The same when a round begins with some of them.
    pub fn without(mut self, graph: &Graph, packs: &Packs) -> Addresses {
        for (val, leaves) in &mut self.leaves {
            let found = access(graph, *val).and_then(|(view, first, _)| packs.find(view, first));
            if let Some(found) = found {
                leaves.clear();
                self.packed.insert(*val, found);
            }
        }
        self.note_words(graph);
        self
    }

    /// Views and numbers of words, each once, and whether elements there lie side by side.
    pub fn accesses(&self, graph: &Graph) -> Vec<(u8, Val, bool)> {
        let mut vals: Vec<Val> = self.leaves.keys().copied().collect();
        vals.sort_unstable();
        let mut found: Vec<(u8, Val, bool)> = Vec::new();
        for of in vals.into_iter().filter_map(|val| access(graph, val)) {
            if !found.iter().any(|other| (other.0, other.1) == (of.0, of.1)) {
                found.push(of);
            }
        }
        found
    }

    /// What is ready, by number, and not other in the next round, that words of a view are behind.
    pub fn anchors(&self, graph: &Graph, next: &[u32]) -> Vec<(u8, u32)> {
        let of = |(view, first, _): (u8, Val, bool)| {
            let fixed = |val: Val| match graph.node(val) {
                Node::Kept(number) if !next.contains(&number) => Some(number),
                _ => None,
            };
            let (Op::Add, a, b) = self.computed(graph, first)? else { return None };
            Some((view, fixed(a).or(fixed(b))?))
        };
        self.accesses(graph).into_iter().filter_map(of).collect()
    }

    /// How many elements are taken as they lie in memory, of the first of the strips that find them so, whose addresses rounds do not begin with.
    pub fn members(&self, graph: &Graph) -> u32 {
        let of = |val: &Val| graph.groups.get(val).map(|parts| parts[0]);
        let first = |val: &Val| {
            let member = graph.as_inst(*val).is_some_and(|inst| matches!(inst.op, Op::Member(..)));
            member && !self.packed.contains_key(val) && !graph.beside.contains_key(val)
        };
        let groups: FxHashSet<Option<Val>> = self.leaves.keys().filter(|val| first(val)).map(of).collect();
        groups.len() as u32
    }

    /// The same as [`arithmetic`], of what is computed for one address alone.
    fn computed(&self, graph: &Graph, val: Val) -> Option<(Op, Val, Val)> {
        if self.words.contains(&val) { None } else { arithmetic(graph, val) }
    }

    /// Notes what a value is computed from; the registers that it takes, or `None` if it is too much.
    fn collect(&self, graph: &Graph, val: Val, leaves: &mut Vec<Val>, count: &mut usize) -> Option<usize> {
        let Some((_, a, b)) = self.computed(graph, val) else {
            leaves.push(val);
            return Some(1);
        };
        *count += 1;
        if *count > MOST {
            return None;
        }
        let first = self.collect(graph, a, leaves, count)?;
        if b == NO {
            return Some(first);
        }
        let second = self.collect(graph, b, leaves, count)?;
        let simple = self.computed(graph, b).is_none() || self.computed(graph, a).is_none();
        Some(if simple { first.max(second) } else { first.max(second + 1) })
    }
}

/// Which address the number of a word comes from, and how many bytes it is behind.
fn distance(graph: &Graph, index: Val) -> Option<(Val, u32)> {
    let Inst { op: Op::ShrBy(2), args: [mut address, ..], mask: NO } = graph.as_inst(index)? else {
        return None;
    };
    let mut bytes = 0;
    while let Some(Inst { op: Op::Add, args: [a, b, _], mask: NO }) = graph.as_inst(address) {
        let (from, by) = if let Some(by) = graph.word_of(b) { (a, by) } else { (b, graph.word_of(a)?) };
        if by % 4 != 0 || by > FARTHEST || bytes > FARTHEST {
            return None;
        }
        (address, bytes) = (from, bytes + by);
    }
    matches!(graph.node(address), Node::Row(_) | Node::Kept(_)).then_some((address, bytes))
}

/// Values, and how often each is in a sum.
type Terms = Vec<(Val, u32)>;

/// The address in bytes that the number of a word comes from, as a sum of multiples of what is the same for all lanes, and what the first lane adds to that.
fn linear(graph: &Graph, index: Val) -> Option<(Val, Terms, u32)> {
    let Inst { op: Op::ShrBy(2), args: [address, ..], mask: NO } = graph.as_inst(index)? else {
        return None;
    };
    let (mut terms, mut first) = (BTreeMap::new(), 0);
    let mut open = vec![(address, 1u32)];
    let mut count = 0;
    while let Some((val, times)) = open.pop() {
        count += 1;
        if count > 4 * MOST {
            return None;
        }
        match graph.as_inst(val) {
            Some(Inst { op: Op::Add, args: [a, b, _], mask: NO }) => open.extend([(a, times), (b, times)]),
            Some(Inst { op: Op::ShlBy(by), args: [a, ..], mask: NO }) => open.push((a, times << by)),
            None if let Some(words) = graph.fixed_words(val) => {
                first = times.wrapping_mul(words[0]).wrapping_add(first);
            }
            None => {
                let of: &mut u32 = terms.entry(val).or_default();
                *of = of.wrapping_add(times);
            }
            Some(_) => return None,
        }
    }
    let registers = Addresses::default().collect(graph, address, &mut Vec::new(), &mut 0)?;
    (registers <= REGISTERS && !terms.is_empty()).then(|| (address, terms.into_iter().collect(), first))
}

/// Makes the address of the first of some loads, which have told what they add to something, their base.
fn settle(graph: &Graph, base: &mut Origin, loads: &mut Vec<(Val, u32)>) {
    let more = base.last;
    let Some(&(val, least)) = loads.iter().min_by_key(|(_, first)| *first) else { return };
    let address = graph.as_inst(val).and_then(|load| linear(graph, load.args[0]));
    let Some((address, ..)) = address else { return };
    base.address = address;
    loads.retain_mut(|(_, first)| {
        *first -= least;
        *first % 4 == 0 && *first <= FARTHEST
    });
    base.last = loads.iter().map(|(_, bytes)| bytes / 4 + more).max().unwrap_or(0);
}

/// The view and the number of the word that an access to elements begins with, and whether they lie side by side.
fn access(graph: &Graph, val: Val) -> Option<(u8, Val, bool)> {
    let Inst { op, args: [first, ..], .. } = graph.as_inst(val)?;
    let first = graph.beside.get(&val).map_or(first, |(from, _)| *from);
    match op {
        Op::Part(view, _) | Op::Pair(view, _) => Some((view, first, false)),
        Op::Member(view, _) => Some((view, first, true)),
        _ => None,
    }
}

/// The operation and operands of a value that can be computed in general registers.
pub fn arithmetic(graph: &Graph, val: Val) -> Option<(Op, Val, Val)> {
    match graph.as_inst(val)? {
        Inst { op: op @ (Op::Add | Op::Mul | Op::MinSigned | Op::MaxSigned), args: [a, b, _], mask: NO } => {
            Some((op, a, b))
        }
        Inst { op: op @ Op::ShlBy(_), args: [a, ..], mask: NO } => Some((op, a, NO)),
        _ => None,
    }
}

impl Body<'_, '_> {
    /// How many words behind an anchor the word of a view is, and where that is.
    pub(super) fn behind(&self, view: u8, first: Val) -> Option<(Val, u32)> {
        let (Op::Add, a, b) = self.computed(first)? else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(of, more)| {
            let Node::Kept(number) = self.graph.node(of) else { return None };
            Some((more, *self.frame.anchors.get(&(view, number))?))
        })
    }

    /// Computes the address of the word with a number in its first lane. It may be one behind an anchor: then a register can have it that keeps
    /// it, by number, and what was computed stays for the next one.
    pub(super) fn address(&mut self, view: u8, first: Val, to: Option<u8>) {
        let Some((more, at)) = self.behind(view, first) else {
            self.held = None;
            self.compute(first, 0);
            self.target.element(&mut self.frame.code, view);
            self.held = Some(Held::Of(view, first));
            return;
        };
        if self.held != Some(Held::Behind(more)) {
            self.held = None;
            self.compute(more, 0);
            self.target.extend(&mut self.frame.code);
        }
        self.target.behind_anchor(&mut self.frame.code, at, to);
        self.held = Some(if to.is_some() { Held::Behind(more) } else { Held::Of(view, first) });
    }

    /// See [`Addresses::computed`].
    fn computed(&self, val: Val) -> Option<(Op, Val, Val)> {
        self.addresses.and_then(|addresses| addresses.computed(self.graph, val))
    }

    fn compute(&mut self, val: Val, to: u8) {
        let Some((op, a, b)) = self.computed(val) else {
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
        let (long, short) = if self.computed(a).is_some() { (a, b) } else { (b, a) };
        if self.computed(short).is_none() {
            self.compute(long, to);
            let place = self.single_of(short);
            return self.target.scalar(&mut self.frame.code, op, to, Ok(place));
        }
        self.compute(long, to);
        self.compute(short, to + 1);
        self.target.scalar(&mut self.frame.code, op, to, Err(to + 1));
    }

    /// Finds the bases of loads; jumps that are taken unless all that they load is inside.
    pub(super) fn find_bases(&mut self, bases: &[Origin]) -> Vec<usize> {
        let mut outside = Vec::new();
        for (number, base) in (0..).zip(bases) {
            self.pinned = smallvec![base.address];
            // What is computed for it comes later, and by vectors.
            let from = match self.graph.as_inst(base.address) {
                Some(_) => {
                    self.compute(base.address, 0);
                    None
                }
                None => Some(self.fetch(base.address)),
            };
            let code = &mut self.frame.code;
            outside.extend(self.target.find_base(code, base.view, from, base.last));
            self.target.keep_address(code, number);
            if from.is_some() {
                self.release(base.address);
            }
        }
        outside
    }

    /// Where the word that the first lane has of a value is in memory; it is put there if it is not.
    fn single_of(&mut self, val: Val) -> (Base, u32) {
        let place = self.place[val.index()];
        match self.graph.node(val) {
            Node::Word(word) => return (Base::Pool, self.frame.pool.word(word)),
            Node::Lanes(_) => return (Base::Pool, self.table(val)),
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
        (Base::Stack, self.put_word(val))
    }

    /// Puts the word that the first lane has of a value on the stack; where it is.
    pub(super) fn put_word(&mut self, val: Val) -> u32 {
        let from = self.fetch(val);
        let at = self.room(4);
        self.target.first_to_stack(&mut self.frame.code, from, at);
        self.place[val.index()].word = Some(at);
        at
    }
}
