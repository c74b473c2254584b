//! Values that may be known exactly or to lie in an interval.

use crate::case::Want;

/// A result word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// This word.
    Word(u32),
    /// A float from the first to the second, by value.
    Range(u32, u32),
    /// Either: the documents leave the choice.
    Either(u32, u32),
    /// Not defined.
    Any,
}

impl Value {
    /// What must be in memory.
    pub fn want(self) -> Want {
        match self {
            Value::Word(w) => Want::Word(w),
            Value::Range(a, b) => Want::Between(a, b),
            Value::Either(a, b) => Want::OneOf(a, b),
            Value::Any => Want::Any,
        }
    }

    /// Applies a function that is monotonic over the value's interval.
    pub fn map(self, f: impl Fn(u32) -> u32) -> Value {
        match self {
            Value::Word(w) => Value::Word(f(w)),
            Value::Range(a, b) => Value::span([f(a), f(b)]),
            Value::Either(a, b) => Value::Either(f(a), f(b)),
            Value::Any => Value::Any,
        }
    }

    /// Applies a function that yields values and is monotonic over the value's interval.
    pub fn then(self, f: impl Fn(u32) -> Value) -> Value {
        match self {
            Value::Word(w) => f(w),
            Value::Range(a, b) => f(a).join(f(b)),
            Value::Either(..) | Value::Any => Value::Any,
        }
    }

    /// The smallest interval that holds both.
    pub fn join(self, other: Value) -> Value {
        match (self.ends(), other.ends()) {
            (Some((a, b)), Some((c, d))) => Value::span([a, b, c, d]),
            _ => Value::Any,
        }
    }

    /// Ends of the interval.
    pub fn ends(self) -> Option<(u32, u32)> {
        match self {
            Value::Word(w) => Some((w, w)),
            Value::Range(a, b) => Some((a, b)),
            _ => None,
        }
    }

    /// The interval of some floats; one word if they are the same, undefined if one of several is a NaN.
    pub fn span<const N: usize>(words: [u32; N]) -> Value {
        if words.iter().all(|w| *w == words[0]) {
            return Value::Word(words[0]);
        }
        if words.iter().any(|w| w & 0x7FFF_FFFF > 0x7F80_0000) {
            return Value::Any;
        }
        let key = |w: &&u32| crate::case::order(**w);
        match (words.iter().min_by_key(key), words.iter().max_by_key(key)) {
            (Some(&low), Some(&high)) => Value::Range(low, high),
            _ => Value::Any,
        }
    }
}
