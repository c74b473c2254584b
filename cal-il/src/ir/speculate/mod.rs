//! Regions without side effects run with bare products and sums first.
//!
//! The device flushes denormals, and zero times anything is zero; other devices need several instructions for both. Numbers are
//! hardly ever so small, and zeros hardly ever meet infinities. So a region is written twice:
//!
//! ```text
//! fast region                 bare products and sums, and a watch over the factors
//! if the watch saw a small number, or a result is NaN or −0
//!     the region              as it was
//! ```
//!
//! *The watch* is one register: the least of 2w − 1, as an unsigned number, of all words w that are watched. Zeros give the
//! greatest, and the sign is lost, so it tells the least exponent of those that are no zeros. If that is at least [`LEAST`],
//! then by `range` no product and no sum was a denormal, and none lost bits for being one.
//!
//! *Zeros* that meet infinities or NaNs give NaN where the device gives +0, and a zero may have the wrong sign. Sums and products
//! hand both on (`doubt`), so the results tell. Where a value in doubt decides something, the watch takes NaN for a small number.
//! Loops that might go on for another number of rounds ask in each round whether there is doubt already.
//!
//! Everything is ordinary code of the program: backends know nothing of it but the bare operations.

mod analysis;
mod doubt;
mod flat;
mod range;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use smallvec::{SmallVec, smallvec};

use analysis::{Analysis, Form};
use doubt::Doubt;
use flat::{Flat, may_repeat, written};

use super::visit::{any, destinations_of, registers, statements};
use super::{Block, Cond, LaneInst, LaneOp, Operand, Program, Reg, Space, Stmt, StmtKind};
use crate::diagnostic::Span;

/// Exponent of the least number that is no zero and gives no doubt: products of two such are sums' multiples of the
/// smallest normal number.
const LEAST: i32 = -51;
/// Statements that a region may have, and by which a program may grow.
const MOST: usize = 8192;
/// Instructions that a region must save to be worth it.
pub const WORTH: i64 = 16;

/// The program with regions that run bare first, where that saves so many instructions, weighted by loops.
pub fn speculate(program: &Program, worth: i64) -> Cow<'_, Program> {
    let products =
        |kind: &StmtKind| matches!(kind, StmtKind::Lane(LaneInst { op: LaneOp::Mul | LaneOp::Mad, .. }));
    if !program.functions.iter().any(|function| any(&function.body, &products)) {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let mut pass = Pass {
        reads: reads(program),
        written: written(program),
        next: program.registers,
        room: MOST,
        worth,
        changed: false,
    };
    for (number, function) in out.functions.iter_mut().enumerate() {
        function.body = pass.block(std::mem::take(&mut function.body), number != 0);
    }
    out.registers = pass.next;
    if pass.changed { Cow::Owned(out) } else { Cow::Borrowed(program) }
}

/// The program without flushes of what is never a denormal, whatever the numbers: of positions, counters, constants.
pub fn without_flushes(program: &Program) -> Cow<'_, Program> {
    let forms = analysis::sure(&Flat::of_program(program));
    if forms.iter().all(|form| *form == Form::Full) {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let mut item = 0;
    for function in &mut out.functions {
        statements(&mut function.body, &mut |stmt| {
            item += usize::from(super::visit::tested_of(&stmt.kind).is_some());
            match &mut stmt.kind {
                StmtKind::Lane(inst) => {
                    inst.op = plain(forms[item], inst.op);
                    item += 1;
                }
                StmtKind::Memory(_) => item += 1,
                _ => {}
            }
        });
    }
    Cow::Owned(out)
}

/// The operation in a form that keeps it one.
fn plain(form: Form, op: LaneOp) -> LaneOp {
    match (form, op) {
        (Form::Move, _) => LaneOp::Mov,
        (Form::Bare, LaneOp::Add) => LaneOp::BareAdd,
        (Form::Bare, LaneOp::Sub) => LaneOp::BareSub,
        (Form::Bare, LaneOp::Mul | LaneOp::MulIeee) => LaneOp::BareMul,
        _ => op,
    }
}

/// How often each register is read; outputs are read at the end.
fn reads(program: &Program) -> Vec<u32> {
    let mut reads = vec![0; program.registers as usize];
    let mut program = program.clone();
    for function in &mut program.functions {
        count(&mut function.body, &mut |reg| reads[reg as usize] += 1);
    }
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| reads[*reg as usize] += 1);
    }
    reads
}

/// Calls `f` with each register that is read.
fn count(block: &mut Block, f: &mut impl FnMut(Reg)) {
    statements(block, &mut |stmt| {
        registers(&mut stmt.kind, &mut |reg, writes| {
            if !writes {
                f(*reg);
            }
        });
    });
}

