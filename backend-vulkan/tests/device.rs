//! Memory, copies and application memory on every Vulkan device found.

mod needs;

use std::sync::Arc;

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Error, Extent, FloatMode, Format, Heap, Memory,
    MemoryRequest, Surface,
};
use recal_vulkan::{Options, Vulkan};

fn devices(mode: FloatMode) -> Vec<(String, Arc<dyn Device>)> {
    let backend = Vulkan::new(Options { software: true, ..Options::default() });
    let options = DeviceOptions { float_mode: mode, ..Default::default() };
    let open = |adapter: &Arc<dyn recal_hal::Adapter>| {
        let name = adapter.attributes().name.clone();
        (name, adapter.open(&options).expect("a listed device opens"))
    };
    backend.adapters().iter().map(open).collect()
}

fn surface(memory: Arc<dyn Memory>, width: u32, height: u32, pitch: u32) -> Surface {
    Surface { memory, width, height, pitch, format: Format::UnsignedInt32x1 }
}

fn allocate(device: &dyn Device, heap: Heap) -> Arc<dyn Memory> {
    device.allocate(MemoryRequest { bytes: 8192, heap }).expect("8 KiB are to be had")
}

fn fill(memory: &dyn Memory, f: impl Fn(u32) -> u32) {
    let to = memory.map().unwrap().cast::<u32>();
    for k in 0..2048 {
        // SAFETY: the block has 8192 bytes and nothing else uses it.
        unsafe { to.add(k as usize).write(f(k)) };
    }
    memory.unmap();
}

fn words(memory: &dyn Memory) -> Vec<u32> {
    let from = memory.map().unwrap().cast::<u32>();
    // SAFETY: the block has 8192 bytes and all work is done.
    let words = (0..2048).map(|k| unsafe { from.add(k).read() }).collect();
    memory.unmap();
    words
}

fn memory_is_zero_at_first_and_copies_keep_rows_apart() {
    for (name, device) in devices(FloatMode::Native) {
        for (from, to) in [(Heap::Local, Heap::Remote), (Heap::RemoteCached, Heap::Local)] {
            let (src, dst) = (allocate(&*device, from), allocate(&*device, to));
            assert!(words(&*dst).iter().all(|word| *word == 0), "{name}");
            fill(&*src, |k| k + 1);
            let queue = device.create_queue().unwrap();
            let command =
                Command::Copy { src: surface(src.clone(), 10, 7, 64), dst: surface(dst.clone(), 12, 9, 128) };
            let ticket = queue.submit(command).unwrap();
            queue.wait(ticket).unwrap();
            assert!(queue.completed() >= ticket);
            for (k, word) in words(&*dst).into_iter().enumerate() {
                let (x, y) = (k % 128, k / 128);
                let expected = if x < 10 && y < 7 { (y * 64 + x + 1) as u32 } else { 0 };
                assert_eq!(word, expected, "{name}: column {x}, row {y}");
            }
        }
    }
}

/// Rows move apart and together within one memory, as if all of the source were read before anything is written.
fn copies_within_one_memory_change_the_pitch() {
    for (name, device) in devices(FloatMode::Native) {
        for (from, to) in [(64, 128), (128, 64), (16, 64), (64, 16)] {
            let memory = allocate(&*device, Heap::Local);
            fill(&*memory, |k| k + 1);
            let queue = device.create_queue().unwrap();
            let command = Command::Copy {
                src: surface(memory.clone(), 16, 8, from),
                dst: surface(memory.clone(), 16, 8, to),
            };
            let ticket = queue.submit(command).unwrap();
            queue.wait(ticket).unwrap();
            for (k, word) in words(&*memory).into_iter().enumerate() {
                let (x, y) = (k % to as usize, k / to as usize);
                let moved = if x < 16 && y < 8 { y * from as usize + x } else { k };
                assert_eq!(word as usize, moved + 1, "{name}: from {from} to {to}, column {x}, row {y}");
            }
        }
    }
}

