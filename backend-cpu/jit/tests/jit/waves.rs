//! Functions that are called for several waves, and rows whose words are those of a view.

use std::panic::{AssertUnwindSafe, catch_unwind};

use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_jit::{Function, LANES, Mode, Module, Row, Shared, Step, Ticks, View, Wave, Waves};
use rustc_hash::FxHashMap;

use crate::flow::patience;
use crate::{On, Random, endless};

/// Rows: two of words that are in a view, what is added to the second one, a choice, a result, what a loop counts down from, and by.
const WORD: u32 = 0;
const SUM: u32 = 1;
const PLUS: u32 = 2;
const CHOICE: u32 = 3;
const RESULT: u32 = 4;
const COUNT: u32 = 5;
const LESS: u32 = 6;
/// Some waves whose lanes all execute, and some whose do not.
const EXEC: [u64; 5] = [!0, !0, 0x0000_FFFF_00F0_1234, !0, 0];

/// What lanes do: with a loop, which takes places on the stack, or without.
fn steps(repeats: bool) -> Vec<Step<'static>> {
    let lane = |op, ids: &'static [u32]| Step::Lane { op, ids, writes: 1, same: 0 };
    let mut steps = vec![
        lane(LaneOp::Iadd, &[RESULT, WORD, SUM]),
        Step::If { row: CHOICE, nonzero: true, lanes: Shape::Any },
        lane(LaneOp::Imul, &[RESULT, RESULT, WORD]),
        Step::EndIf,
    ];
    if repeats {
        steps.extend([
            Step::Loop,
            Step::Break(Some((COUNT, false, Shape::Any))),
            lane(LaneOp::Iadd, &[COUNT, COUNT, LESS]),
            lane(LaneOp::Xor, &[RESULT, RESULT, SUM]),
            lane(LaneOp::Imul, &[RESULT, RESULT, RESULT]),
            Step::EndLoop,
        ]);
    }
    steps.push(Step::Test { row: RESULT });
    steps
}

fn shared() -> FxHashMap<u32, Shared> {
    FxHashMap::from_iter([
        (WORD, Shared { view: 1, word: 10, plus: None }),
        (SUM, Shared { view: 1, word: 3, plus: Some(PLUS) }),
    ])
}

pub fn one_after_another(on: On) {
    let mut random = Random(5);
    for (repeats, lines) in [(false, 0), (true, 0), (false, 32), (true, 32)] {
        let mut compiler = on.compiler().with_lines(lines).with_shared(shared());
        let function = compiler.function(&steps(repeats), |_| None, |_| false, |_| false).unwrap();
        let module = compiler.finish().unwrap();
        for unseen in [false, true] {
            let words: [u32; 11] = std::array::from_fn(|_| random.word() % 9);
            // Nobody finds the rows of what is elsewhere.
            let mut waves: Vec<Vec<Row>> = EXEC
                .iter()
                .map(|_| {
                    let row = |row: u32| {
                        Row(std::array::from_fn(|_| match row {
                            LESS => !0,
                            COUNT => random.word() % 5,
                            CHOICE => random.word() % 2,
                            _ => random.word(),
                        }))
                    };
                    (0..7).map(row).collect()
                })
                .collect();
            let before = waves.clone();
            let views = [View::of_words([0; 11]), View::of_words([7; 11])];
            let tested = if on.code {
                let mut bound = module.bind(views.to_vec());
                bound.share(1, words);
                let mut list: Vec<Wave<'_>> =
                    waves.iter_mut().zip(EXEC).map(|(rows, exec)| Wave::new(rows, exec)).collect();
                let mut called = Waves::new(&mut list);
                let (ticks, mode) = (&mut endless(), &mut Mode::default());
                // The first one alone, then the others but the last one.
                for part in [0..1, 1..4] {
                    bound.call(&function, &mut called, part, unseen, ticks, mode);
                }
                (0..4).map(|wave| called.tested(wave)).collect()
            } else {
                let views = [views[0], View::of_words(words)];
                let each = waves.iter_mut().zip(EXEC).take(4);
                each.map(|(rows, exec)| on.call(&module, function, rows, &views, exec, &mut endless()))
                    .collect::<Vec<u64>>()
            };
            for (wave, &exec) in EXEC.iter().enumerate() {
                for lane in 0..LANES {
                    let [plus, choice, count] =
                        [PLUS, CHOICE, COUNT].map(|row| before[wave][row as usize].0[lane]);
                    let (word, sum) = (words[10], words[3].wrapping_add(plus));
                    let mut result = word.wrapping_add(sum);
                    if choice != 0 {
                        result = result.wrapping_mul(word);
                    }
                    for _ in 0..if repeats { count } else { 0 } {
                        result ^= sum;
                        result = result.wrapping_mul(result);
                    }
                    let runs = wave < 4 && exec >> lane & 1 == 1;
                    // Nobody sees those.
                    if !runs && wave < 4 && unseen && !function.strict() {
                        continue;
                    }
                    let expected = if runs { result } else { before[wave][RESULT as usize].0[lane] };
                    assert_eq!(waves[wave][RESULT as usize].0[lane], expected, "wave {wave} lane {lane}");
                    if runs {
                        assert_eq!(tested[wave] >> lane & 1 == 1, result != 0, "wave {wave} lane {lane}");
                    }
                }
            }
        }
    }
}

