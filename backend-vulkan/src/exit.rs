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
//! Windows ends all other threads before libraries hear of the end, whatever locks they hold. So there is nothing to wait
//! for by then, and waiting might never end: the handler only keeps what comes later from calling the driver.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{
    AtomicBool, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use recal_hal::PerProcess;
use recal_hal::sync::{Condvar, Mutex};

use crate::queue::VulkanQueue;

/// Nothing new is begun.
static CLOSING: AtomicBool = AtomicBool::new(false);

/// Drivers are not called any more.
static ENDING: AtomicBool = AtomicBool::new(false);

/// What may be under way when the process ends. A child of `fork` has none of the parent's.
static UNDER_WAY: PerProcess<UnderWay> = PerProcess::new(UnderWay::default);

#[derive(Default)]
struct UnderWay {
    /// Queues that may have work in flight.
    queues: Mutex<Vec<Weak<VulkanQueue>>>,
    /// Calls into the driver that are no queue's, such as opening a device: other threads may be inside.
    calls: Mutex<Calls>,
    /// Calls have ended, or may begin again.
    changed: Condvar,
}

#[derive(Default)]
struct Calls {
    inside: usize,
    /// None may begin.
    barred: bool,
}

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

/// A call into the driver, until dropped: the end of the process waits for it.
pub(crate) struct DriverCall(());

impl Drop for DriverCall {
    fn drop(&mut self) {
        let state = UNDER_WAY.get();
        let mut calls = state.calls.lock();
        // In a child of `fork` they count from 0.
        calls.inside = calls.inside.saturating_sub(1);
        drop(calls);
        state.changed.notify_all();
    }
}

/// Begins a call into the driver. Calls nest. An error once the end of the process has begun.
pub(crate) fn enter() -> recal_hal::Result<DriverCall> {
    PROCESS.store(std::process::id(), Relaxed);
    let state = UNDER_WAY.get();
    let mut calls = state.calls.lock();
    loop {
        if closing() {
            return Err(reason());
        }
        if !calls.barred {
            calls.inside += 1;
            return Ok(DriverCall(()));
        }
        calls = state.changed.wait_for(calls, Duration::from_millis(20));
    }
}

/// Waits until nobody is inside the driver, or for [`PATIENCE`]; none comes in before [`readmit`].
fn bar_calls() {
    let (state, start) = (UNDER_WAY.get(), Instant::now());
    let mut calls = state.calls.lock();
    while calls.inside > 0 && start.elapsed() < PATIENCE {
        calls = state.changed.wait_for(calls, PATIENCE);
    }
    calls.barred = true;
}

fn readmit() {
    let state = UNDER_WAY.get();
    state.calls.lock().barred = false;
    state.changed.notify_all();
}

/// Has the end of the process wait for the work of a queue.
pub(crate) fn watch(queue: &Arc<VulkanQueue>) {
    let mut queues = UNDER_WAY.get().queues.lock();
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
                bar_calls();
                live_queues().iter().for_each(|queue| queue.settle());
                register();
                readmit();
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
    UNDER_WAY.get().queues.lock().iter().filter_map(Weak::upgrade).collect()
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
    if cfg!(windows) {
        ENDING.store(true, Release);
        return;
    }
    let ours = PROCESS.load(Relaxed) == std::process::id();
    if ours {
        // What had begun before is over then; nothing is let in again.
        bar_calls();
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
