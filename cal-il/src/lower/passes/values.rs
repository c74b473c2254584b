//! Forwards copies and removes what nothing reads.
//!
//! After the split into webs a register with one definition, which does not also hold the zero of the beginning, is a
//! name for a value. Where that definition is a move, readers take the source instead: a constant, a constant buffer
//! word, a value of the launch, or another such name. Then operations and loads whose results nobody reads go.
//! Stores, atomics, counters and control flow stay.

use smallvec::SmallVec;

use crate::ir::{Block, LaneOp, MemoryInst, Operand, Program, Reg, StmtKind, visit};
use crate::lower::fold;

/// Which registers are names for values. `early` tells those that may be read before they are written, `definitions` how many
/// statements write each.
pub(super) fn names(program: &Program, early: &[bool], definitions: &[u32]) -> Vec<bool> {
    let mut names: Vec<bool> =
        definitions.iter().zip(early).map(|(count, early)| count + u32::from(*early) == 1).collect();
    // An output is none: the host reads it.
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| names[*reg as usize] = false);
    }
    names
}

/// Forwards copies and folds what becomes constant. Returns how often each register is read then.
pub(super) fn forward(program: &mut Program, names: &[bool]) -> Vec<u32> {
    let count = program.registers as usize;
    let single = |reg: Reg| names[reg as usize];
    // Every source is resolved before its readers, since it is defined before them.
    let mut resolved: Vec<Option<Operand>> = vec![None; count];
    let mut uses = uses_of_outputs(program);
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            let mut replace = |operand: &mut Operand| {
                if let Operand::Reg(reg) = *operand
                    && let Some(source) = resolved[reg as usize]
                {
                    *operand = source;
                }
                if let Operand::Reg(reg) = *operand {
                    uses[reg as usize] += 1;
                }
            };
            match &mut stmt.kind {
                StmtKind::Lane(inst) => {
                    inst.args.iter_mut().for_each(&mut replace);
                    if inst.op != LaneOp::Mov
                        && let Some((word, None)) = fold::fold(inst.op, &inst.args)
                    {
                        inst.op = LaneOp::Mov;
                        inst.args = SmallVec::from_slice(&[Operand::Imm(word)]);
                    }
                    let dst = inst.dst[0];
                    if inst.op == LaneOp::Mov && single(dst) {
                        resolved[dst as usize] = match inst.args[0] {
                            Operand::Reg(reg) if !single(reg) => None,
                            source => Some(source),
                        };
                    }
                }
                StmtKind::Memory(inst) => visit::memory_operands(inst, &mut |operand, _| replace(operand)),
                other => {
                    if let Some((operand, _)) = visit::tested(other) {
                        replace(operand);
                    }
                }
            }
        });
    }
    uses
}

/// The host reads outputs, once each.
fn uses_of_outputs(program: &Program) -> Vec<u32> {
    let mut uses = vec![0; program.registers as usize];
    program.outputs.iter().flat_map(|output| output.registers).for_each(|reg| uses[reg as usize] += 1);
    uses
}

/// How often each register is read.
pub(super) fn uses(program: &mut Program) -> Vec<u32> {
    let mut uses = uses_of_outputs(program);
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                uses[*reg as usize] += u32::from(!definition)
            });
        });
    }
    uses
}

/// Removes operations and loads whose results nothing reads; `uses` tells how often each register is read.
pub(super) fn sweep(program: &mut Program, mut uses: Vec<u32>) {
    debug_assert_eq!(uses, self::uses(program));
    for function in &mut program.functions {
        sweep_block(&mut function.body, &mut uses);
    }
}

/// From the end, so that what feeds only removed statements goes too.
fn sweep_block(block: &mut Block, uses: &mut [u32]) {
    let mut dead = vec![false; block.len()];
    for (stmt, dead) in block.iter_mut().zip(&mut dead).rev() {
        *dead = match &mut stmt.kind {
            StmtKind::Lane(inst) => inst.dst.iter().all(|reg| uses[*reg as usize] == 0),
            StmtKind::Memory(inst) => dead_load(inst, uses),
            StmtKind::If { then, otherwise, .. } => {
                sweep_block(otherwise, uses);
                sweep_block(then, uses);
                then.is_empty() && otherwise.is_empty()
            }
            StmtKind::Loop { body } => {
                sweep_block(body, uses);
                false
            }
            StmtKind::Switch { arms, .. } => {
                arms.iter_mut().rev().for_each(|arm| sweep_block(&mut arm.body, uses));
                false
            }
            _ => false,
        };
        if *dead {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                uses[*reg as usize] -= u32::from(!definition);
            });
        }
    }
    let mut dead = dead.into_iter();
    block.retain(|_| dead.next() != Some(true));
}

/// Drops the components of a load that nothing reads; true if none is left.
fn dead_load(inst: &mut MemoryInst, uses: &[u32]) -> bool {
    visit::loaded(inst).is_some_and(|dst| {
        for component in dst.iter_mut() {
            *component = component.filter(|reg| uses[*reg as usize] != 0);
        }
        dst.iter().all(Option::is_none)
    })
}
