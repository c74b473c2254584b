//! The subsystem: init, shutdown, version, error text.

use std::ffi::c_char;

use super::error_text::Library;
use super::types::*;

/// Major, minor and implementation number of the last original drivers; programs compare them.
pub(super) const VERSION: (u32, u32, u32) = (1, 4, 1734);

boundary! {
    /// Initialises the runtime and finds the devices. `ALREADY` if it is initialised; nothing changes then.
    #[unsafe(no_mangle)]
    Runtime Nothing
    fn calInit(call; ;) {
        call.process.initialize()
    }

    /// Version of the runtime: 1.4.1734. Works before `calInit`.
    #[unsafe(no_mangle)]
    Runtime Nothing
    fn calGetVersion(call; major: CALuint, minor: CALuint, imp: CALuint;) {
        let _ = call;
        Ok(VERSION)
    }

    /// Ends the runtime: awaits work in flight, invalidates all handles, frees memory, except what is mapped.
    #[unsafe(no_mangle)]
    Runtime Nothing
    fn calShutdown(call; ;) {
        call.process.shut_down()
    }
}

/// Text about the most recent error, never NULL. The text stays valid for the next 256 different ones.
#[unsafe(no_mangle)]
pub extern "system" fn calGetErrorString() -> *const c_char {
    super::boundary::error_text("calGetErrorString", Library::Runtime)
}
