//! Errors of streams. Calls return nothing: what fails is kept by the streams that it was for, until somebody asks.

use std::ffi::CString;

/// Codes of `BRerror`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// Nothing failed.
    None = 0,
    /// A stream that cannot be made.
    Declaration = 1,
    /// Reading into a stream.
    Read = 2,
    /// Writing out of a stream.
    Write = 3,
    /// Running a kernel.
    Kernel = 4,
    /// A part of a stream.
    Domain = 5,
    /// Copying streams.
    Assign = 6,
    /// A wrong argument.
    InvalidParameter = 7,
    /// More than the device can.
    NotSupported = 8,
    /// Legal, and most likely a mistake.
    Warning = 9,
}

/// A failure.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its code.
    pub code: Code,
    /// What was to be done, and why it could not.
    pub message: String,
}

impl Failure {
    /// A failure.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }

    /// Of an error of CAL.
    pub(crate) fn cal(code: Code, doing: &str, error: &recal::Error) -> Failure {
        Failure::new(code, format!("{doing}: {error}"))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Result of the inside of a call.
pub type Result<T> = std::result::Result<T, Failure>;

/// What a stream remembers.
#[derive(Default)]
pub(crate) struct Errors {
    first: Option<Code>,
    log: Vec<String>,
    /// The text handed out last, kept valid for its caller.
    shown: CString,
}

/// Messages kept, unless `BRT_ERROR_LOG_SIZE` says otherwise.
const KEPT: usize = 5;

impl Errors {
    pub(crate) fn add(&mut self, failure: &Failure) {
        self.first.get_or_insert(failure.code);
        let kept = std::env::var("BRT_ERROR_LOG_SIZE").ok().and_then(|n| n.parse().ok()).unwrap_or(KEPT);
        if self.log.len() < kept {
            self.log.push(failure.message.clone());
        }
        log::debug!("{:?}: {}", failure.code, failure.message);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.first.is_some()
    }

    pub(crate) fn take_first(&mut self) -> Code {
        self.first.take().unwrap_or(Code::None)
    }

    pub(crate) fn take_log(&mut self) -> String {
        let mut text = String::new();
        for line in std::mem::take(&mut self.log) {
            text += &line;
            text.push('\n');
        }
        text
    }

    pub(crate) fn show_log(&mut self) -> *const std::ffi::c_char {
        let text = self.take_log().replace('\0', " ");
        self.shown = CString::new(text).unwrap_or_default();
        self.shown.as_ptr()
    }
}
