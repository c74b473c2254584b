//! Looks over the shoulder of running waves: reports misuse by kernels, and follows one thread step by step.
//!
//! A watched launch runs unfused operations, one at a time; everything else is the engine's own code, so what is
//! observed is what happens. [`Checker`] finds reads of registers that were never written, accesses outside their
//! memory, words that two waves of a group touch without a barrier between, and barriers that part of a group
//! misses. [`trace`] delivers what one thread writes.

use std::collections::{HashMap, HashSet};
use std::fmt;

use cal_hal::{Bindings, Error, Extent};
use cal_il::diagnostic::Span;
use cal_il::ir::{Fence, Program, Width};
use parking_lot::Mutex;

use crate::context::{Context, Counters, Launch, Stop};
use crate::isa_choice;
use crate::launch::{Scratch, part_of, position_of, run_parts};
use crate::load;
use crate::memory::{Block, InUse, View, view_of};
use crate::op::{AtomicAt, Code, MemoryOp, NONE, Op, Place, RowId};
use crate::wave::{LANES, Mask, Wave, lanes};

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
}

/// Kinds of misuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Misuse {
    /// A register is read that this thread never wrote; it reads as 0.
    Uninitialized,
    /// An access misses its memory; loads give 0, stores are dropped.
    OutOfRange,
    /// Two waves of the group touch a word, at least one of them writes, and no barrier is between.
    Race,
    /// Some threads of the group do not take part in a barrier.
    DivergentBarrier,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.misuse {
            Misuse::Uninitialized => "reads a register that was never written",
            Misuse::OutOfRange => "accesses memory out of range",
            Misuse::Race => "touches a word that another wave writes, without a barrier between",
            Misuse::DivergentBarrier => "waits at a barrier that not all threads reach",
        };
        let Finding { span, part, thread, position: [x, y, z], .. } = self;
        match &self.line {
            Some((line, text)) => write!(f, "kernel line {line}, `{text}`: ")?,
            None => write!(f, "kernel text, bytes {} to {}: ", span.start, span.end)?,
        }
        write!(f, "thread ({x}, {y}, {z}), number {thread} of group {part}, {what}")
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

/// Last use of a word of shared memory since the last barrier: wave, and whether any wave wrote it.
struct Use {
    wave: u32,
    several: bool,
    written: bool,
}

/// Reports misuse.
pub struct Checker<'a> {
    findings: &'a Findings,
    part: u64,
    /// By wave of the group: lanes that have written each row.
    written: Vec<HashMap<RowId, Mask>>,
    /// Words of LDS and UAVs used since the last barrier of the group.
    uses: HashMap<(usize, usize), Use>,
    /// Waves at the current barrier.
    arrived: u32,
}

