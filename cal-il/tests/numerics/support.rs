//! Runs a lane operation against a reference over edge values and random operands.

use std::sync::LazyLock;
use std::thread;

use recal_il::isa::LaneOp;
use recal_il::isa::lane::{Class, Leaves, Numeric, fold};

/// Random operands per operation, unless `RECAL_RANDOM` says otherwise.
const RANDOM: usize = 1_000_000;

/// How many there are.
pub fn random_operands() -> usize {
    static COUNT: LazyLock<usize> = LazyLock::new(|| {
        let given = std::env::var("RECAL_RANDOM").ok();
        given.map_or(RANDOM, |n| n.parse().expect("RECAL_RANDOM is a number of operands"))
    });
    *COUNT
}

/// Words worth trying in all combinations: floats around every rule, small and extreme integers.
const WORDS: [u32; 41] = [
    0x0000_0000,
    0x4000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x0000_0005,
    0x007F_FFFF,
    0x807F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x00FF_FFFF,
    0x3EFF_FFFF,
    0x3F00_0000,
    0xBF00_0000,
    0x3F7F_FFFF,
    0xBF7F_FFFF,
    0x3F80_0000,
    0xBF80_0000,
    0x3F80_0001,
    0x3FC0_0000,
    0x4020_0000,
    0xC020_0000,
    0x437F_8000,
    0x4AFF_FFFF,
    0x4B7F_FFFF,
    0xCB80_0001,
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0x4F7F_FFFF,
    0x4F80_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC1_2345,
    0x7F80_0001,
    0xFFFF_FFFF,
    0x0000_001F,
];

/// The same for 64-bit words.
const QUADS: [u64; 32] = [
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x8000_0000_0000_0001,
    0x000F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x8010_0000_0000_0000,
    0x0010_0000_0000_0001,
    0x3FDF_FFFF_FFFF_FFFF,
    0x3FE0_0000_0000_0000,
    0xBFE0_0000_0000_0000,
    0x3FEF_FFFF_FFFF_FFFF,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0000,
    0x3FF0_0000_0000_0001,
    0x3FF8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0xC004_0000_0000_0000,
    0x41DF_FFFF_FFC0_0000,
    0x41E0_0000_0000_0000,
    0xC1E0_0000_0000_0000,
    0xC1E0_0000_001F_FFFF,
    0x41EF_FFFF_FFE0_0000,
    0x41F0_0000_0000_0000,
    0x432F_FFFF_FFFF_FFFF,
    0x7FEF_FFFF_FFFF_FFFF,
    0xFFEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0xFFF0_0000_0000_0001,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// Deterministic random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random operand: any bits, or a float of moderate exponent, or one with few significant bits.
    pub fn operand(&mut self, class: Class) -> u64 {
        let (bits, kind) = (self.next(), self.next());
        let sparse = bits & self.next() & self.next();
        match class {
            Class::Q => match kind % 4 {
                0 => bits,
                1 => bits & 0x800F_FFFF_FFFF_FFFF | (1003 + kind / 4 % 40) << 52,
                2 => sparse,
                _ => sparse & 0x800F_FFFF_FFFF_FFFF | (1003 + kind / 4 % 40) << 52,
            },
            Class::F | Class::W => {
                let (bits, sparse) = (bits & 0xFFFF_FFFF, sparse & 0xFFFF_FFFF);
                match kind % 4 {
                    0 => bits,
                    1 => bits & 0x807F_FFFF | (107 + kind / 4 % 40) << 23,
                    2 => sparse,
                    _ => sparse & 0x807F_FFFF | (107 + kind / 4 % 40) << 23,
                }
            }
        }
    }
}

/// Evaluates `op` as lowering would use it: float operands are flushed before, float results made canonical.
pub fn evaluate(op: LaneOp, operands: &[u64]) -> u64 {
    let mut words = Vec::with_capacity(6);
    for (class, operand) in op.arguments().iter().zip(operands) {
        let word = *operand as u32;
        match class {
            Class::F => words.push(if word & 0x7F80_0000 == 0 { word & 0x8000_0000 } else { word }),
            Class::W => words.push(word),
            Class::Q => words.extend([word, (*operand >> 32) as u32]),
        }
    }
    let (lo, hi) = fold(op, &words);
    assert!(keeps(op, &words, lo), "{} of {words:08X?} leaves {lo:08X}: not {:?}", op.name(), op.leaves());
    if op.result() != Class::Q && !op.arguments().contains(&Class::Q) {
        assert!(does(op, &words, lo), "{} of {words:08X?} gives {lo:08X}: not {:?}", op.name(), op.numeric());
        assert!(!op.is_whole() || is_whole(lo), "{} of {words:08X?} gives {lo:08X}", op.name());
    }
    if op.result() == Class::F {
        let denormal = lo & 0x7F80_0000 == 0 && lo & 0x007F_FFFF != 0;
        assert!(!denormal || op.is_bare(), "{} gives the denormal {lo:08X}", op.name());
        if lo & 0x7FFF_FFFF > 0x7F80_0000 {
            return 0x7FC0_0000;
        }
    }
    u64::from(lo) | u64::from(hi.unwrap_or(0)) << 32
}

