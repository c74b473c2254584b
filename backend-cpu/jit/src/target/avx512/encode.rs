//! Machine code: EVEX for vectors, VEX for mask registers.
//!
//! Vectors have 64 bytes where not said otherwise, all memory operands a base register and a displacement.

use super::table::{
    BROADCAST4, BROADCAST8, EXTRACT, INSERT, MOVD, MOVD_TO, PBROADCASTD, PBROADCASTQ, PERMD, PEXTRD,
    PGATHERDD, PINSRD,
};
use crate::emit::Code;
use crate::target::x86::{Enc, M0F, P66, modrm, register};
use crate::target::{Base, Rm};

/// Which lanes are written: all, those of a mask register, or those and zeros elsewhere.
#[derive(Clone, Copy, Debug)]
pub enum Lanes {
    All,
    Some(u8),
    OrZero(u8),
}

fn not(bits: u8, bit: u8) -> u8 {
    (!bits >> bit) & 1
}

/// A vector instruction: `reg` is the destination, or a digit of the opcode; `other` the first source.
pub fn vector(code: &mut Code, enc: Enc, reg: u8, other: u8, rm: Rm, lanes: Lanes, imm: Option<u8>) {
    const LONG: u8 = 0b10;
    instruction(code, enc, LONG, [reg, other], rm, lanes);
    code.bytes.extend(imm);
}

/// The same on the first four words.
pub fn short(code: &mut Code, enc: Enc, reg: u8, other: u8, rm: Rm, imm: Option<u8>) {
    instruction(code, enc, 0, [reg, other], rm, Lanes::All);
    code.bytes.extend(imm);
}

/// An instruction on registers that rounds so, whatever the mode is: 0 to the nearest, 1 down, 2 up, 3 towards zero.
pub fn rounded(code: &mut Code, enc: Enc, to: u8, from: u8, how: u8, lanes: Lanes) {
    let at = code.bytes.len();
    instruction(code, enc, how, [to, 0], Rm::Reg(from), lanes);
    // The bit that says of a register what it says of memory by another name.
    code.bytes[at + 3] |= 1 << 4;
}

fn instruction(code: &mut Code, enc: Enc, length: u8, [reg, other]: [u8; 2], rm: Rm, lanes: Lanes) {
    let (rm_bits, splat) = match rm {
        Rm::Reg(rm) => (rm, 0),
        // Bit 4 of a register number belongs to vectors only.
        Rm::Mem(base, _) => (register(base), 0),
        Rm::Splat(base, _) => (register(base), 1),
    };
    let (mask, zero) = match lanes {
        Lanes::All => (0, 0),
        Lanes::Some(k) => (k, 0),
        Lanes::OrZero(k) => (k, 1),
    };
    let first = not(reg, 3) << 7 | not(rm_bits, 4) << 6 | not(rm_bits, 3) << 5 | not(reg, 4) << 4 | enc.map;
    let second = u8::from(enc.wide) << 7 | (!other & 15) << 3 | 1 << 2 | enc.prefix;
    let third = zero << 7 | length << 5 | splat << 4 | not(other, 4) << 3 | mask;
    code.raw(&[0x62, first, second, third, enc.opcode]);
    // A displacement of one byte counts what is read or written.
    let unit = match enc {
        _ if splat == 1 => 4 << u8::from(enc.wide),
        PBROADCASTD | MOVD | MOVD_TO | PINSRD | PEXTRD => 4,
        PBROADCASTQ => 8,
        BROADCAST4 | EXTRACT | INSERT => 16,
        BROADCAST8 => 32,
        _ => 16 << length,
    };
    modrm(code, reg, rm, unit);
}

/// An instruction with two operands.
pub fn plain(code: &mut Code, enc: Enc, reg: u8, rm: Rm) {
    vector(code, enc, reg, 0, rm, Lanes::All, None);
}

/// to = the words of `from` that the numbers in `to` say
pub fn permute(code: &mut Code, to: u8, from: u8) {
    vector(code, PERMD, to, to, Rm::Reg(from), Lanes::All, None);
}

/// to = the words at a place on the stack that the numbers in `to` say
pub fn choose_words(code: &mut Code, to: u8, at: u32) {
    vector(code, PERMD, to, to, Rm::Mem(Base::Stack, at), Lanes::All, None);
}

/// Loads or stores words at r10 + 4 · `index` of the lanes in `mask`, which is cleared.
pub fn scattered(code: &mut Code, enc: Enc, reg: u8, index: u8, mask: u8) {
    const R10: u8 = 10;
    let first = not(reg, 3) << 7 | not(index, 3) << 6 | not(R10, 3) << 5 | not(reg, 4) << 4 | enc.map;
    let second = 0x78 | 1 << 2 | enc.prefix;
    let third = 0b10 << 5 | not(index, 4) << 3 | mask;
    // A scaled index follows; four bytes a step.
    code.raw(&[
        0x62,
        first,
        second,
        third,
        enc.opcode,
        (reg & 7) << 3 | 4,
        2 << 6 | (index & 7) << 3 | R10 & 7,
    ]);
}

