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

mod board;
mod job;
mod shares;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use recal_hal::sync::{Condvar, Mutex, MutexGuard};
use recal_hal::{FloatEnv, Result, timeline, without_signals};

use self::board::Board;
pub use self::job::{Job, SMALL, cost, cost_of_copy};
use crate::fiber::Stacks;
use crate::launch::Scratch;
use crate::queue::Runner;

/// How long a thread that ran out of work looks for more before it sleeps.
const SPIN: Duration = Duration::from_micros(20);
/// How long a worker stays with one queue or launch if others wait.
pub const TURN: Duration = Duration::from_millis(1);
/// How long a queue waits for a worker before another one is started.
const PATIENCE: Duration = Duration::from_millis(2);
/// Workers beyond one for each core.
const MOST_MORE: usize = 256;
/// How long those look for work before they end.
const LINGER: Duration = Duration::from_millis(300);

#[derive(Default)]
struct State {
    queues: VecDeque<Arc<Runner>>,
    ending: bool,
    /// Workers that have not ended.
    workers: usize,
    /// The numbers, less one, of those that do not sleep.
    numbers: Vec<bool>,
    /// Workers that sleep for as long as there is nothing to do.
    lasting: usize,
    threads: Vec<JoinHandle<()>>,
}

impl State {
    /// A number for a worker that has a core now, the least that is free: those that work have numbers that follow each other.
    fn take_number(&mut self) -> usize {
        let free = self.numbers.iter().position(|taken| !taken).unwrap_or(self.numbers.len());
        if free == self.numbers.len() {
            self.numbers.push(true);
        }
        self.numbers[free] = true;
        free + 1
    }

    fn give_back(&mut self, number: usize) {
        self.numbers[number - 1] = false;
    }
}

/// Whether a worker looks for work; each in a line of the cache of its own.
#[derive(Default)]
#[repr(align(64))]
struct Looks(AtomicBool);

/// What workers and queues share.
pub struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    /// Workers that sleep. Changed with the lock.
    sleeping: AtomicUsize,
    /// Changes when there may be work; lets idle workers look without the lock.
    news: AtomicU64,
    /// When the first of the queues began to wait, as nanoseconds after `start`; 0 = none waits.
    waiting: AtomicU64,
    /// Launches that workers may help with.
    board: Board,
    /// Threads that have a core: workers that do not sleep, and callers who run queues.
    awake: AtomicUsize,
    /// Of the workers that last.
    looks: Box<[Looks]>,
    stacks: Stacks,
    start: Instant,
}

