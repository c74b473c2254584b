//! Matrix products, shared out between devices and host.
//!
//! A product is cut into blocks that fit a device. Each device takes blocks from one queue; the host takes strips
//! of what is left, if both together are faster than the best alone. What a device cannot finish becomes the host's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use recal::Runtime;

use crate::balance::{Balance, Way};
use crate::cores::cores;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::lane::{self, DEPTH};
use crate::options::Options;
use crate::plain;
use crate::scalar::{Kind, Scalar};
use crate::share::{self, Job, Queue, STRIP};
use crate::tally::{Figures, Tally};
use crate::view::{View, ViewMut};
use crate::worker::{Product, Worker, learn, lock};

/// Least rows and columns that blocks are cut to in order to overlap.
const LEAST: usize = 512;

/// Opens devices.
type Opening = Box<dyn FnOnce() -> Vec<Worker> + Send>;

/// Devices and host, ready to multiply. [`Blas::global`] is as the environment says.
pub struct Blas {
    options: Options,
    devices: LazyLock<Vec<Worker>, Opening>,
    host: Option<&'static Host>,
    tally: Tally,
    /// Operations a second of the host, by kind; 0 is not known.
    host_speed: Mutex<[f64; 4]>,
    /// Who does products, by kind.
    balance: Mutex<[Balance; 4]>,
    calls: AtomicU64,
}

