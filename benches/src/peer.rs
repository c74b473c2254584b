//! The other side: GLSL kernels in a plain Vulkan program, as short as it can be.
//!
//! Storage buffers in device memory, push constants, one queue, one descriptor set; dispatches that follow each other
//! have a barrier between them.

use std::ffi::CStr;

use ash::vk;

use crate::case::Case;
use crate::measure::{Result, Runner};

include!(concat!(env!("OUT_DIR"), "/peers_list.rs"));

/// The SPIR-V of a peer; `None` if glslang was not there when this was built.
pub fn module(name: &str) -> Option<Vec<u32>> {
    let (_, bytes) = PEERS.iter().find(|(n, _)| *n == name)?;
    Some(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// Whether this build has the peers.
pub fn built() -> bool {
    !PEERS.is_empty()
}

/// A Vulkan device.
pub struct Gpu {
    /// Name that the driver gives.
    pub name: String,
    /// Not a processor that plays a GPU.
    pub hardware: bool,
    /// 64-bit floats.
    pub doubles: bool,
    entry: ash::Entry,
    instance: ash::Instance,
    memory: vk::PhysicalDeviceMemoryProperties,
    raw: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
}

impl Gpu {
    /// The first device whose name contains `wanted`; hardware first if that is empty.
    pub fn open(wanted: &str) -> Result<Gpu> {
        // SAFETY: in this whole file: objects are used while they live (destroyed in `Drop` after the device is idle),
        // structures live until the calls return, and handles belong to this device.
        unsafe {
            let entry = ash::Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None)?;
            let mut found = Vec::new();
            for physical in instance.enumerate_physical_devices()? {
                let properties = instance.get_physical_device_properties(physical);
                let name = CStr::from_ptr(properties.device_name.as_ptr()).to_string_lossy().into_owned();
                let hardware = properties.device_type != vk::PhysicalDeviceType::CPU;
                if name.contains(wanted) && properties.api_version >= vk::API_VERSION_1_2 {
                    found.push((!hardware, name, physical));
                }
            }
            found.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            let Some((software, name, physical)) = found.into_iter().next() else {
                instance.destroy_instance(None);
                return Err(format!("no Vulkan device is called `{wanted}`").into());
            };
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family.ok_or("no compute queue")? as u32;
            let has = instance.get_physical_device_features(physical);
            let features = vk::PhysicalDeviceFeatures::default().shader_float64(has.shader_float64 != 0);
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let info =
                vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_features(&features);
            let raw = instance.create_device(physical, &info, None)?;
            let queue = raw.get_device_queue(family, 0);
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = raw.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = raw.allocate_command_buffers(&info)?[0];
            let fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let doubles = has.shader_float64 != 0;
            Ok(Gpu {
                name,
                hardware: !software,
                doubles,
                entry,
                instance,
                memory,
                raw,
                queue,
                pool,
                commands,
                fence,
            })
        }
    }

    fn buffer(
        &self,
        bytes: u64,
        usage: vk::BufferUsageFlags,
        wanted: vk::MemoryPropertyFlags,
    ) -> Result<Memory> {
        let info = vk::BufferCreateInfo::default().size(bytes.max(16)).usage(usage);
        // SAFETY: see `open`.
        unsafe {
            let buffer = self.raw.create_buffer(&info, None)?;
            let needs = self.raw.get_buffer_memory_requirements(buffer);
            let kind = self.memory.memory_types_as_slice().iter().enumerate().position(|(k, kind)| {
                needs.memory_type_bits >> k & 1 != 0 && kind.property_flags.contains(wanted)
            });
            let kind = kind.ok_or("no memory of the wanted kind")? as u32;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = self.raw.allocate_memory(&info, None)?;
            self.raw.bind_buffer_memory(buffer, memory, 0)?;
            Ok(Memory { buffer, memory, bytes })
        }
    }

    fn free(&self, memory: &Memory) {
        // SAFETY: see `open`; the work that used it was waited for.
        unsafe {
            self.raw.destroy_buffer(memory.buffer, None);
            self.raw.free_memory(memory.memory, None);
        }
    }

    /// Records, submits, waits.
    fn submit(&self, record: impl FnOnce(vk::CommandBuffer)) -> Result<()> {
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let commands = [self.commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: see `open`; the last submission was waited for.
        unsafe {
            self.raw.begin_command_buffer(self.commands, &begin)?;
            record(self.commands);
            self.raw.end_command_buffer(self.commands)?;
            self.raw.queue_submit(self.queue, &submit, self.fence)?;
            self.raw.wait_for_fences(&[self.fence], true, u64::MAX)?;
            self.raw.reset_fences(&[self.fence])?;
        }
        Ok(())
    }

    fn barrier(&self, commands: vk::CommandBuffer) {
        let access = vk::AccessFlags::SHADER_READ
            | vk::AccessFlags::SHADER_WRITE
            | vk::AccessFlags::TRANSFER_READ
            | vk::AccessFlags::TRANSFER_WRITE;
        let barrier = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)];
        let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        // SAFETY: see `open`; recording.
        unsafe {
            self.raw.cmd_pipeline_barrier(
                commands,
                stages,
                stages,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }

    /// Prepares the peer of a case.
    pub fn prepare<'g>(&'g self, case: &Case) -> Result<Peer<'g>> {
        let words = module(case.peer).ok_or("glslang was not there when the bench was built")?;
        let (groups, tile) = case.peer_launch(self.hardware);
        let mut peer = Peer {
            gpu: self,
            buffers: Vec::new(),
            set_layout: Default::default(),
            layout: Default::default(),
            pool: Default::default(),
            set: Default::default(),
            pipeline: Default::default(),
            groups,
            pushes: case
                .steps
                .iter()
                .map(|s| s.push.iter().flat_map(|w| w.to_ne_bytes()).collect())
                .collect(),
        };
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        for buffer in &case.buffers {
            peer.buffers.push(self.buffer(buffer.bytes(), usage, vk::MemoryPropertyFlags::DEVICE_LOCAL)?);
            let memory = peer.buffers.last().ok_or("just pushed")?;
            self.upload(memory, &buffer.words)?;
        }
        // SAFETY: see `open`.
        unsafe {
            let bindings: Vec<_> = (0..case.buffers.len() as u32)
                .map(|k| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(k)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            peer.set_layout = self.raw.create_descriptor_set_layout(&info, None)?;
            let sets = [peer.set_layout];
            let push =
                [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(128)];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
            peer.layout = self.raw.create_pipeline_layout(&info, None)?;
            let sizes = [vk::DescriptorPoolSize::default()
                .ty(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(bindings.len() as u32)];
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            peer.pool = self.raw.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(peer.pool).set_layouts(&sets);
            peer.set = self.raw.allocate_descriptor_sets(&info)?[0];
            for (k, memory) in peer.buffers.iter().enumerate() {
                let buffer =
                    [vk::DescriptorBufferInfo::default().buffer(memory.buffer).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(peer.set)
                    .dst_binding(k as u32)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&buffer);
                self.raw.update_descriptor_sets(&[write], &[]);
            }
            let shader =
                self.raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
            // Peers of pixel kernels leave columns and rows of a group open.
            let sides =
                [0, 1].map(|k| vk::SpecializationMapEntry::default().constant_id(k).offset(4 * k).size(4));
            let data: Vec<u8> = tile.iter().flat_map(|n| n.to_ne_bytes()).collect();
            let sizes = vk::SpecializationInfo::default().map_entries(&sides).data(&data);
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .specialization_info(&sizes)
                .module(shader)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(peer.layout)];
            let made = self.raw.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            self.raw.destroy_shader_module(shader, None);
            peer.pipeline = made.map_err(|(_, error)| error)?[0];
        }
        Ok(peer)
    }

    fn upload(&self, to: &Memory, words: &[u32]) -> Result<()> {
        if words.is_empty() {
            // SAFETY: see `open`; recording.
            return self.submit(|c| unsafe { self.raw.cmd_fill_buffer(c, to.buffer, 0, vk::WHOLE_SIZE, 0) });
        }
        let staging = self.staging(to.bytes)?;
        // SAFETY: see `open`; the mapping has the size of the words, which are plain numbers.
        unsafe {
            let at = self.raw.map_memory(staging.memory, 0, to.bytes, vk::MemoryMapFlags::empty())?;
            let count = words.len().min(to.bytes as usize / 4);
            std::ptr::copy_nonoverlapping(words.as_ptr(), at.cast::<u32>(), count);
            self.raw.unmap_memory(staging.memory);
        }
        self.copy(&staging, to)?;
        self.free(&staging);
        Ok(())
    }

    fn download(&self, from: &Memory) -> Result<Vec<u32>> {
        let staging = self.staging(from.bytes)?;
        self.copy(from, &staging)?;
        let mut words = vec![0u32; from.bytes as usize / 4];
        // SAFETY: as in `upload`.
        unsafe {
            let at = self.raw.map_memory(staging.memory, 0, from.bytes, vk::MemoryMapFlags::empty())?;
            std::ptr::copy_nonoverlapping(at.cast::<u32>(), words.as_mut_ptr(), words.len());
            self.raw.unmap_memory(staging.memory);
        }
        self.free(&staging);
        Ok(words)
    }

    fn staging(&self, bytes: u64) -> Result<Memory> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let coherent = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        self.buffer(bytes, usage, coherent | vk::MemoryPropertyFlags::HOST_CACHED)
            .or_else(|_| self.buffer(bytes, usage, coherent))
    }

    fn copy(&self, from: &Memory, to: &Memory) -> Result<()> {
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: from.bytes.min(to.bytes) }];
        // SAFETY: see `open`; recording.
        self.submit(|c| unsafe { self.raw.cmd_copy_buffer(c, from.buffer, to.buffer, &region) })
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: see `open`; peers borrow the device, so none is left.
        unsafe {
            let _ = self.raw.device_wait_idle();
            self.raw.destroy_fence(self.fence, None);
            self.raw.destroy_command_pool(self.pool, None);
            self.raw.destroy_device(None);
            self.instance.destroy_instance(None);
        }
        // The loader stays until here.
        let _ = &self.entry;
    }
}

