//! Which instruction an operation is.

use super::encode::Enc;
use crate::op::{Kind, Op, Relation};

/// Where the operands of an instruction stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Result, first operand, second operand.
    Abc,
    /// Result, second operand, first operand.
    Acb,
    /// Result, operand.
    Ab,
    /// Result, operand, a constant.
    By(u8),
    /// The last operand is the result; first, second.
    Sum,
    /// The first operand is the result; second, third.
    Choice,
    /// The second operand is negated first.
    Down,
    /// The low words of the operands are picked first.
    Low,
}

/// A row of the table: an instruction, and where the operands stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub enc: Enc,
    pub shape: Shape,
}

/// The instructions of a table, as constants.
macro_rules! instructions {
    ($($constant:ident $name:literal $of:literal $bits:literal;)*) => {
        $(pub const $constant: Enc = Enc { name: $name, of: $of, bits: $bits };)*
    };
}

instructions! {
    ADD "add" "4s" 0x4EA0_8400;
    SUB "sub" "4s" 0x6EA0_8400;
    MUL "mul" "4s" 0x4EA0_9C00;
    AND "and" "16b" 0x4E20_1C00;
    BIC "bic" "16b" 0x4E60_1C00;
    ORR "orr" "16b" 0x4EA0_1C00;
    ORN "orn" "16b" 0x4EE0_1C00;
    EOR "eor" "16b" 0x6E20_1C00;
    MVN "mvn" "16b" 0x6E20_5800;
    BSL "bsl" "16b" 0x6E60_1C00;
    BIT "bit" "16b" 0x6EA0_1C00;
    USHL "ushl" "4s" 0x6EA0_4400;
    SSHL "sshl" "4s" 0x4EA0_4400;
    NEG "neg" "4s" 0x6EA0_B800;
    SHL "shl" "4s" 0x4F00_5400;
    USHR "ushr" "4s" 0x6F00_0400;
    SSHR "sshr" "4s" 0x4F00_0400;
    SMIN "smin" "4s" 0x4EA0_6C00;
    SMAX "smax" "4s" 0x4EA0_6400;
    CLZ "clz" "4s" 0x6EA0_4800;
    XTN "xtn" "2s" 0x0EA1_2800;
    UMULL "umull" "2d" 0x2EA0_C000;
    SMULL "smull" "2d" 0x0EA0_C000;
    FADD "fadd" "4s" 0x4E20_D400;
    FSUB "fsub" "4s" 0x4EA0_D400;
    FMUL "fmul" "4s" 0x6E20_DC00;
    FDIV "fdiv" "4s" 0x6E20_FC00;
    FSQRT "fsqrt" "4s" 0x6EA1_F800;
    FMLA "fmla" "4s" 0x4E20_CC00;
    FRINTN "frintn" "4s" 0x4E21_8800;
    FRINTM "frintm" "4s" 0x4E21_9800;
    FRINTP "frintp" "4s" 0x4EA1_8800;
    FRINTZ "frintz" "4s" 0x4EA1_9800;
    SCVTF "scvtf" "4s" 0x4E21_D800;
    UCVTF "ucvtf" "4s" 0x6E21_D800;
    FCVTZS "fcvtzs" "4s" 0x4EA1_B800;
    ADD_D "add" "2d" 0x4EE0_8400;
    SUB_D "sub" "2d" 0x6EE0_8400;
    USHL_D "ushl" "2d" 0x6EE0_4400;
    SSHL_D "sshl" "2d" 0x4EE0_4400;
    NEG_D "neg" "2d" 0x6EE0_B800;
    SHL_D "shl" "2d" 0x4F00_5400;
    USHR_D "ushr" "2d" 0x6F00_0400;
    FADD_D "fadd" "2d" 0x4E60_D400;
    FMUL_D "fmul" "2d" 0x6E60_DC00;
    FDIV_D "fdiv" "2d" 0x6E60_FC00;
    FSQRT_D "fsqrt" "2d" 0x6EE1_F800;
    FMLA_D "fmla" "2d" 0x4E60_CC00;
    ZIP1 "zip1" "4s" 0x4E80_3800;
    ZIP2 "zip2" "4s" 0x4E80_7800;
    UZP1 "uzp1" "4s" 0x4E80_1800;
    UZP2 "uzp2" "4s" 0x4E80_5800;
    CMEQ "cmeq" "4s" 0x6EA0_8C00;
    CMGT "cmgt" "4s" 0x4EA0_3400;
    CMGE "cmge" "4s" 0x4EA0_3C00;
    CMHI "cmhi" "4s" 0x6EA0_3400;
    CMHS "cmhs" "4s" 0x6EA0_3C00;
    CMEQ_D "cmeq" "2d" 0x6EE0_8C00;
    CMGT_D "cmgt" "2d" 0x4EE0_3400;
    CMGE_D "cmge" "2d" 0x4EE0_3C00;
    CMHI_D "cmhi" "2d" 0x6EE0_3400;
    CMHS_D "cmhs" "2d" 0x6EE0_3C00;
    CMTST "cmtst" "4s" 0x4EA0_8C00;
    FCMEQ "fcmeq" "4s" 0x4E20_E400;
    FCMGT "fcmgt" "4s" 0x6EA0_E400;
    FCMGE "fcmge" "4s" 0x6E20_E400;
    FCMEQ_D "fcmeq" "2d" 0x4E60_E400;
    FCMGT_D "fcmgt" "2d" 0x6EE0_E400;
    FCMGE_D "fcmge" "2d" 0x6E60_E400;
    // Not for operations.
    COPY "mov" "16b" 0x4EA0_1C00;
    DUP "dup" "4s" 0x4E00_0400;
    DUP_WORD "dup" "4s" 0x4E04_0C00;
    UMOV "mov" "s" 0x0E00_3C00;
    FMOV_WORD "fmov" "s" 0x1E26_0000;
    UMINV "uminv" "4s" 0x6EB1_A800;
    UMAXV "umaxv" "4s" 0x6EB0_A800;
    ADDV "addv" "4s" 0x4EB1_B800;
    MOVI "movi" "4s" 0x4F00_0400;
    MVNI "mvni" "4s" 0x6F00_0400;
    FMOV "fmov" "4s" 0x4F00_F400;
    LDR "ldr" "q" 0x3DC0_0000;
    STR "str" "q" 0x3D80_0000;
    // A word in all lanes of one, two or four vectors.
    LD1R "ld1r" "4s" 0x4D40_C800;
    LD2R "ld2r" "4s" 0x4D60_C800;
    LD4R "ld4r" "4s" 0x4D60_E800;
    // Whole elements of two or four words, a vector for each word.
    LD2 "ld2" "4s" 0x4C40_8800;
    LD4 "ld4" "4s" 0x4C40_0800;
    // One lane of one, two or four vectors.
    LD1_LANE "ld1" "s" 0x0D40_8000;
    LD2_LANE "ld2" "s" 0x0D60_8000;
    LD4_LANE "ld4" "s" 0x0D60_A000;
    ST1_LANE "st1" "s" 0x0D00_8000;
}

