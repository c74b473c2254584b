//! What is known of words, and the algebra of that.

use super::Shape;
use crate::isa::Algebra;

/// What is known of a word, in the threads of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// No definition was seen yet.
    Unknown,
    Constant(u32),
    Same,
    Step(u32),
    /// A step of 2^n, and bits n to n + 3 are those of the number of the thread; above them all is the same for sixteen threads.
    Number(u32),
    /// As of [`Shape::Bits`]. `pure`: each is a bit of the word, and what else is in it is the same for sixteen threads.
    Bits {
        bits: [u32; 4],
        pure: bool,
    },
    Any,
}

impl Word {
    pub fn join(self, other: Word) -> Word {
        match (self, other) {
            (Word::Unknown, word) | (word, Word::Unknown) => word,
            (a, b) if a == b => a,
            (Word::Constant(_) | Word::Same, Word::Constant(_) | Word::Same) => Word::Same,
            _ => match (self.steps(), other.steps()) {
                (Some(a), Some(b)) if a == b && a != 0 => Word::Step(a),
                _ => match (self.bits(), other.bits()) {
                    (Some(a), Some(b)) if a == b => Word::Bits { bits: a, pure: false },
                    _ => Word::Any,
                },
            },
        }
    }

    /// From thread to thread of a line.
    pub fn steps(self) -> Option<u32> {
        match self {
            Word::Constant(_) | Word::Same => Some(0),
            Word::Step(step) => Some(step),
            Word::Number(n) => Some(1 << n),
            Word::Unknown | Word::Bits { .. } | Word::Any => None,
        }
    }

    /// As of [`Shape::Bits`].
    pub fn bits(self) -> Option<[u32; 4]> {
        match self {
            Word::Bits { bits, .. } => Some(bits),
            word => word.steps().map(|step| [0, 1, 2, 3].map(|k| step << k)),
        }
    }

    /// Bits of the number of the thread that are bits of the word.
    pub fn pure(self) -> Option<[u32; 4]> {
        match self {
            Word::Number(_) | Word::Bits { pure: true, .. } => self.bits(),
            _ => None,
        }
    }

    /// What comes of two words by sums, differences and products, as `of` says of what they step by.
    pub fn linear(self, other: Word, of: impl Fn(u32, u32) -> u32) -> Word {
        match (self.steps(), other.steps()) {
            (Some(a), Some(b)) => Word::step(of(a, b)),
            _ => match (self.bits(), other.bits()) {
                (Some(a), Some(b)) => {
                    Word::Bits { bits: std::array::from_fn(|k| of(a[k], b[k])), pure: false }
                }
                _ => Word::Any,
            },
        }
    }

    pub fn step(step: u32) -> Word {
        if step == 0 { Word::Same } else { Word::Step(step) }
    }

    pub fn is_same(self) -> bool {
        matches!(self, Word::Constant(_) | Word::Same)
    }

    pub fn shape(self) -> Shape {
        match self {
            Word::Constant(_) | Word::Same => Shape::Same,
            Word::Step(step) => Shape::Step(step),
            Word::Number(n) => Shape::Step(1 << n),
            Word::Bits { bits, .. } => Shape::Bits(bits),
            Word::Any | Word::Unknown => Shape::Any,
        }
    }
}

/// The algebra of shapes. Truth values are true if all threads of a line agree. 64-bit values have no steps.
pub struct Words;

/// Of a result that depends on these words and has no shape of its own.
fn of<const N: usize>(words: [Word; N]) -> Word {
    if words.into_iter().all(Word::is_same) { Word::Same } else { Word::Any }
}

/// The same result for all primitives that know nothing better.
macro_rules! opaque {
    ($($name:ident($($arg:ident),*) -> $result:ident;)*) => {$(
        fn $name(&mut self, $($arg: Word),*) -> opaque!(@type $result) { opaque!(@body $result $($arg)*) }
    )*};
    (@type word) => { Word };
    (@type truth) => { bool };
    (@body word $($arg:ident)*) => { of([$($arg),*]) };
    (@body truth $($arg:ident)*) => { of([$($arg),*]).is_same() };
}

impl Algebra for Words {
    type W = Word;
    type Q = Word;
    type B = bool;

    fn word(&mut self, bits: u32) -> Word {
        Word::Constant(bits)
    }

    fn quad(&mut self, _: u64) -> Word {
        Word::Same
    }

