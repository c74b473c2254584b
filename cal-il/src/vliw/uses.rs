//! Who reads and writes the registers of a program: what may be folded into other instructions.

use crate::ir::{Block, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind, visit};
use crate::isa::lane::Class;

/// Who reads and writes registers.
pub(super) struct Uses {
    pub reads: Vec<u32>,
    /// Registers with one definition.
    pub local: Vec<bool>,
    /// Registers whose readers all take a sign, and a magnitude.
    signs: Vec<[bool; 2]>,
}

impl Uses {
    pub fn of(program: &Program) -> Self {
        let count = program.registers as usize;
        let mut uses =
            Self { reads: vec![0; count], local: vec![true; count], signs: vec![[true; 2]; count] };
        let mut writes = vec![0u32; count];
        for output in &program.outputs {
            for reg in output.registers {
                uses.reads[reg.index()] += 1;
                uses.signs[reg.index()] = [false; 2];
            }
        }
        for function in &program.functions {
            uses.block(&function.body, &mut writes);
        }
        uses.local.iter_mut().zip(writes).for_each(|(local, writes)| *local = writes == 1);
        uses
    }

    fn block(&mut self, block: &Block, writes: &mut [u32]) {
        visit::each(block, &mut |stmt| {
            if let StmtKind::Lane(inst) = &stmt.kind {
                let mut n = 0;
                for class in inst.op.arguments() {
                    for word in 0..class.words() {
                        if let Operand::Reg(reg) = inst.args[n] {
                            let sign = match class {
                                Class::F => inst.op.result() != Class::W || inst.op.arguments().len() < 3,
                                Class::Q => word == 1,
                                Class::W => false,
                            };
                            let three = inst.op.arguments().len() > 2;
                            let signs = &mut self.signs[reg.index()];
                            *signs = [signs[0] && sign, signs[1] && sign && !three];
                        }
                        n += 1;
                    }
                }
            }
            let lane = matches!(stmt.kind, StmtKind::Lane(_));
            visit::named(&stmt.kind, &mut |reg, write| {
                if write {
                    writes[reg.index()] += 1;
                } else {
                    self.reads[reg.index()] += 1;
                    if !lane {
                        self.signs[reg.index()] = [false; 2];
                    }
                }
            });
        });
    }

    /// Whether those who read a changed sign can change it themselves.
    pub fn folds(&self, inst: &LaneInst) -> bool {
        let [sign, magnitude] = self.signs[inst.dst[0].index()];
        let takes = if matches!(inst.op, LaneOp::Abs | LaneOp::AbsBits) { magnitude } else { sign };
        let stays = match inst.args[0] {
            Operand::Reg(reg) => self.local[reg.index()],
            Operand::Imm(_) => false,
            _ => true,
        };
        takes && stays && self.local[inst.dst[0].index()]
    }

    /// How many of the first statements are one dot product.
    pub fn dot(&self, block: &[Stmt]) -> usize {
        let mut sum: Option<Reg> = None;
        let mut count = 0;
        for stmt in block.iter().take(4) {
            let StmtKind::Lane(inst) = &stmt.kind else { break };
            let fits = match (sum, inst.op) {
                (None, LaneOp::Mul | LaneOp::MulIeee) => true,
                (Some(sum), LaneOp::Mad | LaneOp::MadIeee) => {
                    inst.args[2] == Operand::Reg(sum)
                        && self.reads[sum.index()] == 1
                        && self.local[sum.index()]
                }
                _ => false,
            };
            if !fits || stmt.span.start != block[0].span.start {
                break;
            }
            sum = Some(inst.dst[0]);
            count += 1;
        }
        count
    }
}
