//! The checked kernel: legal instructions with resolved operands, still in IL's four-component vectors, in
//! structured control flow. [`crate::check`] makes it from the syntax tree, [`crate::lower`] consumes it.

mod interface;

use crate::diagnostic::{Diagnostic, Span};
use crate::isa::Opcode;

pub use interface::{Block, Dimension, GroupSize, Interface, PositionKind, Resource, Uav};

/// Pixel or compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// `il_ps_*`: one thread per position of a two-dimensional domain.
    Pixel,
    /// `il_cs_*`: groups of threads.
    Compute,
}

/// A checked kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Pixel or compute.
    pub stage: Stage,
    /// What the kernel declares or uses.
    pub interface: Interface,
    /// Bodies; number 0 is main. Calls index this list; no recursion, call depth at most [`MAX_CALL_DEPTH`].
    pub functions: Vec<Function>,
    /// Sources of all instructions.
    pub sources: Vec<Src>,
    /// Highest temporary register number used plus one, after macro registers were renumbered.
    pub temps: u32,
    /// From here on registers belong to macros and have no name in the program; `u32::MAX` if there are no macros.
    pub macro_temps: u32,
    /// Sources whose swizzle is shorter than the mask: worth a warning if something reads what fills it.
    pub short_swizzles: Vec<ShortSwizzle>,
    /// Warnings of the checker.
    pub warnings: Vec<Diagnostic>,
}

impl Kernel {
    /// Sources of an instruction of this kernel, in textual order, `_ext` index operands last.
    pub fn sources(&self, inst: &Inst) -> &[Src] {
        let (first, count) = inst.sources;
        &self.sources[first as usize..(first + count) as usize]
    }
}

/// A swizzle that does not name all positions that its instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortSwizzle {
    /// The operand.
    pub span: Span,
    /// Positions that the text gave.
    pub given: u8,
    /// The last position that the mask takes, from 0.
    pub last: u8,
}

/// Deepest nesting of calls.
pub const MAX_CALL_DEPTH: usize = 64;
/// Deepest nesting of `if`, loops and `switch` in one body. Far above the 32 of the hardware, low enough that
/// every later stage may recurse.
pub const MAX_NESTING: usize = 256;

/// One body.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Label in the text; `None` for main.
    pub label: Option<u32>,
    /// Statements.
    pub body: Vec<Node>,
}

/// A statement of the checked kernel.
#[derive(Clone, Debug)]
pub enum Node {
    /// An instruction without control flow.
    Inst(Inst),
    /// `if… else … endif`
    If {
        /// Condition.
        cond: Cond,
        /// Statements when true.
        then: Vec<Node>,
        /// Statements when false.
        otherwise: Vec<Node>,
        /// The `if`.
        span: Span,
    },
    /// `whileloop … endloop`
    Loop {
        /// Statements.
        body: Vec<Node>,
        /// The `whileloop`.
        span: Span,
    },
    /// `switch … endswitch`; arms fall through in order.
    Switch {
        /// Position x as an integer.
        selector: Src,
        /// Arms in textual order.
        arms: Vec<Arm>,
        /// The `switch`.
        span: Span,
    },
    /// Leaves the innermost loop or switch, for threads where the condition holds.
    Break(Option<Cond>, Span),
    /// Next iteration of the innermost loop.
    Continue(Option<Cond>, Span),
    /// Calls `functions[index]`.
    Call {
        /// Index into [`Kernel::functions`].
        function: usize,
        /// Condition.
        cond: Option<Cond>,
        /// The call.
        span: Span,
    },
    /// Returns from the function; in main, ends the thread. A final `ret` of a body is not represented.
    Return(Option<Cond>, Span),
    /// Kills the pixel thread: no output, no later stores.
    Discard(Cond, Span),
}

/// An arm of a switch.
#[derive(Clone, Debug)]
pub struct Arm {
    /// `case` values.
    pub labels: Vec<i32>,
    /// One of the labels is `default`.
    pub default: bool,
    /// Statements; falls through into the next arm unless it breaks.
    pub body: Vec<Node>,
}

/// A condition of control flow.
#[derive(Clone, Debug)]
pub enum Cond {
    /// Position x has any bit set.
    NonZero(Src),
    /// Position x has no bit set.
    Zero(Src),
    /// Float comparison of position x, denormals as they are; `Ne` is true for NaN. Rare, so it does not make every
    /// statement longer.
    Compare(Relop, Box<[Src; 2]>),
}

/// An instruction with resolved operands.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Which.
    pub opcode: Opcode,
    /// Specifiers.
    pub controls: Controls,
    /// Destination; for stores the mask of `mem`, for `transpose` the first of four.
    pub dst: Option<Dst>,
    /// First source in [`Kernel::sources`] and number of sources: in textual order, `_ext` index operands last.
    pub sources: (u32, u32),
    /// Where.
    pub span: Span,
}

