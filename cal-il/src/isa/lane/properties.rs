//! What lines of the list of lane operations say of them.

/// Class of an argument or result of a lane operation; see [`super`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Flushed float word.
    F,
    /// Word, bit for bit.
    W,
    /// 64-bit word in two registers.
    Q,
}

impl Class {
    /// Number of 32-bit operands.
    pub const fn words(self) -> usize {
        match self {
            Class::F | Class::W => 1,
            Class::Q => 2,
        }
    }
}

/// What the result of a lane operation is, beyond its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaves {
    /// One of its operands as it is; of three or more not the first one, which is tested.
    Operand,
    /// The operand with another sign.
    Sign,
    /// A flushed float; a NaN has any payload.
    Float,
    /// A flushed number, or the canonical NaN.
    Number,
    /// All ones or 0: no denormal, but the bits of that NaN count.
    Mask,
    /// Any word or two.
    Word,
}

/// What an operation does with the numbers that it takes, for passes that ask what becomes of denormals, zeros and NaNs. Doubles are opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// The operand.
    Moves,
    /// The operand with the other sign.
    Negates,
    /// The operand without its sign.
    Magnitude,
    /// The second operand or the third one, by the first.
    Chooses,
    /// One of its operands, by how great they are.
    Limits,
    /// A whole number beside the operand, or how far it is from one.
    Rounds,
    /// Of two numbers.
    Sum,
    /// Of two numbers.
    Difference,
    /// +0 if a factor is a zero.
    Product,
    /// As IEEE 754 has it.
    IeeeProduct,
    /// A [`Numeric::Product`] and a third number, each rounded.
    ProductSum,
    /// A [`Numeric::IeeeProduct`] and a third number, each rounded.
    IeeeProductSum,
    /// What comparisons tell: denormals count, zeros of both signs are alike.
    Compares,
    /// A word, the same for zeros of both signs.
    Converts,
    /// Anything else: every bit counts, and denormals are taken as the class of an argument says.
    Opaque,
}
