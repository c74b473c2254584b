//! Sets of registers, ids and other numbers that go from 0 on without gaps.

use std::marker::PhantomData;

use fixedbitset::FixedBitSet;

/// What is numbered from 0 on without gaps.
pub trait Number: Copy {
    /// That with a number.
    fn new(index: usize) -> Self;
    /// Its number.
    fn index(self) -> usize;
}

impl Number for u32 {
    #[inline]
    fn new(index: usize) -> u32 {
        index as u32
    }

    #[inline]
    fn index(self) -> usize {
        self as usize
    }
}

/// A set of what has numbers, a bit for each. It grows as they come; two are equal if the same numbers are in them.
#[derive(Clone, Debug)]
pub struct BitSet<T = u32>(FixedBitSet, PhantomData<T>);

impl<T> BitSet<T> {
    /// An empty set.
    pub const fn new() -> Self {
        BitSet(FixedBitSet::new(), PhantomData)
    }
}

impl<T> Default for BitSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Number> BitSet<T> {
    /// All numbers below `count`.
    pub fn all(count: u32) -> Self {
        let mut bits = FixedBitSet::with_capacity(count as usize);
        bits.insert_range(..);
        BitSet(bits, PhantomData)
    }

    /// Whether one is in it.
    #[inline]
    pub fn contains(&self, one: T) -> bool {
        self.0.contains(one.index())
    }

    /// Adds one.
    #[inline]
    pub fn insert(&mut self, one: T) {
        self.0.grow_and_insert(one.index());
    }

    /// The same; true if it was not in it.
    #[inline]
    pub fn insert_new(&mut self, one: T) -> bool {
        self.0.grow(one.index() + 1);
        !self.0.put(one.index())
    }

    /// Takes one out.
    #[inline]
    pub fn remove(&mut self, one: T) {
        if one.index() < self.0.len() {
            self.0.remove(one.index());
        }
    }

    /// Adds those of another; true if any is new.
    pub fn union_with(&mut self, other: &Self) -> bool {
        let new = !other.0.is_subset(&self.0);
        if new {
            self.0.union_with(&other.0);
        }
        new
    }

    /// They, in order.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.0.ones().map(T::new)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.count_ones(..)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }
}

impl<T> PartialEq for BitSet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0) && other.0.is_subset(&self.0)
    }
}

impl<T> Eq for BitSet<T> {}

impl<T: Number> Extend<T> for BitSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, more: I) {
        more.into_iter().for_each(|one| self.insert(one));
    }
}

#[cfg(test)]
mod tests {
    use super::BitSet;

    #[test]
    fn what_is_in_it_counts_and_not_its_size() {
        let (mut one, mut other) = (BitSet::<u32>::default(), BitSet::default());
        assert!(one.is_empty() && one == other && !one.contains(7));
        assert!(one.insert_new(7) && !one.insert_new(7));
        one.extend([7, 200]);
        other.insert(7);
        assert!(one != other && !one.union_with(&other) && other.union_with(&one) && one == other);
        one.remove(200);
        one.remove(3000);
        assert!(one != other && one.iter().eq([7]) && one.len() == 1 && !one.is_empty());
        other.remove(200);
        let mut small = BitSet::new();
        small.insert(7);
        assert_eq!([&one, &one, &small], [&other, &small, &one]);
        let mut all = BitSet::<u32>::all(65);
        assert!(all.len() == 65 && all.contains(64) && !all.contains(65));
        all.insert(65);
        assert!(all.contains(65));
    }
}
