//! Generational tables: 32-bit handles for shared objects.
//!
//! A handle is never 0 and never fits two kinds of object: its top four bits are the kind, the next eight count how
//! often the slot was used, the low twenty number the slot. A freed slot waits in a queue behind at least
//! [`REST`] others, so a handle value returns only after about a million others of its kind. Look-ups of stale,
//! foreign or random handles find nothing; nothing is ever dereferenced.
//!
//! Every table belongs to an *epoch*: shutdown starts a new one and empties the tables, and an insertion that was
//! still on its way with the old epoch is refused.

use std::collections::VecDeque;

use crate::sync::{RwLock, constant};

/// Kind of object behind a handle; the top four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub(crate) enum Kind {
    Device = 1,
    Context = 2,
    Resource = 3,
    Mem = 4,
    Module = 5,
    Func = 6,
    Name = 7,
    Event = 8,
    Counter = 9,
}

impl Kind {
    /// Name of the C type.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Device => "CALdevice",
            Kind::Context => "CALcontext",
            Kind::Resource => "CALresource",
            Kind::Mem => "CALmem",
            Kind::Module => "CALmodule",
            Kind::Func => "CALfunc",
            Kind::Name => "CALname",
            Kind::Event => "CALevent",
            Kind::Counter => "CALcounter",
        }
    }

    /// Kind of a handle, if its bits name one.
    pub(crate) fn of(handle: u32) -> Option<Kind> {
        const KINDS: [Kind; 9] = [
            Kind::Device,
            Kind::Context,
            Kind::Resource,
            Kind::Mem,
            Kind::Module,
            Kind::Func,
            Kind::Name,
            Kind::Event,
            Kind::Counter,
        ];
        KINDS.get((handle >> 28).wrapping_sub(1) as usize).copied()
    }
}

const SLOT_BITS: u32 = 20;
const GENERATION_BITS: u32 = 8;
const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// Freed slots that wait before the first of them is used again.
const REST: usize = 4096;

/// Why an insertion was refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The runtime was shut down meanwhile.
    Stale,
    /// A million objects of this kind are alive.
    Full,
}

struct Slot<T> {
    generation: u8,
    value: Option<T>,
}

struct Inner<T> {
    epoch: u64,
    slots: Vec<Slot<T>>,
    free: VecDeque<u32>,
}

impl<T> Inner<T> {
    fn take_out(&mut self, doomed: impl Fn(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.value.as_ref().is_some_and(&doomed) {
                removed.extend(slot.value.take());
                slot.generation = slot.generation.wrapping_add(1);
                self.free.push_back(index as u32);
            }
        }
        removed
    }
}

/// A table of objects of one kind. `T` is cheap to clone (an `Arc`).
pub(crate) struct Table<T> {
    kind: Kind,
    inner: RwLock<Inner<T>>,
}

