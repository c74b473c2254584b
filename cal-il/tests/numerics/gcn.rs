//! The division steps divide, and the range reduction step delivers the bits of 2/π.

use cal_il::isa::LaneOp;

use super::support::{Random, evaluate};

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

#[test]
fn the_steps_divide_doubles() {
    let special =
        [0, SIGN, 1, 0x000F_FFFF_FFFF_FFFF, 1f64.to_bits(), f64::MAX.to_bits(), 0x7FF0 << 48, 0x7FF8 << 48];
    let check = |x: u64, y: u64| {
        let quotient = f64::from_bits(x) / f64::from_bits(y);
        let want = if quotient.is_nan() { 0x7FF8 << 48 } else { quotient.to_bits() };
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
    for _ in 0..300_000 {
        check(random.next(), random.next());
    }
}

#[test]
fn the_steps_divide_floats() {
    let mut random = Random(4);
    let mut ordinary = 0;
    for _ in 0..300_000 {
        let (x, y) = (random.next() & 0xFFFF_FFFF, random.next() & 0xFFFF_FFFF);
        let want = evaluate(LaneOp::Div, &[x, y, 2]);
        let got = divide_floats(x, y);
        // Residuals are flushed, so quotients of tiny numerators lose bits: those are let off, as are small results.
        let exponents = [x, want].map(|v| v >> 23 & 0xFF);
        if exponents.iter().all(|e| *e > 30) || want & 0x7FFF_FFFF >= 0x7F80_0000 {
            assert_eq!(got, want, "{x:X} / {y:X}");
            ordinary += 1;
        }
    }
    assert!(ordinary > 200_000);
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
