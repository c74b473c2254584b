//! Compiles runs of lane operations to machine code.
//!
//! ```text
//! steps ─[tree]→ constructs ─[recal_il::isa::lane over graph::Graph; translate]→ vector program
//!       ─[graph/lower]→ in the target's operations ─[emit: registers]→ target: bytes
//!                                                  ─[evaluate]→ the same results, on any processor
//! ```
//!
//! The meaning of an operation is the function of `recal_il::isa::lane`, as everywhere: [`graph`] only says which
//! operation on vectors each primitive of [`recal_il::isa::Algebra`] is, and a [`target`] which instruction that is, or
//! which other operations.

pub mod atomic;
mod call;
mod choose;
#[cfg(feature = "disassemble")]
mod disassemble;
mod emit;
mod evaluate;
mod function;
mod graph;
mod leave;
mod licm;
mod lines;
mod listing;
mod mode;
mod module;
mod native;
mod op;
mod program;
mod row;
mod step;
mod target;
mod ticks;
mod translate;
mod tree;
mod trial;

use std::sync::atomic::AtomicU32;

use crate::emit::{Code, Pool};
pub use crate::function::{After, Function};
pub use crate::mode::Mode;
pub use crate::module::{Bound, Module};
use crate::program::Program;
pub use crate::row::{LANES, Row, Wave, Waves, lanes};
pub use crate::step::{At, Filter, NONE, Sample, Shared, Step};
use crate::target::Target;
pub use crate::ticks::{Ask, Ticks};
use crate::translate::Known;
pub use crate::translate::group::Group;
use crate::tree::Tree;
use crate::trial::Trial;
use rustc_hash::{FxHashMap, FxHashSet};

/// A set of instructions that code can be made of.
#[derive(Clone, Copy)]
pub struct Isa(&'static dyn Target);

impl Isa {
    /// All of them, best first.
    pub fn all() -> impl Iterator<Item = Isa> {
        target::ALL.into_iter().map(Isa)
    }

    /// Its name: `avx512`, `avx2`, `neon`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Threads of a strip.
    pub fn lanes(self) -> u32 {
        self.0.lanes()
    }

    /// This processor has it.
    pub fn available(self) -> bool {
        self.0.available()
    }
}

impl std::fmt::Debug for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Memory that functions see: the address of its first word, a multiple of 4, and the number of its words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    start: *const u8,
    words: u32,
    /// As [`graph::Field`] numbers them.
    texels: [u32; 11],
    /// Words of a texel; 0 if the view is no surface, or one that is converted.
    unit: u32,
}

/// What is read of surfaces that are not there.
static NOTHING: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

impl View {
    /// The `bytes` bytes at `start`.
    ///
    /// # Safety
    /// They are valid, for reads and writes by any thread, whenever a function is called with the view.
    pub unsafe fn new(start: *const u8, bytes: usize) -> View {
        View { start, words: (bytes / 4).min(1 << 30) as u32, texels: [0; 11], unit: 0 }
    }

    /// The same as a surface of texels of `unit` words: its size in texels, at least 1 x 1, the words from one line to the next,
    /// and the border as a texel would be read. Of formats that are converted `unit` is 0, and a line is counted in elements. A
    /// surface that does not lie in the view is a texel of zeros.
    pub fn with_texels(self, width: u32, height: u32, line: u32, unit: u32, border: [u32; 4]) -> View {
        let before = u64::from(height.max(1) - 1) * u64::from(line);
        if unit > 0 && before + u64::from(width.max(1)) * u64::from(unit) > u64::from(self.words) {
            // SAFETY: it is there as long as the process, and any thread may access it.
            let nothing = unsafe { View::new(NOTHING.as_ptr().cast(), size_of_val(&NOTHING)) };
            return nothing.with_texels(1, 1, 0, unit.min(4), border);
        }
        let [columns, lines] = [width, height].map(|size| (size as f32).to_bits());
        let [x, y, z, w] = border;
        let last = [width, height].map(|size| size.saturating_sub(1));
        View { texels: [last[0], last[1], line, columns, lines, width, height, x, y, z, w], unit, ..self }
    }

    /// No memory, but words that are the same for all lanes, see [`Shared`].
    pub fn of_words(words: [u32; SHARED]) -> View {
        View { start: NOTHING.as_ptr().cast(), words: 0, texels: words, unit: 0 }
    }
}

