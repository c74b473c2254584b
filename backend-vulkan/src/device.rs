//! An open device: the logical device with what its queues, memories and kernels share.

use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};
use recal_hal::sync::Mutex;
use recal_hal::{
    Device, DeviceOptions, Error, FloatMode, Heap, Kernel, Memory, MemoryRequest, Program, Queue, Recent,
    Result, without_signals,
};
use recal_il::spirv::{Mode, Target};

use crate::adapter::{Facts, InUse, VulkanAdapter};
use crate::builder::{Builder, Closing};
use crate::cache::PipelineCache;
use crate::descriptors::{Limits, Push, layouts};
use crate::import::Imported;
use crate::instance::{Instance, Options};
use crate::kernel::VulkanKernel;
use crate::memory::Block;
use crate::overlap::Imports;
use crate::queue::VulkanQueue;
use crate::stamps::Timing;
use crate::{exit, probe, table};

/// Blocks in which the allocator takes memory; larger requests get their own.
const BLOCK_BYTES: u64 = 32 << 20;

/// Queues of a family that are used in turn.
const QUEUES: usize = 4;

/// A queue of the device.
pub(crate) struct DeviceQueue {
    pub family: u32,
    /// One thread at a time may use it.
    pub raw: Mutex<vk::Queue>,
}

/// The logical device, destroyed with the last object that uses it.
pub(crate) struct Gpu {
    pub raw: ash::Device,
    pub facts: Arc<Facts>,
    pub options: Arc<Options>,
    pub target: Target,
    pub watchdog: Option<Duration>,
    pub import: Option<ext::external_memory_host::Device>,
    /// Where a timeline is written and the device takes times.
    pub timing: Option<Timing>,
    /// First those for kernels, then those for copies.
    pub queues: Vec<DeviceQueue>,
    kernel_queues: usize,
    /// Of all queues.
    pub families: Vec<u32>,
    /// Of launch tables, and of surfaces where those are pushed.
    pub set_layouts: Vec<vk::DescriptorSetLayout>,
    pub pipeline_layout: vk::PipelineLayout,
    /// Which surfaces are descriptors, too.
    pub limits: Limits,
    pub push: Option<Push>,
    pub cache: PipelineCache,
    pub builder: Arc<Builder>,
    pub in_use: Arc<InUse>,
    pub(crate) allocator: ManuallyDrop<Mutex<Allocator>>,
    lost: OnceLock<Error>,
    next_queue: AtomicU32,
    /// Of application memory.
    pub imported: Imports,
    /// Imports of pages of our own.
    pub imports: AtomicU32,
    /// Works that are done and were more than kernels, of all queues: what comes after them waits for more than kernels.
    pub transfers: AtomicU64,
    pub steps: exit::Steps,
    // After `raw`: fields drop in order, the instance last.
    _instance: Arc<Instance>,
}

