//! What can be wrong with a call.

use std::fmt;

/// Why a call did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

/// Nothing, or an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn shape(text: impl Into<String>) -> Self {
        Error(text.into())
    }

    pub(crate) fn device(name: &str, error: &recal::Error) -> Self {
        Error(format!("{name}: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
