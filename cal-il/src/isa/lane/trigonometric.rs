//! Sine, cosine, tangent and their inverses in integer arithmetic, over the whole range (amd-il-alu 9.7; `tan`,
//! `asin`, `acos`, `atan`, `pireduce` are sharper than 9.8).

use super::expr::expr;
use crate::isa::Algebra;

/// 2/π as a binary fraction, with two zero words in front.
const TWO_OVER_PI: [u32; 11] = [
    0,
    0,
    0xA2F9_836E,
    0x4E44_1529,
    0xFC27_57D1,
    0xF534_DDC0,
    0xDB62_9599,
    0x3C43_9041,
    0xFE51_63AB,
    0xDEBB_C561,
    0xB724_6E3A,
];

/// sin(r π/2) / r as a polynomial in r²: units of 2^-30.
const SIN: [i32; 6] = [1686629713, -693598668, 85569306, -5026994, 172260, -3819];

/// cos(r π/2) as a polynomial in r²: units of 2^-30.
const COS: [i32; 6] = [1073741824, -1324675879, 272375559, -22401978, 986942, -26684];

/// atan(s) / s as a polynomial in s² for s ≤ tan(π/8): units of 2^-30.
const ATAN: [i32; 8] =
    [1073741824, -357913941, 214748290, -153388154, 119222173, -96554134, 74872674, -40410047];

/// π in units of 2^-61.
const PI: u64 = 0x6487_ED51_10B4_611A;

/// Polynomial in `x` (units of 2^-32), coefficients signed.
#[inline(always)]
fn polynomial<A: Algebra>(a: &mut A, coefficients: &[i32], x: A::W) -> A::W {
    let mut acc = a.word(0);
    for c in coefficients.iter().rev() {
        acc = expr!(a, iadd(word({ *c as u32 }), smulhi(acc, x)));
    }
    acc
}

/// |x| / 2π modulo 1, in units of 2^-96, upper word first. For |x| ≥ 2^-12.
#[inline(always)]
fn turns<A: Algebra>(a: &mut A, x: A::W) -> [A::W; 3] {
    let exponent = expr!(a, and(shr(x, 23), 0xFF));
    let m = expr!(a, or(and(x, 0x007F_FFFF), 0x0080_0000));
    // The product needs 96 bits of 2/π from this place on; those before it are whole turns.
    let offset = expr!(a, isub(exponent, 88));
    let place = expr!(a, and(shr(offset, 5), 7));
    let mut words = TWO_OVER_PI.map(|w| a.word(w));
    for (bit, distance) in [(4u32, 4usize), (2, 2), (1, 1)] {
        let moved = expr!(a, ine_zero(and(place, word({ bit }))));
        for k in 0..3 + distance {
            let far = if k + distance < words.len() { words[k + distance] } else { words[words.len() - 1] };
            words[k] = a.select(moved, far, words[k]);
        }
    }
    let shift = expr!(a, and(offset, 31));
    let rest = expr!(a, xor(shift, 31));
    let [t0, t1, t2] = [0, 1, 2].map(|k| {
        let (high, low) = (words[k], words[k + 1]);
        expr!(a, or(shl(high, shift), shr(shr(low, 1), rest)))
    });
    let low = a.imul(m, t2);
    let carry = a.umulhi(m, t2);
    let middle = expr!(a, iadd(imul(m, t1), carry));
    let carry = expr!(a, select(ult(middle, carry), 1, 0));
    let high = expr!(a, iadd(iadd(imul(m, t0), umulhi(m, t1)), carry));
    [high, middle, low]
}

/// Negates a 96-bit number if `c`.
#[inline(always)]
fn negate_if<A: Algebra>(a: &mut A, c: A::B, x: [A::W; 3]) -> [A::W; 3] {
    let mask = a.mask(c);
    let [high, middle, low] = x.map(|w| a.xor(w, mask));
    let one = expr!(a, and(mask, 1));
    let low = a.iadd(low, one);
    let carry = expr!(a, select(ult(low, one), 1, 0));
    let middle = a.iadd(middle, carry);
    let carry = expr!(a, select(ult(middle, carry), 1, 0));
    [a.iadd(high, carry), middle, low]
}

