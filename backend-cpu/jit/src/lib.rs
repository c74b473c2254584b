//! Compiles runs of lane operations to AVX-512 code.
//!
//! ```text
//! steps ─[recal_il::isa::lane over graph::Graph]→ vector instructions ─[emit: registers]→ encode: bytes
//! ```
//!
//! The meaning of an operation is the function of `recal_il::isa::lane`, as everywhere: [`graph`] only says which
//! instruction each primitive of [`recal_il::isa::Algebra`] is. Operations that need a primitive without an
//! instruction are not compiled, see [`Compiler::supports`]; neither is anything on other processors. Constructs become
//! masks and jumps (`tree`, `flow`).

mod emit;
mod encode;
mod flow;
mod graph;
mod kept;
mod row;
mod translate;
mod tree;

use std::collections::HashMap;

use recal_il::isa::{LaneOp, lane};

use crate::emit::{Frame, Pool};
use crate::encode::Code;
use crate::graph::{Graph, Node, Val};
pub use crate::row::{LANES, Row};
use crate::translate::Translator;
use crate::tree::{Rows, each_row};

/// What a function does, one after another.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A lane operation.
    Lane {
        /// What.
        op: LaneOp,
        /// Destination rows, then source rows, low word first.
        ids: &'a [u32],
        /// How many of them are destinations.
        writes: usize,
    },
    /// Loads words; 0 outside.
    Load {
        /// Which of the views.
        view: u8,
        /// The row of byte addresses of component 0; the low two bits are ignored.
        address: u32,
        /// A row for each component, or [`NONE`].
        to: [u32; 4],
        /// Components that are flushed; bit k is component k.
        flush: u8,
    },
    /// Loads the texel that coordinates mean, with the nearest filter and clamped to the edges of the view.
    Sample {
        /// Which of the views.
        view: u8,
        /// How.
        sample: Sample,
        /// Rows of column and line, the latter or [`NONE`].
        coordinates: [u32; 2],
        /// A row for each component, or [`NONE`].
        to: [u32; 4],
        /// Components that are flushed; bit k is component k.
        flush: u8,
    },
    /// Stores a word; nothing outside.
    Store {
        /// Which of the views.
        view: u8,
        /// The row of byte addresses; the low two bits are ignored.
        address: u32,
        /// The row that is stored.
        from: u32,
    },
    /// The lanes of a row whose word is not 0 are what the function returns; at most once.
    Test {
        /// The row.
        row: u32,
    },
    /// Lanes with any bit of the row set, or with none, go on; the others after the `Else`, or the `EndIf`.
    If {
        /// The row.
        row: u32,
        /// Any bit.
        nonzero: bool,
    },
    /// See `If`.
    Else,
    /// See `If`.
    EndIf,
    /// Repeats what is before the `EndLoop` until all lanes have left.
    Loop,
    /// See `Loop`.
    EndLoop,
    /// All lanes, or those with any bit of the row set, or with none, leave the innermost loop.
    Break(Option<(u32, bool)>),
}

/// What is known of a sampled view when the code is made.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Coordinates count texels; else 1 is the whole size.
    pub unnormalized: bool,
    /// Texels that are added to the coordinates.
    pub offset: [i32; 2],
    /// Words of a texel. One stands in all components; of two further components are 0, and the last one `missing`.
    pub words: u32,
    /// See `words`.
    pub missing: u32,
    /// Coordinates that are never denormals.
    pub normal: [bool; 2],
}

/// No row.
pub const NONE: u32 = u32::MAX;

/// Memory that functions see: the address of its first word, a multiple of 4, and the number of its words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    start: *const u8,
    words: u32,
    /// As [`graph::Field`] numbers them.
    texels: [u32; 5],
}

impl View {
    /// The `bytes` bytes at `start`.
    ///
    /// # Safety
    /// They are valid, for reads and writes by any thread, whenever a function is called with the view.
    pub unsafe fn new(start: *const u8, bytes: usize) -> View {
        View { start, words: (bytes / 4).min(1 << 30) as u32, texels: [0; 5] }
    }

    /// The same as a surface: its size in texels, at least 1 x 1, and the words from one line to the next.
    pub fn with_texels(self, width: u32, height: u32, line_words: u32) -> View {
        let [columns, lines] = [width, height].map(|size| (size as f32).to_bits());
        View {
            texels: [width.saturating_sub(1), height.saturating_sub(1), line_words, columns, lines],
            ..self
        }
    }
}

