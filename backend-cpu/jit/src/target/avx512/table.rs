//! Which instruction an operation is, beside those that all vectors have ([`x86::table`]).

use crate::op::{Kind, Op, Relation};
use crate::target::x86;
pub use crate::target::x86::table::*;
use crate::target::x86::{Enc, M0F, M3A, M38, P66, PF2, PF3, Row, Shape, instructions};

instructions! {
    PANDD "vpandd" P66 M0F 0 0xDB;
    PANDND "vpandnd" P66 M0F 0 0xDF;
    PORD "vpord" P66 M0F 0 0xEB;
    PXORD "vpxord" P66 M0F 0 0xEF;
    PLZCNTD "vplzcntd" P66 M38 0 0x44;
    PMULLQ "vpmullq" P66 M38 1 0x40;
    PANDQ "vpandq" P66 M0F 1 0xDB;
    PORQ "vporq" P66 M0F 1 0xEB;
    PXORQ "vpxorq" P66 M0F 1 0xEF;
    PSRAVQ "vpsravq" P66 M38 1 0x46;
    RNDSCALEPS "vrndscaleps" P66 M3A 0 0x08;
    CVTPS2DQ "vcvtps2dq" P66 M0F 0 0x5B;
    CVTUDQ2PS "vcvtudq2ps" PF2 M0F 0 0x7A;
    PCMPD "vpcmpd" P66 M3A 0 0x1F;
    PCMPUD "vpcmpud" P66 M3A 0 0x1E;
    PCMPQ "vpcmpq" P66 M3A 1 0x1F;
    PCMPUQ "vpcmpuq" P66 M3A 1 0x1E;
    PTESTMD "vptestmd" P66 M38 0 0x27;
    PTESTNMD "vptestnmd" PF3 M38 0 0x27;
    FPCLASSPS "vfpclassps" P66 M3A 0 0x66;
    PBLENDMD "vpblendmd" P66 M38 0 0x64;
    PBLENDMQ "vpblendmq" P66 M38 1 0x64;
    PBROADCASTQ "vpbroadcastq" P66 M38 1 0x59;
    PMOVM2D "vpmovm2d" PF3 M38 0 0x38;
    PMOVM2Q "vpmovm2q" PF3 M38 1 0x38;
    PMOVD2M "vpmovd2m" PF3 M38 0 0x39;
    PMOVQ2M "vpmovq2m" PF3 M38 1 0x39;
    LOAD "vmovdqa32" P66 M0F 0 0x6F;
    STORE "vmovdqa32" P66 M0F 0 0x7F;
    // The same for addresses that are multiples of 4.
    LOAD_NEAR "vmovdqu32" PF3 M0F 0 0x6F;
    STORE_NEAR "vmovdqu32" PF3 M0F 0 0x7F;
    STORE_PAST "vmovntdq" P66 M0F 0 0xE7;
    PERMD "vpermd" P66 M38 0 0x36;
    PERMI2D "vpermi2d" P66 M38 0 0x76;
    // Four words, or eight, again and again.
    BROADCAST4 "vbroadcasti32x4" P66 M38 0 0x5A;
    BROADCAST8 "vbroadcasti32x8" P66 M38 0 0x5B;
    SHUFI64X2 "vshufi64x2" P66 M3A 1 0x43;
    // Four words.
    EXTRACT "vextracti32x4" P66 M3A 0 0x39;
    INSERT "vinserti32x4" P66 M3A 0 0x38;
    PSCATTERDD "vpscatterdd" P66 M38 0 0xA0;
}

/// The instruction, if it is one on vectors.
pub fn row(op: Op) -> Option<Row> {
    use Op::*;
    use Shape::{Blend, Fma, Rm, Rvm};
    let of = |enc, shape| Row { enc, shape, imm: None };
    let with = |enc, shape, imm| Row { enc, shape, imm: Some(imm) };
    Some(match op {
        And => of(PANDD, Rvm),
        AndNot => of(PANDND, Rvm),
        Or => of(PORD, Rvm),
        Xor => of(PXORD, Rvm),
        LeadingZeros => of(PLZCNTD, Rm),
        // Bit 3: without the exception for inexact results.
        Round(how) => with(RNDSCALEPS, Rm, how | 8),
        FromUnsigned => of(CVTUDQ2PS, Rm),
        ToSignedBy(_) => of(CVTPS2DQ, Rm),
        QMul => of(PMULLQ, Rvm),
        QAnd => of(PANDQ, Rvm),
        QOr => of(PORQ, Rvm),
        QXor => of(PXORQ, Rvm),
        QSar => of(PSRAVQ, Rvm),
        Compare(Kind::Float | Kind::Double, ..) => return x86::table::row(op),
        Compare(_, Relation::Unordered, _) => return None,
        Compare(kind, relation, negated) => {
            let enc = match kind {
                Kind::Signed => PCMPD,
                Kind::Unsigned => PCMPUD,
                Kind::SignedQuad => PCMPQ,
                _ => PCMPUQ,
            };
            with(enc, Rvm, predicate(relation, negated)?)
        }
        Common(true) => of(PTESTMD, Rvm),
        Common(false) => of(PTESTNMD, Rvm),
        // Quiet and signalling NaNs and −0.
        Doubtful => with(FPCLASSPS, Rm, 0x85),
        Top => of(PMOVD2M, Rm),
        QTop => of(PMOVQ2M, Rm),
        QWords => of(PMOVM2Q, Rm),
        Words => of(PMOVM2D, Rm),
        Permute => of(PERMD, Rvm),
        Permute2 => of(PERMI2D, Fma),
        Select => of(PBLENDMD, Blend),
        QSelect => of(PBLENDMQ, Blend),
        op => return x86::table::row(op),
    })
}