/// Leading zeros of a 96-bit number (up to 63) and its 32 bits from the first one on.
#[inline(always)]
fn normalise<A: Algebra>(a: &mut A, x: [A::W; 3]) -> (A::W, A::W) {
    let far = expr!(a, ieq({ x[0] }, 0));
    let first = a.select(far, x[1], x[0]);
    let second = a.select(far, x[2], x[1]);
    let zeros = expr!(a, and(clz(first), 31));
    let top = expr!(a, or(shl(first, zeros), shr(shr(second, 1), xor(zeros, 31))));
    (expr!(a, iadd(zeros, select(far, 32, 0))), top)
}

/// What sine and cosine of |x| share, for |x| ≥ 2^-12.
struct Reduced<A: Algebra> {
    /// Quarter turns, modulo 2^32.
    quadrant: A::W,
    /// sin of the rest r, |r| ≤ π/4: magnitude in units of 2^(-62 − zeros).
    sin: A::Q,
    /// See `sin`.
    zeros: A::W,
    /// Sign bit of r.
    sign: A::W,
    /// cos of the rest in units of 2^-62.
    cos: A::Q,
}

#[inline(always)]
fn reduce<A: Algebra>(a: &mut A, x: A::W) -> Reduced<A> {
    let [high, middle, low] = turns(a, x);
    let quadrant = expr!(a, shr(high, 30));
    let fraction = [
        expr!(a, or(shl(high, 2), shr(middle, 30))),
        expr!(a, or(shl(middle, 2), shr(low, 30))),
        expr!(a, shl(low, 2)),
    ];
    let negative = expr!(a, ilt({ fraction[0] }, 0));
    let quadrant = expr!(a, iadd(quadrant, select(negative, 1, 0)));
    let fraction = negate_if(a, negative, fraction);
    let (zeros, r) = normalise(a, fraction);
    let square = expr!(a, shr(umulhi(r, r), and(shl(zeros, 1), 31)));
    let square = expr!(a, select(ult(zeros, 16), square, 0));
    let sin = polynomial(a, &SIN, square);
    let cos = polynomial(a, &COS, square);
    Reduced {
        quadrant,
        sin: expr!(a, pack(imul(r, sin), umulhi(r, sin))),
        zeros,
        sign: expr!(a, select(negative, 0x8000_0000, 0)),
        cos: expr!(a, pack(0, cos)),
    }
}

/// Rounds `value` · 2^(-62 − shift), value not 0.
#[inline(always)]
fn round<A: Algebra>(a: &mut A, sign: A::W, value: A::Q, shift: A::W) -> A::W {
    let zeros = a.qclz(value);
    let exponent = expr!(a, isub(isub(128, zeros), shift));
    let long = expr!(a, ieq(zeros, 0));
    let left = expr!(a, qshl(value, and(isub(zeros, 1), 63)));
    let right = expr!(a, qor(qshr(value, 1), qand(value, quad({ 1 }))));
    let wide = a.selectq(long, right, left);
    a.fround(sign, exponent, wide)
}

/// Sine (`cosine` false) or cosine of the reduced argument, with the sign bit to flip.
#[inline(always)]
fn wave<A: Algebra>(a: &mut A, reduced: &Reduced<A>, cosine: bool, flip: A::W) -> A::W {
    let quadrant = expr!(a, iadd({ reduced.quadrant }, word({ u32::from(cosine) })));
    // In odd quadrants of the sine, and even ones of the cosine, the cosine series applies.
    let straight = expr!(a, ieq(and({ reduced.quadrant }, 1), word({ u32::from(cosine) })));
    let value = a.selectq(straight, reduced.sin, reduced.cos);
    let shift = expr!(a, select(straight, { reduced.zeros }, 0));
    let sign = expr!(a, select(straight, { reduced.sign }, 0));
    let sign = expr!(a, xor(xor(sign, flip), and(shl(quadrant, 30), 0x8000_0000)));
    round(a, sign, value, shift)
}

/// True below 2^-12, where sin x = x and cos x = 1.
#[inline(always)]
fn is_small<A: Algebra>(a: &mut A, x: A::W) -> A::B {
    expr!(a, ult(and(x, 0x7FFF_FFFF), 0x3980_0000))
}

/// NaN for ∞ and NaN, else `number`.
#[inline(always)]
fn finite_only<A: Algebra>(a: &mut A, x: A::W, number: A::W) -> A::W {
    let finite = expr!(a, ult(and(x, 0x7FFF_FFFF), 0x7F80_0000));
    expr!(a, select(finite, number, 0x7FC0_0000))
}

