//! Whether an instruction fits a VLIW instruction: slots, register ports, constants, literals.
//!
//! A vector slot writes the component that it is; the transcendental one any. A VLIW instruction reads its registers in three
//! cycles, one register of each component in each; in which cycle an operand is read is a choice of its slot (*bank swizzle*). What
//! the instruction just before has computed comes without a port.

use smallvec::SmallVec;

use super::{Alu, Bundle, Chip, Generation, Src, Unit, V, Word};

/// Components of values, as far as they are decided.
pub(super) struct Channels<'g> {
    pub of: Vec<Option<u8>>,
    pub groups: &'g super::group::Groups,
}

impl Channels<'_> {
    /// Components that a value may have, the natural one first.
    pub fn allowed(&self, value: V) -> SmallVec<[u8; 4]> {
        if let Some(channel) = self.of[value.index()] {
            return SmallVec::from_slice(&[channel]);
        }
        let Some(group) = self.groups.group.get(value.index()) else {
            return SmallVec::from_slice(&[0, 1, 2, 3]);
        };
        let mates = &self.groups.members[*group as usize];
        (0..4).filter(|c| !mates.iter().any(|mate| self.of[mate.index()] == Some(*c))).collect()
    }

    /// Decides about a value that is read before anything wrote it.
    pub fn decide(&mut self, value: V) -> u8 {
        let channel = self.allowed(value).first().copied().unwrap_or(0);
        self.of[value.index()] = Some(channel);
        channel
    }
}

/// The cycle in which each operand is read.
const VECTOR: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]];
const SCALAR: [[usize; 3]; 4] = [[2, 1, 0], [1, 2, 2], [2, 1, 2], [2, 2, 1]];

/// Constants that come with the instruction.
pub(super) fn is_inline(word: u32, float: bool) -> bool {
    const ONE: u32 = 0x3f80_0000;
    const HALF: u32 = 0x3f00_0000;
    let sign = if float { 1 << 31 } else { 0 };
    matches!(word, 0 | 1 | u32::MAX | ONE | HALF) || matches!(word & !sign, ONE | HALF)
}

/// Whether an instruction takes its operands as floats, with signs.
pub(super) fn is_float(name: &str) -> bool {
    !["_INT", "_UINT", "INT24", "UINT24", "INT_TO_FLT"].iter().any(|part| name.contains(part))
        && name != "MOV"
}

/// A way to put an instruction into a bundle: which of its slots goes where, and the components of its results.
type Places = SmallVec<[(usize, Option<u8>); 4]>;

/// Every way that slots and components allow.
fn places(alu: &Alu, bundle: &Bundle, chip: &Chip, channels: &Channels<'_>) -> Vec<Places> {
    let free = |slot: usize| bundle.slots[slot].is_none() && (slot < 4 || !chip.is_cayman());
    let first = alu.slots[0].dst;
    let one = |slot: usize, channel: Option<u8>| -> Places { SmallVec::from_slice(&[(slot, channel)]) };
    let mut out = Vec::new();
    match alu.unit {
        Unit::Any | Unit::Vec | Unit::First => match first {
            None => {
                let slots = match alu.unit {
                    Unit::First => 0..1,
                    Unit::Vec => 0..4,
                    _ => 0..5,
                };
                out.extend(slots.filter(|slot| free(*slot)).map(|slot| one(slot, None)));
            }
            Some(dst) => {
                let allowed = channels.allowed(dst);
                let vector = allowed.iter().filter(|c| free(usize::from(**c)));
                out.extend(vector.map(|c| one(usize::from(*c), Some(*c))));
                if alu.unit == Unit::Any && free(4) {
                    out.extend(allowed.first().map(|c| one(4, Some(*c))));
                }
            }
        },
        Unit::Trans if !chip.is_cayman() => {
            if free(4) {
                let channel = first.and_then(|dst| channels.allowed(dst).first().copied());
                out.push(one(4, channel));
            }
        }
        Unit::Trans => {
            for channel in first.map(|dst| channels.allowed(dst)).unwrap_or_default() {
                let wide = 3.max(usize::from(channel) + 1);
                if (0..wide).all(free) {
                    let slot = |n: usize| (n, (n == usize::from(channel)).then_some(channel));
                    out.push((0..wide).map(slot).collect());
                }
            }
        }
        Unit::Pair => {
            for base in [0, 2] {
                let fits = |n: usize| {
                    let dst = alu.slots[n].dst;
                    dst.is_none_or(|dst| channels.allowed(dst).contains(&((base + n) as u8)))
                };
                if free(base) && free(base + 1) && fits(0) && fits(1) {
                    let slot = |n: usize| (base + n, alu.slots[n].dst.map(|_| (base + n) as u8));
                    out.push((0..2).map(slot).collect());
                }
            }
        }
        Unit::Quad if (0..4).all(free) => {
            let results = alu.slots.iter().filter(|slot| slot.dst.is_some()).count();
            match (first, results) {
                (Some(dst), 1) => {
                    for channel in channels.allowed(dst) {
                        let slot = |n: usize| (n, (n == usize::from(channel)).then_some(channel));
                        out.push((0..4).map(slot).collect());
                    }
                }
                _ => {
                    for base in [0, 2] {
                        let fits = |n: usize| {
                            let dst = alu.slots[n].dst;
                            dst.is_none_or(|dst| channels.allowed(dst).contains(&((base + n) as u8)))
                        };
                        if (0..results).all(fits) {
                            let slot = |n: usize| {
                                let written = n >= base && n - base < results;
                                (n, written.then_some(n as u8))
                            };
                            out.push((0..4).map(slot).collect());
                        }
                    }
                }
            }
        }
        Unit::Quad => {}
    }
    out
}

