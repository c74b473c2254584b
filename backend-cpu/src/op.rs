//! The flat form of a program: operations in one array, operands as row numbers, constructs as jumps.

use recal_il::diagnostic::Span;
use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use recal_hal::Variants;
use recal_hal::{Format, Wrap, with_room};
use recal_il::ir::{AtomicOp, Builtin, Fence, Width, lines};
use recal_il::isa::LaneOp;
use recal_il::lower::Names;
use recal_jit::{Function, Module};

use crate::isa_choice::Handler;
use crate::wave::Mask;

/// Number of a row of a wave.
pub type RowId = u32;
/// Index of an operation.
pub type Pc = u32;

/// A run of these between two flow or memory operations costs one dispatch, then one indirect call each.
#[derive(Clone, Copy)]
pub struct Step {
    /// The lane operation, or the one that a fused step repeats.
    pub op: LaneOp,
    /// What to do.
    pub handler: Handler,
    /// First of its operands in [`Code::operands`]: destinations, then sources.
    pub first: u32,
    /// Number of operands.
    pub count: u16,
    /// How many of them are destinations.
    pub writes: u16,
    /// Several operations in one: `op` says only what they are.
    pub fused: bool,
}

/// A lane condition: the row has any bit set, or none.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Tested row.
    pub row: RowId,
    /// True: any bit. False: none.
    pub nonzero: bool,
    /// The compiled code right before it has done the test.
    pub done: bool,
    /// Of the row.
    pub lanes: lines::Shape,
}

/// An operation. `skip` is where to go on when no lane is left: the end of the construct that encloses it.
#[derive(Clone, Debug)]
pub enum Op {
    /// Lane operations `first..end` of [`Code::steps`].
    Lanes { first: u32, end: u32 },
    /// Lane operations, loads and stores, compiled.
    Native(Function),
    /// Memory access, an index into [`Code::memory`].
    Memory(u32),
    /// Opens an `if`; `otherwise` is its `Else`, or its `EndIf`.
    If { cond: Test, otherwise: Pc },
    /// Begins the other side; `end` is the `EndIf`.
    Else { end: Pc },
    /// Closes an `if`.
    EndIf { skip: Pc },
    /// Opens a loop.
    Loop,
    /// Closes it; `body` is the operation after its `Loop`.
    EndLoop { body: Pc, skip: Pc },
    /// Opens a switch.
    Switch { selector: RowId, labels: Box<[ArmLabels]> },
    /// Begins an arm; `next` is the following arm, or the `EndSwitch`.
    Arm { number: u32, next: Pc },
    /// Closes a switch.
    EndSwitch { skip: Pc },
    /// Leaves the innermost loop or switch.
    Break { cond: Option<Test>, skip: Pc },
    /// Next iteration of the innermost loop.
    Continue { cond: Option<Test>, skip: Pc },
    /// Calls the body at `target`.
    Call { target: Pc, cond: Option<Test> },
    /// Returns from the current body.
    Return { cond: Option<Test>, skip: Pc },
    /// End of a called body.
    EndFunction,
    /// Kills threads.
    Discard { cond: Test, skip: Pc },
    /// Orders memory, and threads.
    Fence(Fence),
    /// End of main.
    End,
}

/// Labels of an arm of a switch.
#[derive(Clone, Debug)]
pub struct ArmLabels {
    /// Values.
    pub labels: Vec<i32>,
    /// Taken when nothing matches.
    pub default: bool,
}

/// An open construct of a wave.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    /// `outer` executed the `if`, `otherwise` of them wait for the other side.
    If { outer: Mask, otherwise: Mask },
    /// `outer` entered; the rest is restored at the end.
    Loop { outer: Mask, broken: Mask, continued: Mask },
    /// As for loops; the arms' lanes start at `arms`.
    Switch { outer: Mask, broken: Mask, arms: usize },
    /// A call.
    Call { outer: Mask, broken: Mask, continued: Mask, returned: Mask, back: usize },
}

/// Up to four rows; [`NONE`] marks a component that is not there.
pub type Rows4 = [RowId; 4];
/// No row.
pub const NONE: RowId = RowId::MAX;

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

