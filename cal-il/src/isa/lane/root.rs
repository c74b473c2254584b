//! Square roots and their reciprocals, correctly rounded: an estimate in whatever floating point there is, then
//! exact integer residuals until the root is right. The estimate does not show in the result.

use super::division::zero_magnitude;
use super::double;
use super::expr::expr;
use crate::isa::Algebra;

/// About 1/√t for t in [1, 4), to 2^-17.
#[inline(always)]
fn estimate<A: Algebra>(a: &mut A, t: A::W) -> A::W {
    let half = expr!(a, fmul_raw(t, 0xBF00_0000));
    let mut y = expr!(a, isub(0x5F37_59DF, shr(t, 1)));
    for _ in 0..2 {
        y = refine(a, half, y);
    }
    y
}

/// A Newton step for 1/√t; `half` is −t/2.
#[inline(always)]
fn refine<A: Algebra>(a: &mut A, half: A::W, y: A::W) -> A::W {
    let error = expr!(a, fadd_raw(fmul_raw(fmul_raw(half, y), y), 0x3FC0_0000));
    a.fmul_raw(y, error)
}

/// Significand m in [2^23, 2^25) of x = m · 4^k, the same as a float in [1, 4), and the exponent field.
#[inline(always)]
fn even_split<A: Algebra>(a: &mut A, x: A::W) -> (A::W, A::W, A::W) {
    let exponent = expr!(a, and(shr(x, 23), 0xFF));
    let fraction = expr!(a, and(x, 0x007F_FFFF));
    // The field is 127 for 2^0: an even field is an odd power.
    let odd = expr!(a, and(xor(exponent, 1), 1));
    let m = expr!(a, shl(or(fraction, 0x0080_0000), odd));
    let t = expr!(a, or(fraction, shl(iadd(odd, 127), 23)));
    (m, t, exponent)
}

/// Definition of [`Algebra::fsqrt`].
#[inline(always)]
pub fn square_root<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (m, t, exponent) = even_split(a, x);
    // r = floor(√n), n = m · 2^25, 25 bits. The estimate is off by a few units, so n − r² fits in 32 bits.
    let half = expr!(a, fmul_raw(t, 0xBF00_0000));
    let y = estimate(a, t);
    let y = refine(a, half, y);
    let r = expr!(a, ftoi_raw(fmul_raw(fmul_raw(t, y), 0x4B80_0000)));
    let n = expr!(a, shl(m, 25));
    let rest = expr!(a, isub(n, imul(r, r)));
    // Divided by 2r = 2^25 / y, rounding down: at most one off afterwards.
    let scaled = expr!(a, ftoi_raw(fmul_raw(y, 0x4E80_0000)));
    let r = expr!(a, iadd(r, sar(smulhi(rest, scaled), 23)));
    let r = expr!(a, isub(r, shr(isub(n, imul(r, r)), 31)));
    let next = expr!(a, iadd(r, 1));
    let fits = expr!(a, negate(ilt(isub(n, imul(next, next)), 0)));
    let r = a.select(fits, next, r);

    // An odd r is never the exact root, so the last bit rounds up.
    let field = expr!(a, shr(iadd(iadd(exponent, 126), and(exponent, 1)), 1));
    let number = expr!(a, iadd(shl(isub(field, 1), 23), shr(iadd(r, 1), 1)));
    let keep = expr!(a, either(is_zero(x), ieq(x, 0x7F80_0000)));
    let number = a.select(keep, x, number);
    let invalid = expr!(a, either(both(ilt(x, 0), negate(is_zero(x))), is_nan(x)));
    expr!(a, select(invalid, 0x7FC0_0000, number))
}

/// Definition of [`Algebra::frsqrt`].
#[inline(always)]
pub fn reciprocal_root<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (m, t, exponent) = even_split(a, x);
    // r = the largest integer with r² · m ≤ 2^73. Modulo 2^64 the residual 2^73 − r² · m is exact.
    let y = estimate(a, t);
    let r = expr!(a, ftoi_raw(fmul_raw(y, 0x4C00_0000)));
    let rest = residual(a, r, m);
    // Divided by 2 r m = 2^74 / r, rounding down: at most one off afterwards.
    let r = expr!(a, iadd(r, sar(smulhi(hi(rest), r), 10)));
    let rest = residual(a, r, m);
    let r = expr!(a, isub(r, shr(hi(rest), 31)));
    let next = expr!(a, iadd(r, 1));
    let rest = residual(a, next, m);
    let fits = expr!(a, negate(ilt(hi(rest), 0)));
    let r = a.select(fits, next, r);

    // An odd r is never exact, so the last bit rounds up; 2^25 carries into the exponent.
    let odd = expr!(a, and(xor(exponent, 1), 1));
    let field = expr!(a, shr(iadd(isub(381, exponent), odd), 1));
    let number = expr!(a, iadd(shl(isub(field, 2), 23), shr(iadd(r, 1), 1)));
    let sign = expr!(a, and(x, 0x8000_0000));
    let number = expr!(a, select(ieq(x, 0x7F80_0000), 0, number));
    let invalid = expr!(a, either(ilt(x, 0), is_nan(x)));
    let number = expr!(a, select(invalid, 0x7FC0_0000, number));
    expr!(a, select(is_zero(x), or(sign, 0x7F80_0000), number))
}