/// Who stops does so for the waves that follow, too.
pub fn stopped(on: On) {
    let mut compiler = on.compiler();
    let add = [0, 0, 1];
    let steps = [
        Step::Lane { op: LaneOp::Iadd, ids: &[2, 2, 1], writes: 1, same: 0 },
        Step::Loop,
        Step::Break(Some((3, true, Shape::Any))),
        Step::Lane { op: LaneOp::Iadd, ids: &add, writes: 1, same: 0 },
        Step::EndLoop,
    ];
    let function = compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    let mut waves = vec![vec![Row::ZERO, Row::splat(1), Row::ZERO, Row::ZERO]; 3];
    let patience = patience(3);
    let mut ticks = Ticks::new(&patience);
    if on.code {
        let mut list: Vec<Wave<'_>> =
            waves.iter_mut().zip([!0, !0, 7]).map(|(rows, exec)| Wave::new(rows, exec)).collect();
        let bound = module.bind(Vec::new());
        bound.call(&function, &mut Waves::new(&mut list), 0..3, false, &mut ticks, &mut Mode::default());
    } else {
        on.call(&module, function, &mut waves[0], &[], !0, &mut ticks);
    }
    assert!(ticks.stopped());
    assert_eq!(waves[0][2].0[0], 1);
    assert!(waves[1..].iter().all(|rows| rows[2] == Row::ZERO));
}

/// Code for whole waves alone does what other code does for them, and is called for no others. Where lanes leave loops there is code for
/// some.
pub fn whole_ones(on: On) {
    let mut random = Random(11);
    for lines in [0, 64] {
        for repeats in [false, true] {
            let made = [false, true].map(|whole| {
                let compiler = on.compiler().with_lines(lines).with_shared(shared());
                let mut compiler = if whole { compiler.for_whole_waves() } else { compiler };
                let function = compiler.function(&steps(repeats), |_| None, |_| false, |_| false).unwrap();
                assert_eq!(function.for_whole_waves(), whole && !repeats);
                (compiler.finish().unwrap(), function)
            });
            let row = |row: u32| match row {
                LESS => Row::splat(!0),
                COUNT => Row(std::array::from_fn(|lane| lane as u32 % 5)),
                CHOICE => Row(std::array::from_fn(|lane| lane as u32 % 2)),
                _ => Row(std::array::from_fn(|_| random.word())),
            };
            let rows: Vec<Row> = (0..7).map(row).collect();
            let views = [View::of_words([0; 11]), View::of_words(std::array::from_fn(|k| 3 * k as u32))];
            let call = |(module, function): &(Module, Function), exec| {
                let mut rows = rows.clone();
                let tested = on.call(module, *function, &mut rows, &views, exec, &mut endless());
                (rows[RESULT as usize], tested)
            };
            assert_eq!(call(&made[0], !0), call(&made[1], !0), "lines of {lines}, {repeats}");
            if on.code {
                let some = catch_unwind(AssertUnwindSafe(|| call(&made[1], !1)));
                assert_eq!(some.is_err(), made[1].1.for_whole_waves());
            }
        }
    }
}
