//! Follows one thread: what it writes to registers, what it touches in memory, where it goes.

use std::fmt;

use recal_hal::{Bindings, Error, Extent};
use recal_il::diagnostic::Span;
use recal_il::ir::Program;
use recal_il::isa::LaneOp;

use super::place::{Area, At, Kind};
use super::touch::{Touch, each_touch};
use super::{Event, Watch};
use crate::context::{Context, Counters, Launch, Stop};
use crate::isa_choice::{self, InstructionSet};
use crate::launch::{Scratch, part_of, run_parts};
use crate::load;
use crate::memory::{Block, InUse, View};
use crate::op::{Code, Frame, MemoryOp, NONE, Op, RowId, Rows4};
use crate::wave::{LANES, Wave};

/// One step of a traced thread.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// The IL instruction in the kernel text.
    pub span: Span,
    /// Registers of the program that it wrote, and their new values.
    pub writes: Vec<(recal_il::ir::Reg, u32)>,
    /// What it touched in memory.
    pub access: Option<TraceAccess>,
    /// Where it went.
    pub flow: Option<TraceFlow>,
}

/// An access to memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceAccess {
    /// Memory.
    pub area: Area,
    /// Place in it.
    pub at: At,
    /// What was done.
    pub kind: Kind,
    /// Part of it missed the memory: reads gave 0, writes were dropped.
    pub outside: bool,
    /// The words that were read or written, by component; of an atomic, the word (or two) before and after the
    /// instruction. Other threads of the wave may have changed it in the same instruction.
    pub words: Vec<(u8, u32)>,
}

/// Where a thread went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFlow {
    /// The condition of an `if`, `break`, `continue`, `ret`, `discard` or call held, or there is none; or it did not.
    Condition(bool),
    /// Begins the iteration of this number, from 1.
    Iteration(u32),
    /// Leaves the loop after this many iterations begun.
    LoopEnd(u32),
    /// Goes to the arm with this label.
    Case(i32),
    /// Goes to `default`.
    Default,
    /// No label matches.
    NoCase,
    /// Enters the function with this label.
    Call(u32),
    /// Comes back from it.
    Return(u32),
    /// Passes a fence or barrier.
    Fence,
    /// Ends.
    End,
}

impl fmt::Display for TraceFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceFlow::Condition(true) => f.write_str("taken"),
            TraceFlow::Condition(false) => f.write_str("not taken"),
            TraceFlow::Iteration(n) => write!(f, "iteration {n}"),
            TraceFlow::LoopEnd(n) => write!(f, "the loop ends in iteration {n}"),
            TraceFlow::Case(label) => write!(f, "case {label}"),
            TraceFlow::Default => f.write_str("default"),
            TraceFlow::NoCase => f.write_str("no case"),
            TraceFlow::Call(label) => write!(f, "enters function {label}"),
            TraceFlow::Return(label) => write!(f, "back from function {label}"),
            TraceFlow::Fence => f.write_str("passes"),
            TraceFlow::End => f.write_str("ends"),
        }
    }
}

/// What the thread was doing when an operation began.
#[derive(Default)]
struct Begun {
    active: bool,
    access: Option<TraceAccess>,
    /// Loop frames of the wave in which the thread took part.
    frames: usize,
}

struct Tracer<'a> {
    wave: u32,
    lane: usize,
    sink: &'a mut dyn FnMut(TraceStep),
    begun: Begun,
    /// Iterations begun of each open loop of the wave; none where the thread did not enter.
    loops: Vec<Option<u32>>,
    /// Labels of the open calls.
    calls: Vec<(bool, u32)>,
}

