//! Blocks with more values than registers.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_jit::{Row, Step, View};

use crate::{On, arm, endless};

/// A sum of outer products: 64 sums, and many more values that live on the stack for a while, one after another.
pub fn places_on_the_stack_are_used_again(on: On) {
    let mut compiler = on.compiler();
    // Rows: 64 sums, 16 factors, the address and what it grows by.
    const SIDE: u32 = 8;
    const ROUNDS: u32 = 12;
    let (factors, address) = (SIDE * SIDE, SIDE * SIDE + 2 * SIDE);
    let sums: Vec<[u32; 4]> =
        (0..SIDE * SIDE).map(|sum| [sum, factors + sum / SIDE, factors + SIDE + sum % SIDE, sum]).collect();
    let next = [address, address, address + 1];
    let mut steps = Vec::new();
    for _ in 0..ROUNDS {
        for factor in (0..2 * SIDE).step_by(4) {
            let to = std::array::from_fn(|k| factors + factor + k as u32);
            steps.push(Step::Load { view: 0, address, to, flush: 15, lanes: Shape::Any });
            steps.push(Step::Lane { op: LaneOp::Iadd, ids: &next, writes: 1, same: 0 });
        }
        steps.extend(sums.iter().map(|ids| Step::Lane { op: LaneOp::Mad, ids, writes: 1, same: 0 }));
    }
    let constant = |row: u32| (row == address + 1).then_some(16);
    let function = compiler.function(&steps, constant, |row| row >= factors, |_| false);
    let function = function.expect("fits on the stack");
    let module = compiler.finish().unwrap();
    let memory: Vec<u32> = (0..2048).map(|k: u32| ((k * 37 % 201) as f32 - 100.0).to_bits()).collect();
    for infinity in [false, true] {
        let mut memory = memory.clone();
        if infinity {
            memory[100] = f32::INFINITY.to_bits();
            memory[130] = 0;
        }
        // SAFETY: the vector outlives the call.
        let view = unsafe { View::new(memory.as_ptr().cast(), 4 * memory.len()) };
        let mut rows = vec![Row::ZERO; address as usize + 2];
        rows[address as usize] = Row(std::array::from_fn(|lane| 4 * (lane as u32 * 7 % 64)));
        let starts = rows[address as usize].0;
        on.call(&module, function, &mut rows, &[view], !0, &mut endless());
        for (lane, start) in starts.into_iter().enumerate() {
            let mut expected = [0; (SIDE * SIDE) as usize];
            for round in 0..ROUNDS {
                let at = (start / 4 + round * 2 * SIDE) as usize;
                for (sum, word) in expected.iter_mut().enumerate() {
                    let [a, b] = [sum / SIDE as usize, (sum % SIDE as usize) + SIDE as usize];
                    *word = fold(LaneOp::Mad, &[memory[at + a], memory[at + b], *word]).0;
                }
            }
            let got: Vec<u32> = (0..SIDE * SIDE).map(|sum| rows[sum as usize].0[lane]).collect();
            let same =
                |(a, b): (&u32, &u32)| a == b || f32::from_bits(*a).is_nan() && f32::from_bits(*b).is_nan();
            assert!(got.iter().zip(&expected).all(same), "lane {lane}");
        }
    }
}

/// Sixteen sums and four factors in memory: with few registers the factors come from there, since whoever gave way for
/// one would have to be stored and loaded; once for all that are products of one.
pub fn operands_come_from_memory(on: On) {
    const ROUNDS: u32 = 64;
    let mut lists = Vec::new();
    for _ in 0..ROUNDS {
        for (k, c) in (0..4).flat_map(|k| (0..4).map(move |c| (k, c))) {
            lists.push([4 * k + c, 4 * k + c, 16 + k, 4 * ((k + 1) % 4) + c]);
        }
    }
    let steps: Vec<Step<'_>> =
        lists.iter().map(|ids| Step::Lane { op: LaneOp::Mad, ids, writes: 1, same: 0 }).collect();
    let mut compiler = on.compiler();
    let function = compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    let mut rows: Vec<Row> = (0..20u32)
        .map(|row| {
            Row(std::array::from_fn(|lane| (0.5 - (row * 64 + lane as u32) as f32 / 3000.0).to_bits()))
        })
        .collect();
    let mut expected = rows.clone();
    for ids in &lists {
        expected[ids[0] as usize] = Row(std::array::from_fn(|lane| {
            fold(LaneOp::Mad, &[1, 2, 3].map(|k: usize| expected[ids[k] as usize].0[lane])).0
        }));
    }
    on.call(&module, function, &mut rows, &[], !0, &mut endless());
    assert_eq!(rows, expected);
    // The code without tests comes first: a product and a sum for each step, and few moves beside them.
    let steps = lists.len();
    if on.isa.name() == "neon" {
        let code = arm(module.code());
        let names = code.iter().map(|text| text.split(' ').next().unwrap_or_default());
        // Products and sums are flushed by three instructions each.
        let sums = names.skip_while(|name| *name != "fmul").take(8 * steps);
        let moves = sums.filter(|name| ["mov", "ldr", "str"].contains(name)).count();
        assert!(moves < steps / 3, "{moves} moves among {steps} steps");
        return;
    }
    let (_, all) = module.code_of(function);
    let code = Decoder::new(64, all.unwrap(), DecoderOptions::NONE).into_iter();
    let is = |of: &Instruction, mnemonics: &[Mnemonic]| mnemonics.contains(&of.mnemonic());
    let sums: Vec<Instruction> =
        code.skip_while(|of| !is(of, &[Mnemonic::Vmulps])).take(2 * steps + steps / 4).collect();
    let moves = sums.iter().filter(|of| is(of, &[Mnemonic::Vmovups, Mnemonic::Vmovdqa32]));
    let moves = moves.filter(|of| of.memory_base() != Register::RDI).count();
    assert!(moves < steps * 7 / 20, "{moves} moves among {steps} steps");
    // A factor of four products is loaded once.
    let products = sums.iter().filter(|of| is(of, &[Mnemonic::Vmulps]));
    let from_memory = products.filter(|of| of.memory_base() == Register::RDI).count();
    assert!(from_memory < steps / 8, "{from_memory} of {steps} products read their factors from memory");
}

