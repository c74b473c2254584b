//! A context's command queue with what the API adds: one submission at a time, when to flush, what is done.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use recal_hal::{Command, Queue, Ticket, timeline};

use crate::error::{Error, Result};
use crate::sync::{AtomicU64, Mutex, MutexGuard};

/// Commands that may gather before they are started unasked.
const BATCH: u64 = 64;
/// Questions of all threads after which the one who asks lets others run: some 50 microseconds. The system may give the core
/// to another process, so that short work is better awaited.
const EVERY: u64 = 2048;
/// Questions of a thread for the same work after which it may sleep, if they were all that it did: some 3 microseconds. Longer
/// it keeps a core from the workers: with 2048 of them a launch of 1.6 ms took 1.2 times as long as when it was waited for, on two
/// cores, and as long with these.
const PATIENCE: u32 = 128;
/// Questions that follow each other faster are all that a thread does.
const AT_ONCE: Duration = Duration::from_micros(2);
/// How long such a thread then sleeps at a time if the work is not done before. It would take the core from the work.
const NAP: Duration = Duration::from_millis(1);
/// A thread that asks again so soon after a nap does nothing else.
const AWAKE: Duration = Duration::from_micros(20);
/// Works in a row for which a thread did nothing but ask until they were done, after which it is taken to do so from the first
/// question on, where it can do the work itself meanwhile.
const HABIT: u32 = 2;

/// A queue. Resources and events hold on to it, so work outlives its context.
pub(crate) struct Line {
    queue: Arc<dyn Queue>,
    /// Held while a command and the uses of its resources are recorded.
    submission: Mutex<()>,
    /// Latest ticket given out.
    last: AtomicU64,
    /// Every ticket up to this one was flushed.
    flushed: AtomicU64,
    /// How often someone asked for work that was not done.
    asked: AtomicU64,
}

/// What a thread asks.
#[derive(Clone, Copy)]
struct Asked {
    /// Address of the line, and ticket.
    what: (usize, Ticket),
    times: u32,
    /// When it asked first, or woke from its last nap.
    since: Option<Instant>,
    naps: bool,
    /// Works before this one for which it did nothing but ask, in a row.
    habit: u32,
    /// So it was with the last one, to its end.
    ended: bool,
}

thread_local! {
    static ASKED: Cell<Asked> =
        const { Cell::new(Asked { what: (0, 0), times: 0, since: None, naps: false, habit: 0, ended: false }) };
}

impl Asked {
    /// Counts a question of this thread about work that is not done; true if it does nothing but ask for this work, as it has
    /// shown with many questions, or before with other work if its time is `useful` to the work.
    fn only(what: (usize, Ticket), useful: bool) -> bool {
        let mut asked = ASKED.get();
        let within = |limit| asked.since.is_some_and(|since| since.elapsed() < limit);
        let naps = asked.what == what
            && if asked.naps { within(AWAKE) } else { asked.times >= PATIENCE && within(AT_ONCE * PATIENCE) };
        let anew = asked.what != what || !naps && (asked.naps || asked.times >= PATIENCE);
        if anew {
            let habit = if asked.what != what && asked.ended { asked.habit } else { 0 };
            asked = Asked { what, times: 0, since: Some(Instant::now()), naps: false, habit, ended: false };
        }
        asked.times = asked.times.saturating_add(1);
        asked.naps = naps || useful && asked.habit >= HABIT;
        ASKED.set(asked);
        asked.naps
    }

    /// The thread comes from a nap.
    fn woke(done: bool) {
        let asked = ASKED.get();
        let habit = asked.habit.saturating_add(u32::from(done));
        ASKED.set(Asked { since: Some(Instant::now()), habit, ended: done, ..asked });
    }
}

impl Line {
    pub(crate) fn limit_threads(&self, most: usize) {
        self.queue.limit_threads(most);
    }

    pub(crate) fn new(queue: Arc<dyn Queue>) -> Arc<Self> {
        Arc::new(Self {
            queue,
            submission: Mutex::new(()),
            last: AtomicU64::new(0),
            flushed: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        })
    }

