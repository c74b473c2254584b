//! Which instruction an operation is.

use crate::op::{Kind, Op, Relation};
use crate::target::x86::{Enc, M0F, M3A, M38, NP, P66, PF3, Row, Shape, instructions};

instructions! {
    PADDD "vpaddd" P66 M0F 0 0xFE;
    PSUBD "vpsubd" P66 M0F 0 0xFA;
    PMULLD "vpmulld" P66 M38 0 0x40;
    PAND "vpand" P66 M0F 0 0xDB;
    PANDN "vpandn" P66 M0F 0 0xDF;
    POR "vpor" P66 M0F 0 0xEB;
    PXOR "vpxor" P66 M0F 0 0xEF;
    PMINSD "vpminsd" P66 M38 0 0x39;
    PMAXSD "vpmaxsd" P66 M38 0 0x3D;
    PMAXUD "vpmaxud" P66 M38 0 0x3F;
    MINPS "vminps" NP M0F 0 0x5D;
    MAXPS "vmaxps" NP M0F 0 0x5F;
    PSLLVD "vpsllvd" P66 M38 0 0x47;
    PSRLVD "vpsrlvd" P66 M38 0 0x45;
    PSRAVD "vpsravd" P66 M38 0 0x46;
    PSLLD "vpslld" P66 M0F 0 0x72;
    PSRLD "vpsrld" P66 M0F 0 0x72;
    PSRAD "vpsrad" P66 M0F 0 0x72;
    PADDQ "vpaddq" P66 M0F 0 0xD4;
    PSUBQ "vpsubq" P66 M0F 0 0xFB;
    PMULUDQ "vpmuludq" P66 M0F 0 0xF4;
    PMULDQ "vpmuldq" P66 M38 0 0x28;
    PSLLVQ "vpsllvq" P66 M38 1 0x47;
    PSRLVQ "vpsrlvq" P66 M38 1 0x45;
    PSLLQ "vpsllq" P66 M0F 0 0x73;
    PSRLQ "vpsrlq" P66 M0F 0 0x73;
    ADDPS "vaddps" NP M0F 0 0x58;
    SUBPS "vsubps" NP M0F 0 0x5C;
    MULPS "vmulps" NP M0F 0 0x59;
    DIVPS "vdivps" NP M0F 0 0x5E;
    SQRTPS "vsqrtps" NP M0F 0 0x51;
    FMAPS "vfmadd231ps" P66 M38 0 0xB8;
    ADDPD "vaddpd" P66 M0F 0 0x58;
    MULPD "vmulpd" P66 M0F 0 0x59;
    DIVPD "vdivpd" P66 M0F 0 0x5E;
    SQRTPD "vsqrtpd" P66 M0F 0 0x51;
    FMAPD "vfmadd231pd" P66 M38 1 0xB8;
    ROUNDPS "vroundps" P66 M3A 0 0x08;
    CVTDQ2PS "vcvtdq2ps" NP M0F 0 0x5B;
    CVTTPS2DQ "vcvttps2dq" PF3 M0F 0 0x5B;
    CMPPS "vcmpps" NP M0F 0 0xC2;
    CMPPD "vcmppd" P66 M0F 0 0xC2;
    PCMPEQD "vpcmpeqd" P66 M0F 0 0x76;
    PCMPGTD "vpcmpgtd" P66 M0F 0 0x66;
    PCMPEQQ "vpcmpeqq" P66 M38 0 0x29;
    PCMPGTQ "vpcmpgtq" P66 M38 0 0x37;
    BLENDVPS "vblendvps" P66 M3A 0 0x4A;
    BLENDVPD "vblendvpd" P66 M3A 0 0x4B;
    BLENDPS "vblendps" P66 M3A 0 0x0C;
    UNPCKLPS "vunpcklps" NP M0F 0 0x14;
    UNPCKHPS "vunpckhps" NP M0F 0 0x15;
    SHUFPS "vshufps" NP M0F 0 0xC6;
    PSHUFD "vpshufd" P66 M0F 0 0x70;
    BROADCASTSS "vbroadcastss" P66 M38 0 0x18;
    PBROADCASTD "vpbroadcastd" P66 M38 0 0x58;
    EXTRACTF128 "vextractf128" P66 M3A 0 0x19;
    INSERTF128 "vinsertf128" P66 M3A 0 0x18;
    LOAD "vmovups" NP M0F 0 0x10;
    STORE "vmovups" NP M0F 0 0x11;
    COPY "vmovaps" NP M0F 0 0x28;
    MASKMOV "vpmaskmovd" P66 M38 0 0x8E;
    PGATHERDD "vpgatherdd" P66 M38 0 0x90;
    TESTPS "vtestps" P66 M38 0 0x0E;
    MOVMSKPS "vmovmskps" NP M0F 0 0x50;
    MOVD "vmovd" P66 M0F 0 0x7E;
    MOVD_IN "vmovd" P66 M0F 0 0x6E;
}

