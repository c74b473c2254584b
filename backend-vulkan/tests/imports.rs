//! Application memory on every Vulkan device found: more than one import of the same bytes, and memory that ends anywhere.

mod needs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Extent, Format, Heap, Memory, MemoryRequest, Program,
    Surface,
};
use recal_vulkan::{Options, Vulkan};

fn devices(options: Options) -> Vec<(String, Arc<dyn Device>)> {
    let backend = Vulkan::new(Options { software: true, ..options });
    let open = |adapter: &Arc<dyn recal_hal::Adapter>| {
        let name = adapter.attributes().name.clone();
        (name, adapter.open(&DeviceOptions::default()).expect("a listed device opens"))
    };
    backend.adapters().iter().map(open).collect()
}

fn surface(memory: &Arc<dyn Memory>, words: usize) -> Surface {
    let (memory, width) = (memory.clone(), words as u32);
    Surface { memory, width, height: 1, pitch: width, format: Format::UnsignedInt32x1 }
}

fn allocate(device: &dyn Device, words: usize) -> Arc<dyn Memory> {
    device
        .allocate(MemoryRequest { bytes: 4 * words as u64, heap: Heap::Remote })
        .expect("a page is to be had")
}

fn words(memory: &dyn Memory, count: usize) -> Vec<u32> {
    let from = memory.map().unwrap().cast::<u32>();
    // SAFETY: the block has so many words and all work is done.
    let words = (0..count).map(|k| unsafe { from.add(k).read() }).collect();
    memory.unmap();
    words
}

/// `uav0[thread] += 1`, after some turns.
const STEP: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\n\
    dcl_literal l0, 2, 1, 3000, -1\nishl r0.x, vAbsTidFlat.x, l0.x\nuav_raw_load_id(0) r1.x, r0.x\nmov r2.x, l0.z\n\
    whileloop\nbreak_logicalz r2.x\nixor r1.x, r1.x, r2.x\nixor r1.x, r1.x, r2.x\niadd r2.x, r2.x, l0.w\nendloop\n\
    iadd r1.x, r1.x, l0.y\nuav_raw_store_id(0) mem.x___, r0.x, r1.x\nend\n";

/// Commands in order see what those before wrote by another import of the same bytes, whoever waits, and how.
fn imports_of_the_same_bytes_are_one_memory() {
    const WORDS: usize = 4096;
    let program = Arc::new(recal_il::compile(STEP.as_bytes()).unwrap());
    let all = [(false, None), (true, None), (false, Some(16))];
    for (copies_apart, slice) in all {
        for (name, device) in devices(Options { copies_apart, slice, ..Options::default() }) {
            let kernel = device.load(program.clone()).unwrap();
            // Words from a page: memory that the device sees, two copies, the same beside each other, and both.
            for (first, second) in [(0, 0), (1, 1), (1, 5), (0, 1), (5, 4)] {
                for polls in [false, true] {
                    let mut page = vec![7u32; WORDS + 2048];
                    let start = page.as_ptr().align_offset(4096);
                    let queue = device.create_queue().unwrap();
                    let mut import = |skip: usize| {
                        let address = page[start + skip..].as_mut_ptr().cast::<u8>();
                        // SAFETY: the words live until the memory is dropped and the launches are done.
                        unsafe { device.import(address, 4 * WORDS as u64) }.unwrap()
                    };
                    let memories = [import(first), import(second)];
                    let results = [0; 2].map(|_| allocate(&*device, WORDS));
                    let step = |k: usize| {
                        let uavs = vec![(0, surface(&memories[k], WORDS))];
                        let bindings = Arc::new(Bindings { uavs, ..Bindings::default() });
                        let extent = Extent::Grid { groups: [WORDS as u32 / 64, 1, 1], block: [64, 1, 1] };
                        queue.submit(Command::Launch { kernel: kernel.clone(), bindings, extent }).unwrap()
                    };
                    [0, 1, 1, 0].into_iter().for_each(|k| _ = step(k));
                    let copy = |result: &Arc<dyn Memory>| {
                        let (src, dst) = (surface(&memories[1], WORDS), surface(result, WORDS));
                        queue.submit(Command::Copy { src, dst }).unwrap()
                    };
                    copy(&results[0]);
                    step(1);
                    let last = copy(&results[1]);
                    if polls {
                        queue.flush().unwrap();
                        let begun = Instant::now();
                        while queue.completed() < last {
                            assert!(begun.elapsed() < Duration::from_secs(60), "{name}: it does not go on");
                            std::thread::sleep(Duration::from_micros(100));
                        }
                    }
                    queue.wait(last).unwrap();
                    drop(memories);
                    let case =
                        format!("{name}, {first} and {second}, apart: {copies_apart}, {slice:?}, {polls}");
                    let both = first.max(second)..first.min(second) + WORDS;
                    let copied = results.each_ref().map(|result| words(&**result, WORDS));
                    for k in both {
                        assert_eq!(page[start + k], 7 + 5, "{case}: word {k}");
                        let copied = copied.each_ref().map(|copied| copied[k - second]);
                        assert_eq!(copied, [7 + 4, 7 + 5], "{case}: word {k} of the copies");
                    }
                }
            }
        }
    }
}

