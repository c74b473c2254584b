//! Steps through a launch: shows a debugger every instruction of IL before a wave executes it, and goes back.
//!
//! The launch runs in the calling thread, tile after tile or group after group; waves of a group take turns at barriers. So
//! it is the same each time, and going back is running again, from the start or from a copy of the memory that was made
//! when a part began.

mod state;

use recal_hal::{Bindings, Error, Extent};
use recal_il::diagnostic::Span;
use recal_il::ir::Program;
use recal_il::isa::LaneOp;
use recal_il::lower::Names;

pub use self::state::{Call, Contents, Layout, State};
use super::{Event, Watch};
use crate::context::{Context, Counters, Launch, Stop, whole};
use crate::isa_choice::{self, InstructionSet};
use crate::launch::{Scratch, parts, run_parts};
use crate::load;
use crate::memory::{Block, InUse, View};
use crate::op::{Code, Op};
use crate::wave::Wave;
use state::Here;
use std::sync::atomic::Ordering::Relaxed;

/// What a debugger wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The instruction is executed.
    Go,
    /// The launch is run again, from a place before the step of this number; 0 is from the start.
    Again(u64),
    /// The launch ends here. What it stored stays.
    End,
}

/// Who looks at a launch.
pub trait Debugger {
    /// A wave is about to execute an instruction, or the end of the kernel; once more when the launch has ended.
    fn step(&mut self, state: &State<'_>) -> Next;
}

/// An operation that begins no instruction.
const WITHIN: u32 = u32::MAX;
/// The end of the kernel.
const END: u32 = u32::MAX - 1;

/// Which operations begin which instructions.
struct Map {
    /// The instructions, in the order of the text.
    spans: Vec<Span>,
    /// By lane operation: place in `spans`, or [`WITHIN`].
    steps: Vec<u32>,
    /// By other operation.
    ops: Vec<u32>,
}

impl Map {
    fn of(code: &Code) -> Map {
        let (mut steps, mut ops) = (vec![Span::default(); code.steps.len()], Vec::new());
        // An instruction is several operations, one behind the other.
        let mut last = Span::default();
        for (number, (op, &span)) in code.ops.iter().zip(&code.op_spans).enumerate() {
            if code.bodies.iter().any(|(start, _)| *start as usize == number) {
                last = Span::default();
            }
            let begins = match op {
                Op::Lanes { first, end } => {
                    let range = *first as usize..*end as usize;
                    let spans = &code.step_spans[range.clone()];
                    for ((step, &span), known) in
                        steps[range.clone()].iter_mut().zip(spans).zip(&code.steps[range])
                    {
                        // Operands are flushed before their instruction, and constants before all.
                        if known.op != LaneOp::Flush {
                            *step = if span == last { Span::default() } else { span };
                            last = span;
                        }
                    }
                    false
                }
                // What closes a construct has the place of what opens it.
                Op::EndIf { .. }
                | Op::Else { .. }
                | Op::EndLoop { .. }
                | Op::EndSwitch { .. }
                | Op::Arm { .. } => {
                    last = Span::default();
                    false
                }
                Op::EndFunction | Op::End => false,
                _ => std::mem::replace(&mut last, span) != span,
            };
            ops.push(if begins { span } else { Span::default() });
        }
        let none = Span::default();
        let mut spans: Vec<Span> = steps.iter().chain(&ops).copied().filter(|span| *span != none).collect();
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        spans.dedup();
        let place =
            |span: &Span| match spans.binary_search_by_key(&(span.start, span.end), |s| (s.start, s.end)) {
                Ok(place) if *span != none => place as u32,
                _ => WITHIN,
            };
        let steps = steps.iter().map(place).collect();
        let of_op = |(span, op): (&Span, &Op)| if matches!(op, Op::End) { END } else { place(span) };
        let ops = ops.iter().zip(&code.ops).map(of_op).collect();
        Map { spans, steps, ops }
    }
}

/// Memory as it was before a part.
struct Kept {
    part: u64,
    /// Instructions before it.
    number: u64,
    memories: Vec<Block>,
    counters: [u32; 16],
}

/// Instructions between two copies of the memory, if it is small.
const INTERVAL: u64 = 1 << 16;
/// Copies of the memory.
const MOST: usize = 16;
/// Bytes of all of them together, but the first.
const MOST_BYTES: usize = 256 << 20;

/// Copies of the memory that a launch may change.
struct History<'a> {
    memories: Vec<View<'a>>,
    counters: &'a Counters,
    kept: Vec<Kept>,
    interval: u64,
    most: usize,
}

