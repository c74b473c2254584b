//! Conversions between single precision, integers, halves and bytes.

use super::expr::expr;
use super::float;
use crate::isa::Algebra;

/// Truncates, saturating; NaN gives 0.
#[inline(always)]
pub fn ftoi<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let fits = expr!(a, ult(magnitude, 0x4F00_0000));
    let inside = expr!(a, select(fits, x, 0));
    let limit = expr!(a, iadd(shr(x, 31), 0x7FFF_FFFF));
    let outside = expr!(a, select(is_nan(x), 0, limit));
    expr!(a, select(fits, ftoi_raw(inside), outside))
}

/// Truncates, saturating; negative values and NaN give 0.
#[inline(always)]
pub fn ftou<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    // As words, the positive floats below 2^31, 2^32, ∞ and NaN are in order; negative ones come last.
    let small = expr!(a, ult(x, 0x4F00_0000));
    let large = expr!(a, both(negate(small), ult(x, 0x4F80_0000)));
    // x in [2^31, 2^32): the significand is the upper 24 bits.
    let shifted = expr!(a, or(shl(x, 8), 0x8000_0000));
    let positive = expr!(a, ult(x, 0x7F80_0001));
    let saturated = expr!(a, select(positive, 0xFFFF_FFFF, 0));
    let outside = a.select(large, shifted, saturated);
    let inside = expr!(a, select(small, x, 0));
    expr!(a, select(small, ftoi_raw(inside), outside))
}

/// floor(x) to integer.
#[inline(always)]
pub fn ftoi_flr<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let x = a.ffloor(x);
    ftoi(a, x)
}

/// floor(x + 0.5) to integer, the sum rounded.
#[inline(always)]
pub fn ftoi_rpi<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let x = super::rounding::rnd(a, x);
    ftoi(a, x)
}

/// Signed integer to float, to nearest even.
#[inline(always)]
pub fn itof<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.itof_raw(x)
}

/// Unsigned integer to float, to nearest even.
#[inline(always)]
pub fn utof<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.utof_raw(x)
}

/// Significand bits of the half nearest below |x|, and whether what was cut off is zero, less than, equal to or
/// more than half a unit, as (kept, rest, half).
#[inline(always)]
fn half_parts<A: Algebra>(a: &mut A, x: A::W) -> (A::W, A::W, A::W) {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let exponent = expr!(a, shr(magnitude, 23));
    // Below 2^-14 the unit is 2^-24: shift the significand by 126 − e, at most 31, which leaves nothing.
    let significand = expr!(a, or(and(magnitude, 0x007F_FFFF), 0x0080_0000));
    let distance = expr!(a, isub(126, exponent));
    let distance = expr!(a, select(ult(distance, 31), distance, 31));
    let tiny = expr!(a, ult(exponent, 113));
    let source = expr!(a, select(tiny, significand, isub(magnitude, 0x3800_0000)));
    let shift = expr!(a, select(tiny, distance, 13));
    let source = expr!(a, select(ieq(exponent, 0), 0, source));
    let kept = a.shr(source, shift);
    let rest = expr!(a, isub(source, shl(kept, shift)));
    let half = expr!(a, shl(1, isub(shift, 1)));
    (kept, rest, half)
}

/// Assembles the half: `kept` plus one if `up`, `overflow` for finite values of 2^16 and more.
#[inline(always)]
fn half_pack<A: Algebra>(a: &mut A, x: A::W, kept: A::W, up: A::B, overflow: A::W) -> A::W {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let rounded = expr!(a, select(up, iadd(kept, 1), kept));
    let finite = expr!(a, select(ult(magnitude, 0x4780_0000), rounded, overflow));
    let number = expr!(a, select(ieq(magnitude, 0x7F80_0000), 0x7C00, finite));
    let signed = expr!(a, or(number, and(shr(x, 16), 0x8000)));
    expr!(a, select(is_nan(x), 0x7E00, signed))
}

/// To half, towards zero (`f2f16`).
#[inline(always)]
pub fn f2f16<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (kept, _, _) = half_parts(a, x);
    let up = expr!(a, ult(0, 0));
    let overflow = a.word(0x7BFF);
    half_pack(a, x, kept, up, overflow)
}

/// To half, to nearest even.
#[inline(always)]
pub fn f2f16_near<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (kept, rest, half) = half_parts(a, x);
    let odd_tie = expr!(a, both(ieq(rest, half), ine_zero(and(kept, 1))));
    let up = expr!(a, either(ult(half, rest), odd_tie));
    let overflow = a.word(0x7C00);
    half_pack(a, x, kept, up, overflow)
}

