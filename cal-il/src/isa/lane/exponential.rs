//! Exponential, logarithm and power in integer arithmetic (amd-il-alu 9.5, 9.6; `ln`, `exn` and `pow` carry more
//! bits between their parts than 9.8 does).

use super::division::zero_magnitude;
use super::expr::expr;
use crate::isa::Algebra;

/// 2^f − 1 for f in [0, 1): coefficients in units of 2^-31.
const EXP2: [u32; 8] =
    [0x58B9_0BFC, 0x1EBF_BE01, 0x071A_C21E, 0x013B_2B73, 0x002B_AE23, 0x0005_122A, 0x0000_7903, 0x0000_0F23];

/// log2(1 + u) / u for u in [−0.293, 0.415]: coefficients in units of 2^-30.
const LOG2: [i32; 15] = [
    1549082005, -774541002, 516360668, -387270508, 309816460, -258179798, 221293431, -193651965, 172249609,
    -154712551, 138698806, -128833298, 135581919, -131246529, 66225779,
];

/// (log2((1 + s) / (1 − s)) / s − 2 / ln 2) / s² as a polynomial in s² below 0.0295: units of 2^-31.
const LOG2_RATIO: [u32; 6] = [2065442673, 1239265604, 885189579, 688500752, 562011619, 514991344];

/// 2 / ln 2 in units of 2^-62, which is also log2 e in units of 2^-63.
const TWO_LOG2_E: u64 = 0xB8AA_3B29_5C17_F0BB;

/// The top bit of the significand that splits logarithms: √2 · 2^23.
const ROOT_2: u32 = 0x00B5_04F3;

/// 2^(n + f / 2^32), n signed: ∞ from n = 128, 0 below −126.
#[inline(always)]
fn power_of_two<A: Algebra>(a: &mut A, n: A::W, f: A::W) -> A::W {
    let mut acc = a.word(EXP2[7]);
    for c in EXP2[..7].iter().rev() {
        acc = expr!(a, iadd(word({ *c }), umulhi(acc, f)));
    }
    let m = expr!(a, iadd(umulhi(acc, f), 0x8000_0000));
    let kept = expr!(a, shr(m, 8));
    let tail = expr!(a, and(m, 0xFF));
    // To nearest even: 0x80 and an odd last bit, or more.
    let up = expr!(a, ult(0x80, or(tail, and(kept, 1))));
    let number = expr!(a, iadd(shl(iadd(n, 126), 23), kept));
    let number = expr!(a, iadd(number, select(up, 1, 0)));
    let number = expr!(a, select(ilt(n, word({ -126i32 as u32 })), 0, number));
    expr!(a, select(ilt(n, 128), number, 0x7F80_0000))
}

/// [`power_of_two`] of ±x, x in units of 2^-32.
#[inline(always)]
fn power_of_fixed<A: Algebra>(a: &mut A, x: A::Q, negative: A::B) -> A::W {
    let x = expr!(a, selectq(negative, qsub(quad({ 0 }), x), x));
    let (f, n) = (a.lo(x), a.hi(x));
    power_of_two(a, n, f)
}

/// 2^±∞ for the sign of x.
#[inline(always)]
fn power_of_infinity<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    expr!(a, select(ilt(x, 0), 0, 0x7F80_0000))
}

/// 2^x
#[inline(always)]
pub fn exp2<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let exponent = expr!(a, shr(magnitude, 23));
    let significand = expr!(a, or(and(x, 0x007F_FFFF), 0x0080_0000));
    // x in units of 2^-32 is the significand shifted left by e − 118; 15 places make room for the largest.
    let wide = expr!(a, qshl(pack(significand, 0), 15));
    let shift = expr!(a, isub(133, exponent));
    let shift = expr!(a, select(ult(shift, 63), shift, 63));
    let fixed = a.qshr(wide, shift);
    let negative = expr!(a, ilt(x, 0));
    let number = power_of_fixed(a, fixed, negative);
    let large = expr!(a, ult(0x42FF_FFFF, magnitude));
    let limit = power_of_infinity(a, x);
    let number = a.select(large, limit, number);
    // Below −126 nothing is kept, though the fraction might say −126.
    let gone = expr!(a, ult(0xC2FC_0000, x));
    let number = expr!(a, select(gone, 0, number));
    expr!(a, select(is_nan(x), 0x7FC0_0000, number))
}

/// e^x, by multiplying with log2 e in 64 bits.
#[inline(always)]
pub fn exp<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let exponent = expr!(a, shr(magnitude, 23));
    let significand = expr!(a, or(and(x, 0x007F_FFFF), 0x0080_0000));
    // significand · log2 e in units of 2^-31, 56 bits.
    let (high, low) = ((TWO_LOG2_E >> 32) as u32, TWO_LOG2_E as u32);
    let product = expr!(a, pack(imul(significand, word({ high })), umulhi(significand, word({ high }))));
    let product = expr!(a, qadd(product, pack(umulhi(significand, word({ low })), 0)));
    let shift = expr!(a, isub(149, exponent));
    let shift = expr!(a, select(ult(shift, 63), shift, 63));
    let fixed = a.qshr(product, shift);
    let negative = expr!(a, ilt(x, 0));
    let number = power_of_fixed(a, fixed, negative);
    let large = expr!(a, ult(0x42FF_FFFF, magnitude));
    let limit = power_of_infinity(a, x);
    let number = a.select(large, limit, number);
    expr!(a, select(is_nan(x), 0x7FC0_0000, number))
}

