//! Loops that add up products of whole elements: the elements stay as they lie in memory, and products are made without asking for
//! zeros, unless that can't be believed.

mod strength;
mod surfaces;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_il::isa::memory::texel::Wrap;
use recal_jit::{Filter, Function, LANES, Module, NONE, Row, Sample, Step, View};

pub use self::strength::addresses_go_on;
pub use self::surfaces::{addresses_side_by_side, factors_and_addends_where_they_lie};
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

/// Loads the element of a surface of float4 at two rows; `same` as of [`Step::Sample`].
fn element(view: u8, coordinates: [u32; 2], first: u32, same: u32) -> Step<'static> {
    Step::Sample {
        view,
        sample: sample(Format::Float32x4),
        coordinates: [coordinates[0], coordinates[1], NONE, NONE],
        to: std::array::from_fn(|k| first + k as u32),
        flush: 15,
        lanes: if same == 3 { Shape::Same } else { Shape::Any },
        same,
    }
}

fn lane(op: LaneOp, ids: &[u32], same: u32) -> Step<'_> {
    Step::Lane { op, ids, writes: 1, same }
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

/// How a loop is compiled.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// For threads in lines of so many.
    line: u32,
    /// With more elements from other places, later in a round.
    again: bool,
    /// Lines have columns in common, and how often they go round.
    abreast: bool,
}

/// The loop for elements of so many words.
fn compiled(on: On, of: Of, format: Format, words: u32, way: Way) -> (Module, Function) {
    let Way { line, again, abreast } = way;
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
    if abreast {
        compiler.equal_in_lines([ROUND, ROUNDS, COLUMN, LINE].into_iter().collect());
    }
    let function = compiler.function(&steps, constant, dead, dead).unwrap();
    (compiler.finish().unwrap(), function)
}

pub fn sums_of_products(on: On) {
    sums(on, false);
}

/// Strips of several lines are done together that have columns in common.
pub fn sums_of_lines_abreast(on: On) {
    sums(on, true);
    let code = |abreast: bool| {
        let way = Way { line: 16, abreast, ..Way::default() };
        let (module, function) = compiled(on, FLOATS, Format::Float32x2, 2, way);
        module.code_of(function).1.unwrap().to_vec()
    };
    let together = code(true) != code(false);
    assert_eq!(together, on.isa.name() != "neon", "lines are done one after another, or not");
}

fn sums(on: On, abreast: bool) {
    let mut random = Random(11);
    let formats = [(Format::Float32x4, 4), (Format::Float32x2, 2)];
    for (of, (format, words)) in
        [FLOATS, PAIRS, BOTH].into_iter().flat_map(|of| formats.map(|format| (of, format)))
    {
        let ops = rounds(of, words);
        for line in [8, 16, 32, 64] {
            let way = Way { line, abreast, again: false };
            let (module, function) = compiled(on, of, format, words, way);
            let kinds = [Words::Plain, Words::Zeros, Words::All, Words::Denormals];
            // Columns that go on, or begin again: with those of a strip, or two.
            let columns = [
                (0.5, 1.0, 64),
                (40.5, 1.0, 64),
                (3.5, 0.0, 64),
                (0.5, 0.5, 64),
                (1.5, 1.0, 8),
                (1.5, 1.0, 16),
            ];
            for (kind, (start, step, turn)) in
                kinds.into_iter().flat_map(|kind| columns.map(|columns| (kind, columns)))
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
                let begins = [(!0, 0u32), (0xFF00_FFFF_0F0F_5555u64, 0), (!0, 0x8000_0000), (!0, 5)];
                for (time, (exec, begin)) in begins.into_iter().enumerate() {
                    let mut rows: Vec<Row> = (0..ROWS)
                        .map(|row| {
                            Row(std::array::from_fn(|lane| {
                                let (number, place) = (lane as u32 / line, lane as u32 % 16);
                                match row {
                                    // Lines agree about how often they go round.
                                    ROUNDS => [75, 3, 0, 1][if abreast { time } else { number as usize } % 4],
                                    COLUMN => (start + step * (lane as u32 % line % turn) as f32).to_bits(),
                                    LINE => 0.5f32.to_bits(),
                                    OTHER => (number as f32 + 0.5).to_bits(),
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
                                "lane {lane} row {row} of {of:?} {kind:?} {words} {exec:x} {start} {step} {turn} {begin:x} {line}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// The instructions of the innermost loop of elements as they lie in memory.
fn round_of(module: &Module, function: Function) -> Vec<Instruction> {
    let (_, all) = module.code_of(function);
    let code: Vec<Instruction> = Decoder::new(64, all.unwrap(), DecoderOptions::NONE).into_iter().collect();
    let further = |of: &Instruction| [of.memory_base(), of.memory_index()].contains(&Register::R10);
    let is_prefetch = |of: &Instruction| of.code() == Code::Prefetcht0_m8 && further(of);
    let ahead = code.iter().position(is_prefetch).expect("what is needed next is asked for");
    // The innermost loop around.
    let end = code[ahead..].iter().position(|of| {
        of.flow_control() == FlowControl::UnconditionalBranch && of.near_branch_target() < code[ahead].ip()
    });
    let end = ahead + end.unwrap();
    let start = code.iter().position(|of| of.ip() == code[end].near_branch_target()).unwrap();
    code[start..end].to_vec()
}

/// Where x86 has elements as they lie in memory: what addresses come from is computed a round ahead, what is
/// the same for a line is read where it is, and what lies side by side is asked for a round ahead.
pub fn addresses_of_sums(on: On) {
    if on.isa.name() == "neon" {
        return;
    }
    let (four, two) = (Format::Float32x4, Format::Float32x2);
    for (of, format, words) in [(FLOATS, four, 4), (FLOATS, two, 2)] {
        let way = Way { line: 32, again: true, abreast: false };
        let (module, function) = compiled(on, of, format, words, way);
        let round = round_of(&module, function);
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
        assert!(round.iter().any(near), "what the processor fetches by itself is asked for");
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
