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

    /// Whether a break, continue or return in the statements may take some threads and not others.
    pub fn exits(&self, block: &Block) -> bool {
        block.iter().any(|statement| match &statement.kind {
            StmtKind::Break(Some(cond)) | StmtKind::Continue(Some(cond)) | StmtKind::Return(Some(cond)) => {
                self.parts(cond)
            }
            StmtKind::Discard(cond) => self.parts(cond),
            StmtKind::If { cond, then, otherwise } => {
                (self.parts(cond) && (leaves(then) || leaves(otherwise)))
                    || self.exits(then)
                    || self.exits(otherwise)
            }
            StmtKind::Switch { selector, arms } => {
                arms.iter().any(|arm| (self.differs(selector) && leaves(&arm.body)) || self.exits(&arm.body))
            }
            StmtKind::Loop { body } => self.exits(body),
            _ => false,
        })
    }
}

/// Whether control may leave the statements otherwise than at their end.
pub(crate) fn leaves(block: &Block) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(_) | StmtKind::Discard(_) => true,
        StmtKind::If { then, otherwise, .. } => leaves(then) || leaves(otherwise),
        StmtKind::Switch { arms, .. } => arms.iter().any(|arm| leaves(&arm.body)),
        StmtKind::Loop { body } => leaves(body),
        _ => false,
    })
}
