//! Constant buffers as uniform buffers: which are, by the modules that are made for them, and that kernels read from them what was
//! written last, by whomever. Under the validation layer, which sees what is bound and what waits for what.

mod needs;

mod random;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Extent, Format, Heap, Kernel, Memory, MemoryRequest,
    Queue, Surface,
};
use recal_il::spirv::UNIFORM_BINDINGS;
use recal_needs::Need;
use recal_vulkan::{Options, Vulkan};

use random::random_below;

/// Word t becomes half of one constant, a quarter of another one, 1 and t.
const MIXED: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[9]\ndcl_cb cb1[9]\n\
    dcl_literal l0, 0.5, 0.25, 1.0, 4\nmul r1.x, cb0[0].x, l0.x\nmul r1.y, cb1[4].y, l0.y\nadd r1.x, r1.x, r1.y\n\
    itof r1.y, vAbsTidFlat.x\nadd r1.y, r1.y, l0.z\nadd r1.x, r1.x, r1.y\n\
    umul r0.x, vAbsTidFlat.x, l0.w\nuav_raw_store_id(0) mem.x___, r0.x, r1.x\nend\n";
/// What it reads of the second one, by word; of the first one it is word 0.
const SECOND: usize = 17;
const WORDS: u32 = 64;

/// What it does.
fn mixed(constants: &[f32], second: &[f32]) -> Vec<f32> {
    let (a, b) = (constants[0], second.get(SECOND).copied().unwrap_or(0.0));
    (0..WORDS).map(|t| (a * 0.5 + b * 0.25) + (t as f32 + 1.0)).collect()
}

static MESSAGES: AtomicUsize = AtomicUsize::new(0);

/// Counts what the validation layer says.
struct Messages;

impl log::Log for Messages {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "recal_vulkan::validation"
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            eprintln!("{}", record.args());
            MESSAGES.fetch_add(1, Relaxed);
        }
    }

    fn flush(&self) {}
}

/// The devices, under the layer where it is installed.
fn devices(dump: Option<PathBuf>) -> Vec<(String, Arc<dyn Device>)> {
    if log::set_logger(&Messages).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
    let options = Options {
        software: true,
        at_once: true,
        on_demand: true,
        uniforms: true,
        validation: Need::validation().met("what the validation layer says of uniform buffers"),
        dump,
        ..Options::default()
    };
    let adapters = Vulkan::new(options).adapters();
    let open = |adapter: &Arc<dyn recal_hal::Adapter>| {
        (adapter.attributes().name.clone(), adapter.open(&DeviceOptions::default()).unwrap())
    };
    adapters.iter().map(open).collect()
}

fn silent() {
    assert_eq!(MESSAGES.load(Relaxed), 0, "the validation layer says something");
}

fn memory(device: &dyn Device, bytes: u64) -> Arc<dyn Memory> {
    device.allocate(MemoryRequest { bytes, heap: Heap::RemoteCached }).unwrap()
}

fn surface(memory: &Arc<dyn Memory>, width: u32) -> Surface {
    Surface { memory: memory.clone(), width, height: 1, pitch: width, format: Format::Float32x1 }
}

fn write(memory: &dyn Memory, values: &[f32]) {
    let to = memory.map().unwrap().cast::<f32>();
    // SAFETY: the block has so many words and nothing uses it.
    (0..values.len()).for_each(|k| unsafe { to.add(k).write(values[k]) });
    memory.unmap();
}

fn read(memory: &dyn Memory, words: u32) -> Vec<f32> {
    let from = memory.map().unwrap().cast::<f32>();
    // SAFETY: the block has so many words and all work is done.
    let values = (0..words as usize).map(|k| unsafe { from.add(k).read() }).collect();
    memory.unmap();
    values
}

fn launch(queue: &dyn Queue, kernel: &Arc<dyn Kernel>, bindings: &Arc<Bindings>) -> u64 {
    let extent = Extent::Grid { groups: [1, 1, 1], block: [64, 1, 1] };
    queue.submit(Command::Launch { kernel: kernel.clone(), bindings: bindings.clone(), extent }).unwrap()
}

fn load(device: &dyn Device) -> Arc<dyn Kernel> {
    device.load(Arc::new(recal_il::compile(MIXED.as_bytes()).unwrap())).unwrap()
}

/// Whether one of the modules in a folder reads a uniform buffer.
fn dumped(folder: &PathBuf) -> bool {
    let modules = std::fs::read_dir(folder).into_iter().flatten();
    let words = modules.map(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect::<Vec<_>>()
    });
    // OpDecorate, Binding
    let decorates = |words: &[u32]| words[0] == 4 << 16 | 71 && words[2..] == [33, UNIFORM_BINDINGS];
    let found: Vec<bool> = words.map(|words| words.windows(4).any(decorates)).collect();
    assert!(!found.is_empty(), "no module was made");
    found.contains(&true)
}

