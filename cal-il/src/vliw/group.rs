//! Which values share a register: copies of each other, and the words of one vector.
//!
//! Fetches take their address from one register and leave what they read in one; writes and outputs take their data from one. So
//! these values are *grouped*: components of the same register. Copies whose lives do not meet become one value first; where a
//! value would have to be in two groups, a copy is made.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};

use super::live::{Flow, Life, Node, join, lives, overlap};
use super::translate::Kernel;
use super::{Alu, Item, Mark, Slot, Src, Unit, V, Word};

/// Values that are one, and values of one register.
pub(super) struct Groups {
    /// By value: the group. Values of one group have a component each.
    pub group: Vec<u32>,
    /// By group: its values.
    pub members: Vec<SmallVec<[V; 4]>>,
}

impl Alu {
    pub(super) fn reads(&self) -> impl Iterator<Item = V> + '_ {
        self.slots.iter().flat_map(|slot| slot.srcs.iter().filter_map(Src::value))
    }

    pub(super) fn writes(&self) -> impl Iterator<Item = V> + '_ {
        self.slots.iter().filter_map(|slot| slot.dst)
    }
}

pub(super) fn flow(mark: Mark) -> Flow {
    match mark {
        Mark::If => Flow::If,
        Mark::Else => Flow::Else,
        Mark::EndIf => Flow::EndIf,
        Mark::Loop(_) => Flow::Loop,
        Mark::EndLoop => Flow::EndLoop,
        Mark::Region(id) => Flow::Region(id),
        Mark::EndRegion(id) => Flow::EndRegion(id),
        Mark::Break(always) => Flow::Break(always),
        Mark::Continue(always) => Flow::Continue(always),
        Mark::Leave(id, always) => Flow::Leave(id, always),
        Mark::Wait => Flow::On,
    }
}

impl Item {
    /// Calls `f` with every value, and whether it is written.
    fn each(&mut self, f: &mut dyn FnMut(&mut V, bool)) {
        let source = |src: &mut Src, f: &mut dyn FnMut(&mut V, bool)| {
            if let Word::V(value) = &mut src.word {
                f(value, false);
            }
        };
        match self {
            Item::Alu(alu) => {
                alu.slots.iter_mut().flat_map(|slot| &mut slot.srcs).for_each(|src| source(src, f));
                alu.slots.iter_mut().flat_map(|slot| &mut slot.dst).for_each(|dst| f(dst, true));
            }
            Item::Fetch(fetch) => {
                fetch.address.iter_mut().for_each(|src| source(src, f));
                fetch.data.iter_mut().for_each(|value| f(value, false));
                fetch.dst.iter_mut().flatten().for_each(|dst| f(dst, true));
            }
            Item::Write(write) => {
                write.address.iter_mut().chain(&mut write.data).for_each(|value| f(value, false));
                write.back.iter_mut().for_each(|dst| f(dst, true));
            }
            Item::Mark(..) => {}
        }
    }
}

/// Code as liveness wants it.
fn nodes(items: &mut [Item]) -> Vec<Node> {
    (items.iter_mut())
        .map(|item| {
            let mut node = Node { reads: smallvec![], writes: smallvec![], flow: Flow::On };
            item.each(&mut |value, write| {
                if write { node.writes.push(*value) } else { node.reads.push(*value) }
            });
            if let Item::Mark(mark, _) = item {
                node.flow = flow(*mark);
            }
            node
        })
        .collect()
}

