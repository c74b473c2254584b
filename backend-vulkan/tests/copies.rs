//! Copies with a timeline of their own, on every Vulkan device found: what depends on each other happens in order, what
//! does not gives the right results beside each other.

mod needs;

use std::sync::Arc;

use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Extent, Format, Heap, Kernel, Memory, MemoryRequest,
    Queue, Surface,
};
use recal_vulkan::{Options, Vulkan};

const WORDS: usize = 1024;

/// `uav0[thread] = 3 * uav0[thread] + uav1[thread] + 1`, after as many turns of a loop as cb0[0].x says.
const STEP: &str = "il_cs_2_0\n\
    dcl_num_thread_per_group 64\n\
    dcl_raw_uav_id(0)\n\
    dcl_raw_uav_id(1)\n\
    dcl_cb cb0[1]\n\
    dcl_literal l0, 2, 1, 3, 0\n\
    ishl r0.x, vAbsTidFlat.x, l0.x\n\
    uav_raw_load_id(0) r1.x, r0.x\n\
    mov r3.x, cb0[0].x\n\
    whileloop\n\
    break_logicalz r3.x\n\
    ixor r1.x, r1.x, r3.x\n\
    ixor r1.x, r1.x, r3.x\n\
    inegate r4.x, l0.y\n\
    iadd r3.x, r3.x, r4.x\n\
    endloop\n\
    uav_raw_load_id(1) r2.x, r0.x\n\
    umad r1.x, r1.x, l0.z, r2.x\n\
    iadd r1.x, r1.x, l0.y\n\
    uav_raw_store_id(0) mem.x___, r0.x, r1.x\n\
    end\n";

/// The devices, with launches of more than `slice` groups in slices.
fn devices(copies_apart: bool, slice: Option<u64>) -> Vec<(String, Arc<dyn Device>)> {
    let validation = std::env::var_os("RECAL_VALIDATION").is_some();
    let options = Options { software: true, copies_apart, slice, validation, ..Options::default() };
    let open = |adapter: &Arc<dyn recal_hal::Adapter>| {
        let name = format!("{}, apart: {copies_apart}, {slice:?}", adapter.attributes().name);
        (name, adapter.open(&DeviceOptions::default()).expect("a listed device opens"))
    };
    Vulkan::new(options).adapters().iter().map(open).collect()
}

fn surface(memory: &Arc<dyn Memory>, format: Format) -> Surface {
    let width = (WORDS * 4) as u32 / format.bytes();
    Surface { memory: memory.clone(), width, height: 1, pitch: width, format }
}

fn fill(memory: &dyn Memory, words: &[u32]) {
    let to = memory.map().unwrap().cast::<u32>();
    // SAFETY: all memories here have `WORDS` words, and no command uses this one now.
    (0..).zip(words).for_each(|(k, word)| unsafe { to.add(k).write(*word) });
    memory.unmap();
}

fn words(memory: &dyn Memory) -> Vec<u32> {
    let from = memory.map().unwrap().cast::<u32>();
    // SAFETY: as in `fill`.
    let words = (0..WORDS).map(|k| unsafe { from.add(k).read() }).collect();
    memory.unmap();
    words
}

/// A program on one queue, and what its memories should hold.
struct Play {
    queue: Arc<dyn Queue>,
    kernel: Arc<dyn Kernel>,
    turns: [Arc<dyn Memory>; 2],
    memories: Vec<Arc<dyn Memory>>,
    expected: Vec<Vec<u32>>,
    last: u64,
    state: u64,
}

/// Application memory, for whole pages.
#[repr(C, align(4096))]
struct Pages([u32; WORDS]);

impl Play {
    fn new(device: &dyn Device, pages: &mut Pages, seed: u64) -> Self {
        let allocate = |heap| device.allocate(MemoryRequest { bytes: 4 * WORDS as u64, heap }).unwrap();
        // SAFETY: the pages outlive the queue, which is the last that uses the memory.
        let own = unsafe { device.import(pages.0.as_mut_ptr().cast(), 4 * WORDS as u64) }.unwrap();
        let heaps = [Heap::Local, Heap::Local, Heap::Local, Heap::Remote, Heap::RemoteCached];
        let mut memories: Vec<_> = heaps.into_iter().map(allocate).collect();
        memories.push(own);
        let expected: Vec<Vec<u32>> =
            (0..memories.len()).map(|m| (0..WORDS).map(|k| (1000 * m + k) as u32).collect()).collect();
        memories.iter().zip(&expected).for_each(|(memory, words)| fill(&**memory, words));
        let turns = [0, 3000].map(|turns| {
            let constant = allocate(Heap::Remote);
            fill(&*constant, &[turns]);
            constant
        });
        let program = Arc::new(recal_il::compile(STEP.as_bytes()).expect("it compiles"));
        Self {
            queue: device.create_queue().unwrap(),
            kernel: device.load(program).unwrap(),
            turns,
            memories,
            expected,
            last: 0,
            state: seed,
        }
    }