impl<'a> Checker<'a> {
    /// Reports to `findings`.
    pub fn new(findings: &'a Findings) -> Checker<'a> {
        Checker { findings, part: 0, written: Vec::new(), uses: HashMap::new(), arrived: 0 }
    }

    fn report(&self, misuse: Misuse, wave: &Wave, launch: &Launch<'_>, span: Span, lane: usize) {
        let thread = wave.index * LANES as u32 + lane as u32;
        let position = position_of(launch.extent, self.part, thread);
        let line = line_at(&launch.code.text, span);
        self.findings.add(Finding { misuse, span, part: self.part, thread, position, line });
    }

    fn read(&mut self, wave: &Wave, launch: &Launch<'_>, row: RowId, span: Span) {
        let code = launch.code;
        if row >= code.registers {
            return;
        }
        let written =
            self.written.get(wave.index as usize).and_then(|rows| rows.get(&row)).copied().unwrap_or(0);
        let missing = wave.exec & !written;
        if missing != 0 {
            self.report(Misuse::Uninitialized, wave, launch, span, missing.trailing_zeros() as usize);
        }
    }

    fn wrote(&mut self, wave: &Wave, row: RowId) {
        let index = wave.index as usize;
        if self.written.len() <= index {
            self.written.resize_with(index + 1, HashMap::new);
        }
        *self.written[index].entry(row).or_default() |= wave.exec;
    }

    fn access(&mut self, wave: &Wave, context: &Context<'_>, op: &MemoryOp, span: Span) {
        for (lane, word, view, write) in touched(wave, context, op) {
            let outside = word.checked_mul(4).is_none_or(|byte| byte + 4 > view.bytes());
            if outside {
                self.report(Misuse::OutOfRange, wave, context.launch, span, lane);
                continue;
            }
            if context.group_waves < 2 || matches!(op, MemoryOp::Atomic { .. } | MemoryOp::ConstLoad { .. }) {
                continue;
            }
            let fresh = Use { wave: wave.index, several: false, written: false };
            let seen = self.uses.entry((view.address(), word)).or_insert(fresh);
            seen.several |= seen.wave != wave.index;
            seen.written |= write;
            if seen.several && seen.written {
                self.report(Misuse::Race, wave, context.launch, span, lane);
            }
        }
    }

    fn barrier(&mut self, wave: &Wave, context: &Context<'_>, span: Span) {
        // Threads that have ended count as arrived.
        let ended = if wave.frames.is_empty() { wave.returned } else { 0 };
        let missing = wave.launched & !wave.exec & !ended & !wave.killed;
        if missing != 0 {
            self.report(
                Misuse::DivergentBarrier,
                wave,
                context.launch,
                span,
                missing.trailing_zeros() as usize,
            );
        }
        self.arrived += 1;
        if self.arrived >= context.group_waves {
            self.arrived = 0;
            self.uses.clear();
        }
    }
}

impl Watch for Checker<'_> {
    fn part(&mut self, part: u64) {
        self.part = part;
        self.written.clear();
        self.uses.clear();
        self.arrived = 0;
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        let code = context.launch.code;
        let span = event.span(code);
        match event {
            Event::Step(index) => {
                let (_, reads) = code.ids(index);
                reads.iter().for_each(|&row| self.read(wave, context.launch, row, span));
            }
            Event::Op(index) => match &code.ops[index] {
                Op::Memory(access) => {
                    let op = &code.memory[*access as usize].op;
                    op.each_row(|row, written| {
                        if !written {
                            self.read(wave, context.launch, row, span);
                        }
                    });
                    self.access(wave, context, op, span);
                }
                Op::Fence(fence) if fence.contains(Fence::THREADS) && context.group_waves > 0 => {
                    self.barrier(wave, context, span);
                }
                op => op.each_read(|row| self.read(wave, context.launch, row, span)),
            },
        }
    }

    fn after(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        let code = context.launch.code;
        match event {
            Event::Step(index) => code.ids(index).0.iter().for_each(|&row| self.wrote(wave, row)),
            Event::Op(index) => {
                if let Op::Memory(access) = &code.ops[index] {
                    code.memory[*access as usize].op.each_row(|row, written| {
                        if written {
                            self.wrote(wave, row);
                        }
                    });
                }
            }
        }
    }
}

