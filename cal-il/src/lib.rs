//! AMD IL, the kernel language of ATI's Compute Abstraction Layer.
//!
//! Read this crate downhill; every arrow is one function:
//!
//! ```text
//! text ─[text::parse]→ Ast ─[check::check]→ inst::Kernel ─[lower::lower]→ ir::Program ─[spirv::emit]→ SPIR-V words
//!                        └─[text::print]→ text
//! ```
//!
//! * [`isa`] holds the instruction table (one row per instruction) and the meaning of every scalar operation,
//!   written once over an abstract [`isa::Algebra`] that each backend instantiates.
//! * [`text`] knows spelling only; [`check`] knows what is legal; [`lower`] turns legal instructions into scalar
//!   operations; [`ir`] is what backends run.
//! * [`vliw`] is what the chips of the time made of a program: [`ir::analyze`] counts it.
//! * [`listing`] prints programs with the places that their lines come from.
//! * [`opt`] runs passes over programs by name.
//! * Problems are [`diagnostic::Diagnostic`]s with a source span and a rule name; several are collected before
//!   a stage gives up.
//!
//! The crate is pure: no I/O, no threads, no `unsafe`.
#![forbid(unsafe_code)]

pub mod bits;
pub mod check;
pub mod diagnostic;
pub mod format;
pub mod inst;
pub mod ir;
pub mod isa;
pub mod listing;
pub mod lower;
pub mod opt;
pub mod spirv;
pub mod text;
pub mod vliw;

/// Text to checked kernel: [`text::parse`], then [`check::check`]. Statements that cannot be read do not keep the others
/// from being checked: the diagnostics are those of both.
pub fn front(text: &[u8]) -> Result<inst::Kernel, Vec<diagnostic::Diagnostic>> {
    let read = text::read(text);
    let mut errors = if read.errors.is_empty() {
        match check::check(&read.ast) {
            Ok(kernel) => return Ok(kernel),
            Err(errors) => errors,
        }
    } else {
        check::beside(read.errors, &read.ast, read.lost)
    };
    check::place_by_layout(&mut errors, &read.ast, text);
    Err(errors)
}

/// Text to program: [`front`], then [`lower::lower`]. Warnings are in [`ir::Program::warnings`].
pub fn compile(text: &[u8]) -> Result<ir::Program, Vec<diagnostic::Diagnostic>> {
    lower::lower(&front(text)?)
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
