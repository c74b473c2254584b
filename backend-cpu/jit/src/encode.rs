//! Machine code of the instructions that are used, as bytes: EVEX for vectors, VEX for mask registers.
//!
//! There is one form of each: all vectors have 64 bytes, all memory operands a base register and four bytes of
//! displacement.

/// Which instruction: opcode map, mandatory prefix, width bit and opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Enc {
    map: u8,
    prefix: u8,
    wide: bool,
    opcode: u8,
}

const NP: u8 = 0;
const P66: u8 = 1;
const PF3: u8 = 2;
const PF2: u8 = 3;
const M0F: u8 = 1;
const M38: u8 = 2;
const M3A: u8 = 3;

const fn enc(prefix: u8, map: u8, wide: u8, opcode: u8) -> Enc {
    Enc { map, prefix, wide: wide == 1, opcode }
}

impl Enc {
    /// Operates on 64-bit elements.
    pub fn wide(self) -> bool {
        self.wide
    }
}

/// The instructions by their names; those of shifts by a constant are followed by the digit of their opcode.
#[allow(missing_docs)]
pub mod inst {
    use super::*;
    pub const PADDD: Enc = enc(P66, M0F, 0, 0xFE);
    pub const PSUBD: Enc = enc(P66, M0F, 0, 0xFA);
    pub const PMULLD: Enc = enc(P66, M38, 0, 0x40);
    pub const PANDD: Enc = enc(P66, M0F, 0, 0xDB);
    pub const PORD: Enc = enc(P66, M0F, 0, 0xEB);
    pub const PXORD: Enc = enc(P66, M0F, 0, 0xEF);
    pub const PMINSD: Enc = enc(P66, M38, 0, 0x39);
    pub const PMAXSD: Enc = enc(P66, M38, 0, 0x3D);
    pub const MINPS: Enc = enc(NP, M0F, 0, 0x5D);
    pub const MAXPS: Enc = enc(NP, M0F, 0, 0x5F);
    pub const PSLLVD: Enc = enc(P66, M38, 0, 0x47);
    pub const PSRLVD: Enc = enc(P66, M38, 0, 0x45);
    pub const PSRAVD: Enc = enc(P66, M38, 0, 0x46);
    pub const PSHIFTD: Enc = enc(P66, M0F, 0, 0x72);
    pub const PLZCNTD: Enc = enc(P66, M38, 0, 0x44);
    pub const PADDQ: Enc = enc(P66, M0F, 1, 0xD4);
    pub const PSUBQ: Enc = enc(P66, M0F, 1, 0xFB);
    pub const PMULLQ: Enc = enc(P66, M38, 1, 0x40);
    pub const PMULUDQ: Enc = enc(P66, M0F, 1, 0xF4);
    pub const PMULDQ: Enc = enc(P66, M38, 1, 0x28);
    pub const PANDQ: Enc = enc(P66, M0F, 1, 0xDB);
    pub const PORQ: Enc = enc(P66, M0F, 1, 0xEB);
    pub const PXORQ: Enc = enc(P66, M0F, 1, 0xEF);
    pub const PSLLVQ: Enc = enc(P66, M38, 1, 0x47);
    pub const PSRLVQ: Enc = enc(P66, M38, 1, 0x45);
    pub const PSRAVQ: Enc = enc(P66, M38, 1, 0x46);
    pub const PSHIFTQ: Enc = enc(P66, M0F, 1, 0x73);
    pub const ADDPS: Enc = enc(NP, M0F, 0, 0x58);
    pub const SUBPS: Enc = enc(NP, M0F, 0, 0x5C);
    pub const MULPS: Enc = enc(NP, M0F, 0, 0x59);
    pub const DIVPS: Enc = enc(NP, M0F, 0, 0x5E);
    pub const SQRTPS: Enc = enc(NP, M0F, 0, 0x51);
    pub const FMAPS: Enc = enc(P66, M38, 0, 0xB8);
    pub const ADDPD: Enc = enc(P66, M0F, 1, 0x58);
    pub const MULPD: Enc = enc(P66, M0F, 1, 0x59);
    pub const DIVPD: Enc = enc(P66, M0F, 1, 0x5E);
    pub const SQRTPD: Enc = enc(P66, M0F, 1, 0x51);
    pub const FMAPD: Enc = enc(P66, M38, 1, 0xB8);
    pub const RNDSCALEPS: Enc = enc(P66, M3A, 0, 0x08);
    pub const CVTDQ2PS: Enc = enc(NP, M0F, 0, 0x5B);
    pub const CVTUDQ2PS: Enc = enc(PF2, M0F, 0, 0x7A);
    pub const CVTTPS2DQ: Enc = enc(PF3, M0F, 0, 0x5B);
    pub const CMPPS: Enc = enc(NP, M0F, 0, 0xC2);
    pub const CMPPD: Enc = enc(P66, M0F, 1, 0xC2);
    pub const PCMPD: Enc = enc(P66, M3A, 0, 0x1F);
    pub const PCMPUD: Enc = enc(P66, M3A, 0, 0x1E);
    pub const PCMPQ: Enc = enc(P66, M3A, 1, 0x1F);
    pub const PCMPUQ: Enc = enc(P66, M3A, 1, 0x1E);
    pub const PTESTMD: Enc = enc(P66, M38, 0, 0x27);
    pub const PTESTNMD: Enc = enc(PF3, M38, 0, 0x27);
    pub const FPCLASSPS: Enc = enc(P66, M3A, 0, 0x66);
    pub const PBLENDMD: Enc = enc(P66, M38, 0, 0x64);
    pub const PBLENDMQ: Enc = enc(P66, M38, 1, 0x64);
    pub const PBROADCASTD: Enc = enc(P66, M38, 0, 0x58);
    pub const PBROADCASTQ: Enc = enc(P66, M38, 1, 0x59);
    pub const PMOVM2D: Enc = enc(PF3, M38, 0, 0x38);
    pub const PMOVM2Q: Enc = enc(PF3, M38, 1, 0x38);
    pub const PMOVD2M: Enc = enc(PF3, M38, 0, 0x39);
    pub const PMOVQ2M: Enc = enc(PF3, M38, 1, 0x39);
    pub const UNPCKLPS: Enc = enc(NP, M0F, 0, 0x14);
    pub const UNPCKHPS: Enc = enc(NP, M0F, 0, 0x15);
    pub const SHUFPS: Enc = enc(NP, M0F, 0, 0xC6);
    pub const LOAD: Enc = enc(P66, M0F, 0, 0x6F);
    pub const STORE: Enc = enc(P66, M0F, 0, 0x7F);
    /// The same for addresses that are multiples of 4.
    pub const LOAD_NEAR: Enc = enc(PF3, M0F, 0, 0x6F);
    pub const STORE_NEAR: Enc = enc(PF3, M0F, 0, 0x7F);
    pub const PERMD: Enc = enc(P66, M38, 0, 0x36);
    pub const PERMI2D: Enc = enc(P66, M38, 0, 0x76);
    pub const SHUFI64X2: Enc = enc(P66, M3A, 1, 0x43);
    /// Four words, to memory.
    pub const EXTRACT: Enc = enc(P66, M3A, 0, 0x39);
    pub const PGATHERDD: Enc = enc(P66, M38, 0, 0x90);
    pub const PSCATTERDD: Enc = enc(P66, M38, 0, 0xA0);
}

