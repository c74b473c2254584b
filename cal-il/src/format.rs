//! The 47 storage formats of resources (CAL 1.4: `CALformat`): what is in their bits (amd-il 5.2). What becomes of
//! them is in [`crate::isa::memory::element`].

use crate::isa::Scalar;
use crate::isa::memory::{Truth, element};

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

macro_rules! encodings {
    ($($(#[$doc:meta])* $id:ident = $number:ident, $fields:expr;)*) => {
        /// How the components of an element are stored and what a fetch makes of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Encoding {
            $($(#[$doc])* $id,)*
        }

        impl Encoding {
            /// All of them.
            pub const ALL: &'static [Encoding] = &[$(Encoding::$id),*];

            /// What number a component is.
            pub const fn number(self) -> Number {
                match self { $(Encoding::$id => Number::$number,)* }
            }

            /// Where component `k` is; `None` if it is always 1.0.
            #[inline(always)]
            pub const fn field(self, k: usize) -> Option<Field> {
                match self { $(Encoding::$id => $fields.get(k),)* }
            }
        }
    };
}

/// How bits are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// They stay as they are.
    Raw,
    /// Half precision, widened.
    Half,
    /// v / (2^bits − 1)
    Unorm,
    /// max(v / (2^(bits − 1) − 1), −1)
    Snorm,
    /// Zero-extended.
    Uint,
    /// Sign-extended.
    Sint,
}

/// Bits of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Word of the element, 0 to 3.
    pub word: usize,
    /// Lowest bit in it.
    pub shift: u32,
    /// Number of bits.
    pub width: u32,
}

/// The fields of an element.
enum Fields {
    /// One after another, of so many bits each.
    Even(u32),
    /// (shift, bits) of x, y, z in one word; a w is 1.0.
    Packed([(u32, u32); 3]),
}

impl Fields {
    const fn get(self, k: usize) -> Option<Field> {
        match self {
            Fields::Even(width) => {
                let bit = k as u32 * width;
                Some(Field { word: (bit / 32) as usize, shift: bit % 32, width })
            }
            Fields::Packed(fields) => match k {
                0..=2 => Some(Field { word: 0, shift: fields[k].0, width: fields[k].1 }),
                _ => None,
            },
        }
    }
}

encodings! {
    /// 32 raw bits; also the 32-bit "NORM" formats, which are never scaled.
    Raw32 = Raw, Fields::Even(32);
    /// Two raw words a component.
    Float64 = Raw, Fields::Even(32);
    /// Half precision, widened.
    Float16 = Half, Fields::Even(16);
    /// v / 255
    Unorm8 = Unorm, Fields::Even(8);
    /// v / 65535
    Unorm16 = Unorm, Fields::Even(16);
    /// max(v / 127, −1)
    Snorm8 = Snorm, Fields::Even(8);
    /// max(v / 32767, −1)
    Snorm16 = Snorm, Fields::Even(16);
    /// Zero-extended.
    Uint8 = Uint, Fields::Even(8);
    /// Zero-extended.
    Uint16 = Uint, Fields::Even(16);
    /// Sign-extended.
    Sint8 = Sint, Fields::Even(8);
    /// Sign-extended.
    Sint16 = Sint, Fields::Even(16);
    /// 5-6-5 bits, x in the high bits.
    Unorm565 = Unorm, Fields::Packed([(11, 5), (5, 6), (0, 5)]);
    /// x-5-5-5 bits.
    Unorm555 = Unorm, Fields::Packed([(10, 5), (5, 5), (0, 5)]);
    /// x-10-10-10 bits.
    Unorm10 = Unorm, Fields::Packed([(20, 10), (10, 10), (0, 10)]);
}

impl Encoding {
    /// Elements are stored bit for bit: the words of the components are those of the element.
    pub const fn is_raw(self) -> bool {
        matches!(self.number(), Number::Raw)
    }
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

impl Format {
    /// What a fetch (`sample`, `load`, `fetch4`) delivers for an element: as [`Format::decode`], but the only component of
    /// a format stands in all four. Programs of the time read tables of one component by any of them.
    pub fn fetch(self, bytes: &[u8; 16]) -> [u32; 4] {
        element::fetched(&mut Scalar, Truth::Known(self.is_scalar()), self.decode(bytes))
    }

    /// Whether elements have one component, which is one word when read.
    pub fn is_scalar(self) -> bool {
        self.read_words() == 1
    }

    /// Words that an element has when read, those not counted that the format lacks.
    pub const fn read_words(self) -> u32 {
        match self.encoding() {
            Encoding::Float64 => 2 * self.components(),
            _ => self.components(),
        }
    }

    /// The word that stands for a missing w: 1, an integer for integer formats and 1.0 otherwise.
    pub const fn fill(self) -> u32 {
        if self.is_integer() { 1 } else { 0x3F80_0000 }
    }

    /// The components of an element whose bytes, little-endian, start `bytes` (the rest is ignored), as typed UAVs load
    /// them.
    ///
    /// Missing components are 0, 0, 0, 1: the 1 is an integer for integer formats and 1.0 otherwise. Normalised
    /// values are correctly rounded quotients.
    pub fn decode(self, bytes: &[u8; 16]) -> [u32; 4] {
        let mut words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let raw = std::array::from_fn(|_| words.next().unwrap_or_default());
        element::read(&mut Scalar, self, raw)
    }

    /// The bytes that a store of four words leaves in memory, little-endian, in the first [`Format::bytes`] bytes;
    /// the rest is 0. Extra components are dropped.
    ///
    /// Normalised stores clamp, take NaN as 0, multiply in single precision and round to nearest even; 8- and
    /// 16-bit integers clamp to their range; half floats round to nearest even.
    pub fn encode(self, words: [u32; 4]) -> [u8; 16] {
        let kept = &words[..self.read_words() as usize];
        let raw = element::encode(&mut Scalar, self.encoding(), kept);
        let mut bytes = [0; 16];
        bytes.chunks_exact_mut(4).zip(raw).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u32 = 0x3F80_0000;

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
