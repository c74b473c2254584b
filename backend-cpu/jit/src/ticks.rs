//! Questions of running code whether to go on.

use std::mem::offset_of;

use crate::native;
use crate::row::{LANES, Row};

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
    /// Where `orders` are, for code.
    learned: *mut Row,
    ask: &'a dyn Ask,
    stopped: bool,
    orders: Vec<Row>,
}

/// Where code finds how words lay that it stored, a row for each store: the first vector says how far each lane's word is from the first
/// word of a window, two vectors long, that has them all; from [`ORDERS`] on is, for each word of it, the lane whose word goes there, with
/// the top bit set, else 0; at [`LEFT`] how often it may still be learned.
pub const LEARNED: u8 = offset_of!(Ticks<'_>, learned) as u8;
/// See [`LEARNED`].
pub const ORDERS: u32 = 64;
/// See [`LEARNED`].
pub const LEFT: u32 = 4 * (LANES as u32 - 1);

/// Nothing was learned: no lane's word is so far.
const UNKNOWN: Row = {
    let mut row = Row::splat(u32::MAX);
    row.0[LANES - 1] = 64;
    row
};

/// Back-edges between two questions: some microseconds.
const PERIOD: u32 = 256;

impl<'a> Ticks<'a> {
    /// Asks `ask`.
    pub fn new(ask: &'a dyn Ask) -> Ticks<'a> {
        let (check, call) = (native::ticked, native::called);
        let learned = std::ptr::null_mut();
        Ticks { left: PERIOD, check, call, learned, ask, stopped: false, orders: Vec::new() }
    }

    /// There is room for what so many stores learn.
    #[inline(always)]
    pub(crate) fn hold(&mut self, stores: u32) {
        if self.orders.len() < stores as usize {
            self.orders.resize(stores as usize, UNKNOWN);
            self.learned = self.orders.as_mut_ptr();
        }
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
