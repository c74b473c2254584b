//! How the words of threads side by side differ.
//!
//! A *line* is threads of one wave that follow each other along x and agree in y and z. Input is a program, output for each
//! statement [`Known`]: the [`Shape`] of the address of an access, or of what a condition tests, and which operands are the same.
//! It holds for the threads of a line that execute the statement.
//!
//! The analysis is an [`Algebra`] ([`Words`]): meanings are the functions of `isa::lane`, as everywhere. Registers that
//! some threads may miss are anything (`uniformity` says which); so are those that are read before they are written, unless
//! all they ever hold is the same for all.

use super::uniformity::missed;
use super::{Block, Builtin, LaneInst, MemoryInst, Operand, Program, Reg, StmtKind, ThreadId, visit};
use crate::isa::{Algebra, lane};

/// How a word differs from thread to thread of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// It is the same for all.
    Same,
    /// That of the next thread is larger by so much, modulo 2^32.
    Step(u32),
    /// Nothing is known.
    #[default]
    Any,
}

/// What is known of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Of everything that it asks of: an address, a condition.
    pub shape: Shape,
    /// Operands of a lane operation, or coordinates of a texel, that are the same for all: bit k is operand k.
    pub same: u32,
}

/// What is known of a program's statements, in the order of the text: a construct before what is in it, functions by number.
pub fn known(program: &Program) -> Vec<Known> {
    let mut pass = Pass { words: first_guess(program), changed: true };
    // Each round makes some register less special; there are three steps down.
    while pass.changed {
        pass.changed = false;
        program.functions.iter().for_each(|function| pass.block(&function.body));
    }
    let mut list = Vec::new();
    program.functions.iter().for_each(|function| pass.known(&function.body, &mut list));
    list
}

/// What is known of a word, in the threads of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// No definition was seen yet.
    Unknown,
    Constant(u32),
    Same,
    Step(u32),
    Any,
}

impl Word {
    fn join(self, other: Word) -> Word {
        match (self, other) {
            (Word::Unknown, word) | (word, Word::Unknown) => word,
            (a, b) if a == b => a,
            (Word::Constant(_) | Word::Same, Word::Constant(_) | Word::Same) => Word::Same,
            _ => Word::Any,
        }
    }

    fn step(step: u32) -> Word {
        if step == 0 { Word::Same } else { Word::Step(step) }
    }

    fn is_same(self) -> bool {
        matches!(self, Word::Constant(_) | Word::Same)
    }

    fn shape(self) -> Shape {
        match self {
            Word::Constant(_) | Word::Same => Shape::Same,
            Word::Step(step) => Shape::Step(step),
            Word::Any | Word::Unknown => Shape::Any,
        }
    }
}

/// Registers that a thread may read without having written them, or that threads may miss, start as what they must be.
fn first_guess(program: &Program) -> Vec<Word> {
    let mut words = vec![Word::Unknown; program.registers as usize];
    missed(program)
        .iter()
        .zip(&mut words)
        .filter(|(missed, _)| **missed)
        .for_each(|(_, word)| *word = Word::Any);
    let mut written = Written { sure: vec![false; words.len()], early: Vec::new() };
    for function in &program.functions {
        // What main has written before a call is not looked for.
        written.sure.fill(false);
        written.block(&function.body);
    }
    for reg in written.early {
        let word = &mut words[reg as usize];
        *word = word.join(Word::Constant(0));
    }
    words
}

/// Which registers are read where they may not have been written.
struct Written {
    sure: Vec<bool>,
    early: Vec<Reg>,
}