/// Conditions of jumps.
pub const NOT_BELOW: u8 = 0x3;
pub const ZERO: u8 = 0x4;
pub const NOT_ZERO: u8 = 0x5;

/// A base register for memory operands, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The spilled values.
    Stack = 1,
    /// The constants.
    Pool = 6,
    /// The rows.
    Rows = 7,
    /// The table of views.
    Views = 9,
    /// The first lane's word in a view.
    First = 11,
}

/// The last operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Rm {
    /// A register.
    Reg(u8),
    /// 64 bytes, or as many as the instruction takes.
    Mem(Base, u32),
    /// One element for all lanes.
    Splat(Base, u32),
}

/// Which lanes are written: none named, those of a mask register, or those and zeros elsewhere.
#[derive(Clone, Copy, Debug)]
pub enum Lanes {
    All,
    Some(u8),
    OrZero(u8),
}

/// Code under construction.
#[derive(Default)]
pub struct Code {
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Code {
    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A jump, if the condition holds; where it leads is said by [`Code::land`].
    #[must_use]
    pub fn jump(&mut self, condition: Option<u8>) -> usize {
        match condition {
            Some(condition) => self.raw(&[0x0F, 0x80 | condition]),
            None => self.raw(&[0xE9]),
        }
        self.raw(&[0; 4]);
        self.bytes.len() - 4
    }

    /// Makes a jump lead here.
    pub fn land(&mut self, jump: usize) {
        let distance = (self.bytes.len() - jump - 4) as u32;
        self.bytes[jump..jump + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// Jumps back to `target` if the condition holds.
    pub fn back(&mut self, condition: u8, target: usize) {
        let distance = target as i32 - (self.bytes.len() as i32 + 6);
        self.raw(&[0x0F, 0x80 | condition]);
        self.raw(&distance.to_le_bytes());
    }

    fn modrm(&mut self, reg: u8, rm: Rm) {
        match rm {
            Rm::Reg(rm) => self.bytes.push(0xC0 | (reg & 7) << 3 | rm & 7),
            Rm::Mem(base, at) | Rm::Splat(base, at) => {
                self.bytes.push(0x80 | (reg & 7) << 3 | base as u8 & 7);
                self.bytes.extend(at.to_le_bytes());
            }
        }
    }

    /// A vector instruction: `reg` is the destination, or a digit of the opcode; `other` the first source.
    pub fn vector(&mut self, enc: Enc, reg: u8, other: u8, rm: Rm, lanes: Lanes, imm: Option<u8>) {
        let (rm_bits, splat) = match rm {
            Rm::Reg(rm) => (rm, 0),
            // Bit 4 of a register number belongs to vectors only.
            Rm::Mem(base, _) => (base as u8, 0),
            Rm::Splat(base, _) => (base as u8, 1),
        };
        let (mask, zero) = match lanes {
            Lanes::All => (0, 0),
            Lanes::Some(k) => (k, 0),
            Lanes::OrZero(k) => (k, 1),
        };
        let not = |bits: u8, bit: u8| (!bits >> bit) & 1;
        let first =
            not(reg, 3) << 7 | not(rm_bits, 4) << 6 | not(rm_bits, 3) << 5 | not(reg, 4) << 4 | enc.map;
        let second = u8::from(enc.wide) << 7 | (!other & 15) << 3 | 1 << 2 | enc.prefix;
        let third = zero << 7 | 0b10 << 5 | splat << 4 | not(other, 4) << 3 | mask;
        self.bytes.extend([0x62, first, second, third, enc.opcode]);
        self.modrm(reg, rm);
        self.bytes.extend(imm);
    }

    /// Loads or stores words at r10 + 4 · `index` of the lanes in `mask`, which is cleared.
    pub fn scattered(&mut self, enc: Enc, reg: u8, index: u8, mask: u8) {
        const R10: u8 = 10;
        let not = |bits: u8, bit: u8| (!bits >> bit) & 1;
        let first = not(reg, 3) << 7 | not(index, 3) << 6 | not(R10, 3) << 5 | not(reg, 4) << 4 | enc.map;
        let second = 0x78 | 1 << 2 | enc.prefix;
        let third = 0b10 << 5 | not(index, 4) << 3 | mask;
        self.bytes.extend([0x62, first, second, third, enc.opcode]);
        // A scaled index follows; four bytes a step.
        self.bytes.extend([(reg & 7) << 3 | 4, 2 << 6 | (index & 7) << 3 | R10 & 7]);
    }

    /// r11d = the first word of a vector
    pub fn first_word(&mut self, from: u8) {
        let not = |bits: u8, bit: u8| (!bits >> bit) & 1;
        let first = not(from, 3) << 7 | 1 << 6 | not(from, 4) << 4 | M0F;
        self.bytes.extend([0x62, first, 0x78 | 1 << 2 | P66, 0x08, 0x7E, 0xC0 | (from & 7) << 3 | 3]);
    }

    /// An instruction on mask registers: `to = op(a, b)`, with the length bit.
    fn mask(&mut self, opcode: u8, long: u8, to: u8, a: u8, rm: Rm) {
        self.bytes.extend([0xC5, 0x80 | (!a & 15) << 3 | long << 2, opcode]);
        self.modrm(to, rm);
    }

    /// to = a & b
    pub fn mask_and(&mut self, to: u8, a: u8, b: u8) {
        self.mask(0x41, 1, to, a, Rm::Reg(b));
    }

    /// to = !a & b
    pub fn mask_and_not(&mut self, to: u8, a: u8, b: u8) {
        self.mask(0x42, 1, to, a, Rm::Reg(b));
    }

    /// Sets the zero flag if no lane is left in the mask.
    pub fn mask_test(&mut self, mask: u8) {
        self.mask(0x98, 0, mask, 0, Rm::Reg(mask));
    }

    /// to = a | b
    pub fn mask_or(&mut self, to: u8, a: u8, b: u8) {
        self.mask(0x45, 1, to, a, Rm::Reg(b));
    }

    /// to = !a
    pub fn mask_not(&mut self, to: u8, a: u8) {
        self.mask(0x44, 0, to, 0, Rm::Reg(a));
    }

    /// rax |= `from` << 48
    pub fn mask_to_result(&mut self, from: u8) {
        self.bytes.extend([0xC5, 0x78, 0x93, 0xD0 | from]); // kmovw r10d, from
        self.bytes.extend([0x49, 0xC1, 0xE2, 48]); // shl r10, 48
        self.bytes.extend([0x4C, 0x09, 0xD0]); // or rax, r10
    }

    /// Loads a mask.
    pub fn mask_load(&mut self, to: u8, at: u32) {
        self.mask(0x90, 0, to, 0, Rm::Mem(Base::Stack, at));
    }

    /// The low half of a constant as a mask.
    pub fn mask_constant(&mut self, to: u8, at: u32) {
        self.mask(0x90, 0, to, 0, Rm::Mem(Base::Pool, at));
    }

    /// Stores a mask.
    pub fn mask_store(&mut self, from: u8, at: u32) {
        self.mask(0x91, 0, from, 0, Rm::Mem(Base::Stack, at));
    }
}
