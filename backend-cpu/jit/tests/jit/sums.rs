//! Loops that add up products of whole elements: the elements stay as they lie in memory, and products are made without asking for
//! zeros, unless that can't be believed.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_il::isa::memory::texel::Wrap;
use recal_jit::{Filter, Function, LANES, Module, NONE, Row, Sample, Step, View};

use crate::{On, Random, endless};

// Rows of the loop.
const ROUND: u32 = 0;
const ROUNDS: u32 = 1;
const FLAG: u32 = 2;
const ONE: u32 = 3;
/// A column for each lane, a line for each round, and a line of the factor that is the same for all lanes.
const COLUMN: u32 = 4;
const LINE: u32 = 5;
const OTHER: u32 = 6;
const WHOLE: u32 = 7;
/// What is loaded.
const A: u32 = 8;
const B: u32 = 12;
/// Sums by the rule for zeros, by the other rule, and of doubles.
const SUMS: u32 = 16;
const IEEE: u32 = 20;
const DOUBLES: u32 = 24;
const ROWS: u32 = 28;

/// Columns and lines of both factors.
const SIZE: u32 = 70;

fn sample(format: Format) -> Sample {
    Sample {
        unnormalized: true,
        offset: [0; 2],
        format,
        wrap: [Wrap::ClampToEdge; 2],
        filter: Filter::Nearest,
        normal: [false; 2],
    }
}

/// What is added up: products of floats, of doubles, or both.
#[derive(Clone, Copy, Debug)]
struct Of {
    floats: bool,
    doubles: bool,
}

impl Of {
    /// Operands of operations on floats are no denormals. What doubles are made of may look like one.
    fn arrives_flushed(self) -> bool {
        !self.doubles
    }

    fn arriving(self, word: u32) -> u32 {
        if self.arrives_flushed() && word & 0x7F80_0000 == 0 { word & 0x8000_0000 } else { word }
    }
}

const FLOATS: Of = Of { floats: true, doubles: false };
const PAIRS: Of = Of { floats: false, doubles: true };
const BOTH: Of = Of { floats: true, doubles: true };

/// The loop for elements of so many words.
fn rounds(of: Of, words: u32) -> Vec<(LaneOp, Vec<u32>, usize)> {
    let mut ops = Vec::new();
    for k in (0..words).filter(|_| of.floats) {
        ops.push((LaneOp::Mad, vec![SUMS + k, A + 1, B + k, SUMS + k], 1));
        ops.push((LaneOp::MadIeee, vec![IEEE + k, A, B + k, IEEE + k], 1));
    }
    for k in (0..words).step_by(2).filter(|_| of.doubles) {
        ops.push((
            LaneOp::Dmad,
            [DOUBLES + k, A, B + k, DOUBLES + k].iter().flat_map(|row| [*row, row + 1]).collect(),
            2,
        ));
    }
    ops.push((LaneOp::Add, vec![LINE, LINE, WHOLE], 1));
    ops.push((LaneOp::Iadd, vec![ROUND, ROUND, ONE], 1));
    ops
}

/// Which words the factors hold.
#[derive(Clone, Copy, Debug)]
enum Words {
    Plain,
    /// Zeros of both signs among them.
    Zeros,
    /// Infinities and NaNs, too.
    All,
    Denormals,
}

fn factor(random: &mut Random, words: Words) -> u32 {
    let word = random.word();
    match (words, random.word() % 64) {
        (Words::Zeros | Words::All, 0..8) => word & 0x8000_0000,
        (Words::All, 8) => 0x7F80_0000,
        (Words::All, 9) => 0x7FC0_0000,
        (Words::Denormals, _) => word & 0x80FF_FFFF,
        _ => word & 0x8FFF_FFFF | 0x3000_0000,
    }
}

fn constant(row: u32) -> Option<u32> {
    [(ONE, 1), (WHOLE, 1.0f32.to_bits())].iter().find(|(of, _)| *of == row).map(|(_, word)| *word)
}

