//! Rounding of integer significands, and the sequences built on it: fused multiply-add and division.

use super::expr::expr;
use super::{double, float};
use crate::isa::Algebra;

/// Definition of [`Algebra::fround`].
#[inline(always)]
pub fn round_float<A: Algebra>(a: &mut A, sign: A::W, exponent: A::W, significand: A::Q) -> A::W {
    let (lo, hi) = (a.lo(significand), a.hi(significand));
    let kept = expr!(a, shr(hi, 7));
    let tail = expr!(a, or(and(hi, 0x3F), lo));
    let sticky = expr!(a, ine_zero(or(tail, and(kept, 1))));
    let up = expr!(a, both(ine_zero(and(hi, 0x40)), sticky));
    let one = expr!(a, select(up, 1, 0));
    // The carry out of the significand is meant to reach the exponent, even to make ∞.
    let number = expr!(a, iadd(iadd(shl(isub(exponent, 1), 23), kept), one));
    let number = expr!(a, select(ilt(exponent, 255), number, 0x7F80_0000));
    // At the spacing of denormals this one rounds up to the smallest normal number (amd-il-alu 9.1).
    let corner = expr!(a, both(ieq(exponent, 0), ieq(kept, 0x00FF_FFFF)));
    let small = expr!(a, select(corner, 0x0080_0000, 0));
    expr!(a, or(sign, select(ilt(0, exponent), number, small)))
}

/// Definition of [`Algebra::dround`].
#[inline(always)]
pub fn round_double<A: Algebra>(a: &mut A, sign: A::Q, exponent: A::W, significand: A::Q) -> A::Q {
    let normal = expr!(a, ilt(0, exponent));
    let field = expr!(a, select(normal, exponent, 1));
    let shift = expr!(a, iadd(isub(field, exponent), 10));
    let vanished = expr!(a, ult(63, shift));
    let shift = expr!(a, select(vanished, 63, shift));
    let kept = a.qshr(significand, shift);
    let rest = expr!(a, qsub(significand, qshl(kept, shift)));
    let half = expr!(a, qshl(quad({ 1 }), isub(shift, 1)));
    let odd = expr!(a, ine_zero(and(lo(kept), 1)));
    let up = expr!(a, either(qult(half, rest), both(qeq(half, rest), odd)));
    let one = expr!(a, pack(select(up, 1, 0), 0));
    let number = expr!(a, qadd(qadd(kept, one), pack(0, shl(isub(field, 1), 20))));
    let number = expr!(a, selectq(ilt(exponent, 2047), number, quad({ 0x7FF0_0000_0000_0000 })));
    expr!(a, qor(sign, selectq(vanished, quad({ 0 }), number)))
}

/// Biased exponent and 24-bit significand of a float; both 0 for a zero.
#[inline(always)]
pub(super) fn split<A: Algebra>(a: &mut A, x: A::W) -> (A::W, A::W) {
    let exponent = expr!(a, and(shr(x, 23), 0xFF));
    let full = expr!(a, or(and(x, 0x007F_FFFF), 0x0080_0000));
    let significand = expr!(a, select(ieq(exponent, 0), 0, full));
    (exponent, significand)
}

/// x >> n with the lowest bit also telling whether any bit was lost; n beyond 63 counts as 63.
#[inline(always)]
fn shift_sticky<A: Algebra>(a: &mut A, x: A::Q, n: A::W) -> A::Q {
    let n = expr!(a, select(ult(n, 63), n, 63));
    let kept = a.qshr(x, n);
    let exact = expr!(a, qeq(qshl(kept, n), x));
    expr!(a, qor(kept, pack(select(exact, 0, 1), 0)))
}

