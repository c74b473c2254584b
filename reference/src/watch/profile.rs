//! Counts what a launch does, instruction by instruction: how often waves execute it, with how many threads, where they part,
//! and which lines of the cache they touch.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use recal_hal::Extent;
use recal_il::diagnostic::Span;
use recal_il::ir::{MemoryInst, Program, Stmt, StmtKind};
use recal_il::isa::{LaneOp, lane::Class};

use super::clock::Clock;
use super::touch::Lister;
use super::{Event, Home, Scene, Watch};
use crate::wave::{Mask, What};
use crate::{Launch, Machine, Memory, Stopped, parts};

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
    /// Threads of all parts.
    pub threads: u64,
    /// Different lines of the cache that were touched.
    pub lines: u64,
}

/// Counts of one statement.
#[derive(Clone, Default)]
struct Own {
    span: Span,
    executions: u64,
    lanes: u64,
    launched: u64,
    splits: u64,
    flops: u64,
    lines: u64,
    new_lines: u64,
    /// It makes a form of an operand of its instruction.
    aside: bool,
}

/// A line of the cache.
type Line = (Home, usize);

struct Counter {
    /// By where statements are.
    statements: HashMap<*const Stmt, Own>,
    parts: u64,
    seen: HashSet<Line>,
    /// Who executed the statement at hand.
    executing: Mask,
    clock: Clock,
}

impl Counter {
    /// The lines that an access touches: all, and those that nothing had touched before.
    fn lines(&mut self, scene: &Scene<'_>, inst: &MemoryInst) -> [u64; 2] {
        let mut touched: HashSet<Line> = HashSet::new();
        for (_, thread) in scene.at_work() {
            let Some(touch) = (Lister { scene, thread }).touch(inst) else { continue };
            let pieces = touch.home.into_iter().flat_map(|home| {
                touch.pieces.iter().flatten().map(move |piece| (home, piece.offset, piece.bytes))
            });
            let texel = touch.texel.map(|(memory, first, bytes)| (Home::Bound(memory), first, bytes));
            for (home, first, bytes) in pieces.chain(texel) {
                let lines = first / LINE..=(first + bytes.max(1) - 1) / LINE;
                touched.extend(lines.map(|line| (home, line)));
            }
        }
        if self.seen.len() > MOST_LINES {
            self.seen.clear();
        }
        let new = touched.iter().filter(|line| self.seen.insert(**line)).count() as u64;
        [touched.len() as u64, new]
    }
}

impl Watch for Counter {
    fn part(&mut self, _: u64) {
        self.parts += 1;
    }

    fn before(&mut self, scene: &Scene<'_>, event: Event<'_>) -> bool {
        if let Event::Statement(stmt) = event {
            self.executing = scene.executing;
            let lines = match &stmt.kind {
                StmtKind::Memory(inst) => self.lines(scene, inst),
                _ => [0; 2],
            };
            let [lanes, launched] =
                [scene.executing, scene.launched].map(|mask| u64::from(mask.count_ones()));
            let own = self.statements.entry(stmt).or_default();
            own.span = stmt.span;
            own.executions += 1;
            own.lanes += lanes;
            own.launched += launched;
            own.lines += lines[0];
            own.new_lines += lines[1];
            if let StmtKind::Lane(inst) = &stmt.kind {
                own.aside = matches!(inst.op, LaneOp::Flush | LaneOp::Canon);
                own.flops += lanes * flops(inst.op);
            }
        }
        !self.clock.is_late()
    }

    fn after(&mut self, scene: &Scene<'_>, event: Event<'_>) {
        let Event::Statement(stmt) = event else { return };
        let split = match &stmt.kind {
            StmtKind::If { .. }
            | StmtKind::Call { .. }
            | StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::Return(_)
            | StmtKind::Discard(_) => scene.executing != 0 && scene.executing != self.executing,
            StmtKind::Switch { .. } => match scene.frames.last().map(|frame| &frame.what) {
                // Who enters nowhere goes a way of its own.
                Some(What::Switch { entered, .. }) => {
                    entered.iter().all(|mask| *mask != self.executing)
                        && entered.iter().any(|mask| *mask != 0)
                }
                _ => false,
            },
            _ => false,
        };
        if split {
            self.statements.entry(stmt).or_default().splits += 1;
        }
    }
}

/// Operations on floats that an operation is for a thread: those that adders, multipliers and their like do.
fn flops(op: LaneOp) -> u64 {
    let float = |class: &Class| matches!(class, Class::F);
    match op {
        LaneOp::Mad | LaneOp::MadIeee | LaneOp::Fma | LaneOp::BareFma => 2,
        LaneOp::Dmad | LaneOp::BareDmad => 2,
        LaneOp::Dadd
        | LaneOp::Dsub
        | LaneOp::Dmul
        | LaneOp::BareDadd
        | LaneOp::BareDsub
        | LaneOp::BareDmul
        | LaneOp::Ddiv
        | LaneOp::Drcp
        | LaneOp::Drsq
        | LaneOp::Dsqrt
        | LaneOp::Dmin
        | LaneOp::Dmax
        | LaneOp::Dfrac => 1,
        LaneOp::Flush | LaneOp::Canon => 0,
        op if float(&op.result()) && op.arguments().iter().any(float) => 1,
        _ => 0,
    }
}

fn counts(counter: Counter) -> Vec<Counts> {
    let mut by_span: HashMap<Span, Counts> = HashMap::new();
    // What is flushed for an instruction may be flushed long before it.
    let counted = |own: &Own| own.span != Span::default() && !own.aside;
    for own in counter.statements.into_values().filter(counted) {
        let span = own.span;
        let counts = by_span.entry(span).or_insert_with(|| Counts { span, ..Counts::default() });
        // An instruction is several statements, which mostly are executed alike.
        if (own.executions, own.lanes) > (counts.executions, counts.lanes) {
            counts.executions = own.executions;
            (counts.lanes, counts.launched) = (own.lanes, own.launched);
        }
        counts.splits += own.splits;
        counts.flops += own.flops;
        counts.lines += own.lines;
        counts.new_lines += own.new_lines;
    }
    let mut all: Vec<Counts> = by_span.into_values().collect();
    all.sort_unstable_by_key(|counts| (counts.span.start, counts.span.end));
    all
}

/// Runs a launch and counts. After `limit` it ends where it is: then fewer parts have run than there are. Stores are made. An error only
/// if it cannot begin.
pub fn profile<M: Memory>(
    machine: &mut Machine<M>,
    launch: &mut Launch<'_>,
    program: &Program,
    extent: Extent,
    limit: Duration,
) -> Result<Profile, Stopped> {
    let mut counter = Counter {
        statements: HashMap::new(),
        parts: 0,
        seen: HashSet::new(),
        executing: 0,
        clock: Clock::new(Some(limit)),
    };
    let all = parts(extent);
    match machine.run(program, extent, launch, 0..all, Some(&mut counter)) {
        Ok(()) => {}
        // The part at hand has not come to its end.
        Err(Stopped::Ended) => counter.parts -= 1,
        Err(stopped) => return Err(stopped),
    }
    let parts = (counter.parts, all);
    let counts = counts(counter);
    let lines = counts.iter().map(|counts| counts.new_lines).sum();
    let product = |all: &[u32]| all.iter().fold(1u64, |count, &k| count.saturating_mul(k.into()));
    let threads = match extent {
        Extent::Domain { width, height, .. } => product(&[width, height]),
        Extent::Grid { groups, block } => product(&[groups, block].concat()),
    };
    Ok(Profile { counts, parts, threads, lines })
}
