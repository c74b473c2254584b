//! What the compiler says about a kernel: techniques of passes, each with its program and what is bound to it.

use std::sync::atomic::{AtomicUsize, Ordering};

pub use brook_abi::{Access, Entry, Usage};

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

impl Kernel {
    /// A kernel of its implementations.
    pub fn new(techniques: Vec<Technique>) -> Kernel {
        Kernel { techniques, ..Kernel::default() }
    }
}
