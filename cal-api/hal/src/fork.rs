//! What a child of `fork` must not inherit.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Grows in children: values of another generation are the parent's.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// State of a process, made when it is first asked for and never destroyed. A child of `fork` starts over with a new one:
/// the parent's may be locked by threads that the child does not have. It is left as it is.
pub struct PerProcess<T: 'static> {
    current: AtomicPtr<(u32, T)>,
    make: fn() -> T,
}

impl<T: Send + Sync> PerProcess<T> {
    /// State that `make` makes.
    pub const fn new(make: fn() -> T) -> Self {
        Self { current: AtomicPtr::new(std::ptr::null_mut()), make }
    }

    /// The state of this process.
    pub fn get(&self) -> &'static T {
        let generation = GENERATION.load(Ordering::Acquire);
        let mut current = self.current.load(Ordering::Acquire);
        loop {
            // SAFETY: what `current` points to came from `Box::into_raw` below and is never freed.
            match unsafe { current.as_ref() } {
                Some((of, state)) if *of == generation => return state,
                _ => {}
            }
            #[cfg(unix)]
            count_children();
            let fresh = Box::into_raw(Box::new((generation, (self.make)())));
            match self.current.compare_exchange(current, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => current = fresh,
                Err(theirs) => {
                    // SAFETY: `fresh` came from `Box::into_raw` above and was not shared.
                    drop(unsafe { Box::from_raw(fresh) });
                    current = theirs;
                }
            }
        }
    }
}

/// Has children count themselves as another generation.
#[cfg(unix)]
fn count_children() {
    use std::sync::atomic::AtomicBool;
    /// No `Once`: a thread of the parent might be inside at the fork.
    static DONE: AtomicBool = AtomicBool::new(false);
    extern "C" fn in_child() {
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }
    if DONE.swap(true, Ordering::AcqRel) {
        return;
    }
    // SAFETY: the handler only changes an atomic; the library is never unloaded (`-z nodelete`).
    let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if failed != 0 {
        log::warn!("children of fork cannot be told apart: error {failed}");
    }
}
