//! Command queues: commands are recorded as they come, submitted in chunks, and counted on a timeline.
//!
//! A ticket is a value of the queue's timeline semaphore. Commands that depend on each other through memory have a
//! barrier between them; others may overlap. What a command uses is kept until its chunk is done.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire};
use std::time::{Duration, Instant};

use ash::vk;
use cal_hal::{Bindings, Command, Error, Extent, Heap, Kernel, Memory, Queue, Result, Surface, Ticket};
use cal_il::spirv::Assume;
use parking_lot::Mutex;

use crate::device::Gpu;
use crate::kernel::VulkanKernel;
use crate::memory::{Block, place, shadow};
use crate::once::{barrier, barrier_between_kernels};
use crate::table::{self, Chunk};

/// Commands after which a chunk is submitted unasked.
const CHUNK_COMMANDS: usize = 64;
/// Groups that every device takes in one dimension of a dispatch.
const GROUPS: u32 = 65535;
/// Failures that are remembered.
const ERRORS: usize = 64;
/// Longest wait between two looks at the clock.
const SLICE: Duration = Duration::from_millis(100);
/// How long a wait looks at the timeline again and again before it sleeps.
const SPIN: Duration = Duration::from_micros(100);

/// What a command keeps alive.
enum Keep {
    Kernel { _kernel: Arc<dyn Kernel>, bindings: Arc<Bindings>, scratch: Option<Arc<Block>> },
    Copy { src: Arc<dyn Memory>, dst: Arc<dyn Memory>, _between: Option<Block> },
}

/// Commands that are recorded and not yet submitted, or submitted and not yet done.
struct Batch {
    commands: vk::CommandBuffer,
    /// 0 before the first command.
    first: Ticket,
    last: Ticket,
    keeps: Vec<Keep>,
    chunks: Vec<Chunk>,
    started: Instant,
}

#[derive(Default)]
struct State {
    issued: Ticket,
    recording: Option<Batch>,
    running: VecDeque<Batch>,
    free_commands: Vec<vk::CommandBuffer>,
    free_chunks: Vec<Chunk>,
    /// Buffers read and written since the last barrier.
    reads: Vec<vk::Buffer>,
    writes: Vec<vk::Buffer>,
    /// Whether there was anything but kernels since then.
    transfers: bool,
    scratch: Option<Arc<Block>>,
    /// Tickets that failed, and why.
    errors: VecDeque<(RangeInclusive<Ticket>, Error)>,
    busy: Duration,
    last_done: Option<Instant>,
}

/// A queue of one context.
pub(crate) struct VulkanQueue {
    gpu: Arc<Gpu>,
    index: usize,
    pool: vk::CommandPool,
    timeline: vk::Semaphore,
    counters: Arc<Block>,
    state: Mutex<State>,
    /// Highest ticket whose chunk was cleaned up after.
    retired: AtomicU64,
}

