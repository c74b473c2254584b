//! Races: two threads of a group that touch the same bytes, at least one of them writing, in no order that the kernel has
//! asked for.
//!
//! Order comes from barriers between the waves of a group, and within a wave from any fence of that memory. The threads
//! of a wave execute each instruction together, and kernels rely on that in one way: what a thread has read may be
//! overwritten by its neighbours without a fence. Writing the same value twice is no race, nor is one atomic beside
//! another.

use std::collections::HashMap;

use recal_il::ir::Fence;

use super::Home;
use super::place::{Area, Kind};
use super::touch::Touch;
use crate::WAVE;

/// The threads that did something since the last barrier.
#[derive(Clone, Copy)]
struct Last {
    thread: u32,
    /// Fences that its wave had passed.
    epoch: u32,
    /// Other threads of its wave have done so since that fence.
    several: bool,
    /// Threads of other waves have done so.
    waves: bool,
}

impl Last {
    fn wave(self) -> u32 {
        self.thread / WAVE as u32
    }

    /// Adds a thread.
    fn and(last: Option<Last>, thread: u32, epoch: u32) -> Last {
        let new = Last { thread, epoch, several: false, waves: false };
        match last {
            None => new,
            Some(last) if last.wave() != new.wave() => Last { waves: true, ..new },
            Some(last) if last.epoch != epoch => Last { waves: last.waves, ..new },
            Some(last) => Last { several: last.several || last.thread != thread, waves: last.waves, ..new },
        }
    }

    /// Nothing orders it before `thread`; a wave in lockstep is order enough if `lockstep`.
    fn unordered(self, thread: u32, epoch: u32, lockstep: bool) -> bool {
        self.waves
            || self.wave() != thread / WAVE as u32
            || !lockstep && self.epoch == epoch && (self.several || self.thread != thread)
    }
}

/// What happened to some bytes of a word since the last barrier.
#[derive(Clone, Copy, Default)]
struct Uses {
    read: Option<Last>,
    /// With the value, in its place in the word.
    written: Option<(Last, u32)>,
    atomic: Option<Last>,
}

/// Memory with fences of its own.
#[derive(Default)]
struct Space {
    /// By memory and number of a word: which bytes, and what happened to exactly these.
    words: HashMap<(Home, usize), Vec<(u8, Uses)>>,
    /// By wave: fences passed.
    epochs: Vec<u32>,
}

/// Uses of shared memory by a group.
#[derive(Default)]
pub struct Races {
    /// Global memory, LDS, GDS.
    spaces: [Space; 3],
}

/// Bits of a fence that order each of the spaces.
const ORDERS: [Fence; 3] = [
    Fence::MEMORY.union(Fence::MEMORY_WRITE).union(Fence::MEMORY_READ),
    Fence::LDS.union(Fence::THREADS),
    Fence::GDS,
];

impl Races {
    /// A group begins.
    pub fn clear(&mut self) {
        for space in &mut self.spaces {
            space.words.clear();
            space.epochs.clear();
        }
    }

    /// A wave passes a fence.
    pub fn fence(&mut self, wave: u32, fence: Fence) {
        for (space, _) in self.ordered(fence) {
            let wave = wave as usize;
            if space.epochs.len() <= wave {
                space.epochs.resize(wave + 1, 0);
            }
            space.epochs[wave] += 1;
        }
    }

    /// All waves pass a barrier.
    pub fn barrier(&mut self, fence: Fence) {
        self.ordered(fence).for_each(|(space, _)| space.words.clear());
    }

    fn ordered(&mut self, fence: Fence) -> impl Iterator<Item = (&mut Space, Fence)> {
        self.spaces.iter_mut().zip(ORDERS).filter(move |(_, orders)| fence.intersects(*orders))
    }

    /// Notes what a thread touches; another thread that it races with, if there is one.
    pub fn touch(&mut self, touch: &Touch, thread: u32) -> Option<u32> {
        let space = match touch.area {
            Area::Uav(_) | Area::Global => &mut self.spaces[0],
            Area::Lds(_) | Area::OwnLds => &mut self.spaces[1],
            Area::Gds(_) => &mut self.spaces[2],
            _ => return None,
        };
        let epoch = space.epochs.get(thread as usize / WAVE).copied().unwrap_or(0);
        let mut other = None;
        let home = touch.home?;
        for piece in touch.pieces.iter().flatten() {
            let (first, end) = (piece.offset, piece.offset + piece.bytes);
            for word in first / 4..end.div_ceil(4) {
                // Bytes of the piece that lie in this word, and their values in place.
                let (mut mask, mut value) = (0u8, 0u32);
                for byte in first.max(4 * word)..end.min(4 * word + 4) {
                    mask |= 1 << (byte % 4);
                    value |= u32::from(piece.value[byte - first]) << (8 * (byte % 4));
                }
                let uses = space.words.entry((home, word)).or_default();
                other = other.or(race(uses, mask, value, touch.kind, thread, epoch));
            }
        }
        other
    }
}

/// All ones in the bytes of a mask.
fn bits(mask: u8) -> u32 {
    (0..4).filter(|byte| mask >> byte & 1 == 1).fold(0, |bits, byte| bits | 0xFF << (8 * byte))
}

fn race(
    uses: &mut Vec<(u8, Uses)>,
    mask: u8,
    value: u32,
    kind: Kind,
    thread: u32,
    epoch: u32,
) -> Option<u32> {
    let mut other = None;
    for (bytes, seen) in uses.iter().filter(|(bytes, _)| bytes & mask != 0) {
        let changed = |old: u32| (old ^ value) & bits(bytes & mask) != 0;
        let written =
            seen.written.filter(|(_, old)| kind != Kind::Write || changed(*old)).map(|(last, _)| last);
        // Who reads may be overwritten in lockstep; nobody else may be overtaken.
        let read = seen.read.filter(|_| kind != Kind::Read).map(|last| (last, true));
        let atomic = seen.atomic.filter(|_| kind != Kind::Atomic).map(|last| (last, false));
        let rivals = [written.map(|last| (last, false)), read, atomic];
        let found =
            rivals.into_iter().flatten().find(|(last, lockstep)| last.unordered(thread, epoch, *lockstep));
        other = other.or(found.map(|(last, _)| last.thread));
    }
    let at = uses.iter().position(|(bytes, _)| *bytes == mask).unwrap_or_else(|| {
        uses.push((mask, Uses::default()));
        uses.len() - 1
    });
    let seen = &mut uses[at].1;
    match kind {
        Kind::Read => seen.read = Some(Last::and(seen.read, thread, epoch)),
        Kind::Atomic => seen.atomic = Some(Last::and(seen.atomic, thread, epoch)),
        Kind::Write => {
            seen.written = Some((Last::and(seen.written.map(|(last, _)| last), thread, epoch), value))
        }
    }
    other
}
