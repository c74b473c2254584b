//! Compiled operations give the bits of the functions they were made from.

use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::{Class, fold};
use recal_jit::{LANES, NONE, Row, Step, View};

use crate::{On, Random, endless};

const EDGES: [u32; 36] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007F_FFFF,
    0x807F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x0C00_0000,
    0x2000_0000,
    0x1FFF_FFFF,
    0x3F7F_FFFF,
    0x3F80_0000,
    0xBF80_0000,
    0x3F80_0001,
    0x3F00_0000,
    0x4049_0FDB,
    0xC0A0_0000,
    0x4B00_0001,
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0x4F80_0000,
    0x5F00_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0x7F80_0001,
    0xFFC0_1234,
    0xFFFF_FFFF,
    31,
    0x3FF0_0000,
    2,
];

impl Random {
    pub fn edge(&mut self) -> u32 {
        EDGES[self.word() as usize % EDGES.len()]
    }
}

fn words(op: LaneOp) -> usize {
    op.arguments().iter().map(|class| class.words()).sum()
}

fn writes(op: LaneOp) -> usize {
    if op.result() == Class::Q { 2 } else { 1 }
}

fn same(op: LaneOp, got: (u32, u32), expected: (u32, Option<u32>)) -> bool {
    let nan = |word: u32| f32::from_bits(word).is_nan();
    match expected.1 {
        Some(high) => got == (expected.0, high),
        // Which NaN an operation that keeps NaNs gives is not said.
        None => got.0 == expected.0 || op.result() == Class::F && nan(got.0) && nan(expected.0),
    }
}

pub fn flushed(word: u32) -> u32 {
    if word & 0x7F80_0000 == 0 { word & 0x8000_0000 } else { word }
}

/// Words for the arguments: those of class F are flushed.
fn fill(op: LaneOp, random: &mut Random, round: usize) -> Vec<Row> {
    let classes = op.arguments().iter().flat_map(|class| vec![*class; class.words()]);
    classes
        .map(|class| {
            Row(std::array::from_fn(|_| {
                let word = if round % 2 == 0 { random.edge() } else { random.word() };
                if class == Class::F { flushed(word) } else { word }
            }))
        })
        .collect()
}

pub fn every_operation_alone(on: On) {
    let mut random = Random(7);
    for &op in LaneOp::ALL {
        let ids: Vec<u32> = (0..(writes(op) + words(op)) as u32).collect();
        let step = Step::Lane { op, ids: &ids, writes: writes(op), same: 0 };
        let mut compiler = on.compiler();
        let function = compiler.function(&[step], |_| None, |_| false, |_| false).unwrap();
        let module = compiler.finish().unwrap();
        for round in 0..12 {
            let exec = if round % 3 == 0 { !0 } else { 0x8001_FFF0_0000_0001u64.rotate_left(round as u32) };
            let sources = fill(op, &mut random, round);
            let mut rows = vec![Row::splat(0xDEAD_BEEF); writes(op)];
            rows.extend(&sources);
            on.call(&module, function, &mut rows, &[], exec, &mut endless());
            assert_eq!(rows[writes(op)..], sources, "{op:?} changed its sources");
            for lane in 0..LANES {
                let args: Vec<u32> = sources.iter().map(|row| row.0[lane]).collect();
                let high = if writes(op) == 2 { rows[1].0[lane] } else { 0 };
                if exec >> lane & 1 == 0 {
                    assert_eq!(rows[0].0[lane], 0xDEAD_BEEF, "{op:?} wrote a lane that does not execute");
                    continue;
                }
                let (got, expected) = ((rows[0].0[lane], high), fold(op, &args));
                assert!(same(op, got, expected), "{op:?}({args:x?}) is {got:x?}, not {expected:x?}");
            }
        }
    }
}

