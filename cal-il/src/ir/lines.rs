//! How the words of threads side by side differ.
//!
//! A *line* is threads of one wave that follow each other along x and agree in y and z. Input is a program, output for each
//! statement [`Known`]: the [`Shape`] of the address of an access, or of what a condition tests, and which operands are the same.
//! It holds for the threads of a line that execute the statement. The same is asked of columns, threads that agree in x and z and follow each other along
//! y, where groups have memory of their own.
//!
//! The analysis is an [`Algebra`](crate::isa::Algebra) ([`Words`]): meanings are the functions of `isa::lane`, as everywhere. Registers that
//! some threads may miss are anything (`uniformity` says which); so are those that are read before they are written, unless
//! all they ever hold is the same for all.

mod words;

use self::words::{Word, Words};
use super::uniformity::missed;
use super::upward_exposed::upward_exposed;
use super::{Block, Builtin, LaneInst, MemoryInst, Operand, Program, Reg, StmtKind, ThreadId, visit};
use crate::bits::BitSet;
use crate::isa::lane::{self, Class};
use smallvec::SmallVec;

/// How a word differs from thread to thread of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// It is the same for all.
    Same,
    /// That of the next thread is larger by so much, modulo 2^32.
    Step(u32),
    /// Among sixteen threads from a multiple of sixteen on: that of thread k is larger than the first one's by what is said for the bits of
    /// k that are set, modulo 2^32.
    Bits([u32; 4]),
    /// Nothing is known.
    #[default]
    Any,
}

/// How much larger the word of a thread is than that of the first of sixteen, see [`Shape::Bits`].
pub fn distance(bits: [u32; 4], thread: u32) -> u32 {
    let of = |(k, bit): (u32, u32)| if thread >> k & 1 == 1 { bit } else { 0 };
    (0..).zip(bits).map(of).fold(0, u32::wrapping_add)
}

impl Shape {
    /// The same for so many threads from a multiple of their number on, a power of two up to 16: one of the others, if it is.
    pub fn among(self, threads: u32) -> Shape {
        let Shape::Bits(bits) = self else { return self };
        let bits = &bits[..threads.ilog2() as usize];
        match bits {
            _ if bits.iter().all(|bit| *bit == 0) => Shape::Same,
            [first, ..] if bits.iter().zip(0..).all(|(bit, k)| *bit == first << k) => Shape::Step(*first),
            _ => self,
        }
    }

    /// The same of words that were divided by 2^`n`, which divides what they differ by.
    pub fn shifted(self, n: u32) -> Option<Shape> {
        let divided = |word: u32| (word.trailing_zeros() >= n).then(|| (word as i32 >> n) as u32);
        Some(match self {
            Shape::Same | Shape::Any => self,
            Shape::Step(step) => Shape::Step(divided(step)?),
            Shape::Bits([a, b, c, d]) => Shape::Bits([divided(a)?, divided(b)?, divided(c)?, divided(d)?]),
        })
    }
}

/// What is known of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Of everything that it asks of: an address, a condition.
    pub shape: Shape,
    /// Operands of a lane operation, or coordinates of a texel, that are the same for all: bit k is operand k.
    pub same: u32,
    /// The same in columns, of operands of a lane operation; of an access or a construct bit 0 says it of all that it asks of. Nothing is
    /// known where groups have no memory and no loop computes with doubles.
    pub down: u32,
    /// All threads of a group come to it, and a condition holds for all or for none, whatever memory holds.
    pub alike: bool,
}

/// Threads side by side.
#[derive(Clone, Copy, PartialEq)]
enum Axis {
    Line,
    Column,
}

/// What is known of a program's statements, in the order of the text: a construct before what is in it, functions by number.
pub fn known(program: &Program) -> Vec<Known> {
    let (missed, facts) = missed(program);
    let mut list = along(program, Axis::Line, &missed);
    if !program.interface.lds.is_empty()
        || program.functions.iter().any(|function| doubles(&function.body, false))
    {
        let columns = along(program, Axis::Column, &missed);
        list.iter_mut().zip(columns).for_each(|(known, Known { shape, same, .. })| {
            known.down = if shape == Shape::Same { 1 } else { same };
        });
    }
    list.iter_mut().zip(facts.alike()).for_each(|(known, alike)| known.alike = *alike);
    list
}

