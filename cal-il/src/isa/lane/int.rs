//! 32-bit integer arithmetic: wrapping, comparisons give masks.

use super::expr::expr;
use crate::isa::Algebra;

/// x + y
#[inline(always)]
pub fn iadd<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.iadd(x, y)
}

/// x − y
#[inline(always)]
pub fn isub<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.isub(x, y)
}

/// −x
#[inline(always)]
pub fn ineg<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    expr!(a, isub(0, x))
}

/// Low half of x · y.
#[inline(always)]
pub fn imul<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.imul(x, y)
}

/// High half of the signed product.
#[inline(always)]
pub fn imul_high<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.smulhi(x, y)
}

/// High half of the unsigned product.
#[inline(always)]
pub fn umul_high<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.umulhi(x, y)
}

/// x · y + z
#[inline(always)]
pub fn imad<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    expr!(a, iadd(imul(x, y), z))
}

/// Signed minimum.
#[inline(always)]
pub fn imin<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.imin(x, y)
}

/// Signed maximum.
#[inline(always)]
pub fn imax<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.imax(x, y)
}

/// Unsigned minimum.
#[inline(always)]
pub fn umin<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.umin(x, y)
}

/// Unsigned maximum.
#[inline(always)]
pub fn umax<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.umax(x, y)
}

/// Signed minimum of three.
#[inline(always)]
pub fn imin3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let m = imin(a, x, y);
    imin(a, m, z)
}

/// Signed maximum of three.
#[inline(always)]
pub fn imax3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let m = imax(a, x, y);
    imax(a, m, z)
}

/// Signed median of three.
#[inline(always)]
pub fn imed3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let low = imin(a, x, y);
    let high = imax(a, x, y);
    let capped = imin(a, high, z);
    imax(a, low, capped)
}

/// Unsigned minimum of three.
#[inline(always)]
pub fn umin3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let m = umin(a, x, y);
    umin(a, m, z)
}

/// Unsigned maximum of three.
#[inline(always)]
pub fn umax3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let m = umax(a, x, y);
    umax(a, m, z)
}

/// Unsigned median of three.
#[inline(always)]
pub fn umed3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let low = umin(a, x, y);
    let high = umax(a, x, y);
    let capped = umin(a, high, z);
    umax(a, low, capped)
}

/// Unsigned quotient; all ones if y = 0.
#[inline(always)]
pub fn udiv<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let zero = expr!(a, ieq(y, 0));
    let divisor = expr!(a, select(zero, 1, y));
    expr!(a, select(zero, 0xFFFF_FFFF, udiv(x, divisor)))
}

/// Unsigned remainder; all ones if y = 0.
#[inline(always)]
pub fn umod<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let zero = expr!(a, ieq(y, 0));
    let divisor = expr!(a, select(zero, 1, y));
    expr!(a, select(zero, 0xFFFF_FFFF, umod(x, divisor)))
}

/// x = y
#[inline(always)]
pub fn ieq<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, mask(ieq(x, y)))
}

/// x ≠ y
#[inline(always)]
pub fn ine<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, mask(negate(ieq(x, y))))
}

/// Signed x < y
#[inline(always)]
pub fn ilt<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, mask(ilt(x, y)))
}

/// Signed x ≥ y
#[inline(always)]
pub fn ige<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, mask(negate(ilt(x, y))))
}

/// Unsigned x < y
#[inline(always)]
pub fn ult<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, mask(ult(x, y)))
}

/// Unsigned x ≥ y
#[inline(always)]
pub fn uge<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, mask(negate(ult(x, y))))
}

/// 1 if x + y carries out of 32 bits.
#[inline(always)]
pub fn icarry<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, select(ult(iadd(x, y), x), 1, 0))
}

/// 1 if x − y borrows.
#[inline(always)]
pub fn iborrow<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, select(ult(x, y), 1, 0))
}

/// Low word of the product of the low 24 bits.
#[inline(always)]
pub fn umul24<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, imul(and(x, 0xFF_FFFF), and(y, 0xFF_FFFF)))
}

/// High word of that 48-bit product.
#[inline(always)]
pub fn umul24_high<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, umulhi(and(x, 0xFF_FFFF), and(y, 0xFF_FFFF)))
}

/// umul24(x, y) + z
#[inline(always)]
pub fn umad24<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let product = umul24(a, x, y);
    a.iadd(product, z)
}

#[inline(always)]
fn sign_extend24<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    expr!(a, sar(shl(x, 8), 8))
}

/// Low word of the product of the sign-extended low 24 bits.
#[inline(always)]
pub fn imul24<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let (x, y) = (sign_extend24(a, x), sign_extend24(a, y));
    a.imul(x, y)
}

/// High word of that product.
#[inline(always)]
pub fn imul24_high<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let (x, y) = (sign_extend24(a, x), sign_extend24(a, y));
    a.smulhi(x, y)
}

/// imul24(x, y) + z
#[inline(always)]
pub fn imad24<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let product = imul24(a, x, y);
    a.iadd(product, z)
}
