//! The 47 storage formats of resources (CAL 1.4: `CALformat`) and their conversion rules (amd-il 5.2).

macro_rules! formats {
    ($($id:ident = $value:literal, $name:literal, $components:literal, $bytes:literal, $encoding:ident, $integer:literal;)*) => {
        /// Storage format of one element of a resource.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum Format {
            $(#[doc = concat!("`CAL_FORMAT_", $name, "`")] $id = $value,)*
        }

        impl Format {
            /// All formats, in order of their values.
            pub const ALL: &'static [Format] = &[$(Format::$id),*];

            /// The format with the given `CALformat` value.
            pub fn from_value(value: u32) -> Option<Format> {
                Self::ALL.get(value as usize).copied()
            }

            /// Name without the `CAL_FORMAT_` prefix.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$id => $name,)* }
            }

            /// Stored components, 1 to 4.
            pub const fn components(self) -> u32 {
                match self { $(Format::$id => $components,)* }
            }

            /// Bytes per element.
            pub const fn bytes(self) -> u32 {
                match self { $(Format::$id => $bytes,)* }
            }

            /// How components are stored.
            pub const fn encoding(self) -> Encoding {
                match self { $(Format::$id => Encoding::$encoding,)* }
            }

            /// True for integer formats: a missing w reads as integer 1 rather than 1.0.
            pub const fn is_integer(self) -> bool {
                match self { $(Format::$id => $integer,)* }
            }
        }
    };
}

/// How the components of an element are stored and what a fetch makes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// 32 raw bits; also the 32-bit "NORM" formats, which are never scaled.
    Raw32,
    /// Two raw words a component.
    Float64,
    /// Half precision, widened.
    Float16,
    /// v / 255
    Unorm8,
    /// v / 65535
    Unorm16,
    /// max(v / 127, −1)
    Snorm8,
    /// max(v / 32767, −1)
    Snorm16,
    /// Zero-extended.
    Uint8,
    /// Zero-extended.
    Uint16,
    /// Sign-extended.
    Sint8,
    /// Sign-extended.
    Sint16,
    /// 5-6-5 bits, x in the high bits.
    Unorm565,
    /// x-5-5-5 bits.
    Unorm555,
    /// x-10-10-10 bits.
    Unorm10,
}

