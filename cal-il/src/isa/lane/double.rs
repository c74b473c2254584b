//! Double precision: round to nearest even, denormals kept, NaNs canonical.

use super::expr::expr;
use crate::isa::Algebra;

/// x + y
#[inline(always)]
pub fn add<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, dcanonical(dadd_raw(x, y)))
}

/// x − y
#[inline(always)]
pub fn sub<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, dcanonical(dadd_raw(x, qxor(y, quad({ 1 << 63 })))))
}

/// NaNs to 0x7FF8000000000000.
#[inline(always)]
pub fn canon<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    a.dcanonical(x)
}

/// x + y; a NaN may have any payload.
#[inline(always)]
pub fn bare_add<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    a.dadd_raw(x, y)
}

/// x − y; a NaN may have any payload.
#[inline(always)]
pub fn bare_sub<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, dadd_raw(x, qxor(y, quad({ 1 << 63 }))))
}

/// x · y; a NaN may have any payload.
#[inline(always)]
pub fn bare_mul<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    a.dmul_raw(x, y)
}

/// x · y + z rounded once; a NaN may have any payload.
#[inline(always)]
pub fn bare_mad<A: Algebra>(a: &mut A, x: A::Q, y: A::Q, z: A::Q) -> A::Q {
    a.dfma_raw(x, y, z)
}

/// x without its sign, bit for bit.
#[inline(always)]
pub fn abs<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    expr!(a, qand(x, quad({ !(1 << 63) })))
}

/// x · y
#[inline(always)]
pub fn mul<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, dcanonical(dmul_raw(x, y)))
}

/// x · y + z rounded once.
#[inline(always)]
pub fn mad<A: Algebra>(a: &mut A, x: A::Q, y: A::Q, z: A::Q) -> A::Q {
    expr!(a, dcanonical(dfma_raw(x, y, z)))
}

/// Result for a zero divisor: ±value by `zeroop`, 0 without a sign.
#[inline(always)]
pub(super) fn zero_result<A: Algebra>(a: &mut A, zeroop: A::W, sign: A::W) -> A::Q {
    let infinite = expr!(a, or(sign, 0x7FF0_0000));
    let maximal = expr!(a, or(sign, 0x7FEF_FFFF));
    let high = expr!(a, select(ieq(zeroop, 0), maximal, infinite));
    let high = expr!(a, select(ieq(zeroop, 1), 0, high));
    let low = expr!(a, select(ieq(zeroop, 0), 0xFFFF_FFFF, 0));
    a.pack(low, high)
}

/// x / y, correctly rounded; a zero y by `zeroop`.
#[inline(always)]
pub fn div<A: Algebra>(a: &mut A, x: A::Q, y: A::Q, zeroop: A::W) -> A::Q {
    let quotient = expr!(a, dcanonical(ddiv_raw(x, y)));
    let sign = expr!(a, and(xor(hi(x), hi(y)), 0x8000_0000));
    let limit = zero_result(a, zeroop, sign);
    // `infinity` is what IEEE division does, 0/0 included; a NaN stays one under all.
    let ieee = expr!(a, either(ult(1, zeroop), is_dnan(x)));
    let replace = expr!(a, both(is_dzero(y), negate(ieee)));
    a.selectq(replace, limit, quotient)
}

/// 1 / x, correctly rounded; a zero x by `zeroop`, with the sign of x even for `zero`.
#[inline(always)]
pub fn rcp<A: Algebra>(a: &mut A, x: A::Q, zeroop: A::W) -> A::Q {
    let one = a.quad(1f64.to_bits());
    let quotient = div(a, one, x, zeroop);
    let keep = expr!(a, both(is_dzero(x), ieq(zeroop, 1)));
    a.selectq(keep, x, quotient)
}

/// √x, correctly rounded.
#[inline(always)]
pub fn sqrt<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    expr!(a, dcanonical(dsqrt_raw(x)))
}