/// Byte-addressed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A UAV, by place in the launch's list.
    Uav(u32),
    /// A read-only buffer, by place in the launch's list of resources.
    Srv(u32),
    /// LDS of the group: bytes `offset..offset + bytes`.
    Lds { offset: u32, bytes: u32 },
    /// GDS of the launch.
    Gds { offset: u32, bytes: u32 },
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
    /// Components of a load that are flushed on the way; bit k is component k.
    pub flush: u8,
    /// Of the address, or of coordinates.
    pub lanes: lines::Shape,
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
    /// Constant buffer row.
    ConstLoad { place: u32, index: RowId, offset: i32, dst: Rows4 },
    /// Immediate constant row.
    ImmediateLoad { index: RowId, offset: i32, dst: Rows4 },
    /// Array element.
    ArrayLoad { first: RowId, elements: u32, index: RowId, offset: i32, dst: Rows4 },
    /// Array element.
    ArrayStore { first: RowId, elements: u32, index: RowId, offset: i32, src: Rows4 },
    /// `g[]`
    GlobalLoad { index: RowId, offset: i32, dst: Rows4 },
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
    /// R700 LDS write.
    LdsWriteOwn { offset: u32, src: Rows4 },
    /// R700 LDS read.
    LdsReadAny { thread: RowId, offset: RowId, neighbor_exchange: bool, dst: Rows4 },
    /// Append or consume.
    Counter { uav: u32, consume: bool, dst: RowId },
}

impl MemoryOp {
    /// Resource, by place, and sampler, or [`NONE`], of what can be compiled for a known surface.
    pub fn sampled(&self) -> Option<(u32, u32)> {
        let (resource, sampler) = match self {
            MemoryOp::Sample(SampleOp { resource, sampler, .. })
            | MemoryOp::Gather { resource, sampler, .. } => (resource, Some(sampler)),
            MemoryOp::Fetch { resource, .. } => (resource, None),
            _ => return None,
        };
        let known = resource.index == NONE && sampler.is_none_or(|sampler| sampler.index == NONE);
        known.then_some((resource.place, sampler.map_or(NONE, |sampler| sampler.base)))
    }
}

impl Code {
    /// What waves run if the surfaces have these shapes, and threads are in lines as [`recal_jit::line`] says.
    pub fn body(&self, shapes: &[Shape], line: u32) -> Arc<Body> {
        let same = |(known, lanes): &LaunchKey| **known == *shapes && *lanes == line;
        self.compiled.get(same, || {
            // Who waits for a launch may compile it, on a thread of the program's.
            let compiled =
                self.native.and_then(|isa| with_room(|| crate::native::compile(self, isa, shapes, line)));
            let body = compiled.unwrap_or_else(|| Body { ops: self.ops.clone(), ..Body::default() });
            ((shapes.into(), line), body)
        })
    }

    /// Notes the samples that can be compiled, see [`Code::sampled`].
    pub fn find_sampled(&mut self) {
        for access in &self.memory {
            self.sampled.extend(access.op.sampled());
        }
        self.sampled.sort_unstable();
        self.sampled.dedup();
    }

    /// Destinations and sources of a step.
    pub fn ids(&self, step: usize) -> (&[RowId], &[RowId]) {
        let step = self.steps[step];
        self.operands[step.first as usize..][..usize::from(step.count)].split_at(usize::from(step.writes))
    }
}

impl Op {
    /// The condition.
    pub fn test_mut(&mut self) -> Option<&mut Test> {
        match self {
            Op::If { cond, .. } | Op::Discard { cond, .. } => Some(cond),
            Op::Break { cond, .. }
            | Op::Continue { cond, .. }
            | Op::Return { cond, .. }
            | Op::Call { cond, .. } => cond.as_mut(),
            _ => None,
        }
    }

    /// The row that a flow operation reads.
    pub fn read_mut(&mut self) -> Option<&mut RowId> {
        match self {
            Op::Switch { selector, .. } => Some(selector),
            op => op.test_mut().map(|test| &mut test.row),
        }
    }

    /// Calls `visit` for each row that a flow operation reads.
    pub fn each_read(&self, visit: impl FnMut(RowId)) {
        let rows = match self {
            Op::If { cond, .. } | Op::Discard { cond, .. } => Some(cond.row),
            Op::Break { cond, .. }
            | Op::Continue { cond, .. }
            | Op::Call { cond, .. }
            | Op::Return { cond, .. } => cond.as_ref().map(|cond| cond.row),
            Op::Switch { selector, .. } => Some(*selector),
            _ => None,
        };
        rows.into_iter().for_each(visit);
    }
}

