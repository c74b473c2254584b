//! Runs cases on a backend: compile, allocate, upload, launch, wait, compare.
//!
//! Input: cases and a device; output: a [`Verdict`] for each. A panic in a compiler stage or a backend fails the
//! case that caused it, not the run. A device that is lost is opened again, and cases that were under way on it run once
//! more: the one that lost it is alone then with what it did. Memory that a case does not mention, padding included, must not change.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use recal_hal::{
    Adapter, Backend, Bindings, Command, Device, DeviceOptions, Error, Extent, FloatMode, Heap, Kernel,
    Memory, MemoryRequest, Queue, Surface,
};

use crate::case::{Buffer, Case, Slot};
use crate::judge::{compare, panic_text, refusal};
use crate::native::Values;
use crate::patience::{Patience, STILL};
use crate::{memory, native};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As expected.
    Passed,
    /// The device or the mode is not meant to run it; says why.
    Skipped(String),
    /// What was wrong, a line each.
    Failed(Vec<String>),
}

/// A device under test.
pub struct Runner {
    adapter: Arc<dyn Adapter>,
    options: DeviceOptions,
    device: Mutex<Opened>,
    losses: Arc<AtomicU32>,
    /// How much a launch may take.
    patience: Patience,
    mode: FloatMode,
    fp64: bool,
    max_group: u32,
    compute: bool,
    /// Native mode: the CPU in faithful mode, and the largest error found in each operation.
    oracle: Option<Arc<dyn Device>>,
    errors: Mutex<BTreeMap<String, u64>>,
    /// `backend: device`, for people.
    pub name: String,
}

/// Where a thread runs its cases.
struct Seat {
    opened: Opened,
    queue: Arc<dyn Queue>,
    patience: Patience,
    /// How often the device was lost by now.
    losses: Arc<AtomicU32>,
}

/// The device as it was opened last.
#[derive(Clone)]
struct Opened {
    device: Arc<dyn Device>,
    /// How often it was lost.
    losses: u32,
}

/// Why a case did not pass.
struct Failure {
    /// A line each.
    lines: Vec<String>,
    device: Fate,
}

/// What became of the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Nothing.
    Well,
    /// It is gone, because of this case or another.
    Lost,
    /// This case may run on it for ever.
    Hung,
}

impl From<Vec<String>> for Failure {
    fn from(lines: Vec<String>) -> Self {
        Self { lines, device: Fate::Well }
    }
}

/// What went wrong where.
fn failed(what: &str, error: &Error) -> Failure {
    let device = match error {
        Error::DeviceLost(_) => Fate::Lost,
        Error::Timeout(_) => Fate::Hung,
        _ => Fate::Well,
    };
    Failure { lines: vec![format!("{what}: {error}")], device }
}

/// How often a case runs on a device that is lost under it.
const TRIES: u32 = 3;

/// Launches of each kernel: the second one may get code that knows the sizes of what was bound.
const LAUNCHES: usize = 2;

impl Runner {
    /// Opens the first device of a backend, or the first whose name contains `device`.
    pub fn open(backend: &dyn Backend, device: Option<&str>, mode: FloatMode) -> Result<Runner, String> {
        Runner::open_to(backend, device, DeviceOptions { float_mode: mode, ..DeviceOptions::default() })
    }

