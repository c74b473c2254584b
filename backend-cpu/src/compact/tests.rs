//! Whoever reads a row reads what was written for it.

use recal_il::ir::Fence;
use recal_il::ir::lines::Known;
use recal_il::isa::LaneOp;

use super::*;
use crate::isa_choice::{InstructionSet, chosen};
use crate::op::{Access, MemoryOp, NONE, Place, Step};
use rustc_hash::FxHashMap;

const REGISTERS: u32 = 9;

/// Runs of loads and sums, in which each register is written before it is read; the same for the same seed.
fn code(seed: u32) -> Code {
    let mut state = seed;
    let mut below = |end: usize| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as usize % end
    };
    let isa = chosen(InstructionSet::Baseline);
    let mut code = Code { registers: REGISTERS, ..Code::default() };
    for _ in 0..6 {
        let mut written: Vec<RowId> = Vec::new();
        for _ in 0..2 + below(14) {
            let to = below(REGISTERS as usize) as RowId;
            if written.is_empty() || below(3) == 0 {
                let index = if written.is_empty() { REGISTERS } else { written[below(written.len())] };
                let op = MemoryOp::ElementLoad {
                    place: Place::Global,
                    index,
                    offset: 0,
                    dst: [to, NONE, NONE, NONE],
                };
                code.ops.push(Op::Memory(code.memory.len() as u32));
                code.memory.push(Access { op, flush: 0, lanes: Known::default() });
            } else {
                let (a, b) = (written[below(written.len())], written[below(written.len())]);
                let (step, first) = (code.steps.len() as u32, code.operands.len() as u32);
                code.operands.extend([to, a, b]);
                let handler = isa.lane(LaneOp::Iadd);
                code.steps.push(Step {
                    op: LaneOp::Iadd,
                    handler,
                    first,
                    count: 3,
                    writes: 1,
                    same: 0,
                    down: 0,
                    fused: false,
                });
                code.ops.push(Op::Lanes { first: step, end: step + 1 });
            }
            written.push(to);
        }
        code.ops.push(Op::Fence(Fence::LDS));
    }
    code
}

/// For each row that is read, in order, which write it sees; and how many rows there are.
fn reads(code: &Code) -> (Vec<usize>, usize) {
    let (mut writes, mut seen) = (FxHashMap::default(), Vec::new());
    let mut count = 0;
    let mut visit = |row: RowId, written: bool| {
        if written {
            count += 1;
            writes.insert(row, count);
        } else {
            seen.push(writes.get(&row).copied().unwrap_or(0));
        }
    };
    for op in &code.ops {
        match op {
            Op::Lanes { first, end } => {
                for step in *first as usize..*end as usize {
                    let (writes, reads) = code.ids(step);
                    reads.iter().for_each(|&row| visit(row, false));
                    writes.iter().for_each(|&row| visit(row, true));
                }
            }
            Op::Memory(index) => {
                let access = &code.memory[*index as usize].op;
                for which in [false, true] {
                    access.each_row(|row, written| {
                        if written == which {
                            visit(row, written);
                        }
                    });
                }
            }
            _ => {}
        }
    }
    (seen, writes.len())
}

#[test]
fn rows_are_somebody_elses_only_after_the_last_use() {
    let mut fewer = 0;
    for seed in 1..3000 {
        let (plain, mut packed) = (code(seed), code(seed));
        compact(&mut packed);
        let ((before, rows), (after, fewer_rows)) = (reads(&plain), reads(&packed));
        assert_eq!(before, after, "the code {seed}");
        fewer += usize::from(fewer_rows < rows);
    }
    assert!(fewer > 1000, "rows are shared in {fewer} only");
}
