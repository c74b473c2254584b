//! Constants that code reads.

use rustc_hash::FxHashMap;

/// Constants that code reads, shared by all code of a module.
#[derive(Default)]
pub struct Pool {
    pub words: Vec<u32>,
    word_at: FxHashMap<u32, u32>,
    splat_at: FxHashMap<(u32, u32), u32>,
    quad_at: FxHashMap<u64, u32>,
    table_at: FxHashMap<Vec<u32>, u32>,
}

impl Pool {
    pub fn word(&mut self, word: u32) -> u32 {
        *self.word_at.entry(word).or_insert_with(|| {
            self.words.push(word);
            4 * (self.words.len() as u32 - 1)
        })
    }

    /// A word for each lane, where a vector is aligned.
    pub fn table(&mut self, words: &[u32]) -> u32 {
        if let Some(at) = self.table_at.get(words) {
            return *at;
        }
        self.words.resize(self.words.len().next_multiple_of(words.len()), 0);
        let at = 4 * self.words.len() as u32;
        self.words.extend(words);
        self.table_at.insert(words.to_vec(), at);
        at
    }

    /// One word for all lanes.
    pub fn splat(&mut self, lanes: u32, word: u32) -> u32 {
        if let Some(at) = self.splat_at.get(&(lanes, word)) {
            return *at;
        }
        let at = self.lanes(lanes, |_| word);
        self.splat_at.insert((lanes, word), at);
        at
    }

    /// What `word` says of the number of each lane.
    pub fn lanes(&mut self, lanes: u32, word: impl FnMut(u32) -> u32) -> u32 {
        self.table(&(0..lanes).map(word).collect::<Vec<u32>>())
    }

    pub fn quad(&mut self, quad: u64) -> u32 {
        *self.quad_at.entry(quad).or_insert_with(|| {
            self.words.extend([quad as u32, (quad >> 32) as u32]);
            4 * (self.words.len() as u32 - 2)
        })
    }
}
