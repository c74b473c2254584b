//! Loops that lanes leave in the middle of a round are one block, and rows that only floats read are not flushed in them.

use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_jit::{LANES, Row, Step, Ticks, View};

use crate::flow::{Own, lane, patience};
use crate::{On, Random};

/// Rows: constants, floats, words, the counter of the loop, the number of the lane, and the test of a break.
const CONSTANTS: [u32; 6] = [0, 1, 4, 0x3F00_0000, 0x7FFF_FFFF, 0];
const FLOATS: u32 = 6;
const WORDS: u32 = FLOATS + 6;
const COUNTER: u32 = WORDS + 4;
const ADDRESS: u32 = COUNTER + 1;
const TEST: u32 = ADDRESS + 1;
const ROWS: u32 = TEST + 1;
/// Zeros, denormals, what becomes a denormal when it is multiplied, and others.
const VALUES: [u32; 10] = [
    0,
    0x8000_0000,
    0x0000_0123,
    0x8070_0000,
    0x0100_0000,
    0x8100_0000,
    0x1E00_0000,
    0x3F40_0000,
    0xBF80_0000,
    0x3FA0_0000,
];

fn float(random: &mut Random) -> u32 {
    FLOATS + random.below(6)
}

fn ops(random: &mut Random, steps: &mut Vec<Own>, most: u32) {
    for _ in 0..random.below(most) {
        let [to, a, b] = [(); 3].map(|()| float(random));
        let word = WORDS + random.below(4);
        steps.push(match random.below(8) {
            0 | 1 => Own::Op(LaneOp::Add, [to, a, b, 0], 3),
            2 => Own::Op(LaneOp::Sub, [to, a, b, 0], 3),
            3 => Own::Op(LaneOp::Mul, [to, a, a, 0], 3),
            4 => Own::Op(LaneOp::Mul, [to, a, b, 0], 3),
            5 => Own::Op(LaneOp::Lt, [word, a, b, 0], 3),
            6 => Own::Op(LaneOp::Iadd, [word, word, WORDS + random.below(4), 0], 3),
            _ => Own::Op(LaneOp::Xor, [word, WORDS + random.below(4), a, 0], 3),
        });
    }
}

/// A loop with a break at its beginning and more of them later.
fn program(random: &mut Random) -> Vec<Own> {
    let mut steps = Vec::new();
    for row in FLOATS..FLOATS + 6 {
        steps.push(Own::Op(LaneOp::Flush, [row, row, 0, 0], 2));
    }
    steps.push(Own::Op(LaneOp::Mov, [COUNTER, 0, 0, 0], 2));
    steps.push(Own::Loop);
    if random.below(3) == 0 {
        steps.push(Own::Load(WORDS, ADDRESS));
    }
    steps.push(Own::Op(LaneOp::Ult, [TEST, 2, COUNTER, 0], 3));
    steps.push(Own::Break(Some((TEST, true))));
    for _ in 0..1 + random.below(3) {
        ops(random, &mut steps, 4);
        let (test, nonzero) = match random.below(3) {
            0 => (LaneOp::Lt, true),
            1 => (LaneOp::Ge, false),
            _ => (LaneOp::Ne, random.below(2) == 0),
        };
        let [a, b] = [(); 2].map(|()| float(random));
        steps.push(Own::Op(test, [TEST, a, b, 0], 3));
        if random.below(4) > 0 {
            steps.push(Own::Break(Some((TEST, nonzero))));
        }
    }
    ops(random, &mut steps, 6);
    steps.push(Own::Op(LaneOp::Iadd, [COUNTER, COUNTER, 1, 0], 3));
    steps.push(Own::EndLoop);
    // What the loop left there nobody reads, but who was not in it keeps what there was.
    for row in FLOATS..FLOATS + 6 {
        if random.below(4) == 0 {
            steps.push(Own::Op(LaneOp::Mov, [row, 3, 0, 0], 2));
        }
    }
    steps
}

pub fn random_rounds(on: On) {
    let (mut joined, mut compared) = (0, 0);
    for round in 0..400 {
        let mut random = Random(round * 91 + 7);
        let steps = program(&mut random);
        let list: Vec<Step<'_>> = steps.iter().map(|own| own.step(Shape::Any, Shape::Any)).collect();
        let seen: u32 = random.word() & random.word();
        let dead = |row: u32| row < COUNTER && seen >> row & 1 == 0 || row == TEST;
        let constant = |row: u32| CONSTANTS.get(row as usize).copied();
        let mut compiler = on.compiler().with_lines(if round % 2 == 1 { 32 } else { 0 });
        let function = compiler.function(&list, constant, dead, |_| false).expect("it can be made");
        let module = compiler.finish().expect("there is memory");
        joined += u32::from(module.listing(function).is_some_and(|text| text.contains("lanes leave where")));
        for exec in [!0, 0xF00F_0000_1234_8001u64, 1 << 40] {
            let mut rows: Vec<Row> = (0..ROWS)
                .map(|row| match constant(row) {
                    Some(word) => Row::splat(word),
                    None if row == ADDRESS => Row(std::array::from_fn(|lane| 4 * lane as u32)),
                    None if row < WORDS => {
                        Row(std::array::from_fn(|_| VALUES[random.below(VALUES.len() as u32) as usize]))
                    }
                    None => Row(std::array::from_fn(|_| random.below(5))),
                })
                .collect();
            let memory: Vec<u32> = (0..LANES as u32).map(|_| random.word()).collect();
            let before = rows.clone();
            // SAFETY: the vector outlives the call.
            let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * LANES) }];
            let patience = patience(u32::MAX);
            let mut ticks = Ticks::new(&patience);
            on.call(&module, function, &mut rows, &views, exec, &mut ticks);
            assert!(!ticks.stopped());
            for k in 0..LANES {
                let mut own: Vec<u32> = before.iter().map(|row| row.0[k]).collect();
                if exec >> k & 1 == 1 {
                    lane(&steps, &mut own, &memory, &mut []);
                }
                // What NaNs there are in the end depends on who looks.
                if own[FLOATS as usize..WORDS as usize].iter().any(|word| word & 0x7FFF_FFFF >= 0x7F80_0000) {
                    continue;
                }
                for row in (FLOATS..ROWS).filter(|&row| !dead(row)) {
                    compared += 1;
                    let got = rows[row as usize].0[k];
                    assert_eq!(got, own[row as usize], "round {round}, lane {k}, row {row} of {steps:#?}");
                }
            }
        }
    }
    assert!(joined > 100, "only {joined} are one block");
    assert!(compared > 100_000, "only {compared} words were compared");
}

