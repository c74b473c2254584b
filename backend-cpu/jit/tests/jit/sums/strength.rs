//! Rounds whose addresses go on by steps, and those that can't.

use std::cell::Cell;

use recal_jit::{Ask, Ticks};

use super::*;

/// Counts how often it is asked, and never stops anybody.
struct Asked(Cell<u32>);

impl Ask for Asked {
    fn stop(&self) -> bool {
        self.0.set(self.0.get() + 1);
        false
    }
}

/// A loop in long and short rounds, from lines before, among and behind those of a surface, by steps of one line and of three; some
/// begin between halves, where nobody knows which lines are next, and some are no numbers at all.
pub fn addresses_go_on(on: On) {
    for (by, number, times) in [(1.0f32, 1, 1), (3.0, 1, 1), (1.0, 8, 1), (1.0, 2, 3), (1.0, 20, 1)] {
        rounds_from(on, by, number, times);
    }
}

/// So many elements are read in a round, each from a line of its own, which goes on so many times.
fn rounds_from(on: On, by: f32, number: u32, times: u32) {
    const SIZES: [[u32; 2]; 2] = [[150, 70], [70, 150]];
    const BY: u32 = ROWS;
    const LINES: u32 = ROWS + 1;
    let line = |k: u32| LINES + k;
    let constant = |row: u32| if row == BY { Some(by.to_bits()) } else { constant(row) };
    let mads: Vec<[u32; 4]> = (0..4).map(|k| [SUMS + k, A + 1, B + k, SUMS + k]).collect();
    let adds: Vec<[u32; 3]> = (0..number * times).map(|k| [line(k % number), line(k % number), BY]).collect();
    let mut steps = vec![
        Step::Loop,
        lane(LaneOp::Ige, &[FLAG, ROUND, ROUNDS], 3),
        Step::Break(Some((FLAG, true, Shape::Same))),
    ];
    for k in 0..number {
        steps.extend([element(0, [line(k), OTHER], A, 3), element(1, [COLUMN, line(k)], B, 2)]);
        steps.extend(mads.iter().map(|ids| lane(LaneOp::Mad, ids, 1)));
    }
    steps.extend(adds.iter().map(|ids| lane(LaneOp::Add, ids, 3)));
    steps.extend([lane(LaneOp::Iadd, &[ROUND, ROUND, ONE], 3), Step::EndLoop]);
    let mut compiler = on.compiler().with_lines(32);
    let function = compiler.function(&steps, constant, dead, dead).unwrap();
    let module = compiler.finish().unwrap();
    if on.isa.name() != "neon" {
        let (_, all) = module.code_of(function);
        let code: Vec<Instruction> =
            Decoder::new(64, all.unwrap(), DecoderOptions::NONE).into_iter().collect();
        // In a register that rounds need for no address, or on the stack; strips are counted in another.
        let counts = |of: &Instruction| {
            let held = of.op0_kind() == OpKind::Register && of.op0_register() != Register::EBX;
            of.mnemonic() == Mnemonic::Dec && (held || of.memory_base() == Register::RCX)
        };
        let end = code.iter().position(counts);
        let held = end.map(|end| code[end].op0_kind() == OpKind::Register);
        assert!(number > 1 || held == Some(true), "rounds of two addresses are counted in memory");
        // Forty addresses would take as long to begin with as rounds gain.
        assert_eq!(end.is_some(), number < 20, "rounds with {number} lines go on by steps");
        let end = end.unwrap_or_default();
        let first = code[end + 1].near_branch_target();
        let round = code[..end].iter().filter(|of| of.ip() >= first);
        // What short rounds read far from each other is asked for some of them ahead.
        let asks = |of: &&Instruction| of.mnemonic() == Mnemonic::Prefetcht0 && of.memory_index_scale() == 4;
        let far = round.clone().filter(asks).count();
        assert!(number > 1 || far > 0, "nothing is asked for ahead");
        let computes = |of: &&Instruction| {
            matches!(
                of.mnemonic(),
                Mnemonic::Vcvttps2dq | Mnemonic::Cmovg | Mnemonic::Movsxd | Mnemonic::Vpmulld
            )
        };
        assert_eq!(round.filter(computes).count(), 0, "a round computes an address");
    }
    let mut random = Random(21);
    let memory = SIZES.map(|[width, height]| -> Vec<u32> {
        (0..4 * width * height).map(|_| factor(&mut random, Words::Plain)).collect()
    });
    // SAFETY: the vectors outlive the calls.
    let view = |words: &Vec<u32>| unsafe { View::new(words.as_ptr().cast(), 4 * words.len()) };
    let with_texels = |([width, height], words): (&[u32; 2], &Vec<u32>)| {
        view(words).with_texels(*width, *height, 4 * width, 4, [0; 4])
    };
    let views: Vec<View> = SIZES.iter().zip(&memory).map(with_texels).collect();
    let texel = |view: usize, column: u32, line: u32, k: u32| {
        let [column, line] =
            [0, 1].map(|axis| (f32::from_bits([column, line][axis]) as u32).min(SIZES[view][axis] - 1));
        memory[view][((line * SIZES[view][0] + column) * 4 + k) as usize]
    };
    let begins = [0.5f32, 0.0, 7.0, 3.25, -40.5, 130.5, 149.5, 1.0e9, 4_194_300.0, -0.0, f32::NAN];
    let rows_of = |begin: f32, rounds: u32| -> Vec<Row> {
        let word = |row: u32, lane: u32| match row {
            ROUNDS => rounds,
            COLUMN => (0.5 + (lane % 32) as f32).to_bits(),
            OTHER => 5.5f32.to_bits(),
            LINES.. => (begin + (row - LINES) as f32).to_bits(),
            _ => constant(row).unwrap_or(0),
        };
        (0..line(number)).map(|row| Row(std::array::from_fn(|lane| word(row, lane as u32)))).collect()
    };
    // Who goes on by steps asks less often whether to stop.
    let asked = |begin: f32| {
        let asked = Asked(Cell::new(0));
        let mut ticks = Ticks::new(&asked);
        for _ in 0..64 {
            on.call(&module, function, &mut rows_of(begin, 140), &views, !0, &mut ticks);
        }
        asked.0.get()
    };
    if on.code && on.isa.name() != "neon" && by == 1.0 && times == 1 && number < 20 {
        let [steps, others] = [0.5, 0.25].map(asked);
        assert!(3 * steps < others, "{steps} questions where addresses go on, {others} where nobody knows");
    }
    let counts: &[u32] = if number < 20 { &[0, 1, 31, 32, 33, 150] } else { &[0, 33] };
    for (begin, rounds) in begins.into_iter().flat_map(|begin| counts.iter().map(move |n| (begin, *n))) {
        let mut rows = rows_of(begin, rounds);
        let before = rows.clone();
        on.call(&module, function, &mut rows, &views, !0, &mut endless());
        for lane in 0..LANES {
            let mut own: Vec<u32> = before.iter().map(|row| row.0[lane]).collect();
            for _ in 0..rounds {
                for k in 0..number {
                    let line = own[line(k) as usize];
                    for k in 0..4 {
                        own[(A + k) as usize] = texel(0, line, own[OTHER as usize], k);
                        own[(B + k) as usize] = texel(1, own[COLUMN as usize], line, k);
                    }
                    for [sum, a, b, _] in &mads {
                        let args = [a, b, sum].map(|row| own[*row as usize]);
                        own[*sum as usize] = fold(LaneOp::Mad, &args).0;
                    }
                }
                for [line, ..] in &adds {
                    own[*line as usize] = fold(LaneOp::Add, &[own[*line as usize], by.to_bits()]).0;
                }
            }
            let ends = (SUMS..IEEE).chain(LINES..line(number)).map(|row| row as usize);
            for row in ends {
                assert_eq!(
                    rows[row].0[lane], own[row],
                    "lane {lane} row {row}, {rounds} rounds from {begin}"
                );
            }
        }
    }
}