fn more_than_there_is_fails_cleanly() {
    for (name, device) in devices(FloatMode::Native) {
        for heap in [Heap::Local, Heap::Remote] {
            match device.allocate(MemoryRequest { bytes: 1 << 46, heap }) {
                Err(Error::OutOfMemory(_)) => {}
                Err(error) => panic!("{name}: {error}"),
                Ok(_) => panic!("{name} has 64 TiB"),
            }
            allocate(&*device, heap);
        }
    }
}

const DOUBLE: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, 0, 0, 0\n\
                      umul r0.x, vAbsTid.x, l0.x\nuav_raw_load_id(0) r1.x, r0.x\niadd r1.x, r1.x, r1.x\n\
                      uav_raw_store_id(0) mem0.x, r0.x, r1.x\nend\n";

fn application_memory_is_read_and_written() {
    let program = Arc::new(recal_il::compile(DOUBLE.as_bytes()).unwrap());
    for (name, device) in devices(FloatMode::Native) {
        let kernel = device.load(program.clone()).unwrap();
        let queue = device.create_queue().unwrap();
        // Aligned as importing wants it, to 16 bytes only, and to 4 only.
        for skip in [0, 4, 1] {
            let mut page = vec![0u32; 4096];
            let start = page.as_ptr().align_offset(4096) + skip;
            for (k, word) in page[start..start + 256].iter_mut().enumerate() {
                *word = k as u32;
            }
            let address = page[start..].as_mut_ptr().cast::<u8>();
            // SAFETY: the words live until the memory is dropped and the launches are done.
            let memory = unsafe { device.import(address, 1024) }.unwrap();
            let mut last = 0;
            for _ in 0..3 {
                let bindings =
                    Bindings { uavs: vec![(0, surface(memory.clone(), 256, 1, 256))], ..Bindings::default() };
                let extent = Extent::Grid { groups: [4, 1, 1], block: [64, 1, 1] };
                let command =
                    Command::Launch { kernel: kernel.clone(), bindings: Arc::new(bindings), extent };
                last = queue.submit(command).unwrap();
            }
            queue.wait(last).unwrap();
            drop(memory);
            for (k, word) in page[start..start + 256].iter().enumerate() {
                assert_eq!(*word, 8 * k as u32, "{name}: word {k}, {skip} words from a page");
            }
        }
    }
}

/// Memory too large for a storage buffer of llvmpipe's is read and written where it ends, too.
fn large_memory_is_read_and_written() {
    // From 128 MiB on.
    let text = DOUBLE
        .replace("l0, 4, 0,", "l0, 4, 0x8000000,")
        .replace("uav_raw_load", "iadd r0.x, r0.x, l0.y\nuav_raw_load");
    let program = Arc::new(recal_il::compile(text.as_bytes()).unwrap());
    const FIRST: usize = 32 << 20;
    for (name, device) in devices(FloatMode::Native) {
        let kernel = device.load(program.clone()).unwrap();
        let queue = device.create_queue().unwrap();
        let bytes = 4 * FIRST as u64 + 1024;
        let Ok(memory) = device.allocate(MemoryRequest { bytes, heap: Heap::RemoteCached }) else { continue };
        let to = memory.map().unwrap().cast::<u32>();
        // SAFETY: here and below, the block has these words, and no launch uses it meanwhile.
        (0..256).for_each(|k| unsafe { to.add(FIRST + k).write(k as u32) });
        memory.unmap();
        let words = (bytes / 4) as u32;
        let bindings =
            Bindings { uavs: vec![(0, surface(memory.clone(), words, 1, words))], ..Bindings::default() };
        let extent = Extent::Grid { groups: [4, 1, 1], block: [64, 1, 1] };
        let command = Command::Launch { kernel, bindings: Arc::new(bindings), extent };
        queue.wait(queue.submit(command).unwrap()).unwrap();
        let from = memory.map().unwrap().cast::<u32>();
        // SAFETY: as above.
        let found = [0, 255].map(|k| unsafe { (from.add(k).read(), from.add(FIRST + k).read()) });
        assert_eq!(found, [(0, 0), (0, 510)], "{name}");
        memory.unmap();
    }
}

