//! The worker threads of a device.
//!
//! A worker runs the commands of a queue that was flushed, or helps with the parts of launches in progress. A
//! caller who waits for a queue runs its commands itself, with the workers' help, so small launches never leave the
//! caller's thread. Workers look for work for some microseconds before they sleep.
//!
//! Queues share the workers: after a [`TURN`] with one of them a worker looks for who else waits. A launch may keep its
//! workers for longer, for ever perhaps; then a queue that has waited for [`PATIENCE`] gets a thread more, and the system
//! shares the cores. Threads that are too many end when they find no work.
//!
//! The threads belong to the [`Pool`], which devices and queues share. Dropping the last of them joins all threads;
//! nothing else of this crate lives on, so that the library may be unloaded. Nobody waits for a worker that has
//! not started something: what is not claimed is done by the one who waits.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use recal_hal::sync::{Condvar, Mutex};
use recal_hal::{Bindings, Error, Extent, FloatEnv, Result, timeline};
use recal_reference::watch::Findings;

use crate::context::{Counters, Launch, Stop};
use crate::fiber::Stacks;
use crate::isa_choice::Isa;
use crate::launch::{Scratch, parts, regrouped, run_parts};
use crate::memory::{Block, InUse, View};
use crate::op::Code;
use crate::queue::Runner;
use crate::watched;

/// How long a thread that ran out of work looks for more before it sleeps.
const SPIN: Duration = Duration::from_micros(20);
/// How long a worker stays with one queue or launch if others wait.
pub const TURN: Duration = Duration::from_millis(1);
/// How long a queue waits for a worker before another one is started.
const PATIENCE: Duration = Duration::from_millis(2);
/// Nanoseconds of work that are not worth another thread.
pub const SMALL: u64 = 20_000;
/// Workers beyond one for each core.
const MOST_MORE: usize = 256;
/// How long those look for work before they end.
const LINGER: Duration = Duration::from_millis(300);
/// Most parts that are claimed at a time.
const CLAIM: u64 = 64;
/// What they should take at most.
const CLAIM_TIME: Duration = Duration::from_micros(500);

/// A launch in progress.
pub struct Job {
    code: Arc<Code>,
    bindings: Arc<Bindings>,
    extent: Extent,
    isa: &'static Isa,
    counters: Arc<Counters>,
    gds: Option<Block>,
    parts: u64,
    /// Cores that it can use.
    threads: u64,
    next: AtomicU64,
    /// Workers that help the thread that runs the queue.
    active: AtomicUsize,
    stop: Arc<Stop>,
    /// Where misuse is reported, if it is looked for.
    findings: Option<Arc<Findings>>,
    failed: Mutex<Option<Error>>,
}

impl Job {
    /// Everything a launch needs.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        code: Arc<Code>,
        bindings: Arc<Bindings>,
        extent: Extent,
        isa: &'static Isa,
        counters: Arc<Counters>,
        stop: Arc<Stop>,
        findings: Option<Arc<Findings>>,
        threads: usize,
    ) -> Result<Job> {
        // Who looks for misuse looks at the groups of the launch.
        let free = code.groups_unseen && findings.is_none();
        let extent = if free { regrouped(extent) } else { extent };
        let parts = parts(&code, extent);
        let gds = match code.gds_bytes {
            0 => None,
            bytes => Some(Block::allocate(u64::from(bytes), u64::MAX, &InUse::default())?),
        };
        Ok(Job {
            code,
            bindings,
            extent,
            isa,
            counters,
            gds,
            parts,
            threads: threads as u64,
            next: AtomicU64::new(0),
            active: AtomicUsize::new(0),
            stop,
            findings,
            failed: Mutex::new(None),
        })
    }

    /// The next parts that nobody has: many at first, few at the end, so that all threads are done at about the same
    /// time.
    fn claim(&self, most: u64) -> Option<Range<u64>> {
        // Groups that share registers run one after another, in order.
        let whole = self.code.shared > 0;
        let least = (self.parts / (self.threads * 256)).clamp(1, 8);
        let size = |start: u64| {
            let rest = self.parts.saturating_sub(start);
            if whole { rest } else { (rest / (self.threads * 4)).clamp(least, CLAIM).min(most).min(rest) }
        };
        let more = |start: u64| (start < self.parts).then(|| start + size(start));
        let start = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(start..start + size(start))
    }

    fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.parts && !self.stop.raised()
    }

    /// One more worker is of use. With one for each core, beside the thread that runs the queue, they would wait for
    /// each other's time.
    fn wants_help(&self) -> bool {
        self.has_more() && (self.active.load(Ordering::Relaxed) as u64) + 1 < self.threads
    }

    /// Works on the launch until no part is left, or `leave` says so between parts.
    fn work(&self, scratch: &mut Scratch, leave: impl Fn(Instant) -> bool) {
        // Nobody knows yet how long a part takes.
        let (mut most, mut claimed, mut since) = (1, 0, Instant::now());
        let claim = || {
            let now = Instant::now();
            if claimed > 0 {
                let slow = now - since > CLAIM_TIME;
                most = if slow { (most / 2).max(1) } else { (2 * most).min(CLAIM) };
                if leave(now) {
                    return None;
                }
            }
            let range = self.claim(most)?;
            (claimed, since) = (range.end - range.start, now);
            Some(range)
        };
        let run = || {
            let gds = self.gds.as_ref().map_or(View::EMPTY, Block::view);
            if let (Some(findings), Some(subject)) = (&self.findings, &self.code.subject) {
                let shared = watched::Shared { gds, counters: &self.counters, stop: &self.stop };
                return watched::check(subject, findings, &self.bindings, self.extent, shared, claim);
            }
            let launch =
                Launch::bind(&self.code, &self.bindings, self.extent, gds, &self.counters, &self.stop)?;
            run_parts(&launch, self.isa, scratch, claim)
        };
        // A panic here is a bug of this crate; it must not take the process, or a lock, with it.
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| {
            *scratch = Scratch::default();
            let text =
                cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
            Err(Error::Failed(format!("the engine failed: {}", text.unwrap_or("no message"))))
        });
        if let Err(error) = result {
            self.stop.cancel();
            self.failed.lock().get_or_insert(error);
        }
    }

    /// Whether it pays to wake other threads for it.
    fn is_large(&self) -> bool {
        self.parts > 1 && self.threads > 1 && self.code.shared == 0 && cost(&self.code, self.parts) > SMALL
    }
}

