//! 64-bit elements that stay whole: in loads, and in the rows of loops.

use recal_il::ir::lines::{Shape, distance};
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_jit::{LANES, NONE, Row, Step, View};

use crate::{On, Random, endless};

const COUNT: u32 = 400;

/// Loads of elements of one double or two, at addresses of which something is known, inside, across the ends and outside.
pub fn loads_of_doubles(on: On) {
    let mut random = Random(7);
    let memory: Vec<u32> = (0..COUNT).map(|_| random.word() & 0xBFFF_FFFF).collect();
    let word = |at: u32| memory.get(at as usize).copied().unwrap_or(0);
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * COUNT as usize) }];
    for (line, shape) in [4, 8, 16].into_iter().flat_map(|line| {
        let bits =
            [[16, 32, 64, 0], [0, 0, 0, 16], [0, 0, 8, 8], [8, 0, 16, 0], [0, 24, 0, 40], [0, 8, 96, 0]];
        let shapes = [Shape::Any, Shape::Same, Shape::Step(8), Shape::Step(16)].into_iter();
        shapes.chain(bits.map(Shape::Bits)).map(move |shape| (line, shape))
    }) {
        for to in [[1, 2, NONE, NONE], [1, 2, 3, 4], [NONE, NONE, 3, 4]] {
            let mut compiler = on.compiler().with_lines(line);
            let mut steps = vec![Step::Load { view: 0, address: 0, to, flush: 0, lanes: shape }];
            for (k, ids) in [&[5, 6, 1, 2, 9, 10], &[7, 8, 3, 4, 9, 10]].into_iter().enumerate() {
                if to[2 * k] != NONE {
                    steps.push(Step::Lane { op: LaneOp::Dmul, ids, writes: 2, same: 0 });
                }
            }
            let function = compiler.function(&steps, |_| None, |row| row < 5, |row| row < 5).unwrap();
            let module = compiler.finish().unwrap();
            let width =
                (4 * to.iter().rposition(|row| *row != NONE).unwrap_or(0) as u32 + 4).next_multiple_of(8);
            for start in
                [0, 4, 72, 4 * COUNT - 20, 4 * COUNT - 4 * width, 4 * COUNT, 0x7FFF_FFF8, 0xFFFF_FFF4]
            {
                for exec in [!0, 0xFF00_FFFF_0F0F_5555u64] {
                    let address = |lane: usize| {
                        let (line, place) = (lane as u32 / line, lane as u32 % line);
                        start.wrapping_add(match shape {
                            Shape::Same => 24 * line,
                            Shape::Step(step) => 40 * line + step * place,
                            Shape::Bits(bits) => 56 * (lane as u32 / 16) + distance(bits, lane as u32 % 16),
                            // Lines of neighbours, of one element each, and neither.
                            Shape::Any => [width * place, 0, 20 * (place * 7 % 5)][line as usize % 3],
                        })
                    };
                    let mut rows: Vec<Row> = (0..11)
                        .map(|row| Row(std::array::from_fn(|lane| (lane * 11 + row) as u32)))
                        .collect();
                    rows[0] = Row(std::array::from_fn(address));
                    rows[10] = Row(std::array::from_fn(|lane| 0x3FF0_0000 + 1000 * lane as u32));
                    let before = rows.clone();
                    on.call(&module, function, &mut rows, &views, exec, &mut endless());
                    for lane in 0..LANES {
                        for k in (0..2).filter(|&k| to[2 * k] != NONE) {
                            let at = (address(lane) / 4).wrapping_add(2 * k as u32);
                            let factor = [word(at), word(at.wrapping_add(1))];
                            let other = [9, 10].map(|row: usize| before[row].0[lane]);
                            let (lo, hi) = fold(LaneOp::Dmul, &[factor[0], factor[1], other[0], other[1]]);
                            let got = [rows[5 + 2 * k].0[lane], rows[6 + 2 * k].0[lane]];
                            let expected = match exec >> lane & 1 == 1 {
                                true => [lo, hi.unwrap()],
                                false => [5, 6].map(|row: usize| before[row + 2 * k].0[lane]),
                            };
                            assert_eq!(
                                got, expected,
                                "{shape:?} {to:?} from {start:#x}, line {line}, lane {lane}"
                            );
                        }
                    }
                }
            }
        }
    }
}

// Rows of the loop.
const ROUND: u32 = 0;
const ROUNDS: u32 = 1;
const FLAG: u32 = 2;
const ONE: u32 = 3;
const ZERO: u32 = 4;
const NEAR: u32 = 5;
const SAME: u32 = 6;
const STEP: u32 = 7;
/// What is loaded: two words each.
const A: u32 = 8;
const B: u32 = 10;
/// Sums: left whole; begun again now and then; one whose words are looked at; one that trades its words for another's.
const PLAIN: u32 = 12;
const AGAIN: u32 = 14;
const SEEN: u32 = 16;
const MIXED: u32 = 18;
const WORDS: u32 = 20;
const ROWS: u32 = 22;

