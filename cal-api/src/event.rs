//! An event: work submitted to a context.

use std::sync::Arc;

use recal_hal::Ticket;

use crate::error::Result;
use crate::line::Line;

/// Work submitted to a context. Dropping an event does nothing to the work.
#[derive(Clone)]
pub struct Event {
    line: Arc<Line>,
    first: Ticket,
    last: Ticket,
}

impl Event {
    pub(crate) fn new(line: Arc<Line>, first: Ticket, last: Ticket) -> Self {
        Self { line, first, last }
    }

    pub(crate) fn tickets(&self) -> (Ticket, Ticket) {
        (self.first, self.last)
    }

    /// True when the work is done; an error if it failed. Starts the work if nothing else has.
    pub fn is_done(&self) -> Result<bool> {
        self.line.is_done(self.first, self.last)
    }

    /// Blocks until the work is done; an error if it failed.
    pub fn wait(&self) -> Result<()> {
        self.line.wait(self.first, self.last)
    }
}
