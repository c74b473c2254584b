//! What a kernel needs from outside.

use std::collections::BTreeMap;

use crate::isa::Opcode;

/// What a kernel needs from outside, for binding by the host and for memory access.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Group geometry; `None` in pixel kernels.
    pub group: Option<GroupSize>,
    /// Pixel position (`vWinCoord0`, or `v0` declared as position): declared or used.
    pub position: Option<PositionKind>,
    /// Interpolated inputs `v#` that are not the position.
    pub interpolants: Vec<u32>,
    /// Outputs `o#`: components that may be written, bit k = component k.
    pub outputs: BTreeMap<u32, u8>,
    /// Resources `i#`.
    pub resources: BTreeMap<u32, Resource>,
    /// Samplers used, numbers 0 to 15.
    pub samplers: Vec<u32>,
    /// Constant buffers: declared rows of 16 bytes. Access is limited by the bound memory, not by this.
    pub constants: BTreeMap<u32, u32>,
    /// Immediate constant buffer.
    pub immediates: Vec<[u32; 4]>,
    /// Unordered access views.
    pub uavs: BTreeMap<u32, Uav>,
    /// Read-only raw and structured buffers: stride (0 = raw).
    pub srvs: BTreeMap<u32, u32>,
    /// `g[]` is used.
    pub global: bool,
    /// Indexed temporary arrays `x#`: elements of 128 bits.
    pub arrays: BTreeMap<u32, u32>,
    /// LDS blocks.
    pub lds: BTreeMap<u32, Block>,
    /// R700 LDS: dwords owned by each thread; 0 = unused.
    pub lds_dwords_per_thread: u32,
    /// GDS blocks.
    pub gds: BTreeMap<u32, Block>,
    /// Shared registers `sr#`: number reserved.
    pub shared: u32,
    /// Append/consume counters used, by UAV number.
    pub counters: Vec<u32>,
}

/// Threads per group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSize {
    /// `dcl_num_thread_per_group`: exactly this.
    Exact([u32; 3]),
    /// `dcl_max_thread_per_group`: the launch decides, flattened size at most this.
    AtMost(u32),
}

/// What the pixel position delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionKind {
    /// Column + 0.5, row + 0.5.
    Centre,
    /// Whole numbers (the `dclpi` form).
    Whole,
}

/// Shape of a resource or typed UAV, `_type(…)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Dimension {
    D1,
    D2,
    D3,
    Buffer,
    D1Array,
    D2Array,
}

/// `dcl_resource`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Shape.
    pub dimension: Dimension,
    /// `unnorm`: coordinates of `sample` count texels.
    pub unnormalized: bool,
    /// False if only used, with the shape assumed.
    pub declared: bool,
}

/// A UAV declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uav {
    /// Byte addresses.
    Raw,
    /// (record, byte offset) addresses, stride in bytes.
    Structured {
        /// Bytes per record, a multiple of 4.
        stride: u32,
    },
    /// Converted by the format of the bound resource.
    Typed {
        /// Shape.
        dimension: Dimension,
    },
    /// Byte addresses, 8/16/32-bit accesses.
    Arena,
}

impl Uav {
    /// The instruction can access a UAV of this kind.
    pub fn takes(self, opcode: Opcode) -> bool {
        use Opcode as O;
        match opcode {
            O::UavLoad | O::UavStore => matches!(self, Uav::Typed { .. }),
            O::UavStructLoad | O::UavStructStore => matches!(self, Uav::Structured { .. }),
            O::UavRawLoad
            | O::UavRawStore
            | O::UavArenaLoad
            | O::UavArenaStore
            | O::UavByteLoad
            | O::UavUbyteLoad
            | O::UavShortLoad
            | O::UavUshortLoad
            | O::UavByteStore
            | O::UavShortStore => matches!(self, Uav::Raw | Uav::Arena),
            // Atomics and queries take every kind.
            _ => true,
        }
    }
}

/// An LDS or GDS block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Size in bytes.
    pub bytes: u32,
    /// Bytes per record of a structured block; 0 for raw.
    pub stride: u32,
}
