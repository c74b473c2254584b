//! Accesses to memory, with rows for operands.

use super::*;

/// A bound object: its place in the launch's list, and for indexed ids the row to add to the number `base`.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Number in the text.
    pub base: u32,
    /// Place in the list of the launch, if `index` is [`NONE`].
    pub place: u32,
    /// Row added to `base`, or [`NONE`].
    pub index: RowId,
}

/// What `bufinfo` asks about, by place in the list of the launch.
#[derive(Clone, Copy, Debug)]
pub enum InfoOf {
    /// Elements of a resource.
    Resource(Slot),
    /// Elements of a typed UAV.
    Typed(u32),
    /// Records of `stride` bytes of a UAV, bytes if that is 0.
    Uav { place: u32, stride: u32 },
    /// The same of a read-only buffer.
    Srv { place: u32, stride: u32 },
}

/// Memory that compiled code sees, byte-addressed but for constants and `g[]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A UAV, by place in the launch's list.
    Uav(u32),
    /// A read-only buffer, by place in the launch's list of resources.
    Srv(u32),
    /// An output, by place in the launch's list.
    Output(u32),
    /// LDS of the group: bytes `offset..offset + bytes`.
    Lds { offset: u32, bytes: u32 },
    /// GDS of the launch.
    Gds { offset: u32, bytes: u32 },
    /// A constant buffer, by place in the launch's list.
    Constants(u32),
    /// The constants of the kernel text.
    Immediates,
    /// `g[]`
    Global,
    /// The append counter of a UAV, by number.
    Counter(u32),
    /// No memory, but the words that rows which depend on the group are made of, see [`crate::launch::shared`].
    Group,
}

impl Place {
    /// It is memory of a group, whose waves take turns on one thread of the host.
    pub fn of_group(self) -> bool {
        matches!(self, Place::Lds { .. })
    }
}

/// Where an atomic operates.
#[derive(Clone, Copy, Debug)]
pub enum AtomicAt {
    /// Byte address.
    Byte(RowId),
    /// Texel of a typed UAV.
    Texel([RowId; 3]),
}

/// How a texture coordinate becomes a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// u, v, w.
    pub coord: [RowId; 3],
    /// Half texels.
    pub offset: [i8; 3],
    /// Coordinates count texels.
    pub unnormalized: bool,
    /// Coordinates that the resource's shape uses: 1 or 2.
    pub dimensions: u32,
}

/// A filtered read.
#[derive(Clone, Copy, Debug)]
pub struct SampleOp {
    /// `i#`
    pub resource: Slot,
    /// `s#`
    pub sampler: Slot,
    /// Coordinates.
    pub at: Addressing,
    /// Destinations.
    pub dst: Rows4,
    /// Number of the sample in the program.
    pub number: u32,
    /// Place of its texels among those that are kept.
    pub slot: usize,
    /// An earlier sample had the same coordinates: its texels hold if the surface has the same shape.
    pub again: bool,
}

/// A memory access.
#[derive(Clone, Debug)]
pub struct Access {
    /// What.
    pub op: MemoryOp,
    /// What it accesses, and what it does there.
    pub effect: (Area, Effect),
    /// Components of a load that are flushed on the way; bit k is component k.
    pub flush: u8,
    /// Of the address, or of coordinates.
    pub lanes: lines::Known,
}

/// A memory access with all operands as rows.
#[derive(Clone, Debug)]
pub enum MemoryOp {
    /// Filtered read.
    Sample(SampleOp),
    /// One component of the 2 x 2 neighbourhood.
    Gather {
        resource: Slot,
        sampler: Slot,
        at: Addressing,
        texel_offset: Option<[RowId; 2]>,
        component: u8,
        dst: Rows4,
    },
    /// Unfiltered read at integers.
    Fetch { resource: Slot, coord: [RowId; 3], offset: [i8; 3], dimensions: u32, dst: Rows4 },
    /// Size of a resource.
    ResourceInfo { resource: Slot, uint: bool, dst: Rows4 },
    /// Size of a buffer.
    BufferInfo { of: InfoOf, dst: Rows4 },
    /// Element of 16 bytes, of constants or `g[]`.
    ElementLoad { place: Place, index: RowId, offset: i32, dst: Rows4 },
    /// Array element.
    ArrayLoad { first: RowId, elements: u32, index: RowId, offset: i32, dst: Rows4 },
    /// Array element.
    ArrayStore { first: RowId, elements: u32, index: RowId, offset: i32, src: Rows4 },
    /// `g[]`
    GlobalStore { index: RowId, offset: i32, src: Rows4 },
    /// Shared register.
    SharedLoad { register: u32, dst: Rows4 },
    /// Shared register.
    SharedStore { register: u32, src: Rows4 },
    /// Byte-addressed load.
    RawLoad { place: Place, address: RowId, width: Width, dst: Rows4 },
    /// Byte-addressed store.
    RawStore { place: Place, address: RowId, width: Width, src: Rows4 },
    /// Typed load.
    TypedLoad { place: u32, coord: [RowId; 3], dimensions: u32, dst: Rows4 },
    /// Typed store.
    TypedStore { place: u32, coord: [RowId; 3], dimensions: u32, src: Rows4 },
    /// Atomic on one word.
    Atomic { op: AtomicOp, place: Place, at: AtomicAt, dimensions: u32, src: RowId, src2: RowId, dst: RowId },
    /// Atomic on two words; pairs are low, high.
    AtomicWide {
        op: AtomicOp,
        place: Place,
        address: RowId,
        src: [RowId; 2],
        src2: [RowId; 2],
        dst: [RowId; 2],
    },
    /// Append or consume.
    Counter { uav: u32, consume: bool, dst: RowId },
}

