//! Measures inexact single precision operations against double precision over every input that matters.
//!
//! Each operation has a range of magnitudes outside which its result is obvious or repeats; there, one in 257 inputs
//! is measured, inside all are. `pow` is measured on pairs: one in 64 positive bases, with exponents that keep the
//! result finite or nearly so.
//!
//! `cargo run --release -p cal-il --example exhaustive -- [--stride N] [OP …]` prints, for each operation, the worst
//! error in units in the last place, the input where it occurs, and how many results are not the nearest float.
//! Without names it measures all. The double precision references are good to about one unit of 2^-53, far
//! below the 2^-24 that matters here; a result counts as wrongly rounded only beyond that doubt.

use std::ops::Range;
use std::thread;

use cal_il::isa::Algebra;
use cal_il::isa::Scalar;
use cal_il::isa::lane::{division, exponential, root, trigonometric};

/// An operation on one float and its reference.
struct Operation {
    name: &'static str,
    lane: fn(u32) -> u32,
    reference: fn(f64) -> f64,
    /// Bits of the inputs of which every one is measured.
    range: Range<u32>,
    /// Those with the sign bit too.
    negative: bool,
}

const INFINITY: u32 = 2;
const POSITIVE: Range<u32> = 0x0080_0000..0x7F80_0000;
/// Roots depend on the significand and on whether the exponent is even.
const TWO_BINADES: Range<u32> = 0x3F80_0000..0x4080_0000;
/// From 2^-26, below which 1 is the nearest, to 150, beyond overflow and underflow.
const EXPONENTS: Range<u32> = 0x3280_0000..0x4316_0000;
/// From 2^-13, below which x is the nearest.
const ANGLES: Range<u32> = 0x3900_0000..0x7F80_0000;

macro_rules! operations {
    ($($name:literal $range:expr, $negative:literal, $reference:expr, |$x:ident, $a:ident| $lane:expr;)*) => {
        const OPERATIONS: &[Operation] = &[$(Operation {
            name: $name,
            lane: |$x| { let $a = &mut Scalar; $lane },
            reference: $reference,
            range: $range,
            negative: $negative,
        },)*];
    };
}

operations! {
    "rcp" POSITIVE, true, |x| 1.0 / x, |x, a| division::rcp(a, x, INFINITY);
    "rcp-integer" POSITIVE, true, |x| 1.0 / x, |x, a| division::quotient(a, 0x3F80_0000, x);
    "sqrt" TWO_BINADES, false, f64::sqrt, |x, a| root::sqrt(a, x);
    "sqrt-integer" TWO_BINADES, false, f64::sqrt, |x, a| root::square_root(a, x);
    "rsq" TWO_BINADES, false, |x| 1.0 / x.sqrt(), |x, a| root::rsq(a, x, INFINITY);
    "rsq-integer" TWO_BINADES, false, |x| 1.0 / x.sqrt(), |x, a| root::reciprocal_root(a, x);
    "exp" EXPONENTS, true, f64::exp2, |x, a| exponential::exp2(a, x);
    "exn" EXPONENTS, true, f64::exp, |x, a| exponential::exp(a, x);
    "log" POSITIVE, false, f64::log2, |x, a| exponential::log2(a, x, INFINITY);
    "ln" POSITIVE, false, f64::ln, |x, a| exponential::ln(a, x, INFINITY);
    "sin" ANGLES, false, f64::sin, |x, a| trigonometric::sin(a, x);
    "cos" ANGLES, false, f64::cos, |x, a| trigonometric::cos(a, x);
    "tan" ANGLES, false, f64::tan, |x, a| trigonometric::tan(a, x);
    "asin" 0x3900_0000..0x3F80_0001, true, f64::asin, |x, a| trigonometric::asin(a, x);
    "acos" 0x3200_0000..0x3F80_0001, true, f64::acos, |x, a| trigonometric::acos(a, x);
    "atan" 0x3900_0000..0x4D00_0000, true, f64::atan, |x, a| trigonometric::atan(a, x);
}

/// What was seen over a range of inputs.
#[derive(Clone, Copy, Default)]
struct Worst {
    error: f64,
    input: u32,
    measured: u64,
    misrounded: u64,
    /// Wrong infinities, NaNs and zeros.
    wrong: u64,
    wrong_input: u32,
}

const SMALLEST: f64 = f32::MIN_POSITIVE as f64;

/// Error of `result` for the exact value `exact` in units in the last place of the latter.
fn error(result: f64, exact: f64) -> f64 {
    let exponent = (exact.abs().max(SMALLEST).to_bits() >> 52) as i32 - 1023;
    (result - exact).abs() * f64::from_bits(((1023 - exponent + 23) as u64) << 52)
}