/// Nanoseconds that a launch takes about; with loops or calls nobody knows.
pub fn cost(code: &Code, parts: u64) -> u64 {
    let operations = code.steps.len() as u64 * 15 + code.memory.len() as u64 * 100 + 50;
    if code.loops || code.functions > 1 { u64::MAX } else { parts.saturating_mul(operations) }
}

#[derive(Default)]
struct State {
    jobs: Vec<Arc<Job>>,
    queues: VecDeque<Arc<Runner>>,
    ending: bool,
    sleeping: usize,
    /// Workers that have not ended.
    workers: usize,
    /// Workers that sleep for as long as there is nothing to do.
    lasting: usize,
    threads: Vec<JoinHandle<()>>,
}

/// What workers and queues share.
pub struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// Changes when there may be work; lets idle workers look without the lock.
    news: AtomicU64,
    /// When the first of the queues began to wait, as nanoseconds after `start`; 0 = none waits.
    waiting: AtomicU64,
    /// Launches that workers may help with.
    jobs: AtomicUsize,
    stacks: Stacks,
    start: Instant,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            news: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            jobs: AtomicUsize::new(0),
            stacks: Stacks::default(),
            start: Instant::now(),
        }
    }
}

impl Shared {
    fn mark(&self, waits: bool) {
        let now = if waits { self.start.elapsed().as_nanos() as u64 } else { 0 };
        self.waiting.store(now.max(u64::from(waits)), Ordering::Relaxed);
    }

    /// Whether a queue has waited for a worker for so long.
    fn waits(&self, now: Instant, patience: Duration) -> bool {
        let since = self.waiting.load(Ordering::Relaxed);
        since > 0 && (now - self.start).as_nanos() as u64 > since + patience.as_nanos() as u64
    }

