//! Why a call failed.
//!
//! One [`Error`] type for the whole crate: a message that names the object and the reason, a cause chain, and the
//! `CALresult` value that the C functions return for it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// Result codes (CAL 1.4: `CALresult`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum CalResult {
    /// Success.
    Ok = 0,
    /// Operation failed.
    Error = 1,
    /// Bad argument value.
    InvalidParameter = 2,
    /// Legal use, but not available.
    NotSupported = 3,
    /// The state change was already made.
    Already = 4,
    /// Runtime not initialised.
    NotInitialized = 5,
    /// Handle not valid.
    BadHandle = 6,
    /// Name handle of the wrong kind.
    BadNameType = 7,
    /// Asynchronous work not finished.
    Pending = 8,
    /// Object still in use.
    Busy = 9,
    /// Compiler warning.
    Warning = 10,
}

impl CalResult {
    /// All codes in order of their values.
    pub const ALL: [CalResult; 11] = [
        CalResult::Ok,
        CalResult::Error,
        CalResult::InvalidParameter,
        CalResult::NotSupported,
        CalResult::Already,
        CalResult::NotInitialized,
        CalResult::BadHandle,
        CalResult::BadNameType,
        CalResult::Pending,
        CalResult::Busy,
        CalResult::Warning,
    ];

    /// Name in `cal.h`.
    pub const fn name(self) -> &'static str {
        match self {
            CalResult::Ok => "CAL_RESULT_OK",
            CalResult::Error => "CAL_RESULT_ERROR",
            CalResult::InvalidParameter => "CAL_RESULT_INVALID_PARAMETER",
            CalResult::NotSupported => "CAL_RESULT_NOT_SUPPORTED",
            CalResult::Already => "CAL_RESULT_ALREADY",
            CalResult::NotInitialized => "CAL_RESULT_NOT_INITIALIZED",
            CalResult::BadHandle => "CAL_RESULT_BAD_HANDLE",
            CalResult::BadNameType => "CAL_RESULT_BAD_NAME_TYPE",
            CalResult::Pending => "CAL_RESULT_PENDING",
            CalResult::Busy => "CAL_RESULT_BUSY",
            CalResult::Warning => "CAL_RESULT_WARNING",
        }
    }
}

/// An error of the CAL API.
///
/// ```
/// let runtime = recal::Runtime::new().unwrap();
/// let error = runtime.open(9999).err().unwrap();
/// assert_eq!(error.result(), recal::CalResult::Error);
/// assert!(error.to_string().contains("9999"));
/// ```
#[derive(Clone)]
pub struct Error {
    kind: CalResult,
    message: String,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// Result of a call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The code that the C functions return for this error; never [`CalResult::Ok`].
    pub fn result(&self) -> CalResult {
        self.kind
    }

    fn new(kind: CalResult, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(CalResult::Error, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(CalResult::InvalidParameter, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(CalResult::NotSupported, message)
    }

    pub(crate) fn already(message: impl Into<String>) -> Self {
        Self::new(CalResult::Already, message)
    }

    pub(crate) fn not_initialized() -> Self {
        Self::new(CalResult::NotInitialized, "calInit has not been called, or calShutdown has")
    }

    pub(crate) fn bad_handle(message: impl Into<String>) -> Self {
        Self::new(CalResult::BadHandle, message)
    }

    pub(crate) fn bad_name_type(message: impl Into<String>) -> Self {
        Self::new(CalResult::BadNameType, message)
    }

    pub(crate) fn pending() -> Self {
        Self::new(CalResult::Pending, "not finished yet")
    }

    /// An error of a backend, with what was being done.
    pub(crate) fn backend(doing: impl fmt::Display, cause: recal_hal::Error) -> Self {
        Self { kind: CalResult::Error, message: doing.to_string(), source: Some(Arc::new(cause)) }
    }

    /// The same error with what was being done in front.
    #[must_use]
    pub(crate) fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    /// The message followed by its causes: the whole story on one line, as `calGetErrorString` gives it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", self.kind.name())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_historical_values() {
        for (value, result) in CalResult::ALL.into_iter().enumerate() {
            assert_eq!(result as usize, value);
        }
    }

    #[test]
    fn text_holds_what_was_done_and_every_cause() {
        let cause = recal_hal::Error::OutOfMemory("5 MiB wanted, 4 left".into());
        let error = Error::backend("allocating a resource", cause).context("calResAllocLocal1D");
        assert_eq!(error.to_string(), "calResAllocLocal1D: allocating a resource: 5 MiB wanted, 4 left");
        assert_eq!(error.result(), CalResult::Error);
    }
}