fn dead(row: u32) -> bool {
    matches!(row, FLAG | A..SUMS)
}

/// The loop for elements of so many words, for threads in lines; `again`: with more of them from other places, later in a round.
fn compiled(on: On, of: Of, format: Format, words: u32, line: u32, again: bool) -> (Module, Function) {
    let ops = rounds(of, words);
    let to = |first: u32| std::array::from_fn(|k| if (k as u32) < words { first + k as u32 } else { NONE });
    let at = |view: u8, coordinates: [u32; 2], to: [u32; 4], same: u32| Step::Sample {
        view,
        sample: sample(format),
        coordinates: [coordinates[0], coordinates[1], NONE, NONE],
        to,
        flush: if of.arrives_flushed() { 15 } else { 0 },
        lanes: if same == 3 { Shape::Same } else { Shape::Any },
        same,
    };
    let flag = [FLAG, ROUND, ROUNDS];
    let mut steps = vec![
        Step::Loop,
        Step::Lane { op: LaneOp::Ige, ids: &flag, writes: 1, same: 3 },
        Step::Break(Some((FLAG, true, Shape::Same))),
        at(0, [LINE, OTHER], to(A), 3),
        at(1, [COLUMN, LINE], to(B), 2),
    ];
    let same = |op: LaneOp| if matches!(op, LaneOp::Add | LaneOp::Iadd) { 3 } else { 1 };
    steps.extend(ops.iter().map(|(op, ids, writes)| Step::Lane {
        op: *op,
        ids,
        writes: *writes,
        same: same(*op),
    }));
    if again {
        steps.insert(steps.len() - 2, at(1, [COLUMN, ROUND], to(B), 2));
        let sums = ops.iter().filter(|(op, ..)| *op == LaneOp::Mad);
        let sums = sums.map(|(op, ids, writes)| Step::Lane { op: *op, ids, writes: *writes, same: 1 });
        let sums: Vec<Step<'_>> = sums.collect();
        let place = steps.len() - 2;
        steps.splice(place..place, sums);
    }
    steps.push(Step::EndLoop);
    let mut compiler = on.compiler().with_lines(line);
    let function = compiler.function(&steps, constant, dead, dead).unwrap();
    (compiler.finish().unwrap(), function)
}