impl VulkanQueue {
    pub fn new(gpu: &Arc<Gpu>, index: usize, counters: Arc<Block>) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.facts.queue_family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: here and below, the device is alive and the structures live until the calls return.
        let pool = unsafe { gpu.raw.create_command_pool(&info, None) }
            .map_err(|error| gpu.error("command pool", error))?;
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: as above.
        let timeline = match unsafe { gpu.raw.create_semaphore(&info, None) } {
            Ok(timeline) => timeline,
            Err(error) => {
                // SAFETY: nothing uses the pool.
                unsafe { gpu.raw.destroy_command_pool(pool, None) };
                return Err(gpu.error("timeline", error));
            }
        };
        Ok(Self {
            gpu: gpu.clone(),
            index,
            pool,
            timeline,
            counters,
            state: Mutex::default(),
            retired: AtomicU64::new(0),
        })
    }

    /// The chunk that is being recorded, begun if there is none.
    fn recording<'a>(&self, state: &'a mut State) -> Result<&'a mut Batch> {
        if state.recording.is_none() {
            let raw = &self.gpu.raw;
            let commands = match state.free_commands.pop() {
                Some(commands) => commands,
                None => {
                    let info = vk::CommandBufferAllocateInfo::default()
                        .command_pool(self.pool)
                        .command_buffer_count(1);
                    // SAFETY: the pool is used under the lock of the state only.
                    unsafe { raw.allocate_command_buffers(&info) }
                        .map_err(|error| self.gpu.error("command buffer", error))?[0]
                }
            };
            let begin =
                vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            // SAFETY: the command buffer is new, or its last submission is done.
            if let Err(error) = unsafe { raw.begin_command_buffer(commands, &begin) } {
                state.free_commands.push(commands);
                return Err(self.gpu.error("command buffer", error));
            }
            // After all earlier chunks, and the copies of maps.
            barrier(raw, commands, vk::PipelineStageFlags::ALL_COMMANDS);
            state.reads.clear();
            state.writes.clear();
            state.transfers = false;
            state.recording = Some(Batch {
                commands,
                first: 0,
                last: 0,
                keeps: Vec::new(),
                chunks: Vec::new(),
                started: Instant::now(),
            });
        }
        Ok(state.recording.as_mut().expect("begun above"))
    }

    /// Puts a barrier before a command that depends on one since the last barrier.
    fn order(
        &self,
        state: &mut State,
        commands: vk::CommandBuffer,
        reads: &[vk::Buffer],
        writes: &[vk::Buffer],
        transfer: bool,
    ) {
        let met = |list: &[vk::Buffer], of: &[vk::Buffer]| list.iter().any(|buffer| of.contains(buffer));
        let depends = met(reads, &state.writes) || met(writes, &state.writes) || met(writes, &state.reads);
        if depends {
            if transfer || state.transfers {
                barrier(&self.gpu.raw, commands, vk::PipelineStageFlags::ALL_COMMANDS);
            } else {
                barrier_between_kernels(&self.gpu.raw, commands);
            }
            state.reads.clear();
            state.writes.clear();
            state.transfers = false;
        }
        state.transfers |= transfer;
        state.reads.extend_from_slice(reads);
        state.writes.extend_from_slice(writes);
    }

    /// Memory for GDS and shared registers.
    fn scratch(&self, state: &mut State, words: u32) -> Result<Option<Arc<Block>>> {
        if words == 0 {
            return Ok(None);
        }
        let bytes = 4 * u64::from(words);
        if state.scratch.as_ref().is_none_or(|block| block.bytes < bytes) {
            state.scratch = Some(Arc::new(Block::allocate(&self.gpu, bytes, Heap::Local)?));
        }
        Ok(state.scratch.clone())
    }

    fn launch(
        &self,
        state: &mut State,
        kernel: Arc<dyn Kernel>,
        bindings: Arc<Bindings>,
        extent: Extent,
    ) -> Result<()> {
        let Some(own) = kernel.as_any().downcast_ref::<VulkanKernel>() else {
            return Err(Error::Failed("a kernel of another backend is launched".into()));
        };
        let (groups, size) = match extent {
            Extent::Domain { width, height, .. } => ([width.div_ceil(8), height.div_ceil(8), 1], [8, 8, 1]),
            Extent::Grid { groups, block } => (groups, block),
        };
        if own.group.is_some_and(|group| group != size) {
            return Err(Error::Failed(format!("the kernel's group size is not {size:?}")));
        }
        let scratch = self.scratch(state, own.scratch_words())?;
        let table = table::encode(
            &own.layout,
            &bindings,
            extent,
            &self.counters,
            &self.counters,
            scratch.as_deref(),
        )?;
        let assume = Assume {
            formats: table.formats,
            default_samplers: table.default_samplers,
            surfaces: table.surfaces,
        };
        let pipeline = own.pipeline_for(assume, size)?;

        // What may fail comes first: recorded commands run, whether the launch was accepted or not.
        let (set, offset) = self.put(state, &table)?;
        let commands = self.recording(state)?.commands;
        // Scratch memory is filled first.
        self.order(state, commands, &table.reads, &table.writes, scratch.is_some());
        let raw = &self.gpu.raw;
        if let Some(scratch) = &scratch {
            // SAFETY: recording; the block is kept with the command.
            unsafe { raw.cmd_fill_buffer(commands, scratch.buffer, 0, vk::WHOLE_SIZE, 0) };
            barrier(raw, commands, vk::PipelineStageFlags::ALL_COMMANDS);
        }
        // SAFETY: recording; pipeline, set and all memories are kept until the command is done.
        unsafe {
            raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            raw.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::COMPUTE,
                self.gpu.pipeline_layout,
                0,
                &[set],
                &[offset],
            );
            for (z, depth) in pieces(groups[2]) {
                for (y, height) in pieces(groups[1]) {
                    for (x, width) in pieces(groups[0]) {
                        raw.cmd_dispatch_base(commands, x, y, z, width, height, depth);
                    }
                }
            }
        }
        each_shadow(&bindings, |shadow, _| shadow.enter());
        let keep = Keep::Kernel { _kernel: kernel, bindings, scratch };
        self.recording(state)?.keeps.push(keep);
        Ok(())
    }

    /// Writes a table into a chunk of the recording.
    fn put(&self, state: &mut State, table: &table::Table) -> Result<(vk::DescriptorSet, u32)> {
        loop {
            let batch = self.recording(state)?;
            if let Some(chunk) = batch.chunks.last_mut() {
                if let Some(offset) = chunk.push(table) {
                    return Ok((chunk.set, offset));
                }
                if chunk.is_new() {
                    return Err(Error::Failed("the launch table does not fit".into()));
                }
            }
            let chunk = match state.free_chunks.pop() {
                Some(chunk) => chunk,
                None => Chunk::new(&self.gpu)?,
            };
            self.recording(state)?.chunks.push(chunk);
        }
    }

    fn copy(&self, state: &mut State, src: &Surface, dst: &Surface) -> Result<()> {
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
        let raw = &self.gpu.raw;
        let mut between = None;
        if row == 0 || height == 0 || (from.buffer == to.buffer && source == target) {
            // Nothing moves.
        } else if from.buffer == to.buffer {
            // Regions of a Vulkan copy must not overlap: the source is read whole before anything is written.
            let block = Block::allocate(&self.gpu, row * height, Heap::Local)?;
            let commands = self.recording(state)?.commands;
            self.order(state, commands, &[from.buffer], &[to.buffer], true);
            // SAFETY: recording; all memories are kept until the command is done and the regions are inside them.
            unsafe {
                raw.cmd_copy_buffer(commands, from.buffer, block.buffer, &rows(source, (0, row)));
                barrier(raw, commands, vk::PipelineStageFlags::ALL_COMMANDS);
                raw.cmd_copy_buffer(commands, block.buffer, to.buffer, &rows((0, row), target));
            }
            between = Some(block);
        } else {
            let commands = self.recording(state)?.commands;
            self.order(state, commands, &[from.buffer], &[to.buffer], true);
            // SAFETY: as above.
            unsafe { raw.cmd_copy_buffer(commands, from.buffer, to.buffer, &rows(source, target)) };
        }
        for memory in [&src.memory, &dst.memory] {
            if let Some(shadow) = shadow(&**memory) {
                shadow.enter();
            }
        }
        let keep = Keep::Copy { src: src.memory.clone(), dst: dst.memory.clone(), _between: between };
        self.recording(state)?.keeps.push(keep);
        Ok(())
    }

    /// Submits what is recorded.
    fn submit_recorded(&self, state: &mut State) -> Result<()> {
        if crate::exit::closing() {
            return Err(crate::exit::reason());
        }
        // Without a command there is no ticket that the timeline could reach.
        let Some(mut batch) = state.recording.take_if(|batch| batch.first > 0) else { return Ok(()) };
        let raw = &self.gpu.raw;
        batch.started = Instant::now();
        let result = self.gpu.check().and_then(|()| {
            barrier(raw, batch.commands, vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST);
            let (commands, semaphores, values) = ([batch.commands], [self.timeline], [batch.last]);
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
            let info = [vk::SubmitInfo::default()
                .command_buffers(&commands)
                .signal_semaphores(&semaphores)
                .push_next(&mut timeline)];
            // SAFETY: everything recorded is alive until the timeline says that it is done; the queue is locked.
            unsafe {
                raw.end_command_buffer(batch.commands).and_then(|()| {
                    raw.queue_submit(*self.gpu.queues[self.index].lock(), &info, vk::Fence::null())
                })
            }
            .map_err(|error| self.gpu.error("submission", error))
        });
        match result {
            Ok(()) => {
                self.gpu.steps.submitted.get_or_init(crate::exit::register);
                state.running.push_back(batch);
                Ok(())
            }
            Err(error) => {
                // Tickets that were given out must be done some time: as failed.
                let error = self.gpu.lose(error);
                state.recording = Some(batch);
                self.abandon(state, error.clone());
                Err(error)
            }
        }
    }

    /// Position of the timeline.
    fn position(&self) -> Result<Ticket> {
        // SAFETY: the semaphore lives as long as the queue.
        unsafe { self.gpu.raw.get_semaphore_counter_value(self.timeline) }
            .map_err(|error| self.gpu.error("timeline", error))
    }

    /// Cleans up after chunks that are done, and looks at the watchdog.
    fn retire(&self, state: &mut State) {
        let position = self.gpu.check().and_then(|()| self.position().map_err(|error| self.gpu.lose(error)));
        let position = match position {
            Ok(position) => position,
            Err(error) => return self.abandon(state, error),
        };
        while state.running.front().is_some_and(|batch| batch.last <= position) {
            let Some(mut batch) = state.running.pop_front() else { break };
            let now = Instant::now();
            let from = state.last_done.map_or(batch.started, |done| done.max(batch.started));
            state.busy += now.saturating_duration_since(from);
            state.last_done = Some(now);
            batch.finish(true);
            for mut chunk in batch.chunks.drain(..) {
                chunk.reset();
                state.free_chunks.push(chunk);
            }
            state.free_commands.push(batch.commands);
            self.retired.fetch_max(batch.last, AcqRel);
            self.gpu.steps.done.get_or_init(crate::exit::register);
        }
        let (Some(limit), Some(batch)) = (self.gpu.watchdog, state.running.front()) else { return };
        let since = state.last_done.map_or(batch.started, |done| done.max(batch.started));
        if since.elapsed() > limit {
            let error = Error::Timeout(format!(
                "a kernel on {} ran longer than {} ms",
                self.gpu.facts.name,
                limit.as_millis()
            ));
            let error = self.gpu.lose(error);
            self.abandon(state, error);
        }
    }

    /// The device is gone: everything that was issued and is not done counts as done, with an error.
    fn abandon(&self, state: &mut State, error: Error) {
        let mut lost: Vec<Batch> = state.running.drain(..).collect();
        let hung = self.gpu.hung();
        if !hung && !lost.is_empty() {
            // The driver says that the device is gone, or has failed otherwise: work may still be under way.
            // SAFETY: the device is alive and the queue is locked.
            if let Err(error) = unsafe { self.gpu.raw.queue_wait_idle(*self.gpu.queues[self.index].lock()) } {
                log::debug!("awaiting work that is given up: {error}");
            }
        }
        lost.extend(state.recording.take());
        if let Some(first) = lost.iter().map(|batch| batch.first).find(|first| *first > 0) {
            if state.errors.len() == ERRORS {
                state.errors.pop_front();
            }
            state.errors.push_back((first..=state.issued, error));
        }
        for mut batch in lost {
            if hung {
                // A kernel that never ends may still use all this.
                std::mem::forget(batch);
            } else {
                batch.finish(false);
            }
        }
        self.retired.fetch_max(state.issued, AcqRel);
    }
}