    fn select(&mut self, same: bool, a: Word, b: Word) -> Word {
        match () {
            () if a == b && matches!(a, Word::Constant(_)) => a,
            () if same => a.join(b),
            () => Word::Any,
        }
    }

    fn selectq(&mut self, same: bool, a: Word, b: Word) -> Word {
        if same { of([a, b]) } else { Word::Any }
    }

    fn both(&mut self, a: bool, b: bool) -> bool {
        a & b
    }

    fn either(&mut self, a: bool, b: bool) -> bool {
        a & b
    }

    fn negate(&mut self, a: bool) -> bool {
        a
    }

    fn iadd(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a.wrapping_add(b)),
            _ => a.linear(b, u32::wrapping_add),
        }
    }

    fn isub(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a.wrapping_sub(b)),
            _ => a.linear(b, u32::wrapping_sub),
        }
    }

    fn imul(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a.wrapping_mul(b)),
            (word, Word::Constant(by)) | (Word::Constant(by), word) if by.is_power_of_two() => {
                self.shl(word, Word::Constant(by.ilog2()))
            }
            (word, Word::Constant(by)) | (Word::Constant(by), word) => {
                word.linear(Word::Same, |step, _| step.wrapping_mul(by))
            }
            _ => of([a, b]),
        }
    }

    fn shl(&mut self, a: Word, n: Word) -> Word {
        match (a, n) {
            (Word::Constant(a), Word::Constant(n)) => Word::Constant(a << (n & 31)),
            (Word::Number(a), Word::Constant(n)) if a + (n & 31) <= 28 => Word::Number(a + (n & 31)),
            (Word::Bits { bits, pure }, Word::Constant(n)) => {
                Word::Bits { bits: bits.map(|bit| bit << (n & 31)), pure }
            }
            (_, Word::Constant(n)) => a.linear(Word::Same, |step, _| step << (n & 31)),
            _ => of([a, n]),
        }
    }

    fn shr(&mut self, a: Word, n: Word) -> Word {
        match (a.pure(), n) {
            (Some(bits), Word::Constant(n)) => {
                Word::Bits { bits: bits.map(|bit| bit >> (n & 31)), pure: true }
            }
            _ => of([a, n]),
        }
    }

    fn and(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            // Counts of shifts.
            (Word::Constant(a), Word::Constant(b)) => Word::Constant(a & b),
            (word, Word::Constant(mask)) | (Word::Constant(mask), word) if let Some(bits) = word.pure() => {
                Word::Bits { bits: bits.map(|bit| bit & mask), pure: true }
            }
            _ => of([a, b]),
        }
    }

    opaque! {
        pack(lo, hi) -> word;
        lo(q) -> word;
        hi(q) -> word;
        umulhi(a, b) -> word;
        smulhi(a, b) -> word;
        udiv(a, b) -> word;
        umod(a, b) -> word;
        or(a, b) -> word;
        xor(a, b) -> word;
        not(a) -> word;
        sar(a, n) -> word;
        popcount(a) -> word;
        clz(a) -> word;
        reverse(a) -> word;
        ieq(a, b) -> truth;
        ilt(a, b) -> truth;
        ult(a, b) -> truth;
        fadd_raw(a, b) -> word;
        fmul_raw(a, b) -> word;
        feq(a, b) -> truth;
        flt(a, b) -> truth;
        fle(a, b) -> truth;
        itof_raw(a) -> word;
        utof_raw(a) -> word;
        ftoi_raw(a) -> word;
        qadd(a, b) -> word;
        qsub(a, b) -> word;
        qmul(a, b) -> word;
        qand(a, b) -> word;
        qor(a, b) -> word;
        qxor(a, b) -> word;
        qshl(a, n) -> word;
        qshr(a, n) -> word;
        qsar(a, n) -> word;
        qeq(a, b) -> truth;
        qlt(a, b) -> truth;
        qult(a, b) -> truth;
        qudiv(a, b) -> word;
        qumod(a, b) -> word;
        dadd_raw(a, b) -> word;
        dmul_raw(a, b) -> word;
        dfma_raw(a, b, c) -> word;
        ffma_raw(a, b, c) -> word;
        deq(a, b) -> truth;
        dlt(a, b) -> truth;
        ftod_raw(a) -> word;
        dtof_raw(a) -> word;
    }
}