pub fn sums_of_products(on: On) {
    let mut random = Random(11);
    let formats = [(Format::Float32x4, 4), (Format::Float32x2, 2)];
    for (of, (format, words)) in
        [FLOATS, PAIRS, BOTH].into_iter().flat_map(|of| formats.map(|format| (of, format)))
    {
        let ops = rounds(of, words);
        for line in [16, 32] {
            let (module, function) = compiled(on, of, format, words, line, false);
            let kinds = [Words::Plain, Words::Zeros, Words::All, Words::Denormals];
            for (kind, start, step) in kinds
                .into_iter()
                .flat_map(|kind| [(0.5, 1.0), (40.5, 1.0), (3.5, 0.0), (0.5, 0.5)].map(|(a, b)| (kind, a, b)))
            {
                let memory: [Vec<u32>; 2] =
                    [0, 1].map(|_| (0..SIZE * SIZE * words).map(|_| factor(&mut random, kind)).collect());
                // SAFETY: the vectors outlive the calls.
                let view = |words: &Vec<u32>| unsafe { View::new(words.as_ptr().cast(), 4 * words.len()) };
                let views = [0, 1]
                    .map(|k: usize| view(&memory[k]).with_texels(SIZE, SIZE, SIZE * words, words, [0; 4]));
                let texel = |view: usize, column: u32, line: u32, k: u32| {
                    let [column, line] =
                        [column, line].map(|word| (f32::from_bits(word).floor() as u32).min(SIZE - 1));
                    of.arriving(memory[view][((line * SIZE + column) * words + k) as usize])
                };
                for (exec, begin) in [(!0, 0u32), (0xFF00_FFFF_0F0F_5555u64, 0), (!0, 0x8000_0000), (!0, 5)] {
                    let mut rows: Vec<Row> = (0..ROWS)
                        .map(|row| {
                            Row(std::array::from_fn(|lane| {
                                let (line, place) = (lane as u32 / 16, lane as u32 % 16);
                                match row {
                                    ROUNDS => [9, 0, 1, 75][line as usize],
                                    COLUMN => (start + step * (lane as u32 % 32) as f32).to_bits(),
                                    LINE => 0.5f32.to_bits(),
                                    OTHER => (line as f32 + 0.5).to_bits(),
                                    A..SUMS => lane as u32 + row,
                                    SUMS.. => {
                                        if begin == 5 {
                                            of.arriving((random.word() & 0x80FF_FFFF).wrapping_add(place))
                                        } else {
                                            begin
                                        }
                                    }
                                    _ => constant(row).unwrap_or(0),
                                }
                            }))
                        })
                        .collect();
                    // Lines of 32 lanes agree about how often they go round.
                    if line == 32 {
                        (0..LANES).for_each(|lane| {
                            rows[ROUNDS as usize].0[lane] = [3, 75][lane / 32];
                            rows[OTHER as usize].0[lane] = (lane as f32 / 32.0).floor().to_bits();
                        });
                    }
                    let before = rows.clone();
                    on.call(&module, function, &mut rows, &views, exec, &mut endless());
                    for lane in 0..LANES {
                        let mut own: Vec<u32> = before.iter().map(|row| row.0[lane]).collect();
                        while exec >> lane & 1 == 1 && own[ROUND as usize] < own[ROUNDS as usize] {
                            let [column, line, other] = [COLUMN, LINE, OTHER].map(|row| own[row as usize]);
                            for k in 0..words {
                                own[(A + k) as usize] = texel(0, line, other, k);
                                own[(B + k) as usize] = texel(1, column, line, k);
                            }
                            for (op, ids, writes) in &ops {
                                let args: Vec<u32> =
                                    ids[*writes..].iter().map(|&row| own[row as usize]).collect();
                                let (lo, hi) = fold(*op, &args);
                                own[ids[0] as usize] = lo;
                                if *writes == 2 {
                                    own[ids[1] as usize] = hi.unwrap();
                                }
                            }
                        }
                        for row in (0..ROWS).filter(|&row| !dead(row)) {
                            let got = rows[row as usize].0[lane];
                            let expected = own[row as usize];
                            assert_eq!(
                                got, expected,
                                "lane {lane} row {row} of {of:?} {kind:?} {words} {exec:x} {start} {step} {begin:x} {line}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Where x86 has elements as they lie in memory: what addresses come from is computed a round ahead, what is
/// the same for a line is read where it is, and what lies side by side is asked for a round ahead.
pub fn addresses_of_sums(on: On) {
    if on.isa.name() == "neon" {
        return;
    }
    let (four, two) = (Format::Float32x4, Format::Float32x2);
    for (of, format, words) in [(FLOATS, four, 4), (FLOATS, two, 2)] {
        let (module, function) = compiled(on, of, format, words, 32, true);
        let (_, all) = module.code_of(function);
        let code: Vec<Instruction> =
            Decoder::new(64, all.unwrap(), DecoderOptions::NONE).into_iter().collect();
        let is_prefetch = |of: &Instruction| of.code() == Code::Prefetcht1_m8;
        let ahead = code
            .iter()
            .position(is_prefetch)
            .unwrap_or_else(|| panic!("what is needed next is asked for: {of:?} {words}"));
        // The innermost loop around.
        let end = code[ahead..].iter().position(|of| {
            of.flow_control() == FlowControl::UnconditionalBranch
                && of.near_branch_target() < code[ahead].ip()
        });
        let end = ahead + end.unwrap();
        let start = code.iter().position(|of| of.ip() == code[end].near_branch_target()).unwrap();
        let round = &code[start..end];
        let puts_word = |of: &Instruction| {
            matches!(of.code(), Code::EVEX_Vmovd_rm32_xmm | Code::VEX_Vmovd_rm32_xmm)
                && of.op0_kind() == OpKind::Memory
        };
        let on_stack = |of: &Instruction| of.memory_base() == Register::RCX;
        let asked = |of: &Instruction| {
            let sign =
                matches!(of.mnemonic(), Mnemonic::Cmp | Mnemonic::Mov | Mnemonic::Add | Mnemonic::Imul);
            sign && of.op1_kind() == OpKind::Memory && of.op0_register().is_gpr32() && on_stack(of)
        };
        let leaves = |of: &Instruction| {
            of.op0_kind() == OpKind::Memory && of.op1_register().is_vector_register() && on_stack(of)
        };
        let asks = |place: u64| round.iter().rposition(|of| asked(of) && of.memory_displacement64() == place);
        let left = round.iter().enumerate().filter(|(_, of)| puts_word(of) && on_stack(of));
        let next: Vec<_> =
            left.filter_map(|(at, of)| Some((at, asks(of.memory_displacement64())?))).collect();
        assert!(!next.is_empty(), "no round leaves what the next one's addresses come from");
        assert!(next.iter().all(|(left, asked)| left > asked), "a round's own addresses come late");
        let mut vectors = round.iter().filter(|of| leaves(of) && !puts_word(of));
        let unasked = |of: &Instruction| asks(of.memory_displacement64()).is_none();
        assert!(vectors.all(unasked), "a word waits until a whole vector is in the cache");
        let near = |of: &Instruction| of.code() == Code::Cmp_rm64_imm32 && of.op0_register() == Register::R10;
        assert!(code[start..ahead].iter().any(near), "what the processor fetches by itself is asked for");
        let kept = [Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
        let in_place = |of: &Instruction| kept.contains(&of.memory_base());
        assert!(round.iter().any(in_place), "no element is read where it is");
        let copies = |of: &Instruction| {
            of.code() == Code::Mov_rm64_r64
                && of.op0_kind() == OpKind::Memory
                && of.op1_register() == Register::R10
        };
        assert!(!round.iter().any(copies), "an element is copied");
    }
}

/// Elements of eight surfaces of different sizes in a long round: vectors compute where they are, whether lines end or go on.
pub fn addresses_side_by_side(on: On) {
    const SIZES: [[u32; 2]; 8] =
        [[70, 70], [33, 3], [64, 40], [70, 1], [40, 9], [50, 100], [52, 20], [65, 59]];
    let at = |view: usize, coordinates: [u32; 2], first: u32, same: u32| Step::Sample {
        view: view as u8,
        sample: sample(Format::Float32x4),
        coordinates: [coordinates[0], coordinates[1], NONE, NONE],
        to: std::array::from_fn(|k| first + k as u32),
        flush: 15,
        lanes: if same == 3 { Shape::Same } else { Shape::Any },
        same,
    };
    fn lane(op: LaneOp, ids: &[u32], same: u32) -> Step<'_> {
        Step::Lane { op, ids, writes: 1, same }
    }
    // Each component of one element times all of the other, to three sums each.
    let mads: Vec<[u32; 4]> =
        (0..48).map(|k| [SUMS + k % 12, A + k / 12, B + k % 4, SUMS + k % 12]).collect();
    let mut steps = vec![
        Step::Loop,
        lane(LaneOp::Ige, &[FLAG, ROUND, ROUNDS], 3),
        Step::Break(Some((FLAG, true, Shape::Same))),
    ];
    for view in 0..SIZES.len() {
        steps.extend([at(view, [LINE, OTHER], A, 3), at(view, [COLUMN, LINE], B, 2)]);
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
    fn lane(op: LaneOp, ids: &[u32], same: u32) -> Step<'_> {
        Step::Lane { op, ids, writes: 1, same }
    }
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
