//! The fast form of a region.

use smallvec::SmallVec;

use super::analysis::{Analysis, Form};
use super::doubt::Doubt;
use super::{LEAST, Pass, plain};
use crate::diagnostic::Span;
use crate::ir::visit::{destinations_of, tested_of};
use crate::ir::{Block, Cond, LaneInst, LaneOp, Operand, Reg, Stmt, StmtKind};

/// 2w − 1 of the least number that gives no doubt.
const BOUND: u32 = (((LEAST + 127) as u32) << 24) - 1;
/// Of so many words one is watched by a product, where devices have units for those beside the ones that shift and compare
/// (`Target::multiplies_apart`).
const MULTIPLIED: u32 = 4;
/// 2w of infinity.
const INFINITY: u32 = 0xFF00_0000;

/// Writes the fast region. Items and control flow are counted as `Flat` does.
pub(super) struct Fast<'a> {
    pub pass: &'a mut Pass,
    pub analysis: &'a Analysis,
    /// The least 2w − 1 so far.
    pub least: Reg,
    /// What has still to be compared with it.
    pub pending: Option<Operand>,
    /// Words watched so far.
    pub watches: u32,
    pub item: usize,
    pub control: usize,
    /// A loop at the outermost level is all the control flow that there is.
    pub alone: bool,
    /// It is left as soon as there is doubt, whatever it counts.
    pub asked: bool,
    pub span: Span,
}

/// Loads in a row behind which a loop asks whether there is doubt. Compilers of devices let so many be on their way only if all of
/// them are needed at once: they rather have few registers.
const ROW: usize = 8;

pub(super) fn is_straight(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Lane(_) | StmtKind::Memory(_))
}

/// Behind which statement of a loop's body to ask: the flushes of a row of loads, of which unrolling has made one.
fn asks(body: &Block) -> Option<usize> {
    let far = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Memory(inst) if inst.is_far());
    let last = body.iter().rposition(far).filter(|_| body.iter().filter(|stmt| far(stmt)).count() >= ROW)?;
    let flush = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Lane(LaneInst { op: LaneOp::Flush, .. }));
    let flushes = body[last + 1..].iter().take_while(|stmt| flush(stmt)).count();
    (flushes >= ROW).then_some(last + flushes)
}

impl Fast<'_> {
    fn compute<const N: usize>(&mut self, op: LaneOp, args: [Operand; N], out: &mut Block) -> Operand {
        let to = self.pass.fresh();
        out.push(Stmt::lane(op, to, args, self.span));
        Operand::Reg(to)
    }

    pub fn start(&mut self, out: &mut Block) {
        out.push(Stmt::copy(self.least, Operand::Imm(u32::MAX), self.span));
        for reg in &self.analysis.entry {
            self.watch(*reg, out);
        }
    }

    /// Notes the word of a register: of zeros the greatest, then by magnitude.
    fn watch(&mut self, reg: Reg, out: &mut Block) {
        self.watches += 1;
        let word = if self.watches.is_multiple_of(MULTIPLIED) {
            let args = [Operand::Reg(reg), Operand::Imm(2), Operand::Imm(u32::MAX)];
            self.compute(LaneOp::Imad, args, out)
        } else {
            let double = self.compute(LaneOp::Ishl, [Operand::Reg(reg), Operand::Imm(1)], out);
            self.compute(LaneOp::Iadd, [double, Operand::Imm(u32::MAX)], out)
        };
        self.note(word, out);
    }

    /// Notes whether a register holds NaN: those come below the bound, all others at it or above.
    fn watch_number(&mut self, reg: Reg, out: &mut Block) {
        let flipped = self.compute(LaneOp::Not, [Operand::Reg(reg)], out);
        let rest = self.compute(LaneOp::And, [flipped, Operand::Imm(i32::MAX as u32)], out);
        let infinity = i32::MAX as u32 - (INFINITY >> 1);
        let word = self.compute(LaneOp::Iadd, [rest, Operand::Imm(BOUND - infinity)], out);
        self.note(word, out);
    }

    /// Two words at a time: many devices have the least of three.
    fn note(&mut self, word: Operand, out: &mut Block) {
        match self.pending.take() {
            None => self.pending = Some(word),
            Some(other) => {
                let args = [Operand::Reg(self.least), other, word];
                out.push(Stmt::lane(LaneOp::Umin3, self.least, args, self.span));
            }
        }
    }

    fn settle(&mut self, out: &mut Block) {
        if let Some(word) = self.pending.take() {
            out.push(Stmt::lane(LaneOp::Umin, self.least, [Operand::Reg(self.least), word], self.span));
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
        self.compute(LaneOp::Ult, [Operand::Reg(self.least), Operand::Imm(BOUND)], out)
    }

    /// The same, or if a result is NaN or a zero of the wrong sign.
    pub fn doubt(&mut self, results: &[(Reg, Doubt)], out: &mut Block) -> Operand {
        let mut any = self.seen(out);
        for (reg, doubt) in results {
            let word = Operand::Reg(*reg);
            let wrong = match doubt {
                Doubt::None => continue,
                // 2w − 1 of a zero is the greatest, of NaNs what is not below infinity's.
                Doubt::Zero => {
                    let double = self.compute(LaneOp::Ishl, [word, Operand::Imm(1)], out);
                    let less = self.compute(LaneOp::Iadd, [double, Operand::Imm(u32::MAX)], out);
                    self.compute(LaneOp::Uge, [less, Operand::Imm(INFINITY)], out)
                }
                Doubt::Minus => {
                    let double = self.compute(LaneOp::Ishl, [word, Operand::Imm(1)], out);
                    let nan = self.compute(LaneOp::Ult, [Operand::Imm(INFINITY), double], out);
                    let zero = self.compute(LaneOp::Ieq, [word, Operand::Imm(1 << 31)], out);
                    self.compute(LaneOp::Or, [nan, zero], out)
                }
            };
            any = self.compute(LaneOp::Or, [any, wrong], out);
        }
        any
    }

    pub fn block(&mut self, block: Block, out: &mut Block) {
        for Stmt { kind, span } in block {
            self.span = span;
            self.item += usize::from(tested_of(&kind).is_some());
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
                    // What comes behind a loop that was left early must end, too.
                    let alone = std::mem::take(&mut self.alone);
                    let asks = if alone { asks(&body) } else { None };
                    let body = match asks {
                        Some(at) => self.asking(body, at, span),
                        _ => self.inner(body, guarded.then_some(span)),
                    };
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

    /// The body of a loop that is left as soon as there is doubt behind one of its statements.
    fn asking(&mut self, mut block: Block, at: usize, span: Span) -> Block {
        self.asked = true;
        let rest = block.split_off(at + 1);
        let mut out = self.inner(block, None);
        let operand = self.seen(&mut out);
        out.push(Stmt { kind: StmtKind::Break(Some(Cond { operand, nonzero: true })), span });
        self.block(rest, &mut out);
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
                let product = self.compute(LaneOp::BareMul, [args[0], args[1]], out);
                let sum = if form == Form::Bare { LaneOp::BareAdd } else { LaneOp::Add };
                out.push(Stmt::lane(sum, to, [product, args[2]], span));
            }
            (form, op) => {
                let op = plain(form, op);
                out.push(Stmt { kind: StmtKind::Lane(LaneInst { op, ..inst }), span });
            }
        }
        self.written(&written, out);
    }
}