impl MemoryOp {
    /// Destinations of a load of four components.
    pub fn loaded(&self) -> Option<&Rows4> {
        match self {
            MemoryOp::Sample(SampleOp { dst, .. })
            | MemoryOp::Fetch { dst, .. }
            | MemoryOp::ConstLoad { dst, .. }
            | MemoryOp::GlobalLoad { dst, .. }
            | MemoryOp::RawLoad { dst, .. }
            | MemoryOp::TypedLoad { dst, .. }
            | MemoryOp::ArrayLoad { dst, .. } => Some(dst),
            _ => None,
        }
    }

    /// The same, to change them.
    pub fn loaded_mut(&mut self) -> Option<&mut Rows4> {
        match self {
            MemoryOp::Sample(SampleOp { dst, .. })
            | MemoryOp::Fetch { dst, .. }
            | MemoryOp::ConstLoad { dst, .. }
            | MemoryOp::GlobalLoad { dst, .. }
            | MemoryOp::RawLoad { dst, .. }
            | MemoryOp::TypedLoad { dst, .. }
            | MemoryOp::ArrayLoad { dst, .. } => Some(dst),
            _ => None,
        }
    }

    /// Calls `visit` for each row that the access reads (false) or writes (true), arrays excepted.
    pub fn each_row(&self, mut visit: impl FnMut(RowId, bool)) {
        // The places are the same as those of `rename`; a copy keeps one list of them.
        self.clone().each_place(|row, written| visit(*row, written));
    }

    /// Replaces each row that the access reads or writes.
    pub fn rename(&mut self, mut row_of: impl FnMut(RowId) -> RowId) {
        self.each_place(|row, _| *row = row_of(*row));
    }

    /// The one list of rows of an access.
    fn each_place(&mut self, mut visit: impl FnMut(&mut RowId, bool)) {
        let mut all = |ids: &mut [RowId], written: bool| {
            ids.iter_mut().filter(|id| **id != NONE).for_each(|id| visit(id, written));
        };
        match self {
            MemoryOp::Sample(SampleOp { resource, sampler, at, dst, .. }) => {
                all(slice::from_mut(&mut resource.index), false);
                all(slice::from_mut(&mut sampler.index), false);
                all(&mut at.coord, false);
                all(dst, true);
            }
            MemoryOp::Gather { resource, sampler, at, texel_offset, dst, .. } => {
                all(slice::from_mut(&mut resource.index), false);
                all(slice::from_mut(&mut sampler.index), false);
                all(&mut at.coord, false);
                all(texel_offset.as_mut_slice().as_flattened_mut(), false);
                all(dst, true);
            }
            MemoryOp::Fetch { resource, coord, dst, .. } => {
                all(slice::from_mut(&mut resource.index), false);
                all(coord, false);
                all(dst, true);
            }
            MemoryOp::ResourceInfo { resource, dst, .. } => {
                all(slice::from_mut(&mut resource.index), false);
                all(dst, true);
            }
            MemoryOp::BufferInfo { of, dst } => {
                if let InfoOf::Resource(resource) = of {
                    all(slice::from_mut(&mut resource.index), false);
                }
                all(dst, true);
            }
            MemoryOp::SharedLoad { dst, .. } => all(dst, true),
            MemoryOp::ConstLoad { index, dst, .. }
            | MemoryOp::ImmediateLoad { index, dst, .. }
            | MemoryOp::ArrayLoad { index, dst, .. }
            | MemoryOp::GlobalLoad { index, dst, .. }
            | MemoryOp::RawLoad { address: index, dst, .. } => {
                all(slice::from_mut(index), false);
                all(dst, true);
            }
            MemoryOp::ArrayStore { index, src, .. }
            | MemoryOp::GlobalStore { index, src, .. }
            | MemoryOp::RawStore { address: index, src, .. } => {
                all(slice::from_mut(index), false);
                all(src, false);
            }
            MemoryOp::SharedStore { src, .. } | MemoryOp::LdsWriteOwn { src, .. } => all(src, false),
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
                    AtomicAt::Byte(address) => all(slice::from_mut(address), false),
                    AtomicAt::Texel(coord) => all(coord, false),
                }
                all(slice::from_mut(src), false);
                all(slice::from_mut(src2), false);
                all(slice::from_mut(dst), true);
            }
            MemoryOp::AtomicWide { address, src, src2, dst, .. } => {
                all(slice::from_mut(address), false);
                all(src, false);
                all(src2, false);
                all(dst, true);
            }
            MemoryOp::LdsReadAny { thread, offset, dst, .. } => {
                all(slice::from_mut(thread), false);
                all(slice::from_mut(offset), false);
                all(dst, true);
            }
            MemoryOp::Counter { dst, .. } => all(slice::from_mut(dst), true),
        }
    }
}

