//! The algebra in which instruction meanings are written.

use super::lane::expr::expr;
use super::lane::{division, float, root};

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
pub trait Algebra: Sized {
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
    /// a · b + c with one rounding
    fn ffma_raw(&mut self, a: Self::W, b: Self::W, c: Self::W) -> Self::W;
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
    /// a − b
    #[inline(always)]
    fn dsub_raw(&mut self, a: Self::Q, b: Self::Q) -> Self::Q {
        expr!(self, dadd_raw(a, qxor(b, quad({ 1 << 63 }))))
    }
    /// a · b
    fn dmul_raw(&mut self, a: Self::Q, b: Self::Q) -> Self::Q;
    /// a · b + c with one rounding
    fn dfma_raw(&mut self, a: Self::Q, b: Self::Q, c: Self::Q) -> Self::Q;
    /// a / b, correctly rounded
    #[inline(always)]
    fn ddiv_raw(&mut self, a: Self::Q, b: Self::Q) -> Self::Q {
        division::quotient_double(self, a, b)
    }
    /// √a, correctly rounded
    #[inline(always)]
    fn dsqrt_raw(&mut self, a: Self::Q) -> Self::Q {
        root::square_root_double(self, a)
    }
    /// `c ? a : b` of doubles.
    #[inline(always)]
    fn dselect(&mut self, c: Self::B, a: Self::Q, b: Self::Q) -> Self::Q {
        self.selectq(c, a, b)
    }
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
    #[inline(always)]
    fn flush(&mut self, a: Self::W) -> Self::W {
        let tiny = expr!(self, ieq(and(a, 0x7F80_0000), 0));
        expr!(self, select(tiny, and(a, 0x8000_0000), a))
    }

    /// True if `a` is a NaN, by its bits.
    #[inline(always)]
    fn is_nan(&mut self, a: Self::W) -> Self::B {
        expr!(self, ult(0x7F80_0000, and(a, 0x7FFF_FFFF)))
    }

    /// Any NaN becomes 0x7FC00000 (amd-il-alu 9.2).
    #[inline(always)]
    fn canonical(&mut self, a: Self::W) -> Self::W {
        expr!(self, select(is_nan(a), 0x7FC0_0000, a))
    }

    /// All ones if `c`, else 0.
    #[inline(always)]
    fn mask(&mut self, c: Self::B) -> Self::W {
        expr!(self, select(c, 0xFFFF_FFFF, 0))
    }

    /// Any bit set.
    #[inline(always)]
    fn ine_zero(&mut self, a: Self::W) -> Self::B {
        expr!(self, negate(ieq(a, 0)))
    }

    /// True if the flushed float `a` is +0 or −0.
    #[inline(always)]
    fn is_zero(&mut self, a: Self::W) -> Self::B {
        expr!(self, ieq(and(a, 0x7FFF_FFFF), 0))
    }

    /// True if the double is a NaN, by its bits.
    #[inline(always)]
    fn is_dnan(&mut self, a: Self::Q) -> Self::B {
        let magnitude = expr!(self, qand(a, quad({ !(1 << 63) })));
        expr!(self, qult(quad({ 0x7FF0_0000_0000_0000 }), magnitude))
    }

    /// True if the double is +0 or −0.
    #[inline(always)]
    fn is_dzero(&mut self, a: Self::Q) -> Self::B {
        expr!(self, qeq(qand(a, quad({ !(1 << 63) })), quad({ 0 })))
    }

    /// Any NaN becomes 0x7FF8000000000000.
    #[inline(always)]
    fn dcanonical(&mut self, a: Self::Q) -> Self::Q {
        expr!(self, selectq(is_dnan(a), quad({ 0x7FF8_0000_0000_0000 }), a))
    }

    /// Ordered a <= b in double precision.
    #[inline(always)]
    fn dle(&mut self, a: Self::Q, b: Self::Q) -> Self::B {
        expr!(self, either(dlt(a, b), deq(a, b)))
    }

