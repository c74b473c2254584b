//! Pipelines that are built behind the launches: one thread, which ends when there is nothing left to build.
//!
//! Launches go on with what there is meanwhile. A kernel that is gone is not built for; a device that closes waits for the
//! pipeline at hand, since the driver must not be inside a call for a device that is destroyed.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use recal_hal::sync::{Condvar, Mutex};
use recal_hal::without_signals;
use recal_il::spirv::Assume;

use crate::kernel::Pipelines;

/// A pipeline to build.
pub(crate) struct Job {
    pub pipelines: Weak<Pipelines>,
    pub assume: Assume,
    pub size: [u32; 3],
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// The process whose thread builds; a child of `fork` has no such thread.
    running: Option<u32>,
    closed: bool,
}

/// What waits to be built.
#[derive(Default)]
pub(crate) struct Builder {
    state: Mutex<State>,
    idle: Condvar,
}

impl Builder {
    /// Has a pipeline built, sooner or later.
    pub fn push(self: &Arc<Self>, job: Job) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        state.jobs.push_back(job);
        if state.running.is_none() {
            let this = self.clone();
            let thread = std::thread::Builder::new().name("recal-pipelines".into());
            match without_signals(|| thread.spawn(move || this.work())) {
                Ok(_) => state.running = Some(std::process::id()),
                Err(error) => {
                    // What there is does the work, only slower.
                    log::debug!("no thread for pipelines: {error}");
                    state.jobs.clear();
                }
            }
        }
    }

    fn work(&self) {
        loop {
            let job = {
                let mut state = self.state.lock();
                let Some(job) = state.jobs.pop_front() else {
                    state.running = None;
                    self.idle.notify_all();
                    return;
                };
                job
            };
            // All that the job holds is given back before the thread is idle.
            if let (Ok(_call), Some(pipelines)) = (crate::exit::enter(), job.pipelines.upgrade()) {
                if let Err(error) = pipelines.make(job.assume, job.size) {
                    log::debug!("a pipeline was not built: {error}");
                }
            }
        }
    }

    /// Builds nothing any more; returns when no pipeline is being built.
    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.jobs.clear();
        while state.running == Some(std::process::id()) {
            state = self.idle.wait(state);
        }
    }
}

/// Closes a builder when dropped.
pub(crate) struct Closing(pub Arc<Builder>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}
