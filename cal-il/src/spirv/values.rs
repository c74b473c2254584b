//! Values that were computed, found by what computed them.
//!
//! The instructions themselves are the keys: the table holds their places in a list of instructions. What was added last
//! is taken back first, so each chain of the table begins with its youngest member.

use rspirv::spirv::{Op, Word};

/// The bit of a hash that says that the value is kept from contraction.
const EXACT: u32 = 1 << 31;

/// No member.
const NONE: u32 = u32::MAX;

/// A list of instructions.
#[derive(Default)]
pub(super) struct Section(pub Vec<u32>);

impl Section {
    /// Appends an instruction: type and result where it has them, then other words.
    pub fn push(&mut self, op: Op, head: &[Word], operands: &[u32]) {
        self.0.push(first(op, head.len() + operands.len()));
        self.0.extend_from_slice(head);
        self.0.extend_from_slice(operands);
    }
}

/// The first word of an instruction that has so many others.
fn first(op: Op, others: usize) -> u32 {
    (others as u32 + 1) << 16 | op as u32
}

/// A computation without effect: instruction, type, whether it is kept from contraction, operands.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    pub op: Op,
    pub ty: Word,
    pub exact: bool,
    pub operands: &'a [u32],
}

impl Value<'_> {
    /// What tables need to find it.
    pub fn hash(&self) -> u32 {
        let mix = |hash: u64, word: u32| {
            (hash ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        };
        let hash = mix(self.op as u64, self.ty);
        let hash = self.operands.iter().fold(hash, |hash, word| mix(hash, *word)) as u32;
        // The instruction does not tell which it is: the hash does.
        if self.exact { hash | EXACT } else { hash & !EXACT }
    }
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u32,
    /// Place of the instruction.
    at: u32,
    /// The one before in the chain.
    next: u32,
}

/// Values by their instructions in one list.
#[derive(Default)]
pub(super) struct Values {
    /// Youngest members of the chains; a power of two of them, twice as many as there are entries.
    chains: Vec<u32>,
    entries: Vec<Entry>,
}

impl Values {
    /// The id of a value whose instruction is in the list.
    pub fn get(&self, list: &Section, value: Value, hash: u32) -> Option<Word> {
        if self.chains.is_empty() {
            return None;
        }
        let first = first(value.op, 2 + value.operands.len());
        let mut at = self.chains[self.chain(hash)];
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.hash == hash {
                let words = &list.0[entry.at as usize..];
                let same = words[0] == first && words[1] == value.ty;
                if same && words[3..].starts_with(value.operands) {
                    return Some(words[2]);
                }
            }
            at = entry.next;
        }
        None
    }

    /// Appends the instruction to the list; from now on the value is found.
    pub fn add(&mut self, list: &mut Section, value: Value, hash: u32, id: Word) {
        if 2 * self.entries.len() >= self.chains.len() {
            self.grow();
        }
        let at = list.0.len() as u32;
        let chain = self.chain(hash);
        let next = std::mem::replace(&mut self.chains[chain], self.entries.len() as u32);
        self.entries.push(Entry { hash, at, next });
        list.push(value.op, &[value.ty, id], value.operands);
    }

    fn chain(&self, hash: u32) -> usize {
        hash as usize & (self.chains.len() - 1)
    }

    fn grow(&mut self) {
        self.chains = vec![NONE; (2 * self.chains.len()).max(256)];
        for k in 0..self.entries.len() {
            let chain = self.chain(self.entries[k].hash);
            self.entries[k].next = std::mem::replace(&mut self.chains[chain], k as u32);
        }
    }

    /// The present state.
    pub fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Forgets what was added since that state.
    pub fn rewind(&mut self, mark: usize) {
        while self.entries.len() > mark {
            let Some(entry) = self.entries.pop() else { return };
            let chain = self.chain(entry.hash);
            self.chains[chain] = entry.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Op, Section, Value, Values};

    fn sum(operands: &[u32]) -> Value<'_> {
        Value { op: Op::FAdd, ty: 1, exact: false, operands }
    }

    fn find(values: &Values, list: &Section, value: Value) -> Option<u32> {
        values.get(list, value, value.hash())
    }

    fn add(values: &mut Values, list: &mut Section, value: Value, id: u32) {
        values.add(list, value, value.hash(), id);
    }

    #[test]
    fn finds_what_is_known_and_nothing_else() {
        let (mut list, mut values) = (Section::default(), Values::default());
        assert_eq!(find(&values, &list, sum(&[1, 2])), None);
        for k in 0..1000 {
            add(&mut values, &mut list, sum(&[k, 7]), 5000 + k);
        }
        let mark = values.mark();
        for k in 1000..3000 {
            add(&mut values, &mut list, sum(&[k, 7]), 5000 + k);
        }
        assert_eq!(find(&values, &list, sum(&[2999, 7])), Some(7999));
        values.rewind(mark);
        for k in 0..3000 {
            assert_eq!(find(&values, &list, sum(&[k, 7])), (k < 1000).then_some(5000 + k));
        }
        let others = [
            Value { op: Op::FMul, ..sum(&[3, 7]) },
            Value { ty: 2, ..sum(&[3, 7]) },
            Value { exact: true, ..sum(&[3, 7]) },
            sum(&[3]),
            sum(&[3, 7, 0]),
            sum(&[7, 3]),
        ];
        for (k, other) in others.into_iter().enumerate() {
            assert_eq!(find(&values, &list, other), None, "{k}");
            add(&mut values, &mut list, other, k as u32);
        }
        for (k, other) in others.into_iter().enumerate() {
            assert_eq!(find(&values, &list, other), Some(k as u32));
        }
        assert_eq!(find(&values, &list, sum(&[3, 7])), Some(5003));
    }
}
