//! Work on a stack of its own, which the thread that began it may leave to another.
//!
//! Who asks whether a launch is done must have its answer in time, even if the kernel never ends; who does the work meanwhile
//! saves the time in which another thread would wake. So such work runs on a fiber: when the time is over it stands still where it
//! looks at the clock anyway, in the middle of a kernel's loop, and a worker goes on with it.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use recal_hal::FloatEnv;
use recal_hal::sync::Mutex;

/// Bytes of a stack, of which those that are used take memory. Running code does not recurse: calls of kernels are a list.
const STACK: usize = 512 << 10;
/// Stacks that are kept for the next fiber.
const KEPT: usize = 4;

/// Stacks of fibers that have ended.
#[derive(Clone, Default)]
pub struct Stacks(Arc<Mutex<Vec<DefaultStack>>>);

/// Work that has not ended.
pub struct Fiber {
    coroutine: Coroutine<(), (), ()>,
    /// On the fiber's stack, once it has begun.
    yielder: *const Yielder<(), ()>,
    stacks: Stacks,
}

// SAFETY: a fiber stands still in `pause` only, called by `Stop::check`. What is on its stack then is the queue's and the launch's
// state, which threads share by reference counts and atomics, and code that was compiled or keeps to rows and views: no lock is held
// and nothing refers to thread-local memory. The float environment is put away by `pause`.
unsafe impl Send for Fiber {}

/// What the fiber that this thread executes needs to stand still.
#[derive(Clone, Copy)]
struct Running {
    yielder: *const Yielder<(), ()>,
    until: Option<Instant>,
    since: Option<Instant>,
}

const NONE: Running = Running { yielder: ptr::null(), until: None, since: None };

thread_local! {
    static RUNNING: Cell<Running> = const { Cell::new(NONE) };
}

/// Stands still if this thread's time for the fiber is over. Goes on with whoever continues it, on any thread.
// Not inlined: nobody who goes on elsewhere may have the address of a thread-local value from before.
#[inline(never)]
pub fn pause(now: Instant) {
    let Running { yielder, until, .. } = RUNNING.get();
    if !yielder.is_null() && until.is_some_and(|until| now >= until) {
        // What compiled code has set comes back on the thread that goes on.
        let _env = FloatEnv::enter();
        // SAFETY: it lies on the stack that is executed.
        unsafe { (*yielder).suspend(()) };
    }
}

/// Since when this thread has executed a fiber, if it does.
#[inline(never)]
pub fn since() -> Option<Instant> {
    RUNNING.get().since
}

impl Fiber {
    /// Work that has not begun; nothing if the system has no memory for its stack.
    pub fn new(stacks: &Stacks, work: impl FnOnce() + Send + 'static) -> Option<Fiber> {
        let kept = stacks.0.lock().pop();
        let stack = match kept {
            Some(stack) => stack,
            None => DefaultStack::new(STACK).ok()?,
        };
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            RUNNING.set(Running { yielder, ..RUNNING.get() });
            work();
        });
        Some(Fiber { coroutine, yielder: ptr::null(), stacks: stacks.clone() })
    }

    /// Goes on with the work, on this thread, until it is done or the time is over; what is left of it.
    pub fn run(mut self, until: Option<Instant>) -> Option<Fiber> {
        let _env = FloatEnv::enter();
        RUNNING.set(Running { yielder: self.yielder, until, since: Some(Instant::now()) });
        let result = self.coroutine.resume(());
        self.yielder = RUNNING.replace(NONE).yielder;
        match result {
            CoroutineResult::Yield(()) => Some(self),
            CoroutineResult::Return(()) => {
                let Fiber { coroutine, stacks, .. } = self;
                let mut kept = stacks.0.lock();
                if kept.len() < KEPT {
                    kept.push(coroutine.into_stack());
                }
                None
            }
        }
    }
}
