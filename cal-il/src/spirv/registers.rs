//! Registers as variables, with their values kept while control flow allows.
//!
//! A register of main that no function touches is a variable of main's function, so that drivers make a value of
//! it; the others, and the outputs, are variables of the invocation. Within a block each register is loaded and
//! stored at most once: values live in [`Memo::registers`], stores wait until control flow leaves the block.

use rspirv::spirv::{StorageClass, Word};
use rustc_hash::FxHashMap;

use super::doubles::{Pairs, pairs};
use super::induction::induction;
use super::known::{Known, Sparse, Words};
use super::{Emitter, Mode, Target, uses};
use crate::bits::BitSet;
use crate::ir::upward_exposed::upward_exposed;
use crate::ir::visit::{order, touched, written};
use crate::ir::{Block, Builtin, Operand, Program, Reg, StmtKind};
use crate::isa::lane::Class;

/// What is known at the current point. Everything here was computed in blocks that dominate it.
#[derive(Default)]
pub(super) struct Memo {
    pub registers: Known<Reg, Word, Words<Reg>>,
    pub float: Known<Word, Word, Words>,
    pub halves: Known<Word, (Word, Word), Sparse<(Word, Word)>>,
    pub integer: Known<(Word, Word), Word>,
    pub double: Known<(Word, Word), Word>,
    pub parts: Known<(Word, u32), Word>,
    pub constants: Known<(u32, u32, bool), Word>,
    /// The texels of floats that count.
    pub places: Known<Word, Word, Sparse<Word>>,
    /// The conditions of words that are all ones or 0.
    pub truths: Known<Word, Word, Sparse<Word>>,
    /// Constant rows that are loaded at the beginning of the function.
    pub first_constants: FxHashMap<(u32, u32, bool), Word>,
    /// Floats that say where the thread is: the whole number, and of which axis.
    pub whole: FxHashMap<Word, (Word, u32)>,
    /// Identifiers of the thread, computed at the beginning of the function.
    pub builtins: FxHashMap<Builtin, Word>,
}

/// A state of the [`Memo`].
#[derive(Clone, Copy)]
pub(super) struct Mark([usize; 9], usize);

impl Memo {
    fn mark(&self) -> [usize; 9] {
        [
            self.registers.mark(),
            self.float.mark(),
            self.halves.mark(),
            self.integer.mark(),
            self.double.mark(),
            self.parts.mark(),
            self.constants.mark(),
            self.truths.mark(),
            self.places.mark(),
        ]
    }

    fn rewind(&mut self, mark: [usize; 9]) {
        let [registers, float, halves, integer, double, parts, constants, truths, places] = mark;
        self.registers.rewind(registers);
        self.float.rewind(float);
        self.halves.rewind(halves);
        self.integer.rewind(integer);
        self.double.rewind(double);
        self.parts.rewind(parts);
        self.constants.rewind(constants);
        self.truths.rewind(truths);
        self.places.rewind(places);
    }
}

/// Where registers live.
#[derive(Default)]
pub(super) struct Registers {
    /// Registers that functions other than main touch, and outputs if main is a function.
    shared: BitSet<Reg>,
    /// Registers that float operations read.
    pub(super) floats: BitSet<Reg>,
    /// Registers that may be read before anything writes them.
    early: BitSet<Reg>,
    /// Registers that are one variable of a double.
    pairs: Pairs,
    pub(super) variables: Words<Reg>,
    /// Registers that count texels, and the variables of these.
    pub(super) counted: BitSet<Reg>,
    pub(super) places: Words<Reg>,
    /// Written since the last store.
    dirty: Vec<Reg>,
    is_dirty: BitSet<Reg>,
}

impl Registers {
    pub fn of(program: &Program, target: &Target) -> Self {
        let mut shared = BitSet::default();
        for n in order(&program.functions).into_iter().filter(|n| *n > 0) {
            touched(&program.functions[n].body, &mut |reg, _| {
                shared.insert(reg);
            });
        }
        let mut early = shared.clone();
        early.extend(program.outputs.iter().flat_map(|output| output.registers));
        if !uses::inlines_main(program) {
            shared.clone_from(&early);
        }
        let mut floats = BitSet::default();
        for function in &program.functions {
            float_arguments(&function.body, &mut floats);
        }
        upward_exposed(program, &mut early);
        let pairs = if target.float64 { pairs(program, &shared) } else { Pairs::default() };
        let native = target.mode == Mode::Native;
        let counted = if native { induction(program, &shared) } else { BitSet::default() };
        Self { shared, floats, early, pairs, counted, ..Self::default() }
    }
}

