//! Where loads looked in the last round of a loop around barriers. All waves of a group do a part of the round before any does the next, so
//! nothing asks for what the next round reads but who remembers where each wave was: its rows have places for that.

use super::Body;
use crate::graph::Val;

/// Bytes of an address.
const ADDRESS: u32 = 8;

/// Places for addresses in the rows of waves, and what is loaded of which they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trail {
    /// Loads of these views are remembered: bit k is view k.
    pub views: u32,
    /// Rows that are there for it, and nothing else reads or writes.
    pub first: u32,
    pub rows: u32,
    /// Places that are taken.
    pub taken: u32,
}

impl Trail {
    /// Places in each of the rows, for a strip.
    fn places(lanes: u32) -> u32 {
        4 * lanes / ADDRESS
    }

    /// The end of the rows of which something is taken.
    pub fn end(&self, lanes: u32) -> u32 {
        self.first + self.taken.div_ceil(Trail::places(lanes))
    }

    /// A place for loads of a view: its row, and how many bytes it is behind where the strip's words of that begin.
    fn take(&mut self, view: u8, lanes: u32) -> Option<(u32, u32)> {
        let places = Trail::places(lanes);
        let remembered = self.views.checked_shr(view.into()).unwrap_or_default() & 1 == 1;
        if !remembered || self.taken >= self.rows * places {
            return None;
        }
        let (row, place) = (self.first + self.taken / places, self.taken % places);
        self.taken += 1;
        Some((row, ADDRESS * place))
    }
}

impl Body<'_, '_> {
    /// Asks for what the next round reads where all lanes loaded so many words each of a view.
    pub(super) fn trail(&mut self, val: Val, view: u8, count: u32) {
        let lanes = self.target.lanes();
        if self.frame.strips.masked {
            return;
        }
        let Some((row, at)) = self.frame.trail.take(view, lanes) else { return };
        let strip = u32::from(self.graph.strips.get(&val).copied().unwrap_or_default());
        let row = self.frame.row(row * self.frame.strips.number + strip);
        self.target.fetch_round(&mut self.frame.code, row + at, 4 * lanes * count > 64);
    }
}
