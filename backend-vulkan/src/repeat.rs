//! Launches that come again, with the same bindings and the same extent: what was found out of one is kept, its table too. As long
//! as a submission consists of one of those, any number of times, nothing is recorded: it is counted, and command buffers that do it
//! 1, 2, 4, … 64 times are submitted again.
//!
//! Nothing here keeps kernels or memory alive: batches in flight do. What is kept of an object that is gone is never found again.

use std::sync::atomic::Ordering::Acquire;
use std::sync::{Arc, OnceLock, Weak};

use ash::vk;
use recal_hal::{Bindings, Extent, Kernel, Result};

use crate::descriptors::Pushed;
use crate::device::Gpu;
use crate::kernel::{Kind, VulkanKernel};
use crate::launch::Launch;
use crate::once::{barrier, stand};
use crate::order::{Barrier, Lane, Uses};
use crate::queue::{Batch, CHUNK_COMMANDS, State, VulkanQueue, each_shadow};
use crate::table::Chunk;

/// Launches that are kept.
const KEPT: usize = 16;
/// Sizes of command buffers of one launch.
const SIZES: usize = CHUNK_COMMANDS.ilog2() as usize + 1;
/// Most of those of a submission: each takes a device some microseconds.
const MOST_BUFFERS: u32 = 2;
/// Launches of which it is remembered that they were.
const SEEN: usize = 8;

/// What makes two launches the same.
struct Key {
    kernel: Weak<dyn Kernel>,
    bindings: Weak<Bindings>,
    extent: Extent,
}

impl Key {
    fn of(kernel: &Arc<dyn Kernel>, bindings: &Arc<Bindings>, extent: Extent) -> Self {
        Self { kernel: Arc::downgrade(kernel), bindings: Arc::downgrade(bindings), extent }
    }

    /// An address is nobody else's while something points to it weakly.
    fn is(&self, kernel: &Arc<dyn Kernel>, bindings: &Arc<Bindings>, extent: Extent) -> bool {
        self.bindings.as_ptr() == Arc::as_ptr(bindings)
            && std::ptr::addr_eq(self.kernel.as_ptr(), Arc::as_ptr(kernel))
            && self.extent == extent
    }

    fn is_gone(&self) -> bool {
        self.kernel.strong_count() == 0 || self.bindings.strong_count() == 0
    }
}

/// A launch that came before.
pub(crate) struct Repeat {
    key: Key,
    /// Of the kernel's pipelines, when this one was chosen.
    version: u64,
    pipeline: vk::Pipeline,
    kind: Option<Arc<Kind>>,
    groups: [u32; 3],
    uses: Uses,
    pushed: Pushed,
    /// Where its table is.
    chunk: Arc<Chunk>,
    offset: u32,
    /// All of a submission that consists of it, by the logarithm of how many times.
    commands: [OnceLock<vk::CommandBuffer>; SIZES],
}

/// The launches of a queue that may come again.
#[derive(Default)]
pub(crate) struct Repeats {
    seen: std::collections::VecDeque<Key>,
    kept: Vec<Arc<Repeat>>,
    tables: Option<Arc<Chunk>>,
}

impl Repeat {
    /// Records the launch, with what has to be bound for it unless that was bound last.
    fn record(&self, gpu: &Gpu, commands: vk::CommandBuffer, bound: bool) {
        let (raw, point) = (&gpu.raw, vk::PipelineBindPoint::COMPUTE);
        let [x, y, z] = self.groups;
        // SAFETY: recording; the chunk is kept with this, and the batch that submits it keeps pipeline and memories until the
        // commands are done.
        unsafe {
            if !bound {
                raw.cmd_bind_pipeline(commands, point, self.pipeline);
                let (layout, set) = (gpu.pipeline_layout, self.chunk.set);
                raw.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[self.offset]);
                if let Some(push) = &gpu.push {
                    push.bind(commands, layout, &self.pushed);
                }
            }
            raw.cmd_dispatch(commands, x, y, z);
        }
    }

    /// Records a command buffer that consists of the launch.
    fn record_alone(
        &self,
        gpu: &Gpu,
        commands: vk::CommandBuffer,
        times: u32,
    ) -> std::result::Result<(), vk::Result> {
        // Submitted again, it may be, before it is done.
        let flags = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        let begin = vk::CommandBufferBeginInfo::default().flags(flags);
        // SAFETY: the command buffer is new, or its last submission is done.
        unsafe { gpu.raw.begin_command_buffer(commands, &begin) }?;
        for k in 0..times {
            stand(&gpu.raw, commands, before(k));
            self.record(gpu, commands, k > 0);
        }
        if self.uses.shown {
            let next = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
            barrier(&gpu.raw, commands, next);
        }
        // SAFETY: recording.
        unsafe { gpu.raw.end_command_buffer(commands) }
    }
}

