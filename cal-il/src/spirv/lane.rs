//! Lane operations as SPIR-V: [`Algebra`] with result ids for values.
//!
//! In faithful mode nothing here depends on what a driver may choose: additions, multiplications and conversions
//! are correctly rounded and uncontracted, comparisons that must see denormals are integer comparisons, and where
//! a device flushes denormals the one case in which that differs from flushing afterwards is put right. Some
//! drivers take x + 0 for x and 0 · x for 0, which loses −0 and NaN, and find such zeros by following constants and
//! registers that nothing wrote: what a driver might know comes to sums and products joined by `or` with a word of
//! the launch table that is 0.

use rspirv::spirv::{BuiltIn, Capability, GlslStd450Op as GLOp, Op, Word};
use smallvec::SmallVec;

use super::launch::Slot;
use super::module::Type;
use super::{Emitter, Mode};
use crate::isa::lane::Class;
use crate::isa::{Algebra, LaneOp};

/// A 64-bit value in the form in which it was made; converted when another form is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quad {
    /// Low and high words.
    Words(Word, Word),
    /// A 64-bit integer.
    Integer(Word),
    /// A double.
    Double(Word),
}

/// Whether drivers simplify sums or products by a float with this (high) word, 0 or 1 with either sign.
fn simplifies(bits: u32, one: u32) -> bool {
    let magnitude = bits & 0x7FFF_FFFF;
    magnitude == 0 || magnitude == one
}

