//! Compiles runs of lane operations to AVX-512 code.
//!
//! ```text
//! steps ─[cal_il::isa::lane over graph::Graph]→ vector instructions ─[emit: registers]→ encode: bytes
//! ```
//!
//! The meaning of an operation is the function of `cal_il::isa::lane`, as everywhere: [`graph`] only says which
//! instruction each primitive of [`cal_il::isa::Algebra`] is. Operations that need a primitive without an
//! instruction are not compiled, see [`Compiler::supports`]; neither is anything on other processors.

mod emit;
mod encode;
mod graph;
mod row;

use std::collections::HashMap;

use cal_il::isa::{Algebra, LaneOp, lane};

use crate::emit::Pool;
use crate::encode::Code;
use crate::encode::inst::{PGATHERDD, PSCATTERDD};
use crate::graph::{Form, Graph, Node, Val};
pub use crate::row::{LANES, Row};

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
}

/// What is known of a sampled view when the code is made.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Coordinates count texels; else 1 is the whole size.
    pub unnormalized: bool,
    /// Texels that are added to the coordinates.
    pub offset: [i32; 2],
    /// Words of a texel; further components are 0, and the last one `missing`.
    pub words: u32,
    /// See `words`.
    pub missing: u32,
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
/// Most instructions of a function.
const FUNCTION: usize = 4000;

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
}

impl Function {
    /// It stores to views, so that lanes which take no part matter even if nobody sees their rows.
    pub fn stores(&self) -> bool {
        self.stores
    }
}

/// Collects functions.
#[derive(Default)]
pub struct Compiler {
    code: Code,
    pool: Pool,
    supported: HashMap<LaneOp, bool>,
}

impl Compiler {
    /// A compiler, if this processor can run what it makes.
    pub fn new() -> Option<Compiler> {
        available().then(Compiler::default)
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
    /// row is not read after the steps. `None` if there are too many values at a time.
    pub fn function(
        &mut self,
        steps: &[Step<'_>],
        constant: impl Fn(u32) -> Option<u32>,
        dead: impl Fn(u32) -> bool,
    ) -> Option<Function> {
        let mut graph = Graph::default();
        let mut rows: HashMap<u32, Val> = HashMap::new();
        let mut highest = 0;
        let mut written: Vec<u32> = Vec::new();
        let (mut views, mut stores) = (0, false);
        for step in steps {
            let mut value = |graph: &mut Graph, row: u32| {
                highest = highest.max(row);
                *rows.entry(row).or_insert_with(|| match constant(row) {
                    Some(word) => graph.word(word),
                    None => graph.add(Node::Row(row)),
                })
            };
            let results: Vec<(u32, Val)> = match *step {
                Step::Lane { op, ids, writes } => {
                    let (to, from) = ids.split_at(writes);
                    let words: Vec<Val> = from.iter().map(|&row| value(&mut graph, row)).collect();
                    let (lo, hi) = lane::apply(&mut graph, op, &words);
                    to.iter().copied().zip(std::iter::once(lo).chain(hi)).collect()
                }
                Step::Load { view, address, to, flush } => {
                    views = views.max(view + 1);
                    let (bytes, two) = (value(&mut graph, address), graph.word(2));
                    let first = graph.shr(bytes, two);
                    let mut load = |(k, row): (u32, u32)| {
                        let offset = graph.word(k);
                        let index = graph.iadd(first, offset);
                        let word = graph.inst(Form::Load, PGATHERDD, [index, graph::NO, graph::NO], view);
                        (row, if flush >> k & 1 == 1 { graph.flush(word) } else { word })
                    };
                    (0..4).zip(to).filter(|(_, row)| *row != NONE).map(&mut load).collect()
                }
                Step::Sample { view, sample, coordinates, to, flush } => {
                    views = views.max(view + 1);
                    let coordinates = coordinates.map(|row| (row != NONE).then(|| value(&mut graph, row)));
                    let first = graph.sampled(view, &sample, coordinates);
                    let mut load = |(k, row): (u32, u32)| {
                        let word = if k < sample.words {
                            let offset = graph.word(k);
                            let index = graph.iadd(first, offset);
                            graph.inst(Form::Load, PGATHERDD, [index, graph::NO, graph::NO], view)
                        } else {
                            graph.word(if k == 3 { sample.missing } else { 0 })
                        };
                        (row, if flush >> k & 1 == 1 { graph.flush(word) } else { word })
                    };
                    (0..4).zip(to).filter(|(_, row)| *row != NONE).map(&mut load).collect()
                }
                Step::Store { view, address, from } => {
                    views = views.max(view + 1);
                    stores = true;
                    let (bytes, two) = (value(&mut graph, address), graph.word(2));
                    let index = graph.shr(bytes, two);
                    let from = value(&mut graph, from);
                    graph.inst(Form::Store, PSCATTERDD, [index, from, graph::NO], view);
                    Vec::new()
                }
                Step::Test { row } => {
                    let word = value(&mut graph, row);
                    graph.result(word);
                    Vec::new()
                }
            };
            for (row, result) in results {
                highest = highest.max(row);
                rows.insert(row, result);
                written.push(row);
            }
            if graph.unsupported || graph.nodes.len() > FUNCTION {
                return None;
            }
        }
        written.sort_unstable();
        written.dedup();
        let outputs: Vec<(u32, Val)> =
            written.into_iter().filter(|&row| !dead(row)).map(|row| (row, rows[&row])).collect();
        let before = self.code.bytes.len();
        let full = before as u32;
        let mut done = emit::function(&mut graph, &outputs, false, &mut self.pool, &mut self.code);
        let masked = self.code.bytes.len() as u32;
        done &= emit::function(&mut graph, &outputs, true, &mut self.pool, &mut self.code);
        if !done {
            self.code.bytes.truncate(before);
            return None;
        }
        Some(Function { full, masked, rows: highest + 1, views, stores })
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

    /// Runs a function of this module on rows; returns what [`Step::Test`] says, for lanes in `exec` at least. Lanes whose bit in `exec` is clear keep what they have.
    #[inline]
    pub fn call(&self, function: Function, rows: &mut [Row], views: &[View], exec: u64) -> u64 {
        assert!(function.rows as usize <= rows.len(), "the function needs {} rows", function.rows);
        assert!(usize::from(function.views) <= views.len(), "the function needs {} views", function.views);
        let at = if exec == !0 { function.full } else { function.masked };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Compiler` made the bytes at `at` a function of this signature, which reads and writes no rows but
        // those below `function.rows`, aligned as `Row` is, reads constants of the pool that was made with it, and
        // accesses words of views below `function.views` that lie inside, which `View::new` makes the caller promise.
        // A `Module` exists only if the processor has the features that the code uses.
        unsafe {
            let entry: unsafe extern "sysv64" fn(*mut Row, *const u32, u64, *const View) -> u64 =
                std::mem::transmute(self.memory.as_ptr().add(at as usize));
            entry(rows.as_mut_ptr(), self.pool.as_ptr(), exec, views.as_ptr())
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (at, rows, views, &self.memory, &self.pool);
            unreachable!("no module is made on this processor");
        }
    }
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
