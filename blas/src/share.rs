//! The queue of a product's blocks, and who takes which.
//!
//! Devices take from the front, each lane what goes on with the rows that it has; the host, if it works too, takes strips from the
//! end, smaller ones the less is left, so that all are done at the same time.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::scalar::Scalar;
use crate::view::ViewMut;
use crate::worker::lock;

/// Rows of blocks are multiples of it, and columns where nothing else is better; least rows of a strip of the host's.
pub(crate) const STRIP: usize = 64;

/// Least rows of blocks that are made smaller so that lanes have as many.
const LEAST: usize = 256;

/// A block that is still to be computed.
pub(crate) struct Job<'a, T> {
    pub(crate) to: ViewMut<'a, T>,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

/// Blocks by rows.
pub(crate) struct Queue<'a, T> {
    jobs: Mutex<VecDeque<Job<'a, T>>>,
    /// The host's operations a second, and those of the devices.
    host: f64,
    devices: f64,
}

/// A product in blocks of one size, which comes with them, but for those at the edges; none has more rows and columns than `most`, and
/// columns are as many as `grain` or a multiple. Each lane has as many rows of blocks as another, if they are not too small for it.
pub(crate) fn blocks<T: Scalar>(
    to: ViewMut<'_, T>,
    most: [usize; 2],
    grain: usize,
    lanes: usize,
) -> (Vec<Job<'_, T>>, [usize; 2]) {
    let even = |n: usize, count: usize, grain: usize, most: usize| {
        n.div_ceil(count).next_multiple_of(grain).min(most).max(1)
    };
    let [rows, columns] = [to.rows(), to.columns()];
    let counts = [rows.div_ceil(most[0]).max(1), columns.div_ceil(most[1]).max(1)];
    let alike = counts[0].next_multiple_of(lanes);
    let down = if rows / alike >= LEAST { alike } else { counts[0] };
    let (high, wide) = (even(rows, down, STRIP, most[0]), even(columns, counts[1], grain, most[1]));
    let (mut jobs, mut below, mut row) = (Vec::new(), to, 0);
    while below.rows() > 0 {
        let own = below.rows().min(high);
        let (mut strip, rest) = below.split_rows(own);
        below = rest;
        let mut column = 0;
        while strip.columns() > 0 {
            let own = strip.columns().min(wide);
            let (block, rest) = strip.split_columns(own);
            strip = rest;
            jobs.push(Job { to: block, row, column });
            column += own;
        }
        row += own;
    }
    (jobs, [high, wide])
}

impl<'a, T: Scalar> Queue<'a, T> {
    pub(crate) fn new(jobs: Vec<Job<'a, T>>, host: f64, devices: f64) -> Queue<'a, T> {
        Queue { jobs: Mutex::new(jobs.into()), host, devices }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.jobs).len()
    }