/// Specifiers of an instruction, decoded.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    /// Destination scale as a power of two, −3 to 3 (`_d8` … `_x8`).
    pub scale: i8,
    /// Destination `_sat`.
    pub saturate: bool,
    /// `_ieee`
    pub ieee: bool,
    /// `_zeroop(…)`; absent means [`Zeroop::FltMax`].
    pub zeroop: Option<Zeroop>,
    /// `_relop(…)`
    pub relop: Option<Relop>,
    /// `_cmpval(…)`
    pub cmpval: f32,
    /// `_id(n)`, `_resource(n)`, `_stage(n)`, `_uav(n)`
    pub id: u32,
    /// `bufinfo_uav(n)`: the id is a UAV's.
    pub of_uav: bool,
    /// `_sampler(n)`
    pub sampler: u32,
    /// `_ext`: index operands are added to the ids.
    pub ext: bool,
    /// `_coordtype(…)`: `Some(true)` = unnormalised.
    pub unnormalized: Option<bool>,
    /// `_aoffimmi(u,v,w)` in half texels.
    pub offset: [i8; 3],
    /// `_compselect(c)`
    pub component: u8,
    /// `_size(…)` of arena accesses: bytes, 1, 2 or 4.
    pub size: u8,
    /// `resinfo_uint`
    pub uint: bool,
    /// `_lOffset(k)`
    pub lds_offset: u32,
    /// `_neighborExch`
    pub neighbor_exchange: bool,
    /// `fence_…`
    pub fence: Fence,
    /// `_matrix(rows x columns)` of transpose; (0, 0) = 4 x 4.
    pub matrix: (u8, u8),
    /// `nrm_nrm4`
    pub nrm4: bool,
    /// `reflect_normalize`
    pub normalize: bool,
}

bitflags::bitflags! {
    /// What a fence orders.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Fence: u8 {
        /// Execution barrier of the group (also orders LDS).
        const THREADS = 1;
        /// LDS accesses.
        const LDS = 2;
        /// Global memory.
        const MEMORY = 4;
        /// Shared registers.
        const SHARED = 8;
        /// Global stores only.
        const MEMORY_WRITE = 16;
        /// Global loads only.
        const MEMORY_READ = 32;
        /// GDS.
        const GDS = 64;
    }
}

/// Result of a division or reciprocal by zero (amd-il-alu 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zeroop {
    /// Largest finite magnitude.
    FltMax = 0,
    /// Zero.
    Zero = 1,
    /// Infinity.
    Infinity = 2,
    /// Infinity on every device here.
    InfElseMax = 3,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Relop {
    Ne = 0,
    Eq = 1,
    Ge = 2,
    Gt = 3,
    Le = 4,
    Lt = 5,
}

/// A destination operand.
#[derive(Clone, Debug)]
pub struct Dst {
    /// Register.
    pub register: Register,
    /// What happens to each component.
    pub mask: [Write; 4],
    /// Where.
    pub span: Span,
}

/// What a mask does to a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Keeps its value.
    Keep,
    /// Takes the result.
    Result,
    /// Becomes 0.0f.
    Zero,
    /// Becomes 1.0f.
    One,
}

/// A source operand.
#[derive(Clone, Debug)]
pub struct Src {
    /// Register.
    pub register: Register,
    /// What each position selects.
    pub swizzle: [Select; 4],
    /// Positions that the text gave; the rest repeat the last one.
    pub given: u8,
    /// Modifiers.
    pub modifiers: Modifiers,
    /// Where.
    pub span: Span,
}

/// What a swizzle position delivers; lowering relies on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Select {
    X,
    Y,
    Z,
    W,
    /// 0x00000000
    Zero,
    /// 0x3F800000
    One,
}

/// Source modifiers; applied in the order of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// 1 − v
    pub invert: bool,
    /// v − 0.5 (`_bx2` = bias and x2)
    pub bias: bool,
    /// 2 v
    pub x2: bool,
    /// Sign of v: −1, 0, 1
    pub sign: bool,
    /// Divides the positions before it: `Some(1)` = by y, `Some(2)` = by z, `Some(3)` = by w.
    pub div_comp: Option<u8>,
    /// |v|
    pub abs: bool,
    /// −v on the positions whose bit is set
    pub neg: u8,
    /// Clamp to [0, 1]
    pub saturate: bool,
}

/// A register operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Register {
    /// `r#`
    Temp(u32),
    /// `l#`, by value
    Literal([u32; 4]),
    /// `x#[index]`
    Array(u32, Index),
    /// `cb#[index]`
    Const(u32, Index),
    /// `icb[index]`
    Immediate(Index),
    /// `v#` interpolated
    Interpolant(u32),
    /// `vWinCoord0`, or `v0` as position
    Position,
    /// `vObjIndex0`
    ObjectIndex,
    /// `o#`
    Output(u32),
    /// `g[index]`
    Global(Index),
    /// `sr#`
    Shared(u32),
    /// A thread identifier
    Thread(ThreadId),
    /// `Tmr`
    Timer,
    /// `mem`: the pseudo destination of stores
    Mem,
    /// A register that was never written: only swizzles 0 and 1 select from it.
    Nothing,
}

/// Compute thread identifiers (amd-il 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ThreadId {
    InGroup,
    InGroupFlat,
    Absolute,
    AbsoluteFlat,
    Group,
    GroupFlat,
}

/// `[register.component + offset]`
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Register and component (0 to 3) read as a signed integer.
    pub base: Option<Box<(Register, u8)>>,
    /// Added to it.
    pub offset: i32,
}
