//! The operations of the vector program: what is computed, not which instruction does it.
//!
//! A vector has a word for each lane of a strip. 64-bit elements take two vectors: the even and the odd pairs of four,
//! as [`Op::ZipLow`] and [`Op::ZipHigh`] give them, so that nothing depends on how many lanes a strip has. Truth values
//! are masks: what they are in is the target's choice; a mask of 64-bit elements is of one of the two vectors.

/// What values are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Signed,
    Unsigned,
    Float,
    /// 64 bits.
    SignedQuad,
    UnsignedQuad,
    Double,
}

impl Kind {
    /// 64-bit elements.
    pub fn wide(self) -> bool {
        matches!(self, Kind::SignedQuad | Kind::UnsignedQuad | Kind::Double)
    }
}

/// The number that [`Op::Permute2`] has for the first word of its second vector.
pub const OTHER: u32 = 16;

/// How.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    Equal,
    Less,
    LessEqual,
    /// One of the two is NaN.
    Unordered,
    /// The last two are only made by targets.
    Greater,
    GreaterEqual,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // Words.
    Add,
    Sub,
    Mul,
    And,
    /// !a & b
    AndNot,
    Or,
    Xor,
    Shl,
    Shr,
    Sar,
    ShlBy(u8),
    ShrBy(u8),
    SarBy(u8),
    MinSigned,
    MaxSigned,
    LeadingZeros,
    /// Products of the words with even numbers, as 64-bit elements.
    MulEvenUnsigned,
    MulEvenSigned,

    // Floats.
    FAdd,
    FSub,
    FMul,
    FDiv,
    FMin,
    FMax,
    FSqrt,
    /// a · b + c
    FFma,
    /// To a whole number: nearest, down, up, towards zero.
    Round(u8),
    FromSigned,
    FromUnsigned,
    /// Towards zero; of NaN, and of what is below all integers, a number that is not above 0; of what is above them is not said.
    ToSigned,
    /// The same of what is rounded as by [`Op::Round`]. Only made by targets.
    ToSignedBy(u8),
    /// Denormals to zeros of the same sign.
    Flush,

    // 64-bit elements.
    QAdd,
    QSub,
    QMul,
    QAnd,
    QOr,
    QXor,
    QShl,
    QShr,
    QSar,
    QShlBy(u8),
    QShrBy(u8),
    DAdd,
    DMul,
    DDiv,
    DSqrt,
    DFma,

    // Order of words, in blocks of four.
    /// a0 b0 a1 b1
    ZipLow,
    /// a2 b2 a3 b3
    ZipHigh,
    /// a0 a2 b0 b2
    Even,
    /// a1 a3 b1 b3
    Odd,
    /// The words of b that the numbers a say, from any lanes: a is [`Node::Lanes`](crate::graph::Node::Lanes).
    Permute,
    /// The same of two vectors: those of a, and from [`OTHER`] on those of b, that the numbers c say.
    Permute2,

    // Masks.
    /// The lanes where the relation holds, or does not.
    Compare(Kind, Relation, bool),
    /// The lanes where a and b have a bit in common, or none.
    Common(bool),
    /// NaN or −0.
    Doubtful,
    Both,
    Either,
    Not,
    /// The masks of two vectors of 64-bit elements as one of words.
    Join,
    /// The reverse.
    SplitLow,
    SplitHigh,
    /// The top bits of a. Only made by targets with registers for masks, with the two that follow.
    Top,
    QTop,
    /// All ones where the mask of 64-bit elements is set.
    QWords,

    /// a ? b : c
    Select,
    QSelect,
    /// b in the lanes whose bits are set, a in the others. Only made by targets.
    Blend(u8),
    /// a ? b : 0
    Keep,
    /// All ones where the mask is set.
    Words,

    /// Words number a of a view; 0 outside.
    Load(u8),
    /// One of a group of loads, see [`crate::graph::Graph::groups`]: of the words number a, and so many after them.
    Part(u8, u8),
    /// The same as 64-bit elements: the low or high pairs of the first (0, 1) or the second (2, 3) of a group.
    Pair(u8, u8),
    /// The same as vectors of whole elements, as they lie in memory: of the lanes with the lowest numbers, or those after them,
    /// as many as an element has words.
    Member(u8, u8),
    /// Stores b as words number a of a view.
    Store(u8),
    /// Stores elements, the first words of which have the numbers a of a view. Each block of four words of b is the element of a lane, or
    /// two words of each of two lanes: of those whose numbers in the block begin with the second part. The third says which words of
    /// an element are stored, bit k for word k: elements have two if it is below 4, and else four.
    StoreBlocks(u8, u8, u8),
    /// The mask a becomes the result of the function.
    Return,
    /// The constant, or row, a in a register.
    Copy,
}

impl Op {
    /// The result is a mask.
    pub fn is_mask(self) -> bool {
        use Op::*;
        matches!(
            self,
            Compare(..)
                | Common(_)
                | Doubtful
                | Both
                | Either
                | Not
                | Join
                | SplitLow
                | SplitHigh
                | Top
                | QTop
        )
    }

    /// It does something that is not in its result.
    pub fn acts(self) -> bool {
        matches!(self, Op::Store(_) | Op::StoreBlocks(..) | Op::Return)
    }

    /// It computes with floats or doubles, so that the float mode matters.
    pub fn floats(self) -> bool {
        use Op::*;
        match self {
            Compare(kind, ..) => matches!(kind, Kind::Float | Kind::Double),
            FAdd | FSub | FMul | FDiv | FMin | FMax | FSqrt | FFma | Round(_) | FromSigned | FromUnsigned
            | ToSigned | ToSignedBy(_) | Flush | Doubtful | DAdd | DMul | DDiv | DSqrt | DFma => true,
            _ => false,
        }
    }

    /// The operands are 64-bit elements.
    pub fn wide(self) -> bool {
        use Op::*;
        match self {
            Compare(kind, ..) => kind.wide(),
            QAdd | QSub | QMul | QAnd | QOr | QXor | QShl | QShr | QSar | QShlBy(_) | QShrBy(_) | DAdd
            | DMul | DDiv | DSqrt | DFma | MulEvenUnsigned | MulEvenSigned | QTop | QSelect => true,
            _ => false,
        }
    }

    /// The two operands may change places.
    pub fn commutes(self) -> bool {
        use Op::*;
        matches!(self, Add | Mul | And | Or | Xor | FAdd | FMul | QAdd | QAnd | QOr | QXor | DAdd | DMul)
    }

    /// The result depends on nothing but the operands.
    pub fn pure(self) -> bool {
        !self.loads() && self != Op::Copy && !self.acts()
    }

    /// It loads from memory.
    pub fn loads(self) -> bool {
        matches!(self, Op::Load(_) | Op::Part(..) | Op::Pair(..) | Op::Member(..))
    }
}
