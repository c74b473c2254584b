//! What threads of a kernel see of each other, and where they read: how a launch may place them follows.

use recal_il::ir::{Area, Builtin, Effect, ThreadId};
use recal_il::isa::lane::Class;

use super::Loader;
use crate::op::{MemoryOp, Op};

/// Most operations of code for a whole wave, of which an access is so many.
const LONG: usize = 256;
const ACCESS: usize = 10;

/// Threads go on with what follows in the text: no loop, no call, nobody waits for others or ends.
pub(super) fn straight(op: &Op) -> bool {
    use Op::{Else, End, EndIf, If, Lanes, Memory};
    matches!(op, Lanes { .. } | Memory(_) | If { .. } | Else { .. } | EndIf { .. } | End)
}

impl Loader<'_> {
    /// Threads see nothing of their groups: neither numbers, nor memory that they have in common, nor who waits for whom.
    pub(super) fn groups_unseen(&self) -> bool {
        let flat = self.builtins.keys().any(|of| matches!(of, Builtin::Thread(ThreadId::AbsoluteFlat, _)));
        self.waves_alone() && !self.talks() && !flat
    }

    /// Threads of a wave may talk by memory that they store to.
    fn talks(&self) -> bool {
        let does = |what| self.any(|area, effect| area.is_global() && effect == what);
        does(Effect::Loads) && does(Effect::Stores)
    }

    /// Threads load from memory and store to memory, which may be the same, in no loop, and code which does it for a whole wave is not too long for the
    /// cache of instructions.
    pub(super) fn in_place(&self) -> bool {
        let there = |area| match area {
            Area::Global | Area::Uav(_) | Area::Srv(_) | Area::Resource(_) => true,
            Area::Lds(_) | Area::OwnLds | Area::Gds(_) => true,
            Area::Size(_) | Area::Constants(_) | Area::Immediate | Area::Counter(_) => false,
            Area::Array(_) | Area::Shared => false,
        };
        let does = |what| self.any(|area, effect| there(area) && effect == what);
        let long = self.code.steps.len() + ACCESS * self.code.memory.len() > LONG;
        does(Effect::Loads) && does(Effect::Stores) && !long && self.code.straight
    }

    /// The same of waves: it does not show which of them are a group.
    pub(super) fn waves_alone(&self) -> bool {
        let code = &self.code;
        let counts = self.any(|_, effect| effect == Effect::Updates);
        let positions = |builtin: &Builtin| {
            matches!(builtin, Builtin::Thread(ThreadId::Absolute | ThreadId::AbsoluteFlat, _))
        };
        code.lds_bytes == 0
            && code.gds_bytes == 0
            && code.shared == 0
            && self.builtins.keys().all(positions)
            && !code.ops.iter().any(|op| matches!(op, Op::Fence(_)))
            && !counts
    }

    fn any(&self, does: impl Fn(Area, Effect) -> bool) -> bool {
        self.code.memory.iter().any(|access| does(access.effect.0, access.effect.1))
    }

    /// Samples are at the thread's own column and line, exchanged, and nothing that other threads see is written.
    pub(super) fn samples_turned(&self) -> bool {
        let [column, line] = [0, 1].map(|axis| self.builtins.get(&Builtin::Position(axis)));
        let (Some(column), Some(line)) = (column, line) else { return false };
        let mut turned = false;
        let fits = self.code.memory.iter().all(|access| match (&access.op, access.effect) {
            (MemoryOp::Sample(sample), _) => {
                let [u, v, _] = &sample.at.coord;
                turned |= (u, v) == (line, column);
                u != column
            }
            (_, (area, effect)) => {
                effect == Effect::Loads
                    && matches!(area, Area::Constants(_) | Area::Immediate | Area::Size(_))
            }
        });
        fits && turned
    }

    /// Places of resources whose elements threads of a line read side by side, in a kernel with a loop: once for each place on the line.
    pub(super) fn panels(&self) -> Vec<u32> {
        if !self.code.loops {
            return Vec::new();
        }
        let mut columns = Vec::new();
        for access in &self.code.memory {
            let MemoryOp::Sample(sample) = &access.op else { continue };
            let column = (sample.resource.place, sample.at.coord[0]);
            if access.lanes.same & 3 == 2 && !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns.into_iter().map(|(place, _)| place).collect()
    }

    /// Lines of a wave take the same way, and what loops compute of panels is doubles: of those a strip has so many that what lines have in
    /// common counts.
    pub(super) fn abreast(&self) -> bool {
        let plain = |op: &Op| straight(op) || matches!(op, Op::Loop | Op::EndLoop { .. } | Op::Break { .. });
        !self.apart
            && !self.code.panels.is_empty()
            && self.code.ops.iter().all(plain)
            && self.code.steps.iter().any(|step| step.op.result() == Class::Q)
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
