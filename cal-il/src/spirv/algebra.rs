//! [`Algebra`] with result ids for values.
//!
//! In faithful mode nothing here depends on what a driver may choose: additions, multiplications and conversions
//! are correctly rounded and uncontracted, comparisons that must see denormals are integer comparisons, and where
//! a device flushes denormals the one case in which that differs from flushing afterwards is put right.

use rspirv::spirv::{GlslStd450Op as GLOp, Op, Word};

use super::forms::Quad;
use super::module::Type;
use super::{Emitter, Mode};
use crate::isa::Algebra;

impl Algebra for Emitter<'_> {
    type W = Word;
    type Q = Quad;
    type B = Word;

    fn word(&mut self, bits: u32) -> Word {
        self.w.word(bits)
    }

    fn quad(&mut self, bits: u64) -> Quad {
        Quad::Words(self.w.word(bits as u32), self.w.word((bits >> 32) as u32))
    }

    fn pack(&mut self, lo: Word, hi: Word) -> Quad {
        Quad::Words(lo, hi)
    }

    fn lo(&mut self, q: Quad) -> Word {
        self.words(q).0
    }

    fn hi(&mut self, q: Quad) -> Word {
        self.words(q).1
    }

    fn select(&mut self, c: Word, a: Word, b: Word) -> Word {
        self.choice(c, a, b)
    }

    fn selectq(&mut self, c: Word, a: Quad, b: Quad) -> Quad {
        match (a, b) {
            (Quad::Integer(a), Quad::Integer(b)) => {
                let ty = self.w.ty(Type::U64);
                Quad::Integer(self.w.op(Op::Select, ty, &[c, a, b]))
            }
            _ => {
                let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
                Quad::Words(self.select(c, al, bl), self.select(c, ah, bh))
            }
        }
    }

    fn both(&mut self, a: Word, b: Word) -> Word {
        self.truth_op(Op::LogicalAnd, &[a, b])
    }

    fn either(&mut self, a: Word, b: Word) -> Word {
        self.truth_op(Op::LogicalOr, &[a, b])
    }

    fn negate(&mut self, a: Word) -> Word {
        self.truth_op(Op::LogicalNot, &[a])
    }

    fn iadd(&mut self, a: Word, b: Word) -> Word {
        match (self.w.bits.get(&a), self.w.bits.get(&b)) {
            (Some(x), Some(y)) => return self.word(x.wrapping_add(*y)),
            (Some(0), _) => return b,
            (_, Some(0)) => return a,
            _ => {}
        }
        let word = self.word_op(Op::IAdd, &[a, b]);
        self.at_most(word, self.most(a).checked_add(self.most(b)));
        self.is_sum(word, a, b);
        word
    }

    fn isub(&mut self, a: Word, b: Word) -> Word {
        let a = match (self.w.bits.get(&a), self.w.bits.get(&b)) {
            (Some(x), Some(y)) => return self.word(x.wrapping_sub(*y)),
            // Some drivers lose the sign on the way into the least or greatest of three.
            (Some(0), None) => self.hidden_zero(),
            _ => a,
        };
        self.word_op(Op::ISub, &[a, b])
    }

    fn imul(&mut self, a: Word, b: Word) -> Word {
        let (of, times) = match (self.w.bits.get(&a).copied(), self.w.bits.get(&b).copied()) {
            (Some(x), Some(y)) => return self.word(x.wrapping_mul(y)),
            (Some(times), _) => (b, times),
            (_, Some(times)) => (a, times),
            _ => return self.word_op(Op::IMul, &[a, b]),
        };
        self.multiple([a, b], of, times)
    }

    fn umulhi(&mut self, a: Word, b: Word) -> Word {
        self.pair_op(Op::UMulExtended, a, b).1
    }

    fn smulhi(&mut self, a: Word, b: Word) -> Word {
        self.pair_op(Op::SMulExtended, a, b).1
    }

    fn udiv(&mut self, a: Word, b: Word) -> Word {
        let b = self.divisor(b);
        self.word_op(Op::UDiv, &[a, b])
    }

    fn umod(&mut self, a: Word, b: Word) -> Word {
        let b = self.divisor(b);
        self.word_op(Op::UMod, &[a, b])
    }

    fn and(&mut self, a: Word, b: Word) -> Word {
        if let Some((x, y)) = self.constants(a, b) {
            return self.word(x & y);
        }
        let word = self.word_op(Op::BitwiseAnd, &[a, b]);
        self.at_most(word, Some(self.most(a).min(self.most(b))));
        self.joins_truths(Op::LogicalAnd, word, a, b);
        word
    }

    fn or(&mut self, a: Word, b: Word) -> Word {
        if let Some((x, y)) = self.constants(a, b) {
            return self.word(x | y);
        }
        let word = self.word_op(Op::BitwiseOr, &[a, b]);
        self.joins_truths(Op::LogicalOr, word, a, b);
        word
    }

    fn xor(&mut self, a: Word, b: Word) -> Word {
        if let Some((x, y)) = self.constants(a, b) {
            return self.word(x ^ y);
        }
        let word = self.word_op(Op::BitwiseXor, &[a, b]);
        let flips = |x: &Word, y: &Word| self.solid.contains(*x) && self.w.bits.get(y).is_some();
        if flips(&a, &b) || flips(&b, &a) {
            self.solid.insert(word);
        }
        word
    }

    fn not(&mut self, a: Word) -> Word {
        self.word_op(Op::Not, &[a])
    }

    fn shl(&mut self, a: Word, n: Word) -> Word {
        let by = self.w.bits.get(&n).copied().filter(|by| *by < 32);
        match (self.w.bits.get(&a), by) {
            (Some(x), Some(by)) => return self.word(x << by),
            (_, Some(0)) => return a,
            _ => {}
        }
        let word = self.word_op(Op::ShiftLeftLogical, &[a, n]);
        if let Some(by) = by {
            self.is_product(word, a, 1 << by);
        }
        word
    }

    fn shr(&mut self, a: Word, n: Word) -> Word {
        let Some(by) = self.w.bits.get(&n).copied().filter(|by| *by < 32) else {
            return self.word_op(Op::ShiftRightLogical, &[a, n]);
        };
        if let Some(x) = self.w.bits.get(&a) {
            return self.word(x >> by);
        }
        if let Some(word) = self.shifted(a, by) {
            return word;
        }
        let word = self.word_op(Op::ShiftRightLogical, &[a, n]);
        self.at_most(word, Some(self.most(a) >> by));
        word
    }

    fn sar(&mut self, a: Word, n: Word) -> Word {
        self.word_op(Op::ShiftRightArithmetic, &[a, n])
    }

    fn popcount(&mut self, a: Word) -> Word {
        self.word_op(Op::BitCount, &[a])
    }

    fn clz(&mut self, a: Word) -> Word {
        // FindUMsb gives −1 for 0, and 31 − (−1) is 32.
        let top = self.w.glsl(GLOp::FindUMsb, self.t.u32, &[a]);
        let last = self.word(31);
        self.isub(last, top)
    }

    fn reverse(&mut self, a: Word) -> Word {
        self.word_op(Op::BitReverse, &[a])
    }

    fn ieq(&mut self, a: Word, b: Word) -> Word {
        if let (Some(truth), Some(0)) = (self.memo.truths.get(&a), self.w.bits.get(&b)) {
            return self.negate(truth);
        }
        // Where this decides a branch, drivers know the value there.
        self.solid.remove(a);
        self.solid.remove(b);
        self.truth_op(Op::IEqual, &[a, b])
    }

    fn ilt(&mut self, a: Word, b: Word) -> Word {
        let truth = self.truth_op(Op::SLessThan, &[a, b]);
        if self.most(a).max(self.most(b)) <= i32::MAX as u32 {
            self.facts.compares(truth, a, b);
        }
        truth
    }

    fn ult(&mut self, a: Word, b: Word) -> Word {
        let truth = self.truth_op(Op::ULessThan, &[a, b]);
        self.facts.compares(truth, a, b);
        truth
    }

    fn umin(&mut self, a: Word, b: Word) -> Word {
        self.w.glsl(GLOp::UMin, self.t.u32, &[a, b])
    }

    fn umax(&mut self, a: Word, b: Word) -> Word {
        self.w.glsl(GLOp::UMax, self.t.u32, &[a, b])
    }

    fn fadd_raw(&mut self, a: Word, b: Word) -> Word {
        self.float_op(Op::FAdd, &[a, b])
    }

    fn fmul_raw(&mut self, a: Word, b: Word) -> Word {
        let product = self.float_op(Op::FMul, &[a, b]);
        if self.target.mode == Mode::Native || self.target.gradual32 || self.never_tiny(a, b) {
            return product;
        }
        self.rounded_up(a, b, product)
    }

    fn ffma_raw(&mut self, a: Word, b: Word, c: Word) -> Word {
        self.glsl_float(GLOp::Fma, &[a, b, c])
    }

    fn feq(&mut self, a: Word, b: Word) -> Word {
        if self.native_compare() {
            return self.float_compare(Op::FOrdEqual, a, b);
        }
        self.equal_words(a, b)
    }

    fn flt(&mut self, a: Word, b: Word) -> Word {
        self.less(a, b)
    }

    fn fle(&mut self, a: Word, b: Word) -> Word {
        if self.native_compare() {
            return self.float_compare(Op::FOrdLessThanEqual, a, b);
        }
        self.at_most_words(a, b)
    }

    fn itof_raw(&mut self, a: Word) -> Word {
        let float = self.w.op(Op::ConvertSToF, self.t.f32, &[a]);
        let word = self.as_word(float);
        self.integral.insert(word);
        word
    }

    fn utof_raw(&mut self, a: Word) -> Word {
        if self.target.mode == Mode::Native {
            let float = self.w.op(Op::ConvertUToF, self.t.f32, &[a]);
            return self.as_word(float);
        }
        self.unsigned_to_float(a)
    }

    fn ftoi_raw(&mut self, a: Word) -> Word {
        let float = self.as_float(a);
        self.word_op(Op::ConvertFToS, &[float])
    }

    fn qadd(&mut self, a: Quad, b: Quad) -> Quad {
        if self.target.int64 {
            return self.integer_op(Op::IAdd, a, b);
        }
        self.pair_sum(a, b)
    }

    fn qsub(&mut self, a: Quad, b: Quad) -> Quad {
        if self.target.int64 {
            return self.integer_op(Op::ISub, a, b);
        }
        self.pair_difference(a, b)
    }

    fn qmul(&mut self, a: Quad, b: Quad) -> Quad {
        if self.target.int64 {
            return self.integer_op(Op::IMul, a, b);
        }
        self.pair_product(a, b)
    }

    fn qand(&mut self, a: Quad, b: Quad) -> Quad {
        self.by_words(a, b, Self::and)
    }

    fn qor(&mut self, a: Quad, b: Quad) -> Quad {
        self.by_words(a, b, Self::or)
    }

    fn qxor(&mut self, a: Quad, b: Quad) -> Quad {
        self.by_words(a, b, Self::xor)
    }

    fn qshl(&mut self, a: Quad, n: Word) -> Quad {
        if !self.target.int64 {
            return self.shift_pair(a, n, true, None);
        }
        self.integer_shift(Op::ShiftLeftLogical, a, n)
    }

    fn qshr(&mut self, a: Quad, n: Word) -> Quad {
        if !self.target.int64 {
            return self.shift_pair(a, n, false, None);
        }
        self.integer_shift(Op::ShiftRightLogical, a, n)
    }

    fn qsar(&mut self, a: Quad, n: Word) -> Quad {
        if !self.target.int64 {
            let (_, hi) = self.words(a);
            let last = self.word(31);
            let fill = self.sar(hi, last);
            return self.shift_pair(a, n, false, Some(fill));
        }
        self.integer_shift(Op::ShiftRightArithmetic, a, n)
    }

    fn qeq(&mut self, a: Quad, b: Quad) -> Word {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (low, high) = (self.ieq(al, bl), self.ieq(ah, bh));
        self.both(low, high)
    }

    fn qlt(&mut self, a: Quad, b: Quad) -> Word {
        if self.target.int64 {
            return self.integer_compare(Op::SLessThan, a, b);
        }
        self.pair_less(a, b, Self::ilt)
    }

    fn qult(&mut self, a: Quad, b: Quad) -> Word {
        if self.target.int64 {
            return self.integer_compare(Op::ULessThan, a, b);
        }
        self.pair_less(a, b, Self::ult)
    }

    fn qudiv(&mut self, a: Quad, b: Quad) -> Quad {
        if !self.target.int64 {
            return self.long_division(a, b).0;
        }
        let (a, b) = self.long_terms(a, b);
        self.integer_op(Op::UDiv, a, b)
    }

    fn qumod(&mut self, a: Quad, b: Quad) -> Quad {
        if !self.target.int64 {
            return self.long_division(a, b).1;
        }
        let (a, b) = self.long_terms(a, b);
        self.integer_op(Op::UMod, a, b)
    }

    fn dcanonical(&mut self, a: Quad) -> Quad {
        if self.target.mode == Mode::Native {
            return a;
        }
        let (quiet, nan) = (self.quad(0x7FF8_0000_0000_0000), self.is_dnan(a));
        self.selectq(nan, quiet, a)
    }

    fn dadd_raw(&mut self, a: Quad, b: Quad) -> Quad {
        self.double_op(Op::FAdd, &[a, b])
    }

    fn dsub_raw(&mut self, a: Quad, b: Quad) -> Quad {
        self.double_op(Op::FSub, &[a, b])
    }

    fn dselect(&mut self, c: Word, a: Quad, b: Quad) -> Quad {
        self.double_choice(c, a, b)
    }

    fn dmul_raw(&mut self, a: Quad, b: Quad) -> Quad {
        self.double_op(Op::FMul, &[a, b])
    }

    fn dfma_raw(&mut self, a: Quad, b: Quad, c: Quad) -> Quad {
        if !self.target.fused64 {
            return super::fused::fma_double(self, a, b, c);
        }
        self.glsl_double(GLOp::Fma, &[a, b, c])
    }

    fn ddiv_raw(&mut self, a: Quad, b: Quad) -> Quad {
        if self.target.mode == Mode::Faithful && !self.target.divides64 {
            return crate::isa::lane::division::quotient_double(self, a, b);
        }
        self.double_op(Op::FDiv, &[a, b])
    }

    fn dsqrt_raw(&mut self, a: Quad) -> Quad {
        if self.target.mode == Mode::Faithful && !self.target.roots64 {
            return crate::isa::lane::root::square_root_double(self, a);
        }
        self.glsl_double(GLOp::Sqrt, &[a])
    }

    fn deq(&mut self, a: Quad, b: Quad) -> Word {
        self.double_compare(Op::FOrdEqual, a, b)
    }

    fn dlt(&mut self, a: Quad, b: Quad) -> Word {
        self.double_compare(Op::FOrdLessThan, a, b)
    }

    fn ftod_raw(&mut self, a: Word) -> Quad {
        if !self.target.float64 {
            self.refuse("the device has no 64-bit floats");
        }
        let float = self.as_float(a);
        let ty = self.w.ty(Type::F64);
        Quad::Double(self.w.op(Op::FConvert, ty, &[float]))
    }

    fn dtof_raw(&mut self, a: Quad) -> Word {
        let double = self.double(a);
        let float = self.w.op(Op::FConvert, self.t.f32, &[double]);
        let result = self.as_word(float);
        if self.target.mode == Mode::Native || self.target.gradual32 {
            return result;
        }
        self.narrowed_up(a, result)
    }

    fn fma(&mut self, a: Word, b: Word, c: Word) -> Word {
        if !self.direct {
            return crate::isa::lane::division::fma(self, a, b, c);
        }
        self.glsl_float(GLOp::Fma, &[a, b, c])
    }

    fn fdiv(&mut self, a: Word, b: Word) -> Word {
        if !self.direct {
            return crate::isa::lane::division::quotient(self, a, b);
        }
        self.float_op(Op::FDiv, &[a, b])
    }

    fn fsqrt(&mut self, a: Word) -> Word {
        if !self.direct {
            return crate::isa::lane::root::square_root(self, a);
        }
        self.glsl_float(GLOp::Sqrt, &[a])
    }

    fn frsqrt(&mut self, a: Word) -> Word {
        if !self.direct {
            return crate::isa::lane::root::reciprocal_root(self, a);
        }
        self.glsl_float(GLOp::InverseSqrt, &[a])
    }

    fn signed_coordinate(&mut self, coord: Word) -> Word {
        if self.target.mode == Mode::Native || self.target.gradual32 {
            return coord;
        }
        self.raised(coord)
    }

    fn product(&mut self, a: Word, b: Word) -> Word {
        self.flushed_product(a, b)
    }

    fn flush(&mut self, a: Word) -> Word {
        self.flushed(a)
    }

    fn canonical(&mut self, a: Word) -> Word {
        self.quieted(a)
    }
}