/// log2 of the positive normal float x, in units of 2^-54.
#[inline(always)]
fn logarithm<A: Algebra>(a: &mut A, x: A::W) -> A::Q {
    let field = expr!(a, shr(x, 23));
    let m = expr!(a, or(and(x, 0x007F_FFFF), 0x0080_0000));
    let upper = expr!(a, negate(ult(m, word({ ROOT_2 }))));
    let e = expr!(a, isub(field, select(upper, 126, 127)));
    // u = x / 2^e − 1, exact in units of 2^-24.
    let ui = expr!(a, isub(select(upper, m, shl(m, 1)), 0x0100_0000));
    let u = expr!(a, shl(ui, 8));
    let mut acc = a.word(LOG2[14] as u32);
    for c in LOG2[..14].iter().rev() {
        acc = expr!(a, iadd(word({ *c as u32 }), smulhi(acc, u)));
    }
    let product = expr!(a, pack(imul(ui, acc), smulhi(ui, acc)));
    expr!(a, qadd(product, pack(0, shl(e, 22))))
}

/// The sign bit of `x` and its magnitude.
#[inline(always)]
fn magnitude_of<A: Algebra>(a: &mut A, x: A::Q) -> (A::W, A::Q) {
    let sign = expr!(a, and(hi(x), 0x8000_0000));
    let magnitude = expr!(a, selectq(ieq(sign, 0), x, qsub(quad({ 0 }), x)));
    (sign, magnitude)
}

/// The results of a logarithm for arguments that are not positive and finite.
#[inline(always)]
fn logarithm_limits<A: Algebra>(a: &mut A, x: A::W, zeroop: A::W, number: A::W) -> A::W {
    let number = expr!(a, select(ieq(x, 0x7F80_0000), x, number));
    let invalid = expr!(a, either(ilt(x, 0), is_nan(x)));
    let number = expr!(a, select(invalid, 0x7FC0_0000, number));
    let limit = zero_magnitude(a, zeroop);
    let limit = expr!(a, select(ieq(limit, 0), 0, or(limit, 0x8000_0000)));
    expr!(a, select(is_zero(x), limit, number))
}

/// log2 x; of zero, minus the value of `zeroop`.
#[inline(always)]
pub fn log2<A: Algebra>(a: &mut A, x: A::W, zeroop: A::W) -> A::W {
    let (sign, fixed) = {
        let fixed = logarithm(a, x);
        magnitude_of(a, fixed)
    };
    let zeros = a.qclz(fixed);
    let wide = expr!(a, qshl(fixed, and(isub(zeros, 1), 63)));
    let exponent = expr!(a, isub(136, zeros));
    let number = a.fround(sign, exponent, wide);
    let number = expr!(a, select(ieq(zeros, 64), 0, number));
    logarithm_limits(a, x, zeroop, number)
}

/// Natural logarithm; of zero, minus the value of `zeroop`.
#[inline(always)]
pub fn ln<A: Algebra>(a: &mut A, x: A::W, zeroop: A::W) -> A::W {
    let (sign, fixed) = {
        let fixed = logarithm(a, x);
        magnitude_of(a, fixed)
    };
    let zeros = a.qclz(fixed);
    // The upper 32 bits times ln 2 in units of 2^-32: 63 or 64 bits.
    let upper = expr!(a, hi(qshl(fixed, and(zeros, 63))));
    let product = expr!(a, pack(imul(upper, 0xB172_17F8), umulhi(upper, 0xB172_17F8)));
    let long = expr!(a, ilt(hi(product), 0));
    let wide = expr!(a, selectq(long, qor(qshr(product, 1), qand(product, quad({ 1 }))), product));
    let exponent = expr!(a, isub(select(long, 136, 135), zeros));
    let number = a.fround(sign, exponent, wide);
    let number = expr!(a, select(ieq(zeros, 64), 0, number));
    logarithm_limits(a, x, zeroop, number)
}

