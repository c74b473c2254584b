//! Pixel kernels that do much the same with each component of what they sample, over domains with whole lines of waves and without: outputs
//! that the CPU device's code may store itself, and elements that it may leave as they lie in memory.

use recal_hal::{Extent, Format};

use super::products::word;
use crate::case::{Buffer, Case, Needs, Slot};
use crate::generate::values::Random;

const FORMATS: [Format; 6] = [
    Format::Float32x4,
    Format::Float32x2,
    Format::Float32x1,
    Format::UnsignedInt32x4,
    Format::UnsignedInt32x1,
    Format::Float16x4,
];

/// The kernel of a seed, with its memory.
pub fn case(seed: u64) -> Case {
    let random = &mut Random::new(seed.wrapping_mul(5) ^ 0xE1E);
    let (inputs, outputs) = (1 + random.below(2), 1 + random.below(2));
    let mut text = String::from(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_cb cb0[2]\n\
         dcl_literal l0, 0.0, -1.5, 0.375, 2.0\ndcl_literal l1, 3.0, 2.0, 0, 0\n",
    );
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    (0..outputs).for_each(|k| line(format!("dcl_output_generic o{k}")));
    for k in 0..inputs {
        line(format!("dcl_resource_id({k})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"));
    }
    for k in 0..inputs {
        let at = match random.below(6) {
            // One place, and one of each line.
            0 | 5 => ["l1", "cb0[1]"][random.below(2)],
            1 if random.below(2) == 0 => {
                line("mov r9.x, l1.x\nmov r9._y, vWinCoord0.y".into());
                "r9.xyxx"
            }
            2 => "vWinCoord0.yxyx",
            _ => "vWinCoord0.xyxx",
        };
        let offset = ["", "", "", "_aoffimmi(1.0,0.0,0.0)"][random.below(4)];
        line(format!("sample_resource({k})_sampler({k}){offset} r{}, {at}", k + 1));
    }
    for k in inputs..3 {
        line(format!("mov r{}, {}", k + 1, ["r1", "cb0[1]", "l0.x"][random.below(3)]));
    }
    let most = [1, 3, 8][random.below(3)];
    for _ in 0..random.below(most) {
        let register = |random: &mut Random| format!("r{}", 1 + random.below(3));
        let source = |random: &mut Random| match random.below(6) {
            0 | 1 => {
                format!("cb0[{}].{}", random.below(2), ["xxxx", "yyyy", "zzzz", "xyzw"][random.below(4)])
            }
            2 => format!("l0.{}", ["x", "y", "z", "w"][random.below(4)]),
            3 => format!("r{}{}", 1 + random.below(3), ["", ".x", ".yxwz", "_neg(xyzw)"][random.below(4)]),
            _ => format!("r{}", 1 + random.below(3)),
        };
        let to = format!("{}{}", register(random), ["", "", "", "", "", ".x", ".xy"][random.below(7)]);
        let (a, b, c) = (source(random), source(random), source(random));
        line(match random.below(10) {
            0..4 => format!("mad {to}, {a}, {b}, {c}"),
            4 | 5 => format!("mul {to}, {a}, {b}"),
            6 | 7 => format!("add {to}, {a}, {b}"),
            8 => format!("{} {to}, {a}, {b}", ["max", "min", "mul_ieee", "iadd", "ixor"][random.below(5)]),
            _ => format!("mov {to}, {a}"),
        });
    }
    for k in 0..outputs {
        let mask = ["", "", "", "", ".xy"][random.below(5)];
        line(format!("mov o{k}{mask}, r{}", 1 + random.below(3)));
    }
    line("end".into());
    // Large ones are done in tiles of several waves.
    let (width, height) = match random.below(16) {
        0 => ([260, 600, 1100][random.below(3)], 34),
        _ => ([64, 64, 128, 130, 200, 20][random.below(6)], 1 + random.below(4) as u32),
    };
    let (x, y) = ([0, 0, 0, 3][random.below(4)], random.below(2) as u32);
    let (odd, spread) = ([0, 0, 1, 8, 200][random.below(5)], [2, 10, 40][random.below(3)]);
    let filled = |random: &mut Random, slot, format: Format, [width, height]: [u32; 2]| {
        let words =
            (0..width * height * format.bytes() / 4).flat_map(|_| word(random, odd, spread).to_le_bytes());
        Buffer { slots: vec![slot], format, width, height, initial: words.collect(), expected: None }
    };
    let any = |random: &mut Random| FORMATS[[0, 0, 0, 1, 2, 3, 4, 5][random.below(8)]];
    let mut buffers = vec![filled(random, Slot::Constant(0), Format::UnsignedInt32x4, [2, 1])];
    for k in 0..inputs {
        let size = [[x + width, y + height], [x + width + 1, y + height], [40, 2]][random.below(3)];
        let format = any(random);
        buffers.push(filled(random, Slot::Resource(k as u32), format, size));
    }
    let single = random.below(3) == 0;
    for k in 0..outputs {
        let size = [[x + width, y + height], [x + width + 5, y + height + 1], [x + width - 1, y + height]];
        let format = match single {
            true => [Format::Float32x1, Format::UnsignedInt32x1][random.below(2)],
            false => any(random),
        };
        let size = size[random.below(3)];
        buffers.push(filled(random, Slot::Output(k as u32), format, size));
    }
    Case {
        name: format!("found/elements_{seed}"),
        text,
        from: format!("fuzzing of elements, seed {seed}; words of the other engine, to be confirmed by hand"),
        extent: Some(Extent::Domain { x, y, width, height }),
        buffers,
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs { compute: false, fp64: false },
        faithful_only: true,
        checks: 1,
    }
}
