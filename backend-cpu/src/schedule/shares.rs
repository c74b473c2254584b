//! Which thread does which parts of a launch.
//!
//! Each thread has a share of the parts, which follow each other, and helps others when it has done its own. A launch that goes on
//! with what the one before left finds much of it in the caches of the same core then; and no two cores store to parts side by side.
//!
//! Threads come and go without a lock. Whoever has taken a share is waited for; who claims parts has taken a share before, so that
//! nobody begins with a part once the launch is [closed](Shares::close) and all shares are given back.

use std::ops::Range;
use std::sync::atomic::Ordering;

use crate::sync::{AtomicBool, AtomicU64};

/// Most parts that are claimed at a time.
pub const CLAIM: u64 = 64;

/// Each in lines of the cache of its own, wherever the allocator puts them: to align them takes longer than all else.
#[repr(C)]
struct Share {
    next: AtomicU64,
    end: u64,
    taken: AtomicBool,
    _apart: [u64; 13],
}

impl Share {
    fn rest(&self) -> u64 {
        self.end.saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// The next parts that nobody has: many at first, few at the end, so that all threads are done at about the same time.
    fn claim(&self, least: u64, most: u64) -> Option<Range<u64>> {
        let size = |start: u64| {
            let rest = self.end.saturating_sub(start);
            (rest / 4).clamp(least, CLAIM.max(least)).min(most).min(rest)
        };
        let more = |start: u64| (start < self.end).then(|| start + size(start));
        let start = self.next.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more).ok()?;
        Some(start..start + size(start))
    }
}

/// The parts of a launch.
pub struct Shares {
    shares: Box<[Share]>,
    /// The number of the thread whose share is the first.
    first: usize,
    least: u64,
    whole: bool,
}

impl Shares {
    /// Those of so many parts, for at most so many threads, of which the one with the number `first` has the first share.
    pub fn new(parts: u64, threads: u64, first: usize) -> Shares {
        let count = threads.min(parts).max(1);
        let begin = |share: u64| parts / count * share + share.min(parts % count);
        let share = |share: u64| Share {
            next: AtomicU64::new(begin(share)),
            end: begin(share + 1),
            taken: AtomicBool::new(false),
            _apart: [0; 13],
        };
        Shares {
            shares: (0..count).map(share).collect(),
            first,
            least: (parts / (threads * 256)).clamp(1, 8),
            whole: false,
        }
    }

    /// All parts as one, for a thread alone.
    pub fn whole(parts: u64) -> Shares {
        Shares { whole: true, ..Shares::new(parts, 1, 0) }
    }

    /// The first share, for the thread that runs the launch, before others know of it.
    pub fn begin(&self) -> usize {
        self.shares[0].taken.store(true, Ordering::Relaxed);
        0
    }

    /// A share for a thread that comes to work, if there is work for it: its own, by its number, if nobody has taken that, so that it goes
    /// on with what it did last time; else any, if `worth` parts are left somewhere.
    pub fn join(&self, number: usize, worth: u64) -> Option<usize> {
        let count = self.shares.len();
        let exchanged =
            |share: &Share| share.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        let take = |share: &Share| !share.taken.load(Ordering::Relaxed) && exchanged(share).is_ok();
        let own = if number < self.first || self.first == 0 { number } else { number - 1 };
        if self.shares.get(own).is_some_and(|share| share.rest() > 0 && take(share)) {
            return Some(own);
        }
        let mut others = (own + 1..=own + count).map(|share| share % count);
        let has_more = self.shares.iter().any(|share| share.rest() >= worth);
        if has_more { others.find(|share| take(&self.shares[*share])) } else { None }
    }

    /// Gives a share back. What was done with it is seen by whoever sees that it is not [taken](Self::taken).
    pub fn leave(&self, share: usize) {
        self.shares[share].taken.store(false, Ordering::Release);
    }

    /// Shares that are taken: threads that work, or are about to.
    pub fn taken(&self) -> usize {
        self.shares.iter().filter(|share| share.taken.load(Ordering::Acquire)).count()
    }

    /// No part is left.
    pub fn are_claimed(&self) -> bool {
        self.shares.iter().all(|share| share.rest() == 0)
    }

