//! Panics stay on this side.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` gives, or what it panicked with. What it used is not looked at again, but for locks, which know.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason").to_owned()
    })
}