/// Definition of [`Algebra::fma`]: the exact product and the addend meet in 64 bits, of which the lowest is
/// sticky.
#[inline(always)]
pub fn fma<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let ((ex, mx), (ey, my), (ez, mz)) = (split(a, x), split(a, y), split(a, z));
    let product_sign = expr!(a, and(xor(x, y), 0x8000_0000));
    let sign = expr!(a, and(z, 0x8000_0000));

    // Both significands get their top bit at 62; a zero goes far below everything.
    let product = expr!(a, qshl(pack(imul(mx, my), umulhi(mx, my)), 15));
    let carried = expr!(a, ine_zero(and(hi(product), 0x4000_0000)));
    let product = expr!(a, selectq(carried, product, qshl(product, 1)));
    let exponent = expr!(a, isub(iadd(ex, ey), select(carried, 126, 127)));
    let product_zero = expr!(a, either(ieq(mx, 0), ieq(my, 0)));
    let product_exponent = expr!(a, select(product_zero, word({ -1000i32 as u32 }), exponent));
    let addend = expr!(a, pack(0, shl(mz, 7)));
    let addend_exponent = expr!(a, select(ieq(mz, 0), word({ -1000i32 as u32 }), ez));

    let lower = expr!(a, ilt(product_exponent, addend_exponent));
    let level = expr!(a, ieq(product_exponent, addend_exponent));
    let swap = expr!(a, either(lower, both(level, qult(product, addend))));
    let big = a.selectq(swap, addend, product);
    let small = a.selectq(swap, product, addend);
    let exponent = a.select(swap, addend_exponent, product_exponent);
    let other = a.select(swap, product_exponent, addend_exponent);
    let result_sign = a.select(swap, sign, product_sign);
    let distance = a.isub(exponent, other);
    let small = shift_sticky(a, small, distance);
    let same = a.ieq(sign, product_sign);
    let sum = expr!(a, selectq(same, qadd(big, small), qsub(big, small)));

    let zeros = a.qclz(sum);
    let overflow = expr!(a, ieq(zeros, 0));
    let left = expr!(a, qshl(sum, and(isub(zeros, 1), 63)));
    let right = expr!(a, qor(qshr(sum, 1), qand(sum, quad({ 1 }))));
    let normal = a.selectq(overflow, right, left);
    let exponent = expr!(a, isub(exponent, isub(zeros, 1)));
    let rounded = a.fround(result_sign, exponent, normal);
    let zero_sign = a.and(sign, product_sign);
    let finite = expr!(a, select(ieq(zeros, 64), zero_sign, rounded));

    // ∞ and NaN: in the product by IEEE arithmetic, which is exact there; in the addend alone, the addend.
    let product_special = expr!(a, either(ieq(ex, 255), ieq(ey, 255)));
    let special = expr!(a, fadd_raw(fmul_raw(x, y), z));
    let rest = expr!(a, select(ieq(ez, 255), z, finite));
    a.select(product_special, special, rest)
}

/// Definition of [`Algebra::fdiv`]: long division in base 256 (amd-il-alu 9.3).
#[inline(always)]
pub fn quotient<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let ((ex, mx), (ey, my)) = (split(a, x), split(a, y));
    let sign = expr!(a, and(xor(x, y), 0x8000_0000));
    let divisor = expr!(a, select(ieq(my, 0), 1, my));
    let mut q = a.word(0);
    let mut rest = mx;
    for _ in 0..3 {
        let digits = expr!(a, shl(rest, 8));
        let digit = a.udiv(digits, divisor);
        rest = expr!(a, isub(digits, imul(digit, divisor)));
        q = expr!(a, iadd(shl(q, 8), digit));
    }
    // One bit more serves the case that the quotient has 24 bits; the rest is sticky.
    let rest = expr!(a, shl(rest, 1));
    let bit = expr!(a, negate(ult(rest, divisor)));
    let q = expr!(a, iadd(shl(q, 1), select(bit, 1, 0)));
    let rest = expr!(a, select(bit, isub(rest, divisor), rest));
    let long = expr!(a, ine_zero(and(q, 0x0200_0000)));
    let high = expr!(a, shl(q, select(long, 5, 6)));
    let significand = a.pack(rest, high);
    let exponent = expr!(a, iadd(isub(ex, ey), select(long, 127, 126)));
    let finite = a.fround(sign, exponent, significand);

    let (zero_x, zero_y) = (a.is_zero(x), a.is_zero(y));
    let (inf_x, inf_y) = (expr!(a, ieq(ex, 255)), expr!(a, ieq(ey, 255)));
    let nan = expr!(a, either(is_nan(x), is_nan(y)));
    let invalid = expr!(a, either(both(zero_x, zero_y), both(inf_x, inf_y)));
    let nan = a.either(nan, invalid);
    let infinite = a.either(inf_x, zero_y);
    let zero = a.either(zero_x, inf_y);
    let number = expr!(a, select(zero, sign, finite));
    let number = expr!(a, select(infinite, or(sign, 0x7F80_0000), number));
    expr!(a, select(nan, 0x7FC0_0000, number))
}

