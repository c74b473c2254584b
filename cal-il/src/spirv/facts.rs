//! What is true of words: upper bounds, some of them in a branch only, and products by constants.

use rspirv::spirv::Word;

use super::Emitter;
use super::known::{Map, Sparse};
use crate::isa::Algebra;

/// Facts about words that are no constants.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The greatest value.
    most: Sparse<u32>,
    /// The word and constant, at least 2, that it is the product of, modulo 2^32.
    products: Sparse<(Word, u32)>,
    /// Truths that compare: the first word is below the second, neither taken for signed.
    below: Sparse<(Word, Word)>,
}

/// What was known of a word before it was assumed to be small.
pub(super) struct Assumed(Option<(Word, Option<u32>)>);

impl Facts {
    /// The word is at most this.
    pub fn limit(&mut self, word: Word, most: u32) {
        let before = self.most.get(&word).copied().unwrap_or(u32::MAX);
        self.most.insert(word, most.min(before));
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
        constant.or_else(|| self.facts.most.get(&word)).copied().unwrap_or(u32::MAX)
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

    /// `a` divided by a power of two, if that takes less than a shift.
    pub(super) fn shifted(&mut self, a: Word, by: u32) -> Option<Word> {
        if by == 0 {
            return Some(a);
        }
        let (of, times) = self.facts.product(a)?;
        if by > 31 || times != 1 << by {
            return None;
        }
        let kept = u32::MAX >> by;
        if self.most(of) <= kept {
            return Some(of);
        }
        let kept = self.word(kept);
        Some(self.and(of, kept))
    }

    /// From here on, up to `forget_assumed`, the truth holds.
    pub(super) fn assume_holds(&mut self, truth: Word) -> Assumed {
        let compared = self.facts.below.get(&truth).copied();
        let Some((word, bound)) = compared.map(|(word, other)| (word, self.most(other))) else {
            return Assumed(None);
        };
        let before = self.facts.most.get(&word).copied();
        if bound > 0 {
            self.facts.limit(word, bound - 1);
        }
        Assumed(Some((word, before)))
    }

    pub(super) fn forget_assumed(&mut self, assumed: Assumed) {
        if let Assumed(Some((word, before))) = assumed {
            self.facts.most.change(word, before);
        }
    }

    /// Whether the index is below the limit, for all that can be known here.
    pub fn surely_below(&self, index: Word, limit: Word) -> bool {
        self.w.bits.get(&limit).is_some_and(|limit| self.most(index) < *limit)
    }
}
