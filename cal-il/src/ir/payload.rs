//! Doubles keep NaNs of any payload where nobody reads their bits.
//!
//! A NaN that arithmetic gives is the canonical one, which takes other devices some instructions after each operation. Sums and
//! products of doubles do not care. So a pair of registers that holds nothing but their results holds them as they come, and
//! whoever takes it bit for bit gets it through [`LaneOp::Dcanon`]. In the middle of a loop that is an operation less; a result
//! that is stored at once would not gain anything and stays.

use std::borrow::Cow;
use std::collections::HashMap;

use smallvec::smallvec;

use super::visit::{any, memory_destinations, memory_operands, statements, tested};
use super::{Block, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::isa::lane::Class;

/// The program with payloads left open.
pub fn loosen(program: &Program) -> Cow<'_, Program> {
    let doubles = |kind: &StmtKind| matches!(kind, StmtKind::Lane(inst) if bare(inst.op).is_some());
    if !program.functions.iter().any(|function| any(&function.body, &doubles)) {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let pairs = pairs(&mut out);
    if pairs.is_empty() {
        return Cow::Borrowed(program);
    }
    let mut pass = Pass { pairs, next: program.registers };
    for function in &mut out.functions {
        function.body = pass.block(std::mem::take(&mut function.body));
    }
    out.registers = pass.next;
    Cow::Owned(out)
}

/// The operation whose NaNs have any payload.
fn bare(op: LaneOp) -> Option<LaneOp> {
    match op {
        LaneOp::Dadd => Some(LaneOp::BareDadd),
        LaneOp::Dsub => Some(LaneOp::BareDsub),
        LaneOp::Dmul => Some(LaneOp::BareDmul),
        LaneOp::Dmad => Some(LaneOp::BareDmad),
        _ => None,
    }
}

/// Whether an operation takes a NaN of any payload for its arguments of 64 bits.
fn is_indifferent(op: LaneOp) -> bool {
    bare(op).is_some()
        || matches!(
            op,
            LaneOp::Deq | LaneOp::Dne | LaneOp::Dlt | LaneOp::Dge | LaneOp::D2f | LaneOp::Dtoi | LaneOp::Dtou
        )
}

/// What is known of a register.
#[derive(Clone, Copy, Default)]
struct Word {
    /// The other word, and whether this is the high one.
    partner: Option<(Reg, bool)>,
    /// It is written by something else, or read at the end.
    other: bool,
    /// Readers that do not care.
    indifferent: u32,
}

/// Low registers and high ones of the pairs that may hold any NaN, each by the other.
fn pairs(program: &mut Program) -> HashMap<Reg, (Reg, bool)> {
    let mut words = vec![Word::default(); program.registers as usize];
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| words[*reg as usize].other = true);
    }
    for function in &mut program.functions {
        statements(&mut function.body, &mut |stmt| {
            let StmtKind::Lane(LaneInst { op, dst: [low, high], .. }) = stmt.kind else { return };
            if bare(op).is_none() {
                return;
            }
            for (reg, partner) in [(low, (high, false)), (high, (low, true))] {
                let word = &mut words[reg as usize];
                word.other |= word.partner.is_some_and(|known| known != partner);
                word.partner = Some(partner);
            }
        });
    }
    for function in &mut program.functions {
        statements(&mut function.body, &mut |stmt| match &mut stmt.kind {
            StmtKind::Lane(inst) => {
                let [low, high] = inst.dst;
                if let (LaneOp::Mov, Operand::Imm(bits)) = (inst.op, inst.args[0]) {
                    // A high word that makes no NaN, whatever the low one, or no bits that would make one of infinity.
                    let word = &mut words[low as usize];
                    let high = matches!(word.partner, Some((_, true))) && bits & 0x7FF0_0000 != 0x7FF0_0000;
                    word.other |= bits != 0 && !high;
                } else if bare(inst.op).is_none() {
                    words[low as usize].other = true;
                    words[high as usize].other = true;
                }
                if is_indifferent(inst.op) {
                    for arg in &inst.args {
                        if let Operand::Reg(reg) = arg {
                            words[*reg as usize].indifferent += 1;
                        }
                    }
                }
            }
            StmtKind::Memory(inst) => memory_destinations(inst, &mut |reg| words[*reg as usize].other = true),
            _ => {}
        });
    }
    let fits = |reg: Reg| {
        let word = words[reg as usize];
        let (partner, high) = word.partner?;
        let other = words[partner as usize];
        let both = other.partner == Some((reg, !high)) && !word.other && !other.other;
        (both && word.indifferent > 0).then_some((partner, high))
    };
    (0..program.registers).filter_map(|reg| Some((reg, fits(reg)?))).collect()
}

struct Pass {
    /// By word: the other one, and whether this is the high one.
    pairs: HashMap<Reg, (Reg, bool)>,
    next: Reg,
}

impl Pass {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::with_capacity(block.len());
        for mut stmt in block {
            match &mut stmt.kind {
                StmtKind::Lane(inst) => self.lane(inst, stmt.span, &mut out),
                StmtKind::Memory(inst) => {
                    memory_operands(inst, &mut |operand, _| self.exact(operand, stmt.span, &mut out));
                }
                kind => {
                    if let Some((operand, _)) = tested(kind) {
                        self.exact(operand, stmt.span, &mut out);
                    }
                }
            }
            match &mut stmt.kind {
                StmtKind::If { then, otherwise, .. } => {
                    *then = self.block(std::mem::take(then));
                    *otherwise = self.block(std::mem::take(otherwise));
                }
                StmtKind::Loop { body } => *body = self.block(std::mem::take(body)),
                StmtKind::Switch { arms, .. } => {
                    arms.iter_mut().for_each(|arm| arm.body = self.block(std::mem::take(&mut arm.body)));
                }
                _ => {}
            }
            out.push(stmt);
        }
        out
    }

    fn lane(&mut self, inst: &mut LaneInst, span: crate::diagnostic::Span, out: &mut Block) {
        let indifferent = is_indifferent(inst.op);
        let mut at = 0;
        for class in inst.op.arguments() {
            let words = at..at + class.words();
            at = words.end;
            if let (Class::Q, true, &[low, high]) = (class, indifferent, &inst.args[words.clone()]) {
                let whole = matches!((low, high), (Operand::Reg(low), Operand::Reg(high))
                    if self.pairs.get(&low) == Some(&(high, false)));
                if whole {
                    continue;
                }
            }
            for word in words {
                self.exact(&mut inst.args[word], span, out);
            }
        }
        if let (Some(op), true) = (bare(inst.op), self.pairs.contains_key(&inst.dst[0])) {
            inst.op = op;
        }
    }

    /// The operand bit for bit.
    fn exact(&mut self, operand: &mut Operand, span: crate::diagnostic::Span, out: &mut Block) {
        let Operand::Reg(reg) = *operand else { return };
        let Some((partner, is_high)) = self.pairs.get(&reg).copied() else { return };
        let (low, high) = if is_high { (partner, reg) } else { (reg, partner) };
        let to = [self.next, self.next + 1];
        self.next += 2;
        let inst =
            LaneInst { op: LaneOp::Dcanon, dst: to, args: smallvec![Operand::Reg(low), Operand::Reg(high)] };
        out.push(Stmt { kind: StmtKind::Lane(inst), span });
        *operand = Operand::Reg(to[usize::from(is_high)]);
    }
}
