//! All threads of a group at once, against threads one by one.

use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_jit::{Group, Mode, NONE, Row, Shared, Step, View, Wave, Waves};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{On, Random, endless};

/// Views: what is loaded, memory of the group, and what is stored; words that a thread has there.
const FROM: u8 = 0;
const OWN: u8 = 1;
const TO: u8 = 2;
const RESULTS: u32 = 4;
/// Rows: byte addresses in the group's memory, of which [`PLACE`] is the first, a choice that follows from the thread's place, where it
/// loads and stores, and what it computes with.
const PLACE: u32 = 0;
const PLACES: u32 = 8;
const CHOICE: u32 = 8;
const ADDRESS: u32 = 9;
const RESULT: u32 = 10;
const VALUE: u32 = RESULT + RESULTS;
/// The row that holds what all threads of all groups have, in each.
const SAME: u32 = VALUE + RESULTS;
const ROWS: u32 = SAME + 1;

fn four(row: u32) -> [u32; 4] {
    [row, NONE, NONE, NONE]
}

/// Operands of operations on two values.
fn operands() -> Vec<[u32; 3]> {
    let values = || VALUE..=SAME;
    (VALUE..SAME).flat_map(|to| values().flat_map(move |a| values().map(move |b| [to, a, b]))).collect()
}

/// What threads do: with barriers around each store to the group's memory, and so many stores where others see them.
fn steps<'s>(random: &mut Random, operands: &'s [[u32; 3]], results: u32) -> Vec<Step<'s>> {
    let load = |view, address, row| {
        let lanes = if address == ADDRESS { Shape::Step(4) } else { Shape::Any };
        Step::Load { view, address, to: four(row), flush: 0, lanes }
    };
    let store = |view, address, row| Step::Store { view, address, from: four(row), lanes: Shape::Any };
    let mut steps = vec![load(FROM, ADDRESS, VALUE)];
    let moved = |row: u32| {
        let ids = operands.iter().find(|ids| ids[..] == [row, VALUE, SAME]);
        Step::Lane { op: LaneOp::Imul, ids: &ids.unwrap()[..], writes: 1, same: 0 }
    };
    steps.extend((VALUE + 1..SAME).map(moved));
    let mut below = |n: u32| random.word() % n;
    for _ in 0..4 + below(12) {
        let of_choice = match below(4) {
            0 => Some(CHOICE),
            1 => Some(VALUE + below(RESULTS)),
            _ => None,
        };
        let value = VALUE + below(RESULTS);
        let row = |of: u32| Step::If { row: of, nonzero: true, lanes: Shape::Any };
        let mut inner = vec![match below(4) {
            0 => store(OWN, PLACE + below(PLACES), value),
            1 | 2 => load(OWN, PLACE + below(PLACES), value),
            _ => {
                let op = [LaneOp::Iadd, LaneOp::Xor, LaneOp::Imul][below(3) as usize];
                let ids = &operands[below(operands.len() as u32) as usize];
                Step::Lane { op, ids, writes: 1, same: 0 }
            }
        }];
        let other = VALUE + below(RESULTS);
        match below(3) {
            0 if of_choice.is_some() => inner.extend([Step::Else, load(OWN, PLACE + below(PLACES), other)]),
            _ => {}
        }
        steps.push(Step::Barrier);
        steps.extend(of_choice.map(row));
        steps.extend(inner);
        steps.extend(of_choice.map(|_| Step::EndIf));
        steps.push(Step::Barrier);
    }
    for k in 0..results {
        let of_choice = (below(3) == 0).then_some(if below(2) == 0 { CHOICE } else { VALUE });
        steps.extend(of_choice.map(|row| Step::If { row, nonzero: below(2) == 0, lanes: Shape::Any }));
        steps.push(store(TO, RESULT + k, VALUE + k));
        steps.extend(of_choice.map(|_| Step::EndIf));
        steps.push(Step::Barrier);
    }
    steps
}

