//! Moves and bit operations.

use crate::isa::Algebra;

/// A bit copy.
pub fn mov<A: Algebra>(_: &mut A, x: A::W) -> A::W {
    x
}
