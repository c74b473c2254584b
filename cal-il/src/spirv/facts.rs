//! What is true of words: upper bounds, some of them in a branch only, and products by constants.

use rspirv::spirv::Word;

use super::Emitter;
use super::known::{Known, Sparse};
use crate::isa::Algebra;

/// Facts about words that are no constants.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The greatest value.
    most: Known<Word, u32, Sparse<u32>>,
    /// The word and constant, at least 2, that it is the product of, modulo 2^32.
    products: Sparse<(Word, u32)>,
    /// The word and constant that it is the sum of, where that is no more than 2^32 - 1.
    sums: Known<Word, (Word, u32), Sparse<(Word, u32)>>,
    /// Truths that compare: the first word is below the second, neither taken for signed.
    below: Sparse<(Word, Word)>,
}

/// What was known before something was assumed: what follows from that is true no longer, of words either that were there before.
pub(super) struct Assumed([usize; 2]);

impl Facts {
    /// The word is at most this.
    pub fn limit(&mut self, word: Word, most: u32) {
        let before = self.most.get(&word);
        if before.is_none_or(|before| before > most) {
            self.most.insert(word, most);
        }
    }

    /// The same, whatever is assumed at the moment.
    pub fn limit_always(&mut self, word: Word, most: u32) {
        self.most.settle(word, most);
    }

    /// The truth says that one word is below the other.
    pub fn compares(&mut self, truth: Word, word: Word, other: Word) {
        self.below.insert(truth, (word, other));
    }

    /// The factors of a word that is a product by a constant.
    pub fn product(&self, word: Word) -> Option<(Word, u32)> {
        self.products.get(&word).copied()
    }
}

impl Emitter<'_> {
    /// The greatest value that the word can have.
    pub fn most(&self, word: Word) -> u32 {
        let constant = self.w.bits.get(&word);
        constant.copied().or_else(|| self.facts.most.get(&word)).unwrap_or(u32::MAX)
    }

    /// Number of a texel: row times pitch plus column.
    pub fn texel_number(&mut self, row: Word, pitch: Word, column: Word) -> Word {
        let start = self.imul(row, pitch);
        self.iadd(start, column)
    }

    /// The word is computed from others, and that cannot overflow if `most` is some.
    pub(super) fn at_most(&mut self, word: Word, most: Option<u32>) {
        if let Some(most) = most.filter(|most| *most < u32::MAX) {
            self.facts.limit(word, most);
        }
    }

    /// The word is `of` times the constant.
    pub(super) fn is_product(&mut self, word: Word, of: Word, times: u32) {
        if times > 1 {
            self.facts.products.insert(word, (of, times));
            self.at_most(word, self.most(of).checked_mul(times));
        }
    }

    /// The word is the sum of two, modulo 2^32.
    pub(super) fn is_sum(&mut self, word: Word, a: Word, b: Word) {
        let (of, plus) = match (self.w.bits.get(&a), self.w.bits.get(&b)) {
            (Some(plus), _) => (b, *plus),
            (_, Some(plus)) => (a, *plus),
            _ => return,
        };
        if self.most(of).checked_add(plus).is_some() {
            self.facts.sums.insert(word, (of, plus));
        }
    }

    /// `a` divided by a power of two, if that takes less than a shift, or its constants can be divided: then drivers find that addresses
    /// differ by a constant.
    pub(super) fn shifted(&mut self, a: Word, by: u32) -> Option<Word> {
        if by == 0 {
            return Some(a);
        }
        if by > 31 {
            return None;
        }
        let unit = 1 << by;
        if let Some((of, times)) = self.facts.product(a) {
            let whole = times % unit == 0 && self.most(of).checked_mul(times).is_some();
            if whole {
                let rest = self.word(times / unit);
                return Some(self.imul(of, rest));
            }
            if times != unit {
                return None;
            }
            let kept = self.word(u32::MAX >> by);
            return Some(self.and(of, kept));
        }
        let (of, plus) = self.facts.sums.get(&a).filter(|(_, plus)| plus % unit == 0)?;
        let by = self.word(by);
        let (head, rest) = (self.shr(of, by), self.word(plus / unit));
        Some(self.iadd(head, rest))
    }

    /// What is known before more is assumed.
    pub(super) fn assumed(&mut self) -> Assumed {
        Assumed([self.facts.most.mark(), self.facts.sums.mark()])
    }

    /// From here on, up to `forget_assumed`, the truth holds.
    pub(super) fn assume_holds(&mut self, truth: Word) -> Assumed {
        let before = self.assumed();
        if let Some((word, other)) = self.facts.below.get(&truth).copied()
            && let Some(most) = self.most(other).checked_sub(1)
        {
            self.facts.limit(word, most);
        }
        before
    }

    pub(super) fn forget_assumed(&mut self, assumed: Assumed) {
        let [most, sums] = assumed.0;
        self.facts.most.rewind(most);
        self.facts.sums.rewind(sums);
    }

    /// Whether the index is below the limit, for all that can be known here.
    pub fn surely_below(&self, index: Word, limit: Word) -> bool {
        self.w.bits.get(&limit).is_some_and(|limit| self.most(index) < *limit)
    }
}
