//! Launches that come again and again, alone and among others, waited for or not: each computes what it should, in order, and what
//! is bound is not kept alive by having been launched.

mod needs;

mod random;

use std::sync::{Arc, Weak};

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Extent, Format, Heap, Kernel, Memory, MemoryRequest,
    Surface,
};
use recal_vulkan::{Options, Vulkan};

use random::random_below;

/// Word t becomes so many times itself and its number.
fn affine(factor: u32) -> String {
    format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, {factor}, 0, 0\n\
         imul r0.x, vAbsTidFlat.x, l0.x\nuav_raw_load_id(0) r1.x, r0.x\n\
         imad r1.x, r1.x, l0.y, vAbsTidFlat.x\nuav_raw_store_id(0) mem.x___, r0.x, r1.x\nend\n"
    )
}

const WORDS: u32 = 256;

fn memory(device: &dyn Device, heap: Heap) -> Arc<dyn Memory> {
    device.allocate(MemoryRequest { bytes: 4 * u64::from(WORDS), heap }).unwrap()
}

fn surface(memory: &Arc<dyn Memory>) -> Surface {
    Surface { memory: memory.clone(), width: WORDS, height: 1, pitch: WORDS, format: Format::UnsignedInt32x1 }
}

fn words(memory: &dyn Memory) -> Vec<u32> {
    let from = memory.map().unwrap().cast::<u32>();
    // SAFETY: the block has so many words and all work is done.
    let words = (0..WORDS as usize).map(|k| unsafe { from.add(k).read() }).collect();
    memory.unmap();
    words
}

fn bindings(memory: &Arc<dyn Memory>) -> Arc<Bindings> {
    Arc::new(Bindings { uavs: vec![(0, surface(memory))], ..Bindings::default() })
}

fn launches_come_again() {
    for (at_once, copies_apart) in [(true, false), (true, true), (false, false)] {
        let options = Options { software: true, at_once, copies_apart, ..Options::default() };
        for adapter in Vulkan::new(options).adapters() {
            let name = &adapter.attributes().name;
            let device = adapter.open(&DeviceOptions::default()).unwrap();
            let queue = device.create_queue().unwrap();
            let kernels: Vec<Arc<dyn Kernel>> = [3, 5]
                .map(|n| device.load(Arc::new(recal_il::compile(affine(n).as_bytes()).unwrap())).unwrap())
                .into();
            // The host sees one of them unasked.
            let memories = [Heap::Local, Heap::RemoteCached].map(|heap| memory(&*device, heap));
            let bound = memories.each_ref().map(bindings);
            let mut model = [vec![0u32; WORDS as usize], vec![0; WORDS as usize]];
            let mut random = random_below();
            let mut last = 0;
            for _ in 0..600 {
                match random(12) {
                    0 => queue.wait(last).unwrap(),
                    1 => queue.flush().unwrap(),
                    2 => {
                        queue.flush().unwrap();
                        while queue.completed() < last {
                            std::thread::yield_now();
                        }
                    }
                    3 => {
                        let [src, dst] = memories.each_ref().map(surface);
                        last = queue.submit(Command::Copy { src, dst }).unwrap();
                        model[1] = model[0].clone();
                    }
                    _ => {
                        // Often the same a few times.
                        let (k, m, groups) = (random(2) as usize, random(2) as usize, 1 + random(2));
                        for _ in 0..=random(4) {
                            let extent = Extent::Grid { groups: [groups, 1, 1], block: [64, 1, 1] };
                            let (kernel, bindings) = (kernels[k].clone(), bound[m].clone());
                            last = queue.submit(Command::Launch { kernel, bindings, extent }).unwrap();
                            for (t, word) in (0..64 * groups).zip(&mut model[m]) {
                                *word = word.wrapping_mul([3, 5][k]).wrapping_add(t);
                            }
                        }
                    }
                }
            }
            let seen = memory(&*device, Heap::RemoteCached);
            for (memory, model) in memories.iter().zip(&model) {
                let copy = Command::Copy { src: surface(memory), dst: surface(&seen) };
                queue.wait(queue.submit(copy).unwrap()).unwrap();
                assert_eq!(words(&*seen), *model, "{name}");
            }
        }
    }
}

fn what_came_again_is_not_kept() {
    for adapter in Vulkan::new(Options { software: true, at_once: true, ..Options::default() }).adapters() {
        let device = adapter.open(&DeviceOptions::default()).unwrap();
        let queue = device.create_queue().unwrap();
        let mut gone: Vec<Weak<dyn Memory>> = Vec::new();
        // More than are remembered.
        for round in 0..40 {
            let kernel = device.load(Arc::new(recal_il::compile(affine(round).as_bytes()).unwrap())).unwrap();
            let memory = memory(&*device, Heap::RemoteCached);
            let bindings = bindings(&memory);
            for _ in 0..5 {
                let (kernel, bindings) = (kernel.clone(), bindings.clone());
                let extent = Extent::Grid { groups: [1, 1, 1], block: [64, 1, 1] };
                let ticket = queue.submit(Command::Launch { kernel, bindings, extent }).unwrap();
                queue.wait(ticket).unwrap();
            }
            assert_eq!(words(&*memory)[1], (0..5).fold(0u32, |word, _| word.wrapping_mul(round) + 1));
            gone.push(Arc::downgrade(&memory));
        }
        let name = &adapter.attributes().name;
        assert!(gone.iter().all(|memory| memory.strong_count() == 0), "{name}: memory is kept");
    }
}

recal_needs::tests!(needs::device() => launches_come_again what_came_again_is_not_kept);
