//! Follows one thread: what it writes to registers, what it touches in memory, where it goes.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use recal_hal::Extent;
use recal_il::diagnostic::Span;
use recal_il::ir::visit::{destinations_of, loaded};
use recal_il::ir::{MemoryInst, Operand, Program, Reg, Src4, Stmt, StmtKind};
use recal_il::isa::LaneOp;

use super::clock::Clock;
use super::place::{Area, At, Kind};
use super::touch::{Lister, Touch};
use super::{Event, Scene, Watch};
use crate::wave::What;
use crate::{Launch, Machine, Memory, Stopped, WAVE, parts};

/// One step of a traced thread.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// The IL instruction in the kernel text.
    pub span: Span,
    /// Registers of the program that it wrote, and their new values.
    pub writes: Vec<(Reg, u32)>,
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

struct Tracer<'a> {
    wave: u32,
    lane: usize,
    sink: &'a mut dyn FnMut(TraceStep) -> ControlFlow<()>,
    /// The sink has seen enough.
    enough: bool,
    clock: Clock,
    /// It is late.
    late: bool,
    /// The thread takes part in what happens.
    active: bool,
    access: Option<TraceAccess>,
    /// Rounds begun of each open loop of the wave; none where the thread did not enter.
    loops: Vec<Option<u32>>,
    /// Labels of the open calls, and whether the thread is in them.
    calls: Vec<(bool, u32)>,
}