    /// The same with other options.
    pub fn open_to(
        backend: &dyn Backend,
        device: Option<&str>,
        options: DeviceOptions,
    ) -> Result<Runner, String> {
        let mode = options.float_mode;
        let adapters = backend.adapters();
        let (name, number) = device.map_or(("", 0), split);
        let adapter = adapters
            .iter()
            .filter(|a| a.attributes().name.to_lowercase().contains(&name.to_lowercase()))
            .nth(number)
            .ok_or_else(|| format!("the {} backend has no such device here", backend.name()))?;
        // Launches are timed here, by work; by the clock only what does none.
        let options = DeviceOptions { watchdog: Some(STILL), ..options };
        let attributes = adapter.attributes();
        let oracle = match mode {
            FloatMode::Faithful | FloatMode::Default => None,
            FloatMode::Native => {
                let faithful = DeviceOptions { float_mode: FloatMode::Faithful, ..options.clone() };
                let cpu = recal_cpu::CpuBackend::new().adapters();
                let cpu = cpu.first().ok_or("no CPU device")?;
                Some(cpu.open(&faithful).map_err(|e| e.to_string())?)
            }
        };
        Ok(Runner {
            oracle,
            errors: Mutex::default(),
            device: Mutex::new(Opened {
                device: adapter.open(&options).map_err(|e| e.to_string())?,
                losses: 0,
            }),
            losses: Arc::default(),
            adapter: adapter.clone(),
            options,
            patience: Patience::default(),
            mode,
            fp64: attributes.double_precision,
            max_group: attributes.max_group,
            compute: attributes.compute,
            name: format!("{}: {}", backend.name(), attributes.name),
        })
    }

