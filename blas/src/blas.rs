//! Matrix products, shared out between devices and host.
//!
//! A product is cut into blocks that fit a device. Each device takes blocks from one queue, on two lanes; the host does a strip
//! whose size follows measured speeds. What a device cannot finish becomes the host's.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use recal::Runtime;

use crate::error::{Error, Result};
use crate::host::Host;
use crate::lane::{self, DEPTH};
use crate::options::Options;
use crate::plain;
use crate::scalar::{Kind, Scalar};
use crate::tally::{Figures, Tally};
use crate::view::{View, ViewMut};
use crate::worker::{Job, LANES, Product, Worker, learn, lock};

/// Least rows and columns that blocks are cut to in order to overlap.
const LEAST: usize = 512;

/// Devices and host, ready to multiply. [`Blas::global`] is as the environment says.
pub struct Blas {
    options: Options,
    devices: Vec<Worker>,
    host: Option<&'static Host>,
    tally: Tally,
    /// Operations a second of the host, by kind; 0 is not known.
    host_speed: Mutex<[f64; 4]>,
    calls: AtomicU64,
}

impl Blas {
    /// With the devices of the environment. Devices that cannot be opened are told in the log and left out.
    pub fn new(options: Options) -> Blas {
        match Runtime::new() {
            Ok(runtime) => Blas::on(&runtime, options),
            Err(e) => {
                log::warn!("no devices: {e}");
                Blas::with(Vec::new(), options)
            }
        }
    }

    /// With the devices of a runtime.
    pub fn on(runtime: &Runtime, options: Options) -> Blas {
        let known: Vec<(bool, String)> = runtime
            .devices_by_backend()
            .map(|(backend, info)| (backend == "cpu", info.name.clone()))
            .collect();
        let ordinals: Vec<u32> = match &options.devices {
            Some(list) => list.clone(),
            None => {
                let others: Vec<u32> =
                    (0..).zip(&known).filter(|(_, (cpu, _))| !cpu).map(|(n, _)| n).collect();
                if others.is_empty() { (0..).zip(&known).map(|(n, _)| n).collect() } else { others }
            }
        };
        let ordinals = match options.rank {
            Some(rank) if !ordinals.is_empty() => vec![ordinals[rank as usize % ordinals.len()]],
            _ => ordinals,
        };
        let mut workers = Vec::new();
        for ordinal in ordinals {
            match runtime.open(ordinal) {
                Ok(device) => {
                    let (cpu, name) = known[ordinal as usize].clone();
                    workers.push(Worker::new(device, name, cpu));
                }
                Err(e) => log::warn!("CALBLAS_DEVICES: {e}"),
            }
        }
        Blas::with(workers, options)
    }

    fn with(devices: Vec<Worker>, options: Options) -> Blas {
        let host = Host::get().inspect_err(|why| log::info!("{why}")).ok();
        Blas {
            options,
            devices,
            host,
            tally: Tally::default(),
            host_speed: Mutex::default(),
            calls: AtomicU64::new(1),
        }
    }

