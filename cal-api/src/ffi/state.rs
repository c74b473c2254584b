//! The state of the process behind the C ABI: handle tables, the runtime, error texts.
//!
//! It is made on first use and never destroyed, so that calls from static destructors find it. A child of `fork`
//! starts over with an empty one: locks may have been held and threads do not exist there.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use recal_hal::PerProcess;
use recal_hal::sync::{Mutex, RwLock};

use super::error_text::ErrorTexts;
use super::events::Events;
use super::trace::Tracer;
use crate::config::Config;
use crate::context::Context;
use crate::counter::Counter;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Kind, Refused, Table};
use crate::mem::Mem;
use crate::module::{Module, Name};
use crate::resource::Resource;
use crate::runtime::Runtime;

/// A module and the handles that were given out for it.
pub(super) struct Loaded {
    pub(super) module: Module,
    /// Handles of symbols and, under the empty name, of the entry point. Asking again gives the same ones.
    pub(super) handles: Mutex<BTreeMap<String, u32>>,
}

/// Everything behind the C ABI.
pub(super) struct Process {
    /// Odd between `calInit` and `calShutdown`; grows with each of them.
    epoch: AtomicU64,
    /// Held by `calInit` and `calShutdown`.
    change: Mutex<()>,
    runtime: RwLock<Option<Runtime>>,
    pub(super) devices: Table<Device>,
    pub(super) contexts: Table<Context>,
    pub(super) resources: Table<Resource>,
    pub(super) mems: Table<Mem>,
    pub(super) modules: Table<Arc<Loaded>>,
    pub(super) funcs: Table<Module>,
    pub(super) names: Table<Name>,
    pub(super) counters: Table<Counter>,
    pub(super) events: Events,
    pub(super) errors: ErrorTexts,
    pub(super) trace: Tracer,
    /// Bytes that were mapped when their device went away: the program may still use the addresses.
    kept: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

/// The state of this process.
pub(super) fn process() -> &'static Process {
    static PROCESS: PerProcess<Process> = PerProcess::new(Process::new);
    PROCESS.get()
}

impl Process {
    const fn new() -> Self {
        Self {
            epoch: AtomicU64::new(0),
            change: Mutex::new(()),
            runtime: RwLock::new(None),
            devices: Table::new(Kind::Device),
            contexts: Table::new(Kind::Context),
            resources: Table::new(Kind::Resource),
            mems: Table::new(Kind::Mem),
            modules: Table::new(Kind::Module),
            funcs: Table::new(Kind::Func),
            names: Table::new(Kind::Name),
            counters: Table::new(Kind::Counter),
            events: Events::new(),
            errors: ErrorTexts::new(),
            trace: Tracer::new(),
            kept: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(super) fn is_initialized(&self) -> bool {
        self.epoch() & 1 == 1
    }

    pub(super) fn runtime(&self) -> Result<Runtime> {
        self.runtime.read().clone().ok_or_else(Error::not_initialized)
    }

    /// `calInit`
    pub(super) fn initialize(&self) -> Result<()> {
        let _change = self.change.lock();
        if self.is_initialized() {
            return Err(Error::already("the runtime is initialised already"));
        }
        let (config, warnings) = Config::from_env();
        crate::logger::start(&config);
        crate::logger::report(&config, &warnings);
        self.trace.configure(&config.trace);
        crate::timeline::hold(true);
        let runtime = Runtime::with_config(config)?;
        *self.runtime.write() = Some(runtime);
        let epoch = self.epoch() + 1;
        drop(self.empty_tables(epoch));
        self.epoch.store(epoch, Ordering::Release);
        Ok(())
    }

    /// `calShutdown`: no handle is valid any more, work in flight is awaited, memory goes, except what is mapped.
    pub(super) fn shut_down(&self) -> Result<()> {
        let _change = self.change.lock();
        if !self.is_initialized() {
            return Err(Error::not_initialized());
        }
        let epoch = self.epoch() + 1;
        self.epoch.store(epoch, Ordering::Release);
        let runtime = self.runtime.write().take();
        let objects = self.empty_tables(epoch);
        if let Some(runtime) = &runtime {
            runtime.wait_for_all();
        }
        self.keep_mapped(&objects.resources);
        for device in &objects.devices {
            device.close();
        }
        drop(objects);
        drop(runtime);
        Ok(())
    }

    fn empty_tables(&self, epoch: u64) -> Objects {
        let contexts = self.contexts.start_epoch(epoch);
        contexts.iter().for_each(|context| self.events.release(context.number()));
        Objects {
            _names: self.names.start_epoch(epoch),
            _funcs: self.funcs.start_epoch(epoch),
            _modules: self.modules.start_epoch(epoch),
            _counters: self.counters.start_epoch(epoch),
            _mems: self.mems.start_epoch(epoch),
            _contexts: contexts,
            resources: self.resources.start_epoch(epoch),
            devices: self.devices.start_epoch(epoch),
        }
    }

    /// Keeps the bytes of mapped resources, and nothing else of them, for the rest of the process.
    pub(super) fn keep_mapped(&self, resources: &[Resource]) {
        self.kept.lock().extend(resources.iter().filter_map(Resource::keep_mapped));
    }
}

/// What the tables held, in the order in which it goes.
struct Objects {
    _names: Vec<Name>,
    _funcs: Vec<Module>,
    _modules: Vec<Arc<Loaded>>,
    _counters: Vec<Counter>,
    _mems: Vec<Mem>,
    _contexts: Vec<Context>,
    resources: Vec<Resource>,
    devices: Vec<Device>,
}

impl super::boundary::Call {
    /// Enters an object into its table.
    pub(super) fn enter<T: Clone>(&self, table: &Table<T>, object: T) -> Result<u32> {
        table.insert(self.epoch, object).map_err(|refused| match refused {
            Refused::Stale => Error::not_initialized(),
            Refused::Full => {
                Error::failed(format!("no more {} handles: a million are alive", table.kind().name()))
            }
        })
    }

    /// The object behind a handle.
    pub(super) fn find<T: Clone>(&self, table: &Table<T>, argument: &str, handle: u32) -> Result<T> {
        table.get(handle).ok_or_else(|| bad_handle(table.kind(), argument, handle))
    }

    /// Takes an object out of its table.
    pub(super) fn take<T: Clone>(&self, table: &Table<T>, argument: &str, handle: u32) -> Result<T> {
        table.remove(handle).ok_or_else(|| bad_handle(table.kind(), argument, handle))
    }

    pub(super) fn context(&self, handle: u32) -> Result<Context> {
        self.find(&self.process.contexts, "ctx", handle)
    }
}

/// Says what is wrong with a handle.
pub(super) fn bad_handle(kind: Kind, argument: &str, handle: u32) -> Error {
    let what = match Kind::of(handle) {
        _ if handle == 0 => "0 is never a handle".to_owned(),
        Some(found) if found == kind => format!("{handle:#x} is not, or no longer, a {}", kind.name()),
        Some(found) => format!("{handle:#x} is a {}, not a {}", found.name(), kind.name()),
        None => format!("{handle:#x} is no handle"),
    };
    Error::bad_handle(format!("{argument}: {what}"))
}
