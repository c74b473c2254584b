//! Accesses to memory.

use super::{Operand, Reg};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// Number in the text.
    pub base: u32,
    /// Integer added to it.
    pub index: Option<Operand>,
}

/// A memory access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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

/// The memory that an access is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// How large memory is, not what it holds.
    Size(InfoSource),
    /// A resource.
    Resource(Id),
    /// A constant buffer.
    Constants(u32),
    /// The immediate constant buffer.
    Immediate,
    /// `x#` of the thread.
    Array(u32),
    /// Shared registers.
    Shared,
    /// `g[]`
    Global,
    /// A UAV.
    Uav(u32),
    /// The counter of a UAV.
    Counter(u32),
    /// A read-only buffer.
    Srv(u32),
    /// An LDS block.
    Lds(u32),
    /// The LDS that threads own, as on the R700.
    OwnLds,
    /// A GDS block.
    Gds(u32),
}

impl Area {
    /// Memory that threads of other groups write while a launch runs, and no counter: `g[]` and UAVs.
    pub fn is_global(self) -> bool {
        match self {
            Area::Global | Area::Uav(_) => true,
            Area::Size(_) | Area::Resource(_) | Area::Constants(_) | Area::Immediate | Area::Srv(_) => false,
            Area::Array(_) | Area::Shared | Area::Counter(_) => false,
            Area::Lds(_) | Area::OwnLds | Area::Gds(_) => false,
        }
    }

    /// Memory in which one address is not the same word for all threads.
    pub fn is_private(self) -> bool {
        match self {
            Area::Array(_) | Area::Shared | Area::OwnLds => true,
            Area::Size(_) | Area::Resource(_) | Area::Constants(_) | Area::Immediate | Area::Srv(_) => false,
            Area::Global | Area::Uav(_) | Area::Counter(_) | Area::Lds(_) | Area::Gds(_) => false,
        }
    }
}

impl From<Space> for Area {
    fn from(space: Space) -> Area {
        match space {
            Space::Uav(n) => Area::Uav(n),
            Space::Srv(n) => Area::Srv(n),
            Space::Lds(n) => Area::Lds(n),
            Space::Gds(n) => Area::Gds(n),
        }
    }
}

/// What an access does to its [`Area`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It loads.
    Loads,
    /// It stores.
    Stores,
    /// It loads and stores, at once.
    Updates,
}

impl MemoryInst {
    /// What it accesses, and what it does there: what analyses ask about an access. What it reads and writes of registers is in
    /// [`visit`](super::visit).
    pub fn effect(&self) -> (Area, Effect) {
        use Effect::{Loads, Stores, Updates};
        match *self {
            MemoryInst::Sample { resource, .. }
            | MemoryInst::Gather { resource, .. }
            | MemoryInst::Fetch { resource, .. } => (Area::Resource(resource), Loads),
            MemoryInst::ResourceInfo { resource, .. } => (Area::Size(InfoSource::Resource(resource)), Loads),
            MemoryInst::BufferInfo { of, .. } => (Area::Size(of), Loads),
            MemoryInst::ConstLoad { buffer, .. } => (Area::Constants(buffer), Loads),
            MemoryInst::ImmediateLoad { .. } => (Area::Immediate, Loads),
            MemoryInst::ArrayLoad { array, .. } => (Area::Array(array), Loads),
            MemoryInst::ArrayStore { array, .. } => (Area::Array(array), Stores),
            MemoryInst::GlobalLoad { .. } => (Area::Global, Loads),
            MemoryInst::GlobalStore { .. } => (Area::Global, Stores),
            MemoryInst::SharedLoad { .. } => (Area::Shared, Loads),
            MemoryInst::SharedStore { .. } | MemoryInst::InitShared => (Area::Shared, Stores),
            MemoryInst::RawLoad { space, .. } => (space.into(), Loads),
            MemoryInst::RawStore { space, .. } => (space.into(), Stores),
            MemoryInst::TypedLoad { uav, .. } => (Area::Uav(uav), Loads),
            MemoryInst::TypedStore { uav, .. } => (Area::Uav(uav), Stores),
            MemoryInst::Atomic { space, .. } => (space.into(), Updates),
            MemoryInst::LdsWriteOwn { .. } => (Area::OwnLds, Stores),
            MemoryInst::LdsReadAny { .. } => (Area::OwnLds, Loads),
            MemoryInst::Counter { uav, .. } => (Area::Counter(uav), Updates),
        }
    }

    /// Whether it does nothing but load.
    pub fn is_load(&self) -> bool {
        self.effect().1 == Effect::Loads
    }

    /// Whether it is a load that waits for memory, that of the group included.
    pub fn waits(&self) -> bool {
        let here = |area| matches!(area, Area::Size(_) | Area::Immediate | Area::Array(_) | Area::Shared);
        matches!(self.effect(), (area, Effect::Loads) if !here(area))
    }

    /// Whether it loads from memory that is not the group's.
    pub fn is_far(&self) -> bool {
        self.waits() && !matches!(self.effect().0, Area::Lds(_) | Area::OwnLds | Area::Gds(_))
    }
}

/// What `bufinfo` asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InfoSource {
    /// A resource.
    Resource(Id),
    /// A UAV.
    Uav(u32),
    /// A read-only buffer.
    Srv(u32),
}

/// Where an atomic operates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicAddress {
    /// Unsigned byte address.
    Byte(Operand),
    /// Integer texel of a typed UAV.
    Texel([Operand; 3]),
}

/// High words of a 64-bit atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl AtomicOp {
    /// All of them, in the order of their numbers.
    pub const ALL: [AtomicOp; 15] = {
        use AtomicOp::*;
        [Add, Sub, RSub, Min, Max, UMin, UMax, And, Or, Xor, Inc, Dec, MskOr, Xchg, CmpXchg]
    };
}