/// The smaller; if exactly one is NaN, the other.
#[inline(always)]
pub fn min<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    let first = expr!(a, either(dlt(x, y), is_dnan(y)));
    expr!(a, dcanonical(selectq(first, x, y)))
}

/// The larger; if exactly one is NaN, the other.
#[inline(always)]
pub fn max<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    let first = expr!(a, either(dle(y, x), is_dnan(y)));
    expr!(a, dcanonical(selectq(first, x, y)))
}

/// x − floor(x), below 1.0; NaN for ±∞.
#[inline(always)]
pub fn frac<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    let floor = a.dfloor(x);
    let fraction = expr!(a, dadd_raw(x, qxor(floor, quad({ 1 << 63 }))));
    let high = expr!(a, dle(quad({ 1f64.to_bits() }), fraction));
    expr!(a, dcanonical(selectq(high, quad({ 0x3FEF_FFFF_FFFF_FFFF }), fraction)))
}

/// Significand bits 0 to 51 with the top bit of a denormal moved to bit 52, and the exponent field that goes
/// with it (0 or negative for denormals).
#[inline(always)]
pub(crate) fn normalise<A: Algebra>(a: &mut A, x: A::Q) -> (A::Q, A::W) {
    let exponent = expr!(a, and(shr(hi(x), 20), 0x7FF));
    let fraction = expr!(a, qand(x, quad({ (1 << 52) - 1 })));
    let full = expr!(a, qor(fraction, quad({ 1 << 52 })));
    let zeros = expr!(a, isub(qclz(fraction), 11));
    let lifted = expr!(a, qshl(fraction, and(zeros, 63)));
    let denormal = expr!(a, ieq(exponent, 0));
    let significand = a.selectq(denormal, lifted, full);
    let field = expr!(a, select(denormal, isub(1, zeros), exponent));
    (significand, field)
}

/// True for 0, ∞ and NaN.
#[inline(always)]
fn is_special<A: Algebra>(a: &mut A, x: A::Q) -> A::B {
    let exponent = expr!(a, and(hi(x), 0x7FF0_0000));
    expr!(a, either(ieq(exponent, 0x7FF0_0000), is_dzero(x)))
}

/// Exponent e of x = m · 2^e with |m| in [0.5, 1); 0 for 0, ∞ and NaN.
#[inline(always)]
pub fn frexp_exp<A: Algebra>(a: &mut A, x: A::Q) -> A::W {
    let (_, exponent) = normalise(a, x);
    let special = is_special(a, x);
    expr!(a, select(special, 0, isub(exponent, 1022)))
}

/// Significand m of x = m · 2^e with |m| in [0.5, 1); 0, ∞ and NaN themselves.
#[inline(always)]
pub fn frexp_mant<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    let (significand, _) = normalise(a, x);
    let sign = expr!(a, qand(x, quad({ 1 << 63 })));
    let number = expr!(a, qor(sign, qxor(significand, quad({ 0x3FF0_0000_0000_0000 }))));
    let special = is_special(a, x);
    expr!(a, dcanonical(selectq(special, x, number)))
}

/// x · 2^n, rounded once.
#[inline(always)]
pub fn ldexp<A: Algebra>(a: &mut A, x: A::Q, n: A::W) -> A::Q {
    let (significand, exponent) = normalise(a, x);
    let n = expr!(a, select(ilt(n, word({ -5000i32 as u32 })), word({ -5000i32 as u32 }), n));
    let n = expr!(a, select(ilt(n, 5000), n, 5000));
    let exponent = a.iadd(exponent, n);
    let sign = expr!(a, qand(x, quad({ 1 << 63 })));
    let wide = expr!(a, qshl(significand, 10));
    let number = a.dround(sign, exponent, wide);
    let special = is_special(a, x);
    expr!(a, dcanonical(selectq(special, x, number)))
}

