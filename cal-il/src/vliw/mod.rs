//! What a compiler of the time would make of a program for one of its chips: clauses of VLIW instructions and fetches, registers,
//! a listing. Nothing here runs; [`crate::ir::analyze`] counts what comes out.
//!
//! ```text
//! ir::Program ─[translate]→ chip instructions on values ─[group]→ vectors ─[schedule, pack]→ clauses ─[allocate]→ registers
//! ```
//!
//! `docs/analyzer.md` says what the model leaves out.

mod allocate;
mod chip;
mod cost;
mod group;
mod listing;
mod live;
mod memory;
mod op;
mod pack;
mod schedule;
mod table;
mod traffic;
mod translate;
mod trips;
mod uses;

use smallvec::SmallVec;

pub use chip::{CHIPS, Chip, Generation, Holder, NAMES};
pub use cost::{Cost, Costs, LoopCount};
pub use traffic::Elements;
pub use trips::rounds;

use crate::ir::Program;

/// A word that instructions pass on: before registers are given out, a number.
pub use crate::ir::Reg as V;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// A value.
    V(V),
    /// A constant of the code: 0, 1, 0.5, -1 come with the instruction, others are literals.
    Imm(u32),
    /// Constant buffer.
    Const {
        /// `cb#`
        buffer: u32,
        /// Row of 16 bytes.
        row: u32,
        /// 0 to 3.
        component: u8,
    },
    /// Something of the thread processor, by its name.
    Special(&'static str),
}

/// An operand of an ALU instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Src {
    /// What.
    pub word: Word,
    /// Sign bit flipped.
    pub neg: bool,
    /// Sign bit cleared first.
    pub abs: bool,
}

impl Src {
    const fn new(word: Word) -> Self {
        Self { word, neg: false, abs: false }
    }

    const fn of(value: V) -> Self {
        Self::new(Word::V(value))
    }

    const fn negated(self) -> Self {
        Self { neg: !self.neg, ..self }
    }

    const fn magnitude(self) -> Self {
        Self { neg: false, abs: true, ..self }
    }

    fn value(&self) -> Option<V> {
        if let Word::V(value) = self.word { Some(value) } else { None }
    }
}

/// Slots that an instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Any one.
    Any,
    /// One of x, y, z, w.
    Vec,
    /// The transcendental one; with four slots, x, y and z together, and w for a result there.
    Trans,
    /// x only: LDS and barriers.
    First,
    /// x and y, or z and w.
    Pair,
    /// x, y, z and w.
    Quad,
}

/// What one slot does.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Where the result goes.
    pub dst: Option<V>,
    /// Operands.
    pub srcs: SmallVec<[Src; 4]>,
}

/// An ALU instruction.
#[derive(Clone, Debug)]
pub struct Alu {
    /// Mnemonic.
    pub name: &'static str,
    /// Slots that it takes.
    pub unit: Unit,
    /// One, or as many as the unit has.
    pub slots: SmallVec<[Slot; 1]>,
    /// Result cut to 0 to 1.
    pub clamp: bool,
    /// Byte of the kernel's text that it comes from.
    pub at: u32,
}

/// An instruction of a fetch clause.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// Mnemonic.
    pub name: &'static str,
    /// What it reads from, for the listing.
    pub from: String,
    /// Result.
    pub dst: [Option<V>; 4],
    /// Address: 0.0 and 1.0 need no register.
    pub address: SmallVec<[Src; 4]>,
    /// Data, where it writes (LDS of R7xx).
    pub data: SmallVec<[V; 4]>,
    /// Reads memory that the kernel may write.
    pub ordered: bool,
    /// Bits of global memory for a thread, by the model of the cache.
    pub bits: f64,
    /// Byte of the text.
    pub at: u32,
}

/// A write of memory or an output: an instruction of the control flow program.
#[derive(Clone, Debug)]
pub struct Write {
    /// Mnemonic.
    pub name: &'static str,
    /// Where to, for the listing.
    pub to: String,
    /// Address.
    pub address: SmallVec<[V; 4]>,
    /// Data.
    pub data: SmallVec<[V; 4]>,
    /// What an atomic returns.
    pub back: SmallVec<[V; 2]>,
    /// Bits of global memory for a thread.
    pub bits: f64,
    /// Byte of the text.
    pub at: u32,
}

