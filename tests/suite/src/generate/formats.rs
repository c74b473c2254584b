//! All 47 formats: reads by `sample`, `load`, `fetch4` and typed UAV, writes by output and typed UAV, against a model of
//! amd-il 5.2 in double precision.

use recal_hal::{Extent, Format};

use super::values::Random;
use crate::case::{Buffer, Case, Needs, Slot, Want};

/// Elements in a case.
const COUNT: usize = 64;

/// What a component is, by the name of the format: (kind, bits).
fn component(name: &str) -> (&str, u32) {
    let word = name.split('_').nth(1).unwrap_or_default();
    let bits: u32 = name
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>()
        .get(..2)
        .and_then(|d| d.parse().ok())
        .unwrap_or(8);
    let bits = if word.starts_with("INT8") { 8 } else { bits };
    match name.split('_').next().unwrap_or_default() {
        // The 32-bit NORM names are old names of integers.
        "UNORM" | "SNORM" if bits == 32 => ("raw", 32),
        kind @ ("UNORM" | "SNORM") => (if kind == "UNORM" { "unorm" } else { "snorm" }, bits),
        "UNSIGNED" => (if bits == 32 { "raw" } else { "uint" }, bits),
        "SIGNED" => (if bits == 32 { "raw" } else { "sint" }, bits),
        _ if name.starts_with("FLOAT16") => ("half", 16),
        _ => ("raw", 32),
    }
}

/// Fields of an element, x first: (lowest bit, bits, kind).
fn fields(format: Format) -> Vec<(u32, u32, &'static str)> {
    let fields = |list: &[(u32, u32)]| list.iter().map(|&(at, bits)| (at, bits, "unorm")).collect();
    match format.name() {
        "UNORM_SHORT_565" => fields(&[(11, 5), (5, 6), (0, 5)]),
        "UNORM_SHORT_555" => fields(&[(10, 5), (5, 5), (0, 5)]),
        "UNORM_INT10_3" => fields(&[(20, 10), (10, 10), (0, 10)]),
        "FLOAT64_1" => vec![(0, 32, "raw"), (32, 32, "raw")],
        "FLOAT64_2" => (0..4).map(|k| (32 * k, 32, "raw")).collect(),
        name => {
            let (kind, bits) = component(name);
            let kind = ["raw", "unorm", "snorm", "uint", "sint", "half"]
                .into_iter()
                .find(|k| *k == kind)
                .unwrap_or("raw");
            (0..format.components()).map(|k| (k * bits, bits, kind)).collect()
        }
    }
}

fn is_integer(format: Format) -> bool {
    let name = format.name();
    name.starts_with("UNSIGNED") || name.starts_with("SIGNED") || name.contains("NORM_INT32")
}

fn signed(raw: u32, bits: u32) -> i64 {
    let value = i64::from(raw);
    if value >= 1 << (bits - 1) { value - (1 << bits) } else { value }
}

fn decode_field(raw: u32, bits: u32, kind: &str) -> u32 {
    let ratio = |value: i64, largest: i64| ((value as f64 / largest as f64) as f32).to_bits();
    match kind {
        "unorm" => ratio(i64::from(raw), (1 << bits) - 1),
        "snorm" => ratio(signed(raw, bits).max(1 - (1 << (bits - 1))), (1 << (bits - 1)) - 1),
        "sint" => signed(raw, bits) as u32,
        "half" => half(raw).to_bits(),
        _ => raw,
    }
}

fn half(raw: u32) -> f32 {
    let sign = if raw >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = ((raw >> 10 & 31) as i32, (raw & 1023) as f32);
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        31 => f32::INFINITY,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}

/// Words of an element as a typed UAV loads them; a missing w is 1 or 1.0.
fn decode(format: Format, element: u128) -> [u32; 4] {
    let mut words = [0, 0, 0, if is_integer(format) { 1 } else { 0x3F80_0000 }];
    for (word, (at, bits, kind)) in words.iter_mut().zip(fields(format)) {
        let raw = (element >> at) as u32 & (u64::from(u32::MAX) >> (32 - bits)) as u32;
        *word = decode_field(raw, bits, kind);
    }
    words
}

/// Words that a fetch delivers: one component stands in all four.
fn fetch(format: Format, element: u128) -> [u32; 4] {
    let words = decode(format, element);
    if fields(format).len() == 1 { [words[0]; 4] } else { words }
}

