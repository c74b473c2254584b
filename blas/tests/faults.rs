//! A device that fails in the middle, or gets no memory: its blocks go to the host, the answer is right, and one line of the log says
//! so.

mod support;

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use recal::{Config, Runtime, register_backend};
use recal_blas::{Blas, Host, Kind, Options, View, ViewMut};
use recal_cpu::CpuBackend;
use recal_hal::*;
use support::{Random, expected, options};

/// Submissions that still succeed.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);
/// Failed commands are accepted, and fail when they are done.
static LATE: AtomicBool = AtomicBool::new(false);
/// Allocations that still succeed, and how many fail then.
static MEMORY: Mutex<[i64; 2]> = Mutex::new([i64::MAX, 0]);
/// Devices that were opened.
static OPENED: AtomicI64 = AtomicI64::new(0);
/// Tests set these in turn.
static TURN: Mutex<()> = Mutex::new(());
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The CPU, whose queues are lost after some commands.
struct Failing;
struct FailingAdapter(Arc<dyn Adapter>);
struct FailingDevice(Arc<dyn Device>);
struct FailingQueue(Arc<dyn Queue>, Mutex<Vec<Ticket>>);

impl Backend for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        let wrap = |inner| Arc::new(FailingAdapter(inner)) as Arc<dyn Adapter>;
        CpuBackend::new().adapters().into_iter().map(wrap).collect()
    }
}

impl Adapter for FailingAdapter {
    fn attributes(&self) -> &Attributes {
        self.0.attributes()
    }

    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        OPENED.fetch_add(1, SeqCst);
        Ok(Arc::new(FailingDevice(self.0.open(options)?)))
    }

    fn memory_status(&self) -> MemoryStatus {
        self.0.memory_status()
    }
}

impl Device for FailingDevice {
    fn allocate(&self, request: MemoryRequest) -> Result<Arc<dyn Memory>> {
        let mut memory = MEMORY.lock().unwrap();
        match &mut *memory {
            [left, _] if *left > 0 => *left -= 1,
            [_, failures] if *failures > 0 => {
                *failures -= 1;
                return Err(Error::OutOfMemory("others have it".into()));
            }
            _ => {}
        }
        drop(memory);
        self.0.allocate(request)
    }

    unsafe fn import(&self, address: *mut u8, bytes: u64) -> Result<Arc<dyn Memory>> {
        // SAFETY: passed on from the caller.
        unsafe { self.0.import(address, bytes) }
    }

    fn create_queue(&self) -> Result<Arc<dyn Queue>> {
        Ok(Arc::new(FailingQueue(self.0.create_queue()?, Mutex::default())))
    }

    fn load(&self, program: Arc<Program>) -> Result<Arc<dyn Kernel>> {
        self.0.load(program)
    }

    fn counter(&self, index: u32) -> Result<u32> {
        self.0.counter(index)
    }

    fn set_counter(&self, index: u32, value: u32) -> Result<()> {
        self.0.set_counter(index, value)
    }
}

impl Queue for FailingQueue {
    fn submit(&self, command: Command) -> Result<Ticket> {
        let left = LEFT.fetch_sub(1, SeqCst);
        // Half of the faults are told at once, half when the command is done.
        if left <= 0 && !LATE.load(SeqCst) {
            return Err(Error::DeviceLost("it went away".into()));
        }
        let ticket = self.0.submit(command)?;
        if left <= 0 {
            self.1.lock().unwrap().push(ticket);
        }
        Ok(ticket)
    }

    fn flush(&self) -> Result<()> {
        self.0.flush()
    }

    fn completed(&self) -> Ticket {
        self.0.completed()
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        self.0.wait(ticket)
    }

    fn error(&self, ticket: Ticket) -> Option<Error> {
        let failed = self.1.lock().unwrap().contains(&ticket);
        failed.then(|| Error::DeviceLost("it went away".into())).or_else(|| self.0.error(ticket))
    }

    fn busy(&self) -> Duration {
        self.0.busy()
    }
}

/// What our crate says: queues of the CPU tell that they were closed with work in them.
struct Lines;

impl log::Log for Lines {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }

    fn log(&self, record: &log::Record) {
        let line = record.args().to_string();
        // An OpenBLAS that is older than the processor is no fault of a device.
        let other = line.contains("does not know this processor");
        if record.level() <= log::Level::Warn && record.target().starts_with("recal_blas") && !other {
            LINES.lock().unwrap().push(line);
        }
    }

    fn flush(&self) {}
}

/// A runtime with the failing device, and the log.
fn failing() -> Runtime {
    let _ = log::set_logger(&Lines);
    log::set_max_level(log::LevelFilter::Warn);
    register_backend(Arc::new(Failing));
    let config = Config { backends: vec!["failing".into()], ..Config::default() };
    Runtime::with_config(config).unwrap()
}

/// An engine with it.
fn engine(block: usize) -> Blas {
    Blas::on(&failing(), options(block))
}

/// What is small is the host's, if there is one, and needs no device to be opened.
#[test]
fn small_products_open_no_device() {
    let _turn = TURN.lock().unwrap();
    let blas = Blas::on(&failing(), Options::default());
    let opened = OPENED.load(SeqCst);
    for (side, expected) in [(8, Host::get().is_err()), (256, true)] {
        let a = vec![1.0f32; side * side];
        let mut c = vec![0.0; side * side];
        let view = View::by_rows(&a, side, side).unwrap();
        blas.gemm(1.0, view, view, 0.0, ViewMut::by_rows(&mut c, side, side).unwrap()).unwrap();
        assert_eq!((OPENED.load(SeqCst) > opened, c[side + 1]), (expected, side as f32), "{side}");
    }
}