impl Tracer<'_> {
    fn step(&mut self, span: Span, flow: TraceFlow) {
        (self.sink)(TraceStep { span, writes: Vec::new(), access: None, flow: Some(flow) });
    }

    fn active(&self, wave: &Wave) -> bool {
        wave.exec >> self.lane & 1 == 1
    }

    /// The access of the thread, with the words as they are before the instruction.
    fn access(&self, wave: &Wave, context: &Context<'_>, op: &MemoryOp) -> Option<TraceAccess> {
        let mut own: Option<Touch<'_>> = None;
        each_touch(wave, context, op, &mut |touch| {
            if touch.lane == self.lane {
                own = Some(touch);
            }
        });
        let touch = own?;
        let words = match op {
            MemoryOp::Atomic { .. } | MemoryOp::AtomicWide { .. } => memory_words(&touch),
            MemoryOp::ArrayStore { src, .. }
            | MemoryOp::GlobalStore { src, .. }
            | MemoryOp::RawStore { src, .. }
            | MemoryOp::TypedStore { src, .. }
            | MemoryOp::SharedStore { src, .. }
            | MemoryOp::LdsWriteOwn { src, .. } => self.words(wave, src),
            _ => Vec::new(),
        };
        Some(TraceAccess { area: touch.area, at: touch.at, kind: touch.kind, outside: touch.outside, words })
    }

    fn words(&self, wave: &Wave, rows: &Rows4) -> Vec<(u8, u32)> {
        let there = rows.iter().enumerate().filter(|(_, row)| **row != NONE);
        there.map(|(k, row)| (k as u8, wave.rows[*row as usize].0[self.lane])).collect()
    }

    /// The words that a load delivered.
    fn delivered(&self, wave: &Wave, op: &MemoryOp) -> Vec<(u8, u32)> {
        let dst = match op {
            MemoryOp::Gather { dst, .. }
            | MemoryOp::ImmediateLoad { dst, .. }
            | MemoryOp::SharedLoad { dst, .. }
            | MemoryOp::LdsReadAny { dst, .. } => dst,
            op => match op.loaded() {
                Some(dst) => dst,
                None => return Vec::new(),
            },
        };
        self.words(wave, dst)
    }

    /// Flow that is known only when it has happened.
    fn flowed(&mut self, wave: &Wave, code: &Code, op: &Op, span: Span) {
        let (was, is) = (self.begun.active, self.active(wave));
        match op {
            Op::If { .. } if was => self.step(span, TraceFlow::Condition(is)),
            Op::Break { .. } | Op::Continue { .. } | Op::Return { .. } | Op::Discard { .. } if was => {
                self.step(span, TraceFlow::Condition(!is));
            }
            Op::Loop => {
                self.loops.push(was.then_some(1));
                if was {
                    self.step(span, TraceFlow::Iteration(1));
                }
            }
            Op::EndLoop { .. } => {
                if wave.frames.len() < self.begun.frames {
                    if let Some(count) = self.loops.pop().flatten() {
                        self.step(span, TraceFlow::LoopEnd(count));
                    }
                } else if is && let Some(Some(count)) = self.loops.last_mut() {
                    *count += 1;
                    let number = *count;
                    self.step(span, TraceFlow::Iteration(number));
                }
            }
            Op::Switch { selector, labels } if was => {
                let Some(Frame::Switch { arms, .. }) = wave.frames.last() else { return };
                let taken = wave.arms[*arms..].iter().position(|mask| mask >> self.lane & 1 == 1);
                let word = wave.rows[*selector as usize].0[self.lane] as i32;
                let flow = match taken {
                    Some(arm) if labels[arm].labels.contains(&word) => TraceFlow::Case(word),
                    Some(_) => TraceFlow::Default,
                    None => TraceFlow::NoCase,
                };
                self.step(span, flow);
            }
            Op::Call { target, cond } => {
                let entered = wave.frames.len() > self.begun.frames;
                let label =
                    code.bodies.iter().find(|(start, _)| start == target).and_then(|(_, label)| *label);
                let label = label.unwrap_or(0);
                if entered {
                    self.calls.push((was && is, label));
                }
                match (was, entered && is) {
                    (true, true) => self.step(span, TraceFlow::Call(label)),
                    (true, false) if cond.is_some() => self.step(span, TraceFlow::Condition(false)),
                    _ => {}
                }
            }
            Op::EndFunction => {
                if let Some((true, label)) = self.calls.pop()
                    && is
                {
                    self.step(span, TraceFlow::Return(label));
                }
            }
            _ => {}
        }
    }
}