/// Whether a result is what the operation's row says of it.
fn keeps(op: LaneOp, words: &[u32], result: u32) -> bool {
    let magnitude = result & 0x7FFF_FFFF;
    match op.leaves() {
        Leaves::Operand => words[usize::from(words.len() > 1)..].contains(&result),
        Leaves::Sign => magnitude == words[0] & 0x7FFF_FFFF,
        Leaves::Mask => result == 0 || result == u32::MAX,
        Leaves::Number => {
            magnitude == 0 || (0x0080_0000..=0x7F80_0000).contains(&magnitude) || result == 0x7FC0_0000
        }
        Leaves::Float | Leaves::Word => true,
    }
}

/// Whether a result is what the column of numbers says of it. Sums and products are asked where no device does anything of its own: of
/// normal numbers, with a normal result.
fn does(op: LaneOp, words: &[u32], result: u32) -> bool {
    let float = |k: usize| f32::from_bits(words[k]);
    let nan = result & 0x7FFF_FFFF > 0x7F80_0000;
    // What comes of zeros of the other sign.
    let turned = || {
        let zeros = words.iter().map(|word| if word & 0x7FFF_FFFF == 0 { word ^ 1 << 31 } else { *word });
        fold(op, &zeros.collect::<Vec<_>>()).0
    };
    let normal =
        f32::from_bits(result).is_normal() && words.iter().all(|word| f32::from_bits(*word).is_normal());
    let is = |value: f32| !normal || value.to_bits() == result;
    let same = op.native().is_none_or(|native| !normal || words.len() > 2 || fold(native, words).0 == result);
    same && match op.numeric() {
        Numeric::Moves => result == words[0] || nan || op == LaneOp::Flush && result == words[0] & 1 << 31,
        Numeric::Negates => result == words[0] ^ 1 << 31,
        Numeric::Magnitude => result == words[0] & !(1 << 31),
        Numeric::Chooses => words[1..].contains(&result),
        Numeric::Limits => words.contains(&result) || nan,
        Numeric::Rounds => nan || (result ^ turned()) & !(1 << 31) == 0 && !is_far(words[0], result),
        Numeric::Sum => is(float(0) + float(1)),
        Numeric::Difference => is(float(0) - float(1)),
        Numeric::Product | Numeric::IeeeProduct => is(float(0) * float(1)),
        Numeric::ProductSum | Numeric::IeeeProductSum => {
            !(float(0) * float(1)).is_normal() || is(float(0) * float(1) + float(2))
        }
        Numeric::Compares | Numeric::Converts => result == turned(),
        Numeric::Opaque => true,
    }
}

/// Whether a result is more than one away from the operand, and from zero.
fn is_far(word: u32, result: u32) -> bool {
    let (word, result) = (f32::from_bits(word), f32::from_bits(result));
    (word - result).abs() > 1.0 && result.abs() > 1.0
}

/// Whether a result is a whole number, an infinity or NaN.
fn is_whole(result: u32) -> bool {
    let result = f32::from_bits(result);
    !result.is_finite() || result.fract() == 0.0
}

/// Compares `op` with `reference`, which gets the operands as they are, on all combinations of edge values and
/// on random ones. The last operands are fixed to `literals`.
pub fn check(op: LaneOp, literals: &[u64], reference: impl Fn(&[u64]) -> u64 + Sync) {
    hold(op, literals, |operands, got| {
        let want = reference(operands);
        assert!(got == want, "{} {operands:X?} gives {got:X}, not {want:X}", op.name());
        true
    });
}

/// Requires that `property` of operands and result holds, on the same operands.
pub fn hold(op: LaneOp, literals: &[u64], property: impl Fn(&[u64], u64) -> bool + Sync) {
    let classes = &op.arguments()[..op.arguments().len() - literals.len()];
    let compare = |operands: &[u64]| {
        let all: Vec<u64> = operands.iter().chain(literals).copied().collect();
        let got = evaluate(op, &all);
        assert!(property(&all, got), "{} {all:X?} gives {got:X}", op.name());
    };
    let compare = &compare;
    thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                edges(classes, half, 2, compare);
                let mut random = Random(half as u64);
                let mut operands = vec![0; classes.len()];
                for _ in 0..random_operands() / 2 {
                    for (operand, class) in operands.iter_mut().zip(classes) {
                        *operand = random.operand(*class);
                    }
                    compare(&operands);
                }
            });
        }
    });
}

/// Calls `body` with every `step`-th combination of edge values from number `first` on.
pub fn edges(classes: &[Class], first: usize, step: usize, body: impl Fn(&[u64])) {
    let sizes: Vec<usize> =
        classes.iter().map(|c| if *c == Class::Q { QUADS.len() } else { WORDS.len() }).collect();
    let combinations: usize = sizes.iter().product();
    let mut operands = vec![0; classes.len()];
    for number in (first..combinations).step_by(step) {
        let mut rest = number;
        for (k, class) in classes.iter().enumerate() {
            let index = rest % sizes[k];
            rest /= sizes[k];
            operands[k] = if *class == Class::Q { QUADS[index] } else { WORDS[index].into() };
        }
        body(&operands);
    }
}
