//! Loads of elements by threads that lie in lines.

use iced_x86::{Decoder, DecoderOptions, Register};
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_jit::{LANES, NONE, Row, Step, View, line};

use crate::{On, endless};

const WORDS: usize = 600;

/// Bytes to the element of a lane, by the lanes of a line.
const PATTERNS: [fn(u32, u32) -> u32; 11] = [
    // Neighbours: all; in each line; from line to line the same; in lines that overlap.
    |lane, _| 16 * lane,
    |lane, line| 16 * (lane % line) + 52 * (lane / line),
    |lane, line| 16 * (lane % line) + 8,
    |lane, line| 8 * (lane % line) + 12 * (lane / line),
    // One element: for all; for each line; for each line, far from each other.
    |_, _| 28,
    |lane, line| 4 * (lane / line),
    |lane, line| 100 * (16 - lane / line % 16),
    // Some lines read neighbours and others do not.
    |lane, line| if lane / line % 2 == 0 { 16 * (lane % line) } else { 64 },
    // Partly outside: the end of the last line; whole lines; single lanes.
    |lane, line| 16 * (lane % line) + 4 * WORDS as u32 - 40 * (1 + lane / line),
    |lane, line| if lane / line % 2 == 1 { 0x7FFF_FFF0 } else { 16 * (lane % line) },
    |lane, _| if lane % 5 == 0 { 0xFFFF_FFFC } else { 16 * (lane % 8) },
];

pub fn widths() {
    assert_eq!([1, 2, 3, 6, 15].map(line), [0; 5]);
    assert_eq!([128, 64, 32, 96, 16, 8, 24, 40, 4, 12, 20].map(line), [64, 64, 32, 32, 16, 8, 8, 8, 4, 4, 4]);
}

pub fn neighbours_and_equals_in_lines(on: On) {
    let memory: Vec<u32> = (0..WORDS as u32 + 50).map(|k| k.wrapping_mul(0x1234_5677) | 1).collect();
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * WORDS) }];
    let word = |at: u32| if (at as usize) < WORDS { memory[at as usize] } else { 0 };
    for line in [4, 8, 16] {
        // Elements of four words and of two; not all components are wanted.
        for to in [[1, 2, 3, 4], [1, NONE, NONE, 4], [NONE, 2, 3, NONE], [1, 2, NONE, NONE]] {
            let mut compiler = on.compiler().with_lines(line);
            let load = Step::Load { view: 0, address: 0, to, flush: 0, lanes: Shape::Any };
            let function = compiler.function(&[load], |_| None, |_| false, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            for (number, pattern) in PATTERNS.into_iter().enumerate() {
                for exec in [!0, 0xFFFF_FFFF, 0xF0F0_00FF_FF00_1234u64] {
                    let mut rows = vec![Row::splat(9); 5];
                    rows[0] = Row(std::array::from_fn(|lane| pattern(lane as u32, line)));
                    on.call(&module, function, &mut rows, &views, exec, &mut endless());
                    for (lane, k) in (0..LANES).flat_map(|lane| [0, 1, 2, 3].map(|k| (lane, k))) {
                        let expected = if exec >> lane & 1 == 1 && to[k] != NONE {
                            word(pattern(lane as u32, line) / 4 + k as u32)
                        } else {
                            9
                        };
                        let got = rows[k + 1].0[lane];
                        assert_eq!(got, expected, "line {line} pattern {number} lane {lane} {to:?}");
                    }
                }
            }
        }
    }
}

