//! Which instruction an operation is, beside those that all vectors have ([`x86::table`]).

use crate::op::{Kind, Op, Relation};
use crate::target::x86;
pub use crate::target::x86::table::*;
use crate::target::x86::{Enc, M0F, M3A, M38, NP, P66, Row, Shape, instructions};

instructions! {
    PAND "vpand" P66 M0F 0 0xDB;
    PANDN "vpandn" P66 M0F 0 0xDF;
    POR "vpor" P66 M0F 0 0xEB;
    PXOR "vpxor" P66 M0F 0 0xEF;
    PMAXUD "vpmaxud" P66 M38 0 0x3F;
    ROUNDPS "vroundps" P66 M3A 0 0x08;
    PCMPEQD "vpcmpeqd" P66 M0F 0 0x76;
    PCMPGTD "vpcmpgtd" P66 M0F 0 0x66;
    PCMPEQQ "vpcmpeqq" P66 M38 0 0x29;
    PCMPGTQ "vpcmpgtq" P66 M38 0 0x37;
    BLENDVPS "vblendvps" P66 M3A 0 0x4A;
    BLENDVPD "vblendvpd" P66 M3A 0 0x4B;
    BLENDPS "vblendps" P66 M3A 0 0x0C;
    PSHUFD "vpshufd" P66 M0F 0 0x70;
    BROADCASTSS "vbroadcastss" P66 M38 0 0x18;
    BROADCASTSD "vbroadcastsd" P66 M38 0 0x19;
    BROADCASTF128 "vbroadcastf128" P66 M38 0 0x1A;
    PERMD "vpermd" P66 M38 0 0x36;
    PERMILPS "vpermilps" P66 M3A 0 0x04;
    PERM2F128 "vperm2f128" P66 M3A 0 0x06;
    EXTRACTF128 "vextractf128" P66 M3A 0 0x19;
    INSERTF128 "vinsertf128" P66 M3A 0 0x18;
    LOAD "vmovups" NP M0F 0 0x10;
    STORE "vmovups" NP M0F 0 0x11;
    STORE_PAST "vmovntdq" P66 M0F 0 0xE7;
    COPY "vmovaps" NP M0F 0 0x28;
    MASKMOV "vpmaskmovd" P66 M38 0 0x8E;
    PTEST "vptest" P66 M38 0 0x17;
    TESTPS "vtestps" P66 M38 0 0x0E;
    MOVMSKPS "vmovmskps" NP M0F 0 0x50;
}

/// The instruction, if it is one.
pub fn row(op: Op) -> Option<Row> {
    use Op::*;
    use Shape::{Blend, Rm, Rvm};
    let of = |enc, shape| Row { enc, shape, imm: None };
    let with = |enc, shape, imm| Row { enc, shape, imm: Some(imm) };
    Some(match op {
        And | QAnd => of(PAND, Rvm),
        AndNot => of(PANDN, Rvm),
        Or | QOr => of(POR, Rvm),
        Xor | QXor => of(PXOR, Rvm),
        // Bit 3: without the exception for inexact results.
        Round(how) => with(ROUNDPS, Rm, how | 8),
        Compare(Kind::Signed, Relation::Equal, false) => of(PCMPEQD, Rvm),
        Compare(Kind::Signed, Relation::Greater, false) => of(PCMPGTD, Rvm),
        Compare(Kind::SignedQuad, Relation::Equal, false) => of(PCMPEQQ, Rvm),
        Compare(Kind::SignedQuad, Relation::Greater, false) => of(PCMPGTQ, Rvm),
        Permute => of(PERMD, Rvm),
        Op::Blend(lanes) => with(BLENDPS, Rvm, lanes),
        Select => of(BLENDVPS, Blend),
        QSelect => of(BLENDVPD, Blend),
        op => return x86::table::row(op),
    })
}
