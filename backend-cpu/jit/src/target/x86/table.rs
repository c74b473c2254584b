//! Instructions that are the same for vectors of all widths: prefixes say which.

use super::{Enc, M0F, M3A, M38, NP, P66, PF3, Row, Shape, instructions};
use crate::op::{Kind, Op, Relation};

instructions! {
    PADDD "vpaddd" P66 M0F 0 0xFE;
    PSUBD "vpsubd" P66 M0F 0 0xFA;
    PMULLD "vpmulld" P66 M38 0 0x40;
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
    PADDQ "vpaddq" P66 M0F 1 0xD4;
    PSUBQ "vpsubq" P66 M0F 1 0xFB;
    PMULUDQ "vpmuludq" P66 M0F 1 0xF4;
    PMULDQ "vpmuldq" P66 M38 1 0x28;
    PSLLVQ "vpsllvq" P66 M38 1 0x47;
    PSRLVQ "vpsrlvq" P66 M38 1 0x45;
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
    CVTDQ2PS "vcvtdq2ps" NP M0F 0 0x5B;
    CVTTPS2DQ "vcvttps2dq" PF3 M0F 0 0x5B;
    CMPPS "vcmpps" NP M0F 0 0xC2;
    CMPPD "vcmppd" P66 M0F 1 0xC2;
    PBROADCASTD "vpbroadcastd" P66 M38 0 0x58;
    UNPCKLPS "vunpcklps" NP M0F 0 0x14;
    UNPCKHPS "vunpckhps" NP M0F 0 0x15;
    SHUFPS "vshufps" NP M0F 0 0xC6;
    UNPCKLPD "vunpcklpd" P66 M0F 1 0x14;
    UNPCKHPD "vunpckhpd" P66 M0F 1 0x15;
    // One word, of the first four.
    MOVD "vmovd" P66 M0F 0 0x6E;
    MOVD_TO "vmovd" P66 M0F 0 0x7E;
    PINSRD "vpinsrd" P66 M3A 0 0x22;
    PEXTRD "vpextrd" P66 M3A 0 0x16;
    // Two of them.
    MOVLPS_TO "vmovlps" NP M0F 0 0x13;
    MOVHPS_TO "vmovhps" NP M0F 0 0x17;
    PGATHERDD "vpgatherdd" P66 M38 0 0x90;
}

/// The instruction, if it is one on vectors of all widths.
pub fn row(op: Op) -> Option<Row> {
    use Op::*;
    use Shape::{Digit, Fma, Rm, Rvm};
    let of = |enc, shape| Row { enc, shape, imm: None };
    let with = |enc, shape, imm| Row { enc, shape, imm: Some(imm) };
    Some(match op {
        Add => of(PADDD, Rvm),
        Sub => of(PSUBD, Rvm),
        Mul => of(PMULLD, Rvm),
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
        Compare(kind @ (Kind::Float | Kind::Double), relation, negated) => {
            let enc = if kind == Kind::Float { CMPPS } else { CMPPD };
            let ordered = |holds, fails| Some(if negated { fails } else { holds });
            with(
                enc,
                Rvm,
                match relation {
                    Relation::Greater => ordered(14, 10),
                    Relation::GreaterEqual => ordered(13, 9),
                    _ => predicate(relation, negated),
                }?,
            )
        }
        And | AndNot | Or | Xor | QAnd | QOr | QXor | LeadingZeros | Round(_) | FromUnsigned
        | ToSignedBy(_) | Flush | QMul | QSar | Compare(..) | Common(_) | Doubtful | Both | Either | Not
        | Join | SplitLow | SplitHigh | Top | QTop | QWords | Select | QSelect | Keep | Words | Load(_)
        | Part(..) | Pair(..) | Member(..) | Store(_) | StoreBlocks(..) | Permute | Permute2 | Blend(_)
        | Return | Copy => {
            return None;
        }
    })
}

/// How comparisons number relations; that integers are never unordered is the caller's to know.
pub fn predicate(relation: Relation, negated: bool) -> Option<u8> {
    let relation = match relation {
        Relation::Equal => 0,
        Relation::Less => 1,
        Relation::LessEqual => 2,
        Relation::Unordered => 3,
        Relation::Greater | Relation::GreaterEqual => return None,
    };
    Some(relation | u8::from(negated) << 2)
}
