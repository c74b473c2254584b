//! Steps of division and range reduction that Graphics Core Next added: `div_scale`, `div_fmas`, `div_fixup`,
//! their double forms, and `dtrig_preop`.
//!
//! They follow the published instruction set manuals, except where those would overflow: a denominator whose
//! reciprocal is denormal is scaled down, never up. The hardware passes one flag from the scaling to the
//! multiply-add outside the operands; here it is a result of its own and an operand.

use super::double;
use super::expr::expr;
use super::float;
use crate::isa::Algebra;

/// The first 1201 bits of 2/π, the binary point in front, padded to whole words.
const TWO_OVER_PI: [u32; 38] = [
    0xA2F9_836E,
    0x4E44_1529,
    0xFC27_57D1,
    0xF534_DDC0,
    0xDB62_9599,
    0x3C43_9041,
    0xFE51_63AB,
    0xDEBB_C561,
    0xB724_6E3A,
    0x424D_D2E0,
    0x0649_2EEA,
    0x09D1_921C,
    0xFE1D_EB1C,
    0xB129_A73E,
    0xE882_35F5,
    0x2EBB_4484,
    0xE99C_7026,
    0xB45F_7E41,
    0x3991_D639,
    0x8353_39F4,
    0x9C84_5F8B,
    0xBDF9_283B,
    0x1FF8_97FF,
    0xDE05_980F,
    0xEF2F_118B,
    0x5A0A_6D1F,
    0x6D36_7ECF,
    0x27CB_09B7,
    0x4F46_3F66,
    0x9E5F_EA2D,
    0x7527_BAC7,
    0xEBE5_F17B,
    0x3D07_39F7,
    0x8A52_92EA,
    0x6BFB_5FB1,
    0x1F8D_5D08,
    0x5603_3046,
    0xFC7B_0000,
];

/// What the scaling of a division does with its parts.
struct Scaling<B> {
    /// Result is NaN: numerator or denominator is zero.
    invalid: B,
    /// Scale the denominator up.
    denominator: B,
    /// Scale the numerator up.
    numerator: B,
    /// Scale both up.
    up: B,
    /// Scale both down.
    down: B,
    /// Scale the denominator down.
    denominator_down: B,
    /// The quotient has to be scaled at the end.
    flag: B,
}

/// The cases of the manual, given what they depend on.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn scaling<A: Algebra>(
    a: &mut A,
    zero: A::B,
    huge_quotient: A::B,
    denormal_denominator: A::B,
    denormal_inverse: A::B,
    denormal_quotient: A::B,
    tiny_numerator: A::B,
) -> Scaling<A::B> {
    let mut left = a.negate(zero);
    let mut case = |a: &mut A, condition: A::B| {
        let taken = a.both(left, condition);
        let rest = a.negate(condition);
        left = a.both(left, rest);
        taken
    };
    let huge = case(a, huge_quotient);
    let denormal = case(a, denormal_denominator);
    let both = expr!(a, both(denormal_inverse, denormal_quotient));
    let both = case(a, both);
    let down = case(a, denormal_inverse);
    let numerator = case(a, denormal_quotient);
    let tiny = case(a, tiny_numerator);
    let flag = a.either(huge, both);
    Scaling {
        invalid: zero,
        denominator: huge,
        numerator,
        up: a.either(denormal, tiny),
        down,
        denominator_down: both,
        flag: a.either(flag, numerator),
    }
}

#[inline(always)]
fn scaling_of_floats<A: Algebra>(a: &mut A, denominator: A::W, numerator: A::W) -> Scaling<A::B> {
    let zero = expr!(a, either(is_zero(denominator), is_zero(numerator)));
    let d = expr!(a, and(shr(denominator, 23), 0xFF));
    let n = expr!(a, and(shr(numerator, 23), 0xFF));
    let huge = expr!(a, negate(ilt(isub(n, d), 96)));
    let never = expr!(a, ult(0, 0));
    let finite = expr!(a, ult(d, 255));
    // Above 2^126 the reciprocal is denormal.
    let inverse = expr!(a, both(finite, ult(0x7E80_0000, and(denominator, 0x7FFF_FFFF))));
    let quotient = expr!(a, both(finite, is_zero(fdiv(numerator, denominator))));
    let tiny = expr!(a, ult(n, 24));
    scaling(a, zero, huge, never, inverse, quotient, tiny)
}

