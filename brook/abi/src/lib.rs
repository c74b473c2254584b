//! What `brcc` and the runtime of Brook+ agree on: the numbers that streams are made of ([`Scalar`]), and what is bound to a
//! program ([`Entry`]). The C interface, `brook/capi.h`, has the same values as numbers.

#![forbid(unsafe_code)]

/// A number of a stream's element. The values are those of `brook/capi.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// 8 bits, signed.
    Char,
    /// 8 bits.
    UChar,
    /// 16 bits, signed.
    Short,
    /// 16 bits.
    UShort,
    /// 32 bits, signed.
    Int,
    /// 32 bits.
    UInt,
    /// Single precision.
    Float,
    /// Double precision.
    Double,
}

/// How a scalar is computed with: 8 and 16 bits are 32 bits in kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Single precision.
    Float,
    /// Double precision.
    Double,
}

impl Scalar {
    /// All of them with their names; the order is the one of conversions, lowest first, but for signs.
    pub const NAMES: [(&'static str, Scalar); 8] = [
        ("char", Scalar::Char),
        ("uchar", Scalar::UChar),
        ("short", Scalar::Short),
        ("ushort", Scalar::UShort),
        ("int", Scalar::Int),
        ("uint", Scalar::UInt),
        ("float", Scalar::Float),
        ("double", Scalar::Double),
    ];

    /// By its number.
    ///
    /// ```
    /// use brook_abi::Scalar;
    /// assert_eq!(Scalar::from_value(Scalar::Float as u32), Some(Scalar::Float));
    /// assert_eq!(Scalar::from_value(8), None);
    /// ```
    pub fn from_value(value: u32) -> Option<Scalar> {
        Self::NAMES.get(value as usize).map(|n| n.1)
    }

    /// By its name in the language.
    pub fn named(name: &str) -> Option<Scalar> {
        Self::NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
    }

    /// Name in the language.
    pub fn name(self) -> &'static str {
        Scalar::NAMES[self as usize].0
    }

    /// How it is computed with.
    pub const fn class(self) -> Class {
        match self {
            Scalar::Char | Scalar::Short | Scalar::Int => Class::Signed,
            Scalar::UChar | Scalar::UShort | Scalar::UInt => Class::Unsigned,
            Scalar::Float => Class::Float,
            Scalar::Double => Class::Double,
        }
    }

    /// True of whole numbers.
    pub fn is_integer(self) -> bool {
        self < Scalar::Float
    }

    /// Rank in conversions: double > float > uint > int > ushort > short > uchar > char.
    pub const fn rank(self) -> u8 {
        self as u8
    }

    /// Bytes in host memory.
    pub const fn bytes(self) -> usize {
        match self {
            Scalar::Char | Scalar::UChar => 1,
            Scalar::Short | Scalar::UShort => 2,
            Scalar::Int | Scalar::UInt | Scalar::Float => 4,
            Scalar::Double => 8,
        }
    }
}

/// What a slot of the constant buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The argument.
    User,
    /// Extents of the stream: x, y, z, w.
    StreamShape,
    /// Extents of its memory.
    BufferShape,
    /// Elements of the input to one of the result, by axis.
    ReductionFactor,
    /// Positions of a kernel that scatters and has no other output, which may be more than its stream has: how many of them a row of
    /// the launch has; extents by which their numbers are taken apart, x and y; all of them.
    Positions,
}

/// How a stream is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anywhere.
    Random,
    /// Each thread its element.
    Stream,
}

/// Something bound to a program. The first number is the argument, from 0.
///
/// Constants take slots of the last constant buffer, inputs and outputs their numbers, in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A slot of the last constant buffer.
    Constant(usize, Usage),
    /// A constant buffer of its own.
    ConstArray(usize),
    /// `i#`: the member of a struct, 0 of others, and how it is read.
    Input(usize, usize, Access),
    /// `o#` likewise, or the buffer that threads store to anywhere.
    Output(usize, usize, Access),
}
