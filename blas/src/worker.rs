//! A device at work: it takes blocks from a queue, on lanes, until there are none or it fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use recal::Device;

use crate::blas::Blas;
use crate::error::{Error, Result};
use crate::lane::{Begun, Factors, Lane};
use crate::scalar::{Kind, Precision, Scalar};
use crate::share::{Job, Queue};
use crate::tune::{self, Tuned};
use crate::view::View;

/// Lanes of the CPU: one packs while the other computes. Another device computes and copies beside the one that packs for it, with
/// all threads, and what is packed is packed once.
const LANES: usize = 2;

/// How much the latest measurement counts.
const LATEST: f64 = 0.5;

/// A device.
pub(crate) struct Worker {
    pub(crate) device: Device,
    pub(crate) name: String,
    /// It is the CPU: its memory is the host's, its cores are, too.
    pub(crate) cpu: bool,
    lost: AtomicBool,
    /// Those that nobody uses.
    idle: Mutex<Vec<Lane>>,
    tuned: [Mutex<Option<Tuned>>; 2],
    /// Whose measurement was refuted. Once is enough: where products stay faster than any measurement, none is better than it.
    refuted: [AtomicBool; 2],
    /// Operations a second, by kind, as measured by products.
    speed: Mutex<[f64; 4]>,
}

/// What is the same for all blocks of a product D = alpha L R + beta D.
pub(crate) struct Product<'a, T> {
    pub(crate) left: View<'a, T>,
    pub(crate) right: View<'a, T>,
    pub(crate) alpha: T,
    pub(crate) beta: T,
    pub(crate) call: u64,
    /// Threads that pack for a lane.
    pub(crate) threads: usize,
    /// Rows and columns of blocks.
    pub(crate) room: [usize; 2],
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn learn(known: &mut f64, speed: f64) {
    if speed.is_finite() {
        *known = if *known > 0.0 { *known * (1.0 - LATEST) + speed * LATEST } else { speed };
    }
}

impl Worker {
    pub(crate) fn new(device: Device, name: String, cpu: bool) -> Worker {
        Worker {
            device,
            name,
            cpu,
            lost: AtomicBool::new(false),
            idle: Mutex::default(),
            tuned: Default::default(),
            refuted: Default::default(),
            speed: Mutex::default(),
        }
    }

    /// How many of its lanes work on a product.
    pub(crate) fn lanes(&self) -> usize {
        if self.cpu { LANES } else { 1 }
    }

