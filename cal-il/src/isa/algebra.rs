//! The algebra in which instruction meanings are written.

/// Primitive operations on 32-bit words (`W`), 64-bit words (`Q`) and truth values (`B`).
///
/// Every function in [`super::lane`] is generic over this trait, so one text is at once the CPU kernel (with
/// `W = u32`, where a loop over lanes vectorises), the SPIR-V emitter (with `W` = result id) and the constant
/// folder. Functions must therefore be straight-line: no branch on values, only [`Algebra::select`].
///
/// *Raw* float primitives are IEEE-754, round to nearest even, with gradual underflow; they neither flush
/// denormals nor canonicalise NaN. The provided methods build the rules of the Evergreen device from them
/// (amd-il-alu 2 and 9). A backend may override a provided method only by something that yields the same bits,
/// except in native float mode.
pub trait Algebra {
    /// A 32-bit word.
    type W: Copy;
    /// A 64-bit word.
    type Q: Copy;
    /// A truth value.
    type B: Copy;

    /// The constant `bits`.
    fn word(&mut self, bits: u32) -> Self::W;
    /// The constant `bits`.
    fn quad(&mut self, bits: u64) -> Self::Q;
    /// A 64-bit word from its low and high halves.
    fn pack(&mut self, lo: Self::W, hi: Self::W) -> Self::Q;
    /// Low half.
    fn lo(&mut self, q: Self::Q) -> Self::W;
    /// High half.
    fn hi(&mut self, q: Self::Q) -> Self::W;

    /// `c ? a : b`
    fn select(&mut self, c: Self::B, a: Self::W, b: Self::W) -> Self::W;
    /// `c ? a : b`
    fn selectq(&mut self, c: Self::B, a: Self::Q, b: Self::Q) -> Self::Q;
    /// Logical and.
    fn both(&mut self, a: Self::B, b: Self::B) -> Self::B;
    /// Logical or.
    fn either(&mut self, a: Self::B, b: Self::B) -> Self::B;
    /// Logical not.
    fn negate(&mut self, a: Self::B) -> Self::B;

