//! The division steps divide, and the range reduction step delivers the bits of 2/π.

use recal_il::isa::LaneOp;
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Single};

use super::support::{Random, evaluate, random_operands};

const SIGN: u64 = 1 << 63;

/// The sequence that compilers emit for x / y in double precision.
fn divide_doubles(x: u64, y: u64) -> u64 {
    let fma = |a, b, c| evaluate(LaneOp::Dmad, &[a, b, c]);
    let d = evaluate(LaneOp::DdivScale, &[y, y, x]);
    let n = evaluate(LaneOp::DdivScale, &[x, y, x]);
    let flag = evaluate(LaneOp::DdivScaleFlag, &[x, y, x]);
    let one = 1f64.to_bits();
    let r = evaluate(LaneOp::Drcp, &[d, 2]);
    let r = fma(r, fma(d ^ SIGN, r, one), r);
    let r = fma(r, fma(d ^ SIGN, r, one), r);
    let q = evaluate(LaneOp::Dmul, &[n, r]);
    let rest = fma(d ^ SIGN, q, n);
    let q = evaluate(LaneOp::DdivFmas, &[rest, r, q, flag]);
    evaluate(LaneOp::DdivFixup, &[q, y, x])
}

/// The same in single precision.
fn divide_floats(x: u64, y: u64) -> u64 {
    let fma = |a, b, c| evaluate(LaneOp::Fma, &[a, b, c]);
    let d = evaluate(LaneOp::DivScale, &[y, y, x]);
    let n = evaluate(LaneOp::DivScale, &[x, y, x]);
    let flag = evaluate(LaneOp::DivScaleFlag, &[x, y, x]);
    let minus = d ^ 0x8000_0000;
    let r = evaluate(LaneOp::Rcp, &[d, 2]);
    let r = fma(fma(minus, r, 0x3F80_0000), r, r);
    let q = evaluate(LaneOp::MulIeee, &[n, r]);
    let q = fma(fma(minus, q, n), r, q);
    let q = evaluate(LaneOp::DivFmas, &[fma(minus, q, n), r, q, flag]);
    evaluate(LaneOp::DivFixup, &[q, y, x])
}

/// What IEEE 754 gives, by a software float; NaNs alike.
fn quotient_of_doubles(x: u64, y: u64) -> u64 {
    let quotient = (Double::from_bits(x.into()) / Double::from_bits(y.into())).value;
    if quotient.is_nan() { 0x7FF8 << 48 } else { quotient.to_bits() as u64 }
}

/// The same in single precision, with denormals as zeros.
fn quotient_of_floats(x: u64, y: u64) -> u64 {
    let flushed = |x: u64| if x & 0x7F80_0000 == 0 { x & 0x8000_0000 } else { x };
    let quotient = (Single::from_bits(flushed(x).into()) / Single::from_bits(flushed(y).into())).value;
    if quotient.is_nan() { 0x7FC0_0000 } else { flushed(quotient.to_bits() as u64) }
}

/// Numerator and denominator whose quotient is next to the middle between two neighbours: significands of `bits` bits,
/// the middle m and the denominator d at random, the numerator the multiple of m d nearest below or above.
fn hard_significands(random: &mut Random, bits: u32) -> (u64, u64) {
    let one = 1u128 << (bits - 1);
    let middle = (u128::from(random.next()) % (2 * one)) | (2 * one) | 1;
    let mut d = (u128::from(random.next()) % one) | one;
    // A sparse denominator now and then: exact products and ties of its multiples.
    if random.next() % 4 == 0 {
        d = (d >> (bits / 2) << (bits / 2)) | one;
    }
    let product = middle * d;
    let shift = 128 - product.leading_zeros() - bits;
    let n = (product >> shift) + u128::from(random.next() & 1);
    let n = if n >> bits == 1 { n >> 1 } else { n };
    ((n - one) as u64, (d - one) as u64)
}

#[test]
fn the_steps_divide_doubles() {
    let special =
        [0, SIGN, 1, 0x000F_FFFF_FFFF_FFFF, 1f64.to_bits(), f64::MAX.to_bits(), 0x7FF0 << 48, 0x7FF8 << 48];
    let check = |x: u64, y: u64| {
        let want = quotient_of_doubles(x, y);
        // Results below the normal range are rounded once more when they are scaled back.
        let spread = u64::from(want & !SIGN < 1 << 52);
        let got = divide_doubles(x, y);
        assert!(got.abs_diff(want) <= spread, "{x:X} / {y:X} gives {got:X}, not {want:X}");
    };
    for x in special {
        for y in special {
            check(x, y);
            check(x ^ SIGN, y);
        }
    }
    let mut random = Random(3);
    for _ in 0..random_operands() / 4 {
        check(random.next(), random.next());
        let (n, d) = hard_significands(&mut random, 53);
        let bits = random.next();
        // Any exponents; and those whose difference overflows, underflows or leaves denormals.
        let (e, f) = (bits % 2047, bits >> 16 & 0x7FF);
        check(e << 52 | n, (f % 2047) << 52 | d | bits & SIGN);
        let edge = [0, 1, 2, 53, 54, 55, 108, 1022, 1023, 1024, 1990, 1991, 2043, 2044, 2045, 2046];
        let (e, f) = (edge[(bits >> 32) as usize % 16], edge[(bits >> 36) as usize % 16]);
        check(e << 52 | n, f << 52 | d);
        let f = f.saturating_sub(bits >> 40 & 3);
        check(f << 52 | n, e << 52 | d);
    }
}