formats! {
    UnormInt8x1 = 0, "UNORM_INT8_1", 1, 1, Unorm8, false;
    UnormInt8x2 = 1, "UNORM_INT8_2", 2, 2, Unorm8, false;
    UnormInt8x4 = 2, "UNORM_INT8_4", 4, 4, Unorm8, false;
    UnormInt16x1 = 3, "UNORM_INT16_1", 1, 2, Unorm16, false;
    UnormInt16x2 = 4, "UNORM_INT16_2", 2, 4, Unorm16, false;
    UnormInt16x4 = 5, "UNORM_INT16_4", 4, 8, Unorm16, false;
    UnormInt32x4 = 6, "UNORM_INT32_4", 4, 16, Raw32, true;
    SnormInt8x4 = 7, "SNORM_INT8_4", 4, 4, Snorm8, false;
    SnormInt16x1 = 8, "SNORM_INT16_1", 1, 2, Snorm16, false;
    SnormInt16x2 = 9, "SNORM_INT16_2", 2, 4, Snorm16, false;
    SnormInt16x4 = 10, "SNORM_INT16_4", 4, 8, Snorm16, false;
    Float32x1 = 11, "FLOAT32_1", 1, 4, Raw32, false;
    Float32x2 = 12, "FLOAT32_2", 2, 8, Raw32, false;
    Float32x4 = 13, "FLOAT32_4", 4, 16, Raw32, false;
    Float64x1 = 14, "FLOAT64_1", 1, 8, Float64, false;
    Float64x2 = 15, "FLOAT64_2", 2, 16, Float64, false;
    UnormInt32x1 = 16, "UNORM_INT32_1", 1, 4, Raw32, true;
    UnormInt32x2 = 17, "UNORM_INT32_2", 2, 8, Raw32, true;
    SnormInt8x1 = 18, "SNORM_INT8_1", 1, 1, Snorm8, false;
    SnormInt8x2 = 19, "SNORM_INT8_2", 2, 2, Snorm8, false;
    SnormInt32x1 = 20, "SNORM_INT32_1", 1, 4, Raw32, true;
    SnormInt32x2 = 21, "SNORM_INT32_2", 2, 8, Raw32, true;
    SnormInt32x4 = 22, "SNORM_INT32_4", 4, 16, Raw32, true;
    UnsignedInt8x1 = 23, "UNSIGNED_INT8_1", 1, 1, Uint8, true;
    UnsignedInt8x2 = 24, "UNSIGNED_INT8_2", 2, 2, Uint8, true;
    UnsignedInt8x4 = 25, "UNSIGNED_INT8_4", 4, 4, Uint8, true;
    SignedInt8x1 = 26, "SIGNED_INT8_1", 1, 1, Sint8, true;
    SignedInt8x2 = 27, "SIGNED_INT8_2", 2, 2, Sint8, true;
    SignedInt8x4 = 28, "SIGNED_INT8_4", 4, 4, Sint8, true;
    UnsignedInt16x1 = 29, "UNSIGNED_INT16_1", 1, 2, Uint16, true;
    UnsignedInt16x2 = 30, "UNSIGNED_INT16_2", 2, 4, Uint16, true;
    UnsignedInt16x4 = 31, "UNSIGNED_INT16_4", 4, 8, Uint16, true;
    SignedInt16x1 = 32, "SIGNED_INT16_1", 1, 2, Sint16, true;
    SignedInt16x2 = 33, "SIGNED_INT16_2", 2, 4, Sint16, true;
    SignedInt16x4 = 34, "SIGNED_INT16_4", 4, 8, Sint16, true;
    UnsignedInt32x1 = 35, "UNSIGNED_INT32_1", 1, 4, Raw32, true;
    UnsignedInt32x2 = 36, "UNSIGNED_INT32_2", 2, 8, Raw32, true;
    UnsignedInt32x4 = 37, "UNSIGNED_INT32_4", 4, 16, Raw32, true;
    SignedInt32x1 = 38, "SIGNED_INT32_1", 1, 4, Raw32, true;
    SignedInt32x2 = 39, "SIGNED_INT32_2", 2, 8, Raw32, true;
    SignedInt32x4 = 40, "SIGNED_INT32_4", 4, 16, Raw32, true;
    UnormShort565 = 41, "UNORM_SHORT_565", 3, 2, Unorm565, false;
    UnormShort555 = 42, "UNORM_SHORT_555", 4, 2, Unorm555, false;
    UnormInt10x3 = 43, "UNORM_INT10_3", 4, 4, Unorm10, false;
    Float16x1 = 44, "FLOAT16_1", 1, 2, Float16, false;
    Float16x2 = 45, "FLOAT16_2", 2, 4, Float16, false;
    Float16x4 = 46, "FLOAT16_4", 4, 8, Float16, false;
}

/// Older names of formats, which the headers keep, and the formats.
#[rustfmt::skip]
pub const ALIASES: &[(&str, Format)] = &[
    ("UBYTE_1", Format::UnormInt8x1), ("UBYTE_2", Format::UnormInt8x2), ("UBYTE_4", Format::UnormInt8x4),
    ("USHORT_1", Format::UnormInt16x1), ("USHORT_2", Format::UnormInt16x2), ("USHORT_4", Format::UnormInt16x4),
    ("UINT_1", Format::UnormInt32x1), ("UINT_2", Format::UnormInt32x2), ("UINT_4", Format::UnormInt32x4),
    ("BYTE_1", Format::SnormInt8x1), ("BYTE_2", Format::SnormInt8x2), ("BYTE_4", Format::SnormInt8x4),
    ("SHORT_1", Format::SnormInt16x1), ("SHORT_2", Format::SnormInt16x2), ("SHORT_4", Format::SnormInt16x4),
    ("INT_1", Format::SnormInt32x1), ("INT_2", Format::SnormInt32x2), ("INT_4", Format::SnormInt32x4),
    ("FLOAT_1", Format::Float32x1), ("FLOAT_2", Format::Float32x2), ("FLOAT_4", Format::Float32x4),
    ("DOUBLE_1", Format::Float64x1), ("DOUBLE_2", Format::Float64x2),
];