    /// As the variables `CALBLAS_…` say.
    pub fn global() -> &'static Blas {
        static GLOBAL: OnceLock<Blas> = OnceLock::new();
        GLOBAL.get_or_init(|| Blas::new(Options::from_env()))
    }

    /// How it was made.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Names of the devices that work.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().filter(|w| !w.is_lost()).map(|w| &*w.name)
    }

    /// What was done so far with numbers of one kind.
    pub fn figures(&self, kind: Kind) -> Figures {
        self.tally.figures(kind)
    }

    /// Tells the figures where `CALBLAS_LOG` says.
    pub fn tell(&self) {
        if let Some(to) = &self.options.log {
            self.tally.tell(to);
        }
    }

    /// Whether a product of this many multiplications is the host's anyhow.
    pub fn is_small(&self, rows: usize, columns: usize, steps: usize) -> bool {
        (rows as f64) * (columns as f64) * (steps as f64) < self.options.threshold
    }

    /// C = alpha A B + beta C. With beta 0, C is not read; with alpha 0, A and B are not.
    pub fn gemm<T: Scalar>(
        &self,
        alpha: T,
        a: View<T>,
        b: View<T>,
        beta: T,
        mut c: ViewMut<T>,
    ) -> Result<()> {
        if a.columns() != b.rows() || a.rows() != c.rows() || b.columns() != c.columns() {
            return Err(Error::shape(format!(
                "{} x {} times {} x {} is not {} x {}",
                a.rows(),
                a.columns(),
                b.rows(),
                b.columns(),
                c.rows(),
                c.columns()
            )));
        }
        if c.rows() == 0 || c.columns() == 0 {
            return Ok(());
        }
        if a.columns() == 0 || alpha == T::ZERO {
            c.scale(beta);
            return Ok(());
        }
        // Rows of D are what lies together in C.
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let [down, across] = c.strides().map(isize::unsigned_abs);
        let (product, to) = match down < across {
            true => (Product { left: b.t(), right: a.t(), alpha, beta, call }, c.t()),
            false => (Product { left: a, right: b, alpha, beta, call }, c),
        };
        self.share_out(&product, to);
        Ok(())
    }

    /// Splits a product between host and devices, and does it.
    fn share_out<T: Scalar>(&self, product: &Product<T>, to: ViewMut<T>) {
        let start = Instant::now();
        let (rows, columns, steps) = (to.rows(), to.columns(), product.left.columns());
        let operations = |rows: usize| rows as f64 * columns as f64 * steps as f64 * T::KIND.operations();
        let (mut by_devices, whole) = (0.0, operations(rows));
        let share = self.devices_share::<T>(rows, columns, steps);
        // Whole rows: the host's come last.
        let split = match share {
            _ if share <= 0.0 => 0,
            _ if share >= 1.0 => rows,
            _ => ((rows as f64 * share).round() as usize).min(rows),
        };
        let (devices_part, mut host_part) = to.split_rows(split);
        if split == 0 {
            self.on_host(product, &mut Job { to: host_part, row: 0, column: 0, done: 0 });
        } else {
            let jobs: VecDeque<Job<T>> = self.cut(devices_part, steps).into();
            let inline = jobs.len() == 1 && split == rows;
            let (queue, failed) = (Mutex::new(jobs), Mutex::new(Vec::new()));
            let done = Mutex::new(0.0);
            let workers: Vec<&Worker> = self.devices.iter().filter(|w| w.can(T::KIND)).collect();
            if inline {
                workers[0].work(self, product, &queue, &failed, &done);
            } else {
                std::thread::scope(|scope| {
                    for worker in &workers {
                        for _ in 0..LANES {
                            scope.spawn(|| worker.work(self, product, &queue, &failed, &done));
                        }
                    }
                    if split < rows {
                        let start = Instant::now();
                        let mut job = Job { to: host_part.reborrow(), row: split, column: 0, done: 0 };
                        self.on_host(product, &mut job);
                        self.learn_host(T::KIND, operations(rows - split) / start.elapsed().as_secs_f64());
                    }
                });
            }
            by_devices = *lock(&done);
            let left = lock(&queue).drain(..).chain(lock(&failed).drain(..)).collect::<Vec<_>>();
            for mut job in left {
                self.on_host(product, &mut job);
            }
        }
        if split == 0 {
            self.learn_host(T::KIND, whole / start.elapsed().as_secs_f64());
        }
        self.tally.add(T::KIND, [by_devices, whole - by_devices], start.elapsed());
    }

    /// The part of a product that devices should do.
    fn devices_share<T: Scalar>(&self, rows: usize, columns: usize, steps: usize) -> f64 {
        let workers = || self.devices.iter().filter(|w| w.can(T::KIND));
        if workers().next().is_none() || (self.host.is_some() && self.is_small(rows, columns, steps)) {
            return 0.0;
        }
        if let Some(share) = self.options.share {
            return share;
        }
        if self.host.is_none() {
            return 1.0;
        }
        let devices: f64 = workers().map(|worker| worker.speed::<T>(self)).sum();
        let host = self.speed_of_host::<T>();
        // The CPU's cores are the host's: one of the two, whoever is faster.
        match workers().all(|w| w.cpu) {
            true if devices >= host => 1.0,
            true => 0.0,
            false => devices / (devices + host),
        }
    }

    /// The host's operations a second: measured by a product of its own if there was none yet.
    fn speed_of_host<T: Scalar>(&self) -> f64 {
        let known = lock(&self.host_speed)[T::KIND as usize];
        if known > 0.0 {
            return known;
        }
        let (side, numbers) = (LEAST / 2, vec![T::ONE; LEAST * LEAST / 4]);
        let mut to = numbers.clone();
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let (Ok(factor), Ok(mut to)) =
                (View::by_columns(&numbers, side, side), ViewMut::by_columns(&mut to, side, side))
            else {
                unreachable!("sizes are those of the vectors")
            };
            let start = Instant::now();
            self.host_product(T::ONE, factor, factor, T::ZERO, &mut to);
            best = best.min(start.elapsed().as_secs_f64());
        }
        let speed = (side as f64).powi(3) * T::KIND.operations() / best;
        lock(&self.host_speed)[T::KIND as usize] = speed;
        speed
    }

    fn learn_host(&self, kind: Kind, speed: f64) {
        learn(&mut lock(&self.host_speed)[kind as usize], speed);
    }

    /// Cuts a product into blocks: as many as keep all lanes busy, none larger than memory or `CALBLAS_BLOCK` allow.
    fn cut<'a, T: Scalar>(&self, to: ViewMut<'a, T>, steps: usize) -> Vec<Job<'a, T>> {
        let mut side = self.options.block;
        let steps = (steps * T::PARTS).min(DEPTH);
        for worker in self.devices.iter().filter(|w| w.can(T::KIND)) {
            let memory =
                worker.device.memory_status().map_or(u64::MAX, |status| u64::from(status.local) << 20);
            // Two lanes with up to three sets each, and half of the memory for others.
            while side > 64
                && lane::bytes(T::KIND.precision(), side, side * T::PARTS, steps) as u64
                    * (2 * 3 * LANES) as u64
                    > memory
            {
                side /= 2;
            }
        }
        let lanes = LANES * self.devices.iter().filter(|w| w.can(T::KIND)).count();
        let even = (to.rows() as f64 * to.columns() as f64 / (4 * lanes) as f64).sqrt() as usize;
        let side = even.next_multiple_of(128).max(LEAST).min(side.max(16));
        let mut jobs = Vec::new();
        let mut below = to;
        let mut row = 0;
        while below.rows() > 0 {
            let high = below.rows().min(side);
            let (mut strip, rest) = below.split_rows(high);
            below = rest;
            let mut column = 0;
            while strip.columns() > 0 {
                let wide = strip.columns().min(side / T::PARTS);
                let (block, rest) = strip.split_columns(wide);
                strip = rest;
                jobs.push(Job { to: block, row, column, done: 0 });
                column += wide;
            }
            row += high;
        }
        jobs
    }

    /// The rest of a block on the host.
    fn on_host<T: Scalar>(&self, product: &Product<T>, job: &mut Job<T>) {
        let steps = job.done..product.left.columns();
        let left = product.left.part(job.row..job.row + job.to.rows(), steps.clone());
        let right = product.right.part(steps, job.column..job.column + job.to.columns());
        let beta = if job.done == 0 { product.beta } else { T::ONE };
        self.host_product(product.alpha, left, right, beta, &mut job.to);
    }

    fn host_product<T: Scalar>(&self, alpha: T, a: View<T>, b: View<T>, beta: T, c: &mut ViewMut<T>) {
        let done = self.host.is_some_and(|host| host.gemm(alpha, a, b, beta, c));
        if !done {
            plain::gemm(alpha, a, b, beta, c);
        }
    }

    pub(crate) fn host(&self) -> Option<&'static Host> {
        self.host
    }
}
