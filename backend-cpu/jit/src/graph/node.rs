//! The values of a graph.

use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::{fmt, mem};

use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::Field;
use crate::op::Op;

/// A value: the number of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Val(u32);

/// No value: an operand or a mask that is not there.
pub const NO: Val = Val(u32::MAX);

impl Val {
    /// That of the node at a place.
    pub fn new(index: usize) -> Self {
        Val(index as u32)
    }

    /// Those of so many nodes.
    pub fn all(nodes: usize) -> impl DoubleEndedIterator<Item = Val> + use<> {
        (0..nodes as u32).map(Val)
    }

    /// Where its node is.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// For sets of numbers.
impl From<Val> for u32 {
    fn from(val: Val) -> u32 {
        val.0
    }
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// What a row holds when the run starts.
    Row(u32),
    /// A constant.
    Word(u32),
    /// A constant of 64 bits.
    Quad(u64),
    /// A constant truth value.
    Bool(bool),
    /// Constants, one for each lane, by number, and a constant mask, bit by bit: see [`super::fixed`].
    Lanes(u32),
    Mask(u32),
    /// A word of a view, the same for all lanes.
    Field(u8, Field),
    /// What does not change while a loop runs: the number of the value.
    Kept(u32),
    /// A result.
    Inst(Inst),
}

impl Node {
    /// By which it is found.
    pub fn hash(&self) -> u64 {
        BuildHasherDefault::<FxHasher>::default().hash_one(self)
    }

    /// See [`Op::acts`].
    pub fn acts(&self) -> bool {
        matches!(self, Node::Inst(inst) if inst.op.acts())
    }
}

/// An operation and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    pub op: Op,
    pub args: [Val; 3],
    /// Lanes outside of this mask, if there is one, have zero, or are not in the result.
    pub mask: Val,
}

/// Operands two by two, and of an operation which it is: each instruction of a kernel is looked for several times.
impl Hash for Inst {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c] = self.args;
        mem::discriminant(&self.op).hash(state);
        for [low, high] in [[a, b], [c, self.mask]] {
            // Not side by side: read as one word right after they were written as two, they would be waited for.
            state.write_u64(u64::from(low.0).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(high.0));
        }
    }
}

/// Few values.
pub type Args = SmallVec<[Val; 4]>;

impl Inst {
    /// Its operands, the mask among them.
    pub fn args(self) -> Args {
        let [a, b, c] = self.args;
        let (mut args, mut count) = ([NO; 4], 0);
        for arg in [a, b, c, self.mask] {
            args[count] = arg;
            count += usize::from(arg != NO);
        }
        Args::from_buf_and_len(args, count)
    }

    /// The same one after another.
    pub fn operands(self) -> impl Iterator<Item = Val> {
        let [a, b, c] = self.args;
        [a, b, c, self.mask].into_iter().filter(|&arg| arg != NO)
    }
}
