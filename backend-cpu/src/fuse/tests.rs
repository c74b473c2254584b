//! Fused operations compute what the steps did that they were made of.

use recal_il::ir::lines::Known;
use recal_il::ir::{Area, Effect};

use super::*;
use crate::isa_choice::{InstructionSet, available};
use crate::op::{Access, MemoryOp, NONE, Place};
use crate::wave::Row;

/// What does not compile, so that steps are fused.
fn interpreter() -> &'static Isa {
    available().into_iter().find(|isa| isa.set == InstructionSet::Baseline).expect("it is everywhere")
}

/// Adds a step that writes `ids[0]`.
fn step(code: &mut Code, isa: &Isa, op: LaneOp, ids: &[RowId]) {
    let (first, count) = (code.operands.len() as u32, ids.len() as u16);
    code.operands.extend(ids);
    code.steps.push(Step {
        op,
        handler: isa.lane(op),
        first,
        count,
        writes: 1,
        same: 0,
        down: 0,
        fused: false,
    });
}

fn run(code: &Code, rows: &mut [Row]) {
    for step in &code.steps {
        step.handler.call(rows, &code.operands[step.first as usize..][..usize::from(step.count)]);
    }
}

/// Numbers that are the same each time.
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % end
    }

    /// Four rows of the first `end`, all different.
    fn four(&mut self, end: u32) -> [RowId; 4] {
        let mut rows: Vec<RowId> = (0..end).collect();
        std::array::from_fn(|_| rows.swap_remove(self.below(rows.len() as u32) as usize))
    }
}

#[test]
fn chains_leave_what_their_steps_leave() {
    // Sums are mostly of the first rows, factors of the others.
    const SUMS: u32 = 8;
    const ROWS: u32 = 14;
    let factor = |numbers: &mut Numbers| match numbers.below(24) {
        0 => numbers.below(ROWS),
        _ => SUMS + numbers.below(ROWS - SUMS),
    };
    let isa = interpreter();
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 1..=1500 {
        let mut numbers = Numbers(seed);
        let mut code = Code::default();
        // Kernels go back and forth between few sums.
        let one = numbers.four(SUMS);
        let rest: Vec<RowId> = (0..SUMS).filter(|row| !one.contains(row)).collect();
        let sums = [one, std::array::from_fn(|k| rest[k])];
        let mut sum = sums[0];
        let op = [LaneOp::Mad, LaneOp::MadIeee][numbers.below(2) as usize];
        for _ in 0..1 + numbers.below(9) {
            // Mostly the next link of a chain; else another sum, or steps that are no link.
            let z = if numbers.below(4) > 0 { sum } else { numbers.four(ROWS) };
            match numbers.below(6) {
                0 => sum = numbers.four(ROWS),
                1..4 => sum = sums[numbers.below(2) as usize],
                _ => {}
            }
            let x = factor(&mut numbers);
            // `sum = x · sum + z` reads each sum before it writes it.
            let own = numbers.below(4) == 0;
            for k in 0..4 {
                let y = if own { sum[k] } else { factor(&mut numbers) };
                let ids = if numbers.below(2) == 0 { [sum[k], x, y, z[k]] } else { [sum[k], y, x, z[k]] };
                step(&mut code, isa, op, &ids);
            }
            if numbers.below(4) == 0 {
                let ids = [numbers.below(ROWS), numbers.below(ROWS), numbers.below(ROWS)];
                step(&mut code, isa, LaneOp::Add, &ids);
            }
        }
        // Small whole numbers, whose products are told apart.
        let begin: Vec<Row> = (0..ROWS)
            .map(|_| Row(std::array::from_fn(|_| (numbers.below(7) as f32 - 3.0).to_bits())))
            .collect();
        let (mut plain, mut fused) = (begin.clone(), begin);
        run(&code, &mut plain);
        code.ops.push(Op::Lanes { first: 0, end: code.steps.len() as u32 });
        fuse(&mut code, Some(isa), &mut []);
        run(&code, &mut fused);
        for row in 0..ROWS as usize {
            assert_eq!(plain[row].0, fused[row].0, "row {row} of the sequence {seed}");
        }
        let made = code.steps.iter().filter(|step| step.fused);
        lengths.extend(made.map(|step| (step.count - step.writes - 4) / 5 * 10 + step.writes / 4));
    }
    // One, two and four links, and of the longer ones those whose sums on the way are written as well.
    assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [11, 21, 22, 41, 42]);
}

#[test]
fn a_load_flushes_into_the_row_that_is_read() {
    let isa = interpreter();
    let load = MemoryOp::ElementLoad { place: Place::Global, index: 0, offset: 0, dst: [5, NONE, 7, NONE] };
    let made = |ids: &[[RowId; 2]]| {
        let mut code = Code {
            ops: vec![Op::Memory(0), Op::Lanes { first: 0, end: ids.len() as u32 }],
            memory: vec![Access {
                op: load.clone(),
                effect: (Area::Global, Effect::Loads),
                flush: 0,
                lanes: Known::default(),
            }],
            ..Code::default()
        };
        ids.iter().for_each(|ids| step(&mut code, isa, LaneOp::Flush, ids));
        fuse(&mut code, Some(isa), &mut []);
        let access = &code.memory[0];
        (access.flush, access.op.loaded().expect("it is a load"), code.steps.len())
    };
    assert_eq!(made(&[[9, 7]]), (0b100, [5, NONE, 9, NONE], 0));
    assert_eq!(made(&[[5, 5], [9, 7]]), (0b101, [5, NONE, 9, NONE], 0));
    // Flushed into two rows, it stays as it was.
    assert_eq!(made(&[[9, 7], [10, 7]]), (0, [5, NONE, 7, NONE], 2));
}