/// Words of a view, see [`View::of_words`].
pub const SHARED: usize = 11;

/// How many neighbouring lanes are in a line if threads are in lines of `width`: 64, 32, 16, 8 or 4, or 0 if neighbours may be in
/// different lines anywhere.
pub fn line(width: u32) -> u32 {
    [64, 32, 16, 8, 4].into_iter().find(|line| width.is_multiple_of(*line)).unwrap_or(0)
}

/// Collects functions.
pub struct Compiler {
    target: &'static dyn Target,
    /// Lanes that are looked at together: 4, 8, 16, 32 or 64.
    line: u32,
    /// Those of a strip are in a line.
    in_lines: bool,
    /// What takes denormals as zeros has no place in the code.
    gradual: bool,
    /// See [`Compiler::for_whole_waves`].
    whole: bool,
    /// See [`Compiler::with_column`].
    column: Option<u32>,
    code: Code,
    pool: Pool,
    functions: Vec<Function>,
    programs: Option<Vec<Program>>,
    shared: FxHashMap<u32, Shared>,
    next: u32,
    trail: emit::Trail,
    learned: u32,
    equal: FxHashSet<u32>,
    repack: Option<u32>,
    scattered: Option<Function>,
    /// Lanes that the function made last does at a time.
    abreast: u32,
    threads: usize,
}

impl Compiler {
    /// A compiler; the processor need not have the instructions.
    pub fn new(isa: Isa) -> Compiler {
        Compiler {
            target: isa.0,
            line: 16,
            in_lines: false,
            gradual: false,
            whole: false,
            column: None,
            code: Code::default(),
            pool: Pool::default(),
            functions: Vec::new(),
            programs: None,
            shared: FxHashMap::default(),
            next: 0,
            trail: emit::Trail::default(),
            learned: 0,
            equal: FxHashSet::default(),
            repack: None,
            scattered: None,
            abreast: 0,
            threads: 1,
        }
    }

    /// The same for lanes that are threads in lines; `line` is what [`line()`] says. Elements that are the same for the
    /// lanes of a line, or lie side by side, are loaded together.
    pub fn with_lines(self, line: u32) -> Compiler {
        let known = line > 0;
        let line = if line == 0 { 16 } else { line };
        Compiler { line, in_lines: known && line >= self.target.lanes(), ..self }
    }

    /// The same for steps whose floats may be denormals: nothing takes those as zeros.
    pub fn keeping_denormals(self, kept: bool) -> Compiler {
        Compiler { gradual: kept, ..self }
    }

    /// The same that may use so many threads: long functions are translated part by part.
    pub fn with_threads(self, threads: usize) -> Compiler {
        Compiler { threads, ..self }
    }

    /// The same where functions are called for nothing but waves all of whose lanes execute: code for others is not made where it would be other
    /// code.
    pub fn for_whole_waves(self) -> Compiler {
        Compiler { whole: true, ..self }
    }

    /// The same for steps that do not write some rows, whose words are not in them.
    pub fn with_shared(self, shared: FxHashMap<u32, Shared>) -> Compiler {
        Compiler { shared, ..self }
    }

    /// The same where a row that no function writes holds, in waves whose elements functions store ([`Step::Emit`]), the columns of
    /// threads: floats, multiples of 1/2 from 0 to 2^22, one more in each lane than in the one before; and the 64 lanes are one line, which
    /// goes on in the next wave if a function is called for several.
    pub fn with_column(self, row: Option<u32>) -> Compiler {
        Compiler { column: row, ..self }
    }

    /// From now on functions without loops ask for the words of some views, bit k is view k, that lie behind those which a line reads: other
    /// threads will want them soon.
    pub fn ask_ahead(&mut self, views: u32) {
        self.next = views;
    }

    /// From now on functions are done for all waves of a group round after round: what those without loops load of some views, bit k is view
    /// k, is asked for a round ahead. Where they looked is remembered in the rows of the waves, `rows` of them from `first` on, which nothing
    /// else reads or writes.
    pub fn in_rounds(&mut self, views: u32, first: u32, rows: u32) {
        let taken = self.trail.taken;
        self.trail = emit::Trail { views, first, rows, taken };
    }

