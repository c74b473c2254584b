//! Finds misuse: reads of what was never written, accesses out of range, races, barriers that not all reach.
//!
//! Copies and arithmetic on words that were never written are no misuse yet: kernels compute with whole vectors and use
//! some components. It is misuse when such a word decides something: an address, a condition, what is stored. What is
//! told then is the instruction that read the register first.

use std::collections::{HashMap, HashSet};

use recal_hal::Extent;
use recal_il::diagnostic::Span;
use recal_il::ir::Fence;
use recal_il::isa::LaneOp;

use super::place::Kind;
use super::race::Races;
use super::touch::{Touch, each_touch, rows_used};
use super::{Event, Finding, Findings, Misuse, Watch, line_at};
use crate::context::{Context, Launch};
use crate::launch::position_of;
use crate::op::{Code, MemoryOp, NONE, Op, RowId};
use crate::wave::{LANES, Mask, Row, Wave, lanes, nonzero};

/// The instruction that first read a register which was never written, and the register.
#[derive(Clone, Copy)]
struct Origin {
    span: Span,
    row: RowId,
}

/// What is known of the registers of a wave.
#[derive(Default)]
struct Known {
    /// By row: lanes in which it was written with something that was itself written.
    defined: Vec<Mask>,
    /// Of rows that hold something else: which lanes, and since when. The masks are disjoint.
    origins: HashMap<RowId, Lacks>,
}

/// Lanes in which something was never written, by the instruction that read it first.
type Lacks = Vec<(Mask, Origin)>;

/// The lanes of all.
fn all(lacks: &[(Mask, Origin)]) -> Mask {
    lacks.iter().fold(0, |mask, (lanes, _)| mask | lanes)
}

/// A wave at a barrier.
struct Arrival {
    wave: u32,
    span: Span,
    fence: Fence,
}

/// Reports misuse.
pub struct Checker<'a> {
    findings: &'a Findings,
    part: u64,
    /// By wave of the group.
    known: Vec<Known>,
    races: Races,
    /// Waves at the current barrier.
    arrivals: Vec<Arrival>,
    /// Waves that have ended, and a thread of each that ended at the end of the kernel rather than by a return.
    ended: Vec<Option<u32>>,
    /// Rows with words of constant buffers that are not bound so far.
    unbound: Option<HashSet<RowId>>,
}

