//! Clauses: which instructions run together.
//!
//! Instructions are taken in the order of the program. A fetch joins the last fetch clause if its address is there by then and
//! there is room, so as many fetches are on their way as a clause holds; an ALU instruction goes to the first free slot that its
//! operands allow in the last clauses. Blocks between flow are scheduled on their own.

use std::collections::{HashMap, HashSet};

use super::group::Groups;
use super::pack::{Channels, put};
use super::translate::Kernel;
use super::{Alu, Bundle, Chip, Clause, Fetch, Generation, Item, Mark, Slot, Src, Unit, V, Word, Write};

/// 64-bit words of an ALU clause.
const WORDS: usize = 128;
/// Clauses before the last in which a free slot is looked for.
const BACK: usize = 2;
/// VLIW instructions of a clause that are looked at.
const WINDOW: usize = 48;

/// A place in the block: clause, and VLIW instruction in it.
type Place = (usize, usize);

/// Operands that are copied for one instruction at most: all.
const COPIES: usize = 12;

struct Schedule<'a> {
    chip: &'a Chip,
    channels: Channels<'a>,
    clauses: Vec<Clause>,
    /// First clause of the block.
    base: usize,
    /// Where values of the block are written, and read last.
    written: HashMap<V, Place>,
    read: HashMap<V, Place>,
    /// The first clause that may read memory that the kernel writes.
    memory: usize,
    /// Where the LDS was used last.
    lds: Option<Place>,
    values: u32,
    moves: Vec<Alu>,
}

/// Schedules a kernel. Also returns the component of each value.
pub(super) fn schedule(kernel: &Kernel, groups: &Groups, chip: &Chip) -> (Vec<Clause>, Vec<Option<u8>>) {
    let mut of = vec![None; kernel.values as usize];
    kernel.inputs.iter().for_each(|(value, (_, component))| of[value.index()] = Some(*component));
    let mut s = Schedule {
        chip,
        channels: Channels { of, groups },
        clauses: Vec::new(),
        base: 0,
        written: HashMap::new(),
        read: HashMap::new(),
        memory: 0,
        lds: None,
        values: kernel.values,
        moves: Vec::new(),
    };
    let mut rest = &kernel.items[..];
    while !rest.is_empty() {
        let end = rest.iter().position(|item| matches!(item, Item::Mark(..))).unwrap_or(rest.len());
        let (block, after) = rest.split_at(end);
        s.block(block);
        if let Some(Item::Mark(mark, at)) = after.first() {
            s.clauses.push(Clause::Mark(*mark, *at));
            rest = &after[1..];
        } else {
            rest = after;
        }
    }
    (s.clauses, s.channels.of)
}

