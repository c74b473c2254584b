//! Lets temporaries share rows, so that the rows a wave works on stay in the first-level cache.
//!
//! Where a register is written first in every run of operations that mentions it, it is a temporary in each of them: after
//! the last use its row serves the next one. Lanes may leave a run, by a break or a return, but none may join it:
//! whoever reads a temporary has written it.

use crate::op::{Code, NONE, Op, RowId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Rows of a step.
type Rows = SmallVec<[RowId; 8]>;

/// Mentions of a register.
struct Mentions {
    /// The last run that mentions it.
    run: usize,
    /// The last position of each run that mentions it.
    last: SmallVec<[usize; 2]>,
    /// All of these runs write it first.
    local: bool,
}

/// True if lanes leave here and none join.
pub fn leaves(op: &Op) -> bool {
    matches!(op, Op::Break { .. } | Op::Return { .. } | Op::Discard { .. })
}

/// Renumbers the temporaries among the first `code.registers` rows; returns the rows that hold nothing else.
pub fn compact(code: &mut Code) -> FxHashSet<RowId> {
    // Of registers; other rows are no temporaries.
    let mut mentions: Vec<Option<Mentions>> = Vec::new();
    mentions.resize_with(code.registers as usize, || None);
    let mut run = 0;
    let mut position = 0;
    let mut mention = |row: RowId, run: usize, position: usize, written: bool| {
        let Some(seen) = mentions.get_mut(row as usize) else { return };
        let seen = seen.get_or_insert_with(|| Mentions { run, last: SmallVec::new(), local: true });
        match seen.last.last_mut() {
            Some(last) if seen.run == run => *last = position,
            _ => {
                (seen.run, seen.local) = (run, seen.local && written);
                seen.last.push(position);
            }
        }
    };
    for op in &code.ops {
        match op {
            Op::Lanes { first, end } => {
                for step in *first as usize..*end as usize {
                    let (writes, reads) = code.ids(step);
                    reads.iter().for_each(|&row| mention(row, run, position, false));
                    writes.iter().for_each(|&row| mention(row, run, position, true));
                    position += 1;
                }
            }
            Op::Memory(index) => {
                let access = &code.memory[*index as usize].op;
                access.each_row(|row, written| {
                    if !written {
                        mention(row, run, position, false)
                    }
                });
                access.each_row(|row, written| {
                    if written {
                        mention(row, run, position, true)
                    }
                });
                position += 1;
            }
            op => {
                op.each_read(|row| mention(row, run, position, false));
                position += 1;
                if !leaves(op) {
                    run += 1;
                }
            }
        }
    }
    for (_, rows) in &code.outputs {
        rows.iter().for_each(|&row| mention(row, usize::MAX, position, false));
    }
    mentions.iter_mut().for_each(|seen| *seen = seen.take().filter(|seen| seen.local));
    rename(code, &mentions);
    (0..).zip(&mentions).filter(|(_, seen)| seen.is_some()).map(|(row, _)| row).collect()
}

/// Rows of temporaries, handed out again after the last use.
struct Pool<'a> {
    mentions: &'a [Option<Mentions>],
    free: Vec<RowId>,
    /// By register; [`NONE`]: it has none.
    taken: Vec<RowId>,
}

impl Pool<'_> {
    /// The row of a register at its next mention.
    fn row(&mut self, register: RowId) -> RowId {
        if self.mentions.get(register as usize).is_none_or(Option::is_none) {
            return register;
        }
        let taken = &mut self.taken[register as usize];
        if *taken == NONE {
            // There are as many rows as temporaries, so one is free.
            *taken = self.free.pop().unwrap_or(register);
        }
        *taken
    }

    /// Frees the row of a register that its run does not mention after `position`.
    fn end(&mut self, register: RowId, position: usize) {
        let seen = self.mentions.get(register as usize).and_then(Option::as_ref);
        if seen.is_some_and(|seen| seen.last.binary_search(&position).is_ok()) {
            let row = std::mem::replace(&mut self.taken[register as usize], NONE);
            self.free.extend(Some(row).filter(|row| *row != NONE));
        }
    }
}

fn rename(code: &mut Code, mentions: &[Option<Mentions>]) {
    // The lowest numbers are handed out first, and most recently freed ones again.
    let free = (0..).zip(mentions).filter(|(_, seen)| seen.is_some()).map(|(row, _)| row);
    let mut free: Vec<RowId> = free.collect();
    free.reverse();
    let mut pool = Pool { mentions, free, taken: vec![NONE; mentions.len()] };
    let mut position = 0;
    for index in 0..code.ops.len() {
        match code.ops[index] {
            Op::Lanes { first, end } => {
                for step in first as usize..end as usize {
                    let (writes, reads) = code.ids(step);
                    let (writes, reads): (Rows, Rows) = (writes.into(), reads.into());
                    let from: Rows = reads.iter().map(|&row| pool.row(row)).collect();
                    // A step reads all its rows before it writes.
                    reads.iter().filter(|row| !writes.contains(row)).for_each(|&row| pool.end(row, position));
                    let to: Rows = writes.iter().map(|&row| pool.row(row)).collect();
                    writes.iter().for_each(|&row| pool.end(row, position));
                    let operands = &mut code.operands[code.steps[step].first as usize..];
                    operands[..to.len()].copy_from_slice(&to);
                    operands[to.len()..][..from.len()].copy_from_slice(&from);
                    position += 1;
                }
            }
            Op::Memory(access) => {
                let op = &mut code.memory[access as usize].op;
                let mut mentioned = Rows::new();
                op.each_row(|row, _| mentioned.push(row));
                op.rename(|row| pool.row(row));
                mentioned.into_iter().for_each(|row| pool.end(row, position));
                position += 1;
            }
            _ => {
                if let Some(row) = code.ops[index].read_mut() {
                    let register = *row;
                    *row = pool.row(register);
                    pool.end(register, position);
                }
                position += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
