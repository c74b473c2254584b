//! A backend whose commands are done when the test says so.
//!
//! Copies copy. A launch fills every output with the number of launches so far, as bytes, so that a test sees that
//! it ran and what was bound.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use recal_hal::*;

/// The test's hand on the backend.
pub struct Control {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Commands that may still be executed.
    allowed: u64,
    launches: u8,
    flushes: u32,
    fail: bool,
    /// Threads that wait for commands.
    waiting: u32,
    live_memories: i64,
    live_kernels: i64,
    allocation_fails: bool,
    /// As many memories as there may be.
    room: Option<i64>,
    opened: DeviceOptions,
}

impl Control {
    pub fn new() -> Arc<Self> {
        let state = State {
            allowed: 0,
            launches: 0,
            flushes: 0,
            fail: false,
            waiting: 0,
            live_memories: 0,
            live_kernels: 0,
            allocation_fails: false,
            room: None,
            opened: DeviceOptions::default(),
        };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Lets `commands` more commands be done.
    pub fn step(&self, commands: u64) {
        let mut state = self.state.lock().unwrap();
        state.allowed = state.allowed.saturating_add(commands);
        self.changed.notify_all();
    }

    pub fn run_freely(&self) {
        self.step(u64::MAX);
    }

    /// Makes the commands that are executed from now on fail.
    pub fn fail(&self, fail: bool) {
        self.state.lock().unwrap().fail = fail;
    }

    /// Returns when a thread waits for commands.
    pub fn until_awaited(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.waiting == 0).unwrap());
    }

    /// Whether a thread waits for commands.
    pub fn is_awaited(&self) -> bool {
        self.state.lock().unwrap().waiting > 0
    }

    pub fn fail_allocations(&self) {
        self.state.lock().unwrap().allocation_fails = true;
    }

    /// Lets there be so many memories and no more.
    pub fn room(&self, memories: i64) {
        self.state.lock().unwrap().room = Some(memories);
    }

    pub fn flushes(&self) -> u32 {
        self.state.lock().unwrap().flushes
    }

    pub fn live_memories(&self) -> i64 {
        self.state.lock().unwrap().live_memories
    }

    /// How the device was opened last.
    pub fn opened(&self) -> DeviceOptions {
        self.state.lock().unwrap().opened.clone()
    }

    pub fn live_kernels(&self) -> i64 {
        self.state.lock().unwrap().live_kernels
    }
}

pub struct Manual(Arc<ManualAdapter>);

impl Manual {
    pub fn new(control: &Arc<Control>) -> Self {
        let attributes = Attributes {
            name: "manual".into(),
            target: 8,
            local_ram: 1024,
            uncached_remote_ram: 512,
            cached_remote_ram: 256,
            engine_clock: 850,
            memory_clock: 1200,
            wavefront_size: 64,
            simds: 20,
            shader_engines: 2,
            double_precision: true,
            compute: true,
            lds_bytes: 32768,
            max_group: 1024,
            uavs: 12,
            max_width_1d: 16384,
            max_width_2d: 16384,
            max_height_2d: 16384,
            surface_alignment: 256,
        };
        Self(Arc::new(ManualAdapter { attributes, control: control.clone() }))
    }
}

impl Backend for Manual {
    fn name(&self) -> &'static str {
        "manual"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        vec![self.0.clone()]
    }
}

struct ManualAdapter {
    attributes: Attributes,
    control: Arc<Control>,
}

impl Adapter for ManualAdapter {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        self.control.state.lock().unwrap().opened = options.clone();
        Ok(Arc::new(ManualDevice(self.control.clone())))
    }

    fn memory_status(&self) -> MemoryStatus {
        MemoryStatus { local: 1000, uncached_remote: 500, cached_remote: 250 }
    }
}

struct ManualDevice(Arc<Control>);

impl Device for ManualDevice {
    fn allocate(&self, request: MemoryRequest) -> Result<Arc<dyn Memory>> {
        assert_eq!(request.bytes % 4096, 0, "sizes are whole pages");
        let full = {
            let state = self.0.state.lock().unwrap();
            state.allocation_fails || state.room.is_some_and(|room| state.live_memories >= room)
        };
        if full || request.bytes > 1 << 30 {
            return Err(Error::OutOfMemory(format!("{} bytes", request.bytes)));
        }
        let layout = Layout::from_size_align(request.bytes as usize, 4096).unwrap();
        // SAFETY: the size is not zero.
        let address = unsafe { alloc_zeroed(layout) };
        self.0.state.lock().unwrap().live_memories += 1;
        Ok(Arc::new(ManualMemory {
            address,
            bytes: request.bytes,
            owned: Some(layout),
            control: self.0.clone(),
        }))
    }

