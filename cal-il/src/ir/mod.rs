//! The program that backends run: scalar operations on numbered 32-bit registers in structured control flow.
//!
//! # Values
//!
//! Every component of every IL register that a kernel touches is a [`Reg`]; all registers are private to a
//! thread and start as zero. There are no vectors, masks, swizzles or modifiers left: lowering has turned them
//! into operations. A 64-bit value is two registers, low word first.
//!
//! # When things happen
//!
//! Statements execute in order for each thread. A [`LaneInst`] reads all its operands before it writes. A
//! [`MemoryInst`] does so too, and threads of one 64-lane wave execute it together: all loads of a wave see memory
//! before any lane goes on to the next statement (programs rely on this lockstep, amd-il 5.8).
//!
//! # Out of range
//!
//! No access faults. Loads outside deliver 0 (texture reads follow the wrap mode), stores and atomics outside
//! have no effect, atomics outside return 0. The limit is the memory bound at launch.

pub mod analyze;
pub mod arrays;
pub mod compact;
pub(crate) mod divergence;
pub mod inline;
pub mod jumps;
pub mod lines;
pub mod live;
pub mod lockstep;
mod made;
mod memory;
pub mod native;
pub mod needed;
pub mod own_lds;
pub mod passes;
pub mod payload;
pub mod rotate;
pub mod speculate;
pub mod text;
pub mod uniformity;
pub mod unroll;
pub(crate) mod upward_exposed;
pub mod validate;
pub mod visit;

use std::fmt;

use smallvec::SmallVec;

use crate::bits::Number;
use crate::diagnostic::{Diagnostic, Span};
pub use crate::inst::{
    Block as MemoryBlock, Dimension, Fence, GroupSize, Interface, PositionKind, Stage, ThreadId, Uav,
};
pub use crate::isa::LaneOp;
pub use memory::{
    Area, AtomicAddress, AtomicOp, Dst4, Effect, Id, InfoSource, MemoryInst, Space, Src4, WideAtomic, Width,
};

/// Threads of a wave.
pub const WAVE: u32 = 64;

/// A 32-bit register, numbered densely from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u32);

impl Reg {
    /// A new one of a program, or of what is becoming one, that has so many.
    pub fn fresh(registers: &mut u32) -> Reg {
        *registers += 1;
        Reg(*registers - 1)
    }

    /// Its number.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// As in the text form.
impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Number for Reg {
    #[inline]
    fn new(index: usize) -> Self {
        Reg(index as u32)
    }

    #[inline]
    fn index(self) -> usize {
        self.index()
    }
}

/// A program ready for a backend.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Pixel or compute.
    pub stage: Stage,
    /// What the host must bind, and sizes of private and group memory.
    pub interface: Interface,
    /// The same with what the kernel declares and never touches: those symbols have names and may stay unbound.
    pub declared: Interface,
    /// Bodies; number 0 is main.
    pub functions: Vec<Function>,
    /// Number of registers.
    pub registers: u32,
    /// Registers that hold the outputs when the thread ends, by `o#`.
    pub outputs: Vec<Output>,
    /// Warnings of the checker and of lowering.
    pub warnings: Vec<Diagnostic>,
}

/// An output and the registers that shadow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Number of `o#`.
    pub index: u32,
    /// One register a component; all four are stored, converted to the format of the bound memory.
    pub registers: [Reg; 4],
}

/// One body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Label in the text; `None` for main.
    pub label: Option<u32>,
    /// Statements.
    pub body: Block,
}

/// A sequence of statements.
pub type Block = Vec<Stmt>;

/// A statement and the instruction it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What.
    pub kind: StmtKind,
    /// The IL instruction in the kernel text.
    pub span: Span,
}

impl StmtKind {
    /// It has blocks. Most statements have none, and walks ask that first.
    #[inline]
    pub const fn is_construct(&self) -> bool {
        matches!(self, StmtKind::If { .. } | StmtKind::Loop { .. } | StmtKind::Switch { .. })
    }

