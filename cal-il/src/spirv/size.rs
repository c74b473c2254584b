//! How many threads a group has.

use super::{Target, Unsupported};
use crate::ir::visit::{any, program_has};
use crate::ir::{GroupSize, MemoryInst, Program, Stage, StmtKind};

/// Threads per group of pixel kernels. Those without loops end so soon that starting groups is what takes the time;
/// groups of the others, which need many registers, fill a multiprocessor better if they are smaller. Where loops read resources,
/// threads in a long line touch fewer rows at a time.
fn tile(program: &Program, target: &Target) -> [u32; 3] {
    let is_loop = |kind: &StmtKind| matches!(kind, StmtKind::Loop { .. });
    let reads = |kind: &StmtKind| {
        let inst = kind.memory();
        matches!(inst, Some(MemoryInst::Sample { .. } | MemoryInst::Gather { .. } | MemoryInst::Fetch { .. }))
    };
    let loads = |kind: &StmtKind| matches!(kind, StmtKind::Loop { body } if any(body, &reads));
    match target.large_tiles {
        false => [8, 8, 1],
        true if program_has(program, &loads) => [32, 2, 1],
        true if target.max_group < 256 || program_has(program, &is_loop) => [16, 8, 1],
        true => [16, 16, 1],
    }
}

pub(super) fn group(program: &Program, target: &Target) -> Result<Option<[u32; 3]>, Unsupported> {
    let group = match (program.stage, program.interface.group) {
        (Stage::Pixel, _) => Some(tile(program, target)),
        (Stage::Compute, Some(GroupSize::Exact(size))) => Some(size),
        (Stage::Compute, _) => None,
    };
    if let Some(size) = group {
        check_group(size, target)?;
    }
    Ok(group)
}

/// Whether a target can run groups of this size.
pub fn check_group(size: [u32; 3], target: &Target) -> Result<(), Unsupported> {
    let flat = size.iter().map(|n| u64::from(*n)).product::<u64>();
    let fits =
        flat <= u64::from(target.max_group) && size.iter().zip(target.max_group_size).all(|(n, m)| *n <= m);
    if fits {
        return Ok(());
    }
    let ([x, y, z], [a, b, c]) = (size, target.max_group_size);
    Err(Unsupported(format!(
        "groups of {x} x {y} x {z} threads; the device runs at most {} ({a} x {b} x {c})",
        target.max_group
    )))
}

/// Most threads that a group may have.
pub(super) fn most_threads(program: &Program, group: Option<[u32; 3]>, target: &Target) -> u32 {
    match (group, program.interface.group) {
        (Some(size), _) => size.iter().fold(1, |all: u32, n| all.saturating_mul(*n)),
        (None, Some(GroupSize::AtMost(n))) => n,
        (None, _) => target.max_group,
    }
}
