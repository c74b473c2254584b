//! What memory means: elements of all formats, texels that coordinates name, filters, new values of atomics.
//!
//! As the functions of [`super::lane`] these are written once over [`Algebra`]: the CPU backend computes with them, the
//! SPIR-V emitter and the JIT leave operations behind. What a user knows when it makes code (a wrap mode, a format) and
//! what it learns when code runs are both told by [`Truth`], so that nothing is emitted for what is known.
//!
//! | | |
//! |---|---|
//! | [`element`] | raw words of an element to components and back; what a format lacks |
//! | [`texel`] | coordinates to texels: wrap modes, borders, offsets |
//! | [`filter`] | weights of texels |
//! | [`atomic`] | new values of read-modify-write |

pub mod atomic;
pub mod element;
pub mod filter;
pub mod texel;

use super::Algebra;

/// A condition: known when code is made, or a value of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth<B> {
    /// Known.
    Known(bool),
    /// A value.
    Value(B),
}

impl<B: Copy> Truth<B> {
    /// One of two words. What is known not to be chosen is not computed.
    #[inline(always)]
    pub fn choose<A: Algebra<B = B>>(
        self,
        a: &mut A,
        yes: impl FnOnce(&mut A) -> A::W,
        no: impl FnOnce(&mut A) -> A::W,
    ) -> A::W {
        match self {
            Truth::Known(true) => yes(a),
            Truth::Known(false) => no(a),
            Truth::Value(condition) => {
                let (yes, no) = (yes(a), no(a));
                a.select(condition, yes, no)
            }
        }
    }

    /// Both hold.
    #[inline(always)]
    pub fn and<A: Algebra<B = B>>(self, a: &mut A, other: Truth<B>) -> Truth<B> {
        match (self, other) {
            (Truth::Known(true), truth) | (truth, Truth::Known(true)) => truth,
            (Truth::Known(false), _) | (_, Truth::Known(false)) => Truth::Known(false),
            (Truth::Value(x), Truth::Value(y)) => Truth::Value(a.both(x, y)),
        }
    }

    /// One of them holds.
    #[inline(always)]
    pub fn or<A: Algebra<B = B>>(self, a: &mut A, other: Truth<B>) -> Truth<B> {
        match (self, other) {
            (Truth::Known(false), truth) | (truth, Truth::Known(false)) => truth,
            (Truth::Known(true), _) | (_, Truth::Known(true)) => Truth::Known(true),
            (Truth::Value(x), Truth::Value(y)) => Truth::Value(a.either(x, y)),
        }
    }

    /// It does not hold.
    #[inline(always)]
    pub fn not<A: Algebra<B = B>>(self, a: &mut A) -> Truth<B> {
        match self {
            Truth::Known(known) => Truth::Known(!known),
            Truth::Value(value) => Truth::Value(a.negate(value)),
        }
    }
}