impl Tracer<'_> {
    fn tell(&mut self, step: TraceStep) {
        self.enough = self.enough || (self.sink)(step).is_break();
    }

    fn step(&mut self, span: Span, flow: TraceFlow) {
        self.tell(TraceStep { span, writes: Vec::new(), access: None, flow: Some(flow) });
    }

    fn is_active(&self, scene: &Scene<'_>) -> bool {
        scene.executing >> self.lane & 1 == 1
    }

    fn register(&self, scene: &Scene<'_>, register: Reg) -> u32 {
        scene.word(scene.thread(self.lane), Operand::Reg(register))
    }

    /// The access of the thread, with the words as they are before the instruction.
    fn access(&self, scene: &Scene<'_>, inst: &MemoryInst) -> Option<TraceAccess> {
        let thread = scene.thread(self.lane);
        let touch = Lister { scene, thread }.touch(inst)?;
        let sources = |src: &Src4| {
            let there = src.iter().enumerate().filter_map(|(k, operand)| Some((k as u8, (*operand)?)));
            there.map(|(k, operand)| (k, scene.word(thread, operand))).collect()
        };
        let words = match inst {
            MemoryInst::Atomic { .. } => memory_words(scene, &touch),
            MemoryInst::ArrayStore { src, .. }
            | MemoryInst::GlobalStore { src, .. }
            | MemoryInst::RawStore { src, .. }
            | MemoryInst::SharedStore { src, .. }
            | MemoryInst::LdsWriteOwn { src, .. } => sources(src),
            MemoryInst::TypedStore { src, .. } => sources(&src.map(Some)),
            _ => Vec::new(),
        };
        Some(TraceAccess { area: touch.area, at: touch.at, kind: touch.kind, outside: touch.outside, words })
    }

    /// The words that a load delivered.
    fn delivered(&self, scene: &Scene<'_>, inst: &MemoryInst) -> Vec<(u8, u32)> {
        let components = loaded(&mut inst.clone()).map_or([None; 4], |dst| *dst);
        let there = components.iter().enumerate().filter_map(|(k, register)| Some((k as u8, (*register)?)));
        there.map(|(k, register)| (k, self.register(scene, register))).collect()
    }

    /// An operation has given what it gives.
    fn done(&mut self, scene: &Scene<'_>, span: Span, registers: &[Reg], access: Option<TraceAccess>) {
        let writes = registers.iter().map(|&register| (register, self.register(scene, register))).collect();
        self.tell(TraceStep { span, writes, access, flow: None });
    }

    fn statement(&mut self, scene: &Scene<'_>, stmt: &Stmt) {
        let (was, is, span) = (self.active, self.is_active(scene), stmt.span);
        match &stmt.kind {
            // Of an operand, for an operation that comes, perhaps lines later. What it gives has no name.
            StmtKind::Lane(inst) if inst.op == LaneOp::Flush => {}
            StmtKind::Lane(inst) if was => {
                let [low, high] = inst.dst;
                let all = if low == high { &inst.dst[..1] } else { &inst.dst[..] };
                self.done(scene, span, all, None);
            }
            StmtKind::Memory(inst) if was => {
                let mut access = self.access.take();
                if let Some(access) = &mut access {
                    match access.kind {
                        Kind::Read => access.words = self.delivered(scene, inst),
                        Kind::Write => {}
                        Kind::Atomic => {
                            let now = self.access(scene, inst);
                            access.words.extend(now.into_iter().flat_map(|now| now.words));
                        }
                    }
                }
                self.done(scene, span, &destinations_of(inst), access);
            }
            StmtKind::If { .. } if was => self.step(span, TraceFlow::Condition(is)),
            StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(_) | StmtKind::Discard(_)
                if was =>
            {
                self.step(span, TraceFlow::Condition(!is));
            }
            StmtKind::Loop { .. } => {
                self.loops.push(was.then_some(1));
                if was {
                    self.step(span, TraceFlow::Iteration(1));
                }
            }
            StmtKind::Switch { selector, arms } if was => {
                let value = scene.word(scene.thread(self.lane), *selector) as i32;
                let named = arms.iter().any(|arm| arm.labels.contains(&value));
                let flow = match named {
                    true => TraceFlow::Case(value),
                    false if arms.iter().any(|arm| arm.default) => TraceFlow::Default,
                    false => TraceFlow::NoCase,
                };
                self.step(span, flow);
            }
            StmtKind::Call { function, cond } => {
                let label = scene.program.functions[*function].label.unwrap_or(0);
                let called = scene.frames.last().is_some_and(
                    |frame| matches!(frame.what, What::Call { stmt: open, .. } if std::ptr::eq(open, stmt)),
                );
                if called {
                    self.calls.push((was && is, label));
                }
                match (was, called && is) {
                    (true, true) => self.step(span, TraceFlow::Call(label)),
                    (true, false) if cond.is_some() => self.step(span, TraceFlow::Condition(false)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn closed(&mut self, scene: &Scene<'_>, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Loop { .. } => {
                if let Some(count) = self.loops.pop().flatten() {
                    self.step(stmt.span, TraceFlow::LoopEnd(count));
                }
            }
            StmtKind::Call { .. } => {
                if let Some((true, label)) = self.calls.pop()
                    && self.is_active(scene)
                {
                    self.step(stmt.span, TraceFlow::Return(label));
                }
            }
            _ => {}
        }
    }
}

/// The words that an access finds in memory.
fn memory_words(scene: &Scene<'_>, touch: &Touch) -> Vec<(u8, u32)> {
    let words = touch.pieces.iter().enumerate();
    let word = |(k, piece): (usize, &Option<super::touch::Piece>)| {
        Some((k as u8, scene.word_of(touch.home?, (*piece)?.offset)))
    };
    words.filter_map(word).collect()
}

impl Watch for Tracer<'_> {
    fn before(&mut self, scene: &Scene<'_>, event: Event<'_>) -> bool {
        self.late = self.late || self.clock.is_late();
        if self.enough || self.late {
            return false;
        }
        if scene.wave != self.wave {
            return true;
        }
        (self.active, self.access) = (self.is_active(scene), None);
        match event {
            Event::Statement(stmt) if self.active => match &stmt.kind {
                StmtKind::Memory(inst) => self.access = self.access(scene, inst),
                StmtKind::Fence(_) => self.step(stmt.span, TraceFlow::Fence),
                _ => {}
            },
            // Who was killed, or has returned, does not come to the end.
            Event::End if self.active => {
                let last = scene.program.functions[0].body.last();
                self.step(last.map_or(Span::default(), |stmt| stmt.span), TraceFlow::End);
            }
            _ => {}
        }
        true
    }

    fn after(&mut self, scene: &Scene<'_>, event: Event<'_>) {
        if scene.wave != self.wave {
            return;
        }
        match event {
            Event::Statement(stmt) => self.statement(scene, stmt),
            Event::Round(stmt) => {
                if self.is_active(scene)
                    && let Some(Some(count)) = self.loops.last_mut()
                {
                    *count += 1;
                    let number = *count;
                    self.step(stmt.span, TraceFlow::Iteration(number));
                }
            }
            Event::Closed(stmt) => self.closed(scene, stmt),
            Event::End => {}
        }
    }
}

/// Runs the tile or group of one thread and delivers what the thread executes. `thread` is its absolute position:
/// column and row of the domain, or `vAbsTid`; `None` if it is not part of the launch. Stores of the part are made; other parts do
/// not run. The launch ends when the sink has seen enough, and after `limit`: then it is endless.
pub fn trace<M: Memory>(
    machine: &mut Machine<M>,
    launch: &mut Launch<'_>,
    program: &Program,
    extent: Extent,
    thread: [u32; 3],
    limit: Option<Duration>,
    sink: &mut dyn FnMut(TraceStep) -> ControlFlow<()>,
) -> Option<Result<(), Stopped>> {
    let (part, number) = parts::part_of(extent, thread)?;
    let mut tracer = Tracer {
        wave: number / WAVE as u32,
        lane: number as usize % WAVE,
        sink,
        enough: false,
        clock: Clock::new(limit),
        late: false,
        active: false,
        access: None,
        loops: Vec::new(),
        calls: Vec::new(),
    };
    let result = machine.run(program, extent, launch, part..part + 1, Some(&mut tracer));
    Some(if tracer.late { Err(Stopped::Endless) } else { result })
}
