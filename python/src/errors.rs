//! Errors as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use recal::{Diagnostic, ErrorKind};
use recal_il::diagnostic::position;

create_exception!(recal, Error, PyRuntimeError, "What went wrong; `code` is the CALresult, `kind` a word.");
create_exception!(
    recal,
    KernelError,
    Error,
    "A kernel was not accepted; `diagnostics` says why, as `check` does."
);

/// An argument that is wrong.
pub(crate) fn argument(why: impl Into<String>) -> PyErr {
    PyValueError::new_err(why.into())
}

/// Does something. A panic of ours is an error like any other, which Python can handle.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    crate::guard::caught(work).unwrap_or_else(|why| {
        Err(error(
            format!("a mistake in recal, which is to be reported: {why}"),
            "CAL_RESULT_ERROR",
            "internal",
        ))
    })
}

fn word(error: &recal::Error) -> &'static str {
    match error.kind() {
        ErrorKind::Kernel(_) => "kernel",
        ErrorKind::OutOfMemory => "out of memory",
        ErrorKind::Timeout => "timeout",
        ErrorKind::DeviceLost => "device lost",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::Argument => "argument",
        _ => "other",
    }
}

/// An error of this kind.
pub(crate) fn error(text: String, code: &str, kind: &str) -> PyErr {
    Python::attach(|py| {
        let raised = Error::new_err(text);
        let value = raised.value(py);
        match value.setattr("code", code).and_then(|()| value.setattr("kind", kind)) {
            Ok(()) => raised,
            Err(other) => other,
        }
    })
}

/// The exception of an error.
pub(crate) fn raised(error: recal::Error) -> PyErr {
    with_text(error, "")
}

/// The exception of an error, which may be about this kernel.
pub(crate) fn with_text(error: recal::Error, il: &str) -> PyErr {
    match error.kind() {
        ErrorKind::Kernel(found) => refused(error.to_string(), found, il),
        _ => self::error(error.to_string(), error.result().name(), word(&error)),
    }
}

/// A kernel was not accepted.
pub(crate) fn refused(text: String, found: &[Diagnostic], il: &str) -> PyErr {
    Python::attach(|py| {
        let raised = KernelError::new_err(text);
        let value = raised.value(py);
        let filled = || -> PyResult<()> {
            value.setattr("code", recal::CalResult::Error.name())?;
            value.setattr("kind", "kernel")?;
            value.setattr("diagnostics", diagnostics(py, found, il)?)
        };
        match filled() {
            Ok(()) => raised,
            Err(other) => other,
        }
    })
}

/// Diagnostics as dictionaries.
pub(crate) fn diagnostics<'py>(
    py: Python<'py>,
    found: &[Diagnostic],
    il: &str,
) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    for one in found {
        let (line, column) = position(il.as_bytes(), one.span.start);
        let entry = PyDict::new(py);
        entry.set_item("severity", one.severity.name())?;
        entry.set_item("rule", one.rule)?;
        entry.set_item("line", line)?;
        entry.set_item("column", column)?;
        entry.set_item("message", &one.message)?;
        entry.set_item("note", &one.note)?;
        entry.set_item("help", one.suggestion.as_ref().map(|s| &s.message))?;
        all.append(entry)?;
    }
    Ok(all)
}
