//! The CPU as a CAL device: what it reports, memory, kernels, queues.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use recal_hal::{
    Adapter, Attributes, Backend, Device, DeviceOptions, FloatMode, Kernel, KernelResources, Memory,
    MemoryRequest, MemoryStatus, Program, Queue, Recent, Remark, Result,
};

use recal_il::ir::native::native;
use recal_il::lower::{Names, lower_named};
use recal_reference::watch::{Finding, Findings, Subject};

use crate::context::Counters;
use crate::isa_choice::{self, InstructionSet, Isa};
use crate::load;
use crate::memory::{Block, InUse};
use crate::op::{Code, FirstLaunches};
use crate::queue::CpuQueue;
use crate::schedule::Pool;
use crate::system;

const MIB: u64 = 1 << 20;

/// The backend `cpu`: one device, always there.
pub struct CpuBackend {
    adapter: Arc<CpuAdapter>,
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuBackend {
    /// Looks at the processor and the memory of the host.
    pub fn new() -> CpuBackend {
        Self::limited(InstructionSet::Avx512)
    }

    /// The same without the instruction sets above `limit`.
    pub fn limited(limit: InstructionSet) -> CpuBackend {
        CpuBackend { adapter: Arc::new(CpuAdapter::new(isa_choice::chosen(limit))) }
    }

    /// The same whose devices leave what does not pay: they interpret the first launches of a kernel that has no loop, while they have few
    /// threads, before code is made, which takes longer; and where few lanes are left in a loop they bring these together as long as that has
    /// paid, where others do it as soon as they can. Results are the same.
    pub fn thrifty(self) -> CpuBackend {
        CpuBackend { adapter: Arc::new(CpuAdapter { thrifty: true, ..CpuAdapter::new(self.adapter.isa) }) }
    }

    /// Takes the misuse by kernels that devices opened with [`DeviceOptions::checks`] have found since the last
    /// call.
    pub fn findings(&self) -> Vec<Finding> {
        self.adapter.findings.take()
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        vec![self.adapter.clone()]
    }

    fn remarks(&self) -> Vec<Remark> {
        let isa = self.adapter.isa;
        let code = match isa.compiled() {
            Some(code) => Remark::good("kernels", format!("compiled to {} code", code.name())),
            None => Remark::good("kernels", "interpreted; AVX2, AVX-512 or NEON would have them compiled"),
        };
        let mut has: Vec<_> = InstructionSet::ALL.into_iter().filter(|set| set.available()).collect();
        has.reverse();
        let has: Vec<_> = has.into_iter().map(InstructionSet::name).collect();
        vec![
            Remark::good("processor", format!("{}, {} threads", system::processor_name(), system::cores())),
            Remark::good("instructions", format!("{} of {}", isa.set.name(), has.join(", "))),
            code,
        ]
    }
}

/// The clock, MHz, at which an engine of the original would do as much as a core here does at `mhz`. Clients take it for 320 operations
/// a cycle, five for each thread of a wave (BOINC's `COPROC_ATI::set_peak_flops`).
fn engine_clock(mhz: u32, instructions: &str) -> u32 {
    // Two units that multiply and add all floats of a register; SSE2 has one for each.
    let operations = match instructions {
        "avx512" => 64,
        "avx2" => 32,
        "neon" => 16,
        _ => 8,
    };
    (mhz * operations / 320).max(1)
}

struct CpuAdapter {
    attributes: Attributes,
    isa: &'static Isa,
    /// See [`CpuBackend::thrifty`].
    thrifty: bool,
    in_use: InUse,
    findings: Arc<Findings>,
}

impl CpuAdapter {
    fn new(isa: &'static Isa) -> CpuAdapter {
        let memory = system::memory_mib();
        // Half of the host's memory stands for the card's; the other half is the host's as an application sees it.
        let local = (memory / 2).clamp(256, 1 << 20);
        let attributes = Attributes {
            name: format!("{} ({})", system::processor_name(), isa.name),
            target: 8,
            local_ram: local,
            uncached_remote_ram: local / 2,
            cached_remote_ram: local / 2,
            engine_clock: engine_clock(system::clock_mhz(), isa.set.name()),
            memory_clock: system::clock_mhz(),
            wavefront_size: 64,
            simds: system::cores() as u32,
            shader_engines: 1,
            double_precision: true,
            compute: true,
            lds_bytes: 32768,
            max_group: 1024,
            uavs: 12,
            max_width_1d: 16384,
            max_width_2d: 16384,
            max_height_2d: 16384,
            surface_alignment: 4096,
        };
        CpuAdapter { attributes, isa, thrifty: false, in_use: InUse::default(), findings: Arc::default() }
    }

    fn limit(&self) -> u64 {
        u64::from(
            self.attributes.local_ram
                + self.attributes.uncached_remote_ram
                + self.attributes.cached_remote_ram,
        ) * MIB
    }
}

impl Adapter for CpuAdapter {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        log::info!("CPU device: {} threads, {}", system::cores(), self.isa.name);
        Ok(Arc::new(CpuDevice {
            pool: Arc::new(Pool::start(system::cores())),
            isa: self.isa,
            counters: Arc::default(),
            in_use: self.in_use.clone(),
            limit: self.limit(),
            watchdog: options.watchdog,
            native: options.float_mode == FloatMode::Native,
            thrifty: self.thrifty,
            findings: options.checks.then(|| self.findings.clone()),
            loaded: Recent::default(),
        }))
    }