    fn random(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % below
    }

    fn copy(&mut self, from: usize, to: usize) {
        let command = Command::Copy {
            src: surface(&self.memories[from], Format::UnsignedInt32x4),
            dst: surface(&self.memories[to], Format::UnsignedInt32x4),
        };
        self.last = self.queue.submit(command).unwrap();
        self.expected[to] = self.expected[from].clone();
    }

    fn step(&mut self, to: usize, from: usize, long: bool) {
        let uav = |k: usize| surface(&self.memories[k], Format::UnsignedInt32x1);
        let bindings = Bindings {
            constants: vec![(0, surface(&self.turns[usize::from(long)], Format::UnsignedInt32x4))],
            uavs: vec![(0, uav(to)), (1, uav(from))],
            ..Bindings::default()
        };
        let extent = Extent::Grid { groups: [WORDS as u32 / 64, 1, 1], block: [64, 1, 1] };
        let command = Command::Launch { kernel: self.kernel.clone(), bindings: Arc::new(bindings), extent };
        self.last = self.queue.submit(command).unwrap();
        let from = self.expected[from].clone();
        for (word, other) in self.expected[to].iter_mut().zip(from) {
            *word = word.wrapping_mul(3).wrapping_add(other).wrapping_add(1);
        }
    }

    fn check(&self, what: &str) {
        self.queue.wait(self.last).unwrap();
        assert!(self.queue.completed() >= self.last);
        for (k, (memory, expected)) in self.memories.iter().zip(&self.expected).enumerate() {
            assert_eq!(words(&**memory), *expected, "{what}: memory {k}");
        }
    }
}

/// A kernel that takes long on one memory, copies between others, and a copy of what it writes.
fn copies_beside_a_long_kernel() {
    for (name, device) in devices(true, None) {
        let mut pages = Box::new(Pages([0; WORDS]));
        let mut play = Play::new(&*device, &mut pages, 1);
        play.step(0, 1, true);
        play.copy(3, 2);
        play.copy(2, 4);
        let copied = play.last;
        play.copy(0, 3);
        play.step(2, 2, false);
        // The last of several stands for all.
        play.queue.wait(copied).unwrap();
        assert!(play.queue.completed() >= copied);
        play.check(&name);
    }
}

fn chains_of_kernels_and_copies() {
    for (name, device) in devices(true, None) {
        for kernel_first in [true, false] {
            let mut pages = Box::new(Pages([0; WORDS]));
            let mut play = Play::new(&*device, &mut pages, 1);
            for k in 0..20 {
                if kernel_first || k > 0 {
                    play.step(0, 1, k % 4 == 0);
                }
                // What was just written is read; what is read is then written.
                play.copy(0, 1);
                play.step(1, 5, false);
                play.copy(3, 5);
                play.copy(1, 4);
                play.step(4, 0, k % 4 == 1);
                play.copy(4, 0);
            }
            play.check(&format!("{name}, kernel first: {kernel_first}"));
        }
    }
}

/// Random programs in several contexts of one device at once, with flushes, polls and waits in between.
fn random_programs_in_several_contexts() {
    let kinds = [(true, None), (false, None), (true, Some(5)), (false, Some(1))];
    for (name, device) in kinds.into_iter().flat_map(|(apart, slice)| devices(apart, slice)) {
        std::thread::scope(|scope| {
            for seed in 1..=3u64 {
                let (name, device) = (&name, &device);
                scope.spawn(move || {
                    let mut pages = Box::new(Pages([0; WORDS]));
                    let mut play =
                        Play::new(&**device, &mut pages, 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(seed));
                    for _ in 0..300 {
                        let (a, b) = (play.random(6), play.random(6));
                        match play.random(12) {
                            0 => play.queue.flush().unwrap(),
                            1 => assert!(play.queue.completed() <= play.last),
                            2 if a == 0 => play.check(name),
                            3 => play.step(a, b, true),
                            2 | 4..7 => play.step(a, b, false),
                            _ if a != b => play.copy(a, b),
                            _ => {}
                        }
                    }
                    play.check(name);
                    assert!(play.queue.busy() > std::time::Duration::ZERO);
                });
            }
        });
    }
}

recal_needs::tests!(needs::device() => copies_beside_a_long_kernel chains_of_kernels_and_copies random_programs_in_several_contexts);