/// Makes one value of copies whose lives do not meet.
fn merge_copies(kernel: &mut Kernel) {
    let mut nodes = nodes(&mut kernel.items);
    // Inputs are there before anything else runs.
    let inputs = kernel.inputs.keys().copied().collect();
    nodes.insert(0, Node { reads: smallvec![], writes: inputs, flow: Flow::On });
    let mut lives: Vec<Life> = lives(&nodes, kernel.values as usize);
    let mut names: Vec<V> = (0..kernel.values).map(V).collect();
    fn find(names: &mut [V], value: V) -> V {
        let mut top = value;
        while names[top.index()] != top {
            top = names[top.index()];
        }
        names[value.index()] = top;
        top
    }
    for item in &kernel.items {
        let Some((dst, src)) = copy(item) else { continue };
        let (dst, src) = (find(&mut names, dst), find(&mut names, src));
        let input = |value: &V| kernel.inputs.contains_key(value);
        if dst == src || input(&dst) || input(&src) {
            continue;
        }
        if !overlap(&lives[dst.index()], &lives[src.index()]) {
            lives[dst.index()] = join(&lives[dst.index()], &lives[src.index()]);
            names[src.index()] = dst;
        }
    }
    for item in &mut kernel.items {
        item.each(&mut |value, _| *value = find(&mut names, *value));
    }
    kernel.items.retain(|item| copy(item).is_none_or(|(dst, src)| dst != src));
}

fn copy(item: &Item) -> Option<(V, V)> {
    let Item::Alu(Alu { name: "MOV", slots, clamp: false, unit: Unit::Any, .. }) = item else { return None };
    match (slots[0].dst, slots[0].srcs[0]) {
        (Some(dst), Src { word: Word::V(src), neg: false, abs: false }) => Some((dst, src)),
        _ => None,
    }
}

fn mov(dst: V, src: V, at: u32) -> Item {
    let slots = smallvec![Slot { dst: Some(dst), srcs: smallvec![Src::of(src)] }];
    Item::Alu(Alu { name: "MOV", unit: Unit::Any, slots, clamp: false, at })
}

struct Grouping {
    group: Vec<u32>,
    members: Vec<SmallVec<[V; 4]>>,
    values: u32,
    /// Copies of inputs, by input and group: they are made at the beginning and stay.
    copies: HashMap<(V, u32), V>,
    entry: Vec<Item>,
    inputs: Vec<V>,
}

impl Grouping {
    fn fresh(&mut self) -> V {
        let value = V::fresh(&mut self.values);
        self.group.push(self.members.len() as u32);
        self.members.push(smallvec![value]);
        value
    }

    fn distinct(values: &[V]) -> SmallVec<[V; 4]> {
        let mut out = SmallVec::new();
        values.iter().for_each(|v| {
            if !out.contains(v) {
                out.push(*v)
            }
        });
        out
    }

