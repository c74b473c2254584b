//! What commands of a queue wait for.
//!
//! A queue has two lanes, for kernels and for copies; each has a timeline and runs in order. Tickets count through both.
//! Commands gather in chunks, one of each lane at a time. A command that depends on one of the other lane begins a chunk
//! that waits for the other's, which is submitted before. So no chunk ever waits for one that is not submitted, and none
//! for one that waits for it.
//!
//! A ticket is done when all smaller ones are, too: programs wait for the last of several.

use std::collections::VecDeque;

use recal_hal::Ticket;

use crate::memory::Place;

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Kernels,
    Copies,
}

impl Lane {
    pub const ALL: [Lane; 2] = [Lane::Kernels, Lane::Copies];

    pub fn other(self) -> Self {
        match self {
            Lane::Kernels => Lane::Copies,
            Lane::Copies => Lane::Kernels,
        }
    }
}

/// Bytes that a memory takes: of the device's addresses, or of the application's if it is that's, which may be imported
/// more than once. What overlaps may be the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: u64,
    pub end: u64,
}

impl Span {
    /// Whether they may be the same memory somewhere.
    pub fn meets(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// Memories that something reads and writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    pub reads: Vec<Span>,
    pub writes: Vec<Span>,
    /// Those of what is read that are uniform buffers.
    pub uniforms: Vec<Span>,
    /// The host reads some of what is written without asking.
    pub shown: bool,
}

impl Uses {
    /// Adds a memory that is written.
    pub fn write(&mut self, place: &Place) {
        self.writes.push(place.span);
        self.shown |= place.visible;
    }

    /// Whether one writes what the other uses.
    fn meets(&self, other: &Self) -> bool {
        let met = |list: &[Span], others: &[Span]| list.iter().any(|a| others.iter().any(|b| a.meets(b)));
        met(&self.reads, &other.writes) || met(&self.writes, &other.writes) || met(&self.writes, &other.reads)
    }

    fn add(&mut self, other: &Self) {
        join(&mut self.reads, &other.reads);
        join(&mut self.writes, &other.writes);
    }

    fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
    }
}

/// Adds what is not there.
fn join(to: &mut Vec<Span>, from: &[Span]) {
    from.iter().for_each(|span| {
        if !to.contains(span) {
            to.push(*span);
        }
    });
}

/// What stands between a command and the one before it in its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Barrier {
    None,
    /// All before it are kernels, as it is.
    Kernels,
    /// So they are, and what they wrote is seen as uniform buffers, too: devices have caches of their own for those, and take longer.
    Uniforms,
    All,
}

/// Commands that are submitted together.
pub(crate) struct Chunk<T> {
    /// 0 before the first command.
    pub first: Ticket,
    pub last: Ticket,
    /// The point that the lane's timeline reaches when it is done.
    pub point: u64,
    /// Point of the other lane's timeline that is reached before this begins; 0 = none.
    pub after: u64,
    /// All of it are kernels that write nothing that the host sees: what comes next on its queue waits for kernels. Others
    /// end with a barrier for everybody.
    pub plain: bool,
    uses: Uses,
    pub work: T,
}

struct Side<T> {
    open: Option<Chunk<T>>,
    running: VecDeque<Chunk<T>>,
    /// What commands of the open chunk used since its last barrier, and whether one of them was no plain kernel.
    since: Uses,
    transfers: bool,
    /// What was written before that since the last barrier for uniform buffers.
    unseen: Vec<Span>,
    /// What waits for what came before all that.
    ordered: Barrier,
    /// Number of foreign works that the last barrier for everybody came after.
    seen: u64,
    /// Chunks submitted so far, or given up.
    points: u64,
    /// The other lane's point that the next chunk to be submitted waits for, and the last ticket that any has waited for.
    after: u64,
    waited: Ticket,
}

/// The chunks of a queue.
pub(crate) struct Order<T> {
    sides: [Side<T>; 2],
    issued: Ticket,
}

impl<T> Default for Order<T> {
    fn default() -> Self {
        let side = || Side {
            open: None,
            running: VecDeque::new(),
            since: Uses::default(),
            transfers: false,
            unseen: Vec::new(),
            ordered: Barrier::None,
            seen: 0,
            points: 0,
            after: 0,
            waited: 0,
        };
        Self { sides: [side(), side()], issued: 0 }
    }
}

impl<T> Order<T> {
    fn side(&mut self, lane: Lane) -> &mut Side<T> {
        &mut self.sides[lane as usize]
    }

    /// The last ticket given out.
    pub fn issued(&self) -> Ticket {
        self.issued
    }

    /// The last ticket before which, and with which, all are done.
    pub fn completed(&self) -> Ticket {
        let begun = |side: &Side<T>| {
            let open = side.open.as_ref().filter(|chunk| chunk.first > 0);
            side.running.front().or(open).map(|chunk| chunk.first - 1)
        };
        self.sides.iter().filter_map(begun).min().unwrap_or(self.issued)
    }

    /// The ticket of the other lane that a command has to come after, unless its lane has waited for it before; 0 = none.
    pub fn after(&self, lane: Lane, uses: &Uses) -> Ticket {
        let other = &self.sides[lane.other() as usize];
        let chunks = other.running.iter().chain(&other.open);
        let last = chunks.rev().find(|chunk| chunk.uses.meets(uses)).map_or(0, |chunk| chunk.last);
        if last > self.sides[lane as usize].waited { last } else { 0 }
    }

    /// Whether a ticket of a lane waits in the open chunk.
    pub fn is_open(&self, lane: Lane, ticket: Ticket) -> bool {
        self.sides[lane as usize].open.as_ref().is_some_and(|chunk| chunk.first > 0 && chunk.last >= ticket)
    }

