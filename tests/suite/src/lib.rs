//! The conformance suite: cases with expected values that no code under test computed, and one runner for them
//! on any backend.
//!
//! ```text
//! tests/cases/**/*.il ─[case::parse]→ Case ┐
//! instruction table ─[generate]→ Case      ├─[runner]→ Verdicts ─[report]→ CONFORMANCE.md
//! found/*.il (kept fuzz finds) → Case      ┘
//! ```
//!
//! Expected values are written by hand, or come from [`mod@reference`]: a second reading of the documents over a
//! softfloat, wide integers and multiple-precision numbers. It shares nothing with `recal_il::isa::lane`.

pub mod case;
pub mod coverage;
pub mod fuzz;
pub mod generate;
mod judge;
pub mod known;
mod memory;
pub mod native;
pub mod patience;
pub mod plain;
pub mod reference;
pub mod report;
pub mod runner;
pub mod suite;
