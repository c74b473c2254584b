//! Media instructions: bytes packed into words (amd-il-alu 6).

use super::expr::expr;
use crate::isa::Algebra;

/// Per byte (x + y + (z & 1)) >> 1.
#[inline(always)]
pub fn u4lerp<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let both = a.and(x, y);
    let odd = a.xor(x, y);
    let half = expr!(a, shr(and(odd, 0xFEFE_FEFE), 1));
    // A byte holds at most 254 + 1 before this, so nothing carries into its neighbour.
    let round = expr!(a, and(and(odd, z), 0x0101_0101));
    expr!(a, iadd(iadd(both, half), round))
}

/// |x − y| of byte `i`.
#[inline(always)]
fn byte_difference<A: Algebra>(a: &mut A, x: A::W, y: A::W, i: u32) -> A::W {
    let x = expr!(a, and(shr(x, word({ 8 * i })), 0xFF));
    let y = expr!(a, and(shr(y, word({ 8 * i })), 0xFF));
    expr!(a, select(ult(x, y), isub(y, x), isub(x, y)))
}

/// Σ |x_i − y_i| over the four bytes.
#[inline(always)]
fn differences<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let mut sum = byte_difference(a, x, y, 0);
    for i in 1..4 {
        let d = byte_difference(a, x, y, i);
        sum = a.iadd(sum, d);
    }
    sum
}

/// The same over the bytes where y is not 0.
#[inline(always)]
fn masked_differences<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    let mut sum = a.word(0);
    for i in 0..4 {
        let d = byte_difference(a, x, y, i);
        let off = expr!(a, ieq(and(y, word({ 0xFF << (8 * i) })), 0));
        let d = expr!(a, select(off, 0, d));
        sum = a.iadd(sum, d);
    }
    sum
}

/// z + Σ |x_i − y_i|
#[inline(always)]
pub fn sad<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let sum = differences(a, x, y);
    a.iadd(sum, z)
}

/// z + |x − y|, unsigned
#[inline(always)]
pub fn sad_u32<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    expr!(a, iadd(select(ult(x, y), isub(y, x), isub(x, y)), z))
}

/// z + Σ |x_i − y_i| over the two halves
#[inline(always)]
pub fn sad_u16<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let (low_x, low_y) = (expr!(a, and(x, 0xFFFF)), expr!(a, and(y, 0xFFFF)));
    let (high_x, high_y) = (expr!(a, shr(x, 16)), expr!(a, shr(y, 16)));
    let sum = sad_u32(a, low_x, low_y, z);
    sad_u32(a, high_x, high_y, sum)
}

/// z + (Σ |x_i − y_i| << 16)
#[inline(always)]
pub fn sadhi<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let sum = differences(a, x, y);
    expr!(a, iadd(shl(sum, 16), z))
}

/// z + Σ |x_i − y_i| where y_i ≠ 0
#[inline(always)]
pub fn msad<A: Algebra>(a: &mut A, x: A::W, y: A::W, z: A::W) -> A::W {
    let sum = masked_differences(a, x, y);
    a.iadd(sum, z)
}

/// Four sums of `f` between bytes i to i+3 of x and those of y, each added to 16-bit lane i of z.
#[inline(always)]
fn windows<A: Algebra>(a: &mut A, x: A::Q, y: A::W, z: A::Q, f: fn(&mut A, A::W, A::W) -> A::W) -> A::Q {
    let (lo, hi) = (a.lo(x), a.hi(x));
    let mut out = [a.lo(z), a.hi(z)];
    for i in 0..4 {
        let window = expr!(a, word({ 8 * i }));
        let window = super::bits::bitalign(a, hi, lo, window);
        let sum = f(a, window, y);
        let word = &mut out[i as usize / 2];
        let old = *word;
        *word = if i % 2 == 0 {
            expr!(a, or(and(old, 0xFFFF_0000), and(iadd(old, sum), 0xFFFF)))
        } else {
            expr!(a, iadd(old, shl(sum, 16)))
        };
    }
    a.pack(out[0], out[1])
}

/// Four sliding-window sums of absolute differences, accumulated into 16-bit lanes that wrap.
#[inline(always)]
pub fn qsad<A: Algebra>(a: &mut A, x: A::Q, y: A::W, z: A::Q) -> A::Q {
    windows(a, x, y, z, differences)
}

/// The same, counting only bytes where y is not 0.
#[inline(always)]
pub fn mqsad<A: Algebra>(a: &mut A, x: A::Q, y: A::W, z: A::Q) -> A::Q {
    windows(a, x, y, z, masked_differences)
}
