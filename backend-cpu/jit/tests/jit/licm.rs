//! What does not change in a loop is computed before it, once.

use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_jit::{LANES, NONE, Row, Step, View};

use crate::{On, endless};

const ONE: u32 = 0x3F80_0000;
/// Rows: constants, what a thread has, and what the loop changes.
const ZERO: u32 = 0;
const INTEGER: u32 = 1;
const FLOAT: u32 = 2;
const FOUR: u32 = 3;
const U: u32 = 4;
const V: u32 = 5;
const PLACE: u32 = 6;
const COUNT: u32 = 7;
const ROUND: u32 = 8;
const FLAG: u32 = 9;
const STEADY: u32 = 10;
const MOVING: u32 = 11;
const W: u32 = 12;
const ADDRESS: u32 = 13;
const FACTOR: u32 = 14;
const SUM: u32 = 15;
const LAST: u32 = 16;
const OTHER: u32 = 17;
const ROWS: u32 = 18;
const CONSTANTS: [u32; 4] = [0, 1, ONE, 4];
const WORDS: usize = 512;

/// An operation, its destination and its sources.
type Own = (LaneOp, [u32; 4]);

/// What a loop does before it loads, and after: with values that are the same in each round, or nearly.
fn sums() -> [Vec<Own>; 2] {
    use LaneOp::*;
    let mut before = vec![
        // The same in each round, and seen after the loop.
        (Mul, [STEADY, U, V, 0]),
        (Add, [STEADY, STEADY, U, 0]),
        (Mul, [STEADY, STEADY, V, 0]),
        (Add, [STEADY, STEADY, V, 0]),
        // The same but for a row that changes further below.
        (Mul, [MOVING, W, V, 0]),
        (Add, [MOVING, MOVING, U, 0]),
        (Mul, [MOVING, MOVING, V, 0]),
        (Add, [MOVING, MOVING, V, 0]),
    ];
    before.extend(PLACES);
    let mut after = vec![
        (Mad, [SUM, FACTOR, STEADY, SUM]),
        (Mad, [SUM, FACTOR, MOVING, SUM]),
        (Mad, [SUM, U, V, SUM]),
        (Mov, [LAST, V, 0, 0]),
    ];
    after.extend(rest());
    [before, after]
}

/// The same product with zeros that make zero, and without: what is ready as one is not as the other.
fn products() -> [Vec<Own>; 2] {
    use LaneOp::*;
    let mut before = vec![(Min, [STEADY, U, ZERO, 0]), (Add, [STEADY, STEADY, ZERO, 0])];
    before.extend(PLACES);
    let mut after = vec![
        (MulIeee, [MOVING, STEADY, U, 0]),
        (Add, [OTHER, OTHER, MOVING, 0]),
        (Mad, [LAST, STEADY, U, LAST]),
    ];
    after.extend(rest());
    [before, after]
}

/// A place that is the same but for the round.
const PLACES: [Own; 4] = [
    (LaneOp::Imul, [ADDRESS, PLACE, FOUR, 0]),
    (LaneOp::Iadd, [ADDRESS, ADDRESS, PLACE, 0]),
    (LaneOp::Iadd, [ADDRESS, ADDRESS, ROUND, 0]),
    (LaneOp::Imul, [ADDRESS, ADDRESS, FOUR, 0]),
];

/// Enough products for a block that is tried without tests, and the next round.
fn rest() -> Vec<Own> {
    let mut list = Vec::new();
    for _ in 0..16 {
        list.push((LaneOp::Mad, [SUM, FACTOR, W, SUM]));
        list.push((LaneOp::Add, [W, W, FLOAT, 0]));
    }
    list.push((LaneOp::Iadd, [ROUND, ROUND, INTEGER, 0]));
    list
}

fn ids(own: &Own) -> &[u32] {
    &own.1[..1 + own.0.arguments().len()]
}

pub fn what_does_not_change(on: On) {
    check(on, sums(), f32::INFINITY);
}

