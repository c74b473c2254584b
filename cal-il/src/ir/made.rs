//! Statements that a pass makes of one of a program.

use super::visit::each_block;
use super::{Block, LaneOp, MemoryInst, Operand, Reg, Stmt, StmtKind};
use crate::diagnostic::Span;

/// The block with what `f` makes of its accesses to memory in their place; false: it makes nothing of it, and the access stays.
pub(super) fn in_place(
    block: Block,
    registers: &mut u32,
    f: &mut dyn FnMut(&MemoryInst, &mut Made<'_>) -> bool,
) -> Block {
    let mut out = Block::with_capacity(block.len());
    for mut stmt in block {
        match &mut stmt.kind {
            StmtKind::Memory(inst) => {
                let mut made = Made { registers, out: &mut out, span: stmt.span };
                if f(inst, &mut made) {
                    continue;
                }
            }
            kind => each_block(kind, &mut |block| in_place(block, registers, f)),
        }
        out.push(stmt);
    }
    out
}

/// What a statement becomes.
pub(super) struct Made<'p> {
    /// How many registers there are.
    pub registers: &'p mut u32,
    /// Where statements go.
    pub out: &'p mut Block,
    /// The instruction that all of them come from.
    pub span: Span,
}

impl Made<'_> {
    pub fn register(&mut self) -> Reg {
        Reg::fresh(self.registers)
    }

    /// An operation on words.
    pub fn lane<const N: usize>(&mut self, op: LaneOp, to: Reg, args: [Operand; N]) {
        self.out.push(Stmt::lane(op, to, args, self.span));
    }

    /// The same to a register of its own.
    pub fn value<const N: usize>(&mut self, op: LaneOp, args: [Operand; N]) -> Operand {
        let to = self.register();
        self.lane(op, to, args);
        Operand::Reg(to)
    }

    pub fn memory(&mut self, inst: MemoryInst) {
        self.out.push(Stmt { kind: inst.into(), span: self.span });
    }
}
