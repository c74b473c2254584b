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

/// Measures what the processor does at best. Others use machines, too, and what memory gives changes within minutes: before and after each kernel it
/// is asked again.
pub struct Meter {
    works: Works,
    /// Where each thread copies to and from.
    memory: Vec<(Vec<u8>, Vec<u8>)>,
    /// The best of all that was measured.
    best: Peak,
}

impl Meter {
    /// With so many threads and no better instructions than these; takes a second or so.
    pub fn new(threads: usize, limit: InstructionSet) -> Meter {
        let threads = threads.max(1);
        let half = (COPIED / 2 / threads).next_multiple_of(64);
        let memory = (0..threads).map(|k| (vec![k as u8; half], vec![1u8; half])).collect();
        let mut meter = Meter { works: operations(limit), memory, best: Peak::NONE };
        meter.best = Peak {
            single: meter.rate(0),
            double: meter.rate(1),
            integer: meter.rate(2),
            bytes: meter.bytes(),
        };
        meter
    }

    /// The best of all that was measured.
    pub fn best(&self) -> Peak {
        self.best
    }

    /// The most that a kernel can reach now, see [`Peak::limit`].
    pub fn limit(&mut self, case: &Case) -> f64 {
        let bytes = self.bytes();
        let mut now = Peak { bytes, ..self.best };
        match case.unit {
            Unit::Byte => {}
            Unit::Flop if case.doubles => now.double = self.rate(1),
            Unit::Flop => now.single = self.rate(0),
            Unit::Operation => now.integer = self.rate(2),
        }
        self.best = self.best.max(now);
        now.limit(case)
    }

    fn rate(&self, kind: usize) -> f64 {
        let mut done = vec![0.0; self.memory.len()];
        let work = self.works[kind];
        let seconds = best(&mut done, |done| *done = work(black_box(ROUNDS)));
        done.iter().sum::<f64>() / seconds * 1e-9
    }

    /// As the system's library copies, or past the caches, whichever is faster.
    fn bytes(&mut self) -> f64 {
        let moved: usize = self.memory.iter().map(|(to, _)| 2 * to.len()).sum();
        let copied = best(&mut self.memory, |(to, from)| to.copy_from_slice(black_box(from)));
        let streamed = best(&mut self.memory, |(to, from)| stream(to, black_box(from)));
        moved as f64 / copied.min(streamed) * 1e-9
    }
}

/// Copies past the caches, where the processor has that.
fn stream(to: &mut [u8], from: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        // SAFETY: any bytes are such vectors.
        let (before, vectors, after) = unsafe { to.align_to_mut::<__m128i>() };
        let (first, rest) = from.split_at(before.len());
        let (middle, last) = rest.split_at(16 * vectors.len());
        before.copy_from_slice(first);
        after.copy_from_slice(last);
        for (to, from) in vectors.iter_mut().zip(middle.chunks_exact(16)) {
            // SAFETY: 16 bytes are read; the place is one of 16 bytes, aligned. Every x86-64 has the instructions.
            unsafe { _mm_stream_si128(to, _mm_loadu_si128(from.as_ptr().cast())) };
        }
        // SAFETY: as above.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

impl Peak {
    const NONE: Peak = Peak { single: 0.0, double: 0.0, integer: 0.0, bytes: 0.0 };

    fn max(self, other: Peak) -> Peak {
        Peak {
            single: self.single.max(other.single),
            double: self.double.max(other.double),
            integer: self.integer.max(other.integer),
            bytes: self.bytes.max(other.bytes),
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

    #[test]
    fn copies_past_the_caches_copy_every_byte() {
        let from: Vec<u8> = (0..1000).map(|n| n as u8).collect();
        for (first, count) in [(0, 1000), (1, 900), (7, 13), (3, 0)] {
            let mut to = vec![0xEE; 1000];
            stream(&mut to[first..first + count], &from[..count]);
            assert_eq!(to[first..first + count], from[..count]);
            assert!(to[..first].iter().chain(&to[first + count..]).all(|byte| *byte == 0xEE));
        }
    }

    /// No processor does less than one operation in some cycles, nor more than some hundred in one.
    #[test]
    fn what_is_measured_is_possible() {
        for limit in [InstructionSet::Baseline, InstructionSet::best()] {
            let Peak { single, double, integer, bytes } = Meter::new(1, limit).best();
            for (what, rate) in [("single", single), ("double", double), ("integer", integer)] {
                assert!((0.2..3000.0).contains(&rate), "{what}: {rate}");
            }
            assert!((0.1..2000.0).contains(&bytes), "{bytes}");
        }
    }
}
