//! How much a processor has to do for something, however busy the machine is.

use std::time::Duration;

/// Time that a processor has spent on this thread. By the clock where the system does not say.
#[cfg(unix)]
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn spent() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// What `work` gives, and the time that it took a processor on this thread.
pub fn effort<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = spent();
    let result = work();
    (result, spent().saturating_sub(before))
}