impl Gpu {
    fn new(adapter: &VulkanAdapter, options: &DeviceOptions) -> Result<Self> {
        let facts = adapter.facts().clone();
        let instance = &adapter.instance.raw;
        let priorities = [1.0; QUEUES];
        let kernel_queues = (facts.queue_count as usize).clamp(1, QUEUES);
        let mut families = vec![(facts.queue_family, kernel_queues)];
        if facts.copy_count > 0 {
            families.push((facts.copy_family, (facts.copy_count as usize).min(QUEUES)));
        }
        let of_family = |(family, count): &(u32, usize)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(*family)
                .queue_priorities(&priorities[..*count])
        };
        let queue_info: Vec<_> = families.iter().map(of_family).collect();
        let limits = Limits::of(&facts, adapter.options.uniforms);
        let features = vk::PhysicalDeviceFeatures {
            shader_float64: facts.float64.into(),
            shader_int64: facts.int64.into(),
            robust_buffer_access: limits.storage.is_some().into(),
            ..Default::default()
        };
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default()
            .buffer_device_address(true)
            .timeline_semaphore(true)
            .host_query_reset(Timing::is_wanted(&facts))
            .shader_buffer_int64_atomics(facts.int64_atomics)
            .shader_shared_int64_atomics(facts.int64_shared_atomics);
        let mut extensions = Vec::new();
        if facts.import_alignment.is_some() {
            extensions.push(ext::external_memory_host::NAME.as_ptr());
        }
        if facts.memory_budget {
            extensions.push(ext::memory_budget::NAME.as_ptr());
        }
        extensions.extend(Timing::extension(&facts).map(CStr::as_ptr));
        let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default()
            .robust_buffer_access2(true)
            .null_descriptor(true);
        if limits.push() {
            extensions.push(khr::push_descriptor::NAME.as_ptr());
        }
        if limits.storage.is_some() {
            extensions.push(ext::robustness2::NAME.as_ptr());
        }
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queue_info)
            .enabled_features(&features)
            .enabled_extension_names(&extensions)
            .push_next(&mut features12);
        let info = if limits.storage.is_some() { info.push_next(&mut robustness) } else { info };
        // SAFETY: the physical device belongs to the instance, which the result keeps alive; `info` and all that
        // it points to live until the call returns.
        let raw = without_signals(|| unsafe { instance.create_device(adapter.physical, &info, None) })
            .map_err(|error| Error::Failed(format!("{}: cannot be opened: {error}", facts.name)))?;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: raw.clone(),
            physical_device: adapter.physical,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: true,
            allocation_sizes: AllocationSizes::new(BLOCK_BYTES, BLOCK_BYTES),
        })
        .map_err(|error| Error::Failed(format!("{}: allocator: {error}", facts.name)));
        let made = allocator.and_then(|allocator| Ok((layouts(&raw, &facts, &limits)?, allocator)));
        let ((set_layouts, pipeline_layout), allocator) = match made {
            Ok(made) => made,
            Err(error) => {
                // SAFETY: nothing made from the device is left.
                unsafe { raw.destroy_device(None) };
                return Err(error);
            }
        };
        let mode = match options.float_mode {
            FloatMode::Faithful => Mode::Faithful,
            FloatMode::Native | FloatMode::Default => Mode::Native,
        };
        let cache = PipelineCache::open(&raw, adapter.options.cache.as_deref(), &facts);
        let queue = |family, index| DeviceQueue {
            family,
            // SAFETY: the queues were asked for above.
            raw: Mutex::new(unsafe { raw.get_device_queue(family, index) }),
        };
        let all = families.iter().flat_map(|(family, count)| (0..*count as u32).map(|k| (*family, k)));
        let queues = all.map(|(family, index)| queue(family, index)).collect();
        let push = limits.push().then(|| Push(khr::push_descriptor::Device::new(instance, &raw)));
        let import = facts.import_alignment.map(|_| ext::external_memory_host::Device::new(instance, &raw));
        let timing = Timing::new(&facts, &adapter.instance, &raw);
        Ok(Self {
            target: target(&facts, mode, &limits),
            watchdog: options.watchdog,
            import,
            timing,
            queues,
            kernel_queues,
            families: families.iter().map(|(family, _)| *family).collect(),
            set_layouts,
            pipeline_layout,
            limits,
            push,
            cache,
            builder: Arc::default(),
            in_use: adapter.in_use.clone(),
            allocator: ManuallyDrop::new(Mutex::new(allocator)),
            lost: OnceLock::new(),
            next_queue: AtomicU32::new(0),
            imported: Imports::default(),
            imports: AtomicU32::new(0),
            transfers: AtomicU64::new(0),
            steps: exit::Steps::default(),
            options: adapter.options.clone(),
            _instance: adapter.instance.clone(),
            facts,
            raw,
        })
    }

    /// Turns a driver's answer into an error; remembers the loss of the device.
    pub fn error(&self, what: &str, error: vk::Result) -> Error {
        match error {
            vk::Result::ERROR_DEVICE_LOST => {
                self.lose(Error::DeviceLost(format!("{} was lost: {what}", self.facts.name)))
            }
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                Error::OutOfMemory(format!("{}: {what}: {error}", self.facts.name))
            }
            _ => Error::Failed(format!("{}: {what}: {error}", self.facts.name)),
        }
    }

    /// Gives the device up; the first reason stays.
    pub fn lose(&self, error: Error) -> Error {
        let error = match error {
            Error::DeviceLost(_) | Error::Timeout(_) => error,
            other => Error::DeviceLost(format!("given up: {other}")),
        };
        log::error!("{error}");
        self.lost.get_or_init(|| error).clone()
    }

    /// An error if the device was given up.
    pub fn check(&self) -> Result<()> {
        if exit::ending() {
            return Err(exit::reason());
        }
        match self.lost.get() {
            None => Ok(()),
            Some(Error::Timeout(m)) => Err(Error::DeviceLost(format!("given up after a timeout: {m}"))),
            Some(error) => Err(error.clone()),
        }
    }

    /// Whether work that never ends may still run, or the driver is gone: then nothing can be freed.
    pub fn hung(&self) -> bool {
        exit::ending() || matches!(self.lost.get(), Some(Error::Timeout(_)))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        let Ok(_call) = exit::enter() else { return };
        if self.hung() {
            // Destroying a device waits for its work. The driver's threads end with the process.
            return;
        }
        // SAFETY: all objects of the device hold an Arc of it, so they are gone; no queue has work left since
        // queues wait for theirs. The allocator is not used after this.
        unsafe {
            let _ = self.raw.device_wait_idle();
            self.cache.save_and_destroy(&self.raw);
            self.raw.destroy_pipeline_layout(self.pipeline_layout, None);
            self.set_layouts.iter().for_each(|layout| self.raw.destroy_descriptor_set_layout(*layout, None));
            ManuallyDrop::drop(&mut self.allocator);
            self.raw.destroy_device(None);
        }
    }
}

