//! Lets temporaries share rows, so that the rows a wave works on stay in the first-level cache.
//!
//! Where a register is written first in every run of operations that mentions it, it is a temporary in each of them: after
//! the last use its row serves the next one. Lanes may leave a run, by a break or a return, but none may join it:
//! whoever reads a temporary has written it.

use recal_il::bits::BitSet;

use crate::op::{Code, NONE, Op, RowId};

/// True if lanes leave here and none join.
pub fn leaves(op: &Op) -> bool {
    matches!(op, Op::Break { .. } | Op::Return { .. } | Op::Discard { .. })
}

/// The run goes on behind this.
fn continues(op: &Op) -> bool {
    matches!(op, Op::Lanes { .. } | Op::Memory(_)) || leaves(op)
}

/// What an operation mentions: what it reads, then what it writes. Each lane operation and each other one has a position of its own.
fn mentions(code: &Code, op: &Op, position: &mut u32, mut visit: impl FnMut(RowId, u32, bool)) {
    match op {
        Op::Lanes { first, end } => {
            for step in *first as usize..*end as usize {
                let (writes, reads) = code.ids(step);
                reads.iter().for_each(|&row| visit(row, *position, false));
                writes.iter().for_each(|&row| visit(row, *position, true));
                *position += 1;
            }
            return;
        }
        Op::Memory(index) => {
            let access = &code.memory[*index as usize].op;
            access.each_row(|row, written| {
                if !written {
                    visit(row, *position, false)
                }
            });
            access.each_row(|row, written| {
                if written {
                    visit(row, *position, true)
                }
            });
        }
        op => op.each_read(|row| visit(row, *position, false)),
    }
    *position += 1;
}

/// Renumbers the temporaries among the first `code.registers` rows; returns the rows that hold nothing else.
pub fn compact(code: &mut Code) -> BitSet {
    // Of registers, other rows are no temporaries: the last run that mentions each, and those that a run reads first.
    let mut last = vec![NONE; code.registers as usize];
    let (mut shared, mut run, mut position) = (BitSet::new(), 0, 0);
    for op in &code.ops {
        mentions(code, op, &mut position, |row, _, written| {
            if let Some(last) = last.get_mut(row as usize).filter(|last| **last != run) {
                *last = run;
                if !written {
                    shared.insert(row);
                }
            }
        });
        run += u32::from(!continues(op));
    }
    shared.extend(code.outputs.iter().flat_map(|(_, rows)| *rows).filter(|row| *row < code.registers));
    let is_temporary = |row: &RowId| last[*row as usize] != NONE && !shared.contains(*row);
    let mut temporaries = BitSet::new();
    temporaries.extend((0..code.registers).filter(is_temporary));
    rename(code, &temporaries);
    temporaries
}

/// Rows of temporaries, handed out again after the last use.
struct Pool<'a> {
    temporaries: &'a BitSet,
    free: Vec<RowId>,
    /// By register; [`NONE`]: it has none.
    taken: Vec<RowId>,
    /// The last position of the run that mentions it, by register.
    last: Vec<u32>,
}

impl Pool<'_> {
    /// The row of a register at its next mention.
    fn row(&mut self, register: RowId) -> RowId {
        if !self.temporaries.contains(register) {
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
    fn end(&mut self, register: RowId, position: u32) {
        if self.temporaries.contains(register) && self.last[register as usize] == position {
            let row = std::mem::replace(&mut self.taken[register as usize], NONE);
            self.free.extend(Some(row).filter(|row| *row != NONE));
        }
    }
}

fn rename(code: &mut Code, temporaries: &BitSet) {
    // The lowest numbers are handed out first, and most recently freed ones again.
    let mut free: Vec<RowId> = temporaries.iter().collect();
    free.reverse();
    let count = code.registers as usize;
    let mut pool = Pool { temporaries, free, taken: vec![NONE; count], last: vec![NONE; count] };
    let (mut position, mut seen, mut mentioned) = (0, 0, Vec::new());
    for index in 0..code.ops.len() {
        if index == 0 || !continues(&code.ops[index - 1]) {
            // A run begins: where are its last mentions?
            for op in &code.ops[index..] {
                mentions(code, op, &mut seen, |row, position, _| {
                    pool.last.get_mut(row as usize).into_iter().for_each(|last| *last = position);
                });
                if !continues(op) {
                    break;
                }
            }
        }
        match code.ops[index] {
            Op::Lanes { first, end } => {
                for step in &code.steps[first as usize..end as usize] {
                    let rows = &mut code.operands[step.first as usize..][..usize::from(step.count)];
                    mentioned.clear();
                    mentioned.extend_from_slice(rows);
                    let (to, from) = rows.split_at_mut(step.writes.into());
                    let (writes, reads) = mentioned.split_at(step.writes.into());
                    from.iter_mut().for_each(|row| *row = pool.row(*row));
                    // A step reads all its rows before it writes.
                    reads.iter().filter(|row| !writes.contains(row)).for_each(|&row| pool.end(row, position));
                    to.iter_mut().for_each(|row| *row = pool.row(*row));
                    writes.iter().for_each(|&row| pool.end(row, position));
                    position += 1;
                }
            }
            Op::Memory(access) => {
                let op = &mut code.memory[access as usize].op;
                mentioned.clear();
                op.each_row(|row, _| mentioned.push(row));
                op.rename(|row| pool.row(row));
                mentioned.iter().for_each(|&row| pool.end(row, position));
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
