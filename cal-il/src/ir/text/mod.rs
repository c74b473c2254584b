//! Programs as text: printed for people, and read again without loss. `docs/ir.md` has the form.
//!
//! ```text
//! reader   characters, and where something is wrong     values   operands and what else stands in a statement
//! memory   memory accesses: names and fields            interface what a program binds
//! declared sizes and kinds of what is bound
//! print    programs to text                             parse    text to programs
//! ```
//!
//! What there is to write is said once: lane operations are read by the names of their list, memory accesses and the
//! interface by the fields of their types, of which macros make both directions.

mod declared;
mod interface;
mod memory;
mod parse;
mod print;
mod reader;
mod values;

pub use parse::{is_program, parse};

use std::fmt;

use reader::{Found, Reader};

/// A value that stands in the text.
trait Form: Sized {
    /// Writes it.
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Reads what `print` writes.
    fn parse(reader: &mut Reader<'_>) -> Found<Self>;
    /// What a field that is not there holds; without it the field must be there.
    fn absent() -> Option<Self> {
        None
    }
}

/// A value to be shown in a format string.
struct Shown<'a, T>(&'a T);

impl<T: Form> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.print(f)
    }
}
