//! How often a loop runs, where constants tell.

use std::collections::{HashMap, HashSet};

use crate::ir::{Block, Cond, LaneInst, LaneOp, Operand, Reg, Stmt, StmtKind, visit};
use crate::isa::lane::fold;

/// Rounds that are counted at most.
const MOST: u32 = 1 << 16;

/// Rounds that begin, the one that leaves in its middle not counted, if constants decide about every exit. `before`: what the
/// block has before the loop.
pub fn rounds(body: &Block, before: &[Stmt]) -> Option<u32> {
    let mut needed: HashSet<Reg> = HashSet::new();
    for stmt in body {
        match exit(stmt) {
            Some(Some(Cond { operand: Operand::Reg(reg), .. })) => {
                needed.insert(reg);
            }
            Some(_) => {}
            None if leaves(std::slice::from_ref(stmt), 0) => return None,
            None => {}
        }
    }
    // What exits depend on is computed by operations of the loop itself.
    let mut grows = true;
    while grows {
        grows = false;
        for stmt in body {
            let mut writes = false;
            visit::touched(std::slice::from_ref(stmt), &mut |reg, write| {
                writes |= write && needed.contains(&reg)
            });
            let mut calls = false;
            visit::calls(&vec![stmt.clone()], &mut |_| calls = true);
            if calls {
                return None;
            }
            if writes {
                let StmtKind::Lane(inst) = &stmt.kind else { return None };
                for arg in &inst.args {
                    if let Operand::Reg(reg) = arg {
                        grows |= needed.insert(*reg);
                    }
                }
            }
        }
    }
    let mut words = Words { before, known: HashMap::new() };
    for round in 0..MOST {
        for stmt in body {
            let left = match (exit(stmt), &stmt.kind) {
                (Some(None), _) => true,
                (Some(Some(cond)), _) => (words.word(cond.operand)? != 0) == cond.nonzero,
                (None, StmtKind::Lane(inst)) if inst.dst.iter().any(|reg| needed.contains(reg)) => {
                    words.compute(inst)?;
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

/// A break of the loop's own block, and on what.
fn exit(stmt: &Stmt) -> Option<Option<Cond>> {
    let breaks = |block: &Block| matches!(block[..], [Stmt { kind: StmtKind::Break(None), .. }]);
    match &stmt.kind {
        StmtKind::Break(cond) => Some(*cond),
        StmtKind::If { cond, then, otherwise } if breaks(then) && otherwise.is_empty() => Some(Some(*cond)),
        StmtKind::If { cond, then, otherwise } if then.is_empty() && breaks(otherwise) => {
            Some(Some(Cond { nonzero: !cond.nonzero, ..*cond }))
        }
        _ => None,
    }
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

struct Words<'a> {
    before: &'a [Stmt],
    known: HashMap<Reg, u32>,
}

impl Words<'_> {
    fn compute(&mut self, inst: &LaneInst) -> Option<()> {
        let args: Vec<u32> = inst.args.iter().map(|arg| self.word(*arg)).collect::<Option<_>>()?;
        let (low, high) = fold(inst.op, &args);
        self.known.insert(inst.dst[0], low);
        high.map(|high| self.known.insert(inst.dst[1], high));
        Some(())
    }

    fn word(&mut self, operand: Operand) -> Option<u32> {
        let reg = match operand {
            Operand::Imm(word) => return Some(word),
            Operand::Reg(reg) => reg,
            _ => return None,
        };
        if let Some(word) = self.known.get(&reg) {
            return Some(*word);
        }
        // The last write before the loop.
        let write = |stmt: &&Stmt| {
            let mut found = false;
            visit::touched(std::slice::from_ref(*stmt), &mut |touched, write| {
                found |= write && touched == reg
            });
            found
        };
        match &self.before.iter().rev().find(write)?.kind {
            StmtKind::Lane(LaneInst { op: LaneOp::Mov | LaneOp::MovF, args, .. }) => match args[..] {
                [Operand::Imm(word)] => Some(word),
                _ => None,
            },
            _ => None,
        }
    }
}