pub fn products_of_two_kinds(on: On) {
    check(on, products(), 7.0);
}

fn check(on: On, [before, after]: [Vec<Own>; 2], odd: f32) {
    let mut compiler = on.compiler();
    let flag = [FLAG, ROUND, COUNT];
    fn step(own: &Own) -> Step<'_> {
        Step::Lane { op: own.0, ids: ids(own), writes: 1, same: 0 }
    }
    let mut steps = vec![Step::Loop];
    steps.push(Step::Lane { op: LaneOp::Ige, ids: &flag, writes: 1, same: 0 });
    steps.push(Step::Break(Some((FLAG, true, Shape::Any))));
    steps.extend(before.iter().map(step));
    steps.push(Step::Load {
        view: 0,
        address: ADDRESS,
        to: [FACTOR, NONE, NONE, NONE],
        flush: 1,
        lanes: Shape::Any,
    });
    steps.extend(after.iter().map(step));
    steps.push(Step::EndLoop);
    let constant = |row: u32| CONSTANTS.get(row as usize).copied();
    let dead = |row: u32| matches!(row, FLAG | ADDRESS | FACTOR);
    let function = compiler.function(&steps, constant, dead, dead).unwrap();
    let module = compiler.finish().unwrap();
    let mut memory: Vec<u32> = (0..WORDS).map(|k| ((k * 37 % 101) as f32 - 50.0).to_bits()).collect();
    memory[77] = odd.to_bits();
    memory[200] = 0;
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * WORDS) }];
    // Harmless numbers; zeros, infinities and the least normal number.
    let care = [0, 0x8000_0000, 0x7F80_0000, 0xFF80_0000, 0x0080_0000];
    for (careful, exec) in
        [(false, !0), (false, 0xFFFF_0F0F_8001_0000u64), (true, !0), (true, 0x00FF_F00F_0000_FFFF)]
    {
        let mut rows: Vec<Row> = (0..ROWS)
            .map(|row| {
                Row(std::array::from_fn(|lane| match (row, lane as u32) {
                    (row, _) if row < 4 => CONSTANTS[row as usize],
                    (U | V, lane) if careful && (lane + row) % 3 == 0 => {
                        care[(lane * row) as usize % care.len()]
                    }
                    (U, lane) => (lane as f32 / 64.0 - 0.5).to_bits(),
                    (V, lane) => (1.0 - lane as f32 / 37.0).to_bits(),
                    (PLACE, lane) => lane % 20,
                    // More rounds than go by between two questions, whether to stop.
                    (COUNT, lane) => {
                        if lane % 16 == 3 {
                            300
                        } else {
                            lane % 7
                        }
                    }
                    _ => 0,
                }))
            })
            .collect();
        let start = rows.clone();
        on.call(&module, function, &mut rows, &views, exec, &mut endless());
        for lane in 0..LANES {
            let mut own: Vec<u32> = start.iter().map(|row| row.0[lane]).collect();
            let apply = |own: &mut Vec<u32>, list: &[Own]| {
                for step in list {
                    let args: Vec<u32> = ids(step)[1..].iter().map(|&id| own[id as usize]).collect();
                    own[step.1[0] as usize] = fold(step.0, &args).0;
                }
            };
            while exec >> lane & 1 == 1 && own[ROUND as usize] < own[COUNT as usize] {
                apply(&mut own, &before);
                let word = memory.get(own[ADDRESS as usize] as usize / 4).copied().unwrap_or(0);
                own[FACTOR as usize] = fold(LaneOp::Flush, &[word]).0;
                apply(&mut own, &after);
            }
            for row in (0..ROWS).filter(|&row| !dead(row)) {
                let (got, expected) = (rows[row as usize].0[lane], own[row as usize]);
                let nan = |word: u32| f32::from_bits(word).is_nan();
                assert!(
                    got == expected || nan(got) && nan(expected),
                    "lane {lane}, row {row}: {got:x}, not {expected:x}"
                );
            }
        }
    }
}
