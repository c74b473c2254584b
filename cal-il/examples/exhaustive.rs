//! Measures inexact single precision operations of one operand over all 2^32 operands.
//!
//! Within a range of operands, results are measured against double precision, one by one. Outside, the result is known
//! beforehand, because the nearest float is obvious there (`sin x` is x for small x, `exp x` is 1) or because the
//! function is odd or even: every result there must be what is claimed, bit for bit. `docs/numerics.md` has the reasons.
//! `pow` is measured on pairs: one in 64 positive bases, with exponents that keep the result finite or nearly so.
//!
//! `cargo run --release -p cal-il --example exhaustive -- [--threads N] [--stride N] [--known] [OP …]` prints, for each
//! operation, the worst error in units in the last place, the input where it occurs, and how many results are not the
//! nearest float. Without names it measures all; `--known` leaves the measuring out. The double precision references
//! are good to a few units of 2^-53, far below the 2^-24 that matters here; a result counts as wrongly rounded only
//! beyond that doubt.

use std::ops::Range;
use std::thread;

use recal_il::isa::Algebra;
use recal_il::isa::Scalar;
use recal_il::isa::lane::{division, exponential, root, trigonometric};

/// Operands that are computed together, so that the loop over them vectorises.
const BATCH: usize = 256;

/// An operation on one float and its reference.
struct Operation {
    name: &'static str,
    lane: fn(&mut [u32; BATCH]),
    reference: fn(f64) -> f64,
    /// Bits of the positive inputs that are measured.
    range: Range<u32>,
    sign: Sign,
    /// Result outside of the range, for an input that is no NaN and not negative where `sign` says what that gives.
    outside: fn(u32) -> u32,
}

/// What negative inputs give.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    /// Something of its own, measured too.
    Own,
    /// Minus the result of the positive input.
    Odd,
    /// The result of the positive input.
    Even,
    /// What `outside` says.
    Outside,
}

const INFINITY: u32 = 2;
const NAN: u32 = 0x7FC0_0000;
const INF: u32 = 0x7F80_0000;
const SIGN: u32 = 0x8000_0000;
const ONE: u32 = 0x3F80_0000;
const HALF_PI: u32 = 0x3FC9_0FDB;
const POSITIVE: Range<u32> = 0x0080_0000..INF;
/// From 2^-26, below which 1 is the nearest, to 150, beyond overflow and underflow.
const EXPONENTS: Range<u32> = 0x3280_0000..0x4316_0000;
/// From 2^-13, below which x is the nearest.
const ANGLES: Range<u32> = 0x3900_0000..INF;

/// x less whole turns, in [-π, π): the angle of the point that x turns to, which both functions know to full precision.
fn reduced(x: f64) -> f64 {
    let (sine, cosine) = x.sin_cos();
    sine.atan2(cosine)
}

/// e^x and 2^x of small and of large x.
fn exponential_limits(x: u32) -> u32 {
    match x & !SIGN {
        0..0x3280_0000 => ONE,
        _ if x < SIGN => INF,
        _ => 0,
    }
}

/// Logarithms of what is not positive and finite.
fn logarithm_limits(x: u32) -> u32 {
    match x {
        0 | SIGN => SIGN | INF,
        INF => INF,
        _ => NAN,
    }
}

/// Functions that are x near zero and have no limit.
fn small_or_nan(x: u32) -> u32 {
    if x < 0x3900_0000 { x } else { NAN }
}

macro_rules! operations {
    ($($name:literal $range:expr, $sign:ident, $outside:expr, $reference:expr, |$x:ident, $a:ident| $lane:expr;)*) => {
        const OPERATIONS: &[Operation] = &[$(Operation {
            name: $name,
            lane: |inputs| {
                for input in inputs {
                    let $a = &mut Scalar;
                    let $x = $a.flush(*input);
                    *input = $lane;
                }
            },
            reference: $reference,
            range: $range,
            sign: Sign::$sign,
            outside: $outside,
        },)*];
    };
}

operations! {
    "rcp" POSITIVE, Own, |x| x & SIGN | if x & !SIGN == INF { 0 } else { INF },
        |x| 1.0 / x, |x, a| division::rcp(a, x, INFINITY);
    "sqrt" POSITIVE, Outside, |x| if x & !SIGN == 0 || x == INF { x } else { NAN },
        f64::sqrt, |x, a| root::sqrt(a, x);
    "rsq" POSITIVE, Outside, |x| if x & !SIGN == 0 { x | INF } else if x == INF { 0 } else { NAN },
        |x| 1.0 / x.sqrt(), |x, a| root::rsq(a, x, INFINITY);
    "exp" EXPONENTS, Own, exponential_limits, f64::exp2, |x, a| exponential::exp2(a, x);
    "exn" EXPONENTS, Own, exponential_limits, f64::exp, |x, a| exponential::exp(a, x);
    "log" POSITIVE, Outside, logarithm_limits, f64::log2, |x, a| exponential::log2(a, x, INFINITY);
    "ln" POSITIVE, Outside, logarithm_limits, f64::ln, |x, a| exponential::ln(a, x, INFINITY);
    "asin" 0x3900_0000..0x3F80_0001, Odd, small_or_nan, f64::asin, |x, a| trigonometric::asin(a, x);
    "acos" 0x3200_0000..0x3F80_0001, Own, |x| if x & !SIGN < 0x3200_0000 { HALF_PI } else { NAN },
        f64::acos, |x, a| trigonometric::acos(a, x);
    "atan" 0x3900_0000..0x4D00_0000, Odd, |x| if x < 0x3900_0000 { x } else { HALF_PI },
        f64::atan, |x, a| trigonometric::atan(a, x);
    "sin" ANGLES, Odd, small_or_nan, f64::sin, |x, a| trigonometric::sin(a, x);
    "cos" ANGLES, Even, |x| if x < 0x3900_0000 { ONE } else { NAN }, f64::cos, |x, a| trigonometric::cos(a, x);
    "tan" ANGLES, Odd, small_or_nan, f64::tan, |x, a| trigonometric::tan(a, x);
    // In [-π, π) x is its own result; π rounded is above π.
    "pireduce" 0x4049_0FDB..INF, Odd, |x| if x < 0x4049_0FDB { x } else { NAN },
        reduced, |x, a| trigonometric::pireduce(a, x);
    // The definitions behind `rcp`, `sqrt` and `rsq`, for machines without their own.
    "rcp-integer" POSITIVE, Own, |x| x & SIGN | if x & !SIGN == INF { 0 } else { INF },
        |x| 1.0 / x, |x, a| division::quotient(a, ONE, x);
    "sqrt-integer" POSITIVE, Outside, |x| if x & !SIGN == 0 || x == INF { x } else { NAN },
        f64::sqrt, |x, a| root::square_root(a, x);
    "rsq-integer" POSITIVE, Outside, |x| if x & !SIGN == 0 { x | INF } else if x == INF { 0 } else { NAN },
        |x| 1.0 / x.sqrt(), |x, a| root::reciprocal_root(a, x);
}

