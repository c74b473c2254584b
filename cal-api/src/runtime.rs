//! The runtime: which devices there are.
//!
//! Input: a [`Config`] and the registered backends. Output: numbered devices, GPUs first, the CPU last.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use recal_hal::sync::{Mutex, RwLock};
use recal_hal::{Adapter, Backend, FloatMode, Remark};

use crate::capture::{self, Recorder};
use crate::config::Config;
use crate::device::{Device, DeviceInfo};
use crate::error::{Error, Result};
use crate::line::Line;
use crate::target::Target;

/// Backends that the program brought along.
static REGISTERED: RwLock<Vec<Arc<dyn Backend>>> = RwLock::new(Vec::new());

/// Adds a backend of the program's own. Its devices are enumerated before all others, unless `CAL_BACKEND` says
/// otherwise; runtimes made before do not see it. A second backend of the same name replaces the first.
pub fn register_backend(backend: Arc<dyn Backend>) {
    let mut registered = REGISTERED.write();
    registered.retain(|b| b.name() != backend.name());
    registered.push(backend);
}

/// The devices present and what is common to them. `calInit` makes one; dropping the last reference is `calShutdown`.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>);

struct Inner {
    entries: Vec<Entry>,
    /// Backends that were asked, in order, and what they remarked.
    remarks: Vec<(String, Vec<Remark>)>,
    config: Config,
    /// What is launched is kept.
    capture: Option<Arc<Recorder>>,
    /// Queues ever made, to wait for their work at shutdown.
    lines: Mutex<Vec<Weak<Line>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Of a C program `calShutdown` is the last that is written.
        if self.config.timeline.is_some() && !crate::timeline::is_held() {
            recal_hal::timeline::stop();
        }
    }
}

struct Entry {
    backend: String,
    adapter: Arc<dyn Adapter>,
    info: DeviceInfo,
    open: AtomicBool,
}

impl Runtime {
    /// Finds the devices, as the environment variables say. What there is to say about them goes to the program's logger.
    ///
    /// ```
    /// let runtime = recal::Runtime::new()?;
    /// for info in runtime.devices() {
    ///     println!("{}: {} SIMDs", info.name, info.simds);
    /// }
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn new() -> Result<Runtime> {
        let (config, warnings) = Config::from_env();
        crate::logger::report(&config, &warnings);
        Self::with_config(config)
    }

    /// Finds the devices, as `config` says.
    pub fn with_config(config: Config) -> Result<Runtime> {
        if let Some(path) = &config.timeline {
            crate::timeline::begin(path);
        }
        let registered = REGISTERED.read().clone();
        let mut names = config.backends.clone();
        if names.is_empty() {
            names.extend(registered.iter().map(|b| b.name().to_owned()));
            names.extend(DEFAULT_BACKENDS.map(str::to_owned));
        }
        // The CPU comes last: programs take device 0.
        if let Some(at) = names.iter().position(|n| n == "cpu") {
            names.retain(|n| n != "cpu");
            names.push("cpu".into());
            log::debug!("the CPU was number {at} in the list of backends and is enumerated last");
        }
        names.dedup();
        let (mut entries, mut remarks) = (Vec::new(), Vec::new());
        for name in &names {
            let backend =
                registered.iter().find(|b| b.name() == name).cloned().or_else(|| built_in(name, &config));
            let Some(backend) = backend else {
                let own = DEFAULT_BACKENDS.contains(&&**name);
                if own && config.backends.is_empty() {
                    log::debug!("backend `{name}` is not compiled in");
                    continue;
                }
                let mut known: Vec<&str> = COMPILED_IN.to_vec();
                known.extend(registered.iter().map(|b| b.name()));
                let there = if known.is_empty() { "none".into() } else { known.join(", ") };
                let why = match own {
                    true => format!(
                        "the backend `{name}` is not compiled in, it is a feature of the crate `recal`; there are {there}"
                    ),
                    false => format!("no backend is called `{name}`; there are {there}"),
                };
                log::warn!("CAL_BACKEND: {why}");
                remarks.push((name.clone(), vec![Remark::bad("CAL_BACKEND", why)]));
                continue;
            };
            let adapters = backend.adapters();
            remarks.push((name.clone(), backend.remarks()));
            // Who asked for it by name wants to know; on a machine without a GPU the default list is no news.
            if adapters.is_empty() && config.backends.contains(name) {
                log::warn!("backend `{name}` finds no device; CAL_LOG=info says why");
            }
            for adapter in adapters {
                let mut info = adapter.attributes().clone();
                if let Some(target) = config.target {
                    target.lower(&mut info);
                }
                log::info!("device {}: {} ({name})", entries.len(), info.name);
                entries.push(Entry { backend: name.clone(), adapter, info, open: AtomicBool::new(false) });
            }
        }
        let capture = config.capture.as_deref().and_then(capture::begin);
        Ok(Runtime(Arc::new(Inner { entries, remarks, config, capture, lines: Mutex::new(Vec::new()) })))
    }

    /// Facts about the devices, in order of their ordinals.
    pub fn devices(&self) -> impl Iterator<Item = &DeviceInfo> {
        self.0.entries.iter().map(|e| &e.info)
    }

    /// The devices in order of their ordinals, each with the name of its backend.
    pub fn devices_by_backend(&self) -> impl Iterator<Item = (&str, &DeviceInfo)> {
        self.0.entries.iter().map(|e| (&*e.backend, &e.info))
    }

    /// The backends that were asked for devices, in order, and what they found or missed.
    ///
    /// ```
    /// let runtime = recal::Runtime::new()?;
    /// for (backend, remarks) in runtime.backends() {
    ///     for remark in remarks.iter().filter(|remark| !remark.good) {
    ///         println!("{backend}, {}: {}", remark.about, remark.text);
    ///     }
    /// }
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn backends(&self) -> impl Iterator<Item = (&str, &[Remark])> {
        self.0.remarks.iter().map(|(name, remarks)| (&**name, &**remarks))
    }