impl Emitter<'_> {
    /// The 32-bit word as a float.
    pub fn as_float(&mut self, word: Word) -> Word {
        if let Some(bits) = self.w.bits.get(&word).copied() {
            return self.w.float(bits);
        }
        if let Some(float) = self.memo.float.get(&word) {
            return float;
        }
        // Some drivers take a condition for a number, though as a float it is NaN.
        let truth = self.memo.truths.get(&word).is_some();
        let bits = if truth { self.opaque(word) } else { word };
        let float = self.w.op(Op::Bitcast, self.t.f32, &[bits]);
        self.memo.float.insert(word, float);
        float
    }

    /// The float as a 32-bit word.
    pub(super) fn as_word(&mut self, float: Word) -> Word {
        let word = self.w.op(Op::Bitcast, self.t.u32, &[float]);
        self.memo.float.insert(word, float);
        word
    }

    pub(super) fn words(&mut self, q: Quad) -> (Word, Word) {
        let id = match q {
            Quad::Words(lo, hi) => return (lo, hi),
            Quad::Integer(id) | Quad::Double(id) => id,
        };
        if let Some(words) = self.memo.halves.get(&id) {
            return words;
        }
        let pair = self.w.op(Op::Bitcast, self.t.uvec2, &[id]);
        let words = (self.w.extract(self.t.u32, pair, 0), self.w.extract(self.t.u32, pair, 1));
        self.memo.halves.insert(id, words);
        if self.solid.contains(&id) {
            self.solid.extend([words.0, words.1]);
        }
        words
    }

    pub fn integer(&mut self, q: Quad) -> Word {
        let ty = self.w.ty(Type::U64);
        match q {
            Quad::Integer(id) => id,
            Quad::Double(id) => self.w.op(Op::Bitcast, ty, &[id]),
            Quad::Words(lo, hi) => {
                if let (Some(lo), Some(hi)) = (self.w.bits.get(&lo), self.w.bits.get(&hi)) {
                    let bits = u64::from(*lo) | u64::from(*hi) << 32;
                    return self.w.quad(bits);
                }
                if let Some(id) = self.memo.integer.get(&(lo, hi)) {
                    return id;
                }
                let pair = self.w.op(Op::CompositeConstruct, self.t.uvec2, &[lo, hi]);
                let id = self.w.op(Op::Bitcast, ty, &[pair]);
                self.memo.integer.insert((lo, hi), id);
                self.memo.halves.insert(id, (lo, hi));
                id
            }
        }
    }

    pub(super) fn double(&mut self, q: Quad) -> Word {
        if !self.target.float64 {
            self.refuse("the device has no 64-bit floats");
        } else if self.target.mode == Mode::Faithful && !self.target.exact64 {
            self.refuse("the device's 64-bit floats are not exact enough for faithful mode");
        }
        let ty = self.w.ty(Type::F64);
        match q {
            Quad::Double(id) => id,
            Quad::Integer(id) => self.w.op(Op::Bitcast, ty, &[id]),
            Quad::Words(lo, hi) => {
                if let Some(id) = self.memo.double.get(&(lo, hi)) {
                    return id;
                }
                let pair = self.w.op(Op::CompositeConstruct, self.t.uvec2, &[lo, hi]);
                let id = self.w.op(Op::Bitcast, ty, &[pair]);
                self.memo.double.insert((lo, hi), id);
                self.memo.halves.insert(id, (lo, hi));
                id
            }
        }
    }

    /// Whether a driver may find out the value: a constant, or what integer instructions made of constants.
    fn foldable(&self, word: Word) -> bool {
        self.target.mode == Mode::Faithful && !self.solid.contains(&word)
    }

    /// The word, as drivers cannot know it: joined with the size, 0, of the object that is never bound.
    pub fn opaque(&mut self, word: Word) -> Word {
        if !self.foldable(word) {
            return word;
        }
        if self.w.bits.get(&word) == Some(&0) {
            return self.hidden_zero();
        }
        self.hidden(word)
    }

    /// The word, as drivers cannot know it, in native mode, too.
    pub fn hidden(&mut self, word: Word) -> Word {
        let zero = self.hidden_zero();
        // An `or` would tell of the bits that are set.
        let hidden = self.word_op(Op::BitwiseXor, &[zero, word]);
        self.solid.insert(hidden);
        hidden
    }

    /// 0, as drivers cannot know it: the size of the object that is never bound.
    pub fn hidden_zero(&mut self) -> Word {
        self.zero_of_empty(0, 2)
    }

    /// Another one, for what is compared with it: a driver that knows the other side knows this zero from there on,
    /// and the zero that operations have must stay unknown.
    pub fn compared_zero(&mut self) -> Word {
        self.zero_of_empty(1, 0)
    }

    /// A word that is 0 of the object that is never bound.
    fn zero_of_empty(&mut self, row: u32, part: u32) -> Word {
        // And of the thread's number: some drivers take time exponential in the length of a computation that is
        // the same for all threads.
        let row = self.row_at(self.layout.row(Slot::Empty) + row);
        let none = self.part(row, part);
        let number = self.launch_id(BuiltIn::LocalInvocationId, 0);
        let part = self.word_op(Op::BitwiseAnd, &[number, none]);
        // In groups of one the number is known to be 0.
        let zero = self.word_op(Op::IAdd, &[part, none]);
        self.solid.insert(zero);
        zero
    }

    /// Arguments of a sum or product, such that the driver can neither compute nor simplify it. Constants may stay
    /// beside an opaque argument, but for 0 and 1.
    fn opaque_arguments<T: Copy>(
        &mut self,
        arguments: &[T],
        constant: impl Fn(&Self, T) -> Option<bool>,
        opaque: impl Fn(&mut Self, T) -> T,
    ) -> SmallVec<[T; 2]> {
        let simple = |e: &Self, argument: T| constant(e, argument).is_some_and(|simplifies| !simplifies);
        let mut result: SmallVec<[T; 2]> =
            arguments.iter().map(|a| if simple(self, *a) { *a } else { opaque(self, *a) }).collect();
        if arguments.iter().all(|a| simple(self, *a)) {
            result[0] = opaque(self, result[0]);
        }
        result
    }

    /// If both words are constant, whether drivers simplify by that double; `None` for other values.
    fn double_constant(&self, q: Quad) -> Option<bool> {
        let Quad::Words(lo, hi) = q else { return None };
        let (lo, hi) = self.constants(lo, hi)?;
        Some(lo == 0 && simplifies(hi, 0x3FF0_0000))
    }

    /// The pair of words, as drivers cannot know it.
    fn opaque_double(&mut self, q: Quad) -> Quad {
        let known = match q {
            Quad::Words(lo, hi) => self.foldable(lo) && self.foldable(hi),
            Quad::Integer(id) | Quad::Double(id) => self.foldable(id),
        };
        if !known {
            return q;
        }
        let (lo, hi) = self.words(q);
        Quad::Words(lo, self.opaque(hi))
    }

    /// The word; if it is the constant 1.0 or −1.0, then not as a constant. Native mode keeps 1.0: a truth as a number
    /// is exact.
    fn hidden_one(&mut self, word: Word) -> Word {
        match self.w.bits.get(&word) {
            Some(0x3F80_0000) => self.opaque(word),
            Some(0xBF80_0000) => self.hidden(word),
            _ => word,
        }
    }

    /// The bits of two constants.
    fn constants(&self, a: Word, b: Word) -> Option<(u32, u32)> {
        Some((*self.w.bits.get(&a)?, *self.w.bits.get(&b)?))
    }

    /// A double-precision instruction.
    fn double_op(&mut self, op: Op, arguments: &[Quad]) -> Quad {
        let arguments = self.opaque_arguments(arguments, Self::double_constant, Self::opaque_double);
        let arguments: SmallVec<[Word; 3]> = arguments.iter().map(|q| self.double(*q)).collect();
        let ty = self.w.ty(Type::F64);
        let id = self.w.exact_op(op, ty, &arguments);
        self.solid.insert(id);
        Quad::Double(id)
    }

    /// A comparison of doubles, none of which a driver may know: some find that any two equal constants are equal numbers.
    fn double_compare(&mut self, op: Op, a: Quad, b: Quad) -> Word {
        let (a, b) = (self.opaque_double(a), self.opaque_double(b));
        let (a, b) = (self.double(a), self.double(b));
        self.truth_op(op, &[a, b])
    }

    /// A 64-bit instruction.
    fn integer_op(&mut self, op: Op, a: Quad, b: Quad) -> Quad {
        let (a, b) = match op {
            Op::ISub => (self.hidden_term(a), self.hidden_term(b)),
            Op::IAdd => (self.opaque_double(a), self.opaque_double(b)),
            _ => (a, b),
        };
        let (a, b) = (self.integer(a), self.integer(b));
        let ty = self.w.ty(Type::U64);
        Quad::Integer(self.w.op(op, ty, &[a, b]))
    }

    /// A term of a 64-bit difference. Some drivers lose the borrow between halves of which they know something, and, in
    /// native mode as well, where the low half is the high one of a product.
    fn hidden_term(&mut self, q: Quad) -> Quad {
        match q {
            Quad::Words(lo, hi) if self.w.bits.get(&lo).is_none() && !self.solid.contains(&lo) => {
                Quad::Words(self.hidden(lo), self.opaque(hi))
            }
            _ => self.opaque_double(q),
        }
    }

    fn integer_compare(&mut self, op: Op, a: Quad, b: Quad) -> Word {
        let (a, b) = (self.integer(a), self.integer(b));
        self.w.op(op, self.t.bool, &[a, b])
    }

    /// The two results of an extended multiplication or an addition with carry.
    fn pair_op(&mut self, op: Op, a: Word, b: Word) -> (Word, Word) {
        let ty = self.w.ty(Type::Pair);
        let both = self.w.op(op, ty, &[a, b]);
        (self.w.extract(self.t.u32, both, 0), self.w.extract(self.t.u32, both, 1))
    }

    fn word_op(&mut self, op: Op, arguments: &[Word]) -> Word {
        self.w.op(op, self.t.u32, arguments)
    }

    fn truth_op(&mut self, op: Op, arguments: &[Word]) -> Word {
        self.w.op(op, self.t.bool, arguments)
    }

    pub(super) fn float_op(&mut self, op: Op, arguments: &[Word]) -> Word {
        let constant = |e: &Self, word| e.w.bits.get(&word).map(|bits| simplifies(*bits, 0x3F80_0000));
        let arguments = self.opaque_arguments(arguments, constant, Self::opaque);
        let arguments: SmallVec<[Word; 3]> = arguments.iter().map(|word| self.as_float(*word)).collect();
        let float = self.w.exact_op(op, self.t.f32, &arguments);
        let word = self.as_word(float);
        self.solid.insert(word);
        word
    }

    pub(super) fn glsl_float(&mut self, op: GLOp, arguments: &[Word]) -> Word {
        let arguments: SmallVec<[Word; 3]> = arguments.iter().map(|word| self.as_float(*word)).collect();
        let float = self.w.glsl(op, self.t.f32, &arguments);
        self.as_word(float)
    }

    /// Applies a lane operation. In native mode the device's own instruction takes the place of a sequence where it
    /// is as good on all arguments that the operation is documented for.
    pub fn apply(&mut self, op: LaneOp, words: &[Word]) -> (Word, Option<Word>) {
        let constants: Option<SmallVec<[u32; 4]>> =
            words.iter().map(|word| self.w.bits.get(word).copied()).collect();
        if let Some(constants) = constants {
            // What a driver makes of constants is not always what it makes of values.
            let (first, second) = crate::isa::lane::fold(op, &constants);
            return (self.word(first), second.map(|bits| self.word(bits)));
        }
        let native = self.target.mode == Mode::Native;
        if native && let Some(result) = self.native(op, words) {
            return result;
        }
        let bare = match op {
            LaneOp::BareAdd => Some(Op::FAdd),
            LaneOp::BareSub => Some(Op::FSub),
            LaneOp::BareMul => Some(Op::FMul),
            _ => None,
        };
        if let Some(bare) = bare {
            return (self.float_op(bare, words), None);
        }
        self.flushed_arguments = op.arguments().iter().all(|class| *class == Class::F);
        self.direct =
            native && matches!(op, LaneOp::Fma | LaneOp::Div | LaneOp::Rcp | LaneOp::Rsq | LaneOp::Sqrt);
        let result = crate::isa::lane::apply(self, op, words);
        self.flushed_arguments = false;
        self.direct = false;
        result
    }

    /// A comparison of floats. Some drivers take a mask, which is no number, for one.
    fn float_compare(&mut self, op: Op, a: Word, b: Word) -> Word {
        let constant = |e: &Self, word| e.w.bits.get(&word).map(|_| false);
        let words = self.opaque_arguments(&[a, b], constant, Self::opaque);
        let (a, b) = (self.as_float(words[0]), self.as_float(words[1]));
        self.truth_op(op, &[a, b])
    }

    /// A word that orders floats as signed integers (NaN excluded, −0 just below +0).
    fn float_key(&mut self, a: Word) -> Word {
        let (n31, low) = (self.word(31), self.word(0x7FFF_FFFF));
        let sign = self.sar(a, n31);
        let flip = self.and(sign, low);
        self.xor(a, flip)
    }

    /// Neither is NaN.
    fn ordered(&mut self, a: Word, b: Word) -> Word {
        let (a, b) = (self.is_nan(a), self.is_nan(b));
        let any = self.either(a, b);
        self.negate(any)
    }

    /// The product is a zero or far from denormals: of a whole number and a constant.
    fn never_tiny(&self, a: Word, b: Word) -> bool {
        let large = |word: &Word| self.w.bits.get(word).is_some_and(|bits| bits >> 23 & 0xFF > 64);
        self.integral.contains(&a) && large(&b) || self.integral.contains(&b) && large(&a)
    }

    /// Both are zeros.
    fn both_zero(&mut self, a: Word, b: Word) -> Word {
        let one = self.word(1);
        let zero = self.word(0);
        let any = self.or(a, b);
        let shifted = self.shl(any, one);
        self.ieq(shifted, zero)
    }

    /// Whether comparisons may be the device's: native mode, arguments known to be flushed, or a device that
    /// keeps denormals.
    fn native_compare(&self) -> bool {
        self.target.mode == Mode::Native || self.flushed_arguments || self.target.gradual32
    }

    /// Quotient and remainder, for devices without 64-bit integers.
    fn long_division(&mut self, a: Quad, b: Quad) -> (Quad, Quad) {
        let routine = self.division_routine();
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let uvec4 = self.t.uvec4;
        let result = self.w.op(Op::FunctionCall, uvec4, &[routine, al, ah, bl, bh]);
        let [ql, qh, rl, rh] = [0, 1, 2, 3].map(|k| self.part(result, k));
        (Quad::Words(ql, qh), Quad::Words(rl, rh))
    }

    /// `uvec4 divide(a low, a high, b low, b high)`: quotient and remainder, a bit at a time.
    fn division_routine(&mut self) -> Word {
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
    fn shift_pair(&mut self, q: Quad, n: Word, left: bool, fill: Option<Word>) -> Quad {
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
        // Some drivers make a product of 1.0 or −1.0 out of this, and −0 out of 0.
        let (a, b) = (self.hidden_one(a), self.hidden_one(b));
        let word = self.word_op(Op::Select, &[c, a, b]);
        if self.constants(a, b) == Some((u32::MAX, 0)) {
            self.memo.truths.insert(word, c);
        }
        if self.solid.contains(&a) && self.solid.contains(&b) {
            self.solid.insert(word);
        }
        word
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
        match times {
            0 => self.word(0),
            1 => of,
            _ => {
                let word = self.word_op(Op::IMul, &[a, b]);
                self.is_product(word, of, times);
                word
            }
        }
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
        if let (Some(x), Some(y)) = (self.memo.truths.get(&a), self.memo.truths.get(&b)) {
            let both = self.both(x, y);
            self.memo.truths.insert(word, both);
        }
        word
    }

    fn or(&mut self, a: Word, b: Word) -> Word {
        if let Some((x, y)) = self.constants(a, b) {
            return self.word(x | y);
        }
        let word = self.word_op(Op::BitwiseOr, &[a, b]);
        if let (Some(x), Some(y)) = (self.memo.truths.get(&a), self.memo.truths.get(&b)) {
            let either = self.either(x, y);
            self.memo.truths.insert(word, either);
        }
        word
    }

    fn xor(&mut self, a: Word, b: Word) -> Word {
        if let Some((x, y)) = self.constants(a, b) {
            return self.word(x ^ y);
        }
        let word = self.word_op(Op::BitwiseXor, &[a, b]);
        let flips = |x: &Word, y: &Word| self.solid.contains(x) && self.w.bits.get(y).is_some();
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
        self.solid.remove(&a);
        self.solid.remove(&b);
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

    fn feq(&mut self, a: Word, b: Word) -> Word {
        if self.native_compare() {
            return self.float_compare(Op::FOrdEqual, a, b);
        }
        let (same, zero, ordered) = (self.ieq(a, b), self.both_zero(a, b), self.ordered(a, b));
        let equal = self.either(same, zero);
        self.both(equal, ordered)
    }

    fn flt(&mut self, a: Word, b: Word) -> Word {
        if self.target.mode == Mode::Faithful && self.w.bits.get(&a) == Some(&0) {
            // b > 0: a positive integer up to infinity. Some drivers recognise sign functions and lose −0.
            let (zero, nan) = (self.word(0), self.word(0x7F80_0001));
            let (positive, number) = (self.ilt(zero, b), self.ilt(b, nan));
            return self.both(positive, number);
        }
        if self.native_compare() {
            return self.float_compare(Op::FOrdLessThan, a, b);
        }
        let (ka, kb) = (self.float_key(a), self.float_key(b));
        let (less, zero, ordered) = (self.ilt(ka, kb), self.both_zero(a, b), self.ordered(a, b));
        let differ = self.negate(zero);
        let less = self.both(less, differ);
        self.both(less, ordered)
    }

    fn fle(&mut self, a: Word, b: Word) -> Word {
        if self.native_compare() {
            return self.float_compare(Op::FOrdLessThanEqual, a, b);
        }
        let (ka, kb) = (self.float_key(a), self.float_key(b));
        let (more, zero, ordered) = (self.ilt(kb, ka), self.both_zero(a, b), self.ordered(a, b));
        let at_most = self.negate(more);
        let at_most = self.either(at_most, zero);
        self.both(at_most, ordered)
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
        // Some drivers round twice; two exact halves and one addition do not.
        let (c16, mask, scale) = (self.word(16), self.word(0xFFFF), self.word(0x4780_0000));
        let (high, low) = (self.shr(a, c16), self.and(a, mask));
        let (high, low) = (self.itof_raw(high), self.itof_raw(low));
        let high = self.float_op(Op::FMul, &[high, scale]);
        self.fadd_raw(high, low)
    }

    fn ftoi_raw(&mut self, a: Word) -> Word {
        let float = self.as_float(a);
        self.word_op(Op::ConvertFToS, &[float])
    }

    fn qadd(&mut self, a: Quad, b: Quad) -> Quad {
        if self.target.int64 {
            return self.integer_op(Op::IAdd, a, b);
        }
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (lo, carry) = self.pair_op(Op::IAddCarry, al, bl);
        let high = self.iadd(ah, bh);
        Quad::Words(lo, self.iadd(high, carry))
    }

    fn qsub(&mut self, a: Quad, b: Quad) -> Quad {
        if self.target.int64 {
            return self.integer_op(Op::ISub, a, b);
        }
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (lo, borrow) = self.pair_op(Op::ISubBorrow, al, bl);
        let high = self.isub(ah, bh);
        Quad::Words(lo, self.isub(high, borrow))
    }

    fn qmul(&mut self, a: Quad, b: Quad) -> Quad {
        if self.target.int64 {
            return self.integer_op(Op::IMul, a, b);
        }
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (lo, high) = self.pair_op(Op::UMulExtended, al, bl);
        let (first, second) = (self.imul(al, bh), self.imul(ah, bl));
        let cross = self.iadd(first, second);
        Quad::Words(lo, self.iadd(high, cross))
    }

    fn qand(&mut self, a: Quad, b: Quad) -> Quad {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        Quad::Words(self.and(al, bl), self.and(ah, bh))
    }

    fn qor(&mut self, a: Quad, b: Quad) -> Quad {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        Quad::Words(self.or(al, bl), self.or(ah, bh))
    }

    fn qxor(&mut self, a: Quad, b: Quad) -> Quad {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        Quad::Words(self.xor(al, bl), self.xor(ah, bh))
    }

    fn qshl(&mut self, a: Quad, n: Word) -> Quad {
        if !self.target.int64 {
            return self.shift_pair(a, n, true, None);
        }
        let a = self.integer(a);
        let ty = self.w.ty(Type::U64);
        Quad::Integer(self.w.op(Op::ShiftLeftLogical, ty, &[a, n]))
    }

    fn qshr(&mut self, a: Quad, n: Word) -> Quad {
        if !self.target.int64 {
            return self.shift_pair(a, n, false, None);
        }
        let a = self.integer(a);
        let ty = self.w.ty(Type::U64);
        Quad::Integer(self.w.op(Op::ShiftRightLogical, ty, &[a, n]))
    }

    fn qsar(&mut self, a: Quad, n: Word) -> Quad {
        if !self.target.int64 {
            let (_, hi) = self.words(a);
            let last = self.word(31);
            let fill = self.sar(hi, last);
            return self.shift_pair(a, n, false, Some(fill));
        }
        let a = self.integer(a);
        let ty = self.w.ty(Type::U64);
        Quad::Integer(self.w.op(Op::ShiftRightArithmetic, ty, &[a, n]))
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
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (less, same, low) = (self.ilt(ah, bh), self.ieq(ah, bh), self.ult(al, bl));
        let tie = self.both(same, low);
        self.either(less, tie)
    }

    fn qult(&mut self, a: Quad, b: Quad) -> Word {
        if self.target.int64 {
            return self.integer_compare(Op::ULessThan, a, b);
        }
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        let (less, same, low) = (self.ult(ah, bh), self.ieq(ah, bh), self.ult(al, bl));
        let tie = self.both(same, low);
        self.either(less, tie)
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

    fn dmul_raw(&mut self, a: Quad, b: Quad) -> Quad {
        self.double_op(Op::FMul, &[a, b])
    }

    fn dfma_raw(&mut self, a: Quad, b: Quad, c: Quad) -> Quad {
        if !self.target.fused64 {
            return super::fused::fma_double(self, a, b, c);
        }
        let arguments = [a, b, c].map(|q| self.double(q));
        let ty = self.w.ty(Type::F64);
        Quad::Double(self.w.glsl(GLOp::Fma, ty, &arguments))
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
        let a = self.double(a);
        let ty = self.w.ty(Type::F64);
        Quad::Double(self.w.glsl(GLOp::Sqrt, ty, &[a]))
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

    fn flush(&mut self, a: Word) -> Word {
        if self.target.mode == Mode::Native {
            return a;
        }
        if let Some(bits) = self.w.bits.get(&a).copied() {
            return if bits & 0x7F80_0000 == 0 { self.word(bits & 0x8000_0000) } else { a };
        }
        let (exponent, zero, sign) = (self.word(0x7F80_0000), self.word(0), self.word(0x8000_0000));
        let e = self.and(a, exponent);
        let tiny = self.ieq(e, zero);
        let signed_zero = self.and(a, sign);
        let word = self.select(tiny, signed_zero, a);
        self.solid_like(a, word)
    }

    fn canonical(&mut self, a: Word) -> Word {
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
}

impl Emitter<'_> {
    /// The divisor, or 1 for 0: SPIR-V leaves quotients by 0 undefined.
    fn divisor(&mut self, b: Word) -> Word {
        let (zero, one) = (self.word(0), self.word(1));
        match self.w.bits.get(&b) {
            Some(0) => one,
            Some(_) => b,
            None => {
                let none = self.ieq(b, zero);
                self.select(none, one, b)
            }
        }
    }

    /// The same for 64 bits, with the dividend. Drivers that know a divisor to be a mask lose its zeros.
    fn long_terms(&mut self, a: Quad, b: Quad) -> (Quad, Quad) {
        let (a, b) = (self.opaque_double(a), self.opaque_double(b));
        let (zero, one) = (self.quad(0), self.quad(1));
        let none = self.qeq(b, zero);
        (a, self.selectq(none, one, b))
    }

    /// A word that a driver knows only if it knows `of`.
    fn solid_like(&mut self, of: Word, word: Word) -> Word {
        if self.solid.contains(&of) {
            self.solid.insert(word);
        }
        word
    }

    /// Float controls of the entry point.
    pub fn float_controls(&mut self, entry: Word) {
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
