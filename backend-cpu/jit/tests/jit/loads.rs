//! Loads by numbers of elements, and of parts of words.

use recal_il::ir::Width;
use recal_il::ir::lines::{Shape, distance};
use recal_il::isa::LaneOp;
use recal_jit::{LANES, NONE, Row, Step, View};

use crate::operations::flushed;
use crate::{On, endless};

/// Elements of 16 bytes: neighbours, one for all, scattered ones, and numbers that are outside or wrap when something is added.
pub fn elements(on: On) {
    const WORDS: usize = 4 * 70 + 2;
    let memory: Vec<u32> = (0..WORDS as u32).map(|k| k.wrapping_mul(0x1234_5677) ^ 1).collect();
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * WORDS) }];
    type Number = fn(i32) -> i32;
    let patterns: [(Number, Shape); 7] = [
        (|lane| lane, Shape::Step(1)),
        (|lane| 60 + lane, Shape::Step(1)),
        (|_| 7, Shape::Same),
        (|_| 71, Shape::Same),
        (|lane| lane * 29 % 80, Shape::Any),
        (|lane| [i32::MAX, i32::MIN, -1, 1 << 28, (1 << 30) + 3, 5][lane as usize % 6], Shape::Any),
        (|lane| (i32::MAX - 5).wrapping_add(lane % 8), Shape::Any),
    ];
    for offset in [0, 3, -4, (1 << 30) - 1, -(1 << 30) + 1] {
        for (number, (pattern, shape)) in patterns.into_iter().enumerate() {
            for to in [[1, 2, 3, 4], [NONE, NONE, 3, NONE], [0, 2, NONE, NONE]] {
                let mut compiler = on.compiler().with_lines(16);
                let step = Step::LoadElement { view: 0, element: 0, offset, to, flush: 0b10, lanes: shape };
                let function = compiler.function(&[step], |_| None, |_| false, |_| false).unwrap();
                let module = compiler.finish().unwrap();
                for exec in [!0, 0xF0F0_00FF_FF00_1234u64] {
                    let mut rows = vec![Row::splat(9); 5];
                    rows[0] = Row(std::array::from_fn(|lane| pattern(lane as i32) as u32));
                    let before = rows.clone();
                    on.call(&module, function, &mut rows, &views, exec, &mut endless());
                    for (lane, k) in (0..LANES).flat_map(|lane| [0, 1, 2, 3].map(|k| (lane, k))) {
                        let Some(row) = Some(to[k] as usize).filter(|_| to[k] != NONE) else { continue };
                        let at = (i64::from(pattern(lane as i32)) + i64::from(offset)) * 4 + k as i64;
                        let word = usize::try_from(at).ok().and_then(|at| memory.get(at));
                        let word = word.map_or(0, |word| if k == 1 { flushed(*word) } else { *word });
                        let expected = if exec >> lane & 1 == 1 { word } else { before[row].0[lane] };
                        let got = rows[row].0[lane];
                        assert_eq!(got, expected, "pattern {number} + {offset}, lane {lane}, {to:?}");
                    }
                }
            }
        }
    }
}

