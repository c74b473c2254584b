//! 64-bit integers of two words, for devices without.

use rspirv::spirv::{Op, Word};

use super::Emitter;
use super::forms::Quad;
use crate::isa::Algebra;

impl Emitter<'_> {
    /// The sum of two pairs.
    pub(super) fn pair_sum(&mut self, a: Quad, b: Quad) -> Quad {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (lo, carry) = self.pair_op(Op::IAddCarry, al, bl);
        let high = self.iadd(ah, bh);
        Quad::Words(lo, self.iadd(high, carry))
    }

    /// Their difference.
    pub(super) fn pair_difference(&mut self, a: Quad, b: Quad) -> Quad {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (lo, borrow) = self.pair_op(Op::ISubBorrow, al, bl);
        let high = self.isub(ah, bh);
        Quad::Words(lo, self.isub(high, borrow))
    }

    /// The low half of their product.
    pub(super) fn pair_product(&mut self, a: Quad, b: Quad) -> Quad {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (lo, high) = self.pair_op(Op::UMulExtended, al, bl);
        let (first, second) = (self.imul(al, bh), self.imul(ah, bl));
        let cross = self.iadd(first, second);
        Quad::Words(lo, self.iadd(high, cross))
    }

    /// The first is less: the high words as `high` compares them, the low ones without sign.
    pub(super) fn pair_less(&mut self, a: Quad, b: Quad, high: fn(&mut Self, Word, Word) -> Word) -> Word {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (less, same, low) = (high(self, ah, bh), self.ieq(ah, bh), self.ult(al, bl));
        let tie = self.both(same, low);
        self.either(less, tie)
    }

    /// Quotient and remainder, for devices without 64-bit integers.
    pub(super) fn long_division(&mut self, a: Quad, b: Quad) -> (Quad, Quad) {
        let routine = self.division_routine();
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let uvec4 = self.t.uvec4;
        let result = self.w.op(Op::FunctionCall, uvec4, &[routine, al, ah, bl, bh]);
        let [ql, qh, rl, rh] = [0, 1, 2, 3].map(|k| self.part(result, k));
        (Quad::Words(ql, qh), Quad::Words(rl, rh))
    }

    /// `uvec4 divide(a low, a high, b low, b high)`: quotient and remainder, a bit at a time.
    pub(super) fn division_routine(&mut self) -> Word {
        if let Some(routine) = self.routines.get(&("divide", None)) {
            return *routine;
        }
        let routine = self.w.id();
        self.routines.insert(("divide", None), routine);
        let memo = std::mem::take(&mut self.memo);
        let (u32, uvec4) = (self.t.u32, self.t.uvec4);
        let p = self.w.begin(routine, uvec4, &[u32; 4]);
        let (zero, one, count) = (self.word(0), self.word(1), self.word(64));
        // The dividend moves out at the top while the quotient moves in at the bottom.
        let state = [p[0], p[1], zero, zero, zero].map(|first| {
            let variable = self.w.local(u32, None);
            self.w.store(variable, first, None);
            variable
        });
        let [head, test, body, next, merge] = [0; 5].map(|_| self.w.id());
        self.w.branch(head);
        self.w.label(head);
        self.w.loop_merge(merge, next);
        self.w.branch(test);
        self.w.label(test);
        let step = self.w.load(u32, state[4], None);
        let more = self.ult(step, count);
        self.w.branch_if(more, body, merge);
        self.w.label(body);
        let [ql, qh, rl, rh] = [0, 1, 2, 3].map(|k| self.w.load(u32, state[k], None));
        let last = self.word(31);
        let top = self.shr(qh, last);
        let lost = self.shr(rh, last);
        let rest = self.shift_pair(Quad::Words(rl, rh), one, true, None);
        let (low, high) = self.words(rest);
        let low = self.or(low, top);
        let moved = self.shift_pair(Quad::Words(ql, qh), one, true, None);
        let (ql, qh) = self.words(moved);
        let (rest, divisor) = (Quad::Words(low, high), Quad::Words(p[2], p[3]));
        let below = self.qult(rest, divisor);
        let fits = self.negate(below);
        let carried = self.ieq(lost, one);
        let fits = self.either(fits, carried);
        let less = self.qsub(rest, divisor);
        let rest = self.selectq(fits, less, rest);
        let bit = self.select(fits, one, zero);
        let ql = self.or(ql, bit);
        let (rl, rh) = self.words(rest);
        let step = self.iadd(step, one);
        for (variable, value) in state.into_iter().zip([ql, qh, rl, rh, step]) {
            self.w.store(variable, value, None);
        }
        self.w.branch(next);
        self.w.label(next);
        self.w.branch(head);
        self.w.label(merge);
        let words = [0, 1, 2, 3].map(|k| self.w.load(u32, state[k], None));
        let result = self.w.op(Op::CompositeConstruct, uvec4, &words);
        self.w.return_value(result);
        self.w.end();
        self.memo = memo;
        routine
    }

    /// The shift of a pair by `n` < 64 in words, for devices without 64-bit integers.
    pub(super) fn shift_pair(&mut self, q: Quad, n: Word, left: bool, fill: Option<Word>) -> Quad {
        let (lo, hi) = self.words(q);
        let (c31, c32) = (self.word(31), self.word(32));
        let zero = self.word(0);
        let within = self.and(n, c31);
        let far = self.ult(n, c32);
        let back = self.isub(c31, within);
        let one = self.word(1);
        if left {
            // The bits that cross, without ever shifting by 32.
            let half = self.shr(lo, one);
            let crossing = self.shr(half, back);
            let high = self.shl(hi, within);
            let near_hi = self.or(high, crossing);
            let low = self.shl(lo, within);
            let hi = self.select(far, near_hi, low);
            let lo = self.select(far, low, zero);
            Quad::Words(lo, hi)
        } else {
            let double = self.shl(hi, one);
            let crossing = self.shl(double, back);
            let low = self.shr(lo, within);
            let near_lo = self.or(low, crossing);
            let high = if fill.is_some() { self.sar(hi, within) } else { self.shr(hi, within) };
            let lo = self.select(far, near_lo, high);
            let hi = self.select(far, high, fill.unwrap_or(zero));
            Quad::Words(lo, hi)
        }
    }
}
