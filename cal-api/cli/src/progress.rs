//! A bar on the terminal while work takes more than a moment; nothing where standard error is no terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// Launches done, of how many. A thread of its own draws, so that the one that waits for launches only waits.
pub(crate) struct Progress {
    done: Arc<AtomicU64>,
    /// Closed when the work is done.
    end: Option<Sender<()>>,
    painter: Option<JoinHandle<()>>,
}

impl Progress {
    pub(crate) fn new(launches: u64) -> Progress {
        let done = Arc::new(AtomicU64::new(0));
        let (end, ended) = channel::<()>();
        let painter = {
            let done = Arc::clone(&done);
            move || {
                let start = Instant::now();
                if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                // Hides itself where nobody looks.
                let bar = ProgressBar::new(launches).with_elapsed(start.elapsed());
                let template = "{spinner} launch {pos} of {len} {wide_bar} {elapsed}, {eta} left";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                while ended.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                    bar.set_position(done.load(Relaxed));
                    bar.tick();
                }
                bar.finish_and_clear();
            }
        };
        // Without a thread there is no bar.
        let painter = std::thread::Builder::new().name("progress".into()).spawn(painter).ok();
        Progress { done, end: Some(end), painter }
    }

    /// So many launches are done.
    pub(crate) fn at(&self, done: u64) {
        self.done.store(done, Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(painter) = self.painter.take() {
            // A panic there has drawn its own message; the work is not affected.
            let _ = painter.join();
        }
    }
}
