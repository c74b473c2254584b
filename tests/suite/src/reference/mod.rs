//! A second reading of the documents: what every arithmetic instruction yields, computed on a softfloat, wide
//! integers and multiple-precision numbers.
//!
//! Input: an instruction with its specifiers and operand spellings ([`vector::Form`]) and the words of its source
//! registers. Output: for every destination component the word, or the interval of words, that the documents
//! allow. Nothing here comes from the code under test; section numbers are those of the instruction documents.
//! Rows that this module has no meaning for (flow, memory, declarations) answer `None`.

mod big;
mod convert;
mod double;
pub(crate) mod float;
mod int;
mod meaning;
mod value;
pub mod vector;

pub use meaning::{Control, Kind, Meaning, Relop, Rule, Zeroop, meaning};
pub use value::Value;