/// x, which is the denominator or the numerator, scaled so that neither the reciprocal of the denominator nor
/// the quotient leaves the normal range; NaN if either is zero.
#[inline(always)]
pub fn div_scale<A: Algebra>(a: &mut A, x: A::W, denominator: A::W, numerator: A::W) -> A::W {
    let s = scaling_of_floats(a, denominator, numerator);
    let of_denominator = a.feq(x, denominator);
    let is_denominator = a.both(s.denominator, of_denominator);
    let is_numerator = expr!(a, both({ s.numerator }, feq(x, numerator)));
    let down = expr!(a, either({ s.down }, both({ s.denominator_down }, of_denominator)));
    let up = expr!(a, either({ s.up }, either(is_denominator, is_numerator)));
    let factor = expr!(a, select(down, 0x1F80_0000, 0x3F80_0000));
    let factor = expr!(a, select(up, 0x5F80_0000, factor));
    let scaled = float::mul_ieee(a, x, factor);
    expr!(a, select({ s.invalid }, 0x7FC0_0000, scaled))
}

/// All ones if [`div_fmas`] has to scale the quotient back.
#[inline(always)]
pub fn div_scale_flag<A: Algebra>(a: &mut A, _: A::W, denominator: A::W, numerator: A::W) -> A::W {
    let s = scaling_of_floats(a, denominator, numerator);
    a.mask(s.flag)
}

/// x · y + z rounded once; if the flag is set, times 2^64 where z, the quotient so far, is 2 or more, else
/// times 2^-64.
#[inline(always)]
pub fn div_fmas<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W, flag: A::W) -> A::W {
    let sum = a.fma(x, y, z);
    let large = expr!(a, ult(0x3FFF_FFFF, and(z, 0x7FFF_FFFF)));
    let scale = expr!(a, select(large, 0x5F80_0000, 0x1F80_0000));
    let scaled = expr!(a, flush(fmul_raw(sum, scale)));
    expr!(a, select(ieq(flag, 0), sum, scaled))
}

/// The quotient with its sign, or what IEEE 754 gives where the steps before cannot: for zeros, ∞ and NaN, for
/// quotients too small, and for those that overflowed on the way and left a NaN.
#[inline(always)]
pub fn div_fixup<A: Algebra>(a: &mut A, quotient: A::W, denominator: A::W, numerator: A::W) -> A::W {
    let sign = expr!(a, and(xor(denominator, numerator), 0x8000_0000));
    let d = expr!(a, and(shr(denominator, 23), 0xFF));
    let n = expr!(a, and(shr(numerator, 23), 0xFF));
    let number = expr!(a, or(sign, and(quotient, 0x7FFF_FFFF)));
    let underflow = expr!(a, ilt(isub(n, d), word({ -150i32 as u32 })));
    let special = expr!(a, either(ieq(d, 255), ieq(n, 255)));
    let zero = expr!(a, either(is_zero(denominator), is_zero(numerator)));
    let ieee = expr!(a, fdiv(numerator, denominator));
    let number = a.select(underflow, sign, number);
    let number = expr!(a, select(is_nan(quotient), or(sign, 0x7F80_0000), number));
    expr!(a, select(either(special, zero), ieee, number))
}

/// Exponent field of a double.
#[inline(always)]
fn field<A: Algebra>(a: &mut A, x: A::Q) -> A::W {
    expr!(a, and(shr(hi(x), 20), 0x7FF))
}

#[inline(always)]
fn scaling_of_doubles<A: Algebra>(a: &mut A, denominator: A::Q, numerator: A::Q) -> Scaling<A::B> {
    let zero = expr!(a, either(is_dzero(denominator), is_dzero(numerator)));
    let (d, n) = (field(a, denominator), field(a, numerator));
    let huge = expr!(a, negate(ilt(isub(n, d), 768)));
    let denormal = expr!(a, ieq(d, 0));
    let finite = expr!(a, ult(d, 0x7FF));
    let magnitude = expr!(a, qand(denominator, quad({ !(1 << 63) })));
    let inverse = expr!(a, both(finite, qult(quad({ 0x7FD0_0000_0000_0000 }), magnitude)));
    let quotient = a.ddiv_raw(numerator, denominator);
    let quotient = field(a, quotient);
    let quotient = expr!(a, both(finite, ieq(quotient, 0)));
    let tiny = expr!(a, ult(n, 54));
    scaling(a, zero, huge, denormal, inverse, quotient, tiny)
}

/// [`div_scale`] for doubles.
#[inline(always)]
pub fn ddiv_scale<A: Algebra>(a: &mut A, x: A::Q, denominator: A::Q, numerator: A::Q) -> A::Q {
    let s = scaling_of_doubles(a, denominator, numerator);
    let of_denominator = a.deq(x, denominator);
    let is_denominator = a.both(s.denominator, of_denominator);
    let is_numerator = expr!(a, both({ s.numerator }, deq(x, numerator)));
    let down = expr!(a, either({ s.down }, both({ s.denominator_down }, of_denominator)));
    let up = expr!(a, either({ s.up }, either(is_denominator, is_numerator)));
    let places = expr!(a, select(down, word({ -128i32 as u32 }), 0));
    let places = expr!(a, select(up, 128, places));
    let scaled = double::ldexp(a, x, places);
    expr!(a, selectq({ s.invalid }, quad({ 0x7FF8_0000_0000_0000 }), scaled))
}

