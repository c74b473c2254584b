//! Loads of elements by threads that lie in lines.

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
    assert_eq!([0, 1, 2, 3, 6, 15].map(line), [16; 6]);
    assert_eq!([64, 32, 16, 8, 24, 40, 4, 12, 20].map(line), [16, 16, 16, 8, 8, 8, 4, 4, 4]);
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
            let load = Step::Load { view: 0, address: 0, to, flush: 0 };
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
