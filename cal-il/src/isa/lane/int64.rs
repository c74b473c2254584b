//! 64-bit integers: wrapping, comparisons give one 32-bit mask.

use super::expr::expr;
use crate::isa::Algebra;

/// x + y
#[inline(always)]
pub fn add<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    a.qadd(x, y)
}

/// x − y
#[inline(always)]
pub fn sub<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    a.qsub(x, y)
}

/// −x
#[inline(always)]
pub fn neg<A: Algebra>(a: &mut A, x: A::Q) -> A::Q {
    expr!(a, qsub(quad({ 0 }), x))
}

/// Low half of x · y.
#[inline(always)]
pub fn mul<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    a.qmul(x, y)
}

/// Unsigned quotient; all ones if y = 0.
#[inline(always)]
pub fn udiv<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    let zero = expr!(a, qeq(y, quad({ 0 })));
    let divisor = expr!(a, selectq(zero, quad({ 1 }), y));
    expr!(a, selectq(zero, quad({ !0 }), qudiv(x, divisor)))
}

/// Unsigned remainder; all ones if y = 0.
#[inline(always)]
pub fn umod<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    let zero = expr!(a, qeq(y, quad({ 0 })));
    let divisor = expr!(a, selectq(zero, quad({ 1 }), y));
    expr!(a, selectq(zero, quad({ !0 }), qumod(x, divisor)))
}

/// x with the sign of mask `m` (0 or all ones) applied: m ? −x : x.
#[inline(always)]
fn apply_sign<A: Algebra>(a: &mut A, x: A::Q, m: A::Q) -> A::Q {
    expr!(a, qsub(qxor(x, m), m))
}

/// Truncated signed quotient; all ones if y = 0.
#[inline(always)]
pub fn idiv<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    let (sx, sy) = (expr!(a, qsar(x, 63)), expr!(a, qsar(y, 63)));
    let (ux, uy) = (apply_sign(a, x, sx), apply_sign(a, y, sy));
    let zero = expr!(a, qeq(y, quad({ 0 })));
    let divisor = expr!(a, selectq(zero, quad({ 1 }), uy));
    let quotient = a.qudiv(ux, divisor);
    let sign = a.qxor(sx, sy);
    let quotient = apply_sign(a, quotient, sign);
    expr!(a, selectq(zero, quad({ !0 }), quotient))
}

/// Remainder with the sign of x; all ones if y = 0.
#[inline(always)]
pub fn imod<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    let (sx, sy) = (expr!(a, qsar(x, 63)), expr!(a, qsar(y, 63)));
    let (ux, uy) = (apply_sign(a, x, sx), apply_sign(a, y, sy));
    let zero = expr!(a, qeq(y, quad({ 0 })));
    let divisor = expr!(a, selectq(zero, quad({ 1 }), uy));
    let rest = a.qumod(ux, divisor);
    let rest = apply_sign(a, rest, sx);
    expr!(a, selectq(zero, quad({ !0 }), rest))
}

/// Signed minimum.
#[inline(always)]
pub fn imin<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, selectq(qlt(x, y), x, y))
}

/// Signed maximum.
#[inline(always)]
pub fn imax<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, selectq(qlt(x, y), y, x))
}

/// Unsigned minimum.
#[inline(always)]
pub fn umin<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, selectq(qult(x, y), x, y))
}

/// Unsigned maximum.
#[inline(always)]
pub fn umax<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::Q {
    expr!(a, selectq(qult(x, y), y, x))
}

/// x << (n & 63)
#[inline(always)]
pub fn shl<A: Algebra>(a: &mut A, x: A::Q, n: A::W) -> A::Q {
    expr!(a, qshl(x, and(n, 63)))
}

/// Logical x >> (n & 63)
#[inline(always)]
pub fn shr<A: Algebra>(a: &mut A, x: A::Q, n: A::W) -> A::Q {
    expr!(a, qshr(x, and(n, 63)))
}

/// Arithmetic x >> (n & 63)
#[inline(always)]
pub fn sar<A: Algebra>(a: &mut A, x: A::Q, n: A::W) -> A::Q {
    expr!(a, qsar(x, and(n, 63)))
}

/// x = y
#[inline(always)]
pub fn eq<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(qeq(x, y)))
}

/// x ≠ y
#[inline(always)]
pub fn ne<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(negate(qeq(x, y))))
}

/// Signed x < y
#[inline(always)]
pub fn ilt<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(qlt(x, y)))
}

/// Signed x ≥ y
#[inline(always)]
pub fn ige<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(negate(qlt(x, y))))
}

/// Unsigned x < y
#[inline(always)]
pub fn ult<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(qult(x, y)))
}

/// Unsigned x ≥ y
#[inline(always)]
pub fn uge<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> A::W {
    expr!(a, mask(negate(qult(x, y))))
}