    /// What is left at the end.
    pub(crate) fn rest(self) -> impl Iterator<Item = Job<'a, T>> {
        std::mem::take(&mut *lock(&self.jobs)).into_iter()
    }

    /// The next block for a lane that has this row's factor, if it has one.
    pub(crate) fn next(&self, row: Option<usize>) -> Option<Job<'a, T>> {
        let mut jobs = lock(&self.jobs);
        let same = row.and_then(|row| jobs.iter().position(|job| job.row == row));
        // Else a row that nobody has begun, as most of it is left.
        let at = same.or_else(|| {
            let left = |row: usize| jobs.iter().filter(|job| job.row == row).count();
            (0..jobs.len()).rev().max_by_key(|at| left(jobs[*at].row))
        })?;
        jobs.remove(at)
    }

    /// The next strip for the host; none where devices are done sooner alone.
    pub(crate) fn strip(&self) -> Option<Job<'a, T>> {
        let mut jobs = lock(&self.jobs);
        let elements: usize = jobs.iter().map(|job| job.to.rows() * job.to.columns()).sum();
        let job = jobs.pop_back()?;
        let fair = elements as f64 * self.host / (self.host + self.devices) / 2.0;
        let columns = job.to.columns();
        let rows = ((fair / columns as f64) as usize).next_multiple_of(STRIP).min(job.to.rows());
        let late = (rows * columns) as f64 / self.host > elements as f64 / self.devices;
        if late {
            jobs.push_back(job);
            return None;
        }
        let Job { to, row, column } = job;
        let above = to.rows() - rows;
        let (rest, own) = to.split_rows(above);
        if above > 0 {
            jobs.push_back(Job { to: rest, row, column });
        }
        Some(Job { to: own, row: row + above, column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(numbers: &mut [f32], side: usize, block: usize) -> Vec<Job<'_, f32>> {
        let to = ViewMut::by_rows(numbers, side, side).expect("sizes fit");
        blocks(to, [block; 2], STRIP, 1).0
    }

    #[test]
    fn blocks_cover_a_product_once_and_lanes_have_as_many() {
        for (rows, columns, most, lanes) in [
            (4096, 4096, 1536, 2),
            (4100, 70, 1536, 2),
            (5, 7, 2, 4),
            (100, 1, 4096, 2),
            (3000, 3000, 512, 4),
        ] {
            let mut numbers = vec![0.0f32; rows * columns];
            let to = ViewMut::by_rows(&mut numbers, rows, columns).expect("sizes fit");
            let (mut jobs, [high, wide]) = blocks(to, [most; 2], STRIP, lanes);
            assert!(high <= most && wide <= most);
            for job in &mut jobs {
                assert!(job.to.rows() <= high && job.to.columns() <= wide);
                assert_eq!((job.row % high, job.column % wide), (0, 0));
                for row in 0..job.to.rows() {
                    job.to.row(row).expect("rows are contiguous").iter_mut().for_each(|x| *x += 1.0);
                }
            }
            let strips = jobs.iter().filter(|job| job.column == 0).count();
            assert!(strips % lanes == 0 || rows / strips < LEAST * lanes, "{strips} rows of blocks");
            drop(jobs);
            assert!(numbers.iter().all(|x| *x == 1.0));
        }
    }

    #[test]
    fn lanes_stay_in_their_rows() {
        let mut numbers = vec![0.0; 64 * 64];
        let queue = Queue::new(square(&mut numbers, 64, 16), 1.0, 1.0);
        let (mut first, mut second) = (None, None);
        for turn in 0..8 {
            let a = queue.next(first).expect("a block").row;
            let b = queue.next(second).expect("a block").row;
            assert!(a != b && (turn % 4 == 0 || (first, second) == (Some(a), Some(b))), "{turn}: {a} {b}");
            (first, second) = (Some(a), Some(b));
        }
        assert!(queue.next(first).is_none() && queue.len() == 0);
    }

    #[test]
    fn a_strip_is_half_of_the_hosts_fair_part() {
        let mut numbers = vec![0.0; 4096 * 64];
        let to = ViewMut::by_rows(&mut numbers, 4096, 64).expect("sizes fit");
        let (jobs, _) = blocks(to, [4096, 64], STRIP, 1);
        let queue = Queue::new(jobs, 1.0, 3.0);
        for (left, rows) in [(4096, 512), (3584, 448), (3136, 448), (2688, 384)] {
            let strip = queue.strip().expect("much is left");
            assert_eq!((strip.row, strip.to.rows()), (left - rows, rows));
        }
    }

    #[test]
    fn the_host_takes_nothing_that_devices_do_sooner() {
        let mut numbers = vec![0.0; 256 * 256];
        let queue = Queue::new(square(&mut numbers, 256, 64), 1.0, 20.0);
        // The least that it can take is a sixteenth of it all, and it is a twentieth as fast.
        assert!(queue.strip().is_none());
        assert_eq!(queue.len(), 16, "what it did not take is there");
        let queue = Queue::new(queue.rest().collect(), 1.0, 12.0);
        let strip = queue.strip().expect("it is done before the devices are");
        assert_eq!((strip.to.rows(), strip.to.columns(), queue.len()), (64, 64, 15));
    }

    /// A device and a host of given speeds, in turn by who is free first: all is done once, and both end together.
    #[test]
    fn both_end_together() {
        for (host, device) in [(1.0, 4.0), (1.0, 1.0), (3.0, 1.0), (1.0, 40.0)] {
            let side = 4096;
            let mut numbers = vec![0.0; side * side];
            let queue = Queue::new(square(&mut numbers, side, 512), host, device);
            let (mut times, mut done, mut row) = ([0.0, 0.0], 0, None);
            loop {
                let devices_turn = times[0] <= times[1];
                let job = if devices_turn { queue.next(row) } else { queue.strip() };
                let Some(job) = job else {
                    if devices_turn {
                        break;
                    }
                    times[1] = f64::INFINITY;
                    continue;
                };
                let elements = job.to.rows() * job.to.columns();
                done += elements;
                if devices_turn {
                    row = Some(job.row);
                    times[0] += elements as f64 / device;
                } else {
                    times[1] += elements as f64 / host;
                }
            }
            let end = times.into_iter().filter(|time| time.is_finite()).fold(0.0, f64::max);
            let ideal = (side * side) as f64 / (host + device);
            assert_eq!(done, side * side);
            assert!(end < 1.06 * ideal, "{host} and {device}: {} of the ideal time", end / ideal);
        }
    }
}
