//! Facts about a program that launching needs, gathered in one walk at load.

use recal_il::ir::visit::{operands_of, tested_of};
use recal_il::ir::{Block, Builtin, MemoryInst, Operand, Program, StmtKind};

/// What the walk found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Fetch instructions in the text.
    pub(crate) fetches: u32,
    /// Threads see their row-major number in the domain.
    pub(crate) numbered: bool,
    /// Threads see values interpolated over the domain.
    pub(crate) interpolates: bool,
}

impl Scan {
    pub(crate) fn of(program: &Program) -> Scan {
        let mut scan = Scan { interpolates: !program.interface.interpolants.is_empty(), ..Scan::default() };
        program.functions.iter().for_each(|f| scan.block(&f.body));
        scan
    }

    fn block(&mut self, block: &Block) {
        for statement in block {
            tested_of(&statement.kind).iter().for_each(|o| self.operand(o));
            match &statement.kind {
                StmtKind::Lane(inst) => inst.args.iter().for_each(|o| self.operand(o)),
                StmtKind::Memory(inst) => {
                    use MemoryInst::{Fetch, Gather, Sample};
                    self.fetches += u32::from(matches!(**inst, Sample { .. } | Gather { .. } | Fetch { .. }));
                    operands_of(inst).iter().for_each(|o| self.operand(o));
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::Loop { body } => self.block(body),
                StmtKind::Switch { arms, .. } => arms.iter().for_each(|a| self.block(&a.body)),
                _ => {}
            }
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Builtin(Builtin::ObjectIndex) => self.numbered = true,
            Operand::Builtin(Builtin::Interpolant(..)) => self.interpolates = true,
            _ => {}
        }
    }
}
