//! Finds misuse: reads of what was never written, accesses out of range, races, barriers that not all reach.
//!
//! Copies and arithmetic on words that were never written are no misuse yet: kernels compute with whole vectors and use
//! some components. It is misuse when such a word decides something: an address, a condition, what is stored. What is
//! told then is the instruction that read the register first.

use std::collections::{HashMap, HashSet};

use recal_hal::Extent;
use recal_hal::sync::Mutex;
use recal_il::diagnostic::Span;
use recal_il::ir::visit::{destinations_of, tested_of};
use recal_il::ir::{Fence, LaneInst, MemoryInst, Operand, Program, Reg, StmtKind};
use recal_il::isa::LaneOp;
use recal_il::lower::Names;

use super::place::Kind;
use super::race::Races;
use super::touch::{Lister, Touch, operands_used};
use super::{Event, Finding, Misuse, Scene, Watch, line_at};
use crate::WAVE;
use crate::parts::position_of;
use crate::thread::State;
use crate::wave::{Mask, lanes};

/// Findings are kept up to this number; each instruction is reported once for each kind.
const MOST: usize = 1000;

/// What is told once: kind and instruction.
type Once = (Misuse, Span, Option<(u32, String)>);

/// What watched launches found.
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
        log::warn!(target: "recal::checks", "{finding}");
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

/// A program, and how people know it.
pub struct Subject {
    /// What runs.
    pub program: Program,
    /// The text of its kernel, if it is known.
    pub text: Box<[u8]>,
    /// What its registers are called there.
    pub names: Names,
}

/// What a thread has of its own: a register, or behind these a component of an element of an `x#`.
type Own = usize;

/// The instruction that first read a register which was never written, and the register.
#[derive(Clone, Copy)]
struct Origin {
    span: Span,
    own: Own,
}

/// What is known of the registers of a wave.
#[derive(Default)]
struct Known {
    /// By register: lanes in which it was written with something that was itself written.
    defined: Vec<Mask>,
    /// Of those that hold something else: which lanes, and since when. The masks are disjoint.
    origins: HashMap<Own, Lacks>,
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
    subject: &'a Subject,
    part: u64,
    /// First component and elements of each array.
    arrays: Vec<(u32, Own, u32)>,
    /// Registers and components of arrays.
    owned: usize,
    /// By wave of the group.
    known: Vec<Known>,
    races: Races,
    /// Waves at the current barrier.
    arrivals: Vec<Arrival>,
    /// Waves that have ended, and a thread of each that ended at the end of the kernel rather than by a return.
    ended: Vec<Option<u32>>,
}

