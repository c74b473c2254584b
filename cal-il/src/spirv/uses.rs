//! What a program uses, as far as its module depends on it.

use crate::inst::Fence;
use crate::ir::visit::{any, program_has};
use crate::ir::{Block, MemoryInst, Program, Space, Stage, StmtKind};
use crate::isa::lane::Class;

/// Whether double-precision instructions occur: the module needs float controls for them.
pub(super) fn uses_double(program: &Program) -> bool {
    program_has(program, &|kind| match kind {
        StmtKind::Lane(inst) => inst.op.result() == Class::Q || inst.op.arguments().contains(&Class::Q),
        _ => false,
    })
}

/// Whether threads exchange what they read from the R700 areas.
pub(super) fn exchanges(program: &Program) -> bool {
    program_has(program, &|kind| {
        matches!(kind, StmtKind::Memory(MemoryInst::LdsReadAny { neighbor_exchange: true, .. }))
    })
}

/// Whether there are 64-bit atomics on LDS: then its blocks are pairs of words.
pub(super) fn pairs(program: &Program) -> bool {
    program_has(program, &|kind| {
        matches!(kind, StmtKind::Memory(MemoryInst::Atomic { space: Space::Lds(_), wide: Some(_), .. }))
    })
}

/// Whether the program orders global memory between threads.
pub(super) fn orders_memory(program: &Program) -> bool {
    let atomic = |kind: &StmtKind| matches!(kind, StmtKind::Memory(MemoryInst::Atomic { .. }));
    fences_memory(program) || program_has(program, &atomic)
}

/// Whether it does so by fences.
pub(super) fn fences_memory(program: &Program) -> bool {
    program_has(program, &|kind| match kind {
        StmtKind::Fence(fence) => {
            fence.intersects(Fence::MEMORY | Fence::MEMORY_READ | Fence::MEMORY_WRITE | Fence::GDS)
        }
        _ => false,
    })
}

pub(super) fn discards(block: &Block) -> bool {
    any(block, &|kind| matches!(kind, StmtKind::Discard(_)))
}

/// Whether main stands in the entry point itself, so that what its threads have in common is there before the test
/// whether they are in the domain: drivers that run threads under masks load it for all of them at once then.
/// Nothing leaves such a main but its end, which is where outputs are stored.
pub(super) fn inlines_main(program: &Program) -> bool {
    program.stage == Stage::Pixel
        && program.functions.first().is_some_and(|main| !returns(&main.body))
        && !program_has(program, &|kind| matches!(kind, StmtKind::Discard(_)))
}

pub(super) fn returns(block: &Block) -> bool {
    any(block, &|kind| matches!(kind, StmtKind::Return(_) | StmtKind::Discard(_)))
}

/// Whether the end of the statements is never reached.
pub(super) fn ends(block: &Block) -> bool {
    match block.last().map(|statement| &statement.kind) {
        Some(StmtKind::Break(None) | StmtKind::Continue(None) | StmtKind::Return(None)) => true,
        Some(StmtKind::If { then, otherwise, .. }) => ends(then) && ends(otherwise),
        _ => false,
    }
}

pub(super) fn continues(block: &Block) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::Continue(_) => true,
        StmtKind::If { then, otherwise, .. } => continues(then) || continues(otherwise),
        StmtKind::Switch { arms, .. } => arms.iter().any(|arm| continues(&arm.body)),
        _ => false,
    })
}
