//! Fused multiply-add of doubles by sums and products that are each rounded, for devices whose `Fma` rounds twice.
//!
//! The factors' significands are multiplied to a sum of two doubles, that is added to the addend, and what is left of each
//! rounding is kept, so that the last one can be set right where it fell on a middle. Exponents are taken off before and put on
//! behind.

use crate::isa::Algebra;
use crate::isa::lane::expr::expr;

/// Exponents by which an addend may be above or below a product: beyond, either is only known not to be zero.
const ABOVE: u32 = 200;
const BELOW: u32 = 140;
/// The least biased exponent of a product from which on results are denormals only if they are exact: they have no bits
/// below 2^-192 of it.
const FAR: u32 = 400;

/// a · b + c rounded once. NaNs are not canonical.
pub(super) fn fma_double<A: Algebra>(a: &mut A, x: A::Q, y: A::Q, z: A::Q) -> A::Q {
    let ((mx, ex), (my, ey)) = (significand(a, x), significand(a, y));
    let field = expr!(a, and(shr(hi(z), 20), 0x7FF));
    let product_exponent = expr!(a, isub(iadd(ex, ey), 1023));
    let distance = a.isub(field, product_exponent);
    // Beyond these the addend is the result, or only its sign counts.
    let (above, below) =
        (expr!(a, ilt({ a.word(ABOVE) }, distance)), expr!(a, ilt(distance, isub(0, { a.word(BELOW) }))));
    let least = expr!(a, isub(0, { a.word(ABOVE) }));
    let most = a.word(2046 + BELOW);
    let exponent = expr!(a, imin(imax(product_exponent, least), most));

    // By two factors each, since one would be no number at the ends of the range.
    let scale = expr!(a, isub(exponent, 1023));
    let first = expr!(a, sar(scale, 1));
    let second = a.isub(scale, first);
    let up = [first, second].map(|n| power(a, n));
    let down = [first, second].map(|n| {
        let back = expr!(a, isub(0, n));
        power(a, back)
    });
    let addend = expr!(a, dmul_raw(dmul_raw(z, { down[0] }), { down[1] }));
    let trace = expr!(a, pack(0, or(and(hi(z), 0x8000_0000), { a.word((1023 - BELOW) << 20) })));
    let addend = a.dselect(below, trace, addend);

    let (product, rest) = exact_product(a, mx, my);
    let (sum, error) = exact_sum(a, product, addend);
    let (tail, lost) = exact_sum(a, error, rest);
    let near = a.dadd_raw(sum, tail);

    // Denormals end at a fixed place: there a number is added first whose last bit is theirs.
    let high = expr!(a, shl(isub(1024, imin(exponent, { a.word(FAR) })), 20));
    let normal = expr!(a, pack(0, high));
    let negative = expr!(a, pack(0, or(high, 0x8000_0000)));
    let none = a.quad(0);
    let denormal = expr!(a, both(dlt(near, normal), dlt(negative, near)));
    let end = expr!(a, dselect(dlt(near, none), negative, normal));
    let end = a.dselect(denormal, end, none);
    let high = a.dadd_raw(end, sum);
    let low = expr!(a, dsub_raw(sum, dsub_raw(high, end)));
    let (tail, more) = exact_sum(a, low, tail);
    let lost = a.dadd_raw(lost, more);
    let rounded = rounded_sum(a, high, tail, lost);
    let result = a.dsub_raw(rounded, end);
    // What was rounded to zero keeps its sign; of an exact zero `near` is +0.
    let zero = a.deq(result, none);
    let signed_zero = a.dmul_raw(near, none);
    let result = expr!(a, dmul_raw(dmul_raw(result, { up[0] }), { up[1] }));
    let result = a.dselect(zero, signed_zero, result);

    // A zero product leaves the addend, or the sum of two zeros; a zero addend the product; infinities and NaNs need no single
    // rounding.
    let native_product = a.dmul_raw(x, y);
    let native = a.dadd_raw(native_product, z);
    let z_zero = a.is_dzero(z);
    let z_special = is_special(a, z);
    let z_alone = a.either(above, z_special);
    let (x_special, y_special) = (is_special(a, x), is_special(a, y));
    let by_factors = expr!(a, either(either(is_dzero(x), is_dzero(y)), either(x_special, y_special)));
    let other = a.dselect(z_zero, native_product, z);
    let other = a.dselect(by_factors, native, other);
    let simple = expr!(a, either(by_factors, either(z_zero, z_alone)));
    a.dselect(simple, other, result)
}

/// 2^n
fn power<A: Algebra>(a: &mut A, n: A::W) -> A::Q {
    expr!(a, pack(0, shl(iadd(n, 1023), 20)))
}

/// x with the exponent of numbers from 1 to 2, and its own, biased, as if there were no denormals. Of zeros, infinities and NaNs
/// some number.
fn significand<A: Algebra>(a: &mut A, x: A::Q) -> (A::Q, A::W) {
    let lifted = expr!(a, dmul_raw(x, { a.quad((1f64 * (1u64 << 54) as f64).to_bits()) }));
    let denormal = expr!(a, ult(and(hi(x), 0x7FFF_FFFF), 0x0010_0000));
    let x = a.dselect(denormal, lifted, x);
    let (low, high) = (a.lo(x), a.hi(x));
    let field = expr!(a, and(shr(high, 20), 0x7FF));
    let exponent = expr!(a, isub(field, select(denormal, 54, 0)));
    (expr!(a, pack(low, or(and(high, 0x800F_FFFF), 0x3FF0_0000))), exponent)
}

