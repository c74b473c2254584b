//! Counts what a launch does, instruction by instruction: how often waves execute it, with how many threads, where they part,
//! and which lines of the cache they touch.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use recal_hal::{Bindings, Error, Extent};
use recal_il::diagnostic::Span;
use recal_il::ir::Program;
use recal_il::isa::{LaneOp, lane::Class};

use super::touch::each_touch;
use super::{Event, Watch};
use crate::context::{Context, Counters, Launch, Stop};
use crate::isa_choice::{self, InstructionSet};
use crate::launch::{Scratch, parts, run_parts};
use crate::load;
use crate::memory::{Block, InUse, View};
use crate::op::{Code, Op};
use crate::wave::Wave;

/// Bytes of a line of the cache, as the counts take it.
pub const LINE: usize = 64;
/// Different lines that are told apart; beyond, lines may be counted as new again.
const MOST_LINES: usize = 1 << 22;

/// What an instruction of the kernel's text did in a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The instruction.
    pub span: Span,
    /// Times that a wave executed it.
    pub executions: u64,
    /// Threads that took part, over all of these.
    pub lanes: u64,
    /// Threads that the waves had been given, over all of these.
    pub launched: u64,
    /// Executions after which some of the threads that took part went one way and some another.
    pub splits: u64,
    /// Operations on floats, over all threads; a multiplication with an addition is two.
    pub flops: u64,
    /// Lines of memory that each execution touched, summed: those that lie in one line count once.
    pub lines: u64,
    /// The same over the launch: lines that nothing had touched before.
    pub new_lines: u64,
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// By instruction, in the order of the text.
    pub counts: Vec<Counts>,
    /// Tiles or groups that ran, and all that there are.
    pub parts: (u64, u64),
    /// Different lines of the cache that were touched.
    pub lines: u64,
}

/// Counts of one operation of the code.
#[derive(Clone, Default)]
struct Own {
    executions: u64,
    lanes: u64,
    launched: u64,
    splits: u64,
    lines: u64,
    new_lines: u64,
}

struct Counter {
    steps: Vec<Own>,
    ops: Vec<Own>,
    parts: u64,
    seen: HashSet<usize>,
    exec: u64,
}

impl Counter {
    fn own(&mut self, event: Event) -> Option<&mut Own> {
        match event {
            Event::Step(index) => self.steps.get_mut(index),
            Event::Op(index) => self.ops.get_mut(index),
        }
    }

    /// The lines that an access touches.
    fn lines(&mut self, wave: &Wave, context: &Context<'_>, index: usize, access: u32) {
        let mut touched: HashSet<usize> = HashSet::new();
        let op = &context.launch.code.memory[access as usize].op;
        each_touch(wave, context, op, &mut |touch| {
            let pieces = touch.pieces.iter().flatten();
            let pieces = pieces.map(|piece| (touch.view.address() + piece.offset, piece.bytes));
            for (first, bytes) in pieces.chain(touch.texel) {
                touched.extend(first / LINE..=(first + bytes.max(1) - 1) / LINE);
            }
        });
        if self.seen.len() > MOST_LINES {
            self.seen.clear();
        }
        let new = touched.iter().filter(|line| self.seen.insert(**line)).count() as u64;
        self.ops[index].lines += touched.len() as u64;
        self.ops[index].new_lines += new;
    }
}

impl Watch for Counter {
    fn part(&mut self, _: u64) {
        self.parts += 1;
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        self.exec = wave.exec;
        if wave.exec == 0 {
            return;
        }
        let [lanes, launched] = [wave.exec, wave.launched].map(|mask| u64::from(mask.count_ones()));
        if let Some(own) = self.own(event) {
            own.executions += 1;
            own.lanes += lanes;
            own.launched += launched;
        }
        if let Event::Op(index) = event
            && let Op::Memory(access) = context.launch.code.ops[index]
        {
            self.lines(wave, context, index, access);
        }
    }

