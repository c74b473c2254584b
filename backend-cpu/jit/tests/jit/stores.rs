//! Stores of several words at a time, by addresses and by numbers of elements.

use recal_il::ir::lines::Shape;
use recal_jit::{LANES, NONE, Row, Step, View};

use crate::{On, endless};

const WORDS: usize = 4 * 75 + 2;
const BEFORE: u32 = 7;

/// Which components, in the order of rows 1 to 4.
const COMPONENTS: [[u32; 4]; 8] = [
    [1, 2, 3, 4],
    [1, 2, NONE, NONE],
    [1, 2, 3, NONE],
    [NONE, 2, NONE, 4],
    [NONE, NONE, 3, NONE],
    [1, 1, 1, 1],
    [4, 3, 2, 1],
    [NONE, 2, NONE, NONE],
];

/// Runs a step that stores rows, which are read later, and checks each word: `first` is where the words of a lane begin.
fn check(on: On, step: Step<'_>, from: [u32; 4], word: impl Fn(usize) -> u32, first: impl Fn(usize) -> i64) {
    let mut compiler = on.compiler().with_lines(16);
    let function = compiler.function(&[step], |_| None, |_| false, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    assert!(function.strict());
    for exec in [!0, 0xFFFF_0000_FFFF_FFFF, 0xF0F0_00FF_FF00_1234u64] {
        let mut stored = vec![BEFORE; WORDS + 20];
        // SAFETY: the vector outlives the call.
        let views = [unsafe { View::new(stored.as_mut_ptr().cast(), 4 * WORDS) }];
        let mut rows: Vec<Row> =
            (0..5).map(|row| Row(std::array::from_fn(|lane| row << 16 | lane as u32))).collect();
        rows[0] = Row(std::array::from_fn(&word));
        let before = rows.clone();
        on.call(&module, function, &mut rows, &views, exec, &mut endless());
        assert!(rows.iter().zip(&before).all(|(a, b)| a.0 == b.0), "{step:?} changed a row");
        let mut may_be = vec![Vec::new(); WORDS];
        for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
            for (k, row) in (0..).zip(from).filter(|(_, row)| *row != NONE) {
                let at = usize::try_from(first(lane) + k).ok().filter(|at| *at < WORDS);
                at.into_iter().for_each(|at| may_be[at].push(row << 16 | lane as u32));
            }
        }
        for (at, got) in stored.iter().enumerate() {
            let expected = may_be.get(at).filter(|words| !words.is_empty());
            let right = expected.map_or(*got == BEFORE, |words| words.contains(got));
            assert!(right, "{step:?}, lanes {exec:x}: word {at} is {got:x}, not of {expected:x?}");
        }
    }
}

/// Neighbours, inside and across the ends, elements far from each other, in any order, and equal ones.
pub fn words(on: On) {
    type Address = fn(u32) -> u32;
    let patterns: [(Address, Shape); 12] = [
        (|lane| 16 * lane, Shape::Step(16)),
        (|lane| 160 + 16 * lane, Shape::Step(16)),
        (|lane| 320 + 16 * lane, Shape::Any),
        (|lane| 8 * lane, Shape::Step(8)),
        (|lane| 700 + 8 * lane, Shape::Any),
        (|lane| 900 + 8 * (lane % 16), Shape::Step(8)),
        (|lane| 17 + 20 * (lane * 37 % 64), Shape::Any),
        (|lane| 16 * (lane ^ 1), Shape::Any),
        (|_| 1200, Shape::Same),
        (|lane| (16 * lane).wrapping_sub(32), Shape::Step(16)),
        (|lane| [u32::MAX, 1 << 31, 1204, 1 << 30][lane as usize % 4], Shape::Any),
        (|lane| 16 * (lane % 16) + 300 * (lane / 16), Shape::Step(16)),
    ];
    for from in COMPONENTS {
        for (address, lanes) in patterns {
            let step = Step::Store { view: 0, address: 0, from, lanes };
            let first = |lane: usize| i64::from(address(lane as u32) / 4);
            check(on, step, from, |lane| address(lane as u32), first);
        }
    }
}

/// Numbers of elements, some of them outside or such that wrap when something is added.
pub fn elements(on: On) {
    type Number = fn(i32) -> i32;
    let patterns: [(Number, Shape); 7] = [
        (|lane| lane, Shape::Step(1)),
        (|lane| 60 + lane, Shape::Step(1)),
        (|_| 7, Shape::Same),
        (|_| 75, Shape::Same),
        (|lane| lane * 29 % 80, Shape::Any),
        (|lane| [i32::MAX, i32::MIN, -1, 1 << 28, (1 << 30) + 3, 5][lane as usize % 6], Shape::Any),
        (|lane| (i32::MAX - 5).wrapping_add(lane % 8), Shape::Any),
    ];
    for offset in [0, 3, -4, (1 << 30) - 1, -(1 << 30) + 1] {
        for (number, lanes) in patterns {
            for from in COMPONENTS {
                let step = Step::StoreElement { view: 0, element: 0, offset, from, lanes };
                let first = |lane: usize| (i64::from(number(lane as i32)) + i64::from(offset)) * 4;
                check(on, step, from, |lane| number(lane as i32) as u32, first);
            }
        }
    }
}

