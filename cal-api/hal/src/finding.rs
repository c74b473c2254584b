//! What a device that checks kernels finds.

use std::fmt;

use recal_il::diagnostic::Span;

/// A misuse that a kernel committed, on a device opened with [`checks`](crate::DeviceOptions::checks).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// What.
    pub misuse: Misuse,
    /// The instruction in the kernel text.
    pub span: Span,
    /// Tile or group.
    pub part: u64,
    /// Thread in it.
    pub thread: u32,
    /// Absolute position of the thread: column and row of the domain, or `vAbsTid`.
    pub position: [u32; 3],
    /// Line of the kernel text, from 1, and the instruction there, if the text is known.
    pub line: Option<(u32, String)>,
    /// The register or the place in memory, as far as it has a name: `r1.x`, `uav0[byte 64]`; of a race, what happened
    /// to it.
    pub what: String,
}

/// Kinds of misuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Misuse {
    /// A register is read that this thread never wrote; it reads as 0.
    Uninitialized,
    /// An access misses its memory; loads give 0 (samples the edge), stores are dropped.
    OutOfRange,
    /// Two threads of the group touch a word, at least one of them writes, and nothing orders the two.
    Race,
    /// Some threads of the group do not take part in a barrier.
    DivergentBarrier,
}

impl Misuse {
    /// Short name, as rules of the compiler have.
    pub const fn name(self) -> &'static str {
        match self {
            Misuse::Uninitialized => "uninitialized",
            Misuse::OutOfRange => "out-of-range",
            Misuse::Race => "race",
            Misuse::DivergentBarrier => "divergent-barrier",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { span, part, thread, position: [x, y, z], .. } = self;
        match &self.line {
            Some((line, text)) => write!(f, "kernel line {line}, `{text}`: ")?,
            None => write!(f, "kernel text, bytes {} to {}: ", span.start, span.end)?,
        }
        write!(f, "thread ({x}, {y}, {z}), number {thread} of group {part}, ")?;
        let what = self.what.as_str();
        match self.misuse {
            Misuse::Uninitialized if what.is_empty() => {
                f.write_str("reads a register that was never written")
            }
            Misuse::Uninitialized => write!(f, "reads {what}, which was never written"),
            Misuse::OutOfRange => write!(f, "accesses {what}, out of range"),
            Misuse::Race => write!(f, "{what} without a fence between"),
            Misuse::DivergentBarrier => f.write_str("does not reach this barrier, at which others wait"),
        }
    }
}