/// The devices of a runtime that the options name.
fn open(runtime: &Runtime, options: &Options) -> Vec<Worker> {
    let known: Vec<(bool, String)> =
        runtime.devices_by_backend().map(|(backend, info)| (backend == "cpu", info.name.clone())).collect();
    let ordinals: Vec<u32> = match &options.devices {
        Some(list) => list.clone(),
        None => {
            let others: Vec<u32> = (0..).zip(&known).filter(|(_, (cpu, _))| !cpu).map(|(n, _)| n).collect();
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
    workers
}

impl Blas {
    /// With the devices of the environment, which are opened when a product wants one. Those that cannot be opened are told in the log
    /// and left out.
    pub fn new(options: Options) -> Blas {
        Blas::with(options, |options| match Runtime::new() {
            Ok(runtime) => open(&runtime, options),
            Err(e) => {
                log::warn!("no devices: {e}");
                Vec::new()
            }
        })
    }

    /// With the devices of a runtime, likewise.
    pub fn on(runtime: &Runtime, options: Options) -> Blas {
        let runtime = runtime.clone();
        Blas::with(options, move |options| open(&runtime, options))
    }

    fn with(options: Options, open: impl FnOnce(&Options) -> Vec<Worker> + Send + 'static) -> Blas {
        let host = Host::get().inspect_err(|why| log::info!("{why}")).ok();
        let known = options.clone();
        Blas {
            options,
            devices: LazyLock::new(Box::new(move || open(&known))),
            host,
            tally: Tally::default(),
            host_speed: Mutex::default(),
            balance: Mutex::default(),
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
            true => {
                (Product { left: b.t(), right: a.t(), alpha, beta, call, threads: 1, room: [0; 2] }, c.t())
            }
            false => (Product { left: a, right: b, alpha, beta, call, threads: 1, room: [0; 2] }, c),
        };
        self.share_out(product, to);
        Ok(())
    }

    /// Has a product done by who does it fastest.
    fn share_out<T: Scalar>(&self, product: Product<T>, to: ViewMut<T>) {
        let start = Instant::now();
        let (rows, columns, steps) = (to.rows(), to.columns(), product.left.columns());
        let operations = |rows: usize| rows as f64 * columns as f64 * steps as f64 * T::KIND.operations();
        let (whole, mut by_devices) = (operations(rows), 0.0);
        if self.host.is_some() && self.is_small(rows, columns, steps) {
            self.on_host(&product, &mut Job { to, row: 0, column: 0 });
            return self.tally.add(T::KIND, [0.0, whole], start.elapsed());
        }
        let (way, speeds) = self.way::<T>(rows, columns, steps);
        // A share that was asked for is of rows, the host's come last.
        let split = match (way, self.options.share) {
            (Way::Host, _) => 0,
            (Way::Both, Some(share)) => ((rows as f64 * share).round() as usize).min(rows),
            _ => rows,
        };
        let (devices_part, host_part) = to.split_rows(split);
        let host_part = (split < rows).then_some(Job { to: host_part, row: split, column: 0 });
        if split == 0 {
            host_part.into_iter().for_each(|mut job| self.on_host(&product, &mut job));
            self.learn_host(T::KIND, whole / start.elapsed().as_secs_f64());
        } else {
            by_devices = self.by_devices(product, way, speeds, devices_part, host_part);
        }
        if self.options.share.is_none() && self.devices.iter().all(|worker| !worker.is_lost()) {
            lock(&self.balance)[T::KIND as usize].learn(whole, way, start.elapsed().as_secs_f64());
        }
        self.tally.add(T::KIND, [by_devices, whole - by_devices], start.elapsed());
    }

    /// Does a product on devices, and on the host if both work: a part that is given, or strips of what is left. The devices'
    /// operations.
    fn by_devices<T: Scalar>(
        &self,
        product: Product<T>,
        way: Way,
        [devices, host]: [f64; 2],
        to: ViewMut<T>,
        part: Option<Job<T>>,
    ) -> f64 {
        let steps = product.left.columns();
        let workers: Vec<&Worker> = self.working(T::KIND).collect();
        let lanes: usize = workers.iter().map(|worker| worker.lanes()).sum();
        // Who packs has cores of its own: one of them keeps a device busy that does more than all cores together.
        let cores = cores();
        let packing = match way {
            Way::Both => {
                ((cores as f64 * devices / (devices + host)).round() as usize).clamp(1, cores.div_ceil(2))
            }
            _ => cores,
        };
        let (jobs, room) = self.cut(to, steps);
        let product = Product { threads: (packing / lanes).max(1), room, ..product };
        let queue = Queue::new(jobs, host, devices);
        let (failed, done) = (Mutex::new(Vec::new()), Mutex::new(0.0));
        if way == Way::Devices && queue.len() == 1 {
            workers[0].work(self, &product, &queue, &failed, &done);
        } else {
            std::thread::scope(|scope| {
                let (product, queue, failed, done) = (&product, &queue, &failed, &done);
                for worker in workers.iter().flat_map(|worker| std::iter::repeat_n(*worker, worker.lanes())) {
                    scope.spawn(move || worker.work(self, product, queue, failed, done));
                }
                if way == Way::Both {
                    let _fewer = self.host.map(|host| host.with_threads(cores.saturating_sub(packing)));
                    let given = part.is_some();
                    let mut strips = part
                        .into_iter()
                        .chain(std::iter::from_fn(|| if given { None } else { queue.strip() }));
                    let (start, mut elements) = (Instant::now(), 0);
                    for mut job in strips.by_ref() {
                        elements += job.to.rows() * job.to.columns();
                        self.on_host(product, &mut job);
                    }
                    let operations = elements as f64 * steps as f64 * T::KIND.operations();
                    if operations > 0.0 {
                        self.learn_host(T::KIND, operations / start.elapsed().as_secs_f64());
                    }
                }
            });
        }
        for mut job in queue.rest().chain(lock(&failed).drain(..)) {
            self.on_host(&product, &mut job);
        }
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who does a product, and the operations a second of devices and host as far as they are known.
    fn way<T: Scalar>(&self, rows: usize, columns: usize, steps: usize) -> (Way, [f64; 2]) {
        let workers = || self.working(T::KIND);
        if workers().next().is_none() {
            return (Way::Host, [0.0, 1.0]);
        }
        match self.options.share {
            Some(share) if share <= 0.0 => return (Way::Host, [0.0, 1.0]),
            Some(share) if share < 1.0 => return (Way::Both, [share, 1.0 - share]),
            Some(_) => return (Way::Devices, [1.0, 0.0]),
            None if self.host.is_none() => return (Way::Devices, [1.0, 0.0]),
            None => {}
        }
        let devices: f64 = workers().map(|worker| worker.speed::<T>(self)).sum();
        let host = self.speed_of_host::<T>();
        // The CPU's cores are the host's: one of the two.
        let both = if workers().any(|w| w.cpu) { 0.0 } else { devices + host };
        let operations = rows as f64 * columns as f64 * steps as f64 * T::KIND.operations();
        let way = lock(&self.balance)[T::KIND as usize].choose(operations, [devices, host, both]);
        (way, [devices, host])
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

    /// Cuts a product into blocks: as many as keep all lanes busy, none larger than memory or `CALBLAS_BLOCK` allow. With them comes
    /// their size.
    fn cut<'a, T: Scalar>(&self, to: ViewMut<'a, T>, steps: usize) -> (Vec<Job<'a, T>>, [usize; 2]) {
        let mut side = self.options.block;
        let steps = (steps * T::PARTS).min(DEPTH);
        for worker in self.working(T::KIND) {
            let memory =
                worker.device.memory_status().map_or(u64::MAX, |status| u64::from(status.local) << 20);
            // A block and what goes into it for each lane, and half of the memory for others.
            while side > 64
                && lane::bytes(T::KIND.precision(), side, side * T::PARTS, steps) as u64
                    * (2 * worker.lanes()) as u64
                    > memory
            {
                side /= 2;
            }
        }
        let lanes: usize = self.working(T::KIND).map(Worker::lanes).sum();
        if self.working(T::KIND).all(|worker| worker.cpu) {
            let wide = lane::wide(T::KIND.precision()) / T::PARTS;
            return share::blocks(to, [side, side.min(wide)], wide, lanes);
        }
        let even = (to.rows() as f64 * to.columns() as f64 / (4 * lanes) as f64).sqrt() as usize;
        let side = even.next_multiple_of(128).max(LEAST).min(side.max(16));
        share::blocks(to, [side, side / T::PARTS], STRIP, lanes)
    }

    /// A block on the host.
    fn on_host<T: Scalar>(&self, product: &Product<T>, job: &mut Job<T>) {
        let steps = 0..product.left.columns();
        let left = product.left.part(job.row..job.row + job.to.rows(), steps.clone());
        let right = product.right.part(steps, job.column..job.column + job.to.columns());
        self.host_product(product.alpha, left, right, product.beta, &mut job.to);
    }

    fn host_product<T: Scalar>(&self, alpha: T, a: View<T>, b: View<T>, beta: T, c: &mut ViewMut<T>) {
        let done = self.host.is_some_and(|host| host.gemm(alpha, a, b, beta, c));
        if !done {
            plain::gemm(alpha, a, b, beta, c);
        }
    }

    /// The devices that work with numbers of a kind.
    pub(crate) fn working(&self, kind: Kind) -> impl Iterator<Item = &Worker> {
        self.devices.iter().filter(move |worker| worker.can(kind))
    }

    pub(crate) fn host(&self) -> Option<&'static Host> {
        self.host
    }
}
