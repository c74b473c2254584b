//! Timing: everything that is compared runs in turn, round after round, once before it is measured, and medians are kept.

use std::time::{Duration, Instant};

/// What can go wrong.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Something that does the work of a case.
pub trait Runner {
    /// Who this is.
    fn who(&self) -> String;

    /// Does the work `times` times, one after the other, and waits for the end.
    fn run(&mut self, times: u32) -> Result<()>;

    /// The words of all buffers.
    fn read(&mut self) -> Result<Vec<Vec<u32>>>;
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds.
    pub rounds: usize,
    /// Seconds that a measurement takes at least; the work is repeated until it does.
    pub least: f64,
    /// How long the work is done before anything is measured.
    pub warm: Duration,
}

/// Seconds of one run, by round.
#[derive(Clone, Debug)]
pub struct Series {
    /// Whose.
    pub who: String,
    /// One for each round.
    pub seconds: Vec<f64>,
}

impl Series {
    /// Half are shorter.
    pub fn median(&self) -> f64 {
        median(&self.seconds)
    }

    /// The shortest.
    pub fn best(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// How many times as fast as `other`: the median over the rounds.
    pub fn speedup(&self, other: &Series) -> f64 {
        let ratios: Vec<f64> =
            self.seconds.iter().zip(&other.seconds).map(|(own, other)| other / own).collect();
        median(&ratios)
    }
}

/// The middle of the values; NaN if there is none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Who, and how they do their work so many times.
pub type Timed<'a> = (String, Box<dyn FnMut(u32) -> Result<()> + 'a>);

/// Times closures in turn. Each gets the number of repetitions that makes a measurement long enough.
pub fn interleaved(effort: Effort, subjects: &mut [Timed<'_>]) -> Result<Vec<Series>> {
    let mut times = Vec::new();
    let mut series = Vec::new();
    for (who, run) in subjects.iter_mut() {
        // For caches and clocks, and for pipelines that are built behind the first launches; then ever more until it is
        // clear how long one takes.
        let begun = Instant::now();
        run(1)?;
        while begun.elapsed() < effort.warm {
            run(1)?;
        }
        let (mut count, mut seconds) = (1u32, timed(run, 1)?);
        while seconds < effort.least / 8.0 && count < 1 << 14 {
            count *= 4;
            seconds = timed(run, count)?;
        }
        let repeat = (effort.least * f64::from(count) / seconds).ceil().clamp(1.0, 65536.0);
        times.push(repeat as u32);
        series.push(Series { who: who.clone(), seconds: Vec::new() });
    }
    for _ in 0..effort.rounds {
        for (k, (_, run)) in subjects.iter_mut().enumerate() {
            // The others have taken the caches, and on machines that are shared a pause alone empties them: long work, which is done but
            // once, would be a measurement of the way from memory.
            run(1)?;
            series[k].seconds.push(timed(run, times[k])? / f64::from(times[k]));
        }
    }
    Ok(series)
}

fn timed(run: &mut dyn FnMut(u32) -> Result<()>, times: u32) -> Result<f64> {
    let start = Instant::now();
    run(times)?;
    Ok(start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Whoever has just run finds in the caches what it needs.
    #[test]
    fn everybody_runs_once_before_it_is_measured() {
        let calls = RefCell::new(Vec::new());
        let subject = |who: &'static str| -> Timed<'_> {
            let calls = &calls;
            let run = move |_| {
                calls.borrow_mut().push(who);
                Ok(())
            };
            (who.to_owned(), Box::new(run))
        };
        let effort = Effort { rounds: 3, least: 0.0, warm: Duration::ZERO };
        let series = interleaved(effort, &mut [subject("a"), subject("b")]).unwrap();
        assert!(series.iter().all(|of| of.seconds.len() == effort.rounds));
        let calls = calls.borrow();
        let rounds = &calls[calls.len() - 12..];
        assert_eq!(rounds, ["a", "a", "b", "b"].repeat(effort.rounds));
    }
}
