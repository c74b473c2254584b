//! Elements against exact arithmetic, the crate `half`, and values by hand.

use super::*;
use crate::isa::Scalar;

/// The float nearest to v / n, found by its bits: no neighbour is nearer, in whole numbers.
fn is_nearest(bits: u32, v: i64, n: i64) -> bool {
    // 2^60 times the distance of a float from v / n, times n.
    let distance = |bits: u32| {
        let (exponent, fraction) = ((bits >> 23 & 0xFF) as i32, i128::from(bits & 0x7F_FFFF));
        let (significand, exponent) =
            if exponent == 0 { (fraction, -149) } else { (fraction | 1 << 23, exponent - 150) };
        let shift = exponent + 60;
        let float = if shift < 0 { significand >> -shift } else { significand << shift };
        (float * i128::from(n) - (i128::from(v.abs()) << 60)).abs()
    };
    let sign = bits >> 31 == 1;
    if v == 0 {
        return bits == 0;
    }
    let magnitude = bits & 0x7FFF_FFFF;
    let here = distance(magnitude);
    sign == (v < 0) && here < distance(magnitude + 1) && here < distance(magnitude - 1)
}

/// Every code of every field of every encoding.
#[test]
fn normalised_codes_are_the_nearest_floats_to_their_quotients() {
    let mut fields = 0;
    for &encoding in Encoding::ALL {
        for field in (0..4).filter_map(|k| encoding.field(k)).filter(|field| field.width <= 16) {
            fields += 1;
            for code in 0..1u32 << field.width {
                // What is around the field must not matter.
                let others = !(((1 << field.width) - 1) << field.shift) & 0x9669_A55A;
                let got = decode(&mut Scalar, encoding.number(), field, code << field.shift | others);
                let signed =
                    i64::from(code) - if code >> (field.width - 1) == 1 { 1 << field.width } else { 0 };
                let right = match encoding.number() {
                    Number::Unorm => is_nearest(got, code.into(), (1 << field.width) - 1),
                    Number::Snorm => {
                        let most = (1 << (field.width - 1)) - 1;
                        is_nearest(got, signed.max(-most), most)
                    }
                    Number::Uint => got == code,
                    Number::Sint => i64::from(got as i32) == signed,
                    Number::Half => got == half::f16::from_bits(code as u16).to_f32().to_bits(),
                    Number::Raw => unreachable!("raw fields are whole words"),
                };
                assert!(right, "{encoding:?} {field:?}: {code:#x} is {got:#x}");
            }
        }
    }
    assert_eq!(fields, 9 * 4 + 3 * 3, "nine encodings of fields of one size, three packed ones");
}

/// 0.5 is a tie in every normalised format, and so are the products that happen to end in a half.
#[test]
fn normalised_stores_round_ties_to_even() {
    for (number, width, half, even) in [
        (Number::Unorm, 5, 0.5f32, 16),
        (Number::Unorm, 6, 0.5, 32),
        (Number::Unorm, 8, 0.5, 128),
        (Number::Unorm, 10, 0.5, 512),
        (Number::Unorm, 16, 0.5, 32768),
        (Number::Snorm, 8, 0.5, 64),
        (Number::Snorm, 8, -0.5, 0xC0),
        (Number::Snorm, 16, 0.5, 16384),
        (Number::Snorm, 16, -0.5, 0xC000),
    ] {
        assert_eq!(field(&mut Scalar, number, width, half.to_bits()), even, "{number:?} {width}: {half}");
        let mut ties = 0;
        for k in 0..(1u32 << width) - 1 {
            let most = (1u32 << width) - 1;
            let near = ((f64::from(k) + 0.5) / f64::from(most)) as f32;
            for x in [near.next_down(), near, near.next_up()] {
                // The product in single precision, by way of an exact one.
                let product = (f64::from(x) * f64::from(most)) as f32;
                ties += u32::from(product.fract() == 0.5);
                let expected = product.round_ties_even() as u32;
                assert_eq!(field(&mut Scalar, Number::Unorm, width, x.to_bits()), expected, "{width}: {x}");
            }
        }
        assert!(ties > 1, "{width}");
    }
}