/// sin x, x in radians.
#[inline(always)]
pub fn sin<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let reduced = reduce(a, x);
    let flip = expr!(a, and(x, 0x8000_0000));
    let number = wave(a, &reduced, false, flip);
    let small = is_small(a, x);
    let number = a.select(small, x, number);
    finite_only(a, x, number)
}

/// cos x, x in radians.
#[inline(always)]
pub fn cos<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let reduced = reduce(a, x);
    let flip = a.word(0);
    let number = wave(a, &reduced, true, flip);
    let small = is_small(a, x);
    let number = expr!(a, select(small, 0x3F80_0000, number));
    finite_only(a, x, number)
}

/// tan x, x in radians: the quotient of both series in 31 bits, rounded once.
#[inline(always)]
pub fn tan<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let reduced = reduce(a, x);
    let swap = expr!(a, ine_zero(and({ reduced.quadrant }, 1)));
    let sin_zeros = a.qclz(reduced.sin);
    let sin = expr!(a, hi(qshl({ reduced.sin }, and(sin_zeros, 63))));
    let sin_shift = a.iadd(sin_zeros, reduced.zeros);
    let cos_shift = a.qclz(reduced.cos);
    let cos = expr!(a, hi(qshl({ reduced.cos }, and(cos_shift, 63))));
    let top = a.select(swap, cos, sin);
    let bottom = a.select(swap, sin, cos);
    let distance = a.isub(cos_shift, sin_shift);
    let distance = expr!(a, select(swap, isub(0, distance), distance));
    let quotient = ratio(a, top, bottom);
    // quotient · 2^(distance − 31)
    let shift = expr!(a, isub(word({ -31i32 as u32 }), distance));
    let sign = expr!(a, and(xor(shl({ reduced.quadrant }, 31), xor(x, { reduced.sign })), 0x8000_0000));
    let number = round(a, sign, quotient, shift);
    let small = is_small(a, x);
    let number = a.select(small, x, number);
    finite_only(a, x, number)
}

/// top · 2^31 / bottom, rounded down; both have their top bit set.
#[inline(always)]
fn ratio<A: Algebra>(a: &mut A, top: A::W, bottom: A::W) -> A::Q {
    let numerator = expr!(a, qshr(pack(0, top), 1));
    // 0 only for arguments that are answered without the ratio.
    let bottom = expr!(a, select(ieq(bottom, 0), 1, bottom));
    expr!(a, qudiv(numerator, pack(bottom, 0)))
}

/// x − 2π · ⌊x / 2π + 1/2⌋, in [−π, π), from the exact remainder.
#[inline(always)]
pub fn pireduce<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let turns = turns(a, x);
    // For x < 0 the fraction is negated first; then its upper half is negative.
    let turns = {
        let negative = expr!(a, ilt(x, 0));
        negate_if(a, negative, turns)
    };
    let negative = expr!(a, ilt({ turns[0] }, 0));
    let turns = negate_if(a, negative, turns);
    let (zeros, top) = normalise(a, turns);
    // top · 2^(-32 − zeros) turns, times 2π in units of 2^-29.
    let product = expr!(a, pack(imul(top, 0xC90F_DAA2), umulhi(top, 0xC90F_DAA2)));
    let sign = expr!(a, select(negative, 0x8000_0000, 0));
    let shift = expr!(a, isub(zeros, 1));
    let number = round(a, sign, product, shift);
    let inside = expr!(a, ult(and(x, 0x7FFF_FFFF), 0x4049_0FDB));
    let number = a.select(inside, x, number);
    finite_only(a, x, number)
}