    /// The next chunk of a lane waits for a ticket of the other. Both have submitted what they had.
    pub fn wait(&mut self, lane: Lane, after: Ticket) {
        let mut running = self.running(lane.other());
        let point = running.find(|chunk| chunk.last >= after).map_or(0, |chunk| chunk.point);
        drop(running);
        let side = self.side(lane);
        debug_assert!(side.open.as_ref().is_none_or(|chunk| chunk.first == 0));
        side.after = point;
        side.waited = after;
    }

    /// The chunk that is being recorded.
    pub fn open(&mut self, lane: Lane) -> Option<&mut T> {
        self.side(lane).open.as_mut().map(|chunk| &mut chunk.work)
    }

    /// Whether the open chunk, if there is one, has no command.
    pub fn is_new(&self, lane: Lane) -> bool {
        self.sides[lane as usize].open.as_ref().is_none_or(|chunk| chunk.first == 0)
    }

    /// Begins a chunk.
    pub fn begin(&mut self, lane: Lane, work: T) {
        let side = self.side(lane);
        side.since.clear();
        side.transfers = false;
        side.unseen.clear();
        side.ordered = Barrier::None;
        side.open =
            Some(Chunk { first: 0, last: 0, point: 0, after: 0, plain: true, uses: Uses::default(), work });
    }

    /// A command is recorded into the open chunk: what has to stand before it. `shared` says that the other lane is used,
    /// `transfer` that the command is more than a kernel. `foreign` counts works beside the queue that are done and were
    /// more than kernels.
    pub fn record(&mut self, lane: Lane, uses: &Uses, transfer: bool, shared: bool, foreign: u64) -> Barrier {
        let side = self.side(lane);
        let everybody = transfer || foreign != side.seen;
        let least = if everybody { Barrier::All } else { Barrier::Kernels };
        let written =
            |span: &Span| side.unseen.iter().chain(&side.since.writes).any(|other| other.meets(span));
        let before = match least {
            // What came before the chunk may be anything.
            Barrier::Kernels if side.ordered == Barrier::None || uses.uniforms.iter().any(written) => {
                Barrier::Uniforms
            }
            least => least,
        };
        let mut barrier = Barrier::None;
        if side.since.meets(uses) || side.ordered < least || before == Barrier::Uniforms {
            barrier = if side.transfers { Barrier::All } else { before };
            side.ordered = barrier;
            if barrier == Barrier::Kernels {
                join(&mut side.unseen, &side.since.writes);
            } else {
                side.unseen.clear();
            }
            side.since.clear();
            side.transfers = false;
            if barrier == Barrier::All {
                side.seen = foreign;
            }
        }
        side.transfers |= transfer;
        side.since.add(uses);
        if let Some(chunk) = &mut side.open {
            chunk.plain &= !transfer && !uses.shown;
            if shared {
                chunk.uses.add(uses);
            }
        }
        barrier
    }

    /// The ticket of the command that was just recorded.
    #[cfg(test)]
    pub fn issue(&mut self, lane: Lane) -> Ticket {
        let ticket = self.promise();
        self.stamp(lane, ticket);
        ticket
    }

    /// A ticket for a command that is recorded later; those of all commands after it, too.
    pub fn promise(&mut self) -> Ticket {
        self.issued += 1;
        self.issued
    }

    /// The open chunk has the command of a ticket, or a part of it.
    pub fn stamp(&mut self, lane: Lane, ticket: Ticket) {
        if let Some(chunk) = &mut self.side(lane).open {
            if chunk.first == 0 {
                chunk.first = ticket;
            }
            chunk.last = ticket;
        }
    }

    /// Takes the open chunk, if it has a command: without one there is no ticket that the timeline could reach.
    pub fn take_open(&mut self, lane: Lane) -> Option<Chunk<T>> {
        let side = self.side(lane);
        let mut chunk = side.open.take_if(|chunk| chunk.first > 0)?;
        side.points += 1;
        chunk.point = side.points;
        chunk.after = std::mem::take(&mut side.after);
        Some(chunk)
    }

    /// A chunk is submitted.
    pub fn run(&mut self, lane: Lane, chunk: Chunk<T>) {
        self.side(lane).running.push_back(chunk);
    }

    /// Submitted chunks that are not known to be done, oldest first.
    pub fn running(&self, lane: Lane) -> impl DoubleEndedIterator<Item = &Chunk<T>> {
        self.sides[lane as usize].running.iter()
    }

    /// Takes the oldest submitted chunk of a lane, if its timeline says that it is done.
    pub fn take_done(&mut self, lane: Lane, position: u64) -> Option<Chunk<T>> {
        let running = &mut self.side(lane).running;
        if running.front()?.point <= position { running.pop_front() } else { None }
    }

    /// For each lane the point with which all that is submitted up to a ticket is done there; 0 = there is nothing to wait for.
    pub fn goals(&self, ticket: Ticket) -> [u64; 2] {
        Lane::ALL.map(|lane| {
            self.running(lane).rev().find(|chunk| chunk.first <= ticket).map_or(0, |chunk| chunk.point)
        })
    }

    /// Takes all that is not done, submitted first.
    pub fn take_all(&mut self) -> Vec<Chunk<T>> {
        let mut all = Vec::new();
        all.extend(self.sides.iter_mut().flat_map(|side| side.running.drain(..)));
        all.extend(self.sides.iter_mut().filter_map(|side| side.open.take()));
        all
    }
}

#[cfg(test)]
mod tests;
