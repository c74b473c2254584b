//! Sets of registers, ids and other numbers that go from 0 on without gaps.

use fixedbitset::FixedBitSet;

/// A set of numbers, a bit for each. It grows as they come; two are equal if the same numbers are in them.
#[derive(Clone, Debug, Default)]
pub struct BitSet(FixedBitSet);

impl BitSet {
    /// An empty set.
    pub const fn new() -> BitSet {
        BitSet(FixedBitSet::new())
    }

    /// All numbers below `count`.
    pub fn all(count: u32) -> BitSet {
        let mut bits = FixedBitSet::with_capacity(count as usize);
        bits.insert_range(..);
        BitSet(bits)
    }

    /// Whether a number is in it.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.0.contains(number as usize)
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, number: u32) {
        self.0.grow_and_insert(number as usize);
    }

    /// The same; true if it was not in it.
    #[inline]
    pub fn insert_new(&mut self, number: u32) -> bool {
        self.0.grow(number as usize + 1);
        !self.0.put(number as usize)
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        if (number as usize) < self.0.len() {
            self.0.remove(number as usize);
        }
    }

    /// Adds those of another; true if any is new.
    pub fn union_with(&mut self, other: &BitSet) -> bool {
        let new = !other.0.is_subset(&self.0);
        if new {
            self.0.union_with(&other.0);
        }
        new
    }

    /// They, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.ones().map(|number| number as u32)
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

impl PartialEq for BitSet {
    fn eq(&self, other: &BitSet) -> bool {
        self.0.is_subset(&other.0) && other.0.is_subset(&self.0)
    }
}

impl Eq for BitSet {}

impl Extend<u32> for BitSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, numbers: I) {
        numbers.into_iter().for_each(|number| self.insert(number));
    }
}

#[cfg(test)]
mod tests {
    use super::BitSet;

    #[test]
    fn what_is_in_it_counts_and_not_its_size() {
        let (mut one, mut other) = (BitSet::default(), BitSet::default());
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
        let mut all = BitSet::all(65);
        assert!(all.len() == 65 && all.contains(64) && !all.contains(65));
        all.insert(65);
        assert!(all.contains(65));
    }
}