/// What threads do by rows of their number.
fn rows(declared: &str, does: &str) -> Arc<Program> {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\n{declared}dcl_literal l0, 4, 1, 0, 0\n\
         ishl r0.x, vAbsTid.x, l0.x\niadd r1, vAbsTid.x, l0.y\n{does}end\n"
    );
    Arc::new(recal_il::compile(text.as_bytes()).unwrap())
}

/// Constants and g[] have all words of their memory, if its last row is not whole, and no others.
fn rows_that_are_not_whole_end_with_their_memory() {
    let load = |from: &str| format!("mov r2, {from}[vAbsTid.x]\nuav_raw_store_id(0) mem0.xyzw, r0.x, r2\n");
    let programs = [
        rows("", "mov g[vAbsTid.x], r1\n"),
        rows("", "iadd r1, r1, l0.x\nmov g[vAbsTid.x]._yz_, r1\n"),
        rows("dcl_cb cb0[64]\n", &load("cb0")),
        rows("", &load("g")),
    ];
    for (name, device) in devices(Options::default()) {
        let queue = device.create_queue().unwrap();
        let kernels = programs.each_ref().map(|program| device.load(program.clone()).unwrap());
        // Where importing wants it, and where there is a copy.
        for (skip, count) in [0, 1].into_iter().flat_map(|skip| (1..=18).map(move |count| (skip, count))) {
            let mut page = vec![1000u32; 4096];
            let start = page.as_ptr().align_offset(4096) + skip;
            let mut wanted = page.clone();
            let address = page[start..].as_mut_ptr().cast::<u8>();
            // SAFETY: the words live until the memory is dropped and the launches are done.
            let memory = unsafe { device.import(address, 4 * count as u64) }.unwrap();
            for (k, word) in wanted[start..start + count].iter_mut().enumerate() {
                *word = k as u32 / 4 + if [1, 2].contains(&(k % 4)) { 5 } else { 1 };
            }
            let results = kernels.each_ref().map(|kernel| {
                let result = allocate(&*device, 256);
                let bindings = Bindings {
                    uavs: vec![(0, surface(&result, 256))],
                    constants: vec![(0, surface(&memory, count))],
                    global: Some(surface(&memory, count)),
                    ..Bindings::default()
                };
                let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
                let command =
                    Command::Launch { kernel: kernel.clone(), bindings: Arc::new(bindings), extent };
                queue.wait(queue.submit(command).unwrap()).unwrap();
                words(&*result, 256)
            });
            drop(memory);
            assert!(page == wanted, "{name}: {count} words, {skip} from a page");
            wanted[start + count..].fill(0);
            for result in &results[2..] {
                assert_eq!(
                    result[..],
                    wanted[start..start + 256],
                    "{name}: {count} words, {skip} from a page"
                );
            }
        }
    }
}

recal_needs::tests!(needs::device() => imports_of_the_same_bytes_are_one_memory rows_that_are_not_whole_end_with_their_memory);