/// Most instructions that an operation may become; longer ones are faster as loops over rows.
const LONGEST: usize = 48;
/// How many flushes make up for a change of the float mode.
const WORTH: usize = 8;

/// A function of a [`Module`].
#[derive(Clone, Copy, Debug)]
pub struct Function {
    full: u32,
    masked: u32,
    /// Rows that it needs.
    rows: u32,
    /// Views that it needs.
    views: u8,
    /// It stores to views.
    stores: bool,
    /// Lanes that take no part matter.
    strict: bool,
}

impl Function {
    /// It stores to views or has constructs, so that lanes which take no part matter even if nobody sees their rows.
    pub fn strict(&self) -> bool {
        self.stores || self.strict
    }
}

/// How many neighbouring lanes code looks at together if threads are in lines of `width`: 16, 8 or 4.
pub fn line(width: u32) -> u32 {
    [16, 8, 4].into_iter().find(|line| width.is_multiple_of(*line)).unwrap_or(16)
}

/// Collects functions.
pub struct Compiler {
    /// Lanes of a line: 4, 8 or 16.
    line: u32,
    code: Code,
    pool: Pool,
    supported: HashMap<LaneOp, bool>,
}

impl Compiler {
    /// A compiler, if this processor can run what it makes.
    pub fn new() -> Option<Compiler> {
        available().then(|| Compiler {
            line: 16,
            code: Code::default(),
            pool: Pool::default(),
            supported: HashMap::new(),
        })
    }

    /// The same for lanes that are threads in lines; `line` is what [`line()`] says. Elements that are the same for the
    /// lanes of a line, or lie side by side, are loaded together.
    pub fn with_lines(self, line: u32) -> Compiler {
        Compiler { line, ..self }
    }

    /// True if the operation can be part of a function.
    pub fn supports(&mut self, op: LaneOp) -> bool {
        *self.supported.entry(op).or_insert_with(|| {
            let mut graph = Graph::default();
            let words: usize = op.arguments().iter().map(|class| class.words()).sum();
            let rows: Vec<Val> = (0..words as u32).map(|row| graph.add(Node::Row(row))).collect();
            lane::apply(&mut graph, op, &rows);
            !graph.unsupported && graph.nodes.len() <= LONGEST
        })
    }

    /// Compiles steps that are all supported. `constant` tells the words of rows that never change, `dead` whether a
    /// row is not read after the steps, `unseen` whether lanes that do not execute never show what they have in it.
    /// `None` if there are too many values at a time.
    ///
    /// With constructs among them, the steps are done for sixteen lanes after sixteen, so nothing that they load may be
    /// stored by them.
    pub fn function(
        &mut self,
        steps: &[Step<'_>],
        constant: impl Fn(u32) -> Option<u32>,
        dead: impl Fn(u32) -> bool,
        unseen: impl Fn(u32) -> bool,
    ) -> Option<Function> {
        let mut function = Function { full: 0, masked: 0, rows: 0, views: 0, stores: false, strict: false };
        for step in steps {
            each_row(step, |row, _| function.rows = function.rows.max(row + 1));
            match *step {
                Step::Load { view, .. } | Step::Sample { view, .. } => {
                    function.views = function.views.max(view + 1)
                }
                Step::Store { view, .. } => {
                    function.views = function.views.max(view + 1);
                    function.stores = true;
                }
                Step::If { .. } | Step::Loop => function.strict = true,
                _ => {}
            }
        }
        let tree = tree::tree(steps, Rows::of(function.rows, |row| !dead(row)));
        let before = self.code.bytes.len();
        let mut made = |lazy: bool, masked: bool| {
            let at = self.code.bytes.len() as u32;
            let mut frame = Frame::new(&mut self.pool, masked, lazy, self.line);
            frame.ticks = tree::loops(&tree).then(|| frame.slot());
            let mut runs = Translator { constant: &constant, unseen: &unseen, lazy, flushes: 0, kept: None };
            flow::code(&tree, &mut frame, &mut runs)?;
            // Changing the float mode takes as long as some flushes.
            (!lazy || runs.flushes > WORTH).then_some(())?;
            frame.finish(&mut self.code).then_some(at)
        };
        let both = |made: &mut dyn FnMut(bool) -> Option<u32>| {
            let masked = made(true)?;
            Some((if function.strict { masked } else { made(false)? }, masked))
        };
        let mut offsets = both(&mut |masked| made(true, masked));
        if offsets.is_none() {
            offsets = both(&mut |masked| made(false, masked));
        }
        let Some((full, masked)) = offsets else {
            self.code.bytes.truncate(before);
            return None;
        };
        Some(Function { full, masked, ..function })
    }

    /// Makes the functions callable; `None` if the system gives no memory for them.
    pub fn finish(self) -> Option<Module> {
        Module::new(&self.code.bytes, self.pool.words)
    }
}

/// Functions that can be called.
pub struct Module {
    memory: memmap2::Mmap,
    pool: Box<[u32]>,
}

impl Module {
    fn new(code: &[u8], pool: Vec<u32>) -> Option<Module> {
        let mut memory = memmap2::MmapMut::map_anon(code.len().max(1)).ok()?;
        memory[..code.len()].copy_from_slice(code);
        Some(Module { memory: memory.make_exec().ok()?, pool: pool.into() })
    }

