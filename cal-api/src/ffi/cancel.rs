//! Threads that the program cancels. glibc unwinds them from where they wait or write, in a driver perhaps, which nothing on the way
//! allows; elsewhere they just end, with whatever locks they have. So a call is over before its thread is cancelled.

/// This thread is not cancelled until this is dropped.
#[must_use]
pub(super) struct Uncancelled(sys::State);

impl Uncancelled {
    #[inline]
    pub(super) fn enter() -> Self {
        Self(sys::set(sys::DISABLE))
    }
}

impl Drop for Uncancelled {
    #[inline]
    fn drop(&mut self) {
        if self.0 != sys::DISABLE {
            sys::set(self.0);
        }
    }
}

#[cfg(target_os = "linux")]
mod sys {
    use std::ffi::c_int;

    pub type State = c_int;

    /// `PTHREAD_CANCEL_DISABLE` of glibc and musl.
    pub const DISABLE: State = 1;

    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    }

    /// Sets the state of this thread; the one before.
    #[inline]
    pub fn set(state: State) -> State {
        let mut old = state;
        // SAFETY: stores a word where there is one; the state is a constant of the system, or one that it told.
        unsafe { pthread_setcancelstate(state, &mut old) };
        old
    }
}

/// Elsewhere nothing is known to cancel threads inside a call.
#[cfg(not(target_os = "linux"))]
mod sys {
    #[derive(Clone, Copy, PartialEq)]
    pub struct State;

    pub const DISABLE: State = State;

    pub fn set(_: State) -> State {
        State
    }
}
