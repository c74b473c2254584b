//! What is known at a point of a module: maps that can be taken back to an earlier state.
//!
//! Values are known where the block that computed them dominates. So control flow takes a [`Known::mark`] before it
//! parts and goes back to it, as often as there are ways.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A map with a history.
#[derive(Debug)]
pub(super) struct Known<K, V> {
    map: FxHashMap<K, V>,
    log: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self { map: FxHashMap::default(), log: Vec::new() }
    }
}

impl<K: Clone + Eq + Hash, V: Copy> Known<K, V> {
    pub fn get(&self, key: &K) -> Option<V> {
        self.map.get(key).copied()
    }

    pub fn insert(&mut self, key: K, value: V) {
        let before = self.map.insert(key.clone(), value);
        self.log.push((key, before));
    }

    pub fn remove(&mut self, key: &K) {
        if let Some(before) = self.map.remove(key) {
            self.log.push((key.clone(), Some(before)));
        }
    }

    /// The present state.
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Goes back to a state.
    pub fn rewind(&mut self, mark: usize) {
        while self.log.len() > mark {
            let Some((key, before)) = self.log.pop() else { return };
            match before {
                Some(value) => self.map.insert(key, value),
                None => self.map.remove(&key),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn goes_back_and_forth() {
        let mut known = Known::default();
        known.insert(1, 'a');
        let mark = known.mark();
        known.insert(1, 'b');
        known.insert(2, 'c');
        known.remove(&1);
        assert_eq!((known.get(&1), known.get(&2)), (None, Some('c')));
        known.rewind(mark);
        assert_eq!((known.get(&1), known.get(&2)), (Some('a'), None));
        known.remove(&1);
        known.rewind(mark);
        assert_eq!(known.get(&1), Some('a'));
        known.rewind(0);
        assert_eq!(known.get(&1), None);
    }
}
