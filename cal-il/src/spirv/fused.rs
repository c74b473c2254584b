//! Fused multiply-add of doubles in integers, for devices whose `Fma` rounds twice.
//!
//! Both terms become 128-bit integers with the leading bit of the larger one at 124 or above; the smaller is shifted
//! right with its lost bits kept as one sticky bit, which is enough: bits are lost only where no cancellation can
//! bring them back.

use crate::isa::Algebra;
use crate::isa::lane::double::normalise;

/// A 128-bit integer, low half first.
type Wide<A> = (<A as Algebra>::Q, <A as Algebra>::Q);

/// a · b + c rounded once. NaNs are not canonical.
pub(super) fn fma_double<A: Algebra>(a: &mut A, x: A::Q, y: A::Q, z: A::Q) -> A::Q {
    let top = a.quad(1 << 63);
    let (mx, ex) = normalise(a, x);
    let (my, ey) = normalise(a, y);
    let (mz, ez) = normalise(a, z);
    let product_sign = {
        let signs = a.qxor(x, y);
        a.qand(signs, top)
    };
    let z_sign = a.qand(z, top);

    // The product: 105 or 106 bits, its unit 2^104 moved to bit 124.
    let (low, high) = (a.qmul(mx, my), a.qumulhi(mx, my));
    let product = shift_left(a, (low, high), 20);
    let bias = a.word(1023);
    let product_exponent = a.iadd(ex, ey);
    let product_exponent = a.isub(product_exponent, bias);
    // The addend: its unit 2^52 moved to bit 124.
    let eight = a.word(8);
    let none = a.quad(0);
    let z_zero = a.is_dzero(z);
    let shifted = a.qshl(mz, eight);
    let addend_high = a.selectq(z_zero, none, shifted);
    let addend = (none, addend_high);
    let z_exponent = a.select(z_zero, product_exponent, ez);

    let difference = a.isub(product_exponent, z_exponent);
    let zero = a.word(0);
    let smaller_product = a.ilt(difference, zero);
    let back = a.isub(zero, difference);
    let distance = a.select(smaller_product, back, difference);
    let limit = a.word(127);
    let near = a.ult(distance, limit);
    let distance = a.select(near, distance, limit);
    let exponent = a.select(smaller_product, z_exponent, product_exponent);
    let larger = select_wide(a, smaller_product, addend, product);
    let smaller = select_wide(a, smaller_product, product, addend);
    let smaller = shift_right_sticky(a, smaller, distance);
    let larger_sign = a.selectq(smaller_product, z_sign, product_sign);

    let signs = a.qxor(product_sign, z_sign);
    let subtract = {
        let same = a.qeq(signs, none);
        a.negate(same)
    };
    let sum = add_wide(a, larger, smaller);
    let forward = subtract_wide(a, larger, smaller);
    let backward = subtract_wide(a, smaller, larger);
    let negative = a.qlt(forward.1, none);
    let magnitude = select_wide(a, negative, backward, forward);
    let result = select_wide(a, subtract, magnitude, sum);
    let flips = a.both(subtract, negative);
    let flipped = a.qxor(larger_sign, top);
    let sign = a.selectq(flips, flipped, larger_sign);

    // The leading bit goes to 126: to 62 of the high half, with everything below as sticky.
    let (zeros_high, zeros_low) = (a.qclz(result.1), a.qclz(result.0));
    let high_empty = a.qeq(result.1, none);
    let half = a.word(64);
    let deep = a.iadd(zeros_low, half);
    let zeros = a.select(high_empty, deep, zeros_high);
    let one = a.word(1);
    let count = a.isub(zeros, one);
    let last = a.word(127);
    let count = a.and(count, last);
    let moved = shift_left_by(a, result, count);
    let lost = a.qeq(moved.0, none);
    let unit = a.quad(1);
    let sticky = a.selectq(lost, none, unit);
    let significand = a.qor(moved.1, sticky);
    let two = a.word(2);
    let exponent = a.iadd(exponent, two);
    let exponent = a.isub(exponent, count);
    let rounded = a.dround(sign, exponent, significand);
    // Exact cancellation gives +0.
    let nothing = {
        let all = a.qor(result.0, result.1);
        a.qeq(all, none)
    };
    let rounded = a.selectq(nothing, none, rounded);

    // A zero product leaves the addend, or the sum of two zeros; infinities and NaNs need no single rounding.
    let (x_zero, y_zero) = (a.is_dzero(x), a.is_dzero(y));
    let product_zero = a.either(x_zero, y_zero);
    let native_product = a.dmul_raw(x, y);
    let native = a.dadd_raw(native_product, z);
    let (x_special, y_special, z_special) = (is_special(a, x), is_special(a, y), is_special(a, z));
    let factor_special = a.either(x_special, y_special);
    let rounded = a.selectq(z_special, z, rounded);
    let use_native = a.either(product_zero, factor_special);
    a.selectq(use_native, native, rounded)
}