/// The product of two numbers from 1 to 2 as a sum: rounded, and what is left.
fn exact_product<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> (A::Q, A::Q) {
    let (x_high, x_low) = halves(a, x);
    let (y_high, y_low) = halves(a, y);
    let product = a.dmul_raw(x, y);
    let rest = expr!(a, dsub_raw(dmul_raw(x_high, y_high), product));
    let rest = expr!(a, dadd_raw(rest, dmul_raw(x_high, y_low)));
    let rest = expr!(a, dadd_raw(rest, dmul_raw(x_low, y_high)));
    (product, expr!(a, dadd_raw(rest, dmul_raw(x_low, y_low))))
}

/// A number from 1 to 2 as a sum of two of 26 bits: to this one's last bit it is rounded by adding it.
fn halves<A: Algebra>(a: &mut A, x: A::Q) -> (A::Q, A::Q) {
    let round = a.quad((1.5 * (1u64 << 27) as f64).to_bits());
    let high = expr!(a, dsub_raw(dadd_raw(x, round), round));
    (high, a.dsub_raw(x, high))
}

/// The sum, rounded, and what is left of it.
fn exact_sum<A: Algebra>(a: &mut A, x: A::Q, y: A::Q) -> (A::Q, A::Q) {
    let sum = a.dadd_raw(x, y);
    let added = a.dsub_raw(sum, x);
    let left = expr!(a, dsub_raw(x, dsub_raw(sum, added)));
    (sum, expr!(a, dadd_raw(left, dsub_raw(y, added))))
}

/// x + y + z rounded once: y is at most two of the last bits of x, or x 0, or the sum of both exact; z less than half of the last
/// bit of y.
fn rounded_sum<A: Algebra>(a: &mut A, x: A::Q, y: A::Q, z: A::Q) -> A::Q {
    let sum = a.dadd_raw(x, y);
    let left = expr!(a, dsub_raw(y, dsub_raw(sum, x)));
    // On a middle the neighbour is as far, and z decides.
    let twice = a.dadd_raw(left, left);
    let neighbour = a.dadd_raw(sum, twice);
    let middle = expr!(a, deq(dsub_raw(neighbour, sum), twice));
    let none = a.quad(0);
    let same_side = expr!(a, dlt(none, dmul_raw(left, z)));
    let beyond = a.both(middle, same_side);
    a.dselect(beyond, neighbour, sum)
}

/// Infinity or NaN.
fn is_special<A: Algebra>(a: &mut A, x: A::Q) -> A::B {
    let (high, mask) = (a.hi(x), a.word(0x7FF0_0000));
    let exponent = a.and(high, mask);
    a.ieq(exponent, mask)
}

#[cfg(test)]
mod tests {
    use super::fma_double;
    use crate::isa::Scalar;

    /// The machine's fma is the reference.
    fn check(x: u64, y: u64, z: u64) {
        let found = fma_double(&mut Scalar, x, y, z);
        let expected = f64::from_bits(x).mul_add(f64::from_bits(y), f64::from_bits(z));
        let same = found == expected.to_bits() || (expected.is_nan() && f64::from_bits(found).is_nan());
        assert!(same, "{x:016x} · {y:016x} + {z:016x}: {found:016x}, not {:016x}", expected.to_bits());
    }

    #[test]
    fn as_the_machine_does() {
        let odd = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            1e-300,
            -1e300,
        ];
        for x in odd {
            for y in odd {
                for z in odd {
                    check(x.to_bits(), y.to_bits(), z.to_bits());
                }
            }
        }
        let mut state = 0x1234_5678_9ABC_DEF0u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for round in 0..800_000 {
            let (x, y) = (next(), next());
            // Near cancellation, far apart, near the ends of the range, and anything.
            let near =
                |bits: u64, centre: u64, spread: u64| bits & !(0x7FF << 52) | (centre + bits % spread) << 52;
            let (x, y, z) = match round % 8 {
                0 => (near(x, 1000, 40), near(y, 1000, 40), near(next(), 980, 100)),
                1 => {
                    let (x, y) = (near(x, 1020, 6), near(y, 1020, 6));
                    let product = f64::from_bits(x) * f64::from_bits(y);
                    (x, y, (-product).to_bits() ^ (next() % 4))
                }
                2 => (near(x, 1, 520), near(y, 1, 520), near(next(), 0, 60)),
                // Denormal results, exact and not, of products like the addend, and products that overflow.
                3 => (near(x, 480, 60), near(y, 480, 60), near(next(), 0, 60)),
                4 => {
                    let (x, y) = (near(x, 500, 20), near(y, 505, 20));
                    let product = f64::from_bits(x) * f64::from_bits(y);
                    (x, y, (-product).to_bits() ^ (next() % 4))
                }
                5 => (near(x, 1500, 60), near(y, 1500, 60), near(next(), 1990, 56)),
                6 => (near(x, 0, 2), near(y, 1500, 547), near(next(), 400, 700)),
                _ => (x, y, next()),
            };
            check(x, y, z);
        }
    }
}
