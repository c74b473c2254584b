//! Handles of events: numbers of tickets, in blocks that belong to one context each.
//!
//! The top four bits are the kind, the next twenty number a block, the low eight a ticket in it. So an id of one context is
//! none of another's, and ids of finished work stay valid as long as their context lives, or until 268 million later events
//! have been given out.

use std::collections::{BTreeMap, VecDeque};

use recal_hal::Ticket;
use recal_hal::sync::RwLock;

use crate::handle::Kind;

const TICKET_BITS: u32 = 8;
const BLOCKS: usize = 1 << 20;
/// Blocks of contexts that are gone and wait before the first of them is used again.
const REST: usize = 4096;

/// Consecutive tickets of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    owner: u32,
    first: Ticket,
}

struct Inner {
    blocks: Vec<Option<Block>>,
    numbers: BTreeMap<Block, u32>,
    free: VecDeque<u32>,
    /// Blocks in the order in which they were given out; some are given back since.
    given: VecDeque<(u32, Block)>,
}

/// The events of all contexts.
pub(super) struct Events(RwLock<Inner>);

impl Events {
    pub(super) const fn new() -> Self {
        Self(RwLock::new(Inner {
            blocks: Vec::new(),
            numbers: BTreeMap::new(),
            free: VecDeque::new(),
            given: VecDeque::new(),
        }))
    }

    /// The handle of a ticket of the context number `owner`.
    pub(super) fn handle(&self, owner: u32, ticket: Ticket) -> u32 {
        let first = ticket >> TICKET_BITS << TICKET_BITS;
        let block = Block { owner, first };
        let known = self.0.read().numbers.get(&block).copied();
        let number = known.unwrap_or_else(|| self.0.write().number(block));
        (Kind::Event as u32) << 28 | number << TICKET_BITS | (ticket - first) as u32
    }

    /// The ticket behind a handle, if it is one of the context's.
    pub(super) fn ticket(&self, owner: u32, handle: u32) -> Option<Ticket> {
        if handle >> 28 != Kind::Event as u32 {
            return None;
        }
        let number = (handle >> TICKET_BITS) as usize & (BLOCKS - 1);
        let block = (*self.0.read().blocks.get(number)?)?;
        (block.owner == owner).then(|| block.first + u64::from(handle & ((1 << TICKET_BITS) - 1)))
    }

    /// A context is gone.
    pub(super) fn release(&self, owner: u32) {
        let mut guard = self.0.write();
        let inner = &mut *guard;
        let all = Block { owner, first: 0 }..=Block { owner, first: Ticket::MAX };
        let gone: Vec<(Block, u32)> = inner.numbers.range(all).map(|(block, n)| (*block, *n)).collect();
        for (block, number) in gone {
            inner.numbers.remove(&block);
            inner.blocks[number as usize] = None;
            inner.free.push_back(number);
        }
    }
}

impl Inner {
    /// The number of a block, a new one if it has none.
    fn number(&mut self, block: Block) -> u32 {
        if let Some(number) = self.numbers.get(&block) {
            return *number;
        }
        let number = match self.reusable() {
            Some(number) => number,
            None => {
                self.blocks.push(None);
                (self.blocks.len() - 1) as u32
            }
        };
        self.blocks[number as usize] = Some(block);
        self.numbers.insert(block, number);
        if self.given.len() >= 64 + 2 * self.numbers.len() {
            let blocks = &self.blocks;
            self.given.retain(|(number, block)| blocks[*number as usize] == Some(*block));
        }
        self.given.push_back((number, block));
        number
    }

    fn reusable(&mut self) -> Option<u32> {
        if self.free.len() <= REST && self.blocks.len() < BLOCKS {
            return None;
        }
        if let Some(number) = self.free.pop_front() {
            return Some(number);
        }
        // All are in use: the oldest ends.
        while let Some((number, block)) = self.given.pop_front() {
            if self.blocks[number as usize] == Some(block) {
                self.numbers.remove(&block);
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_of_one_context() {
        let events = Events::new();
        let handles: Vec<u32> = (0..300).map(|owner| events.handle(owner, 1)).collect();
        for (owner, handle) in (0..).zip(&handles) {
            assert!((0..300).all(|other| (events.ticket(other, *handle) == Some(1)) == (other == owner)));
        }
        events.release(7);
        assert_eq!(events.ticket(7, handles[7]), None);
        assert_eq!(events.ticket(8, handles[8]), Some(1));
        for bad in [0, 1, u32::MAX, handles[8] ^ 1 << 28, handles[8] ^ 1 << 27] {
            assert_eq!(events.ticket(8, bad), None, "{bad:#x}");
        }
    }

    #[test]
    fn handles_of_a_context_follow_its_tickets() {
        let events = Events::new();
        let handles: Vec<u32> = (0..5000).map(|ticket| events.handle(ticket as u32 % 2, ticket)).collect();
        for (ticket, handle) in (0..).zip(&handles) {
            assert_eq!(events.ticket(ticket as u32 % 2, *handle), Some(ticket));
            assert_eq!(events.handle(ticket as u32 % 2, ticket), *handle);
        }
    }

    #[test]
    fn numbers_come_back_late_and_do_not_run_out() {
        let events = Events::new();
        let first = events.handle(0, 0);
        events.release(0);
        for owner in 1..=REST as u32 {
            assert_ne!(events.handle(owner, 0), first);
            events.release(owner);
        }
        assert!((0..3 * REST as u32).any(|k| {
            let again = events.handle(10_000 + k, 0) == first;
            events.release(10_000 + k);
            again
        }));
        // One context, more blocks than there are: the latest are known, the oldest are not.
        let last = (BLOCKS as u64 + 100) << TICKET_BITS;
        let oldest = events.handle(5, 0);
        for ticket in (0..=last).step_by(1 << TICKET_BITS) {
            events.handle(5, ticket);
        }
        assert_eq!(events.ticket(5, events.handle(5, last)), Some(last));
        assert_ne!(events.ticket(5, oldest), Some(0));
    }
}
