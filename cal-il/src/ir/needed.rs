//! What a program really binds: memory that is declared and never touched need not be there.

use std::collections::BTreeSet;

use super::visit::{memory_operands, statements, tested_of};
use super::{Id, InfoSource, LaneInst, MemoryInst, Operand, Program, Space, StmtKind};

/// Numbers of the memories that a program touches.
#[derive(Default)]
struct Touched {
    resources: BTreeSet<u32>,
    /// A resource is chosen at run time.
    any_resource: bool,
    srvs: BTreeSet<u32>,
    constants: BTreeSet<u32>,
    uavs: BTreeSet<u32>,
}

impl Touched {
    fn operand(&mut self, operand: Operand) {
        if let Operand::Const { buffer, .. } = operand {
            self.constants.insert(buffer.into());
        }
    }

    fn resource(&mut self, id: Id) {
        self.resources.insert(id.base);
        self.any_resource |= id.index.is_some();
    }

    fn space(&mut self, space: Space) {
        match space {
            Space::Uav(n) => self.uavs.insert(n),
            Space::Srv(n) => self.srvs.insert(n),
            Space::Lds(_) | Space::Gds(_) => return,
        };
    }

    fn memory(&mut self, inst: &mut MemoryInst) {
        memory_operands(inst, &mut |operand, _| self.operand(*operand));
        match *inst {
            MemoryInst::Sample { resource, .. }
            | MemoryInst::Gather { resource, .. }
            | MemoryInst::Fetch { resource, .. }
            | MemoryInst::ResourceInfo { resource, .. }
            | MemoryInst::BufferInfo { of: InfoSource::Resource(resource), .. } => self.resource(resource),
            MemoryInst::BufferInfo { of: InfoSource::Uav(n), .. } => self.space(Space::Uav(n)),
            MemoryInst::BufferInfo { of: InfoSource::Srv(n), .. } => self.space(Space::Srv(n)),
            MemoryInst::ConstLoad { buffer, .. } => {
                self.constants.insert(buffer);
            }
            MemoryInst::RawLoad { space, .. }
            | MemoryInst::RawStore { space, .. }
            | MemoryInst::Atomic { space, .. } => self.space(space),
            MemoryInst::TypedLoad { uav, .. } | MemoryInst::TypedStore { uav, .. } => {
                self.space(Space::Uav(uav));
            }
            _ => {}
        }
    }
}

/// Takes from the interface the resources, constant buffers and views that nothing in the program touches.
pub fn forget_untouched(program: &mut Program) {
    let mut touched = Touched::default();
    for function in &mut program.functions {
        statements(&mut function.body, &mut |stmt| match &mut stmt.kind {
            StmtKind::Lane(LaneInst { args, .. }) => args.iter().for_each(|&arg| touched.operand(arg)),
            StmtKind::Memory(inst) => touched.memory(inst),
            other => tested_of(other).into_iter().for_each(|operand| touched.operand(operand)),
        });
    }
    let interface = &mut program.interface;
    if !touched.any_resource {
        interface.resources.retain(|n, _| touched.resources.contains(n));
    }
    interface.srvs.retain(|n, _| touched.srvs.contains(n));
    interface.constants.retain(|n, _| touched.constants.contains(n));
    interface.uavs.retain(|n, _| touched.uavs.contains(n));
}
