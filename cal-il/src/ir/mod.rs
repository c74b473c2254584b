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
pub mod compact;
pub(crate) mod divergence;
pub mod inline;
pub mod lines;
pub mod lockstep;
pub mod needed;
pub mod passes;
pub mod payload;
pub mod speculate;
pub mod text;
pub mod uniformity;
pub mod unroll;
pub mod validate;
pub mod visit;

use smallvec::SmallVec;

use crate::diagnostic::{Diagnostic, Span};
pub use crate::inst::{
    Block as MemoryBlock, Dimension, Fence, GroupSize, Interface, PositionKind, Stage, ThreadId, Uav,
};
pub use crate::isa::LaneOp;

/// A 32-bit register, numbered densely from 0.
pub type Reg = u32;

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

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Arithmetic.
    Lane(LaneInst),
    /// Memory access.
    Memory(MemoryInst),
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
        /// `cb#`
        buffer: u32,
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
    Interpolant(u32, u8),
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

/// Destinations of a load: component k goes to `dst[k]`.
pub type Dst4 = [Option<Reg>; 4];
/// Sources of a store: component k is taken from `src[k]`; `None` is not stored.
pub type Src4 = [Option<Operand>; 4];

/// Byte-addressed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// UAV by number: raw, structured or arena.
    Uav(u32),
    /// Read-only buffer by number.
    Srv(u32),
    /// LDS block.
    Lds(u32),
    /// GDS block.
    Gds(u32),
}

/// Width of a byte-addressed access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// Dwords at address + 4k for component k; the low two address bits are ignored.
    Dwords,
    /// One byte, zero-extended.
    U8,
    /// One byte, sign-extended.
    I8,
    /// Two bytes, zero-extended; the low address bit is ignored.
    U16,
    /// Two bytes, sign-extended; the low address bit is ignored.
    I16,
}

/// A surface id, possibly with a run-time index added (`_ext`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    /// Number in the text.
    pub base: u32,
    /// Integer added to it.
    pub index: Option<Operand>,
}

