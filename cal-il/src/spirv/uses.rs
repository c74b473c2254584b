//! What a program uses, as far as its module depends on it.

use std::cell::RefCell;

use crate::bits::BitSet;
use crate::inst::Fence;
use crate::ir::visit::{any, program_has};
use crate::ir::{Block, LaneInst, LaneOp, MemoryInst, Operand, Program, Reg, Space, Stage, StmtKind, Width};
use crate::isa::lane::Class;

/// Whether double-precision instructions occur: the module needs float controls for them.
pub(super) fn uses_double(program: &Program) -> bool {
    program_has(program, &|kind| match kind {
        StmtKind::Lane(inst) => inst.op.result() == Class::Q || inst.op.arguments().contains(&Class::Q),
        _ => false,
    })
}

/// Whether there are 64-bit atomics on LDS: then its blocks are pairs of words.
pub(super) fn pairs(program: &Program) -> bool {
    program_has(program, &|kind| {
        matches!(kind.memory(), Some(MemoryInst::Atomic { space: Space::Lds(_), wide: Some(_), .. }))
    })
}

/// Whether the program orders global memory between threads.
pub(super) fn orders_memory(program: &Program) -> bool {
    let atomic = |kind: &StmtKind| matches!(kind.memory(), Some(MemoryInst::Atomic { .. }));
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

/// Whether float operations read words of group memory, and plain stores are all that writes there: then it is cheaper to hide from
/// drivers what is stored than what is loaded. `floats`: registers that float operations read.
pub(super) fn floats_in_group_memory(program: &Program, floats: &BitSet<Reg>) -> bool {
    let plain = |kind: &StmtKind| match kind.memory() {
        Some(MemoryInst::RawStore { space: Space::Lds(_), width, .. }) => *width == Width::Dwords,
        Some(MemoryInst::Atomic { space: Space::Lds(_), .. }) => false,
        _ => true,
    };
    if program_has(program, &|kind| !plain(kind)) {
        return false;
    }
    // Loaded words are flushed, or moved, into others.
    let moved = RefCell::new(BitSet::default());
    program_has(program, &|kind| {
        if let StmtKind::Lane(LaneInst { op: LaneOp::Flush | LaneOp::Mov, dst, args }) = kind
            && let (true, Operand::Reg(from)) = (floats.contains(dst[0]), args[0])
        {
            moved.borrow_mut().insert(from);
        }
        false
    });
    let moved = moved.into_inner();
    let read = |register: &Reg| floats.contains(*register) || moved.contains(*register);
    program_has(program, &|kind| match kind.memory() {
        Some(MemoryInst::RawLoad { space: Space::Lds(_), width: Width::Dwords, dst, .. }) => {
            dst.iter().flatten().any(read)
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
