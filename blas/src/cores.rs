//! The host's cores.

use std::sync::OnceLock;

/// Hardware threads this process may use, asked for once: of a process with many threads the answer takes tens of microseconds.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}
