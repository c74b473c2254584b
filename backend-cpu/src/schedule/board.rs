//! Launches that workers may help with, for those who look for work. They need no lock: of sixteen threads that lock one after another for
//! a launch of some microseconds, most come too late.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;

use super::job::Job;

#[derive(Default)]
pub struct Board {
    jobs: ArcSwap<Vec<Arc<Job>>>,
    count: AtomicUsize,
}

impl Board {
    /// How many launches are in progress.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Lets workers find a launch.
    pub fn add(&self, job: &Arc<Job>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.jobs.rcu(|jobs| jobs.iter().chain([job]).cloned().collect::<Vec<_>>());
    }

    /// Nobody finds it any more. Some may just have found it, and [`Job::join`] it.
    pub fn remove(&self, job: &Arc<Job>) {
        self.jobs
            .rcu(|jobs| jobs.iter().filter(|other| !Arc::ptr_eq(other, job)).cloned().collect::<Vec<_>>());
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Joins the launch with the fewest threads of those that have work for one more, and works on it with the share that it has there.
    /// None if there is none.
    pub fn help<T>(&self, number: usize, work: impl FnOnce(&Job, usize) -> T) -> Option<T> {
        let jobs = self.jobs.load();
        if let [job] = &jobs[..] {
            let share = job.join(number);
            share.map(|share| work(job, share))
        } else {
            let mut found: Vec<_> = jobs.iter().cloned().collect();
            // Who works for long keeps no other launch's memory.
            drop(jobs);
            found.sort_by_key(|job| job.threads());
            let joined = found.into_iter().find_map(|job| job.join(number).map(|share| (job, share)));
            joined.map(|(job, share)| work(&job, share))
        }
    }
}
