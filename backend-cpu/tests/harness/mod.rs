//! Runs kernel texts on the CPU device through the backend contract alone.
#![allow(dead_code)]

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use recal_cpu::{CpuBackend, Finding, InstructionSet, Misuse};
use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Error, Extent, Format, Heap, Kernel, MemoryRequest,
    Queue, Surface,
};

/// An open device with one queue.
pub struct Machine {
    pub device: Arc<dyn Device>,
    pub queue: Arc<dyn Queue>,
}

impl Machine {
    pub fn new() -> Machine {
        Machine::with(&DeviceOptions::default())
    }

    pub fn with(options: &DeviceOptions) -> Machine {
        Machine::of(&CpuBackend::new(), options)
    }

    pub fn of(backend: &CpuBackend, options: &DeviceOptions) -> Machine {
        let device = backend.adapters()[0].open(options).unwrap();
        let queue = device.create_queue().unwrap();
        Machine { device, queue }
    }

    /// One with no better instructions than those.
    pub fn limited(set: InstructionSet) -> Machine {
        Machine::of(&CpuBackend::limited(set), &DeviceOptions::default())
    }

    /// One that interprets all kernels.
    pub fn interpreting(options: &DeviceOptions) -> Machine {
        Machine::of(&CpuBackend::limited(InstructionSet::Baseline), options)
    }

    pub fn kernel(&self, text: &str) -> Arc<dyn Kernel> {
        self.device.load(Arc::new(compile(text))).unwrap()
    }

    /// A surface with a pitch of the next multiple of 64 elements, or just wide enough if it has one row.
    pub fn surface(&self, format: Format, width: u32, height: u32) -> Surface {
        let pitch = if height > 1 { width.next_multiple_of(64) } else { width };
        self.pitched(format, width, height, pitch)
    }

    pub fn pitched(&self, format: Format, width: u32, height: u32, pitch: u32) -> Surface {
        let bytes = (u64::from(pitch) * u64::from(height) * u64::from(format.bytes())).next_multiple_of(4096);
        let memory = self.device.allocate(MemoryRequest { bytes, heap: Heap::Local }).unwrap();
        Surface { memory, width, height, pitch, format }
    }

    /// A surface whose bytes start with `words`, row after row without regard to the pitch.
    pub fn filled(&self, format: Format, width: u32, height: u32, words: &[u32]) -> Surface {
        let surface = self.surface(format, width, height);
        write(&surface, words);
        surface
    }

    pub fn submit(&self, kernel: &Arc<dyn Kernel>, bindings: Bindings, extent: Extent) -> u64 {
        let command = Command::Launch { kernel: kernel.clone(), bindings: Arc::new(bindings), extent };
        self.queue.submit(command).unwrap()
    }

    pub fn try_run(&self, text: &str, bindings: Bindings, extent: Extent) -> Result<(), Error> {
        let ticket = self.submit(&self.kernel(text), bindings, extent);
        self.queue.wait(ticket).unwrap();
        self.queue.error(ticket).map_or(Ok(()), Err)
    }

    pub fn run(&self, text: &str, bindings: Bindings, extent: Extent) {
        self.try_run(text, bindings, extent).unwrap();
    }

    /// Runs a compute kernel of one group of `threads` threads with `words` zeros as raw uav0, and returns them.
    pub fn compute(&self, text: &str, threads: u32, words: u32) -> Vec<u32> {
        let out = self.surface(Format::UnsignedInt32x1, words, 1);
        let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
        self.run(text, bindings, Extent::Grid { groups: [1; 3], block: [threads, 1, 1] });
        read(&out, words as usize)
    }
}

pub fn compile(text: &str) -> recal_hal::Program {
    let ast = recal_il::text::parse(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let kernel = recal_il::check::check(&ast).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    recal_il::lower::lower(&kernel).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

pub fn write(surface: &Surface, words: &[u32]) {
    assert!(4 * words.len() as u64 <= surface.memory.bytes());
    let at = surface.memory.map().unwrap().cast::<u32>();
    // SAFETY: the memory is that large, aligned to 64 bytes, and no command uses it now.
    words.iter().enumerate().for_each(|(i, &word)| unsafe { at.add(i).write(word) });
    surface.memory.unmap();
}

pub fn read(surface: &Surface, words: usize) -> Vec<u32> {
    assert!(4 * words as u64 <= surface.memory.bytes());
    let at = surface.memory.map().unwrap().cast::<u32>();
    // SAFETY: as in `write`.
    let list = (0..words).map(|i| unsafe { at.add(i).read() }).collect();
    surface.memory.unmap();
    list
}

/// A word that kernels change, perhaps now, by atomic operations alone.
pub fn word(surface: &Surface, number: usize) -> &AtomicU32 {
    assert!(4 * number as u64 + 4 <= surface.memory.bytes());
    let at = surface.memory.map().unwrap().cast::<u32>();
    surface.memory.unmap();
    // SAFETY: the memory is that large, aligned to 64 bytes, and stays where it is as long as the surface.
    unsafe { AtomicU32::from_ptr(at.add(number)) }
}

pub fn domain(width: u32, height: u32) -> Extent {
    Extent::Domain { x: 0, y: 0, width, height }
}

pub fn grid(groups: u32, block: u32) -> Extent {
    Extent::Grid { groups: [groups, 1, 1], block: [block, 1, 1] }
}

/// What a checked run finds in `text`.
pub fn check(text: &str, bind: impl FnOnce(&Machine) -> Bindings, extent: Extent) -> Vec<Finding> {
    let backend = CpuBackend::new();
    let device =
        backend.adapters()[0].open(&DeviceOptions { checks: true, ..DeviceOptions::default() }).unwrap();
    let machine = Machine { queue: device.create_queue().unwrap(), device };
    let kernel = machine.device.load_with_text(Arc::new(compile(text)), text.as_bytes()).unwrap();
    let bindings = Arc::new(bind(&machine));
    let ticket = machine.queue.submit(Command::Launch { kernel, bindings, extent }).unwrap();
    machine.queue.wait(ticket).unwrap();
    assert_eq!(machine.queue.error(ticket), None);
    let list = backend.findings();
    assert!(backend.findings().is_empty());
    list
}

/// Kinds and lines of what is found.
pub fn lines(list: &[Finding]) -> Vec<(Misuse, u32)> {
    list.iter().map(|f| (f.misuse, f.line.as_ref().unwrap().0)).collect()
}