    fn memory_status(&self) -> MemoryStatus {
        let used = (self.in_use.load(Relaxed) / MIB) as u32;
        let free = (system::available_mib() / 2).min(self.attributes.local_ram);
        MemoryStatus {
            local: free.min(self.attributes.local_ram.saturating_sub(used)),
            uncached_remote: free.min(self.attributes.uncached_remote_ram),
            cached_remote: free.min(self.attributes.cached_remote_ram),
        }
    }
}

/// The open device.
pub struct CpuDevice {
    pool: Arc<Pool>,
    isa: &'static Isa,
    counters: Arc<Counters>,
    in_use: InUse,
    limit: u64,
    watchdog: Option<Duration>,
    /// Floats are as the processor has them, not as documented.
    native: bool,
    /// See [`CpuBackend::thrifty`].
    thrifty: bool,
    /// Where misuse by kernels is reported, if it is looked for.
    findings: Option<Arc<Findings>>,
    /// What was loaded last.
    loaded: Recent<CpuKernel>,
}

impl Device for CpuDevice {
    fn allocate(&self, request: MemoryRequest) -> Result<Arc<dyn Memory>> {
        Ok(Arc::new(Block::allocate(request.bytes, self.limit, &self.in_use)?))
    }

    unsafe fn import(&self, address: *mut u8, bytes: u64) -> Result<Arc<dyn Memory>> {
        // SAFETY: the caller's promise is the one that `Block::import` asks for.
        Ok(Arc::new(unsafe { Block::import(address, bytes) }?))
    }

    fn create_queue(&self) -> Result<Arc<dyn Queue>> {
        Ok(Arc::new(CpuQueue::new(
            self.pool.clone(),
            self.counters.clone(),
            self.watchdog,
            self.findings.clone(),
        )))
    }

    fn load(&self, program: Arc<Program>) -> Result<Arc<dyn Kernel>> {
        self.load_with_text(program, &[])
    }

    fn float_mode(&self) -> FloatMode {
        if self.native { FloatMode::Native } else { FloatMode::Faithful }
    }

    fn findings(&self) -> Option<Vec<Finding>> {
        self.findings.as_ref().map(|findings| findings.take())
    }

    fn counter(&self, index: u32) -> Result<u32> {
        Ok(self.counters.get(index as usize).map_or(0, |counter| counter.load(Relaxed)))
    }

    fn set_counter(&self, index: u32, value: u32) -> Result<()> {
        if let Some(counter) = self.counters.get(index as usize) {
            counter.store(value, Relaxed);
        }
        Ok(())
    }

    fn load_with_text(&self, program: Arc<Program>, text: &[u8]) -> Result<Arc<dyn Kernel>> {
        let checked = self.findings.is_some();
        if let (Some(kernel), false) = (self.loaded.get(&program), checked) {
            return Ok(Arc::new(kernel));
        }
        let (subject, registers, mut code) = if checked {
            let subject = self.subject(&program, text);
            let code = load::load(&load::structured(&subject.program), &[], self.isa);
            (Some(subject), program.registers, code)
        } else {
            let (packed, known) = load::prepare(&program, self.isa.compiled().is_some(), self.native);
            (None, packed.registers, load::load(&packed, &known, self.isa))
        };
        code.gradual = self.native;
        code.thrifty = self.thrifty;
        if code.thrifty && code.straight {
            code.first = FirstLaunches::few();
        }
        let resources =
            KernelResources { gprs: registers.div_ceil(4), lds_bytes: code.lds_bytes, scratch: 0, stack: 0 };
        code.subject = subject;
        let code = Arc::new(code);
        let kernel = CpuKernel { code, isa: self.isa, resources };
        self.loaded.put(&program, kernel.clone());
        Ok(Arc::new(kernel))
    }
}

impl CpuDevice {
    /// What a check runs: single registers, by name if the text is known.
    fn subject(&self, program: &Program, text: &[u8]) -> Subject {
        let named = recal_il::front(text).ok().and_then(|kernel| lower_named(&kernel).ok());
        let (program, names) = named
            .filter(|(named, _)| named.declared == program.declared)
            .unwrap_or_else(|| (program.clone(), Names::new()));
        Subject { program: if self.native { native(&program) } else { program }, text: text.into(), names }
    }
}

/// A program ready to run.
#[derive(Clone)]
pub struct CpuKernel {
    pub(crate) code: Arc<Code>,
    pub(crate) isa: &'static Isa,
    resources: KernelResources,
}

impl Kernel for CpuKernel {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn resources(&self) -> KernelResources {
        self.resources
    }
}

#[cfg(test)]
mod tests {
    use super::engine_clock;

    /// Engines, threads of a wave, five operations, clock: what a core of 3 GHz with AVX-512 does at best is 192 GFLOPS.
    #[test]
    fn clients_compute_the_peak_of_a_core() {
        let peak = |set| 64.0 * 5.0 * f64::from(engine_clock(3000, set)) * 1e6;
        assert_eq!(peak("avx512"), 192e9);
        assert_eq!(peak("avx2"), 96e9);
        assert_eq!(peak("baseline"), 24e9);
        assert!(engine_clock(1, "baseline") > 0, "clients divide by it");
    }
}
