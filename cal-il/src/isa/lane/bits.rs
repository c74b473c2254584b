//! Moves, selection and bit operations.

use super::expr::expr;
use crate::isa::Algebra;

/// A bit copy.
#[inline(always)]
pub fn mov<A: Algebra>(_: &mut A, x: A::W) -> A::W {
    x
}

/// `c ≠ 0 ? x : y`, bit for bit (`cmov_logical`).
#[inline(always)]
pub fn select<A: Algebra>(a: &mut A, c: A::W, x: A::W, y: A::W) -> A::W {
    expr!(a, select(ieq(c, 0), y, x))
}

/// `c ≠ 0.0 as a float ? x : y` (`cmov`); true for NaN.
#[inline(always)]
pub fn cmov<A: Algebra>(a: &mut A, c: A::W, x: A::W, y: A::W) -> A::W {
    expr!(a, select(is_zero(c), y, x))
}

/// Flips bit 31.
#[inline(always)]
pub fn neg<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    expr!(a, xor(x, 0x8000_0000))
}

/// Clears bit 31.
#[inline(always)]
pub fn abs<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    expr!(a, and(x, 0x7FFF_FFFF))
}

/// Bitwise complement.
#[inline(always)]
pub fn not<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.not(x)
}

/// Bitwise and.
#[inline(always)]
pub fn and<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.and(x, y)
}

/// Bitwise or.
#[inline(always)]
pub fn or<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.or(x, y)
}

/// Bitwise exclusive or.
#[inline(always)]
pub fn xor<A: Algebra>(a: &mut A, x: A::W, y: A::W) -> A::W {
    a.xor(x, y)
}

/// x << (n & 31)
#[inline(always)]
pub fn shl<A: Algebra>(a: &mut A, x: A::W, n: A::W) -> A::W {
    expr!(a, shl(x, and(n, 31)))
}

/// Logical x >> (n & 31)
#[inline(always)]
pub fn shr<A: Algebra>(a: &mut A, x: A::W, n: A::W) -> A::W {
    expr!(a, shr(x, and(n, 31)))
}

/// Arithmetic x >> (n & 31)
#[inline(always)]
pub fn sar<A: Algebra>(a: &mut A, x: A::W, n: A::W) -> A::W {
    expr!(a, sar(x, and(n, 31)))
}

/// Number of set bits (`icbits`).
#[inline(always)]
pub fn popcount<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.popcount(x)
}

/// Bits in reverse order.
#[inline(always)]
pub fn reverse<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    a.reverse(x)
}

/// Number of set bits, for those who have no instruction for it: sums of neighbouring fields.
#[inline(always)]
pub fn sum_of_bits<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let pairs = expr!(a, isub(x, and(shr(x, 1), 0x5555_5555)));
    let fours = expr!(a, iadd(and(pairs, 0x3333_3333), and(shr(pairs, 2), 0x3333_3333)));
    let bytes = expr!(a, and(iadd(fours, shr(fours, 4)), 0x0F0F_0F0F));
    expr!(a, shr(imul(bytes, 0x0101_0101), 24))
}

/// Bits in reverse order, for those who have no instruction for it: neighbouring fields change places.
#[inline(always)]
pub fn swapped_fields<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let mut x = x;
    for (places, low) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0F0F_0F0F), (8, 0x00FF_00FF)] {
        x = expr!(
            a,
            or(shl(and(x, word({ low })), word({ places })), and(shr(x, word({ places })), word({ low })))
        );
    }
    expr!(a, or(shl(x, 16), shr(x, 16)))
}

/// Zero bits above the highest set bit; all ones for 0.
#[inline(always)]
pub fn ffb_hi<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    expr!(a, select(ieq(x, 0), 0xFFFF_FFFF, clz(x)))
}

/// Index of the lowest set bit; all ones for 0.
#[inline(always)]
pub fn ffb_lo<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let lowest = expr!(a, and(x, isub(0, x)));
    expr!(a, isub(31, clz(lowest)))
}

/// Position from the top of the first bit that differs from the sign; all ones for 0 and −1.
#[inline(always)]
pub fn ffb_shi<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let folded = expr!(a, xor(x, sar(x, 31)));
    ffb_hi(a, folded)
}

/// Zero-extended field of `width & 31` bits at `offset & 31`; 0 if the width is 0.
#[inline(always)]
pub fn ubit_extract<A: Algebra>(a: &mut A, width: A::W, offset: A::W, x: A::W) -> A::W {
    let down = expr!(a, shr(x, and(offset, 31)));
    let mask = expr!(a, isub(shl(1, and(width, 31)), 1));
    a.and(down, mask)
}

/// Sign-extended field of `width & 31` bits at `offset & 31`; 0 if the width is 0. A field that passes bit 31
/// is the arithmetic shift.
#[inline(always)]
pub fn ibit_extract<A: Algebra>(a: &mut A, width: A::W, offset: A::W, x: A::W) -> A::W {
    let w = expr!(a, and(width, 31));
    let o = expr!(a, and(offset, 31));
    let down = a.sar(x, o);
    let top = expr!(a, and(isub(32, w), 31));
    let field = expr!(a, sar(shl(down, top), top));
    // With w + o ≥ 32 the shift by `top` would drop sign copies only, so `field` is `down` there too.
    expr!(a, select(ieq(w, 0), 0, field))
}

/// The field of `base` becomes the low bits of `insert`.
#[inline(always)]
pub fn ubit_insert<A: Algebra>(a: &mut A, width: A::W, offset: A::W, insert: A::W, base: A::W) -> A::W {
    let mask = bfm(a, width, offset);
    let moved = shl(a, insert, offset);
    bfi(a, mask, moved, base)
}

/// (mask & x) | (!mask & y)
#[inline(always)]
pub fn bfi<A: Algebra>(a: &mut A, mask: A::W, x: A::W, y: A::W) -> A::W {
    expr!(a, or(and(mask, x), and(not(mask), y)))
}

/// `width & 31` ones at `offset & 31`.
#[inline(always)]
pub fn bfm<A: Algebra>(a: &mut A, width: A::W, offset: A::W) -> A::W {
    expr!(a, shl(isub(shl(1, and(width, 31)), 1), and(offset, 31)))
}

/// Low word of hi:lo >> (n & 31)
#[inline(always)]
pub fn bitalign<A: Algebra>(a: &mut A, hi: A::W, lo: A::W, n: A::W) -> A::W {
    let n = expr!(a, and(n, 31));
    // hi << (32 − n) in two steps, as 32 is no legal count.
    expr!(a, or(shr(lo, n), shl(shl(hi, 1), xor(n, 31))))
}

/// Low word of hi:lo >> 8 (n & 3)
#[inline(always)]
pub fn bytealign<A: Algebra>(a: &mut A, hi: A::W, lo: A::W, n: A::W) -> A::W {
    let bits = expr!(a, shl(and(n, 3), 3));
    bitalign(a, hi, lo, bits)
}

#[cfg(test)]
mod tests {
    use super::{sum_of_bits, swapped_fields};
    use crate::isa::Scalar;

    #[test]
    fn bits_are_counted_and_reversed() {
        let mut word = 1u32;
        let words = (0..32).map(|k| 1 << k).chain([0, u32::MAX]);
        let random = std::iter::from_fn(|| {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some(word)
        });
        for x in words.chain(random.take(10_000)) {
            assert_eq!(sum_of_bits(&mut Scalar, x), x.count_ones(), "{x:x}");
            assert_eq!(swapped_fields(&mut Scalar, x), x.reverse_bits(), "{x:x}");
        }
    }
}
