//! Single precision arithmetic: round to nearest even, denormals flushed.

use super::expr::expr;
use crate::isa::Algebra;

/// Denormals to zero.
#[inline(always)]
pub fn flush<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.flush(x)
}

/// NaNs to 0x7FC00000.
#[inline(always)]
pub fn canon<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.canonical(x)
}

/// x + y
#[inline(always)]
pub fn add<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, flush(fadd_raw(x, y)))
}

/// x − y
#[inline(always)]
pub fn sub<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, flush(fadd_raw(x, xor(y, 0x8000_0000))))
}

/// x · y by IEEE rules: 0 · ∞ is NaN.
#[inline(always)]
pub fn mul_ieee<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, flush(fmul_raw(x, y)))
}

/// x · y, but +0.0 if either is zero, whatever the other is (amd-il-alu 2.1).
#[inline(always)]
pub fn mul<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.product(x, y)
}

/// The product of [`mul`] by words.
#[inline(always)]
pub(crate) fn product<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let either = expr!(a, either(is_zero(x), is_zero(y)));
    expr!(a, select(either, 0, flush(fmul_raw(x, y))))
}

/// x · y + z, rounded twice.
#[inline(always)]
pub fn mad_ieee<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let product = mul_ieee(a, x, y);
    add(a, product, z)
}

/// x · y + z, rounded twice, with the product of [`mul`].
#[inline(always)]
pub fn mad<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let product = mul(a, x, y);
    add(a, product, z)
}

/// x + y, not flushed.
#[inline(always)]
pub fn bare_add<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.fadd_raw(x, y)
}

/// x − y, not flushed.
#[inline(always)]
pub fn bare_sub<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, fadd_raw(x, xor(y, 0x8000_0000)))
}

/// x · y by IEEE rules, not flushed.
#[inline(always)]
pub fn bare_mul<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.fmul_raw(x, y)
}

/// x · y + z rounded once, by IEEE rules, not flushed.
#[inline(always)]
pub fn bare_fma<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    a.ffma_raw(x, y, z)
}

/// x · (y − z) + z, each step rounded.
#[inline(always)]
pub fn lrp<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let difference = sub(a, y, z);
    mad(a, x, difference, z)
}

/// `x ≥ y ? x : y`, so y if either is NaN.
#[inline(always)]
pub fn max<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, select(fle(y, x), x, y))
}

/// `x < y ? x : y`, so y if either is NaN.
#[inline(always)]
pub fn min<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, select(flt(x, y), x, y))
}

/// The larger; if exactly one is NaN, the other.
#[inline(always)]
pub fn max_ieee<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, select(either(fle(y, x), is_nan(y)), x, y))
}

/// The smaller; if exactly one is NaN, the other.
#[inline(always)]
pub fn min_ieee<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    expr!(a, select(either(flt(x, y), is_nan(y)), x, y))
}

/// Smallest of three by [`min_ieee`].
#[inline(always)]
pub fn min3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let m = min_ieee(a, x, y);
    min_ieee(a, m, z)
}

/// Largest of three by [`max_ieee`].
#[inline(always)]
pub fn max3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let m = max_ieee(a, x, y);
    max_ieee(a, m, z)
}

/// Median of three; if any is NaN, their [`min3`].
#[inline(always)]
pub fn med3<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let low = min_ieee(a, x, y);
    let high = max_ieee(a, x, y);
    let capped = min_ieee(a, high, z);
    let median = max_ieee(a, low, capped);
    let smallest = min_ieee(a, low, z);
    let nan = expr!(a, either(either(is_nan(x), is_nan(y)), is_nan(z)));
    a.select(nan, smallest, median)
}

/// min(max(x, low), high)
#[inline(always)]
pub fn clamp<A: Algebra>(a: &mut A, x: A::W, low: A::W, high: A::W) -> A::W {
    let raised = max(a, x, low);
    min(a, raised, high)
}

/// Clamps to [0, 1]; NaN and −0 become +0.
#[inline(always)]
pub fn saturate<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let capped = expr!(a, select(flt(x, 0x3F80_0000), x, 0x3F80_0000));
    expr!(a, select(flt(0, x), capped, 0))
}

/// 1.0 if x > 0, 0.0 if x = 0, else −1.0, for NaN too.
#[inline(always)]
pub fn sgn<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let not_positive = expr!(a, select(is_zero(x), 0, 0xBF80_0000));
    expr!(a, select(flt(0, x), 0x3F80_0000, not_positive))
}

/// x · y + z rounded once.
#[inline(always)]
pub fn fma<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    a.fma(x, y, z)
}
