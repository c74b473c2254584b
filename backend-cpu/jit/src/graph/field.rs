//! What code asks of a view besides its words.

use std::hash::{Hash, Hasher};

/// Words of a [`crate::View`].
#[derive(Clone, Copy, Debug, Eq)]
pub enum Field {
    LastColumn,
    LastLine,
    /// Words from one line to the next, or elements of less than a word, or that are converted.
    Line,
    /// As floats.
    Width,
    Height,
    Columns,
    Lines,
    BorderX,
    BorderY,
    BorderZ,
    BorderW,
    /// Of a view of words: one of them.
    Shared(u8),
}

impl Field {
    /// Its place among the words of the view.
    pub fn number(self) -> usize {
        match self {
            Field::LastColumn => 0,
            Field::LastLine => 1,
            Field::Line => 2,
            Field::Width => 3,
            Field::Height => 4,
            Field::Columns => 5,
            Field::Lines => 6,
            Field::BorderX => 7,
            Field::BorderY => 8,
            Field::BorderZ => 9,
            Field::BorderW => 10,
            Field::Shared(number) => number.into(),
        }
    }

    /// What tells it from others. A derived comparison looks at the number of a field that has none, before it finds that it need not;
    /// memory checkers report that.
    fn key(self) -> (bool, usize) {
        (matches!(self, Field::Shared(_)), self.number())
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Hash for Field {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