/// The instruction, if it is one.
pub fn row(op: Op) -> Option<Row> {
    use Op::*;
    use Shape::*;
    let of = |enc, shape| Row { enc, shape };
    Some(match op {
        Add => of(ADD, Abc),
        Sub => of(SUB, Abc),
        Mul => of(MUL, Abc),
        And | QAnd => of(AND, Abc),
        AndNot => of(BIC, Acb),
        Or | QOr => of(ORR, Abc),
        Xor | QXor => of(EOR, Abc),
        Not => of(MVN, Ab),
        Shl => of(USHL, Abc),
        Shr => of(USHL, Down),
        Sar => of(SSHL, Down),
        ShlBy(n) => of(SHL, By(n)),
        ShrBy(n) => of(USHR, By(n)),
        SarBy(n) => of(SSHR, By(n)),
        MinSigned => of(SMIN, Abc),
        MaxSigned => of(SMAX, Abc),
        LeadingZeros => of(CLZ, Ab),
        MulEvenUnsigned => of(UMULL, Low),
        MulEvenSigned => of(SMULL, Low),
        FAdd => of(FADD, Abc),
        FSub => of(FSUB, Abc),
        FMul => of(FMUL, Abc),
        FDiv => of(FDIV, Abc),
        FSqrt => of(FSQRT, Ab),
        FFma => of(FMLA, Sum),
        Round(0) => of(FRINTN, Ab),
        Round(1) => of(FRINTM, Ab),
        Round(2) => of(FRINTP, Ab),
        Round(_) => of(FRINTZ, Ab),
        FromSigned => of(SCVTF, Ab),
        FromUnsigned => of(UCVTF, Ab),
        ToSigned => of(FCVTZS, Ab),
        QAdd => of(ADD_D, Abc),
        QSub => of(SUB_D, Abc),
        QShl => of(USHL_D, Abc),
        QShr => of(USHL_D, Down),
        QSar => of(SSHL_D, Down),
        QShlBy(n) => of(SHL_D, By(n)),
        QShrBy(n) => of(USHR_D, By(n)),
        DAdd => of(FADD_D, Abc),
        DMul => of(FMUL_D, Abc),
        DDiv => of(FDIV_D, Abc),
        DSqrt => of(FSQRT_D, Ab),
        DFma => of(FMLA_D, Sum),
        ZipLow => of(ZIP1, Abc),
        ZipHigh => of(ZIP2, Abc),
        Even => of(UZP1, Abc),
        Odd => of(UZP2, Abc),
        Compare(kind, relation, false) => {
            let [equal, greater, not_less] = match kind {
                Kind::Signed => [CMEQ, CMGT, CMGE],
                Kind::Unsigned => [CMEQ, CMHI, CMHS],
                Kind::Float => [FCMEQ, FCMGT, FCMGE],
                Kind::SignedQuad => [CMEQ_D, CMGT_D, CMGE_D],
                Kind::UnsignedQuad => [CMEQ_D, CMHI_D, CMHS_D],
                Kind::Double => [FCMEQ_D, FCMGT_D, FCMGE_D],
            };
            match relation {
                Relation::Equal => of(equal, Abc),
                Relation::Less => of(greater, Acb),
                Relation::LessEqual => of(not_less, Acb),
                Relation::Greater => of(greater, Abc),
                Relation::GreaterEqual => of(not_less, Abc),
                Relation::Unordered => return None,
            }
        }
        Common(true) => of(CMTST, Abc),
        Select | QSelect => of(BSL, Choice),
        FMin | FMax | ToSignedBy(_) | Flush | QMul | Compare(..) | Common(false) | Doubtful | Both
        | Either | Keep | Join | SplitLow | SplitHigh | Top | QTop | QWords | Words | Load(_) | Part(..)
        | Pair(..) | Member(..) | Store(_) | StoreBlocks(..) | Permute | Permute2 | Blend(_) | Return
        | Copy => {
            return None;
        }
    })
}
