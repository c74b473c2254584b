//! Which registers may differ between the threads of a group, and where threads run together.
//!
//! Needed for programs that count on the lockstep of one wave: barriers may only stand where all threads of the
//! group pass.

use super::visit::{destinations_of, operands_of};
use super::{Block, Builtin, Cond, MemoryInst, Operand, Program, Space, StmtKind, ThreadId};

/// Registers by number: true if threads of a group may see different values.
pub(crate) struct Divergence {
    varying: Vec<bool>,
    /// Functions, by number: true if threads may have parted where they are called.
    parted: Vec<bool>,
    changed: bool,
}

impl Divergence {
    pub fn of(program: &Program) -> Self {
        let mut this = Self {
            varying: vec![false; program.registers as usize],
            parted: vec![false; program.functions.len()],
            changed: true,
        };
        while std::mem::take(&mut this.changed) {
            for (number, function) in program.functions.iter().enumerate() {
                let parted = this.parted[number];
                this.block(&function.body, parted);
            }
        }
        this
    }

    /// Whether threads may have parted where a function is called.
    pub fn parted(&self, function: usize) -> bool {
        self.parted.get(function).copied().unwrap_or(true)
    }

    fn mark(&mut self, register: u32, varying: bool) {
        if let Some(slot) = self.varying.get_mut(register as usize).filter(|slot| varying && !**slot) {
            *slot = true;
            self.changed = true;
        }
    }

    /// Whether threads may see different values of the operand.
    pub fn differs(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Reg(register) => self.varying.get(*register as usize).copied().unwrap_or(true),
            Operand::Imm(_) | Operand::Const { .. } => false,
            Operand::Builtin(Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _)) => false,
            Operand::Builtin(_) => true,
        }
    }

    pub fn parts(&self, cond: &Cond) -> bool {
        self.differs(&cond.operand)
    }

    fn block(&mut self, block: &Block, parted: bool) {
        let mut parted = parted;
        for statement in block {
            match &statement.kind {
                StmtKind::Lane(inst) => {
                    let varying = parted || inst.args.iter().any(|a| self.differs(a));
                    inst.dst.iter().for_each(|reg| self.mark(*reg, varying));
                }
                StmtKind::Memory(inst) => {
                    let mut varying = parted || !same_for_all(inst);
                    varying |= operands_of(inst).iter().any(|operand| self.differs(operand));
                    destinations_of(inst).into_iter().for_each(|reg| self.mark(reg, varying));
                }
                StmtKind::If { cond, then, otherwise } => {
                    let inner = parted || self.parts(cond);
                    self.block(then, inner);
                    self.block(otherwise, inner);
                    // Threads that left the enclosing loop meanwhile are not there afterwards.
                    parted |= inner && (leaves(then) || leaves(otherwise));
                }
                StmtKind::Loop { body } => {
                    let inner = parted || self.loop_parts(body);
                    self.block(body, inner);
                }
                StmtKind::Switch { selector, arms } => {
                    let inner = parted || self.differs(selector) || arms.iter().any(|a| self.exits(&a.body));
                    arms.iter().for_each(|arm| self.block(&arm.body, inner));
                    parted |= inner && arms.iter().any(|arm| leaves(&arm.body));
                }
                StmtKind::Break(cond) | StmtKind::Continue(cond) | StmtKind::Return(cond) => {
                    parted |= cond.as_ref().is_some_and(|cond| self.parts(cond));
                }
                StmtKind::Discard(cond) => parted |= self.parts(cond),
                // The callee's writes are marked varying with its body.
                StmtKind::Call { function, cond } => {
                    let apart = parted || cond.as_ref().is_some_and(|cond| self.parts(cond));
                    if let Some(slot) = self.parted.get_mut(*function).filter(|slot| apart && !**slot) {
                        *slot = true;
                        self.changed = true;
                    }
                }
                StmtKind::Fence(_) => {}
            }
        }
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

/// Whether threads that agree on the operands agree on the result.
fn same_for_all(inst: &MemoryInst) -> bool {
    match inst {
        MemoryInst::ConstLoad { .. }
        | MemoryInst::ImmediateLoad { .. }
        | MemoryInst::ResourceInfo { .. }
        | MemoryInst::BufferInfo { .. }
        | MemoryInst::Sample { .. }
        | MemoryInst::Fetch { .. } => true,
        // Under lockstep all threads read LDS at the same time.
        MemoryInst::RawLoad { space: Space::Lds(_), .. } => true,
        _ => false,
    }
}