/// Quotients alone would have all code take denormals as zeros.
pub fn denormals_are_kept(on: On) {
    let quotients: Vec<[u32; 4]> = (0..16).map(|k| [8 + k, 0, 1, 2]).collect();
    let mut steps: Vec<_> =
        quotients.iter().map(|ids| Step::Lane { op: LaneOp::Div, ids, writes: 1, same: 0 }).collect();
    steps.push(Step::Lane { op: LaneOp::BareFma, ids: &[3, 0, 1, 2], writes: 1, same: 0 });
    steps.push(Step::Lane { op: LaneOp::BareAdd, ids: &[4, 2, 2], writes: 1, same: 0 });
    let mut compiler = on.compiler().keeping_denormals(true);
    let function = compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    let mut random = Random(11);
    for _ in 0..20 {
        let mut rows = vec![Row::splat(0); 24];
        rows[..3].iter_mut().for_each(|row| *row = Row(std::array::from_fn(|_| random.edge())));
        on.call(&module, function, &mut rows, &[], !0, &mut endless());
        for lane in 0..LANES {
            let [x, y, z, fused, sum] = [0, 1, 2, 3, 4].map(|row: usize| rows[row].0[lane]);
            for (op, got, args) in [(LaneOp::BareFma, fused, &[x, y, z][..]), (LaneOp::BareAdd, sum, &[z, z])]
            {
                let expected = fold(op, args);
                assert!(same(op, (got, 0), expected), "{op:?}({args:x?}) is {got:x}, not {expected:x?}");
            }
        }
    }
}

/// Runs of random operations over few rows, with constants, rows that die and more values than registers.
pub fn random_runs(on: On) {
    // Which NaN these give is not said, and other operations look at its bits.
    let loose = [LaneOp::BareDadd, LaneOp::BareDsub, LaneOp::BareDmul, LaneOp::BareDmad];
    runs(on, 2008, 400, |op| !loose.contains(&op));
}

/// Floats and what looks at their bits: there instructions take denormals as zeros.
pub fn random_runs_of_floats(on: On) {
    let bits = {
        use LaneOp::*;
        [And, Or, Xor, Iadd, Ult, Ilt, Select, Mov, NegBits, AbsBits, Imul, Ishl, Ushr, Itof, Ftoi, Ftou]
    };
    let double = |op: LaneOp| op.result() == Class::Q || op.arguments().contains(&Class::Q);
    let whole = |op: LaneOp| op.arguments().contains(&Class::F) && !double(op);
    let other = [LaneOp::Ldexp, LaneOp::FrexpMant, LaneOp::DivScale, LaneOp::DivFmas, LaneOp::DivFixup];
    runs(on, 1985, 500, |op| {
        bits.contains(&op) || whole(op) && !other.contains(&op) && format!("{op:?}") != "F2d"
    });
}