/// A buffer with memory of its own.
struct Memory {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: u64,
}

/// A GLSL kernel that is ready to run.
pub struct Peer<'g> {
    gpu: &'g Gpu,
    buffers: Vec<Memory>,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    pipeline: vk::Pipeline,
    groups: [u32; 3],
    pushes: Vec<Vec<u8>>,
}

/// Dispatches of a peer that were recorded once: the least that a launch costs in a plain Vulkan program.
pub struct Recorded<'p> {
    gpu: &'p Gpu,
    commands: vk::CommandBuffer,
}

impl Recorded<'_> {
    /// Submits them so many times at once, and asks until all are done.
    pub fn poll(&self, times: u32) -> Result<()> {
        let Gpu { raw, queue, fence, .. } = self.gpu;
        let commands = vec![self.commands; times as usize];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: see `Gpu::open`; the last submission was waited for.
        unsafe {
            raw.queue_submit(*queue, &submit, *fence)?;
            while !raw.get_fence_status(*fence)? {
                std::hint::spin_loop();
            }
            raw.reset_fences(&[*fence])?;
        }
        Ok(())
    }
}

impl Drop for Recorded<'_> {
    fn drop(&mut self) {
        // SAFETY: see `Gpu::open`; all submissions were waited for.
        unsafe { self.gpu.raw.free_command_buffers(self.gpu.pool, &[self.commands]) };
    }
}

