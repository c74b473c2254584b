//! Questions of running code whether to go on.

use crate::native;

/// Says whether to give up.
pub trait Ask {
    /// True if so.
    fn stop(&self) -> bool;
}

/// Counts the back-edges of loops; now and then somebody is asked whether to go on.
#[repr(C)]
pub struct Ticks<'a> {
    /// Back-edges until then.
    left: u32,
    /// What code calls then, with this.
    check: native::Check,
    /// What code calls that lanes do one after another.
    call: native::Called,
    ask: &'a dyn Ask,
    stopped: bool,
}

/// Back-edges between two questions: some microseconds.
const PERIOD: u32 = 256;

impl<'a> Ticks<'a> {
    /// Asks `ask`.
    pub fn new(ask: &'a dyn Ask) -> Ticks<'a> {
        Ticks { left: PERIOD, check: native::ticked, call: native::called, ask, stopped: false }
    }

    /// Counts a back-edge; true if the function is to end.
    pub(crate) fn tick(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.left = PERIOD;
            self.stopped = self.ask.stop();
        }
        self.stopped
    }

    /// The count is 0; true if the function is to end.
    pub(crate) fn asked(&mut self) -> bool {
        self.left = 1;
        self.tick()
    }

    /// A function ended early.
    pub fn stopped(&self) -> bool {
        self.stopped
    }
}