impl Format {
    /// The format with this name or older name, in any case, with or without `CAL_FORMAT_`.
    pub fn named(name: &str) -> Option<Format> {
        let upper = name.to_ascii_uppercase();
        let name = upper.strip_prefix("CAL_FORMAT_").unwrap_or(&upper);
        let older = || ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, format)| *format);
        Format::ALL.iter().copied().find(|format| format.name() == name).or_else(older)
    }
}

/// The word that stands for a missing w of a format that is not integer.
const ONE: u32 = 0x3F80_0000;

impl Format {
    /// What a fetch (`sample`, `load`, `fetch4`) delivers for an element: as [`Format::decode`], but the only component of
    /// a format stands in all four. Programs of the time read tables of one component by any of them.
    pub fn fetch(self, element: &[u8; 16]) -> [u32; 4] {
        let words = self.decode(element);
        if self.is_scalar() { [words[0]; 4] } else { words }
    }

    /// Whether elements have one component, which is one word when read.
    pub fn is_scalar(self) -> bool {
        self.components() == 1 && self.encoding() != Encoding::Float64
    }

    /// The components of an element whose bytes, little-endian, start `element` (the rest is ignored), as typed UAVs load
    /// them.
    ///
    /// Missing components are 0, 0, 0, 1: the 1 is an integer for integer formats and 1.0 otherwise. Normalised
    /// values are correctly rounded quotients.
    pub fn decode(self, element: &[u8; 16]) -> [u32; 4] {
        let n = self.components() as usize;
        let word = |k: usize| {
            u32::from_le_bytes([element[4 * k], element[4 * k + 1], element[4 * k + 2], element[4 * k + 3]])
        };
        let half = |k: usize| u16::from_le_bytes([element[2 * k], element[2 * k + 1]]);
        let mut out = [0, 0, 0, if self.is_integer() { 1 } else { ONE }];
        let mut each = |component: &dyn Fn(usize) -> u32| (0..n).for_each(|k| out[k] = component(k));
        match self.encoding() {
            Encoding::Raw32 => each(&word),
            Encoding::Float64 => (0..2 * n).for_each(|k| out[k] = word(k)),
            Encoding::Float16 => each(&|k| half_to_float(half(k))),
            Encoding::Unorm8 => each(&|k| ratio(i32::from(element[k]), 255)),
            Encoding::Unorm16 => each(&|k| ratio(i32::from(half(k)), 65535)),
            Encoding::Snorm8 => each(&|k| ratio(i32::from(element[k] as i8).max(-127), 127)),
            Encoding::Snorm16 => each(&|k| ratio(i32::from(half(k) as i16).max(-32767), 32767)),
            Encoding::Uint8 => each(&|k| u32::from(element[k])),
            Encoding::Uint16 => each(&|k| u32::from(half(k))),
            Encoding::Sint8 => each(&|k| i32::from(element[k] as i8) as u32),
            Encoding::Sint16 => each(&|k| i32::from(half(k) as i16) as u32),
            Encoding::Unorm565 => unpack(u32::from(half(0)), PACK_565, &mut out),
            Encoding::Unorm555 => unpack(u32::from(half(0)), PACK_555, &mut out),
            Encoding::Unorm10 => unpack(word(0), PACK_10, &mut out),
        }
        out
    }