/// The magnitude that `zeroop` gives for a zero divisor (amd-il-alu 3.2).
#[inline(always)]
pub(super) fn zero_magnitude<A: Algebra>(a: &mut A, zeroop: A::W) -> A::W {
    let other = expr!(a, select(ieq(zeroop, 1), 0, 0x7F80_0000));
    expr!(a, select(ieq(zeroop, 0), 0x7F7F_FFFF, other))
}

/// x / y, correctly rounded; a zero y by `zeroop`.
#[inline(always)]
pub fn div<A: Algebra>(a: &mut A, x: A::W, y: A::W, zeroop: A::W) -> A::W {
    let quotient = a.fdiv(x, y);
    let sign = expr!(a, and(xor(x, y), 0x8000_0000));
    let magnitude = zero_magnitude(a, zeroop);
    let limit = expr!(a, select(ieq(magnitude, 0), 0, or(sign, magnitude)));
    // `infinity` is what IEEE division does, 0/0 included; a NaN stays one under all.
    let ieee = expr!(a, either(ult(1, zeroop), is_nan(x)));
    let replace = expr!(a, both(is_zero(y), negate(ieee)));
    a.select(replace, limit, quotient)
}

/// 1 / x, correctly rounded; a zero x by `zeroop`, with the sign of x even for `zero`.
#[inline(always)]
pub fn rcp<A: Algebra>(a: &mut A, x: A::W, zeroop: A::W) -> A::W {
    let one = a.word(0x3F80_0000);
    let quotient = div(a, one, x, zeroop);
    let keep = expr!(a, both(is_zero(x), ieq(zeroop, 1)));
    a.select(keep, x, quotient)
}

/// x − y · trunc(x / y), the sign of x (`mod`); NaN if y = 0.
#[inline(always)]
pub fn modulo<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let quotient = a.fdiv(x, y);
    let whole = expr!(a, xor(ftrunc(quotient), 0x8000_0000));
    float::mad_ieee(a, whole, y, x)
}

/// Definition of [`Algebra::ddiv_raw`]: an estimate from a reciprocal, made exact by its integer residual.
#[inline(always)]
pub fn quotient_double<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    let ((mx, ex), (my, ey)) = (double::normalise(a, x), double::normalise(a, y));
    let sign = expr!(a, qand(qxor(x, y), quad({ 1 << 63 })));
    // Both significands as doubles in [1, 2).
    let tx = expr!(a, qxor(mx, quad({ 0x3FE0_0000_0000_0000 })));
    let ty = expr!(a, qxor(my, quad({ 0x3FE0_0000_0000_0000 })));
    let minus = expr!(a, qxor(ty, quad({ 1 << 63 })));
    let mut inverse = expr!(a, ftod_raw(fdiv(0x3F80_0000, dtof_raw(ty))));
    for _ in 0..2 {
        let error = expr!(a, dfma_raw(minus, inverse, quad({ 1f64.to_bits() })));
        inverse = a.dfma_raw(inverse, error, inverse);
    }
    let q = a.dmul_raw(tx, inverse);
    let error = a.dfma_raw(minus, q, tx);
    let q = a.dfma_raw(error, inverse, q);
    // As an integer in units of 2^-55, from 16 below, the right digits are found by halving steps.
    let fraction = expr!(a, qor(qand(q, quad({ (1 << 52) - 1 })), quad({ 1 << 52 })));
    let shift = expr!(a, isub(and(shr(hi(q), 20), 0x7FF), 1020));
    let mut q = expr!(a, qsub(qshl(fraction, and(shift, 63)), quad({ 16 })));
    let mut rest = expr!(a, qsub(qshl(mx, 55), qmul(q, my)));
    for step in [4, 3, 2, 1, 0] {
        let part = expr!(a, qshl(my, word({ step })));
        let more = expr!(a, negate(qlt(rest, part)));
        rest = expr!(a, selectq(more, qsub(rest, part), rest));
        q = expr!(a, selectq(more, qadd(q, quad({ 1 << step })), q));
    }
    let sticky = expr!(a, pack(select(qeq(rest, quad({ 0 })), 0, 1), 0));
    let long = expr!(a, ine_zero(and(hi(q), 0x0080_0000)));
    let wide = expr!(a, qor(qshl(q, select(long, 7, 8)), sticky));
    let exponent = expr!(a, iadd(isub(ex, ey), select(long, 1023, 1022)));
    let finite = a.dround(sign, exponent, wide);

    let infinity = a.quad(0x7FF0_0000_0000_0000);
    let (zero_x, zero_y) = (a.is_dzero(x), a.is_dzero(y));
    let inf_x = expr!(a, qeq(qand(x, quad({ !(1 << 63) })), infinity));
    let inf_y = expr!(a, qeq(qand(y, quad({ !(1 << 63) })), infinity));
    let nan = expr!(a, either(is_dnan(x), is_dnan(y)));
    let invalid = expr!(a, either(both(zero_x, zero_y), both(inf_x, inf_y)));
    let nan = a.either(nan, invalid);
    let infinite = a.either(inf_x, zero_y);
    let zero = a.either(zero_x, inf_y);
    let number = expr!(a, selectq(zero, sign, finite));
    let number = expr!(a, selectq(infinite, qor(sign, infinity), number));
    expr!(a, selectq(nan, quad({ 0x7FF8_0000_0000_0000 }), number))
}

