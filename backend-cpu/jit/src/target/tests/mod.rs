//! Every row of the tables, as somebody else's disassembler reads it.

mod neon;
mod x86;

use crate::op::{Kind, Op, Relation};

/// Every operation, with some of its parameters.
fn operations() -> Vec<Op> {
    use Op::*;
    let mut ops = vec![
        Add,
        Sub,
        Mul,
        And,
        AndNot,
        Or,
        Xor,
        Shl,
        Shr,
        Sar,
        MinSigned,
        MaxSigned,
        LeadingZeros,
        MulEvenUnsigned,
        MulEvenSigned,
        FAdd,
        FSub,
        FMul,
        FDiv,
        FMin,
        FMax,
        FSqrt,
        FFma,
        FromSigned,
        FromUnsigned,
        ToSigned,
        Flush,
        QAdd,
        QSub,
        QMul,
        QAnd,
        QOr,
        QXor,
        QShl,
        QShr,
        QSar,
        DAdd,
        DMul,
        DDiv,
        DSqrt,
        DFma,
        ZipLow,
        ZipHigh,
        Even,
        Odd,
        Permute,
        Permute2,
        Blend(0b1010_0110),
        Common(true),
        Common(false),
        Doubtful,
        Both,
        Either,
        Not,
        Join,
        SplitLow,
        SplitHigh,
        Top,
        QTop,
        QWords,
        Select,
        QSelect,
        Keep,
        Words,
    ];
    ops.extend([1, 13, 31].into_iter().flat_map(|n| [ShlBy(n), ShrBy(n), SarBy(n)]));
    ops.extend([32, 63].into_iter().flat_map(|n| [QShlBy(n), QShrBy(n)]));
    ops.extend((0..4).flat_map(|how| [Round(how), ToSignedBy(how)]));
    for kind in
        [Kind::Signed, Kind::Unsigned, Kind::Float, Kind::SignedQuad, Kind::UnsignedQuad, Kind::Double]
    {
        use Relation::*;
        for relation in [Equal, Less, LessEqual, Unordered, Greater, GreaterEqual] {
            ops.extend([false, true].map(|negated| Compare(kind, relation, negated)));
        }
    }
    ops
}
