//! What instructions are told of registers and memory.

/// A base register for memory operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The spilled values.
    Stack,
    /// The constants.
    Pool,
    /// The rows, from the strip on.
    Rows,
    /// The table of views.
    Views,
    /// The first lane's word in a view.
    First,
    /// An element whose address was kept, see [`super::Target::keep_address`].
    Kept(u8),
    /// What stores have learned.
    Learned,
}

/// An operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Rm {
    /// A register.
    Reg(u8),
    /// A vector.
    Mem(Base, u32),
    /// One element for all lanes.
    Splat(Base, u32),
}

/// How a vector on the stack is to step: `from` more in the first lane than another one has there, and `step` more from lane to lane.
#[derive(Clone, Copy)]
pub struct Steps {
    pub at: u32,
    pub first: u32,
    pub from: u32,
    pub step: u32,
}
