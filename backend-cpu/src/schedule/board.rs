//! Launches that workers may help with, for those who look for work. They need no lock: of sixteen threads that lock one after another for
//! a launch of some microseconds, most come too late.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arc_swap::ArcSwapOption;

use super::job::Job;

/// Launches that find a place; more would each have few threads.
const PLACES: usize = 16;

#[derive(Default)]
pub struct Board {
    /// Which places are taken.
    taken: AtomicU32,
    places: [ArcSwapOption<Job>; PLACES],
}

impl Board {
    /// How many launches are in progress.
    pub fn count(&self) -> usize {
        self.taken.load(Ordering::Relaxed).count_ones() as usize
    }

    /// Lets workers find a launch; where it is. `None` if there is no place, and nobody will help.
    pub fn add(&self, job: &Arc<Job>) -> Option<usize> {
        let first_free = |taken: u32| Some(taken.trailing_ones()).filter(|place| *place < PLACES as u32);
        let more = |taken: u32| first_free(taken).map(|place| taken | 1 << place);
        let before = self.taken.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).ok()?;
        let place = first_free(before)? as usize;
        self.places[place].store(Some(job.clone()));
        Some(place)
    }

    /// Nobody finds it any more. Some may just have found it, and [`Job::join`] it.
    pub fn remove(&self, place: usize) {
        self.places[place].store(None);
        self.taken.fetch_and(!(1 << place), Ordering::Release);
    }

    /// Joins the launch with the fewest threads of those that have work for one more, and works on it with the share that it has there.
    /// None if there is none.
    pub fn help<T>(&self, number: usize, work: impl FnOnce(&Job, usize) -> T) -> Option<T> {
        let taken = self.taken.load(Ordering::Acquire);
        let mut places = (0..PLACES).filter(|place| taken >> place & 1 == 1).map(|place| &self.places[place]);
        if taken.is_power_of_two() {
            let job = places.next()?.load();
            let job = job.as_ref()?;
            return job.join(number).map(|share| work(job, share));
        }
        let mut jobs: Vec<Arc<Job>> = places.filter_map(ArcSwapOption::load_full).collect();
        jobs.sort_by_key(|job| job.threads());
        let joined = jobs.into_iter().find_map(|job| job.join(number).map(|share| (job, share)));
        joined.map(|(job, share)| work(&job, share))
    }
}
