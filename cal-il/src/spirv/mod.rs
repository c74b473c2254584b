//! SPIR-V from programs.
//!
//! In: an [`ir::Program`](crate::ir::Program) and what a device can do ([`Target`]). Out: a module for a compute
//! pipeline, valid SPIR-V 1.5 for Vulkan 1.2, and the [`launch::Layout`] of the uniform block that it reads. Refused, with
//! the reason: what the device lacks.
//!
//! ```text
//! target     what a device can do                 assume     what is known of a launch
//! module     types, constants                     body       blocks, instructions; known, values: what was computed before
//! entry      functions, the entry point           flow       statements
//! registers  registers as variables; induction    builtins   operands
//! lane       lane operations                      algebra    an Algebra: forms, hidden, floats, pairs, fused; native
//! memory     words: g[], UAVs, LDS, constants     atomic     read-modify-write
//! alignment  of addresses                         wide       several words at a time
//! uniforms   constant buffers as uniform buffers  size       of groups
//! group      group memory, barriers               texture    texels, samplers, formats
//! ```
//!
//! Interface of the module: entry point `main`; a uniform block (set 0, binding 0) with the launch table of
//! [`launch`]; all other memory through addresses in that table, or as storage and uniform buffers (set 1) where
//! [`Assume::buffers`] and [`Assume::uniforms`] say that those are bound. Pixel kernels run in groups of [`Module::group`] threads that
//! cover the domain. If [`Module::group`] is `None`, specialization constants 0, 1, 2 are the group's size.

mod accesses;
mod algebra;
mod alignment;
mod assume;
mod atomic;
mod body;
mod builtins;
mod counters;
mod doubles;
mod entry;
mod facts;
mod floats;
mod flow;
mod format;
mod forms;
mod fused;
mod group;
mod hidden;
mod induction;
mod interpolant;
mod known;
mod lane;
pub mod launch;
mod memory;
mod module;
mod native;
mod pairs;
mod registers;
mod rounds;
mod size;
mod surface;
mod target;
mod texture;
mod threads;
mod uniforms;
mod uses;
mod values;
mod wide;

use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op, StorageClass, Word};

use crate::bits::BitSet;
use crate::diagnostic::Span;
use crate::ir::divergence::Divergence;
use crate::ir::passes::{EMISSION, Settings, Watch, run};
use crate::ir::speculate::WORTH;
use crate::ir::{MemoryInst, Program, WAVE};
pub use assume::{Assume, Formats, Shape, Surfaces};
use launch::{Layout, Slot};
use module::{Type, Writer};
use registers::{Memo, Registers};
pub use size::check_group;
use size::{group, most_threads};
pub use target::{Mode, Target};
pub use uniforms::{UNIFORM_BINDINGS, UNIFORMS};

/// Raised whenever the emitter writes other modules for the same program: part of cache keys.
pub const VERSION: u32 = 33;

/// A module and what its user must know.
#[derive(Clone, Debug)]
pub struct Module {
    /// SPIR-V words.
    pub words: Vec<u32>,
    /// From which of them on instructions come from which part of the kernel's text; an empty one is none. Ascending.
    pub spans: Vec<(u32, Span)>,
    /// The uniform block.
    pub layout: Layout,
    /// Threads of a group; `None`: specialization constants 0 to 2.
    pub group: Option<[u32; 3]>,
    /// Bytes of group memory.
    pub shared: u32,
}

/// Why a device cannot run a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

/// Writes a program as a module for a target.
pub fn emit(program: &Program, target: &Target, assume: Assume) -> Result<Module, Unsupported> {
    emit_watched(program, target, assume, &mut |_, _| {})
}