    /// Lets launches take so much.
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// The device as it is now.
    fn opened(&self) -> Opened {
        self.device.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the device again, unless somebody else has since.
    fn reopen(&self, lost: &Opened) -> Result<(), Error> {
        let mut now = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        if now.losses == lost.losses {
            let device = self.adapter.open(&self.options)?;
            // What may still be running on the old one keeps it.
            std::mem::forget(std::mem::replace(&mut *now, Opened { device, losses: lost.losses + 1 }));
            self.losses.store(now.losses, Relaxed);
        }
        Ok(())
    }

    /// How often the device was lost.
    pub fn losses(&self) -> u32 {
        self.losses.load(Relaxed)
    }

    /// What random kernels may use here.
    pub fn engine(&self) -> crate::fuzz::Engine {
        crate::fuzz::Engine { device: true, float64: self.fp64, atomics64: self.fp64 }
    }

    /// Runs all cases over the machine's cores, verdicts in their order.
    pub fn run_all(&self, cases: &[Case]) -> Vec<Verdict> {
        cases.par_iter().map_init(|| None, |seat, case| self.run(case, seat)).collect()
    }

    /// Runs one case, on the queue of a thread.
    fn run(&self, case: &Case, seat: &mut Option<Seat>) -> Verdict {
        if case.needs.fp64 && !self.fp64 {
            return Verdict::Skipped("no 64-bit floats".into());
        }
        if case.needs.compute && !self.compute {
            return Verdict::Skipped("no compute kernels".into());
        }
        if let Some(Extent::Grid { block, .. }) = case.extent
            && block.iter().product::<u32>() > self.max_group
        {
            return Verdict::Skipped(format!("groups of more than {} threads", self.max_group));
        }
        if case.faithful_only && self.mode == FloatMode::Native {
            return Verdict::Skipped("holds in faithful mode only".into());
        }
        if self.oracle.is_some() && native::operation(case).is_some() && case.name.ends_with("/literal") {
            return Verdict::Skipped("constants that native mode promises nothing of".into());
        }
        match catch_unwind(AssertUnwindSafe(|| self.seated(seat, |seat| self.attempt(case, seat)))) {
            Ok(Ok(())) => Verdict::Passed,
            Ok(Err(lines)) => Verdict::Failed(lines),
            Err(panic) => Verdict::Failed(vec![format!("panic: {}", panic_text(&*panic))]),
        }
    }

    /// Does something on the device, again if that is lost meanwhile.
    fn seated<T>(
        &self,
        seat: &mut Option<Seat>,
        mut f: impl FnMut(&Seat) -> Result<T, Failure>,
    ) -> Result<T, Vec<String>> {
        let mut tries = 0;
        loop {
            let opened = self.opened();
            if seat.as_ref().is_none_or(|seat| seat.opened.losses != opened.losses) {
                let (patience, losses) = (self.patience, self.losses.clone());
                let queue = opened.device.create_queue();
                *seat = queue.ok().map(|queue| Seat { opened: opened.clone(), queue, patience, losses });
            }
            tries += 1;
            let failure = match seat.as_ref().map(&mut f) {
                Some(Ok(result)) => return Ok(result),
                Some(Err(failure)) => failure,
                None => Failure { lines: vec!["no queue".into()], device: Fate::Lost },
            };
            if failure.device == Fate::Well {
                return Err(failure.lines);
            }
            // A queue with work that never ends waits for it when it goes.
            std::mem::forget(seat.take());
            if let Err(error) = self.reopen(&opened) {
                return Err(vec![failure.lines.join(", "), format!("opened again: {error}")]);
            }
            if tries == TRIES || failure.device == Fate::Hung {
                return Err(failure.lines);
            }
        }
    }

    fn attempt(&self, case: &Case, seat: &Seat) -> Result<(), Failure> {
        let program = match (recal_il::compile(case.text.as_bytes()), &case.refused) {
            (Ok(program), None) => program,
            (Ok(_), Some(rule)) => return Err(vec![format!("compiles, but must be refused ({rule})")].into()),
            (Err(errors), refused) => return Ok(refusal(&case.text, &errors, refused.as_deref())?),
        };
        let program = Arc::new(program);
        if let (Some(oracle), Some(operation)) = (&self.oracle, native::operation(case))
            && let Some(values) = native::values(&program)
            && let Some(case) = native::with_ordinary_values(case, values)
        {
            let queue = oracle.create_queue().map_err(|e| failed("queue", &e))?;
            let (opened, patience) = (Opened { device: oracle.clone(), losses: 0 }, self.patience);
            let oracle = Seat { opened, queue, patience, losses: Arc::default() };
            let wanted = execute(&oracle, &program, &case, 1)?.remove(0);
            let found = execute(seat, &program, &case, LAUNCHES)?;
            let bounded = |found: &Vec<_>| self.bounded(operation, values, &wanted, found);
            return Ok(found.iter().try_for_each(bounded)?);
        }
        for memories in execute(seat, &program, case, LAUNCHES)? {
            let mut lines = Vec::new();
            for (buffer, bytes) in case.buffers.iter().zip(memories) {
                compare(buffer, &bytes, self.mode == FloatMode::Native, &mut lines);
            }
            if !lines.is_empty() {
                return Err(lines.into());
            }
        }
        Ok(())
    }

    /// Runs a case without judging it: memory after the launch, a block for each buffer. Every other kernel is launched
    /// twice, and the second launch tells.
    pub fn memory_after(&self, case: &Case) -> Result<Vec<Vec<u8>>, Vec<String>> {
        let attempt = || {
            let program = recal_il::compile(case.text.as_bytes())
                .map_err(|errors| refusal(&case.text, &errors, None).err().unwrap_or_default())?;
            let launches = 1 + case.text.len() / 2 % LAUNCHES;
            let program = Arc::new(program);
            let runs = self.seated(&mut None, |seat| execute(seat, &program, case, launches))?;
            Ok(runs.into_iter().next_back().unwrap_or_default())
        };
        catch_unwind(AssertUnwindSafe(attempt))
            .unwrap_or_else(|panic| Err(vec![format!("panic: {}", panic_text(&*panic))]))
    }

    /// Compares memories within the bound of an operation and notes the largest error.
    fn bounded(
        &self,
        operation: &str,
        values: Values,
        wanted: &[Vec<u8>],
        found: &[Vec<u8>],
    ) -> Result<(), Vec<String>> {
        let size = if values == Values::Doubles { 8 } else { 4 };
        let numbers = |memories: &[Vec<u8>]| -> Vec<u64> {
            let bytes = memories.iter().flat_map(|memory| memory.chunks(size));
            bytes.map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))).collect()
        };
        let (wanted, found) = (numbers(wanted), numbers(found));
        let distances = wanted.iter().zip(&found).map(|(a, b)| native::distance(*b, *a, values));
        let worst = distances.max().unwrap_or_default();
        if let Ok(mut errors) = self.errors.lock() {
            let entry = errors.entry(operation.to_owned()).or_default();
            *entry = worst.max(*entry);
        }
        let bound = native::bound(operation);
        match found.iter().zip(&wanted).find(|(found, wanted)| !bound.allows(**found, **wanted, values)) {
            None => Ok(()),
            Some((found, wanted)) => {
                let line =
                    format!("0x{found:08X}, faithful 0x{wanted:08X}, bound {bound:?}, worst {worst} floats");
                Err(vec![line])
            }
        }
    }

    /// Native mode: the largest error found in each operation that is not exact, in floats.
    pub fn errors(&self) -> Vec<(String, u64)> {
        let errors = self.errors.lock().map(|errors| errors.clone()).unwrap_or_default();
        errors.into_iter().filter(|(_, worst)| *worst > 0).collect()
    }
}