impl Schedule<'_> {
    fn block(&mut self, block: &[Item]) {
        self.base = self.clauses.len();
        self.memory = self.base;
        self.lds = None;
        self.written.clear();
        self.read.clear();
        let urgent = urgent(block);
        for (item, urgent) in block.iter().zip(urgent) {
            match item {
                Item::Alu(alu) => self.alu(alu, urgent),
                Item::Fetch(fetch) => self.fetch(fetch),
                Item::Write(write) => self.write(write),
                Item::Mark(..) => {}
            }
        }
    }

    fn last(&self) -> usize {
        self.clauses.len().saturating_sub(1)
    }

    /// The first place for an ALU instruction, by its operands and by whom it would disturb.
    fn earliest(&self, alu: &Alu) -> Place {
        let mut at: Place = (self.base, 0);
        let after = |place: Place, same: bool| match self.clauses[place.0] {
            Clause::Alu(_) if same => place,
            Clause::Alu(_) => (place.0, place.1 + 1),
            _ => (place.0 + 1, 0),
        };
        for value in alu.reads() {
            at = at.max(self.written.get(&value).map_or(at, |place| after(*place, false)));
        }
        for value in alu.writes() {
            at = at.max(self.read.get(&value).map_or(at, |place| after(*place, true)));
            at = at.max(self.written.get(&value).map_or(at, |place| after(*place, false)));
        }
        if is_lds(alu) {
            at = at.max(self.lds.map_or(at, |place| after(place, false)));
        }
        at
    }

    fn alu(&mut self, alu: &Alu, urgent: bool) {
        let first = self.earliest(alu);
        let ends = alu.name.starts_with("PRED_") || alu.name == "GROUP_BARRIER";
        let last = self.last();
        // What decides about flow is last.
        let first = match self.clauses.get(last) {
            Some(Clause::Alu(bundles)) if ends && last >= self.base => {
                first.max((last, bundles.len().saturating_sub(1)))
            }
            _ if ends => (self.clauses.len().max(first.0), first.1),
            _ => first,
        };
        let mut alu = std::borrow::Cow::Borrowed(alu);
        self.split_results(&mut alu);
        let from = first.0.max(self.clauses.len().saturating_sub(1 + BACK)).max(self.base);
        let mut place = None;
        for clause in from..self.clauses.len() {
            let start = if clause == first.0 { first.1 } else { 0 };
            place = self.free_slot(&alu, clause, start);
            if place.is_none() && urgent {
                place = self.append(&alu, clause, start);
            }
            if place.is_some() {
                break;
            }
        }
        let last = self.last();
        if place.is_none() && !self.clauses.is_empty() && last >= first.0.max(self.base) {
            let start = if last == first.0 { first.1 } else { 0 };
            place = self.append(&alu, last, start);
        }
        let place = match place {
            Some(place) => place,
            None if self.fits_alone(&alu) => {
                self.clauses.push(Clause::Alu(Vec::new()));
                let last = self.last();
                self.append(&alu, last, 0).unwrap_or((last, 0))
            }
            None => return self.relieved(&alu, urgent),
        };
        for value in alu.reads() {
            let read = self.read.entry(value).or_insert(place);
            *read = place.max(*read);
        }
        for value in alu.writes() {
            self.written.insert(value, place);
            self.read.remove(&value);
        }
        if is_lds(&alu) {
            self.lds = Some(place);
        }
        if alu.name == "GROUP_BARRIER" {
            self.memory = self.memory.max(place.0 + 1);
        }
        for alu in std::mem::take(&mut self.moves) {
            self.alu(&alu, urgent);
        }
    }

    /// Results of double precision come in pairs of components; where they are to be elsewhere, moves follow.
    fn split_results(&mut self, alu: &mut std::borrow::Cow<'_, Alu>) {
        if !matches!(alu.unit, Unit::Pair | Unit::Quad) || alu.writes().count() < 2 && alu.unit == Unit::Quad
        {
            return;
        }
        let fits = |base: u8| {
            alu.slots.iter().enumerate().all(|(n, slot)| {
                slot.dst.is_none_or(|dst| self.channels.allowed(dst).contains(&(base + n as u8)))
            })
        };
        if fits(0) || fits(2) {
            return;
        }
        let mut own = alu.clone().into_owned();
        let at = own.at;
        for slot in &mut own.slots {
            if let Some(dst) = slot.dst {
                slot.dst = Some(self.fresh_value());
                let slots = smallvec::smallvec![Slot {
                    dst: Some(dst),
                    srcs: slot.dst.map(Src::of).into_iter().collect()
                }];
                self.moves.push(Alu { name: "MOV", unit: Unit::Any, slots, clamp: false, at });
            }
        }
        *alu = std::borrow::Cow::Owned(own);
    }

    fn fresh_value(&mut self) -> V {
        self.channels.of.push(None);
        V::fresh(&mut self.values)
    }

    /// Whether an instruction fits a VLIW instruction of its own.
    fn fits_alone(&mut self, alu: &Alu) -> bool {
        put(alu, &mut Bundle::default(), None, self.chip, &mut self.channels)
    }

    /// An instruction that reads more than ports and constants allow: copies of operands come first.
    fn relieved(&mut self, alu: &Alu, urgent: bool) {
        let mut alu = alu.clone();
        for _ in 0..COPIES {
            if self.fits_alone(&alu) {
                break;
            }
            let words: Vec<Word> =
                alu.slots.iter().flat_map(|slot| slot.srcs.iter().map(|src| src.word)).collect();
            let mut loads = [0; 4];
            let channel = |word: &Word| match word {
                Word::V(value) => self.channels.of[value.index()].map(usize::from),
                _ => None,
            };
            let mut seen: Vec<Word> = Vec::new();
            for word in &words {
                if !seen.contains(word) {
                    seen.push(*word);
                    channel(word).into_iter().for_each(|c| loads[c] += 1);
                }
            }
            // Of four components the one that is read most, or a constant.
            let constant =
                seen.iter().copied().find(|word| matches!(word, Word::Const { .. } | Word::Imm(_)));
            let most = (0..4).max_by_key(|c| loads[*c]).unwrap_or(0);
            let least = (0..4).min_by_key(|c| loads[*c]).unwrap_or(0);
            let crowded = seen.iter().copied().find(|word| channel(word) == Some(most));
            let Some(word) = (if loads[most] > 3 { crowded } else { constant.or(crowded) }) else { break };
            let fresh = self.fresh_value();
            self.channels.of[fresh.index()] = Some(least as u8);
            let slots =
                smallvec::smallvec![Slot { dst: Some(fresh), srcs: smallvec::smallvec![Src::new(word)] }];
            self.alu(&Alu { name: "MOV", unit: Unit::Any, slots, clamp: false, at: alu.at }, urgent);
            for src in alu.slots.iter_mut().flat_map(|slot| &mut slot.srcs).filter(|src| src.word == word) {
                src.word = Word::V(fresh);
            }
        }
        if self.fits_alone(&alu) {
            return self.alu(&alu, urgent);
        }
        // Never seen; the listing would have one instruction that no chip takes.
        let mut bundle = Bundle::default();
        for n in 0..alu.slots.len().min(4) {
            bundle.slots[n] = Some((alu.clone(), n));
        }
        self.clauses.push(Clause::Alu(vec![bundle]));
        let place = (self.last(), 0);
        self.read.extend(alu.reads().map(|value| (value, place)));
        self.written.extend(alu.writes().map(|value| (value, place)));
    }

    fn free_slot(&mut self, alu: &Alu, clause: usize, start: usize) -> Option<Place> {
        if !self.has_room(alu, clause) {
            return None;
        }
        let Clause::Alu(bundles) = &mut self.clauses[clause] else { return None };
        let start = start.max(bundles.len().saturating_sub(WINDOW));
        for at in start..bundles.len() {
            let mut bundle = std::mem::take(&mut bundles[at]);
            let before = at.checked_sub(1).map(|before| &bundles[before]);
            let fits = put(alu, &mut bundle, before, self.chip, &mut self.channels);
            bundles[at] = bundle;
            // The one behind may have counted on a port.
            if fits {
                return Some((clause, at));
            }
        }
        None
    }

    /// A VLIW instruction of its own at the end of a clause.
    fn append(&mut self, alu: &Alu, clause: usize, start: usize) -> Option<Place> {
        if !self.has_room(alu, clause) {
            return None;
        }
        let Clause::Alu(bundles) = &mut self.clauses[clause] else { return None };
        let mut bundle = Bundle::default();
        let before = if bundles.len() >= start { bundles.last() } else { None };
        put(alu, &mut bundle, before, self.chip, &mut self.channels).then(|| {
            bundles.push(bundle);
            (clause, bundles.len() - 1)
        })
    }

    /// Whether a clause has words, and windows to constant buffers, for one more.
    fn has_room(&self, alu: &Alu, clause: usize) -> bool {
        let Clause::Alu(bundles) = &self.clauses[clause] else { return false };
        let words: usize = bundles.iter().map(Bundle::words).sum();
        if words + 4 + 2 > WORDS {
            return false;
        }
        let line = |src: &Src| match src.word {
            Word::Const { buffer, row, .. } => Some((buffer, row / 16)),
            _ => None,
        };
        let mut lines: HashSet<(u32, u32)> =
            alu.slots.iter().flat_map(|slot| &slot.srcs).filter_map(line).collect();
        if lines.is_empty() {
            return true;
        }
        let parts = bundles.iter().flat_map(|bundle| bundle.slots.iter().flatten());
        lines.extend(parts.flat_map(|(part, from)| &part.slots[*from].srcs).filter_map(line));
        lines.len() <= if self.chip.generation >= Generation::Evergreen { 8 } else { 4 }
    }

    fn fetch(&mut self, fetch: &Fetch) {
        let reads: Vec<V> =
            fetch.address.iter().filter_map(Src::value).chain(fetch.data.iter().copied()).collect();
        let mut first = self.base;
        for value in &reads {
            first = first.max(self.written.get(value).map_or(first, |place| place.0 + 1));
        }
        for value in fetch.dst.iter().flatten() {
            for place in [self.read.get(value), self.written.get(value)].into_iter().flatten() {
                first = first.max(place.0 + 1);
            }
        }
        if fetch.ordered {
            first = first.max(self.memory);
        }
        let open = (first..self.clauses.len()).rev().find(|at| match &self.clauses[*at] {
            Clause::Fetch(list) => list.len() < self.chip.fetches(),
            _ => false,
        });
        let at = open.unwrap_or_else(|| {
            self.clauses.push(Clause::Fetch(Vec::new()));
            self.last()
        });
        for value in reads {
            if self.channels.of[value.index()].is_none() {
                self.channels.decide(value);
            }
            let read = self.read.entry(value).or_insert((at, 0));
            *read = (*read).max((at, 0));
        }
        for value in fetch.dst.iter().flatten() {
            if self.channels.of[value.index()].is_none() {
                self.channels.decide(*value);
            }
            self.written.insert(*value, (at, 0));
            self.read.remove(value);
        }
        if fetch.ordered && fetch.dst.iter().all(Option::is_none) {
            self.memory = self.memory.max(at);
        }
        if let Clause::Fetch(list) = &mut self.clauses[at] {
            list.push(fetch.clone());
        }
    }

    fn write(&mut self, write: &Write) {
        self.clauses.push(Clause::Write(write.clone()));
        let at = (self.last(), 0);
        for value in write.address.iter().chain(&write.data) {
            if self.channels.of[value.index()].is_none() {
                self.channels.decide(*value);
            }
            self.read.insert(*value, at);
        }
        self.memory = at.0 + 1;
        for value in &write.back {
            if self.channels.of[value.index()].is_none() {
                self.channels.decide(*value);
            }
            self.written.insert(*value, at);
            self.read.remove(value);
        }
        if !write.back.is_empty() {
            self.clauses.push(Clause::Mark(Mark::Wait, write.at));
        }
    }
}

fn is_lds(alu: &Alu) -> bool {
    let pops = |src: &Src| src.word == Word::Special("LDS_OQ_A_POP");
    alu.unit == Unit::First || alu.slots.iter().any(|slot| slot.srcs.iter().any(pops))
}

/// By instruction of a block: whether a fetch waits for it.
fn urgent(block: &[Item]) -> Vec<bool> {
    let mut wanted: HashSet<V> = HashSet::new();
    let mut out = vec![false; block.len()];
    for (at, item) in block.iter().enumerate().rev() {
        match item {
            Item::Fetch(fetch) => {
                fetch.dst.iter().flatten().for_each(|dst| {
                    wanted.remove(dst);
                });
                wanted.extend(fetch.address.iter().filter_map(Src::value));
                wanted.extend(fetch.data.iter().copied());
            }
            Item::Alu(alu) => {
                if alu.writes().any(|value| wanted.contains(&value)) {
                    out[at] = true;
                    alu.writes().for_each(|value| {
                        wanted.remove(&value);
                    });
                    wanted.extend(alu.reads());
                }
            }
            Item::Write(_) | Item::Mark(..) => {}
        }
    }
    out
}
