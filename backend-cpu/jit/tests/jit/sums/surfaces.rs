//! Sums of products of elements from many surfaces, in long rounds.

use super::*;

/// Elements of eight surfaces of different sizes in a long round: vectors compute where they are, whether lines end or go on.
pub fn addresses_side_by_side(on: On) {
    const SIZES: [[u32; 2]; 8] =
        [[70, 70], [33, 3], [64, 40], [70, 1], [40, 9], [50, 100], [52, 20], [65, 59]];
    // Each component of one element times all of the other, to three sums each.
    let mads: Vec<[u32; 4]> =
        (0..48).map(|k| [SUMS + k % 12, A + k / 12, B + k % 4, SUMS + k % 12]).collect();
    let mut steps = vec![
        Step::Loop,
        lane(LaneOp::Ige, &[FLAG, ROUND, ROUNDS], 3),
        Step::Break(Some((FLAG, true, Shape::Same))),
    ];
    for view in 0..SIZES.len() {
        let view = view as u8;
        steps.extend([element(view, [LINE, OTHER], A, 3), element(view, [COLUMN, LINE], B, 2)]);
        steps.extend(mads.iter().map(|ids| lane(LaneOp::Mad, ids, 1)));
    }
    steps.push(lane(LaneOp::Add, &[LINE, LINE, WHOLE], 3));
    steps.push(lane(LaneOp::Iadd, &[ROUND, ROUND, ONE], 3));
    steps.push(Step::EndLoop);
    let mut compiler = on.compiler().with_lines(32);
    let function = compiler.function(&steps, constant, dead, dead).unwrap();
    let module = compiler.finish().unwrap();
    if on.isa.name() != "neon" {
        let (_, all) = module.code_of(function);
        let code: Vec<Instruction> =
            Decoder::new(64, all.unwrap(), DecoderOptions::NONE).into_iter().collect();
        let chosen =
            |of: &Instruction| of.mnemonic() == Mnemonic::Vpermd && of.memory_base() == Register::RCX;
        let round = code.iter().position(chosen).expect("each address is found alone");
        let scalar = |of: &Instruction| of.mnemonic() == Mnemonic::Cmovg;
        assert!(!code[round..].iter().take(400).any(scalar), "an address is found in general registers");
        // A round ends where it might ask whether to stop.
        let round = code[round..].split(|of| of.mnemonic() == Mnemonic::Ldmxcsr).next().unwrap_or_default();
        let far = |of: &&Instruction| {
            let vector = of.op0_register().is_vector_register() && of.mnemonic() != Mnemonic::Vbroadcastss;
            vector && of.memory_base() == Register::R11
        };
        let far = round.iter().filter(far).count();
        assert_eq!(far, 4 * SIZES.len(), "what is far and used twelve times is read there once");
    }
    let mut random = Random(12);
    let memory = SIZES.map(|[width, height]| -> Vec<u32> {
        (0..4 * width * height).map(|_| factor(&mut random, Words::Zeros)).collect()
    });
    // SAFETY: the vectors outlive the calls.
    let view = |words: &Vec<u32>| unsafe { View::new(words.as_ptr().cast(), 4 * words.len()) };
    let views: Vec<View> = SIZES
        .iter()
        .zip(&memory)
        .map(|([width, height], words)| view(words).with_texels(*width, *height, 4 * width, 4, [0; 4]))
        .collect();
    let texel = |view: usize, column: u32, line: u32, k: u32| {
        let [column, line] = [0, 1]
            .map(|axis| (f32::from_bits([column, line][axis]).floor() as u32).min(SIZES[view][axis] - 1));
        FLOATS.arriving(memory[view][((line * SIZES[view][0] + column) * 4 + k) as usize])
    };
    for begin in [0.5f32, 20.5] {
        let word = |row: u32, lane: u32| match row {
            ROUNDS => [60, 7][lane as usize / 32],
            COLUMN => (begin + (lane % 32) as f32).to_bits(),
            LINE | OTHER => (0.5 + (row - LINE) as f32).to_bits(),
            _ => constant(row).unwrap_or(0),
        };
        let mut rows: Vec<Row> =
            (0..ROWS).map(|row| Row(std::array::from_fn(|lane| word(row, lane as u32)))).collect();
        let before = rows.clone();
        on.call(&module, function, &mut rows, &views, !0, &mut endless());
        for lane in 0..LANES {
            let mut own: Vec<u32> = before.iter().map(|row| row.0[lane]).collect();
            for _ in 0..own[ROUNDS as usize] {
                for view in 0..SIZES.len() {
                    for k in 0..4 {
                        own[(A + k) as usize] = texel(view, own[LINE as usize], own[OTHER as usize], k);
                        own[(B + k) as usize] = texel(view, own[COLUMN as usize], own[LINE as usize], k);
                    }
                    for [sum, a, b, _] in &mads {
                        let args = [a, b, sum].map(|row| own[*row as usize]);
                        own[*sum as usize] = fold(LaneOp::Mad, &args).0;
                    }
                }
                own[LINE as usize] = fold(LaneOp::Add, &[own[LINE as usize], 1.0f32.to_bits()]).0;
            }
            for row in SUMS as usize..ROWS as usize {
                assert_eq!(rows[row].0[lane], own[row], "lane {lane} row {row}, from {begin}");
            }
        }
    }
}