/// What llvmpipe's compiler takes at a time, in words ([`Target::longest_run`]).
const LONGEST_RUN: u32 = 16384;

/// What the emitter needs to know, before the probes.
fn target(facts: &Facts, mode: Mode, limits: &Limits) -> Target {
    Target {
        mode,
        float64: facts.float64,
        int64: facts.int64,
        int64_atomics: facts.int64_atomics,
        int64_shared_atomics: facts.int64_shared_atomics,
        rte32: facts.rte32,
        rte64: facts.rte64,
        nan_preserve32: facts.nan_preserve32,
        nan_preserve64: facts.nan_preserve64,
        denorm_preserve32: facts.denorm_preserve32,
        denorm_preserve64: facts.denorm_preserve64,
        gradual32: facts.denorm_preserve32,
        exact64: false,
        fused64: false,
        divides64: false,
        roots64: false,
        saturates: false,
        keeps_exits: false,
        ends_loops: false,
        fences_apart: false,
        mistakes_masks: facts.mistakes_masks,
        multiplies_apart: facts.multiplies_apart,
        longest_run: if facts.slow_addresses { LONGEST_RUN } else { u32::MAX },
        // Those that are processors run both sides of a branch, under masks: llvmpipe and SwiftShader have no jumps but a loop's.
        skips: facts.kind != vk::PhysicalDeviceType::CPU,
        // A device that is a processor has threads of its own, which take groups as they come.
        large_tiles: facts.kind != vk::PhysicalDeviceType::CPU,
        max_group: facts.limits.max_compute_work_group_invocations,
        max_group_size: facts.limits.max_compute_work_group_size,
        max_shared: facts.limits.max_compute_shared_memory_size,
        max_uniform: table::range(&facts.limits),
        uniform_rows: limits.uniforms.map_or(0, |uniforms| uniforms.rows()),
    }
}

/// An open device.
pub(crate) struct VulkanDevice {
    pub gpu: Arc<Gpu>,
    /// Append counters; they last as long as the device.
    counters: Arc<Block>,
    /// What was loaded last.
    loaded: Recent<Arc<VulkanKernel>>,
    _closing: Closing,
}