    fn after(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        let Event::Op(index) = event else { return };
        let parts = matches!(
            context.launch.code.ops[index],
            Op::If { .. }
                | Op::Switch { .. }
                | Op::Break { .. }
                | Op::Continue { .. }
                | Op::Return { .. }
                | Op::Discard { .. }
        );
        let stayed = wave.exec & self.exec;
        if parts && stayed != 0 && stayed != self.exec {
            self.ops[index].splits += 1;
        }
    }
}

/// Operations on floats that an operation is for a thread: those that adders, multipliers and their like do.
fn flops(op: LaneOp) -> u64 {
    let float = |class: &Class| matches!(class, Class::F);
    match op {
        LaneOp::Mad | LaneOp::MadIeee | LaneOp::Fma | LaneOp::BareFma => 2,
        LaneOp::Flush | LaneOp::Canon => 0,
        op if float(&op.result()) && op.arguments().iter().any(float) => 1,
        _ => 0,
    }
}

fn counts(code: &Code, counter: &Counter) -> Vec<Counts> {
    let steps = code.steps.iter().zip(&code.step_spans).zip(&counter.steps);
    let steps = steps.map(|((step, span), own)| (*span, own, flops(step.op)));
    // What ends a construct is executed where its first line is not; runs of lane operations are counted one by one.
    let counted = |op: &Op| {
        !matches!(
            op,
            Op::Lanes { .. }
                | Op::EndIf { .. }
                | Op::Else { .. }
                | Op::EndLoop { .. }
                | Op::EndSwitch { .. }
                | Op::Arm { .. }
                | Op::EndFunction
                | Op::End
        )
    };
    let ops = code.ops.iter().zip(&code.op_spans).zip(&counter.ops);
    let ops = ops.filter(|((op, _), _)| counted(op)).map(|((_, span), own)| (*span, own, 0));
    let mut by_span: HashMap<Span, Counts> = HashMap::new();
    for (span, own, flops) in steps.chain(ops) {
        let counts = by_span.entry(span).or_insert_with(|| Counts { span, ..Counts::default() });
        // An instruction is several operations, which mostly are executed alike.
        if own.executions > counts.executions {
            counts.executions = own.executions;
            (counts.lanes, counts.launched) = (own.lanes, own.launched);
        }
        counts.splits += own.splits;
        counts.flops += flops * own.lanes;
        counts.lines += own.lines;
        counts.new_lines += own.new_lines;
    }
    let mut all: Vec<Counts> = by_span.into_values().filter(|c| c.span != Span::default()).collect();
    all.sort_unstable_by_key(|counts| (counts.span.start, counts.span.end));
    all
}

/// Runs a launch in the calling thread, one operation at a time, and counts. After `limit` it ends where it is: then fewer
/// parts have run than there are. Stores are made.
pub fn profile(
    program: &Program,
    bindings: &Bindings,
    extent: Extent,
    limit: Duration,
) -> Result<Profile, Error> {
    let isa = isa_choice::chosen(InstructionSet::Avx512);
    let code = load::load(program, &[], isa, true);
    let gds = match code.gds_bytes {
        0 => None,
        bytes => Some(Block::allocate(u64::from(bytes), u64::MAX, &InUse::default())?),
    };
    let (counters, stop) = (Counters::default(), Stop::after(Some(limit), None));
    let gds = gds.as_ref().map_or(View::EMPTY, Block::view);
    let launch = Launch::bind(&code, bindings, extent, gds, &counters, &stop)?;
    let mut counter = Counter {
        steps: vec![Own::default(); code.steps.len()],
        ops: vec![Own::default(); code.ops.len()],
        parts: 0,
        seen: HashSet::new(),
        exec: 0,
    };
    let all = parts(extent);
    let mut whole = Some(0..all);
    run_parts(&launch, isa, &mut Scratch::default(), Some(&mut counter), || whole.take())?;
    let counts = counts(&code, &counter);
    let lines = counts.iter().map(|counts| counts.new_lines).sum();
    Ok(Profile { counts, parts: (counter.parts, all), lines })
}
