//! How long a launch may take: by work, so that a busy machine does not end it.

use std::time::{Duration, Instant};

use recal_hal::{Error, Queue, Result, Ticket};

/// By the clock, for devices that work while this process does not.
pub const STILL: Duration = Duration::from_secs(600);

/// Longest pause between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Time of processors that the whole process may take for a launch, other cases beside it included.
#[derive(Clone, Copy, Debug)]
pub struct Patience(pub Duration);

impl Default for Patience {
    /// A minute of all processors.
    fn default() -> Self {
        Self(Duration::from_secs(60) * std::thread::available_parallelism().map_or(1, |n| n.get() as u32))
    }
}

/// Time that processors spent on this process.
#[cfg(unix)]
fn work() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Time by the clock, of which a busy machine leaves less for us.
#[cfg(not(unix))]
fn work() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

impl Patience {
    /// Waits until a ticket is done, or the device `is_gone`.
    pub(crate) fn wait(self, queue: &dyn Queue, ticket: Ticket, is_gone: impl Fn() -> bool) -> Result<()> {
        queue.flush()?;
        let (start, before) = (Instant::now(), work());
        let mut pause = Duration::from_micros(10);
        while queue.completed() < ticket {
            if is_gone() {
                return Err(Error::DeviceLost("it was opened again".into()));
            }
            let spent = work().saturating_sub(before);
            if spent > self.0 {
                let text = format!(
                    "a launch took more than {:?} of all processors, {:?} by the clock",
                    self.0,
                    start.elapsed()
                );
                return Err(Error::Timeout(text));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
        Ok(())
    }
}
