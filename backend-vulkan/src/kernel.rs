//! A program ready to run: one pipeline for each set of assumptions about a launch.
//!
//! Those that run launches as programs mostly make them (default samplers; elements of unconverted words) are built when
//! the program is loaded, one for elements of four words, one for any number of them. What a binding asks for beyond that is built when it is
//! bound. Pipelines that know the sizes of what is bound are built behind, for kernels that are launched often. Launches
//! build only what nothing told of: a group size of programs that leave it to the launch, and memories that a driver wants to
//! be addressed otherwise.

use std::any::Any;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ash::vk;
use recal_hal::sync::Mutex;
use recal_hal::{Error, Format, Kernel, KernelResources, Program, Result, Sampler, without_signals};
use recal_il::inst::{GroupSize, Stage, Uav};
use recal_il::ir::{Area, WAVE, visit};
use recal_il::spirv::launch::Layout;
use recal_il::spirv::{Assume, Formats, Module, Surfaces, Target, check_group, emit};

use crate::builder::Job;
use crate::device::Gpu;
use crate::table::is_default;

/// Launches of one kind, or their time, from which on a pipeline that knows sizes is worth being built behind them.
const OFTEN: u32 = 32;
const LONG: Duration = Duration::from_millis(50);
/// Kinds of launches that are counted, and pipelines that know sizes, at most.
const KINDS: usize = 64;
const SPECIAL: u32 = 16;

/// What a pipeline is made for: assumptions, and the size of a group.
type Way = (Assume, [u32; 3]);

/// The pipelines of a program, and what it takes to build them.
pub(crate) struct Pipelines {
    gpu: Arc<Gpu>,
    program: Arc<Program>,
    target: Target,
    /// Whether the formats of bound surfaces matter.
    uses_formats: bool,
    /// Whether the program fixes the group size.
    fixed: bool,
    /// Whether the launch says if groups are one wave.
    any_waves: bool,
    made: Mutex<HashMap<Way, vk::Pipeline>>,
    /// How many were built.
    version: AtomicU64,
}

/// A loaded program.
pub(crate) struct VulkanKernel {
    pipelines: Arc<Pipelines>,
    pub layout: Layout,
    /// Group size, if the program fixes it.
    pub group: Option<[u32; 3]>,
    shared: u32,
    /// What the program stores to, besides outputs.
    stored: HashSet<Area>,
    /// The kinds of launches so far.
    seen: Mutex<HashMap<Way, Arc<Kind>>>,
    special: AtomicU32,
    /// What bindings have asked for so far.
    bound: Mutex<Assume>,
    /// The longest first launch of a kind, in nanoseconds: some drivers build in it.
    dearest: AtomicU64,
}

/// The pipeline for a launch.
pub(crate) struct Chosen {
    pub pipeline: vk::Pipeline,
    /// It takes constant buffers as uniform buffers.
    pub uniforms: bool,
    /// The launch's kind, if the pipeline is not the one made for just such launches.
    pub kind: Option<Arc<Kind>>,
}

/// Launches of a kernel that may assume the same.
#[derive(Default)]
pub(crate) struct Kind {
    launches: AtomicU32,
    asked: AtomicBool,
    /// Done with its first launch.
    begun: AtomicBool,
    /// Nanoseconds of the others.
    busy: AtomicU64,
}

impl Kind {
    /// Whether what is wanted for it was asked for.
    pub fn is_settled(&self) -> bool {
        self.asked.load(Relaxed)
    }
}

impl Pipelines {
    fn emit(&self, assume: Assume) -> Result<Module> {
        emit(&self.program, &self.target, assume).map_err(|reason| {
            Error::Unsupported(format!("{} cannot run the kernel: {reason}", self.gpu.facts.name))
        })
    }

    /// The assumptions, less those that make no difference.
    fn normal(&self, assume: Assume) -> Assume {
        let assume = Assume { one_wave: assume.one_wave && self.any_waves, ..assume };
        if self.uses_formats {
            assume
        } else {
            Assume { formats: Formats::FourWords, surfaces: Surfaces::UNKNOWN, ..assume }
        }
    }

