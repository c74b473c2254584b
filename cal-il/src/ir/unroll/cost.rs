//! What statements of a loop cost, and which of them load.

use super::LIMIT;
use crate::ir::{LaneOp, MemoryInst, Space, Stmt, StmtKind};

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
                let waits = match loads(inst) {
                    None if self.loads_only => return false,
                    waits => waits.unwrap_or(false),
                };
                self.operations = self.operations.saturating_add((self.cost)(inst));
                self.loads += u32::from(waits);
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

/// Whether an access waits for memory; `None` if it does more than to load.
pub(in crate::ir) fn loads(inst: &MemoryInst) -> Option<bool> {
    match inst {
        MemoryInst::Sample { .. }
        | MemoryInst::Gather { .. }
        | MemoryInst::Fetch { .. }
        | MemoryInst::ConstLoad { .. }
        | MemoryInst::GlobalLoad { .. }
        | MemoryInst::RawLoad { .. }
        | MemoryInst::TypedLoad { .. } => Some(true),
        MemoryInst::ResourceInfo { .. }
        | MemoryInst::BufferInfo { .. }
        | MemoryInst::ImmediateLoad { .. }
        | MemoryInst::ArrayLoad { .. }
        | MemoryInst::SharedLoad { .. } => Some(false),
        MemoryInst::ArrayStore { .. }
        | MemoryInst::GlobalStore { .. }
        | MemoryInst::SharedStore { .. }
        | MemoryInst::RawStore { .. }
        | MemoryInst::TypedStore { .. }
        | MemoryInst::Atomic { .. }
        | MemoryInst::LdsWriteOwn { .. }
        | MemoryInst::LdsReadAny { .. }
        | MemoryInst::Counter { .. }
        | MemoryInst::InitShared => None,
    }
}

/// Whether it loads from memory that is not the group's.
pub(in crate::ir) fn is_far(inst: &MemoryInst) -> bool {
    loads(inst) == Some(true)
        && !matches!(inst, MemoryInst::RawLoad { space: Space::Lds(_) | Space::Gds(_), .. })
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