fn runs(on: On, seed: u32, rounds: usize, wanted: impl Fn(LaneOp) -> bool) {
    let mut random = Random(seed);
    let ops: Vec<LaneOp> = LaneOp::ALL.iter().copied().filter(|&op| wanted(op)).collect();
    for round in 0..rounds {
        let count = if round % 4 == 0 { 60 } else { 8 } as u32;
        let literals = |row: u32| (row < 4).then(|| EDGES[(row as usize * 7 + round) % EDGES.len()]);
        let mut lists: Vec<(LaneOp, Vec<u32>)> = Vec::new();
        for _ in 0..1 + random.word() as usize % if round % 4 == 0 { 200 } else { 30 } {
            let op = ops[random.word() as usize % ops.len()];
            let mut ids: Vec<u32> = (0..writes(op)).map(|_| 4 + random.word() % count).collect();
            if ids.len() == 2 && ids[0] == ids[1] {
                continue;
            }
            let classes = op.arguments().iter().flat_map(|class| vec![*class; class.words()]);
            ids.extend(classes.map(|class| {
                let row = random.word() % (4 + count);
                // Arguments of class F are no denormals; constants can't be flushed first.
                let denormal = literals(row).is_some_and(|word| flushed(word) != word);
                if class == Class::F && denormal { 4 } else { row }
            }));
            let result = ids[0];
            lists.push((op, ids));
            // NaNs whose payload is not said must not reach anything that looks at bits.
            if op.result() == Class::F {
                lists.push((LaneOp::Canon, vec![result, result]));
            }
        }
        // Arguments of class F are flushed first.
        let mut flushed_lists = Vec::new();
        for (op, ids) in lists {
            let classes = op.arguments().iter().flat_map(|class| vec![*class; class.words()]);
            let float = classes.zip(&ids[writes(op)..]).filter(|(class, _)| *class == Class::F);
            let rows: Vec<u32> = float.map(|(_, &row)| row).filter(|&row| row >= 4).collect();
            for row in rows {
                flushed_lists.push((LaneOp::Flush, vec![row, row]));
                flushed_lists.push((LaneOp::Canon, vec![row, row]));
            }
            flushed_lists.push((op, ids));
        }
        let steps: Vec<Step<'_>> = flushed_lists
            .iter()
            .map(|(op, ids)| Step::Lane { op: *op, ids, writes: writes(*op), same: 0 })
            .collect();
        let dead = |row: u32| row % 5 == 4;
        let mut compiler = on.compiler();
        let Some(function) = compiler.function(&steps, literals, dead, |_| false) else {
            assert!(steps.len() > 60, "a short run was not compiled");
            continue;
        };
        let module = compiler.finish().unwrap();
        let exec =
            if round % 3 == 0 { !0 } else { u64::from(random.word()) << 32 | u64::from(random.word()) };
        let mut rows: Vec<Row> = (0..4 + count)
            .map(|row| match literals(row) {
                Some(word) => Row::splat(word),
                None => Row(std::array::from_fn(|_| random.edge())),
            })
            .collect();
        let mut expected = rows.clone();
        on.call(&module, function, &mut rows, &[], exec, &mut endless());
        for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
            for (op, ids) in &flushed_lists {
                let args: Vec<u32> =
                    ids[writes(*op)..].iter().map(|&id| expected[id as usize].0[lane]).collect();
                let (lo, hi) = fold(*op, &args);
                expected[ids[0] as usize].0[lane] = lo;
                if let Some(hi) = hi {
                    expected[ids[1] as usize].0[lane] = hi;
                }
            }
        }
        let nan = |word: u32| f32::from_bits(word).is_nan();
        for row in (0..4 + count as usize).filter(|&row| !dead(row as u32)) {
            for lane in 0..LANES {
                let (got, expected) = (rows[row].0[lane], expected[row].0[lane]);
                assert!(
                    got == expected || nan(got) && nan(expected),
                    "round {round}, row {row}, lane {lane}: {got:x}, not {expected:x}\n{steps:?}"
                );
            }
        }
    }
}

