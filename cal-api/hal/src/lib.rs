//! The contract between the CAL API and its backends.
//!
//! The layer above validates: handles, shapes, formats, bindings and ownership are right when a call arrives here.
//! A backend reports only what the caller cannot foresee: memory that is not to be had, a kernel that the device
//! cannot run, a device that was lost. All objects are shared by [`Arc`] and usable from any thread.
//!
//! *Order.* A [`Queue`] completes its commands in order: when a ticket is done, so are all smaller ones. Commands
//! on different queues are unordered. Nothing needs to start before [`Queue::flush`].
//!
//! *Lifetime.* A command keeps what it uses alive: the caller may drop memories and kernels right after
//! [`Queue::submit`].

mod finding;
mod float_env;
mod fork;
mod recent;
mod signals;
mod stack;
pub mod sync;
pub mod timeline;
mod variants;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use finding::{Finding, Misuse};
pub use float_env::FloatEnv;
pub use fork::PerProcess;
pub use recal_il::format::Format;
pub use recal_il::ir::Program;
pub use recal_il::isa::memory::texel::Wrap;
pub use recent::Recent;
pub use signals::without_signals;
pub use stack::with_room;
pub use variants::Variants;

/// Why a backend could not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not enough memory of the wanted kind; says how much was asked for and what limits it.
    OutOfMemory(String),
    /// The device cannot do this; says what is missing.
    Unsupported(String),
    /// The device is gone; every later call on it answers the same.
    DeviceLost(String),
    /// A kernel ran longer than the watchdog allows.
    Timeout(String),
    /// Anything else; says what happened.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::OutOfMemory(m) | Error::Unsupported(m) | Error::Failed(m) => f.write_str(m),
            Error::DeviceLost(m) => write!(f, "device lost: {m}"),
            Error::Timeout(m) => write!(f, "timeout: {m}"),
        }
    }
}

impl std::error::Error for Error {}

/// Result of a backend call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A family of devices.
pub trait Backend: Send + Sync {
    /// Short name as in `CAL_BACKEND`: `cpu`, `vulkan`.
    fn name(&self) -> &'static str;

    /// The devices present, in the order in which they are to be enumerated. A backend that finds none, or whose
    /// loader is missing, returns an empty list and logs why.
    fn adapters(&self) -> Vec<Arc<dyn Adapter>>;

    /// What was found while looking for devices, what was not, and why: for who wonders (`recal doctor`).
    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }
}

/// Something that a backend found or missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// `loader`, `device 0`, `instructions` …
    pub about: String,
    /// It is there and is used.
    pub good: bool,
    /// What there is; if not good, why it is not used.
    pub text: String,
}

impl Remark {
    /// About something that is used.
    pub fn good(about: impl Into<String>, text: impl Into<String>) -> Remark {
        Remark { about: about.into(), good: true, text: text.into() }
    }

    /// About something that is missing or left out.
    pub fn bad(about: impl Into<String>, text: impl Into<String>) -> Remark {
        Remark { about: about.into(), good: false, text: text.into() }
    }
}

/// A device that may be opened.
pub trait Adapter: Send + Sync {
    /// Facts for `calDeviceGetInfo`, `calDeviceGetAttribs`.
    fn attributes(&self) -> &Attributes;

    /// Opens the device.
    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>>;

    /// Free memory now, for `calDeviceGetStatus`.
    fn memory_status(&self) -> MemoryStatus;
}

/// Facts about a device. Memory in MiB, clocks in MHz, as in `CALdeviceattribs`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Human-readable name of the real device.
    pub name: String,
    /// `CALtarget` value to report.
    pub target: u32,
    /// Device memory.
    pub local_ram: u32,
    /// Host memory, uncached.
    pub uncached_remote_ram: u32,
    /// Host memory, cached.
    pub cached_remote_ram: u32,
    /// Core clock.
    pub engine_clock: u32,
    /// Memory clock.
    pub memory_clock: u32,
    /// Threads per wave.
    pub wavefront_size: u32,
    /// SIMD engines (cores, multiprocessors).
    pub simds: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// 64-bit floats can run.
    pub double_precision: bool,
    /// Compute kernels and LDS can run.
    pub compute: bool,
    /// LDS bytes per group.
    pub lds_bytes: u32,
    /// Largest flattened group.
    pub max_group: u32,
    /// UAVs per kernel.
    pub uavs: u32,
    /// Largest width of a one-dimensional resource that is not a global buffer, in elements.
    pub max_width_1d: u32,
    /// Largest width of a two-dimensional resource, in elements.
    pub max_width_2d: u32,
    /// Largest height of a two-dimensional resource, in elements.
    pub max_height_2d: u32,
    /// Surface alignment to report, in bytes.
    pub surface_alignment: u32,
}

