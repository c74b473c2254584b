//! What threads of a kernel see of each other, and where they read: how a launch may place them follows.

use recal_il::ir::{Builtin, ThreadId};

use super::Loader;
use crate::op::{MemoryOp, Op, Place};

impl Loader<'_> {
    /// Threads see nothing of their groups: neither numbers, nor memory that they have in common, nor who waits for whom.
    pub(super) fn groups_unseen(&self) -> bool {
        let code = &self.code;
        let any = |of: fn(&MemoryOp) -> bool| code.memory.iter().any(|access| of(&access.op));
        // Threads of a wave may talk by memory that they store to.
        let talks = any(|op| match op {
            MemoryOp::GlobalLoad { .. } | MemoryOp::TypedLoad { .. } => true,
            MemoryOp::RawLoad { place, .. } => matches!(place, Place::Uav(_)),
            _ => false,
        }) && any(|op| {
            use MemoryOp::{GlobalStore, RawStore, TypedStore};
            matches!(op, GlobalStore { .. } | RawStore { .. } | TypedStore { .. })
        });
        let counts = any(|op| {
            matches!(op, MemoryOp::Atomic { .. } | MemoryOp::AtomicWide { .. } | MemoryOp::Counter { .. })
        });
        let positions = |builtin: &Builtin| matches!(builtin, Builtin::Thread(ThreadId::Absolute, _));
        code.lds_bytes == 0
            && code.lds_own == 0
            && code.gds_bytes == 0
            && code.shared == 0
            && self.builtins.keys().all(positions)
            && !code.ops.iter().any(|op| matches!(op, Op::Fence(_)))
            && !talks
            && !counts
    }

    /// Samples are at the thread's own column and line, exchanged, and nothing that other threads see is written.
    pub(super) fn samples_turned(&self) -> bool {
        let [column, line] = [0, 1].map(|axis| self.builtins.get(&Builtin::Position(axis)));
        let (Some(column), Some(line)) = (column, line) else { return false };
        let mut turned = false;
        let fits = self.code.memory.iter().all(|access| match &access.op {
            MemoryOp::Sample(sample) => {
                let [u, v, _] = &sample.at.coord;
                turned |= (u, v) == (line, column);
                u != column
            }
            MemoryOp::ConstLoad { .. } | MemoryOp::ImmediateLoad { .. } | MemoryOp::ResourceInfo { .. } => {
                true
            }
            _ => false,
        });
        fits && turned
    }

    /// All accesses are samples at the thread's own column and line.
    pub(super) fn samples_in_lines(&self) -> bool {
        let [column, line] = [0, 1].map(|axis| self.builtins.get(&Builtin::Position(axis)));
        self.code.memory.iter().all(|access| match &access.op {
            MemoryOp::Sample(sample) => {
                Some(&sample.at.coord[0]) == column && Some(&sample.at.coord[1]) == line
            }
            _ => false,
        })
    }
}
