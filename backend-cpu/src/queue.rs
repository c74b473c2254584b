//! Command queues: in order, run by whoever comes first, a worker after a flush or the caller who waits.
//!
//! Dropping a queue stops the launch in progress and discards what has not started: whoever wants results waits
//! for them first. At process exit no wait can hang for want of a worker, since a waiting caller runs the commands
//! itself; only a launch that a worker has already begun is waited for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recal_hal::sync::{Condvar, Mutex};
use recal_hal::timeline::{self, Detail, Flows, Span, Track};
use recal_hal::{Command, Error, FloatEnv, Queue, Result, Ticket};
use recal_reference::watch::Findings;

use crate::context::{Counters, Stop};
use crate::copy::Copy;
use crate::device::CpuKernel;
use crate::fiber::{self, Fiber, Stacks};
use crate::launch::{Scratch, tiles};
use crate::schedule::{Job, Pool, SMALL, Shared, TURN, cost, cost_of_copy};
use crate::sleepers::{Sleepers, sleep};
use crate::wave::LANES;

/// Failed tickets that are remembered.
const ERRORS: usize = 4096;
/// How often a waiting caller looks before it sleeps, and how often at a time: to lock keeps others from it.
const LOOKS: u32 = 125;
const AT_A_TIME: u32 = 16;

#[derive(Default)]
struct State {
    /// With the flow of the timeline that leads to it.
    pending: VecDeque<(Ticket, Command, u64)>,
    last: Ticket,
    /// A thread is running commands.
    running: bool,
    /// A worker has been asked to.
    scheduled: bool,
    /// What a thread has begun and had no time to end; `running` is set.
    parked: Option<Fiber>,
    /// Signal of the launch in progress.
    stop: Option<Arc<Stop>>,
    closing: bool,
    sleepers: Sleepers,
    scratch: Scratch,
}

impl AsMut<Sleepers> for State {
    fn as_mut(&mut self) -> &mut Sleepers {
        &mut self.sleepers
    }
}

/// The part of a queue that workers see.
pub struct Runner {
    state: Mutex<State>,
    done: Condvar,
    completed: AtomicU64,
    busy: AtomicU64,
    errors: Mutex<VecDeque<(Ticket, Error)>>,
    shared: Arc<Shared>,
    stacks: Stacks,
    counters: Arc<Counters>,
    /// That work on a launch.
    threads: AtomicUsize,
    watchdog: Option<Duration>,
    findings: Option<Arc<Findings>>,
    /// Among the queues of a timeline.
    number: u64,
}

/// A command queue of the CPU.
pub struct CpuQueue {
    runner: Arc<Runner>,
    /// Keeps the workers alive; they hold no reference to it, so it is never dropped on one of them.
    pool: Arc<Pool>,
}

impl CpuQueue {
    /// An empty queue.
    pub fn new(
        pool: Arc<Pool>,
        counters: Arc<Counters>,
        watchdog: Option<Duration>,
        findings: Option<Arc<Findings>>,
    ) -> CpuQueue {
        let runner = Runner {
            state: Mutex::default(),
            done: Condvar::new(),
            completed: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            errors: Mutex::default(),
            shared: pool.shared().clone(),
            stacks: pool.shared().stacks().clone(),
            counters,
            threads: AtomicUsize::new(pool.threads().max(1)),
            watchdog,
            findings,
            number: timeline::queue(),
        };
        CpuQueue { runner: Arc::new(runner), pool }
    }
}

impl Runner {
    /// Runs commands as a worker, unless someone else already does.
    pub fn run_scheduled(self: &Arc<Self>, scratch: &mut Scratch) {
        let mut state = self.state.lock();
        state.scheduled = false;
        if let Some(fiber) = state.parked.take() {
            drop(state);
            fiber.run(None);
        } else if !state.running {
            state.running = true;
            drop(state);
            self.run(None, scratch);
        }
    }

