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
    /// The lanes that execute, of those that are done at a time, if that was said before the question.
    executing: u32,
    /// See [`Ticks::repack`].
    few: u32,
    period: u32,
    /// How often `left` is 0 until the question, if it is looked whether few lanes are left.
    looks: u32,
    /// Back-edges before the last question; it wraps.
    before: u64,
    ask: &'a dyn Ask,
    stopped: bool,
    orders: Vec<Row>,
}

/// Where code says which lanes execute, and what it finds to look whether they are few.
pub const EXECUTING: u8 = offset_of!(Ticks<'_>, executing) as u8;
/// See [`EXECUTING`].
pub const FEW: u8 = offset_of!(Ticks<'_>, few) as u8;
/// See [`EXECUTING`].
pub const PERIOD: u8 = offset_of!(Ticks<'_>, period) as u8;
/// See [`EXECUTING`].
pub const LOOKS: u8 = offset_of!(Ticks<'_>, looks) as u8;
/// What it is answered, a bit each: to end, and to leave the loop with the lanes that execute.
pub const STOP: u8 = 1;
/// See [`STOP`].
pub const LEAVE: u8 = 2;

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

impl<'a> Ticks<'a> {
    /// Back-edges between two questions: some microseconds.
    pub const PERIOD: u32 = 256;

    /// Asks `ask`.
    pub fn new(ask: &'a dyn Ask) -> Ticks<'a> {
        Ticks {
            left: Self::PERIOD,
            check: native::ticked,
            call: native::called,
            learned: std::ptr::null_mut(),
            executing: u32::MAX,
            few: 0,
            period: Self::PERIOD,
            looks: 1,
            before: 0,
            ask,
            stopped: false,
            orders: Vec::new(),
        }
    }

    /// There is room for what so many stores learn.
    #[inline(always)]
    pub(crate) fn hold(&mut self, stores: u32) {
        if self.orders.len() < stores as usize {
            self.orders.resize(stores as usize, UNKNOWN);
            self.learned = self.orders.as_mut_ptr();
        }
    }

    /// From now on loops of functions that repack ([`Function::repacks`](crate::Function::repacks)) are left where no more than `few`
    /// of the lanes execute that are done at a time, looked at each time so many back-edges were counted, at most [`Ticks::PERIOD`].
    pub fn repack(&mut self, few: u32, period: u32) {
        let rounds = self.rounds();
        (self.few, self.period) = (few, period.clamp(1, Self::PERIOD));
        (self.left, self.looks) = (self.left.min(self.period), Self::PERIOD / self.period);
        self.before = rounds.wrapping_sub(u64::from(self.period - self.left));
    }

    /// Back-edges that were counted so far; it wraps.
    pub fn rounds(&self) -> u64 {
        let looks = Self::PERIOD / self.period - self.looks;
        self.before.wrapping_add(u64::from(looks * self.period + self.period - self.left))
    }

    /// Counts a back-edge; true if the function is to end.
    pub(crate) fn tick(&mut self) -> bool {
        self.round(u32::MAX) & STOP != 0
    }

    /// Counts a back-edge with these lanes; what is to be done.
    pub(crate) fn round(&mut self, executing: u32) -> u8 {
        self.left -= 1;
        match self.left {
            0 => {
                self.executing = executing;
                self.asked()
            }
            _ if self.stopped => STOP,
            _ => 0,
        }
    }

    /// The count is 0; what is to be done.
    pub(crate) fn asked(&mut self) -> u8 {
        let executing = std::mem::replace(&mut self.executing, u32::MAX).count_ones();
        self.before = self.rounds();
        (self.left, self.looks) = (self.period, Self::PERIOD / self.period);
        self.stopped = self.ask.stop();
        let leave = if executing <= self.few { LEAVE } else { 0 };
        if self.stopped { STOP | leave } else { leave }
    }

    /// A function ended early.
    pub fn stopped(&self) -> bool {
        self.stopped
    }
}