#[test]
fn stores_clamp() {
    let f = f32::to_bits;
    for (number, width, word, expected) in [
        (Number::Unorm, 8, f(f32::NAN), 0),
        (Number::Unorm, 8, 0xFFC0_1234, 0),
        (Number::Unorm, 8, f(-0.0), 0),
        (Number::Unorm, 8, f(-3.0), 0),
        (Number::Unorm, 8, f(f32::INFINITY), 255),
        (Number::Unorm, 8, 1, 0),
        (Number::Unorm, 16, f(1.000_1), 65535),
        (Number::Snorm, 8, f(f32::NAN), 0),
        (Number::Snorm, 8, f(f32::NEG_INFINITY), 0x81),
        (Number::Snorm, 16, f(-2.0), 0x8001),
        (Number::Snorm, 16, f(1.0), 0x7FFF),
        (Number::Uint, 8, 256, 255),
        (Number::Uint, 16, !0, 65535),
        (Number::Sint, 8, 128, 127),
        (Number::Sint, 8, -129i32 as u32, 0x80),
        (Number::Sint, 16, 1 << 31, 0x8000),
        (Number::Sint, 16, 40000, 0x7FFF),
        (Number::Sint, 16, !0, 0xFFFF),
    ] {
        assert_eq!(field(&mut Scalar, number, width, word), expected, "{number:?} {width}: {word:#x}");
    }
}

#[test]
fn halves_round_as_the_crate_does() {
    let compare = |bits: u32| {
        let expected = half::f16::from_f32(f32::from_bits(bits)).to_bits();
        assert_eq!(field(&mut Scalar, Number::Half, 16, bits), u32::from(expected), "{bits:#x}");
    };
    // Around each half, and around the middle of each and the next.
    for code in 0..=u16::MAX {
        let float = half::f16::from_bits(code).to_f32().to_bits();
        for near in [float, float + 0x1000, float.wrapping_sub(0x1000)] {
            (0..3).for_each(|step| compare(near.wrapping_add(step).wrapping_sub(1)));
        }
    }
    let mut bits = 1u32;
    for _ in 0..300_000 {
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        compare(bits);
    }
}

#[test]
fn elements_are_where_their_bytes_are() {
    for lg in 0..5 {
        for index in [0, 1, 2, 3, 4, 5, 6, 7, 1000, 0x00FF_FFFF] {
            let byte = index << lg;
            assert_eq!(place(&mut Scalar, index, lg), (byte / 4, 8 * (byte % 4)), "{index} of 2^{lg} bytes");
        }
    }
}

#[test]
fn borders_are_as_elements_would_be_fetched() {
    let colour = [2.5f32, -7.9, 3.0e9, f32::NAN].map(f32::to_bits);
    let border = |format: Format| Layout::of(&mut Scalar, format).border(&mut Scalar, colour);
    let one = 1.0f32.to_bits();
    assert_eq!(border(Format::Float32x4), colour);
    assert_eq!(border(Format::UnormInt8x2), [colour[0], colour[1], 0, one]);
    assert_eq!(border(Format::UnormShort565), [colour[0], colour[1], colour[2], one]);
    assert_eq!(border(Format::Float16x1), [colour[0]; 4]);
    assert_eq!(border(Format::SignedInt8x1), [2; 4]);
    assert_eq!(border(Format::SignedInt32x4), [2, -7i32 as u32, i32::MAX as u32, 0]);
    assert_eq!(border(Format::SignedInt16x2), [2, -7i32 as u32, 0, 1]);
    assert_eq!(border(Format::Float64x1), [colour[0], 0, 0, one]);
    assert_eq!(border(Format::Float64x2), [colour[0], colour[1], 0, 0]);
}