/// A loop computes with doubles.
fn doubles(block: &Block, inside: bool) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Lane(inst) => inside && inst.op.result() == Class::Q,
        StmtKind::Loop { body } => doubles(body, true),
        kind => kind.blocks().any(|block| doubles(block, inside)),
    })
}

fn along(program: &Program, axis: Axis, missed: &[bool]) -> Vec<Known> {
    let mut pass = Pass { axis, words: first_guess(program, missed), changed: true };
    // Each round makes some register less special; there are three steps down.
    while pass.changed {
        pass.changed = false;
        program.functions.iter().for_each(|function| pass.block(&function.body));
    }
    let mut list = Vec::new();
    program.functions.iter().for_each(|function| pass.known(&function.body, &mut list));
    list
}

/// Registers that a thread may read without having written them, or that threads may miss, start as what they must be.
fn first_guess(program: &Program, missed: &[bool]) -> Vec<Word> {
    let mut words = vec![Word::Unknown; program.registers as usize];
    missed.iter().zip(&mut words).filter(|(missed, _)| **missed).for_each(|(_, word)| *word = Word::Any);
    let mut early = BitSet::default();
    upward_exposed(program, &mut early);
    for reg in early.iter() {
        let word = &mut words[reg.index()];
        *word = word.join(Word::Constant(0));
    }
    words
}

struct Pass {
    axis: Axis,
    words: Vec<Word>,
    changed: bool,
}

impl Pass {
    fn operand(&self, operand: Operand) -> Word {
        match operand {
            Operand::Imm(word) => Word::Constant(word),
            Operand::Const { .. } => Word::Same,
            Operand::Reg(reg) => self.words[reg.index()],
            Operand::Builtin(builtin) if self.axis == Axis::Column => match builtin {
                Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _)
                | Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute, 0 | 2..)
                | Builtin::Position(0)
                | Builtin::Timer(_)
                | Builtin::ComputeUnit
                | Builtin::WaveSlot => Word::Same,
                Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute, _) => Word::Step(1),
                Builtin::Thread(..)
                | Builtin::ObjectIndex
                | Builtin::Position(_)
                | Builtin::Interpolant(..) => Word::Any,
            },
            Operand::Builtin(builtin) => match builtin {
                Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _)
                | Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute, 1..)
                | Builtin::Position(1)
                | Builtin::Timer(_)
                | Builtin::ComputeUnit
                | Builtin::WaveSlot => Word::Same,
                // Lines are as long as divides the width of groups, and waves begin at multiples of 64.
                Builtin::Thread(ThreadId::InGroup | ThreadId::InGroupFlat, _) => Word::Number(0),
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
                    let loads = inst.is_load() && !inst.effect().0.is_private();
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
                kind => kind.blocks().for_each(|block| self.block(block)),
            }
        }
    }

    fn lane(&mut self, inst: &LaneInst) {
        // Nothing becomes less special than anything.
        if inst.dst.iter().all(|reg| self.words[reg.index()] == Word::Any) {
            return;
        }
        let args: SmallVec<[Word; 4]> = inst.args.iter().map(|arg| self.operand(*arg)).collect();
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
        let known = &mut self.words[reg.index()];
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
                StmtKind::Memory(inst) => match &**inst {
                    MemoryInst::RawLoad { address, .. }
                    | MemoryInst::RawStore { address, .. }
                    | MemoryInst::ConstLoad { index: address, .. }
                    | MemoryInst::GlobalLoad { index: address, .. }
                    | MemoryInst::GlobalStore { index: address, .. } => (shape(address), 0),
                    inst => {
                        let all =
                            visit::operands_of(inst).iter().all(|operand| shape(operand) == Shape::Same);
                        let coordinates = match inst {
                            MemoryInst::Sample { coord, .. } => same(coord),
                            _ => 0,
                        };
                        (if all { Shape::Same } else { Shape::Any }, coordinates)
                    }
                },
                other => (visit::tested_of(other).as_ref().map_or(Shape::Any, shape), 0),
            };
            list.push(Known { shape, same, ..Known::default() });
            stmt.kind.blocks().for_each(|block| self.known(block, list));
        }
    }
}

#[cfg(test)]
mod tests;
