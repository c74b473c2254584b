//! Doubles that stay doubles: drivers that put their words into registers that do not belong together move them again and again.
//!
//! Two registers that sums or products of doubles are written to, and that no other 64-bit operation takes apart, are one variable; what was loaded as a vector of
//! words is taken for a vector of doubles.

use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

use super::Emitter;
use super::forms::Quad;
use super::module::Type;
use crate::bits::BitSet;
use crate::ir::{Block, LaneInst, LaneOp, Operand, Program, Reg, StmtKind};
use crate::isa::lane::Class;

/// Pairs of registers, low and high word, by both.
pub(super) type Pairs = FxHashMap<Reg, (Reg, Reg)>;

/// The pairs of a program, but for registers that are `shared` between functions.
pub(super) fn pairs(program: &Program, shared: &BitSet<Reg>) -> Pairs {
    let mut found = Found::default();
    program.functions.iter().for_each(|function| found.block(&function.body));
    let alone = |reg: &Reg| !found.mixed.contains(*reg) && !shared.contains(*reg);
    let kept = found.of.iter().filter(|(_, (lo, hi))| found.written.contains(*lo) && alone(lo) && alone(hi));
    kept.map(|(reg, pair)| (*reg, *pair)).collect()
}

/// Whether an operation is one of those that devices have for doubles.
fn computes(op: LaneOp) -> bool {
    op.result() == Class::Q && (op.is_bare() || op.native().is_some())
}

#[derive(Default)]
struct Found {
    of: Pairs,
    /// Low words that a double instruction writes.
    written: BitSet<Reg>,
    /// Registers that are in two pairs.
    mixed: BitSet<Reg>,
}

impl Found {
    fn meet(&mut self, lo: Reg, hi: Reg) {
        for reg in [lo, hi] {
            if lo == hi || *self.of.entry(reg).or_insert((lo, hi)) != (lo, hi) {
                self.mixed.extend([lo, hi]);
                self.mixed.extend(self.of.get(&reg).map(|(lo, hi)| [*lo, *hi]).into_iter().flatten());
            }
        }
    }

    fn lane(&mut self, inst: &LaneInst) {
        if inst.op.result() == Class::Q {
            self.meet(inst.dst[0], inst.dst[1]);
            if computes(inst.op) {
                self.written.insert(inst.dst[0]);
            }
        }
        let mut args = inst.args.iter();
        for class in inst.op.arguments() {
            let first = args.next();
            if *class == Class::Q
                && let (Some(Operand::Reg(lo)), Some(Operand::Reg(hi))) = (first, args.next())
            {
                self.meet(*lo, *hi);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in block {
            match &statement.kind {
                StmtKind::Lane(inst) => self.lane(inst),
                kind => kind.blocks().for_each(|block| self.block(block)),
            }
        }
    }
}

impl Emitter<'_> {
    fn double_variable(&mut self, lo: Reg) -> Word {
        if let Some(variable) = self.registers.variables.get(&lo) {
            return variable;
        }
        let (ty, zero) = (self.w.ty(Type::F64), self.w.double(0));
        let variable = self.w.local(ty, Some(zero));
        self.registers.variables.insert(lo, variable);
        variable
    }

    /// Reads those registers of a pair that are not known.
    pub(super) fn read_pair(&mut self, (lo, hi): (Reg, Reg)) {
        let (ty, variable) = (self.w.ty(Type::F64), self.double_variable(lo));
        let value = self.w.load(ty, variable, None);
        if self.registers.floats.contains(lo) || self.registers.floats.contains(hi) {
            self.solid.insert(value);
        }
        let (low, high) = self.words(Quad::Double(value));
        for (register, word) in [(lo, low), (hi, high)] {
            if self.memo.registers.get(&register).is_none() {
                self.memo.registers.insert(register, word);
            }
        }
    }

    /// Stores a pair of which a register was written.
    pub(super) fn spill_pair(&mut self, (lo, hi): (Reg, Reg)) {
        let words = [lo, hi].map(|register| {
            let value = self.read(register);
            self.spilled(register, value)
        });
        self.store_pair(lo, words);
    }

    /// Registers of a pair start as these words.
    pub(super) fn store_pair(&mut self, lo: Reg, [low, high]: [Word; 2]) {
        let (variable, value) = (self.double_variable(lo), self.double(Quad::Words(low, high)));
        self.w.store(variable, value, None);
    }

    /// The words of a vector that was loaded.
    pub(super) fn loaded_parts(&mut self, vector: Word, width: u32) -> Vec<Word> {
        let parts: Vec<Word> = (0..width).map(|k| self.part(vector, k)).collect();
        (0..).zip(&parts).for_each(|(k, part)| self.parts.insert(*part, (vector, k, width)));
        parts
    }

    /// The double that two words are, if they lie side by side in a vector that was loaded.
    pub(super) fn loaded_double(&mut self, lo: Word, hi: Word) -> Option<Word> {
        let (vector, k, width) = self.parts.get(&lo).copied()?;
        if k % 2 != 0 || self.parts.get(&hi) != Some(&(vector, k + 1, width)) {
            return None;
        }
        let ty = self.w.ty(Type::F64);
        if width == 2 {
            return Some(self.w.op(Op::Bitcast, ty, &[vector]));
        }
        let both = self.w.ty(Type::Doubles);
        let both = self.w.op(Op::Bitcast, both, &[vector]);
        Some(self.w.extract(ty, both, k / 2))
    }
}
