//! Rounding to integral floats. The sign of zero is kept, NaN and ∞ stay (amd-il-alu 3.5).

use super::expr::expr;
use super::float;
use crate::isa::Algebra;

/// Towards −∞.
#[inline(always)]
pub fn floor<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.ffloor(x)
}

/// Towards +∞.
#[inline(always)]
pub fn ceil<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.fceil(x)
}

/// Towards zero.
#[inline(always)]
pub fn trunc<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.ftrunc(x)
}

/// To nearest, ties to even.
#[inline(always)]
pub fn nearest<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.fnearest(x)
}

/// floor(x + 0.5), the sum rounded (`rnd`).
#[inline(always)]
pub fn rnd<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let half = a.word(0x3F00_0000);
    let sum = float::add(a, x, half);
    a.ffloor(sum)
}

/// x − floor(x), below 1.0; NaN for ±∞.
#[inline(always)]
pub fn frc<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let floor = a.ffloor(x);
    let fraction = float::sub(a, x, floor);
    expr!(a, select(fle(0x3F80_0000, fraction), 0x3F7F_FFFF, fraction))
}