    /// Runs commands up to the one that somebody waits for; as a worker until others wait. The caller has set `running`.
    fn run(self: &Arc<Self>, awaited: Option<Ticket>, scratch: &mut Scratch) {
        let _env = FloatEnv::enter();
        let _at_work = awaited.map(|_| self.shared.at_work());
        let begun = Instant::now();
        let mut started = begun;
        let mut state = self.state.lock();
        loop {
            let next = state.pending.front().map(|(ticket, ..)| *ticket);
            let due = !state.closing
                && match awaited {
                    Some(last) => next.is_some_and(|ticket| ticket <= last),
                    None => next.is_some() && !(started - begun > TURN && self.shared.others_wait()),
                };
            let Some((ticket, command, flow)) = (if due { state.pending.pop_front() } else { None }) else {
                state.running = false;
                // The rest was flushed too, but is nobody's to wait for now.
                if !state.pending.is_empty() && !state.closing && !state.scheduled {
                    state.scheduled = true;
                    self.shared.enqueue(self.clone());
                }
                state.sleepers.wake(&self.done, Ticket::MAX);
                return;
            };
            let stop = Arc::new(Stop::after(self.watchdog, Some(self.shared.clone())));
            state.stop = Some(stop.clone());
            drop(state);
            let told = timeline::now().map(|start| (start, told(&command)));
            let result = self.execute(command, &stop, scratch);
            let now = Instant::now();
            self.busy.fetch_add((now - started).as_nanos() as u64, Ordering::Relaxed);
            started = now;
            if let Err(error) = result {
                log::error!("command {ticket} failed: {error}");
                let mut errors = self.errors.lock();
                if errors.len() == ERRORS {
                    errors.pop_front();
                }
                errors.push_back((ticket, error));
            }
            state = self.state.lock();
            state.stop = None;
            self.completed.store(ticket, Ordering::Release);
            state.sleepers.wake(&self.done, ticket);
            if let Some((start, (name, size))) = told {
                // Whoever waits for the command need not wait for this.
                drop(state);
                self.draw(name, size, start, now, flow);
                state = self.state.lock();
            }
        }
    }

    /// Runs commands up to the one that is waited for, on this thread, for so long at most; a worker does the rest. False if the
    /// work is another thread's.
    fn run_until(self: &Arc<Self>, awaited: Ticket, until: Option<Instant>) -> bool {
        let mut state = self.state.lock();
        let fiber = if state.parked.is_some() {
            state.parked.take()
        } else if state.running {
            None
        } else {
            let runner = self.clone();
            let work = move || {
                let mut scratch = std::mem::take(&mut runner.state.lock().scratch);
                runner.run(Some(awaited), &mut scratch);
                runner.state.lock().scratch = scratch;
            };
            let fiber = Fiber::new(&self.stacks, work);
            state.running = fiber.is_some();
            fiber
        };
        drop(state);
        let Some(fiber) = fiber else { return false };
        if let Some(rest) = fiber.run(until) {
            let mut state = self.state.lock();
            state.parked = Some(rest);
            if !state.scheduled {
                state.scheduled = true;
                self.shared.enqueue(self.clone());
            }
        }
        true
    }

    /// Records a command for the timeline: on the row of the queue, and on that of the thread that ran it.
    // Not inlined: the thread may be another than the one that began the command.
    #[inline(never)]
    fn draw(&self, name: &'static str, detail: Detail, start: Instant, end: Instant, flow: u64) {
        let times = [start, end];
        let arrives = if flow == 0 { Flows::None } else { Flows::One(flow) };
        let queue = Track::Queue("CPU queue", self.number);
        timeline::record(Span { detail, arrives, ..Span::new(queue, "queue", name, times) });
        let start = fiber::since().map_or(start, |since| since.max(start));
        timeline::record(Span::new(Track::Thread, "worker", "work", [start, end]));
    }

    fn execute(&self, command: Command, stop: &Arc<Stop>, scratch: &mut Scratch) -> Result<()> {
        let threads = (self.threads.load(Ordering::Relaxed), scratch.number);
        match command {
            Command::Launch { kernel, bindings, extent } => {
                let Some(kernel) = kernel.as_any().downcast_ref::<CpuKernel>() else {
                    return Err(Error::Failed("a kernel of another backend was launched".into()));
                };
                let (code, isa) = (kernel.code.clone(), kernel.isa);
                let (counters, findings) = (self.counters.clone(), self.findings.clone());
                let job =
                    Job::of_launch(code, bindings, extent, isa, counters, stop.clone(), findings, threads)?;
                self.shared.run(job, scratch)
            }
            Command::Copy { src, dst } => {
                self.shared.run(Job::of_copy(Copy::new(src, dst)?, stop.clone(), threads), scratch)
            }
        }
    }
}

/// Whether commands are done sooner than a worker would begin with them.
fn is_small(commands: &VecDeque<(Ticket, Command, u64)>) -> bool {
    let cost = |command: &Command| match command {
        Command::Launch { kernel, extent, .. } => kernel
            .as_any()
            .downcast_ref::<CpuKernel>()
            .map_or(u64::MAX, |kernel| cost(&kernel.code, tiles(*extent, LANES as u32))),
        Command::Copy { src, .. } => cost_of_copy(src.bytes()),
    };
    let mut total = 0u64;
    commands.iter().all(|(_, command, _)| {
        total = total.saturating_add(cost(command));
        total <= SMALL
    })
}