    /// Runs a function of this module on rows; returns what [`Step::Test`] says, for lanes in `exec` at least. Lanes
    /// whose bit in `exec` is clear keep what they have, in rows that are not unseen. It ends early if `ticks` says so.
    #[inline]
    pub fn call(
        &self,
        function: Function,
        rows: &mut [Row],
        views: &[View],
        exec: u64,
        ticks: &mut Ticks<'_>,
    ) -> u64 {
        assert!(function.rows as usize <= rows.len(), "the function needs {} rows", function.rows);
        assert!(usize::from(function.views) <= views.len(), "the function needs {} views", function.views);
        let at = if exec == !0 { function.full } else { function.masked };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Compiler` made the bytes at `at` a function of this signature, which reads and writes no rows but
        // those below `function.rows`, aligned as `Row` is, reads constants of the pool that was made with it, and
        // accesses words of views below `function.views` that lie inside, which `View::new` makes the caller promise.
        // It calls nothing but what `ticks` holds, with `ticks`, and leaves the float mode as it was. A `Module`
        // exists only if the processor has the features that the code uses.
        unsafe {
            let entry: unsafe extern "sysv64" fn(
                *mut Row,
                *const u32,
                u64,
                *const View,
                *mut Ticks<'_>,
            ) -> u64 = std::mem::transmute(self.memory.as_ptr().add(at as usize));
            entry(rows.as_mut_ptr(), self.pool.as_ptr(), exec, views.as_ptr(), ticks)
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (at, rows, views, ticks, &self.memory, &self.pool);
            unreachable!("no module is made on this processor");
        }
    }
}

/// Says whether to give up.
pub trait Ask {
    /// True if so.
    fn stop(&self) -> bool;
}

/// Counts the back-edges of loops; now and then somebody is asked whether to go on.
#[repr(C)]
pub struct Ticks<'a> {
    /// Back-edges until then.
    left: u32,
    /// What code calls then, with this.
    #[cfg(target_arch = "x86_64")]
    check: unsafe extern "sysv64" fn(*mut Ticks<'_>) -> bool,
    ask: &'a dyn Ask,
    stopped: bool,
}

/// Back-edges between two questions: some microseconds.
const PERIOD: u32 = 256;

impl<'a> Ticks<'a> {
    /// Asks `ask`.
    pub fn new(ask: &'a dyn Ask) -> Ticks<'a> {
        Ticks {
            left: PERIOD,
            #[cfg(target_arch = "x86_64")]
            check: ticked,
            ask,
            stopped: false,
        }
    }

    /// A function ended early.
    pub fn stopped(&self) -> bool {
        self.stopped
    }
}

/// The count is 0. True if the function is to end.
///
/// # Safety
/// Called by code that got the reference from [`Module::call`].
#[cfg(target_arch = "x86_64")]
unsafe extern "sysv64" fn ticked(ticks: *mut Ticks<'_>) -> bool {
    // SAFETY: `Module::call` has it exclusively, and the code that it runs does nothing meanwhile.
    let ticks = unsafe { &mut *ticks };
    ticks.left = PERIOD;
    ticks.stopped = ticks.ask.stop();
    ticks.stopped
}

/// True if the processor has what the code uses.
fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512cd")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