/// Products that ask for no zeros may have to be made again, so no row is stored before that is known. What they have no part in waits in no
/// register meanwhile, nor on the stack: it is computed then.
pub fn what_is_not_in_doubt_comes_last(on: On) {
    const SUMS: u32 = 4;
    const FACTORS: u32 = SUMS;
    const COUNTERS: u32 = 2 * SUMS;
    const ROUNDS: u32 = 12;
    const BY: u32 = COUNTERS + 24;
    let adds: Vec<[u32; 3]> = (COUNTERS..BY).map(|row| [row, row, BY]).collect();
    let mads: Vec<[u32; 4]> = (0..ROUNDS * SUMS)
        .map(|k| [k % SUMS, k % SUMS, FACTORS + (k + k / SUMS) % SUMS, (k + 1) % SUMS])
        .collect();
    let mut steps: Vec<Step<'_>> = Vec::new();
    steps.extend(adds.iter().map(|ids| Step::Lane { op: LaneOp::Iadd, ids, writes: 1, same: 0 }));
    steps.extend(mads.iter().map(|ids| Step::Lane { op: LaneOp::Mad, ids, writes: 1, same: 0 }));
    let mut compiler = on.compiler();
    let constant = |row: u32| (row == BY).then_some(3);
    let function = compiler.function(&steps, constant, |_| false, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    for doubt in [false, true] {
        let word = |row: u32, lane: usize| match row {
            FACTORS if doubt && lane == 40 => f32::INFINITY.to_bits(),
            ..COUNTERS => (0.5 - (row * 64 + lane as u32) as f32 / 1000.0).to_bits(),
            _ => row * 1000 + lane as u32,
        };
        let mut rows: Vec<Row> =
            (0..=BY).map(|row| Row(std::array::from_fn(|lane| word(row, lane)))).collect();
        // A zero times infinity is zero.
        rows[FACTORS as usize + 1].0[40] = 0;
        let mut expected = rows.clone();
        for ids in &mads {
            let found =
                |lane| fold(LaneOp::Mad, &[1, 2, 3].map(|k: usize| expected[ids[k] as usize].0[lane])).0;
            expected[ids[0] as usize] = Row(std::array::from_fn(found));
        }
        for row in COUNTERS..BY {
            expected[row as usize].0.iter_mut().for_each(|word| *word += 3);
        }
        on.call(&module, function, &mut rows, &[], !0, &mut endless());
        let wrong = rows.iter().zip(&expected).position(|(got, expected)| got != expected);
        assert_eq!(wrong, None, "a row, with doubt {doubt}");
    }
    // What comes before the first jump behind a product.
    let early = match on.isa.name() {
        "neon" => {
            let code = arm(module.code());
            let jumps = |text: &String| ["b.", "cb", "tb"].iter().any(|jump| text.starts_with(jump));
            let product = code.iter().position(|text| text.starts_with("fmul")).expect("a product");
            let end = product + code[product..].iter().position(jumps).expect("a jump");
            code[..end].iter().filter(|text| text.starts_with("add v")).count()
        }
        _ => {
            let (_, all) = module.code_of(function);
            let code: Vec<Instruction> =
                Decoder::new(64, all.unwrap(), DecoderOptions::NONE).into_iter().collect();
            let is = |mnemonic: Mnemonic| move |of: &Instruction| of.mnemonic() == mnemonic;
            let product = code.iter().position(is(Mnemonic::Vmulps)).expect("a product");
            let end =
                product + code[product..].iter().position(|of| of.is_jcc_short_or_near()).expect("a jump");
            code[..end].iter().filter(|of| is(Mnemonic::Vpaddd)(of)).count()
        }
    };
    assert_eq!(early, 0, "counters before products are believed");
}

/// A product of tiles that was written out, step by step for all of 64 sums, into other rows than they began in: a few sums at a time take
/// all their steps, and no sum goes to the stack and back for each.
pub fn sums_grow_a_few_at_a_time(on: On) {
    const SIDE: u32 = 8;
    const ROUNDS: u32 = 8;
    let (factors, to) = (SIDE * SIDE, SIDE * SIDE + 2 * SIDE * ROUNDS);
    let mut lists = Vec::new();
    for (round, sum) in (0..ROUNDS).flat_map(|round| (0..SIDE * SIDE).map(move |sum| (round, sum))) {
        let factor = factors + 2 * SIDE * round;
        let before = if round == 0 { sum } else { to + sum };
        lists.push([to + sum, factor + sum / SIDE, factor + SIDE + sum % SIDE, before]);
    }
    let steps: Vec<Step<'_>> =
        lists.iter().map(|ids| Step::Lane { op: LaneOp::MadIeee, ids, writes: 1, same: 0 }).collect();
    let mut compiler = on.compiler();
    let function = compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    let mut rows: Vec<Row> = (0..to + SIDE * SIDE)
        .map(|row| {
            Row(std::array::from_fn(|lane| (0.5 - (row * 64 + lane as u32) as f32 / 9000.0).to_bits()))
        })
        .collect();
    let mut expected = rows.clone();
    for ids in &lists {
        expected[ids[0] as usize] = Row(std::array::from_fn(|lane| {
            fold(LaneOp::MadIeee, &[1, 2, 3].map(|k: usize| expected[ids[k] as usize].0[lane])).0
        }));
    }
    on.call(&module, function, &mut rows, &[], !0, &mut endless());
    assert!(rows == expected);
    if on.isa.name() != "neon" {
        let (_, code) = module.code_of(function);
        let decoded = Decoder::new(64, code.unwrap(), DecoderOptions::NONE).into_iter();
        let moved = decoded.filter(|found| {
            found.memory_base() == Register::RCX && format!("{:?}", found.mnemonic()).starts_with('V')
        });
        let moved = moved.count();
        assert!(moved < lists.len() / 8, "{moved} moves to and from the stack for {} steps", lists.len());
    }
}

/// A loop of four chains of operations, as a hash has, step by step for all four: two strips of them fit sixteen registers if one chain
/// comes after another.
pub fn chains_need_a_register_each(on: On) {
    let (round, rounds, flag, one) = (0u32, 1, 2, 3);
    let constants = [(one, 1), (4, 16), (5, 0x85EB_CA6B), (6, 13)];
    let (chains, shifted) = (8..12u32, 12);
    let mut lists = Vec::new();
    for (op, operand) in
        [(LaneOp::Ushr, 4), (LaneOp::Imul, 5), (LaneOp::Ushr, 6), (LaneOp::Imul, 5), (LaneOp::Ushr, 4)]
    {
        match op {
            LaneOp::Ushr => {
                lists.extend(chains.clone().map(|h| (op, vec![h - 8 + shifted, h, operand])));
                lists.extend(chains.clone().map(|h| (LaneOp::Xor, vec![h, h, h - 8 + shifted])));
            }
            _ => lists.extend(chains.clone().map(|h| (op, vec![h, h, operand]))),
        }
    }
    lists.push((LaneOp::Iadd, vec![round, round, one]));
    let test = [flag, round, rounds];
    let mut steps = vec![
        Step::Loop,
        Step::Lane { op: LaneOp::Uge, ids: &test, writes: 1, same: 3 },
        Step::Break(Some((flag, true, Shape::Same))),
    ];
    steps.extend(lists.iter().map(|(op, ids)| Step::Lane { op: *op, ids, writes: 1, same: 0 }));
    steps.push(Step::EndLoop);
    let constant = |row: u32| constants.iter().find(|(of, _)| *of == row).map(|(_, word)| *word);
    let mut compiler = on.compiler().with_lines(32);
    let dead = |row: u32| row == flag || row >= shifted;
    let function = compiler.function(&steps, constant, dead, dead).unwrap();
    let module = compiler.finish().unwrap();
    let mut rows: Vec<Row> =
        (0..16u32).map(|row| Row(std::array::from_fn(|lane| row * 0x0101_2345 + lane as u32))).collect();
    rows[round as usize] = Row::ZERO;
    rows[rounds as usize] = Row([7; 64]);
    constants.iter().for_each(|&(row, word)| rows[row as usize] = Row([word; 64]));
    let mut expected = rows.clone();
    for (op, ids) in (0..7).flat_map(|_| &lists) {
        expected[ids[0] as usize] = Row(std::array::from_fn(|lane| {
            fold(*op, &[1, 2].map(|k: usize| expected[ids[k] as usize].0[lane])).0
        }));
    }
    on.call(&module, function, &mut rows, &[], !0, &mut endless());
    assert_eq!(
        rows[chains.start as usize..chains.end as usize],
        expected[chains.start as usize..chains.end as usize]
    );
    if on.isa.name() != "neon" {
        let (_, code) = module.code_of(function);
        let decoded = Decoder::new(64, code.unwrap(), DecoderOptions::NONE).into_iter();
        let spilled = decoded.filter(|found| {
            found.memory_base() == Register::RCX && format!("{:?}", found.mnemonic()).starts_with('V')
        });
        assert_eq!(spilled.count(), 0, "values of chains are on the stack");
    }
}