/// Words at known distances from those of the first of sixteen threads: within one vector, two or more, inside, across the end and outside.
pub fn spread(on: On) {
    const WORDS: u32 = 90;
    let memory: Vec<u32> = (0..WORDS).map(|k| k.wrapping_mul(0x1234_5677) ^ 1).collect();
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * WORDS as usize) }];
    // The last ones are too far apart, and before the first thread's.
    let all = [
        [0, 0, 16, 32],
        [16, 32, 0, 0],
        [16, 0, 32, 0],
        [0, 16, 32, 64],
        [4, 8, 0, 16],
        [4, 0, 8, 0],
        [0, 0, 0, 0],
        [0, 4, 0, 60],
        [4, 8, 16, 0],
        [32, 0, 64, 16],
        [0, 96, 0, 128],
        [4, 0, 0, 4u32.wrapping_neg()],
    ];
    for bits in all {
        for to in [[1, NONE, NONE, NONE], [1, 2, NONE, NONE], [1, 2, 3, 4], [NONE, 2, NONE, 4]] {
            let mut compiler = on.compiler().with_lines(16);
            let step = Step::Load { view: 0, address: 0, to, flush: 0, lanes: Shape::Bits(bits) };
            let function = compiler.function(&[step], |_| None, |_| false, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            for start in [0, 8, 100, 4 * WORDS - 160, 4 * WORDS - 64, 4 * WORDS - 4, 0xFFFF_FFF8] {
                let address =
                    |lane: u32| start.wrapping_add(20 * (lane / 16)).wrapping_add(distance(bits, lane % 16));
                for exec in [!0, 0xF0F0_00FF_FF00_1234u64] {
                    let mut rows = vec![Row::splat(9); 5];
                    rows[0] = Row(std::array::from_fn(|lane| address(lane as u32)));
                    on.call(&module, function, &mut rows, &views, exec, &mut endless());
                    for (lane, k) in (0..LANES).flat_map(|lane| [0, 1, 2, 3].map(|k| (lane, k))) {
                        let at = (address(lane as u32) / 4).wrapping_add(k as u32);
                        let word = memory.get(at as usize).copied().unwrap_or(0);
                        let loaded = exec >> lane & 1 == 1 && to[k] != NONE;
                        let expected = if loaded { word } else { 9 };
                        assert_eq!(
                            rows[k + 1].0[lane],
                            expected,
                            "{bits:?} {to:?} from {start}, lane {lane}"
                        );
                    }
                }
            }
        }
    }
}

/// Many elements at known distances from each other, so that where they are is asked once: all inside, the first or the last ones not, and
/// addresses that start again at 0 on the way.
pub fn elements_apart(on: On) {
    const WORDS: u32 = 700;
    const TIMES: u32 = 9;
    /// The row with the number of bytes from one element to the next one, and the first row of those loaded.
    const FAR: u32 = 3;
    const FIRST: u32 = 4;
    // Some words are behind the view, so that who reads them is found out.
    let memory: Vec<u32> = (0..WORDS + 100).map(|k| k.wrapping_mul(0x1234_5677) ^ 1).collect();
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * WORDS as usize) }];
    let shapes = |count: u32| {
        let bits = [[0, 0, 0, 16], [4 * count, 8 * count, 0, 0], [0, 4 * count, 0, 0]];
        [Shape::Same, Shape::Step(4 * count)].into_iter().chain(bits.map(Shape::Bits))
    };
    for count in [2, 4] {
        for (shape, far) in shapes(count).flat_map(|shape| [16, 200].map(|far| (shape, far))) {
            let mut compiler = on.compiler().with_lines(16);
            let sums: Vec<u32> = vec![0, FAR, 0];
            let mut steps = Vec::new();
            for time in 0..TIMES {
                let to = std::array::from_fn(|k| {
                    let row = FIRST + count * time + k as u32;
                    if k as u32 >= count { NONE } else { row }
                });
                steps.push(Step::Load { view: 0, address: 0, to, flush: 0, lanes: shape });
                steps.push(Step::Lane { op: LaneOp::Iadd, ids: &sums, writes: 1, same: 0 });
            }
            let constant = |row: u32| (row == FAR).then_some(far);
            let function = compiler.function(&steps, constant, |row| row < FIRST, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            let asked = module.listing(function).unwrap().contains("where loads are outside");
            assert_eq!(asked, on.isa.name() != "neon", "{shape:?} {count}");
            let behind = |place: u32| match shape {
                Shape::Same => 0,
                Shape::Step(step) => step * place,
                Shape::Bits(bits) => distance(bits, place),
                Shape::Any => unreachable!(),
            };
            let starts = [0, 8, 1000, 4 * WORDS - 64, 4 * WORDS, 0xFFFF_FFF0, 0u32.wrapping_sub(9 * far)];
            // The last word of the first strip, or of half of it, is the last one of the view, or the one behind it.
            let last = [7, 15].map(|place| 4 * WORDS - (TIMES - 1) * far - behind(place) - 4 * count);
            for start in starts.into_iter().chain(last.into_iter().flat_map(|start| [start, start + 4])) {
                let address = |lane: u32| {
                    let (of, place) = (start.wrapping_add(32 * (lane / 16)), lane % 16);
                    of.wrapping_add(behind(place))
                };
                for exec in [!0, 0xF0F0_00FF_FF00_1234u64] {
                    let mut rows = vec![Row::splat(9); (FIRST + count * TIMES) as usize];
                    rows[0] = Row(std::array::from_fn(|lane| address(lane as u32)));
                    on.call(&module, function, &mut rows, &views, exec, &mut endless());
                    for (lane, time) in (0..LANES).flat_map(|lane| (0..TIMES).map(move |time| (lane, time))) {
                        for k in 0..count {
                            let first = address(lane as u32).wrapping_add(far * time) / 4;
                            let at = Some(first.wrapping_add(k)).filter(|at| *at < WORDS);
                            let word = at.map_or(0, |at| memory[at as usize]);
                            let expected = if exec >> lane & 1 == 1 { word } else { 9 };
                            let row = (FIRST + count * time + k) as usize;
                            let what =
                                || format!("{shape:?} {count} by {far} from {start}, {time}: lane {lane}");
                            assert_eq!(rows[row].0[lane], expected, "{}", what());
                        }
                    }
                }
            }
        }
    }
}

