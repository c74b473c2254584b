//! Measures inexact single precision operations against double precision over every input.
//!
//! `cargo run --release -p cal-il --example exhaustive -- [--stride N] [OP …]` prints, for each operation, the worst
//! error in units in the last place, the input where it occurs, and how many results are not the nearest float.
//! Without names it measures all. The double precision references are good to about one unit of 2^-53, far
//! below the 2^-24 that matters here; a result counts as wrongly rounded only beyond that doubt.

use std::thread;

use cal_il::isa::Algebra;
use cal_il::isa::Scalar;
use cal_il::isa::lane::{division, exponential, root, trigonometric};

/// An operation on one float and its reference.
struct Operation {
    name: &'static str,
    lane: fn(u32) -> u32,
    reference: fn(f64) -> f64,
}

const INFINITY: u32 = 2;
const OPERATIONS: &[Operation] = &[
    Operation { name: "rcp", lane: |x| division::rcp(&mut Scalar, x, INFINITY), reference: |x| 1.0 / x },
    Operation {
        name: "rcp-integer",
        lane: |x| division::quotient(&mut Scalar, 0x3F80_0000, x),
        reference: |x| 1.0 / x,
    },
    Operation { name: "sqrt", lane: |x| root::sqrt(&mut Scalar, x), reference: f64::sqrt },
    Operation { name: "sqrt-integer", lane: |x| root::square_root(&mut Scalar, x), reference: f64::sqrt },
    Operation { name: "rsq", lane: |x| root::rsq(&mut Scalar, x, INFINITY), reference: |x| 1.0 / x.sqrt() },
    Operation {
        name: "rsq-integer",
        lane: |x| root::reciprocal_root(&mut Scalar, x),
        reference: |x| 1.0 / x.sqrt(),
    },
    Operation { name: "exp", lane: |x| exponential::exp2(&mut Scalar, x), reference: f64::exp2 },
    Operation { name: "exn", lane: |x| exponential::exp(&mut Scalar, x), reference: f64::exp },
    Operation { name: "log", lane: |x| exponential::log2(&mut Scalar, x, INFINITY), reference: f64::log2 },
    Operation { name: "ln", lane: |x| exponential::ln(&mut Scalar, x, INFINITY), reference: f64::ln },
    Operation { name: "sin", lane: |x| trigonometric::sin(&mut Scalar, x), reference: f64::sin },
    Operation { name: "cos", lane: |x| trigonometric::cos(&mut Scalar, x), reference: f64::cos },
    Operation { name: "tan", lane: |x| trigonometric::tan(&mut Scalar, x), reference: f64::tan },
    Operation { name: "asin", lane: |x| trigonometric::asin(&mut Scalar, x), reference: f64::asin },
    Operation { name: "acos", lane: |x| trigonometric::acos(&mut Scalar, x), reference: f64::acos },
    Operation { name: "atan", lane: |x| trigonometric::atan(&mut Scalar, x), reference: f64::atan },
];

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

fn measure(operation: &Operation, first: u64, last: u64, stride: u64) -> Worst {
    let mut worst = Worst::default();
    let mut bits = first;
    while bits < last {
        let input = bits as u32;
        bits += stride;
        let x = Scalar.flush(input);
        let result = f32::from_bits((operation.lane)(x));
        let exact = (operation.reference)(f64::from(f32::from_bits(x)));
        worst.measured += 1;
        let rounded = f32::from_bits(Scalar.flush((exact as f32).to_bits()));
        if !exact.is_finite() || !result.is_finite() || rounded.is_infinite() {
            let same = result == rounded || (result.is_nan() && exact.is_nan());
            if !same {
                worst.wrong += 1;
                worst.wrong_input = input;
            }
            continue;
        }
        if result == rounded {
            // Common case; its error is at most one half.
            if worst.error < 0.5 {
                worst.error =
                    worst.error.max(if exact.abs() < SMALLEST { 0.0 } else { error(result.into(), exact) });
            }
            continue;
        }
        let e = error(result.into(), exact);
        if e > 0.5 + 1e-8 {
            worst.misrounded += 1;
        }
        if e > worst.error {
            worst.error = e;
            worst.input = input;
        }
    }
    worst
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
    if let Some(unknown) = names.iter().find(|n| OPERATIONS.iter().all(|o| o.name != **n)) {
        let known: Vec<&str> = OPERATIONS.iter().map(|o| o.name).collect();
        eprintln!("no operation `{unknown}`; there are: {}", known.join(" "));
        std::process::exit(2);
    }
    let threads = thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    for operation in OPERATIONS.iter().filter(|o| names.is_empty() || names.iter().any(|n| n == o.name)) {
        let share = (1u64 << 32).div_ceil(threads);
        let parts: Vec<Worst> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|t| {
                    let last = ((t + 1) * share).min(1 << 32);
                    scope.spawn(move || measure(operation, t * share, last, stride))
                })
                .collect();
            workers.into_iter().map(|w| w.join().expect("a measuring thread does not panic")).collect()
        });
        let mut total = Worst::default();
        for part in parts {
            total.measured += part.measured;
            total.misrounded += part.misrounded;
            if part.wrong > 0 {
                total.wrong += part.wrong;
                total.wrong_input = part.wrong_input;
            }
            if part.error > total.error {
                (total.error, total.input) = (part.error, part.input);
            }
        }
        println!(
            "{:14} worst {:.4} ulp at {:08X}, {} of {} not nearest, {} special values wrong{}",
            operation.name,
            total.error,
            total.input,
            total.misrounded,
            total.measured,
            total.wrong,
            if total.wrong > 0 { format!(", as for {:08X}", total.wrong_input) } else { String::new() },
        );
    }
}