    /// How the runtime was configured.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// Opens a device. Each device is open once at a time.
    pub fn open(&self, ordinal: u32) -> Result<Device> {
        self.open_with(ordinal, self.0.config.float)
    }

    /// Opens a device with an exactness of its own, whatever `CAL_FLOAT` says: its contexts have it, those of other
    /// devices do not.
    ///
    /// ```
    /// let runtime = recal::Runtime::new()?;
    /// let device = runtime.open_with(0, recal::FloatMode::Faithful)?;
    /// let context = device.create_context()?;
    /// # drop(context);
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn open_with(&self, ordinal: u32, float_mode: FloatMode) -> Result<Device> {
        let entry = self.entry(ordinal)?;
        if entry.open.swap(true, Ordering::AcqRel) {
            return Err(Error::already(format!("ordinal: device {ordinal} is open already")));
        }
        let options = recal_hal::DeviceOptions {
            float_mode,
            watchdog: self.0.config.timeout,
            checks: self.0.config.checks,
        };
        match entry.adapter.open(&options) {
            Ok(hal) => {
                if options.checks && hal.findings().is_none() {
                    let name = &entry.info.name;
                    log::warn!(
                        "CAL_DEBUG=checks: {name} does not check kernels; CAL_BACKEND=cpu has a device that does"
                    );
                }
                Ok(Device::new(self.clone(), ordinal, entry.info.clone(), hal))
            }
            Err(e) => {
                entry.open.store(false, Ordering::Release);
                Err(Error::backend(format!("opening device {ordinal} ({})", entry.info.name), e))
            }
        }
    }

    /// Facts about one device.
    pub fn info(&self, ordinal: u32) -> Result<&DeviceInfo> {
        Ok(&self.entry(ordinal)?.info)
    }

    /// Who keeps what is launched, if anyone does.
    pub(crate) fn capture(&self) -> Option<&Arc<Recorder>> {
        self.0.capture.as_ref()
    }

    pub(crate) fn memory_status(&self, ordinal: u32) -> Result<recal_hal::MemoryStatus> {
        Ok(self.entry(ordinal)?.adapter.memory_status())
    }

    fn entry(&self, ordinal: u32) -> Result<&Entry> {
        self.0.entries.get(ordinal as usize).ok_or_else(|| {
            let there = match self.0.entries.len() {
                0 if self.0.remarks.is_empty() => {
                    "there is no device: no backend is compiled in, they are the \
                                                   features `cpu` and `vulkan` of the crate `recal`"
                        .to_owned()
                }
                0 if self.0.config.backends.is_empty() => "there is no device".to_owned(),
                0 => format!("there is no device (CAL_BACKEND is {})", self.0.config.backends.join(",")),
                1 => "the only device is 0".to_owned(),
                n => format!("devices are 0 to {}", n - 1),
            };
            Error::failed(format!("ordinal: {ordinal}, but {there}"))
        })
    }

    /// The device may be opened again.
    pub(crate) fn closed(&self, ordinal: u32) {
        if let Some(entry) = self.0.entries.get(ordinal as usize) {
            entry.open.store(false, Ordering::Release);
        }
    }

    pub(crate) fn add_line(&self, line: &Arc<Line>) {
        let mut lines = self.0.lines.lock();
        // Only where there is no room: each is looked at a few times, however many there are.
        if lines.len() == lines.capacity() {
            lines.retain(|l| l.strong_count() > 0);
            let more = lines.len() + 16;
            lines.reserve(more);
        }
        lines.push(Arc::downgrade(line));
    }

    /// Waits for all work on all queues, also of contexts that are gone. Failures were reported on their events. Whether there was any.
    pub(crate) fn wait_for_all(&self) -> bool {
        let lines: Vec<_> = self.0.lines.lock().iter().filter_map(Weak::upgrade).collect();
        let mut waited = false;
        for line in lines {
            match line.wait_all() {
                Ok(was) => waited |= was,
                Err(e) => log::warn!("work in flight: {e}"),
            }
        }
        waited
    }
}

/// Backends asked when `CAL_BACKEND` is not set, in order.
const DEFAULT_BACKENDS: [&str; 2] = ["vulkan", "cpu"];

/// Those of them that this build has.
const COMPILED_IN: &[&str] = &[
    #[cfg(feature = "vulkan")]
    "vulkan",
    #[cfg(feature = "cpu")]
    "cpu",
];

#[cfg_attr(not(any(feature = "cpu", feature = "vulkan")), expect(unused_variables))]
fn built_in(name: &str, config: &Config) -> Option<Arc<dyn Backend>> {
    match name {
        #[cfg(feature = "cpu")]
        "cpu" => Some(Arc::new(recal_cpu::CpuBackend::limited(config.isa).thrifty())),
        #[cfg(feature = "vulkan")]
        "vulkan" => Some(Arc::new(recal_vulkan::Vulkan::new(recal_vulkan::Options {
            validation: config.checks,
            device: config.vulkan_device.clone(),
            // Software rasterisers are slower than the CPU backend: only for who asks for Vulkan by name.
            software: config.backends.iter().any(|name| name == "vulkan"),
            cache: config.cache.clone(),
            dump: config.dump.clone(),
            ..recal_vulkan::Options::default()
        }))),
        _ => None,
    }
}

/// What the target of a device is.
pub(crate) fn target_of(info: &DeviceInfo) -> Target {
    Target::from_value(info.target).unwrap_or(crate::target::TARGETS[crate::target::CYPRESS as usize])
}
