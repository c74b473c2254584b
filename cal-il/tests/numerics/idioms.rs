//! Programs' idioms that depend on exact behaviour of several operations together.

use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;

use super::support::{Random, evaluate};

/// One operation on 32-bit words, floats flushed and canonical.
fn w(op: LaneOp, operands: &[u32]) -> u32 {
    let operands: Vec<u64> = operands.iter().map(|x| u64::from(*x)).collect();
    evaluate(op, &operands) as u32
}

/// One operation with 64-bit operands.
fn q(op: LaneOp, operands: &[u64]) -> u64 {
    evaluate(op, operands)
}

fn negated(x: u64) -> u64 {
    let high = fold(LaneOp::NegBits, &[(x >> 32) as u32]).0;
    x & 0xFFFF_FFFF | u64::from(high) << 32
}

#[test]
fn any_equal_through_nan() {
    // ieq r, a, b; dp4 r, r, r.1111; if_logicalnz r: a mask is a NaN, and NaN survives the dot product.
    let any_equal = |x: [u32; 4], y: u32| {
        let mask = x.map(|x| w(LaneOp::Ieq, &[x, y]));
        let product = mask.map(|m| w(LaneOp::Mul, &[m, 0x3F80_0000]));
        product[1..].iter().fold(product[0], |sum, p| w(LaneOp::Add, &[sum, *p])) != 0
    };
    assert!(any_equal([1, 2, 3, 4], 3));
    assert!(any_equal([1, 2, 3, 4], 1));
    assert!(!any_equal([1, 2, 3, 4], 5));
}

#[test]
fn rotation_by_any_count() {
    for n in 0u32..70 {
        let count = w(LaneOp::Isub, &[32, n]);
        assert_eq!(w(LaneOp::Bitalign, &[0x8765_4321, 0x8765_4321, count]), 0x8765_4321u32.rotate_left(n));
        // The same with two shifts: ishl by n, ushr by −n.
        let back = w(LaneOp::Ushr, &[0x8765_4321, w(LaneOp::Inegate, &[n])]);
        let rotated = w(LaneOp::Or, &[w(LaneOp::Ishl, &[0x8765_4321, n]), back]);
        assert_eq!(rotated, 0x8765_4321u32.rotate_left(n));
    }
}

#[test]
fn byte_swap() {
    let x = 0x1122_3344;
    let odd = w(LaneOp::And, &[w(LaneOp::Bytealign, &[x, x, 1]), 0xFF00_FF00]);
    let even = w(LaneOp::And, &[w(LaneOp::Bytealign, &[x, x, 3]), 0x00FF_00FF]);
    assert_eq!(w(LaneOp::Or, &[odd, even]), 0x4433_2211);
}

#[test]
fn carry_chain() {
    let (x, y) = ([0xFFFF_FFFFu32, 0xFFFF_FFFF, 7], [1u32, 0, 0]);
    let mut carry = 0;
    let sum: Vec<u32> = x
        .iter()
        .zip(y)
        .map(|(x, y)| {
            let partial = w(LaneOp::Iadd, &[*x, y]);
            let first = w(LaneOp::Icarry, &[*x, y]);
            let total = w(LaneOp::Iadd, &[partial, carry]);
            carry = w(LaneOp::Or, &[first, w(LaneOp::Icarry, &[partial, carry])]);
            total
        })
        .collect();
    assert_eq!((sum, carry), (vec![0, 0, 8], 0));
}

#[test]
fn signed_division() {
    let mut random = Random(1);
    for _ in 0..10_000 {
        let (x, y) = (random.next() as u32, (random.next() >> (random.next() % 63)) as u32 | 1);
        // By masks: |x| = (x + m) ^ m, the sign by the exclusive or of both.
        let (mx, my) = (w(LaneOp::Ilt, &[x, 0]), w(LaneOp::Ilt, &[y, 0]));
        let ax = w(LaneOp::Xor, &[w(LaneOp::Iadd, &[x, mx]), mx]);
        let ay = w(LaneOp::Xor, &[w(LaneOp::Iadd, &[y, my]), my]);
        let m = w(LaneOp::Xor, &[mx, my]);
        let quotient = w(LaneOp::Udiv, &[ax, ay]);
        let quotient = w(LaneOp::Xor, &[w(LaneOp::Iadd, &[quotient, m]), m]);
        assert_eq!(quotient, (x as i32).wrapping_div(y as i32) as u32);
        // By maxima: |x| = imax(x, −x), the sign by the top bit and a selection.
        let ax = w(LaneOp::Imax, &[x, w(LaneOp::Inegate, &[x])]);
        let ay = w(LaneOp::Imax, &[y, w(LaneOp::Inegate, &[y])]);
        let rest = w(LaneOp::Umod, &[ax, ay]);
        let sign = w(LaneOp::And, &[x, 0x8000_0000]);
        let rest = w(LaneOp::Select, &[sign, w(LaneOp::Inegate, &[rest]), rest]);
        assert_eq!(rest, (x as i32).wrapping_rem(y as i32) as u32);
    }
}

#[test]
fn count_of_leading_zeros() {
    for x in [0u32, 1, 2, 0xFFFF, 0x8000_0000, 0xFFFF_FFFF] {
        let first = w(LaneOp::FfbHi, &[x]);
        let none = w(LaneOp::Ushr, &[first, 31]);
        assert_eq!(w(LaneOp::Select, &[none, 32, first]), x.leading_zeros());
    }
}