/// A device's name and its number among those of that name: `name#1` is the second.
fn split(device: &str) -> (&str, usize) {
    device
        .rsplit_once('#')
        .and_then(|(name, number)| Some((name, number.parse().ok()?)))
        .unwrap_or((device, 0))
}

/// Runs a case's kernel so many times, each on memory of its own; what the buffers hold after each.
fn execute(
    seat: &Seat,
    program: &Arc<recal_il::ir::Program>,
    case: &Case,
    launches: usize,
) -> Result<Vec<Vec<Vec<u8>>>, Failure> {
    let Some(extent) = case.extent else { return Err(vec!["a case without threads".into()].into()) };
    let kernel = seat.opened.device.load(program.clone()).map_err(|e| failed("load", &e))?;
    (0..launches).map(|_| launch(seat, &kernel, case, extent)).collect()
}

/// Launches a kernel on new memory; what the buffers hold afterwards.
fn launch(
    seat: &Seat,
    kernel: &Arc<dyn Kernel>,
    case: &Case,
    extent: Extent,
) -> Result<Vec<Vec<u8>>, Failure> {
    let mut memories = Vec::new();
    // Some backends make other code where memory ends with the surface than where it goes on.
    let exact = case.text.len() % 2 == 0;
    for buffer in &case.buffers {
        memories.push(place(&seat.opened.device, buffer, exact).map_err(|e| failed("memory", &e))?);
    }
    let command =
        Command::Launch { kernel: kernel.clone(), bindings: Arc::new(bind(case, &memories)), extent };
    let ticket = seat.queue.submit(command).map_err(|e| failed("submit", &e))?;
    let gone = || seat.losses.load(Relaxed) != seat.opened.losses;
    seat.patience.wait(&*seat.queue, ticket, gone).map_err(|e| failed("wait", &e))?;
    if let Some(error) = seat.queue.error(ticket) {
        return Err(failed("launch", &error));
    }
    memories.iter().map(|memory| memory::read(memory.as_ref()).map_err(|e| failed("map", &e))).collect()
}

/// A buffer's memory: as long as it is, or whole pages.
fn place(device: &Arc<dyn Device>, buffer: &Buffer, exact: bool) -> recal_hal::Result<Arc<dyn Memory>> {
    let bytes = buffer.spread();
    let length = (bytes.len() as u64).max(4);
    let whole = length.next_multiple_of(4096).max(4096);
    let request = MemoryRequest { bytes: if exact { length } else { whole }, heap: Heap::RemoteCached };
    let memory = device.allocate(request)?;
    memory::write(memory.as_ref(), &bytes)?;
    Ok(memory)
}

fn bind(case: &Case, memories: &[Arc<dyn Memory>]) -> Bindings {
    let mut bindings = Bindings { samplers: case.samplers.clone(), ..Bindings::default() };
    bindings.domain_params = case.params.map(Box::new);
    for (buffer, memory) in case.buffers.iter().zip(memories) {
        let surface = Surface {
            memory: memory.clone(),
            width: buffer.width,
            height: buffer.height,
            pitch: buffer.pitch(),
            format: buffer.format,
        };
        for slot in &buffer.slots {
            let surface = surface.clone();
            match *slot {
                Slot::Resource(n) => bindings.resources.push((n, surface)),
                Slot::Constant(n) => bindings.constants.push((n, surface)),
                Slot::Output(n) => bindings.outputs.push((n, surface)),
                Slot::Uav(n) => bindings.uavs.push((n, surface)),
                Slot::Global => bindings.global = Some(surface),
            }
        }
    }
    bindings
}