impl Batch {
    /// The commands are done, or never ran.
    fn finish(&mut self, ran: bool) {
        for keep in self.keeps.drain(..) {
            match keep {
                Keep::Kernel { bindings, scratch, .. } => {
                    each_shadow(&bindings, |shadow, writes| shadow.leave(ran && writes));
                    drop(scratch);
                }
                Keep::Copy { src, dst, .. } => {
                    for (memory, writes) in [(src, false), (dst, true)] {
                        if let Some(shadow) = shadow(&*memory) {
                            shadow.leave(ran && writes);
                        }
                    }
                }
            }
        }
    }
}

/// Calls `f` for every bound memory that is a shadow, with whether kernels may write it.
fn each_shadow(bindings: &Bindings, mut f: impl FnMut(&crate::memory::Shadow, bool)) {
    let read = bindings.resources.iter().chain(&bindings.constants).map(|(_, surface)| (surface, false));
    let written = bindings.outputs.iter().chain(&bindings.uavs).map(|(_, surface)| (surface, true));
    let global = bindings.global.iter().map(|surface| (surface, true));
    for (surface, writes) in read.chain(written).chain(global) {
        if let Some(shadow) = shadow(&*surface.memory) {
            f(shadow, writes);
        }
    }
}

/// Parts of a dimension that a dispatch takes: first group and number.
fn pieces(groups: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..groups.div_ceil(GROUPS)).map(move |k| (k * GROUPS, (groups - k * GROUPS).min(GROUPS)))
}

