//! Spelling: text to syntax tree and back.
//!
//! [`parse`] reads kernel text as bytes (comments may hold any code page), free-form: line breaks mean nothing.
//! It knows the grammar of opcode words, operands, masks, swizzles and numbers, all of it from the instruction
//! table; it does not know what is declared. It refuses text that is not IL, with several diagnostics at once.
//! [`format()`](fn@format) lays a text out anew and keeps its comments.
//! [`print()`] writes a tree in canonical spelling; parsing that again gives the same tree.

pub mod ast;
mod cursor;
mod format;
mod grammar;
mod mistakes;
mod number;
mod operand;
mod opword;
mod parser;
mod print;
mod recover;
mod registers;

pub use ast::Ast;
pub use format::format;
pub use parser::parse;
pub(crate) use parser::{Lost, read};
pub use print::print;

/// Canonical name of a register file.
pub(crate) fn register_name(file: ast::File) -> &'static str {
    registers::name(file)
}

#[cfg(test)]
mod tests;
