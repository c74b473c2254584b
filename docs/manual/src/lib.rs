//! The manual of AMD IL and of the CAL API: what the book, the man pages and `recal explain` say.
//!
//! A [`Topic`] is what there is to say about one name. Topics come from where the facts are:
//!
//! | topics | from |
//! |---|---|
//! | instructions | the rows of `recal_il::isa::TABLE`, the functions that define them, `docs/numerics.md` |
//! | functions, codes, types of the API | the comments of the C headers |
//! | registers, modifiers, specifiers, memory | the headings of [`chapters`] |
//! | rules of messages | the kernels of `tests/il/messages` |
//!
//! There is one text of each, so that no two pages can disagree.

pub mod api;
#[cfg(feature = "book")]
pub mod book;

pub mod chapters;
pub mod example;
pub mod grammar;
pub mod instruction;
pub mod man;
mod meaning;
pub mod numerics;
#[cfg(feature = "book")]
mod plot;
pub mod pseudo;
pub mod rules;
mod show;
mod topic;

pub use show::{markdown, plain};
pub use topic::{Block, Kind, Section, Topic, find, nearest, topics};