impl Queue for VulkanQueue {
    fn submit(&self, command: Command) -> Result<Ticket> {
        self.gpu.check()?;
        let mut state = self.state.lock();
        let state = &mut *state;
        match command {
            Command::Launch { kernel, bindings, extent } => self.launch(state, kernel, bindings, extent)?,
            Command::Copy { src, dst } => self.copy(state, &src, &dst)?,
        }
        state.issued += 1;
        let ticket = state.issued;
        let batch = self.recording(state)?;
        if batch.first == 0 {
            batch.first = ticket;
        }
        batch.last = ticket;
        if batch.keeps.len() >= CHUNK_COMMANDS {
            self.submit_recorded(state)?;
            self.retire(state);
        }
        Ok(ticket)
    }

    fn flush(&self) -> Result<()> {
        let mut state = self.state.lock();
        self.submit_recorded(&mut state)
    }

    fn completed(&self) -> Ticket {
        let mut state = self.state.lock();
        if !state.running.is_empty() {
            self.retire(&mut state);
        }
        self.retired.load(Acquire)
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        if self.retired.load(Acquire) >= ticket {
            return self.error(ticket).map_or(Ok(()), Err);
        }
        self.flush()?;
        self.wait_submitted(ticket)
    }

    fn error(&self, ticket: Ticket) -> Option<Error> {
        let state = self.state.lock();
        if ticket > self.retired.load(Acquire) {
            return None;
        }
        state.errors.iter().find(|(failed, _)| failed.contains(&ticket)).map(|(_, error)| error.clone())
    }