/// The same, and tells what each of the passes before makes of the program.
pub fn emit_watched(
    program: &Program,
    target: &Target,
    assume: Assume,
    watch: Watch<'_>,
) -> Result<Module, Unsupported> {
    // Of the program as it is: all its modules have one group size.
    let group = group(program, target)?;
    let settings = Settings {
        faithful: target.mode == Mode::Faithful,
        last: false,
        cost: &|access| cost(access, &assume),
        worth: WORTH,
        skips: target.skips,
        threads: match most_threads(program, group, target) {
            most if assume.one_wave => most.min(WAVE),
            most => most,
        },
        room: true,
    };
    let prepared = run(&EMISSION, program, &settings, watch);
    // Of the program as it is, too: launches bind for that.
    let uniforms = uniforms::floats(program, target);
    match emit_prepared(&prepared, target, assume, group, &uniforms) {
        // Group memory is full to the last word.
        Err(_) if prepared.interface.lds.len() > program.interface.lds.len() => {
            let prepared = run(&EMISSION, program, &Settings { room: false, ..settings }, watch);
            emit_prepared(&prepared, target, assume, group, &uniforms)
        }
        result => result,
    }
}

/// Writes a program that counts on no lockstep.
fn emit_prepared(
    program: &Program,
    target: &Target,
    assume: Assume,
    group: Option<[u32; 3]>,
    uniforms: &uniforms::Words,
) -> Result<Module, Unsupported> {
    let layout = Layout { uniforms: uniforms.clone(), ..Layout::new(program, target) };
    if layout.rows * 16 > target.max_uniform {
        return Err(Unsupported(format!("the kernel binds more objects ({}) than fit", layout.slots.len())));
    }
    let mut emitter = Emitter::new(program, target, assume, layout, group);
    let shared = emitter.group_bytes();
    if shared > target.max_shared {
        return Err(Unsupported(format!(
            "the kernel needs {shared} bytes of group memory (LDS), the device has {}",
            target.max_shared
        )));
    }
    emitter.module();
    match emitter.refused {
        Some(reason) => Err(Unsupported(reason)),
        None => {
            let (words, spans) = emitter.w.finish();
            Ok(Module { words, spans, layout: emitter.layout, group, shared })
        }
    }
}

/// Variables of an entry point; the length of an instruction has 16 bits.
const MOST_VARIABLES: usize = 60_000;

/// What an access costs, in operations. Where formats are not known it is a call or more: not worth repeating.
fn cost(access: &MemoryInst, assume: &Assume) -> u32 {
    let formats = assume.formats != Formats::Any;
    match access {
        MemoryInst::Sample { .. } | MemoryInst::Gather { .. } if !(formats && assume.default_samplers) => {
            u32::MAX
        }
        MemoryInst::Fetch { .. } | MemoryInst::TypedLoad { .. } if !formats => u32::MAX,
        MemoryInst::Gather { .. } => 16,
        MemoryInst::Sample { .. } | MemoryInst::Fetch { .. } | MemoryInst::TypedLoad { .. } => 8,
        _ => 4,
    }
}

/// Types used everywhere.
struct Types {
    void: Word,
    bool: Word,
    u32: Word,
    f32: Word,
    uvec2: Word,
    uvec3: Word,
    uvec4: Word,
}