/// Registers that go into a region and come out of it.
struct Live {
    /// Those whose word at entry may be read, or may remain.
    before: HashSet<Reg>,
    /// Those that the region writes and that are read behind it, or at its next entry.
    behind: Vec<Reg>,
    /// All that it writes.
    written: Vec<Reg>,
}

impl Live {
    fn of(block: &mut Block, reads: &[u32], again: bool) -> Self {
        let mut inside: HashMap<Reg, u32> = HashMap::new();
        count(block, &mut |reg| *inside.entry(reg).or_default() += 1);
        let mut scan = Scan::default();
        let always = scan.block(block, &HashSet::new());
        let mut written: Vec<Reg> = scan.written.iter().copied().collect();
        written.sort_unstable();
        let elsewhere = |reg: Reg| reads[reg as usize] > inside.get(&reg).copied().unwrap_or(0);
        let mut before = scan.before;
        // What some threads do not write keeps its word.
        before.extend(written.iter().filter(|reg| elsewhere(**reg) && !always.contains(reg)));
        let lives = |reg: &Reg| elsewhere(*reg) || again && before.contains(reg);
        let behind = written.iter().copied().filter(lives).collect();
        Self { before, behind, written }
    }
}

#[derive(Default)]
struct Scan {
    before: HashSet<Reg>,
    written: HashSet<Reg>,
}

impl Scan {
    /// What every thread has written that comes to the end; `has`: what is written before.
    fn block(&mut self, block: &mut Block, has: &HashSet<Reg>) -> HashSet<Reg> {
        let mut has = has.clone();
        for stmt in block {
            let mut writes: SmallVec<[Reg; 4]> = SmallVec::new();
            registers(&mut stmt.kind, &mut |reg, write| {
                if write {
                    writes.push(*reg);
                } else if !has.contains(reg) {
                    self.before.insert(*reg);
                }
            });
            self.written.extend(writes.iter().copied());
            has.extend(writes);
            match &mut stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then, &has);
                    self.block(otherwise, &has);
                }
                StmtKind::Loop { body } => _ = self.block(body, &has),
                StmtKind::Switch { arms, .. } => {
                    arms.iter_mut().for_each(|arm| _ = self.block(&mut arm.body, &has));
                }
                _ => {}
            }
        }
        has
    }
}

struct Pass {
    /// Reads of each register in the whole program.
    reads: Vec<u32>,
    /// Memory that the program writes.
    written: HashSet<Space>,
    next: Reg,
    /// Statements by which the program may still grow.
    room: usize,
    worth: i64,
    changed: bool,
}

impl Pass {
    fn fresh(&mut self) -> Reg {
        self.next += 1;
        self.next - 1
    }

    /// `again`: the statements may run more than once.
    fn block(&mut self, block: Block, again: bool) -> Block {
        let mut out = Block::with_capacity(block.len());
        let mut region = Block::new();
        for mut stmt in block {
            if may_repeat(&stmt, &self.written, 0, 0) {
                region.push(stmt);
                continue;
            }
            self.region(std::mem::take(&mut region), again, &mut out);
            match &mut stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    *then = self.block(std::mem::take(then), again);
                    *otherwise = self.block(std::mem::take(otherwise), again);
                }
                StmtKind::Loop { body } => *body = self.block(std::mem::take(body), true),
                StmtKind::Switch { arms, .. } => {
                    for arm in arms {
                        arm.body = self.block(std::mem::take(&mut arm.body), again);
                    }
                }
                _ => {}
            }
            out.push(stmt);
        }
        self.region(region, again, &mut out);
        out
    }

    /// Writes a region, fast and in full, if that is worth it.
    fn region(&mut self, mut block: Block, again: bool, out: &mut Block) {
        let mut size = 0;
        statements(&mut block, &mut |_| size += 1);
        if size == 0 || size > self.room {
            return out.append(&mut block);
        }
        let live = Live::of(&mut block, &self.reads, again);
        let flat = Flat::of(&block);
        let analysis = match Analysis::of(&flat, &live) {
            Some(analysis) if analysis.gain >= self.worth => analysis,
            _ => return out.append(&mut block),
        };
        drop(flat);
        self.room -= size;
        self.changed = true;
        let span = block[0].span;
        let slow = self.renamed(&block, &live, out, span);
        let mut fast = Fast {
            analysis: &analysis,
            least: self.fresh(),
            pending: None,
            pass: self,
            item: 0,
            control: 0,
            span,
        };
        fast.start(out);
        fast.block(block, out);
        let doubt = fast.doubt(&analysis.results, out);
        let mut then = slow.block;
        for (reg, _) in &analysis.results {
            then.push(lane(LaneOp::Mov, *reg, smallvec![Operand::Reg(slow.names[reg])], span));
        }
        let cond = Cond { operand: doubt, nonzero: true };
        out.push(Stmt { kind: StmtKind::If { cond, then, otherwise: Block::new() }, span });
    }

    /// The region on registers of its own, which have the words of entry.
    fn renamed(&mut self, block: &Block, live: &Live, out: &mut Block, span: Span) -> Slow {
        let names: HashMap<Reg, Reg> = live.written.iter().map(|reg| (*reg, self.fresh())).collect();
        for reg in live.written.iter().filter(|reg| live.before.contains(reg)) {
            out.push(lane(LaneOp::Mov, names[reg], smallvec![Operand::Reg(*reg)], span));
        }
        let mut block = block.clone();
        statements(&mut block, &mut |stmt| {
            registers(&mut stmt.kind, &mut |reg, _| *reg = names.get(reg).copied().unwrap_or(*reg));
        });
        Slow { block, names }
    }
}

