//! Machine code: words of 32 bits. Vectors have 16 bytes where not said otherwise.

use super::table::{COPY, DUP, DUP_WORD, FMOV, FMOV_WORD, LDR, MOVI, MVNI, STR, UMOV};
use crate::emit::Code;
use crate::target::Base;

/// Which instruction: its name, the kind of its elements, and its bits without operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enc {
    pub name: &'static str,
    pub of: &'static str,
    pub bits: u32,
}

/// General registers. x18 is the system's; those from x19 on have to be saved.
pub const ROWS: u8 = 0;
pub const POOL: u8 = 1;
pub const LANES: u8 = 2;
pub const VIEWS: u8 = 3;
pub const TICKS: u8 = 4;
pub const RESULT: u8 = 6;
pub const STRIPS: u8 = 7;
/// The first word of a view, the number or place of a word in it, and how many it has.
pub const START: u8 = 9;
pub const WORD: u8 = 10;
pub const COUNT: u8 = 11;
/// Free within an instruction.
pub const FREE: u8 = 12;
/// A place that is too far from its base.
const FAR: u8 = 16;
/// The wave, and how many are left.
pub const WAVE: u8 = 19;
pub const WAVES: u8 = 20;
pub const STACK: u8 = 31;

/// The number of a base register.
pub fn register(base: Base) -> u8 {
    match base {
        Base::Stack => STACK,
        Base::Pool => POOL,
        Base::Rows => ROWS,
        Base::Views => VIEWS,
        Base::First => WORD,
        Base::Kept(_) => unreachable!("no addresses are kept"),
        Base::Learned => unreachable!("stores learn nothing"),
    }
}

/// Appends an instruction.
pub fn word(code: &mut Code, bits: u32) {
    code.raw(&bits.to_le_bytes());
}

fn field(register: u8, at: u32) -> u32 {
    u32::from(register) << at
}

/// An instruction with three operands: d = op(n, m)
pub fn three(code: &mut Code, enc: Enc, d: u8, n: u8, m: u8) {
    word(code, enc.bits | field(m, 16) | field(n, 5) | field(d, 0));
}

/// An instruction with two operands: d = op(n)
pub fn two(code: &mut Code, enc: Enc, d: u8, n: u8) {
    three(code, enc, d, n, 0);
}

/// d = n
pub fn copy(code: &mut Code, d: u8, n: u8) {
    three(code, COPY, d, n, n);
}

/// Shifts by a constant: the width of an element and the shift are one number.
pub fn shift(code: &mut Code, enc: Enc, d: u8, n: u8, by: u8) {
    let width = if enc.of == "2d" { 64 } else { 32 };
    let left = enc.name == "shl";
    debug_assert!(by < width && (left || by > 0), "a shift by {by}");
    three(code, enc, d, n, if left { width + by } else { 2 * width - by });
}

/// The bits of an element number of four bytes, for instructions that name one.
fn element(lane: u8) -> u32 {
    u32::from(lane << 3 | 4) << 16
}

/// d = word `lane` of n in all lanes
pub fn splat_lane(code: &mut Code, d: u8, n: u8, lane: u8) {
    word(code, DUP.bits | element(lane) | field(n, 5) | field(d, 0));
}

/// d = the general register n in all lanes
pub fn splat_word(code: &mut Code, d: u8, n: u8) {
    two(code, DUP_WORD, d, n);
}

/// The general register d = word `lane` of n
pub fn lane_to_word(code: &mut Code, d: u8, n: u8, lane: u8) {
    word(code, UMOV.bits | element(lane) | field(n, 5) | field(d, 0));
}

/// The general register d = the first word of n
pub fn first_to_word(code: &mut Code, d: u8, n: u8) {
    two(code, FMOV_WORD, d, n);
}