/// The same for those who have quotients, roots and fused sums: a quotient, and what it lacks. That this rounds correctly was
/// tried for all significands.
#[inline(always)]
pub fn reciprocal_of_root<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (_, t, exponent) = even_split(a, x);
    let y = expr!(a, fdiv(fsqrt(t), t));
    // 1 − y² · t, of which y² is two floats.
    let square = a.fmul_raw(y, y);
    let lost = expr!(a, ffma_raw(y, y, xor(square, 0x8000_0000)));
    let minus = expr!(a, xor(t, 0x8000_0000));
    let error = expr!(a, ffma_raw(minus, square, 0x3F80_0000));
    let error = a.ffma_raw(minus, lost, error);
    let y = expr!(a, ffma_raw(y, fmul_raw(error, 0x3F00_0000), y));
    // t = x · 4^places
    let odd = expr!(a, and(xor(exponent, 1), 1));
    let places = expr!(a, sar(isub(iadd(odd, 127), exponent), 1));
    let number = expr!(a, iadd(y, shl(places, 23)));
    let number = expr!(a, select(ieq(x, 0x7F80_0000), 0, number));
    let invalid = expr!(a, either(ilt(x, 0), is_nan(x)));
    let number = expr!(a, select(invalid, 0x7FC0_0000, number));
    let sign = expr!(a, and(x, 0x8000_0000));
    expr!(a, select(is_zero(x), or(sign, 0x7F80_0000), number))
}

/// −(r² · m) modulo 2^64, for r of 25 or 26 bits.
#[inline(always)]
fn residual<A: Algebra>(a: &mut A, r: A::W, m: A::W) -> A::Q {
    let square = expr!(a, pack(imul(r, r), umulhi(r, r)));
    let (lo, hi) = (a.lo(square), a.hi(square));
    let product = expr!(a, pack(imul(lo, m), iadd(umulhi(lo, m), imul(hi, m))));
    expr!(a, qsub(quad({ 0 }), product))
}

/// √x, correctly rounded.
#[inline(always)]
pub fn sqrt<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.fsqrt(x)
}

/// 1/√x, correctly rounded; a zero x by `zeroop`, with its sign.
#[inline(always)]
pub fn rsq<A: Algebra>(a: &mut A, x: A::W, zeroop: A::W) -> A::W {
    let root = a.frsqrt(x);
    let magnitude = zero_magnitude(a, zeroop);
    let sign = expr!(a, and(x, 0x8000_0000));
    let limit = expr!(a, select(ieq(magnitude, 0), 0, or(sign, magnitude)));
    expr!(a, select(is_zero(x), limit, root))
}

/// Significand m in [2^52, 2^54) of x = m · 4^k, the same as a double in [1, 4), an estimate of 1/√ of that within
/// 2^-52, and the exponent field.
#[inline(always)]
fn even_split_double<A: Algebra>(a: &mut A, x: A::Q) -> (A::Q, A::Q, A::Q, A::W) {
    let (full, exponent) = double::normalise(a, x);
    let odd = expr!(a, and(xor(exponent, 1), 1));
    let m = a.qshl(full, odd);
    let fraction = expr!(a, qand(full, quad({ (1 << 52) - 1 })));
    let t = expr!(a, qor(fraction, pack(0, shl(iadd(odd, 1023), 20))));
    let seed = expr!(a, dtof_raw(t));
    let seed = estimate(a, seed);
    let mut y = a.ftod_raw(seed);
    let half = expr!(a, dmul_raw(t, quad({ (-0.5f64).to_bits() })));
    for _ in 0..2 {
        let error = expr!(a, dadd_raw(dmul_raw(dmul_raw(half, y), y), quad({ 0.5f64.to_bits() })));
        y = expr!(a, dadd_raw(y, dmul_raw(y, error)));
    }
    (m, t, y, exponent)
}

/// Definition of [`Algebra::dsqrt_raw`].
#[inline(always)]
pub fn square_root_double<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    let (m, t, y, exponent) = even_split_double(a, x);
    // r = floor(√n), n = m · 2^54, 54 bits. From an estimate within 4 units, down to the root.
    let root = a.dmul_raw(t, y);
    let error = expr!(a, dfma_raw(qxor(root, quad({ 1 << 63 })), root, t));
    let step = expr!(a, dmul_raw(dmul_raw(error, y), quad({ 0.5f64.to_bits() })));
    let root = a.dadd_raw(root, step);
    let fraction = expr!(a, qor(qand(root, quad({ (1 << 52) - 1 })), quad({ 1 << 52 })));
    let shift = expr!(a, and(isub(shr(hi(root), 20), 1022), 63));
    let mut r = expr!(a, qadd(qshl(fraction, shift), quad({ 4 })));
    let n = expr!(a, qshl(m, 54));
    for _ in 0..8 {
        let rest = expr!(a, qsub(n, qmul(r, r)));
        r = expr!(a, qsub(r, qshr(rest, 63)));
    }
    let rest = expr!(a, qsub(n, qmul(r, r)));
    let field = expr!(a, sar(isub(iadd(exponent, and(exponent, 1)), 1024), 1));
    let field = expr!(a, iadd(field, 1023));
    // The exponent is never near the limits, and n − r² = 0 only for even r: no tie.
    let sticky = expr!(a, pack(select(qeq(rest, quad({ 0 })), 0, 1), 0));
    let wide = expr!(a, qor(qshl(r, 9), sticky));
    let number = expr!(a, dround(quad({ 0 }), field, wide));
    let keep = expr!(a, either(is_dzero(x), qeq(x, quad({ 0x7FF0_0000_0000_0000 }))));
    let number = a.selectq(keep, x, number);
    let negative = expr!(a, both(ilt(hi(x), 0), negate(is_dzero(x))));
    let invalid = expr!(a, either(negative, is_dnan(x)));
    expr!(a, selectq(invalid, quad({ 0x7FF8_0000_0000_0000 }), number))
}

