//! How a table row becomes something that runs: the link from an instruction to lane operations, to a vector
//! expansion or to a memory access.

use super::LaneOp;
pub use crate::inst::Zeroop;

/// How source words are taken, which decides what modifiers mean (amd-il-alu 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// Float arithmetic: words are flushed, modifiers are arithmetic.
    Float,
    /// Moves of bits: `_neg` and `_abs` change the sign bit only, denormals and NaNs stay.
    Bits,
    /// Integers: `_neg` is two's complement.
    Int,
    /// Doubles: `_neg` and `_abs` change the sign of the high word.
    Double,
    /// 64-bit integers.
    Quad,
}

/// Which lane operation an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Always this one.
    One(LaneOp),
    /// By `_ieee`.
    Ieee {
        /// Without the suffix.
        bare: LaneOp,
        /// With it.
        ieee: LaneOp,
    },
    /// This one, with the number of the `_zeroop` as a last operand.
    Zeroop {
        /// Operation.
        op: LaneOp,
        /// What a missing suffix means.
        bare: Zeroop,
    },
}

/// Vector instructions: they combine positions, or write components that differ in meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Vector {
    Dot2,
    Dot2Add,
    Dot3,
    Dot4,
    Length,
    Distance,
    Normalize,
    Cross,
    Reflect,
    FaceForward,
    Lit,
    Dst,
    SinCos,
    ExpPartial,
    LogPartial,
    Transpose,
    Set,
    Compare,
    ConditionalMove,
    Sad4,
    PackBytes,
    DoubleFrexp,
    Frexp,
    PairMove,
    PairSelect,
    DivScale,
    DivFmas,
    DoubleDivScale,
    DoubleDivFmas,
}

/// Byte-addressed memories and typed views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Area {
    Uav,
    Srv,
    Lds,
    Gds,
}

/// What one access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Component k is the dword at address + 4k.
    Vector,
    /// As `Vector`, with a record and byte offset in two operands.
    Split,
    /// One dword, to or from every component.
    Dword,
    /// A byte, zero-extended.
    U8,
    /// A byte, sign-extended.
    I8,
    /// Two bytes, zero-extended.
    U16,
    /// Two bytes, sign-extended.
    I16,
    /// A texel, converted by the bound format.
    Typed,
    /// By `_size`.
    Arena,
    /// Two dwords.
    Wide,
}

pub use crate::ir::AtomicOp;

/// Memory instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// `sample*`: the level is always 0.
    Sample,
    /// `fetch4`
    Gather,
    /// `fetch4po`
    GatherOffset,
    /// `load`
    Fetch,
    /// `resinfo`
    ResourceInfo,
    /// `bufinfo`
    BufferInfo,
    /// Load from an area.
    Load(Area, Access),
    /// Store to an area.
    Store(Area, Access),
    /// Atomic without result.
    Atomic(Area, AtomicOp),
    /// Atomic that returns the old value.
    AtomicRead(Area, AtomicOp),
    /// 64-bit atomic without result.
    Atomic64(Area, AtomicOp),
    /// 64-bit atomic that returns the old value.
    AtomicRead64(Area, AtomicOp),
    /// `append_buf_alloc`
    Append,
    /// `append_buf_consume`
    Consume,
    /// `lds_write_vec`
    WriteOwn,
    /// `lds_read_vec`
    ReadAny,
    /// `fence`
    Fence,
    /// `init_shared_registers`
    InitShared,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Tells the compiler something; nothing runs.
    Declaration,
    /// Control flow; the checker turns it into structure.
    Flow,
    /// Nothing.
    Nothing,
    /// A lane operation for each component, pair or scalar, as the classes of its operands and the vector rule say.
    Lane(View, Choice),
    /// A vector expansion.
    Vector(Vector),
    /// A memory access.
    Memory(Memory),
    /// The number of the compute unit.
    ComputeUnit,
    /// The number of the wave slot.
    WaveSlot,
    /// Not for CAL kernels: refused by the checker, with this reason.
    Refused(&'static str),
}
