//! Words that registers hold in each round of a loop, where constants tell.

use rustc_hash::FxHashMap;

use super::writes;
use crate::ir::{Cond, LaneInst, LaneOp, Operand, Reg, Stmt, StmtKind};
use crate::isa::lane::fold;

/// Registers with known words.
pub struct Constants<'a> {
    before: &'a [Stmt],
    words: FxHashMap<Reg, u32>,
}

impl Constants<'_> {
    /// What statements before the loop leave in registers.
    pub fn after(before: &[Stmt]) -> Constants<'_> {
        Constants { before, words: FxHashMap::default() }
    }

    /// The words that were computed, by register.
    pub fn computed(self) -> Vec<(Reg, u32)> {
        let mut all: Vec<(Reg, u32)> = self.words.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// Whether a condition holds, if that is known.
    pub fn holds(&mut self, cond: Cond) -> Option<bool> {
        Some((self.word(cond.operand)? != 0) == cond.nonzero)
    }

    /// Computes an operation of known words; `None` if one is not known.
    pub fn compute(&mut self, inst: &LaneInst) -> Option<()> {
        let args: Vec<u32> = inst.args.iter().map(|arg| self.word(*arg)).collect::<Option<_>>()?;
        let (low, high) = fold(inst.op, &args);
        self.words.insert(inst.dst[0], low);
        if let Some(high) = high {
            self.words.insert(inst.dst[1], high);
        }
        Some(())
    }

    /// The word of an operand, if it is known.
    pub fn word(&mut self, operand: Operand) -> Option<u32> {
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
            StmtKind::Lane(LaneInst { op: LaneOp::Mov | LaneOp::MovF, args, .. }) => match args[..] {
                [Operand::Imm(word)] => Some(word),
                _ => None,
            },
            _ => None,
        }
    }
}
