//! The macro behind every entry point, and what it calls.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use recal_hal::timeline::{self, Detail, Span, Track};

use super::cancel::Uncancelled;
use super::error_text::Library;
use super::show::Show;
use super::state::{Process, process};
use crate::capture::{self, Recorder};
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

    /// Appends the values, whose names and types these are.
    fn show(&self, outputs: &[Output], line: &mut String);
}

/// An output of an entry point.
pub(super) struct Output {
    pub(super) name: &'static str,
    /// Its type as in the headers.
    pub(super) kind: &'static str,
    /// The caller passed NULL for it.
    pub(super) null: bool,
}

macro_rules! outputs {
    ($($value:ident $at:tt),*) => {
        impl<$($value: Copy + Show),*> Outputs for ($($value,)*) {
            type Pointers = ($(*mut $value,)*);

            unsafe fn write(&self, _pointers: Self::Pointers) {
                // SAFETY: the caller of `write` vouches for the pointers.
                $(unsafe { _pointers.$at.write(self.$at) };)*
            }

            fn show(&self, _outputs: &[Output], _line: &mut String) {
                $(
                    _line.push_str(if $at == 0 { " -> " } else { ", " });
                    _line.push_str(_outputs[$at].name.trim_end_matches('_'));
                    _line.push(' ');
                    // SAFETY: outputs are numbers and addresses, which are not followed.
                    unsafe { self.$at.show(_outputs[$at].kind, _line) };
                )*
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
        pub unsafe extern "system" fn $name($($out: *mut $out_type,)* $($arg: $arg_type),*) -> $crate::error::CalResult {
            $(if !$out.is_null() {
                // SAFETY: the caller passes NULL or a pointer that is valid for writing.
                unsafe { $out.write(<$out_type as $crate::ffi::types::Zero>::ZERO) };
            })*
            let outputs = &[$($crate::ffi::boundary::Output {
                name: stringify!($out),
                kind: stringify!($out_type),
                null: $out.is_null(),
            }),*];
            let arguments = |_line: &mut String| {
                // SAFETY: what the caller passes is what this function demands.
                $(unsafe { $crate::ffi::boundary::argument(_line, stringify!($arg), stringify!($arg_type), &$arg) };)*
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
///
/// # Safety
/// Pointers are NULL or valid, as the function demands to which they were passed.
pub(super) unsafe fn argument(line: &mut String, name: &str, kind: &str, value: &impl Show) {
    if !line.ends_with('(') {
        line.push_str(", ");
    }
    // A name with an underscore at its end would be a function otherwise.
    line.push_str(name.trim_end_matches('_'));
    line.push_str(" = ");
    // SAFETY: the contract of this function.
    unsafe { value.show(kind, line) };
}

/// Runs the body of an entry point.
pub(super) fn enter<T: Outputs>(
    name: &'static str,
    library: Library,
    needs: Needs,
    outputs: &[Output],
    arguments: impl Fn(&mut String),
    body: impl FnOnce(&Call) -> Result<T>,
) -> Result<T, CalResult> {
    let _whole = Uncancelled::enter();
    // The program's own is back when the call returns.
    let _env = recal_hal::FloatEnv::enter();
    let process = process();
    // The first call of all says whether there is a trace, or a timeline.
    let recorded = process.trace.is_on() || timeline::is_on() || !process.is_initialized();
    let captured = capture_of(process);
    let start = recorded.then(Instant::now);
    // Nothing behind the boundary is left half-changed by a panic: locks do not poison, and objects are built before
    // they are entered into tables.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let epoch = process.epoch();
        if needs == Needs::Init && !process.is_initialized() {
            return Err(Error::not_initialized());
        }
        if let Some(output) = outputs.iter().find(|output| output.null) {
            return Err(Error::invalid(format!("{}: NULL", output.name)));
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
    // `calInit` has begun a capture, `calShutdown` has ended it.
    let captured = captured.or_else(|| capture_of(process)).filter(|_| !is_pending(&outcome));
    if process.trace.is_on() && start.is_some() || captured.is_some() {
        let mut line = format!("{name}(");
        arguments(&mut line);
        line.push(')');
        let answer = match &outcome {
            Ok(values) => {
                values.show(outputs, &mut line);
                CalResult::Ok.name().to_owned()
            }
            Err(e) if e.result() == CalResult::Pending => CalResult::Pending.name().to_owned(),
            // The rest of a long text is in the log.
            Err(e) => format!("{}: {}", e.result().name(), e.to_string().lines().next().unwrap_or_default()),
        };
        if let Some(start) = start
            && process.trace.is_on()
        {
            process.trace.write(name, &line, &answer, start.elapsed());
        }
        if let Some(captured) = captured {
            captured.call(format!("{line} = {answer}"));
        }
    }
    if let Some(start) = start
        && timeline::is_on()
    {
        draw(name, start, outcome.as_ref().err());
        // The last call of all.
        if name == "calShutdown" && outcome.is_ok() {
            timeline::stop();
        }
    }
    outcome.map_err(|e| e.result())
}

/// Who keeps the calls, if anyone does.
fn capture_of(process: &Process) -> Option<Arc<Recorder>> {
    if !capture::is_on() {
        return None;
    }
    process.runtime().ok()?.capture().cloned()
}

fn is_pending<T>(outcome: &Result<T>) -> bool {
    outcome.as_ref().is_err_and(|e| e.result() == CalResult::Pending)
}

/// Records a call for the timeline.
fn draw(name: &'static str, start: Instant, error: Option<&Error>) {
    // Programs ask a million times.
    if error.is_some_and(|e| e.result() == CalResult::Pending) {
        return;
    }
    let detail = error.map_or(Detail::None, |e| Detail::text("error", format!("{}: {e}", e.result().name())));
    timeline::record(Span { detail, ..Span::new(Track::Thread, "call", name, [start, Instant::now()]) });
}

/// The text that a library gives about its latest error.
pub(super) fn error_text(name: &'static str, library: Library) -> *const c_char {
    let _whole = Uncancelled::enter();
    catch_unwind(|| {
        let process = process();
        let drawn = timeline::now();
        let start = process.trace.is_on().then(Instant::now);
        let text = process.errors.get(library);
        if let Some(start) = start {
            let mut answer = String::new();
            // SAFETY: the texts of the process end with NUL.
            unsafe { text.show("", &mut answer) };
            process.trace.write(name, &format!("{name}()"), &answer, start.elapsed());
        }
        timeline::done(drawn, "call", name);
        text
    })
    .unwrap_or(c"no error text".as_ptr())
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown panic")
}
