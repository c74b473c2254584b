//! A context: one in-order queue, and the modules and mems made for it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use recal_hal::sync::Mutex;
use recal_hal::{Command, Ticket};

use crate::counter::Window;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::line::Line;
use crate::mem::Mem;
use crate::module::{self, Module};
use crate::resource::Resource;
use crate::runtime::Runtime;
use crate::typed::Pool;

/// One in-order queue of a device. Clones are the same context. Dropping all of them does not stop work in flight.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    device: Device,
    line: Arc<Line>,
    /// Of all contexts of the process.
    number: u32,
    modules: Mutex<Vec<Weak<module::Inner>>>,
    counters: Mutex<Vec<Weak<Window>>>,
    /// First tickets of events that span several, by their last ones. The errors that they lead to are kept for few.
    ranges: Mutex<BTreeMap<Ticket, Ticket>>,
    /// Memory of typed buffers and images that are gone.
    pool: Pool,
    /// There were counters, or events that span several tickets: polling looks at them only then.
    polled: [AtomicBool; 2],
}

const COUNTERS: usize = 0;
const SPANS: usize = 1;

/// Spanning events remembered.
const RANGES: usize = 64;

impl PartialEq for Context {
    fn eq(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({} on {:?})", self.0.number, self.0.device)
    }
}

/// A context of the first device that can be opened, which `CAL_BACKEND` may choose: made when it is first asked for, and the same
/// one for as long as anyone has it or something made with it.
///
/// ```
/// let context = recal::default_context()?;
/// assert_eq!(context, recal::default_context()?);
/// # Ok::<(), recal::Error>(())
/// ```
pub fn default_context() -> Result<Context> {
    static DEFAULT: Mutex<Weak<Inner>> = Mutex::new(Weak::new());
    let mut default = DEFAULT.lock();
    if let Some(inner) = default.upgrade() {
        return Ok(Context(inner));
    }
    let runtime = Runtime::new()?;
    let mut failed = None;
    for ordinal in 0..runtime.devices().count() as u32 {
        match runtime.open(ordinal).and_then(|device| device.create_context()) {
            Ok(context) => {
                *default = Arc::downgrade(&context.0);
                return Ok(context);
            }
            Err(e) => {
                log::warn!("{e}");
                failed.get_or_insert(e);
            }
        }
    }
    match failed {
        Some(error) => Err(error),
        // Which says what there is.
        None => runtime.open(0)?.create_context(),
    }
}

impl Context {
    pub(crate) fn new(device: &Device) -> Result<Context> {
        static CONTEXTS: AtomicU32 = AtomicU32::new(0);
        let queue = device.hal().create_queue().map_err(|e| Error::backend("making a command queue", e))?;
        let line = Line::new(queue);
        device.runtime().add_line(&line);
        Ok(Context(Arc::new(Inner {
            device: device.clone(),
            line,
            number: CONTEXTS.fetch_add(1, Ordering::Relaxed),
            modules: Mutex::new(Vec::new()),
            counters: Mutex::new(Vec::new()),
            ranges: Mutex::new(BTreeMap::new()),
            pool: Pool::default(),
            polled: Default::default(),
        })))
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Gives back the memory of typed buffers and images that are gone, which is kept for the next ones of their shapes.
    pub fn trim(&self) {
        self.0.pool.clear();
    }

    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.0.line
    }

    pub(crate) fn number(&self) -> u32 {
        self.0.number
    }

    /// Makes a mem of a resource of this context's device.
    pub fn mem(&self, resource: &Resource) -> Result<Mem> {
        Mem::new(self, resource)
    }

    /// Starts everything submitted so far; does not wait.
    pub fn flush(&self) -> Result<()> {
        self.0.line.flush()
    }

    /// Has at most so many threads of the host work on each of its launches, the one that waits for it among them, where the device is the
    /// host's processor: for programs that keep several threads with a context each busy, for whom more threads than cores are in the way.
    pub fn limit_threads(&self, most: usize) {
        self.0.line.limit_threads(most);
    }

    /// Waits for everything submitted so far.
    pub fn finish(&self) -> Result<()> {
        self.0.line.wait_all().map(|_| ())
    }

