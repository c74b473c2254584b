//! Performance counters (`CAL_EXT_COUNTERS`).
//!
//! *Idle* is measured: one minus the share of wall time between begin and end during which the queue kept the
//! device busy. The window closes when the work submitted before [`Counter::end`] is first seen to be done, by any
//! poll or wait on the context, or by [`Counter::value`].
//!
//! *Input cache hit rate* is modelled, from what the launches of the window read: every 64-byte line of each bound
//! input misses once, all other reads hit. Reads are counted as threads times the fetch instructions in the text.

use std::sync::Arc;
use std::time::{Duration, Instant};

use recal_hal::Ticket;
use recal_hal::sync::Mutex;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::line::Line;

/// What is counted (CAL 1.4: `CALcountertype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterType {
    /// Fraction of time without work, 0 to 1.
    Idle,
    /// Fraction of input reads served by the cache, 0 to 1.
    InputCacheHitRate,
}

/// A performance counter of a context.
#[derive(Clone)]
pub struct Counter {
    context: Context,
    kind: CounterType,
    window: Arc<Window>,
}

/// The time between begin and end.
pub(crate) struct Window(Mutex<State>);

#[derive(Clone, Copy)]
struct Open {
    since: Instant,
    busy: Duration,
    reads: f64,
    misses: f64,
}

#[derive(Clone, Copy)]
enum State {
    New,
    Open(Open),
    /// Ended; the work up to the ticket may still run.
    Ended(Open, Ticket),
    Closed {
        idle: f64,
        hits: f64,
    },
}

impl Window {
    /// Closes the window if its work is done.
    pub(crate) fn observe(&self, line: &Line) {
        let mut state = self.0.lock();
        if let State::Ended(open, ticket) = *state
            && line.completed() >= ticket
        {
            let elapsed = open.since.elapsed().as_secs_f64();
            let busy = line.busy().saturating_sub(open.busy).as_secs_f64();
            let idle = if elapsed > 0.0 { (1.0 - busy / elapsed).clamp(0.0, 1.0) } else { 0.0 };
            let hits = if open.reads > 0.0 { (1.0 - open.misses / open.reads).clamp(0.0, 1.0) } else { 0.0 };
            *state = State::Closed { idle, hits };
        }
    }

    /// A launch: reads of inputs, and how many distinct cache lines they span.
    pub(crate) fn add(&self, reads: f64, lines: f64) {
        if let State::Open(open) = &mut *self.0.lock() {
            open.reads += reads;
            open.misses += lines.min(reads);
        }
    }
}

impl Context {
    /// Makes a counter.
    pub fn create_counter(&self, kind: CounterType) -> Counter {
        let window = Arc::new(Window(Mutex::new(State::New)));
        self.add_window(&window);
        Counter { context: self.clone(), kind, window }
    }
}

impl Counter {
    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Starts measuring.
    pub fn begin(&self) -> Result<()> {
        self.context.flush()?;
        let busy = self.context.line().busy();
        *self.window.0.lock() = State::Open(Open { since: Instant::now(), busy, reads: 0.0, misses: 0.0 });
        Ok(())
    }

    /// Ends measuring after the work submitted so far.
    pub fn end(&self) -> Result<()> {
        self.context.flush()?;
        let line = self.context.line();
        let mut state = self.window.0.lock();
        let State::Open(open) = *state else {
            return Err(Error::failed("counter: calCtxEndCounter without calCtxBeginCounter"));
        };
        *state = State::Ended(open, line.last());
        drop(state);
        self.window.observe(line);
        Ok(())
    }

    /// The fraction measured; waits for the work.
    pub fn value(&self) -> Result<f32> {
        let state = *self.window.0.lock();
        if let State::Ended(_, ticket) = state {
            // A failed launch still took its time.
            let waited = self.context.line().wait(ticket, ticket);
            if self.context.line().completed() < ticket {
                waited?;
            }
            self.window.observe(self.context.line());
        }
        match (*self.window.0.lock(), self.kind) {
            (State::Closed { idle, .. }, CounterType::Idle) => Ok(idle as f32),
            (State::Closed { hits, .. }, CounterType::InputCacheHitRate) => Ok(hits as f32),
            _ => Err(Error::failed("counter: calCtxGetCounter before calCtxEndCounter")),
        }
    }
}
