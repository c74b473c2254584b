//! The macro behind every entry point, and what it calls.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::error_text::Library;
use super::state::{Process, process};
use super::trace::{self, Show};
use crate::error::{CalResult, Error, Result};

/// When an entry point works.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// At any time.
    Nothing,
    /// Between `calInit` and `calShutdown`.
    Init,
}

/// A call in progress.
pub(super) struct Call {
    pub(super) process: &'static Process,
    /// The init/shutdown pair that the call belongs to.
    pub(super) epoch: u64,
}

/// Output values of a call and the pointers they go to.
pub(super) trait Outputs {
    type Pointers;

    /// # Safety
    /// The pointers are valid for writing.
    unsafe fn write(&self, pointers: Self::Pointers);

    fn show(&self, line: &mut String);
}

macro_rules! outputs {
    ($($value:ident $at:tt),*) => {
        impl<$($value: Copy + Show),*> Outputs for ($($value,)*) {
            type Pointers = ($(*mut $value,)*);

            unsafe fn write(&self, _pointers: Self::Pointers) {
                // SAFETY: the caller of `write` vouches for the pointers.
                $(unsafe { _pointers.$at.write(self.$at) };)*
            }

            fn show(&self, _line: &mut String) {
                $(_line.push_str(" -> "); self.$at.show(_line);)*
            }
        }
    };
}
outputs!();
outputs!(A 0);
outputs!(A 0, B 1);
outputs!(A 0, B 1, C 2);

/// Defines entry points. Outputs come first in every CAL function that has any; the body is of type
/// `Result<(outputs,)>` and the macro writes them. A NULL output is `INVALID_PARAMETER`; on failure outputs are zero.
macro_rules! boundary {
    ($(
        $(#[$meta:meta])*
        $library:ident $needs:ident
        fn $name:ident($call:ident; $($out:ident: $out_type:ty),*; $($arg:ident: $arg_type:ty),*) $body:block
    )*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are NULL or valid for what the function reads and writes through them; strings end with NUL.
        pub unsafe extern "C" fn $name($($out: *mut $out_type,)* $($arg: $arg_type),*) -> $crate::error::CalResult {
            $(if !$out.is_null() {
                // SAFETY: the caller passes NULL or a pointer that is valid for writing.
                unsafe { $out.write(<$out_type as $crate::ffi::types::Zero>::ZERO) };
            })*
            let outputs: &[(&str, bool)] = &[$((stringify!($out), $out.is_null())),*];
            let arguments = |_line: &mut String| {
                $($crate::ffi::boundary::argument(_line, stringify!($arg), &$arg);)*
            };
            let body = |$call: &$crate::ffi::boundary::Call| -> $crate::error::Result<($($out_type,)*)> { $body };
            match $crate::ffi::boundary::enter(
                stringify!($name),
                $crate::ffi::error_text::Library::$library,
                $crate::ffi::boundary::Needs::$needs,
                outputs,
                arguments,
                body,
            ) {
                Ok(values) => {
                    // SAFETY: `enter` refuses NULL outputs, and the caller passes no other invalid pointers.
                    unsafe { $crate::ffi::boundary::Outputs::write(&values, ($($out,)*)) };
                    $crate::error::CalResult::Ok
                }
                Err(code) => code,
            }
        }
    )*};
}

/// Appends an argument to a trace line.
pub(super) fn argument(line: &mut String, name: &str, value: &impl Show) {
    if !line.ends_with('(') {
        line.push_str(", ");
    }
    let _ = write!(line, "{name} = ");
    value.show(line);
}

/// Runs the body of an entry point.
pub(super) fn enter<T: Outputs>(
    name: &'static str,
    library: Library,
    needs: Needs,
    outputs: &[(&str, bool)],
    arguments: impl Fn(&mut String),
    body: impl FnOnce(&Call) -> Result<T>,
) -> Result<T, CalResult> {
    let process = process();
    let start = process.trace.is_on().then(Instant::now);
    // Nothing behind the boundary is left half-changed by a panic: locks do not poison, and objects are built before
    // they are entered into tables.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let epoch = process.epoch();
        if needs == Needs::Init && !process.is_initialized() {
            return Err(Error::not_initialized());
        }
        if let Some((output, _)) = outputs.iter().find(|(_, null)| *null) {
            return Err(Error::invalid(format!("{output}: NULL")));
        }
        body(&Call { process, epoch })
    }))
    .unwrap_or_else(|panic| Err(Error::failed(format!("internal error: {}", text_of(&*panic)))));
    if let Err(error) = &outcome
        && error.result() != CalResult::Pending
    {
        process.errors.set(library, format!("{name}: {error}"));
        log::debug!(target: "recal::api", "{name}: {error}");
    }
    if let Some(start) = start {
        let mut line = format!("{name}(");
        arguments(&mut line);
        line.push(')');
        let code = match &outcome {
            Ok(values) => {
                values.show(&mut line);
                CalResult::Ok
            }
            Err(e) => e.result(),
        };
        trace::write(&process.trace, &line, code, start.elapsed());
    }
    outcome.map_err(|e| e.result())
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown panic")
}
