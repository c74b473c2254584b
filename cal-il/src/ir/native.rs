//! The program in native float mode: sums and products as the processor has them.
//!
//! `Mad` and its like round once, products follow IEEE 754 for zeros too, and what arithmetic gives is neither flushed nor made
//! canonical. What remains, quotients, roots and functions, is as in faithful mode and so takes denormals as zeros: its operands are
//! flushed here, since nobody else does it any more. So the bits are defined, and the same on every instruction set.

use super::visit::each_block;
use super::{Block, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::isa::lane::Class;

/// The program with bare arithmetic. It passes [`super::validate::validate_unflushed`].
pub fn native(program: &Program) -> Program {
    let mut out = program.clone();
    let mut pass = Pass { next: program.registers };
    for function in &mut out.functions {
        function.body = pass.block(std::mem::take(&mut function.body));
    }
    out.registers = pass.next;
    out
}

/// The processor's operation.
fn bare(op: LaneOp) -> Option<LaneOp> {
    use LaneOp as O;
    Some(match op {
        O::Add => O::BareAdd,
        O::Sub => O::BareSub,
        O::Mul | O::MulIeee => O::BareMul,
        O::Mad | O::MadIeee | O::Fma => O::BareFma,
        O::Dadd => O::BareDadd,
        O::Dsub => O::BareDsub,
        O::Dmul => O::BareDmul,
        O::Dmad => O::BareDmad,
        O::Flush | O::Canon => O::Mov,
        _ => return None,
    })
}

/// What is defined for denormals, too: it computes nothing, or compares.
fn takes_denormals(op: LaneOp) -> bool {
    use LaneOp as O;
    matches!(
        op,
        O::MovF
            | O::SelectF
            | O::Cmov
            | O::Neg
            | O::Abs
            | O::Min
            | O::Max
            | O::MinIeee
            | O::MaxIeee
            | O::Min3
            | O::Med3
            | O::Max3
            | O::Clamp
            | O::Saturate
            | O::Sgn
            | O::Ne
            | O::Eq
            | O::Ge
            | O::Gt
            | O::Le
            | O::Lt
            | O::SetNe
            | O::SetEq
            | O::SetGe
            | O::SetGt
            | O::SetLe
            | O::SetLt
    )
}

struct Pass {
    next: u32,
}

impl Pass {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::with_capacity(block.len());
        for mut stmt in block {
            match &mut stmt.kind {
                StmtKind::Lane(inst) => match bare(inst.op) {
                    // In its own place it is nothing.
                    Some(LaneOp::Mov) if inst.args[0] == Operand::Reg(inst.dst[0]) => continue,
                    Some(op) => inst.op = op,
                    None if takes_denormals(inst.op) => {}
                    None => {
                        let mut at = 0;
                        for class in inst.op.arguments() {
                            if *class == Class::F {
                                let (operand, made) = self.flushed(inst.args[at]);
                                out.extend(
                                    made.map(|inst| Stmt { kind: StmtKind::Lane(inst), span: stmt.span }),
                                );
                                inst.args[at] = operand;
                            }
                            at += class.words();
                        }
                    }
                },
                kind => each_block(kind, &mut |block| self.block(block)),
            }
            out.push(stmt);
        }
        out
    }

    /// The operand without denormals, and what makes it so. Constants were flushed when they were.
    fn flushed(&mut self, operand: Operand) -> (Operand, Option<LaneInst>) {
        if matches!(operand, Operand::Imm(_)) {
            return (operand, None);
        }
        let to = Reg::fresh(&mut self.next);
        let inst = LaneInst::word(LaneOp::Flush, to, [operand]);
        (Operand::Reg(to), Some(inst))
    }
}