/// Quotient and remainder of unsigned words, b ≠ 0, for those who have no division of integers: by the reciprocal in single
/// precision and one step of Newton's, which is at most 2 too small.
#[inline(always)]
pub fn quotient_words<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> (A::W, A::W) {
    let float = a.utof_raw(y);
    let one = a.word(0x3F80_0000);
    let reciprocal = a.fdiv(one, float);
    // Times 2^32 − 512, so that nothing is too large.
    let scaled = expr!(a, fmul_raw(reciprocal, 0x4F7F_FFFE));
    let near = super::convert::ftou(a, scaled);
    let error = expr!(a, imul(isub(0, y), near));
    let near = expr!(a, iadd(near, umulhi(near, error)));
    let mut quotient = a.umulhi(x, near);
    let mut rest = expr!(a, isub(x, imul(quotient, y)));
    for _ in 0..2 {
        let fits = expr!(a, negate(ult(rest, y)));
        quotient = expr!(a, select(fits, iadd(quotient, 1), quotient));
        rest = expr!(a, select(fits, isub(rest, y), rest));
    }
    (quotient, rest)
}

/// An unsigned 64-bit integer as a double, about: within 2^-52 of it.
#[inline(always)]
fn near_double<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    // The words are the low bits of doubles whose unit is 1, or 2^32.
    let (low, high) = (a.lo(x), a.hi(x));
    let low = expr!(a, dadd_raw(pack(low, 0x4330_0000), quad({ (-UNIT_1).to_bits() })));
    let high = expr!(a, dadd_raw(pack(high, 0x4530_0000), quad({ (-UNIT_1 * WORD).to_bits() })));
    a.dadd_raw(low, high)
}

/// 2^32, and the least double with the unit 1.
const WORD: f64 = 4_294_967_296.0;
const UNIT_1: f64 = 4_503_599_627_370_496.0;

/// The integer next to a double of at most 2^64.
#[inline(always)]
fn near_integer<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    // Sums with these have the unit 2^32, and 1: the integer is in their low bits.
    let upper = a.quad((1.5 * UNIT_1 * WORD).to_bits());
    let lower = a.quad((1.5 * UNIT_1).to_bits());
    let high = a.dadd_raw(x, upper);
    let rest = expr!(
        a,
        dadd_raw(x, qxor(dadd_raw(high, quad({ (-1.5 * UNIT_1 * WORD).to_bits() })), quad({ 1 << 63 })))
    );
    let low = expr!(a, qsub(dadd_raw(rest, lower), lower));
    expr!(a, qadd(pack(0, lo(high)), low))
}