/// Words 90 to 153 of uav0 and rows 20 to 83 of g[], by their numbers, to uav1.
const BEYOND: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\n\
                      dcl_literal l0, 4, 90, 20, 8\niadd r0.x, vAbsTid.x, l0.y\nimul r0.x, r0.x, l0.x\n\
                      uav_raw_load_id(0) r1.x, r0.x\niadd r0.y, vAbsTid.x, l0.z\nmov r2, g[r0.y]\n\
                      mov r1.y, r2.w\nimul r0.z, vAbsTid.x, l0.w\nuav_raw_store_id(1) mem0.xy, r0.z, r1\nend\n";

/// Nothing follows a part of a block, or application memory, that could be taken for zeros.
fn loads_outside_are_zero_whatever_follows() {
    const LIMIT: u32 = 100;
    let program = Arc::new(recal_il::compile(BEYOND.as_bytes()).unwrap());
    for (name, device) in devices(FloatMode::Faithful) {
        let kernel = device.load(program.clone()).unwrap();
        let queue = device.create_queue().unwrap();
        let mut page = vec![u32::MAX; 4096];
        let start = page.as_ptr().align_offset(4096);
        (0..LIMIT).for_each(|k| page[start + k as usize] = k);
        let address = page[start..].as_mut_ptr().cast::<u8>();
        // SAFETY: the words live until the memory is dropped and the launches are done.
        let application = unsafe { device.import(address, 4 * u64::from(LIMIT)) }.unwrap();
        let part = allocate(&*device, Heap::Remote);
        fill(&*part, |k| if k < LIMIT { k } else { u32::MAX });
        let whole =
            device.allocate(MemoryRequest { bytes: 4 * u64::from(LIMIT), heap: Heap::Remote }).unwrap();
        let to = whole.map().unwrap().cast::<u32>();
        // SAFETY: the block has that many words and nothing else uses it.
        (0..LIMIT).for_each(|k| unsafe { to.add(k as usize).write(k) });
        whole.unmap();
        for (kind, memory) in [("application memory", application), ("a part", part), ("a block", whole)] {
            let result = allocate(&*device, Heap::Remote);
            let from = surface(memory, LIMIT, 1, LIMIT);
            let bindings = Bindings {
                uavs: vec![(0, from.clone()), (1, surface(result.clone(), 2048, 1, 2048))],
                global: Some(from),
                ..Bindings::default()
            };
            let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
            let command = Command::Launch { kernel: kernel.clone(), bindings: Arc::new(bindings), extent };
            queue.wait(queue.submit(command).unwrap()).unwrap();
            let inside = |word: u32| if word < LIMIT { word } else { 0 };
            for (k, pair) in (0..64).zip(words(&*result).chunks(2)) {
                let wanted = [inside(90 + k), inside(4 * (20 + k) + 3)];
                assert_eq!(pair, wanted, "{name}: {kind}, thread {k}");
            }
        }
    }
}

/// What is not bound reads as 0, whatever an append counter says.
fn nothing_bound_is_zero_beside_counters() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(3)\n\
                dcl_literal l0, 8, 0, 0, 0\nappend_buf_alloc_id(0) r1.x\nfence_threads_memory\n\
                uav_raw_load_id(3) r2.x, l0.y\nmov r1.y, r2.x\nimul r0.x, vAbsTid.x, l0.x\n\
                uav_raw_store_id(0) mem0.xy, r0.x, r1\nend\n";
    // More surfaces than llvmpipe binds as storage buffers.
    let format = "fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)";
    let many: String = (0..34).map(|k| format!("dcl_resource_id({k})_type(2d,unnorm)_{format}\n")).collect();
    let programs = [text.to_owned(), text.replace("dcl_literal", &(many + "dcl_literal"))]
        .map(|text| Arc::new(recal_il::compile(text.as_bytes()).unwrap()));
    let devices = devices(FloatMode::Native);
    for ((name, device), program) in devices.iter().flat_map(|d| programs.iter().map(move |p| (d, p))) {
        let kernel = device.load(program.clone()).unwrap();
        let queue = device.create_queue().unwrap();
        let result = allocate(&**device, Heap::RemoteCached);
        let bindings =
            Bindings { uavs: vec![(0, surface(result.clone(), 2048, 1, 2048))], ..Bindings::default() };
        let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
        let command = Command::Launch { kernel, bindings: Arc::new(bindings), extent };
        queue.wait(queue.submit(command).unwrap()).unwrap();
        let mut counted: Vec<u32> = Vec::new();
        for pair in words(&*result).chunks(2).take(64) {
            counted.push(pair[0]);
            assert_eq!(pair[1], 0, "{name}");
        }
        counted.sort_unstable();
        // Counters go on from launch to launch.
        assert!(counted.iter().copied().eq(counted[0]..counted[0] + 64), "{name}");
    }
}