/// Infinity or NaN.
fn is_special<A: Algebra>(a: &mut A, x: A::Q) -> A::B {
    let (high, mask) = (a.hi(x), a.word(0x7FF0_0000));
    let exponent = a.and(high, mask);
    a.ieq(exponent, mask)
}

fn select_wide<A: Algebra>(a: &mut A, c: A::B, x: Wide<A>, y: Wide<A>) -> Wide<A> {
    (a.selectq(c, x.0, y.0), a.selectq(c, x.1, y.1))
}

/// x << n for a constant 0 < n < 64.
fn shift_left<A: Algebra>(a: &mut A, x: Wide<A>, n: u32) -> Wide<A> {
    let (left, right) = (a.word(n), a.word(64 - n));
    let crossing = a.qshr(x.0, right);
    let high = a.qshl(x.1, left);
    (a.qshl(x.0, left), a.qor(high, crossing))
}

/// x << n, n < 128
fn shift_left_by<A: Algebra>(a: &mut A, x: Wide<A>, n: A::W) -> Wide<A> {
    let (c63, c64, one, none) = (a.word(63), a.word(64), a.word(1), a.quad(0));
    let near = a.ult(n, c64);
    let within = a.and(n, c63);
    let back = a.isub(c63, within);
    let half = a.qshr(x.0, one);
    let crossing = a.qshr(half, back);
    let high = a.qshl(x.1, within);
    let high = a.qor(high, crossing);
    let low = a.qshl(x.0, within);
    (a.selectq(near, low, none), a.selectq(near, high, low))
}

/// x >> n, n < 128; the lowest bit also tells whether any set bit was lost.
fn shift_right_sticky<A: Algebra>(a: &mut A, x: Wide<A>, n: A::W) -> Wide<A> {
    let (c63, c64, one, none) = (a.word(63), a.word(64), a.word(1), a.quad(0));
    let near = a.ult(n, c64);
    let within = a.and(n, c63);
    let back = a.isub(c63, within);
    let double = a.qshl(x.1, one);
    let crossing = a.qshl(double, back);
    let low = a.qshr(x.0, within);
    let low = a.qor(low, crossing);
    let high = a.qshr(x.1, within);
    let shifted = (a.selectq(near, low, high), a.selectq(near, high, none));
    let again = shift_left_by(a, shifted, n);
    let (same_low, same_high) = (a.qeq(again.0, x.0), a.qeq(again.1, x.1));
    let same = a.both(same_low, same_high);
    let unit = a.quad(1);
    let sticky = a.selectq(same, none, unit);
    (a.qor(shifted.0, sticky), shifted.1)
}

fn add_wide<A: Algebra>(a: &mut A, x: Wide<A>, y: Wide<A>) -> Wide<A> {
    let low = a.qadd(x.0, y.0);
    let carries = a.qult(low, x.0);
    let (unit, none) = (a.quad(1), a.quad(0));
    let carry = a.selectq(carries, unit, none);
    let high = a.qadd(x.1, y.1);
    (low, a.qadd(high, carry))
}

fn subtract_wide<A: Algebra>(a: &mut A, x: Wide<A>, y: Wide<A>) -> Wide<A> {
    let low = a.qsub(x.0, y.0);
    let borrows = a.qult(x.0, y.0);
    let (unit, none) = (a.quad(1), a.quad(0));
    let borrow = a.selectq(borrows, unit, none);
    let high = a.qsub(x.1, y.1);
    (low, a.qsub(high, borrow))
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
        for round in 0..300_000 {
            let (x, y) = (next(), next());
            // Near cancellation, far apart, near the ends of the range, and anything.
            let near =
                |bits: u64, centre: u64, spread: u64| bits & !(0x7FF << 52) | (centre + bits % spread) << 52;
            let (x, y, z) = match round % 4 {
                0 => (near(x, 1000, 40), near(y, 1000, 40), near(next(), 980, 100)),
                1 => {
                    let (x, y) = (near(x, 1020, 6), near(y, 1020, 6));
                    let product = f64::from_bits(x) * f64::from_bits(y);
                    (x, y, (-product).to_bits() ^ (next() % 4))
                }
                2 => (near(x, 1, 520), near(y, 1, 520), near(next(), 0, 60)),
                _ => (x, y, next()),
            };
            check(x, y, z);
        }
    }
}
