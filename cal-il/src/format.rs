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
