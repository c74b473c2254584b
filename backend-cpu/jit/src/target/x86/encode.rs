//! Machine code of all kinds of prefixes: what an instruction is, where its operands stand, jumps.

use super::ADDRESSES;
use crate::emit::Code;
use crate::target::{Base, Rm};

/// Which instruction: its name, opcode map, mandatory prefix, width bit and opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enc {
    pub name: &'static str,
    pub map: u8,
    pub prefix: u8,
    pub wide: bool,
    pub opcode: u8,
}

/// Mandatory prefixes and opcode maps.
pub const NP: u8 = 0;
pub const P66: u8 = 1;
pub const PF3: u8 = 2;
pub const PF2: u8 = 3;
pub const M0F: u8 = 1;
pub const M38: u8 = 2;
pub const M3A: u8 = 3;

/// Where the operands of an instruction stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Result, first operand, second operand.
    Rvm,
    /// Result, operand.
    Rm,
    /// A digit in place of the result, which stands second; then the operand.
    Digit(u8),
    /// The third operand is the result; first, second.
    Fma,
    /// Result, third operand, second operand; the first one says which.
    Blend,
}

/// A row of the table of a target: an instruction with its immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub enc: Enc,
    pub shape: Shape,
    pub imm: Option<u8>,
}

/// The instructions of a table, as constants and all together.
macro_rules! instructions {
    ($($constant:ident $name:literal $prefix:ident $map:ident $wide:literal $opcode:literal;)*) => {
        $(pub const $constant: Enc = Enc {
            name: $name, map: $map, prefix: $prefix, wide: $wide == 1, opcode: $opcode
        };)*
    };
}
pub(in crate::target) use instructions;

/// Conditions of jumps.
pub const BELOW: u8 = 0x2;
pub const NOT_BELOW: u8 = 0x3;
pub const ZERO: u8 = 0x4;
pub const NOT_ZERO: u8 = 0x5;
pub const NOT_ABOVE: u8 = 0x6;

/// The number of a base register.
pub fn register(base: Base) -> u8 {
    match base {
        Base::Stack => 1,
        Base::Pool => 6,
        Base::Rows => 7,
        Base::Views => 9,
        Base::First => 11,
        Base::Kept(number) => ADDRESSES[usize::from(number)],
        Base::Learned => 12,
    }
}

/// A jump, if the condition holds; where it leads is said by [`land`].
#[must_use]
pub fn jump(code: &mut Code, condition: Option<u8>) -> usize {
    match condition {
        Some(condition) => code.raw(&[0x0F, 0x80 | condition]),
        None => code.raw(&[0xE9]),
    }
    code.raw(&[0; 4]);
    code.bytes.len() - 4
}

/// Makes a jump lead here.
pub fn land(code: &mut Code, jump: usize) {
    land_at(code, jump, code.bytes.len());
}

/// Makes a jump lead to a place.
pub fn land_at(code: &mut Code, jump: usize, to: usize) {
    let distance = (to as i32 - jump as i32 - 4) as u32;
    code.bytes[jump..jump + 4].copy_from_slice(&distance.to_le_bytes());
}

/// Jumps back to `target` if the condition holds.
pub fn back(code: &mut Code, condition: u8, target: usize) {
    let distance = target as i32 - (code.bytes.len() as i32 + 6);
    code.raw_with(&[0x0F, 0x80 | condition], distance as u32);
}

/// The operands after the opcode. A displacement that fits into one byte, counted in so many bytes, takes one, and 0 none: long
/// instructions are what old processors fetch slowly.
pub fn modrm(code: &mut Code, reg: u8, rm: Rm, unit: i32) {
    let (base, at) = match rm {
        Rm::Reg(rm) => return code.raw(&[0xC0 | (reg & 7) << 3 | rm & 7]),
        Rm::Mem(base, at) | Rm::Splat(base, at) => (register(base) & 7, at as i32),
    };
    let short = (at % unit == 0).then(|| i8::try_from(at / unit).ok()).flatten();
    let form = match short {
        // The number of rbp, and of r13, with no displacement says something else.
        Some(0) if base != 5 => 0,
        Some(_) => 1,
        None => 2,
    };
    code.raw(&[form << 6 | (reg & 7) << 3 | base]);
    // The number of rsp, and of r12, says that another byte follows.
    code.raw(if base == 4 { &[0x24] } else { &[] });
    match (form, short) {
        (0, _) => {}
        (_, Some(short)) => code.raw(&short.to_le_bytes()),
        (_, None) => code.raw(&at.to_le_bytes()),
    }
}