/// What is known of a surface and its sampler when a sample is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Format of the texels.
    pub format: Format,
    /// What is beyond the edges.
    pub wrap: [Wrap; 2],
    /// The linear filter.
    pub linear: bool,
}

/// The same; `None` if it is not to be compiled.
pub type Shape = Option<Texture>;

/// Memory that compiled code sees: a place, and the number of the sampler that it is sampled by, or [`NONE`].
pub type Seen = (Place, u32);

/// What waves run.
#[derive(Default)]
pub struct Body {
    /// As [`Code::ops`].
    pub ops: Vec<Op>,
    /// What [`Op::Native`] calls.
    pub module: Option<Module>,
    /// The memory that it sees.
    pub views: Vec<Seen>,
    /// Samples are compiled, so that those which are not may not find the texels of earlier ones.
    pub samples: bool,
}

/// A program ready to run.
#[derive(Default)]
pub struct Code {
    /// Operations; main starts at 0.
    pub ops: Vec<Op>,
    /// Registers of the program; their rows come first.
    pub registers: u32,
    /// Instructions of the lane operations and of the others, if the code is to be watched.
    pub step_spans: Vec<Span>,
    /// The kernel text, likewise, if it is known.
    pub text: Box<[u8]>,
    /// See `step_spans`.
    pub op_spans: Vec<Span>,
    /// What registers are called in the kernel text, likewise.
    pub names: Names,
    /// Numbers of arrays, and of blocks of LDS and GDS, by first row or byte.
    pub arrays: Vec<(u32, u32)>,
    /// See `arrays`.
    pub lds_blocks: Vec<(u32, u32)>,
    /// See `arrays`.
    pub gds_blocks: Vec<(u32, u32)>,
    /// Rows that a thread writes: registers, then arrays.
    pub private: u32,
    /// Labels of the bodies, by first operation.
    pub bodies: Vec<(Pc, Option<u32>)>,
    /// Lane operations.
    pub steps: Vec<Step>,
    /// Their operands.
    pub operands: Vec<RowId>,
    /// Number of samples.
    pub samples: u32,
    /// Number of texel sets that are kept.
    pub texel_slots: usize,
    /// Memory accesses.
    pub memory: Vec<Access>,
    /// Number of rows of a wave.
    pub rows: u32,
    /// Rows that must be 0 when a wave starts.
    pub zeroed: Vec<std::ops::Range<RowId>>,
    /// Rows with the same word in every lane of every launch.
    pub literals: Vec<(RowId, u32)>,
    /// Rows with a constant-buffer word: place in the launch's list, index of the word.
    pub constants: Vec<(RowId, u32, u32)>,
    /// Rows with values that depend on the thread.
    pub builtins: Vec<(RowId, Builtin)>,
    /// Output number and rows.
    pub outputs: Vec<(u32, Rows4)>,
    /// LDS bytes a group needs, the R700 areas excluded.
    pub lds_bytes: u32,
    /// LDS dwords that each thread owns (R700).
    pub lds_own: u32,
    /// GDS bytes.
    pub gds_bytes: u32,
    /// Shared registers.
    pub shared: u32,
    /// `i#` and SRV numbers in the order of their places.
    pub resources: Vec<u32>,
    /// `cb#` numbers in the order of their places.
    pub buffers: Vec<u32>,
    /// UAV numbers in the order of their places.
    pub uavs: Vec<u32>,
    /// Immediate constant buffer.
    pub immediates: Vec<[u32; 4]>,
    /// The program has a loop: how long a wave takes is not known.
    pub loops: bool,
    /// Pixel positions are whole numbers.
    pub whole_position: bool,
    /// All samples are at the position of the thread, so that tiles in a line read what lies in a line.
    pub in_lines: bool,
    /// Pairs of resources, by place, and samplers of samples that can be compiled for surfaces of a known shape.
    pub sampled: Vec<(u32, u32)>,
    /// Rows that hold nothing but temporaries: nobody reads them unwritten.
    pub temporaries: HashSet<RowId>,
    /// What it is to be compiled to.
    pub native: Option<recal_jit::Isa>,
    /// What waves run.
    pub compiled: Variants<LaunchKey, Body>,
}

/// What code is compiled for: the shapes of the surfaces in [`Code::sampled`], and the lines of threads.
pub type LaunchKey = (Box<[Shape]>, u32);

#[cfg(test)]
mod tests;
