//! Floats where a device's own operations are not enough: comparisons by words, and products and conversions that round up to
//! the smallest normal number.

use rspirv::spirv::{Capability, Op, Word};

use super::forms::Quad;
use super::{Emitter, Mode};
use crate::isa::Algebra;

impl Emitter<'_> {
    /// A comparison of floats. Some drivers take a mask, which is no number, for one.
    pub(super) fn float_compare(&mut self, op: Op, a: Word, b: Word) -> Word {
        let constant = |e: &Self, word| e.w.bits.get(&word).map(|_| false);
        let words = self.opaque_arguments(&[a, b], constant, Self::opaque);
        let (a, b) = (self.as_float(words[0]), self.as_float(words[1]));
        self.truth_op(op, &[a, b])
    }

    /// A word that orders floats as signed integers (NaN excluded, −0 just below +0).
    pub(super) fn float_key(&mut self, a: Word) -> Word {
        let (n31, low) = (self.word(31), self.word(0x7FFF_FFFF));
        let sign = self.sar(a, n31);
        let flip = self.and(sign, low);
        self.xor(a, flip)
    }

    /// Neither is NaN.
    pub(super) fn ordered(&mut self, a: Word, b: Word) -> Word {
        let (a, b) = (self.is_nan(a), self.is_nan(b));
        let any = self.either(a, b);
        self.negate(any)
    }

    /// The product is a zero or far from denormals: of a whole number and a constant.
    pub(super) fn never_tiny(&self, a: Word, b: Word) -> bool {
        let large = |word: &Word| self.w.bits.get(word).is_some_and(|bits| bits >> 23 & 0xFF > 64);
        self.integral.contains(a) && large(&b) || self.integral.contains(b) && large(&a)
    }

    /// Both are zeros.
    pub(super) fn both_zero(&mut self, a: Word, b: Word) -> Word {
        let one = self.word(1);
        let zero = self.word(0);
        let any = self.or(a, b);
        let shifted = self.shl(any, one);
        self.ieq(shifted, zero)
    }

    /// Whether comparisons may be the device's: native mode, arguments known to be flushed, or a device that
    /// keeps denormals.
    pub(super) fn native_compare(&self) -> bool {
        self.target.mode == Mode::Native || self.flushed_arguments || self.target.gradual32
    }

    /// They are equal, on a device that may take denormals for zeros.
    pub(super) fn equal_words(&mut self, a: Word, b: Word) -> Word {
        let (same, zero, ordered) = (self.ieq(a, b), self.both_zero(a, b), self.ordered(a, b));
        let equal = self.either(same, zero);
        self.both(equal, ordered)
    }

    /// The first is less.
    pub(super) fn less(&mut self, a: Word, b: Word) -> Word {
        if self.target.mode == Mode::Faithful && self.w.bits.get(&a) == Some(&0) {
            // b > 0: a positive integer up to infinity. Some drivers recognise sign functions and lose −0.
            let (zero, nan) = (self.word(0), self.word(0x7F80_0001));
            let (positive, number) = (self.ilt(zero, b), self.ilt(b, nan));
            return self.both(positive, number);
        }
        if self.native_compare() {
            return self.float_compare(Op::FOrdLessThan, a, b);
        }
        self.less_words(a, b)
    }

    /// The same on a device that may take denormals for zeros.
    pub(super) fn less_words(&mut self, a: Word, b: Word) -> Word {
        let (ka, kb) = (self.float_key(a), self.float_key(b));
        let (less, zero, ordered) = (self.ilt(ka, kb), self.both_zero(a, b), self.ordered(a, b));
        let differ = self.negate(zero);
        let less = self.both(less, differ);
        self.both(less, ordered)
    }

    /// It is at most the second, on such a device.
    pub(super) fn at_most_words(&mut self, a: Word, b: Word) -> Word {
        let (ka, kb) = (self.float_key(a), self.float_key(b));
        let (more, zero, ordered) = (self.ilt(kb, ka), self.both_zero(a, b), self.ordered(a, b));
        let at_most = self.negate(more);
        let at_most = self.either(at_most, zero);
        self.both(at_most, ordered)
    }

    /// The product of a and b, on such a device.
    pub(super) fn rounded_up(&mut self, a: Word, b: Word, product: Word) -> Word {
        // A device that flushes may find the product tiny before rounding it up to the smallest normal number.
        // That is so if the biased exponents sum to 127 and the significand product P, 48 bits, is at least
        // 2^47 − 2^23 and below 2^47. T = P >> 16.
        let (c8, c23, byte, top) = (self.word(8), self.word(23), self.word(0xFF), self.word(0x8000_0000));
        let mut exponents = [a, a];
        let mut significands = [a, a];
        for (k, x) in [a, b].into_iter().enumerate() {
            let shifted = self.shr(x, c23);
            exponents[k] = self.and(shifted, byte);
            let left = self.shl(x, c8);
            significands[k] = self.or(left, top);
        }
        let sum = self.iadd(exponents[0], exponents[1]);
        let t = self.umulhi(significands[0], significands[1]);
        let (c127, middle, range) = (self.word(127), self.word(0x7FFF_FF80), self.word(0x80));
        let at127 = self.ieq(sum, c127);
        let offset = self.isub(t, middle);
        let near_half = self.ult(offset, range);
        let corner = self.both(at127, near_half);
        let signs = self.xor(a, b);
        let sign = self.and(signs, top);
        let smallest = self.word(0x0080_0000);
        let smallest = self.or(sign, smallest);
        self.select(corner, smallest, product)
    }

    /// What a double converts to, on such a device.
    pub(super) fn narrowed_up(&mut self, a: Quad, result: Word) -> Word {
        // As for products: from 2^-126 (1 − 2^-24) on the result rounds up to the smallest normal number.
        let (lo, hi) = self.words(a);
        let (magnitude, high, low) = (self.word(0x7FFF_FFFF), self.word(0x380F_FFFF), self.word(0xDFFF_FFFF));
        let top = self.and(hi, magnitude);
        let (same, above) = (self.ieq(top, high), self.ult(low, lo));
        let corner = self.both(same, above);
        let sign = self.word(0x8000_0000);
        let sign = self.and(hi, sign);
        let smallest = self.word(0x0080_0000);
        let smallest = self.or(sign, smallest);
        self.select(corner, smallest, result)
    }

    /// A coordinate that keeps its sign on such a device: the least number in place of a denormal.
    pub(super) fn raised(&mut self, coord: Word) -> Word {
        let (magnitude, least, sign) =
            (self.word(0x7FFF_FFFF), self.word(0x0080_0000), self.word(0x8000_0000));
        let (size, zero) = (self.and(coord, magnitude), self.word(0));
        let tiny = self.ult(size, least);
        let some = self.ult(zero, size);
        let tiny = self.both(tiny, some);
        let sign = self.and(coord, sign);
        let raised = self.or(sign, least);
        self.select(tiny, raised, coord)
    }

    /// The flushed product of two flushed floats; +0.0 if one is a zero. Processors compare floats under the mask of another
    /// comparison, and put zeros where it says so by the same instruction.
    pub(super) fn flushed_product(&mut self, a: Word, b: Word) -> Word {
        if self.target.skips {
            return crate::isa::lane::float::product(self, a, b);
        }
        let product = self.fmul_raw(a, b);
        let product = self.flushed(product);
        let zero = self.word(0);
        let numbers = [a, b].map(|factor| self.float_compare(Op::FUnordNotEqual, factor, zero));
        let (both, zero) = (self.both(numbers[0], numbers[1]), self.hidden_zero());
        let word = self.select(both, product, zero);
        self.solid.insert(word);
        word
    }

    /// The word, with zeros for denormals.
    pub(super) fn flushed(&mut self, a: Word) -> Word {
        if self.target.mode == Mode::Native {
            return a;
        }
        if let Some(bits) = self.w.bits.get(&a).copied() {
            return if bits & 0x7F80_0000 == 0 { self.word(bits & 0x8000_0000) } else { a };
        }
        let (exponent, zero, sign) = (self.word(0x7F80_0000), self.word(0), self.word(0x8000_0000));
        let exponent = if self.target.mistakes_masks { self.hidden(exponent) } else { exponent };
        let e = self.and(a, exponent);
        let tiny = self.ieq(e, zero);
        let signed_zero = self.and(a, sign);
        let word = self.select(tiny, signed_zero, a);
        self.solid_like(a, word)
    }

    /// The word, with the one quiet NaN for NaNs.
    pub(super) fn quieted(&mut self, a: Word) -> Word {
        if self.target.mode == Mode::Native {
            return a;
        }
        if let Some(bits) = self.w.bits.get(&a).copied() {
            return if bits & 0x7FFF_FFFF > 0x7F80_0000 { self.word(0x7FC0_0000) } else { a };
        }
        let nan = self.is_nan(a);
        let quiet = self.word(0x7FC0_0000);
        let word = self.select(nan, quiet, a);
        self.solid_like(a, word)
    }

    /// An unsigned integer as a float, rounded once.
    pub(super) fn unsigned_to_float(&mut self, a: Word) -> Word {
        // Some drivers round twice; two exact halves and one addition do not.
        let (c16, mask, scale) = (self.word(16), self.word(0xFFFF), self.word(0x4780_0000));
        let (high, low) = (self.shr(a, c16), self.and(a, mask));
        let (high, low) = (self.itof_raw(high), self.itof_raw(low));
        let high = self.float_op(Op::FMul, &[high, scale]);
        self.fadd_raw(high, low)
    }

    /// Float controls of the entry point.
    pub(super) fn float_controls(&mut self, entry: Word) {
        use rspirv::spirv::ExecutionMode as M;
        let t = self.target;
        let (f32s, f64s) = (true, t.float64 && self.uses_double);
        let wanted = [
            (t.nan_preserve32 && f32s, Capability::SignedZeroInfNanPreserve, M::SignedZeroInfNanPreserve, 32),
            (t.nan_preserve64 && f64s, Capability::SignedZeroInfNanPreserve, M::SignedZeroInfNanPreserve, 64),
            (t.rte32 && f32s, Capability::RoundingModeRTE, M::RoundingModeRTE, 32),
            (t.rte64 && f64s, Capability::RoundingModeRTE, M::RoundingModeRTE, 64),
            (t.denorm_preserve32 && f32s, Capability::DenormPreserve, M::DenormPreserve, 32),
            (t.denorm_preserve64 && f64s, Capability::DenormPreserve, M::DenormPreserve, 64),
        ];
        for (present, capability, mode, bits) in wanted {
            if present {
                self.w.capability(capability);
                self.w.execution_mode(entry, mode, &[bits]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    /// Of which exponents the product with full significands, the largest there is, rounds up to the smallest normal number:
    /// those that sum to 127, biased. One less, and it stays a denormal.
    #[test]
    fn products_round_up_to_the_smallest_normal_number_from_one_sum_of_exponents() {
        let full = |exponent: u32| f32::from_bits(exponent << 23 | 0x007F_FFFF);
        for first in 1..126 {
            assert!((full(first) * full(126 - first)).is_subnormal(), "{first}");
        }
        // Significands of 2^24 - 2^0 and 2^23 are the corner: their product is 2^47 - 2^23.
        for first in 1..127 {
            let least = f32::from_bits((127 - first) << 23);
            assert_eq!(full(first) * least, f32::MIN_POSITIVE, "{first}");
            let below = f32::from_bits((first << 23) | 0x007F_FFFE);
            assert!((below * least).is_subnormal(), "{first}");
        }
    }
}