impl<T: Clone> Table<T> {
    constant! {
        pub(crate) fn new(kind: Kind) -> Self {
            Self { kind, inner: RwLock::new(Inner { epoch: 0, slots: Vec::new(), free: VecDeque::new() }) }
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Adds an object made in `epoch`.
    pub(crate) fn insert(&self, epoch: u64, value: T) -> Result<u32, Refused> {
        let mut guard = self.inner.write();
        let inner = &mut *guard;
        if inner.epoch != epoch {
            return Err(Refused::Stale);
        }
        let index = if inner.free.len() > REST || inner.slots.len() == MAX_SLOTS {
            inner.free.pop_front().ok_or(Refused::Full)?
        } else {
            inner.slots.push(Slot { generation: 0, value: None });
            (inner.slots.len() - 1) as u32
        };
        let slot = &mut inner.slots[index as usize];
        slot.value = Some(value);
        Ok(self.encode(index, slot.generation))
    }

    /// The object behind a handle.
    pub(crate) fn get(&self, handle: u32) -> Option<T> {
        let (index, generation) = self.decode(handle)?;
        let inner = self.inner.read();
        let slot = inner.slots.get(index)?;
        if slot.generation == generation { slot.value.clone() } else { None }
    }

    /// Takes the object out; the handle is dead.
    pub(crate) fn remove(&self, handle: u32) -> Option<T> {
        let (index, generation) = self.decode(handle)?;
        let mut guard = self.inner.write();
        let inner = &mut *guard;
        let slot = inner.slots.get_mut(index)?;
        if slot.generation != generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        inner.free.push_back(index as u32);
        Some(value)
    }

    /// Takes out all objects for which `doomed` holds.
    pub(crate) fn remove_where(&self, doomed: impl Fn(&T) -> bool) -> Vec<T> {
        self.inner.write().take_out(doomed)
    }

    /// Starts a new epoch and takes everything out.
    pub(crate) fn start_epoch(&self, epoch: u64) -> Vec<T> {
        let mut inner = self.inner.write();
        inner.epoch = epoch;
        inner.take_out(|_| true)
    }

    /// Objects alive.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.inner.read().slots.iter().filter(|s| s.value.is_some()).count()
    }

    fn encode(&self, index: u32, generation: u8) -> u32 {
        (self.kind as u32) << 28 | u32::from(generation) << SLOT_BITS | index
    }

    fn decode(&self, handle: u32) -> Option<(usize, u8)> {
        if handle >> 28 != self.kind as u32 {
            return None;
        }
        let generation = (handle >> SLOT_BITS) & ((1 << GENERATION_BITS) - 1);
        Some(((handle as usize) & (MAX_SLOTS - 1), generation as u8))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zero_and_foreign_handles_find_nothing() {
        let table = Table::new(Kind::Resource);
        let handle = table.insert(0, 7).unwrap();
        assert_ne!(handle, 0);
        assert_eq!(table.get(handle), Some(7));
        for bad in [0, 1, u32::MAX, handle ^ 1 << 20, handle ^ 1 << 28, handle + 1, 0xEFEF_EFEF] {
            assert_eq!(table.get(bad), None, "{bad:#x}");
            assert_eq!(table.remove(bad), None, "{bad:#x}");
        }
        assert_eq!(table.remove(handle), Some(7));
        assert_eq!(table.get(handle), None);
        assert_eq!(table.remove(handle), None);
    }

    #[test]
    fn a_handle_does_not_return_for_a_million_insertions() {
        let table = Table::new(Kind::Mem);
        let mut seen = HashSet::new();
        for i in 0..1_000_000 {
            let handle = table.insert(0, i).unwrap();
            assert!(seen.insert(handle), "handle {handle:#x} came back after {i}");
            table.remove(handle);
        }
    }

    #[test]
    fn a_new_epoch_empties_the_table_and_refuses_late_insertions() {
        let table = Table::new(Kind::Module);
        let handle = table.insert(0, 1).unwrap();
        assert_eq!(table.start_epoch(1), [1]);
        assert_eq!(table.get(handle), None);
        assert_eq!(table.insert(0, 2), Err(Refused::Stale));
        let fresh = table.insert(1, 3).unwrap();
        assert_ne!(fresh, handle);
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn threads_insert_and_remove_without_meeting() {
        let table = Arc::new(Table::new(Kind::Name));
        let threads: Vec<_> = (0..4u64)
            .map(|t| {
                let table = Arc::clone(&table);
                std::thread::spawn(move || {
                    for i in 0..5_000u64 {
                        let handle = table.insert(0, t << 32 | i).unwrap();
                        assert_eq!(table.get(handle), Some(t << 32 | i));
                        assert_eq!(table.remove(handle), Some(t << 32 | i));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(table.len(), 0);
    }

    proptest! {
        /// Against a map that remembers every handle ever given out.
        #[test]
        fn behaves_like_a_map(ops in prop::collection::vec((0u8..3, any::<u32>()), 1..200)) {
            let table = Table::new(Kind::Func);
            let mut model: Vec<(u32, Option<u32>)> = Vec::new();
            for (op, word) in ops {
                match op {
                    0 => {
                        let handle = table.insert(0, word).unwrap();
                        prop_assert!(model.iter().all(|(h, _)| *h != handle));
                        model.push((handle, Some(word)));
                    }
                    1 if !model.is_empty() => {
                        let at = word as usize % model.len();
                        prop_assert_eq!(table.get(model[at].0), model[at].1);
                    }
                    2 if !model.is_empty() => {
                        let at = word as usize % model.len();
                        prop_assert_eq!(table.remove(model[at].0), model[at].1.take());
                    }
                    _ => {
                        if model.iter().all(|(h, _)| *h != word) {
                            prop_assert_eq!(table.get(word), None);
                        }
                    }
                }
            }
        }
    }
}
