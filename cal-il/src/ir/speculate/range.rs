//! How small the numbers in a register can be.

/// Exponents that bound the finite numbers in a register from below; of infinities and NaNs nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// A number that is no zero is at least 2^`least`.
    pub least: i32,
    /// All are multiples of 2^`unit`.
    pub unit: i32,
}

/// Beyond all exponents of sums and products.
const FAR: i32 = 1 << 20;
/// Where a bound that keeps falling is given up.
const BOTTOM: i32 = -2048;
/// Bits of a significand behind its first.
const FRACTION: i32 = 23;
/// Exponent of the smallest normal number.
pub(super) const NORMAL: i32 = -126;

impl Range {
    /// No number but zeros.
    pub const ZEROS: Range = Range { least: FAR, unit: FAR };
    /// Any word.
    pub const WORD: Range = Range { least: -149, unit: -149 };
    /// Any number but denormals.
    pub const FLUSHED: Range = Range { least: NORMAL, unit: -149 };
    /// Whole numbers.
    pub const WHOLE: Range = Range { least: 0, unit: 0 };

    /// Numbers of at least 2^`least`.
    pub const fn from(least: i32) -> Range {
        Range { least, unit: least - FRACTION }
    }

    /// Of a constant.
    pub fn of_word(bits: u32) -> Range {
        let (exponent, fraction) = ((bits >> 23 & 0xFF) as i32, bits & 0x007F_FFFF);
        match exponent {
            0 if fraction == 0 => Range::ZEROS,
            0 => Range::WORD,
            0xFF => Range::ZEROS,
            _ => {
                let zeros = (fraction | 0x0080_0000).trailing_zeros() as i32;
                Range { least: exponent - 127, unit: exponent - 127 - FRACTION + zeros }
            }
        }
    }

    /// What is true of both.
    pub fn or(self, other: Range) -> Range {
        Range { least: self.least.min(other.least), unit: self.unit.min(other.unit) }
    }

    /// No denormals are among them.
    pub fn is_normal(self) -> bool {
        self.least >= NORMAL
    }

    /// Without denormals.
    pub fn flushed(self) -> Range {
        Range { least: self.least.max(NORMAL), ..self }
    }

    /// Products rounded as if there were no least exponent.
    pub fn product(self, other: Range) -> Range {
        if self.least >= FAR || other.least >= FAR {
            return Range::ZEROS;
        }
        // Every product is a multiple of the units' product, and, if that is finer than its significand, of its last bit.
        let exact = self.unit + other.unit;
        let least = (self.least + other.least).max(exact);
        Range { least, unit: exact.max(least - FRACTION) }.bounded()
    }

    /// Sums; rounding keeps multiples.
    pub fn sum(self, other: Range) -> Range {
        match (self.least >= FAR, other.least >= FAR) {
            (true, _) => other,
            (_, true) => self,
            _ => {
                let unit = self.unit.min(other.unit);
                Range { least: unit, unit }.bounded()
            }
        }
    }

    fn bounded(self) -> Range {
        Range { least: self.least.max(BOTTOM), unit: self.unit.max(BOTTOM) }
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn constants() {
        assert_eq!(Range::of_word(1.5f32.to_bits()), Range { least: 0, unit: -1 });
        assert_eq!(Range::of_word((-0.0f32).to_bits()), Range::ZEROS);
        assert_eq!(Range::of_word(f32::NAN.to_bits()), Range::ZEROS);
        assert_eq!(Range::of_word(0x007F_FFFF), Range::WORD);
        assert_eq!(Range::of_word(0.1f32.to_bits()), Range { least: -4, unit: -27 });
        assert_eq!(Range::of_word(f32::MIN_POSITIVE.to_bits()), Range { least: -126, unit: -126 });
    }

    /// Sums and products of all pairs of some numbers keep to what is said of them.
    #[test]
    fn bounds_hold() {
        let exponents = [-60, -30, -12, 0, 5];
        let numbers = |least: i32| {
            let scale = 2f64.powi(least) as f32;
            [0.0, 1.0, -1.0, 1.0 + f32::EPSILON, 1.75, -1.999_999_9, 3.0, 1e6].map(|x| x * scale)
        };
        let holds = |range: Range, x: f32| {
            let x = f64::from(x);
            let multiple = (x / 2f64.powi(range.unit)).fract() == 0.0;
            x == 0.0 || x.abs() >= 2f64.powi(range.least) && multiple
        };
        for (i, j) in exponents.iter().flat_map(|i| exponents.iter().map(move |j| (*i, *j))) {
            let (a, b) = (Range::from(i), Range::from(j));
            for (x, y) in numbers(i).into_iter().flat_map(|x| numbers(j).map(|y| (x, y))) {
                assert!(holds(a, x) && holds(b, y));
                if a.product(b).is_normal() {
                    assert!(holds(a.product(b), x * y), "{x:e} * {y:e}: {:?}", a.product(b));
                    assert!(holds(a.product(b).sum(a), x * y + x), "{x:e} * {y:e} + {x:e}");
                    assert!(holds(a.product(b).sum(a).sum(b), -x * y + x - y));
                }
                assert!(holds(a.sum(b), x + y) && holds(a.sum(b), x - y));
                assert!(holds(a.or(b), x) && holds(a.or(b), y));
            }
        }
    }

    /// A bound that falls with each round of a loop comes to an end.
    #[test]
    fn bounds_end() {
        let mut range = Range::from(-10);
        for _ in 0..1000 {
            range = range.product(range).sum(range);
        }
        assert!(!range.is_normal());
        assert_eq!(range, range.product(range).sum(range));
    }
}