    /// The pipeline for a set of assumptions, built if there is none.
    pub fn make(&self, assume: Assume, size: [u32; 3]) -> Result<vk::Pipeline> {
        let assume = self.normal(assume);
        if let Some(pipeline) = self.made.lock().get(&(assume, size)) {
            return Ok(*pipeline);
        }
        self.gpu.check()?;
        if !self.fixed {
            check_group(size, &self.target)
                .map_err(|reason| Error::Unsupported(format!("{}: {reason}", self.gpu.facts.name)))?;
        }
        let module = self.emit(assume)?;
        self.build(assume, size, &module)
    }

    /// The pipeline that knows most of a launch, among those that are there, and whether it wants uniform buffers.
    fn ready(&self, assume: Assume, size: [u32; 3]) -> Option<(vk::Pipeline, bool)> {
        let assume = self.normal(assume);
        let made = self.made.lock();
        if let Some(pipeline) = made.get(&(assume, size)) {
            return Some((*pipeline, assume.uniforms));
        }
        let fits = made.iter().filter(|((known, of), _)| *of == size && covers(known, &assume));
        fits.min_by_key(|((known, _), _)| vagueness(known))
            .map(|((known, _), pipeline)| (*pipeline, known.uniforms))
    }

    fn build(&self, assume: Assume, size: [u32; 3], module: &Module) -> Result<vk::Pipeline> {
        self.dump(assume, module);
        let raw = &self.gpu.raw;
        let info = vk::ShaderModuleCreateInfo::default().code(&module.words);
        // SAFETY: here and below, the device is alive, the words are a valid module for it, and the structures live
        // until the calls return.
        let shader = unsafe { raw.create_shader_module(&info, None) }
            .map_err(|error| self.gpu.error("shader module", error))?;
        let entries: [vk::SpecializationMapEntry; 3] = std::array::from_fn(|k| {
            let k = k as u32;
            vk::SpecializationMapEntry::default().constant_id(k).offset(4 * k).size(4)
        });
        let data: Vec<u8> = size.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(c"main");
        if module.group.is_none() {
            stage = stage.specialization_info(&specialization);
        }
        let info = [vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DISPATCH_BASE)
            .stage(stage)
            .layout(self.gpu.pipeline_layout)];
        // SAFETY: as above. The cache is internally synchronised.
        let result = unsafe { raw.create_compute_pipelines(self.gpu.cache.raw, &info, None) };
        // SAFETY: pipelines do not need their modules any more.
        unsafe { raw.destroy_shader_module(shader, None) };
        let pipeline = match result {
            Ok(pipelines) => pipelines[0],
            Err((_, error)) => return Err(self.gpu.error("pipeline", error)),
        };
        match self.made.lock().entry((assume, size)) {
            Entry::Occupied(other) => {
                // Another thread was faster.
                // SAFETY: nothing uses the pipeline yet.
                unsafe { raw.destroy_pipeline(pipeline, None) };
                Ok(*other.get())
            }
            Entry::Vacant(place) => {
                self.version.fetch_add(1, Relaxed);
                Ok(*place.insert(pipeline))
            }
        }
    }

    /// Writes the module into the dump folder, named by its contents.
    fn dump(&self, assume: Assume, module: &Module) {
        let Some(folder) = &self.gpu.options.dump else { return };
        let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let name = format!("{:016x}-{:?}.spv", fingerprint(&bytes), assume.formats).to_lowercase();
        if let Err(error) =
            std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(name), bytes))
        {
            log::warn!("a module was not dumped: {error}");
        }
    }

    /// Builds the pipelines for elements of four words, of which this is the module, and of any number of words.
    fn build_both(&self, most: Assume, size: [u32; 3], module: &Module) -> Result<()> {
        if !self.uses_formats {
            return self.build(most, size, module).map(|_| ());
        }
        std::thread::scope(|scope| {
            let words = || self.make(Assume { formats: Formats::Words, ..most }, size);
            let thread = std::thread::Builder::new().name("recal-pipelines".into());
            let thread = without_signals(|| thread.spawn_scoped(scope, words));
            self.build(most, size, module)?;
            match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| words()),
                Err(_) => words(),
            }
            .map(|_| ())
        })
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        if self.gpu.hung() {
            return;
        }
        for pipeline in self.made.get_mut().values() {
            // SAFETY: commands hold an Arc of the kernel while they use it; none is left.
            unsafe { self.gpu.raw.destroy_pipeline(*pipeline, None) };
        }
    }
}

