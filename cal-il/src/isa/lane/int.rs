//! 32-bit integer arithmetic.

use crate::isa::Algebra;

/// a + b mod 2^32.
pub fn iadd<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.iadd(x, y)
}