    unsafe fn import(&self, address: *mut u8, bytes: u64) -> Result<Arc<dyn Memory>> {
        self.0.state.lock().unwrap().live_memories += 1;
        Ok(Arc::new(ManualMemory { address, bytes, owned: None, control: self.0.clone() }))
    }

    fn create_queue(&self) -> Result<Arc<dyn Queue>> {
        Ok(Arc::new(ManualQueue { control: self.0.clone(), inner: Mutex::new(Inner::default()) }))
    }

    fn load(&self, _program: Arc<Program>) -> Result<Arc<dyn Kernel>> {
        self.0.state.lock().unwrap().live_kernels += 1;
        Ok(Arc::new(ManualKernel(self.0.clone())))
    }
}

struct ManualMemory {
    address: *mut u8,
    bytes: u64,
    owned: Option<Layout>,
    control: Arc<Control>,
}

// SAFETY: accessed under the lock of a queue, or by the test between commands.
unsafe impl Send for ManualMemory {}
// SAFETY: as above.
unsafe impl Sync for ManualMemory {}

impl Drop for ManualMemory {
    fn drop(&mut self) {
        if let Some(layout) = self.owned {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.address, layout) };
        }
        self.control.state.lock().unwrap().live_memories -= 1;
    }
}

impl Memory for ManualMemory {
    fn keep_mapped(self: Arc<Self>) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(self)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn map(&self) -> Result<*mut u8> {
        Ok(self.address)
    }

    fn unmap(&self) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct ManualKernel(Arc<Control>);

impl Drop for ManualKernel {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().live_kernels -= 1;
    }
}

impl Kernel for ManualKernel {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn resources(&self) -> KernelResources {
        KernelResources { gprs: 8, lds_bytes: 128, scratch: 0, stack: 2 }
    }
}

#[derive(Default)]
struct Inner {
    commands: Vec<Option<Command>>,
    flushed: u64,
    completed: u64,
    failed: Vec<u64>,
}

struct ManualQueue {
    control: Arc<Control>,
    inner: Mutex<Inner>,
}

impl ManualQueue {
    /// Executes what was flushed, as far as the test allows.
    fn advance(&self) -> u64 {
        let mut inner = self.inner.lock().unwrap();
        while inner.completed < inner.flushed {
            let (fail, number) = {
                let mut state = self.control.state.lock().unwrap();
                if state.allowed == 0 {
                    break;
                }
                if state.allowed != u64::MAX {
                    state.allowed -= 1;
                }
                state.launches = state.launches.wrapping_add(1);
                (state.fail, state.launches)
            };
            let at = inner.completed as usize;
            let command = inner.commands[at].take().unwrap();
            inner.completed += 1;
            if fail {
                let ticket = inner.completed;
                inner.failed.push(ticket);
            } else {
                execute(&command, number);
            }
        }
        inner.completed
    }
}

fn address(surface: &Surface) -> *mut u8 {
    surface.memory.as_any().downcast_ref::<ManualMemory>().unwrap().address
}

fn execute(command: &Command, number: u8) {
    match command {
        Command::Copy { src, dst } => {
            let bytes = src.format.bytes() as usize;
            for row in 0..src.height as usize {
                // SAFETY: the API has checked that the destination is at least as large.
                unsafe {
                    std::ptr::copy(
                        address(src).add(row * src.pitch as usize * bytes),
                        address(dst).add(row * dst.pitch as usize * bytes),
                        src.width as usize * bytes,
                    );
                }
            }
        }
        Command::Launch { bindings, .. } => {
            for (_, surface) in &bindings.outputs {
                // SAFETY: within the surface.
                unsafe { std::ptr::write_bytes(address(surface), number, surface.bytes() as usize) };
            }
        }
    }
}

impl Queue for ManualQueue {
    fn submit(&self, command: Command) -> Result<Ticket> {
        let mut inner = self.inner.lock().unwrap();
        inner.commands.push(Some(command));
        Ok(inner.commands.len() as u64)
    }

    fn flush(&self) -> Result<()> {
        self.control.state.lock().unwrap().flushes += 1;
        let mut inner = self.inner.lock().unwrap();
        inner.flushed = inner.commands.len() as u64;
        Ok(())
    }

    fn completed(&self) -> Ticket {
        self.advance()
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        self.flush()?;
        while self.advance() < ticket {
            let mut state = self.control.state.lock().unwrap();
            state.waiting += 1;
            self.control.changed.notify_all();
            (state, _) = self.control.changed.wait_timeout(state, Duration::from_millis(5)).unwrap();
            state.waiting -= 1;
        }
        self.error(ticket).map_or(Ok(()), Err)
    }

    fn error(&self, ticket: Ticket) -> Option<Error> {
        let failed = self.inner.lock().unwrap().failed.contains(&ticket);
        failed.then(|| Error::Timeout("stopped after 1 s".into()))
    }

    fn busy(&self) -> Duration {
        Duration::ZERO
    }
}
