//! The worker threads of a device.
//!
//! A worker runs the commands of a queue that was flushed, or helps with the parts of launches in progress. A
//! caller who waits for a queue runs its commands itself, with the workers' help, so small launches never leave the
//! caller's thread. Workers look for work for some microseconds before they sleep, where a core is free for that.
//!
//! Queues share the workers: after a [`TURN`] with one of them a worker looks for who else waits. A launch may keep its
//! workers for longer, for ever perhaps; then a queue that has waited for [`PATIENCE`] gets a thread more, and the system
//! shares the cores. Threads that are too many end when they find no work.
//!
//! The threads belong to the [`Pool`], which devices and queues share. Dropping the last of them joins all threads;
//! nothing else of this crate lives on, so that the library may be unloaded. Nobody waits for a worker that has
//! not started something: what is not claimed is done by the one who waits.

mod shares;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use recal_hal::sync::{Condvar, Mutex, MutexGuard};
use recal_hal::{Bindings, Error, Extent, FloatEnv, Result, timeline};
use recal_reference::watch::Findings;

use self::shares::{CLAIM, Shares};
use crate::context::{Counters, Launch, Stop};
use crate::fiber::Stacks;
use crate::isa_choice::Isa;
use crate::launch::{Scratch, columns, in_waves, longer, parts, regrouped, run_parts, turned};
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
/// What parts that are claimed together should take at most.
const CLAIM_TIME: Duration = Duration::from_micros(500);