/// Loads or stores word `lane` of n consecutive vectors, at the address in `at`.
pub fn single(code: &mut Code, enc: Enc, first: u8, lane: u8, at: u8) {
    let lane = u32::from(lane);
    word(code, enc.bits | lane >> 1 << 30 | (lane & 1) << 12 | field(at, 5) | field(first, 0));
}

/// Where `base` + `at` can be reached from: a register and what is left.
fn near(code: &mut Code, base: Base, at: u32) -> (u8, u32) {
    if at < 4096 * 16 {
        return (register(base), at);
    }
    add(code, FAR, register(base), at >> 12, true);
    (FAR, at & 0xFFF)
}

/// Loads a vector.
pub fn load(code: &mut Code, to: u8, base: Base, at: u32) {
    let (from, at) = near(code, base, at);
    vector(code, LDR, to, from, at);
}

/// Stores a vector.
pub fn store(code: &mut Code, from: u8, base: Base, at: u32) {
    let (to, at) = near(code, base, at);
    vector(code, STR, from, to, at);
}

fn vector(code: &mut Code, enc: Enc, reg: u8, base: u8, at: u32) {
    debug_assert!(at % 16 == 0 && at < 4096 * 16, "a vector at {at}");
    word(code, enc.bits | (at / 16) << 10 | field(base, 5) | field(reg, 0));
}

/// A constant that an instruction holds; false if none does.
pub fn immediate(code: &mut Code, d: u8, value: u32) -> bool {
    let put = |code: &mut Code, enc: Enc, byte: u32, shift: u32| {
        word(code, enc.bits | byte >> 5 << 16 | shift << 13 | (byte & 31) << 5 | field(d, 0));
    };
    for (enc, value) in [(MOVI, value), (MVNI, !value)] {
        if let Some(shift) = (0..4).find(|shift| value & !(0xFF << (8 * shift)) == 0) {
            put(code, enc, value >> (8 * shift), shift);
            return true;
        }
    }
    // Sign, three bits of exponent and four of the significand.
    let exponent = value >> 25 & 0x3F;
    let short = value & 0x0007_FFFF == 0 && (exponent == 0x1F || exponent == 0x20);
    if short {
        put(code, FMOV, value >> 31 << 7 | (exponent & 1) << 6 | value >> 19 & 0x3F, 0);
    }
    short
}

/// x`d` = x`n` + a number of 12 bits, shifted by as many if `high`; register 31 is the stack pointer.
pub fn add(code: &mut Code, d: u8, n: u8, number: u32, high: bool) {
    debug_assert!(number < 4096, "{number} is no number of 12 bits");
    word(code, 0x9100_0000 | u32::from(high) << 22 | number << 10 | field(n, 5) | field(d, 0));
}

/// The reverse.
pub fn sub(code: &mut Code, d: u8, n: u8, number: u32, high: bool) {
    debug_assert!(number < 4096, "{number} is no number of 12 bits");
    word(code, 0xD100_0000 | u32::from(high) << 22 | number << 10 | field(n, 5) | field(d, 0));
}

/// w`d` = w`n` + a number of 12 bits
pub fn add_word(code: &mut Code, d: u8, n: u8, number: u32) {
    word(code, 0x1100_0000 | number << 10 | field(n, 5) | field(d, 0));
}

/// w`d` = w`d` − 1; says whether it is zero.
pub fn count_down(code: &mut Code, d: u8) {
    word(code, 0x7100_0400 | field(d, 5) | field(d, 0));
}

/// x`d` = x`n` + 4 · x`m`
pub fn add_words(code: &mut Code, d: u8, n: u8, m: u8) {
    word(code, 0x8B00_0800 | field(m, 16) | field(n, 5) | field(d, 0));
}

/// Compares x`n` with x`m`.
pub fn compare(code: &mut Code, n: u8, m: u8) {
    word(code, 0xEB00_001F | field(m, 16) | field(n, 5));
}

/// x`d` = x`n`
pub fn move_general(code: &mut Code, d: u8, n: u8) {
    word(code, 0xAA00_03E0 | field(n, 16) | field(d, 0));
}

