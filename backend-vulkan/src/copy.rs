//! Copies: where they run, and what is recorded of them.

use ash::vk;
use recal_hal::timeline::Detail;
use recal_hal::{Error, Heap, Result, Surface, Ticket};

use crate::memory::{Block, Place, place, shadow};
use crate::once::barrier;
use crate::order::{Lane, Uses};
use crate::queue::{Keep, State, VulkanQueue};

/// Bytes from which a copy leaves the queue of the kernels: to wait for each other takes queues some ten microseconds.
const APART: u64 = 1 << 20;

/// Bytes of a part of a copy to the host beside kernels. What the copy writes piles up before the bus, and what kernels load has to
/// wait for it; between two parts it does not. Alone such a copy takes longer, in parts of 512 KiB a seventh.
const PART: u64 = 768 << 10;

/// Copies to the host that go in parts behind one that had a kernel beside it.
const PACED: u32 = 8;

/// Whether copies to the host have kernels beside them, as far as the last ones tell.
#[derive(Default)]
pub(crate) struct Beside {
    /// The last copy to the host.
    copy: Ticket,
    /// How many more go in parts.
    paced: u32,
}

impl Beside {
    /// A launch begins, and all up to a ticket is done.
    pub fn launches(&mut self, done: Ticket) {
        if self.copy > done {
            self.paced = PACED;
        }
    }

    /// A copy to the host begins: whether it goes in parts.
    fn copies(&mut self, ticket: Ticket) -> bool {
        self.copy = ticket;
        let parts = self.paced > 0;
        self.paced = self.paced.saturating_sub(1);
        parts
    }
}

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
        let lane = self.lane_of_copy(&from, &to, row * height);
        let ticket = state.current.unwrap_or(state.order.issued() + 1);
        let to_host = lane == Lane::Copies && from.local;
        let most = if to_host && state.beside.copies(ticket) { PART } else { u64::MAX };
        let rows = |from: (u64, u64), to: (u64, u64)| regions((row, height), from, to, most);
        let (source, target) = ((from.offset, from_pitch), (to.offset, to_pitch));
        let size = Detail::Bytes(row * height);
        let raw = &self.gpu.raw;
        let mut uses = Uses { reads: vec![from.span], ..Uses::default() };
        uses.write(&to);
        self.await_other(state, lane, &uses)?;
        let mut between = None;
        if row == 0 || height == 0 || (from.buffer == to.buffer && source == target) {
            // Nothing moves.
            let commands = self.recording(state, lane)?.commands;
            self.time(state, lane, commands, "copy", &size);
            self.timed(state, lane, commands);
        } else if from.buffer == to.buffer || from.span.meets(&to.span) {
            // Regions of a Vulkan copy must not overlap, nor do imports of the same bytes: the source is read whole before anything is written.
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

/// The regions of a copy of rows of so many bytes and so many rows, by offsets and pitches, of at most so many bytes where they are not rows.
fn regions((row, height): (u64, u64), from: (u64, u64), to: (u64, u64), most: u64) -> Vec<vk::BufferCopy> {
    // Whole blocks where neither side has gaps that may hold other data.
    let gaps = from.1 != row || to.1 != row;
    let (step, end) = if gaps { (row, row * height) } else { (most, row * height) };
    let region = |at: u64| {
        let (src, dst) = if gaps { (at / row * from.1, at / row * to.1) } else { (at, at) };
        vk::BufferCopy { src_offset: from.0 + src, dst_offset: to.0 + dst, size: step.min(end - at) }
    };
    (0..end.div_ceil(step)).map(|k| region(k * step)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Beside, PACED, regions};

    fn found(size: (u64, u64), from: (u64, u64), to: (u64, u64), most: u64) -> Vec<[u64; 3]> {
        let regions = regions(size, from, to, most);
        regions.iter().map(|region| [region.src_offset, region.dst_offset, region.size]).collect()
    }

    #[test]
    fn regions_cover_rows_and_nothing_between_them() {
        let whole = u64::MAX;
        assert_eq!(found((16, 3), (100, 16), (7, 16), whole), [[100, 7, 48]]);
        assert_eq!(found((16, 3), (100, 16), (7, 16), 20), [[100, 7, 20], [120, 27, 20], [140, 47, 8]]);
        assert_eq!(found((16, 3), (100, 16), (7, 16), 24), [[100, 7, 24], [124, 31, 24]]);
        for most in [whole, 20] {
            let rows = [[100, 7, 16], [116, 39, 16], [132, 71, 16]];
            assert_eq!(found((16, 3), (100, 16), (7, 32), most), rows);
            assert_eq!(found((16, 2), (0, 32), (0, 16), most), [[0, 0, 16], [32, 16, 16]]);
        }
    }

    /// A copy goes in parts while those before it have launches beside them, and for some more.
    #[test]
    fn copies_are_paced_while_kernels_are_beside_them() {
        let mut beside = Beside::default();
        // Each waited for before the next launch.
        for ticket in [2, 4, 6] {
            beside.launches(ticket - 2);
            assert!(!beside.copies(ticket));
        }
        // A launch while the last one is under way.
        beside.launches(5);
        assert!((0..PACED).all(|k| beside.copies(8 + u64::from(k))) && !beside.copies(100));
    }
}
