//! What integer words are for each thread of a group, as far as the program alone decides it.
//!
//! The emitter notes what words are made of; they are worked out, by the constant folder, only when somebody asks. What
//! depends on memory, on the launch or on the way that control took is not known.

use std::rc::Rc;

use rspirv::spirv::Word;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::known::Sparse;
use crate::ir::LaneOp;
use crate::isa::lane::{self, Class};

/// Operations that are followed back from a word.
const DEEPEST: u32 = 64;

/// Operations of single threads that a module may take: about a millisecond.
const MOST_WORK: u32 = 1 << 17;

/// What a word is made of.
#[derive(Debug)]
enum Made {
    /// A component of the thread's number in its group.
    Number(u8),
    /// The thread's number in its group, flat.
    FlatNumber,
    /// An operation on older words.
    Result(LaneOp, SmallVec<[Word; 4]>),
}

/// What is known of words; of a group whose size is not known, nothing.
#[derive(Debug, Default)]
pub(super) struct Threads {
    size: Option<[u32; 3]>,
    made: FxHashMap<Word, Made>,
    rows: FxHashMap<Word, Option<Rc<[u32]>>>,
    work: u32,
}

impl Threads {
    /// Nothing is known so far.
    pub fn of(size: Option<[u32; 3]>) -> Self {
        Self { size, ..Self::default() }
    }

    /// The word is a component of the thread's number, or its flat number.
    pub fn is_number(&mut self, word: Word, component: Option<u8>) {
        if self.size.is_some() {
            self.made.insert(word, component.map_or(Made::FlatNumber, Made::Number));
        }
    }

    /// The word, which did not exist before, is what an operation gives.
    pub fn is_result(&mut self, word: Word, op: LaneOp, arguments: &[Word]) {
        let integers = op.result() == Class::W && op.arguments().iter().all(|class| *class == Class::W);
        if self.size.is_some() && integers {
            self.made.insert(word, Made::Result(op, arguments.into()));
        }
    }

    /// The word's value for each thread, by flat number, where all can be known.
    pub fn values(&mut self, word: Word, constants: &Sparse<u32>) -> Option<Rc<[u32]>> {
        self.row(word, constants, DEEPEST)
    }

    fn row(&mut self, word: Word, constants: &Sparse<u32>, depth: u32) -> Option<Rc<[u32]>> {
        if let Some(row) = self.rows.get(&word) {
            return row.clone();
        }
        let row = self.compute(word, constants, depth);
        self.rows.insert(word, row.clone());
        row
    }

    fn compute(&mut self, word: Word, constants: &Sparse<u32>, depth: u32) -> Option<Rc<[u32]>> {
        let [x, y, z] = self.size?;
        let threads = x * y * z;
        self.work += threads;
        if self.work > MOST_WORK {
            return None;
        }
        if let Some(bits) = constants.get(&word) {
            return Some((0..threads).map(|_| *bits).collect());
        }
        let (op, arguments) = match self.made.get(&word)? {
            Made::FlatNumber => return Some((0..threads).collect()),
            Made::Number(0) => return Some((0..threads).map(|thread| thread % x).collect()),
            Made::Number(1) => return Some((0..threads).map(|thread| thread / x % y).collect()),
            Made::Number(_) => return Some((0..threads).map(|thread| thread / x / y).collect()),
            Made::Result(op, arguments) => (*op, arguments.clone()),
        };
        let depth = depth.checked_sub(1)?;
        let rows: SmallVec<[Rc<[u32]>; 4]> =
            arguments.iter().map(|argument| self.row(*argument, constants, depth)).collect::<Option<_>>()?;
        let of = |thread: u32| {
            let words: SmallVec<[u32; 4]> = rows.iter().map(|row| row[thread as usize]).collect();
            lane::fold(op, &words).0
        };
        Some((0..threads).map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, LaneOp, MOST_WORK, Sparse, Threads};

    /// Words: 1 = 3, 2 = column, 3 = row, 4 = plane, 5 = flat number.
    fn known(size: [u32; 3]) -> (Threads, Sparse<u32>) {
        let mut constants = Sparse::default();
        constants.insert(1, 3);
        let mut threads = Threads::of(Some(size));
        (0..3).for_each(|k| threads.is_number(2 + u32::from(k), Some(k)));
        threads.is_number(5, None);
        (threads, constants)
    }

    #[test]
    fn follows_integer_operations() {
        let (mut threads, constants) = known([2, 3, 2]);
        threads.is_result(6, LaneOp::Imad, &[3, 1, 2]);
        threads.is_result(7, LaneOp::Xor, &[6, 5]);
        let of = |thread: u32| (thread / 2 % 3 * 3 + thread % 2) ^ thread;
        assert_eq!(threads.values(7, &constants).as_deref(), Some(&(0..12).map(of).collect::<Vec<_>>()[..]));
        let planes = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
        assert_eq!(threads.values(4, &constants).as_deref(), Some(&planes[..]));
        assert_eq!(threads.values(1, &constants).as_deref(), Some(&[3; 12][..]));
    }

    #[test]
    fn gives_up() {
        let (mut threads, constants) = known([64, 1, 1]);
        // Something of unknown origin, floats, and what they make.
        threads.is_result(7, LaneOp::Iadd, &[2, 6]);
        threads.is_result(8, LaneOp::Add, &[2, 2]);
        threads.is_result(9, LaneOp::Iadd, &[8, 8]);
        for word in [6, 7, 8, 9] {
            assert_eq!(threads.values(word, &constants), None, "{word}");
        }
        // A chain that is too long, unless someone asks on the way.
        let last = 10 + DEEPEST;
        threads.is_result(10, LaneOp::Iadd, &[2, 1]);
        (11..=last).for_each(|word| threads.is_result(word, LaneOp::Iadd, &[word - 1, 1]));
        assert!(threads.values(last - 1, &constants).is_some());
        assert!(threads.values(last, &constants).is_some());
        let (mut threads, constants) = known([64, 1, 1]);
        threads.is_result(10, LaneOp::Iadd, &[2, 1]);
        (11..=last).for_each(|word| threads.is_result(word, LaneOp::Iadd, &[word - 1, 1]));
        assert_eq!(threads.values(last, &constants), None);
        // Too much work in all.
        let (mut threads, constants) = known([1024, 1, 1]);
        let steps = MOST_WORK / 1024;
        let mut word = 10;
        threads.is_result(word, LaneOp::Iadd, &[2, 1]);
        assert!(threads.values(word, &constants).is_some());
        for _ in 0..steps {
            word += 1;
            threads.is_result(word, LaneOp::Iadd, &[word - 1, 1]);
            threads.values(word, &constants);
        }
        assert_eq!(threads.values(word, &constants), None);
        // A group of unknown size.
        let mut threads = Threads::of(None);
        threads.is_number(2, Some(0));
        assert_eq!(threads.values(2, &constants), None);
    }
}