struct Emitter<'a> {
    program: &'a Program,
    target: &'a Target,
    assume: Assume,
    layout: Layout,
    group: Option<[u32; 3]>,
    w: Writer,
    t: Types,
    memo: Memo,
    registers: Registers,
    facts: facts::Facts,
    threads: threads::Threads,
    /// Words that a driver cannot know while it compiles.
    solid: BitSet,
    /// First rows of memory that the kernel only reads.
    only_read: FxHashSet<u32>,
    /// Memory of which drivers know no word: what the kernel only reads, and group memory if what is stored there is hidden.
    unknown: FxHashSet<memory::Place>,
    /// Words of loaded vectors: which of the vector's, and how many it has.
    parts: known::Sparse<(Word, u32, u32)>,
    /// Floats that are whole numbers.
    integral: BitSet,
    divergence: Divergence,
    /// The lane operation at hand takes flushed arguments only.
    flushed_arguments: bool,
    /// The lane operation at hand uses the device's own division, roots and fma.
    direct: bool,
    refused: Option<String>,
    uses_double: bool,
    /// First rows of surfaces, and the first rows of surfaces of the same sizes.
    same_size: FxHashMap<u32, u32>,
    /// First rows of surfaces that cover the domain, and of those that cover it with columns and rows exchanged.
    covering: [FxHashSet<u32>; 2],
    /// Words of an element, by first row.
    element_words: FxHashMap<u32, u32>,
    /// Variables of the entry point's interface.
    interface: Vec<Word>,
    /// The launch table.
    table: Word,
    /// Size of a group by dimension: constants or specialization constants.
    block: [Word; 3],
    inputs: FxHashMap<BuiltIn, Word>,
    /// Arrays in memory by their elements.
    blocks: FxHashMap<Type, Word>,
    /// Bindings of surfaces that are storage buffers, by first row.
    bindings: FxHashMap<u32, u32>,
    /// Variables of storage buffers, by binding and element.
    buffers: FxHashMap<(u32, Type), Word>,
    /// Variables of uniform buffers, by the number of the constant buffer.
    uniforms: FxHashMap<u32, Word>,
    /// Group memory, and where its parts start.
    shared: Option<Word>,
    shared_words: u32,
    /// Words of its elements.
    shared_width: u32,
    alignment: alignment::Alignment,
    lds: FxHashMap<u32, u32>,
    /// The LDS blocks as pairs of words, if there are 64-bit atomics on them.
    pairs: Option<Word>,
    /// Words of the LDS blocks.
    lds_words: u32,
    arrays: FxHashMap<u32, Word>,
    immediates: Option<Word>,
    killed: Option<Word>,
    functions: FxHashMap<usize, Word>,
    /// By name, those on a storage buffer by its binding, too.
    routines: FxHashMap<(&'static str, Option<u32>), Word>,
    flow: flow::Flow,
}

impl<'a> Emitter<'a> {
    fn new(
        program: &'a Program,
        target: &'a Target,
        assume: Assume,
        layout: Layout,
        group: Option<[u32; 3]>,
    ) -> Self {
        let mut w = Writer::new();
        let t = Types {
            void: w.ty(Type::Void),
            bool: w.ty(Type::Bool),
            u32: w.ty(Type::U32),
            f32: w.ty(Type::F32),
            uvec2: w.ty(Type::Vec(2)),
            uvec3: w.ty(Type::Vec(3)),
            uvec4: w.ty(Type::Vec(4)),
        };
        // Group memory: the LDS blocks.
        let interface = &program.interface;
        let alignment = alignment::Alignment::of(program);
        let shared_width = alignment.group_element(program);
        let mut words = 0;
        let mut lds = FxHashMap::default();
        for (id, memory) in &interface.lds {
            lds.insert(*id, words);
            // Pairs and larger elements do not cross the ends of blocks.
            words += (memory.bytes.div_ceil(8) * 2).next_multiple_of(shared_width);
        }
        let lds_words = words;
        let rows: Vec<u32> = layout.slots.values().copied().collect();
        let known = assume.surfaces;
        let same_size = rows.iter().zip(known.same).filter(|(_, same)| *same > 0);
        let same_size = same_size.map(|(row, same)| (*row, rows[usize::from(same) - 1])).collect();
        let covering = known.covering.map(|places| {
            let rows = rows.iter().take(Surfaces::PLACES).enumerate();
            rows.filter(|(k, _)| places >> k & 1 != 0).map(|(_, row)| *row).collect()
        });
        let sized = rows.iter().zip(known.words).filter(|(_, words)| *words > 0);
        let buffers = if assume.buffers { layout.surfaces() } else { 0 };
        let bindings = rows.iter().copied().zip(0..).take(buffers).collect();
        let element_words = sized.map(|(row, words)| (*row, words.into())).collect();
        let only_read = |slot: &Slot| matches!(slot, Slot::Resource(_) | Slot::Constant(_));
        let only_read =
            layout.slots.iter().filter(|(slot, _)| only_read(slot)).map(|(_, row)| *row).collect();
        let registers = Registers::of(program, target);
        let hides = uses::floats_in_group_memory(program, &registers.floats).then_some(memory::Place::Group);
        let mut this = Self {
            program,
            target,
            assume,
            layout,
            group,
            w,
            t,
            memo: Memo::default(),
            facts: facts::Facts::default(),
            threads: threads::Threads::of(group),
            solid: BitSet::default(),
            only_read,
            unknown: hides.into_iter().collect(),
            parts: known::Sparse::default(),
            integral: BitSet::default(),
            registers,
            divergence: Divergence::of(program),
            flushed_arguments: false,
            direct: false,
            refused: None,
            uses_double: uses::uses_double(program),
            same_size,
            covering,
            element_words,
            interface: Vec::new(),
            table: 0,
            block: [0; 3],
            inputs: FxHashMap::default(),
            blocks: FxHashMap::default(),
            bindings,
            buffers: FxHashMap::default(),
            uniforms: FxHashMap::default(),
            shared: None,
            shared_words: words,
            shared_width,
            alignment,
            lds,
            pairs: None,
            lds_words,
            arrays: FxHashMap::default(),
            immediates: None,
            killed: None,
            functions: FxHashMap::default(),
            routines: FxHashMap::default(),
            flow: flow::Flow::of(program),
        };
        this.declare();
        this
    }