impl<'a> Checker<'a> {
    /// Reports to `findings`.
    pub fn new(findings: &'a Findings, subject: &'a Subject) -> Checker<'a> {
        let mut owned = subject.program.registers as usize;
        let arrays = subject.program.interface.arrays.iter().map(|(&number, &elements)| {
            let first = owned;
            owned += 4 * elements as usize;
            (number, first, elements)
        });
        Checker {
            findings,
            subject,
            part: 0,
            arrays: arrays.collect(),
            owned,
            known: Vec::new(),
            races: Races::default(),
            arrivals: Vec::new(),
            ended: Vec::new(),
        }
    }

    fn report(&self, misuse: Misuse, extent: Extent, span: Span, thread: u32, what: String) {
        let position = position_of(extent, self.part, thread);
        let line = line_at(&self.subject.text, span);
        self.findings.add(Finding { misuse, span, part: self.part, thread, position, line, what });
    }

    fn known(&mut self, wave: u32) -> &mut Known {
        let index = wave as usize;
        if self.known.len() <= index {
            self.known.resize_with(index + 1, Known::default);
        }
        let known = &mut self.known[index];
        known.defined.resize(self.owned, 0);
        known
    }

    /// Executing lanes for which a register holds nothing that was written.
    fn missing(&mut self, scene: &Scene<'_>, own: Own, span: Span) -> Lacks {
        let known = self.known(scene.wave);
        let mut missing = scene.executing & !known.defined[own];
        let mut lacks = Lacks::new();
        if missing == 0 {
            return lacks;
        }
        for &(lanes, origin) in known.origins.get(&own).into_iter().flatten() {
            if lanes & missing != 0 {
                lacks.push((lanes & missing, origin));
                missing &= !lanes;
            }
        }
        // Never written at all: it is read here first.
        if missing != 0 {
            lacks.push((missing, Origin { span, own }));
        }
        lacks
    }

    /// The same of an operand.
    fn lacking(&mut self, scene: &Scene<'_>, operand: Operand, span: Span) -> Lacks {
        match operand {
            Operand::Reg(register) => self.missing(scene, register.index(), span),
            Operand::Imm(_) | Operand::Const { .. } | Operand::Builtin(_) => Lacks::new(),
        }
    }

    /// The lanes in `executing` have written a register, with nothing where `lacks` says so.
    fn wrote(&mut self, scene: &Scene<'_>, own: Own, executing: Mask, lacks: &[(Mask, Origin)]) {
        let known = self.known(scene.wave);
        let defined = &mut known.defined[own];
        *defined = *defined & !executing | executing & !all(lacks);
        if lacks.is_empty() && !known.origins.contains_key(&own) {
            return;
        }
        let origins = known.origins.entry(own).or_default();
        origins.iter_mut().for_each(|(lanes, _)| *lanes &= !executing);
        origins.extend(lacks.iter().map(|(lanes, origin)| (lanes & executing, *origin)));
        origins.retain(|(lanes, _)| *lanes != 0);
    }

    /// Something depends on the operand.
    fn uses(&mut self, scene: &Scene<'_>, operand: Operand, span: Span) {
        self.constant(scene, operand, span);
        for (lanes, origin) in self.lacking(scene, operand, span) {
            self.uninitialized(scene, lanes, origin);
        }
    }

    fn uninitialized(&self, scene: &Scene<'_>, lanes: Mask, origin: Origin) {
        let what = self.name_of(origin.own);
        self.report(Misuse::Uninitialized, scene.extent, origin.span, first_of(scene, lanes), what);
    }

    /// `r0.x`, `x1[3].y`; nothing if the register has no name.
    fn name_of(&self, own: Own) -> String {
        let array = self.arrays.iter().rfind(|(_, first, elements)| *first <= own && *elements > 0);
        match array {
            Some((number, first, _)) => {
                let at = own - first;
                format!("x{number}[{}].{}", at / 4, ["x", "y", "z", "w"][at % 4])
            }
            None => self.subject.names.get(&Reg(own as u32)).cloned().unwrap_or_default(),
        }
    }

    /// A lane operation passes on what its operands lack.
    fn lane(&mut self, scene: &Scene<'_>, inst: &LaneInst, span: Span) {
        // A choice lacks only what it chooses.
        let chosen = |shift: u32| {
            let taken = scene.at_work().filter(|&(_, t)| scene.word(t, inst.args[0]) << shift != 0);
            taken.fold(0, |mask: Mask, (lane, _)| mask | 1 << lane)
        };
        let chosen = match inst.op {
            LaneOp::Select | LaneOp::SelectF => Some(chosen(0)),
            LaneOp::Cmov => Some(chosen(1)),
            _ => None,
        };
        let mut lacks = Lacks::new();
        for (k, &operand) in inst.args.iter().enumerate() {
            self.constant(scene, operand, span);
            let matters = match (chosen, k) {
                (Some(taken), 1) => taken,
                (Some(taken), 2) => !taken,
                _ => !0,
            };
            let known = all(&lacks);
            let more = self.lacking(scene, operand, span).into_iter();
            let more = more.map(|(lanes, origin)| (lanes & matters & !known, origin));
            lacks.extend(more.filter(|(lanes, _)| *lanes != 0));
        }
        inst.dst.iter().for_each(|&register| self.wrote(scene, register.index(), scene.executing, &lacks));
    }

    /// A word of a constant buffer, if the operand is one, must be bound.
    fn constant(&mut self, scene: &Scene<'_>, operand: Operand, span: Span) {
        let Operand::Const { buffer, row, component } = operand else { return };
        let bound = scene.bound.constants.get(&u32::from(buffer)).map_or(0, |surface| surface.bytes() as u64);
        if scene.executing != 0 && 16 * u64::from(row) + 4 * u64::from(component) + 4 > bound {
            let thread = first_of(scene, scene.executing);
            self.report(Misuse::OutOfRange, scene.extent, span, thread, format!("cb{buffer}[{row}]"));
        }
    }

    fn memory(&mut self, scene: &Scene<'_>, inst: &MemoryInst, span: Span) {
        for operand in operands_used(inst, scene) {
            self.uses(scene, operand, span);
        }
        for (_, thread) in scene.at_work() {
            let Some(touch) = (Lister { scene, thread }).touch(inst) else { continue };
            let thread = thread as u32;
            if touch.outside {
                self.report(Misuse::OutOfRange, scene.extent, span, thread, name(&touch));
            }
            if let Some(other) = self.races.touch(&touch, thread) {
                let kind = if touch.kind == Kind::Read { "reads" } else { "writes" };
                let what = format!("{kind} {}, which thread {other} uses too", name(&touch));
                self.report(Misuse::Race, scene.extent, span, thread, what);
            }
        }
        match inst {
            MemoryInst::ArrayLoad { array, index, offset, dst } => {
                let elements = self.elements(scene, *array, *index, *offset);
                for (k, register) in dst.iter().enumerate() {
                    let Some(register) = register else { continue };
                    let mut lacks = Lacks::new();
                    for &(lane, first) in &elements {
                        let found = self.missing(scene, first + k, span);
                        let own = found.iter().filter(|(lanes, _)| lanes >> lane & 1 == 1);
                        lacks.extend(own.map(|(_, origin)| (1 << lane, *origin)));
                    }
                    self.wrote(scene, register.index(), scene.executing, &lacks);
                }
            }
            MemoryInst::ArrayStore { array, index, offset, src } => {
                let elements = self.elements(scene, *array, *index, *offset);
                for (k, operand) in src.iter().enumerate() {
                    let Some(operand) = operand else { continue };
                    self.constant(scene, *operand, span);
                    let lacks = self.lacking(scene, *operand, span);
                    for &(lane, first) in &elements {
                        let own: Lacks = (lacks.iter().filter(|(lanes, _)| lanes >> lane & 1 == 1))
                            .map(|(_, origin)| (1 << lane, *origin))
                            .collect();
                        self.wrote(scene, first + k, 1 << lane, &own);
                    }
                }
            }
            // What memory holds counts as written.
            inst => {
                for register in destinations_of(inst) {
                    self.wrote(scene, register.index(), scene.executing, &[]);
                }
            }
        }
    }

    /// For each executing lane component x of the element that it names, if there is one.
    fn elements(&self, scene: &Scene<'_>, array: u32, index: Operand, offset: i32) -> Vec<(usize, Own)> {
        let Some((_, first, elements)) = self.arrays.iter().find(|(number, ..)| *number == array) else {
            return Vec::new();
        };
        let named = scene
            .at_work()
            .map(|(lane, t)| (lane, i64::from(scene.word(t, index) as i32) + i64::from(offset)));
        let inside = named.filter(|(_, element)| (*element as u64) < u64::from(*elements));
        inside.map(|(lane, element)| (lane, first + 4 * element as usize)).collect()
    }

    fn fence(&mut self, scene: &Scene<'_>, fence: Fence, span: Span) {
        self.races.fence(scene.wave, fence);
        // There is no group in a pixel program, and its barriers do nothing.
        if !fence.contains(Fence::THREADS) || !matches!(scene.extent, Extent::Grid { .. }) {
            return;
        }
        // Threads that have ended count as arrived.
        let gone = scene.ended() | scene.in_state(State::Killed);
        let missing = scene.launched & !scene.executing & !gone;
        if missing != 0 {
            let thread = first_of(scene, missing);
            self.report(Misuse::DivergentBarrier, scene.extent, span, thread, String::new());
        }
        self.arrivals.push(Arrival { wave: scene.wave, span, fence });
        self.round(scene);
    }

    /// A wave is at the end of the kernel.
    fn end(&mut self, scene: &Scene<'_>) {
        let killed = scene.in_state(State::Killed);
        let reached = scene.launched & !scene.in_state(State::Returned) & !killed;
        self.ended.push((reached != 0).then(|| first_of(scene, reached)));
        // Outputs that hold what was copied or computed from registers that were never written.
        for output in &scene.program.outputs {
            let stored = scene.bound.outputs.get(&output.index).map_or(0, |s| s.format.components() as usize);
            for &register in output.registers.iter().take(stored) {
                let Some(known) = self.known.get(scene.wave as usize) else { continue };
                let register = register.index();
                let defined = known.defined.get(register).copied().unwrap_or(!0);
                let missing = scene.launched & !killed & !defined;
                for &(lanes, origin) in known.origins.get(&register).into_iter().flatten() {
                    if lanes & missing != 0 {
                        self.uninitialized(scene, lanes & missing, origin);
                    }
                }
            }
        }
        self.round(scene);
    }

    /// When every wave has arrived at a barrier or has ended: all must be at the same one.
    fn round(&mut self, scene: &Scene<'_>) {
        if self.arrivals.is_empty() || self.arrivals.len() + self.ended.len() < scene.waves as usize {
            return;
        }
        let arrivals = std::mem::take(&mut self.arrivals);
        let first = &arrivals[0];
        let elsewhere = arrivals.iter().find(|a| a.span != first.span).map(|a| a.wave * WAVE as u32);
        if let Some(thread) = elsewhere.or(self.ended.iter().flatten().next().copied()) {
            self.report(Misuse::DivergentBarrier, scene.extent, first.span, thread, String::new());
        }
        let fence = arrivals.iter().fold(Fence::all(), |all, a| all & a.fence);
        self.races.barrier(fence);
    }
}

/// The first thread of some lanes.
fn first_of(scene: &Scene<'_>, mask: Mask) -> u32 {
    lanes(mask).next().map_or(0, |lane| scene.thread(lane) as u32)
}

fn name(touch: &Touch) -> String {
    format!("{}{}", touch.area, touch.at)
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

    fn before(&mut self, scene: &Scene<'_>, event: Event<'_>) -> bool {
        match event {
            Event::Statement(stmt) => match &stmt.kind {
                StmtKind::Lane(inst) => self.lane(scene, inst, stmt.span),
                StmtKind::Memory(inst) => self.memory(scene, inst, stmt.span),
                StmtKind::Fence(fence) => self.fence(scene, *fence, stmt.span),
                kind => {
                    if let Some(operand) = tested_of(kind) {
                        self.uses(scene, operand, stmt.span);
                    }
                }
            },
            Event::End => self.end(scene),
            Event::Round(_) | Event::Closed(_) => {}
        }
        true
    }
}