/// A program that is loaded again has the kernel of before, while others are loaded and kernels go.
fn kernels_of_programs_loaded_again_run() {
    let program = |times: u32| {
        let text =
            DOUBLE.replace("iadd r1.x, r1.x, r1.x\n", &"iadd r1.x, r1.x, r1.x\n".repeat(times as usize));
        Arc::new(recal_il::compile(text.as_bytes()).unwrap())
    };
    let programs: Vec<_> = (1..=12).map(program).collect();
    for (name, device) in devices(FloatMode::Faithful) {
        let queue = device.create_queue().unwrap();
        let run = |kernel: Arc<dyn recal_hal::Kernel>| {
            let memory = allocate(&*device, Heap::RemoteCached);
            fill(&*memory, |k| k);
            let bindings =
                Bindings { uavs: vec![(0, surface(memory.clone(), 2048, 1, 2048))], ..Bindings::default() };
            let extent = Extent::Grid { groups: [4, 1, 1], block: [64, 1, 1] };
            let command = Command::Launch { kernel, bindings: Arc::new(bindings), extent };
            queue.wait(queue.submit(command).unwrap()).unwrap();
            words(&*memory)[3]
        };
        let load = |k: usize| device.load(programs[k].clone()).unwrap();
        let first = load(0);
        assert!(Arc::ptr_eq(&first, &load(0)), "{name}");
        for k in 0..programs.len() {
            assert_eq!(run(load(k)), 3 << (k + 1), "{name}");
            assert_eq!(run(load(k)), 3 << (k + 1), "{name}");
        }
        // It is forgotten by now, but lives.
        assert!(!Arc::ptr_eq(&first, &load(0)), "{name}");
        assert_eq!((run(first), run(load(0))), (6, 6), "{name}");
    }
}

/// A compute kernel has no place in a domain, nor a pixel kernel in a grid, whatever its groups are.
fn kernels_run_where_they_belong() {
    let pixel = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 1.0, 1.0, 1.0, 1.0\nmov o0, l0\nend\n";
    let load = |device: &dyn Device, text: &str| {
        device.load(Arc::new(recal_il::compile(text.as_bytes()).unwrap())).unwrap()
    };
    let domain = Extent::Domain { x: 0, y: 0, width: 64, height: 8 };
    let grids = [[8, 8, 1], [16, 16, 1], [64, 1, 1]].map(|block| Extent::Grid { groups: [1; 3], block });
    for (name, device) in devices(FloatMode::Faithful) {
        let queue = device.create_queue().unwrap();
        let refused = |text: &str, extent: Extent| {
            let (kernel, bindings) = (load(&*device, text), Arc::default());
            matches!(queue.submit(Command::Launch { kernel, bindings, extent }), Err(Error::Failed(_)))
        };
        assert!(refused(DOUBLE, domain), "{name}");
        assert!(grids.into_iter().all(|grid| refused(pixel, grid)), "{name}");
    }
}

recal_needs::tests!(needs::device() => memory_is_zero_at_first_and_copies_keep_rows_apart copies_within_one_memory_change_the_pitch more_than_there_is_fails_cleanly application_memory_is_read_and_written large_memory_is_read_and_written loads_outside_are_zero_whatever_follows nothing_bound_is_zero_beside_counters kernels_of_programs_loaded_again_run kernels_run_where_they_belong);
