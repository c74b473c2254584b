//! The clock of a device beside the host's.

use std::time::{Duration, Instant};

/// How long an anchor is good: quartzes part by some microseconds in that time.
const FRESH: Duration = Duration::from_millis(200);

/// A count of the device's clock, and between which times of the host it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Anchor {
    pub ticks: u64,
    pub least: Instant,
    pub most: Instant,
}

impl Anchor {
    fn width(&self) -> Duration {
        self.most.saturating_duration_since(self.least)
    }
}

/// Counts of a device, and what they are in the host's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Bits that count; the rest are 0.
    pub bits: u32,
    /// Nanoseconds of a tick.
    pub period: f64,
    anchor: Option<Anchor>,
}

impl Clock {
    /// A clock that nobody has compared.
    pub fn new(bits: u32, period: f64) -> Self {
        Self { bits: bits.clamp(1, 64), period, anchor: None }
    }

    /// Nanoseconds from one count to another that is less than half a turn of the counter away.
    fn nanoseconds(&self, from: u64, to: u64) -> i64 {
        let unused = 64 - self.bits;
        // Shifted up and down again, the highest bit that counts is the sign.
        let ticks = (to.wrapping_sub(from) << unused) as i64 >> unused;
        (ticks as f64 * self.period) as i64
    }

    /// Whether it has to be compared again.
    pub fn is_stale(&self, now: Instant) -> bool {
        self.anchor.is_none_or(|anchor| now.saturating_duration_since(anchor.most) > FRESH)
    }

    /// The clock was read. The narrowest of several readings is best.
    pub fn set(&mut self, readings: impl IntoIterator<Item = Anchor>) {
        self.anchor = readings.into_iter().min_by_key(Anchor::width).or(self.anchor);
    }

    /// Work from one count to another began after `after` and was over before `before`: that says where the clock stands, at
    /// most as far from the truth as the work took to begin and its end to be seen. Works soon after each other say it better together.
    pub fn bound(&mut self, [first, last]: [u64; 2], [after, before]: [Instant; 2]) {
        let took = self.nanoseconds(first, last);
        let own = Anchor { ticks: first, least: after, most: moved(before, -took).max(after) };
        let known = self.anchor.filter(|_| !self.is_stale(after));
        self.anchor = Some(own);
        let Some(known) = known else { return };
        let way = self.nanoseconds(known.ticks, first);
        let (least, most) = (moved(known.least, way).max(own.least), moved(known.most, way).min(own.most));
        // Where they contradict each other, the clocks have parted, and the later is right.
        if least <= most {
            self.anchor = Some(Anchor { ticks: first, least, most });
        }
    }

    /// The host's time of a count, if that is known.
    pub fn at(&self, ticks: u64) -> Option<Instant> {
        let anchor = self.anchor?;
        Some(moved(anchor.least + anchor.width() / 2, self.nanoseconds(anchor.ticks, ticks)))
    }

    /// How far that may be from the truth.
    pub fn error(&self) -> Option<Duration> {
        self.anchor.map(|anchor| anchor.width() / 2)
    }
}

/// A time so many nanoseconds later, or before.
fn moved(time: Instant, nanoseconds: i64) -> Instant {
    let way = Duration::from_nanos(nanoseconds.unsigned_abs());
    let there = if nanoseconds < 0 { time.checked_sub(way) } else { time.checked_add(way) };
    there.unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn counts_become_times() {
        let zero = Instant::now();
        let mut clock = Clock::new(64, 10.0);
        assert_eq!((clock.at(0), clock.error()), (None, None));
        let read = |ticks, least, most| Anchor { ticks, least: zero + us(least), most: zero + us(most) };
        clock.set([read(1000, 50, 90), read(1500, 100, 104), read(2000, 110, 130)]);
        assert_eq!(clock.error(), Some(us(2)));
        assert_eq!(clock.at(1500), Some(zero + us(102)));
        assert_eq!(clock.at(1600), Some(zero + us(103)));
        assert_eq!(clock.at(1400), Some(zero + us(101)));
        assert!(!clock.is_stale(zero + us(100_000)) && clock.is_stale(zero + us(300_000)));
        // A driver that does not answer leaves what is known.
        clock.set([]);
        assert_eq!(clock.at(1600), Some(zero + us(103)));
    }

    /// Counters have fewer bits than 64, and begin anew.
    #[test]
    fn counters_turn() {
        let zero = Instant::now();
        let mut clock = Clock::new(36, 1000.0);
        clock.set([Anchor { ticks: (1 << 36) - 5, least: zero + us(100), most: zero + us(100) }]);
        assert_eq!(clock.at((1 << 36) - 7), Some(zero + us(98)));
        assert_eq!(clock.at(3), Some(zero + us(108)));
        clock.set([Anchor { ticks: 3, least: zero + us(108), most: zero + us(108) }]);
        assert_eq!(clock.at((1 << 36) - 5), Some(zero + us(100)));
    }

    /// Without readings, beginnings and ends say where the clock stands.
    #[test]
    fn work_bounds_the_clock() {
        let zero = Instant::now();
        let at = |n| zero + us(n);
        let mut clock = Clock::new(64, 1000.0);
        // The truth: count 0 is at 1000. Submitted 100 before it began, seen 40 after it was over.
        clock.bound([500, 600], [at(1400), at(1640)]);
        assert_eq!((clock.error(), clock.at(500)), (Some(us(70)), Some(at(1470))));
        // Submitted 10 before, seen 200 after: with the first, 10 before and 40 after.
        clock.bound([800, 900], [at(1790), at(2100)]);
        assert_eq!((clock.error(), clock.at(800)), (Some(us(25)), Some(at(1815))));
        // What is old says nothing any more.
        clock.bound([1_000_500, 1_000_600], [at(1_001_400), at(1_001_640)]);
        assert_eq!((clock.error(), clock.at(1_000_500)), (Some(us(70)), Some(at(1_001_470))));
        // Nor what cannot be.
        clock.bound([1_001_000, 1_001_100], [at(1_000_000), at(1_000_200)]);
        assert_eq!((clock.error(), clock.at(1_001_000)), (Some(us(50)), Some(at(1_000_050))));
    }
}
