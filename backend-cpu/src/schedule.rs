//! The worker threads of a device.
//!
//! A worker helps with the parts of launches in progress, or runs the commands of a queue that was flushed. A
//! caller who waits for a queue runs its commands itself, with the workers' help, so small launches never leave the
//! caller's thread. Workers look for work for some microseconds before they sleep.
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
use recal_hal::{Bindings, Error, Extent, Result};

use crate::context::{Counters, Launch, Stop};
use crate::isa_choice::Isa;
use crate::launch::{Scratch, parts, run_parts};
use crate::memory::{Block, InUse, View};
use crate::observe::{Checker, Findings, Watch};
use crate::op::Code;
use crate::queue::Runner;

/// How long a thread that ran out of work looks for more before it sleeps.
const SPIN: Duration = Duration::from_micros(20);

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
        let parts = parts(extent);
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
    fn claim(&self) -> Option<Range<u64>> {
        // Groups that share registers run one after another, in order.
        let whole = self.code.shared > 0;
        let least = (self.parts / (self.threads * 256)).clamp(1, 8);
        let size = |start: u64| {
            let rest = self.parts.saturating_sub(start);
            if whole { rest } else { (rest / (self.threads * 4)).clamp(least, 64).min(rest) }
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

    /// Works on the launch until no part is left.
    fn work(&self, scratch: &mut Scratch) {
        let run = || {
            let gds = self.gds.as_ref().map_or(View::EMPTY, Block::view);
            let launch =
                Launch::bind(&self.code, &self.bindings, self.extent, gds, &self.counters, &self.stop)?;
            let mut checker = self.findings.as_deref().map(Checker::new);
            let watch = checker.as_mut().map(|checker| checker as &mut dyn Watch);
            run_parts(&launch, self.isa, scratch, watch, || self.claim())
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
        let cost = self.code.steps.len() as u64 * 15 + self.code.memory.len() as u64 * 100 + 50;
        self.parts > 1
            && self.threads > 1
            && self.code.shared == 0
            && (self.code.loops || self.parts.saturating_mul(cost) > 20_000)
    }
}

#[derive(Default)]
struct State {
    jobs: Vec<Arc<Job>>,
    queues: VecDeque<Arc<Runner>>,
    ending: bool,
    sleeping: usize,
}

/// What workers and queues share.
#[derive(Default)]
pub struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// Changes when there may be work; lets idle workers look without the lock.
    news: AtomicU64,
}

impl Shared {
    fn announce(&self, state: &State, threads: usize) {
        self.news.fetch_add(1, Ordering::Release);
        for _ in 0..threads.min(state.sleeping) {
            self.wake.notify_one();
        }
    }

    /// Lets a worker run the queue.
    pub fn enqueue(&self, queue: Arc<Runner>) {
        let mut state = self.state.lock();
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
            self.announce(&state, usize::MAX);
        }
        job.work(scratch);
        if shared {
            self.state.lock().jobs.retain(|other| !Arc::ptr_eq(other, &job));
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
        let mut scratch = Scratch::default();
        let mut state = self.state.lock();
        loop {
            if state.ending {
                return;
            }
            if let Some(job) = state.jobs.iter().find(|job| job.wants_help()).cloned() {
                job.active.fetch_add(1, Ordering::Relaxed);
                drop(state);
                job.work(&mut scratch);
                job.active.fetch_sub(1, Ordering::Release);
                drop(job);
                state = self.state.lock();
            } else if let Some(queue) = state.queues.pop_front() {
                drop(state);
                queue.run_scheduled(&mut scratch);
                drop(queue);
                state = self.state.lock();
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
                    state = self.wake.wait(state);
                    state.sleeping -= 1;
                }
            }
        }
    }
}

/// The threads; dropping it joins them.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts `threads` workers, or as many as the system gives.
    pub fn start(threads: usize) -> Pool {
        let shared = Arc::<Shared>::default();
        let spawn = |number: usize| {
            let shared = shared.clone();
            std::thread::Builder::new().name(format!("cal-cpu-{number}")).spawn(move || shared.worker())
        };
        let threads = (0..threads).map_while(|number| match spawn(number) {
            Ok(thread) => Some(thread),
            Err(error) => {
                log::warn!("worker thread {number} did not start: {error}");
                None
            }
        });
        let threads = threads.collect();
        Pool { shared, threads }
    }

    /// What queues need of it.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        {
            let mut state = self.shared.state.lock();
            state.ending = true;
            state.queues.clear();
        }
        self.shared.news.fetch_add(1, Ordering::Release);
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}
