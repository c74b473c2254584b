//! What a program really binds: memory that is declared and never touched need not be there.

use std::collections::BTreeSet;

use super::visit::{memory_operands, statements, tested_of};
use super::{Area, InfoSource, LaneInst, MemoryInst, Operand, Program, StmtKind};

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

    fn memory(&mut self, inst: &mut MemoryInst) {
        memory_operands(inst, &mut |operand, _| self.operand(*operand));
        match inst.effect().0 {
            Area::Resource(id) | Area::Size(InfoSource::Resource(id)) => {
                self.resources.insert(id.base);
                self.any_resource |= id.index.is_some();
            }
            Area::Uav(n) | Area::Size(InfoSource::Uav(n)) => _ = self.uavs.insert(n),
            Area::Srv(n) | Area::Size(InfoSource::Srv(n)) => _ = self.srvs.insert(n),
            Area::Constants(n) => _ = self.constants.insert(n),
            Area::Immediate | Area::Array(_) | Area::Shared | Area::Global | Area::Counter(_) => {}
            Area::Lds(_) | Area::OwnLds | Area::Gds(_) => {}
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
