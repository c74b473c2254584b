//! Kernels on the CPU device, with hostile addresses, in memory between guards.
//!
//! The first byte says which words the kernel finds in memory and whether the device checks it; the rest makes the kernel. Whatever it
//! does, it ends (or is stopped), writes no byte that it was not given, and leaves constants and textures alone.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arbitrary::Unstructured;
use recal_cpu::CpuBackend;
use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Error, Extent, Format, Queue, Sampler, Surface, Wrap,
};

use crate::generate;
use crate::guard::Guarded;

/// What stands around the memory of a surface, up to the guards.
const CANARY: u8 = 0xA5;

/// Words that addresses are made of.
const HOSTILE: [u32; 16] = [
    0,
    1,
    3,
    4,
    63,
    64,
    1020,
    4096,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0xFFFF_FFFC,
    0x7FC0_0000,
    0x7F80_0000,
    0xBF80_0000,
    0x4B80_0000,
];

/// A surface in guarded memory; it ends where the guard begins.
struct Buffer {
    memory: Guarded,
    surface: Surface,
    /// First byte of the surface in the memory.
    start: usize,
    before: Vec<u8>,
}

impl Buffer {
    fn new(device: &dyn Device, format: Format, width: u32, height: u32, seed: u32) -> Buffer {
        let bytes = (width * height * format.bytes()) as usize;
        let mut memory = Guarded::new(bytes);
        memory.fill(CANARY);
        // The device wants words aligned; all sizes here are whole words.
        let start = memory.bytes() - bytes;
        for (k, word) in (start..start + bytes).step_by(4).enumerate() {
            let value =
                HOSTILE[(k as u32).wrapping_mul(seed | 1).wrapping_add(seed >> 3) as usize % HOSTILE.len()];
            // SAFETY: inside the memory, which nothing else uses yet; `word` is a multiple of 4.
            unsafe { memory.start().add(word).cast::<u32>().write(value) };
        }
        // SAFETY: `bytes` bytes from `start` are inside the memory, which outlives the surface in `Buffer`'s use.
        let imported = unsafe { device.import(memory.start().add(start), bytes as u64) };
        let imported = imported.expect("memory is imported");
        let before = memory.read();
        Buffer {
            memory,
            surface: Surface { memory: imported, width, height, pitch: width, format },
            start,
            before,
        }
    }

    /// What changed outside of the surface, or in it if it is read-only.
    fn damage(&self, read_only: bool) -> Option<usize> {
        let own = self.start..self.start + self.surface.bytes() as usize;
        let now = self.memory.read();
        (0..now.len()).find(|at| now[*at] != self.before[*at] && (read_only || !own.contains(at)))
    }
}

/// A backend, a device and a queue for all runs.
struct Machine {
    backend: CpuBackend,
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
}

/// One that checks kernels, or one that does not.
fn machine(checks: bool) -> &'static Machine {
    static MACHINES: [OnceLock<Machine>; 2] = [const { OnceLock::new() }; 2];
    MACHINES[usize::from(checks)].get_or_init(|| {
        let watchdog = Some(Duration::from_millis(500));
        let backend = CpuBackend::new();
        let options = DeviceOptions { watchdog, checks, ..DeviceOptions::default() };
        let device = backend.adapters()[0].open(&options).expect("a CPU device");
        let queue = device.create_queue().expect("a queue");
        Machine { backend, device, queue }
    })
}

/// Runs the kernel that the bytes make.
pub fn kernel(data: &[u8]) {
    let Some((&seed, rest)) = data.split_first() else { return };
    let text = generate::text(&mut Unstructured::new(rest));
    let Ok(program) = recal_il::compile(text.as_bytes()) else { return };
    run(&text, program, u32::from(seed));
}

fn run(text: &str, program: recal_hal::Program, seed: u32) {
    // What the checks find is looked at below; nobody reads it in the log.
    log::set_max_level(log::LevelFilter::Off);
    let Machine { backend, device, queue } = machine(seed & 128 != 0);
    let buffer = |format, width, height| Buffer::new(&**device, format, width, height, seed);
    let words = Format::UnsignedInt32x1;
    let resources = [(0, Format::Float32x4, 7, 5), (5, words, 60, 1), (6, words, 60, 1)];
    let resources = resources.map(|(n, format, width, height)| (n, buffer(format, width, height)));
    let uavs = [(1, Format::Float32x1, 9, 5), (2, words, 61, 1), (3, words, 64, 1), (4, words, 59, 1)];
    let uavs = uavs.map(|(n, format, width, height)| (n, buffer(format, width, height)));
    let constants = [(0, buffer(Format::Float32x4, 8, 1))];
    let outputs = [(0, buffer(Format::Float32x4, 13, 6))];
    let global = buffer(Format::Float32x4, 10, 1);
    let surfaces =
        |list: &[(u32, Buffer)]| list.iter().map(|(n, b)| (*n, b.surface.clone())).collect::<Vec<_>>();
    let wraps =
        [Wrap::ClampToEdge, Wrap::Repeat, Wrap::MirroredRepeat, Wrap::ClampToBorder, Wrap::MirrorClamp];
    let sampler = Sampler {
        linear: seed & 64 != 0,
        wrap: [wraps[seed as usize % 5], wraps[seed as usize / 5 % 5], Wrap::ClampToEdge],
        border: [1.0, 0.5, f32::NAN, -1.0],
    };
    let compute = program.interface.group.is_some();
    let bindings = Bindings {
        resources: surfaces(&resources),
        samplers: vec![(0, sampler)],
        constants: surfaces(&constants),
        outputs: surfaces(&outputs),
        uavs: surfaces(&uavs),
        global: Some(global.surface.clone()),
        domain_params: None,
    };
    // More than the output has, and not at its origin.
    let extent = if compute {
        Extent::Grid { groups: [2, 1, 1], block: [64, 1, 1] }
    } else {
        Extent::Domain { x: 3, y: 1, width: 20, height: 9 }
    };
    let kernel = device.load_with_text(Arc::new(program), text.as_bytes());
    let kernel = kernel.expect("a kernel that compiles is loaded");
    let ticket =
        queue.submit(Command::Launch { kernel, bindings: Arc::new(bindings), extent }).expect("submitted");
    queue.wait(ticket).expect("it ends");
    match queue.error(ticket) {
        None | Some(Error::Timeout(_)) => {}
        Some(other) => panic!("{other}\n{text}"),
    }
    for finding in backend.findings() {
        assert!(finding.to_string().contains("thread ("), "{finding}");
    }
    let all = resources.iter().chain(&constants).map(|(_, b)| (b, true));
    let all = all.chain(uavs.iter().chain(&outputs).map(|(_, b)| (b, false))).chain([(&global, false)]);
    for (number, (buffer, read_only)) in all.enumerate() {
        if let Some(at) = buffer.damage(read_only) {
            panic!("buffer {number}: byte {at} was written; the surface starts at {}\n{text}", buffer.start);
        }
    }
}
