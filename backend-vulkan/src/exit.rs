//! The end of the process.
//!
//! Drivers take themselves apart in exit handlers, while kernels may be running on their threads and the program goes on
//! calling: old programs shut down from static destructors, or never. So a handler of ours runs before theirs: it waits
//! for the work in flight, as a shutdown does, and from then on nothing calls the driver.
//!
//! Handlers run in the reverse order of their registration, and drivers register some late, even from their own threads.
//! So ours is registered after each step in which a driver does much for the first time. What the main thread leaves
//! behind goes before all handlers: there, work is awaited once more, and the handler becomes the last one registered.
//! The main thread need not call us for that: it loads the library, or the program that contains us.
//!
//! Windows ends all other threads before libraries hear of the end, so there is nothing to wait for by then, and waiting
//! would never end: the handler only keeps what comes later from calling the driver.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{
    AtomicBool, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use crate::queue::VulkanQueue;

/// Nothing new is begun.
static CLOSING: AtomicBool = AtomicBool::new(false);

/// Drivers are not called any more.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Queues that may have work in flight.
static QUEUES: Mutex<Vec<Weak<VulkanQueue>>> = Mutex::new(Vec::new());

/// Read by calls into the driver that are no queue's, such as opening a device: other threads may be inside when the
/// process ends.
static CALLS: RwLock<()> = RwLock::new(());

/// Longest wait for such calls; who takes longer, a driver's compiler perhaps, may crash.
const PATIENCE: Duration = Duration::from_secs(10);

/// The process that they belong to; a child of `fork` has none of the driver's threads.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Whether the last work is being awaited, or was: then nothing new may be submitted.
pub(crate) fn closing() -> bool {
    CLOSING.load(Acquire)
}

/// Whether drivers must not be called any more.
pub(crate) fn ending() -> bool {
    ENDING.load(Acquire)
}

/// Why nothing works any more.
pub(crate) fn reason() -> recal_hal::Error {
    recal_hal::Error::DeviceLost("the process is ending".into())
}

/// A call into the driver, until dropped: the end of the process waits for it. An error once that has begun.
pub(crate) fn enter() -> recal_hal::Result<RwLockReadGuard<'static, ()>> {
    PROCESS.store(std::process::id(), Relaxed);
    loop {
        if closing() {
            return Err(reason());
        }
        // Calls nest; and the lock is not given back once the process is ending.
        if let Some(call) = CALLS.try_read_recursive_for(Duration::from_millis(20)) {
            return Ok(call);
        }
    }
}

/// Has the end of the process wait for the work of a queue.
pub(crate) fn watch(queue: &Arc<VulkanQueue>) {
    let mut queues = QUEUES.lock();
    queues.retain(|q| q.strong_count() > 0);
    queues.push(Arc::downgrade(queue));
}

/// The first time that a device does something.
#[derive(Default)]
pub(crate) struct Steps {
    pub loaded: OnceLock<()>,
    pub submitted: OnceLock<()>,
    pub done: OnceLock<()>,
}

/// Dropped when a thread ends; for the main thread, that is when `exit` begins.
struct ThreadEnd;

thread_local! {
    static THREAD_END: ThreadEnd = const { ThreadEnd };
}

/// Runs when the library is loaded, which is the main thread's doing unless it is opened by another.
#[cfg(not(windows))]
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static ARM: extern "C" fn() = arm;

extern "C" fn arm() {
    let _ = THREAD_END.try_with(|_| ());
}

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        if is_main_thread() && !ending() {
            // Nothing may unwind out of the end of a thread.
            let _ = catch_unwind(|| {
                let calls = CALLS.try_write_for(PATIENCE);
                live_queues().iter().for_each(|queue| queue.settle());
                register();
                drop(calls);
            });
        }
    }
}

/// Whether this is the thread that the process began with, in the process that called the driver.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_main_thread() -> bool {
    // SAFETY: the call has no arguments and only asks for a number.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    u32::try_from(thread) == Ok(PROCESS.load(Relaxed))
}

#[cfg(target_vendor = "apple")]
fn is_main_thread() -> bool {
    // SAFETY: the call has no arguments and only asks for a number.
    let main = unsafe { libc::pthread_main_np() } != 0;
    main && PROCESS.load(Relaxed) == std::process::id()
}

/// Elsewhere threads are not told apart; on Windows nothing has to be done before the handler.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn is_main_thread() -> bool {
    false
}

fn live_queues() -> Vec<Arc<VulkanQueue>> {
    QUEUES.lock().iter().filter_map(Weak::upgrade).collect()
}

/// Registers the handler once more: the driver may have registered its own just before.
pub(crate) fn register() {
    // Where the thread is ending already there is nothing to arm.
    arm();
    // SAFETY: the handler is a function of a library that is never unloaded, or of the program itself.
    if unsafe { libc::atexit(at_exit) } != 0 {
        log::warn!("no exit handler can be registered; ending with work in flight may crash the driver");
    }
}

extern "C" fn at_exit() {
    // Nothing may unwind into the C library.
    let _ = catch_unwind(AssertUnwindSafe(end));
}

fn end() {
    if CLOSING.swap(true, AcqRel) {
        return;
    }
    let ours = PROCESS.load(Relaxed) == std::process::id() && !cfg!(windows);
    if ours {
        // What had begun before is over when the locks are free; that of the calls is not given back.
        std::mem::forget(CALLS.try_write_for(PATIENCE));
        live_queues().iter().for_each(|queue| queue.settle());
    }
    ENDING.store(true, Release);
    let queues = live_queues();
    if ours {
        queues.iter().for_each(|queue| queue.pause());
    }
    // The objects stay as they are: giving them up would call the driver.
    std::mem::forget(queues);
}
