//! A context's command queue with what the API adds: one submission at a time, when to flush, what is done.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use recal_hal::{Command, Queue, Ticket};

use crate::error::{Error, Result};
use crate::sync::{AtomicU64, Mutex, MutexGuard};

/// Commands that may gather before they are started unasked.
const BATCH: u64 = 64;
/// Questions after which the one who asks lets other threads run: some 50 microseconds. The system may give the core to
/// another process, so that short work is better awaited.
const PATIENCE: u64 = 2048;

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

impl Line {
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

    pub(crate) fn busy(&self) -> std::time::Duration {
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
            self.flush()?;
            if self.queue.completed() < last {
                // Who asks again and again may have the core that the work waits for.
                if self.asked.fetch_add(1, Ordering::Relaxed) % PATIENCE == PATIENCE - 1 {
                    std::thread::yield_now();
                }
                return Ok(false);
            }
        }
        self.outcome(first, last).map(|()| true)
    }

    /// Starts and awaits the work of the tickets `first` to `last`; an error if any of it failed.
    pub(crate) fn wait(&self, first: Ticket, last: Ticket) -> Result<()> {
        if self.queue.completed() < last {
            self.flush()?;
            // What failed is told ticket by ticket below; a wait that failed for another reason is told here.
            let waited = self.queue.wait(last);
            if self.queue.completed() < last {
                waited.map_err(|e| Error::backend("waiting for work", e))?;
            }
        }
        self.outcome(first, last)
    }

    /// Awaits everything. Failures of single commands are not reported again.
    pub(crate) fn wait_all(&self) -> Result<()> {
        let last = self.last();
        if last == 0 || self.queue.completed() >= last {
            return Ok(());
        }
        self.flush()?;
        match self.queue.wait(last) {
            Err(e) if self.queue.completed() < last => Err(Error::backend("waiting for work", e)),
            _ => Ok(()),
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