/// The words that an access of byte-addressed or element memory touches: lane, word, memory, whether it writes.
fn touched<'a>(wave: &Wave, context: &Context<'a>, op: &MemoryOp) -> Vec<(usize, usize, View<'a>, bool)> {
    let mut list = Vec::new();
    let mut add =
        |view: View<'a>, row: RowId, first: &dyn Fn(u32) -> i64, components: [RowId; 4], write: bool| {
            for lane in lanes(wave.exec) {
                let start = first(wave.rows[row as usize].0[lane]);
                for (k, _) in components.iter().enumerate().filter(|(_, id)| **id != NONE) {
                    let word = usize::try_from(start + k as i64).unwrap_or(usize::MAX);
                    list.push((lane, word, view, write));
                }
            }
        };
    let words = |address: u32| i64::from(address >> 2);
    match op {
        MemoryOp::RawLoad { place, address, width, dst } => {
            let components = if *width == Width::Dwords { *dst } else { [dst[0], NONE, NONE, NONE] };
            add(view_of(context, *place), *address, &words, components, false);
        }
        MemoryOp::RawStore { place, address, src, .. } => {
            add(view_of(context, *place), *address, &words, *src, true)
        }
        MemoryOp::Atomic { place, at: AtomicAt::Byte(address), .. } => {
            add(view_of(context, *place), *address, &words, [0, NONE, NONE, NONE], true);
        }
        MemoryOp::GlobalLoad { index, offset, dst } => {
            let element = |word: u32| 4 * (i64::from(word as i32) + i64::from(*offset));
            add(context.launch.global, *index, &element, *dst, false);
        }
        MemoryOp::GlobalStore { index, offset, src } => {
            let element = |word: u32| 4 * (i64::from(word as i32) + i64::from(*offset));
            add(context.launch.global, *index, &element, *src, true);
        }
        MemoryOp::ConstLoad { place, index, offset, dst } => {
            let element = |word: u32| 4 * (i64::from(word as i32) + i64::from(*offset));
            let view = context.launch.buffers.get(*place as usize).copied().unwrap_or(View::EMPTY);
            add(view, *index, &element, *dst, false);
        }
        MemoryOp::LdsWriteOwn { .. } | MemoryOp::LdsReadAny { .. } => {
            // Addresses are thread numbers: the own area cannot be missed, others read as 0. Races between waves:
            let code = context.launch.code;
            let view = view_of(context, Place::Lds { offset: 0, bytes: u32::MAX });
            for lane in lanes(wave.exec) {
                let (thread, write) = match op {
                    MemoryOp::LdsReadAny { thread, .. } => (wave.rows[*thread as usize].0[lane], false),
                    _ => (wave.index * LANES as u32 + lane as u32, true),
                };
                let word = code.lds_bytes as usize / 4 + thread as usize * code.lds_own as usize;
                list.push((lane, word, view, write));
            }
        }
        _ => {}
    }
    list
}

/// One step of a traced thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The IL instruction in the kernel text.
    pub span: Span,
    /// Registers of the program that it wrote, and their new values.
    pub writes: Vec<(cal_il::ir::Reg, u32)>,
}

struct Tracer<'a> {
    wave: u32,
    lane: usize,
    sink: &'a mut dyn FnMut(TraceStep),
}

impl Watch for Tracer<'_> {
    fn part(&mut self, _: u64) {}

    fn before(&mut self, _: &Wave, _: &Context<'_>, _: Event) {}

    fn after(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        let code = context.launch.code;
        // Flow may just have taken the lane out; such a step is still the thread's.
        if wave.index != self.wave || (matches!(event, Event::Step(_)) && wave.exec >> self.lane & 1 == 0) {
            return;
        }
        let mut writes = Vec::new();
        let mut note = |row: RowId| {
            if row < code.registers && wave.exec >> self.lane & 1 == 1 {
                writes.push((row, wave.rows[row as usize].0[self.lane]));
            }
        };
        match event {
            Event::Step(index) => code.ids(index).0.iter().for_each(|&row| note(row)),
            Event::Op(index) => match &code.ops[index] {
                Op::Memory(access) if wave.exec >> self.lane & 1 == 1 => {
                    let op = &code.memory[*access as usize].op;
                    op.each_row(|row, written| {
                        if written {
                            note(row);
                        }
                    });
                }
                _ => return,
            },
        }
        (self.sink)(TraceStep { span: event.span(code), writes });
    }
}

/// Runs the tile or group of one thread and delivers what the thread executes. `thread` is its absolute position:
/// column and row of the domain, or `vAbsTid`. Stores of the part are made; other parts do not run.
pub fn trace(
    program: &Program,
    bindings: &Bindings,
    extent: Extent,
    thread: [u32; 3],
    sink: &mut dyn FnMut(TraceStep),
) -> Result<(), Error> {
    let isa = isa_choice::chosen();
    let code = load::load(program, isa, true);
    let Some((part, number)) = part_of(extent, thread) else {
        return Err(Error::Failed("the traced thread is not part of the launch".into()));
    };
    let gds = Block::allocate(u64::from(code.gds_bytes), u64::MAX, &InUse::default())?;
    let (counters, stop) = (Counters::default(), Stop::after(None));
    let launch = Launch::bind(&code, bindings, extent, gds.view(), &counters, &stop)?;
    let mut tracer = Tracer { wave: number / LANES as u32, lane: number as usize % LANES, sink };
    let mut parts = Some(part..part + 1);
    run_parts(&launch, isa, &mut Scratch::default(), Some(&mut tracer), || parts.take())
}