/// Words in windows, as loads and stores find them when they run: in any order, each of its own or not, in one that goes on and one that
/// changes, inside, across the ends and outside. What stores have learned in one call they know in the next one, and in other functions
/// nobody does: of one pattern, so that each can be learned, or of all, of which the first ones are all that is learned.
pub fn in_windows(on: On) {
    const WORDS: u32 = 4 * LANES as u32 + 3;
    type Number = fn(u32) -> u32;
    let patterns: [Number; 14] = [
        |lane| 2 * lane,
        |lane| 2 * lane + 1,
        |lane| 2 * lane - lane % 2,
        |lane| 2 * lane - lane % 4 + 4,
        |lane| 2 * lane - lane % 8 + 8,
        |lane| lane ^ 1,
        |lane| lane ^ 15,
        |lane| lane / 8 * 16 + lane * 5 % 8 * 2 + lane % 2,
        |lane| lane / 16 * 32 + 31 - lane % 16 * 2,
        // Every second strip in another order, or each.
        |lane| lane ^ (9 * (lane >> 4 & 1)) ^ 6,
        |lane| lane ^ (lane >> 3) ^ 5,
        // Some twice, some a window further on.
        |lane| (lane & !4) ^ 3,
        |lane| (lane ^ 2) + lane % 8 / 7 * 32,
        |lane| 200 + (lane ^ 3),
    ];
    let firsts = [0, 1, 5, 16, WORDS - 64, WORDS - 40, 0u32.wrapping_sub(20)];
    let mut ticks = endless();
    for (first, alone) in firsts.into_iter().flat_map(|first| [(first, false), (first, true)]) {
        let mut compiler = on.compiler().with_lines(16);
        let words = |rows: [u32; 4]| Step::Store { view: 1, address: 0, from: rows, lanes: Shape::Any };
        let load = Step::Load { view: 0, address: 0, to: [1, NONE, NONE, NONE], flush: 0, lanes: Shape::Any };
        let mut function =
            |step: Step<'_>| compiler.function(&[step], |_| None, |_| false, |_| false).unwrap();
        let loads = function(load);
        let stores = [1, 2].map(|row| function(words([row, NONE, NONE, NONE])));
        let module = compiler.finish().unwrap();
        for (number, pattern) in patterns.into_iter().enumerate() {
            if alone {
                ticks = endless();
            }
            // More often than is learned.
            for (round, exec) in [!0, !0, 0xFFFF_FFFF_0FFF_FFFFu64].into_iter().cycle().take(9).enumerate() {
                let before: Vec<u32> = (0..WORDS + 40).map(|at| at << 8).collect();
                let mut stored = before.clone();
                // SAFETY: the vectors outlive the calls.
                let views = [&before, &stored]
                    .map(|words| unsafe { View::new(words.as_ptr().cast_mut().cast(), 4 * WORDS as usize) });
                let address = |lane: u32| first.wrapping_add(pattern(lane)).wrapping_mul(4);
                let mut rows = vec![Row(std::array::from_fn(|lane| address(lane as u32))), Row::splat(9)];
                rows.push(Row(std::array::from_fn(|lane| lane as u32 | 1 << 30)));
                on.call(&module, loads, &mut rows, &views, exec, &mut ticks);
                for lane in 0..LANES as u32 {
                    let word = before[..WORDS as usize].get(address(lane) as usize / 4).copied().unwrap_or(0);
                    let expected = if exec >> lane & 1 == 1 { word } else { 9 };
                    assert_eq!(rows[1].0[lane as usize], expected, "load {number} from {first}, lane {lane}");
                }
                rows[1] = Row(std::array::from_fn(|lane| lane as u32 | 1 << 31));
                let row = round % 2 + 1;
                let function = stores[row - 1];
                on.call(&module, function, &mut rows, &views, exec, &mut ticks);
                let mut may_be: Vec<Vec<u32>> = before.iter().map(|word| vec![*word]).collect();
                for lane in (0..LANES as u32).filter(|lane| exec >> lane & 1 == 1) {
                    if let Some(words) = may_be[..WORDS as usize].get_mut(address(lane) as usize / 4) {
                        // The last one stays.
                        *words = vec![rows[row].0[lane as usize]];
                    }
                }
                for (at, word) in stored.drain(..).enumerate() {
                    let of = &may_be[at];
                    assert!(
                        of.contains(&word),
                        "store {number} from {first}, {round}: word {at} is {word:x}, not of {of:x?}"
                    );
                }
            }
        }
    }
}