    /// Begins a submission; [`Line::submit`] wants the guard.
    pub(crate) fn begin(&self) -> MutexGuard<'_, ()> {
        self.submission.lock()
    }

    pub(crate) fn submit(&self, _submission: &MutexGuard<'_, ()>, command: Command) -> Result<Ticket> {
        let ticket = self.queue.submit(command).map_err(|e| Error::backend("submitting work", e))?;
        self.last.store(ticket, Ordering::Release);
        if ticket.saturating_sub(self.flushed.load(Ordering::Relaxed)) >= BATCH {
            self.flush()?;
        }
        Ok(ticket)
    }

    pub(crate) fn last(&self) -> Ticket {
        self.last.load(Ordering::Acquire)
    }

    pub(crate) fn completed(&self) -> Ticket {
        self.queue.completed()
    }

    pub(crate) fn busy(&self) -> Duration {
        self.queue.busy()
    }

    /// Starts everything submitted so far.
    pub(crate) fn flush(&self) -> Result<()> {
        let last = self.last();
        if self.flushed.load(Ordering::Acquire) >= last {
            return Ok(());
        }
        self.queue.flush().map_err(|e| Error::backend("starting queued work", e))?;
        self.flushed.fetch_max(last, Ordering::AcqRel);
        Ok(())
    }

    /// Whether the work of the tickets `first` to `last` is done; starts it if not. An error if any of it failed.
    pub(crate) fn is_done(&self, first: Ticket, last: Ticket) -> Result<bool> {
        if self.queue.completed() < last {
            let what = (std::ptr::from_ref(self).addr(), last);
            let works = self.queue.waiting_works();
            let only = Asked::only(what, works);
            if !(only && works) {
                self.flush()?;
            }
            if self.queue.completed() < last {
                if !only {
                    // Who asks again and again may have the core that the work waits for.
                    if self.asked.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
                        std::thread::yield_now();
                    }
                    return Ok(false);
                }
                let start = timeline::now();
                let waited = self.queue.wait_for(last, NAP);
                timeline::done(start, "wait", "nap");
                waited.map_err(|e| Error::backend("waiting for work", e))?;
                let done = self.queue.completed() >= last;
                Asked::woke(done);
                if !done {
                    return Ok(false);
                }
            }
        }
        self.outcome(first, last).map(|()| true)
    }

    /// Starts and awaits the work of the tickets `first` to `last`; an error if any of it failed.
    pub(crate) fn wait(&self, first: Ticket, last: Ticket) -> Result<()> {
        if self.queue.completed() < last {
            self.start()?;
            // What failed is told ticket by ticket below; a wait that failed for another reason is told here.
            let start = timeline::now();
            let waited = self.queue.wait(last);
            timeline::done(start, "wait", "wait");
            if self.queue.completed() < last {
                waited.map_err(|e| Error::backend("waiting for work", e))?;
            }
        }
        self.outcome(first, last)
    }

    /// Flushes for one who waits, unless it is that thread itself that does the work: then nobody else need begin with it.
    fn start(&self) -> Result<()> {
        if self.queue.waiting_works() { Ok(()) } else { self.flush() }
    }

    /// As [`Line::wait`], for about so long at most; false if the work is not done by then.
    pub(crate) fn wait_for(&self, first: Ticket, last: Ticket, limit: Duration) -> Result<bool> {
        let start = Instant::now();
        while self.queue.completed() < last {
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            self.flush()?;
            let since = timeline::now();
            let waited = self.queue.wait_for(last, left);
            timeline::done(since, "wait", "wait for a time");
            if self.queue.completed() < last {
                waited.map_err(|e| Error::backend("waiting for work", e))?;
            }
        }
        self.outcome(first, last).map(|()| true)
    }

    /// Awaits everything; whether there was anything. Failures of single commands are not reported again.
    pub(crate) fn wait_all(&self) -> Result<bool> {
        let last = self.last();
        if last == 0 || self.queue.completed() >= last {
            return Ok(false);
        }
        self.start()?;
        let start = timeline::now();
        let waited = self.queue.wait(last);
        timeline::done(start, "wait", "wait for all");
        match waited {
            Err(e) if self.queue.completed() < last => Err(Error::backend("waiting for work", e)),
            _ => Ok(true),
        }
    }

    fn outcome(&self, first: Ticket, last: Ticket) -> Result<()> {
        for ticket in first.max(1)..=last {
            if let Some(e) = self.queue.error(ticket) {
                let doing = match e {
                    recal_hal::Error::Timeout(_) => {
                        "the work of this event was stopped (CAL_TIMEOUT is the limit)"
                    }
                    _ => "the work of this event failed",
                };
                return Err(Error::backend(doing, e));
            }
        }
        Ok(())
    }
}
