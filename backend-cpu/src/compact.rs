//! Lets temporaries share rows, so that the rows a wave works on stay in the first-level cache.
//!
//! Where a register is written first in every run of operations that mentions it, it is a temporary in each of them: after
//! the last use its row serves the next one. Lanes may leave a run, by a break or a return, but none may join it:
//! whoever reads a temporary has written it.

use crate::op::{Code, Op, RowId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Mentions of a register.
struct Mentions {
    /// The last run that mentions it.
    run: usize,
    /// The last position of each run that mentions it.
    last: Vec<usize>,
    /// All of these runs write it first.
    local: bool,
}

/// True if lanes leave here and none join.
pub fn leaves(op: &Op) -> bool {
    matches!(op, Op::Break { .. } | Op::Return { .. } | Op::Discard { .. })
}

/// Renumbers the temporaries among the first `code.registers` rows; returns the rows that hold nothing else.
pub fn compact(code: &mut Code) -> FxHashSet<RowId> {
    let mut mentions: FxHashMap<RowId, Mentions> = FxHashMap::default();
    let mut run = 0;
    let mut position = 0;
    let mut mention = |row: RowId, run: usize, position: usize, written: bool| {
        let seen = mentions.entry(row).or_insert(Mentions { run, last: Vec::new(), local: true });
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
    mentions.retain(|row, seen| seen.local && *row < code.registers);
    rename(code, &mentions);
    mentions.into_keys().collect()
}

/// Rows of temporaries, handed out again after the last use.
struct Pool<'a> {
    mentions: &'a FxHashMap<RowId, Mentions>,
    free: Vec<RowId>,
    taken: FxHashMap<RowId, RowId>,
}

impl Pool<'_> {
    /// The row of a register at its next mention.
    fn row(&mut self, register: RowId) -> RowId {
        if !self.mentions.contains_key(&register) {
            return register;
        }
        // There are as many rows as temporaries, so one is free.
        *self.taken.entry(register).or_insert_with(|| self.free.pop().unwrap_or(register))
    }

    /// Frees the rows of those registers that their run does not mention after `position`.
    fn end(&mut self, registers: &[RowId], position: usize) {
        for register in registers {
            if self.mentions.get(register).is_some_and(|seen| seen.last.binary_search(&position).is_ok()) {
                self.free.extend(self.taken.remove(register));
            }
        }
    }
}

fn rename(code: &mut Code, mentions: &FxHashMap<RowId, Mentions>) {
    let mut free: Vec<RowId> = mentions.keys().copied().collect();
    // The lowest numbers are handed out first, and most recently freed ones again.
    free.sort_unstable_by_key(|&row| std::cmp::Reverse(row));
    let mut pool = Pool { mentions, free, taken: FxHashMap::default() };
    let mut position = 0;
    for index in 0..code.ops.len() {
        match code.ops[index] {
            Op::Lanes { first, end } => {
                for step in first as usize..end as usize {
                    let (writes, reads) = code.ids(step);
                    let (writes, reads) = (writes.to_vec(), reads.to_vec());
                    let mut ids: Vec<RowId> = reads.iter().map(|&row| pool.row(row)).collect();
                    // A step reads all its rows before it writes.
                    pool.end(
                        &reads.iter().copied().filter(|row| !writes.contains(row)).collect::<Vec<_>>(),
                        position,
                    );
                    let mut all: Vec<RowId> = writes.iter().map(|&row| pool.row(row)).collect();
                    pool.end(&writes, position);
                    all.append(&mut ids);
                    let first = code.steps[step].first as usize;
                    code.operands[first..first + all.len()].copy_from_slice(&all);
                    position += 1;
                }
            }
            Op::Memory(access) => {
                let op = &mut code.memory[access as usize].op;
                let mut mentioned = Vec::new();
                op.each_row(|row, _| mentioned.push(row));
                op.rename(|row| pool.row(row));
                pool.end(&mentioned, position);
                position += 1;
            }
            _ => {
                if let Some(row) = code.ops[index].read_mut() {
                    let register = *row;
                    *row = pool.row(register);
                    pool.end(&[register], position);
                }
                position += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
