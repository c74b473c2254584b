//! The runner on devices that are lost or hang: a case that loses the device costs no other, and a busy machine none at all.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use recal_hal::{
    Adapter, Attributes, Backend, Command, Device, DeviceOptions, Error, FloatMode, Kernel, Memory,
    MemoryRequest, MemoryStatus, Program, Queue, Result, Ticket,
};
use recal_suite::case::Case;
use recal_suite::patience::Patience;
use recal_suite::runner::{Runner, Verdict};

/// What the device does at a launch, by the number of launches before it.
type Behaviour = fn(u32) -> Mishap;

#[derive(Clone, Copy, PartialEq)]
enum Mishap {
    None,
    /// The device is lost.
    Loss,
    /// The launch keeps a processor at work, and does not end.
    Hang,
    /// The launch ends late, without any work.
    Sleep,
}

#[derive(Clone)]
struct Frail {
    inner: Arc<dyn Adapter>,
    behaviour: Behaviour,
    launches: Arc<AtomicU32>,
    opened: Arc<AtomicU32>,
}

struct FrailDevice {
    inner: Arc<dyn Device>,
    of: Frail,
    lost: Arc<AtomicBool>,
}

struct FrailQueue {
    inner: Arc<dyn Queue>,
    of: Frail,
    lost: Arc<AtomicBool>,
    /// From when on the launch is done.
    late: Mutex<Option<Instant>>,
    hangs: AtomicBool,
}

fn lost() -> Error {
    Error::DeviceLost("for a test".into())
}

impl Backend for Frail {
    fn name(&self) -> &'static str {
        "frail"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        vec![Arc::new(self.clone())]
    }
}

impl Adapter for Frail {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        self.opened.fetch_add(1, SeqCst);
        let inner = self.inner.open(options)?;
        Ok(Arc::new(FrailDevice { inner, of: self.clone(), lost: Arc::default() }))
    }

    fn memory_status(&self) -> MemoryStatus {
        self.inner.memory_status()
    }
}

impl FrailDevice {
    fn check(&self) -> Result<()> {
        if self.lost.load(SeqCst) { Err(lost()) } else { Ok(()) }
    }
}

impl Device for FrailDevice {
    fn allocate(&self, request: MemoryRequest) -> Result<Arc<dyn Memory>> {
        self.check()?;
        self.inner.allocate(request)
    }

    unsafe fn import(&self, _address: *mut u8, _bytes: u64) -> Result<Arc<dyn Memory>> {
        Err(Error::Unsupported("not for these tests".into()))
    }

    fn create_queue(&self) -> Result<Arc<dyn Queue>> {
        self.check()?;
        Ok(Arc::new(FrailQueue {
            inner: self.inner.create_queue()?,
            of: self.of.clone(),
            lost: self.lost.clone(),
            late: Mutex::default(),
            hangs: AtomicBool::new(false),
        }))
    }

    fn load(&self, program: Arc<Program>) -> Result<Arc<dyn Kernel>> {
        self.check()?;
        self.inner.load(program)
    }
}

impl Queue for FrailQueue {
    fn submit(&self, command: Command) -> Result<Ticket> {
        match (self.of.behaviour)(self.of.launches.fetch_add(1, SeqCst)) {
            Mishap::None => {}
            Mishap::Loss => self.lost.store(true, SeqCst),
            Mishap::Hang => self.hangs.store(true, SeqCst),
            Mishap::Sleep => *self.late.lock().unwrap() = Some(Instant::now() + Duration::from_secs(2)),
        }
        if self.lost.load(SeqCst) {
            return Err(lost());
        }
        self.inner.submit(command)
    }

    fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    fn completed(&self) -> Ticket {
        if self.hangs.load(SeqCst) {
            // The work of a rasteriser counts as this process's.
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            return 0;
        }
        let late = self.late.lock().unwrap().is_some_and(|end| Instant::now() < end);
        if late { 0 } else { self.inner.completed() }
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        self.inner.wait(ticket)
    }

    fn error(&self, ticket: Ticket) -> Option<Error> {
        self.inner.error(ticket)
    }

    fn busy(&self) -> Duration {
        self.inner.busy()
    }
}

/// So many cases, a few in turn.
fn cases(count: usize) -> Vec<Case> {
    static SMALL: OnceLock<Vec<Case>> = OnceLock::new();
    let small = SMALL.get_or_init(|| {
        let all = recal_suite::suite::load("mini/").expect("the suite has cases");
        all.into_iter().filter(|case| case.refused.is_none()).take(4).collect()
    });
    assert!(!small.is_empty());
    (0..count).map(|k| small[k % small.len()].clone()).collect()
}

/// Held by a test: what processors do counts for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn frail(behaviour: Behaviour) -> (Frail, Runner) {
    let inner = recal_cpu::CpuBackend::new().adapters()[0].clone();
    let backend = Frail { inner, behaviour, launches: Arc::default(), opened: Arc::default() };
    let runner = Runner::open(&backend, None, FloatMode::Faithful).unwrap();
    (backend, runner)
}

fn failures(verdicts: &[Verdict]) -> Vec<&Verdict> {
    verdicts.iter().filter(|verdict| !matches!(verdict, Verdict::Passed)).collect()
}

#[test]
fn a_lost_device_costs_no_case() {
    let _alone = alone();
    let (backend, runner) = frail(|launch| if launch % 25 == 7 { Mishap::Loss } else { Mishap::None });
    let verdicts = runner.run_all(&cases(60));
    assert_eq!(failures(&verdicts), Vec::<&Verdict>::new());
    assert!(runner.losses() >= 4, "{} losses", runner.losses());
    assert_eq!(backend.opened.load(SeqCst), runner.losses() + 1, "opened once for each loss");
}

#[test]
fn a_case_that_always_loses_the_device_fails_alone() {
    let _alone = alone();
    let (_, runner) = frail(|_| Mishap::Loss);
    assert_eq!(failures(&runner.run_all(&cases(3))).len(), 3);
}

#[test]
fn a_case_that_hangs_fails_alone() {
    let _alone = alone();
    let (_, runner) = frail(|launch| if launch == 9 { Mishap::Hang } else { Mishap::None });
    let runner = runner.with_patience(Patience(Duration::from_secs(3)));
    let verdicts = runner.run_all(&cases(40));
    let failures = failures(&verdicts);
    assert!(matches!(failures[..], [Verdict::Failed(_)]), "{failures:?}");
    assert!(format!("{failures:?}").contains("processors"), "{failures:?}");
    assert_eq!(runner.losses(), 1);
}

/// Time that passes while nothing is done, as on a busy machine, is not counted.
#[test]
fn time_is_work() {
    let _alone = alone();
    let (_, runner) = frail(|launch| if launch == 1 { Mishap::Sleep } else { Mishap::None });
    let runner = runner.with_patience(Patience(Duration::from_millis(1500)));
    let start = Instant::now();
    assert_eq!(failures(&runner.run_all(&cases(2))), Vec::<&Verdict>::new());
    assert!(start.elapsed() >= Duration::from_secs(2), "it was waited for");
}
