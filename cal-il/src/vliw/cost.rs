//! What a thread takes of each unit: least, on average, most.
//!
//! Of an `if`, the cheaper side is the least, both sides the most (threads of a wave go both ways), half of both the average. A loop
//! runs as often as constants say; where they do not, once at least, and on average and at most as often as is assumed. Early exits of
//! a round or a kernel save nothing.

use super::{Clause, Code, Mark};

/// What a thread takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// VLIW instructions.
    pub bundles: f64,
    /// Fetches.
    pub fetches: f64,
    /// Writes.
    pub writes: f64,
    /// Bits of global memory.
    pub bits: f64,
}

impl Cost {
    fn each(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            bundles: f(self.bundles, other.bundles),
            fetches: f(self.fetches, other.fetches),
            writes: f(self.writes, other.writes),
            bits: f(self.bits, other.bits),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }

    fn times(self, n: f64) -> Self {
        self.each(self, |a, _| a * n)
    }
}

/// The three of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Cheapest ways.
    pub least: Cost,
    /// On average.
    pub mean: Cost,
    /// Dearest ways.
    pub most: Cost,
}

/// A loop and its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopCount {
    /// Byte of the kernel's text.
    pub at: u32,
    /// Rounds; none: constants do not tell.
    pub rounds: Option<u32>,
}

impl Code {
    /// Adds up what a thread takes. `assumed`: rounds of loops about which constants say nothing.
    pub fn costs(&self, assumed: u32) -> Costs {
        let mut at = 0;
        sum(&self.clauses, &mut at, assumed)
    }

    /// The loops, in order.
    pub fn loops(&self) -> Vec<LoopCount> {
        let of = |clause: &Clause| match clause {
            Clause::Mark(Mark::Loop(rounds), at) => Some(LoopCount { at: *at, rounds: *rounds }),
            _ => None,
        };
        self.clauses.iter().filter_map(of).collect()
    }
}

/// Everything up to the end of the block at hand.
fn sum(clauses: &[Clause], at: &mut usize, assumed: u32) -> Costs {
    let mut all = Costs::default();
    while let Some(clause) = clauses.get(*at) {
        *at += 1;
        let one = |cost: Cost| Costs { least: cost, mean: cost, most: cost };
        let costs = match clause {
            Clause::Alu(bundles) => one(Cost { bundles: bundles.len() as f64, ..Cost::default() }),
            Clause::Fetch(list) => {
                let bits = list.iter().map(|fetch| fetch.bits).sum();
                one(Cost { fetches: list.len() as f64, bits, ..Cost::default() })
            }
            Clause::Write(write) => one(Cost { writes: 1.0, bits: write.bits, ..Cost::default() }),
            Clause::Mark(Mark::If, _) => {
                let then = sum(clauses, at, assumed);
                let otherwise = match clauses[*at - 1] {
                    Clause::Mark(Mark::Else, _) => sum(clauses, at, assumed),
                    _ => Costs::default(),
                };
                Costs {
                    least: then.least.each(otherwise.least, f64::min),
                    mean: then.mean.plus(otherwise.mean).times(0.5),
                    most: then.most.plus(otherwise.most),
                }
            }
            Clause::Mark(Mark::Loop(rounds), _) => {
                let body = sum(clauses, at, assumed);
                let (least, most) = match rounds {
                    Some(rounds) => (*rounds, *rounds),
                    None => (assumed.min(1), assumed),
                };
                Costs {
                    least: body.least.times(f64::from(least)),
                    mean: body.mean.times(f64::from(most)),
                    most: body.most.times(f64::from(most)),
                }
            }
            Clause::Mark(Mark::Else | Mark::EndIf | Mark::EndLoop, _) => return all,
            Clause::Mark(..) => continue,
        };
        all = Costs {
            least: all.least.plus(costs.least),
            mean: all.mean.plus(costs.mean),
            most: all.most.plus(costs.most),
        };
    }
    all
}
