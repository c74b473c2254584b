//! Command queues: commands are recorded as they come, submitted in chunks, and counted on timelines.
//!
//! Kernels and copies have a timeline each where the device has a queue for copies; `order` says what waits for what.
//! Without one, copies go among the kernels. Commands that depend on each other through memory have a barrier between them;
//! others may overlap. What a command uses is kept until its chunk is done.

mod batch;
mod commands;
mod wait;

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire};
use std::time::{Duration, Instant};

use ash::vk;
use recal_hal::sync::Mutex;
use recal_hal::timeline;
use recal_hal::{Command, Error, Heap, Queue, Result, Ticket};

use self::batch::Reporting;
pub(crate) use self::batch::{Batch, Keep, each_import, each_shadow};
use crate::copy::Beside;
use crate::device::Gpu;
use crate::launch::{Deferred, Work};
use crate::memory::Block;
use crate::once::stand;
use crate::order::{self, Lane, Order, Uses};
use crate::overlap::Used;
use crate::repeat::Repeats;
use crate::stamps::Stamps;
use crate::table::{self, Chunk};
use crate::timeline::Timeline;

/// Commands after which a chunk is submitted unasked.
pub(crate) const CHUNK_COMMANDS: u32 = 64;
/// Failures that are remembered.
const ERRORS: usize = 64;
/// Longest wait between two looks at the clock.
const SLICE: Duration = Duration::from_millis(100);
/// How long a wait looks at the timeline again and again before it sleeps.
const SPIN: Duration = Duration::from_micros(100);

#[derive(Default)]
pub(crate) struct State {
    pub order: Order<Batch>,
    /// What waits for slices of a launch to be done, or for application memory, which comes first.
    pub deferred: VecDeque<Deferred>,
    /// The ticket of what was deferred and is being recorded.
    pub current: Option<Ticket>,
    /// By lane.
    free_commands: [Vec<vk::CommandBuffer>; 2],
    free_chunks: Vec<Chunk>,
    pub free_stamps: Vec<Stamps>,
    /// One of the kernels' that is begun and has nothing in it.
    begun: Option<vk::CommandBuffer>,
    pub repeats: Repeats,
    pub used: Used,
    pub beside: Beside,
    scratch: Option<Arc<Block>>,
    /// Tickets that failed, and why.
    errors: VecDeque<(RangeInclusive<Ticket>, Error)>,
    busy: Duration,
    /// When the last chunk of each lane was seen to be done.
    last_done: [Option<Instant>; 2],
    /// Where the device's times of each lane end, as they are drawn.
    pub last_drawn: [Option<Instant>; 2],
    /// Flows of the timeline, by the tickets that they lead to.
    pub flows: VecDeque<(Ticket, u64)>,
}

/// A queue of one context.
pub(crate) struct VulkanQueue {
    pub gpu: Arc<Gpu>,
    kernels: Timeline,
    pub copies: Option<Timeline>,
    pub counters: Arc<Block>,
    state: Mutex<State>,
    /// Highest ticket whose chunk was cleaned up after, and those of all before.
    retired: AtomicU64,
    /// Of its lanes, among the queues of a timeline.
    pub numbers: [u64; 2],
}

impl VulkanQueue {
    /// All up to this ticket is known to be done.
    pub fn done(&self) -> Ticket {
        self.retired.load(Acquire)
    }

    /// A queue on the device's queues with these numbers; without one for copies they go among the kernels.
    pub fn new(gpu: &Arc<Gpu>, kernels: usize, copies: Option<usize>, counters: Arc<Block>) -> Result<Self> {
        Ok(Self {
            kernels: Timeline::new(gpu, kernels)?,
            copies: copies.map(|copies| Timeline::new(gpu, copies)).transpose()?,
            gpu: gpu.clone(),
            counters,
            state: Mutex::default(),
            retired: AtomicU64::new(0),
            numbers: [timeline::queue(), timeline::queue()],
        })
    }

    /// The timeline of a lane; copies that have none are never in their lane.
    fn timeline(&self, lane: Lane) -> &Timeline {
        match lane {
            Lane::Kernels => &self.kernels,
            Lane::Copies => self.copies.as_ref().unwrap_or(&self.kernels),
        }
    }

