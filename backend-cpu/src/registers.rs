//! Which registers a wave must find as zero, and which hold temporaries.
//!
//! All registers start as zero, but clearing a few hundred rows for each wave costs more than small kernels take. A
//! register whose first mention is a write outside all constructs of main needs no clearing: every thread that can
//! read it has written it. One that is never written is a constant.

use std::ops::Range;

use recal_il::bits::BitSet;

use crate::op::{Code, Op, RowId};

/// Ranges of rows, out of the first `registers` and the arrays, that must be cleared; and rows that are 0 for ever.
pub fn zeroed(
    code: &Code,
    registers: u32,
    arrays: impl Iterator<Item = Range<RowId>>,
) -> (Vec<Range<RowId>>, Vec<RowId>) {
    let count = registers as usize;
    let mut scan = Scan { state: vec![State::Unseen; count], written: vec![false; count] };
    let mut depth = 0usize;
    let mut returns = false;
    for op in &code.ops {
        match op {
            Op::Lanes { .. } | Op::Memory(_) => {
                code.each_row(
                    op,
                    |row, written| {
                        if written { scan.write(row, depth) } else { scan.read(row) }
                    },
                );
            }
            Op::If { .. } | Op::Loop => {
                op.each_read(|row| scan.read(row));
                depth += 1;
            }
            Op::EndIf { .. } | Op::EndLoop { .. } => depth -= 1,
            Op::Break { .. } | Op::Discard { .. } => op.each_read(|row| scan.read(row)),
            Op::Return { .. } => {
                op.each_read(|row| scan.read(row));
                returns = true;
            }
            Op::Call { .. } => {
                // What the callee finds is not known here, so nothing that main has not written yet is safe.
                scan.barrier();
            }
            // Main is first; the bodies that follow are reached by calls.
            Op::End => depth += 1,
            Op::Else { .. } | Op::EndFunction | Op::Fence(_) | Op::Native(_) => {}
        }
    }
    for (_, rows) in &code.outputs {
        // A thread that returned early shows its outputs too.
        rows.iter().for_each(|&row| if returns { scan.need(row) } else { scan.read(row) });
    }
    let mut list: Vec<Range<RowId>> = Vec::new();
    let needed = |row: &RowId| scan.state[*row as usize] == State::Needed && !code.temporaries.contains(*row);
    let (changing, constant): (Vec<RowId>, Vec<RowId>) =
        (0..registers).filter(needed).partition(|row| scan.written[*row as usize]);
    for row in changing {
        match list.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => list.push(row..row + 1),
        }
    }
    list.extend(arrays.filter(|range| !range.is_empty()));
    (list, constant)
}

/// Registers that hold nothing but temporaries: every run of operations that mentions one writes it first. Lanes may leave a run, by a break or a
/// return, but none may join it, so whoever reads a temporary has written it.
pub fn temporaries(code: &Code) -> BitSet {
    let goes_on = |op: &Op| {
        matches!(
            op,
            Op::Lanes { .. } | Op::Memory(_) | Op::Break { .. } | Op::Return { .. } | Op::Discard { .. }
        )
    };
    // The last run that mentions each register, and those that a run reads first.
    let mut last = vec![None; code.registers as usize];
    let (mut shared, mut run) = (BitSet::new(), 0);
    for op in &code.ops {
        code.each_row(op, |row, written| {
            if let Some(last) = last.get_mut(row as usize).filter(|last| **last != Some(run)) {
                *last = Some(run);
                if !written {
                    shared.insert(row);
                }
            }
        });
        run += u32::from(!goes_on(op));
    }
    shared.extend(code.outputs.iter().flat_map(|(_, rows)| *rows));
    let mut temporaries = BitSet::new();
    let mentioned = (0..code.registers).filter(|row| last[*row as usize].is_some());
    temporaries.extend(mentioned.filter(|row| !shared.contains(*row)));
    temporaries
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unseen,
    Written,
    Needed,
}

struct Scan {
    state: Vec<State>,
    /// Something writes the row.
    written: Vec<bool>,
}

impl Scan {
    fn read(&mut self, row: RowId) {
        if let Some(state) = self.state.get_mut(row as usize) {
            if *state == State::Unseen {
                *state = State::Needed;
            }
        }
    }

    fn write(&mut self, row: RowId, depth: usize) {
        self.written.get_mut(row as usize).into_iter().for_each(|written| *written = true);
        if let Some(state) = self.state.get_mut(row as usize) {
            if *state == State::Unseen {
                *state = if depth == 0 { State::Written } else { State::Needed };
            }
        }
    }

    fn need(&mut self, row: RowId) {
        if let Some(state) = self.state.get_mut(row as usize) {
            *state = State::Needed;
        }
    }

    fn barrier(&mut self) {
        for state in self.state.iter_mut().filter(|state| **state == State::Unseen) {
            *state = State::Needed;
        }
    }
}