/// atan(top / bottom · 2^distance) in [0, π/2] for top and bottom with their top bits set, or π minus it if
/// `obtuse`; rounded, with the sign bit `sign`.
#[inline(always)]
fn arctangent<A: Algebra>(
    a: &mut A,
    top: A::W,
    bottom: A::W,
    distance: A::W,
    obtuse: A::B,
    sign: A::W,
) -> A::W {
    // Both on one scale, in units small enough for three places either way.
    let near = expr!(a, ult(iadd(distance, 3), 7));
    let offset = expr!(a, select(near, distance, 0));
    let y = expr!(a, qshl(pack(top, 0), iadd(offset, 3)));
    let x = expr!(a, qshl(pack(bottom, 0), 3));
    // tan(π/8) and its inverse, to a few bits, split into three ranges; the edges need not be exact.
    let y5 = expr!(a, qmul(y, quad({ 169 })));
    let x5 = expr!(a, qmul(x, quad({ 70 })));
    let above = expr!(a, negate(qult(y5, x5)));
    let y2 = expr!(a, qmul(y, quad({ 70 })));
    let x2 = expr!(a, qmul(x, quad({ 169 })));
    let beyond = expr!(a, negate(qult(y2, x2)));
    let far_above = expr!(a, ilt(0, distance));
    let above = expr!(a, either(both(near, above), both(negate(near), far_above)));
    let beyond = expr!(a, either(both(near, beyond), both(negate(near), far_above)));
    let middle = expr!(a, both(above, negate(beyond)));

    // Low: y/x. Middle: (y − x) / (y + x) and π/4. Beyond: −x/y and π/2.
    let lower = a.qult(y, x);
    let difference = expr!(a, selectq(lower, qsub(x, y), qsub(y, x)));
    let sum = a.qadd(x, y);
    let difference_zeros = a.qclz(difference);
    let sum_zeros = a.qclz(sum);
    let m_top = expr!(a, hi(qshl(difference, and(difference_zeros, 63))));
    let m_bottom = expr!(a, hi(qshl(sum, and(sum_zeros, 63))));
    let n = expr!(a, select(beyond, bottom, top));
    let d = expr!(a, select(beyond, top, bottom));
    let n = a.select(middle, m_top, n);
    let d = a.select(middle, m_bottom, d);
    let places = expr!(a, select(beyond, isub(0, distance), distance));
    let places = expr!(a, select(middle, isub(sum_zeros, difference_zeros), places));
    let negative = expr!(a, either(both(middle, lower), beyond));

    // s = q · 2^(places − 31), q of 31 or 32 bits, s below 0.4143.
    let q = ratio(a, n, d);
    let q = a.lo(q);
    let square = a.umulhi(q, q);
    // q² = square · 2^32, so s² in units of 2^-32 is square · 2^(2 places + 2).
    let down = expr!(a, isub(0, iadd(shl(places, 1), 2)));
    let square = expr!(a, select(ult(down, 32), shr(square, and(down, 31)), 0));
    let acc = polynomial(a, &ATAN, square);
    // |atan s| in units of 2^(places − 61).
    let angle = expr!(a, pack(imul(q, acc), umulhi(q, acc)));

    // Alone it keeps all its bits; next to a multiple of π/4 it is aligned to units of 2^-61.
    let down = expr!(a, isub(0, places));
    let gone = expr!(a, negate(ult(down, 64)));
    let aligned = expr!(a, selectq(gone, quad({ 0 }), qshr(angle, and(down, 63))));
    let base = expr!(a, selectq(middle, quad({ PI / 4 }), selectq(beyond, quad({ PI / 2 }), quad({ 0 }))));
    let base = expr!(a, selectq(obtuse, qsub(quad({ PI }), base), base));
    let subtract = expr!(a, mask(negative));
    let subtract = expr!(a, ine_zero(xor(subtract, mask(obtuse))));
    let total = expr!(a, selectq(subtract, qsub(base, aligned), qadd(base, aligned)));
    let alone = expr!(a, negate(either(above, obtuse)));
    let value = a.selectq(alone, angle, total);
    let shift = expr!(a, select(alone, isub(word({ -1i32 as u32 }), places), word({ -1i32 as u32 })));
    round(a, sign, value, shift)
}

/// Significand with its top bit at 31 and exponent field of a float that is not 0.
#[inline(always)]
fn normal_parts<A: Algebra>(a: &mut A, x: A::W) -> (A::W, A::W) {
    let top = expr!(a, or(shl(x, 8), 0x8000_0000));
    (top, expr!(a, and(shr(x, 23), 0xFF)))
}

/// atan x
#[inline(always)]
pub fn atan<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (top, exponent) = normal_parts(a, x);
    let one = a.word(0x8000_0000);
    let distance = expr!(a, isub(exponent, 127));
    let acute = expr!(a, ult(0, 0));
    let sign = expr!(a, and(x, 0x8000_0000));
    let number = arctangent(a, top, one, distance, acute, sign);
    let small = is_small(a, x);
    let number = a.select(small, x, number);
    let infinite = expr!(a, ieq(exponent, 255));
    let number = expr!(a, select(infinite, or(sign, 0x3FC9_0FDB), number));
    expr!(a, select(is_nan(x), 0x7FC0_0000, number))
}