    /// Notes that the device cannot run this; emission goes on to keep the code simple.
    fn refuse(&mut self, reason: &str) {
        self.refused.get_or_insert_with(|| reason.to_owned());
    }

    /// Declares the launch table, the group size and group memory.
    fn declare(&mut self) {
        let rows = self.w.word(self.layout.rows);
        self.table = self.uniform_block(rows, 0, 0);

        match self.group {
            Some(size) => self.block = size.map(|n| self.w.word(n)),
            None => {
                let u32 = self.t.u32;
                for (k, slot) in self.block.iter_mut().enumerate() {
                    let one = if k == 0 { 64 } else { 1 };
                    *slot = self.w.global(Op::SpecConstant, Some(u32), &[one]);
                    self.w.decorate(*slot, Decoration::SpecId, &[k as u32]);
                }
                let size = self.w.global(Op::SpecConstantComposite, Some(self.t.uvec3), &self.block);
                self.w.decorate_builtin(size, BuiltIn::WorkgroupSize);
            }
        }
        // With 64-bit atomics the blocks move to a variable of their own, and their words here are not used.
        let target = self.target;
        let pairs = target.int64 && target.int64_shared_atomics && uses::pairs(self.program);
        if self.shared_words > 0 && !(pairs && self.shared_words == self.lds_words) {
            self.declare_group_memory();
        }
        if pairs {
            let (u64, count) = (self.w.ty(Type::U64), self.w.word(self.lds_words / 2));
            let array = self.w.global(Op::TypeArray, None, &[u64, count]);
            let variable = self.w.variable(StorageClass::Workgroup, array, None);
            self.interface.push(variable);
            self.pairs = Some(variable);
        }
    }

    /// Bytes of group memory.
    fn group_bytes(&self) -> u32 {
        let pairs = if self.pairs.is_some() { self.lds_words } else { 0 };
        let words = if self.shared.is_some() { self.shared_words } else { 0 };
        words.saturating_add(pairs).saturating_mul(4)
    }

    /// Writes the entry point and everything it needs.
    fn module(&mut self) {
        let entry = self.w.id();
        let body = self.program_functions();
        self.entry(entry, body);
        let interface = std::mem::take(&mut self.interface);
        if interface.len() > MOST_VARIABLES {
            self.refuse("functions of the kernel share too many registers");
        }
        self.w.entry_point(entry, &interface);
        let size = self.group.unwrap_or([1; 3]);
        self.w.execution_mode(entry, ExecutionMode::LocalSize, &size);
        self.float_controls(entry);
    }

    /// An input variable of the invocation, three words.
    fn input(&mut self, builtin: BuiltIn) -> Word {
        if let Some(variable) = self.inputs.get(&builtin) {
            return *variable;
        }
        let variable = self.w.variable(StorageClass::Input, self.t.uvec3, None);
        self.w.decorate_builtin(variable, builtin);
        self.interface.push(variable);
        self.inputs.insert(builtin, variable);
        variable
    }
}