    /// Rows that all lines of a wave have in common when the functions begin that are made from now on: what a line has in one is what the
    /// first line has there.
    pub fn equal_in_lines(&mut self, rows: FxHashSet<u32>) {
        self.equal = rows;
    }

    /// The loop that is this step of the next function, in no choice and no other loop, may be left while lanes are in it ([`Function::repacks`]),
    /// if it is one whose lanes leave apart. The function tests nothing last.
    pub fn repack(&mut self, step: Option<u32>) {
        self.repack = step;
    }

    /// Functions that are made from now on go on with lanes of a function that have left its loop ([`Compiler::repack`]), brought together from anywhere:
    /// any of them may execute, and nothing is known of neighbours. `None`: no longer.
    pub fn scattered(&mut self, from: Option<Function>) {
        self.scattered = from;
    }

    /// The same that keeps programs for [`Module::evaluate`] and [`Module::listing`].
    pub fn with_programs(self) -> Compiler {
        Compiler { programs: Some(Vec::new()), ..self }
    }

    /// Compiles steps. `constant` tells the words of rows that never change, `after` what becomes of a row after the
    /// steps, `unseen` whether lanes that do not execute never show what they have in it.
    /// `None` if there are too many values at a time.
    ///
    /// With constructs among them, the steps are done for strip after strip, so nothing that they load may be
    /// stored by them.
    pub fn function<A: Into<After>>(
        &mut self,
        steps: &[Step<'_>],
        constant: impl Fn(u32) -> Option<u32> + Sync,
        after: impl Fn(u32) -> A,
        unseen: impl Fn(u32) -> bool + Sync,
    ) -> Option<Function> {
        let (mut function, later, elements) = self.described(steps, after);
        let (steps, _) = steps.split_at(steps.len() - elements.len());
        let in_lines = self.in_lines && self.scattered.is_none();
        let tree = tree::tree(steps, later.read.clone(), in_lines);
        function.strict = !tree.iter().all(|tree| matches!(tree, Tree::Run(_)));
        let emits = !elements.is_empty() && in_lines && self.target.interleaves();
        // Lanes that go other ways are like lanes that do not execute.
        let apart = function.strict && !(in_lines && tree::together(&tree));
        let only = self.whole && self.scattered.is_none() && !apart;
        let repacks = self.repack.take().filter(|_| apart);
        let before = self.code.bytes.len();
        let made = self.modes().iter().find_map(|&lazy| {
            let program = |whole| {
                let Compiler { target, column, next, trail, learned, threads, .. } = *self;
                let equal = self.equal.clone();
                let (shared, later) = (&self.shared, &later);
                let bound = self.scattered.is_some();
                let rows =
                    Known { constant: &constant, shared, unseen: &unseen, later, column, bound, threads };
                let made = translate::program(&tree, &elements, target, lazy, in_lines, whole, rows);
                made.map(|made| {
                    let mut program = Program { next, trail, learned, equal, repacks, ..made };
                    let other = whole && (program.wide || emits);
                    program.abreast = other && lines::in_common(&mut program.parts, &program.equal);
                    program
                })
            };
            // Who takes elements apart has no other program for whole waves.
            let first = program(only && in_lines && self.target.interleaves())?;
            let other = in_lines && !apart && !only && (first.wide || emits);
            let all = if other { Some(program(true)?) } else { None };
            let masked = if only { None } else { Some(self.emit(&first, true)?) };
            let repacks = repacks.map(|_| self.abreast);
            let full = match masked {
                Some(masked) if apart => masked,
                _ => self.emit(all.as_ref().unwrap_or(&first), false)?,
            };
            Some((Function { full, masked, repacks, ..function }, first, all))
        });
        let Some((mut function, first, all)) = made else {
            self.forget(before);
            return None;
        };
        if emits && (only || all.is_some()) {
            function.emit(&elements);
        }
        function.lazy = (first.lazy || program::floats(&first.parts)).then_some(first.lazy);
        if self.trail.taken > first.trail.taken {
            function.rows = function.rows.max(self.trail.end(self.target.lanes()));
        }
        if let Some(programs) = &mut self.programs {
            let at = programs.len() as u32;
            function.programs = [at, at + u32::from(all.is_some())];
            programs.extend([first].into_iter().chain(all));
        }
        Some(self.add(function))
    }

    /// Appends the code of a program; where it starts. `None` if there are too many values at a time.
    fn emit(&mut self, program: &Program, masked: bool) -> Option<u32> {
        let at = self.code.bytes.len() as u32;
        let (target, line) = (self.target, self.line);
        // Jumps that a strip takes together two take together if they are of one line.
        let alike = line >= 2 * target.lanes();
        let Compiler { code, pool, learned, trail, abreast, .. } = self;
        let mut finish = |frame: emit::Frame<'_>| {
            *abreast = frame.strips.number * target.lanes();
            *learned = frame.learned.max(*learned);
            trail.taken = frame.trail.taken.max(trail.taken);
            frame.finish(code)
        };
        let first = Trial::new(program, target, masked, line);
        if program.group {
            return finish(first.for_group(pool).body(pool)).then_some(at);
        }
        // Calls know lanes by 32 bits.
        let most = if program.calls { emit::MOST.min(32 / target.lanes()) } else { emit::MOST };
        let in_line = if program.abreast { LANES as u32 } else { line } / target.lanes();
        let most = if target.strips() > 1 { most.min(in_line) } else { 1 };
        let sums = if masked { None } else { first.for_sums(pool, most) };
        if let Some(made) = sums {
            if finish(Trial { reduced: true, ..made }.body(pool)) || finish(made.body(pool)) {
                return Some(at);
            }
        }
        let made = first.best(pool, alike);
        let done = finish(made.body(pool)) || finish(Trial { strips: 1, ..made }.body(pool));
        done.then_some(at)
    }

