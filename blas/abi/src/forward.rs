//! Routines that are the host's: found when they are first called.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use recal_blas::Host;

/// A routine of the host's BLAS.
pub struct Routine {
    name: &'static str,
    address: AtomicPtr<c_void>,
}

impl Routine {
    /// By its name in the library.
    pub const fn new(name: &'static str) -> Self {
        Self { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Where it is. BLAS has no way to say that something is missing, so without it the program ends, and says why.
    pub fn address(&self) -> *const c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let Some(found) = find(self.name) else {
            let why = Host::get().map(|host| format!("{} has no such routine", host.name()));
            let why = why.unwrap_or_else(str::to_owned);
            let said = format!("CALBLAS: {} is the host BLAS's: {why}; CALBLAS_HOST names one\n", self.name);
            // Who closed it does not want to know.
            _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
            std::process::exit(1);
        };
        self.address.store(found.cast_mut(), Ordering::Relaxed);
        found
    }
}

/// A routine of the host, if there is one.
pub fn find(name: &str) -> Option<*const c_void> {
    // Whoever calls `sgemm_` by its address there calls us, if we are that library.
    recal_blas::set_own_routine(crate::sgemm_ as *const c_void);
    Host::get().ok()?.symbol(name)
}