impl Written {
    fn read(&mut self, operand: Operand) {
        if let Operand::Reg(reg) = operand
            && !self.sure[reg as usize]
        {
            self.early.push(reg);
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) => {
                    inst.args.iter().for_each(|arg| self.read(*arg));
                    inst.dst.into_iter().for_each(|reg| self.sure[reg as usize] = true);
                }
                StmtKind::Memory(inst) => {
                    visit::operands_of(inst).into_iter().for_each(|operand| self.read(operand));
                    visit::destinations_of(inst).into_iter().for_each(|reg| self.sure[reg as usize] = true);
                }
                other => {
                    visit::tested_of(other).into_iter().for_each(|operand| self.read(operand));
                    let before = self.sure.clone();
                    match other {
                        StmtKind::If { then, otherwise, .. } => {
                            self.block(then);
                            let first = std::mem::replace(&mut self.sure, before);
                            self.block(otherwise);
                            self.sure.iter_mut().zip(first).for_each(|(sure, first)| *sure &= first);
                        }
                        StmtKind::Loop { body } => {
                            self.block(body);
                            self.sure = before;
                        }
                        StmtKind::Switch { arms, .. } => {
                            for arm in arms {
                                self.sure.clone_from(&before);
                                self.block(&arm.body);
                            }
                            self.sure = before;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

struct Pass {
    words: Vec<Word>,
    changed: bool,
}

impl Pass {
    fn operand(&self, operand: Operand) -> Word {
        match operand {
            Operand::Imm(word) => Word::Constant(word),
            Operand::Const { .. } => Word::Same,
            Operand::Reg(reg) => self.words[reg as usize],
            Operand::Builtin(builtin) => match builtin {
                Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _)
                | Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute, 1..)
                | Builtin::Position(1)
                | Builtin::Timer(_)
                | Builtin::ComputeUnit
                | Builtin::WaveSlot => Word::Same,
                Builtin::Thread(..) | Builtin::ObjectIndex => Word::Step(1),
                Builtin::Position(_) | Builtin::Interpolant(..) => Word::Any,
            },
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) => self.lane(inst),
                StmtKind::Memory(inst) => {
                    // One address, one word: not so where threads have memory of their own, or change it.
                    let loads = matches!(
                        inst,
                        MemoryInst::Sample { .. }
                            | MemoryInst::Gather { .. }
                            | MemoryInst::Fetch { .. }
                            | MemoryInst::ResourceInfo { .. }
                            | MemoryInst::BufferInfo { .. }
                            | MemoryInst::ConstLoad { .. }
                            | MemoryInst::ImmediateLoad { .. }
                            | MemoryInst::GlobalLoad { .. }
                            | MemoryInst::RawLoad { .. }
                            | MemoryInst::TypedLoad { .. }
                    );
                    let operands = visit::operands_of(inst);
                    let mut same = operands.iter().map(|operand| self.operand(*operand));
                    let word = match () {
                        () if loads && same.all(Word::is_same) => Word::Same,
                        () if operands.iter().any(|operand| self.operand(*operand) == Word::Unknown) => {
                            continue;
                        }
                        () => Word::Any,
                    };
                    visit::destinations_of(inst).into_iter().for_each(|reg| self.define(reg, word));
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::Loop { body } => self.block(body),
                StmtKind::Switch { arms, .. } => arms.iter().for_each(|arm| self.block(&arm.body)),
                _ => {}
            }
        }
    }

    fn lane(&mut self, inst: &LaneInst) {
        let args: Vec<Word> = inst.args.iter().map(|arg| self.operand(*arg)).collect();
        let (low, high) = match () {
            () if args.contains(&Word::Unknown) => return,
            () if args.contains(&Word::Any) => (Word::Any, Some(Word::Any)),
            () => lane::apply(&mut Words, inst.op, &args),
        };
        self.define(inst.dst[0], low);
        if inst.dst[1] != inst.dst[0] {
            self.define(inst.dst[1], high.unwrap_or(Word::Any));
        }
    }

    fn define(&mut self, reg: Reg, word: Word) {
        let known = &mut self.words[reg as usize];
        let joined = known.join(word);
        self.changed |= joined != *known;
        *known = joined;
    }

    /// Of everything that a statement asks of, if it is but one word; else whether all of them are the same.
    fn known(&self, block: &Block, list: &mut Vec<Known>) {
        let shape = |operand: &Operand| self.operand(*operand).shape();
        let same = |operands: &[Operand]| {
            let bit = |(k, operand): (u32, &Operand)| u32::from(self.operand(*operand).is_same()) << k;
            (0..32).zip(operands).map(bit).sum()
        };
        for stmt in block {
            let (shape, same) = match &stmt.kind {
                StmtKind::Lane(inst) => (Shape::Any, same(&inst.args)),
                StmtKind::Memory(
                    MemoryInst::RawLoad { address, .. }
                    | MemoryInst::RawStore { address, .. }
                    | MemoryInst::ConstLoad { index: address, .. }
                    | MemoryInst::GlobalLoad { index: address, .. }
                    | MemoryInst::GlobalStore { index: address, .. },
                ) => (shape(address), 0),
                StmtKind::Memory(inst) => {
                    let all = visit::operands_of(inst).iter().all(|operand| shape(operand) == Shape::Same);
                    let coordinates = match inst {
                        MemoryInst::Sample { coord, .. } => same(coord),
                        _ => 0,
                    };
                    (if all { Shape::Same } else { Shape::Any }, coordinates)
                }
                other => (visit::tested_of(other).as_ref().map_or(Shape::Any, shape), 0),
            };
            list.push(Known { shape, same });
            match &stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    self.known(then, list);
                    self.known(otherwise, list);
                }
                StmtKind::Loop { body } => self.known(body, list),
                StmtKind::Switch { arms, .. } => arms.iter().for_each(|arm| self.known(&arm.body, list)),
                _ => {}
            }
        }
    }
}

/// The algebra of shapes. Truth values are true if all threads of a line agree. 64-bit values have no steps.
struct Words;