/// w`d` = a number of 16 bits
pub fn set(code: &mut Code, d: u8, number: u32) {
    word(code, 0x5280_0000 | number << 5 | field(d, 0));
}

/// w`to` = the word at x`base` + `at`
pub fn load_word(code: &mut Code, to: u8, base: u8, at: u32) {
    debug_assert!(at % 4 == 0 && at < 4 << 12, "a word at {at}");
    word(code, 0xB940_0000 | (at / 4) << 10 | field(base, 5) | field(to, 0));
}

/// The reverse.
pub fn store_word(code: &mut Code, from: u8, base: u8, at: u32) {
    word(code, 0xB900_0000 | (at / 4) << 10 | field(base, 5) | field(from, 0));
}

/// x`to` = the 64 bits at x`base` + `at`
pub fn load_address(code: &mut Code, to: u8, base: u8, at: u32) {
    debug_assert!(at % 8 == 0 && at < 8 << 12, "an address at {at}");
    word(code, 0xF940_0000 | (at / 8) << 10 | field(base, 5) | field(to, 0));
}

/// The 64 bits at x`base` + `at` = x`from`
pub fn store_address(code: &mut Code, from: u8, base: u8, at: u32) {
    debug_assert!(at % 8 == 0 && at < 8 << 12, "an address at {at}");
    word(code, 0xF900_0000 | (at / 8) << 10 | field(base, 5) | field(from, 0));
}

/// Conditions of jumps.
#[derive(Clone, Copy)]
pub enum If {
    /// Equal, or zero.
    Equal,
    Unequal,
    /// Not below, unsigned.
    NotBelow,
    /// The result's sign is clear.
    NotNegative,
    /// The general register is 0.
    Zero(u8),
    NotZero(u8),
}

/// A jump within 1 MiB; where it leads is said by [`land`].
#[must_use]
pub fn jump_near(code: &mut Code, condition: If) -> usize {
    let at = code.bytes.len();
    word(
        code,
        match condition {
            If::Equal => 0x5400_0000,
            If::Unequal => 0x5400_0001,
            If::NotBelow => 0x5400_0002,
            If::NotNegative => 0x5400_0005,
            If::Zero(register) => 0x3400_0000 | field(register, 0),
            If::NotZero(register) => 0x3500_0000 | field(register, 0),
        },
    );
    at
}

/// A jump within 128 MiB, if the condition holds.
#[must_use]
pub fn jump_far(code: &mut Code, condition: Option<If>) -> usize {
    let over = condition.map(|condition| {
        jump_near(
            code,
            match condition {
                If::Equal => If::Unequal,
                If::Unequal => If::Equal,
                If::Zero(register) => If::NotZero(register),
                If::NotZero(register) => If::Zero(register),
                If::NotBelow | If::NotNegative => unreachable!("only short jumps compare"),
            },
        )
    });
    let at = code.bytes.len();
    word(code, 0x1400_0000);
    over.into_iter().for_each(|over| land(code, over));
    at
}

/// Makes a jump lead here.
pub fn land(code: &mut Code, jump: usize) {
    lead(code, jump, code.bytes.len());
}

/// Makes a jump lead to `target`.
pub fn lead(code: &mut Code, jump: usize, target: usize) {
    let bytes = &mut code.bytes[jump..jump + 4];
    let bits = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let words = (target as i64 - jump as i64) / 4;
    let distance = |bits: u32| {
        assert!(words.unsigned_abs() < 1 << (bits - 1), "a jump over {words} instructions");
        words as u32 & ((1 << bits) - 1)
    };
    let bits = if bits >> 26 == 5 { bits | distance(26) } else { bits | distance(19) << 5 };
    bytes.copy_from_slice(&bits.to_le_bytes());
}

/// Jumps back to `target` if the condition holds.
pub fn back(code: &mut Code, condition: If, target: usize) {
    let jump = jump_far(code, Some(condition));
    lead(code, jump, target);
}
