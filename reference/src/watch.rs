//! Looks over the shoulder of running waves: reports misuse by kernels, follows one thread step by step, counts, stands still.
//!
//! A [`Watch`] is told of each statement before and after a wave executes it, and of the ends of constructs. What it sees then is a
//! [`Scene`]. [`Checker`] finds reads of registers that were never written, accesses outside their memory, words that two threads of a
//! group touch in no order, and barriers that part of a group misses. [`trace`] delivers what one thread does, [`profile()`] counts
//! what all do, [`debug()`] stands still wherever it is told to.

mod check;
mod clock;
mod debug;
mod place;
mod profile;
mod race;
mod touch;
mod trace;

use recal_hal::Extent;
use recal_il::diagnostic::Span;
use recal_il::ir::{Operand, Program, Stmt};

use crate::bytes::{Memory, word_at};
use crate::group::Local;
use crate::thread::{Registers, State as ThreadState, Thread};
use crate::wave::{Frame, What, lanes};
use crate::{Bound, Launch, Surface, WAVE};

pub use crate::wave::Mask;
pub use check::{Checker, Findings, Subject};
pub use debug::{Call, Contents, Debugger, Layout, Next, State, debug};
pub use place::{Area, At, Kind};
pub use profile::{Counts, Profile, profile};
pub use recal_hal::{Finding, Misuse};
pub use trace::{TraceAccess, TraceFlow, TraceStep, trace};

/// What a wave is about to do, or has done.
#[derive(Clone, Copy)]
pub enum Event<'s> {
    /// It executes a statement. Of a construct or a call, that is the test which threads take part.
    Statement(&'s Stmt),
    /// A loop begins another round.
    Round(&'s Stmt),
    /// A construct is left, or a called function; only after.
    Closed(&'s Stmt),
    /// It ends; only before.
    End,
}

/// Who is told of what waves do.
pub trait Watch {
    /// A part (tile or group) begins.
    fn part(&mut self, _part: u64) {}

    /// Something is about to happen. The launch ends if the answer is false.
    fn before(&mut self, scene: &Scene<'_>, event: Event<'_>) -> bool;

    /// It has happened.
    fn after(&mut self, _scene: &Scene<'_>, _event: Event<'_>) {}
}

/// A wave of a launch at one moment, and all that it can see.
pub struct Scene<'s> {
    pub(crate) bound: Bound<'s>,
    pub(crate) launch: &'s Launch<'s>,
    pub(crate) program: &'s Program,
    pub(crate) extent: Extent,
    pub(crate) part: u64,
    /// Of the group.
    pub(crate) threads: &'s [Thread],
    /// Theirs.
    pub(crate) registers: &'s Registers,
    pub(crate) local: &'s Local,
    pub(crate) frames: &'s [Frame<'s>],
    /// Of the group.
    pub(crate) waves: u32,
    /// Number in the group.
    pub(crate) wave: u32,
    /// Lanes that have a thread.
    pub(crate) launched: Mask,
    /// Lanes that do what is about to happen, or after it, what comes next.
    pub(crate) executing: Mask,
}

/// Memory that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Home {
    /// One that is bound.
    Bound(usize),
    /// A block of LDS.
    Lds(u32),
    /// The LDS that threads own.
    Own,
    /// A block of GDS.
    Gds(u32),
}

impl<'s> Scene<'s> {
    /// Number of the wave in its group.
    pub fn wave(&self) -> u32 {
        self.wave
    }

    /// Lanes that do what is about to happen, or after it, what comes next.
    pub fn executing(&self) -> Mask {
        self.executing
    }

    /// Number of a lane's thread in the group.
    fn thread(&self, lane: usize) -> usize {
        self.wave as usize * WAVE + lane
    }

    /// The lanes that execute, and their threads' numbers.
    fn at_work(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let first = self.thread(0);
        lanes(self.executing).map(move |lane| (lane, first + lane))
    }

    /// A word that thread `t` reads.
    fn word(&self, t: usize, operand: Operand) -> u32 {
        match operand {
            Operand::Reg(register) => self.registers.line(register)[t],
            Operand::Imm(word) => word,
            Operand::Const { buffer, row, component } => {
                self.bound.constant(buffer.into(), row.into(), component.into())
            }
            Operand::Builtin(builtin) => {
                self.threads[t].builtin(self.program, self.extent, self.bound.params, builtin)
            }
        }
    }

    /// Lanes that have a thread in this state.
    fn in_state(&self, state: ThreadState) -> Mask {
        let there = lanes(self.launched).filter(|&lane| self.threads[self.thread(lane)].state == state);
        there.fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Lanes whose thread has ended by a return, though others go on.
    fn ended(&self) -> Mask {
        // Who has returned from a function that is open has not ended.
        let called = self.frames.iter().filter(|frame| matches!(frame.what, What::Call { .. }));
        self.in_state(ThreadState::Returned) & !called.fold(0, |mask, frame| mask | frame.threads)
    }

    /// A memory, and how many bytes a surface has of it.
    fn surface(&self, surface: Option<&Surface>) -> Option<(Home, usize)> {
        surface.map(|surface| (Home::Bound(surface.memory), surface.bytes()))
    }

    fn memory(&self, home: Home) -> Option<&'s dyn Memory> {
        match home {
            Home::Bound(number) => Some(self.bound.memories.numbered(number)),
            Home::Lds(number) => self.local.lds.get(&number).map(|bytes| bytes as &dyn Memory),
            Home::Own => Some(&self.local.owned),
            Home::Gds(number) => self.launch.gds.get(&number).map(|bytes| &**bytes as &dyn Memory),
        }
    }

    /// A word of a memory; 0 where there is none.
    fn word_of(&self, home: Home, at: usize) -> u32 {
        let memory = self.memory(home);
        memory.and_then(|memory| word_at(memory, memory.bytes(), at as u64 / 4)).unwrap_or(0)
    }
}

/// Line and text of an instruction, without what follows on the line.
fn line_at(text: &[u8], span: Span) -> Option<(u32, String)> {
    let instruction = text.get(span.start as usize..span.end as usize)?;
    let line = 1 + text[..span.start as usize].iter().filter(|&&byte| byte == b'\n').count() as u32;
    Some((line, String::from_utf8_lossy(instruction).trim().to_owned()))
}