/// Whether a module made for what is `known` runs launches of which `assume` holds.
fn covers(known: &Assume, assume: &Assume) -> bool {
    known.formats >= assume.formats
        && known.one_wave == assume.one_wave
        && (assume.default_samplers || !known.default_samplers)
        && (known.surfaces == Surfaces::UNKNOWN || known.surfaces == assume.surfaces)
        && (assume.padded || !known.padded)
        && (assume.whole_rows || !known.whole_rows)
        && (assume.uniforms || !known.uniforms)
        // Storage buffers end by themselves; addresses of the same surfaces need not.
        && (known.buffers == assume.buffers || !(known.buffers || known.padded))
}

/// Less for a module that knows more.
fn vagueness(known: &Assume) -> (bool, bool, bool, Formats, bool, bool, bool) {
    (
        known.surfaces == Surfaces::UNKNOWN,
        !known.buffers,
        !known.uniforms,
        known.formats,
        !known.default_samplers,
        !known.padded,
        !known.whole_rows,
    )
}

impl VulkanKernel {
    /// Loads a program. Without `ready` nothing is built before a launch needs it.
    pub fn load(gpu: &Arc<Gpu>, program: Arc<Program>, target: &Target, ready: bool) -> Result<Self> {
        let interface = &program.interface;
        let typed = interface.uavs.values().any(|uav| matches!(uav, Uav::Typed { .. }));
        let uses_formats = !interface.resources.is_empty() || !program.outputs.is_empty() || typed;
        let layout = Layout::new(&program, target);
        let stored = visit::stored(&program).into_iter().collect();
        let buffers = gpu.limits.storage.is_some_and(|storage| storage.hold(&layout));
        let any_waves = program.stage == Stage::Compute
            && match interface.group {
                Some(GroupSize::Exact(_)) => false,
                Some(GroupSize::AtMost(most)) => most > WAVE,
                None => true,
            };
        // Programs bind surfaces that end anywhere in their memories, and constants of any number in memory of any kind.
        let most = Assume {
            formats: Formats::FourWords,
            default_samplers: true,
            surfaces: Surfaces::UNKNOWN,
            padded: buffers,
            whole_rows: true,
            buffers,
            uniforms: false,
            one_wave: any_waves,
        };
        let mut pipelines = Pipelines {
            gpu: gpu.clone(),
            target: target.clone(),
            uses_formats,
            fixed: false,
            any_waves,
            made: Mutex::default(),
            version: AtomicU64::new(0),
            program,
        };
        let module = pipelines.emit(most)?;
        pipelines.fixed = module.group.is_some();
        let size = match (module.group, pipelines.program.interface.group) {
            (Some(size), _) => size,
            (None, Some(GroupSize::AtMost(n))) => [n.clamp(1, 64), 1, 1],
            (None, _) => [64, 1, 1],
        };
        if ready {
            pipelines.build_both(most, size, &module)?;
        }
        Ok(Self {
            pipelines: Arc::new(pipelines),
            layout,
            group: module.group,
            shared: module.shared,
            stored,
            seen: Mutex::default(),
            special: AtomicU32::new(0),
            bound: Mutex::new(Assume { formats: Formats::Words, ..most }),
            dearest: AtomicU64::new(0),
        })
    }

    /// How many pipelines were built.
    pub fn version(&self) -> u64 {
        self.pipelines.version.load(Relaxed)
    }

    /// Whether it runs on domains rather than grids.
    pub fn is_pixel(&self) -> bool {
        self.pipelines.program.stage == Stage::Pixel
    }

    /// Whether it may store to memory that is no output.
    pub fn stores(&self, area: Area) -> bool {
        self.stored.contains(&area)
    }

    /// Words of scratch memory that a launch needs.
    pub fn scratch_words(&self) -> u32 {
        self.layout.scratch_words
    }