impl<'a> History<'a> {
    fn new(memories: Vec<View<'a>>, counters: &'a Counters, only_start: bool) -> Result<History<'a>, Error> {
        let bytes: usize = memories.iter().map(View::bytes).sum();
        let most = if only_start { 1 } else { (MOST_BYTES / bytes.max(1)).clamp(1, MOST) };
        // A copy takes less time than what is between two.
        let interval = INTERVAL.max(bytes as u64 / 64);
        let mut history = History { memories, counters, kept: Vec::new(), interval, most };
        history.keep(0, 0)?;
        Ok(history)
    }

    fn keep(&mut self, part: u64, number: u64) -> Result<(), Error> {
        let copy = |view: &View<'_>| {
            let block = Block::allocate(view.bytes() as u64, u64::MAX, &InUse::default())?;
            block.view().copy(0, view, 0, view.bytes());
            Ok(block)
        };
        let memories = self.memories.iter().map(copy).collect::<Result<_, Error>>()?;
        let counters = std::array::from_fn(|k| self.counters[k].load(Relaxed));
        self.kept.push(Kept { part, number, memories, counters });
        Ok(())
    }

    /// A part begins.
    fn part(&mut self, part: u64, number: u64) {
        let due =
            self.kept.last().is_some_and(|last| part > last.part && number >= last.number + self.interval);
        if !due || self.most == 1 {
            return;
        }
        if self.kept.len() >= self.most {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.interval *= 2;
        }
        if self.keep(part, number).is_err() {
            self.most = 1;
        }
    }

    /// Makes the memory what it was, at the last part that begins before the step of this number.
    fn back(&self, before: u64) -> (u64, u64) {
        let kept = self.kept.iter().rev().find(|kept| kept.number < before).unwrap_or(&self.kept[0]);
        for (view, block) in self.memories.iter().zip(&kept.memories) {
            view.copy(0, &block.view(), 0, view.bytes());
        }
        for (counter, &value) in self.counters.iter().zip(&kept.counters) {
            counter.store(value, Relaxed);
        }
        (kept.part, kept.number)
    }
}

/// The memory that a launch may write.
fn written<'a>(bindings: &'a Bindings) -> Result<Vec<View<'a>>, Error> {
    let surfaces = bindings.outputs.iter().chain(&bindings.uavs).map(|(_, surface)| surface);
    let mut views: Vec<View<'a>> = Vec::new();
    for surface in surfaces.chain(&bindings.global) {
        let view = whole(surface)?;
        if views.iter().all(|known| known.address() != view.address()) {
            views.push(view);
        }
    }
    Ok(views)
}

struct Stepper<'d, 'a> {
    debugger: &'d mut dyn Debugger,
    program: &'d Program,
    map: &'d Map,
    history: &'d mut History<'a>,
    part: u64,
    number: u64,
    /// What the debugger wants, if that is not to go on.
    wants: Option<Next>,
}

impl Watch for Stepper<'_, '_> {
    fn part(&mut self, part: u64) {
        self.part = part;
        self.history.part(part, self.number);
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        let instruction = match event {
            Event::Step(index) => self.map.steps[index],
            Event::Op(index) => self.map.ops[index],
        };
        if instruction == WITHIN || wave.exec == 0 && instruction != END || self.wants.is_some() {
            return;
        }
        self.number += 1;
        let here = Here {
            wave,
            lds: context.lds,
            shared: context.shared,
            part: self.part,
            instruction: (instruction != END).then_some(instruction as usize),
        };
        let state = State {
            launch: context.launch,
            program: self.program,
            spans: &self.map.spans,
            number: self.number,
            here: Some(here),
        };
        let next = self.debugger.step(&state);
        if next != Next::Go {
            self.wants = Some(next);
            context.launch.stop.cancel();
        }
    }

    fn after(&mut self, _: &Wave, _: &Context<'_>, _: Event) {}
}

/// Runs a launch in the calling thread and shows `debugger` each instruction. `names` are those of the program's registers.
pub fn debug(
    program: &Program,
    names: Names,
    bindings: &Bindings,
    extent: Extent,
    debugger: &mut dyn Debugger,
) -> Result<(), Error> {
    let isa = isa_choice::chosen(InstructionSet::Avx512);
    let mut code = load::load(program, &[], isa, true);
    code.names = names;
    // Nobody is to see what an earlier wave left.
    code.zeroed = std::iter::once(0..code.private).collect();
    let map = Map::of(&code);
    let gds = match code.gds_bytes {
        0 => None,
        bytes => Some(Block::allocate(u64::from(bytes), u64::MAX, &InUse::default())?),
    };
    let gds = gds.as_ref().map_or(View::EMPTY, Block::view);
    let counters = Counters::default();
    let mut memories = written(bindings)?;
    memories.push(gds);
    // Shared registers go from part to part.
    let mut history = History::new(memories, &counters, code.shared > 0)?;
    let mut before = 0;
    loop {
        let (part, number) = history.back(before);
        let stop = Stop::after(None, None);
        let launch = Launch::bind(&code, bindings, extent, gds, &counters, &stop)?;
        let mut stepper =
            Stepper { debugger, program, map: &map, history: &mut history, part, number, wants: None };
        let mut rest = Some(part..parts(extent));
        run_parts(&launch, isa, &mut Scratch::default(), Some(&mut stepper), || rest.take())?;
        let (wants, number) = (stepper.wants, stepper.number + 1);
        let next = wants.unwrap_or_else(|| {
            debugger.step(&State { launch: &launch, program, spans: &map.spans, number, here: None })
        });
        match next {
            Next::Again(step) => before = step,
            Next::Go | Next::End => return Ok(()),
        }
    }
}