/// |log2 x| of a positive normal float to some 36 bits: sign, significand with its top bit at 63 (0 for log2 1)
/// and exponent, such that it is significand · 2^exponent.
#[inline(always)]
fn precise_logarithm<A: Algebra>(a: &mut A, x: A::W) -> (A::W, A::Q, A::W) {
    let field = expr!(a, shr(x, 23));
    let m = expr!(a, or(and(x, 0x007F_FFFF), 0x0080_0000));
    let upper = expr!(a, negate(ult(m, word({ ROOT_2 }))));
    let e = expr!(a, isub(field, select(upper, 126, 127)));
    // With x = 2^e · v: s = (v − 1) / (v + 1) = ±top / bottom, |s| < 0.1716, top < bottom, both exact.
    let one = expr!(a, select(upper, 0x0100_0000, 0x0080_0000));
    let top = expr!(a, select(upper, isub(one, m), isub(m, one)));
    let bottom = a.iadd(m, one);
    let k = expr!(a, and(isub(clz(top), 8), 31));
    let mut rest = a.shl(top, k);
    // |s| · 2^k by long division in base 128, in units of 2^-42.
    let mut high = a.word(0);
    let mut low = a.word(0);
    for step in 0..6 {
        let digits = expr!(a, shl(rest, 7));
        let digit = a.udiv(digits, bottom);
        rest = expr!(a, isub(digits, imul(digit, bottom)));
        let word = if step < 3 { &mut high } else { &mut low };
        *word = expr!(a, iadd(shl({ *word }, 7), digit));
    }
    // The first three digits are worth 2^-21, the others 2^-42: now 64 bits of fraction.
    let s = expr!(a, qadd(pack(0, shl(high, 11)), qshl(pack(low, 0), 22)));
    let s_word = a.hi(s);
    // s² in units of 2^-37, and of 2^-32 for the higher terms.
    let square = expr!(a, pack(imul(s_word, s_word), umulhi(s_word, s_word)));
    let twice = expr!(a, shl(k, 1));
    let shift = expr!(a, select(ult(twice, 36), iadd(twice, 27), 63));
    let z37 = expr!(a, lo(qshr(square, shift)));
    let z32 = expr!(a, shr(z37, 5));
    let mut acc = a.word(LOG2_RATIO[5]);
    for c in LOG2_RATIO[..5].iter().rev() {
        acc = expr!(a, iadd(word({ *c }), umulhi(acc, z32)));
    }
    let tail = expr!(a, qshr(pack(imul(z37, acc), umulhi(z37, acc)), 6));
    let ratio = expr!(a, qadd(tail, quad({ TWO_LOG2_E })));
    // |log2 v| · 2^k in units of 2^-62.
    let f = a.qumulhi(s, ratio);

    let aligned = expr!(a, qshr(f, iadd(k, 8)));
    let whole = expr!(a, pack(0, shl(e, 22)));
    let sum = expr!(a, selectq(upper, qsub(whole, aligned), qadd(whole, aligned)));
    let (sign, sum) = magnitude_of(a, sum);
    let fraction = expr!(a, ieq(e, 0));
    let sign = expr!(a, select(fraction, select(upper, 0x8000_0000, 0), sign));
    let significand = a.selectq(fraction, f, sum);
    let unit = expr!(a, select(fraction, isub(word({ -62i32 as u32 }), k), word({ -54i32 as u32 })));
    let exact = expr!(a, both(fraction, ieq(top, 0)));
    let significand = expr!(a, selectq(exact, quad({ 0 }), significand));
    let zeros = a.qclz(significand);
    let significand = expr!(a, qshl(significand, and(zeros, 63)));
    (sign, significand, expr!(a, isub(unit, zeros)))
}

/// x^y = 2^(y · log2 x), the product by the rule of the non-IEEE multiply: 1 if y = 0 or x = 1, whatever the
/// other is; NaN for negative x.
#[inline(always)]
pub fn pow<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let (sign, significand, exponent) = precise_logarithm(a, x);
    let field = expr!(a, and(shr(y, 23), 0xFF));
    let factor = expr!(a, or(and(y, 0x007F_FFFF), 0x0080_0000));
    // The product's upper 64 of 88 bits, then in units of 2^-32.
    let product = expr!(a, qumulhi(significand, pack(0, shl(factor, 8))));
    let shift = expr!(a, isub(94, iadd(field, exponent)));
    let huge = expr!(a, ilt(shift, 22));
    let shift = expr!(a, select(huge, 22, shift));
    let shift = expr!(a, select(ult(shift, 63), shift, 63));
    let fixed = a.qshr(product, shift);
    let result_sign = expr!(a, and(xor(sign, y), 0x8000_0000));
    let negative = expr!(a, ilt(result_sign, 0));
    let number = power_of_fixed(a, fixed, negative);
    let limit = power_of_infinity(a, result_sign);
    let number = a.select(huge, limit, number);

    // log2 x by its kind: −∞, ∞, NaN, 0, or a sign.
    let zero_x = a.is_zero(x);
    let nan_x = expr!(a, either(both(ilt(x, 0), negate(zero_x)), is_nan(x)));
    let nan_y = a.is_nan(y);
    let log_sign = expr!(a, select(zero_x, 0x8000_0000, select(ieq(x, 0x7F80_0000), 0, sign)));
    let log_infinite = expr!(a, either(zero_x, ieq(x, 0x7F80_0000)));
    let infinite = expr!(a, either(log_infinite, ieq(field, 255)));
    let limit = {
        let sign = a.xor(log_sign, y);
        power_of_infinity(a, sign)
    };
    let number = a.select(infinite, limit, number);
    let number = expr!(a, select(either(nan_x, nan_y), 0x7FC0_0000, number));
    let one = expr!(a, either(is_zero(y), ieq(x, 0x3F80_0000)));
    expr!(a, select(one, 0x3F80_0000, number))
}
