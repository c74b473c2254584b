//! The flat form of a program: operations in one array, operands as row numbers, constructs as jumps.

mod access;
mod first;

use recal_il::bits::BitSet;
use recal_il::diagnostic::Span;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use recal_hal::Variants;
use recal_hal::{Format, Wrap, with_room};
use recal_il::ir::{Area, AtomicOp, Builtin, Effect, Fence, Width, lines};
use recal_il::isa::LaneOp;
use recal_jit::{Function, Module};
use recal_reference::watch::Subject;

pub use self::access::{Access, Addressing, AtomicAt, InfoOf, MemoryOp, Place, SampleOp, Slot};
pub use self::first::FirstLaunches;
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
    /// Sources that are the same for the threads of a line, see [`lines::Known`].
    pub same: u32,
    /// The same for those of a column.
    pub down: u32,
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
    /// It holds for all threads of a group, or for none.
    pub alike: bool,
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
    /// Leaves the innermost loop.
    Break { cond: Option<Test>, skip: Pc },
    /// Calls the body at `target`.
    Call { target: Pc, cond: Option<Test> },
    /// Ends threads, in main.
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

/// An open construct of a wave.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    /// `outer` executed the `if`, `otherwise` of them wait for the other side.
    If { outer: Mask, otherwise: Mask },
    /// `outer` entered; the rest is restored at the end.
    Loop { outer: Mask, broken: Mask },
    /// A call.
    Call { outer: Mask, broken: Mask, back: usize },
}

/// Up to four rows; [`NONE`] marks a component that is not there.
pub type Rows4 = [RowId; 4];
/// No row.
pub const NONE: RowId = RowId::MAX;

