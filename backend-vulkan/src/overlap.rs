//! Application memory that is imported more than once, where one of the imports is copied.
//!
//! A copy is filled when a command that uses it is recorded, and written back when one that writes it is seen to be done. So a command
//! that uses bytes which one in flight uses by another import is recorded when that is done, if one of the two writes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use recal_hal::sync::Mutex;
use recal_hal::{Command, Result, Ticket};

use crate::device::Gpu;
use crate::import::Imported;
use crate::order::Span;
use crate::queue::{State, VulkanQueue, each_import};

/// The imports of a device.
#[derive(Default)]
pub(crate) struct Imports {
    live: Mutex<Vec<Import>>,
    count: AtomicU64,
    /// Two of them had the same bytes some time, and one of them was a copy: queues look at what they use.
    met: AtomicBool,
}

/// One import of application memory.
#[derive(Clone, Copy)]
pub(crate) struct Import {
    number: u64,
    pub span: Span,
    /// The device has a copy.
    copied: bool,
}

impl Import {
    /// Whether they have the same bytes, and not by the same memory of the device.
    fn differs(&self, other: &Self) -> bool {
        self.number != other.number && (self.copied || other.copied) && self.span.meets(&other.span)
    }
}

/// An import among those of its device, until dropped.
pub(crate) struct Entry {
    gpu: Arc<Gpu>,
    pub import: Import,
}

impl Entry {
    pub fn new(gpu: &Arc<Gpu>, span: Span, copied: bool) -> Self {
        let imports = &gpu.imported;
        let import = Import { number: imports.count.fetch_add(1, Relaxed), span, copied };
        let mut live = imports.live.lock();
        if live.iter().any(|other| other.differs(&import)) {
            imports.met.store(true, Release);
        }
        live.push(import);
        Self { gpu: gpu.clone(), import }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut live = self.gpu.imported.live.lock();
        if let Some(at) = live.iter().position(|import| import.number == self.import.number) {
            live.swap_remove(at);
        }
    }
}

/// An import that a command uses.
#[derive(Clone, Copy)]
struct Use {
    import: Import,
    writes: bool,
    ticket: Ticket,
}

/// What commands of a queue use that may be in flight.
#[derive(Default)]
pub(crate) struct Used {
    /// The last ticket before anything was noted: its command, and those before, may have used all.
    before: Option<Ticket>,
    uses: Vec<Use>,
}

impl Used {
    /// Whether a command that uses this has to wait, all up to a ticket being done.
    fn meets(&mut self, uses: &[Use], done: Ticket) -> bool {
        self.uses.retain(|used| used.ticket > done);
        let meets = |a: &Use, b: &Use| (a.writes || b.writes) && a.import.differs(&b.import);
        self.before.is_some_and(|before| before > done)
            || self.uses.iter().any(|used| uses.iter().any(|new| meets(used, new)))
    }

    fn add(&mut self, new: Use) {
        let same = |used: &&mut Use| used.import.number == new.import.number && used.writes == new.writes;
        match self.uses.iter_mut().find(same) {
            Some(used) => used.ticket = new.ticket,
            None => self.uses.push(new),
        }
    }
}

/// The imports that a command uses.
fn uses(command: &Command, ticket: Ticket) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut add = |imported: &Imported, writes| {
        uses.push(Use { import: imported.entry().import, writes, ticket });
    };
    match command {
        Command::Launch { kernel, bindings, .. } => each_import(&**kernel, bindings, add),
        Command::Copy { src, dst } => {
            for (surface, writes) in [(src, false), (dst, true)] {
                if let Some(imported) = surface.memory.as_any().downcast_ref() {
                    add(imported, writes);
                }
            }
        }
    }
    uses
}

impl VulkanQueue {
    /// Whether a command has to wait until one is done that is in flight; that is under way then. Otherwise it is recorded next.
    pub(crate) fn has_to_wait(&self, state: &mut State, command: &Command) -> Result<bool> {
        if !self.gpu.imported.met.load(Acquire) {
            return Ok(false);
        }
        let issued = state.order.issued();
        let ticket = state.current.unwrap_or(issued + 1);
        let before = ticket - 1;
        state.used.before.get_or_insert(before);
        let uses = uses(command, ticket);
        if uses.is_empty() {
            return Ok(false);
        }
        let done = state.order.completed();
        if state.used.meets(&uses, done) {
            if crate::exit::closing() {
                return Ok(true);
            }
            self.submit_all(state)?;
            self.clean(state)?;
            let done = state.order.completed();
            if state.used.meets(&uses, done) {
                return Ok(true);
            }
        }
        uses.into_iter().for_each(|new| state.used.add(new));
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn import(number: u64, start: u64, copied: bool) -> Import {
        Import { number, span: Span { start, end: start + 100 }, copied }
    }

    /// Only what is written meets, by another import, where one of the two is a copy.
    #[test]
    fn what_has_to_wait() {
        let copy = import(0, 1000, true);
        let cases = [
            (import(1, 1099, true), [false, true, true, true]),
            (import(1, 1000, false), [false, true, true, true]),
            (import(1, 1100, true), [false; 4]),
            (import(0, 1000, true), [false; 4]),
        ];
        for (other, wanted) in cases {
            for (k, wanted) in wanted.into_iter().enumerate() {
                let mut used = Used::default();
                used.add(Use { import: copy, writes: k & 1 != 0, ticket: 5 });
                let new = [Use { import: other, writes: k & 2 != 0, ticket: 6 }];
                assert_eq!(used.meets(&new, 4), wanted, "{k}");
                assert!(!used.meets(&new, 5));
            }
        }
        let direct =
            [1, 2].map(|number| Use { import: import(number, 1000, false), writes: true, ticket: 5 });
        let mut used = Used { before: Some(3), uses: Vec::new() };
        used.add(direct[0]);
        assert!(used.meets(&direct[1..], 2) && !used.meets(&direct[1..], 3));
    }
}
