//! The program in native float mode: sums and products as the processor has them.
//!
//! `Mad` and its like round once, products follow IEEE 754 for zeros too, and what arithmetic gives is neither flushed nor made
//! canonical. What remains, quotients, roots and functions, is as in faithful mode and so takes denormals as zeros: its operands are
//! flushed here, since nobody else does it any more. So the bits are defined, and the same on every instruction set.

use super::visit::each_block;
use super::{Block, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::isa::lane::{Class, Numeric};

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

/// Whether an operation is defined for denormals, too: it computes nothing, or compares.
fn takes_denormals(op: LaneOp) -> bool {
    use Numeric as N;
    matches!(op.numeric(), N::Moves | N::Negates | N::Magnitude | N::Chooses | N::Limits | N::Compares)
}

struct Pass {
    next: u32,
}

impl Pass {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::with_capacity(block.len());
        for mut stmt in block {
            match &mut stmt.kind {
                StmtKind::Lane(inst) => match inst.op.native() {
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
