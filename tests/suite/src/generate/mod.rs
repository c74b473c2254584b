//! Cases made from the instruction table: every arithmetic row × specifiers × masks, swizzles, modifiers, over edge
//! values and random ones, with expected words from [`crate::reference`]; and families of cases over formats,
//! atomics, spellings and coverage of refused rows that a model of a few lines can work out.
//!
//! Nothing is written to disk; the cases are the same in every run.

mod alu;
mod atomics;
mod atomics64;
mod formats;
mod refused;
mod sampling;
mod spellings;
pub(crate) mod values;

use crate::case::Case;

/// All generated cases.
pub fn all() -> Vec<Case> {
    [
        alu::alu(),
        atomics::atomics(),
        atomics64::atomics64(),
        formats::formats(),
        refused::refused(),
        sampling::sampling(),
        spellings::spellings(),
    ]
    .concat()
}