    // 32-bit integers, wrapping. Shift counts must already be below 32, divisors non-zero.
    /// a + b
    fn iadd(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// a − b
    fn isub(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Low half of a · b.
    fn imul(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// High half of the unsigned product.
    fn umulhi(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// High half of the signed product.
    fn smulhi(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Unsigned quotient, b ≠ 0.
    fn udiv(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Unsigned remainder, b ≠ 0.
    fn umod(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Bitwise and.
    fn and(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Bitwise or.
    fn or(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Bitwise exclusive or.
    fn xor(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Bitwise complement.
    fn not(&mut self, a: Self::W) -> Self::W;
    /// a << n, n < 32
    fn shl(&mut self, a: Self::W, n: Self::W) -> Self::W;
    /// Logical a >> n, n < 32
    fn shr(&mut self, a: Self::W, n: Self::W) -> Self::W;
    /// Arithmetic a >> n, n < 32
    fn sar(&mut self, a: Self::W, n: Self::W) -> Self::W;
    /// Population count.
    fn popcount(&mut self, a: Self::W) -> Self::W;
    /// Number of zero bits above the highest set bit; 32 for 0.
    fn clz(&mut self, a: Self::W) -> Self::W;
    /// Bits in reverse order.
    fn reverse(&mut self, a: Self::W) -> Self::W;
    /// a == b
    fn ieq(&mut self, a: Self::W, b: Self::W) -> Self::B;
    /// Signed a < b
    fn ilt(&mut self, a: Self::W, b: Self::W) -> Self::B;
    /// Unsigned a < b
    fn ult(&mut self, a: Self::W, b: Self::W) -> Self::B;

    // Raw single precision.
    /// a + b
    fn fadd_raw(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// a · b
    fn fmul_raw(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// Ordered a == b, denormals as they are.
    fn feq(&mut self, a: Self::W, b: Self::W) -> Self::B;
    /// Ordered a < b, denormals as they are.
    fn flt(&mut self, a: Self::W, b: Self::W) -> Self::B;
    /// Ordered a <= b, denormals as they are.
    fn fle(&mut self, a: Self::W, b: Self::W) -> Self::B;
    /// Signed integer to float, round to nearest even.
    fn itof_raw(&mut self, a: Self::W) -> Self::W;
    /// Unsigned integer to float, round to nearest even.
    fn utof_raw(&mut self, a: Self::W) -> Self::W;
    /// Float to signed integer by truncation; |a| < 2^31.
    fn ftoi_raw(&mut self, a: Self::W) -> Self::W;

    // 64-bit integers, wrapping.
    /// a + b
    fn qadd(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// a − b
    fn qsub(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// Low half of a · b.
    fn qmul(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// Bitwise and.
    fn qand(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// Bitwise or.
    fn qor(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// Bitwise exclusive or.
    fn qxor(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// a << n, n < 64 a 32-bit word
    fn qshl(&mut self, a: Self::Q, n: Self::W) -> Self::Q;
    /// Logical a >> n, n < 64
    fn qshr(&mut self, a: Self::Q, n: Self::W) -> Self::Q;
    /// Arithmetic a >> n, n < 64
    fn qsar(&mut self, a: Self::Q, n: Self::W) -> Self::Q;
    /// a == b
    fn qeq(&mut self, a: Self::Q, b: Self::Q) -> Self::B;
    /// Signed a < b
    fn qlt(&mut self, a: Self::Q, b: Self::Q) -> Self::B;
    /// Unsigned a < b
    fn qult(&mut self, a: Self::Q, b: Self::Q) -> Self::B;
    /// Unsigned quotient, b ≠ 0.
    fn qudiv(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// Unsigned remainder, b ≠ 0.
    fn qumod(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;

    // Double precision: IEEE-754, round to nearest even, denormals kept, NaN not canonicalised.
    /// a + b
    fn dadd_raw(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// a · b
    fn dmul_raw(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// a · b + c with one rounding
    fn dfma_raw(&mut self, a: Self::Q, b: Self::Q, c: Self::Q) -> Self::Q;
    /// a / b, correctly rounded
    fn ddiv_raw(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// √a, correctly rounded
    fn dsqrt_raw(&mut self, a: Self::Q) -> Self::Q;
    /// Ordered a == b
    fn deq(&mut self, a: Self::Q, b: Self::Q) -> Self::B;
    /// Ordered a < b
    fn dlt(&mut self, a: Self::Q, b: Self::Q) -> Self::B;
    /// Float to double, exact. The source is flushed, not NaN.
    fn ftod_raw(&mut self, a: Self::W) -> Self::Q;
    /// Double to float, round to nearest even with gradual underflow.
    fn dtof_raw(&mut self, a: Self::Q) -> Self::W;

    // The rules of the device, built from the above.

    /// Denormals become zeros of the same sign (amd-il-alu 9.1).
    fn flush(&mut self, a: Self::W) -> Self::W {
        let exponent = self.word(0x7F80_0000);
        let e = self.and(a, exponent);
        let zero = self.word(0);
        let tiny = self.ieq(e, zero);
        let sign = self.word(0x8000_0000);
        let signed_zero = self.and(a, sign);
        self.select(tiny, signed_zero, a)
    }

    /// True if `a` is a NaN, by its bits.
    fn is_nan(&mut self, a: Self::W) -> Self::B {
        let magnitude = self.word(0x7FFF_FFFF);
        let m = self.and(a, magnitude);
        let infinity = self.word(0x7F80_0000);
        self.ult(infinity, m)
    }

    /// Any NaN becomes 0x7FC00000 (amd-il-alu 9.2).
    fn canonical(&mut self, a: Self::W) -> Self::W {
        let nan = self.is_nan(a);
        let quiet = self.word(0x7FC0_0000);
        self.select(nan, quiet, a)
    }

    /// All ones if `c`, else 0.
    fn mask(&mut self, c: Self::B) -> Self::W {
        let ones = self.word(!0);
        let zero = self.word(0);
        self.select(c, ones, zero)
    }
}