    /// The chunk that is being recorded, begun if there is none.
    pub fn recording<'a>(&self, state: &'a mut State, lane: Lane) -> Result<&'a mut Batch> {
        if state.order.open(lane).is_none() {
            let begun = if lane == Lane::Kernels { state.begun.take() } else { None };
            let commands = begun.map_or_else(|| self.begin_commands(state, lane), Ok)?;
            let stamps = self.stamps(state, lane);
            let batch = Batch {
                commands,
                keeps: Vec::new(),
                count: 0,
                chunks: Vec::new(),
                started: Instant::now(),
                stamps,
                reports: Vec::new(),
                since: None,
                repeats: Vec::new(),
                alone: None,
                bound: 0,
            };
            state.order.begin(lane, batch);
        }
        Ok(state.order.open(lane).expect("begun above"))
    }

    /// Has a command wait for those of the other lane that it depends on. Comes before anything is recorded of it.
    pub fn await_other(&self, state: &mut State, lane: Lane, uses: &Uses) -> Result<()> {
        if self.copies.is_none() || state.order.after(lane, uses) == 0 {
            return Ok(());
        }
        // What is done by now need not be waited for.
        self.clean(state)?;
        let after = state.order.after(lane, uses);
        if after > 0 {
            if state.order.is_open(lane.other(), after) {
                self.submit_recorded(state, lane.other())?;
            }
            self.submit_recorded(state, lane)?;
            state.order.wait(lane, after);
        }
        Ok(())
    }

    /// Puts a barrier before a command that depends on one since the last barrier.
    pub fn order(
        &self,
        state: &mut State,
        lane: Lane,
        commands: vk::CommandBuffer,
        uses: &Uses,
        transfer: bool,
    ) {
        if let Some(batch) = state.order.open(lane) {
            batch.spell(&self.gpu);
        }
        let foreign = self.gpu.transfers.load(Acquire);
        let before = state.order.record(lane, uses, transfer, self.copies.is_some(), foreign);
        stand(&self.gpu.raw, commands, before);
    }

    /// Memory for GDS and shared registers.
    pub fn scratch(&self, state: &mut State, words: u32) -> Result<Option<Arc<Block>>> {
        if words == 0 {
            return Ok(None);
        }
        let bytes = 4 * u64::from(words);
        if state.scratch.as_ref().is_none_or(|block| block.bytes < bytes) {
            state.scratch = Some(Arc::new(Block::allocate(&self.gpu, bytes, Heap::Local)?));
        }
        Ok(state.scratch.clone())
    }

    /// Writes a table into a chunk of the recording.
    pub fn put(&self, state: &mut State, table: &mut table::Table) -> Result<(vk::DescriptorSet, u32)> {
        loop {
            let batch = self.recording(state, Lane::Kernels)?;
            let number = batch.chunks.len();
            if let Some(chunk) = batch.chunks.last_mut() {
                if let Some((offset, report)) = chunk.push(table) {
                    let reporting = |report| Reporting { ticket: 0, chunk: number - 1, report };
                    batch.reports.extend(report.map(reporting));
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
            self.recording(state, Lane::Kernels)?.chunks.push(chunk);
        }
    }

    /// Submits what is recorded in a lane.
    pub fn submit_recorded(&self, state: &mut State, lane: Lane) -> Result<()> {
        if crate::exit::closing() {
            return Err(crate::exit::reason());
        }
        if lane == Lane::Kernels {
            self.spell_many(state);
        }
        let Some(mut chunk) = state.order.take_open(lane) else { return Ok(()) };
        chunk.work.started = Instant::now();
        let alone = chunk.work.alone.take();
        let result = self.gpu.check().and_then(|()| {
            let commands = match &alone {
                Some((repeat, times)) => self.alone(state, repeat, *times)?,
                None => vec![self.end_recording(chunk.work.commands, chunk.plain)?],
            };
            let after = (chunk.after > 0).then(|| (self.timeline(lane.other()), chunk.after));
            self.timeline(lane).submit(&commands, after, chunk.point)
        });
        match result {
            Ok(()) => {
                if alone.is_some() {
                    state.begun = Some(std::mem::take(&mut chunk.work.commands));
                }
                self.gpu.steps.submitted.get_or_init(crate::exit::register);
                state.order.run(lane, chunk);
                // The next chunk is begun while the device has this one. If that fails, the next command says so.
                if let Err(error) = self.recording(state, lane) {
                    log::debug!("no chunk was begun: {error}");
                }
                Ok(())
            }
            Err(error) => {
                // Tickets that were given out must be done some time: as failed.
                let error = self.gpu.lose(error);
                self.abandon(state, Some(chunk), error.clone());
                Err(error)
            }
        }
    }

    /// Submits what is recorded in a lane if it is much.
    pub fn submit_full(&self, state: &mut State, lane: Lane) -> Result<()> {
        if self.recording(state, lane)?.count >= CHUNK_COMMANDS {
            self.submit_recorded(state, lane)?;
            self.clean(state)?;
        }
        Ok(())
    }

    pub fn submit_all(&self, state: &mut State) -> Result<()> {
        Lane::ALL.into_iter().try_for_each(|lane| self.submit_recorded(state, lane))
    }

    /// Positions of the timelines that have work.
    fn positions(&self, state: &State) -> Result<[u64; 2]> {
        let mut positions = [0; 2];
        for lane in Lane::ALL {
            if state.order.running(lane).next().is_some() {
                positions[lane as usize] = self.timeline(lane).position()?;
            }
        }
        Ok(positions)
    }

    /// Cleans up after chunks that are done, goes on with launches in slices, and looks at the watchdog.
    fn retire(&self, state: &mut State) {
        if self.clean(state).is_ok() && self.advance(state).is_ok() {
            self.retired.fetch_max(state.completed(), AcqRel);
            self.watch(state);
        }
    }

    /// Cleans up after chunks that are done. An error if the device is lost.
    pub fn clean(&self, state: &mut State) -> Result<()> {
        let positions =
            self.gpu.check().and_then(|()| self.positions(state).map_err(|error| self.gpu.lose(error)));
        let positions = match positions {
            Ok(positions) => positions,
            Err(error) => {
                self.abandon(state, None, error.clone());
                return Err(error);
            }
        };
        for lane in Lane::ALL {
            while let Some(mut chunk) = state.order.take_done(lane, positions[lane as usize]) {
                if !chunk.plain {
                    self.gpu.transfers.fetch_add(1, AcqRel);
                }
                let now = Instant::now();
                let before = state.last_done.iter().flatten().max();
                let from = before.map_or(chunk.work.started, |done| chunk.work.started.max(*done));
                let time = now.saturating_duration_since(from);
                state.busy += time;
                self.draw(state, lane, &mut chunk, from, now);
                chunk.work.tell(time);
                if let Some(Deferred { ticket, work: Work::Slices(launch) }) = state.deferred.front_mut() {
                    if *ticket == chunk.first {
                        launch.started.get_or_insert(from);
                    }
                }
                state.last_done[lane as usize] = Some(now);
                for ticket in chunk.work.reported() {
                    let name = &self.gpu.facts.name;
                    let text = format!(
                        "{name} ended a loop of the kernel too early: it allows the loops of a thread only so many rounds \
                         together (docs/vulkan.md); what the launch computed is wrong"
                    );
                    state.fail(ticket..=ticket, Error::Failed(text));
                }
                chunk.work.finish(true);
                for mut chunk in chunk.work.chunks.drain(..) {
                    chunk.reset();
                    state.free_chunks.push(chunk);
                }
                state.free_stamps.extend(chunk.work.stamps.take());
                for repeat in chunk.work.repeats.drain(..) {
                    state.free_commands(Lane::Kernels, Repeats::free(repeat));
                }
                // None if what was submitted were a launch's that came before.
                let own = Some(chunk.work.commands).filter(|own| *own != vk::CommandBuffer::null());
                state.free_commands(lane, own);
                self.gpu.steps.done.get_or_init(crate::exit::register);
            }
        }
        self.retired.fetch_max(state.completed(), AcqRel);
        Ok(())
    }

    /// Gives the device up if a launch takes too long.
    fn watch(&self, state: &mut State) {
        let Some(limit) = self.gpu.watchdog else { return };
        let late = Lane::ALL.into_iter().any(|lane| {
            let Some(chunk) = state.order.running(lane).next() else { return false };
            if let Some(since) = chunk.work.since {
                return since.elapsed() > limit;
            }
            // It began after the one before, and after the one that it waits for.
            let other = state.last_done[lane.other() as usize].filter(|_| chunk.after > 0);
            let since = [state.last_done[lane as usize], other].into_iter().flatten();
            since.fold(chunk.work.started, Instant::max).elapsed() > limit
        });
        if late {
            let error = Error::Timeout(format!(
                "a kernel on {} ran longer than {} ms",
                self.gpu.facts.name,
                limit.as_millis()
            ));
            let error = self.gpu.lose(error);
            self.abandon(state, None, error);
        }
    }

    /// The device is gone: everything that was issued and is not done counts as done, with an error. `chunk` was not
    /// accepted by the device.
    fn abandon(&self, state: &mut State, chunk: Option<order::Chunk<Batch>>, error: Error) {
        let hung = self.gpu.hung();
        for lane in Lane::ALL {
            if !hung && state.order.running(lane).next().is_some() {
                // The driver says that the device is gone, or has failed otherwise: work may still be under way.
                self.timeline(lane).idle();
            }
        }
        let issued = state.order.issued();
        let first = self.retired.load(Acquire) + 1;
        if first <= issued {
            state.fail(first..=issued, error);
        }
        state.deferred.clear();
        state.current = None;
        for mut chunk in state.order.take_all().into_iter().chain(chunk) {
            if hung {
                // A kernel that never ends may still use all this.
                std::mem::forget(chunk);
            } else {
                chunk.work.finish(false);
            }
        }
        self.retired.fetch_max(issued, AcqRel);
    }
}

impl State {
    /// The last ticket before which, and with which, all are done.
    fn completed(&self) -> Ticket {
        let deferred = self.current.or(self.deferred.front().map(|next| next.ticket));
        let done = self.order.completed();
        deferred.map_or(done, |next| done.min(next - 1))
    }

    /// Command buffers have nothing to do any more.
    pub fn free_commands(&mut self, lane: Lane, commands: impl IntoIterator<Item = vk::CommandBuffer>) {
        self.free_commands[lane as usize].extend(commands);
    }

    /// What was recorded last in a lane has this ticket.
    pub fn stamp(&mut self, lane: Lane, ticket: Ticket) {
        self.order.stamp(lane, ticket);
        if let Some(batch) = self.order.open(lane) {
            batch.sign(ticket);
        }
    }

    /// Notes that tickets failed.
    pub fn fail(&mut self, tickets: RangeInclusive<Ticket>, error: Error) {
        if self.errors.len() == ERRORS {
            self.errors.pop_front();
        }
        self.errors.push_back((tickets, error));
    }
}

impl Queue for VulkanQueue {
    fn submit(&self, command: Command) -> Result<Ticket> {
        self.gpu.check()?;
        let start = timeline::now();
        let name = if matches!(command, Command::Copy { .. }) { "copy" } else { "launch" };
        let mut state = self.state.lock();
        // It may be done before `append` returns.
        let flow = start.map(|_| timeline::flow());
        let next = state.order.issued() + 1;
        state.flows.extend(flow.map(|flow| (next, flow)));
        let ticket = self.append(&mut state, command);
        timeline::submitted(start, name, flow);
        ticket
    }

    fn flush(&self) -> Result<()> {
        self.submit_all(&mut self.state.lock())
    }

    fn completed(&self) -> Ticket {
        let mut state = self.state.lock();
        if state.order.issued() > self.retired.load(Acquire) {
            self.retire(&mut state);
        }
        self.retired.load(Acquire)
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        while self.retired.load(Acquire) < ticket {
            let goals = {
                let mut state = self.state.lock();
                if !state.deferred.is_empty() {
                    self.retire(&mut state);
                }
                self.submit_all(&mut state)?;
                state.order.goals(ticket)
            };
            if goals == [0; 2] && self.retired.load(Acquire) < ticket {
                // Slices that are not submitted any more.
                return Err(crate::exit::reason());
            }
            self.wait_submitted(goals, None)?;
        }
        self.error(ticket).map_or(Ok(()), Err)
    }

    fn wait_for(&self, ticket: Ticket, limit: Duration) -> Result<()> {
        let goals = self.state.lock().order.goals(ticket);
        self.wait_submitted(goals, Some(limit))
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
