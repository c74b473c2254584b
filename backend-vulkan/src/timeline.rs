//! A timeline semaphore with the queue of the device that moves it, and the command buffers for that queue.

use std::sync::Arc;

use ash::vk;
use recal_hal::Result;
use recal_hal::sync::Mutex;

use crate::device::Gpu;

pub(crate) struct Timeline {
    gpu: Arc<Gpu>,
    /// Number among the queues of the device.
    queue: usize,
    pool: vk::CommandPool,
    pub semaphore: vk::Semaphore,
}

impl Timeline {
    pub fn new(gpu: &Arc<Gpu>, queue: usize) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.queues[queue].family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: here and below, the device is alive and the structures live until the calls return.
        let pool = unsafe { gpu.raw.create_command_pool(&info, None) }
            .map_err(|error| gpu.error("command pool", error))?;
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: as above.
        match unsafe { gpu.raw.create_semaphore(&info, None) } {
            Ok(semaphore) => Ok(Self { gpu: gpu.clone(), queue, pool, semaphore }),
            Err(error) => {
                // SAFETY: nothing uses the pool.
                unsafe { gpu.raw.destroy_command_pool(pool, None) };
                Err(gpu.error("timeline", error))
            }
        }
    }

    /// The queue, which one thread at a time may use.
    pub fn queue(&self) -> &Mutex<vk::Queue> {
        &self.gpu.queues[self.queue].raw
    }

    /// A command buffer. The caller holds the lock under which all of this timeline are recorded.
    pub fn commands(&self) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is used under the lock of the caller's state only.
        let made = unsafe { self.gpu.raw.allocate_command_buffers(&info) };
        Ok(made.map_err(|error| self.gpu.error("command buffer", error))?[0])
    }

    /// Submits command buffers. They begin once another timeline has reached a point, and
    /// moves this one to `point`.
    pub fn submit(
        &self,
        commands: &[vk::CommandBuffer],
        after: Option<(&Timeline, u64)>,
        point: u64,
    ) -> Result<()> {
        let (waits, goals): (Vec<_>, Vec<_>) =
            after.iter().map(|(other, point)| (other.semaphore, *point)).unzip();
        let stages = [vk::PipelineStageFlags::ALL_COMMANDS; 1];
        let (semaphores, points) = ([self.semaphore], [point]);
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&goals)
            .signal_semaphore_values(&points);
        let info = [vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages[..waits.len()])
            .command_buffers(commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut values)];
        let raw = &self.gpu.raw;
        // SAFETY: the caller keeps everything recorded alive until the timeline says that it is done; the queue is locked.
        unsafe { raw.queue_submit(*self.queue().lock(), &info, vk::Fence::null()) }
            .map_err(|error| self.gpu.error("submission", error))
    }

    /// The point that the timeline has reached.
    pub fn position(&self) -> Result<u64> {
        // SAFETY: the semaphore is alive.
        unsafe { self.gpu.raw.get_semaphore_counter_value(self.semaphore) }
            .map_err(|error| self.gpu.error("timeline", error))
    }

    /// Waits for all work on the queue, where a timeline cannot be trusted any more.
    pub fn idle(&self) {
        // SAFETY: the device is alive and the queue is locked.
        if let Err(error) = unsafe { self.gpu.raw.queue_wait_idle(*self.queue().lock()) } {
            log::debug!("awaiting work that is given up: {error}");
        }
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        if self.gpu.hung() {
            return;
        }
        // SAFETY: the queue that this belongs to has waited for its work; nothing else uses pool and semaphore.
        unsafe {
            self.gpu.raw.destroy_semaphore(self.semaphore, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