/// [`div_scale_flag`] for doubles.
#[inline(always)]
pub fn ddiv_scale_flag<A: Algebra>(a: &mut A, _: A::Q, denominator: A::Q, numerator: A::Q) -> A::W {
    let s = scaling_of_doubles(a, denominator, numerator);
    a.mask(s.flag)
}

/// [`div_fmas`] for doubles, with 2^128 and 2^-128.
#[inline(always)]
pub fn ddiv_fmas<A: Algebra>(a: &mut A, x: A::Q, y: A::Q, z: A::Q, flag: A::W) -> A::Q {
    let sum = a.dfma_raw(x, y, z);
    let large = expr!(a, ult(0x3FFF_FFFF, and(hi(z), 0x7FFF_FFFF)));
    let scale = expr!(a, pack(0, select(large, 0x47F0_0000, 0x37F0_0000)));
    let scaled = a.dmul_raw(sum, scale);
    expr!(a, dcanonical(selectq(ieq(flag, 0), sum, scaled)))
}

/// [`div_fixup`] for doubles.
#[inline(always)]
pub fn ddiv_fixup<A: Algebra>(a: &mut A, quotient: A::Q, denominator: A::Q, numerator: A::Q) -> A::Q {
    let sign = expr!(a, qand(qxor(denominator, numerator), quad({ 1 << 63 })));
    let (d, n) = (field(a, denominator), field(a, numerator));
    let number = expr!(a, qor(sign, qand(quotient, quad({ !(1 << 63) }))));
    let underflow = expr!(a, ilt(isub(n, d), word({ -1075i32 as u32 })));
    let special = expr!(a, either(ieq(d, 0x7FF), ieq(n, 0x7FF)));
    let zero = expr!(a, either(is_dzero(denominator), is_dzero(numerator)));
    let ieee = a.ddiv_raw(numerator, denominator);
    let number = a.selectq(underflow, sign, number);
    let infinite = expr!(a, qor(sign, quad({ 0x7FF0_0000_0000_0000 })));
    let number = expr!(a, selectq(is_dnan(quotient), infinite, number));
    expr!(a, dcanonical(selectq(either(special, zero), ieee, number)))
}

/// 53 bits of 2/π from bit 53 (n & 31) on, further down for exponents of x above 1077, as a double of the value
/// they have there; 2^128 times that for exponents of 1968 and more. Rounded towards zero.
#[inline(always)]
pub fn dtrig_preop<A: Algebra>(a: &mut A, x: A::Q, n: A::W) -> A::Q {
    let exponent = field(a, x);
    let more = expr!(a, select(ult(1077, exponent), isub(exponent, 1077), 0));
    let offset = expr!(a, iadd(imul(and(n, 31), 53), more));
    let mut words = TWO_OVER_PI.map(|w| a.word(w));
    let place = a.word(5);
    let place = a.shr(offset, place);
    let zero = a.word(0);
    for distance in [64usize, 32, 16, 8, 4, 2, 1] {
        let moved = expr!(a, ine_zero(and(place, word({ distance as u32 }))));
        for k in 0..words.len().min(2 + distance) {
            let far = words.get(k + distance).copied().unwrap_or(zero);
            words[k] = a.select(moved, far, words[k]);
        }
    }
    let shift = expr!(a, and(offset, 31));
    let rest = expr!(a, xor(shift, 31));
    let [high, low] = [0, 1].map(|k| {
        let (upper, lower) = (words[k], words[k + 1]);
        expr!(a, or(shl(upper, shift), shr(shr(lower, 1), rest)))
    });
    // bits · 2^(−53 − offset)
    let bits = expr!(a, qshr(pack(low, high), 11));
    let zeros = a.qclz(bits);
    let scale = expr!(a, select(ult(exponent, 1968), 0, 128));
    let result = expr!(a, isub(iadd(isub(1033, zeros), scale), offset));
    let significand = expr!(a, qshl(bits, and(isub(zeros, 11), 63)));
    let normal = expr!(a, ilt(0, result));
    let down = expr!(a, isub(1, result));
    let down = expr!(a, select(normal, 0, select(ult(down, 63), down, 63)));
    let field = expr!(a, select(normal, isub(result, 1), 0));
    let number = expr!(a, qadd(qshr(significand, down), pack(0, shl(field, 20))));
    expr!(a, selectq(ieq(zeros, 64), quad({ 0 }), number))
}