/// What was seen over a range of inputs.
#[derive(Clone, Copy, Default)]
struct Worst {
    error: f64,
    input: u32,
    measured: u64,
    misrounded: u64,
    /// Results that were known beforehand.
    known: u64,
    /// Wrong infinities, NaNs and zeros, and results that are not what was known beforehand.
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

    /// Takes in a result that is known.
    fn compare(&mut self, input: u32, result: u32, claimed: u32) {
        let nan = |word: u32| word & !SIGN > INF;
        self.known += 1;
        if result != claimed && !(nan(result) && nan(claimed)) {
            self.wrong += 1;
            self.wrong_input = input;
        }
    }

    /// Takes in what another thread saw.
    fn merge(&mut self, other: Worst) {
        self.measured += other.measured;
        self.known += other.known;
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
            "{name:14} worst {:.4} ulp at {:08X}, {} of {} not nearest, {} known",
            self.error, self.input, self.misrounded, self.measured, self.known
        );
        if self.wrong > 0 {
            print!(", {} WRONG, as for {:08X}", self.wrong, self.wrong_input);
        }
        println!();
    }
}

/// One thread's share of an operation: batches of inputs with both signs.
fn measure(operation: &Operation, known_only: bool, share: u64, shares: u64, stride: u64) -> Worst {
    let mut worst = Worst::default();
    let batches = (1u64 << 31) / BATCH as u64;
    for batch in (share..batches).step_by((shares * stride) as usize) {
        let first = (batch * BATCH as u64) as u32;
        let mut positive: [u32; BATCH] = std::array::from_fn(|k| first + k as u32);
        let mut negative = positive.map(|input| input | SIGN);
        (operation.lane)(&mut positive);
        (operation.lane)(&mut negative);
        for (k, (&up, &down)) in positive.iter().zip(&negative).enumerate() {
            let input = first + k as u32;
            let x = Scalar.flush(input);
            let inside = operation.range.contains(&x);
            let exact = |sign: u32| (operation.reference)(f64::from(f32::from_bits(x | sign)));
            let claim = |word: u32| if x > INF { NAN } else { (operation.outside)(word) };
            match inside {
                true if known_only => {}
                true => worst.add(input, up, exact(0)),
                false => worst.compare(input, up, claim(x)),
            }
            match operation.sign {
                Sign::Own if inside && known_only => {}
                Sign::Own if inside => worst.add(input | SIGN, down, exact(SIGN)),
                Sign::Own | Sign::Outside => worst.compare(input | SIGN, down, claim(x | SIGN)),
                Sign::Odd => worst.compare(input | SIGN, down, up ^ SIGN),
                Sign::Even => worst.compare(input | SIGN, down, up),
            }
        }
    }
    worst
}

/// Results that are not what is known beforehand, among one batch of operands in `stride`, by operation. For
/// `tests/numerics`, which includes this file.
#[allow(dead_code)]
pub fn wrong_results(stride: u64) -> impl Iterator<Item = (&'static str, u64)> {
    OPERATIONS.iter().map(move |operation| (operation.name, measure(operation, true, 0, 1, stride).wrong))
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

/// Runs the shares at the same time.
fn on_all(shares: u64, share: impl Fn(u64, u64) -> Worst + Sync) -> Worst {
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
    let mut known_only = false;
    let mut threads = thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = match argument.as_str() {
            "--known" => {
                known_only = true;
                continue;
            }
            "--stride" => &mut stride,
            "--threads" => &mut threads,
            _ => {
                names.push(argument);
                continue;
            }
        };
        let Some(value) = arguments.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0) else {
            eprintln!("{argument} takes a positive number");
            std::process::exit(2);
        };
        *number = value;
    }
    let known: Vec<&str> = OPERATIONS.iter().map(|o| o.name).chain(["pow"]).collect();
    if let Some(unknown) = names.iter().find(|n| !known.contains(&n.as_str())) {
        eprintln!("no operation `{unknown}`; there are: {}", known.join(" "));
        std::process::exit(2);
    }
    for name in known.iter().filter(|k| names.is_empty() || names.iter().any(|n| n == *k)) {
        let total = match OPERATIONS.iter().find(|o| o.name == *name) {
            Some(operation) => {
                on_all(threads, |share, shares| measure(operation, known_only, share, shares, stride))
            }
            None if known_only => continue,
            None => on_all(threads, |share, shares| measure_pow(share, shares, stride)),
        };
        total.print(name);
    }
}