/// To half, towards −∞.
#[inline(always)]
pub fn f2f16_neg_inf<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (kept, rest, _) = half_parts(a, x);
    let up = expr!(a, both(ine_zero(rest), ilt(x, 0)));
    let overflow = expr!(a, select(ilt(x, 0), 0x7C00, 0x7BFF));
    half_pack(a, x, kept, up, overflow)
}

/// To half, towards +∞.
#[inline(always)]
pub fn f2f16_plus_inf<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let (kept, rest, _) = half_parts(a, x);
    let up = expr!(a, both(ine_zero(rest), negate(ilt(x, 0))));
    let overflow = expr!(a, select(ilt(x, 0), 0x7BFF, 0x7C00));
    half_pack(a, x, kept, up, overflow)
}

/// Half in the low 16 bits to float, exact.
#[inline(always)]
pub fn f162f<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let magnitude = expr!(a, and(x, 0x7FFF));
    let sign = expr!(a, shl(and(x, 0x8000), 16));
    let normal = expr!(a, iadd(shl(magnitude, 13), 0x3800_0000));
    // A denormal half m · 2^-24: shift its top bit to bit 23, which then adds one to the exponent field.
    let top = expr!(a, clz(magnitude));
    let shift = expr!(a, and(isub(top, 8), 31));
    let exponent = expr!(a, isub(133, top));
    let tiny = expr!(a, iadd(shl(magnitude, shift), shl(exponent, 23)));
    let small = expr!(a, select(ieq(magnitude, 0), 0, tiny));
    let finite = expr!(a, select(ult(magnitude, 0x0400), small, normal));
    let special = expr!(a, select(ieq(magnitude, 0x7C00), 0x7F80_0000, 0x7FC0_0000));
    let number = expr!(a, select(ult(magnitude, 0x7C00), finite, special));
    expr!(a, select(ult(0x7C00, magnitude), number, or(number, sign)))
}

/// To nearest even, clamped to 0 to 255; NaN gives 0.
#[inline(always)]
fn byte<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let positive = expr!(a, fmax_raw(x, 0));
    let capped = expr!(a, fmin_raw(positive, 0x437F_0000));
    expr!(a, ftoi_raw(fnearest(capped)))
}

/// Four floats to bytes, the first lowest (`f_2_u4`).
#[inline(always)]
pub fn f2u4<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W, w: A::W) -> A::W {
    let (x, y, z, w) = (byte(a, x), byte(a, y), byte(a, z), byte(a, w));
    expr!(a, or(or(x, shl(y, 8)), or(shl(z, 16), shl(w, 24))))
}

macro_rules! unpack {
    ($($name:ident $shift:literal;)*) => {$(
        /// One byte as a float.
        #[inline(always)]
        pub fn $name<A: Algebra>(a: &mut A, x: A::W) -> A::W {
            expr!(a, itof_raw(and(shr(x, $shift), 0xFF)))
        }
    )*};
}

unpack! { unpack0 0; unpack1 8; unpack2 16; unpack3 24; }

/// x · 2^n (`ldexp`).
#[inline(always)]
pub fn ldexp<A: Algebra>(a: &mut A, x: A::W, n: A::W) -> A::W {
    // Beyond ±300 the result is 0 or ∞ all the same; three factors reach that far. All but the one that
    // leaves the normal range are exact, and after that one nothing but zero or ∞ remains.
    let n = expr!(a, select(ilt(n, word({ -300i32 as u32 })), word({ -300i32 as u32 }), n));
    let n = expr!(a, select(ilt(n, 300), n, 300));
    let mut x = x;
    let mut left = n;
    for _ in 0..3 {
        let step = expr!(a, select(ilt(left, word({ -100i32 as u32 })), word({ -100i32 as u32 }), left));
        let step = expr!(a, select(ilt(step, 100), step, 100));
        left = a.isub(left, step);
        let factor = expr!(a, shl(iadd(step, 127), 23));
        x = float::mul_ieee(a, x, factor);
    }
    x
}

/// Exponent e of x = m · 2^e with |m| in [0.5, 1); 0 for 0, ∞ and NaN.
#[inline(always)]
pub fn frexp_exp<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let exponent = expr!(a, and(shr(x, 23), 0xFF));
    let special = expr!(a, either(ieq(exponent, 0), ieq(exponent, 255)));
    expr!(a, select(special, 0, isub(exponent, 126)))
}

/// Significand m of x = m · 2^e with |m| in [0.5, 1); 0, ∞ and NaN themselves.
#[inline(always)]
pub fn frexp_mant<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let exponent = expr!(a, and(shr(x, 23), 0xFF));
    let special = expr!(a, either(ieq(exponent, 0), ieq(exponent, 255)));
    let half = expr!(a, or(and(x, 0x807F_FFFF), 0x3F00_0000));
    a.select(special, x, half)
}