/// A memory access.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryInst {
    /// `sample*`: filtered read at float coordinates.
    Sample {
        /// Resource.
        resource: Id,
        /// Sampler.
        sampler: Id,
        /// Coordinates in texels, else 0 to 1.
        unnormalized: bool,
        /// u, v, w.
        coord: [Operand; 3],
        /// Added after denormalisation, in half texels.
        offset: [i8; 3],
        /// Destination.
        dst: Dst4,
    },
    /// `fetch4`: one component of the 2 x 2 texels that a linear filter would touch.
    Gather {
        /// Resource.
        resource: Id,
        /// Sampler.
        sampler: Id,
        /// Coordinates in texels, else 0 to 1.
        unnormalized: bool,
        /// u, v.
        coord: [Operand; 2],
        /// Added after denormalisation, in half texels.
        offset: [i8; 3],
        /// `fetch4po`: run-time texel offset added too.
        texel_offset: Option<[Operand; 2]>,
        /// Which component.
        component: u8,
        /// Destination.
        dst: Dst4,
    },
    /// `load`: unfiltered read at integer texels; out of range 0 in all components.
    Fetch {
        /// Resource.
        resource: Id,
        /// x, y, z; further ones are ignored.
        coord: [Operand; 3],
        /// Added, in whole texels.
        offset: [i8; 3],
        /// Destination.
        dst: Dst4,
    },
    /// `resinfo`: width, height, depth, mip levels; 0 for dimensions that the resource lacks. Integers, or floats.
    ResourceInfo {
        /// Resource.
        resource: Id,
        /// Integers rather than floats.
        uint: bool,
        /// Destination.
        dst: Dst4,
    },
    /// `bufinfo`: (elements) of a typed, (bytes) of a raw, (records, stride) of a structured buffer.
    BufferInfo {
        /// Which.
        of: InfoSource,
        /// Destination.
        dst: Dst4,
    },
    /// Constant buffer row `index + offset`.
    ConstLoad {
        /// `cb#`
        buffer: u32,
        /// Signed row index.
        index: Operand,
        /// Added.
        offset: i32,
        /// Destination.
        dst: Dst4,
    },
    /// Immediate constant buffer row `index + offset`; 0 outside.
    ImmediateLoad {
        /// Signed row index.
        index: Operand,
        /// Added.
        offset: i32,
        /// Destination.
        dst: Dst4,
    },
    /// `x#[index + offset]`; 0 outside.
    ArrayLoad {
        /// `x#`
        array: u32,
        /// Signed element index.
        index: Operand,
        /// Added.
        offset: i32,
        /// Destination.
        dst: Dst4,
    },
    /// `x#[index + offset] = src`; dropped outside.
    ArrayStore {
        /// `x#`
        array: u32,
        /// Signed element index.
        index: Operand,
        /// Added.
        offset: i32,
        /// Source.
        src: Src4,
    },
    /// `g[index + offset]`, elements of 16 bytes.
    GlobalLoad {
        /// Signed element index.
        index: Operand,
        /// Added.
        offset: i32,
        /// Destination.
        dst: Dst4,
    },
    /// `g[index + offset] = src`
    GlobalStore {
        /// Signed element index.
        index: Operand,
        /// Added.
        offset: i32,
        /// Source.
        src: Src4,
    },
    /// `sr#` of this lane.
    SharedLoad {
        /// Number.
        register: u32,
        /// Destination.
        dst: Dst4,
    },
    /// `sr#` of this lane.
    SharedStore {
        /// Number.
        register: u32,
        /// Source.
        src: Src4,
    },
    /// Byte-addressed load. Structured addresses have become byte addresses.
    RawLoad {
        /// Memory.
        space: Space,
        /// Unsigned byte address.
        address: Operand,
        /// Width; only [`Width::Dwords`] has more than one component, else the value goes to all of `dst`.
        width: Width,
        /// Destination.
        dst: Dst4,
    },
    /// Byte-addressed store.
    RawStore {
        /// Memory.
        space: Space,
        /// Unsigned byte address.
        address: Operand,
        /// Width; below a dword, the low bits of `src[0]`.
        width: Width,
        /// Source.
        src: Src4,
    },
    /// Typed UAV load, converted by the bound format.
    TypedLoad {
        /// UAV.
        uav: u32,
        /// Integer x, y, z.
        coord: [Operand; 3],
        /// Destination.
        dst: Dst4,
    },
    /// Typed UAV store, converted by the bound format.
    TypedStore {
        /// UAV.
        uav: u32,
        /// Integer x, y, z.
        coord: [Operand; 3],
        /// All four components.
        src: [Operand; 4],
    },
    /// Atomic on one dword (or two, for `wide`).
    Atomic {
        /// Operation.
        op: AtomicOp,
        /// Memory.
        space: Space,
        /// Where.
        address: AtomicAddress,
        /// First operand: value, or mask of mskor.
        src: Operand,
        /// Second operand: the compare value of a compare-exchange (`src` is the new value), the or-value of mskor.
        src2: Option<Operand>,
        /// Receives the old value.
        dst: Option<Reg>,
        /// 64-bit form: high words of src, src2 and dst.
        wide: Option<WideAtomic>,
    },
    /// R700 `lds_write_vec`: own dwords `offset + k`.
    LdsWriteOwn {
        /// Dwords.
        offset: u32,
        /// Source.
        src: Src4,
    },
    /// R700 `lds_read_vec`: dwords `offset + k` of thread `thread` of the group.
    LdsReadAny {
        /// Thread number in the group.
        thread: Operand,
        /// Dword offset.
        offset: Operand,
        /// Transpose the 4 x 4 matrix of each aligned quad of threads.
        neighbor_exchange: bool,
        /// Destination.
        dst: Dst4,
    },
    /// `append_buf_alloc`: counter before increment; `append_buf_consume`: counter after decrement.
    Counter {
        /// UAV number.
        uav: u32,
        /// Consume rather than append.
        consume: bool,
        /// Destination.
        dst: Reg,
    },
    /// `init_shared_registers`: zeroes the bank at the start of a launch.
    InitShared,
}

/// What `bufinfo` asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfoSource {
    /// A resource.
    Resource(Id),
    /// A UAV.
    Uav(u32),
    /// A read-only buffer.
    Srv(u32),
}

/// Where an atomic operates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicAddress {
    /// Unsigned byte address.
    Byte(Operand),
    /// Integer texel of a typed UAV.
    Texel([Operand; 3]),
}

/// High words of a 64-bit atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideAtomic {
    /// High word of `src`.
    pub src: Operand,
    /// High word of `src2`.
    pub src2: Option<Operand>,
    /// High word of `dst`.
    pub dst: Option<Reg>,
}

/// Atomic operations: new value m′ from old m and source s (amd-il 5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Sub,
    /// s − m
    RSub,
    Min,
    Max,
    UMin,
    UMax,
    And,
    Or,
    Xor,
    /// m ≥ s ? 0 : m + 1
    Inc,
    /// (m = 0 or m > s) ? s : m − 1
    Dec,
    /// (m & ~src) | src2
    MskOr,
    Xchg,
    /// m = src2 ? src : m
    CmpXchg,
}
