//! Locks and atomics of the parts that `tests/models` runs in every order of their threads, where they are loom's.

pub(crate) use std::sync::atomic::AtomicU64;

pub(crate) use recal_hal::sync::{Mutex, MutexGuard, RwLock};

/// A function; where locks can be made at compile time, a constant one.
macro_rules! constant {
    ($(#[$meta:meta])* $visibility:vis fn $($rest:tt)*) => { $(#[$meta])* $visibility const fn $($rest)* };
}
pub(crate) use constant;
