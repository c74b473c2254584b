//! Texels against whole numbers and steps of one.

use super::*;
use crate::isa::Scalar;

const EDGES: [f32; 22] = [
    0.0,
    -0.0,
    1e-40,
    -1e-40,
    -1e-30,
    1e-30,
    0.25,
    -0.25,
    0.5,
    -0.5,
    0.499_999_97,
    0.500_000_06,
    -0.500_000_06,
    0.999_999_94,
    -0.999_999_94,
    1.0,
    2.5,
    -2.5,
    4_194_303.5,
    -4_194_303.8,
    8_388_607.5,
    999_999_936.0,
];

/// Edge values, and numbers of all magnitudes that a coordinate may have.
fn values() -> Vec<f32> {
    let mut values = EDGES.to_vec();
    let mut bits = 12345u32;
    while values.len() < 20_000 {
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = f32::from_bits(bits.rotate_left(7));
        if value.abs() <= 1.0e9 && (value.abs() > 1e-12 || value == 0.0) {
            values.push(value);
        }
    }
    values
}

#[test]
fn texels_and_weights_are_those_of_the_exact_sum() {
    for v in values() {
        for halves in -5..6 {
            let got = floor(&mut Scalar, v.to_bits(), halves) as i32;
            // Whether v is past a half is a comparison, which rounds nothing.
            let whole = f64::from(v).floor();
            let upper = f64::from(v) >= whole + 0.5;
            let odd = halves.rem_euclid(2) == 1;
            let expected = whole as i32 + halves.div_euclid(2) + i32::from(odd && upper);
            assert_eq!(got, expected, "⌊{v} + {halves} / 2⌋");
            if v.abs() < 1e-12 && v != 0.0 {
                continue;
            }
            // In units of 2^-90 everything is whole, but for the tiniest digits of the tiniest numbers.
            let unit = 90;
            let (exponent, fraction) = (v.to_bits() >> 23 & 0xFF, i128::from(v.to_bits() & 0x7F_FFFF));
            let significand = if exponent == 0 { 0 } else { fraction | 1 << 23 };
            let scaled = significand << (exponent + unit).saturating_sub(150);
            let exact = if v < 0.0 { -scaled } else { scaled } + (i128::from(halves) << (unit - 1));
            let rest = exact - (i128::from(expected) << unit);
            let weight = rest as f32 * 2f32.powi(-(unit as i32));
            let got = f32::from_bits(fraction_of(v, halves));
            assert_eq!(got, weight, "fraction of {v} + {halves} / 2");
        }
    }
    // Just below a texel the weight rounds to 1.
    assert_eq!(fraction_of(-1e-30, 0), 1.0f32.to_bits());
    assert_eq!(fraction_of(-1e-30, -1), 0.5f32.to_bits());
    assert_eq!(fraction_of(1e-30, 2), 1e-30f32.to_bits());
}

fn fraction_of(v: f32, halves: i32) -> u32 {
    fraction(&mut Scalar, v.to_bits(), halves)
}

/// The texel of an index, found by walking; `None` is the border.
fn walked(index: i32, n: i32, mode: Wrap) -> Option<i32> {
    match mode {
        Wrap::Repeat | Wrap::MirroredRepeat => {
            // From texel 0 on, a texel at a time.
            let (mut at, mut step) = (0, if index < 0 { -1 } else { 1 });
            let mut left = index.abs();
            while left > 0 {
                left -= 1;
                let next = at + step;
                if (0..n).contains(&next) {
                    at = next;
                } else if mode == Wrap::Repeat {
                    at = if next < 0 { n - 1 } else { 0 };
                } else {
                    // The texel at the edge comes twice.
                    step = -step;
                }
            }
            Some(at)
        }
        Wrap::ClampToEdge | Wrap::Clamp => Some(index.clamp(0, n - 1)),
        Wrap::MirrorClampToEdge | Wrap::MirrorClamp if index < 0 => Some((-1 - index).min(n - 1)),
        Wrap::MirrorClampToEdge | Wrap::MirrorClamp => Some(index.min(n - 1)),
        Wrap::ClampToBorder => (0..n).contains(&index).then_some(index),
        Wrap::MirrorClampToBorder if index < 0 => (-index <= n).then_some(-1 - index),
        Wrap::MirrorClampToBorder => (index < n).then_some(index),
    }
}

#[test]
fn indices_wrap_as_their_modes_say() {
    for n in [1, 2, 3, 7, 16] {
        for mode in Wrap::ALL {
            for index in -50..50 {
                let by = |mode: Mode<u32>, tap: bool| {
                    let (texel, inside) = wrap(&mut Scalar, index as u32, n as u32, mode, tap);
                    assert!((texel as i32) < n, "{mode:?} of {index} among {n} leads outside");
                    let inside = match inside {
                        Truth::Known(inside) | Truth::Value(inside) => inside,
                    };
                    inside.then_some(texel as i32)
                };
                let expected = walked(index, n, mode);
                assert_eq!(by(Mode::Known(mode), false), expected, "{mode:?} of {index} among {n}");
                assert_eq!(by(Mode::Word(mode as u32), false), expected, "{mode:?} of {index} among {n}");
                let tapped = match mode {
                    Wrap::Clamp => walked(index, n, Wrap::ClampToBorder),
                    Wrap::MirrorClamp => walked(index, n, Wrap::MirrorClampToBorder),
                    _ => expected,
                };
                assert_eq!(by(Mode::Known(mode), true), tapped, "tap {mode:?} of {index} among {n}");
                assert_eq!(by(Mode::Word(mode as u32), true), tapped, "tap {mode:?} of {index} among {n}");
            }
        }
    }
    // Far away, where steps would take long: 10^9 = 3 · 333333333 + 1.
    let far = |index: i32, mode| wrap(&mut Scalar, index as u32, 3, Mode::Known(mode), false).0;
    assert_eq!([far(1_000_000_000, Wrap::Repeat), far(-1_000_000_000, Wrap::Repeat)], [1, 2]);
    assert_eq!([far(1_000_000_000, Wrap::MirroredRepeat), far(-1_000_000_000, Wrap::MirroredRepeat)], [1, 2]);
}