/// A launch in progress.
pub struct Job {
    code: Arc<Code>,
    bindings: Arc<Bindings>,
    extent: Extent,
    columns: u32,
    isa: &'static Isa,
    counters: Arc<Counters>,
    gds: Option<Block>,
    parts: u64,
    /// See [`cost`].
    cost: u64,
    /// Cores that it can use.
    threads: u64,
    shares: Shares,
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
        let free = |unseen: bool| unseen && findings.is_none();
        let columns = columns(&code, &bindings);
        let extent = if free(code.groups_unseen) { regrouped(extent, columns) } else { extent };
        let cost = cost(&code, parts(&code, extent, columns));
        let alone = findings.is_none() && code.panels.is_empty() && !turned(&code, extent);
        let columns = if alone { longer(extent, columns, threads) } else { columns };
        let extent = if free(code.waves_alone) { in_waves(&code, extent, threads) } else { extent };
        let parts = parts(&code, extent, columns);
        // Groups that share registers run one after another, in order.
        let shares = if code.shared > 0 { Shares::whole(parts) } else { Shares::new(parts, threads as u64) };
        let gds = match code.gds_bytes {
            0 => None,
            bytes => Some(Block::allocate(u64::from(bytes), u64::MAX, &InUse::default())?),
        };
        Ok(Job {
            code,
            bindings,
            extent,
            columns,
            isa,
            counters,
            gds,
            parts,
            cost,
            threads: threads as u64,
            shares,
            active: AtomicUsize::new(0),
            stop,
            findings,
            failed: Mutex::new(None),
        })
    }

    fn has_more(&self) -> bool {
        self.shares.has_more() && !self.stop.raised()
    }

    /// One more worker is of use. With one for each core, beside the thread that runs the queue, they would wait for
    /// each other's time.
    fn wants_help(&self) -> bool {
        self.has_more() && (self.active.load(Ordering::Relaxed) as u64) + 1 < self.threads
    }

    /// Works on the launch until no part is left, or `leave` says so between parts. Who runs the queue has number 0.
    fn work(&self, number: usize, scratch: &mut Scratch, leave: impl Fn(Instant) -> bool) {
        // Nobody knows yet how long a part takes.
        let (mut most, mut claimed, mut since) = (1, 0, Instant::now());
        let share = self.shares.join(number);
        let claim = || {
            let now = Instant::now();
            if claimed > 0 {
                let slow = now - since > CLAIM_TIME;
                most = if slow { (most / 2).max(1) } else { (2 * most).min(CLAIM) };
                if leave(now) {
                    return None;
                }
            }
            let range = self.shares.claim(share, most)?;
            (claimed, since) = (range.end - range.start, now);
            Some(range)
        };
        let run = || {
            let gds = self.gds.as_ref().map_or(View::EMPTY, Block::view);
            if let (Some(findings), Some(subject)) = (&self.findings, &self.code.subject) {
                let shared = watched::Shared { gds, counters: &self.counters, stop: &self.stop };
                return watched::check(subject, findings, &self.bindings, self.extent, shared, claim);
            }
            let launch = Launch::bind(
                &self.code,
                &self.bindings,
                (self.extent, self.columns),
                gds,
                &self.counters,
                &self.stop,
            )?;
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
        self.parts > 1 && self.threads > 1 && self.code.shared == 0 && self.cost > SMALL
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
    /// Workers that look for work.
    looking: usize,
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
    /// Threads that run queues or help with launches.
    busy: AtomicUsize,
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
            busy: AtomicUsize::new(0),
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
        let (ended, alive): (Vec<_>, _) = state.threads.drain(..).partition(JoinHandle::is_finished);
        state.threads = alive;
        ended.into_iter().for_each(|thread| drop(thread.join()));
        let shared = self.clone();
        let number = state.workers;
        let worker = std::thread::Builder::new().name(format!("cal-cpu-{number}"));
        state.threads.push(worker.spawn(move || shared.worker(number + 1))?);
        state.workers += 1;
        Ok(())
    }

    /// Tells those who look for work that there is some, and wakes so many of those who sleep, all of whom want the lock.
    fn announce(&self, state: MutexGuard<'_, State>, threads: usize) {
        let woken = threads.min(state.sleeping);
        drop(state);
        self.news.fetch_add(1, Ordering::Release);
        for _ in 0..woken {
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
        // Who looks for work finds one each.
        let more = usize::from(state.queues.len() > state.looking);
        self.announce(state, more);
    }

    /// A thread works until this is dropped.
    pub fn at_work(&self) -> impl Drop + use<'_> {
        struct AtWork<'a>(&'a AtomicUsize);
        impl Drop for AtWork<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.busy.fetch_add(1, Ordering::Relaxed);
        AtWork(&self.busy)
    }

    /// How many more threads there are cores for. Those that look for work are enough for the queues that wait, or will help.
    fn idle_cores(&self, state: &State) -> usize {
        let looking = state.looking.saturating_sub(state.queues.len());
        state.lasting.saturating_sub(self.busy.load(Ordering::Relaxed) + looking)
    }

    /// Runs a launch to its end, on this thread and on idle workers.
    pub fn run(&self, job: Job, scratch: &mut Scratch) -> Result<()> {
        let job = Arc::new(job);
        let shared = job.is_large();
        if shared {
            let mut state = self.state.lock();
            state.jobs.push(job.clone());
            self.jobs.store(state.jobs.len(), Ordering::Relaxed);
            // Threads that no core is free for would take turns with those that work.
            let more = self.idle_cores(&state);
            self.announce(state, more);
        }
        job.work(0, scratch, |_| false);
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

    fn worker(self: Arc<Self>, number: usize) {
        // Threads inherit the environment of those who start them.
        let _env = FloatEnv::enter();
        let mut scratch = Scratch::default();
        let mut idle = Instant::now();
        // Whether it has looked for work in vain.
        let mut looked = false;
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
                (idle, looked) = (Instant::now(), false);
                state = self.state.lock();
            } else if let Some(job) =
                state.jobs.iter().filter(|job| job.wants_help()).min_by_key(helpers).cloned()
            {
                job.active.fetch_add(1, Ordering::Relaxed);
                drop(state);
                let at_work = self.at_work();
                let since = Instant::now();
                job.work(number, &mut scratch, |now| {
                    let others = self.jobs.load(Ordering::Relaxed) > 1 && now - since > TURN;
                    others || self.waits(now, SPIN)
                });
                job.active.fetch_sub(1, Ordering::Release);
                drop(at_work);
                // Nobody waits for it any more.
                timeline::done(timeline::is_on().then_some(since), "worker", "help");
                drop(job);
                (idle, looked) = (Instant::now(), false);
                state = self.state.lock();
            } else if state.workers > state.lasting && idle.elapsed() > LINGER {
                state.workers -= 1;
                return;
            } else if !looked && self.idle_cores(&state) > 0 {
                state.looking += 1;
                let news = self.news.load(Ordering::Acquire);
                drop(state);
                let until = Instant::now() + SPIN;
                while self.news.load(Ordering::Acquire) == news && Instant::now() < until {
                    (0..32).for_each(|_| std::hint::spin_loop());
                }
                state = self.state.lock();
                state.looking -= 1;
                looked = self.news.load(Ordering::Acquire) == news;
            } else {
                state.sleeping += 1;
                state = match state.workers > state.lasting {
                    true => self.wake.wait_for(state, LINGER),
                    false => self.wake.wait(state),
                };
                state.sleeping -= 1;
                looked = false;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_threads_are_woken_than_there_are_idle_cores() {
        let shared = Shared::default();
        let idle = |looking| shared.idle_cores(&State { lasting: 4, looking, ..State::default() });
        assert_eq!([0, 3, 4, 5].map(idle), [4, 1, 0, 0]);
        let working = [(); 3].map(|()| shared.at_work());
        assert_eq!([0, 1, 2].map(idle), [1, 0, 0]);
        drop(working);
        assert_eq!(idle(1), 3);
    }
}
