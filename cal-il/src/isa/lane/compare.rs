//! Single precision comparisons: masks, 1.0 / 0.0, and the forms that control flow uses.
//!
//! All are false for NaN except `ne`. The plain ones take flushed words; the `raw` ones compare denormals as
//! they are, by integer code that no float mode of a device touches.

use super::expr::expr;
use crate::isa::Algebra;

macro_rules! comparisons {
    ($($(#[$doc:meta])* $mask:ident $set:ident $raw:ident ($x:ident, $y:ident) = ($($float:tt)*), ($($word:tt)*);)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $mask<A: Algebra>(a: &mut A, $x: A::W, $y: A::W) -> A::W {
                expr!(a, mask($($float)*))
            }

            $(#[$doc])*
            /// 1.0 if true, else 0.0.
            #[inline(always)]
            pub fn $set<A: Algebra>(a: &mut A, $x: A::W, $y: A::W) -> A::W {
                expr!(a, select($($float)*, 0x3F80_0000, 0))
            }

            $(#[$doc])*
            /// Denormals as they are.
            #[inline(always)]
            pub fn $raw<A: Algebra>(a: &mut A, $x: A::W, $y: A::W) -> A::W {
                let nan = expr!(a, either(is_nan($x), is_nan($y)));
                let ($x, $y) = (order(a, $x), order(a, $y));
                expr!(a, mask(both(negate(nan), $($word)*)))
            }
        )*
    };
}

comparisons! {
    /// x = y
    eq set_eq raw_eq (x, y) = (feq(x, y)), (ieq(x, y));
    /// x < y
    lt set_lt raw_lt (x, y) = (flt(x, y)), (ilt(x, y));
    /// x ≥ y
    ge set_ge raw_ge (x, y) = (fle(y, x)), (negate(ilt(x, y)));
    /// x > y
    gt set_gt raw_gt (x, y) = (flt(y, x)), (ilt(y, x));
    /// x ≤ y
    le set_le raw_le (x, y) = (fle(x, y)), (negate(ilt(y, x)));
}

/// An integer that orders as the float does; both zeros give 0.
#[inline(always)]
fn order<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    expr!(a, select(ilt(x, 0), isub(0, magnitude), magnitude))
}

/// x ≠ y or either is NaN.
#[inline(always)]
pub fn ne<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, mask(negate(feq(x, y))))
}

/// x ≠ y or either is NaN: 1.0 if true, else 0.0.
#[inline(always)]
pub fn set_ne<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, select(feq(x, y), 0, 0x3F80_0000))
}

/// x ≠ y or either is NaN; denormals as they are.
#[inline(always)]
pub fn raw_ne<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let equal = raw_eq(a, x, y);
    a.not(equal)
}

/// True if x belongs to a class whose bit is set in `classes`: 0 signalling NaN, 1 quiet NaN, 2 −∞, 3 negative
/// normal, 4 negative denormal, 5 −0, 6 +0, 7 positive denormal, 8 positive normal, 9 +∞. Looks at bits only.
#[inline(always)]
pub fn class<A: Algebra>(a: &mut A, x: A::W, classes: A::W) -> A::W {
    let magnitude = expr!(a, and(x, 0x7FFF_FFFF));
    let fraction = expr!(a, ine_zero(and(x, 0x007F_FFFF)));
    let quiet = expr!(a, ine_zero(and(x, 0x0040_0000)));
    let zero = expr!(a, ieq(magnitude, 0));
    let exponent = expr!(a, and(x, 0x7F80_0000));
    classify(a, x, exponent, fraction, quiet, zero, 0x7F80_0000, classes)
}

/// [`class`] for doubles.
#[inline(always)]
pub fn dclass<A: Algebra>(a: &mut A, x: A::Q, classes: A::W) -> A::W {
    let (lo, hi) = (a.lo(x), a.hi(x));
    let fraction = expr!(a, ine_zero(or(lo, and(hi, 0x000F_FFFF))));
    let quiet = expr!(a, ine_zero(and(hi, 0x0008_0000)));
    let zero = expr!(a, ieq(or(lo, and(hi, 0x7FFF_FFFF)), 0));
    let exponent = expr!(a, and(hi, 0x7FF0_0000));
    classify(a, hi, exponent, fraction, quiet, zero, 0x7FF0_0000, classes)
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn classify<A: Algebra>(
    a: &mut A,
    signed: A::W,
    exponent: A::W,
    fraction: A::B,
    quiet: A::B,
    zero: A::B,
    top: u32,
    classes: A::W,
) -> A::W {
    // Bit number on the positive side: 9 ∞, 8 normal, 7 denormal, 6 zero. The negative side mirrors it in 11.
    let small = expr!(a, select(zero, 6, 7));
    let finite = expr!(a, select(ieq(exponent, 0), small, 8));
    let special = expr!(a, ieq(exponent, word({ top })));
    let positive = expr!(a, select(special, 9, finite));
    let number = expr!(a, select(ilt(signed, 0), isub(11, positive), positive));
    let nan = a.both(special, fraction);
    let nan_number = expr!(a, select(quiet, 1, 0));
    let number = a.select(nan, nan_number, number);
    expr!(a, mask(ine_zero(and(shr(classes, number), 1))))
}
