//! Copies: where they run, and what is recorded of them.

use ash::vk;
use recal_hal::timeline::Detail;
use recal_hal::{Error, Heap, Result, Surface};

use crate::memory::{Block, Place, place, shadow};
use crate::once::barrier;
use crate::order::{Lane, Uses};
use crate::queue::{Keep, State, VulkanQueue};

/// Bytes from which a copy leaves the queue of the kernels: to wait for each other takes queues some ten microseconds.
const APART: u64 = 1 << 20;

impl VulkanQueue {
    /// Where a copy runs. Queues for copies are for those between device and host: others are as quick as kernels.
    fn lane_of_copy(&self, from: &Place, to: &Place, bytes: u64) -> Lane {
        let apart = self.gpu.options.copies_apart || (bytes >= APART && from.local != to.local);
        if apart && self.copies.is_some() { Lane::Copies } else { Lane::Kernels }
    }

    /// Records a copy; the lane that it is in.
    pub fn copy(&self, state: &mut State, src: &Surface, dst: &Surface) -> Result<Lane> {
        let (from, to) = (place(&*src.memory)?, place(&*dst.memory)?);
        let element = u64::from(src.format.bytes());
        if src.bytes() > from.bytes || dst.bytes() > to.bytes {
            return Err(Error::Failed("a surface does not fit its memory".into()));
        }
        if src.format.bytes() != dst.format.bytes() || dst.width < src.width || dst.height < src.height {
            return Err(Error::Failed("the surfaces of a copy do not match".into()));
        }
        let (row, from_pitch, to_pitch) =
            (u64::from(src.width) * element, u64::from(src.pitch) * element, u64::from(dst.pitch) * element);
        let height = u64::from(src.height);
        let rows = |from: (u64, u64), to: (u64, u64)| -> Vec<vk::BufferCopy> {
            // Whole blocks where neither side has gaps that may hold other data.
            let (rows, size) = if from.1 == row && to.1 == row { (1, row * height) } else { (height, row) };
            let region =
                |y| vk::BufferCopy { src_offset: from.0 + y * from.1, dst_offset: to.0 + y * to.1, size };
            (0..rows).map(region).collect()
        };
        let (source, target) = ((from.offset, from_pitch), (to.offset, to_pitch));
        let size = Detail::Bytes(row * height);
        let raw = &self.gpu.raw;
        let lane = self.lane_of_copy(&from, &to, row * height);
        let mut uses = Uses { reads: vec![from.span], ..Uses::default() };
        uses.write(&to);
        self.await_other(state, lane, &uses)?;
        let mut between = None;
        if row == 0 || height == 0 || (from.buffer == to.buffer && source == target) {
            // Nothing moves.
            let commands = self.recording(state, lane)?.commands;
            self.time(state, lane, commands, "copy", &size);
            self.timed(state, lane, commands);
        } else if from.buffer == to.buffer {
            // Regions of a Vulkan copy must not overlap: the source is read whole before anything is written.
            let block = Block::allocate(&self.gpu, row * height, Heap::Local)?;
            let commands = self.recording(state, lane)?.commands;
            self.order(state, lane, commands, &uses, true);
            self.time(state, lane, commands, "copy", &size);
            // SAFETY: recording; all memories are kept until the command is done and the regions are inside them.
            unsafe {
                raw.cmd_copy_buffer(commands, from.buffer, block.buffer, &rows(source, (0, row)));
                barrier(raw, commands, vk::PipelineStageFlags::ALL_COMMANDS);
                raw.cmd_copy_buffer(commands, block.buffer, to.buffer, &rows((0, row), target));
            }
            self.timed(state, lane, commands);
            between = Some(block);
        } else {
            let commands = self.recording(state, lane)?.commands;
            self.order(state, lane, commands, &uses, true);
            self.time(state, lane, commands, "copy", &size);
            // SAFETY: as above.
            unsafe { raw.cmd_copy_buffer(commands, from.buffer, to.buffer, &rows(source, target)) };
            self.timed(state, lane, commands);
        }
        for memory in [&src.memory, &dst.memory] {
            if let Some(shadow) = shadow(&**memory) {
                shadow.enter();
            }
        }
        let keep = Keep::Copy { src: src.memory.clone(), dst: dst.memory.clone(), _between: between };
        self.recording(state, lane)?.keep(keep);
        Ok(lane)
    }
}