impl Worst {
    /// Takes in one result.
    fn add(&mut self, input: u32, result: u32, exact: f64) {
        let result = f32::from_bits(result);
        self.measured += 1;
        let rounded = f32::from_bits(Scalar.flush((exact as f32).to_bits()));
        if !exact.is_finite() || !result.is_finite() || rounded.is_infinite() {
            if result != rounded && !(result.is_nan() && exact.is_nan()) {
                self.wrong += 1;
                self.wrong_input = input;
            }
            return;
        }
        if exact.abs() < SMALLEST && result == rounded {
            return;
        }
        let e = error(result.into(), exact);
        if e > 0.5 + 1e-8 {
            self.misrounded += 1;
        }
        if e > self.error {
            self.error = e;
            self.input = input;
        }
    }

    /// Takes in what another thread saw.
    fn merge(&mut self, other: Worst) {
        self.measured += other.measured;
        self.misrounded += other.misrounded;
        if other.wrong > 0 {
            self.wrong += other.wrong;
            self.wrong_input = other.wrong_input;
        }
        if other.error > self.error {
            (self.error, self.input) = (other.error, other.input);
        }
    }

    fn print(&self, name: &str) {
        print!(
            "{name:14} worst {:.4} ulp at {:08X}, {} of {} not nearest",
            self.error, self.input, self.misrounded, self.measured
        );
        if self.wrong > 0 {
            print!(", {} special values wrong, as for {:08X}", self.wrong, self.wrong_input);
        }
        println!();
    }
}

/// One thread's share of an operation.
fn measure(operation: &Operation, share: u64, shares: u64, stride: u64) -> Worst {
    let mut worst = Worst::default();
    let mut one = |input: u32| {
        let x = Scalar.flush(input);
        worst.add(input, (operation.lane)(x), (operation.reference)(f64::from(f32::from_bits(x))));
    };
    let range = &operation.range;
    let inside = |bits: u32| range.contains(&(bits & 0x7FFF_FFFF)) && (operation.negative || bits >> 31 == 0);
    for bits in (share * 257..1 << 32).step_by((257 * shares * stride) as usize) {
        if !inside(bits as u32) {
            one(bits as u32);
        }
    }
    let step = (shares * stride) as usize;
    for bits in (u64::from(range.start) + share..range.end.into()).step_by(step) {
        one(bits as u32);
        if operation.negative {
            one(bits as u32 | 0x8000_0000);
        }
    }
    worst
}

/// One thread's share of `pow`.
fn measure_pow(share: u64, shares: u64, stride: u64) -> Worst {
    let mut worst = Worst::default();
    let mut random = share + 1;
    for bits in (0x0080_0000 + 64 * share..0x7F80_0000).step_by((64 * shares * stride) as usize) {
        let base = f32::from_bits(bits as u32);
        let limit = 150.0 / f64::from(base).log2().abs();
        for _ in 0..4 {
            // xorshift64: only has to spread.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let part = (random >> 11) as f64 * 2f64.powi(-52) - 1.0;
            let exponent = if limit.is_finite() { (limit * part) as f32 } else { part as f32 };
            let exponent = Scalar.flush(exponent.to_bits());
            let exact = f64::from(base).powf(f64::from(f32::from_bits(exponent)));
            worst.add(bits as u32, exponential::pow(&mut Scalar, bits as u32, exponent), exact);
        }
    }
    worst
}

/// Runs the shares on all processors.
fn on_all(share: impl Fn(u64, u64) -> Worst + Sync) -> Worst {
    let shares = thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let mut total = Worst::default();
    thread::scope(|scope| {
        let share = &share;
        let workers: Vec<_> = (0..shares).map(|n| scope.spawn(move || share(n, shares))).collect();
        for worker in workers {
            total.merge(worker.join().expect("a measuring thread does not panic"));
        }
    });
    total
}

fn main() {
    let mut stride = 1u64;
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--stride" {
            let value = arguments.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
            let Some(value) = value else {
                eprintln!("--stride takes a positive number");
                std::process::exit(2);
            };
            stride = value;
        } else {
            names.push(argument);
        }
    }
    let known: Vec<&str> = OPERATIONS.iter().map(|o| o.name).chain(["pow"]).collect();
    if let Some(unknown) = names.iter().find(|n| !known.contains(&n.as_str())) {
        eprintln!("no operation `{unknown}`; there are: {}", known.join(" "));
        std::process::exit(2);
    }
    for name in known.iter().filter(|k| names.is_empty() || names.iter().any(|n| n == *k)) {
        let total = match OPERATIONS.iter().find(|o| o.name == *name) {
            Some(operation) => on_all(|share, shares| measure(operation, share, shares, stride)),
            None => on_all(|share, shares| measure_pow(share, shares, stride)),
        };
        total.print(name);
    }
}