/// Elements of eight surfaces, five lines of each, as factors and addends of fused products, more of them than registers: both may be read
/// where they lie, by an address each.
pub fn factors_and_addends_where_they_lie(on: On) {
    const VIEWS: u32 = 8;
    const LINES: u32 = 5;
    const ELEMENTS: u32 = VIEWS * LINES;
    const SIZE: u32 = 40;
    let line = |number: u32| ROWS + number;
    let element = |number: u32| ROWS + LINES + 4 * (number % ELEMENTS);
    let product = element(ELEMENTS - 1) + 4;
    let fmas: Vec<[u32; 4]> = [1, 7, 18]
        .into_iter()
        .flat_map(|further| (0..4 * ELEMENTS).map(move |k| (k / 4, k / 4 + further, k % 4)))
        .map(|(factor, addend, k)| [product, SUMS + k, element(factor) + k, element(addend) + k])
        .collect();
    let adds: Vec<[u32; 3]> = (0..fmas.len() as u32).map(|k| [IEEE + k % 4, IEEE + k % 4, product]).collect();
    let mut steps = vec![
        Step::Loop,
        lane(LaneOp::Ige, &[FLAG, ROUND, ROUNDS], 3),
        Step::Break(Some((FLAG, true, Shape::Same))),
    ];
    steps.extend((0..ELEMENTS).map(|number| Step::Sample {
        view: (number % VIEWS) as u8,
        sample: sample(Format::Float32x4),
        coordinates: [COLUMN, line(number / VIEWS), NONE, NONE],
        to: std::array::from_fn(|k| element(number) + k as u32),
        flush: 0,
        lanes: Shape::Any,
        same: 2,
    }));
    for (fma, add) in fmas.iter().zip(&adds) {
        steps.extend([lane(LaneOp::BareFma, fma, 0), lane(LaneOp::BareAdd, add, 0)]);
    }
    let lines: Vec<[u32; 3]> = (0..LINES).map(|number| [line(number), line(number), WHOLE]).collect();
    steps.extend(lines.iter().map(|ids| lane(LaneOp::Add, ids, 3)));
    steps.push(lane(LaneOp::Iadd, &[ROUND, ROUND, ONE], 3));
    steps.push(Step::EndLoop);
    let mut compiler = on.compiler().with_lines(32);
    let dead = |row: u32| row == FLAG || row >= element(0);
    let function = compiler.function(&steps, constant, dead, dead).unwrap();
    let module = compiler.finish().unwrap();
    let mut random = Random(7);
    let memory: Vec<Vec<u32>> = (0..VIEWS)
        .map(|_| (0..4 * SIZE * SIZE).map(|_| factor(&mut random, Words::Plain)).collect())
        .collect();
    // SAFETY: the vectors outlive the calls.
    let view = |words: &Vec<u32>| unsafe { View::new(words.as_ptr().cast(), 4 * words.len()) };
    let views: Vec<View> =
        memory.iter().map(|words| view(words).with_texels(SIZE, SIZE, 4 * SIZE, 4, [0; 4])).collect();
    let word = |row: u32, lane: u32| match row {
        ROUNDS => 9,
        COLUMN => (0.5 + (lane % 32) as f32).to_bits(),
        ROWS.. if row < element(0) => (0.5 + (row - ROWS) as f32).to_bits(),
        SUMS..IEEE => (1.0 + (row * 64 + lane) as f32 / 4096.0).to_bits(),
        _ => constant(row).unwrap_or(0),
    };
    let mut rows: Vec<Row> =
        (0..product + 1).map(|row| Row(std::array::from_fn(|lane| word(row, lane as u32)))).collect();
    let before = rows.clone();
    on.call(&module, function, &mut rows, &views, !0, &mut endless());
    for lane in 0..LANES {
        let mut own: Vec<u32> = before.iter().map(|row| row.0[lane]).collect();
        for round in 0..own[ROUNDS as usize] {
            for number in 0..ELEMENTS {
                let at = 4 * ((round + number / VIEWS) * SIZE + lane as u32 % 32) as usize;
                let to = element(number) as usize;
                own[to..to + 4].copy_from_slice(&memory[(number % VIEWS) as usize][at..at + 4]);
            }
            for (fma, add) in fmas.iter().zip(&adds) {
                let float = |row: u32| f32::from_bits(own[row as usize]);
                let sum = float(fma[1]).mul_add(float(fma[2]), float(fma[3])) + float(add[1]);
                own[add[0] as usize] = sum.to_bits();
            }
        }
        for row in IEEE as usize..DOUBLES as usize {
            assert_eq!(rows[row].0[lane], own[row], "lane {lane} row {row}");
        }
    }
}