/// Addresses of which the compiler knows how they differ, inside, across the ends and outside of the view: loads of words and
/// elements, and stores.
pub fn known_shapes(on: On) {
    const COUNT: u32 = 300;
    let word = |at: u32| if at < COUNT { at.wrapping_mul(0x9E37_79B9) | 1 } else { 0 };
    let steps = [4, 8, 12, 16, 68, 4 << 20, 4 << 21, 4u32.wrapping_neg(), 12u32.wrapping_neg()];
    let shapes = [Shape::Same].into_iter().chain(steps.map(Shape::Step));
    for shape in shapes {
        let step = if let Shape::Step(step) = shape { step } else { 0 };
        for to in [[1, NONE, NONE, NONE], [1, 2, NONE, NONE], [1, 2, 3, 4], [NONE, 2, NONE, 4]] {
            let mut compiler = on.compiler().with_lines(16);
            let steps = [
                Step::Load { view: 0, address: 0, to, flush: 0, lanes: shape },
                Step::Store { view: 1, address: 0, from: [5, NONE, NONE, NONE], lanes: shape },
            ];
            let function = compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            let ends = [4, 12, 28, 30, 60].map(|bytes| 4 * COUNT - bytes);
            // The last lane of a strip of 4, 8 or 16 is the last one inside, or the first one outside.
            let last = [3, 7, 15].map(|lanes| (4 * COUNT).wrapping_sub(step.wrapping_mul(lanes)));
            let last = last.into_iter().flat_map(|end| [end, end.wrapping_sub(4)]);
            let far = [0, 3, 40, 4 * COUNT, 0x7FFF_FFFC, 0xFFFF_FFF0, !0];
            for start in ends.into_iter().chain(last).chain(far) {
                for exec in [!0, 0xFF00_FFFF_0F0F_5555u64] {
                    let address = |lane: usize| {
                        // Lines far from each other.
                        let line = lane as u32 / 16;
                        (start + 160 * line * u32::from(start == 40))
                            .wrapping_add(step.wrapping_mul(lane as u32 % 16))
                    };
                    let memory: Vec<u32> = (0..COUNT).map(word).collect();
                    let mut stored = vec![7u32; COUNT as usize];
                    // SAFETY: both vectors outlive the call.
                    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * COUNT as usize) }, unsafe {
                        View::new(stored.as_mut_ptr().cast(), 4 * COUNT as usize)
                    }];
                    let mut rows = vec![Row::splat(9); 6];
                    rows[0] = Row(std::array::from_fn(address));
                    rows[5] = Row(std::array::from_fn(|lane| 1000 + lane as u32));
                    on.call(&module, function, &mut rows, &views, exec, &mut endless());
                    let executes = |lane: usize| exec >> lane & 1 == 1;
                    for (lane, k) in (0..LANES).flat_map(|lane| [0, 1, 2, 3].map(|k| (lane, k))) {
                        let loaded = executes(lane) && to[k] != NONE;
                        let expected = if loaded { word(address(lane) / 4 + k as u32) } else { 9 };
                        assert_eq!(
                            rows[k + 1].0[lane],
                            expected,
                            "{shape:?} from {start:#x}, lane {lane} of {to:?}"
                        );
                    }
                    for (at, &got) in stored.iter().enumerate() {
                        let mut from =
                            (0..LANES).filter(|&lane| executes(lane) && address(lane) / 4 == at as u32);
                        // Of several lanes any may be the last.
                        let right = match from.next() {
                            None => got == 7,
                            Some(first) => from.chain([first]).any(|lane| got == 1000 + lane as u32),
                        };
                        assert!(right, "{shape:?} to {start:#x}: word {at} is {got}");
                    }
                }
            }
        }
    }
}

/// Products of words at known distances from two addresses, one the same for a line and one of lanes side by side: inside, across the ends
/// and where addresses begin again at 0. x86 asks once whether all are inside, and each load is one instruction then.
pub fn loads_near_each_other(on: On) {
    loads_near(on, false);
}

/// The same where all lines have the second address in common: AVX-512 does all strips at a time, with one load for what they read alike.
pub fn loads_that_lines_have_in_common(on: On) {
    loads_near(on, true);
}