/// Control flow. The condition is the last ALU instruction before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mark {
    If,
    Else,
    EndIf,
    /// With its rounds, if constants tell.
    Loop(Option<u32>),
    EndLoop,
    /// Ends where [`Mark::Leave`] goes: a switch, a called function, the kernel.
    Region(u32),
    EndRegion(u32),
    /// True: whoever gets here.
    Break(bool),
    Continue(bool),
    Leave(u32, bool),
    /// `WAIT_ACK`
    Wait,
}

impl Mark {
    /// Whether it is an instruction of its own: jumps out of loops belong to the clause that decides about them.
    pub fn has_line(self) -> bool {
        !matches!(self, Mark::Region(_) | Mark::EndRegion(_) | Mark::Break(false) | Mark::Continue(false))
    }
}

#[derive(Clone, Debug)]
enum Item {
    Alu(Alu),
    Fetch(Fetch),
    Write(Write),
    Mark(Mark, u32),
}

/// The slots of one VLIW instruction: x, y, z, w, t. An instruction of several slots is in each of them.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// What each slot does: an instruction of the clause and which of its slots.
    pub slots: [Option<(Alu, usize)>; 5],
    /// Literals that follow.
    pub literals: SmallVec<[u32; 4]>,
}

impl Bundle {
    /// Slots in use.
    pub fn used(&self) -> u32 {
        self.slots.iter().flatten().count() as u32
    }

    /// Words of 64 bits that it takes in the clause.
    pub fn words(&self) -> usize {
        self.used() as usize + self.literals.len().div_ceil(2)
    }
}

/// A line of the control flow program.
#[derive(Clone, Debug)]
pub enum Clause {
    /// VLIW instructions.
    Alu(Vec<Bundle>),
    /// Fetches.
    Fetch(Vec<Fetch>),
    /// A write.
    Write(Write),
    /// Flow, and the byte of the text.
    Mark(Mark, u32),
}

/// A kernel as code of a chip.
#[derive(Clone, Debug)]
pub struct Code {
    /// What runs, in order.
    pub clauses: Vec<Clause>,
    /// By value: register and component; none if it never leaves the pipeline.
    pub places: Vec<Option<(u32, u8)>>,
    /// Registers of a thread.
    pub gprs: u32,
    /// 16-byte rows of scratch memory of a thread: indexed arrays, and registers beyond those that have names.
    pub scratch: u32,
}

/// Counts of code, each clause once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clauses of VLIW instructions.
    pub alu_clauses: u32,
    /// Clauses of fetches.
    pub fetch_clauses: u32,
    /// Writes.
    pub writes: u32,
    /// Flow.
    pub control: u32,
    /// VLIW instructions.
    pub bundles: u32,
    /// Slots in use.
    pub slots: u32,
    /// Fetches.
    pub fetches: u32,
    /// Literals.
    pub literals: u32,
}

impl Code {
    /// Counts everything once.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for clause in &self.clauses {
            match clause {
                Clause::Alu(bundles) => {
                    counts.alu_clauses += 1;
                    counts.bundles += bundles.len() as u32;
                    counts.slots += bundles.iter().map(Bundle::used).sum::<u32>();
                    counts.literals += bundles.iter().map(|b| b.literals.len() as u32).sum::<u32>();
                }
                Clause::Fetch(fetches) => {
                    counts.fetch_clauses += 1;
                    counts.fetches += fetches.len() as u32;
                }
                Clause::Write(_) => counts.writes += 1,
                Clause::Mark(mark, _) => {
                    counts.control += u32::from(mark.has_line());
                }
            }
        }
        counts
    }
}

/// Compiles a program whose flushes are not placed yet (see [`crate::lower::lower_bare`]) for a chip. The message says what
/// is beyond the model.
pub fn compile(program: &Program, chip: &Chip, elements: &Elements) -> Result<Code, &'static str> {
    let mut kernel = translate::translate(program, chip, elements)?;
    let groups = group::group(&mut kernel);
    let (clauses, channels) = schedule::schedule(&kernel, &groups, chip);
    Ok(allocate::allocate(clauses, &channels, &groups, &kernel))
}

#[cfg(test)]
mod tests;