fn constant_buffers_that_fit_are_uniform_buffers() {
    // Bytes of the memory, whether the kernel writes it, too, whether it is bound twice; whether all are uniform buffers then.
    let cases = [
        (1024, false, true, true),
        (80, false, true, true),
        (76, false, true, false),
        (64, false, true, false),
        (1024, true, true, false),
        (1024, false, false, false),
    ];
    let folder = std::env::temp_dir().join(format!("recal-uniforms-{}", std::process::id()));
    for case in cases {
        let (bytes, written, bound, expected) = case;
        for (name, device) in devices(Some(folder.clone())) {
            // Of the probes.
            let _ = std::fs::remove_dir_all(&folder);
            let (queue, kernel) = (device.create_queue().unwrap(), load(&*device));
            let (constants, output) = (memory(&*device, bytes), memory(&*device, 4 * u64::from(WORDS)));
            let mut values: Vec<f32> = (0..bytes / 4).map(|k| k as f32 + 8.0).collect();
            for round in 0..4 {
                values[0] = 100.0 + round as f32;
                write(&*constants, &values);
                let target = if written { &constants } else { &output };
                let constants = (0..1 + u32::from(bound)).map(|number| (number, surface(&constants, 16)));
                let bindings = Arc::new(Bindings {
                    constants: constants.collect(),
                    uavs: vec![(0, surface(target, WORDS))],
                    ..Bindings::default()
                });
                queue.wait(launch(&*queue, &kernel, &bindings)).unwrap();
                // What is written while it is read may be seen or not.
                if !written {
                    let wanted = mixed(&values, if bound { &values } else { &[] });
                    assert_eq!(read(&**target, WORDS), wanted, "{name}: {case:?}, round {round}");
                }
            }
            assert_eq!(dumped(&folder), expected, "{name}: {case:?}");
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    silent();
}

/// Launches of one kernel with memories that fit and do not, of which there is a pipeline for those that do before any other of its sizes.
fn others_run_as_before() {
    for (name, device) in devices(None) {
        let (queue, kernel) = (device.create_queue().unwrap(), load(&*device));
        let output = memory(&*device, 4 * u64::from(WORDS));
        let sizes = [1024, 64].map(|bytes| memory(&*device, bytes));
        let values = [100.0; 256];
        write(&*sizes[0], &values);
        write(&*sizes[1], &values[..16]);
        for short in [false, false, false, true, false, true, true, false] {
            let inside = &values[..if short { 16 } else { 256 }];
            let bindings = Arc::new(Bindings {
                constants: [0, 1].map(|number| (number, surface(&sizes[usize::from(short)], 16))).into(),
                uavs: vec![(0, surface(&output, WORDS))],
                ..Bindings::default()
            });
            queue.wait(launch(&*queue, &kernel, &bindings)).unwrap();
            assert_eq!(read(&*output, WORDS), mixed(inside, inside), "{name}");
        }
    }
    silent();
}

/// Launches write what others have for constants, again and again, with the host and copies between.
fn uniform_buffers_hold_what_was_written_last() {
    for (name, device) in devices(None) {
        let (queue, kernel) = (device.create_queue().unwrap(), load(&*device));
        let memories: [_; 4] = std::array::from_fn(|_| memory(&*device, 4 * u64::from(WORDS)));
        let mut model: [Vec<f32>; 4] = std::array::from_fn(|k| vec![k as f32; WORDS as usize]);
        memories.iter().zip(&model).for_each(|(memory, values)| write(&**memory, values));
        // By constants and output; each pair comes again with the same bindings.
        let bound = |from: usize, to: usize| {
            Arc::new(Bindings {
                constants: [0, 1].map(|number| (number, surface(&memories[from], WORDS))).into(),
                uavs: vec![(0, surface(&memories[to], WORDS))],
                ..Bindings::default()
            })
        };
        let bound: Vec<_> = (0..16).map(|k| bound(k / 4, k % 4)).collect();
        let mut random = random_below();
        let mut last = 0;
        for round in 0..800 {
            let (from, other) = (random(4) as usize, 1 + random(3) as usize);
            let to = (from + other) % 4;
            match random(16) {
                0 => queue.flush().unwrap(),
                1 => {
                    queue.wait(last).unwrap();
                    model[from].fill(round as f32);
                    write(&*memories[from], &model[from]);
                }
                2 => {
                    let [src, dst] = [from, to].map(|k| surface(&memories[k], WORDS));
                    last = queue.submit(Command::Copy { src, dst }).unwrap();
                    model[to] = model[from].clone();
                }
                times => {
                    (0..1 + times % 3).for_each(|_| last = launch(&*queue, &kernel, &bound[4 * from + to]));
                    model[to] = mixed(&model[from], &model[from]);
                }
            }
        }
        queue.wait(last).unwrap();
        for (memory, values) in memories.iter().zip(&model) {
            assert_eq!(read(&**memory, WORDS), *values, "{name}");
        }
    }
    silent();
}

recal_needs::tests!(
    needs::device() => constant_buffers_that_fit_are_uniform_buffers others_run_as_before uniform_buffers_hold_what_was_written_last
);