/// The words that an access finds in memory.
fn memory_words(touch: &Touch<'_>) -> Vec<(u8, u32)> {
    let words = touch.pieces.iter().enumerate();
    words.filter_map(|(k, piece)| Some((k as u8, touch.view.word((*piece)?.offset / 4)))).collect()
}

impl Watch for Tracer<'_> {
    fn part(&mut self, _: u64) {}

    fn before(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        if wave.index != self.wave {
            return;
        }
        let code = context.launch.code;
        self.begun = Begun { active: self.active(wave), access: None, frames: wave.frames.len() };
        let Event::Op(index) = event else { return };
        match &code.ops[index] {
            Op::Memory(access) if self.begun.active => {
                self.begun.access = self.access(wave, context, &code.memory[*access as usize].op);
            }
            // The wave stops here: there is no afterwards.
            Op::Fence(_) if self.begun.active => self.step(event.span(code), TraceFlow::Fence),
            Op::End if wave.launched >> self.lane & 1 == 1 => self.step(event.span(code), TraceFlow::End),
            _ => {}
        }
    }

    fn after(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        if wave.index != self.wave {
            return;
        }
        let code = context.launch.code;
        let span = event.span(code);
        let mut writes = Vec::new();
        let mut note = |row: RowId| {
            if row < code.registers {
                writes.push((row, wave.rows[row as usize].0[self.lane]));
            }
        };
        let mut access = None;
        match event {
            // Of an operand, for an operation that comes, perhaps lines later. What it gives has no name.
            Event::Step(index) if code.steps[index].op == LaneOp::Flush => return,
            Event::Step(index) if self.active(wave) => code.ids(index).0.iter().for_each(|&row| note(row)),
            Event::Step(_) => return,
            Event::Op(index) => match &code.ops[index] {
                Op::Memory(number) if self.active(wave) => {
                    let op = &code.memory[*number as usize].op;
                    op.each_row(|row, written| {
                        if written {
                            note(row);
                        }
                    });
                    access = self.begun.access.take();
                    if let Some(access) = &mut access {
                        match access.kind {
                            Kind::Read => access.words = self.delivered(wave, op),
                            Kind::Write => {}
                            Kind::Atomic => {
                                let now = self.access(wave, context, op);
                                access.words.extend(now.into_iter().flat_map(|now| now.words));
                            }
                        }
                    }
                }
                op => return self.flowed(wave, code, op, span),
            },
        }
        (self.sink)(TraceStep { span, writes, access, flow: None });
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
    let isa = isa_choice::chosen(InstructionSet::Avx512);
    let code = load::load(program, &[], isa, true);
    let Some((part, number)) = part_of(extent, thread) else {
        return Err(Error::Failed("the traced thread is not part of the launch".into()));
    };
    let gds = match code.gds_bytes {
        0 => None,
        bytes => Some(Block::allocate(u64::from(bytes), u64::MAX, &InUse::default())?),
    };
    let (counters, stop) = (Counters::default(), Stop::after(None, None));
    let gds = gds.as_ref().map_or(View::EMPTY, Block::view);
    let launch = Launch::bind(&code, bindings, extent, gds, &counters, &stop)?;
    let mut tracer = Tracer {
        wave: number / LANES as u32,
        lane: number as usize % LANES,
        sink,
        begun: Begun::default(),
        loops: Vec::new(),
        calls: Vec::new(),
    };
    let mut parts = Some(part..part + 1);
    run_parts(&launch, isa, &mut Scratch::default(), Some(&mut tracer), || parts.take())
}
