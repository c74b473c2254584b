//! Which instruction an operation is.

use crate::op::{Kind, Op, Relation};
use crate::target::x86::{Enc, M0F, M3A, M38, NP, P66, PF2, PF3, Row, Shape, instructions};

instructions! {
    PADDD "vpaddd" P66 M0F 0 0xFE;
    PSUBD "vpsubd" P66 M0F 0 0xFA;
    PMULLD "vpmulld" P66 M38 0 0x40;
    PANDD "vpandd" P66 M0F 0 0xDB;
    PANDND "vpandnd" P66 M0F 0 0xDF;
    PORD "vpord" P66 M0F 0 0xEB;
    PXORD "vpxord" P66 M0F 0 0xEF;
    PMINSD "vpminsd" P66 M38 0 0x39;
    PMAXSD "vpmaxsd" P66 M38 0 0x3D;
    MINPS "vminps" NP M0F 0 0x5D;
    MAXPS "vmaxps" NP M0F 0 0x5F;
    PSLLVD "vpsllvd" P66 M38 0 0x47;
    PSRLVD "vpsrlvd" P66 M38 0 0x45;
    PSRAVD "vpsravd" P66 M38 0 0x46;
    PSLLD "vpslld" P66 M0F 0 0x72;
    PSRLD "vpsrld" P66 M0F 0 0x72;
    PSRAD "vpsrad" P66 M0F 0 0x72;
    PLZCNTD "vplzcntd" P66 M38 0 0x44;
    PADDQ "vpaddq" P66 M0F 1 0xD4;
    PSUBQ "vpsubq" P66 M0F 1 0xFB;
    PMULLQ "vpmullq" P66 M38 1 0x40;
    PMULUDQ "vpmuludq" P66 M0F 1 0xF4;
    PMULDQ "vpmuldq" P66 M38 1 0x28;
    PANDQ "vpandq" P66 M0F 1 0xDB;
    PORQ "vporq" P66 M0F 1 0xEB;
    PXORQ "vpxorq" P66 M0F 1 0xEF;
    PSLLVQ "vpsllvq" P66 M38 1 0x47;
    PSRLVQ "vpsrlvq" P66 M38 1 0x45;
    PSRAVQ "vpsravq" P66 M38 1 0x46;
    PSLLQ "vpsllq" P66 M0F 1 0x73;
    PSRLQ "vpsrlq" P66 M0F 1 0x73;
    ADDPS "vaddps" NP M0F 0 0x58;
    SUBPS "vsubps" NP M0F 0 0x5C;
    MULPS "vmulps" NP M0F 0 0x59;
    DIVPS "vdivps" NP M0F 0 0x5E;
    SQRTPS "vsqrtps" NP M0F 0 0x51;
    FMAPS "vfmadd231ps" P66 M38 0 0xB8;
    ADDPD "vaddpd" P66 M0F 1 0x58;
    MULPD "vmulpd" P66 M0F 1 0x59;
    DIVPD "vdivpd" P66 M0F 1 0x5E;
    SQRTPD "vsqrtpd" P66 M0F 1 0x51;
    FMAPD "vfmadd231pd" P66 M38 1 0xB8;
    RNDSCALEPS "vrndscaleps" P66 M3A 0 0x08;
    CVTDQ2PS "vcvtdq2ps" NP M0F 0 0x5B;
    CVTUDQ2PS "vcvtudq2ps" PF2 M0F 0 0x7A;
    CVTTPS2DQ "vcvttps2dq" PF3 M0F 0 0x5B;
    CMPPS "vcmpps" NP M0F 0 0xC2;
    CMPPD "vcmppd" P66 M0F 1 0xC2;
    PCMPD "vpcmpd" P66 M3A 0 0x1F;
    PCMPUD "vpcmpud" P66 M3A 0 0x1E;
    PCMPQ "vpcmpq" P66 M3A 1 0x1F;
    PCMPUQ "vpcmpuq" P66 M3A 1 0x1E;
    PTESTMD "vptestmd" P66 M38 0 0x27;
    PTESTNMD "vptestnmd" PF3 M38 0 0x27;
    FPCLASSPS "vfpclassps" P66 M3A 0 0x66;
    PBLENDMD "vpblendmd" P66 M38 0 0x64;
    PBLENDMQ "vpblendmq" P66 M38 1 0x64;
    PBROADCASTD "vpbroadcastd" P66 M38 0 0x58;
    PBROADCASTQ "vpbroadcastq" P66 M38 1 0x59;
    PMOVM2D "vpmovm2d" PF3 M38 0 0x38;
    PMOVM2Q "vpmovm2q" PF3 M38 1 0x38;
    PMOVD2M "vpmovd2m" PF3 M38 0 0x39;
    PMOVQ2M "vpmovq2m" PF3 M38 1 0x39;
    UNPCKLPS "vunpcklps" NP M0F 0 0x14;
    UNPCKHPS "vunpckhps" NP M0F 0 0x15;
    SHUFPS "vshufps" NP M0F 0 0xC6;
    LOAD "vmovdqa32" P66 M0F 0 0x6F;
    STORE "vmovdqa32" P66 M0F 0 0x7F;
    // The same for addresses that are multiples of 4.
    LOAD_NEAR "vmovdqu32" PF3 M0F 0 0x6F;
    STORE_NEAR "vmovdqu32" PF3 M0F 0 0x7F;
    PERMD "vpermd" P66 M38 0 0x36;
    PERMI2D "vpermi2d" P66 M38 0 0x76;
    SHUFI64X2 "vshufi64x2" P66 M3A 1 0x43;
    // Four words, to memory.
    EXTRACT "vextracti32x4" P66 M3A 0 0x39;
    PGATHERDD "vpgatherdd" P66 M38 0 0x90;
    PSCATTERDD "vpscatterdd" P66 M38 0 0xA0;
}