/// What a command is, for the timeline.
fn told(command: &Command) -> (&'static str, Detail) {
    match command {
        Command::Launch { extent, .. } => ("launch", Detail::Extent(*extent)),
        Command::Copy { src, .. } => ("copy", Detail::Bytes(src.bytes())),
    }
}

impl Queue for CpuQueue {
    fn submit(&self, command: Command) -> Result<Ticket> {
        let start = timeline::now();
        let flow = start.map(|_| timeline::flow());
        timeline::submitted(start, start.map_or("", |_| told(&command).0), flow);
        let mut state = self.runner.state.lock();
        state.last += 1;
        let ticket = state.last;
        state.pending.push_back((ticket, command, flow.unwrap_or(0)));
        Ok(ticket)
    }

    fn flush(&self) -> Result<()> {
        let mut state = self.runner.state.lock();
        if self.pool.threads() == 0 {
            // The system gave no thread: whoever only looks whether work is done must find it done some time.
            let last = state.last;
            drop(state);
            return self.wait(last);
        }
        if !state.running && !state.scheduled && !state.pending.is_empty() {
            if self.runner.findings.is_none() && is_small(&state.pending) {
                // Done here before a worker has woken, so that asking takes no longer than waiting.
                let last = state.last;
                drop(state);
                return self.wait(last);
            }
            state.scheduled = true;
            self.runner.shared.enqueue(self.runner.clone());
        }
        Ok(())
    }

    fn completed(&self) -> Ticket {
        self.runner.completed.load(Ordering::Acquire)
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        let runner = &self.runner;
        let mut looks = 0;
        while self.completed() < ticket {
            let mut state = runner.state.lock();
            if ticket > state.last {
                return Err(Error::Failed(format!("ticket {ticket} was never given out")));
            }
            if let Some(fiber) = state.parked.take() {
                drop(state);
                fiber.run(None);
            } else if !state.running {
                state.running = true;
                let mut scratch = std::mem::take(&mut state.scratch);
                drop(state);
                runner.run(Some(ticket), &mut scratch);
                runner.state.lock().scratch = scratch;
            } else if looks < LOOKS {
                drop(state);
                looks += 1;
                let mut at_a_time = 0..AT_A_TIME;
                while at_a_time.next().is_some() && self.completed() < ticket {
                    std::hint::spin_loop();
                }
            } else if self.completed() < ticket {
                drop(sleep(&runner.done, state, ticket, None));
            }
        }
        Ok(())
    }

    fn limit_threads(&self, most: usize) {
        self.runner.threads.store(most.clamp(1, self.pool.threads().max(1)), Ordering::Relaxed);
    }

    fn waiting_works(&self) -> bool {
        self.pool.threads() > 0
    }

    fn wait_for(&self, ticket: Ticket, limit: Duration) -> Result<()> {
        let start = Instant::now();
        while self.completed() < ticket {
            let now = Instant::now();
            let Some(rest) = limit.checked_sub(now - start).filter(|rest| !rest.is_zero()) else { break };
            if self.runner.run_until(ticket, now.checked_add(rest)) {
                continue;
            }
            // Another thread does it, or must.
            self.flush()?;
            self.runner.shared.make_room(now);
            let state = self.runner.state.lock();
            if self.completed() < ticket {
                drop(sleep(&self.runner.done, state, ticket, Some(rest)));
            }
        }
        Ok(())
    }

    fn error(&self, ticket: Ticket) -> Option<Error> {
        let errors = self.runner.errors.lock();
        errors.iter().find(|(failed, _)| *failed == ticket).map(|(_, error)| error.clone())
    }

    fn busy(&self) -> Duration {
        Duration::from_nanos(self.runner.busy.load(Ordering::Relaxed))
    }
}

impl Drop for CpuQueue {
    fn drop(&mut self) {
        let mut state = self.runner.state.lock();
        state.closing = true;
        state.pending.clear();
        while state.running {
            if let Some(stop) = &state.stop {
                stop.cancel();
            }
            if let Some(fiber) = state.parked.take() {
                drop(state);
                fiber.run(None);
                state = self.runner.state.lock();
                continue;
            }
            state = sleep(&self.runner.done, state, Ticket::MAX, None);
        }
    }
}
