//! Induction variables: floats that count whole numbers, and the integer beside each.
//!
//! Coordinates are floats, so kernels count with floats, and a device would convert a counter to a texel in each round of a loop: by
//! one of the slowest instructions that it has, on the way to a load. A register that only ever holds constants and sums of
//! what it held and constants has its texel in a variable of its own, which is stepped as the float is.
//!
//! Native mode only: in faithful mode loops are bound by what is computed with what they load, and were a twentieth slower by it
//! on an H200.
//!
//! Halves below 2^23 are exact, and so are their sums with whole numbers: there the texel is what conversion would give. From
//! [`LARGEST`] on both are outside of every texture, and stay there: floats do not go down, and the integer is held at
//! [`LARGEST`] at the end of each block, so that it does not wrap.

use rustc_hash::{FxHashMap, FxHashSet};

use rspirv::spirv::Word;
use smallvec::SmallVec;

use super::Emitter;
use crate::bits::BitSet;
use crate::ir::visit::destinations_of;
use crate::ir::{Block, LaneInst, LaneOp, MemoryInst, Operand, Program, Reg, StmtKind};
use crate::isa::Algebra;

/// No texture of two dimensions has as many columns or rows.
const LARGEST: u32 = 1 << 22;
/// Constants and steps are at most as large: no block has so many steps that they add up to 2^32.
const MOST: f32 = 1024.0;

/// What registers are written, as far as it is constants, other registers, and sums of a register and a step.
#[derive(Default)]
struct Writes {
    from: FxHashMap<Reg, Vec<Operand>>,
    others: FxHashSet<Reg>,
    /// What loops take for coordinates.
    coordinates: Vec<Reg>,
}

impl Writes {
    fn collect(&mut self, block: &Block, in_loop: bool) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) => match counts(inst) {
                    Some(from) => self.from.entry(inst.dst[0]).or_default().push(from),
                    None => self.others.extend(inst.dst),
                },
                StmtKind::Memory(inst) => {
                    if let (true, MemoryInst::Sample { unnormalized: true, coord, .. }) = (in_loop, &**inst) {
                        self.coordinates.extend(coord[..2].iter().filter_map(register));
                    }
                    self.others.extend(destinations_of(inst));
                }
                StmtKind::Loop { body } => self.collect(body, true),
                kind => kind.blocks().for_each(|block| self.collect(block, in_loop)),
            }
        }
    }
}

fn register(operand: &Operand) -> Option<Reg> {
    match operand {
        Operand::Reg(register) => Some(*register),
        _ => None,
    }
}

/// The constant that is the texel's place, or the register that is copied or stepped from.
fn counts(inst: &LaneInst) -> Option<Operand> {
    match (inst.op, &inst.args[..]) {
        (LaneOp::Mov, [Operand::Imm(bits)]) => texel(*bits).map(|_| Operand::Imm(*bits)),
        (LaneOp::Mov, [from @ Operand::Reg(_)]) => Some(*from),
        (LaneOp::Add | LaneOp::BareAdd, [from @ Operand::Reg(_), Operand::Imm(bits)])
        | (LaneOp::Add | LaneOp::BareAdd, [Operand::Imm(bits), from @ Operand::Reg(_)]) => {
            step(*bits).map(|_| *from)
        }
        _ => None,
    }
}

/// The texel of a constant that is a multiple of a half.
fn texel(bits: u32) -> Option<u32> {
    let value = f32::from_bits(bits);
    (bits >> 31 == 0 && value <= MOST && (2.0 * value).fract() == 0.0).then_some(value as u32)
}

/// A step by texels.
fn step(bits: u32) -> Option<u32> {
    let value = f32::from_bits(bits);
    ((1.0..=MOST).contains(&value) && value.fract() == 0.0).then_some(value as u32)
}

/// Registers of main alone that count texels, and that loops sample at.
pub(super) fn induction(program: &Program, shared: &BitSet<Reg>) -> BitSet<Reg> {
    let mut writes = Writes::default();
    if let Some(main) = program.functions.first() {
        writes.collect(&main.body, false);
    }
    let Writes { mut from, others, mut coordinates } = writes;
    from.retain(|register, _| !others.contains(register) && !shared.contains(*register));
    loop {
        let known: FxHashSet<Reg> = from.keys().copied().collect();
        let all = |sources: &[Operand]| sources.iter().filter_map(register).all(|of| known.contains(&of));
        from.retain(|_, sources| all(sources));
        if from.len() == known.len() {
            break;
        }
    }
    let mut counted = BitSet::default();
    while let Some(next) = coordinates.pop() {
        if let Some(sources) = from.get(&next)
            && counted.insert_new(next)
        {
            coordinates.extend(sources.iter().filter_map(register));
        }
    }
    counted
}

impl Emitter<'_> {
    /// The texel at a coordinate, if it is a counter's.
    pub fn place_of(&mut self, coordinate: Word) -> Option<Word> {
        match self.w.bits.get(&coordinate).copied() {
            Some(bits) => texel(bits).map(|texel| self.word(texel)),
            None => self.memo.places.get(&coordinate),
        }
    }

    /// A word has the bits of another.
    pub fn same_place(&mut self, of: Word, word: Word) {
        if let Some(place) = self.place_of(of) {
            self.memo.places.insert(word, place);
        }
    }

    /// The variable of a register's texels.
    fn place_variable(&mut self, register: Reg) -> Word {
        if let Some(variable) = self.registers.places.get(&register) {
            return variable;
        }
        let zero = self.w.word(0);
        let variable = self.w.local(self.t.u32, Some(zero));
        self.registers.places.insert(register, variable);
        variable
    }

    /// Behind the load of a counter.
    pub fn read_place(&mut self, register: Reg, value: Word) {
        if self.registers.counted.contains(register) {
            let variable = self.place_variable(register);
            let place = self.w.load(self.t.u32, variable, None);
            self.memo.places.insert(value, place);
        }
    }

    /// Before the store of a counter.
    pub fn spill_place(&mut self, register: Reg, value: Word) {
        if !self.registers.counted.contains(register) {
            return;
        }
        let variable = self.place_variable(register);
        let place =
            self.place_of(value).expect("a counter is a constant, or a sum of what it was and a step");
        let place = match self.w.bits.get(&place) {
            Some(_) => place,
            None => {
                // With UMin in place of the two SwiftShader leaves the counter at 0.
                let largest = self.word(LARGEST);
                let fits = self.ult(place, largest);
                self.select(fits, place, largest)
            }
        };
        self.w.store(variable, place, None);
    }

    /// Behind an operation that may have stepped a counter.
    pub fn step_place(&mut self, inst: &LaneInst, words: &SmallVec<[Word; 6]>, value: Word) {
        if !self.registers.counted.contains(inst.dst[0]) || self.w.bits.get(&value).is_some() {
            return;
        }
        let [a, b] = words[..] else { return };
        let bits = |word: &Word| self.w.bits.get(word).copied().and_then(step);
        let stepped = match (bits(&a), bits(&b)) {
            (None, Some(by)) => Some((a, by)),
            (Some(by), None) => Some((b, by)),
            _ => None,
        };
        if let Some((from, by)) = stepped
            && let Some(place) = self.place_of(from)
        {
            let by = self.word(by);
            let place = self.iadd(place, by);
            self.memo.places.insert(value, place);
        }
    }
}