/// The instruction, if it is one.
pub fn row(op: Op) -> Option<Row> {
    use Op::*;
    use Shape::{Blend, Digit, Fma, Rm, Rvm};
    let of = |enc, shape| Row { enc, shape, imm: None };
    let with = |enc, shape, imm| Row { enc, shape, imm: Some(imm) };
    Some(match op {
        Add => of(PADDD, Rvm),
        Sub => of(PSUBD, Rvm),
        Mul => of(PMULLD, Rvm),
        And | QAnd => of(PAND, Rvm),
        AndNot => of(PANDN, Rvm),
        Or | QOr => of(POR, Rvm),
        Xor | QXor => of(PXOR, Rvm),
        Shl => of(PSLLVD, Rvm),
        Shr => of(PSRLVD, Rvm),
        Sar => of(PSRAVD, Rvm),
        ShlBy(n) => with(PSLLD, Digit(6), n),
        ShrBy(n) => with(PSRLD, Digit(2), n),
        SarBy(n) => with(PSRAD, Digit(4), n),
        MinSigned => of(PMINSD, Rvm),
        MaxSigned => of(PMAXSD, Rvm),
        MulEvenUnsigned => of(PMULUDQ, Rvm),
        MulEvenSigned => of(PMULDQ, Rvm),
        FAdd => of(ADDPS, Rvm),
        FSub => of(SUBPS, Rvm),
        FMul => of(MULPS, Rvm),
        FDiv => of(DIVPS, Rvm),
        FMin => of(MINPS, Rvm),
        FMax => of(MAXPS, Rvm),
        FSqrt => of(SQRTPS, Rm),
        FFma => of(FMAPS, Fma),
        // Bit 3: without the exception for inexact results.
        Round(how) => with(ROUNDPS, Rm, how | 8),
        FromSigned => of(CVTDQ2PS, Rm),
        ToSigned => of(CVTTPS2DQ, Rm),
        QAdd => of(PADDQ, Rvm),
        QSub => of(PSUBQ, Rvm),
        QShl => of(PSLLVQ, Rvm),
        QShr => of(PSRLVQ, Rvm),
        QShlBy(n) => with(PSLLQ, Digit(6), n),
        QShrBy(n) => with(PSRLQ, Digit(2), n),
        DAdd => of(ADDPD, Rvm),
        DMul => of(MULPD, Rvm),
        DDiv => of(DIVPD, Rvm),
        DSqrt => of(SQRTPD, Rm),
        DFma => of(FMAPD, Fma),
        ZipLow => of(UNPCKLPS, Rvm),
        ZipHigh => of(UNPCKHPS, Rvm),
        Even => with(SHUFPS, Rvm, 0x88),
        Odd => with(SHUFPS, Rvm, 0xDD),
        Compare(Kind::Signed, Relation::Equal, false) => of(PCMPEQD, Rvm),
        Compare(Kind::Signed, Relation::Greater, false) => of(PCMPGTD, Rvm),
        Compare(Kind::SignedQuad, Relation::Equal, false) => of(PCMPEQQ, Rvm),
        Compare(Kind::SignedQuad, Relation::Greater, false) => of(PCMPGTQ, Rvm),
        Compare(kind @ (Kind::Float | Kind::Double), relation, negated) => {
            let relation = match relation {
                Relation::Equal => 0,
                Relation::Less => 1,
                Relation::LessEqual => 2,
                Relation::Unordered => 3,
                Relation::Greater => return None,
            };
            let enc = if kind == Kind::Float { CMPPS } else { CMPPD };
            with(enc, Rvm, relation | u8::from(negated) << 2)
        }
        Select => of(BLENDVPS, Blend),
        QSelect => of(BLENDVPD, Blend),
        LeadingZeros | FromUnsigned | Flush | QMul | QSar | Compare(..) | Common(_) | Doubtful | Both
        | Either | Not | Join | SplitLow | SplitHigh | Top | QTop | QWords | Keep | Words | Load(_)
        | Part(..) | Store(_) | Return | Copy => return None,
    })
}
