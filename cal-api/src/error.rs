//! Why a call failed.
//!
//! One [`Error`] type for the whole crate: a message that names the object and the reason, a cause chain, what it is about as a
//! value to match on, and the `CALresult` value that the C functions return for it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use recal_il::diagnostic::Diagnostic;

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
    code: CalResult,
    message: String,
    source: Option<Arc<recal_hal::Error>>,
    diagnostics: Option<Arc<[Diagnostic]>>,
}

/// What an [`Error`] is about, for who goes on in different ways.
///
/// ```
/// use recal::ErrorKind;
/// let error = recal::compile("il_ps_2_0\nmull r0, r1, r2\nend\n", 8).unwrap_err();
/// let ErrorKind::Kernel(diagnostics) = error.kind() else { panic!("{error}") };
/// assert_eq!(diagnostics[0].rule, "unknown-opcode");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind<'e> {
    /// A kernel was not accepted: everything that was found in it. Places count bytes of its text.
    Kernel(&'e [Diagnostic]),
    /// Not enough memory of the wanted kind.
    OutOfMemory,
    /// A kernel ran longer than the limit (`CAL_TIMEOUT`) and was stopped.
    Timeout,
    /// The device is gone; what was made on it answers so from now on.
    DeviceLost,
    /// Legal, but not there.
    Unsupported,
    /// An argument is wrong: its value, or an object that belongs elsewhere.
    Argument,
    /// Anything else.
    Other,
}

/// Result of a call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The code that the C functions return for this error; never [`CalResult::Ok`].
    pub fn result(&self) -> CalResult {
        self.code
    }

    /// What it is about.
    pub fn kind(&self) -> ErrorKind<'_> {
        use recal_hal::Error as Hal;
        if let Some(diagnostics) = &self.diagnostics {
            return ErrorKind::Kernel(diagnostics);
        }
        match (self.source.as_deref(), self.code) {
            (Some(Hal::OutOfMemory(_)), _) => ErrorKind::OutOfMemory,
            (Some(Hal::Timeout(_)), _) => ErrorKind::Timeout,
            (Some(Hal::DeviceLost(_)), _) => ErrorKind::DeviceLost,
            (Some(Hal::Unsupported(_)), _) | (_, CalResult::NotSupported) => ErrorKind::Unsupported,
            (_, CalResult::InvalidParameter | CalResult::BadHandle | CalResult::BadNameType) => {
                ErrorKind::Argument
            }
            _ => ErrorKind::Other,
        }
    }

    fn new(code: CalResult, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), source: None, diagnostics: None }
    }

    /// A text that is no kernel: what was found in it, and the same shown.
    pub(crate) fn kernel(found: &[Diagnostic], shown: impl Into<String>) -> Self {
        Self { diagnostics: Some(found.into()), ..Self::new(CalResult::Error, shown) }
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
        Self { source: Some(Arc::new(cause)), ..Self::new(CalResult::Error, doing.to_string()) }
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
        write!(f, "{}({self})", self.code.name())
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
    fn kinds_are_those_of_causes_and_codes() {
        let lost =
            Error::backend("waiting", recal_hal::Error::DeviceLost("gone".into())).context("calCtxFlush");
        assert_eq!(lost.kind(), ErrorKind::DeviceLost);
        let late = Error::backend("waiting", recal_hal::Error::Timeout("1 s".into()));
        assert_eq!(late.kind(), ErrorKind::Timeout);
        assert_eq!(Error::unsupported("no").kind(), ErrorKind::Unsupported);
        assert_eq!(Error::bad_handle("no").kind(), ErrorKind::Argument);
        assert_eq!(Error::failed("no").kind(), ErrorKind::Other);
    }

    #[test]
    fn text_holds_what_was_done_and_every_cause() {
        let cause = recal_hal::Error::OutOfMemory("5 MiB wanted, 4 left".into());
        let error = Error::backend("allocating a resource", cause).context("calResAllocLocal1D");
        assert_eq!(error.to_string(), "calResAllocLocal1D: allocating a resource: 5 MiB wanted, 4 left");
        assert_eq!(error.result(), CalResult::Error);
    }
}
