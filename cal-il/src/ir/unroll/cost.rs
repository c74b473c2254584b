//! What statements of a loop cost, and which of them load.

use super::LIMIT;
use crate::ir::{LaneOp, MemoryInst, Stmt, StmtKind};

/// What a round costs.
pub(super) struct Sum<'a> {
    pub cost: &'a dyn Fn(&MemoryInst) -> u32,
    /// Whether stores, atomics and fences are out of the question.
    pub loads_only: bool,
    pub operations: u32,
    pub loads: u32,
}

impl Sum<'_> {
    /// Adds a statement. False: it cannot be repeated without asking.
    pub fn add(&mut self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Lane(inst) => self.operations = self.operations.saturating_add(weight(inst.op)),
            StmtKind::Memory(inst) => {
                if self.loads_only && !inst.is_load() {
                    return false;
                }
                self.operations = self.operations.saturating_add((self.cost)(inst));
                self.loads += u32::from(inst.waits());
            }
            StmtKind::Fence(_) if !self.loads_only => self.operations = self.operations.saturating_add(4),
            StmtKind::If { then, otherwise, .. } => {
                self.operations = self.operations.saturating_add(1);
                return then.iter().chain(otherwise).all(|stmt| self.add(stmt));
            }
            _ => return false,
        }
        true
    }
}

/// About how many instructions of a device, by tens, an operation takes; beyond [`LIMIT`] where it takes some hundred.
fn weight(op: LaneOp) -> u32 {
    use LaneOp as L;
    match op {
        L::Div | L::Rcp | L::Rsq | L::Sqrt | L::Exp | L::Fma | L::Ddiv | L::Drcp | L::Dsqrt => 16,
        L::Mod | L::Exn | L::Log | L::Ln | L::Pow | L::Pireduce | L::F2u4 | L::QsadU8 | L::MqsadU8 => {
            1 + LIMIT
        }
        L::Sin | L::Cos | L::Tan | L::Asin | L::Acos | L::Atan | L::Drsq | L::DtrigPreop => 1 + LIMIT,
        L::DivScale | L::DivScaleFlag | L::DivFmas | L::DivFixup | L::DdivScale => 1 + LIMIT,
        _ => 1,
    }
}
