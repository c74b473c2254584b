//! What is asked for before anybody reads it: by the next group, and in the next round of a loop around barriers.

use std::ops::Range;

use super::{Builder, Item};
use crate::op::{Code, Op, Place, RowId, Seen};

/// Rows for where the functions of loops around barriers looked in the last round.
pub const TRAIL: u32 = 4;

/// The outermost loops around barriers, whose rounds all waves of a group do together.
pub fn rounds(code: &Code) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut begins = Vec::new();
    for (at, op) in code.ops.iter().enumerate() {
        match op {
            Op::Loop => begins.push(at),
            Op::EndLoop { .. } => {
                let range = begins.pop().unwrap_or(at)..at;
                let waits = code.ops[range.clone()].iter().any(|op| matches!(op, Op::Fence(_)));
                if waits && begins.is_empty() {
                    found.push(range);
                }
            }
            _ => {}
        }
    }
    found
}

impl Builder<'_> {
    /// Says what a function of items asks for.
    pub(super) fn ask(&mut self, items: &[Item]) {
        self.compiler.ask_ahead(self.wanted_next());
        let again = items.first().is_some_and(|item| self.rounds.iter().any(|of| of.contains(&item.op)));
        let first = self.code.rows + self.body.own.len() as RowId;
        self.compiler.in_rounds(if again { self.outside() } else { 0 }, first, self.body.trail);
    }

    /// Views of which the next group reads what lies behind the words that a line of threads reads, a line of the cache: where groups are that
    /// wide, and come one after another though their threads could be in longer lines ([`regrouped`](crate::launch::regrouped)), for barriers.
    pub(super) fn wanted_next(&self) -> u32 {
        let narrow = self.key.line == 16 && self.known.barriers() || self.code.turned;
        if narrow { self.outside() } else { 0 }
    }

    /// Views of resources of the application.
    fn outside(&self) -> u32 {
        let outside = |(number, (place, _)): (usize, &Seen)| {
            let outside = matches!(place, Place::Uav(_) | Place::Srv(_) | Place::Global);
            u32::from(outside).checked_shl(number as u32).unwrap_or_default()
        };
        self.body.views.iter().enumerate().map(outside).sum()
    }
}