#[test]
fn coordinates_that_are_no_texels() {
    let of = |coord: f32, unnormalized| {
        f32::from_bits(denormalized(&mut Scalar, coord.to_bits(), 8, unnormalized))
    };
    assert_eq!([of(0.5, false), of(0.5, true)], [4.0, 0.5]);
    assert_eq!([of(f32::NAN, false), of(f32::NAN, true)], [0.0; 2]);
    assert_eq!([of(f32::INFINITY, true), of(f32::NEG_INFINITY, false)], [1.0e9, -1.0e9]);
    assert_eq!([of(3.0e38, false), of(-2.0e9, true)], [1.0e9, -1.0e9]);
    let at = |coord: f32, offset, mode| {
        let axis =
            Axis { coord: coord.to_bits(), size: 8, offset, unnormalized: true, mode: Mode::Known(mode) };
        nearest(&mut Scalar, &axis)
    };
    assert_eq!(at(-1e-40, 0, Wrap::Repeat), (7, Truth::Known(true)));
    assert_eq!(at(-1e-40, 0, Wrap::ClampToBorder), (0, Truth::Value(false)));
    assert_eq!(at(7.5, 1, Wrap::ClampToBorder), (7, Truth::Value(false)));
    assert_eq!(at(7.4, 1, Wrap::ClampToBorder), (7, Truth::Value(true)));
    assert_eq!(at(3.9, -16, Wrap::Clamp), (0, Truth::Known(true)));
    assert_eq!(at(f32::NAN, 4, Wrap::Repeat), (2, Truth::Known(true)));
}

#[test]
fn taps_reach_half_way_into_the_border() {
    let at = |coord: f32, offset, mode| {
        let axis =
            Axis { coord: coord.to_bits(), size: 8, offset, unnormalized: true, mode: Mode::Known(mode) };
        let ([(a, a_in), (b, b_in)], weight) = taps(&mut Scalar, &axis);
        ([(a, a_in), (b, b_in)], f32::from_bits(weight))
    };
    let (inside, outside) = (Truth::Value(true), Truth::Value(false));
    // The coordinate is clamped to 0 … 8, then −½: between texel −1 and texel 0, in the middle.
    assert_eq!(at(-5.0, 0, Wrap::Clamp), ([(0, outside), (0, inside)], 0.5));
    assert_eq!(at(20.0, 0, Wrap::Clamp), ([(7, inside), (7, outside)], 0.5));
    assert_eq!(at(20.0, -6, Wrap::Clamp), ([(7, inside), (7, outside)], 0.5));
    assert_eq!(at(-20.0, 0, Wrap::MirrorClamp), ([(7, outside), (7, inside)], 0.5));
    assert_eq!(at(-5.0, 0, Wrap::ClampToBorder), ([(0, outside), (0, outside)], 0.5));
    let known = Truth::Known(true);
    assert_eq!(at(3.25, 0, Wrap::Repeat), ([(2, known), (3, known)], 0.75));
    assert_eq!(at(3.5, 0, Wrap::Repeat), ([(3, known), (4, known)], 0.0));
    assert_eq!(at(3.5, 1, Wrap::Repeat), ([(3, known), (4, known)], 0.5));
    assert_eq!(at(0.0, 0, Wrap::Repeat), ([(7, known), (0, known)], 0.5));
}

#[test]
fn integers_outside_stay_outside() {
    let grid = Grid { columns: 8u32, rows: 4, pitch: 10, flat: false };
    let at = |grid: &Grid<u32>, x: i32, y: i32, offset| {
        at_integers(&mut Scalar, grid, [x as u32, y as u32], offset)
    };
    assert_eq!(at(&grid, 3, 2, [0, 0]), (23, true));
    assert_eq!(at(&grid, 3, 2, [4, 1]), (37, true));
    for (x, y, offset) in [
        (8, 0, [0, 0]),
        (-1, 0, [0, 0]),
        (0, 4, [0, 0]),
        (0, -1, [0, 0]),
        (7, 0, [1, 0]),
        (0, 0, [-1, 0]),
        (0, 3, [0, 1]),
        (i32::MAX, 0, [1, 0]),
        (i32::MIN, 0, [-1, 0]),
        (0, i32::MAX, [0, 1]),
    ] {
        assert_eq!(at(&grid, x, y, offset), (0, false), "{x} {y} {offset:?}");
    }
    assert_eq!(at(&grid, 8, 0, [-1, 0]), (7, true));
    let flat = Grid { flat: true, ..grid };
    assert_eq!(at(&flat, 5, 99, [0, 7]), (5, true));
    assert_eq!(at(&Grid { rows: 0, ..flat }, 5, 0, [0, 0]), (0, false));
}