fn loads_near(on: On, common: bool) {
    const COUNT: u32 = 100;
    const ROUNDS: u32 = 8;
    let [sum, same, near, a, b, four, line] = [0, 1, 2, 3, 4, 5, 6];
    let (product, steps) = ([sum, a, b, sum], [[same, same, four], [near, near, line]]);
    let mut list = Vec::new();
    for _ in 0..ROUNDS {
        for (address, to, lanes) in [(same, a, Shape::Same), (near, b, Shape::Step(4))] {
            list.push(Step::Load {
                view: to as u8 - 3,
                address,
                to: [to, NONE, NONE, NONE],
                flush: 1,
                lanes,
            });
        }
        list.push(Step::Lane { op: LaneOp::Mad, ids: &product, writes: 1, same: 0 });
        let next = steps.iter().map(|ids| Step::Lane { op: LaneOp::Iadd, ids, writes: 1, same: 0 });
        list.extend(next);
    }
    let constant = |row: u32| (row == four).then_some(4).or((row == line).then_some(24));
    let dead = |row: u32| [a, b].contains(&row);
    let mut compiler = on.compiler().with_lines(16);
    if common {
        compiler.equal_in_lines([near].into_iter().collect());
    }
    let function = compiler.function(&list, constant, dead, |_| false).unwrap();
    let module = compiler.finish().unwrap();
    // What is behind the views is no zero.
    let memory: [Vec<u32>; 2] =
        [3, 5].map(|by| (1..=COUNT + 16).map(|k| ((k * by) as f32).to_bits()).collect());
    // SAFETY: the vectors outlive the calls.
    let views = [0, 1].map(|k| unsafe { View::new(memory[k].as_ptr().cast(), 4 * COUNT as usize) });
    let starts = [0, 3, 4 * (COUNT - 7), 4 * (COUNT - 8), 4 * COUNT, 0xFFFF_FFF0];
    let ends = [1, 4 * (COUNT - 57), 4 * (COUNT - 58), 0xFFFF_FF80];
    for ((first, second), exec) in starts
        .into_iter()
        .flat_map(|first| ends.map(|second| (first, second)))
        .flat_map(|pair| [!0, 0xFF00_FFFF_0F0F_5555u64].map(|exec| (pair, exec)))
    {
        let mut rows = vec![Row::splat(0); 7];
        let further = |lane: usize| if common { 8 * (lane as u32 / 16) } else { 0 };
        rows[same as usize] = Row(std::array::from_fn(|lane| first.wrapping_add(further(lane))));
        rows[near as usize] = Row(std::array::from_fn(|lane| (lane as u32 % 16 * 4).wrapping_add(second)));
        let before = rows.clone();
        on.call(&module, function, &mut rows, &views, exec, &mut endless());
        for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
            let word = |view: usize, from: u32, step: u32, round: u32| {
                let at = from.wrapping_add(step * round) / 4;
                memory[view][..COUNT as usize].get(at as usize).copied().unwrap_or(0)
            };
            let [x, y] = [same, near].map(|row| before[row as usize].0[lane]);
            let products =
                (0..ROUNDS).map(|k| f32::from_bits(word(0, x, 4, k)) * f32::from_bits(word(1, y, 24, k)));
            let expected: f32 = products.sum();
            let got = f32::from_bits(rows[sum as usize].0[lane]);
            assert_eq!(got, expected, "lane {lane} from {first:#x} and {second:#x}");
        }
    }
    if on.isa.name() != "neon" {
        let (_, all) = module.code_of(function);
        let code = Decoder::new(64, all.unwrap(), DecoderOptions::NONE).into_iter();
        let kept = [Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
        let loads = code.filter(|of| kept.contains(&of.memory_base())).count();
        // AVX2 has no registers for four strips.
        let all = if common && on.isa.name() == "avx512" { 4 + 1 } else { 2 };
        assert_eq!(loads, all * ROUNDS as usize, "loads by an address that was found once");
    }
}