/// Words at r10 + 4 · `index` of the lanes in `mask`, which is cleared; 0 in the others.
pub fn gather(code: &mut Code, to: u8, index: u8, mask: u8) {
    plain_zero(code, to);
    scattered(code, PGATHERDD, to, index, mask);
}

fn plain_zero(code: &mut Code, to: u8) {
    vector(code, super::table::PXORD, to, to, Rm::Reg(to), Lanes::All, None);
}

/// r11d = the first word of a vector
pub fn first_word(code: &mut Code, from: u8) {
    let first = not(from, 3) << 7 | 1 << 6 | not(from, 4) << 4 | M0F;
    code.raw(&[0x62, first, 0x78 | 1 << 2 | P66, 0x08, 0x7E, 0xC0 | (from & 7) << 3 | 3]);
}

/// A place on the stack = the first word of a vector
pub fn first_to_stack(code: &mut Code, from: u8, at: u32) {
    const RCX: u8 = 1;
    let first = not(from, 3) << 7 | 1 << 6 | 1 << 5 | not(from, 4) << 4 | M0F;
    code.raw(&[0x62, first, 0x78 | 1 << 2 | P66, 0x08, 0x7E]);
    code.raw_with(&[0x80 | (from & 7) << 3 | RCX], at);
}

/// An instruction on mask registers: `to = op(a, b)`, with the length bit.
fn mask(code: &mut Code, opcode: u8, long: u8, to: u8, a: u8, rm: Rm) {
    code.raw(&[0xC5, 0x80 | (!a & 15) << 3 | long << 2, opcode]);
    modrm(code, to, rm, 1);
}

/// to = a & b
pub fn mask_and(code: &mut Code, to: u8, a: u8, b: u8) {
    mask(code, 0x41, 1, to, a, Rm::Reg(b));
}

/// to = !a & b
pub fn mask_and_not(code: &mut Code, to: u8, a: u8, b: u8) {
    mask(code, 0x42, 1, to, a, Rm::Reg(b));
}

/// Sets the zero flag if no lane is in the mask, the carry flag if all are.
pub fn mask_test(code: &mut Code, of: u8) {
    mask(code, 0x98, 0, of, 0, Rm::Reg(of));
}

/// to = a | b
pub fn mask_or(code: &mut Code, to: u8, a: u8, b: u8) {
    mask(code, 0x45, 1, to, a, Rm::Reg(b));
}

/// to = !a
pub fn mask_not(code: &mut Code, to: u8, a: u8) {
    mask(code, 0x44, 0, to, 0, Rm::Reg(a));
}

/// rax |= `from` << `by`
pub fn mask_to_result(code: &mut Code, from: u8, by: u8) {
    code.raw(&[0xC5, 0x78, 0x93, 0xD0 | from]); // kmovw r10d, from
    code.raw(&[0x49, 0xC1, 0xE2, by]); // shl r10, by
    code.raw(&[0x4C, 0x09, 0xD0]); // or rax, r10
}

/// edx = the lanes of a mask
pub fn mask_to_lanes(code: &mut Code, from: u8) {
    code.raw(&[0xC5, 0xF8, 0x93, 0xD0 | from]); // kmovw edx, from
}

/// r10d = the lanes of the masks of one strip or two, bit by bit
pub fn lanes_of(code: &mut Code, masks: &[u8]) {
    code.raw(&[0xC5, 0x78, 0x93, 0xD0 | masks[0]]); // kmovw r10d, the first
    if let [_, second] = masks {
        code.raw(&[0xC5, 0x78, 0x93, 0xD8 | second]); // kmovw r11d, the second
        code.raw(&[0x41, 0xC1, 0xE3, 16]); // shl r11d, 16
        code.raw(&[0x45, 0x09, 0xDA]); // or r10d, r11d
    }
}

/// ebp = those of so many lanes, bit by bit, that are in the mask; says whether there are none.
pub fn lanes_to_bits(code: &mut Code, mask: Option<u8>, lanes: u32) {
    match mask {
        Some(mask) => code.raw(&[0xC5, 0xF8, 0x93, 0xE8 | mask]), // kmovw ebp, mask
        None => code.raw_with(&[0xBD], lanes),                    // mov ebp, lanes
    }
    code.raw_with(&[0x81, 0xE5], lanes); // and ebp, lanes
}

/// Loads a mask: the low half of a word.
pub fn mask_load(code: &mut Code, to: u8, base: Base, at: u32) {
    mask(code, 0x90, 0, to, 0, Rm::Mem(base, at));
}

/// Stores a mask.
pub fn mask_store(code: &mut Code, from: u8, at: u32) {
    mask(code, 0x91, 0, from, 0, Rm::Mem(Base::Stack, at));
}

/// The mask `to` from edx, or its upper half.
pub fn mask_from_lanes(code: &mut Code, to: u8, upper: bool) {
    if upper {
        code.raw(&[0x41, 0x89, 0xD2]); // mov r10d, edx
        code.raw(&[0x41, 0xC1, 0xEA, 16]); // shr r10d, 16
        code.raw(&[0xC4, 0xC1, 0x78, 0x92, 0xC2 | to << 3]); // kmovw to, r10d
    } else {
        code.raw(&[0xC5, 0xF8, 0x92, 0xC2 | to << 3]); // kmovw to, edx
    }
}