fn rounds() -> Vec<Step<'static>> {
    use LaneOp::*;
    let lane = |op, ids, writes| Step::Lane { op, ids, writes, same: 0 };
    let load = |address, to: u32, lanes| Step::Load {
        view: 0,
        address,
        to: [to, to + 1, NONE, NONE],
        flush: 0,
        lanes,
    };
    vec![
        Step::Loop,
        lane(Ige, &[FLAG, ROUND, ROUNDS], 1),
        Step::Break(Some((FLAG, true, Shape::Same))),
        load(NEAR, A, Shape::Step(8)),
        load(SAME, B, Shape::Same),
        lane(Dmad, &[PLAIN, PLAIN + 1, A, A + 1, B, B + 1, PLAIN, PLAIN + 1], 2),
        lane(Dmad, &[PLAIN, PLAIN + 1, B, B + 1, B, B + 1, PLAIN, PLAIN + 1], 2),
        lane(Dmad, &[AGAIN, AGAIN + 1, A, A + 1, A, A + 1, AGAIN, AGAIN + 1], 2),
        lane(Dadd, &[SEEN, SEEN + 1, SEEN, SEEN + 1, A, A + 1], 2),
        lane(Iadd, &[WORDS, WORDS, SEEN], 1),
        lane(Dadd, &[MIXED, MIXED + 1, MIXED, MIXED + 1, B, B + 1], 2),
        lane(And, &[FLAG, ROUND, SAME], 1),
        Step::If { row: FLAG, nonzero: true, lanes: Shape::Same },
        lane(Mov, &[AGAIN, ZERO], 1),
        lane(Mov, &[AGAIN + 1, ZERO], 1),
        lane(Mov, &[MIXED, A], 1),
        Step::EndIf,
        lane(Iadd, &[NEAR, NEAR, STEP], 1),
        lane(Iadd, &[SAME, SAME, STEP], 1),
        lane(Iadd, &[ROUND, ROUND, ONE], 1),
        Step::EndLoop,
    ]
}

/// Sums of doubles in a loop that lanes of a line leave together.
pub fn sums_of_doubles(on: On) {
    let memory: Vec<u32> = (0..COUNT / 2).flat_map(|k| [k * 77, 0x4000_0000 + k * 0x1_2345]).collect();
    let word = |at: u32| memory.get(at as usize).copied().unwrap_or(0);
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * COUNT as usize) }];
    let steps = rounds();
    // Whether the constants are known, and whether anybody wants the sum that is begun again.
    for (known, wanted) in [(true, true), (false, true), (true, false)] {
        let mut compiler = on.compiler().with_lines(16);
        let constants = [(ONE, 1), (ZERO, 0), (STEP, 24)];
        let constant = |row: u32| constants.iter().find(|(of, _)| known && *of == row).map(|(_, word)| *word);
        let dead = |row: u32| matches!(row, FLAG | A..PLAIN) || !wanted && (AGAIN..SEEN).contains(&row);
        let function = compiler.function(&steps, constant, dead, dead).unwrap();
        let module = compiler.finish().unwrap();
        for exec in [!0, 0xFFFF_FFFF_0000_FFFF, 0xFF00_FFFF_0F0F_5555u64] {
            let mut rows: Vec<Row> = (0..ROWS)
                .map(|row| {
                    Row(std::array::from_fn(|lane| {
                        let (line, place) = (lane as u32 / 16, lane as u32 % 16);
                        match row {
                            ROUNDS => 5 + 300 * u32::from(line == 2),
                            NEAR => 16 * line + 8 * place,
                            SAME => 8 * line,
                            A..WORDS => lane as u32 * 3 + row,
                            _ => constants.iter().find(|(of, _)| *of == row).map_or(0, |(_, word)| *word),
                        }
                    }))
                })
                .collect();
            let before = rows.clone();
            on.call(&module, function, &mut rows, &views, exec, &mut endless());
            for lane in 0..LANES {
                let mut own: Vec<u32> = before.iter().map(|row| row.0[lane]).collect();
                let mut skip = false;
                while exec >> lane & 1 == 1 && own[ROUND as usize] < own[ROUNDS as usize] {
                    for step in &steps {
                        match *step {
                            Step::Lane { op, ids, writes, .. } if !skip => {
                                let args: Vec<u32> =
                                    ids[writes..].iter().map(|&row| own[row as usize]).collect();
                                let (lo, hi) = fold(op, &args);
                                own[ids[0] as usize] = lo;
                                if writes == 2 {
                                    own[ids[1] as usize] = hi.unwrap();
                                }
                            }
                            Step::Load { address, to, .. } => {
                                let at = own[address as usize] / 4;
                                own[to[0] as usize] = word(at);
                                own[to[1] as usize] = word(at + 1);
                            }
                            Step::If { row, .. } => skip = own[row as usize] == 0,
                            Step::EndIf => skip = false,
                            _ => {}
                        }
                    }
                }
                for row in (0..ROWS).filter(|&row| !dead(row)) {
                    let got = rows[row as usize].0[lane];
                    assert_eq!(got, own[row as usize], "lane {lane} row {row} of {exec:x}");
                }
            }
        }
    }
}