/// Runs the steps, each for one thread after another.
fn run(steps: &[Step<'_>], rows: &mut [Vec<u32>], memories: &mut [Vec<u32>; 3]) {
    let mut exec = vec![vec![true; rows.len()]];
    let mut chosen: Vec<Vec<bool>> = Vec::new();
    for step in steps {
        let executes = exec.last().unwrap().clone();
        match *step {
            Step::If { row, nonzero, .. } => {
                let of: Vec<bool> = rows.iter().map(|rows| (rows[row as usize] != 0) == nonzero).collect();
                exec.push(executes.iter().zip(&of).map(|(a, b)| *a && *b).collect());
                chosen.push(of);
            }
            Step::Else => {
                exec.pop();
                let (outer, of) = (exec.last().unwrap(), chosen.last().unwrap());
                let other = outer.iter().zip(of).map(|(a, b)| *a && !*b).collect();
                exec.push(other);
            }
            Step::EndIf => {
                exec.pop();
                chosen.pop();
            }
            Step::Barrier => {}
            _ => {
                for (rows, _) in rows.iter_mut().zip(executes).filter(|(_, executes)| *executes) {
                    match *step {
                        Step::Lane { op, ids, .. } => {
                            let [a, b] = [1, 2].map(|k| rows[ids[k] as usize]);
                            rows[ids[0] as usize] = match op {
                                LaneOp::Iadd => a.wrapping_add(b),
                                LaneOp::Xor => a ^ b,
                                _ => a.wrapping_mul(b),
                            };
                        }
                        Step::Load { view, address, to, .. } => {
                            let at = rows[address as usize] as usize / 4;
                            rows[to[0] as usize] =
                                memories[usize::from(view)].get(at).copied().unwrap_or_default();
                        }
                        Step::Store { view, address, from, .. } => {
                            let at = rows[address as usize] as usize / 4;
                            let word = rows[from[0] as usize];
                            memories[usize::from(view)].get_mut(at).into_iter().for_each(|to| *to = word);
                        }
                        _ => unreachable!(),
                    }
                }
            }
        }
    }
}

/// Where threads go in memory of the group, one way or another: each to a place of its own, but for the last ones.
fn place(number: u32, thread: u32, threads: u32) -> u32 {
    match number {
        0 | 1 => thread,
        2 => thread ^ 1,
        3 => thread + threads / 2,
        4 => threads - 1 - thread,
        5 => thread + 1,
        6 => 2 * thread,
        _ => 3,
    }
}

pub fn group(on: On) {
    let mut random = Random(41);
    let operands = operands();
    let mut made = 0;
    for round in 0..300u32 {
        let threads = [64, 256, 100, 16, 5, 192][round as usize % 6];
        // Where strips at the end find nothing, they are not loaded together.
        let (results, missing) =
            ([1, RESULTS][round as usize / 6 % 2], [0, threads / 9][round as usize / 12 % 2]);
        let steps = steps(&mut random, &operands, results);
        let below = random.word() % threads;
        let word = |row: u32, thread: u32| match row {
            CHOICE => u32::from(thread < below),
            ADDRESS => 4 * thread,
            RESULT..VALUE => 4 * (thread * RESULTS + row - RESULT),
            row => 4 * place(row - PLACE, thread, threads),
        };
        let own: Vec<(u32, Vec<u32>)> =
            (0..VALUE).map(|row| (row, (0..threads).map(|thread| word(row, thread)).collect())).collect();
        let memories = FxHashMap::from_iter([(OWN, threads)]);
        let same = FxHashSet::from_iter([SAME]);
        let group = Group { threads, own: &own, same: &same, grown: &[], memories: &memories };
        let mut compiler = on.compiler().with_lines(64);
        let Some(function) = compiler.group(&steps, |_| None, &group) else { continue };
        made += 1;
        let module = compiler.finish().unwrap();
        let of_all = random.word();
        let from: Vec<u32> = (0..threads - missing).map(|_| random.word() % 3).collect();
        let to = vec![7; (threads * RESULTS) as usize];
        let mut expected = [from.clone(), vec![0; threads as usize], to.clone()];
        let mut rows: Vec<Vec<u32>> = (0..threads)
            .map(|thread| {
                let row = |row: u32| match row {
                    SAME => of_all,
                    VALUE.. => 0,
                    row => word(row, thread),
                };
                (0..ROWS).map(row).collect()
            })
            .collect();
        run(&steps, &mut rows, &mut expected);
        let (mut from, mut to) = (from, to);
        // SAFETY: the vectors outlive the call.
        let views = unsafe {
            [
                View::new(from.as_mut_ptr().cast(), 4 * from.len()),
                View::new(std::ptr::NonNull::<u32>::dangling().as_ptr().cast(), 0),
                View::new(to.as_mut_ptr().cast(), 4 * to.len()),
            ]
        };
        let mut wave = vec![Row::splat(of_all); ROWS as usize];
        let exec = if threads < 64 { (1 << threads) - 1 } else { !0 };
        on.call(&module, function, &mut wave, &views, exec, &mut endless());
        assert_eq!(to, expected[2], "round {round}, {threads} threads: {steps:#?}");
    }
    let permutes = on.isa.name() != "neon";
    assert_eq!(made > 100, permutes, "{made} were made");
}

/// What depends on the order of waves, or on places that nobody knows, is not made.
pub fn group_in_no_order(on: On) {
    let threads = 128;
    let load = |view, address, row| Step::Load { view, address, to: four(row), flush: 0, lanes: Shape::Any };
    let store = |view, address, row| Step::Store { view, address, from: four(row), lanes: Shape::Any };
    let own: Vec<(u32, Vec<u32>)> = (0..PLACES)
        .map(|row| (row, (0..threads).map(|thread| 4 * place(row, thread, threads)).collect()))
        .collect();
    let made = |steps: &[Step<'_>]| {
        let (memories, same) = (FxHashMap::from_iter([(OWN, threads)]), FxHashSet::default());
        let group = Group { threads, own: &own, same: &same, grown: &[], memories: &memories };
        on.compiler().group(steps, |_| None, &group).is_some()
    };
    let end = store(TO, 0, VALUE);
    let of_others = load(FROM, 0, VALUE);
    if !made(&[of_others, Step::Barrier, end]) {
        assert_eq!(on.isa.name(), "neon");
        return;
    }
    // The partner is of the same wave, the one half a group away is not.
    assert!(made(&[of_others, store(OWN, 0, VALUE), load(OWN, 2, VALUE), Step::Barrier, end]));
    let further = [of_others, store(OWN, 0, VALUE), Step::Barrier, load(OWN, 3, VALUE), Step::Barrier, end];
    assert!(made(&further));
    assert!(!made(&[further[0], further[1], further[3], further[4], further[5]]));
    // What is loaded first is stored to by another wave.
    assert!(!made(&[load(OWN, 3, VALUE), of_others, store(OWN, 0, VALUE), Step::Barrier, end]));
    // Two waves that store to a word, and two threads.
    assert!(!made(&[of_others, store(OWN, 0, VALUE), store(OWN, 4, VALUE), Step::Barrier, end]));
    assert!(!made(&[of_others, store(OWN, 7, VALUE), Step::Barrier, end]));
    // Memory that others see: one that is stored to is not loaded, and waves store to none twice, unless they wait.
    assert!(!made(&[of_others, end]));
    assert!(!made(&[of_others, Step::Barrier, end, end]));
    assert!(made(&[of_others, Step::Barrier, end, Step::Barrier, end]));
    assert!(!made(&[of_others, Step::Barrier, end, Step::Barrier, of_others]));
    // Places that memory tells, and rows of which nothing is known.
    assert!(!made(&[of_others, load(OWN, VALUE, VALUE), Step::Barrier, end]));
    assert!(!made(&[store(TO, 0, VALUE)]));
    // Words of each lane of many vectors.
    assert!(!made(&[of_others, Step::Loop, Step::Break(None), Step::EndLoop, Step::Barrier, end]));
}

/// One call does several groups, for each of which words that it shares have grown.
pub fn groups_one_after_another(on: On) {
    const WORD: u32 = PLACES;
    const AT: u32 = PLACES + 1;
    const FOUR: u32 = PLACES + 2;
    const WORDS: u8 = 3;
    let lane = |op, ids: &'static [u32]| Step::Lane { op, ids, writes: 1, same: 0 };
    let shared = FxHashMap::from_iter([
        (WORD, Shared { view: WORDS, word: 5, plus: None }),
        (AT, Shared { view: WORDS, word: 2, plus: Some(0) }),
    ]);
    let steps = [
        lane(LaneOp::Imul, &[VALUE, AT, FOUR]),
        Step::Store { view: TO, address: VALUE, from: four(WORD), lanes: Shape::Any },
    ];
    for threads in [64, 40, 256] {
        let own = [(0, (0..threads).collect::<Vec<u32>>())];
        let (memories, same) = (FxHashMap::default(), FxHashSet::default());
        let grown = [(WORDS, 2, threads), (WORDS, 5, 9), (WORDS, 6, 1)];
        let group = Group { threads, own: &own, same: &same, grown: &grown, memories: &memories };
        let mut compiler = on.compiler().with_shared(shared.clone());
        let Some(function) = compiler.group(&steps, |row| (row == FOUR).then_some(4), &group) else {
            assert_eq!(on.isa.name(), "neon");
            return;
        };
        let module = compiler.finish().unwrap();
        let mut to = vec![0u32; 3 * threads as usize];
        let nothing = std::ptr::NonNull::<u32>::dangling().as_ptr().cast();
        // SAFETY: the vector outlives the calls, and of nothing there is nothing.
        let memory = |to: &mut Vec<u32>| unsafe {
            let nothing = View::new(nothing, 0);
            let to = View::new(to.as_mut_ptr().cast(), 4 * to.len());
            [nothing, nothing, to, View::of_words([0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0])]
        };
        let mut rows = vec![vec![Row::ZERO; ROWS as usize]; 3];
        let views = memory(&mut to);
        if !on.code {
            on.call(&module, function, &mut rows[0], &views, !0, &mut endless());
            assert!(to[..threads as usize].iter().all(|word| *word == 100));
            continue;
        }
        let mut bound = module.bind(views.to_vec());
        let mut waves: Vec<Wave<'_>> = rows.iter_mut().map(|rows| Wave::new(rows, !0)).collect();
        let mut waves = Waves::new(&mut waves);
        for groups in [2, 1] {
            bound.call_groups(&function, &mut waves, groups, &mut endless(), &mut Mode::default());
        }
        let words = (100..).step_by(9).flat_map(|word| std::iter::repeat_n(word, threads as usize));
        assert!(words.take(to.len()).eq(to.iter().copied()), "{threads}: {to:?}");
    }
}
