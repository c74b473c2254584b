//! Goes on with lanes that a function has left in a loop, see [`Repack`].

use std::ops::Range;

use recal_jit::{Function, Row, Ticks, Wave, Waves, lanes};

use crate::context::Context;
use crate::op::{Repack, RowId};
use crate::wave::LANES;

/// A lane of a wave.
type Lane = (usize, usize);

/// Whether it pays to bring lanes together: that shows when they have been.
pub struct Thrift {
    /// That is asked. Else they are as soon as they can be.
    thrifty: bool,
    /// Rounds after which it is looked how many lanes are left.
    period: u32,
    /// Calls that are to do without, and how many they will be when it has not paid again.
    calls: u32,
    next: u32,
}

impl Thrift {
    pub fn new(thrifty: bool) -> Thrift {
        Thrift { thrifty, period: if thrifty { Ticks::PERIOD } else { 1 }, calls: 0, next: 1 }
    }

    /// The rounds that are saved take as long as that many copies of a lane's word.
    const ROUND: u64 = 4;
    /// What else it takes, likewise.
    const CALL: u64 = 128;
    /// The shortest period: to look takes as long as some rounds.
    const LEAST: u32 = 64;
    /// Most calls that do without.
    const MOST: u32 = 64;

    /// The period, if lanes are to be brought together.
    fn period(&mut self) -> Option<u32> {
        match self.calls {
            0 => Some(self.period),
            _ => {
                self.calls -= 1;
                None
            }
        }
    }

    /// The same for lanes that were brought together.
    fn again(&self) -> u32 {
        self.period.min(Self::LEAST)
    }

    /// Lanes were brought together: so many words were copied for it, and so many rounds not done.
    fn learn(&mut self, words: u64, rounds: u64) {
        if !self.thrifty {
            return;
        }
        if rounds * Self::ROUND > words + Self::CALL {
            (self.period, self.next) = (Self::LEAST, 1);
        } else {
            self.period = (2 * self.period).min(Ticks::PERIOD);
            if words > 0 {
                (self.calls, self.next) = (self.next, (2 * self.next).min(Self::MOST));
            }
        }
    }
}

/// Calls a function that may leave lanes in a loop, for some waves, and does what is left then. True if the launch is to stop.
pub fn call(
    function: &Function,
    repack: &Repack,
    waves: &mut Waves<'_, '_>,
    part: Range<usize>,
    context: &mut Context<'_>,
) -> bool {
    let Context { compiled: Some(code), native_ticks: ticks, mode, packed, thrift, .. } = context else {
        return false;
    };
    let abreast = function.repacks().unwrap_or_default();
    let period = thrift.period();
    ticks.repack(period.map_or(0, |_| abreast / 2), period.unwrap_or(Ticks::PERIOD));
    code.call(function, waves, part.clone(), true, ticks, mode);
    let tested = part.map(|wave| (wave, waves.tested(wave))).filter(|(_, tested)| *tested != 0);
    let tested: Vec<(usize, u64)> = tested.collect();
    let of = |&(wave, tested): &(usize, u64)| lanes(tested).map(move |lane| (wave, lane));
    let mut left: Vec<Lane> = tested.iter().flat_map(of).collect();
    let (mut words, mut saved) = (0, 0);
    // Strips that are done at a time, of lanes where they are.
    let strips = |left: &[Lane]| {
        let place = |&(wave, lane): &Lane| (wave, lane / abreast.max(1) as usize);
        left.chunk_by(|one, next| place(one) == place(next)).count() as u64
    };
    while !left.is_empty() && !ticks.stopped() {
        // Those that would be as many strips again go on to their end.
        let fewer = repack.repeat.repacks().filter(|abreast| left.len() > *abreast as usize);
        ticks.repack(fewer.map_or(0, |abreast| abreast / 2), thrift.again());
        let (before, apart) = (ticks.rounds(), strips(&left));
        let together = left.len().div_ceil(abreast.max(1) as usize) as u64;
        let mut still = Vec::new();
        for part in left.chunks(LANES) {
            bring(&repack.brought, waves, packed, part);
            let mut wave = [Wave::new(packed, !0 >> (LANES - part.len()))];
            code.call(&repack.repeat, &mut Waves::new(&mut wave), 0..1, false, ticks, mode);
            let inside = wave[0].tested();
            take(&repack.taken, waves, packed, part);
            still.extend(lanes(inside).map(|at| part[at]));
        }
        words += (left.len() * (repack.brought.len() + repack.taken.len())) as u64;
        saved += ticks.rounds().wrapping_sub(before) * apart.saturating_sub(together) / together;
        left = still;
    }
    ticks.repack(0, Ticks::PERIOD);
    if period.is_some() {
        thrift.learn(words, saved);
    }
    for (number, tested) in tested {
        let Some(rest) = repack.rest.filter(|_| !ticks.stopped()) else { break };
        let late = waves.executing(number) & !0 << (tested.trailing_zeros() / abreast * abreast);
        let mut wave = [Wave::new(waves.rows(number), late)];
        code.call(&rest, &mut Waves::new(&mut wave), 0..1, false, ticks, mode);
    }
    ticks.stopped()
}

/// Copies rows of lanes to the first lanes of others.
fn bring(rows: &[RowId], waves: &mut Waves<'_, '_>, packed: &mut [Row], lanes: &[Lane]) {
    for row in rows.iter().map(|row| *row as usize) {
        let to = packed[row].0.iter_mut();
        to.zip(lanes).for_each(|(to, &(wave, lane))| *to = waves.rows(wave)[row].0[lane]);
    }
}

/// The reverse.
fn take(rows: &[RowId], waves: &mut Waves<'_, '_>, packed: &[Row], lanes: &[Lane]) {
    for row in rows.iter().map(|row| *row as usize) {
        let from = packed[row].0.iter();
        from.zip(lanes).for_each(|(from, &(wave, lane))| waves.rows(wave)[row].0[lane] = *from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls that do without until the next one that does not.
    fn pause(thrift: &mut Thrift) -> u32 {
        (0..).take_while(|_| thrift.period().is_none()).count() as u32
    }

    #[test]
    fn what_pays_is_done_again() {
        let mut thrift = Thrift::new(true);
        assert_eq!(thrift.period(), Some(Ticks::PERIOD));
        thrift.learn(100, 1000);
        assert_eq!((thrift.period(), thrift.again()), (Some(Thrift::LEAST), Thrift::LEAST));
        // Where none was left it is looked less often.
        thrift.learn(0, 0);
        assert_eq!((thrift.period(), thrift.again()), (Some(2 * Thrift::LEAST), Thrift::LEAST));
        (0..5).for_each(|_| thrift.learn(0, 0));
        assert_eq!((thrift.period(), pause(&mut thrift)), (Some(Ticks::PERIOD), 0));
        // What does not pay is tried less and less often.
        for calls in [1, 2, 4, 8, 16, 32, 64, 64] {
            thrift.learn(1000, 10);
            assert_eq!(pause(&mut thrift), calls);
        }
        thrift.learn(100, 1000);
        thrift.learn(1000, 10);
        assert_eq!(pause(&mut thrift), 1);
        let mut eager = Thrift::new(false);
        eager.learn(1000, 0);
        assert_eq!((eager.period(), eager.again()), (Some(1), 1));
    }
}
