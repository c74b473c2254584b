//! Maps and sets of ids, and maps that can be taken back to an earlier state.
//!
//! Ids and registers are numbers from 0 without gaps. So sets of them are [`BitSet`], what is known of most of them lies in a
//! vector ([`Words`]), and what is known of few in a map behind a set that says of which ([`Sparse`]).
//!
//! Values are known where the block that computed them dominates. So control flow takes a [`Known::mark`] before it
//! parts and goes back to it, as often as there are ways.

use std::hash::Hash;
use std::marker::PhantomData;

use rspirv::spirv::Word;
use rustc_hash::FxHashMap;

use crate::bits::{BitSet, Number};

/// A map from many numbers to ids, none of which is 0.
#[derive(Debug)]
pub(super) struct Words<K = Word>(Vec<Word>, PhantomData<K>);

impl<K> Default for Words<K> {
    fn default() -> Self {
        Self(Vec::new(), PhantomData)
    }
}

impl<K: Number> Words<K> {
    pub fn get(&self, key: &K) -> Option<Word> {
        self.0.get(key.index()).copied().filter(|id| *id != 0)
    }

    pub fn insert(&mut self, key: K, id: Word) {
        self.change(key, Some(id));
    }
}

/// A map from few numbers.
#[derive(Debug)]
pub(super) struct Sparse<V> {
    keys: BitSet,
    map: FxHashMap<u32, V>,
}

impl<V> Default for Sparse<V> {
    fn default() -> Self {
        Self { keys: BitSet::default(), map: FxHashMap::default() }
    }
}

impl<V: Copy> Sparse<V> {
    pub fn get(&self, key: &u32) -> Option<&V> {
        if self.keys.contains(*key) { self.map.get(key) } else { None }
    }

    pub fn insert(&mut self, key: u32, value: V) {
        self.change(key, Some(value));
    }
}

/// Maps that [`Known`] gives a history.
pub(super) trait Map<K, V> {
    fn look_up(&self, key: &K) -> Option<V>;
    /// Sets a value or takes it away; returns the one before.
    fn change(&mut self, key: K, value: Option<V>) -> Option<V>;
}

impl<K: Number> Map<K, Word> for Words<K> {
    fn look_up(&self, key: &K) -> Option<Word> {
        self.get(key)
    }

    fn change(&mut self, key: K, value: Option<Word>) -> Option<Word> {
        let index = key.index();
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        let before = std::mem::replace(&mut self.0[index], value.unwrap_or(0));
        (before != 0).then_some(before)
    }
}

impl<V: Copy> Map<u32, V> for Sparse<V> {
    fn look_up(&self, key: &u32) -> Option<V> {
        self.get(key).copied()
    }

    fn change(&mut self, key: u32, value: Option<V>) -> Option<V> {
        if value.is_some() {
            self.keys.insert(key);
        }
        self.map.change(key, value)
    }
}

impl<K: Eq + Hash, V: Copy> Map<K, V> for FxHashMap<K, V> {
    fn look_up(&self, key: &K) -> Option<V> {
        self.get(key).copied()
    }

    fn change(&mut self, key: K, value: Option<V>) -> Option<V> {
        match value {
            Some(value) => self.insert(key, value),
            None => self.remove(&key),
        }
    }
}

/// A map with a history.
#[derive(Debug)]
pub(super) struct Known<K, V, M = FxHashMap<K, V>> {
    map: M,
    log: Vec<(K, Option<V>)>,
}

impl<K, V, M: Default> Default for Known<K, V, M> {
    fn default() -> Self {
        Self { map: M::default(), log: Vec::new() }
    }
}

impl<K: Copy, V: Copy, M: Map<K, V>> Known<K, V, M> {
    pub fn get(&self, key: &K) -> Option<V> {
        self.map.look_up(key)
    }

    pub fn insert(&mut self, key: K, value: V) {
        let before = self.map.change(key, Some(value));
        self.log.push((key, before));
    }

    /// Sets a value that going back keeps, unless it is one that was there before.
    pub fn settle(&mut self, key: K, value: V) {
        self.map.change(key, Some(value));
    }

    pub fn remove(&mut self, key: &K) {
        if let Some(before) = self.map.change(*key, None) {
            self.log.push((*key, Some(before)));
        }
    }

    /// The present state. The first one, of an empty map, is 0.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Goes back to a state.
    pub fn rewind(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some((key, before)) = self.log.pop() else { return };
            self.map.change(key, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Map, Sparse, Words};

    fn back_and_forth(mut known: Known<u32, u32, impl Map<u32, u32>>) {
        known.insert(1, 11);
        let mark = known.mark();
        known.insert(1, 12);
        known.insert(200, 13);
        known.remove(&1);
        known.remove(&300);
        assert_eq!((known.get(&1), known.get(&200), known.get(&300)), (None, Some(13), None));
        known.rewind(mark);
        assert_eq!((known.get(&1), known.get(&200)), (Some(11), None));
        known.remove(&1);
        known.rewind(mark);
        assert_eq!(known.get(&1), Some(11));
        known.rewind(0);
        assert_eq!(known.get(&1), None);
    }

    #[test]
    fn goes_back_and_forth() {
        back_and_forth(Known::<u32, u32>::default());
        back_and_forth(Known::<u32, u32, Words>::default());
        back_and_forth(Known::<u32, u32, Sparse<u32>>::default());
    }
}
