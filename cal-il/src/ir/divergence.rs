//! Where threads of a group may part.
//!
//! Needed for programs that count on the lockstep of one wave: barriers may only stand where all threads of the
//! group pass.

use super::uniformity::{Scope, Uniformity};
use super::{Block, Cond, Operand, Program, Stmt, StmtKind};

/// What threads of a group, in lockstep, may see differently.
pub(crate) struct Divergence(Uniformity);

impl Divergence {
    pub fn of(program: &Program) -> Self {
        Self(Uniformity::of(program, Scope::Lockstep))
    }

    /// Whether threads may have parted where a function is called.
    pub fn parted(&self, function: usize) -> bool {
        self.0.parted(function)
    }

    /// Whether threads may see different values of the operand.
    pub fn differs(&self, operand: &Operand) -> bool {
        !self.0.operand(*operand)
    }

    pub fn parts(&self, cond: &Cond) -> bool {
        !self.0.cond(cond)
    }

    /// Whether threads may leave the loop in different iterations.
    pub fn loop_parts(&self, body: &Block) -> bool {
        self.exits(body)
    }

    /// Whether a break, continue or return in the statements may take some threads out of them and not others.
    pub fn exits(&self, block: &Block) -> bool {
        self.exits_from(block, Jumps::ALL)
    }

    /// The same of the jumps that lead out.
    fn exits_from(&self, block: &Block, out: Jumps) -> bool {
        block.iter().any(|statement| match &statement.kind {
            StmtKind::Break(Some(cond)) => out.breaks && self.parts(cond),
            StmtKind::Continue(Some(cond)) => out.continues && self.parts(cond),
            StmtKind::Return(Some(cond)) | StmtKind::Discard(cond) => self.parts(cond),
            kind => {
                let out = out.within(kind);
                let apart = match kind {
                    StmtKind::If { cond, .. } => self.parts(cond),
                    StmtKind::Switch { selector, .. } => self.differs(selector),
                    _ => false,
                };
                kind.blocks().any(|block| (apart && leave(block, out)) || self.exits_from(block, out))
            }
        })
    }
}

/// Which jumps lead out of some statements.
#[derive(Clone, Copy)]
struct Jumps {
    breaks: bool,
    continues: bool,
}

impl Jumps {
    const ALL: Self = Self { breaks: true, continues: true };

    /// Those of the blocks of a statement that lead out.
    fn within(self, kind: &StmtKind) -> Self {
        match kind {
            StmtKind::Loop { .. } => Self { breaks: false, continues: false },
            StmtKind::Switch { .. } => Self { breaks: false, ..self },
            _ => self,
        }
    }
}

/// Whether control may leave the statements otherwise than at their end.
pub(crate) fn leaves(block: &[Stmt]) -> bool {
    leave(block, Jumps::ALL)
}

fn leave(block: &[Stmt], out: Jumps) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::Break(_) => out.breaks,
        StmtKind::Continue(_) => out.continues,
        StmtKind::Return(_) | StmtKind::Discard(_) => true,
        kind => {
            let out = out.within(kind);
            kind.blocks().any(|block| leave(block, out))
        }
    })
}
