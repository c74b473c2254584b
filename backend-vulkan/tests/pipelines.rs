//! When pipelines are built: at loading, when something is bound that those of before do not run, and behind the launches of
//! kernels that are launched often. Never in a launch, nor in a wait for one.

#[expect(dead_code, reason = "calls are counted here, none fails")]
mod faulty;
mod needs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Extent, Format, Heap, Kernel, Memory, MemoryRequest,
    Queue, Sampler, Surface, Wrap,
};
use recal_vulkan::{Options, Vulkan};

/// The output is the input and 1.
const NEXT: &str = "il_ps_2_0\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    dcl_literal l0, 1.0, 1.0, 1.0, 1.0\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n\
    add o0, r0, l0\n\
    end\n";

/// Pipelines that were asked for.
fn built() -> u64 {
    let entry = faulty::ENTRY_POINTS.iter().find(|entry| entry.name == c"vkCreateComputePipelines");
    faulty::calls(entry.expect("it is in the table"))
}

struct Bench {
    device: Arc<dyn Device>,
    queue: Arc<dyn Queue>,
}

impl Bench {
    /// Launches the kernel on surfaces of a format, whose memory ends with them or later; the words of the first output row.
    fn launch(
        &self,
        kernel: &Arc<dyn Kernel>,
        format: Format,
        side: u32,
        more: u64,
        sampler: Sampler,
    ) -> Vec<u32> {
        let bytes = u64::from(side) * u64::from(side) * u64::from(format.bytes()) + more;
        let allocate = || self.device.allocate(MemoryRequest { bytes, heap: Heap::RemoteCached }).unwrap();
        let (input, output): (Arc<dyn Memory>, Arc<dyn Memory>) = (allocate(), allocate());
        let view = |memory: &Arc<dyn Memory>| Surface {
            memory: memory.clone(),
            width: side,
            height: side,
            pitch: side,
            format,
        };
        let bindings = Arc::new(Bindings {
            resources: vec![(0, view(&input))],
            samplers: vec![(0, sampler)],
            outputs: vec![(0, view(&output))],
            ..Bindings::default()
        });
        let extent = Extent::Domain { x: 0, y: 0, width: side, height: side };
        let command = Command::Launch { kernel: kernel.clone(), bindings, extent };
        self.queue.wait(self.queue.submit(command).unwrap()).unwrap();
        let from = output.map().unwrap().cast::<u32>();
        let words = (side * format.bytes() / 4) as usize;
        // SAFETY: the block has so many words and more, and all work is done.
        let row = (0..words).map(|k| unsafe { from.add(k).read() }).collect();
        output.unmap();
        row
    }
}

fn launches_build_nothing() {
    // SAFETY: what the system's search path finds is a Vulkan loader.
    let next = unsafe { ash::Entry::load() }.expect("the test needs a device");
    let backend = Vulkan::with_entry(Options { software: true, ..Options::default() }, faulty::loader(&next));
    let adapter = backend.adapters().first().cloned().expect("the test needs one");
    let device = adapter.open(&DeviceOptions::default()).unwrap();
    let bench = Bench { queue: device.create_queue().unwrap(), device };
    let load = |text: &str| bench.device.load(Arc::new(recal_il::compile(text.as_bytes()).unwrap())).unwrap();
    let one = 1.0f32.to_bits();
    let nearest = Sampler::default();

    // The first launches of a kernel, whatever they bind of plain words. Sizes make no kinds of launches, so there are two
    // of the first kind, and a third may already be one too many where a launch takes long.
    let kernel = load(NEXT);
    let loaded = built();
    assert!(loaded > 0, "loading builds");
    for (format, side, more) in
        [(Format::Float32x4, 64, 0), (Format::Float32x4, 64, 4096), (Format::Float32x1, 20, 96)]
    {
        assert!(bench.launch(&kernel, format, side, more, nearest).iter().all(|word| *word == one));
    }
    assert_eq!(built(), loaded, "a launch has built a pipeline");

    // What else is bound is told of before, and asked for once.
    let repeat = Sampler { wrap: [Wrap::Repeat; 3], ..nearest };
    for _ in 0..2 {
        kernel.expect_surface(Format::UnormInt8x4);
        kernel.expect_surface(Format::Float32x2);
    }
    assert_eq!(built(), loaded + 1);
    assert_eq!(bench.launch(&kernel, Format::UnormInt8x4, 64, 0, nearest), [u32::MAX; 64]);
    kernel.expect_sampler(&repeat);
    assert_eq!(built(), loaded + 2);
    assert_eq!(bench.launch(&kernel, Format::UnormInt8x4, 64, 0, repeat), [u32::MAX; 64]);
    assert_eq!(built(), loaded + 2, "a launch has built a pipeline");

    // A kernel that is launched often gets one of its own, at last. Of a fresh one all launches are counted here.
    drop(kernel);
    let kernel = load(NEXT);
    let loaded = built();
    let start = Instant::now();
    let mut launches = 0;
    while built() == loaded {
        assert!(start.elapsed() < Duration::from_secs(240), "none after {launches} launches");
        assert!(bench.launch(&kernel, Format::Float32x4, 512, 0, nearest).iter().all(|word| *word == one));
        launches += 1;
    }
    assert!(launches > 2, "a few launches are not often");
    for _ in 0..20 {
        assert!(bench.launch(&kernel, Format::Float32x4, 512, 0, nearest).iter().all(|word| *word == one));
    }

    // Kernel and device may go while it is being built.
    drop((kernel, bench));
    drop((backend, adapter));
    assert_eq!(faulty::live(), 0, "objects are left");
}

recal_needs::tests!(needs::device() => launches_build_nothing);