    /// The pipeline for a launch: the one made for just such launches, once there is one, else one that runs others, too.
    pub fn pipeline_for(&self, assume: Assume, size: [u32; 3]) -> Result<Chosen> {
        let all = &self.pipelines;
        let assume = all.normal(assume);
        let own = |pipeline| Chosen { pipeline, uniforms: assume.uniforms, kind: None };
        if let Some(pipeline) = all.made.lock().get(&(assume, size)) {
            return Ok(own(*pipeline));
        }
        let kind = self.kind(assume, size);
        let times = kind.launches.fetch_add(1, Relaxed).saturating_add(1);
        if all.gpu.options.at_once && times > 1 {
            return Ok(own(all.make(assume, size)?));
        }
        if self.worth(&kind, times)
            && !kind.asked.swap(true, Relaxed)
            && self.special.fetch_add(1, Relaxed) < SPECIAL
        {
            let pipelines = Arc::downgrade(all);
            all.gpu.builder.push(Job { pipelines, assume, size });
        }
        let (pipeline, uniforms) = match all.ready(assume, size) {
            Some(ready) => ready,
            None => {
                let most = Assume { surfaces: Surfaces::UNKNOWN, uniforms: false, ..assume };
                (all.make(most, size)?, false)
            }
        };
        Ok(Chosen { pipeline, uniforms, kind: Some(kind) })
    }

    fn kind(&self, assume: Assume, size: [u32; 3]) -> Arc<Kind> {
        let mut seen = self.seen.lock();
        if seen.len() >= KINDS && !seen.contains_key(&(assume, size)) {
            seen.clear();
        }
        seen.entry((assume, size)).or_default().clone()
    }

    /// Whether launches of a kind are worth a pipeline of their own.
    fn worth(&self, kind: &Kind, times: u32) -> bool {
        let busy = Duration::from_nanos(kind.busy.load(Relaxed));
        if self.pipelines.gpu.facts.kind == vk::PhysicalDeviceType::CPU {
            // It is built at the cost of the launches, about as long as the first one took.
            return times > 2 && busy > Duration::from_nanos(self.dearest.load(Relaxed));
        }
        times >= OFTEN || busy >= LONG
    }

    /// A launch of a kind is done and took so long.
    pub fn ran(&self, kind: &Kind, time: Duration) {
        let time = time.as_nanos() as u64;
        if kind.begun.swap(true, Relaxed) {
            kind.busy.fetch_add(time, Relaxed);
        } else {
            self.dearest.fetch_max(time, Relaxed);
        }
    }

    /// A binding is made: the pipeline that runs with all bindings so far is there when this returns. Why there is none, the
    /// launch says.
    fn expect(&self, change: impl FnOnce(&mut Assume)) {
        let all = &self.pipelines;
        let Some(size) = self.group.filter(|_| all.uses_formats && !all.gpu.options.on_demand) else {
            return;
        };
        let mut bound = self.bound.lock();
        let before = *bound;
        change(&mut bound);
        if *bound != before {
            if let Err(error) = crate::exit::enter().and_then(|_call| all.make(*bound, size)) {
                log::debug!("no pipeline for what is bound: {error}");
            }
        }
    }
}

/// FNV-1a.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3))
}

impl Kernel for VulkanKernel {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn resources(&self) -> KernelResources {
        let program = &self.pipelines.program;
        let arrays: &BTreeMap<u32, u32> = &program.interface.arrays;
        KernelResources {
            gprs: program.registers.div_ceil(4),
            lds_bytes: if program.stage == Stage::Compute { self.shared } else { 0 },
            scratch: arrays.values().sum(),
            stack: 0,
        }
    }

    fn expect_surface(&self, format: Format) {
        self.expect(|bound| bound.formats = bound.formats.max(Formats::of(format)));
    }

    fn expect_sampler(&self, sampler: &Sampler) {
        self.expect(|bound| bound.default_samplers &= is_default(sampler));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_that_want_uniform_buffers_run_no_other_launches() {
        let uniforms = Assume { uniforms: true, ..Assume::NOTHING };
        assert!(covers(&uniforms, &uniforms) && covers(&Assume::NOTHING, &uniforms));
        assert!(!covers(&uniforms, &Assume::NOTHING));
        assert!(vagueness(&uniforms) < vagueness(&Assume::NOTHING));
    }
}