/// The instruction, if it is one on vectors.
pub fn row(op: Op) -> Option<Row> {
    use Op::*;
    use Shape::{Blend, Digit, Fma, Rm, Rvm};
    let of = |enc, shape| Row { enc, shape, imm: None };
    let with = |enc, shape, imm| Row { enc, shape, imm: Some(imm) };
    Some(match op {
        Add => of(PADDD, Rvm),
        Sub => of(PSUBD, Rvm),
        Mul => of(PMULLD, Rvm),
        And => of(PANDD, Rvm),
        AndNot => of(PANDND, Rvm),
        Or => of(PORD, Rvm),
        Xor => of(PXORD, Rvm),
        Shl => of(PSLLVD, Rvm),
        Shr => of(PSRLVD, Rvm),
        Sar => of(PSRAVD, Rvm),
        ShlBy(n) => with(PSLLD, Digit(6), n),
        ShrBy(n) => with(PSRLD, Digit(2), n),
        SarBy(n) => with(PSRAD, Digit(4), n),
        MinSigned => of(PMINSD, Rvm),
        MaxSigned => of(PMAXSD, Rvm),
        LeadingZeros => of(PLZCNTD, Rm),
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
        Round(how) => with(RNDSCALEPS, Rm, how | 8),
        FromSigned => of(CVTDQ2PS, Rm),
        FromUnsigned => of(CVTUDQ2PS, Rm),
        ToSigned => of(CVTTPS2DQ, Rm),
        QAdd => of(PADDQ, Rvm),
        QSub => of(PSUBQ, Rvm),
        QMul => of(PMULLQ, Rvm),
        QAnd => of(PANDQ, Rvm),
        QOr => of(PORQ, Rvm),
        QXor => of(PXORQ, Rvm),
        QShl => of(PSLLVQ, Rvm),
        QShr => of(PSRLVQ, Rvm),
        QSar => of(PSRAVQ, Rvm),
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
        Compare(kind, relation, negated) => {
            let enc = match kind {
                Kind::Signed => PCMPD,
                Kind::Unsigned => PCMPUD,
                Kind::Float => CMPPS,
                Kind::SignedQuad => PCMPQ,
                Kind::UnsignedQuad => PCMPUQ,
                Kind::Double => CMPPD,
            };
            let relation = match relation {
                Relation::Equal => 0,
                Relation::Less => 1,
                Relation::LessEqual => 2,
                Relation::Unordered if matches!(kind, Kind::Float | Kind::Double) => 3,
                Relation::Unordered | Relation::Greater => return None,
            };
            with(enc, Rvm, relation | u8::from(negated) << 2)
        }
        Common(true) => of(PTESTMD, Rvm),
        Common(false) => of(PTESTNMD, Rvm),
        // Quiet and signalling NaNs and −0.
        Doubtful => with(FPCLASSPS, Rm, 0x85),
        Top => of(PMOVD2M, Rm),
        QTop => of(PMOVQ2M, Rm),
        QWords => of(PMOVM2Q, Rm),
        Words => of(PMOVM2D, Rm),
        Select => of(PBLENDMD, Blend),
        QSelect => of(PBLENDMQ, Blend),
        Flush | Both | Either | Not | Join | SplitLow | SplitHigh | Keep | Load(_) | Part(..) | Store(_)
        | Return | Copy => return None,
    })
}
