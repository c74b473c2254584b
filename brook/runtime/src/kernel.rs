//! What the compiler says about a kernel: techniques of passes, each with its program and what is bound to it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What a slot of the constant buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The argument.
    User,
    /// Extents of the stream.
    StreamShape,
    /// Extents of its memory.
    BufferShape,
    /// Elements of the input to one of the result.
    ReductionFactor,
}

/// Something bound. The first number is the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A slot of the last constant buffer.
    Constant(usize, Usage),
    /// A constant buffer of its own.
    ConstArray(usize),
    /// `i#`, of a member.
    Input(usize, usize),
    /// `o#`, of a member; if the flag is set, the buffer that threads store to anywhere.
    Output(usize, usize, bool),
}

/// One program.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Its name, for messages.
    pub name: String,
    /// AMD IL.
    pub image: String,
    /// It runs in groups.
    pub compute: bool,
    /// What is bound to it.
    pub entries: Vec<Entry>,
}

/// A whole implementation.
#[derive(Clone, Debug, Default)]
pub struct Technique {
    /// Streams may be long or have three dimensions.
    pub translation: bool,
    /// Its programs.
    pub passes: Vec<Pass>,
}

/// A kernel of CAL.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Tells kernels apart, whatever their names.
    pub(crate) id: usize,
    /// Its implementations.
    pub techniques: Vec<Technique>,
}

impl Default for Kernel {
    fn default() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Kernel { id: COUNT.fetch_add(1, Ordering::Relaxed), techniques: Vec::new() }
    }
}