/// Clamps to [0, 1]; NaN and −0 become +0.
#[inline(always)]
pub fn saturate<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    let below = expr!(a, dlt(x, quad({ 1f64.to_bits() })));
    let capped = expr!(a, selectq(below, x, quad({ 1f64.to_bits() })));
    let positive = expr!(a, dlt(quad({ 0 }), x));
    expr!(a, selectq(positive, capped, quad({ 0 })))
}

/// x = y
#[inline(always)]
pub fn eq<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(deq(x, y)))
}

/// x ≠ y, or either is NaN
#[inline(always)]
pub fn ne<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(negate(deq(x, y))))
}

/// x < y
#[inline(always)]
pub fn lt<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(dlt(x, y)))
}

/// x ≥ y
#[inline(always)]
pub fn ge<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(dle(y, x)))
}

/// Float to double, exact.
#[inline(always)]
pub fn f2d<A: Algebra>(a: &mut A, x: A::W) -> A::Q {
    let nan = a.is_nan(x);
    let number = expr!(a, ftod_raw(select(nan, 0, x)));
    expr!(a, selectq(nan, quad({ 0x7FF8_0000_0000_0000 }), number))
}

/// Double to float, to nearest even.
#[inline(always)]
pub fn d2f<A: Algebra>(a: &mut A, x: A::Q) -> A::W {
    expr!(a, flush(dtof_raw(x)))
}

/// [`Algebra::ftod_raw`] for those who have no conversion.
#[inline(always)]
pub fn widened<A: Algebra>(a: &mut A, x: A::W) -> A::Q {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let moved = expr!(a, shr(magnitude, 3));
    let high = expr!(a, iadd(moved, 0x3800_0000));
    let high = expr!(a, select(ult(magnitude, 0x0080_0000), 0, high));
    let high = expr!(a, select(ult(0x7F7F_FFFF, magnitude), iadd(moved, 0x7000_0000), high));
    expr!(a, pack(shl(x, 29), or(high, and(x, 0x8000_0000))))
}

/// [`Algebra::dtof_raw`] for those who have no conversion.
#[inline(always)]
pub fn narrowed<A: Algebra>(a: &mut A, x: A::Q) -> A::W {
    let (low, high) = (a.lo(x), a.hi(x));
    let magnitude = expr!(a, and(high, 0x7FFF_FFFF));
    // What is cut off is rounded into the rest, which may carry as far as ∞.
    let kept = expr!(a, or(shl(isub(magnitude, word({ 896 << 20 })), 3), shr(low, 29)));
    let up = expr!(a, ult(0x8000_0000, or(shl(low, 3), and(kept, 1))));
    let normal = expr!(a, isub(kept, mask(up)));
    let normal = expr!(a, select(ult(magnitude, word({ (1023 + 128) << 20 })), normal, 0x7F80_0000));
    // Below 2^-126 a sum whose unit is that of the denormals rounds.
    let small = expr!(a, qand(x, quad({ !(1 << 63) })));
    let small = expr!(a, lo(dadd_raw(small, quad({ (1023 - 149 + 52) << 52 }))));
    let number = expr!(a, select(ult(magnitude, word({ 897 << 20 })), small, normal));
    let number = expr!(a, or(number, and(high, 0x8000_0000)));
    // Above the words of ∞, or of them with something below.
    let nan = expr!(a, ult(0x7FF0_0000, or(magnitude, select(ieq(low, 0), 0, 1))));
    expr!(a, select(nan, 0x7FC0_0000, number))
}

/// |x| truncated to 32 bits, if it is below 2^32.
#[inline(always)]
fn truncated<A: Algebra>(a: &mut A, x: A::Q) -> A::W {
    let exponent = expr!(a, and(shr(hi(x), 20), 0x7FF));
    let significand = expr!(a, qor(qand(x, quad({ (1 << 52) - 1 })), quad({ 1 << 52 })));
    let shift = expr!(a, isub(1075, exponent));
    let shift = expr!(a, select(ult(shift, 63), shift, 63));
    expr!(a, lo(qshr(significand, shift)))
}

