//! Which registers are names for values, how often each is read, and what nothing reads: operations and loads go whose
//! results nobody takes. Stores, atomics, counters and control flow stay.

use crate::ir::{Block, MemoryInst, Program, StmtKind, visit};

/// Which registers are names for values. `early` tells those that may be read before they are written, `definitions` how many
/// statements write each.
pub(super) fn names(program: &Program, early: &[bool], definitions: &[u32]) -> Vec<bool> {
    let mut names: Vec<bool> =
        definitions.iter().zip(early).map(|(count, early)| count + u32::from(*early) == 1).collect();
    // An output is none: the host reads it.
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| names[reg.index()] = false);
    }
    names
}

/// The host reads outputs, once each.
pub(super) fn uses_of_outputs(program: &Program) -> Vec<u32> {
    let mut uses = vec![0; program.registers as usize];
    program.outputs.iter().flat_map(|output| output.registers).for_each(|reg| uses[reg.index()] += 1);
    uses
}

/// How often each register is read.
pub(super) fn uses(program: &mut Program) -> Vec<u32> {
    let mut uses = uses_of_outputs(program);
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                uses[reg.index()] += u32::from(!definition)
            });
        });
    }
    uses
}

/// Removes operations and loads whose results nothing reads; `uses` tells how often each register is read, before and after.
pub(super) fn dce(program: &mut Program, uses: &mut [u32]) {
    debug_assert_eq!(uses, self::uses(program));
    for function in &mut program.functions {
        dce_block(&mut function.body, uses);
    }
}

/// From the end, so that what feeds only removed statements goes too.
fn dce_block(block: &mut Block, uses: &mut [u32]) {
    let mut dead = vec![false; block.len()];
    for (stmt, dead) in block.iter_mut().zip(&mut dead).rev() {
        *dead = match &mut stmt.kind {
            StmtKind::Lane(inst) => inst.dst.iter().all(|reg| uses[reg.index()] == 0),
            StmtKind::Memory(inst) => dead_load(inst, uses),
            kind => {
                kind.blocks_mut().rev().for_each(|block| dce_block(block, uses));
                matches!(kind, StmtKind::If { then, otherwise, .. } if then.is_empty() && otherwise.is_empty())
            }
        };
        if *dead {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                uses[reg.index()] -= u32::from(!definition);
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
            *component = component.filter(|reg| uses[reg.index()] != 0);
        }
        dst.iter().all(Option::is_none)
    })
}