/// Bytes and halves of words, with and without signs, inside and outside.
pub fn parts(on: On) {
    const WORDS: usize = 40;
    let memory: Vec<u32> = (0..WORDS as u32).map(|k| k.wrapping_mul(0x9E37_79B9)).collect();
    let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_le_bytes()).collect();
    // SAFETY: the vector outlives the calls.
    let views = [unsafe { View::new(memory.as_ptr().cast(), 4 * WORDS) }];
    type Address = fn(u32) -> u32;
    let patterns: [(Address, Shape); 5] = [
        (|lane| lane, Shape::Step(1)),
        (|lane| 4 * lane, Shape::Step(4)),
        (|_| 23, Shape::Same),
        (|lane| lane * 37 % 170, Shape::Any),
        (|lane| [159, 160, 158, 157, u32::MAX, 1 << 31, 3][lane as usize % 7], Shape::Any),
    ];
    for width in [Width::U8, Width::I8, Width::U16, Width::I16] {
        for (pattern, shape) in patterns {
            let mut compiler = on.compiler().with_lines(16);
            let to = [NONE, 1, 2, NONE];
            let step = Step::LoadPart { view: 0, address: 0, width, to, flush: 4, lanes: shape };
            let function = compiler.function(&[step], |_| None, |_| false, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            for exec in [!0, 0xF0F0_00FF_FF00_1234u64] {
                let mut rows = vec![Row::splat(9); 3];
                rows[0] = Row(std::array::from_fn(|lane| pattern(lane as u32)));
                on.call(&module, function, &mut rows, &views, exec, &mut endless());
                for lane in 0..LANES {
                    let at = pattern(lane as u32) as usize;
                    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
                    let half = u16::from_le_bytes([byte(at & !1), byte(at | 1)]);
                    let expected = match width {
                        _ if exec >> lane & 1 == 0 => 9,
                        Width::U8 => byte(at).into(),
                        Width::I8 => byte(at) as i8 as u32,
                        Width::U16 => half.into(),
                        _ => half as i16 as u32,
                    };
                    let got = [1, 2].map(|row: usize| rows[row].0[lane]);
                    let flushed = if exec >> lane & 1 == 1 { flushed(expected) } else { 9 };
                    assert_eq!(got, [expected, flushed], "{width:?} at {at}, lane {lane}");
                }
            }
        }
    }
}
