//! Roots, exponentials, logarithms and trigonometry: correct rounding where it is promised, by exact integer
//! inequalities, and bounded errors elsewhere, against double precision functions (good to about 2^-53, while the
//! bounds here are in units of 2^-24). The `exhaustive` example looks at every input; this looks at a sample.

use super::support::hold;
use recal_il::isa::LaneOp;

const NAN: u64 = 0x7FC0_0000;
const DNAN: u64 = 0x7FF8_0000_0000_0000;
const INFINITY: u64 = 2;

fn flush(x: u64) -> u64 {
    if x & 0x7F80_0000 == 0 { x & 0x8000_0000 } else { x }
}

fn value(x: u64) -> f32 {
    f32::from_bits(flush(x) as u32)
}

/// Significand and exponent of a normal number m · 2^e, e even.
fn even(bits: u64, fraction_bits: u32) -> (u64, i32) {
    let m = bits & ((1 << fraction_bits) - 1) | 1 << fraction_bits;
    let bias = if fraction_bits == 23 { 150 } else { 1075 };
    let e = (bits >> fraction_bits) as i32 - bias;
    if e % 2 == 0 { (m, e) } else { (2 * m, e - 1) }
}

/// The sign of n² · m − 2^k, by 64-bit limbs. n < 2^56, m < 2^55, k < 192.
fn compare(n: u64, m: u64, k: i32) -> std::cmp::Ordering {
    let square = u128::from(n) * u128::from(n);
    let low = (square & u128::from(u64::MAX)) * u128::from(m);
    let high = (square >> 64) * u128::from(m) + (low >> 64);
    let k = u32::try_from(k).expect("roots of normal numbers are below one in units of their last place");
    let (limit_high, limit_low) = if k < 64 { (0, 1u64 << k) } else { (1u128 << (k - 64), 0) };
    (high, low as u64).cmp(&(limit_high, limit_low))
}

/// Whether n · 2^s, n with its top bit at `fraction_bits`, is the nearest to 1/√(m · 2^e).
fn is_nearest_reciprocal_root(n: u64, s: i32, m: u64, e: i32) -> bool {
    // (2n − 1)² · m < 2^(2 − 2s − e) < (2n + 1)² · m. Below a power of two half a unit is half as long, but no
    // root of a number other than a power of four comes that close to one from below; those are exact.
    let k = 2 - 2 * s - e;
    compare(2 * n - 1, m, k).is_lt() && compare(2 * n + 1, m, k).is_gt()
}

/// What a reciprocal root gives for a zero with the sign bit `sign`.
fn zero_result(zeroop: u64, sign: u64, largest: u64, infinity: u64) -> u64 {
    match zeroop {
        0 => largest | sign,
        1 => 0,
        _ => infinity | sign,
    }
}

#[test]
fn square_roots() {
    hold(LaneOp::Sqrt, &[], |x, got| {
        let bits = flush(x[0]);
        match value(bits) {
            v if v.is_nan() || v < 0.0 => got == NAN,
            v if v == 0.0 || v.is_infinite() => got == bits,
            v => {
                // (r − ½)² < x < (r + ½)² in units of the last place: squares of 25 bits are exact as doubles.
                let r = f64::from(value(got));
                let half = f64::from(value(got & 0x7F80_0000)) * 2f64.powi(-24);
                (r - half) * (r - half) < v.into() && f64::from(v) < (r + half) * (r + half)
            }
        }
    });
    hold(LaneOp::Dsqrt, &[], |x, got| match f64::from_bits(x[0]) {
        v if v.is_nan() || v < 0.0 => got == DNAN,
        v if v == 0.0 || v.is_infinite() => got == x[0],
        v => {
            // A denormal is lifted by 2^108, an even power.
            let bits = if v.is_normal() { x[0] } else { (v * 2f64.powi(108)).to_bits() };
            let (m, e) = even(bits, 52);
            let e = if v.is_normal() { e } else { e - 108 };
            let n = u128::from(got & ((1 << 52) - 1) | 1 << 52);
            let s = (got >> 52) as i32 - 1075;
            // (2n − 1)² < m · 2^(e − 2s + 2) < (2n + 1)²
            let scaled = u128::from(m) << (e - 2 * s + 2);
            (2 * n - 1).pow(2) < scaled && scaled < (2 * n + 1).pow(2)
        }
    });
}

#[test]
fn reciprocal_roots() {
    for zeroop in 0..4 {
        hold(LaneOp::Rsq, &[zeroop], |x, got| {
            let bits = flush(x[0]);
            match value(bits) {
                v if v.is_nan() || v < 0.0 => got == NAN,
                0.0 => got == zero_result(zeroop, bits, 0x7F7F_FFFF, 0x7F80_0000),
                v if v.is_infinite() => got == 0,
                _ => {
                    let (m, e) = even(bits, 23);
                    let n = got & 0x007F_FFFF | 0x0080_0000;
                    is_nearest_reciprocal_root(n, (got >> 23) as i32 - 150, m, e)
                }
            }
        });
        hold(LaneOp::Drsq, &[zeroop], |x, got| match f64::from_bits(x[0]) {
            v if v.is_nan() || v < 0.0 => got == DNAN,
            0.0 => got == zero_result(zeroop, x[0], 0x7FEF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000),
            v if v.is_infinite() => got == 0,
            v => {
                let bits = if v.is_normal() { x[0] } else { (v * 2f64.powi(108)).to_bits() };
                let (m, e) = even(bits, 52);
                let e = if v.is_normal() { e } else { e - 108 };
                let n = got & ((1 << 52) - 1) | 1 << 52;
                is_nearest_reciprocal_root(n, (got >> 52) as i32 - 1075, m, e)
            }
        });
    }
}