    /// Copies all rows of `source` to the origin of `destination`, which has the same format and is at least as
    /// large. Between resources of one width and pitch what lies between width and pitch is copied, too.
    pub fn copy(&self, source: &Mem, destination: &Mem) -> Result<Event> {
        for (name, mem) in [("srcMem", source), ("dstMem", destination)] {
            if mem.context() != self {
                return Err(Error::failed(format!("{name}: the mem belongs to another context")));
            }
        }
        let released = |name| Error::bad_handle(format!("{name}: the mem was released"));
        let (src_resource, mut src) = source.surface().ok_or_else(|| released("srcMem"))?;
        let (dst_resource, mut dst) = destination.surface().ok_or_else(|| released("dstMem"))?;
        if src.format != dst.format {
            let (from, to) = (src.format.name(), dst.format.name());
            return Err(Error::failed(format!("srcMem, dstMem: formats differ: {from} to {to}")));
        }
        if dst.width < src.width || dst.height < src.height {
            return Err(Error::failed(format!(
                "dstMem: {} x {} is smaller than the source, {} x {}",
                dst.width, dst.height, src.width, src.height
            )));
        }
        if src_resource == dst_resource {
            // Nothing changes; the event still comes after everything before it.
            return Ok(self.present());
        }
        if (src.width, src.pitch) == (dst.width, dst.pitch) {
            // The padding is memory of the resource, which maps, `g[]` and UAVs reach.
            src.width = src.pitch;
            dst.width = dst.pitch;
        }
        self.submit(Command::Copy { src, dst }, &[src_resource, dst_resource])
    }

    /// An event at the present end of the queue.
    pub(crate) fn present(&self) -> Event {
        let last = self.0.line.last();
        Event::new(Arc::clone(&self.0.line), last, last)
    }

    /// Appends a command that uses `resources`.
    pub(crate) fn submit(&self, command: Command, resources: &[Resource]) -> Result<Event> {
        let line = &self.0.line;
        let submission = line.begin();
        for (done, resource) in resources.iter().enumerate() {
            if let Err(e) = resource.announce(line) {
                // Earlier tickets of this queue are no later than the last one.
                resources[..done].iter().for_each(|r| r.record(line, line.last()));
                return Err(e);
            }
        }
        let ticket = line.submit(&submission, command);
        let at = ticket.as_ref().copied().unwrap_or_else(|_| line.last());
        resources.iter().for_each(|r| r.record(line, at));
        let ticket = ticket?;
        Ok(Event::new(Arc::clone(line), ticket, ticket))
    }

    /// Lets [`Context::first_ticket`] find the first ticket of an event that spans several.
    pub(crate) fn remember_range(&self, event: &Event) {
        let (first, last) = event.tickets();
        if first < last {
            let mut ranges = self.0.ranges.lock();
            ranges.insert(last, first);
            self.0.polled[SPANS].store(true, Ordering::Release);
            if ranges.len() > RANGES {
                ranges.pop_first();
            }
        }
    }

    /// First ticket of the event that ends with `last`.
    pub(crate) fn first_ticket(&self, last: Ticket) -> Ticket {
        if !self.0.polled[SPANS].load(Ordering::Acquire) {
            return last;
        }
        self.0.ranges.lock().get(&last).copied().unwrap_or(last)
    }

    pub(crate) fn add_module(&self, module: &Module) {
        let mut modules = self.0.modules.lock();
        modules.retain(|m| m.strong_count() > 0);
        modules.push(module.downgrade());
    }

    /// Unbinds a mem from all modules.
    pub(crate) fn forget_mem(&self, mem: &Mem) {
        let modules: Vec<_> = self.0.modules.lock().iter().filter_map(Module::upgrade).collect();
        modules.iter().for_each(|m| m.forget_mem(mem));
    }

    pub(crate) fn add_window(&self, window: &Arc<Window>) {
        let mut windows = self.0.counters.lock();
        windows.retain(|w| w.strong_count() > 0);
        windows.push(Arc::downgrade(window));
        self.0.polled[COUNTERS].store(true, Ordering::Release);
    }

    /// Counters that are measuring.
    pub(crate) fn windows(&self) -> Vec<Arc<Window>> {
        if !self.0.polled[COUNTERS].load(Ordering::Acquire) {
            return Vec::new();
        }
        self.0.counters.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Lets measuring counters see what is done by now.
    pub(crate) fn observe(&self) {
        self.windows().iter().for_each(|w| w.observe(&self.0.line));
    }
}
