//! A program ready to run: one pipeline for each set of assumptions about a launch.
//!
//! Pipelines for launches as programs mostly make them (default samplers; elements of unconverted words) are built
//! when the program is loaded. Others, and other group sizes of programs that leave the size to the launch, are
//! built when a launch first needs them.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ash::vk;
use parking_lot::Mutex;
use recal_hal::{Error, Kernel, KernelResources, Program, Result};
use recal_il::inst::{GroupSize, Stage, Uav};
use recal_il::spirv::launch::Layout;
use recal_il::spirv::{Assume, Formats, Module, Surfaces, Target, check_group, emit};

use crate::device::Gpu;

/// A loaded program.
pub(crate) struct VulkanKernel {
    gpu: Arc<Gpu>,
    program: Arc<Program>,
    target: Target,
    pub layout: Layout,
    /// Group size, if the program fixes it.
    pub group: Option<[u32; 3]>,
    /// Whether the formats of bound surfaces matter.
    uses_formats: bool,
    shared: u32,
    variants: Mutex<HashMap<(Assume, [u32; 3]), vk::Pipeline>>,
    /// What launches allowed to assume so far.
    seen: Mutex<HashSet<Assume>>,
}

impl VulkanKernel {
    pub fn load(gpu: &Arc<Gpu>, program: Arc<Program>, target: &Target) -> Result<Self> {
        let interface = &program.interface;
        let typed = interface.uavs.values().any(|uav| matches!(uav, Uav::Typed { .. }));
        let uses_formats = !interface.resources.is_empty() || !program.outputs.is_empty() || typed;
        let mut kernel = Self {
            gpu: gpu.clone(),
            target: target.clone(),
            layout: Layout::new(&program),
            group: None,
            uses_formats,
            shared: 0,
            variants: Mutex::new(HashMap::new()),
            seen: Mutex::new(HashSet::new()),
            program,
        };
        let most = Assume {
            formats: Formats::FourWords,
            default_samplers: true,
            surfaces: Surfaces::UNKNOWN,
            padded: true,
            buffers: gpu.buffers.as_ref().is_some_and(|buffers| buffers.limits.hold(&kernel.layout)),
        };
        let module = kernel.emit(most)?;
        kernel.group = module.group;
        kernel.shared = module.shared;
        if gpu.options.on_demand {
            return Ok(kernel);
        }
        let size = match (module.group, kernel.program.interface.group) {
            (Some(size), _) => size,
            (None, Some(GroupSize::AtMost(n))) => [n.clamp(1, 64), 1, 1],
            (None, _) => [64, 1, 1],
        };
        kernel.build(most, size, &module)?;
        if uses_formats {
            kernel.pipeline(Assume { formats: Formats::Words, ..most }, size)?;
        }
        Ok(kernel)
    }

    /// Whether it runs on domains rather than grids.
    pub fn is_pixel(&self) -> bool {
        self.program.stage == Stage::Pixel
    }

    /// Words of scratch memory that a launch needs.
    pub fn scratch_words(&self) -> u32 {
        self.layout.scratch_words
    }

    fn emit(&self, assume: Assume) -> Result<Module> {
        emit(&self.program, &self.target, assume).map_err(|reason| {
            Error::Unsupported(format!("{} cannot run the kernel: {reason}", self.gpu.facts.name))
        })
    }

    /// The pipeline for a launch. One that knows the sizes is built for the second launch of such sizes, so that a kernel
    /// that runs once does not wait for it.
    pub fn pipeline_for(&self, assume: Assume, size: [u32; 3]) -> Result<vk::Pipeline> {
        let assume = Assume {
            surfaces: if self.uses_formats { assume.surfaces } else { Surfaces::UNKNOWN },
            ..assume
        };
        let again = assume.surfaces == Surfaces::UNKNOWN || !self.seen.lock().insert(assume);
        self.pipeline(if again { assume } else { Assume { surfaces: Surfaces::UNKNOWN, ..assume } }, size)
    }

    /// The pipeline for a set of assumptions.
    pub fn pipeline(&self, assume: Assume, size: [u32; 3]) -> Result<vk::Pipeline> {
        let assume =
            if self.uses_formats { assume } else { Assume { formats: Formats::FourWords, ..assume } };
        if let Some(pipeline) = self.variants.lock().get(&(assume, size)) {
            return Ok(*pipeline);
        }
        if self.group.is_none() {
            check_group(size, &self.target)
                .map_err(|reason| Error::Unsupported(format!("{}: {reason}", self.gpu.facts.name)))?;
        }
        let module = self.emit(assume)?;
        self.build(assume, size, &module)
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
        match self.variants.lock().entry((assume, size)) {
            std::collections::hash_map::Entry::Occupied(other) => {
                // Another thread was faster.
                // SAFETY: nothing uses the pipeline yet.
                unsafe { raw.destroy_pipeline(pipeline, None) };
                Ok(*other.get())
            }
            std::collections::hash_map::Entry::Vacant(place) => Ok(*place.insert(pipeline)),
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
}

/// FNV-1a.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3))
}

impl Drop for VulkanKernel {
    fn drop(&mut self) {
        if self.gpu.hung() {
            return;
        }
        for pipeline in self.variants.get_mut().values() {
            // SAFETY: commands hold an Arc of the kernel while they use it; none is left.
            unsafe { self.gpu.raw.destroy_pipeline(*pipeline, None) };
        }
    }
}

impl Kernel for VulkanKernel {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn resources(&self) -> KernelResources {
        let arrays: &BTreeMap<u32, u32> = &self.program.interface.arrays;
        KernelResources {
            gprs: self.program.registers.div_ceil(4),
            lds_bytes: if self.program.stage == Stage::Compute { self.shared } else { 0 },
            scratch: arrays.values().sum(),
            stack: 0,
        }
    }
}