/// What stands before the k-th launch of the same in a submission: what it writes it has not as a uniform buffer.
fn before(k: u32) -> Barrier {
    if k == 0 { Barrier::Uniforms } else { Barrier::Kernels }
}

/// Which one it is, as long as something points to it.
fn address(repeat: &Arc<Repeat>) -> usize {
    Arc::as_ptr(repeat) as usize
}

impl Repeats {
    /// The launch if it is kept and nothing better is known by now.
    pub fn find(
        &self,
        kernel: &Arc<dyn Kernel>,
        bindings: &Arc<Bindings>,
        extent: Extent,
    ) -> Option<Arc<Repeat>> {
        let found = self.kept.iter().find(|repeat| repeat.key.is(kernel, bindings, extent))?;
        let own = kernel.as_any().downcast_ref::<VulkanKernel>()?;
        let settled =
            found.version == own.version() && found.kind.as_ref().is_none_or(|kind| kind.is_settled());
        settled.then(|| found.clone())
    }

    /// Whether a launch came before. From now on it did.
    fn came(&mut self, kernel: &Arc<dyn Kernel>, bindings: &Arc<Bindings>, extent: Extent) -> bool {
        if self.seen.iter().any(|key| key.is(kernel, bindings, extent)) {
            return true;
        }
        if self.seen.len() == SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(Key::of(kernel, bindings, extent));
        false
    }

    /// Keeps a launch; command buffers that are free now.
    fn keep(&mut self, repeat: Repeat) -> Vec<vk::CommandBuffer> {
        let same = |kept: &Arc<Repeat>| {
            kept.key.extent == repeat.key.extent
                && Weak::ptr_eq(&kept.key.bindings, &repeat.key.bindings)
                && std::ptr::addr_eq(kept.key.kernel.as_ptr(), repeat.key.kernel.as_ptr())
        };
        let old =
            self.kept.iter().position(same).or_else(|| self.kept.iter().position(|kept| kept.key.is_gone()));
        let old = old.or_else(|| (self.kept.len() == KEPT).then_some(0));
        let freed = old.map(|old| Self::free(self.kept.remove(old))).unwrap_or_default();
        self.kept.push(Arc::new(repeat));
        freed
    }

    /// The command buffers of a launch that is neither kept nor in flight any more.
    pub fn free(repeat: Arc<Repeat>) -> Vec<vk::CommandBuffer> {
        let last = Arc::into_inner(repeat);
        last.map(|last| last.commands.into_iter().filter_map(OnceLock::into_inner).collect())
            .unwrap_or_default()
    }
}

