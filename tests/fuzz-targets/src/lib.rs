//! Entry points of the fuzzers. Each takes any bytes and panics, or worse, if something is wrong with us.
//!
//! `fuzz/` feeds them from libFuzzer; `tests/replay.rs` feeds them the corpora and all that was ever found, so that
//! `cargo test` needs neither libFuzzer nor a sanitizer.

mod api;
mod brook;
mod generate;
mod guard;
mod image;
mod kernel;
mod text;

pub use api::api;
pub use brook::brook;
pub use guard::Guarded;
pub use image::image;
pub use kernel::kernel;
pub use text::{structured, text};

/// A target: name, as in `fuzz/corpus/<name>`, and entry point.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 6] = [
    ("text", text),
    ("structured", structured),
    ("image", image),
    ("api", api),
    ("kernel", kernel),
    ("brook", brook),
];
