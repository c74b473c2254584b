//! Machine code: VEX, vectors of 32 bytes where not said otherwise, and memory operands of a base register and a displacement.

use super::table::{MOVD_TO, MOVMSKPS, PERMD, PGATHERDD, PMULDQ, PXOR, TESTPS};
use crate::emit::Code;
use crate::target::x86::{Enc, M0F, modrm, register};
use crate::target::{Base, Rm};

fn prefix(code: &mut Code, enc: Enc, bits: [u8; 3], other: u8, long: bool) {
    let [reg, index, base] = bits.map(|number| (!number >> 3) & 1);
    let first = reg << 7 | index << 6 | base << 5 | enc.map;
    // What has an opcode for its elements' width does not look at the bit for it, and Valgrind 3.19 ends if it is set: instructions of
    // the first map, and one of the second.
    let wide = enc.wide && enc.map != M0F && enc != PMULDQ;
    let second = u8::from(wide) << 7 | (!other & 15) << 3 | u8::from(long) << 2 | enc.prefix;
    if [index, base] == [1; 2] && enc.map == M0F {
        return code.raw(&[0xC5, reg << 7 | second, enc.opcode]);
    }
    code.raw(&[0xC4, first, second, enc.opcode]);
}

fn instruction(code: &mut Code, enc: Enc, reg: u8, other: u8, rm: Rm, long: bool) {
    let base = match rm {
        Rm::Reg(rm) => rm,
        Rm::Mem(base, _) => register(base),
        Rm::Splat(..) => unreachable!("there are no operands of one element"),
    };
    prefix(code, enc, [reg, 0, base], other, long);
    modrm(code, reg, rm, 1);
}

/// A vector instruction: `reg` is the destination, or a digit of the opcode; `other` the first source.
pub fn vector(code: &mut Code, enc: Enc, reg: u8, other: u8, rm: Rm, imm: Option<u8>) {
    instruction(code, enc, reg, other, rm, true);
    code.bytes.extend(imm);
}

/// to = the words at a place on the stack that the numbers in `to` say
pub fn choose_words(code: &mut Code, to: u8, at: u32) {
    vector(code, PERMD, to, to, Rm::Mem(Base::Stack, at), None);
}

/// An instruction with two operands.
pub fn plain(code: &mut Code, enc: Enc, reg: u8, rm: Rm) {
    vector(code, enc, reg, 0, rm, None);
}

/// The same on vectors of 16 bytes.
pub fn short(code: &mut Code, enc: Enc, reg: u8, rm: Rm) {
    instruction(code, enc, reg, 0, rm, false);
}

/// An instruction on one of the first four words.
pub fn word(code: &mut Code, enc: Enc, reg: u8, other: u8, rm: Rm, number: u8) {
    instruction(code, enc, reg, other, rm, false);
    code.bytes.push(number);
}

/// r11d = the first word of a vector
pub fn first_word(code: &mut Code, from: u8) {
    short(code, MOVD_TO, from, Rm::Reg(11));
}

/// A place on the stack = the first word of a vector
pub fn first_to_stack(code: &mut Code, from: u8, at: u32) {
    short(code, MOVD_TO, from, Rm::Mem(Base::Stack, at));
}

/// A register = the top bits of a vector
pub fn top_bits(code: &mut Code, to: u8, from: u8) {
    plain(code, MOVMSKPS, to, Rm::Reg(from));
}

/// The zero flag: a & b has no top bit; the carry flag: !a & b has none.
pub fn test(code: &mut Code, a: u8, b: Rm) {
    plain(code, TESTPS, a, b);
}

/// Words at r10 + 4 · `index` + `at` of the lanes in `mask`, which is cleared; 0 in the others.
pub fn gather(code: &mut Code, to: u8, index: u8, at: u32, mask: u8) {
    const R10: u8 = 10;
    vector(code, PXOR, to, to, Rm::Reg(to), None);
    prefix(code, PGATHERDD, [to, index, R10], mask, true);
    // A scaled index follows; four bytes a step.
    code.raw_with(&[0x80 | (to & 7) << 3 | 4, 2 << 6 | (index & 7) << 3 | R10 & 7], at);
}