    /// The bytes that a store of four words leaves in memory, little-endian, in the first [`Format::bytes`] bytes;
    /// the rest is 0. Extra components are dropped.
    ///
    /// Normalised stores clamp, take NaN as 0, multiply in single precision and round to nearest even; 8- and
    /// 16-bit integers clamp to their range; half floats round to nearest even.
    pub fn encode(self, words: [u32; 4]) -> [u8; 16] {
        let n = self.components() as usize;
        let mut out = [0; 16];
        let mut bytes =
            |k: usize, value: &[u8]| out[k * value.len()..(k + 1) * value.len()].copy_from_slice(value);
        match self.encoding() {
            Encoding::Raw32 => (0..n).for_each(|k| bytes(k, &words[k].to_le_bytes())),
            Encoding::Float64 => (0..2 * n).for_each(|k| bytes(k, &words[k].to_le_bytes())),
            Encoding::Float16 => (0..n).for_each(|k| bytes(k, &float_to_half(words[k]).to_le_bytes())),
            Encoding::Unorm8 => (0..n).for_each(|k| bytes(k, &[scale(words[k], 0.0, 255.0) as u8])),
            Encoding::Unorm16 => {
                (0..n).for_each(|k| bytes(k, &(scale(words[k], 0.0, 65535.0) as u16).to_le_bytes()))
            }
            Encoding::Snorm8 => {
                (0..n).for_each(|k| bytes(k, &(scale(words[k], -1.0, 127.0) as i8).to_le_bytes()))
            }
            Encoding::Snorm16 => {
                (0..n).for_each(|k| bytes(k, &(scale(words[k], -1.0, 32767.0) as i16).to_le_bytes()))
            }
            Encoding::Uint8 => (0..n).for_each(|k| bytes(k, &[words[k].min(255) as u8])),
            Encoding::Uint16 => (0..n).for_each(|k| bytes(k, &(words[k].min(65535) as u16).to_le_bytes())),
            Encoding::Sint8 => {
                (0..n).for_each(|k| bytes(k, &((words[k] as i32).clamp(-128, 127) as i8).to_le_bytes()))
            }
            Encoding::Sint16 => {
                (0..n).for_each(|k| bytes(k, &((words[k] as i32).clamp(-32768, 32767) as i16).to_le_bytes()));
            }
            Encoding::Unorm565 => bytes(0, &(pack(words, PACK_565) as u16).to_le_bytes()),
            Encoding::Unorm555 => bytes(0, &(pack(words, PACK_555) as u16).to_le_bytes()),
            Encoding::Unorm10 => bytes(0, &pack(words, PACK_10).to_le_bytes()),
        }
        out
    }
}

/// (shift, bits) of x, y, z in a packed element.
type Packing = [(u32, u32); 3];
const PACK_565: Packing = [(11, 5), (5, 6), (0, 5)];
const PACK_555: Packing = [(10, 5), (5, 5), (0, 5)];
const PACK_10: Packing = [(20, 10), (10, 10), (0, 10)];

fn unpack(bits: u32, packing: Packing, out: &mut [u32; 4]) {
    for (component, (shift, width)) in out.iter_mut().zip(packing) {
        let largest = (1 << width) - 1;
        *component = ratio(((bits >> shift) & largest) as i32, largest);
    }
}

fn pack(words: [u32; 4], packing: Packing) -> u32 {
    words
        .iter()
        .zip(packing)
        .map(|(&w, (shift, width))| (scale(w, 0.0, ((1 << width) - 1) as f32) as u32) << shift)
        .sum()
}

/// Bits of the float nearest to value / largest.
fn ratio(value: i32, largest: u32) -> u32 {
    (value as f32 / largest as f32).to_bits()
}

/// Clamps to low … 1, NaN to 0, multiplies and rounds to nearest even.
fn scale(bits: u32, low: f32, factor: f32) -> i32 {
    let value = f32::from_bits(bits);
    if value.is_nan() { 0 } else { (value.clamp(low, 1.0) * factor).round_ties_even() as i32 }
}

