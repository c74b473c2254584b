//! Interesting words for each kind of operand, and a small generator of random ones.

use crate::reference::Kind;

/// A generator of pseudo-random words (xorshift64*), the same in every run.
pub struct Random(u64);

impl Random {
    /// Seeded by any number.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next word.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.word() as usize % n
    }
}

const FLOATS: &[u32] = &[
    0x0000_0000, // 0
    0x8000_0000, // -0
    0x3F80_0000, // 1
    0xBF80_0000, // -1
    0x3F00_0000, // 0.5
    0xBF00_0000,
    0x3FC0_0000, // 1.5
    0x4020_0000, // 2.5, a tie
    0xC020_0000,
    0x3F7F_FFFF, // below 1
    0x3F80_0001, // above 1
    0x0000_0001, // smallest denormal
    0x807F_FFFF, // largest denormal, negative
    0x0080_0000, // smallest normal
    0x8080_0000,
    0x00FF_FFFF,
    0x7F7F_FFFF, // largest
    0xFF7F_FFFF,
    0x7F80_0000, // infinity
    0xFF80_0000,
    0x7FC0_0000, // NaN
    0x7F80_0001, // signalling NaN
    0xFFFF_FFFF, // NaN as true
    0x4049_0FDB, // pi
    0xC0C9_0FDB, // -2 pi
    0x4EFF_FFFF, // below 2^31
    0x4F00_0000, // 2^31
    0xCF00_0000, // -2^31
    0xCF00_0001,
    0x4F7F_FFFF, // below 2^32
    0x4F80_0000, // 2^32
    0x4B00_0000, // 2^23
    0x4AFF_FFFF, // 2^23 - 0.5
    0xCB00_0001,
    0x3EFF_FFFF, // below 0.5
    0x477F_E000, // 65504, largest half
    0x477F_F000, // between it and 2^16
    0x3380_0000, // 2^-24, smallest half denormal
    0x3880_1000,
    0x42FE_0001, // 127.0…
    0xC2FC_0001, // below -126
    0x437F_8000, // 255.5
    0x3DCC_CCCD, // 0.1
];

const WORDS: &[u32] = &[
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FFFF,
    0xFFFF_FFFE,
    0x00FF_FFFF,
    0x0100_0000,
    0x0080_0000,
    0x007F_FFFF,
    0xFF80_0000,
    0x0000_FFFF,
    0x0001_0000,
    0xFF00_FF00,
    0x00FF_00FF,
    0xAAAA_AAAA,
    0x1234_5678,
    0x3F80_0000,
];

const DOUBLES: &[u64] = &[
    0,
    1 << 63,
    0x3FF0_0000_0000_0000, // 1
    0xBFF0_0000_0000_0000,
    0x3FE0_0000_0000_0000, // 0.5
    0x3FEF_FFFF_FFFF_FFFF,
    0x3FF0_0000_0000_0001,
    1,                     // smallest denormal
    0x800F_FFFF_FFFF_FFFF, // largest denormal
    0x0010_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0xFFEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0x7FF0_0000_0000_0001,
    0x4009_21FB_5444_2D18, // pi
    0x41DF_FFFF_FFC0_0000, // 2^31 - 1
    0xC1E0_0000_0000_0000, // -2^31
    0x41EF_FFFF_FFE0_0000, // 2^32 - 1
    0x41F0_0000_0000_0000, // 2^32
    0x47EF_FFFF_F000_0000, // rounds to infinity as a float
    0x47EF_FFFF_E000_0000, // largest float
    0x380F_FFFF_FFFF_FFFF, // below the smallest normal float
    0x3690_0000_0000_0000, // below the float denormals
    0x3FF0_0000_1000_0000, // a tie between floats
    0x4330_0000_0000_0001, // 2^52 + 1
    0x3FB9_9999_9999_999A, // 0.1
    0xC004_0000_0000_0000, // -2.5
];

const QUADS: &[u64] = &[
    0,
    1,
    2,
    u64::MAX,
    u64::MAX - 1,
    1 << 63,
    (1 << 63) | 1,
    i64::MAX as u64,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x1_0000_0001,
    0x8000_0000,
    0x7FFF_FFFF_0000_0000,
    0x0123_4567_89AB_CDEF,
    0xFFFF_FFFF_0000_0000,
    10,
    1_000_000_007,
];

const COUNTS: &[u32] = &[0, 1, 4, 8, 15, 16, 17, 24, 31, 32, 33, 63, 64, 0xFFFF_FFFF, 0x8000_0005];

/// Number of edge values of a kind.
pub fn edges(kind: Kind) -> usize {
    match kind {
        Kind::Float | Kind::Bits | Kind::FloatX => FLOATS.len(),
        Kind::Int | Kind::Half => WORDS.len(),
        Kind::Count | Kind::Exponent | Kind::IntX => COUNTS.len(),
        Kind::Double => DOUBLES.len(),
        Kind::Int64 => QUADS.len(),
    }
}

/// The k-th edge value; words of 32-bit kinds in the low half.
pub fn edge(kind: Kind, k: usize) -> u64 {
    match kind {
        Kind::Float | Kind::Bits | Kind::FloatX => u64::from(FLOATS[k]),
        Kind::Int => u64::from(WORDS[k]),
        Kind::Half => u64::from(
            [
                0u32, 0x8000, 1, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01,
                0x8001, 0x3555,
            ]
            .get(k)
            .copied()
            .unwrap_or(WORDS[k]),
        ),
        Kind::Count | Kind::Exponent | Kind::IntX => u64::from(COUNTS[k]),
        Kind::Double => DOUBLES[k],
        Kind::Int64 => QUADS[k],
    }
}

/// A random value of a kind: all bit patterns, with a preference for ordinary magnitudes.
pub fn random(kind: Kind, r: &mut Random) -> u64 {
    let (high, low) = (r.word(), r.word());
    match (kind, r.below(4)) {
        // around 1: |exponent| up to 8
        (Kind::Float | Kind::Bits | Kind::FloatX, 0..=1) => {
            u64::from((119 + low % 17) << 23 | high & 0x807F_FFFF)
        }
        (Kind::Double, 0..=1) => {
            u64::from(1015 + low % 17) << 52 | u64::from(high & 0x800F_FFFF) << 32 | u64::from(r.word())
        }
        // products and sums around the smallest normal number
        (Kind::Float, 2) => u64::from((56 + low % 16) << 23 | high & 0x807F_FFFF),
        (Kind::Int, 0) => u64::from(low >> (high & 31)),
        (Kind::IntX | Kind::Exponent, 0..=1) => u64::from(low % 128),
        (Kind::IntX | Kind::Exponent, 2) => i64::from(low as i32 >> 20) as u32 as u64,
        (Kind::Int64, 0) => (u64::from(high) << 32 | u64::from(low)) >> (r.word() & 63),
        (Kind::Double | Kind::Int64, _) => u64::from(high) << 32 | u64::from(low),
        _ => u64::from(low),
    }
}
