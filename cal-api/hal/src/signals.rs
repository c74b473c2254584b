//! Signals are the application's: its handlers run in its threads, and what it blocks stays pending.

/// Runs `start`, which starts threads: they block all signals but those of their own faults, as a thread of a library should.
/// A signal that comes meanwhile waits.
#[cfg(unix)]
pub fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    use libc::{SIG_SETMASK, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    use std::mem::MaybeUninit;
    use std::ptr;

    struct Restore(libc::sigset_t);
    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: the mask is one that the system gave.
            unsafe { libc::pthread_sigmask(SIG_SETMASK, &self.0, ptr::null_mut()) };
        }
    }

    let (mut others, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: `sigfillset` makes the first mask; the second one is read only if the system has written it.
    let _restore = unsafe {
        libc::sigfillset(others.as_mut_ptr());
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP] {
            libc::sigdelset(others.as_mut_ptr(), fault);
        }
        let failed = libc::pthread_sigmask(SIG_SETMASK, others.as_ptr(), before.as_mut_ptr());
        (failed == 0).then(|| Restore(before.assume_init()))
    };
    start()
}

/// Runs `start`: there are no signals here.
#[cfg(not(unix))]
pub fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    start()
}