impl Peer<'_> {
    /// So many dispatches, each behind a barrier as dispatches that depend on each other have.
    pub fn recorded(&self, dispatches: u32) -> Result<Recorded<'_>> {
        let raw = &self.gpu.raw;
        let info =
            vk::CommandBufferAllocateInfo::default().command_pool(self.gpu.pool).command_buffer_count(1);
        let flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        // SAFETY: see `Gpu::open`; recording.
        let recorded = unsafe {
            let recorded = Recorded { gpu: self.gpu, commands: raw.allocate_command_buffers(&info)?[0] };
            raw.begin_command_buffer(recorded.commands, &vk::CommandBufferBeginInfo::default().flags(flags))?;
            recorded
        };
        for _ in 0..dispatches {
            self.gpu.barrier(recorded.commands);
            self.dispatch(recorded.commands);
        }
        // SAFETY: as above.
        unsafe { raw.end_command_buffer(recorded.commands)? };
        Ok(recorded)
    }

    /// Records the work of the case.
    fn dispatch(&self, commands: vk::CommandBuffer) {
        let raw = &self.gpu.raw;
        // SAFETY: see `Gpu::open`; recording.
        unsafe {
            raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            let sets = [self.set];
            raw.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::COMPUTE,
                self.layout,
                0,
                &sets,
                &[],
            );
            for push in &self.pushes {
                if !push.is_empty() {
                    raw.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::COMPUTE, 0, push);
                }
                raw.cmd_dispatch(commands, self.groups[0], self.groups[1], self.groups[2]);
            }
        }
    }

    /// Copies buffer 0 to buffer 1 by the copy command.
    pub fn copy_command(&self, times: u32) -> Result<()> {
        let raw = &self.gpu.raw;
        let [from, to] = &self.buffers[..2] else { return Err("a copy has two buffers".into()) };
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: from.bytes }];
        self.gpu.submit(|c| {
            for _ in 0..times {
                // SAFETY: see `Gpu::open`; recording.
                unsafe { raw.cmd_copy_buffer(c, from.buffer, to.buffer, &region) };
                self.gpu.barrier(c);
            }
        })
    }
}

impl Runner for Peer<'_> {
    fn who(&self) -> String {
        "glsl".into()
    }

    fn run(&mut self, times: u32) -> Result<()> {
        let raw = &self.gpu.raw;
        self.gpu.submit(|c| {
            // SAFETY: see `Gpu::open`; recording.
            unsafe {
                raw.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, self.pipeline);
                raw.cmd_bind_descriptor_sets(
                    c,
                    vk::PipelineBindPoint::COMPUTE,
                    self.layout,
                    0,
                    &[self.set],
                    &[],
                );
                for _ in 0..times {
                    for push in &self.pushes {
                        if !push.is_empty() {
                            raw.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, push);
                        }
                        raw.cmd_dispatch(c, self.groups[0], self.groups[1], self.groups[2]);
                        self.gpu.barrier(c);
                    }
                }
            }
        })
    }

    fn read(&mut self) -> Result<Vec<Vec<u32>>> {
        self.buffers.iter().map(|memory| self.gpu.download(memory)).collect()
    }
}

impl Drop for Peer<'_> {
    fn drop(&mut self) {
        let raw = &self.gpu.raw;
        // SAFETY: see `Gpu::open`; all submissions were waited for, and null handles may be destroyed.
        unsafe {
            raw.destroy_pipeline(self.pipeline, None);
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_pipeline_layout(self.layout, None);
            raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
        for memory in &self.buffers {
            self.gpu.free(memory);
        }
    }
}