impl Shared {
    /// For so many workers that last.
    fn new(workers: usize) -> Shared {
        Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            sleeping: AtomicUsize::new(0),
            news: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            board: Board::default(),
            awake: AtomicUsize::new(0),
            looks: (0..workers).map(|_| Looks::default()).collect(),
            stacks: Stacks::default(),
            start: Instant::now(),
        }
    }

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
        state.threads.push(without_signals(|| worker.spawn(move || shared.worker()))?);
        state.workers += 1;
        Ok(())
    }

    /// Tells those who look for work that there is some.
    fn announce(&self) {
        self.news.fetch_add(1, Ordering::SeqCst);
    }

    /// Wakes so many of those who sleep, all of whom want the lock.
    fn rouse(&self, state: MutexGuard<'_, State>, threads: usize) {
        let woken = threads.min(self.sleeping.load(Ordering::Relaxed));
        drop(state);
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
        self.announce();
        // Who looks for work finds one each.
        let looking = self.looks.iter().filter(|looks| looks.0.load(Ordering::Relaxed)).count();
        let more = usize::from(state.queues.len() > looking);
        self.rouse(state, more);
    }

    /// A thread that is no worker works until this is dropped.
    pub fn at_work(&self) -> impl Drop + use<'_> {
        struct AtWork<'a>(&'a AtomicUsize);
        impl Drop for AtWork<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.awake.fetch_add(1, Ordering::Relaxed);
        AtWork(&self.awake)
    }

    /// How many more threads there are cores for.
    fn idle_cores(&self, lasting: usize) -> usize {
        lasting.saturating_sub(self.awake.load(Ordering::Relaxed))
    }

    /// Runs a launch to its end, on this thread and on idle workers.
    pub fn run(&self, job: Job, scratch: &mut Scratch) -> Result<()> {
        let job = Arc::new(job);
        let share = job.begin();
        let place = if job.is_large() { self.board.add(&job) } else { None };
        if place.is_some() {
            self.announce();
            if self.sleeping.load(Ordering::SeqCst) > 0 {
                let state = self.state.lock();
                // Threads that no core is free for would take turns with those that work, and who has no part would wake for nothing.
                let more = self.idle_cores(state.lasting).min(job.most_threads() - 1);
                self.rouse(state, more);
            }
        }
        job.work(share, scratch, |_| false);
        debug_assert!(job.is_claimed(), "nobody does what is left");
        if let Some(place) = place {
            self.board.remove(place);
            job.end();
        }
        job.result()
    }

    /// Helps with a launch. Whether it is of no more use there; nothing if there is none that a thread more is of use for.
    fn help(&self, scratch: &mut Scratch) -> Option<bool> {
        self.board.help(scratch.number, |job, share| {
            let since = Instant::now();
            let done = job.work(share, scratch, |now| {
                let others = self.board.count() > 1 && now - since > TURN;
                others || self.waits(now, SPIN)
            });
            timeline::done(timeline::is_on().then_some(since), "worker", "help");
            done
        })
    }

    /// Waits for news, for some time. Whether there are any.
    fn look(&self, number: usize, news: u64) -> bool {
        let looks = self.looks.get(number - 1);
        let tell = |whether| looks.inspect(|looks| looks.0.store(whether, Ordering::Relaxed));
        tell(true);
        let until = Instant::now() + SPIN;
        while self.news.load(Ordering::Acquire) == news && Instant::now() < until {
            (0..4).for_each(|_| std::hint::spin_loop());
        }
        tell(false);
        self.news.load(Ordering::Acquire) != news
    }

    fn worker(self: Arc<Self>) {
        // Threads inherit the environment of those who start them.
        let _env = FloatEnv::enter();
        let mut scratch = Scratch::of(self.state.lock().take_number());
        let mut idle = Instant::now();
        let lasting = self.looks.len();
        self.awake.fetch_add(1, Ordering::Relaxed);
        loop {
            // What comes from here on is seen before it sleeps.
            let news = self.news.load(Ordering::SeqCst);
            // Nobody works for a queue that waits; a launch has at least its own thread.
            if let Some(queue) = self.next_queue() {
                queue.run_scheduled(&mut scratch);
                drop(queue);
                idle = Instant::now();
                continue;
            }
            if let Some(done) = self.help(&mut scratch) {
                idle = Instant::now();
                if !done || self.board.count() > 1 {
                    continue;
                }
            }
            // No core is free for more threads that look for work.
            if self.awake.load(Ordering::Relaxed) <= lasting && self.look(scratch.number, news) {
                continue;
            }
            let mut state = self.state.lock();
            if state.ending {
                return;
            }
            let more = state.workers > state.lasting;
            if more && idle.elapsed() > LINGER {
                state.workers -= 1;
                state.give_back(scratch.number);
                self.awake.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            if self.news.load(Ordering::SeqCst) == news {
                state.give_back(scratch.number);
                self.awake.fetch_sub(1, Ordering::Relaxed);
                state = if more { self.wake.wait_for(state, LINGER) } else { self.wake.wait(state) };
                self.awake.fetch_add(1, Ordering::Relaxed);
                scratch.number = state.take_number();
            }
            self.sleeping.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The queue that has waited longest.
    fn next_queue(&self) -> Option<Arc<Runner>> {
        if !self.others_wait() {
            return None;
        }
        let mut state = self.state.lock();
        let queue = state.queues.pop_front();
        self.mark(!state.queues.is_empty());
        queue
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
        let shared = Arc::new(Shared::new(threads));
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
        self.shared.announce();
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
        let shared = Shared::new(4);
        assert_eq!(shared.idle_cores(4), 4);
        let working = [(); 3].map(|()| shared.at_work());
        assert_eq!([2, 3, 4].map(|lasting| shared.idle_cores(lasting)), [0, 0, 1]);
        drop(working);
        assert_eq!(shared.idle_cores(3), 3);
    }

    #[test]
    fn workers_that_do_not_sleep_have_numbers_that_follow_each_other() {
        let mut state = State::default();
        assert_eq!([(); 3].map(|()| state.take_number()), [1, 2, 3]);
        state.give_back(2);
        state.give_back(1);
        assert_eq!([(); 3].map(|()| state.take_number()), [1, 2, 4]);
    }
}
