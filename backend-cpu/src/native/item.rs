//! What functions are made of, and which of it may not be in one function.

use crate::op::{Emitted, Place, RowId};

/// A step, or an access, of the operation at `op`.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub op: usize,
    pub what: What,
}

#[derive(Clone, Copy)]
pub(super) enum What {
    Step(u32),
    Load(u32, Place),
    Store(u32, Place),
    /// Both, lane after lane.
    Atomic(u32, Place),
    Test(RowId),
    /// Part of a construct.
    Flow,
    /// All threads of a group wait for each other.
    Barrier,
    /// Copies what a choice is going to test to a row.
    Keep(RowId),
    /// The choice once more, in a function that goes on with its sides: the row tells who takes which.
    Again(RowId),
    /// Its second side begins, likewise.
    Otherwise,
    /// It ends, in a function that does not go to its end.
    Close,
    /// Stores an output, by place, in a view.
    Output(u32, u8, Emitted),
}

impl What {
    pub fn is_flow(self) -> bool {
        matches!(self, What::Flow | What::Again(_) | What::Otherwise | What::Close)
    }

    /// The two may not be done for some lanes before the other for all, in this order.
    fn clashes(self, earlier: What) -> bool {
        match (earlier.accessed(), self.accessed()) {
            (Some((other, before)), Some((place, now))) => (before || now) && same_memory(place, other),
            _ => false,
        }
    }

    /// The last of some items that it may not be done with; `stores`: there may be stores among them.
    pub fn clash(self, earlier: &[Item], stores: bool) -> Option<usize> {
        let (_, own) = self.accessed()?;
        let last = || earlier.iter().rposition(|item| self.clashes(item.what));
        (stores || own).then(last).flatten()
    }

    /// The memory that it accesses, and whether it changes that.
    pub fn accessed(self) -> Option<(Place, bool)> {
        match self {
            What::Load(_, place) => Some((place, false)),
            What::Store(_, place) | What::Atomic(_, place) => Some((place, true)),
            _ => None,
        }
    }

    pub fn stores(self) -> bool {
        self.accessed().is_some_and(|(_, stores)| stores)
    }
}

/// True if the places may have words in common.
pub(super) fn same_memory(a: Place, b: Place) -> bool {
    match (a, b) {
        (Place::Lds { offset: a, .. }, Place::Lds { offset: b, .. })
        | (Place::Gds { offset: a, .. }, Place::Gds { offset: b, .. }) => a == b,
        (Place::Counter(a), Place::Counter(b)) => a == b,
        (Place::Lds { .. } | Place::Gds { .. } | Place::Counter(_) | Place::Immediates, _)
        | (_, Place::Lds { .. } | Place::Gds { .. } | Place::Counter(_) | Place::Immediates) => false,
        _ => true,
    }
}
