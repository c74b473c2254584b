//! Looks over the shoulder of running waves: reports misuse by kernels, and follows one thread step by step.
//!
//! A watched launch runs unfused operations, one at a time; everything else is the engine's own code, so what is
//! observed is what happens. [`Checker`] finds reads of registers that were never written, accesses outside their
//! memory, words that two threads of a group touch in no order, and barriers that part of a group misses. [`trace`]
//! delivers what one thread does, [`profile()`] counts what all do, [`debug()`] stands still wherever it is told to.

mod check;
mod debug;
mod place;
mod profile;
mod race;
mod touch;
mod trace;

use std::collections::HashSet;

use recal_hal::sync::Mutex;
use recal_il::diagnostic::Span;

use crate::context::Context;
use crate::op::Code;
use crate::wave::Wave;

pub use check::Checker;
pub use debug::{Call, Contents, Debugger, Layout, Next, State, debug};
pub use place::{Area, At, Kind};
pub use profile::{Counts, Profile, profile};
pub use recal_hal::{Finding, Misuse};
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