/// x, or ½ where |x| < 1 does not hold: what follows is defined for it, and not used.
#[inline(always)]
fn proper<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let inside = expr!(a, ult(and(x, 0x7FFF_FFFF), 0x3F80_0000));
    expr!(a, select(inside, x, 0x3F00_0000))
}

/// √(1 − x²) of |x| < 1 as 32 bits with the top bit set and the exponent field of its float.
#[inline(always)]
fn co_sine<A: Algebra>(a: &mut A, x: A::W) -> (A::W, A::W) {
    let exponent = expr!(a, and(shr(x, 23), 0xFF));
    let m = expr!(a, or(and(x, 0x007F_FFFF), 0x0080_0000));
    // x in units of 2^-31: exact from 2^-8 on; below that the square of what is lost does not matter.
    let wide = expr!(a, shl(m, 8));
    let down = expr!(a, isub(127, exponent));
    let down = expr!(a, select(ult(down, 31), down, 31));
    let fixed = a.shr(wide, down);
    // n = 1 − x², moved by an even number of places so that its top bit is at 61 or 60.
    let square = expr!(a, pack(imul(fixed, fixed), umulhi(fixed, fixed)));
    let n = expr!(a, qsub(quad({ 1 << 62 }), square));
    let even = expr!(a, and(qclz(n), 62));
    let n = expr!(a, qshr(qshl(n, even), 2));
    // r = √n, 2^30 to 2^31, from the float's root: a Newton step with an exact residual.
    let head = expr!(a, shr(hi(n), 6));
    let root = expr!(a, fsqrt(utof_raw(head)));
    // head = n / 2^38, so its root is in units of 2^19.
    let r = expr!(a, shl(ftoi_raw(fmul_raw(root, 0x4880_0000)), 1));
    let rest = expr!(a, qsub(n, pack(imul(r, r), umulhi(r, r))));
    // rest / 2r, by the upper bits of both: |rest| < 2^41.
    let rest = expr!(a, lo(qsar(rest, 11)));
    let inverse = expr!(a, fdiv(0x4480_0000, utof_raw(r)));
    let step = expr!(a, ftoi_raw(fmul_raw(itof_raw(rest), inverse)));
    let r = a.iadd(r, step);
    let long = expr!(a, ilt(r, 0));
    let field = expr!(a, isub(select(long, 128, 127), shr(even, 1)));
    let r = expr!(a, select(long, r, shl(r, 1)));
    (r, field)
}

/// asin x; NaN beyond ±1.
#[inline(always)]
pub fn asin<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let inside = proper(a, x);
    let (top, exponent) = normal_parts(a, inside);
    let (bottom, other) = co_sine(a, inside);
    let distance = a.isub(exponent, other);
    let acute = expr!(a, ult(0, 0));
    let sign = expr!(a, and(x, 0x8000_0000));
    let number = arctangent(a, top, bottom, distance, acute, sign);
    let small = is_small(a, x);
    let number = a.select(small, x, number);
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let number = expr!(a, select(ieq(magnitude, 0x3F80_0000), or(sign, 0x3FC9_0FDB), number));
    expr!(a, select(ult(0x3F80_0000, magnitude), 0x7FC0_0000, number))
}

/// acos x; NaN beyond ±1.
#[inline(always)]
pub fn acos<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let inside = proper(a, x);
    let (bottom, exponent) = normal_parts(a, inside);
    let (top, other) = co_sine(a, inside);
    let distance = a.isub(other, exponent);
    let obtuse = expr!(a, ilt(x, 0));
    let sign = a.word(0);
    let number = arctangent(a, top, bottom, distance, obtuse, sign);
    let number = expr!(a, select(is_zero(x), 0x3FC9_0FDB, number));
    let number = expr!(a, select(ieq(x, 0x3F80_0000), 0, number));
    let number = expr!(a, select(ieq(x, 0xBF80_0000), 0x4049_0FDB, number));
    expr!(a, select(ult(0x3F80_0000, and(x, 0x7FFF_FFFF)), 0x7FC0_0000, number))
}