impl<'a> Checker<'a> {
    /// Reports to `findings`.
    pub fn new(findings: &'a Findings) -> Checker<'a> {
        Checker {
            findings,
            part: 0,
            known: Vec::new(),
            races: Races::default(),
            arrivals: Vec::new(),
            ended: Vec::new(),
            unbound: None,
        }
    }

    fn report(&self, misuse: Misuse, launch: &Launch<'_>, span: Span, thread: u32, what: String) {
        let position = position_of(launch.extent, self.part, thread);
        let line = line_at(&launch.code.text, span);
        self.findings.add(Finding { misuse, span, part: self.part, thread, position, line, what });
    }

    fn known(&mut self, wave: &Wave, code: &Code) -> &mut Known {
        let index = wave.index as usize;
        if self.known.len() <= index {
            self.known.resize_with(index + 1, Known::default);
        }
        let known = &mut self.known[index];
        known.defined.resize(code.private as usize, 0);
        known
    }

    /// Executing lanes for which the row holds nothing that was written.
    fn missing(&mut self, wave: &Wave, code: &Code, row: RowId, span: Span) -> Lacks {
        if row >= code.private {
            return Lacks::new();
        }
        let known = self.known(wave, code);
        let mut missing = wave.exec & !known.defined[row as usize];
        let mut lacks = Lacks::new();
        for &(lanes, origin) in known.origins.get(&row).into_iter().flatten() {
            if lanes & missing != 0 {
                lacks.push((lanes & missing, origin));
                missing &= !lanes;
            }
        }
        // Never written at all: it is read here first.
        if missing != 0 {
            lacks.push((missing, Origin { span, row }));
        }
        lacks
    }

    /// The lanes in `exec` have written the row, with nothing where `lacks` says so.
    fn wrote(&mut self, wave: &Wave, code: &Code, row: RowId, exec: Mask, lacks: &[(Mask, Origin)]) {
        if row >= code.private {
            return;
        }
        let known = self.known(wave, code);
        let defined = &mut known.defined[row as usize];
        *defined = *defined & !exec | exec & !all(lacks);
        if lacks.is_empty() && !known.origins.contains_key(&row) {
            return;
        }
        let origins = known.origins.entry(row).or_default();
        origins.iter_mut().for_each(|(lanes, _)| *lanes &= !exec);
        origins.extend(lacks.iter().map(|(lanes, origin)| (lanes & exec, *origin)));
        origins.retain(|(lanes, _)| *lanes != 0);
    }

    /// Something depends on the row.
    fn uses(&mut self, wave: &Wave, launch: &Launch<'_>, row: RowId, span: Span) {
        for (lanes, origin) in self.missing(wave, launch.code, row, span) {
            self.uninitialized(wave, launch, lanes, origin);
        }
    }

    fn uninitialized(&self, wave: &Wave, launch: &Launch<'_>, lanes: Mask, origin: Origin) {
        let thread = thread_of(wave, lanes.trailing_zeros());
        let what = register_name(launch.code, origin.row);
        self.report(Misuse::Uninitialized, launch, origin.span, thread, what);
    }

    /// A lane operation passes on what its operands lack.
    fn step(&mut self, wave: &Wave, launch: &Launch<'_>, index: usize, span: Span) {
        let code = launch.code;
        let (writes, reads) = code.ids(index);
        // A choice lacks only what it chooses.
        let word = |k: usize| -> &Row { &wave.rows[reads[k] as usize] };
        let chosen = match code.steps[index].op {
            LaneOp::Select | LaneOp::SelectF => Some(nonzero(word(0))),
            LaneOp::Cmov => Some(nonzero(&Row(word(0).0.map(|word| word << 1)))),
            _ => None,
        };
        let mut lacks = Lacks::new();
        for (k, &row) in reads.iter().enumerate() {
            self.constant(wave, launch, row, span);
            let matters = match (chosen, k) {
                (Some(taken), 1) => taken,
                (Some(taken), 2) => !taken,
                _ => !0,
            };
            let known = all(&lacks);
            let more = self.missing(wave, code, row, span).into_iter();
            lacks.extend(
                more.map(|(lanes, origin)| (lanes & matters & !known, origin))
                    .filter(|(lanes, _)| *lanes != 0),
            );
        }
        writes.iter().for_each(|&row| self.wrote(wave, code, row, wave.exec, &lacks));
    }

    /// A word of a constant buffer, if the row is one, must be bound.
    fn constant(&mut self, wave: &Wave, launch: &Launch<'_>, row: RowId, span: Span) {
        let unbound = self.unbound.get_or_insert_with(|| {
            let bound = |place: u32| launch.buffers.get(place as usize).map_or(0, |view| view.bytes() as u64);
            let outside = launch
                .code
                .constants
                .iter()
                .filter(|(_, place, word)| 4 * u64::from(*word) + 4 > bound(*place));
            outside.map(|(row, ..)| *row).collect()
        });
        if wave.exec != 0 && unbound.contains(&row) {
            let constants = launch.code.constants.iter();
            let mut named = constants.filter(|(id, ..)| *id == row).map(|(_, place, word)| {
                let number = launch.code.buffers.get(*place as usize).copied().unwrap_or(*place);
                format!("cb{number}[{}]", word / 4)
            });
            let what = named.next().unwrap_or_default();
            self.report(Misuse::OutOfRange, launch, span, thread_of(wave, wave.exec.trailing_zeros()), what);
        }
    }

    fn memory(&mut self, wave: &Wave, context: &Context<'_>, op: &MemoryOp, span: Span) {
        let launch = context.launch;
        let mut used = Vec::new();
        rows_used(op, context, |row| used.push(row));
        for row in used {
            self.constant(wave, launch, row, span);
            self.uses(wave, launch, row, span);
        }
        let mut touches = Vec::new();
        each_touch(wave, context, op, &mut |touch| touches.push(touch));
        for touch in &touches {
            let thread = thread_of(wave, touch.lane as u32);
            if touch.outside {
                self.report(Misuse::OutOfRange, launch, span, thread, name(touch));
            }
            if let Some(other) = self.races.touch(touch, thread) {
                let kind = if touch.kind == Kind::Read { "reads" } else { "writes" };
                let what = format!("{kind} {}, which thread {other} uses too", name(touch));
                self.report(Misuse::Race, launch, span, thread, what);
            }
        }
        match op {
            MemoryOp::ArrayLoad { first, elements, index, offset, dst } => {
                let rows = self.array_rows(wave, *first, *elements, *index, *offset);
                for (k, &row) in dst.iter().enumerate().filter(|(_, row)| **row != NONE) {
                    let mut lacks = Lacks::new();
                    for &(lane, at) in &rows {
                        let lane = 1 << lane;
                        let found = self.missing(wave, launch.code, at + k as RowId, span);
                        lacks.extend(
                            found
                                .iter()
                                .filter(|(lanes, _)| lanes & lane != 0)
                                .map(|(_, from)| (lane, *from)),
                        );
                    }
                    self.wrote(wave, launch.code, row, wave.exec, &lacks);
                }
            }
            MemoryOp::ArrayStore { first, elements, index, offset, src } => {
                let rows = self.array_rows(wave, *first, *elements, *index, *offset);
                for (k, &row) in src.iter().enumerate().filter(|(_, row)| **row != NONE) {
                    self.constant(wave, launch, row, span);
                    let lacks = self.missing(wave, launch.code, row, span);
                    for &(lane, at) in &rows {
                        self.wrote(wave, launch.code, at + k as RowId, 1 << lane, &lacks);
                    }
                }
            }
            // What memory holds counts as written.
            op => op.each_row(|row, written| {
                if written {
                    self.wrote(wave, launch.code, row, wave.exec, &[]);
                }
            }),
        }
    }

    /// For each executing lane the row of component x of the element that it names, if there is one.
    fn array_rows(
        &self,
        wave: &Wave,
        first: RowId,
        elements: u32,
        index: RowId,
        offset: i32,
    ) -> Vec<(usize, RowId)> {
        let element = |lane: usize| i64::from(wave.rows[index as usize].0[lane] as i32) + i64::from(offset);
        let inside = |lane: &usize| (element(*lane) as u64) < u64::from(elements);
        lanes(wave.exec).filter(inside).map(|lane| (lane, first + 4 * element(lane) as RowId)).collect()
    }

    fn fence(&mut self, wave: &Wave, context: &Context<'_>, fence: Fence, span: Span) {
        self.races.fence(wave.index, fence);
        // There is no group in a pixel program, and its barriers do nothing.
        if !fence.contains(Fence::THREADS) || !matches!(context.launch.extent, Extent::Grid { .. }) {
            return;
        }
        // Threads that have ended count as arrived.
        let ended = if wave.frames.is_empty() { wave.returned } else { 0 };
        let missing = wave.launched & !wave.exec & !ended & !wave.killed;
        if missing != 0 {
            let thread = thread_of(wave, missing.trailing_zeros());
            self.report(Misuse::DivergentBarrier, context.launch, span, thread, String::new());
        }
        self.arrivals.push(Arrival { wave: wave.index, span, fence });
        self.round(context);
    }

    /// A wave is at the end of the kernel.
    fn end(&mut self, wave: &Wave, context: &Context<'_>) {
        let reached = wave.launched & !wave.returned & !wave.killed;
        self.ended.push((reached != 0).then(|| thread_of(wave, reached.trailing_zeros())));
        let code = context.launch.code;
        // Outputs that hold what was copied or computed from registers that were never written.
        for ((_, rows), surface) in code.outputs.iter().zip(&context.launch.outputs) {
            for &row in rows.iter().take(surface.format.components() as usize).filter(|row| **row != NONE) {
                let Some(known) = self.known.get(wave.index as usize) else { continue };
                let defined = known.defined.get(row as usize).copied().unwrap_or(!0);
                let missing = wave.launched & !wave.killed & !defined;
                for &(lanes, origin) in known.origins.get(&row).into_iter().flatten() {
                    if lanes & missing != 0 {
                        self.uninitialized(wave, context.launch, lanes & missing, origin);
                    }
                }
            }
        }
        self.round(context);
    }

    /// When every wave has arrived at a barrier or has ended: all must be at the same one.
    fn round(&mut self, context: &Context<'_>) {
        if self.arrivals.is_empty() || self.arrivals.len() + self.ended.len() < context.group_waves as usize {
            return;
        }
        let arrivals = std::mem::take(&mut self.arrivals);
        let first = &arrivals[0];
        let elsewhere = arrivals.iter().find(|a| a.span != first.span).map(|a| a.wave * LANES as u32);
        if let Some(thread) = elsewhere.or(self.ended.iter().flatten().next().copied()) {
            self.report(Misuse::DivergentBarrier, context.launch, first.span, thread, String::new());
        }
        let fence = arrivals.iter().fold(Fence::all(), |all, a| all & a.fence);
        self.races.barrier(fence);
    }
}

fn thread_of(wave: &Wave, lane: u32) -> u32 {
    wave.index * LANES as u32 + lane
}

fn name(touch: &Touch<'_>) -> String {
    format!("{}{}", touch.area, touch.at)
}

/// `r0.x`, `x1[3].y`; nothing if the register has no name.
fn register_name(code: &Code, row: RowId) -> String {
    if row < code.registers {
        return code.names.get(&row).cloned().unwrap_or_default();
    }
    let array = code.arrays.iter().filter(|(first, _)| *first <= row).max();
    array.map_or(String::new(), |(first, number)| {
        let at = row - first;
        format!("x{number}[{}].{}", at / 4, ["x", "y", "z", "w"][at as usize % 4])
    })
}

impl Watch for Checker<'_> {
    fn part(&mut self, part: u64) {
        self.part = part;
        for known in &mut self.known {
            known.defined.fill(0);
            known.origins.clear();
        }
        self.races.clear();
        self.arrivals.clear();
        self.ended.clear();
    }

    fn before(&mut self, wave: &Wave, context: &Context<'_>, event: Event) {
        let code = context.launch.code;
        let span = event.span(code);
        match event {
            Event::Step(index) => self.step(wave, context.launch, index, span),
            Event::Op(index) => match &code.ops[index] {
                Op::Memory(access) => self.memory(wave, context, &code.memory[*access as usize].op, span),
                Op::Fence(fence) => self.fence(wave, context, *fence, span),
                Op::End => self.end(wave, context),
                op => op.each_read(|row| {
                    self.constant(wave, context.launch, row, span);
                    self.uses(wave, context.launch, row, span);
                }),
            },
        }
    }

    fn after(&mut self, _: &Wave, _: &Context<'_>, _: Event) {}
}