/// Loads and stores with neighbours, equal and scattered addresses, some of them outside.
pub fn memory(on: On) {
    const WORDS: usize = 300;
    let patterns: [fn(u32) -> u32; 8] = [
        |l| 4 * l,
        |l| 400 + 4 * l + l % 4,
        |l| 1000 + 4 * l,
        |_| 20,
        |l| 4 * (l * 37 % 290),
        |l| 4 * (l / 16),
        |l| 1180 + 8 * l,
        |l| if l % 3 == 0 { 0xFFFF_FFFC } else { 4 * (l % 16) },
    ];
    for (round, pattern) in patterns.into_iter().enumerate() {
        for exec in [!0, 0xF0F0_0000_FFFF_1234u64] {
            let mut compiler = on.compiler();
            let load =
                Step::Load { view: 1, address: 0, to: [1, NONE, 2, NONE], flush: 0b100, lanes: Shape::Any };
            let elements =
                Step::Load { view: 1, address: 3, to: [NONE, 4, NONE, NONE], flush: 0, lanes: Shape::Any };
            let load = compiler.function(&[load, elements], |_| None, |_| false, |_| false).unwrap();
            let store = Step::Store { view: 0, address: 0, from: [5, NONE, NONE, NONE], lanes: Shape::Any };
            let store = compiler.function(&[store], |_| None, |_| false, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            assert!(store.strict() && !load.strict());
            let mut from: Vec<u32> =
                (0..WORDS as u32 + 50).map(|k| k.wrapping_mul(0x1234_5677) | 1).collect();
            from[30] = 0x8000_0001;
            let mut to = vec![7u32; WORDS + 50];
            // SAFETY: both vectors outlive the calls.
            let views = [unsafe { View::new(to.as_mut_ptr().cast(), 4 * WORDS) }, unsafe {
                View::new(from.as_ptr().cast(), 4 * WORDS + 3)
            }];
            let mut rows = vec![Row::splat(9); 6];
            rows[0] = Row(std::array::from_fn(|lane| pattern(lane as u32)));
            rows[3] = Row(std::array::from_fn(|lane| pattern(lane as u32) / 8 + 1));
            rows[5] = Row(std::array::from_fn(|lane| 1000 + lane as u32));
            let before = rows.clone();
            on.call(&module, load, &mut rows, &views, exec, &mut endless());
            on.call(&module, store, &mut rows, &views, exec, &mut endless());
            let mut expected = vec![7u32; WORDS + 50];
            for lane in 0..LANES {
                if exec >> lane & 1 == 0 {
                    assert!((0..6).all(|row| rows[row].0[lane] == before[row].0[lane]));
                    continue;
                }
                let word = |at: usize| if at < WORDS { from[at] } else { 0 };
                let at = pattern(lane as u32) as usize / 4;
                let second = word(before[3].0[lane] as usize / 4 + 1);
                assert_eq!(rows[1].0[lane], word(at), "round {round} lane {lane}");
                assert_eq!(rows[2].0[lane], flushed(word(at + 2)), "round {round} lane {lane}");
                assert_eq!(rows[4].0[lane], second, "round {round} lane {lane}");
                if at < WORDS {
                    expected[at] = 1000 + lane as u32;
                }
            }
            assert_eq!(to, expected, "round {round}");
        }
    }
}

pub fn tests_of_rows(on: On) {
    let mut compiler = on.compiler();
    let less = [1, 0, 2];
    // Of what was computed, of a row, and of a constant.
    let computed = [Step::Lane { op: LaneOp::Ult, ids: &less, writes: 1, same: 0 }, Step::Test { row: 1 }];
    let functions = [
        compiler.function(&computed, |_| None, |row| row == 1, |_| false).unwrap(),
        compiler.function(&[Step::Test { row: 0 }], |_| None, |_| false, |_| false).unwrap(),
        compiler
            .function(&[Step::Test { row: 2 }], |row| (row == 2).then_some(8), |_| false, |_| false)
            .unwrap(),
        compiler
            .function(&[Step::Test { row: 2 }], |row| (row == 2).then_some(0), |_| false, |_| false)
            .unwrap(),
    ];
    let module = compiler.finish().unwrap();
    let mut random = Random(3);
    let number = Row(std::array::from_fn(|_| random.word() % 16 * (random.word() % 2)));
    for exec in [!0, 0x0123_0000_89AB_CDEF] {
        let mut rows = [number, Row::splat(7), Row::splat(8)];
        let lanes = |f: &dyn Fn(u32) -> bool| {
            number.0.iter().enumerate().fold(0, |mask, (lane, &word)| mask | u64::from(f(word)) << lane)
        };
        let expected = [lanes(&|word| word < 8), lanes(&|word| word != 0), !0, 0];
        for (function, expected) in functions.into_iter().zip(expected) {
            assert_eq!(
                on.call(&module, function, &mut rows, &[], exec, &mut endless()) & exec,
                expected & exec
            );
        }
        assert_eq!(rows[1], Row::splat(7));
    }
}

/// Chains of products and sums, as of matrix products: of harmless numbers, and with a few that need care. A test of a sum, or of a
/// factor, is told once, however often they are made.
pub fn chains_of_multiply_adds(on: On) {
    const CARE: [u32; 10] = [
        0,
        0x8000_0000,
        0x7F80_0000,
        0xFF80_0000,
        0x7FC0_0000,
        0x0080_0000,
        0x8080_0001,
        0x1FFF_FFFF,
        0x9F80_0000,
        0x7F7F_FFFF,
    ];
    let mut random = Random(1879);
    for round in 0..300u32 {
        // Rows: 0 to 2 sums, 3 a temporary, then factors, the last two of them constants.
        let factors = 8;
        let constants = [1.5f32.to_bits(), CARE[round as usize % CARE.len()]];
        let constant = |row: u32| row.checked_sub(10).and_then(|k| constants.get(k as usize).copied());
        let mut lists: Vec<(LaneOp, Vec<u32>)> = Vec::new();
        for _ in 0..10 + random.word() % 40 {
            let sum = random.word() % 3;
            let mut factor = || 4 + random.word() % factors;
            let (x, y) = (factor(), factor());
            match random.word() % 8 {
                0 => {
                    lists.push((LaneOp::Mul, vec![3, x, y]));
                    lists.push((if x % 2 == 0 { LaneOp::Add } else { LaneOp::Sub }, vec![sum, sum, 3]));
                }
                1 if round % 3 == 0 => lists.push((LaneOp::MulIeee, vec![sum, sum, x])),
                2 if round % 3 == 0 => lists.push((LaneOp::Sub, vec![sum, x, sum])),
                3 if round % 4 == 0 => lists.push((LaneOp::Mul, vec![sum, sum, x])),
                5 if round % 2 == 0 => lists.push((LaneOp::Mad, vec![sum, (sum + 1) % 3, x, y])),
                4 if round % 5 == 0 => lists.push((LaneOp::Max, vec![sum, sum, x])),
                _ => lists.push((LaneOp::Mad, vec![sum, x, y, sum])),
            }
        }
        let mut steps: Vec<Step<'_>> =
            lists.iter().map(|(op, ids)| Step::Lane { op: *op, ids, writes: 1, same: 0 }).collect();
        let tested = [0, 1, 4][round as usize % 3];
        steps.push(Step::Test { row: tested });
        let mut compiler = on.compiler();
        let function = compiler.function(&steps, constant, |row| row == 3, |_| false).unwrap();
        let module = compiler.finish().unwrap();
        for care in [0, 1, 8] {
            let exec = if care == 1 { 0x00FF_0001_F0F0_8000 } else { !0 };
            let mut word = |lane: usize| {
                let careful = lane % 16 == 5 && care > 0 && random.word() % 16 < care;
                let number = (random.word() as i32 as f32) / 1e9;
                if careful { CARE[random.word() as usize % CARE.len()] } else { number.to_bits() }
            };
            let mut rows: Vec<Row> = (0..12)
                .map(|row| match constant(row) {
                    Some(word) => Row::splat(word),
                    None => Row(std::array::from_fn(&mut word)),
                })
                .collect();
            let before = rows.clone();
            let told = on.call(&module, function, &mut rows, &[], exec, &mut endless());
            for lane in 0..LANES {
                let mut own: Vec<u32> = before.iter().map(|row| row.0[lane]).collect();
                if exec >> lane & 1 == 1 {
                    for (op, ids) in &lists {
                        let args: Vec<u32> = ids[1..].iter().map(|&id| own[id as usize]).collect();
                        own[ids[0] as usize] = fold(*op, &args).0;
                    }
                    assert_eq!(
                        told >> lane & 1 == 1,
                        own[tested as usize] != 0,
                        "round {round}, lane {lane}: {lists:?}"
                    );
                }
                for row in (0..12).filter(|&row| row != 3) {
                    let (got, expected) = (rows[row].0[lane], own[row]);
                    let nan = |word: u32| f32::from_bits(word).is_nan();
                    assert!(
                        got == expected || nan(got) && nan(expected),
                        "round {round}, lane {lane}, row {row}: {got:x}, not {expected:x}: {lists:?}"
                    );
                }
            }
        }
    }
}
