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
mod fast;
mod flat;
mod range;
#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

use smallvec::SmallVec;

use analysis::{Analysis, Form};
use fast::{Fast, is_straight};
use flat::{Flat, may_repeat};

use super::visit::{any, count, each_block, named, registers, statements, stored, touched};
use super::{Area, Block, Cond, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::diagnostic::Span;

/// Exponent of the least number that is no zero and gives no doubt: products of two such are sums' multiples of the
/// smallest normal number.
const LEAST: i32 = -51;
/// Statements that a region may have, and by which a program may grow.
const MOST: usize = 8192;
/// Instructions that a region must save to be worth it.
pub const WORTH: i64 = 16;

/// The program with regions that run bare first, where that saves so many instructions, weighted by loops.
/// `skips`: the region in full takes nothing where no thread is in doubt.
pub fn speculate(program: &Program, worth: i64, skips: bool) -> Cow<'_, Program> {
    let products =
        |kind: &StmtKind| matches!(kind, StmtKind::Lane(LaneInst { op, .. }) if analysis::is_product(*op));
    if !program.functions.iter().any(|function| any(&function.body, &products)) {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let mut pass = Pass {
        reads: reads(program),
        written: stored(program),
        next: program.registers,
        room: MOST,
        worth,
        skips,
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
        (Form::Bare, op) if op.arguments().len() == 2 => op.native().unwrap_or(op),
        _ => op,
    }
}

/// How often each register is read; outputs are read at the end.
fn reads(program: &Program) -> Vec<u32> {
    let mut reads = vec![0; program.registers as usize];
    for function in &program.functions {
        touched(&function.body, &mut |reg, writes| reads[reg.index()] += u32::from(!writes));
    }
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| reads[reg.index()] += 1);
    }
    reads
}

/// Registers that go into a region and come out of it.
struct Live {
    /// Those whose word at entry may be read, or may remain.
    before: FxHashSet<Reg>,
    /// Those that the region writes and that are read behind it, or at its next entry.
    behind: Vec<Reg>,
    /// All that it writes.
    written: Vec<Reg>,
}

impl Live {
    fn of(block: &Block, reads: &[u32], again: bool) -> Self {
        let mut inside: FxHashMap<Reg, u32> = FxHashMap::default();
        touched(block, &mut |reg, writes| *inside.entry(reg).or_default() += u32::from(!writes));
        let mut scan = Scan::default();
        let always = scan.block(block, &FxHashSet::default());
        let mut written: Vec<Reg> = scan.written.iter().copied().collect();
        written.sort_unstable();
        let elsewhere = |reg: Reg| reads[reg.index()] > inside.get(&reg).copied().unwrap_or(0);
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
    before: FxHashSet<Reg>,
    written: FxHashSet<Reg>,
}

impl Scan {
    /// What every thread has written that comes to the end; `has`: what is written before.
    fn block(&mut self, block: &Block, has: &FxHashSet<Reg>) -> FxHashSet<Reg> {
        let mut has = has.clone();
        for stmt in block {
            let mut writes: SmallVec<[Reg; 4]> = SmallVec::new();
            named(&stmt.kind, &mut |reg, write| {
                if write {
                    writes.push(reg);
                } else if !has.contains(&reg) {
                    self.before.insert(reg);
                }
            });
            self.written.extend(writes.iter().copied());
            has.extend(writes);
            stmt.kind.blocks().for_each(|block| _ = self.block(block, &has));
        }
        has
    }
}

struct Pass {
    /// Reads of each register in the whole program.
    reads: Vec<u32>,
    /// Memory that the program writes.
    written: FxHashSet<Area>,
    next: u32,
    /// Statements by which the program may still grow.
    room: usize,
    worth: i64,
    skips: bool,
    changed: bool,
}

impl Pass {
    fn fresh(&mut self) -> Reg {
        Reg::fresh(&mut self.next)
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
            let again = again || matches!(stmt.kind, StmtKind::Loop { .. });
            each_block(&mut stmt.kind, &mut |block| self.block(block, again));
            out.push(stmt);
        }
        self.region(region, again, &mut out);
        out
    }

    /// What the region in full costs though no thread needs it. Of loops, one round is little.
    fn unskipped(&self, flat: &Flat) -> i64 {
        let straight = flat.items.iter().filter(|item| item.depth == 0);
        let once = straight.map(|item| 1 + analysis::saved(item, Form::Bare)).sum();
        if self.skips { 0 } else { once }
    }

    /// Writes a region, fast and in full, if that is worth it.
    fn region(&mut self, mut block: Block, again: bool, out: &mut Block) {
        let size = count(&block);
        if size == 0 || size > self.room {
            return out.append(&mut block);
        }
        let live = Live::of(&block, &self.reads, again);
        let flat = Flat::of(&block);
        let analysis = match Analysis::of(&flat, &live) {
            Some(analysis) if analysis.gain - self.unskipped(&flat) >= self.worth => analysis,
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
            watches: 0,
            item: 0,
            control: 0,
            alone: false,
            asked: false,
            span,
        };
        fast.alone = block.iter().filter(|stmt| !is_straight(stmt)).count() == 1;
        fast.start(out);
        fast.block(block, out);
        let doubt = fast.doubt(&analysis.results, out);
        let mut then = slow.block;
        // A loop that was left early has counted less, too.
        let all = if fast.asked { live.behind.as_slice() } else { &[] };
        let rest = all.iter().filter(|reg| !analysis.results.iter().any(|(result, _)| result == *reg));
        for reg in analysis.results.iter().map(|(reg, _)| reg).chain(rest) {
            then.push(Stmt::copy(*reg, Operand::Reg(slow.names[reg]), span));
        }
        let cond = Cond { operand: doubt, nonzero: true };
        out.push(Stmt { kind: StmtKind::If { cond, then, otherwise: Block::new() }, span });
    }

    /// The region on registers of its own, which have the words of entry.
    fn renamed(&mut self, block: &Block, live: &Live, out: &mut Block, span: Span) -> Slow {
        let names: FxHashMap<Reg, Reg> = live.written.iter().map(|reg| (*reg, self.fresh())).collect();
        for reg in live.written.iter().filter(|reg| live.before.contains(reg)) {
            out.push(Stmt::copy(names[reg], Operand::Reg(*reg), span));
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
    names: FxHashMap<Reg, Reg>,
}