#[test]
fn memory_that_is_kept_gives_way_and_a_device_without_memory_is_retired() {
    let _turn = TURN.lock().unwrap();
    LINES.lock().unwrap().clear();
    let blas = engine(64);
    let mut random = Random(2);
    // A block each. The second is much larger, so that the memory of the first is not enough.
    for (side, failures) in [(8, 0), (300, 1), (900, i64::MAX)] {
        let mut numbers = || (0..side * 64).map(|_| random.integer()).collect::<Vec<f64>>();
        let (a, b) = (numbers(), numbers());
        let mut c = vec![0.0; 64 * 64];
        let (va, vb) = (View::by_rows(&a, 64, side).unwrap(), View::by_rows(&b, side, 64).unwrap());
        let wanted = expected(1.0, va, vb, 0.0, View::by_columns(&c, 64, 64).unwrap());
        *MEMORY.lock().unwrap() = [2, failures];
        blas.gemm(1.0, va, vb, 0.0, ViewMut::by_columns(&mut c, 64, 64).unwrap()).unwrap();
        let left = std::mem::replace(&mut *MEMORY.lock().unwrap(), [i64::MAX, 0]);
        assert_eq!(c, wanted, "{side}");
        let figures = blas.figures(Kind::Double);
        let lines = std::mem::take(&mut *LINES.lock().unwrap());
        match failures {
            i64::MAX => {
                assert!(left[1] < failures && figures.operations[1] > 0.0, "{left:?} {figures:?}");
                assert_eq!((lines.len(), blas.devices().count()), (1, 0), "{lines:?}");
                assert!(lines[0].contains("others have it"), "{lines:?}");
            }
            _ => {
                assert_eq!((left[1], figures.operations[1]), (0, 0.0), "{side}");
                assert_eq!((lines.len(), blas.devices().count()), (0, 1), "{lines:?}");
            }
        }
    }
}

#[test]
fn blocks_of_a_lost_device_are_the_hosts() {
    let _turn = TURN.lock().unwrap();
    let (m, n, k) = (70, 60, 50);
    let mut random = Random(1);
    let mut numbers = |count: usize| (0..count).map(|_| random.integer()).collect::<Vec<f64>>();
    let (a, b, c) = (numbers(m * k), numbers(k * n), numbers(m * n));
    let (va, vb) = (View::by_columns(&a, m, k).unwrap(), View::by_columns(&b, k, n).unwrap());
    let wanted = expected(2.0, va, vb, 3.0, View::by_columns(&c, m, n).unwrap());
    // What is submitted first is the measurement of kernels, unless it is in a file, as it is after the first product here. With it
    // there, a product has as many commands each time.
    let folder = std::env::temp_dir().join(format!("recal-blas-faults-{}", std::process::id()));
    let engine = |measured: bool| {
        Blas::on(&failing(), Options { cache: measured.then(|| folder.clone()), ..options(16) })
    };
    let mut commands = 0;
    for _ in 0..2 {
        LEFT.store(100_000, SeqCst);
        engine(true).gemm(2.0, va, vb, 3.0, ViewMut::by_columns(&mut c.clone(), m, n).unwrap()).unwrap();
        commands = 100_000 - LEFT.swap(i64::MAX, SeqCst);
    }
    assert!(commands >= 20, "{commands} commands");
    // The fault comes later and later, at last not at all.
    let (mut hosts, mut shared) = (0, 0);
    let late = [0, 1, commands / 2, commands / 2 + 1, commands - 2, commands - 1].map(|after| (true, after));
    for (measured, after) in [(false, 0), (false, 5)].into_iter().chain(late).chain([(true, 100_000)]) {
        let blas = engine(measured);
        LATE.store(after % 2 == 1, SeqCst);
        LEFT.store(after, SeqCst);
        let mut found = c.clone();
        blas.gemm(2.0, va, vb, 3.0, ViewMut::by_columns(&mut found, m, n).unwrap()).unwrap();
        LEFT.store(i64::MAX, SeqCst);
        assert_eq!(found, wanted, "lost after {after}");
        let figures = blas.figures(Kind::Double);
        let lines = std::mem::take(&mut *LINES.lock().unwrap());
        if after == 100_000 {
            assert_eq!((lines.len(), figures.operations[1]), (0, 0.0), "{lines:?}");
            assert_eq!(blas.devices().count(), 1);
            continue;
        }
        assert!(figures.operations[1] > 0.0, "lost after {after}: the host did nothing");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("its blocks go to the host"), "{lines:?}");
        assert_eq!(blas.devices().count(), 0);
        hosts += i32::from(figures.operations[0] == 0.0);
        shared += i32::from(figures.operations[0] > 0.0);
        // And it stays with the host.
        let mut found = c.clone();
        blas.gemm(2.0, va, vb, 3.0, ViewMut::by_columns(&mut found, m, n).unwrap()).unwrap();
        assert_eq!(found, wanted);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(hosts > 0 && shared > 0, "faults came at {hosts} beginnings and {shared} times in the middle");
}
