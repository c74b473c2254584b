//! Lane operations as SPIR-V: the instructions that they are made of. [`super::algebra`] says which, [`super::hidden`] what drivers
//! must not find out about their arguments.

use rspirv::spirv::{GlslStd450Op as GLOp, Op, Word};
use smallvec::SmallVec;

use super::forms::Quad;
use super::hidden::simplifies;
use super::module::Type;
use super::{Emitter, Mode};
use crate::isa::lane::Class;
use crate::isa::{Algebra, LaneOp};

impl Emitter<'_> {
    /// The bits of two constants.
    pub(super) fn constants(&self, a: Word, b: Word) -> Option<(u32, u32)> {
        Some((*self.w.bits.get(&a)?, *self.w.bits.get(&b)?))
    }

    /// A double-precision instruction.
    pub(super) fn double_op(&mut self, op: Op, arguments: &[Quad]) -> Quad {
        let arguments = self.opaque_arguments(arguments, Self::double_constant, Self::opaque_double);
        let arguments: SmallVec<[Word; 3]> = arguments.iter().map(|q| self.double(*q)).collect();
        let ty = self.w.ty(Type::F64);
        let id = self.w.exact_op(op, ty, &arguments);
        self.solid.insert(id);
        Quad::Double(id)
    }

    /// One of two words.
    pub(super) fn choice(&mut self, c: Word, a: Word, b: Word) -> Word {
        // Some drivers make a product of 1.0 or −1.0 out of this, and −0 out of 0.
        let (a, b) = (self.hidden_one(a), self.hidden_one(b));
        let word = self.word_op(Op::Select, &[c, a, b]);
        if self.constants(a, b) == Some((u32::MAX, 0)) {
            self.memo.truths.insert(word, c);
        }
        if self.solid.contains(a) && self.solid.contains(b) {
            self.solid.insert(word);
        }
        word
    }

    /// One of two doubles, as a double.
    pub(super) fn double_choice(&mut self, c: Word, a: Quad, b: Quad) -> Quad {
        let (a, b) = (self.opaque_double(a), self.opaque_double(b));
        let choice = [c, self.double(a), self.double(b)];
        let ty = self.w.ty(Type::F64);
        let double = self.w.op(Op::Select, ty, &choice);
        self.solid.insert(double);
        Quad::Double(double)
    }

    /// A comparison of doubles, none of which a driver may know: some find that any two equal constants are equal numbers.
    pub(super) fn double_compare(&mut self, op: Op, a: Quad, b: Quad) -> Word {
        let (a, b) = (self.opaque_double(a), self.opaque_double(b));
        let (a, b) = (self.double(a), self.double(b));
        self.truth_op(op, &[a, b])
    }

    /// A 64-bit instruction.
    pub(super) fn integer_op(&mut self, op: Op, a: Quad, b: Quad) -> Quad {
        let (a, b) = match op {
            Op::ISub => (self.hidden_term(a), self.hidden_term(b)),
            Op::IAdd => (self.opaque_double(a), self.opaque_double(b)),
            _ => (a, b),
        };
        let (a, b) = (self.integer(a), self.integer(b));
        let ty = self.w.ty(Type::U64);
        Quad::Integer(self.w.op(op, ty, &[a, b]))
    }

    pub(super) fn integer_shift(&mut self, op: Op, a: Quad, n: Word) -> Quad {
        let a = self.integer(a);
        let ty = self.w.ty(Type::U64);
        Quad::Integer(self.w.op(op, ty, &[a, n]))
    }

    /// The same of the low words and of the high ones.
    pub(super) fn by_words(&mut self, a: Quad, b: Quad, f: fn(&mut Self, Word, Word) -> Word) -> Quad {
        let ((al, ah), (bl, bh)) = (self.words(a), self.words(b));
        Quad::Words(f(self, al, bl), f(self, ah, bh))
    }

    pub(super) fn integer_compare(&mut self, op: Op, a: Quad, b: Quad) -> Word {
        let (a, b) = (self.integer(a), self.integer(b));
        self.w.op(op, self.t.bool, &[a, b])
    }

    /// The two results of an extended multiplication or an addition with carry.
    pub(super) fn pair_op(&mut self, op: Op, a: Word, b: Word) -> (Word, Word) {
        let ty = self.w.ty(Type::Pair);
        let both = self.w.op(op, ty, &[a, b]);
        (self.w.extract(self.t.u32, both, 0), self.w.extract(self.t.u32, both, 1))
    }

    pub(super) fn word_op(&mut self, op: Op, arguments: &[Word]) -> Word {
        self.w.op(op, self.t.u32, arguments)
    }

    pub(super) fn truth_op(&mut self, op: Op, arguments: &[Word]) -> Word {
        self.w.op(op, self.t.bool, arguments)
    }

    /// A word that two words give which are all ones where something holds is such a word, too.
    pub(super) fn joins_truths(&mut self, op: Op, word: Word, a: Word, b: Word) {
        if let (Some(x), Some(y)) = (self.memo.truths.get(&a), self.memo.truths.get(&b)) {
            let truth = self.truth_op(op, &[x, y]);
            self.memo.truths.insert(word, truth);
        }
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

    /// The divisor, or 1 for 0: SPIR-V leaves quotients by 0 undefined.
    pub(super) fn divisor(&mut self, b: Word) -> Word {
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

    pub(super) fn glsl_double(&mut self, op: GLOp, arguments: &[Quad]) -> Quad {
        let arguments: SmallVec<[Word; 3]> = arguments.iter().map(|q| self.double(*q)).collect();
        let ty = self.w.ty(Type::F64);
        Quad::Double(self.w.glsl(op, ty, &arguments))
    }

    /// The product of two words, of which one is the constant `times` and the other `of`.
    pub(super) fn multiple(&mut self, factors: [Word; 2], of: Word, times: u32) -> Word {
        match times {
            0 => self.word(0),
            1 => of,
            _ => {
                let word = self.word_op(Op::IMul, &factors);
                self.is_product(word, of, times);
                word
            }
        }
    }

    /// Applies a lane operation. In native mode the device's own instruction takes the place of a sequence where it
    /// is as good on all arguments that the operation is documented for.
    pub(super) fn apply(&mut self, op: LaneOp, words: &[Word]) -> (Word, Option<Word>) {
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
        let bits = |k: usize| words.get(k).and_then(|word| self.w.bits.get(word)).copied();
        if self.target.multiplies_apart
            && op == LaneOp::Imad
            && (bits(1), bits(2)) == (Some(2), Some(u32::MAX))
        {
            // Of a 2 that it knows a driver makes a shift.
            let two = self.hidden(words[1]);
            let double = self.word_op(Op::IMul, &[words[0], two]);
            return (self.word_op(Op::IAdd, &[double, words[2]]), None);
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
}