    /// Number of zero bits above the highest set bit; 64 for 0.
    #[inline(always)]
    fn qclz(&mut self, a: Self::Q) -> Self::W {
        let (lo, hi) = (self.lo(a), self.hi(a));
        expr!(self, select(ieq(hi, 0), iadd(clz(lo), 32), clz(hi)))
    }

    /// High half of the unsigned product.
    #[inline(always)]
    fn qumulhi(&mut self, a: Self::Q, b: Self::Q) -> Self::Q {
        let (a0, a1, b0, b1) = (self.lo(a), self.hi(a), self.lo(b), self.hi(b));
        let low = expr!(self, umulhi(a0, b0));
        let mid = expr!(self, pack(imul(a1, b0), umulhi(a1, b0)));
        // At most (2^32 − 1)^2 + 2^32 − 1: no carry is lost.
        let mid = expr!(self, qadd(mid, pack(low, 0)));
        let (mid_lo, mid_hi) = (self.lo(mid), self.hi(mid));
        let other = expr!(self, pack(imul(a0, b1), umulhi(a0, b1)));
        let other = expr!(self, hi(qadd(other, pack(mid_lo, 0))));
        let high = expr!(self, pack(imul(a1, b1), umulhi(a1, b1)));
        expr!(self, qadd(qadd(high, pack(mid_hi, 0)), pack(other, 0)))
    }

    /// The lesser signed number.
    #[inline(always)]
    fn imin(&mut self, a: Self::W, b: Self::W) -> Self::W {
        expr!(self, select(ilt(a, b), a, b))
    }

    /// The greater signed number.
    #[inline(always)]
    fn imax(&mut self, a: Self::W, b: Self::W) -> Self::W {
        expr!(self, select(ilt(a, b), b, a))
    }

    /// The lesser unsigned number.
    #[inline(always)]
    fn umin(&mut self, a: Self::W, b: Self::W) -> Self::W {
        expr!(self, select(ult(a, b), a, b))
    }

    /// The greater unsigned number.
    #[inline(always)]
    fn umax(&mut self, a: Self::W, b: Self::W) -> Self::W {
        expr!(self, select(ult(a, b), b, a))
    }

    /// `a < b ? a : b` of floats, so b if either is NaN.
    #[inline(always)]
    fn fmin_raw(&mut self, a: Self::W, b: Self::W) -> Self::W {
        expr!(self, select(flt(a, b), a, b))
    }

    /// `a > b ? a : b` of floats, so b if either is NaN.
    #[inline(always)]
    fn fmax_raw(&mut self, a: Self::W, b: Self::W) -> Self::W {
        expr!(self, select(flt(b, a), a, b))
    }

    /// ⌊a⌋ of a float that is not NaN, |a| < 2^31.
    #[inline(always)]
    fn floor_to_int(&mut self, a: Self::W) -> Self::W {
        let near = self.ftoi_raw(a);
        let above = expr!(self, flt(a, itof_raw(near)));
        expr!(self, isub(near, select(above, 1, 0)))
    }

    /// A coordinate of which the sign counts even if it is a denormal. Those who take denormals as zeros return another
    /// number of its sign.
    #[inline(always)]
    fn signed_coordinate(&mut self, a: Self::W) -> Self::W {
        a
    }

    /// Towards zero to an integral float.
    #[inline(always)]
    fn ftrunc(&mut self, a: Self::W) -> Self::W {
        let exponent = expr!(self, and(shr(a, 23), 0xFF));
        let count = expr!(self, isub(exponent, 127));
        let count = expr!(self, select(ult(count, 31), count, 31));
        let fraction = expr!(self, shr(0x007F_FFFF, count));
        let whole = expr!(self, and(a, not(fraction)));
        expr!(self, select(ult(exponent, 127), and(a, 0x8000_0000), whole))
    }

    /// Towards −∞ to an integral float.
    #[inline(always)]
    fn ffloor(&mut self, a: Self::W) -> Self::W {
        let whole = self.ftrunc(a);
        let step = expr!(self, flt(a, whole));
        let below = expr!(self, fadd_raw(whole, 0xBF80_0000));
        self.select(step, below, whole)
    }