/// The element that a store of `words` leaves.
fn encode(format: Format, words: [u32; 4]) -> u128 {
    fields(format).into_iter().zip(words).fold(0, |element, ((at, bits, kind), word)| {
        let value = f64::from(f32::from_bits(word));
        let scaled = |low: f64, largest: f64| {
            if value.is_nan() { 0 } else { (value.clamp(low, 1.0) * largest).round_ties_even() as i64 as u32 }
        };
        let mask = (u64::from(u32::MAX) >> (32 - bits)) as u32;
        let raw = match kind {
            "unorm" => scaled(0.0, f64::from(mask)),
            "snorm" => scaled(-1.0, f64::from(mask >> 1)),
            "uint" => word.min(mask),
            "sint" => (word as i32).clamp(-(mask as i32 / 2) - 1, mask as i32 / 2) as u32,
            "half" => to_half(value),
            _ => word,
        };
        element | u128::from(raw & mask) << at
    })
}

/// The nearest half, ties to even, of a value that is not a NaN.
fn to_half(value: f64) -> u32 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    // The spacing of halves around the value; from 65520 on the result is infinite.
    let exponent = if magnitude < 2f64.powi(-14) { -14 } else { magnitude.log2().floor() as i32 };
    if magnitude >= 65520.0 {
        return sign | 0x7C00;
    }
    let steps = (magnitude / 2f64.powi(exponent - 10)).round_ties_even() as u32;
    sign | if exponent == -14 && steps < 1024 { steps } else { (((exponent + 14) as u32) << 10) + steps }
}

fn bytes(format: Format, elements: &[u128]) -> Vec<u8> {
    elements.iter().flat_map(|e| e.to_le_bytes().into_iter().take(format.bytes() as usize)).collect()
}

fn holding(slot: Slot, format: Format, elements: &[u128]) -> Buffer {
    Buffer { initial: bytes(format, elements), ..Buffer::row(slot, format, elements.len() as u32) }
}

/// A read case and two write cases for each format.
pub fn formats() -> Vec<Case> {
    Format::ALL
        .iter()
        .flat_map(|&format| [read(format), read_typed(format), write(format), write_typed(format)])
        .collect()
}

fn elements(format: Format) -> Vec<u128> {
    let mut random = Random::new(u64::from(format as u32) + 5);
    (0..COUNT as u32)
        .map(|k| {
            let all = (0..4).fold(0u128, |e, _| e << 32 | u128::from(random.word()));
            match k {
                0 => 0,
                1 => u128::MAX,
                2 => u128::from_le_bytes([0x80; 16]),
                3 => u128::from_le_bytes([0x7F; 16]),
                4 => u128::from_le_bytes([
                    0x00, 0x80, 0x00, 0x80, 0x00, 0x80, 0x00, 0x80, 0, 0x80, 0, 0x80, 0, 0x80, 0, 0x80,
                ]),
                5 => u128::from_le_bytes([1; 16]),
                _ => all,
            }
        })
        .map(|e| if format.name().starts_with("FLOAT16") { without_half_nan(e) } else { e })
        .collect()
}

/// Half NaNs come out as unspecified NaNs: made infinite here.
fn without_half_nan(element: u128) -> u128 {
    (0..8).fold(0, |out, k| {
        let raw = (element >> (16 * k)) as u32 & 0xFFFF;
        let kept = if raw & 0x7C00 == 0x7C00 { raw & 0xFC00 } else { raw };
        out | u128::from(kept) << (16 * k)
    })
}

/// Words to store: floats around the ends of every range, and integers.
fn words(format: Format) -> Vec<[u32; 4]> {
    let floats = [
        0.0f32, 1.0, -1.0, 0.5, 2.0, -2.0, 0.25, 0.1, -0.1, 0.999, 1e-3, 1e-8, -0.3, 65504.0, 65519.9,
        65520.0, 6e-8, 3e-8, 1e10, -1e10,
    ];
    let integers = [
        0u32,
        1,
        127,
        128,
        255,
        256,
        32767,
        32768,
        65535,
        65536,
        0xFFFF_FFFF,
        0xFFFF_FF80,
        0xFFFF_FF7F,
        0xFFFF_8000,
        0xFFFF_7FFF,
        0x7FFF_FFFF,
        0x8000_0000,
    ];
    let mut random = Random::new(u64::from(format as u32) + 99);
    let word = |random: &mut Random| match fields(format)[0].2 {
        "uint" | "sint" | "raw" => match random.below(4) {
            0 => random.word(),
            _ => integers[random.below(integers.len())],
        },
        _ => match random.below(3) {
            0 => floats[random.below(floats.len())].to_bits(),
            1 => (random.word() as f32 / u32::MAX as f32).to_bits(),
            _ => (2.4 * (random.word() as f32 / u32::MAX as f32) - 1.2).to_bits(),
        },
    };
    (0..COUNT).map(|_| [0; 4].map(|_| word(&mut random))).collect()
}

