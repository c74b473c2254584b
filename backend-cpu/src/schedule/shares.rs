//! Which thread does which parts of a launch.
//!
//! Each thread has a share of the parts, which follow each other, and helps others when it has done its own. A launch that goes on
//! with what the one before left finds much of it in the caches of the same core then; and no two cores store to parts side by side.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Most parts that are claimed at a time.
pub const CLAIM: u64 = 64;

/// Each in a line of the cache of its own.
#[repr(align(64))]
struct Share {
    next: AtomicU64,
    end: u64,
    taken: AtomicBool,
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
        let start = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(start..start + size(start))
    }
}

/// The parts of a launch.
pub struct Shares {
    shares: Box<[Share]>,
    least: u64,
    whole: bool,
}

impl Shares {
    /// Those of so many parts, for so many threads.
    pub fn new(parts: u64, threads: u64) -> Shares {
        let count = threads.min(parts).max(1);
        let begin = |share: u64| parts / count * share + share.min(parts % count);
        let share = |share: u64| Share {
            next: AtomicU64::new(begin(share)),
            end: begin(share + 1),
            taken: AtomicBool::new(false),
        };
        Shares {
            shares: (0..count).map(share).collect(),
            least: (parts / (threads * 256)).clamp(1, 8),
            whole: false,
        }
    }

    /// All parts as one, for a thread alone.
    pub fn whole(parts: u64) -> Shares {
        Shares { least: parts, whole: true, ..Shares::new(parts, 1) }
    }

    /// The share of a thread that comes to work: its own, by its number, if nobody has taken that, so that it goes on with what it did last
    /// time.
    pub fn join(&self, number: usize) -> usize {
        let count = self.shares.len();
        let mut from_own = (number..number + count).map(|share| share % count);
        let free = |share: &usize| !self.shares[*share].taken.swap(true, Ordering::Relaxed);
        from_own.find(free).unwrap_or(number % count)
    }

    /// There are parts that nobody has.
    pub fn has_more(&self) -> bool {
        self.shares.iter().any(|share| share.rest() > 0)
    }

    /// The next parts for the thread with a share. A group may wait for one before it, so the first of other shares that has any is next.
    pub fn claim(&self, share: usize, most: u64) -> Option<Range<u64>> {
        let most = if self.whole { u64::MAX } else { most };
        let own = self.shares[share].claim(self.least, most);
        own.or_else(|| self.shares.iter().find_map(|share| share.claim(self.least, most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(shares: &Shares, share: usize) -> Vec<Range<u64>> {
        std::iter::from_fn(|| shares.claim(share, u64::MAX)).collect()
    }

    #[test]
    fn threads_do_their_own_parts_and_then_those_of_others() {
        let shares = Shares::new(1003, 4);
        assert_eq!([0, 2, 6, 2, 7].map(|number| shares.join(number)), [0, 2, 3, 1, 3]);
        assert_eq!(shares.claim(2, 5), Some(502..507));
        assert_eq!(shares.claim(0, 1), Some(0..1));
        assert!(shares.has_more());
        let mut parts: Vec<u64> = all(&shares, 3).into_iter().flatten().collect();
        assert!(!shares.has_more() && all(&shares, 1).is_empty());
        assert_eq!(parts[0], 753);
        // Then from the first one on.
        assert_eq!(parts[1003 - 753], 1);
        parts.sort_unstable();
        assert!(parts.into_iter().eq((1..502).chain(507..1003)));
    }

    #[test]
    fn the_last_parts_are_few() {
        let shares = Shares::new(1 << 20, 2);
        let sizes: Vec<u64> = all(&shares, 0).iter().map(|range| range.end - range.start).collect();
        assert!(sizes[0] == CLAIM && sizes.last() <= Some(&8), "{sizes:?}");
        assert!(Shares::new(0, 3).claim(0, 1).is_none());
        assert_eq!(Shares::new(u64::MAX, 3).claim(2, 1), Some(u64::MAX / 3 * 2..u64::MAX / 3 * 2 + 1));
        assert_eq!(Shares::whole(1000).claim(0, 1), Some(0..1000));
    }
}