/// A square asks for no zeros, and what nothing but floats reads is not flushed, unless it is read when the loop has ended.
pub fn rounds_of_floats_are_bare(on: On) {
    let steps = [
        Own::Loop,
        Own::Op(LaneOp::Lt, [TEST, FLOATS, FLOATS + 1, 0], 3),
        Own::Break(Some((TEST, true))),
        Own::Op(LaneOp::Mul, [FLOATS, FLOATS, FLOATS, 0], 3),
        Own::Op(LaneOp::Add, [FLOATS, FLOATS, FLOATS + 2, 0], 3),
        Own::Op(LaneOp::Mul, [FLOATS + 1, FLOATS + 1, FLOATS + 1, 0], 3),
        // So that the mode pays.
        Own::Op(LaneOp::Add, [FLOATS + 3, FLOATS, FLOATS + 3, 0], 3),
        Own::EndLoop,
    ];
    let list: Vec<Step<'_>> = steps.iter().map(|own| own.step(Shape::Any, Shape::Any)).collect();
    let listing = |dead: &dyn Fn(u32) -> bool| {
        let mut compiler = on.compiler();
        let function = compiler.function(&list, |_| None, dead, |_| false).expect("it can be made");
        compiler.finish().and_then(|module| module.listing(function)).expect("programs are kept")
    };
    let left = |text: &str| {
        let row = text.lines().rfind(|line| line.contains(&format!("row {} = v", FLOATS + 1)));
        let row = row.and_then(|line| line.split_once("= ")).expect("the row changes").1;
        let (val, lost) = row.split_once(' ').unwrap_or((row, ""));
        let val = text.lines().rfind(|line| line.trim_start().starts_with(&format!("{val} = ")));
        (val.expect("it is computed").to_owned(), lost.contains("others may see anything"))
    };
    let [nobody, somebody] = [listing(&|row| row != FLOATS + 3), listing(&|_| false)].map(|text| left(&text));
    // Lanes that have left may have anything in rows that nobody reads after the loop.
    let [(nobody, lost), (somebody, kept)] = [nobody, somebody];
    assert!(lost && !kept);
    if on.isa.name() == "neon" {
        // It has no mode in which denormals count as zeros, and flushes by a mask of bits.
        assert!(nobody.contains("And") && somebody.contains("And"), "{nobody}, {somebody}");
        return;
    }
    assert!(nobody.contains("FMul") && !nobody.contains("where"), "{nobody}");
    assert!(somebody.contains("FAdd") && somebody.contains("0x80000000"), "{somebody}");
}

/// What the test computes is what a row becomes afterwards, too: in lanes that leave it keeps what it had.
pub fn rows_change_when_lanes_have_left(on: On) {
    let sum = |to| Own::Op(LaneOp::Iadd, [to, WORDS, WORDS + 1, 0], 3);
    let steps = [
        Own::Loop,
        sum(WORDS + 2),
        Own::Op(LaneOp::Ult, [TEST, WORDS + 3, WORDS + 2, 0], 3),
        Own::Break(Some((TEST, true))),
        sum(WORDS),
        Own::EndLoop,
    ];
    let list: Vec<Step<'_>> = steps.iter().map(|own| own.step(Shape::Any, Shape::Any)).collect();
    let mut compiler = on.compiler();
    let dead = |row| row == TEST || row == WORDS + 2;
    let function = compiler.function(&list, |_| None, dead, |_| false).expect("it can be made");
    let module = compiler.finish().expect("there is memory");
    assert!(module.listing(function).expect("programs are kept").contains("lanes leave where"));
    let mut rows = vec![Row::ZERO; ROWS as usize];
    rows[WORDS as usize + 1] = Row::splat(1);
    rows[WORDS as usize + 3] = Row(std::array::from_fn(|lane| lane as u32));
    let patience = patience(u32::MAX);
    on.call(&module, function, &mut rows, &[], !0, &mut Ticks::new(&patience));
    assert_eq!(rows[WORDS as usize].0, rows[WORDS as usize + 3].0);
}