    pub(crate) fn can(&self, kind: Kind) -> bool {
        let precise = kind.precision() == Precision::Single || self.device.info().double_precision;
        precise && !self.is_lost()
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Takes the device out of use.
    fn lose(&self, error: &Error) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            log::warn!("{error}: its blocks go to the host, and it is not used any more");
            lock(&self.idle).clear();
        }
    }

    fn lane(&self) -> Result<Lane> {
        match lock(&self.idle).pop() {
            Some(lane) => Ok(lane),
            None => Lane::new(&self.device, self.cpu).map_err(|e| Error::device(&self.name, &e)),
        }
    }

    fn keep(&self, lane: Lane) {
        if !self.is_lost() {
            lock(&self.idle).push(lane);
        }
    }

    pub(crate) fn tuned<T: Scalar>(&self, blas: &Blas, lane: &mut Lane) -> Result<Tuned> {
        let mut tuned = lock(&self.tuned[T::KIND.precision() as usize]);
        if let Some(tuned) = *tuned {
            return Ok(tuned);
        }
        lane.among(1);
        let found = tune::tuned::<T::Real>(lane, &self.name, blas.options().cache.as_deref());
        let found = found.map_err(|e| Error::device(&self.name, &e))?;
        *tuned = Some(found);
        Ok(found)
    }

    /// Operations a second of the kernel's measurement. 0 if the device fails.
    pub(crate) fn kernel_speed<T: Scalar>(&self, blas: &Blas) -> f64 {
        let tuned = self.lane().and_then(|mut lane| {
            let tuned = self.tuned::<T>(blas, &mut lane)?;
            self.keep(lane);
            Ok(tuned)
        });
        match tuned {
            Ok(tuned) => tuned.speed,
            Err(e) => {
                self.lose(&e);
                0.0
            }
        }
    }

    /// Operations a second: of products so far, else of the kernel's measurement. 0 if the device fails.
    pub(crate) fn speed<T: Scalar>(&self, blas: &Blas) -> f64 {
        let known = lock(&self.speed)[T::KIND as usize];
        if known > 0.0 { known } else { self.kernel_speed::<T>(blas) }
    }

    /// Takes blocks until there are none. What fails goes to `failed`.
    pub(crate) fn work<'a, T: Scalar>(
        &self,
        blas: &Blas,
        product: &Product<T>,
        queue: &Queue<'a, T>,
        failed: &Mutex<Vec<Job<'a, T>>>,
        done: &Mutex<f64>,
    ) {
        let start = Instant::now();
        let mut operations = 0.0;
        let mut lane = match self.lane() {
            Ok(lane) => lane,
            Err(e) => return self.lose(&e),
        };
        let tuned = match self.tuned::<T>(blas, &mut lane) {
            Ok(tuned) => tuned,
            Err(e) => return self.lose(&e),
        };
        lane.among(self.lanes());
        // A block is waited for when the next one is packed.
        let mut begun: Option<(Job<'a, T>, Begun)> = None;
        let fail = |jobs: [Option<Job<'a, T>>; 2], e: Option<recal::Error>| {
            lock(failed).extend(jobs.into_iter().flatten());
            e.into_iter().for_each(|e| self.lose(&Error::device(&self.name, &e)));
        };
        loop {
            // The other lane may have lost the device.
            if self.is_lost() {
                return fail([begun.map(|(job, _)| job), None], None);
            }
            let row = lane.last.filter(|(call, _)| *call == product.call).map(|(_, row)| row);
            let steps = product.left.columns();
            // Who computes it itself has it done then, and in the cache.
            let ask = begun.is_none() || !lane.is_alone();
            let next = if ask { queue.next(row) } else { None };
            let next = next.map(|job| {
                let (rows, columns) =
                    (job.row..job.row + job.to.rows(), job.column..job.column + job.to.columns());
                let factors = Factors {
                    left: product.left.part(rows, 0..steps),
                    right: product.right.part(0..steps, columns),
                    at: (product.call, job.row, job.column),
                    threads: product.threads,
                    room: product.room,
                };
                let result = lane.begin(tuned.kernel, factors);
                (job, result)
            });
            let (next, result) = next.map_or((None, None), |(job, result)| (Some(job), Some(result)));
            if let Some((mut job, block)) = begun.take() {
                let scales = [product.alpha, product.beta];
                if let Err(e) = lane.end(block, scales, job.to.reborrow()) {
                    return fail([Some(job), next], Some(e));
                }
                let own =
                    job.to.rows() as f64 * job.to.columns() as f64 * steps as f64 * T::KIND.operations();
                operations += own;
                *lock(done) += own;
            }
            match (next, result) {
                (Some(job), Some(Ok(block))) => begun = Some((job, block)),
                (next, Some(Err(e))) => return fail([next, None], Some(e)),
                _ if !ask => {}
                _ => break,
            }
        }
        self.keep(lane);
        if operations > 0.0 {
            // Lanes work side by side, so what one of them did in its time is a part.
            let lanes = if operations < *lock(done) { self.lanes() as f64 } else { 1.0 };
            let speed = lanes * operations / start.elapsed().as_secs_f64();
            learn(&mut lock(&self.speed)[T::KIND as usize], speed);
            self.doubt::<T>(blas, tuned, speed);
        }
    }

    /// Has kernels measured again if a product was faster than the measurement, which may be an old one, allows for.
    fn doubt<T: Scalar>(&self, blas: &Blas, tuned: Tuned, speed: f64) {
        let precision = T::KIND.precision();
        if tuned.is_refuted_by(speed) && !self.refuted[precision as usize].swap(true, Ordering::Relaxed) {
            tune::forget(&self.name, self.device.float_mode(), precision, blas.options().cache.as_deref());
            *lock(&self.tuned[precision as usize]) = None;
        }
    }
}