impl MemoryOp {
    /// The surface, and the sampler or [`NONE`], of what can be compiled if the surface is known.
    pub fn sampled(&self) -> Option<Seen> {
        let (resource, sampler) = match self {
            MemoryOp::TypedLoad { place, .. } | MemoryOp::TypedStore { place, .. } => {
                return Some((Place::Uav(*place), NONE));
            }
            MemoryOp::RawStore { width: Width::Dwords, .. } => return None,
            MemoryOp::RawStore { place: place @ Place::Uav(_), .. } => return Some((*place, NONE)),
            MemoryOp::Atomic { place, at: AtomicAt::Texel(_), .. } => return Some((*place, NONE)),
            MemoryOp::RawLoad { width: Width::Dwords, .. } => return None,
            MemoryOp::RawLoad { place: place @ (Place::Uav(_) | Place::Srv(_)), .. } => {
                return Some((*place, NONE));
            }
            MemoryOp::Sample(SampleOp { resource, sampler, .. })
            | MemoryOp::Gather { resource, sampler, .. } => (resource, Some(sampler)),
            MemoryOp::Fetch { resource, .. } => (resource, None),
            _ => return None,
        };
        let known = resource.index == NONE && sampler.is_none_or(|sampler| sampler.index == NONE);
        known.then_some((Place::Srv(resource.place), sampler.map_or(NONE, |sampler| sampler.base)))
    }
}

impl MemoryOp {
    /// Destinations of a load of four components.
    pub fn loaded(&self) -> Option<Rows4> {
        // As in `each_row`, a copy keeps one list of them.
        self.clone().loaded_mut().copied()
    }

    /// The same, to change them.
    pub fn loaded_mut(&mut self) -> Option<&mut Rows4> {
        match self {
            MemoryOp::Sample(SampleOp { dst, .. })
            | MemoryOp::Fetch { dst, .. }
            | MemoryOp::ElementLoad { dst, .. }
            | MemoryOp::RawLoad { dst, .. }
            | MemoryOp::TypedLoad { dst, .. }
            | MemoryOp::ArrayLoad { dst, .. } => Some(dst),
            _ => None,
        }
    }

    /// Calls `visit` for each row that the access reads (false) or writes (true), arrays excepted.
    pub fn each_row(&self, mut visit: impl FnMut(RowId, bool)) {
        let mut all = |ids: &[RowId], written: bool| {
            ids.iter().filter(|id| **id != NONE).for_each(|id| visit(*id, written));
        };
        match self {
            MemoryOp::Sample(SampleOp { resource, sampler, at, dst, .. }) => {
                all(slice::from_ref(&resource.index), false);
                all(slice::from_ref(&sampler.index), false);
                all(&at.coord, false);
                all(dst, true);
            }
            MemoryOp::Gather { resource, sampler, at, texel_offset, dst, .. } => {
                all(slice::from_ref(&resource.index), false);
                all(slice::from_ref(&sampler.index), false);
                all(&at.coord, false);
                all(texel_offset.as_slice().as_flattened(), false);
                all(dst, true);
            }
            MemoryOp::Fetch { resource, coord, dst, .. } => {
                all(slice::from_ref(&resource.index), false);
                all(coord, false);
                all(dst, true);
            }
            MemoryOp::ResourceInfo { resource, dst, .. } => {
                all(slice::from_ref(&resource.index), false);
                all(dst, true);
            }
            MemoryOp::BufferInfo { of, dst } => {
                if let InfoOf::Resource(resource) = of {
                    all(slice::from_ref(&resource.index), false);
                }
                all(dst, true);
            }
            MemoryOp::SharedLoad { dst, .. } => all(dst, true),
            MemoryOp::ElementLoad { index, dst, .. }
            | MemoryOp::ArrayLoad { index, dst, .. }
            | MemoryOp::RawLoad { address: index, dst, .. } => {
                all(slice::from_ref(index), false);
                all(dst, true);
            }
            MemoryOp::ArrayStore { index, src, .. }
            | MemoryOp::GlobalStore { index, src, .. }
            | MemoryOp::RawStore { address: index, src, .. } => {
                all(slice::from_ref(index), false);
                all(src, false);
            }
            MemoryOp::SharedStore { src, .. } => all(src, false),
            MemoryOp::TypedLoad { coord, dst, .. } => {
                all(coord, false);
                all(dst, true);
            }
            MemoryOp::TypedStore { coord, src, .. } => {
                all(coord, false);
                all(src, false);
            }
            MemoryOp::Atomic { at, src, src2, dst, .. } => {
                match at {
                    AtomicAt::Byte(address) => all(slice::from_ref(address), false),
                    AtomicAt::Texel(coord) => all(coord, false),
                }
                all(slice::from_ref(src), false);
                all(slice::from_ref(src2), false);
                all(slice::from_ref(dst), true);
            }
            MemoryOp::AtomicWide { address, src, src2, dst, .. } => {
                all(slice::from_ref(address), false);
                all(src, false);
                all(src2, false);
                all(dst, true);
            }
            MemoryOp::Counter { dst, .. } => all(slice::from_ref(dst), true),
        }
    }
}
