//! `CAL_TRACE`: a line for every call.

use std::ffi::{c_char, c_void};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::config;
use crate::error::CalResult;

/// Where trace lines go.
pub(super) struct Tracer {
    on: AtomicBool,
    file: Mutex<Option<File>>,
}

impl Tracer {
    pub(super) const fn new() -> Self {
        Self { on: AtomicBool::new(false), file: Mutex::new(None) }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Starts or stops, as configured.
    pub(super) fn configure(&self, trace: &config::Trace) {
        let (on, file) = match trace {
            config::Trace::Off => (false, None),
            config::Trace::Stderr => (true, None),
            config::Trace::File(path) => match File::create(path) {
                Ok(file) => (true, Some(file)),
                Err(e) => {
                    log::warn!("CAL_TRACE: {}: {e}; tracing is off", path.display());
                    (false, None)
                }
            },
        };
        *self.file.lock() = file;
        self.on.store(on, Ordering::Relaxed);
    }
}

/// Writes one line. A full disk is not the caller's problem.
pub(super) fn write(tracer: &Tracer, call: &str, code: CalResult, took: Duration) {
    let line = format!("{call} = {} [{:.1} us]\n", code.name(), took.as_secs_f64() * 1e6);
    let _ = match &mut *tracer.file.lock() {
        Some(file) => file.write_all(line.as_bytes()),
        None => std::io::stderr().write_all(line.as_bytes()),
    };
}

/// How an argument looks in the trace.
pub(super) trait Show {
    fn show(&self, line: &mut String);
}

impl Show for u32 {
    fn show(&self, line: &mut String) {
        // Handles have their kind in the top bits.
        let _ = if *self >> 28 == 0 { write!(line, "{self}") } else { write!(line, "{self:#x}") };
    }
}

impl Show for f32 {
    fn show(&self, line: &mut String) {
        let _ = write!(line, "{self}");
    }
}

macro_rules! show_pointers {
    ($($t:ty),*) => { $(
        impl Show for *mut $t {
            fn show(&self, line: &mut String) {
                let _ = write!(line, "{self:?}");
            }
        }
        impl Show for *const $t {
            fn show(&self, line: &mut String) {
                let _ = write!(line, "{self:?}");
            }
        }
    )* };
}
show_pointers!(
    c_void,
    u32,
    super::types::CALobjectRec,
    super::types::CALimageRec,
    super::types::CALobject,
    super::types::CALdeviceinfo,
    super::types::CALdeviceattribs,
    super::types::CALdevicestatus,
    super::types::CALdomain,
    super::types::CALprogramGrid,
    super::types::CALprogramGridArray,
    super::types::CALfuncInfo,
    super::types::CALdomainparam
);

impl Show for *const c_char {
    /// Strings are names or kernel text; the text of a kernel is left to `CAL_DUMP`.
    fn show(&self, line: &mut String) {
        let _ = write!(line, "{self:?}");
    }
}

impl Show for super::types::CALLogFunction {
    fn show(&self, line: &mut String) {
        line.push_str(if self.is_some() { "function" } else { "NULL" });
    }
}
