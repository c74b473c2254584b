//! Looks over the shoulder of running waves: reports misuse by kernels, and follows one thread step by step.
//!
//! A watched launch runs unfused operations, one at a time; everything else is the engine's own code, so what is
//! observed is what happens. [`Checker`] finds reads of registers that were never written, accesses outside their
//! memory, words that two threads of a group touch in no order, and barriers that part of a group misses. [`trace`]
//! delivers what one thread does.

mod check;
mod race;
mod touch;
mod trace;

use std::collections::HashSet;
use std::fmt;

use parking_lot::Mutex;
use recal_il::diagnostic::Span;

use crate::context::Context;
use crate::op::Code;
use crate::wave::Wave;

pub use check::Checker;
pub use touch::{Area, At, Kind};
pub use trace::{TraceAccess, TraceFlow, TraceStep, trace};

/// What is about to happen, or has happened.
#[derive(Clone, Copy)]
pub enum Event {
    /// Lane operation, an index into [`Code::steps`].
    Step(usize),
    /// Any other operation, an index into [`Code::ops`].
    Op(usize),
}

impl Event {
    fn span(self, code: &Code) -> Span {
        let span = match self {
            Event::Step(index) => code.step_spans.get(index),
            Event::Op(index) => code.op_spans.get(index),
        };
        span.copied().unwrap_or_default()
    }
}

/// A watcher of one host thread's waves.
pub trait Watch {
    /// A part (tile or group) begins.
    fn part(&mut self, part: u64);
    /// `event` is about to happen.
    fn before(&mut self, wave: &Wave, context: &Context<'_>, event: Event);
    /// It has happened.
    fn after(&mut self, wave: &Wave, context: &Context<'_>, event: Event);
}

/// A misuse that a kernel committed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// What.
    pub misuse: Misuse,
    /// The instruction in the kernel text.
    pub span: Span,
    /// Tile or group.
    pub part: u64,
    /// Thread in it.
    pub thread: u32,
    /// Absolute position of the thread: column and row of the domain, or `vAbsTid`.
    pub position: [u32; 3],
    /// Line of the kernel text, from 1, and the instruction there, if the text is known.
    pub line: Option<(u32, String)>,
    /// The register or the place in memory, as far as it has a name: `r1.x`, `uav0[byte 64]`; of a race, what happened
    /// to it.
    pub what: String,
}

/// Kinds of misuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Misuse {
    /// A register is read that this thread never wrote; it reads as 0.
    Uninitialized,
    /// An access misses its memory; loads give 0 (samples the edge), stores are dropped.
    OutOfRange,
    /// Two threads of the group touch a word, at least one of them writes, and nothing orders the two.
    Race,
    /// Some threads of the group do not take part in a barrier.
    DivergentBarrier,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { span, part, thread, position: [x, y, z], .. } = self;
        match &self.line {
            Some((line, text)) => write!(f, "kernel line {line}, `{text}`: ")?,
            None => write!(f, "kernel text, bytes {} to {}: ", span.start, span.end)?,
        }
        write!(f, "thread ({x}, {y}, {z}), number {thread} of group {part}, ")?;
        let what = self.what.as_str();
        match self.misuse {
            Misuse::Uninitialized if what.is_empty() => {
                f.write_str("reads a register that was never written")
            }
            Misuse::Uninitialized => write!(f, "reads {what}, which was never written"),
            Misuse::OutOfRange => write!(f, "accesses {what}, out of range"),
            Misuse::Race => write!(f, "{what} without a fence between"),
            Misuse::DivergentBarrier => f.write_str("does not reach this barrier, at which others wait"),
        }
    }
}

/// Line and text of an instruction, without what follows on the line.
fn line_at(text: &[u8], span: Span) -> Option<(u32, String)> {
    let instruction = text.get(span.start as usize..span.end as usize)?;
    let line = 1 + text[..span.start as usize].iter().filter(|&&byte| byte == b'\n').count() as u32;
    Some((line, String::from_utf8_lossy(instruction).trim().to_owned()))
}

/// Findings are kept up to this number; each instruction is reported once for each kind.
const MOST: usize = 1000;

/// What is told once: kind and instruction.
type Once = (Misuse, Span, Option<(u32, String)>);

/// What watched launches of a device found.
#[derive(Default)]
pub struct Findings {
    list: Mutex<Vec<Finding>>,
    seen: Mutex<HashSet<Once>>,
}

impl Findings {
    fn add(&self, finding: Finding) {
        let once = (finding.misuse, finding.span, finding.line.clone());
        if !self.seen.lock().insert(once) {
            return;
        }
        log::warn!("{finding}");
        let mut list = self.list.lock();
        if list.len() < MOST {
            list.push(finding);
        }
    }

    /// Takes what was found since the last call.
    pub fn take(&self) -> Vec<Finding> {
        self.seen.lock().clear();
        std::mem::take(&mut self.list.lock())
    }
}
