//! Lane operations that are one instruction of the chips.

use super::Unit;
use super::chip::Generation;
use crate::isa::LaneOp;

/// Instructions of one slot that take the operands in some order.
pub(super) fn direct(op: LaneOp, generation: Generation) -> Option<(&'static str, Unit, &'static [usize])> {
    use LaneOp as L;
    use Unit::{Any, Trans, Vec};
    let shift = if generation == Generation::R600 { Trans } else { Any };
    let evergreen = generation >= Generation::Evergreen;
    let convert = if generation == Generation::Cayman { Vec } else { Trans };
    let (one, two, back, three): (&[usize], &[usize], &[usize], &[usize]) =
        (&[0], &[0, 1], &[1, 0], &[0, 1, 2]);
    Some(match op {
        L::Mov | L::MovF | L::Flush | L::Canon => ("MOV", Any, one),
        L::Select | L::SelectF => ("CNDE_INT", Any, &[0, 2, 1]),
        L::Cmov => ("CNDE", Any, &[0, 2, 1]),
        L::Not => ("NOT_INT", Any, one),
        L::And => ("AND_INT", Any, two),
        L::Or => ("OR_INT", Any, two),
        L::Xor => ("XOR_INT", Any, two),
        L::Ishl => ("LSHL_INT", shift, two),
        L::Ishr => ("ASHR_INT", shift, two),
        L::Ushr => ("LSHR_INT", shift, two),
        L::Icbits => ("BCNT_INT", Vec, one),
        L::UbitReverse => ("BFREV_INT", Vec, one),
        L::FfbHi => ("FFBH_UINT", Vec, one),
        L::FfbLo => ("FFBL_INT", Vec, one),
        L::FfbShi => ("FFBH_INT", Vec, one),
        L::UbitExtract => ("BFE_UINT", Vec, &[2, 1, 0]),
        L::IbitExtract => ("BFE_INT", Vec, &[2, 1, 0]),
        L::Bfi => ("BFI_INT", Vec, three),
        L::Bfm => ("BFM_INT", Vec, two),
        L::Bitalign => ("BIT_ALIGN_INT", Vec, three),
        L::Bytealign => ("BYTE_ALIGN_INT", Vec, three),
        L::Iadd => ("ADD_INT", Any, two),
        L::Isub => ("SUB_INT", Any, two),
        L::Imul => ("MULLO_INT", Trans, two),
        L::ImulHigh => ("MULHI_INT", Trans, two),
        L::UmulHigh => ("MULHI_UINT", Trans, two),
        L::Imin => ("MIN_INT", Any, two),
        L::Imax => ("MAX_INT", Any, two),
        L::Umin => ("MIN_UINT", Any, two),
        L::Umax => ("MAX_UINT", Any, two),
        L::Ieq => ("SETE_INT", Any, two),
        L::Ine => ("SETNE_INT", Any, two),
        L::Ilt => ("SETGT_INT", Any, back),
        L::Ige => ("SETGE_INT", Any, two),
        L::Ult => ("SETGT_UINT", Any, back),
        L::Uge => ("SETGE_UINT", Any, two),
        L::Umul24 => ("MUL_UINT24", Vec, two),
        L::Umul24High => ("MULHI_UINT24", Vec, two),
        L::Umad24 => ("MULADD_UINT24", Vec, three),
        L::Imul24 if generation == Generation::Cayman => ("MUL_INT24", Vec, two),
        L::Imul24High if generation == Generation::Cayman => ("MULHI_INT24", Vec, two),
        L::U4lerp => ("LERP_UINT", Vec, three),
        L::Sad => ("SAD_ACCUM_UINT", Vec, three),
        L::Sadhi => ("SAD_ACCUM_HI_UINT", Vec, three),
        L::Add | L::BareAdd => ("ADD", Any, two),
        L::Mul => ("MUL", Any, two),
        L::MulIeee | L::BareMul => ("MUL_IEEE", Any, two),
        L::Mad => ("MULADD", Any, three),
        L::MadIeee => ("MULADD_IEEE", Any, three),
        L::Fma | L::BareFma => ("FMA", Vec, three),
        L::Min => ("MIN", Any, two),
        L::Max => ("MAX", Any, two),
        L::MinIeee => ("MIN_DX10", Any, two),
        L::MaxIeee => ("MAX_DX10", Any, two),
        L::Frc => ("FRACT", Any, one),
        L::Floor => ("FLOOR", Any, one),
        L::Ceil => ("CEIL", Any, one),
        L::Trunc => ("TRUNC", Any, one),
        L::RoundNearest => ("RNDNE", Any, one),
        L::Rcp => ("RECIP_IEEE", Trans, one),
        L::Rsq => ("RECIPSQRT_IEEE", Trans, one),
        L::Sqrt => ("SQRT_IEEE", Trans, one),
        L::Exp => ("EXP_IEEE", Trans, one),
        L::Log => ("LOG_IEEE", Trans, one),
        L::Ne | L::RawNe => ("SETNE_DX10", Any, two),
        L::Eq | L::RawEq => ("SETE_DX10", Any, two),
        L::Ge | L::RawGe => ("SETGE_DX10", Any, two),
        L::Gt | L::RawGt => ("SETGT_DX10", Any, two),
        L::Le | L::RawLe => ("SETGE_DX10", Any, back),
        L::Lt | L::RawLt => ("SETGT_DX10", Any, back),
        L::SetNe => ("SETNE", Any, two),
        L::SetEq => ("SETE", Any, two),
        L::SetGe => ("SETGE", Any, two),
        L::SetGt => ("SETGT", Any, two),
        L::SetLe => ("SETGE", Any, back),
        L::SetLt => ("SETGT", Any, back),
        L::Ftoi if !evergreen => ("FLT_TO_INT", Trans, one),
        L::Ftou if !evergreen => ("FLT_TO_UINT", Trans, one),
        L::FtoiFlr if evergreen => ("FLT_TO_INT_FLOOR", Vec, one),
        L::FtoiRpi if evergreen => ("FLT_TO_INT_RPI", Vec, one),
        L::Itof => ("INT_TO_FLT", convert, one),
        L::Utof => ("UINT_TO_FLT", convert, one),
        L::F2f16 | L::F2f16Near | L::F2f16NegInf | L::F2f16PlusInf => ("FLT32_TO_FLT16", Vec, one),
        L::F162f => ("FLT16_TO_FLT32", Vec, one),
        L::Unpack0 => ("UBYTE0_FLT", Vec, one),
        L::Unpack1 => ("UBYTE1_FLT", Vec, one),
        L::Unpack2 => ("UBYTE2_FLT", Vec, one),
        L::Unpack3 => ("UBYTE3_FLT", Vec, one),
        _ => return None,
    })
}

/// Instructions of doubles that take the operands as they are.
pub(super) fn direct_wide(op: LaneOp, fma: &'static str) -> Option<&'static str> {
    use LaneOp as L;
    Some(match op {
        L::F2d => "FLT32_TO_FLT64",
        L::D2f => "FLT64_TO_FLT32",
        L::Dadd | L::Dsub | L::BareDadd | L::BareDsub => "ADD_64",
        L::Dmul | L::BareDmul => "MUL_64",
        L::Dmad | L::BareDmad => fma,
        L::Dmin => "MIN_64",
        L::Dmax => "MAX_64",
        L::Dfrac => "FRACT_64",
        L::Dldexp => "LDEXP_64",
        L::DfrexpExp | L::DfrexpMant => "FREXP_64",
        L::Deq => "SETE_64",
        L::Dne => "SETNE_64",
        L::Dlt => "SETGT_64",
        L::Dge => "SETGE_64",
        _ => return None,
    })
}
