//! What the processor does at best, measured in the same run as the kernels: products and sums that do not wait for each other
//! and are not joined to one instruction, and copies of what caches do not hold. A kernel's share of that is its percent of peak.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use recal::InstructionSet;
use serde::{Deserialize, Serialize};

use crate::case::{Case, Unit};

/// All cores together, in 10^9 a second.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Peak {
    /// Products and sums of single floats.
    pub single: f64,
    /// The same of double floats.
    pub double: f64,
    /// Sums and exclusive ors of 32-bit integers.
    pub integer: f64,
    /// Bytes that copies read and write.
    pub bytes: f64,
}

/// Rounds of a measurement of operations, some milliseconds, and the bytes of one of copies.
const ROUNDS: u32 = 1 << 22;
const COPIED: usize = 128 << 20;
/// The best of what fits into this time and of so many counts: clocks rise while there is work.
const LEAST: Duration = Duration::from_millis(150);
const TIMES: usize = 5;

impl Peak {
    /// Measures with so many threads and no better instructions than these; takes a second or so.
    pub fn measure(threads: usize, limit: InstructionSet) -> Peak {
        let threads = threads.max(1);
        let rate = |work: fn(u32) -> f64| {
            let mut done = vec![0.0; threads];
            let seconds = best(&mut done, |done| *done = work(black_box(ROUNDS)));
            done.iter().sum::<f64>() / seconds * 1e-9
        };
        let half = COPIED / 2 / threads;
        let mut memory: Vec<_> = (0..threads).map(|k| (vec![k as u8; half], vec![1u8; half])).collect();
        let seconds = best(&mut memory, |(to, from)| to.copy_from_slice(black_box(from)));
        let [single, double, integer] = operations(limit);
        Peak {
            single: rate(single),
            double: rate(double),
            integer: rate(integer),
            bytes: (2 * half * threads) as f64 / seconds * 1e-9,
        }
    }

    /// The most that a kernel can reach, in 10^9 of its unit a second: what memory allows if each launch moves each byte of its
    /// buffers once, or what the processor can compute.
    pub fn limit(&self, case: &Case) -> f64 {
        let bytes: u64 = case.buffers.iter().map(|buffer| buffer.bytes()).sum();
        self.roofline(case.unit, case.doubles, case.work / (bytes * case.steps.len() as u64) as f64)
    }

    /// The same for so much work a byte.
    fn roofline(&self, unit: Unit, doubles: bool, intensity: f64) -> f64 {
        let computed = match unit {
            Unit::Byte => return self.bytes,
            Unit::Flop if doubles => self.double,
            Unit::Flop => self.single,
            Unit::Operation => self.integer,
        };
        computed.min(self.bytes * intensity)
    }
}