#[test]
fn floor_and_power_in_double_precision() {
    // floor x = x − dfrac x; 2^k by dldexp with k from d2f and ftoi; the fraction by a polynomial of dmads.
    for x in [0.0, 0.75, -0.75, 1.0, 3.5, -3.5, 300.25, -300.25, 1e9, -1e9] {
        let fraction = q(LaneOp::Dfrac, &[f64::to_bits(x)]);
        let floor = q(LaneOp::Dadd, &[x.to_bits(), negated(fraction)]);
        assert_eq!(f64::from_bits(floor), x.floor());
    }
    for x in [0.0, 0.75, -0.75, 3.5, -3.5, 300.25, -300.25, -1060.5] {
        let fraction = q(LaneOp::Dfrac, &[f64::to_bits(x)]);
        let floor = q(LaneOp::Dadd, &[x.to_bits(), negated(fraction)]);
        let k = w(LaneOp::Ftoi, &[q(LaneOp::D2f, &[floor]) as u32]);
        // 2^f = Σ (f ln 2)^n / n!
        let ln2 = std::f64::consts::LN_2;
        let t = q(LaneOp::Dmul, &[fraction, ln2.to_bits()]);
        let mut power = 1f64.to_bits();
        for n in (1..20).rev() {
            let scaled = q(LaneOp::Ddiv, &[t, f64::from(n).to_bits(), 2]);
            power = q(LaneOp::Dmad, &[scaled, power, 1f64.to_bits()]);
        }
        let power = f64::from_bits(q(LaneOp::Dldexp, &[power, k.into()]));
        // 1060 places down only 14 bits are left.
        let tolerance = if x < -1022.0 { 2f64.powi(-1074) } else { 2f64.powf(x) * 1e-14 };
        assert!((power - 2f64.powf(x)).abs() <= tolerance, "{x}: {power:e}");
    }
}

#[test]
fn division_and_root_from_a_single_precision_seed() {
    let mut random = Random(2);
    for _ in 0..10_000 {
        let pick = |r: u64| f64::from_bits(r & 0x800F_FFFF_FFFF_FFFF | (1023 - 60 + (r >> 52) % 120) << 52);
        let (x, y) = (pick(random.next()), pick(random.next()));
        let (xb, yb) = (x.to_bits(), y.to_bits());
        // y0 = rcp(d2f y); y += y (1 − d y), twice; q = x y; q += y (x − d q)
        let seed = w(LaneOp::Rcp, &[q(LaneOp::D2f, &[yb]) as u32, 2]);
        let mut r = q(LaneOp::F2d, &[seed.into()]);
        for _ in 0..2 {
            let e = q(LaneOp::Dmad, &[negated(yb), r, 1f64.to_bits()]);
            r = q(LaneOp::Dmad, &[e, r, r]);
        }
        let quotient = q(LaneOp::Dmul, &[xb, r]);
        let rest = q(LaneOp::Dmad, &[negated(yb), quotient, xb]);
        let quotient = f64::from_bits(q(LaneOp::Dmad, &[rest, r, quotient]));
        assert!(((quotient - x / y) / (x / y)).abs() < 2.3e-16, "{x:e} / {y:e}");
        // The same for 1/√y, from rsq.
        let y = y.abs();
        let seed = w(LaneOp::Rsq, &[q(LaneOp::D2f, &[y.to_bits()]) as u32, 2]);
        let mut r = q(LaneOp::F2d, &[seed.into()]);
        for _ in 0..2 {
            let half = q(LaneOp::Dmul, &[r, 0.5f64.to_bits()]);
            let e = q(LaneOp::Dmad, &[negated(q(LaneOp::Dmul, &[y.to_bits(), r])), r, 1f64.to_bits()]);
            r = q(LaneOp::Dmad, &[e, half, r]);
        }
        assert!((f64::from_bits(r) * y.sqrt() - 1.0).abs() < 1e-15, "{y:e}");
    }
}

#[test]
fn kinds_of_floats_by_their_bits() {
    let exponent = |x| w(LaneOp::And, &[w(LaneOp::Mov, &[x]), 0x7F80_0000]);
    let special = |x| w(LaneOp::Ieq, &[exponent(x), 0x7F80_0000]) != 0;
    assert!(special(0x7F80_0000) && special(0xFFC1_2345) && special(0x7F80_0001));
    assert!(!special(0x7F7F_FFFF) && !special(1));
    // Moves keep payloads.
    assert_eq!(w(LaneOp::Mov, &[0x7F80_0001]), 0x7F80_0001);
    assert_eq!(w(LaneOp::NegBits, &[0x7F80_0001]), 0xFF80_0001);
}

#[test]
fn small_integer_division_through_floats() {
    for x in 0..256u32 {
        for y in 1..256u32 {
            let (fx, fy) = (w(LaneOp::Itof, &[x]), w(LaneOp::Itof, &[y]));
            let quotient = w(LaneOp::Trunc, &[w(LaneOp::Div, &[fx, fy, 2])]);
            let rest = w(LaneOp::Mad, &[w(LaneOp::Neg, &[quotient]), fy, fx]);
            let more = w(LaneOp::Ge, &[w(LaneOp::Abs, &[rest]), w(LaneOp::Abs, &[fy])]);
            let result = w(LaneOp::Isub, &[w(LaneOp::Ftoi, &[quotient]), more]);
            assert_eq!(result, x / y);
        }
    }
}

#[test]
fn comparison_as_minus_one() {
    assert_eq!(w(LaneOp::Iadd, &[10, w(LaneOp::Ult, &[1, 2])]), 9);
    assert_eq!(w(LaneOp::Iadd, &[10, w(LaneOp::Ult, &[2, 1])]), 10);
}
