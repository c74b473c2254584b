//! Loops whose rounds follow from constants, written out.
//!
//! Compilers of devices see through counters that step towards a bound; a reduction halves. Where the rounds stand one after the
//! other, what counts is constant in each.

use std::collections::HashMap;

use super::{Block, Cond, Counter, LaneInst, LaneOp, MemoryInst, Operand, Reg, StmtKind, Sum};
use super::{counting, exit, writes};
use crate::isa::lane::fold;

/// Most rounds.
const ROUNDS: usize = 16;
/// What all rounds together may cost, in operations.
const LIMIT: u32 = 256;

/// Whether a loop has exits, and nothing in it that may not be repeated or is too long for two rounds.
pub(super) fn may_be(body: &Block, cost: &dyn Fn(&MemoryInst) -> u32) -> bool {
    operations(body, cost).is_some_and(|operations| operations <= LIMIT / 2)
}

/// What a round costs, in operations; `None` if the loop cannot be written out.
fn operations(body: &Block, cost: &dyn Fn(&MemoryInst) -> u32) -> Option<u32> {
    let mut sum = Sum { cost, loads_only: false, operations: 0, loads: 0 };
    let mut exits = 0;
    for stmt in body {
        match exit(stmt) {
            Some(_) => exits += 1,
            None if sum.add(stmt) => {}
            None => return None,
        }
    }
    (exits > 0).then_some(sum.operations)
}

/// All rounds of a loop, one after the other, if they are few and nothing but constants decides how many.
/// `before`: what the block has before the loop.
pub(super) fn written_out(body: &Block, before: &Block, cost: &dyn Fn(&MemoryInst) -> u32) -> Option<Block> {
    let operations = operations(body, cost).filter(|operations| *operations <= LIMIT / 2)?;
    let counting = counting(body)?;
    if Counter::of(body, &counting).is_some_and(|counter| counter.is_known(before)) {
        return None;
    }
    let mut counts = Constants { before, words: HashMap::new() };
    let mut block = Block::new();
    for _ in 0..ROUNDS.min((LIMIT / operations.max(1)) as usize) {
        for (at, stmt) in body.iter().enumerate() {
            if let Some(cond) = exit(stmt) {
                if counts.holds(cond)? {
                    return Some(block);
                }
                continue;
            }
            if let (true, StmtKind::Lane(inst)) = (counting[at], &stmt.kind) {
                counts.compute(inst)?;
            }
            block.push(stmt.clone());
        }
    }
    None
}

/// Registers with known words.
struct Constants<'a> {
    before: &'a Block,
    words: HashMap<Reg, u32>,
}

impl Constants<'_> {
    fn holds(&mut self, cond: Cond) -> Option<bool> {
        Some((self.word(cond.operand)? != 0) == cond.nonzero)
    }

    fn compute(&mut self, inst: &LaneInst) -> Option<()> {
        let args: Vec<u32> = inst.args.iter().map(|arg| self.word(*arg)).collect::<Option<_>>()?;
        let (low, high) = fold(inst.op, &args);
        self.words.insert(inst.dst[0], low);
        if let Some(high) = high {
            self.words.insert(inst.dst[1], high);
        }
        Some(())
    }

    fn word(&mut self, operand: Operand) -> Option<u32> {
        let reg = match operand {
            Operand::Imm(word) => return Some(word),
            Operand::Reg(reg) => reg,
            _ => return None,
        };
        if let Some(word) = self.words.get(&reg) {
            return Some(*word);
        }
        let start = self.before.iter().rev().find(|stmt| writes(stmt, &|written| written == reg))?;
        match &start.kind {
            StmtKind::Lane(LaneInst { op: LaneOp::Mov, args, .. }) => match args[..] {
                [Operand::Imm(word)] => Some(word),
                _ => None,
            },
            _ => None,
        }
    }
}