/// The seconds that all take, one thread each, from the first that begins to the last that ends; the best of several times.
fn best<T: Send>(shares: &mut [T], work: impl Fn(&mut T) + Sync) -> f64 {
    let once = |shares: &mut [T]| {
        let ready = Barrier::new(shares.len());
        let timed = |share: &mut T| {
            ready.wait();
            let start = Instant::now();
            work(share);
            (start, Instant::now())
        };
        let times: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = shares.iter_mut().map(|share| scope.spawn(|| timed(share))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        let [first, last] = [times.iter().map(|time| time.0).min(), times.iter().map(|time| time.1).max()];
        first.zip(last).map_or(f64::INFINITY, |(first, last)| (last - first).as_secs_f64())
    };
    let begun = Instant::now();
    let (mut least, mut times) = (f64::INFINITY, 0);
    while times < TIMES || begun.elapsed() < LEAST {
        least = least.min(once(shares));
        times += 1;
    }
    least
}

/// What does operations on singles, doubles and integers for so many rounds with the widest vectors that there are within a limit, and
/// says how many it did.
type Works = [fn(u32) -> f64; 3];

fn operations(limit: InstructionSet) -> Works {
    #[cfg(target_arch = "x86_64")]
    {
        // What each function is compiled for is asked right before.
        macro_rules! with {
            ($of:ident) => {
                [
                    // SAFETY: the processor has the feature.
                    |rounds| unsafe { $of::single(rounds) },
                    // SAFETY: as above.
                    |rounds| unsafe { $of::double(rounds) },
                    // SAFETY: as above.
                    |rounds| unsafe { $of::integer(rounds) },
                ]
            };
        }
        if limit >= InstructionSet::Avx512 && is_x86_feature_detected!("avx512f") {
            return with!(wide);
        }
        if limit >= InstructionSet::Avx2 && is_x86_feature_detected!("avx2") {
            return with!(vectors);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = limit;
    [portable::single, portable::double, portable::integer]
}

/// Chains: so many of products and as many of sums, a product and a sum in turn, or twelve of sums and exclusive ors in turn.
/// As many as registers hold: six of each are just what two pipes of three cycles can have under way, and any operation that is
/// not begun in its cycle is lost.
macro_rules! chains {
    ($(#[$feature:meta])? $name:ident, $lanes:literal, $chains:literal, $one:expr, $by:expr, $mul:expr, $add:expr) => {
        $(#[$feature])?
        pub fn $name(rounds: u32) -> f64 {
            let (by, more) = (black_box($by), black_box($one));
            let (mut products, mut sums) = ([by; $chains], [more; $chains]);
            for _ in 0..rounds {
                for (product, sum) in products.iter_mut().zip(&mut sums) {
                    *product = $mul(*product, by);
                    *sum = $add(*sum, more);
                }
            }
            black_box((products, sums));
            f64::from(rounds) * f64::from(2 * $chains as u32) * f64::from($lanes)
        }
    };
    ($(#[$feature:meta])? $name:ident, $lanes:literal, $one:expr; $by:expr, $add:expr, $xor:expr) => {
        $(#[$feature])?
        pub fn $name(rounds: u32) -> f64 {
            let (by, more) = (black_box($by), black_box($one));
            let mut words = [by; 12];
            for _ in 0..rounds {
                for word in &mut words {
                    *word = $xor($add(*word, more), by);
                }
            }
            black_box(words);
            f64::from(rounds) * 24.0 * f64::from($lanes)
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    chains!(
        #[target_feature(enable = "avx2")]
        single,
        8u32,
        7,
        _mm256_set1_ps(1.0),
        _mm256_set1_ps(1.0000001),
        _mm256_mul_ps,
        _mm256_add_ps
    );
    chains!(
        #[target_feature(enable = "avx2")]
        double,
        4u32,
        7,
        _mm256_set1_pd(1.0),
        _mm256_set1_pd(1.0000001),
        _mm256_mul_pd,
        _mm256_add_pd
    );
    chains!(
        #[target_feature(enable = "avx2")]
        integer,
        8u32,
        _mm256_set1_epi32(1);
        _mm256_set1_epi32(3),
        _mm256_add_epi32,
        _mm256_xor_si256
    );
}

#[cfg(target_arch = "x86_64")]
#[allow(
    clippy::incompatible_msrv,
    reason = "so are the loops over rows of the CPU device for these processors"
)]
mod wide {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    chains!(
        #[target_feature(enable = "avx512f")]
        single,
        16u32,
        12,
        _mm512_set1_ps(1.0),
        _mm512_set1_ps(1.0000001),
        _mm512_mul_ps,
        _mm512_add_ps
    );
    chains!(
        #[target_feature(enable = "avx512f")]
        double,
        8u32,
        12,
        _mm512_set1_pd(1.0),
        _mm512_set1_pd(1.0000001),
        _mm512_mul_pd,
        _mm512_add_pd
    );
    chains!(
        #[target_feature(enable = "avx512f")]
        integer,
        16u32,
        _mm512_set1_epi32(1);
        _mm512_set1_epi32(3),
        _mm512_add_epi32,
        _mm512_xor_si512
    );
}

/// Vectors of 16 bytes, which the compiler makes of arrays.
mod portable {
    use std::array::from_fn;
    use std::hint::black_box;
    use std::num::Wrapping;
    use std::ops::{Add, BitXor, Mul};

    fn product<T: Copy + Mul<Output = T>, const N: usize>(a: [T; N], b: [T; N]) -> [T; N] {
        from_fn(|k| a[k] * b[k])
    }

    fn sum<T: Copy + Add<Output = T>, const N: usize>(a: [T; N], b: [T; N]) -> [T; N] {
        from_fn(|k| a[k] + b[k])
    }

    fn different<T: Copy + BitXor<Output = T>, const N: usize>(a: [T; N], b: [T; N]) -> [T; N] {
        from_fn(|k| a[k] ^ b[k])
    }

    chains!(single, 4u32, 7, [1.0f32; 4], [1.0000001f32; 4], product, sum);
    chains!(double, 2u32, 7, [1.0f64; 2], [1.0000001f64; 2], product, sum);
    chains!(integer, 4u32, [Wrapping(1u32); 4]; [Wrapping(3u32); 4], sum, different);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Scale;
    use crate::cases::FAMILIES;

    #[test]
    fn memory_or_the_processor_limits() {
        let peak = Peak { single: 200.0, double: 100.0, integer: 300.0, bytes: 20.0 };
        assert_eq!(peak.roofline(Unit::Byte, false, 1.0), 20.0);
        assert_eq!(peak.roofline(Unit::Flop, false, 0.5), 10.0, "two bytes for each operation");
        assert_eq!(peak.roofline(Unit::Flop, false, 100.0), 200.0);
        assert_eq!(peak.roofline(Unit::Flop, true, 100.0), 100.0);
        assert_eq!(peak.roofline(Unit::Operation, false, 14.0), 280.0);
        assert_eq!(peak.roofline(Unit::Operation, false, 1000.0), 300.0);
    }

    #[test]
    fn each_launch_moves_its_buffers() {
        let peak = Peak { single: 200.0, double: 100.0, integer: 300.0, bytes: 20.0 };
        let build = FAMILIES.iter().find(|(name, _)| *name == "bitonic_sort").expect("it is one of them").1;
        let sort = &build(Scale::Small)[0];
        assert!(sort.steps.len() > 1);
        assert_eq!(peak.limit(sort), 20.0 / 8.0, "a comparison for two words");
    }

    /// No processor does less than one operation in some cycles, nor more than some hundred in one.
    #[test]
    fn what_is_measured_is_possible() {
        for limit in [InstructionSet::Baseline, InstructionSet::best()] {
            let Peak { single, double, integer, bytes } = Peak::measure(1, limit);
            for (what, rate) in [("single", single), ("double", double), ("integer", integer)] {
                assert!((0.2..3000.0).contains(&rate), "{what}: {rate}");
            }
            assert!((0.1..2000.0).contains(&bytes), "{bytes}");
        }
    }
}