    fn busy(&self) -> Duration {
        self.state.lock().busy
    }
}

impl VulkanQueue {
    /// Waits for what is submitted, without starting anything.
    pub fn settle(&self) {
        let last = self.state.lock().running.back().map(|batch| batch.last);
        if let Some(Err(error)) = last.map(|ticket| self.wait_submitted(ticket)) {
            log::debug!("work in flight at the end of the process: {error}");
        }
    }

    /// Returns when no other thread is inside the driver for this queue.
    pub fn pause(&self) {
        let state = self.state.try_lock_for(Duration::from_secs(1));
        let queue = self.gpu.queues[self.index].try_lock_for(Duration::from_secs(1));
        drop((state, queue));
    }

    /// Waits for a ticket whose chunk is submitted.
    fn wait_submitted(&self, ticket: Ticket) -> Result<()> {
        // To sleep and be woken takes longer than many kernels. A device that is the processor needs it for itself.
        if self.gpu.facts.kind != vk::PhysicalDeviceType::CPU {
            let start = Instant::now();
            while start.elapsed() < SPIN && self.position().is_ok_and(|position| position < ticket) {
                std::hint::spin_loop();
            }
        }
        loop {
            {
                let mut state = self.state.lock();
                self.retire(&mut state);
            }
            if self.retired.load(Acquire) >= ticket {
                return self.error(ticket).map_or(Ok(()), Err);
            }
            let (semaphores, values) = ([self.timeline], [ticket]);
            let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
            // SAFETY: the semaphore lives as long as the queue, and `info` until the call returns.
            let result = unsafe { self.gpu.raw.wait_semaphores(&info, SLICE.as_nanos() as u64) };
            if let Err(error) = result {
                if error != vk::Result::TIMEOUT {
                    let error = self.gpu.error("waiting", error);
                    let error = self.gpu.lose(error);
                    self.abandon(&mut self.state.lock(), error.clone());
                    return Err(error);
                }
            }
        }
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        let issued = self.state.get_mut().issued;
        if let Err(error) = self.wait(issued) {
            log::debug!("a queue was dropped with failed work: {error}");
            if !self.gpu.hung() {
                // What was submitted before may still be under way.
                // SAFETY: the device is alive and the queue is locked.
                let _ = unsafe { self.gpu.raw.queue_wait_idle(*self.gpu.queues[self.index].lock()) };
            }
        }
        if self.gpu.hung() {
            return;
        }
        // SAFETY: all work is done; nothing else uses pool and semaphore.
        unsafe {
            self.gpu.raw.destroy_semaphore(self.timeline, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
