//! Single precision arithmetic: round to nearest even, denormals flushed.

use crate::isa::Algebra;

/// Denormals to zero.
pub fn flush<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.flush(x)
}

/// NaNs to 0x7FC00000.
pub fn canon<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.canonical(x)
}

/// x + y
pub fn add<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let sum = a.fadd_raw(x, y);
    a.flush(sum)
}

/// x · y by IEEE rules: 0 · ∞ is NaN.
pub fn mul_ieee<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let product = a.fmul_raw(x, y);
    a.flush(product)
}