#[test]
fn the_steps_divide_floats() {
    // The steps flush like all single precision: for numerators below 2^-79 the residual may be a denormal, and the
    // last bit of the quotient is then that of the step before.
    let check = |x: u64, y: u64| {
        let want = quotient_of_floats(x, y);
        let got = divide_floats(x, y);
        let field = |x: u64| x >> 23 & 0xFF;
        // The scaling lifts numerators with a field up to 23 by 64.
        let exact = field(x) >= 48 && field(want) != 0 || field(x) < 24 || field(want) == 255;
        let spread = u64::from(!exact);
        let near_zero = want & 0x7FFF_FFFF <= 0x0080_0000 && got & 0x7FFF_FFFF <= 0x0080_0000;
        assert!(
            got.abs_diff(want) <= spread || near_zero && (got ^ want) >> 31 == 0,
            "{x:X} / {y:X} gives {got:X}, not {want:X}"
        );
    };
    let special =
        [0, 0x8000_0000, 0x0080_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0000, 0x0000_0001];
    for x in special {
        for y in special {
            check(x, y);
            check(x ^ 0x8000_0000, y);
        }
    }
    let mut random = Random(4);
    for _ in 0..random_operands() / 2 {
        check(random.next() & 0xFFFF_FFFF, random.next() & 0xFFFF_FFFF);
        let (n, d) = hard_significands(&mut random, 24);
        let bits = random.next();
        let (e, f) = (1 + bits % 254, 1 + (bits >> 16) % 254);
        check(e << 23 | n, f << 23 | d | bits >> 8 & 0x8000_0000);
        let edge = [1, 2, 23, 24, 25, 31, 47, 48, 95, 96, 127, 128, 223, 252, 253, 254];
        let (e, f) = (edge[(bits >> 32) as usize % 16], edge[(bits >> 36) as usize % 16]);
        check(e << 23 | n, f << 23 | d);
    }
}

/// When the quotient has to be scaled back, and what is scaled by what: the rows of the manuals.
#[test]
fn the_scaling_follows_the_manuals() {
    let float = |field: u64| field << 23 | 0x2A_AAAA;
    let ratio = |x: u64, of: u64| f64::from(f32::from_bits(x as u32)) / f64::from(f32::from_bits(of as u32));
    for d in 1..255u64 {
        for n in 1..255u64 {
            let (y, x) = (float(d), float(n));
            let flag = evaluate(LaneOp::DivScaleFlag, &[y, y, x]);
            let [sy, sx] = [y, x].map(|of| ratio(evaluate(LaneOp::DivScale, &[of, y, x]), of).log2());
            let (inverse, quotient) = (d >= 253, n as i64 - d as i64 + 127 <= 0);
            let want = match () {
                _ if n as i64 - d as i64 >= 96 => (64.0, 0.0, true),
                _ if inverse && quotient => (-64.0, 0.0, true),
                _ if inverse => (-64.0, -64.0, false),
                _ if quotient => (0.0, 64.0, true),
                _ if n <= 23 => (64.0, 64.0, false),
                _ => (0.0, 0.0, false),
            };
            assert_eq!((sy, sx, flag != 0), want, "numerator field {n}, denominator field {d}");
        }
    }
}

#[test]
fn the_scaling_of_doubles_follows_the_manuals() {
    let double = |field: u64| field << 52 | 0x5 << 48;
    let ratio = |x: u64, of: u64| f64::from_bits(x) / f64::from_bits(of);
    let fields = || (0..2047u64).filter(|f| f % 23 == 0 || !(60..1980).contains(f) || f.abs_diff(1023) < 3);
    for d in fields() {
        for n in fields() {
            let (y, x) = (double(d), double(n));
            let flag = evaluate(LaneOp::DdivScaleFlag, &[y, y, x]);
            let [sy, sx] = [y, x].map(|of| ratio(evaluate(LaneOp::DdivScale, &[of, y, x]), of).log2());
            let quotient = quotient_of_doubles(x, y) >> 52 & 0x7FF == 0;
            let want = match () {
                _ if n as i64 - d as i64 >= 768 => (128.0, 0.0, true),
                _ if d == 0 => (128.0, 128.0, false),
                _ if d >= 2045 && quotient => (-128.0, 0.0, true),
                _ if d >= 2045 => (-128.0, -128.0, false),
                _ if quotient => (0.0, 128.0, true),
                _ if n <= 53 => (128.0, 128.0, false),
                _ => (0.0, 0.0, false),
            };
            assert_eq!((sy, sx, flag != 0), want, "numerator field {n}, denominator field {d}");
        }
    }
}

#[test]
fn bits_of_two_over_pi() {
    // The first 128 bits.
    let bits = 0xA2F9_836E_4E44_1529_FC27_57D1_F534_DDC0u128;
    let segment = |exponent: u64, n: u64| f64::from_bits(evaluate(LaneOp::DtrigPreop, &[exponent << 52, n]));
    for shift in 0..70 {
        let expected = (bits << shift >> 75) as f64 * 2f64.powi(-53 - shift);
        assert_eq!(segment(1077 + shift as u64, 0), expected, "from bit {shift}");
    }
    assert_eq!(segment(1000, 1), (bits << 53 >> 75) as f64 * 2f64.powi(-106));
    // Segments add up: the first three agree with the ones one bit further on.
    let sum = |first| (0..3).map(|n| segment(first, n)).rev().sum::<f64>();
    assert_eq!(sum(1077), std::f64::consts::FRAC_2_PI);
    // Large exponents are scaled; the same bits are reached by other segment numbers.
    for (exponent, n, other) in [(1968, 0, 16), (1988, 0, 17), (2000, 0, 16)] {
        let shift = exponent - 1077 + 53 * n;
        assert_eq!(segment(exponent, n), segment(1077 + shift - 53 * other, other) * 2f64.powi(128));
    }
    assert_eq!(segment(1077, 31), 0.0, "beyond the stored bits");
}
