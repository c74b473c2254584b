//! Constants that code reads.

use std::collections::HashMap;

/// Constants that code reads, shared by all code of a module.
#[derive(Default)]
pub struct Pool {
    pub words: Vec<u32>,
    word_at: HashMap<u32, u32>,
    quad_at: HashMap<u64, u32>,
    table_at: HashMap<[u32; 16], u32>,
}

impl Pool {
    pub fn word(&mut self, word: u32) -> u32 {
        *self.word_at.entry(word).or_insert_with(|| {
            self.words.push(word);
            4 * (self.words.len() as u32 - 1)
        })
    }

    /// The numbers of the lanes times `step`.
    pub fn lanes(&mut self, step: u32) -> u32 {
        self.table(&std::array::from_fn(|lane| lane as u32 * step))
    }

    /// A word for each lane.
    pub fn table(&mut self, words: &[u32; 16]) -> u32 {
        *self.table_at.entry(*words).or_insert_with(|| {
            self.words.extend(words);
            4 * (self.words.len() as u32 - 16)
        })
    }

    pub fn quad(&mut self, quad: u64) -> u32 {
        *self.quad_at.entry(quad).or_insert_with(|| {
            self.words.extend([quad as u32, (quad >> 32) as u32]);
            4 * (self.words.len() as u32 - 2)
        })
    }
}
