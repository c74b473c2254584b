//! When it is late.

use std::time::{Duration, Instant};

/// Questions between two looks at the clock.
const PATIENCE: u32 = 256;

/// Says when a time is over, and looks now and then.
pub(super) struct Clock {
    until: Option<Instant>,
    /// Questions before the next look.
    patience: u32,
}

impl Clock {
    /// It begins now. Nothing: there is no end.
    pub(super) fn new(limit: Option<Duration>) -> Clock {
        Clock { until: limit.and_then(|limit| Instant::now().checked_add(limit)), patience: PATIENCE }
    }

    pub(super) fn is_late(&mut self) -> bool {
        self.patience -= 1;
        if self.patience > 0 {
            return false;
        }
        self.patience = PATIENCE;
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}