/// r² · m − 2^160 modulo 2^128, low and high half: the sign is right as long as r is within 2^17 of the root.
#[inline(always)]
fn excess<A: Algebra>(a: &mut A, r: A::Q, m: A::Q) -> (A::Q, A::Q) {
    let square = a.qmul(r, r);
    let square_high = a.qumulhi(r, r);
    let low = a.qmul(square, m);
    let high = expr!(a, qadd(qumulhi(square, m), qmul(square_high, m)));
    (low, high)
}

/// 1/√x in double precision, correctly rounded; a zero x by `zeroop`, with its sign.
#[inline(always)]
pub fn drsq<A: Algebra>(a: &mut A, x: A::Q, zeroop: A::W) -> A::Q {
    let (m, _, y, exponent) = even_split_double(a, x);
    // r = the largest integer with r² · m ≤ 2^160, in (2^53, 2^54]. From an estimate within 4 units.
    let scaled = expr!(a, qadd(y, quad({ 54 << 52 })));
    let fraction = expr!(a, qor(qand(scaled, quad({ (1 << 52) - 1 })), quad({ 1 << 52 })));
    let shift = expr!(a, isub(shr(hi(scaled), 20), 1075));
    let r = a.qshl(fraction, shift);
    // What it is too much, divided by 2 r m = 2^161 / r, is known to 2^-24: rounded down after adding 2^-21 it is right,
    // or one too little.
    let (_, over) = excess(a, r, m);
    let top = expr!(a, or(shr(lo(over), 16), shl(hi(over), 16)));
    let leading = expr!(a, or(shr(lo(r), 24), shl(hi(r), 8)));
    let steps = expr!(a, sar(iadd(smulhi(top, leading), 16), 25));
    let r = expr!(a, qsub(r, pack(steps, sar(steps, 31))));
    let (low, high) = excess(a, r, m);
    let zero = expr!(a, qeq(qor(low, high), quad({ 0 })));
    let fits = expr!(a, either(ilt(hi(high), 0), zero));
    let r = expr!(a, qsub(r, pack(select(fits, 0, 1), 0)));
    // An odd r is never exact, so the last bit rounds up; 2^54 carries into the exponent.
    let odd = expr!(a, and(xor(exponent, 1), 1));
    let field = expr!(a, sar(iadd(isub(3069, exponent), odd), 1));
    let number = expr!(a, qshr(qadd(r, quad({ 1 })), 1));
    let number = expr!(a, qadd(pack(0, shl(isub(field, 2), 20)), number));
    let number = expr!(a, selectq(qeq(x, quad({ 0x7FF0_0000_0000_0000 })), quad({ 0 }), number));
    let invalid = expr!(a, either(ilt(hi(x), 0), is_dnan(x)));
    let number = expr!(a, selectq(invalid, quad({ 0x7FF8_0000_0000_0000 }), number));
    let sign = expr!(a, and(hi(x), 0x8000_0000));
    let limit = double::zero_result(a, zeroop, sign);
    expr!(a, selectq(is_dzero(x), limit, number))
}

#[cfg(test)]
mod tests {
    use super::reciprocal_of_root;
    use crate::isa::{Algebra, Scalar};

    fn agrees(x: u32) {
        let (got, expected) = (reciprocal_of_root(&mut Scalar, x), Scalar.frsqrt(x));
        let nan = |word: u32| f32::from_bits(word).is_nan();
        assert!(got == expected || nan(got) && nan(expected), "{x:x}: {got:x}, not {expected:x}");
    }

    /// All significands, with two exponents; and some with all exponents.
    #[test]
    fn reciprocals_of_roots_are_correctly_rounded() {
        (0x3F80_0000..0x4080_0000).for_each(agrees);
        let exponents = (0..=255).map(|field| field << 23);
        let normal = |x: &u32| x & 0x7F80_0000 != 0 || x & 0x007F_FFFF == 0;
        let words =
            exponents.flat_map(|field| [0, 1, 0x0035_04F3, 0x0035_04F4, 0x007F_FFFF].map(|f| field | f));
        words.flat_map(|x| [x, x | 0x8000_0000]).filter(normal).for_each(agrees);
    }
}