    /// Compiles steps that all threads of a group do, which a [`Step::Barrier`] makes wait for each other: a function to be called for the first wave of each
    /// group. `constant` as for [`Compiler::function`], and nothing is read after it. `None` if it can't be made, or there is no need.
    pub fn group(
        &mut self,
        steps: &[Step<'_>],
        constant: impl Fn(u32) -> Option<u32> + Sync,
        group: &Group<'_>,
    ) -> Option<Function> {
        if !self.target.permutes() {
            return None;
        }
        let (mut function, ..) = self.described(steps, |_| true);
        function.group = true;
        let before = self.code.bytes.len();
        let made = self.modes().iter().find_map(|&lazy| {
            let made = translate::group::program(steps, group, self.target, lazy, &constant, &self.shared)?;
            let program = Program { learned: self.learned, next: self.next, ..made };
            let at = self.emit(&program, false)?;
            Some((program, at))
        });
        let Some((program, at)) = made else {
            self.forget(before);
            return None;
        };
        function.lazy = (program.lazy || program::floats(&program.parts)).then_some(program.lazy);
        if let Some(programs) = &mut self.programs {
            function.programs = [programs.len() as u32; 2];
            programs.push(program);
        }
        Some(self.add(Function { full: at, masked: Some(at), ..function }))
    }

    /// Whether denormal operands count as zeros, in the order in which that is to be tried.
    fn modes(&self) -> &'static [bool] {
        match self.scattered.and_then(|from| from.lazy) {
            // Rows may hold what is no zero in another mode.
            Some(true) => &[true],
            Some(false) => &[false],
            None if self.target.denormals_as_zeros() && !self.gradual => &[true, false],
            None => &[false],
        }
    }

    /// Forgets code from a byte on.
    fn forget(&mut self, before: usize) {
        self.code.bytes.truncate(before);
        self.code.marks.retain(|(at, _)| (*at as usize) < before);
    }

    /// A function whose code ends here.
    fn add(&mut self, function: Function) -> Function {
        let function = Function { end: self.code.bytes.len() as u32, ..function };
        self.functions.push(function);
        function
    }

    /// Makes the functions callable; `None` if the system gives no memory for them.
    pub fn finish(self) -> Option<Module> {
        let Compiler { target, code, pool, functions, programs, learned, .. } = self;
        let memory = if target.available() { Some(native::executable(&code.bytes).ok()?) } else { None };
        let rows = pool
            .words
            .chunks(LANES)
            .map(|words| Row(std::array::from_fn(|lane| words.get(lane).copied().unwrap_or_default())));
        Some(Module {
            target,
            code: code.bytes,
            marks: code.marks,
            memory,
            pool: rows.collect(),
            functions,
            programs: programs.unwrap_or_default(),
            learned,
        })
    }
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