/// The region as it was.
struct Slow {
    block: Block,
    names: HashMap<Reg, Reg>,
}

/// A lane operation of one word.
fn lane(op: LaneOp, to: Reg, args: SmallVec<[Operand; 4]>, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Lane(LaneInst { op, dst: [to; 2], args }), span }
}

/// 2w − 1 of the least number that gives no doubt.
const BOUND: u32 = (((LEAST + 127) as u32) << 24) - 1;
/// 2w of infinity.
const INFINITY: u32 = 0xFF00_0000;

/// Writes the fast region. Items and control flow are counted as `Flat` does.
struct Fast<'a> {
    pass: &'a mut Pass,
    analysis: &'a Analysis,
    /// The least 2w − 1 so far.
    least: Reg,
    /// What has still to be compared with it.
    pending: Option<Operand>,
    item: usize,
    control: usize,
    span: Span,
}

impl Fast<'_> {
    fn compute(&mut self, op: LaneOp, args: SmallVec<[Operand; 4]>, out: &mut Block) -> Operand {
        let to = self.pass.fresh();
        out.push(lane(op, to, args, self.span));
        Operand::Reg(to)
    }

    fn start(&mut self, out: &mut Block) {
        out.push(lane(LaneOp::Mov, self.least, smallvec![Operand::Imm(u32::MAX)], self.span));
        for reg in &self.analysis.entry {
            self.watch(*reg, out);
        }
    }

    /// Notes the word of a register: of zeros the greatest, then by magnitude.
    fn watch(&mut self, reg: Reg, out: &mut Block) {
        let double = self.compute(LaneOp::Ishl, smallvec![Operand::Reg(reg), Operand::Imm(1)], out);
        let word = self.compute(LaneOp::Iadd, smallvec![double, Operand::Imm(u32::MAX)], out);
        self.note(word, out);
    }

    /// Notes whether a register holds NaN: those come below the bound, all others at it or above.
    fn watch_number(&mut self, reg: Reg, out: &mut Block) {
        let flipped = self.compute(LaneOp::Not, smallvec![Operand::Reg(reg)], out);
        let rest = self.compute(LaneOp::And, smallvec![flipped, Operand::Imm(i32::MAX as u32)], out);
        let infinity = i32::MAX as u32 - (INFINITY >> 1);
        let word = self.compute(LaneOp::Iadd, smallvec![rest, Operand::Imm(BOUND - infinity)], out);
        self.note(word, out);
    }

    /// Two words at a time: many devices have the least of three.
    fn note(&mut self, word: Operand, out: &mut Block) {
        match self.pending.take() {
            None => self.pending = Some(word),
            Some(other) => {
                let args = smallvec![Operand::Reg(self.least), other, word];
                out.push(lane(LaneOp::Umin3, self.least, args, self.span));
            }
        }
    }

    fn settle(&mut self, out: &mut Block) {
        if let Some(word) = self.pending.take() {
            out.push(lane(LaneOp::Umin, self.least, smallvec![Operand::Reg(self.least), word], self.span));
        }
    }

    /// Notes what a statement has written.
    fn written(&mut self, written: &[Reg], out: &mut Block) {
        for reg in written {
            if self.analysis.watched.contains(reg) {
                self.watch(*reg, out);
            }
            if self.analysis.numbers.contains(reg) {
                self.watch_number(*reg, out);
            }
        }
    }

    /// Not 0 if the watch has seen what it must not.
    fn seen(&mut self, out: &mut Block) -> Operand {
        self.settle(out);
        self.compute(LaneOp::Ult, smallvec![Operand::Reg(self.least), Operand::Imm(BOUND)], out)
    }

    /// The same, or if a result is NaN or a zero of the wrong sign.
    fn doubt(&mut self, results: &[(Reg, Doubt)], out: &mut Block) -> Operand {
        let mut any = self.seen(out);
        for (reg, doubt) in results {
            let word = Operand::Reg(*reg);
            let wrong = match doubt {
                Doubt::None => continue,
                // 2w − 1 of a zero is the greatest, of NaNs what is not below infinity's.
                Doubt::Zero => {
                    let double = self.compute(LaneOp::Ishl, smallvec![word, Operand::Imm(1)], out);
                    let less = self.compute(LaneOp::Iadd, smallvec![double, Operand::Imm(u32::MAX)], out);
                    self.compute(LaneOp::Uge, smallvec![less, Operand::Imm(INFINITY)], out)
                }
                Doubt::Minus => {
                    let double = self.compute(LaneOp::Ishl, smallvec![word, Operand::Imm(1)], out);
                    let nan = self.compute(LaneOp::Ult, smallvec![Operand::Imm(INFINITY), double], out);
                    let zero = self.compute(LaneOp::Ieq, smallvec![word, Operand::Imm(1 << 31)], out);
                    self.compute(LaneOp::Or, smallvec![nan, zero], out)
                }
            };
            any = self.compute(LaneOp::Or, smallvec![any, wrong], out);
        }
        any
    }

    fn block(&mut self, block: Block, out: &mut Block) {
        for Stmt { kind, span } in block {
            self.span = span;
            self.item += usize::from(super::visit::tested_of(&kind).is_some());
            if !matches!(kind, StmtKind::Lane(_) | StmtKind::Memory(_)) {
                self.settle(out);
            }
            match kind {
                StmtKind::Lane(inst) => self.lane(inst, out),
                StmtKind::Memory(inst) => {
                    self.item += 1;
                    let written = destinations_of(&inst);
                    out.push(Stmt { kind: StmtKind::Memory(inst), span });
                    self.written(&written, out);
                }
                StmtKind::If { cond, then, otherwise } => {
                    self.control += 1;
                    let (then, otherwise) = (self.inner(then, None), self.inner(otherwise, None));
                    out.push(Stmt { kind: StmtKind::If { cond, then, otherwise }, span });
                }
                StmtKind::Loop { body } => {
                    let guarded = self.analysis.guarded[self.control];
                    self.control += 1;
                    let body = self.inner(body, guarded.then_some(span));
                    out.push(Stmt { kind: StmtKind::Loop { body }, span });
                }
                StmtKind::Switch { selector, mut arms } => {
                    self.control += 1;
                    for arm in &mut arms {
                        arm.body = self.inner(std::mem::take(&mut arm.body), None);
                    }
                    out.push(Stmt { kind: StmtKind::Switch { selector, arms }, span });
                }
                kind => out.push(Stmt { kind, span }),
            }
        }
        if !matches!(out.last(), Some(Stmt { kind: StmtKind::Break(None) | StmtKind::Continue(None), .. })) {
            self.settle(out);
        }
    }

    /// A block of a statement; a loop that is guarded is left as soon as there is doubt.
    fn inner(&mut self, block: Block, guarded: Option<Span>) -> Block {
        let mut out = Block::with_capacity(block.len());
        if let Some(span) = guarded {
            let operand = self.seen(&mut out);
            out.push(Stmt { kind: StmtKind::Break(Some(Cond { operand, nonzero: true })), span });
        }
        self.block(block, &mut out);
        out
    }

    fn lane(&mut self, inst: LaneInst, out: &mut Block) {
        let form = self.analysis.forms[self.item];
        self.item += 1;
        let (to, span) = (inst.dst[0], self.span);
        let written: SmallVec<[Reg; 2]> =
            SmallVec::from_slice(if inst.dst[0] == inst.dst[1] { &inst.dst[..1] } else { &inst.dst });
        let args = &inst.args;
        match (form, inst.op) {
            (Form::Bare | Form::BareProduct, LaneOp::Mad | LaneOp::MadIeee) => {
                let product = self.compute(LaneOp::BareMul, SmallVec::from_slice(&args[..2]), out);
                let sum = if form == Form::Bare { LaneOp::BareAdd } else { LaneOp::Add };
                out.push(lane(sum, to, smallvec![product, args[2]], span));
            }
            (form, op) => {
                let op = plain(form, op);
                out.push(Stmt { kind: StmtKind::Lane(LaneInst { op, ..inst }), span });
            }
        }
        self.written(&written, out);
    }
}