    /// Its blocks, in the order of the text.
    #[inline]
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &Block> {
        let (first, second, arms): (Option<&Block>, Option<&Block>, &[Arm]) = match self {
            StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise), &[]),
            StmtKind::Loop { body } => (Some(body), None, &[]),
            StmtKind::Switch { arms, .. } => (None, None, arms),
            StmtKind::Lane(_)
            | StmtKind::Memory(_)
            | StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::Call { .. }
            | StmtKind::Return(_)
            | StmtKind::Discard(_)
            | StmtKind::Fence(_) => (None, None, &[]),
        };
        first.into_iter().chain(second).chain(arms.iter().map(|arm| &arm.body))
    }

    /// The same to change them.
    #[inline]
    pub fn blocks_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Block> {
        let (first, second, arms): (Option<&mut Block>, Option<&mut Block>, &mut [Arm]) = match self {
            StmtKind::If { then, otherwise, .. } => (Some(then), Some(otherwise), &mut []),
            StmtKind::Loop { body } => (Some(body), None, &mut []),
            StmtKind::Switch { arms, .. } => (None, None, arms),
            StmtKind::Lane(_)
            | StmtKind::Memory(_)
            | StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::Call { .. }
            | StmtKind::Return(_)
            | StmtKind::Discard(_)
            | StmtKind::Fence(_) => (None, None, &mut []),
        };
        first.into_iter().chain(second).chain(arms.iter_mut().map(|arm| &mut arm.body))
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Arithmetic.
    Lane(LaneInst),
    /// Memory access, elsewhere: it is larger than all others, and rare.
    Memory(Box<MemoryInst>),
    /// Runs `then` for threads whose condition is true, `otherwise` for the rest.
    If {
        /// Condition.
        cond: Cond,
        /// When true.
        then: Block,
        /// When false.
        otherwise: Block,
    },
    /// Endless; left by [`StmtKind::Break`] or [`StmtKind::Return`].
    Loop {
        /// Statements.
        body: Block,
    },
    /// Arms in textual order, falling through.
    Switch {
        /// Integer selector.
        selector: Operand,
        /// Arms.
        arms: Vec<Arm>,
    },
    /// Leaves the innermost loop or switch.
    Break(Option<Cond>),
    /// Next iteration of the innermost loop.
    Continue(Option<Cond>),
    /// Calls `functions[function]`.
    Call {
        /// Index into [`Program::functions`].
        function: usize,
        /// Condition.
        cond: Option<Cond>,
    },
    /// Returns; in main, ends the thread.
    Return(Option<Cond>),
    /// Kills the pixel thread: it stores no output and nothing after this.
    Discard(Cond),
    /// Orders memory; with [`Fence::THREADS`] a barrier of the group (no effect in pixel programs).
    Fence(Fence),
}

impl StmtKind {
    /// The memory access that it is.
    pub fn memory(&self) -> Option<&MemoryInst> {
        if let StmtKind::Memory(inst) = self { Some(inst) } else { None }
    }
}

impl From<MemoryInst> for StmtKind {
    fn from(inst: MemoryInst) -> StmtKind {
        StmtKind::Memory(Box::new(inst))
    }
}

/// An arm of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// `case` values.
    pub labels: Vec<i32>,
    /// Taken when no arm's label matches.
    pub default: bool,
    /// Statements.
    pub body: Block,
}

/// A condition: the operand has any bit set, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cond {
    /// Tested word.
    pub operand: Operand,
    /// True: holds if any bit is set. False: holds if none is.
    pub nonzero: bool,
}

/// A word that a statement reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A constant.
    Imm(u32),
    /// Constant buffer, absolute row: the same word for all threads. 0 beyond the bound memory.
    Const {
        /// `cb#`; 16 bits, so that an operand takes eight bytes.
        buffer: u16,
        /// Row of 16 bytes.
        row: u32,
        /// 0 to 3.
        component: u8,
    },
    /// A value that the launch defines for each thread.
    Builtin(Builtin),
}

/// Values defined by the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// Thread identifier, component 0 to 2 (3 reads 0; the flat ones read the same in all).
    Thread(ThreadId, u8),
    /// Pixel position as a float: 0 = column, 1 = row, with or without the half by [`Interface::position`].
    Position(u8),
    /// Interpolated input `v#`, component.
    Interpolant(u16, u8),
    /// Row-major number of the pixel in its domain, or the flat thread number.
    ObjectIndex,
    /// Timer, low (0) or high (1) word. Deterministic: counts statements of nothing, always 0 on the CPU.
    Timer(u8),
    /// `cu_id`
    ComputeUnit,
    /// `wave_id`
    WaveSlot,
}

/// A lane operation with its operands flattened to words (a `Q` takes two, low first).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneInst {
    /// Operation.
    pub op: LaneOp,
    /// Destination; the second register is the high word of a `Q` result and otherwise equals the first.
    pub dst: [Reg; 2],
    /// Operand words.
    pub args: SmallVec<[Operand; 4]>,
}

impl LaneInst {
    /// One whose result is a word.
    pub fn word<const N: usize>(op: LaneOp, to: Reg, args: [Operand; N]) -> Self {
        let mut list = SmallVec::new();
        args.into_iter().for_each(|arg| list.push(arg));
        Self { op, dst: [to; 2], args: list }
    }
}

impl Stmt {
    /// An operation whose result is a word.
    pub fn lane<const N: usize>(op: LaneOp, to: Reg, args: [Operand; N], span: Span) -> Self {
        Self { kind: StmtKind::Lane(LaneInst::word(op, to, args)), span }
    }

    /// A register becomes what a word is.
    pub fn copy(to: Reg, from: Operand, span: Span) -> Self {
        Self::lane(LaneOp::Mov, to, [from], span)
    }
}

impl Cond {
    /// The register has any bit set.
    pub const fn any(register: Reg) -> Self {
        Self { operand: Operand::Reg(register), nonzero: true }
    }
}