/// Memory left, MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStatus {
    /// Device memory.
    pub local: u32,
    /// Host memory, uncached.
    pub uncached_remote: u32,
    /// Host memory, cached.
    pub cached_remote: u32,
}

/// How a device is to behave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Exactness of float operations.
    pub float_mode: FloatMode,
    /// Longest time one launch may take; `None` = for ever.
    pub watchdog: Option<Duration>,
    /// Report misuse by kernels (`CAL_DEBUG=checks`).
    pub checks: bool,
}

/// Exactness of float operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FloatMode {
    /// The backend's default: faithful on the CPU, native on a GPU.
    #[default]
    Default,
    /// Every instruction gives the documented bits.
    Faithful,
    /// The device's own instructions.
    Native,
}

/// An open device.
pub trait Device: Send + Sync {
    /// Allocates memory. Contents are zero.
    fn allocate(&self, request: MemoryRequest) -> Result<Arc<dyn Memory>>;

    /// Wraps application memory (`calResCreate*`). The caller keeps `bytes` bytes at `address` valid until the
    /// returned memory is dropped and all commands that use it are done. Host writes made before a submit are
    /// visible to it; its writes are visible to the host when its ticket is done.
    ///
    /// # Safety
    /// `address` is valid for reads and writes of `bytes` bytes for that time.
    unsafe fn import(&self, address: *mut u8, bytes: u64) -> Result<Arc<dyn Memory>>;

    /// A new command queue. One per context.
    fn create_queue(&self) -> Result<Arc<dyn Queue>>;

    /// Prepares a program to run. Everything that can be built is built here, nothing at the first launch.
    fn load(&self, program: Arc<Program>) -> Result<Arc<dyn Kernel>>;

    /// As [`Device::load`], with the kernel text, for messages about what a kernel does wrong when it runs.
    fn load_with_text(&self, program: Arc<Program>, text: &[u8]) -> Result<Arc<dyn Kernel>> {
        let _ = text;
        self.load(program)
    }

    /// How exact float operations are, [`FloatMode::Default`] if the backend does not say.
    fn float_mode(&self) -> FloatMode {
        FloatMode::Default
    }

    /// Takes the misuse by kernels that was found since the last call; `None` if nothing looks for it: the device was
    /// opened without [`DeviceOptions::checks`], or cannot check.
    fn findings(&self) -> Option<Vec<Finding>> {
        None
    }

    /// Value of the append counter of UAV `index`, 0 to 11, which kernels of all queues share. The caller has waited
    /// for all work that uses it, and makes one such call at a time.
    fn counter(&self, index: u32) -> Result<u32> {
        Err(Error::Unsupported(format!("the host does not reach append counter {index} of this device")))
    }

    /// Changes the append counter of UAV `index`; otherwise as [`Device::counter`].
    fn set_counter(&self, index: u32, value: u32) -> Result<()> {
        let _ = value;
        Err(Error::Unsupported(format!("the host does not reach append counter {index} of this device")))
    }
}

/// What memory is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRequest {
    /// Size, already rounded up to whole pages of 4096 bytes.
    pub bytes: u64,
    /// Where.
    pub heap: Heap,
}

/// Where memory lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heap {
    /// Device memory.
    Local,
    /// Host memory, write-combined where the device distinguishes.
    Remote,
    /// Host memory, cached: fast to read on the host.
    RemoteCached,
}

/// A block of memory.
pub trait Memory: Send + Sync {
    /// Size in bytes.
    fn bytes(&self) -> u64;

    /// Host address of the memory, aligned to at least 64 bytes. The caller has waited for all work that uses it.
    /// Valid until [`Memory::unmap`]; memory of a remote heap keeps the address valid and coherent while commands
    /// use it.
    fn map(&self) -> Result<*mut u8>;

    /// Ends a map; host writes become visible to later commands.
    fn unmap(&self);

    /// What keeps the mapped bytes at their address once everything else of the device is gone, for programs that go on
    /// without having unmapped them; `None` if they go with the device. It must not keep the device.
    fn keep_mapped(self: Arc<Self>) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// For the backend to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

/// A program ready to run on one device.
pub trait Kernel: Send + Sync {
    /// For the backend to find its own type again.
    fn as_any(&self) -> &dyn Any;

    /// Figures for `calModuleGetFuncInfo`.
    fn resources(&self) -> KernelResources;

    /// A surface of this format is going to be bound as resource, output or UAV: what that takes can be built now rather than
    /// at the launch.
    fn expect_surface(&self, format: Format) {
        let _ = format;
    }

    /// The same for a sampler.
    fn expect_sampler(&self, sampler: &Sampler) {
        let _ = sampler;
    }
}

/// What a kernel uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// Vector registers (four components) used by one thread.
    pub gprs: u32,
    /// LDS bytes used by one group.
    pub lds_bytes: u32,
    /// Spilled registers.
    pub scratch: u32,
    /// Control-flow stack entries.
    pub stack: u32,
}

