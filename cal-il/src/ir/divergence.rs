//! Where threads of a group may part.
//!
//! Needed for programs that count on the lockstep of one wave: barriers may only stand where all threads of the
//! group pass.

use super::uniformity::{Scope, Uniformity};
use super::{Block, Cond, Operand, Program, StmtKind};

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
            StmtKind::If { cond, then, otherwise } => {
                (self.parts(cond) && (leave(then, out) || leave(otherwise, out)))
                    || self.exits_from(then, out)
                    || self.exits_from(otherwise, out)
            }
            StmtKind::Switch { selector, arms } => {
                let out = Jumps { breaks: false, ..out };
                let apart = self.differs(selector);
                arms.iter().any(|arm| (apart && leave(&arm.body, out)) || self.exits_from(&arm.body, out))
            }
            StmtKind::Loop { body } => self.exits_from(body, Jumps::NONE),
            StmtKind::Break(None)
            | StmtKind::Continue(None)
            | StmtKind::Return(None)
            | StmtKind::Lane(_)
            | StmtKind::Memory(_)
            | StmtKind::Call { .. }
            | StmtKind::Fence(_) => false,
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
    const NONE: Self = Self { breaks: false, continues: false };
}

/// Whether control may leave the statements otherwise than at their end.
pub(crate) fn leaves(block: &Block) -> bool {
    leave(block, Jumps::ALL)
}

fn leave(block: &Block, out: Jumps) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::Break(_) => out.breaks,
        StmtKind::Continue(_) => out.continues,
        StmtKind::Return(_) | StmtKind::Discard(_) => true,
        StmtKind::If { then, otherwise, .. } => leave(then, out) || leave(otherwise, out),
        StmtKind::Switch { arms, .. } => {
            arms.iter().any(|arm| leave(&arm.body, Jumps { breaks: false, ..out }))
        }
        StmtKind::Loop { body } => leave(body, Jumps::NONE),
        StmtKind::Lane(_) | StmtKind::Memory(_) | StmtKind::Call { .. } | StmtKind::Fence(_) => false,
    })
}