    /// Puts values into one group, if they fit.
    fn together(&mut self, values: &[V]) -> bool {
        let mut groups: SmallVec<[u32; 4]> = SmallVec::new();
        for value in values {
            let group = self.group[value.index()];
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let all: SmallVec<[V; 8]> = groups.iter().flat_map(|g| self.members[*g as usize].clone()).collect();
        let fixed = groups
            .iter()
            .filter(|g| self.members[**g as usize].iter().any(|v| self.inputs.contains(v)))
            .count();
        if all.len() > 4 || fixed > 1 {
            return false;
        }
        let to = groups[0];
        groups.iter().for_each(|g| self.members[*g as usize].clear());
        all.iter().for_each(|v| self.group[v.index()] = to);
        self.members[to as usize] = all.into_iter().collect();
        true
    }

    /// Makes `values` components of one register, by copies before `out` if need be.
    fn read(&mut self, values: &mut [V], out: &mut Vec<Item>, at: u32) {
        if values.is_empty() || self.together(&Self::distinct(values)) {
            return;
        }
        // Inputs never change: a copy beside the others serves everybody.
        let others: SmallVec<[V; 4]> = values.iter().copied().filter(|v| !self.inputs.contains(v)).collect();
        if let Some(first) = others.first().copied()
            && self.together(&Self::distinct(&others))
        {
            let group = self.group[first.index()];
            let members = &self.members[group as usize];
            let missing = Self::distinct(values)
                .iter()
                .filter(|v| self.inputs.contains(v) && !self.copies.contains_key(&(**v, group)))
                .count();
            if members.len() + missing <= 4 && !members.iter().any(|v| self.inputs.contains(v)) {
                for value in values.iter_mut() {
                    if self.inputs.contains(value) {
                        *value = self.copied(*value, group);
                    }
                }
                return;
            }
        }
        let group = self.members.len() as u32;
        let mut copies: SmallVec<[(V, V); 4]> = SmallVec::new();
        for value in values {
            let copy = match copies.iter().find(|(from, _)| from == value) {
                Some((_, copy)) => *copy,
                None => {
                    let copy = self.fresh();
                    copies.push((*value, copy));
                    out.push(mov(copy, *value, at));
                    copy
                }
            };
            *value = copy;
        }
        let all: SmallVec<[V; 4]> = copies.iter().map(|(_, copy)| *copy).collect();
        self.together(&all);
        debug_assert!(self.members[group as usize].len() <= 4);
    }

    fn copied(&mut self, input: V, group: u32) -> V {
        if let Some(copy) = self.copies.get(&(input, group)) {
            return *copy;
        }
        let copy = self.fresh();
        let last = self.group[copy.index()];
        self.members[last as usize].clear();
        self.group[copy.index()] = group;
        self.members[group as usize].push(copy);
        self.copies.insert((input, group), copy);
        self.entry.push(mov(copy, input, u32::MAX));
        copy
    }

    /// Makes `values` components of one register, by copies afterwards if need be.
    fn write(&mut self, values: &mut [&mut V], out: &mut Vec<Item>, at: u32) {
        let all: SmallVec<[V; 4]> = values.iter().map(|value| **value).collect();
        let input = all.iter().any(|v| self.inputs.contains(v));
        if all.is_empty() || !input && Self::distinct(&all).len() == all.len() && self.together(&all) {
            return;
        }
        let mut fresh: SmallVec<[V; 4]> = SmallVec::new();
        for value in values {
            let copy = self.fresh();
            out.push(mov(**value, copy, at));
            **value = copy;
            fresh.push(copy);
        }
        self.together(&fresh);
    }
}

/// Groups the values of a kernel; copies that this takes are added to it.
pub(super) fn group(kernel: &mut Kernel) -> Groups {
    merge_copies(kernel);
    let mut g = Grouping {
        group: (0..kernel.values).collect(),
        members: (0..kernel.values).map(|v| smallvec![V(v)]).collect(),
        values: kernel.values,
        copies: HashMap::new(),
        entry: Vec::new(),
        inputs: kernel.inputs.keys().copied().collect(),
    };
    // Inputs of one register are together from the start.
    let mut registers: HashMap<u32, SmallVec<[V; 4]>> = HashMap::new();
    kernel.inputs.iter().for_each(|(v, (register, _))| registers.entry(*register).or_default().push(*v));
    for values in registers.values() {
        let to = g.group[values[0].index()];
        for value in values {
            g.members[value.index()].clear();
            g.group[value.index()] = to;
        }
        g.members[to as usize] = values.clone();
    }
    let mut items = Vec::with_capacity(kernel.items.len());
    for mut item in kernel.items.drain(..) {
        let mut after = Vec::new();
        match &mut item {
            Item::Fetch(fetch) => {
                let mut address: SmallVec<[V; 4]> = fetch.address.iter().filter_map(Src::value).collect();
                g.read(&mut address, &mut items, fetch.at);
                let mut renamed = address.into_iter();
                for src in fetch.address.iter_mut().filter(|src| src.value().is_some()) {
                    src.word = Word::V(renamed.next().unwrap_or_default());
                }
                g.read(&mut fetch.data, &mut items, fetch.at);
                let mut dst: SmallVec<[&mut V; 4]> = fetch.dst.iter_mut().flatten().collect();
                g.write(&mut dst, &mut after, fetch.at);
            }
            Item::Write(write) => {
                g.read(&mut write.address, &mut items, write.at);
                g.read(&mut write.data, &mut items, write.at);
            }
            Item::Alu(_) | Item::Mark(..) => {}
        }
        items.push(item);
        items.append(&mut after);
    }
    let mut all = g.entry;
    all.append(&mut items);
    kernel.items = all;
    kernel.values = g.values;
    Groups { group: g.group, members: g.members }
}