/// Memory seen as rows of elements. Fetches and outputs end at the width of a row; `g[]` and UAVs reach all of it, to the
/// pitch.
#[derive(Clone)]
pub struct Surface {
    /// The bytes.
    pub memory: Arc<dyn Memory>,
    /// Elements per row.
    pub width: u32,
    /// Rows; 1 for one-dimensional resources.
    pub height: u32,
    /// Elements from one row to the next: at least the width.
    pub pitch: u32,
    /// Element format.
    pub format: Format,
}

impl Surface {
    /// Bytes that kernels may touch: whole rows, to the pitch.
    pub fn bytes(&self) -> u64 {
        u64::from(self.pitch) * u64::from(self.height) * u64::from(self.format.bytes())
    }
}

/// Sampler state (CAL 1.4: `calCtxSetSamplerParams`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// Bilinear filter rather than nearest.
    pub linear: bool,
    /// Wrap modes for u, v, w.
    pub wrap: [Wrap; 3],
    /// Colour outside, for [`Wrap::ClampToBorder`].
    pub border: [f32; 4],
}

impl Default for Sampler {
    fn default() -> Self {
        Self { linear: false, wrap: [Wrap::ClampToEdge; 3], border: [0.0; 4] }
    }
}

/// Everything bound for a launch, taken at submit. Every slot that the program's interface declares is present.
#[derive(Clone, Default)]
pub struct Bindings {
    /// `i#`
    pub resources: Vec<(u32, Surface)>,
    /// `s#`; others have the default state.
    pub samplers: Vec<(u32, Sampler)>,
    /// `cb#`
    pub constants: Vec<(u32, Surface)>,
    /// `o#`
    pub outputs: Vec<(u32, Surface)>,
    /// `uav#`
    pub uavs: Vec<(u32, Surface)>,
    /// `g[]`
    pub global: Option<Surface>,
    /// Corner values of interpolated inputs v0 to v7.
    pub domain_params: Option<Box<[DomainParam; 8]>>,
}

/// An interpolated input at three corners of the domain (CAL 1.4: `CALparam`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DomainParam {
    /// Upper left.
    pub ul: [f32; 4],
    /// Lower left.
    pub ll: [f32; 4],
    /// Lower right.
    pub lr: [f32; 4],
}

/// How many threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Pixel kernel: one thread per position of the rectangle.
    Domain {
        /// First column.
        x: u32,
        /// First row.
        y: u32,
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// Compute kernel.
    Grid {
        /// Groups in x, y, z.
        groups: [u32; 3],
        /// Threads per group in x, y, z.
        block: [u32; 3],
    },
}

/// A command.
#[derive(Clone)]
pub enum Command {
    /// Runs a kernel.
    Launch {
        /// Which.
        kernel: Arc<dyn Kernel>,
        /// On what.
        bindings: Arc<Bindings>,
        /// How many threads.
        extent: Extent,
    },
    /// Copies the rectangle of `src` to the origin of `dst`; same format, `dst` at least as large.
    Copy {
        /// From.
        src: Surface,
        /// To.
        dst: Surface,
    },
}

/// A position on a queue's timeline; larger is later. 0 is before everything.
pub type Ticket = u64;

/// A command queue.
pub trait Queue: Send + Sync {
    /// Appends a command.
    fn submit(&self, command: Command) -> Result<Ticket>;

    /// Starts everything appended so far; does not wait.
    fn flush(&self) -> Result<()>;

    /// Highest ticket that is done. Cheap: one atomic load. A failed command counts as done.
    fn completed(&self) -> Ticket;

    /// Flushes, then blocks until `ticket` is done.
    fn wait(&self, ticket: Ticket) -> Result<()>;

    /// Whether a thread that waits does the work itself, so that waiting is sooner done than asking.
    fn waiting_works(&self) -> bool {
        false
    }

    /// Threads of the host that work on a command from now on, at most, where they are what computes.
    fn limit_threads(&self, most: usize) {
        let _ = most;
    }

    /// Blocks until `ticket`, which was flushed unless waiting works, is done, or for about so long: for who polls, and would
    /// take the time of a processor from the work.
    fn wait_for(&self, ticket: Ticket, limit: Duration) -> Result<()> {
        let _ = ticket;
        std::thread::sleep(limit.min(Duration::from_micros(100)));
        Ok(())
    }

    /// The error of a command that failed, if `ticket` is done and failed. At least the last 64 failures are
    /// remembered.
    fn error(&self, ticket: Ticket) -> Option<Error>;

    /// Time that commands kept the device busy since the queue was made.
    fn busy(&self) -> Duration;
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