/// Truncates to a signed integer, saturating; NaN gives 0.
#[inline(always)]
pub fn dtoi<A: Algebra>(a: &mut A, x: A::Q) -> A::W {
    let magnitude = truncated(a, x);
    let negative = expr!(a, ilt(hi(x), 0));
    let signed = expr!(a, select(negative, isub(0, magnitude), magnitude));
    let fits = expr!(a, ult(and(hi(x), 0x7FFF_FFFF), 0x41E0_0000));
    let limit = expr!(a, select(negative, 0x8000_0000, 0x7FFF_FFFF));
    let limit = expr!(a, select(is_dnan(x), 0, limit));
    a.select(fits, signed, limit)
}

/// Truncates to an unsigned integer, saturating; negative values and NaN give 0.
#[inline(always)]
pub fn dtou<A: Algebra>(a: &mut A, x: A::Q) -> A::W {
    let magnitude = truncated(a, x);
    let high = a.hi(x);
    let fits = expr!(a, ult(high, 0x41F0_0000));
    let value = expr!(a, select(fits, magnitude, 0xFFFF_FFFF));
    let zero = expr!(a, either(ilt(high, 0), is_dnan(x)));
    expr!(a, select(zero, 0, value))
}

/// Unsigned integer to double, exact.
#[inline(always)]
pub fn utod<A: Algebra>(a: &mut A, x: A::W) -> A::Q {
    let zeros = a.clz(x);
    let wide = expr!(a, pack(0, shl(x, and(zeros, 31))));
    let fraction = expr!(a, qand(qshr(wide, 11), quad({ (1 << 52) - 1 })));
    let exponent = expr!(a, shl(isub(1054, zeros), 20));
    let number = expr!(a, qor(fraction, pack(0, exponent)));
    expr!(a, selectq(ieq(x, 0), quad({ 0 }), number))
}

/// Signed integer to double, exact.
#[inline(always)]
pub fn itod<A: Algebra>(a: &mut A, x: A::W) -> A::Q {
    let negative = expr!(a, ilt(x, 0));
    let magnitude = expr!(a, select(negative, isub(0, x), x));
    let number = utod(a, magnitude);
    expr!(a, qor(number, pack(0, and(x, 0x8000_0000))))
}

#[cfg(test)]
mod tests {
    use super::{narrowed, widened};
    use crate::isa::{Algebra, Scalar};

    #[test]
    fn conversions_by_integers_are_those_of_the_machine() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 31
        };
        let narrow = |x: u64| {
            let (got, expected) = (narrowed(&mut Scalar, x), Scalar.dtof_raw(x));
            let nan = |word: u32| f32::from_bits(word).is_nan();
            assert!(got == expected || nan(got) && nan(expected), "{x:x}: {got:x}, not {expected:x}");
        };
        let wide = |x: u32| {
            // What is converted is flushed, and no NaN.
            if x & 0x7F80_0000 == 0 && x & 0x007F_FFFF != 0 || f32::from_bits(x).is_nan() {
                return;
            }
            assert_eq!(widened(&mut Scalar, x), Scalar.ftod_raw(x), "{x:x}");
            narrow(Scalar.ftod_raw(x));
        };
        for _ in 0..200_000 {
            wide(next() as u32);
            narrow(next());
            // Around the exponents of floats, with few digits so that there are ties.
            let exponent = 1023 - 160 + next() % 300;
            let fraction = [next() >> 12, (next() >> 60) << 28, 0xF_FFFF_FFFF_FFFF, 0][next() as usize % 4];
            narrow(next() & 1 << 63 | exponent << 52 | fraction);
        }
        [0, 0x8000_0000, 0x7F80_0000, 0xFF80_0000, 0x0080_0000, 0x7F7F_FFFF].into_iter().for_each(wide);
    }
}