impl VulkanDevice {
    pub fn open(adapter: &VulkanAdapter, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        let _call = exit::enter()?;
        let first = Self::with(Gpu::new(adapter, options)?)?;
        exit::register();
        // What drivers do not report is found out by running it.
        let target = probe::probe(&first)?;
        if target == first.gpu.target {
            return Ok(Arc::new(first));
        }
        let Self { gpu, counters, loaded, _closing: closing } = first;
        drop((counters, loaded, closing));
        match Arc::try_unwrap(gpu) {
            Ok(mut gpu) => {
                gpu.target = target;
                gpu.builder = Arc::default();
                Ok(Arc::new(Self::with(gpu)?))
            }
            Err(_) => Err(Error::Failed("the probe left work behind".into())),
        }
    }

    fn with(gpu: Gpu) -> Result<Self> {
        let gpu = Arc::new(gpu);
        let counters = Arc::new(Block::allocate(&gpu, 4096, Heap::Local)?);
        let closing = Closing(gpu.builder.clone());
        Ok(Self { gpu, counters, loaded: Recent::default(), _closing: closing })
    }

    fn with_counter<T>(&self, index: u32, use_it: impl FnOnce(&mut u32) -> T) -> Result<T> {
        self.gpu.check()?;
        let pointer = self.counters.map()?.cast::<u32>();
        let inside = u64::from(index) < self.counters.bytes() / 4;
        // SAFETY: the word lies in the mapped memory, which is aligned and stays valid until `unmap`; the caller has
        // waited for work that uses it and makes one such call at a time.
        let outcome = inside.then(|| use_it(unsafe { &mut *pointer.add(index as usize) }));
        self.counters.unmap();
        outcome.ok_or_else(|| Error::Failed(format!("there is no append counter {index}")))
    }

    /// A kernel for one launch, made for another target.
    pub fn load_once(&self, program: Arc<Program>, target: &Target) -> Result<VulkanKernel> {
        VulkanKernel::load(&self.gpu, program, target, false)
    }
}

impl Device for VulkanDevice {
    fn float_mode(&self) -> FloatMode {
        match self.gpu.target.mode {
            Mode::Faithful => FloatMode::Faithful,
            Mode::Native => FloatMode::Native,
        }
    }

    fn allocate(&self, request: MemoryRequest) -> Result<Arc<dyn Memory>> {
        let _call = exit::enter()?;
        self.gpu.check()?;
        Ok(Arc::new(Block::for_programs(&self.gpu, request.bytes, request.heap)?))
    }

    unsafe fn import(&self, address: *mut u8, bytes: u64) -> Result<Arc<dyn Memory>> {
        let _call = exit::enter()?;
        self.gpu.check()?;
        // SAFETY: the caller keeps the memory valid as `Device::import` says, which is what is asked for here.
        Ok(Arc::new(unsafe { Imported::new(&self.gpu, address, bytes) }?))
    }

    fn create_queue(&self) -> Result<Arc<dyn Queue>> {
        let _call = exit::enter()?;
        self.gpu.check()?;
        let gpu = &self.gpu;
        let turn = gpu.next_queue.fetch_add(1, Relaxed) as usize;
        let (kernels, copies) = (gpu.kernel_queues, gpu.queues.len() - gpu.kernel_queues);
        let copies = match copies {
            0 => gpu.options.copies_apart.then_some((turn + 1) % kernels),
            _ => Some(kernels + turn % copies),
        };
        let queue = Arc::new(VulkanQueue::new(gpu, turn % kernels, copies, self.counters.clone())?);
        exit::watch(&queue);
        Ok(queue)
    }

    fn counter(&self, index: u32) -> Result<u32> {
        self.with_counter(index, |word| *word)
    }

    fn set_counter(&self, index: u32, value: u32) -> Result<()> {
        self.with_counter(index, |word| *word = value)
    }

    fn load(&self, program: Arc<Program>) -> Result<Arc<dyn Kernel>> {
        let _call = exit::enter()?;
        self.gpu.check()?;
        if let Some(kernel) = self.loaded.get(&program) {
            return Ok(kernel);
        }
        let kernel = Arc::new(VulkanKernel::load(
            &self.gpu,
            program.clone(),
            &self.gpu.target,
            !self.gpu.options.on_demand,
        )?);
        self.gpu.steps.loaded.get_or_init(exit::register);
        self.loaded.put(&program, kernel.clone());
        Ok(kernel)
    }
}