fn case(name: String, text: &str, pixel: bool, buffers: Vec<Buffer>) -> Case {
    let count = COUNT as u32;
    let extent = if pixel {
        Extent::Domain { x: 0, y: 0, width: count, height: 1 }
    } else {
        Extent::Grid { groups: [1, 1, 1], block: [count, 1, 1] }
    };
    Case {
        name,
        text: text.to_owned(),
        from: "amd-il 5.2 in double precision".into(),
        extent: Some(extent),
        buffers,
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs { compute: !pixel, fp64: false },
        faithful_only: false,
        checks: COUNT,
    }
}

const PIXEL: &str =
    "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n";
const RESOURCE: &str = "dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n";

fn read(format: Format) -> Case {
    let elements = elements(format);
    let fetched: Vec<[u32; 4]> = elements.iter().map(|e| fetch(format, *e)).collect();
    // Texels k and k + 1 of the only row, from the left of the lower one on.
    let gathered = (0..COUNT).flat_map(|k| [k, k + 1, k + 1, k]).map(|k| fetched[k.min(COUNT - 1)][2]);
    let text = format!(
        "{PIXEL}dcl_output_generic o1\ndcl_output_generic o2\n{RESOURCE}\
         dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
         sample_resource(0)_sampler(0) o0, vWinCoord0.x\nftoi r0.x, vWinCoord0.x\nload_resource(0) o1, r0.x000\n\
         fetch4_resource(1)_sampler(0)_compselect(z) o2, vWinCoord0\nend\n"
    );
    let out = |k, words: Vec<u32>| {
        Buffer::row(Slot::Output(k), Format::UnsignedInt32x4, COUNT as u32)
            .expecting(words.into_iter().map(Want::Word))
    };
    let mut input = holding(Slot::Resource(0), format, &elements);
    input.slots.push(Slot::Resource(1));
    case(
        format!("formats/read/{}", format.name()),
        &text,
        true,
        vec![input, out(0, fetched.concat()), out(1, fetched.concat()), out(2, gathered.collect())],
    )
}

fn read_typed(format: Format) -> Case {
    let elements = elements(format);
    let wants = elements.iter().flat_map(|e| decode(format, *e)).map(Want::Word);
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group {COUNT}\ndcl_uav_id(0)_type(1d)_fmtx(unknown)\ndcl_raw_uav_id(1)\ndcl_literal l0, 4, 0, 0, 0\n\
         uav_load_id(0) r0, vAbsTidFlat.x000\nishl r1.x, vAbsTidFlat.x, l0.x\nuav_raw_store_id(1) mem0, r1.x, r0\nend\n"
    );
    let out = Buffer::row(Slot::Uav(1), Format::UnsignedInt32x1, 4 * COUNT as u32).expecting(wants);
    case(
        format!("formats/uav_load/{}", format.name()),
        &text,
        false,
        vec![holding(Slot::Uav(0), format, &elements), out],
    )
}

fn stored(slot: Slot, format: Format, words: &[[u32; 4]]) -> Buffer {
    let elements: Vec<u128> = words.iter().map(|w| encode(format, *w)).collect();
    let wants = bytes(format, &elements).into_iter().enumerate().map(|(at, b)| (at, Want::Byte(b))).collect();
    Buffer { expected: Some(wants), ..Buffer::row(slot, format, COUNT as u32) }
}

fn write(format: Format) -> Case {
    let words = words(format);
    let flat: Vec<u32> = words.iter().flatten().copied().collect();
    let text = format!("{PIXEL}{RESOURCE}sample_resource(0)_sampler(0) r0, vWinCoord0.x\nmov o0, r0\nend\n");
    let input = Buffer::row(Slot::Resource(0), Format::UnsignedInt32x4, COUNT as u32).holding(&flat);
    case(
        format!("formats/write/{}", format.name()),
        &text,
        true,
        vec![input, stored(Slot::Output(0), format, &words)],
    )
}

fn write_typed(format: Format) -> Case {
    let words = words(format);
    let flat: Vec<u32> = words.iter().flatten().copied().collect();
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group {COUNT}\ndcl_uav_id(0)_type(1d)_fmtx(unknown)\ndcl_raw_uav_id(1)\ndcl_literal l0, 4, 0, 0, 0\n\
         ishl r1.x, vAbsTidFlat.x, l0.x\nuav_raw_load_id(1) r0, r1.x\nuav_store_id(0) vAbsTidFlat.x000, r0\nend\n"
    );
    let input = Buffer::row(Slot::Uav(1), Format::UnsignedInt32x1, 4 * COUNT as u32).holding(&flat);
    case(
        format!("formats/uav_store/{}", format.name()),
        &text,
        false,
        vec![input, stored(Slot::Uav(0), format, &words)],
    )
}