/// Of a result that depends on these words and has no shape of its own.
fn of<const N: usize>(words: [Word; N]) -> Word {
    if words.into_iter().all(Word::is_same) { Word::Same } else { Word::Any }
}

/// The same result for all primitives that know nothing better.
macro_rules! opaque {
    ($($name:ident($($arg:ident),*) -> $result:ident;)*) => {$(
        fn $name(&mut self, $($arg: Word),*) -> opaque!(@type $result) { opaque!(@body $result $($arg)*) }
    )*};
    (@type word) => { Word };
    (@type truth) => { bool };
    (@body word $($arg:ident)*) => { of([$($arg),*]) };
    (@body truth $($arg:ident)*) => { of([$($arg),*]).is_same() };
}

impl Algebra for Words {
    type W = Word;
    type Q = Word;
    type B = bool;

    fn word(&mut self, bits: u32) -> Word {
        Word::Constant(bits)
    }

    fn quad(&mut self, _: u64) -> Word {
        Word::Same
    }

    fn select(&mut self, same: bool, a: Word, b: Word) -> Word {
        match () {
            () if a == b && a != Word::Same => a,
            () if same => a.join(b),
            () => Word::Any,
        }
    }

    fn selectq(&mut self, same: bool, a: Word, b: Word) -> Word {
        if same { of([a, b]) } else { Word::Any }
    }

    fn both(&mut self, a: bool, b: bool) -> bool {
        a & b
    }

    fn either(&mut self, a: bool, b: bool) -> bool {
        a & b
    }

    fn negate(&mut self, a: bool) -> bool {
        a
    }

    fn iadd(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a.wrapping_add(b)),
            (Word::Step(a), Word::Step(b)) => Word::step(a.wrapping_add(b)),
            (Word::Step(_), same) if same.is_same() => a,
            (same, Word::Step(_)) if same.is_same() => b,
            _ => of([a, b]),
        }
    }

    fn isub(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a.wrapping_sub(b)),
            (Word::Step(a), Word::Step(b)) => Word::step(a.wrapping_sub(b)),
            (Word::Step(_), same) if same.is_same() => a,
            (same, Word::Step(step)) if same.is_same() => Word::step(step.wrapping_neg()),
            _ => of([a, b]),
        }
    }

    fn imul(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a.wrapping_mul(b)),
            (Word::Step(step), Word::Constant(by)) | (Word::Constant(by), Word::Step(step)) => {
                Word::step(step.wrapping_mul(by))
            }
            _ => of([a, b]),
        }
    }

    fn shl(&mut self, a: Word, n: Word) -> Word {
        match (a, n) {
            (Word::Constant(a), Word::Constant(n)) => Word::Constant(a << (n & 31)),
            (Word::Step(step), Word::Constant(n)) => Word::step(step << (n & 31)),
            _ => of([a, n]),
        }
    }

    fn and(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            // Counts of shifts.
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a & b),
            _ => of([a, b]),
        }
    }

    opaque! {
        pack(lo, hi) -> word;
        lo(q) -> word;
        hi(q) -> word;
        umulhi(a, b) -> word;
        smulhi(a, b) -> word;
        udiv(a, b) -> word;
        umod(a, b) -> word;
        or(a, b) -> word;
        xor(a, b) -> word;
        not(a) -> word;
        shr(a, n) -> word;
        sar(a, n) -> word;
        popcount(a) -> word;
        clz(a) -> word;
        reverse(a) -> word;
        ieq(a, b) -> truth;
        ilt(a, b) -> truth;
        ult(a, b) -> truth;
        fadd_raw(a, b) -> word;
        fmul_raw(a, b) -> word;
        feq(a, b) -> truth;
        flt(a, b) -> truth;
        fle(a, b) -> truth;
        itof_raw(a) -> word;
        utof_raw(a) -> word;
        ftoi_raw(a) -> word;
        qadd(a, b) -> word;
        qsub(a, b) -> word;
        qmul(a, b) -> word;
        qand(a, b) -> word;
        qor(a, b) -> word;
        qxor(a, b) -> word;
        qshl(a, n) -> word;
        qshr(a, n) -> word;
        qsar(a, n) -> word;
        qeq(a, b) -> truth;
        qlt(a, b) -> truth;
        qult(a, b) -> truth;
        qudiv(a, b) -> word;
        qumod(a, b) -> word;
        dadd_raw(a, b) -> word;
        dmul_raw(a, b) -> word;
        dfma_raw(a, b, c) -> word;
        ffma_raw(a, b, c) -> word;
        deq(a, b) -> truth;
        dlt(a, b) -> truth;
        ftod_raw(a) -> word;
        dtof_raw(a) -> word;
    }
}

#[cfg(test)]
mod tests;
