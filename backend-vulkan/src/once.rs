//! Commands that are run at once and waited for: fills and copies behind allocation and mapping.

use std::sync::atomic::Ordering::AcqRel;

use ash::vk;
use recal_hal::Result;

use crate::device::Gpu;
use crate::order::Barrier;

/// Longest wait between two looks at whether the device was given up.
const SLICE: u64 = 100_000_000;

/// Records commands, runs them on the first queue, and waits until they are done.
pub(crate) fn run_once(gpu: &Gpu, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
    let _call = crate::exit::enter()?;
    gpu.check()?;
    let raw = &gpu.raw;
    let pool_info = vk::CommandPoolCreateInfo::default()
        .queue_family_index(gpu.facts.queue_family)
        .flags(vk::CommandPoolCreateFlags::TRANSIENT);
    // SAFETY: the device is alive; everything made here is destroyed below, after the work is done, and the
    // structures live until the calls return.
    unsafe {
        let pool = raw.create_command_pool(&pool_info, None).map_err(|e| gpu.error("command pool", e))?;
        let fence = match raw.create_fence(&vk::FenceCreateInfo::default(), None) {
            Ok(fence) => fence,
            Err(error) => {
                raw.destroy_command_pool(pool, None);
                return Err(gpu.error("fence", error));
            }
        };
        let result = (|| {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = raw.allocate_command_buffers(&info)?;
            let begin =
                vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            raw.begin_command_buffer(commands[0], &begin)?;
            barrier(raw, commands[0], vk::PipelineStageFlags::ALL_COMMANDS);
            record(raw, commands[0]);
            barrier(raw, commands[0], vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST);
            raw.end_command_buffer(commands[0])?;
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            raw.queue_submit(*gpu.queues[0].raw.lock(), &submit, fence)?;
            loop {
                match raw.wait_for_fences(&[fence], true, SLICE) {
                    Err(vk::Result::TIMEOUT) if !gpu.hung() => {}
                    told @ (Ok(()) | Err(vk::Result::TIMEOUT | vk::Result::ERROR_DEVICE_LOST)) => {
                        return told;
                    }
                    // The wait failed, the work did not; what it uses must not go before it.
                    Err(_) => return raw.queue_wait_idle(*gpu.queues[0].raw.lock()),
                }
            }
        })();
        if result == Err(vk::Result::TIMEOUT) {
            // Work that never ends is before it in the queue; its objects cannot be destroyed.
            return gpu.check();
        }
        gpu.transfers.fetch_add(1, AcqRel);
        raw.destroy_fence(fence, None);
        raw.destroy_command_pool(pool, None);
        result.map_err(|error| gpu.error("a copy", error))
    }
}

/// What has to stand before a command.
pub(crate) fn stand(raw: &ash::Device, commands: vk::CommandBuffer, what: Barrier) {
    match what {
        Barrier::None => {}
        Barrier::Kernels => barrier_between_kernels(raw, commands, false),
        Barrier::Uniforms => barrier_between_kernels(raw, commands, true),
        Barrier::All => barrier(raw, commands, vk::PipelineStageFlags::ALL_COMMANDS),
    }
}

/// Makes all that was written visible to all that follows in `next`.
pub(crate) fn barrier(raw: &ash::Device, commands: vk::CommandBuffer, next: vk::PipelineStageFlags) {
    let mut to = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    if next.contains(vk::PipelineStageFlags::HOST) {
        to |= vk::AccessFlags::HOST_READ;
    }
    let memory =
        [vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::MEMORY_WRITE).dst_access_mask(to)];
    // SAFETY: the command buffer is being recorded.
    unsafe {
        raw.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::ALL_COMMANDS,
            next,
            vk::DependencyFlags::empty(),
            &memory,
            &[],
            &[],
        );
    }
}

/// Makes what kernels wrote visible to kernels that follow, as uniform buffers only if that is said.
fn barrier_between_kernels(raw: &ash::Device, commands: vk::CommandBuffer, uniforms: bool) {
    let mut to = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
    if uniforms {
        to |= vk::AccessFlags::UNIFORM_READ;
    }
    let memory =
        [vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::SHADER_WRITE).dst_access_mask(to)];
    let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
    // SAFETY: the command buffer is being recorded.
    unsafe {
        raw.cmd_pipeline_barrier(commands, stage, stage, vk::DependencyFlags::empty(), &memory, &[], &[]);
    }
}
