//! What drivers must not find out. Some take x + 0 for x and 0 · x for 0, which loses −0 and NaN, and find such zeros by following
//! constants and registers that nothing wrote: what a driver might know comes to sums and products joined with a word of the
//! launch table that is 0.

use rspirv::spirv::{BuiltIn, Op, Word};
use smallvec::SmallVec;

use super::forms::Quad;
use super::launch::Slot;
use super::memory::Place;
use super::{Emitter, Mode};
use crate::isa::Algebra;

/// Whether drivers simplify sums or products by a float with this (high) word, 0 or 1 with either sign.
pub(super) fn simplifies(bits: u32, one: u32) -> bool {
    let magnitude = bits & 0x7FFF_FFFF;
    magnitude == 0 || magnitude == one
}

impl Emitter<'_> {
    /// Whether a driver may find out the value: a constant, or what integer instructions made of constants.
    pub(super) fn foldable(&self, word: Word) -> bool {
        self.target.mode == Mode::Faithful && !self.solid.contains(word)
    }

    /// The word, as drivers cannot know it: joined with the size, 0, of the object that is never bound.
    pub(super) fn opaque(&mut self, word: Word) -> Word {
        if !self.foldable(word) {
            return word;
        }
        if self.w.bits.get(&word) == Some(&0) {
            return self.hidden_zero();
        }
        self.hidden(word)
    }

    /// The word, as drivers cannot know it, in native mode, too.
    pub(super) fn hidden(&mut self, word: Word) -> Word {
        let zero = self.hidden_zero();
        // An `or` would tell of the bits that are set.
        let hidden = self.word_op(Op::BitwiseXor, &[zero, word]);
        self.solid.insert(hidden);
        hidden
    }

    /// 0, as drivers cannot know it: the size of the object that is never bound.
    pub(super) fn hidden_zero(&mut self) -> Word {
        self.zero_of_empty(0, 2)
    }

    /// Another one, for what is compared with it: a driver that knows the other side knows this zero from there on,
    /// and the zero that operations have must stay unknown.
    pub(super) fn compared_zero(&mut self) -> Word {
        self.zero_of_empty(1, 0)
    }

    /// A word that is 0 of the object that is never bound.
    pub(super) fn zero_of_empty(&mut self, row: u32, part: u32) -> Word {
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
    pub(super) fn opaque_arguments<T: Copy>(
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
    pub(super) fn double_constant(&self, q: Quad) -> Option<bool> {
        let Quad::Words(lo, hi) = q else { return None };
        let (lo, hi) = self.constants(lo, hi)?;
        Some(lo == 0 && simplifies(hi, 0x3FF0_0000))
    }

    /// The pair of words, as drivers cannot know it.
    pub(super) fn opaque_double(&mut self, q: Quad) -> Quad {
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

    /// What a load outside of a memory gives, as drivers cannot know it where they know none of its words.
    pub(super) fn outside(&mut self, place: Place) -> Word {
        let zero = self.word(0);
        if self.unknown.contains(&place) { self.opaque(zero) } else { zero }
    }

    /// Words as a load gives them, of those that were found; `inside`: whether they are of the memory, if that is asked.
    pub(super) fn loaded(&mut self, place: Place, words: Vec<Word>, inside: Option<Word>) -> Vec<Word> {
        if self.unknown.contains(&place) {
            self.solid.extend(words.iter().copied());
        }
        let Some(inside) = inside else { return words };
        let outside = self.outside(place);
        words.into_iter().map(|word| self.select(inside, word, outside)).collect()
    }

    /// A word that is stored.
    pub(super) fn stored(&mut self, place: Place, word: Word) -> Word {
        if self.unknown.contains(&place) { self.opaque(word) } else { word }
    }

    /// The word; if it is the constant 1.0 or −1.0, then not as a constant. Native mode keeps 1.0: a truth as a number
    /// is exact.
    pub(super) fn hidden_one(&mut self, word: Word) -> Word {
        match self.w.bits.get(&word) {
            Some(0x3F80_0000) => self.opaque(word),
            Some(0xBF80_0000) => self.hidden(word),
            _ => word,
        }
    }

    /// A term of a 64-bit difference. Some drivers lose the borrow between halves of which they know something, and, in
    /// native mode as well, where the low half is the high one of a product.
    pub(super) fn hidden_term(&mut self, q: Quad) -> Quad {
        match q {
            Quad::Words(lo, hi) if self.w.bits.get(&lo).is_none() && !self.solid.contains(lo) => {
                Quad::Words(self.hidden(lo), self.opaque(hi))
            }
            _ => self.opaque_double(q),
        }
    }

    /// The same for 64 bits, with the dividend. Drivers that know a divisor to be a mask lose its zeros.
    pub(super) fn long_terms(&mut self, a: Quad, b: Quad) -> (Quad, Quad) {
        let (a, b) = (self.opaque_double(a), self.opaque_double(b));
        let (zero, one) = (self.quad(0), self.quad(1));
        let none = self.qeq(b, zero);
        (a, self.selectq(none, one, b))
    }

    /// A word that a driver knows only if it knows `of`.
    pub(super) fn solid_like(&mut self, of: Word, word: Word) -> Word {
        if self.solid.contains(of) {
            self.solid.insert(word);
        }
        word
    }
}