impl Code {
    /// What waves run in a launch of which this is known, and that has so many of them.
    pub fn body(&self, mut key: LaunchKey, waves: u64) -> Arc<Body> {
        if let Some(body) = self.first.body(&self.ops, waves) {
            return body;
        }
        // Others do not ask for it, and it may be any.
        key.block = key.block.filter(|_| self.barriers || self.in_place);
        let serves = |known: &LaunchKey| {
            // What is made for any waves serves launches of whole ones, too.
            let LaunchKey { shapes, line, outputs, block, whole } = known;
            (shapes, line, outputs, block) == (&key.shapes, &key.line, &key.outputs, &key.block)
                && *whole <= key.whole
        };
        self.compiled.get(serves, || {
            // Who waits for a launch may compile it, on a thread of the program's.
            let began = Instant::now();
            let compile = |isa| with_room(|| crate::native::compile(self, isa, &key));
            let compiled = self.native.and_then(compile);
            if let Some(module) = compiled.as_ref().and_then(|body| body.module.as_ref()) {
                log::debug!("{} bytes of machine code made in {:?}", module.code().len(), began.elapsed());
            }
            (key.clone(), compiled.unwrap_or_else(|| Body::interpreted(&self.ops)))
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

    /// Calls `visit` for each row that an operation reads (false) or writes (true), of each step what it reads first.
    pub fn each_row(&self, op: &Op, mut visit: impl FnMut(RowId, bool)) {
        match op {
            Op::Lanes { first, end } => {
                for step in *first as usize..*end as usize {
                    let (writes, reads) = self.ids(step);
                    reads.iter().for_each(|row| visit(*row, false));
                    writes.iter().for_each(|row| visit(*row, true));
                }
            }
            Op::Memory(index) => {
                let access = &self.memory[*index as usize].op;
                for which in [false, true] {
                    access.each_row(|row, written| {
                        if written == which {
                            visit(row, written);
                        }
                    });
                }
            }
            op => op.each_read(|row| visit(row, false)),
        }
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
            Op::Break { cond, .. } | Op::Return { cond, .. } | Op::Call { cond, .. } => cond.as_mut(),
            _ => None,
        }
    }

    /// Calls `visit` for each row that a flow operation reads.
    pub fn each_read(&self, visit: impl FnMut(RowId)) {
        let rows = match self {
            Op::If { cond, .. } | Op::Discard { cond, .. } => Some(cond.row),
            Op::Break { cond, .. } | Op::Call { cond, .. } | Op::Return { cond, .. } => {
                cond.as_ref().map(|cond| cond.row)
            }
            _ => None,
        };
        rows.into_iter().for_each(visit);
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

/// Lanes that take a choice, the same ones in every group: it is made of their place in the group and of words that a launch has once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The lane operations that it is computed by, by number.
    pub steps: Vec<u32>,
    /// The row that is tested then.
    pub row: RowId,
    /// As of [`Test`].
    pub nonzero: bool,
}

/// What goes on with lanes that a function has left in a loop.
#[derive(Clone, Debug)]
pub struct Repack {
    /// The loop, for lanes that were brought together from anywhere.
    pub repeat: Function,
    /// What comes after it.
    pub rest: Option<Function>,
    /// Rows that lanes bring along, and those that they take back.
    pub brought: Vec<RowId>,
    /// See `brought`.
    pub taken: Vec<RowId>,
}

/// What the waves of a group do next.
#[derive(Debug)]
pub enum Stage {
    /// A function; which of all it is.
    Run(Function, usize),
    /// They wait for each other.
    Barrier {
        /// Memory is in order before what follows, or need not be.
        orders: bool,
        /// A wave does all that follows, up to where it waits again, before the next wave begins: their order may be seen. Else each stage is done by all
        /// waves before the next one.
        turns: bool,
    },
    /// All go on at another stage.
    Jump(usize),
    /// The same if what the function right before tested is as said.
    JumpIf {
        /// As of [`Test`].
        nonzero: bool,
        /// Where.
        to: usize,
    },
    /// All go back to a stage.
    Again(usize),
}

/// What waves run.
#[derive(Default)]
pub struct Body {
    /// As [`Code::ops`].
    pub ops: Vec<Op>,
    /// What [`Op::Native`] calls.
    pub module: Option<Module>,
    /// The memory that it sees.
    pub views: Vec<Seen>,
    /// Rows that it needs beyond [`Code::rows`].
    pub copies: u32,
    /// Those among them that hold places of threads in their group.
    pub own: Vec<(RowId, Builtin)>,
    /// Those behind them in which functions remember where they looked in the last round.
    pub trail: u32,
    /// Which of the views holds the words of the group, see [`Place::Group`].
    pub group: Option<u8>,
    /// Its stages, if nothing of it is interpreted; else none. The first one is where waves begin, a [`Stage::Barrier`].
    pub stages: Vec<Stage>,
    /// For each of its functions what goes on with lanes that it leaves in a loop, if it may.
    pub repacks: Vec<Option<Repack>>,
    /// For each of its functions the choices outside of which it does nothing; none if it does.
    pub guards: Vec<Vec<Guard>>,
    /// The views of outputs that the last function stores for whole waves; none if it stores none.
    pub emitted: Vec<u8>,
    /// Of listed code, the instructions that the steps of each operation are of; none if it is not compiled.
    pub spans: Vec<Vec<Span>>,
    /// Samples are compiled, so that those which are not may not find the texels of earlier ones.
    pub samples: bool,
}

impl Body {
    /// One that is interpreted.
    fn interpreted(ops: &[Op]) -> Body {
        Body { ops: ops.to_vec(), ..Body::default() }
    }

    /// Lanes may be brought together.
    pub fn repacks(&self) -> bool {
        self.repacks.iter().any(Option::is_some)
    }

    /// The function that does a whole group, and finds nothing in the memory of the group, nor in rows but what all groups have in common.
    pub fn in_registers(&self) -> Option<Function> {
        match self.ops.first() {
            Some(Op::Native(function)) if function.of_group() => Some(*function),
            _ => None,
        }
    }
}

/// A program ready to run.
#[derive(Default)]
pub struct Code {
    /// Operations; main starts at 0.
    pub ops: Vec<Op>,
    /// Registers of the program; their rows come first.
    pub registers: u32,
    /// Instructions of the lane operations and of the others, if the code is to be listed or reported on.
    pub step_spans: Vec<Span>,
    /// See `step_spans`.
    pub op_spans: Vec<Span>,
    /// What its launches run for checks, if there are such.
    pub subject: Option<Subject>,
    /// Functions, main among them.
    pub functions: usize,
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
    /// LDS bytes a group needs.
    pub lds_bytes: u32,
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
    /// Words of the immediate constant buffer, which nobody changes.
    pub immediates: Vec<AtomicU32>,
    /// The program has a loop: how long a wave takes is not known.
    pub loops: bool,
    /// Pixel positions are whole numbers.
    pub whole_position: bool,
    /// All samples are at the position of the thread, so that tiles in a line read what lies in a line.
    pub in_lines: bool,
    /// Places of resources of which loops read elements side by side for the threads of a line, one for each place on a line; see
    /// `launch::columns`.
    pub panels: Vec<u32>,
    /// Loops compute with doubles of panels, and lines of a wave take the same way: code does strips of several lines together.
    pub abreast: bool,
    /// Samples are at the position of the thread with column and line exchanged, and nothing but outputs is written.
    pub turned: bool,
    /// Threads can't tell which group they are in.
    pub groups_unseen: bool,
    /// It does not show which waves are a group.
    pub waves_alone: bool,
    /// Threads of a group wait for each other.
    pub barriers: bool,
    /// Waves store to memory that they load from, without loops.
    pub in_place: bool,
    /// Surfaces, and samplers, of accesses that can be compiled for surfaces of a known shape.
    pub sampled: Vec<Seen>,
    /// Rows that hold nothing but temporaries: nobody reads them unwritten.
    pub temporaries: BitSet,
    /// Floats keep denormals: native float mode.
    pub gradual: bool,
    /// Threads go on with what follows in the text: there is no loop, no call, and nobody waits for others.
    pub straight: bool,
    /// What it is to be compiled to.
    pub native: Option<recal_jit::Isa>,
    /// See [`CpuBackend::thrifty`](crate::CpuBackend::thrifty).
    pub thrifty: bool,
    /// Launches that are interpreted before.
    pub first: FirstLaunches,
    /// What waves run.
    pub compiled: Variants<LaunchKey, Body>,
}

/// What is known of a launch when code is made for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchKey {
    /// The shapes of the surfaces in [`Code::sampled`].
    pub shapes: Box<[Shape]>,
    /// Threads are in lines as [`recal_jit::line`] says.
    pub line: u32,
    /// How compiled code may store outputs; none if it may not.
    pub outputs: Box<[Emitted]>,
    /// Threads of a group, if there are groups.
    pub block: Option<[u32; 3]>,
    /// All lanes of all waves execute when they begin.
    pub whole: bool,
}

/// An output whose elements compiled code stores, where all threads of a wave are in a line inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// Words of an element.
    pub words: u32,
    /// Past the caches; then lines begin at multiples of 64 bytes.
    pub past_caches: bool,
}

#[cfg(test)]
mod tests;