/// Widens a half, exactly; a NaN keeps its payload and becomes quiet.
fn half_to_float(half: u16) -> u32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10) & 0x1F;
    let fraction = u32::from(half) & 0x3FF;
    match (exponent, fraction) {
        // fraction · 2^-24, exact
        (0, _) => sign | (fraction as f32 / 16_777_216.0).to_bits(),
        (31, 0) => sign | 0x7F80_0000,
        (31, _) => sign | 0x7FC0_0000 | fraction << 13,
        _ => sign | (exponent + 112) << 23 | fraction << 13,
    }
}

/// Narrows a float to a half, round to nearest even, with gradual underflow; NaNs become quiet.
fn float_to_half(bits: u32) -> u16 {
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7FFF_FFFF;
    let exponent = (magnitude >> 23) as i32 - 127;
    let half = if magnitude > 0x7F80_0000 {
        0x7E00 | (magnitude >> 13 & 0x1FF) as u16
    } else if exponent > 15 {
        0x7C00
    } else if exponent >= -14 {
        // Rounding may carry into the exponent, up to infinity: that is right.
        let narrow = (exponent + 15) as u32 * 0x400 + (magnitude >> 13 & 0x3FF);
        let rest = magnitude & 0x1FFF;
        (narrow + u32::from(rest > 0x1000 || (rest == 0x1000 && narrow & 1 == 1))) as u16
    } else if exponent >= -25 {
        let significand = u64::from(magnitude & 0x7F_FFFF | 0x80_0000);
        let shift = (-1 - exponent) as u32;
        let (narrow, rest, tie) = (significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1));
        (narrow + u64::from(rest > tie || (rest == tie && narrow & 1 == 1))) as u16
    } else {
        0
    };
    sign | half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(format: Format, bytes: &[u8]) -> [u32; 4] {
        let mut element = [0xEE; 16];
        element[..bytes.len()].copy_from_slice(bytes);
        format.decode(&element)
    }

    fn encode(format: Format, words: [u32; 4]) -> Vec<u8> {
        let all = format.encode(words);
        let n = format.bytes() as usize;
        assert!(all[n..].iter().all(|&b| b == 0), "{format:?} wrote past its element");
        all[..n].to_vec()
    }

    const F: fn(f32) -> u32 = f32::to_bits;

    #[test]
    fn missing_components_read_0_0_0_1() {
        assert_eq!(decode(Format::Float32x1, &[1, 2, 3, 4]), [0x0403_0201, 0, 0, ONE]);
        assert_eq!(decode(Format::Float32x2, &[1, 0, 0, 0, 2, 0, 0, 0]), [1, 2, 0, ONE]);
        assert_eq!(decode(Format::UnormInt32x1, &[9, 0, 0, 0]), [9, 0, 0, 1]);
        assert_eq!(decode(Format::SnormInt32x2, &[9, 0, 0, 0, 255, 255, 255, 255]), [9, !0, 0, 1]);
        assert_eq!(decode(Format::UnsignedInt8x2, &[200, 7]), [200, 7, 0, 1]);
        assert_eq!(decode(Format::UnormInt8x2, &[255, 0]), [ONE, 0, 0, ONE]);
        assert_eq!(decode(Format::Float64x1, &[1, 0, 0, 0, 2, 0, 0, 0]), [1, 2, 0, ONE]);
    }

    #[test]
    fn one_component_is_fetched_as_all_four() {
        let fetch = |format: Format, bytes: &[u8]| {
            let mut element = [0xEE; 16];
            element[..bytes.len()].copy_from_slice(bytes);
            format.fetch(&element)
        };
        assert_eq!(fetch(Format::Float32x1, &[1, 2, 3, 4]), [0x0403_0201; 4]);
        assert_eq!(fetch(Format::SignedInt8x1, &[0xFE]), [!1; 4]);
        assert_eq!(fetch(Format::UnormInt16x1, &[0xFF, 0xFF]), [ONE; 4]);
        assert_eq!(fetch(Format::UnsignedInt8x2, &[200, 7]), [200, 7, 0, 1]);
        // Two words, of which one is no number.
        assert_eq!(fetch(Format::Float64x1, &[1, 0, 0, 0, 2, 0, 0, 0]), [1, 2, 0, ONE]);
    }

    #[test]
    fn normalised_values() {
        // 128/255 = 0.50196078…, 1/255 = 0.003921569: 3F008081 and 3B808081.
        assert_eq!(decode(Format::UnormInt8x4, &[0, 1, 128, 255]), [0, 0x3B80_8081, 0x3F00_8081, ONE]);
        // −128 and −127 both read −1; 127 reads 1.
        assert_eq!(decode(Format::SnormInt8x4, &[0x80, 0x81, 0, 0x7F]), [F(-1.0), F(-1.0), 0, ONE]);
        assert_eq!(decode(Format::SnormInt16x2, &[0x00, 0x80, 0xFF, 0x7F]), [F(-1.0), ONE, 0, ONE]);
        assert_eq!(decode(Format::UnormInt16x1, &[0xFF, 0xFF]), [ONE, 0, 0, ONE]);
        assert_eq!(encode(Format::UnormInt8x4, [F(0.5), F(f32::NAN), F(2.0), F(-3.0)]), [128, 0, 255, 0]);
        assert_eq!(encode(Format::SnormInt8x4, [F(-2.0), F(0.5), F(1.0), F(-1.0)]), [0x81, 64, 127, 0x81]);
        assert_eq!(encode(Format::UnormInt16x2, [F(1.0), F(f32::INFINITY), 0, 0]), [0xFF; 4]);
        // 0.00196 · 255 = 0.4998 and 0.00197 · 255 = 0.5024
        assert_eq!(encode(Format::UnormInt8x2, [F(0.00196), F(0.00197), 0, 0]), [0, 1]);
    }

    #[test]
    fn small_integers_extend_and_clamp() {
        assert_eq!(decode(Format::SignedInt8x4, &[0x80, 0xFF, 1, 0x7F]), [-128i32 as u32, !0, 1, 127]);
        assert_eq!(decode(Format::SignedInt16x1, &[0x00, 0x80]), [-32768i32 as u32, 0, 0, 1]);
        assert_eq!(decode(Format::UnsignedInt16x2, &[0x00, 0x80, 1, 0]), [32768, 1, 0, 1]);
        assert_eq!(encode(Format::SignedInt8x4, [-300i32 as u32, 300, !0, 5]), [0x80, 127, 255, 5]);
        assert_eq!(encode(Format::UnsignedInt8x4, [300, 7, !0, 0]), [255, 7, 255, 0]);
        assert_eq!(encode(Format::SignedInt16x1, [40000, 0, 0, 0]), [0xFF, 0x7F]);
        assert_eq!(encode(Format::UnsignedInt16x1, [70000, 0, 0, 0]), [0xFF, 0xFF]);
    }

    #[test]
    fn packed_fields_have_x_in_the_high_bits() {
        assert_eq!(decode(Format::UnormShort565, &0xF800u16.to_le_bytes()), [ONE, 0, 0, ONE]);
        assert_eq!(decode(Format::UnormShort565, &0x07E0u16.to_le_bytes()), [0, ONE, 0, ONE]);
        assert_eq!(decode(Format::UnormShort555, &0x7C00u16.to_le_bytes()), [ONE, 0, 0, ONE]);
        assert_eq!(decode(Format::UnormShort555, &0x8000u16.to_le_bytes()), [0, 0, 0, ONE]);
        assert_eq!(decode(Format::UnormInt10x3, &0x3FF0_0000u32.to_le_bytes()), [ONE, 0, 0, ONE]);
        assert_eq!(encode(Format::UnormShort565, [F(1.0), 0, F(1.0), F(1.0)]), 0xF81Fu16.to_le_bytes());
        assert_eq!(encode(Format::UnormShort555, [0, F(1.0), 0, F(1.0)]), 0x03E0u16.to_le_bytes());
        assert_eq!(encode(Format::UnormInt10x3, [0, F(1.0), F(1.0), 0]), 0x000F_FFFFu32.to_le_bytes());
    }

    #[test]
    fn halves() {
        let one = |h: u16| decode(Format::Float16x1, &h.to_le_bytes())[0];
        assert_eq!(one(0x3C00), F(1.0));
        assert_eq!(one(0xC000), F(-2.0));
        assert_eq!(one(0x0001), F(5.960_464_5e-8)); // 2^-24
        assert_eq!(one(0x83FF), F(-6.097_555e-5)); // −1023 · 2^-24
        assert_eq!(one(0x7BFF), F(65504.0));
        assert_eq!(one(0x7C00), 0x7F80_0000);
        assert_eq!(one(0x8000), 0x8000_0000);
        let half = |f: f32| {
            u16::from_le_bytes([
                encode(Format::Float16x1, [F(f), 0, 0, 0])[0],
                encode(Format::Float16x1, [F(f), 0, 0, 0])[1],
            ])
        };
        assert_eq!(half(65519.0), 0x7BFF);
        assert_eq!(half(65520.0), 0x7C00, "the tie goes to even: infinity");
        assert_eq!(half(1.0 + 1.0 / 2048.0), 0x3C00, "tie to even");
        assert_eq!(half(1.0 + 3.0 / 2048.0), 0x3C02, "tie to even");
        assert_eq!(half(2.0f32.powi(-25)), 0x0000, "tie to even");
        assert_eq!(half(2.0f32.powi(-25) * 1.5), 0x0001);
        assert_eq!(half(2.0f32.powi(-14) * 0.9999), 0x0400, "rounds up into the normal range");
        assert_eq!(half(-0.0), 0x8000);
        for h in 0..=u16::MAX {
            let back = u16::from_le_bytes(encode(Format::Float16x1, [one(h), 0, 0, 0]).try_into().unwrap());
            let nan = h & 0x7FFF > 0x7C00;
            assert_eq!(back, if nan { h | 0x0200 } else { h });
        }
    }

    #[test]
    fn whole_words_survive_in_every_format_that_keeps_them() {
        let words = [0x0102_0304, 0xFFFF_FFFF, 0x7FC0_1234, 0x8000_0000];
        for &format in Format::ALL {
            let kept = match format.encoding() {
                Encoding::Raw32 => format.components() as usize,
                Encoding::Float64 => 2 * format.components() as usize,
                _ => continue,
            };
            assert_eq!(format.decode(&format.encode(words))[..kept], words[..kept], "{format:?}");
            assert_eq!(format.bytes() as usize, 4 * kept);
        }
    }

    #[test]
    fn every_code_of_the_narrow_formats_survives_a_round_trip() {
        for &format in Format::ALL.iter().filter(|f| f.bytes() <= 2) {
            for code in 0..1u32 << (8 * format.bytes()) {
                let bytes = code.to_le_bytes();
                let back = encode(format, decode(format, &bytes));
                let expected = match format.encoding() {
                    // The most negative code means −1 like its neighbour.
                    Encoding::Snorm8 => bytes.map(|b| if b == 0x80 { 0x81 } else { b }),
                    Encoding::Snorm16 if code == 0x8000 => 0x8001u32.to_le_bytes(),
                    Encoding::Unorm555 => (code & 0x7FFF).to_le_bytes(),
                    Encoding::Float16 if code & 0x7FFF > 0x7C00 => (code | 0x200).to_le_bytes(),
                    _ => bytes,
                };
                assert_eq!(back, expected[..back.len()], "{format:?} {code:#x}");
            }
        }
    }
}