/// The operands that a slot reads of registers: value and component.
type Reads = SmallVec<[(usize, V, u8); 3]>;

/// Whether cycles can be found for the operands of all slots.
fn ports_suffice(slots: &[(bool, Reads, usize)], ports: &mut [[Option<V>; 4]; 3]) -> bool {
    let Some(((scalar, reads, constants), rest)) = slots.split_first() else { return true };
    if reads.is_empty() {
        return ports_suffice(rest, ports);
    }
    let swizzles: &[[usize; 3]] = if *scalar { &SCALAR } else { &VECTOR };
    for swizzle in swizzles {
        let before = *ports;
        let fits = reads.iter().all(|(operand, value, channel)| {
            let cycle = swizzle[(*operand).min(2)];
            // Constants of the transcendental slot take the first cycles.
            if *scalar && cycle < *constants {
                return false;
            }
            let port = &mut ports[cycle][usize::from(*channel)];
            *port.get_or_insert(*value) == *value
        });
        if fits && ports_suffice(rest, ports) {
            return true;
        }
        *ports = before;
    }
    false
}

/// Tries to put an instruction into a bundle behind another one. True: it is in, and its results have components.
pub(super) fn put(
    alu: &Alu,
    bundle: &mut Bundle,
    before: Option<&Bundle>,
    chip: &Chip,
    channels: &mut Channels<'_>,
) -> bool {
    'places: for places in places(alu, bundle, chip, channels) {
        let mut tried = bundle.clone();
        let wide = alu.slots.len() > 1;
        let written = alu.slots.iter().filter_map(|slot| slot.dst).collect::<SmallVec<[V; 2]>>();
        let mut results = written.iter();
        let mut decided: SmallVec<[(V, u8); 4]> = SmallVec::new();
        for (n, (slot, channel)) in places.iter().enumerate() {
            let mut part = alu.clone();
            let from = if wide { n.min(alu.slots.len() - 1) } else { 0 };
            let mut own = part.slots[from].clone();
            own.dst = channel.and_then(|channel| {
                let dst = results.next().copied()?;
                decided.push((dst, channel));
                Some(dst)
            });
            part.slots[from] = own;
            tried.slots[*slot] = Some((part, from));
        }
        if !constants_fit(&mut tried, chip) {
            continue;
        }
        let mut slots: SmallVec<[(bool, Reads, usize); 5]> = SmallVec::new();
        for (n, slot) in tried.slots.iter().enumerate() {
            let Some((part, from)) = slot else { continue };
            let srcs = &part.slots[*from].srcs;
            let constants = srcs.iter().filter(|src| matches!(src.word, Word::Const { .. })).count();
            if n == 4 && constants > 2 {
                continue 'places;
            }
            let mut reads = Reads::new();
            for (operand, src) in srcs.iter().enumerate() {
                let Some(value) = src.value() else { continue };
                let twice = operand == 1 && srcs[0].value() == Some(value);
                if !twice && !before.is_some_and(|before| writes(before, value)) {
                    let channel = channels.of[value.index()].unwrap_or_else(|| channels.decide(value));
                    reads.push((operand, value, channel));
                }
            }
            slots.push((n == 4, reads, constants));
        }
        if !ports_suffice(&slots, &mut [[None; 4]; 3]) {
            continue;
        }
        decided.iter().for_each(|(value, channel)| channels.of[value.index()] = Some(*channel));
        *bundle = tried;
        return true;
    }
    false
}

/// Whether a bundle computes a value.
pub(super) fn writes(bundle: &Bundle, value: V) -> bool {
    bundle.slots.iter().flatten().any(|(part, from)| part.slots[*from].dst == Some(value))
}

/// Collects the literals, and looks at constant buffers: R6xx reads four words of them, later chips two pairs.
fn constants_fit(bundle: &mut Bundle, chip: &Chip) -> bool {
    let mut constants: SmallVec<[(u32, u32, u8); 4]> = SmallVec::new();
    let mut literals: SmallVec<[u32; 4]> = SmallVec::new();
    for (part, from) in bundle.slots.iter().flatten() {
        let float = is_float(part.name);
        for Src { word, .. } in &part.slots[*from].srcs {
            match *word {
                Word::Imm(word) if !is_inline(word, float) && !literals.contains(&word) => {
                    literals.push(word)
                }
                Word::Const { buffer, row, component } => {
                    let part = if chip.generation == Generation::R600 { component } else { component / 2 };
                    if !constants.contains(&(buffer, row, part)) {
                        constants.push((buffer, row, part));
                    }
                }
                _ => {}
            }
        }
    }
    let most = if chip.generation == Generation::R600 { 4 } else { 2 };
    let fits = literals.len() <= 4 && constants.len() <= most;
    bundle.literals = literals;
    fits
}