    /// Nobody begins with another part.
    pub fn close(&self) {
        for share in &self.shares {
            share.next.fetch_max(share.end, Ordering::AcqRel);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.shares.len()
    }

    /// The next parts for the thread with a share, between `least` and `most` if there are as many: of its own, then of others. To take
    /// parts from where they were done before is worth it if there are `worth`. The thread with the first share does all that is left, from
    /// the first on, since a group may wait for one before it.
    pub fn claim(&self, share: usize, [least, most]: [u64; 2], worth: u64) -> Option<Range<u64>> {
        let [least, most] = if self.whole { [u64::MAX; 2] } else { [least.max(self.least), most] };
        let worth = if share == 0 { 1 } else { worth };
        let count = self.shares.len();
        let mut others = (share + 1..share + count).map(|other| &self.shares[other % count]);
        let own = self.shares[share].claim(least, most);
        own.or_else(|| others.find_map(|other| (other.rest() >= worth).then(|| other.claim(least, most))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(shares: &Shares, share: usize, worth: u64) -> Vec<Range<u64>> {
        std::iter::from_fn(|| shares.claim(share, [1, u64::MAX], worth)).collect()
    }

    #[test]
    fn threads_do_their_own_parts_and_then_those_of_others() {
        let shares = Shares::new(1003, 4, 0);
        assert_eq!([0, 2, 6].map(|number| shares.join(number, 1)), [Some(0), Some(2), Some(3)]);
        assert_eq!(
            [2, 7].map(|number| shares.join(number, 1)),
            [Some(1), None],
            "each has one, by its number if it can"
        );
        shares.leave(3);
        assert_eq!((shares.taken(), shares.join(1, 1), shares.taken()), (3, Some(3), 4));
        assert_eq!(shares.claim(2, [1, 5], 1), Some(502..507));
        assert_eq!(shares.claim(0, [1, 1], 1), Some(0..1));
        let mut parts: Vec<u64> = all(&shares, 3, 1).into_iter().flatten().collect();
        assert!(all(&shares, 1, 1).is_empty());
        assert_eq!(parts[0], 753);
        // Then from the next one on.
        assert_eq!(parts[1003 - 753], 1);
        shares.leave(0);
        assert_eq!(shares.join(0, 1), None, "nothing is left to do");
        parts.sort_unstable();
        assert!(parts.into_iter().eq((1..502).chain(507..1003)));
    }

    #[test]
    fn whoever_runs_the_launch_has_the_first_share_and_others_have_theirs_by_their_numbers() {
        let joined = |first, numbers: [usize; 3]| {
            let shares = Shares::new(100, 4, first);
            assert_eq!((shares.begin(), shares.taken()), (0, 1));
            numbers.map(|number| shares.join(number, 1))
        };
        assert_eq!(joined(2, [4, 3, 1]), [3, 2, 1].map(Some));
        assert_eq!(joined(0, [3, 1, 2]), [3, 1, 2].map(Some));
        assert_eq!(joined(0, [2, 9, 1]), [2, 3, 1].map(Some), "any that is free");
    }

    #[test]
    fn few_parts_are_left_to_those_who_did_them_before_and_to_the_first() {
        let shares = Shares::new(40, 4, 0);
        assert_eq!(all(&shares, 3, 11).into_iter().flatten().collect::<Vec<_>>(), Vec::from_iter(30..40));
        assert_eq!(
            (shares.join(3, 11), shares.join(3, 10), shares.claim(3, [1, 1], 10)),
            (None, Some(3 - 3), Some(0..1))
        );
        assert_eq!(all(&shares, 0, 11).into_iter().flatten().collect::<Vec<_>>(), Vec::from_iter(1..30));
    }

    #[test]
    fn nobody_begins_with_parts_of_a_launch_that_has_ended() {
        let shares = Shares::new(100, 2, 0);
        assert_eq!((shares.join(1, 1), shares.claim(1, [1, 1], 1)), (Some(1), Some(50..51)));
        shares.close();
        assert_eq!((shares.claim(1, [1, 1], 1), shares.join(0, 1), shares.taken()), (None, None, 1));
        shares.leave(1);
        assert_eq!(shares.taken(), 0);
    }

    #[test]
    fn the_last_parts_are_few() {
        let shares = Shares::new(1 << 20, 2, 0);
        assert_eq!(Shares::new(100, 2, 0).claim(1, [20, 20], 1), Some(50..70), "as few as are asked for");
        let sizes: Vec<u64> = all(&shares, 0, 1).iter().map(|range| range.end - range.start).collect();
        assert!(sizes[0] == CLAIM && sizes.last() <= Some(&8), "{sizes:?}");
        assert!(Shares::new(0, 3, 0).claim(0, [1, 1], 1).is_none());
        assert_eq!(
            Shares::new(u64::MAX, 3, 0).claim(2, [1, 1], 1),
            Some(u64::MAX / 3 * 2..u64::MAX / 3 * 2 + 1)
        );
        assert_eq!(Shares::whole(1000).claim(0, [1, 1], 1), Some(0..1000));
    }
}