    /// Where callers who give their time to a queue work.
    pub fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// Whether a worker that has spent a turn with a queue should look at others.
    pub fn others_wait(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Starts another worker if a queue waits for too long.
    pub fn make_room(self: &Arc<Self>, now: Instant) {
        if !self.waits(now, PATIENCE) {
            return;
        }
        let mut state = self.state.lock();
        if state.queues.is_empty() || state.ending || state.lasting == 0 || !self.waits(now, PATIENCE) {
            return;
        }
        self.mark(true);
        if state.workers < state.lasting + MOST_MORE {
            if let Err(error) = self.start_worker(&mut state) {
                log::debug!("no worker was added: {error}");
            }
        }
    }

    /// Starts a worker; an error if the system gives none.
    fn start_worker(self: &Arc<Self>, state: &mut State) -> std::io::Result<()> {
        // The handles of those that have ended are of no use any more.
        let (ended, alive) = state.threads.drain(..).partition(JoinHandle::is_finished);
        state.threads = alive;
        let ended: Vec<JoinHandle<()>> = ended;
        ended.into_iter().for_each(|thread| drop(thread.join()));
        let shared = self.clone();
        let name = format!("cal-cpu-{}", state.workers);
        state.threads.push(std::thread::Builder::new().name(name).spawn(move || shared.worker())?);
        state.workers += 1;
        Ok(())
    }

    fn announce(&self, state: &State, threads: usize) {
        self.news.fetch_add(1, Ordering::Release);
        for _ in 0..threads.min(state.sleeping) {
            self.wake.notify_one();
        }
    }

    /// Lets a worker run the queue.
    pub fn enqueue(&self, queue: Arc<Runner>) {
        let mut state = self.state.lock();
        if state.queues.is_empty() {
            self.mark(true);
        }
        state.queues.push_back(queue);
        self.announce(&state, 1);
    }

    /// Runs a launch to its end, on this thread and on idle workers.
    pub fn run(&self, job: Job, scratch: &mut Scratch) -> Result<()> {
        let job = Arc::new(job);
        let shared = job.is_large();
        if shared {
            let mut state = self.state.lock();
            state.jobs.push(job.clone());
            self.jobs.store(state.jobs.len(), Ordering::Relaxed);
            self.announce(&state, usize::MAX);
        }
        job.work(scratch, |_| false);
        if shared {
            let mut state = self.state.lock();
            state.jobs.retain(|other| !Arc::ptr_eq(other, &job));
            self.jobs.store(state.jobs.len(), Ordering::Relaxed);
            drop(state);
            // Nobody joins any more; those who did are in the middle of their last parts.
            let mut spins = 0u32;
            while job.active.load(Ordering::Acquire) > 0 {
                spins += 1;
                if spins < 2000 {
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
        }
        if let Some(error) = job.failed.lock().take() {
            return Err(error);
        }
        job.stop.error().map_or(Ok(()), Err)
    }

    fn worker(self: Arc<Self>) {
        // Threads inherit the environment of those who start them.
        let _env = FloatEnv::enter();
        let mut scratch = Scratch::default();
        let mut idle = Instant::now();
        let mut state = self.state.lock();
        loop {
            if state.ending {
                return;
            }
            let helpers = |job: &&Arc<Job>| job.active.load(Ordering::Relaxed);
            // Nobody works for a queue that waits; a launch has at least its own thread.
            if let Some(queue) = state.queues.pop_front() {
                self.mark(!state.queues.is_empty());
                drop(state);
                queue.run_scheduled(&mut scratch);
                drop(queue);
                idle = Instant::now();
                state = self.state.lock();
            } else if let Some(job) =
                state.jobs.iter().filter(|job| job.wants_help()).min_by_key(helpers).cloned()
            {
                job.active.fetch_add(1, Ordering::Relaxed);
                drop(state);
                let since = Instant::now();
                job.work(&mut scratch, |now| {
                    let others = self.jobs.load(Ordering::Relaxed) > 1 && now - since > TURN;
                    others || self.waits(now, SPIN)
                });
                job.active.fetch_sub(1, Ordering::Release);
                // Nobody waits for it any more.
                timeline::done(timeline::is_on().then_some(since), "worker", "help");
                drop(job);
                idle = Instant::now();
                state = self.state.lock();
            } else if state.workers > state.lasting && idle.elapsed() > LINGER {
                state.workers -= 1;
                return;
            } else {
                let news = self.news.load(Ordering::Acquire);
                drop(state);
                let until = Instant::now() + SPIN;
                while self.news.load(Ordering::Acquire) == news && Instant::now() < until {
                    (0..32).for_each(|_| std::hint::spin_loop());
                }
                state = self.state.lock();
                if self.news.load(Ordering::Acquire) == news && !state.ending {
                    state.sleeping += 1;
                    state = if state.workers > state.lasting {
                        self.wake.wait_for(state, LINGER)
                    } else {
                        self.wake.wait(state)
                    };
                    state.sleeping -= 1;
                }
            }
        }
    }
}

/// The threads; dropping it joins them.
pub struct Pool {
    shared: Arc<Shared>,
    /// Workers that sleep for as long as there is nothing to do.
    threads: usize,
}

impl Pool {
    /// Starts `threads` workers, or as many as the system gives.
    pub fn start(threads: usize) -> Pool {
        let shared = Arc::<Shared>::default();
        let mut state = shared.state.lock();
        // All that there are now last.
        state.lasting = threads;
        while state.workers < threads {
            if let Err(error) = shared.start_worker(&mut state) {
                log::warn!("worker thread {} did not start: {error}", state.workers);
                break;
            }
        }
        state.lasting = state.workers;
        let threads = state.workers;
        drop(state);
        Pool { shared, threads }
    }

    /// What queues need of it.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Number of workers that stay.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let threads = {
            let mut state = self.shared.state.lock();
            state.ending = true;
            state.queues.clear();
            std::mem::take(&mut state.threads)
        };
        self.shared.news.fetch_add(1, Ordering::Release);
        self.shared.wake.notify_all();
        for thread in threads {
            // A worker that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}