/// Quotient and remainder of unsigned 64-bit integers, y ≠ 0, for those who have no division of them: twice by the reciprocal in
/// double precision, the second time of what the first left, whose quotient is below 2^15. That leaves at most one too many.
#[inline(always)]
pub fn quotient_quads<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> (A::Q, A::Q) {
    let divisor = near_double(a, y);
    let reciprocal = expr!(a, ddiv_raw(quad({ 1f64.to_bits() }), divisor));
    let dividend = near_double(a, x);
    let near = expr!(a, dmul_raw(dividend, reciprocal));
    let first = near_integer(a, near);
    // Of either sign, and below 2^63 if y is.
    let rest = expr!(a, qsub(x, qmul(first, y)));
    let sign = expr!(a, qsar(rest, 63));
    let magnitude = expr!(a, qsub(qxor(rest, sign), sign));
    let left = near_double(a, magnitude);
    let near = expr!(a, qxor(dmul_raw(left, reciprocal), qshl(sign, 63)));
    let second = near_integer(a, near);
    let quotient = a.qadd(first, second);
    let rest = expr!(a, qsub(rest, qmul(second, y)));
    let over = expr!(a, qsar(rest, 63));
    let quotient = a.qadd(quotient, over);
    let rest = expr!(a, qadd(rest, qand(over, y)));
    // Of larger divisors it is 0 or 1.
    let large = expr!(a, ilt(hi(y), 0));
    let less = a.qult(x, y);
    let one = expr!(a, pack(select(less, 0, 1), 0));
    let difference = expr!(a, selectq(less, x, qsub(x, y)));
    (a.selectq(large, one, quotient), a.selectq(large, difference, rest))
}

#[cfg(test)]
mod tests {
    use super::{quotient_quads, quotient_words};
    use crate::isa::Scalar;

    #[test]
    fn quotients_of_words_are_exact() {
        let mut edges: Vec<u32> = (0..32).flat_map(|k| [1 << k, (1 << k) - 1, (1 << k) + 1]).collect();
        edges.extend((0..32).map(|k| u32::MAX - (1 << k)));
        edges.extend([3, 7, 10, 641, 6_700_417, u32::MAX, u32::MAX - 1, 16_777_217, 4_294_967_167]);
        let check = |x: u32, y: u32| {
            let got = quotient_words(&mut Scalar, x, y);
            assert_eq!(got, (x / y, x % y), "{x} / {y}");
        };
        for &x in &edges {
            for &y in edges.iter().filter(|&&y| y > 0) {
                check(x, y);
                // Around multiples.
                let multiple = x / y * y;
                check(multiple, y);
                check(multiple.wrapping_sub(1), y);
            }
        }
        let mut word = 1u32;
        let mut next = || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            word
        };
        for _ in 0..2_000_000 {
            let (x, y) = (next(), (next() >> (next() >> 27)).max(1));
            check(x, y);
            check(x / y * y, y);
        }
    }

    #[test]
    fn quotients_of_quads_are_exact() {
        let mut edges: Vec<u64> = (0..64).flat_map(|k| [1 << k, (1 << k) - 1, (1 << k) + 1]).collect();
        edges.extend((0..64).map(|k| u64::MAX - (1 << k)));
        edges.extend([3, 7, 10, 641, u64::MAX, 0x7FFF_FFFF_FFFF_FC00, 0xFFFF_FFFF_FFFF_F800]);
        let check = |x: u64, y: u64| {
            let got = quotient_quads(&mut Scalar, x, y);
            assert_eq!(got, (x / y, x % y), "{x} / {y}");
        };
        for &x in &edges {
            for &y in edges.iter().filter(|&&y| y > 0) {
                check(x, y);
                // Around multiples.
                let multiple = x / y * y;
                check(multiple, y);
                check(multiple.wrapping_sub(1), y);
            }
        }
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 31
        };
        for _ in 0..1_000_000 {
            let (x, y) = (next() >> (next() >> 60), (next() >> (next() >> 58)).max(1));
            check(x, y);
            check(x / y * y, y);
            check((x / y * y).wrapping_sub(1), y);
        }
    }
}