impl Emitter<'_> {
    /// What is known now.
    pub fn mark(&self) -> Mark {
        Mark(self.memo.mark(), self.w.mark())
    }

    /// Knows again what was known then, and nothing more.
    pub fn rewind(&mut self, mark: Mark) {
        self.memo.rewind(mark.0);
        self.w.rewind(mark.1);
    }

    fn variable(&mut self, register: Reg) -> Word {
        if let Some(variable) = self.registers.variables.get(&register) {
            return variable;
        }
        let zero = self.w.word(0);
        let variable = if self.registers.shared.contains(register) {
            self.private(self.t.u32, zero)
        } else {
            self.w.local(self.t.u32, Some(zero))
        };
        self.registers.variables.insert(register, variable);
        variable
    }

    /// A variable of the invocation.
    pub fn private(&mut self, ty: Word, initializer: Word) -> Word {
        let variable = self.w.variable(StorageClass::Private, ty, Some(initializer));
        self.interface.push(variable);
        variable
    }

    pub fn read(&mut self, register: Reg) -> Word {
        if let Some(value) = self.memo.registers.get(&register) {
            return value;
        }
        if let Some(pair) = self.registers.pairs.get(&register).copied() {
            self.read_pair(pair);
            if let Some(value) = self.memo.registers.get(&register) {
                return value;
            }
        }
        let variable = self.variable(register);
        let value = self.w.load(self.t.u32, variable, None);
        self.memo.registers.insert(register, value);
        self.read_place(register, value);
        if self.registers.floats.contains(register) {
            self.solid.insert(value);
        }
        value
    }

    /// Registers that float operations read start as a zero that drivers cannot know. To be called where main begins.
    pub fn start_registers(&mut self) {
        if self.target.mode == Mode::Native {
            return;
        }
        let zero = self.w.word(0);
        for register in (0..self.program.registers).map(Reg) {
            if !(self.registers.floats.contains(register) && self.registers.early.contains(register)) {
                continue;
            }
            let zero = self.opaque(zero);
            if let Some((lo, _)) = self.registers.pairs.get(&register).copied() {
                self.store_pair(lo, [zero; 2]);
                continue;
            }
            let variable = self.variable(register);
            self.w.store(variable, zero, None);
        }
    }

    pub fn write(&mut self, register: Reg, value: Word) {
        self.memo.registers.insert(register, value);
        if self.registers.is_dirty.insert_new(register) {
            self.registers.dirty.push(register);
        }
    }

    /// The register that was written last, if that was in this block.
    pub fn last_written(&self) -> Option<Reg> {
        self.registers.dirty.last().copied()
    }

    /// Stores what was written. To be called before control flow leaves the block.
    pub fn spill(&mut self) {
        let mut dirty = std::mem::take(&mut self.registers.dirty);
        dirty.sort_unstable();
        for register in dirty.drain(..) {
            if !self.registers.is_dirty.contains(register) {
                // Stored with the other of its pair.
                continue;
            }
            self.registers.is_dirty.remove(register);
            let Some(value) = self.memo.registers.get(&register) else { continue };
            if let Some((lo, hi)) = self.registers.pairs.get(&register).copied() {
                [lo, hi].iter().for_each(|register| self.registers.is_dirty.remove(*register));
                self.spill_pair((lo, hi));
                continue;
            }
            self.spill_place(register, value);
            let (variable, value) = (self.variable(register), self.spilled(register, value));
            self.w.store(variable, value, None);
        }
        self.registers.dirty = dirty;
    }

    /// What a register's variable gets for a value.
    pub(super) fn spilled(&mut self, register: Reg, value: Word) -> Word {
        // Some drivers take 1.0 and all ones for the same truth where a register is one or the other, and make
        // −0 of 0 where it may be −1.0.
        let one = matches!(self.w.bits.get(&value), Some(0x3F80_0000 | 0xBF80_0000));
        let mask = self.target.mode == Mode::Faithful && self.memo.truths.get(&value).is_some();
        if self.registers.floats.contains(register) {
            return self.opaque(value);
        }
        if one || mask { self.hidden(value) } else { value }
    }

    /// Forgets the values of registers that `block` may write.
    pub fn forget(&mut self, block: &Block) {
        written(self.program, block, &mut |register| self.memo.registers.remove(&register));
    }
}

/// Collects the registers that float operations read.
fn float_arguments(block: &Block, out: &mut BitSet<Reg>) {
    for statement in block {
        match &statement.kind {
            StmtKind::Lane(inst) => {
                let float = |class: &Class| matches!(class, Class::F | Class::Q);
                if inst.op.arguments().iter().any(float) {
                    out.extend(inst.args.iter().filter_map(|a| match a {
                        Operand::Reg(register) => Some(*register),
                        _ => None,
                    }));
                }
            }
            kind => kind.blocks().for_each(|block| float_arguments(block, out)),
        }
    }
}
