//! What targets make functions of.

use crate::emit::Code;

/// Code of a function around its body.
pub struct Frame<'a> {
    pub body: &'a Code,
    /// What is done once, before the strips.
    pub before: &'a Code,
    /// Bytes on the stack, a multiple of 64.
    pub stack: u32,
    pub masked: bool,
    /// Strips that are done at a time.
    pub strips: u8,
    /// See [`crate::emit::Frame`].
    pub ticks: Option<u32>,
    pub origin: Option<u32>,
    /// Places of eight bytes that are 0 at first.
    pub ahead: &'a [u32],
    pub stops: &'a [usize],
    pub grown: &'a [(u32, u32)],
}

/// What code calls that lanes do one after another.
pub struct Called {
    /// See [`crate::emit::Frame`].
    pub ticks: u32,
    /// Where among the constants it says what.
    pub words: u32,
    /// Where on the stack the operands are.
    pub operands: u32,
    /// Lanes that are done at a time.
    pub lanes: u32,
}
