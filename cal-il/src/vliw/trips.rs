//! How often a loop runs, where constants tell.

use crate::ir::unroll::{Constants, counting, exit};
use crate::ir::{Block, Stmt, StmtKind, visit};

/// Rounds that are counted at most.
const MOST: u32 = 1 << 16;

/// Rounds that begin, the one that leaves in its middle not counted, if constants decide about every exit. `before`: what the
/// block has before the loop.
pub fn rounds(body: &Block, before: &[Stmt]) -> Option<u32> {
    let breaks = |stmt: &Stmt| exit(stmt).is_some() || matches!(stmt.kind, StmtKind::Break(None));
    if body.iter().any(|stmt| !breaks(stmt) && leaves(std::slice::from_ref(stmt), 0)) {
        return None;
    }
    let counting = counting(body)?;
    let mut counts = Constants::after(before);
    for round in 0..MOST {
        for (stmt, counting) in body.iter().zip(&counting) {
            let left = match (exit(stmt), &stmt.kind) {
                (_, StmtKind::Break(None)) => true,
                (Some(cond), _) => counts.holds(cond)?,
                (None, StmtKind::Lane(inst)) if *counting => {
                    counts.compute(inst)?;
                    false
                }
                _ => false,
            };
            if left {
                return Some(round);
            }
        }
    }
    None
}

/// Whether something in the blocks may end a round of the loop around them. `depth`: loops and switches in between.
fn leaves(block: &[Stmt], depth: u32) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break(_) => depth == 0,
        StmtKind::Continue(_) | StmtKind::Return(_) => true,
        StmtKind::If { then, otherwise, .. } => leaves(then, depth) || leaves(otherwise, depth),
        StmtKind::Loop { body } => leaves_loop(body),
        StmtKind::Switch { arms, .. } => arms.iter().any(|arm| leaves(&arm.body, depth + 1)),
        _ => false,
    })
}

/// What leaves an inner loop stays in ours, unless it returns.
fn leaves_loop(body: &[Stmt]) -> bool {
    visit::any(body, &|kind| matches!(kind, StmtKind::Return(_)))
}