impl VulkanQueue {
    /// Keeps what was found out of a launch that was just recorded, if it came before and may come again.
    pub(crate) fn remember(&self, state: &mut State, launch: &mut Launch) -> Result<()> {
        let Launch { kernel, bindings, extent, .. } = launch;
        if !state.repeats.came(kernel, bindings, *extent) {
            return Ok(());
        }
        let Some(own) = kernel.as_any().downcast_ref::<VulkanKernel>() else { return Ok(()) };
        let mut shadows = false;
        each_shadow(&**kernel, bindings, |_, _| shadows = true);
        let timed = state.order.open(Lane::Kernels).is_some_and(|batch| batch.stamps.is_some());
        let Some(groups) = launch
            .single
            .filter(|_| !shadows && !timed && launch.scratch.is_none() && !launch.table.reports())
        else {
            return Ok(());
        };
        let mut tables = match state.repeats.tables.clone() {
            Some(tables) => tables,
            None => Arc::new(Chunk::new(&self.gpu)?),
        };
        let offset = match tables.push(&mut launch.table).map(|(offset, _)| offset) {
            Some(offset) => offset,
            None => {
                tables = Arc::new(Chunk::new(&self.gpu)?);
                let Some(offset) = tables.push(&mut launch.table).map(|(offset, _)| offset) else {
                    return Ok(());
                };
                offset
            }
        };
        state.repeats.tables = Some(tables.clone());
        let repeat = Repeat {
            key: Key::of(kernel, bindings, *extent),
            version: own.version(),
            pipeline: launch.pipeline,
            kind: launch.kind.clone(),
            groups,
            uses: std::mem::take(&mut launch.table.uses),
            pushed: std::mem::take(&mut launch.table.pushed),
            chunk: tables,
            offset,
            commands: Default::default(),
        };
        let freed = state.repeats.keep(repeat);
        state.free_commands(Lane::Kernels, freed);
        Ok(())
    }

    /// Records a launch that came before, or counts it if the submission has nothing else so far.
    pub(crate) fn again(
        &self,
        state: &mut State,
        repeat: Arc<Repeat>,
        kernel: Arc<dyn Kernel>,
        bindings: Arc<Bindings>,
    ) -> Result<()> {
        let lane = Lane::Kernels;
        self.await_other(state, lane, &repeat.uses)?;
        self.recording(state, lane)?;
        let first = state.order.is_new(lane);
        let foreign = self.gpu.transfers.load(Acquire);
        let before = state.order.record(lane, &repeat.uses, false, self.copies.is_some(), foreign);
        let batch = self.recording(state, lane)?;
        match &mut batch.alone {
            Some((last, times)) if Arc::ptr_eq(last, &repeat) && before < Barrier::Uniforms => *times += 1,
            None if first && before == Barrier::Uniforms && batch.stamps.is_none() => {
                batch.alone = Some((repeat.clone(), 1));
            }
            _ => {
                batch.spell(&self.gpu);
                stand(&self.gpu.raw, batch.commands, before);
                repeat.record(&self.gpu, batch.commands, batch.bound == address(&repeat));
                batch.bound = address(&repeat);
            }
        }
        batch.keep_launch(kernel, bindings, &repeat.kind);
        if !batch.repeats.last().is_some_and(|last| Arc::ptr_eq(last, &repeat)) {
            batch.repeats.push(repeat);
        }
        Ok(())
    }

    /// Records what was counted so far if it takes too many command buffers.
    pub(crate) fn spell_many(&self, state: &mut State) {
        let many = |times: u32| times.count_ones() > MOST_BUFFERS || times > CHUNK_COMMANDS;
        if let Some(batch) = state.order.open(Lane::Kernels)
            && batch.alone.as_ref().is_some_and(|(_, times)| many(*times))
        {
            batch.spell(&self.gpu);
        }
    }

    /// The commands of a submission that consists of one launch which came before, so many times.
    pub(crate) fn alone(
        &self,
        state: &mut State,
        repeat: &Repeat,
        times: u32,
    ) -> Result<Vec<vk::CommandBuffer>> {
        let mut all = Vec::new();
        for (size, own) in repeat.commands.iter().enumerate().filter(|(size, _)| times >> size & 1 != 0) {
            if let Some(commands) = own.get() {
                all.push(*commands);
                continue;
            }
            let commands = self.command_buffer(state, Lane::Kernels)?;
            if let Err(error) = repeat.record_alone(&self.gpu, commands, 1 << size) {
                state.free_commands(Lane::Kernels, [commands]);
                return Err(self.gpu.error("command buffer", error));
            }
            all.push(*own.get_or_init(|| commands));
        }
        Ok(all)
    }
}

impl Batch {
    /// Records what was counted: there is more in the submission now.
    pub(crate) fn spell(&mut self, gpu: &Gpu) {
        let Some((repeat, times)) = self.alone.take() else { return };
        for k in 0..times {
            stand(&gpu.raw, self.commands, before(k));
            repeat.record(gpu, self.commands, k > 0);
        }
        self.bound = address(&repeat);
    }
}