    /// Towards +∞ to an integral float.
    #[inline(always)]
    fn fceil(&mut self, a: Self::W) -> Self::W {
        let flipped = expr!(self, ffloor(xor(a, 0x8000_0000)));
        expr!(self, xor(flipped, 0x8000_0000))
    }

    /// To the nearest integral float, ties to even.
    #[inline(always)]
    fn fnearest(&mut self, a: Self::W) -> Self::W {
        let sign = expr!(self, and(a, 0x8000_0000));
        let magnitude = expr!(self, and(a, 0x7FFF_FFFF));
        let whole = expr!(self, ftrunc(magnitude));
        // Both are exact: the fraction, and the integer whose parity decides a tie.
        let fraction = expr!(self, fadd_raw(magnitude, xor(whole, 0x8000_0000)));
        let up = expr!(self, fadd_raw(whole, 0x3F80_0000));
        let half = expr!(self, fmul_raw(whole, 0x3F00_0000));
        let odd = expr!(self, flt(ftrunc(half), half));
        let tie = expr!(self, both(feq(fraction, 0x3F00_0000), odd));
        let more = expr!(self, either(flt(0x3F00_0000, fraction), tie));
        let rounded = expr!(self, select(more, up, whole));
        let large = expr!(self, ult(0x4AFF_FFFF, magnitude));
        expr!(self, select(large, a, or(rounded, sign)))
    }

    /// Towards −∞ to an integral double.
    #[inline(always)]
    fn dfloor(&mut self, a: Self::Q) -> Self::Q {
        let exponent = expr!(self, and(shr(hi(a), 20), 0x7FF));
        let count = expr!(self, isub(exponent, 1023));
        let count = expr!(self, select(ult(count, 63), count, 63));
        let fraction = expr!(self, qshr(quad({ (1 << 52) - 1 }), count));
        let whole = expr!(self, qand(a, qxor(fraction, quad({ !0 }))));
        let small = expr!(self, qand(a, quad({ 1 << 63 })));
        let whole = expr!(self, selectq(ult(exponent, 1023), small, whole));
        let below = expr!(self, dadd_raw(whole, quad({ (-1f64).to_bits() })));
        let step = self.dlt(a, whole);
        self.selectq(step, below, whole)
    }

    /// The float ±significand / 2^62 · 2^(exponent − 127), rounded to nearest even with gradual underflow, then
    /// flushed. `sign` is the sign bit in place; `exponent` any signed number; the significand has its top bit at
    /// 62 and a sticky lowest bit.
    #[inline(always)]
    fn fround(&mut self, sign: Self::W, exponent: Self::W, significand: Self::Q) -> Self::W {
        division::round_float(self, sign, exponent, significand)
    }

    /// The double ±significand / 2^62 · 2^(exponent − 1023), rounded to nearest even with gradual underflow; the
    /// arguments are as for [`Algebra::fround`].
    #[inline(always)]
    fn dround(&mut self, sign: Self::Q, exponent: Self::W, significand: Self::Q) -> Self::Q {
        division::round_double(self, sign, exponent, significand)
    }

    /// a · b, then flushed, but +0.0 if either is a zero (amd-il-alu 2.1). Arguments are flushed.
    #[inline(always)]
    fn product(&mut self, a: Self::W, b: Self::W) -> Self::W {
        float::product(self, a, b)
    }

    /// a · b + c with one rounding, then flushed. Arguments are flushed.
    #[inline(always)]
    fn fma(&mut self, a: Self::W, b: Self::W, c: Self::W) -> Self::W {
        division::fma(self, a, b, c)
    }

    /// IEEE a / b, correctly rounded, then flushed. Arguments are flushed.
    #[inline(always)]
    fn fdiv(&mut self, a: Self::W, b: Self::W) -> Self::W {
        division::quotient(self, a, b)
    }

    /// √a, correctly rounded. The argument is flushed.
    #[inline(always)]
    fn fsqrt(&mut self, a: Self::W) -> Self::W {
        root::square_root(self, a)
    }

    /// 1/√a, correctly rounded; ±∞ for ±0. The argument is flushed.
    #[inline(always)]
    fn frsqrt(&mut self, a: Self::W) -> Self::W {
        root::reciprocal_root(self, a)
    }
}
