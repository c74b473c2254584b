//! An open device.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use recal_hal::Attributes as DeviceInfo;
use recal_hal::sync::Mutex;
use recal_hal::{FloatMode, MemoryStatus, Program};

use crate::compiler;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::resource::{Flags, Place, Resource, Shape};
use crate::runtime::Runtime;
use crate::target::Target;

/// Atomic counters of a device, one for each UAV: the headers count `CAL_MAX_ATOMIC_COUNTER` (11) from 0 or from 1.
pub(crate) const ATOMIC_COUNTERS: u32 = 12;

/// An open device. Clones are the same device; it closes when all of them and everything made from them are gone.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    runtime: Runtime,
    ordinal: u32,
    info: DeviceInfo,
    hal: Arc<dyn recal_hal::Device>,
    closed: AtomicBool,
    /// Held while an atomic counter is read or written.
    counters: Mutex<()>,
    /// Programs that were loaded last, with their texts, so that loading one again is quick.
    programs: Mutex<VecDeque<Known>>,
}

/// A program, the target it was made for and its text.
type Known = (Target, Box<[u8]>, Arc<Program>);

/// Programs that are remembered.
const REMEMBERED: usize = 8;

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.runtime.closed(self.ordinal);
        }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({}: {})", self.0.ordinal, self.0.info.name)
    }
}

impl Device {
    pub(crate) fn new(
        runtime: Runtime,
        ordinal: u32,
        info: DeviceInfo,
        hal: Arc<dyn recal_hal::Device>,
    ) -> Self {
        Self(Arc::new(Inner {
            runtime,
            ordinal,
            info,
            hal,
            closed: AtomicBool::new(false),
            counters: Mutex::new(()),
            programs: Mutex::default(),
        }))
    }

    /// The program of a text for a target: the same one as before, if that was not long ago.
    pub(crate) fn program(&self, text: &[u8], target: Target) -> Result<Arc<Program>> {
        let mut programs = self.0.programs.lock();
        let at = programs.iter().position(|(known, of, _)| *known == target && **of == *text);
        if let Some(known) = at.and_then(|at| programs.remove(at)) {
            let program = Arc::clone(&known.2);
            programs.push_back(known);
            return Ok(program);
        }
        drop(programs);
        let program = Arc::new(compiler::program(text, target)?);
        compiler::dump_program(&program, text, target);
        let mut programs = self.0.programs.lock();
        programs.push_back((target, text.into(), Arc::clone(&program)));
        if programs.len() > REMEMBERED {
            programs.pop_front();
        }
        Ok(program)
    }

    /// Facts about the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// How exact float operations are on it: as it was opened, or its backend's default.
    ///
    /// ```
    /// use recal::{Config, FloatMode, Runtime};
    /// let runtime = Runtime::with_config(Config { backends: vec!["cpu".into()], ..Config::default() })?;
    /// assert_eq!(runtime.open(0)?.float_mode(), FloatMode::Faithful);
    /// assert_eq!(runtime.open_with(0, FloatMode::Native)?.float_mode(), FloatMode::Native);
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn float_mode(&self) -> FloatMode {
        self.0.hal.float_mode()
    }

    /// Number of the device in its runtime.
    pub fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    /// Takes what kernels did wrong since the last call, if `CAL_DEBUG=checks` ([`crate::Config::checks`]) has the device look
    /// for it; `None` if nothing looks: only the CPU can.
    ///
    /// ```
    /// use recal::{Config, Domain, Format, Misuse, Place, Runtime};
    /// let config = Config { backends: vec!["cpu".into()], checks: true, ..Config::default() };
    /// let device = Runtime::with_config(config)?.open(0)?;
    /// let context = device.create_context()?;
    /// let text = "il_ps_2_0\ndcl_output_generic o0\nadd o0, r5, r5\nend\n";
    /// let module = context.load(&recal::compile(text, device.info().target)?.into())?;
    /// module.bind("o0", &device.allocate_2d(4, 4, Format::Float32x4, Place::Local)?)?;
    /// context.run(&module, Domain::of(4, 4))?.wait()?;
    /// let findings = device.findings().unwrap();
    /// assert_eq!(findings[0].misuse, Misuse::Uninitialized);
    /// assert_eq!(findings[0].line, Some((3, "add o0, r5, r5".to_owned())));
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn findings(&self) -> Option<Vec<crate::Finding>> {
        self.0.hal.findings()
    }

    /// Memory left, MiB.
    pub fn memory_status(&self) -> Result<MemoryStatus> {
        self.0.runtime.memory_status(self.0.ordinal)
    }

    /// Makes a context: a queue, and a place for kernels.
    pub fn create_context(&self) -> Result<Context> {
        Context::new(self)
    }

    /// Allocates a one-dimensional resource. Contents are zero. Width is limited by [`DeviceInfo::max_width_1d`];
    /// see [`Device::allocate_buffer`] for larger ones.
    pub fn allocate_1d(&self, width: u32, format: crate::Format, place: Place) -> Result<Resource> {
        Resource::allocate(std::slice::from_ref(self), Shape::line(width, format), place, Flags::default())
    }

    /// Allocates a global buffer: one-dimensional, for `g[]` and `uav#`, limited by memory only.
    pub fn allocate_buffer(&self, width: u32, format: crate::Format, place: Place) -> Result<Resource> {
        Resource::allocate(
            std::slice::from_ref(self),
            Shape::line(width, format),
            place,
            Flags { global_buffer: true },
        )
    }

    /// Allocates a two-dimensional resource. Contents are zero.
    pub fn allocate_2d(
        &self,
        width: u32,
        height: u32,
        format: crate::Format,
        place: Place,
    ) -> Result<Resource> {
        Resource::allocate(
            std::slice::from_ref(self),
            Shape::rows(width, height, format),
            place,
            Flags::default(),
        )
    }

    pub(crate) fn hal(&self) -> &Arc<dyn recal_hal::Device> {
        &self.0.hal
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.0.runtime
    }

    /// Lets the ordinal be opened again although objects of this device still live.
    pub(crate) fn close(&self) {
        if !self.0.closed.swap(true, Ordering::AcqRel) {
            self.0.runtime.closed(self.0.ordinal);
        }
    }

    /// Value of the counter that `append_buf_alloc` and `append_buf_consume` on UAV `index` use. Waits for work in
    /// flight.
    pub fn atomic_counter(&self, index: u32) -> Result<u32> {
        self.with_counter(index, |hal| hal.counter(index))
    }

    /// Changes the counter that `append_buf_alloc` and `append_buf_consume` on UAV `index` use. Waits for work in
    /// flight.
    pub fn set_atomic_counter(&self, index: u32, value: u32) -> Result<()> {
        self.with_counter(index, |hal| hal.set_counter(index, value))
    }

    fn with_counter<T>(
        &self,
        index: u32,
        use_it: impl FnOnce(&dyn recal_hal::Device) -> recal_hal::Result<T>,
    ) -> Result<T> {
        if index >= ATOMIC_COUNTERS {
            return Err(Error::invalid(format!(
                "index: {index}, but there are {ATOMIC_COUNTERS} atomic counters"
            )));
        }
        self.0.runtime.wait_for_all();
        let _one_at_a_time = self.0.counters.lock();
        use_it(&*self.0.hal).map_err(|e| match e {
            recal_hal::Error::Unsupported(reason) => Error::unsupported(reason),
            other => Error::backend("an atomic counter", other),
        })
    }
}