/// Whether `got` is within `bound` units in the last place of `exact`; too small or large results are 0 and ∞.
fn is_close(got: u64, exact: f64, bound: f64) -> bool {
    let result = f64::from(value(got));
    let smallest = f64::from(f32::MIN_POSITIVE);
    if exact.is_nan() || result.is_nan() {
        return exact.is_nan() && got == NAN;
    }
    if exact.abs() > f64::from(f32::MAX) || result.is_infinite() {
        let limit = f64::from(f32::MAX) * (1.0 + 2f64.powi(-25));
        return result.is_infinite() && result.signum() == exact.signum() && exact.abs() >= limit
            || result.abs() == f64::from(f32::MAX) && exact.abs() <= limit;
    }
    if exact.abs() < smallest * (1.0 - 2f64.powi(-23)) {
        return result == 0.0;
    }
    let exponent = exact.abs().max(smallest).log2().floor();
    (result - exact).abs() <= bound * 2f64.powf(exponent - 23.0)
}

/// Largest errors in units in the last place; `docs/numerics.md` has the measured ones.
#[test]
fn functions_of_one_operand() {
    type Function = (LaneOp, &'static [u64], fn(f64) -> f64, f64);
    let functions: [Function; 10] = [
        (LaneOp::Exp, &[], f64::exp2, 0.525),
        (LaneOp::Exn, &[], f64::exp, 0.525),
        (LaneOp::Log, &[INFINITY], f64::log2, 0.515),
        (LaneOp::Ln, &[INFINITY], f64::ln, 0.53),
        (LaneOp::Sin, &[], f64::sin, 0.521),
        (LaneOp::Cos, &[], f64::cos, 0.521),
        (LaneOp::Tan, &[], f64::tan, 0.56),
        (LaneOp::Asin, &[], f64::asin, 0.55),
        (LaneOp::Acos, &[], f64::acos, 0.55),
        (LaneOp::Atan, &[], f64::atan, 0.55),
    ];
    for (op, literals, function, bound) in functions {
        hold(op, literals, |x, got| {
            let x = f64::from(value(x[0]));
            let exact = if x.is_infinite() && matches!(op, LaneOp::Sin | LaneOp::Cos | LaneOp::Tan) {
                f64::NAN
            } else {
                function(x)
            };
            is_close(got, exact, bound)
        });
    }
}

#[test]
fn logarithms_of_zero() {
    for op in [LaneOp::Log, LaneOp::Ln] {
        for (zeroop, result) in [(0, 0xFF7F_FFFF), (1, 0), (2, 0xFF80_0000), (3, 0xFF80_0000)] {
            for zero in [0, 0x8000_0000, 1, 0x807F_FFFF] {
                assert_eq!(super::support::evaluate(op, &[zero, zeroop]), result, "{} {zeroop}", op.name());
            }
        }
    }
}

#[test]
fn powers() {
    hold(LaneOp::Pow, &[], |x, got| {
        let (x, y) = (f64::from(value(x[0])), f64::from(value(x[1])));
        // The rules of the product y · log2 x: a zero makes it zero, log2 of ±0 is −∞, of negative numbers NaN.
        let exact = match () {
            _ if y == 0.0 || x == 1.0 => 1.0,
            _ if x < 0.0 => f64::NAN,
            _ => x.abs().powf(y),
        };
        is_close(got, exact, 0.54)
    });
}

#[test]
fn reduction_of_angles() {
    use std::f64::consts::PI;
    hold(LaneOp::Pireduce, &[], |x, got| {
        let x = f64::from(value(x[0]));
        if x.is_nan() || x.is_infinite() {
            return got == NAN;
        }
        let r = f64::from(value(got));
        // The remainder has the sine and cosine of the angle. Near zero compare the sines relative to it.
        let (sin, cos) = x.sin_cos();
        let tolerance = (r.abs() * 2f64.powi(-23)).max(2f64.powi(-126));
        r.abs() <= PI + 1e-6
            && (sin - r.sin()).abs() <= tolerance
            && (cos - r.cos()).abs() <= tolerance.max(1e-16)
    });
}

#[test]
fn values_of_multiple_precision() {
    let mut count = 0;
    for line in include_str!("vectors.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let op = *LaneOp::ALL.iter().find(|op| op.name() == fields[0]).expect("the name of an operation");
        let bits = |field: &str| u64::from_str_radix(field, 16).expect("hexadecimal digits");
        let (operands, exact) = fields[1..].split_at(fields.len() - 2);
        let mut operands: Vec<u64> = operands.iter().map(|x| bits(x)).collect();
        operands.resize(op.arguments().len(), INFINITY);
        let got = super::support::evaluate(op, &operands);
        assert!(is_close(got, f64::from_bits(bits(exact[0])), 0.531), "{line}: {got:08X}");
        count += 1;
    }
    assert!(count > 500);
}
