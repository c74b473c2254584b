//! Kernels reach only the memory that they were given.
//!
//! Each kernel reads or writes one kind of memory at places far outside, one place a thread, taken from a constant buffer so
//! that no compiler knows them. What is read must be the documented word; nothing may change but what the kernel owns. On
//! the CPU the memory ends at pages that nobody may touch; on Vulkan each resource has neighbours full of canaries.

use std::sync::Arc;

use recal_cpu::CpuBackend;
use recal_fuzz_targets::Guarded;
use recal_hal::{
    Backend, Bindings, Command, Device, DeviceOptions, Extent, FloatMode, Format, Heap, Memory,
    MemoryRequest, Surface,
};
use recal_needs::{Arguments, Need, trial};
use recal_vulkan::{Options, Vulkan};

/// Places as byte addresses: outside of 240 bytes.
const BYTES: &[u32] = &[
    240,
    241,
    244,
    4096,
    0x0FFF_FFF0,
    0x7FFF_FFF0,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FF00,
    0xFFFF_FFFC,
    0xFFFF_FFFD,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];
/// As numbers of elements: outside of 0 to 9, also when multiplied by the size of an element in 32 bits.
const INDICES: &[u32] = &[
    10,
    11,
    4096,
    0x0FFF_FFFF,
    0x1000_0000,
    0x1000_0001,
    0x2000_0000,
    0x3FFF_FFFF,
    0x4000_0000,
    0x4000_0001,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xF000_0000,
    0xFFFF_FFF0,
    0xFFFF_FFFF,
];
/// Coordinates, and the column of a row of 7 texels that clamping makes of each.
const COORDINATES: &[(f32, u32)] = &[
    (f32::NAN, 0),
    (f32::NEG_INFINITY, 0),
    (f32::INFINITY, 6),
    (-1.0e30, 0),
    (1.0e30, 6),
    (-0.5, 0),
    (7.0, 6),
    (2147483648.0, 6),
    (-2147483648.0, 0),
    (4294967296.0, 6),
];
/// Misaligned byte addresses inside, and the word that each means.
const MISALIGNED: &[(u32, u32)] = &[(1, 0), (2, 0), (3, 0), (5, 1), (237, 59), (238, 59), (239, 59)];

/// Word `k` of every memory at the beginning.
fn pattern(k: usize) -> u32 {
    0x0101_0101u32.wrapping_mul(k as u32 + 1) ^ 0x5A00_0000
}

/// One kernel.
struct Case {
    /// Statements; `r0.x` is the place, the result goes to `r1.x`.
    body: &'static str,
    /// Places, and the word that each must deliver; a kernel that only writes delivers 0.
    places: Vec<(u32, u32)>,
}

/// The same word at all places.
fn all(body: &'static str, places: &[u32], word: u32) -> Case {
    Case { body, places: places.iter().map(|place| (*place, word)).collect() }
}

/// Declared in every kernel. Sizes: raw and arena UAVs and buffers 240 bytes, structured ones 10 records of 16 bytes and
/// a bit, typed ones 7 columns and 5 rows, `g[]` and `cb1` 10 rows, the array 10 elements, blocks of LDS and GDS 240 bytes.
const HEAD: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_struct_uav_id(2) 16\n\
    dcl_uav_id(3)_type(2d)_fmtx(uint)\ndcl_arena_uav_id(4)\ndcl_raw_srv_id(5)\ndcl_struct_srv_id(6) 16\n\
    dcl_resource_id(7)_type(2d,unnorm)_fmtx(uint)_fmty(uint)_fmtz(uint)_fmtw(uint)\ndcl_lds_id(0) 240\ndcl_lds_id(1) 240\n\
    dcl_gds_id(0) 240\ndcl_cb cb0[64]\ndcl_cb cb1[10]\ndcl_indexed_temp_array x0[10]\ndcl_indexed_temp_array x1[10]\n\
    dcl_literal l0, 0, 2, 1, 3\ndcl_literal l1, 0x5EED, 0.5, 6, 4\n\
    mov r9.x, vTidInGrpFlat0.x\nmov r0.x, cb0[r9.x].x\nmov r1, l0.x\n";

fn cases() -> Vec<Case> {
    let typed_outside = 0;
    vec![
        all("uav_raw_load_id(1) r1.x, r0.x", BYTES, 0),
        Case {
            body: "uav_raw_load_id(1) r1.x, r0.x",
            places: MISALIGNED.iter().map(|(at, k)| (*at, pattern(*k as usize))).collect(),
        },
        // The last word is inside, the three behind it are not.
        Case { body: "uav_raw_load_id(1) r1, r0.x\nior r1.x, r1.y, r1.w", places: vec![(236, 0)] },
        all("uav_raw_store_id(1) mem0, r0.x, l1.x", BYTES, 0),
        all("uav_add_id(1) r0.x, l1.x", BYTES, 0),
        all("uav_read_xchg_id(1) r1.x, r0.x, l1.x", BYTES, 0),
        all("uav_read_cmp_xchg_id(1) r1.x, r0.x, l1.x, l0.x", BYTES, 0),
        all("mov r0.y, l0.x\nuav_struct_load_id(2) r1.x, r0.xy", INDICES, 0),
        all("mov r0.y, l0.x\nuav_struct_store_id(2) mem0, r0.xy, l1.x", INDICES, 0),
        all("mov r0.y, r0.x\nmov r0.x, l0.x\nuav_struct_load_id(2) r1.x, r0.xy", BYTES, 0),
        all("mov r0.y, l0.x\nuav_load_id(3) r1, r0.xyyy", INDICES, typed_outside),
        all("mov r0.y, r0.x\nmov r0.x, l0.x\nuav_load_id(3) r1, r0.xyyy", INDICES, typed_outside),
        all("mov r0.y, l0.x\nuav_store_id(3) r0.xyyy, l1.x", INDICES, 0),
        all("mov r0.y, r0.x\nuav_store_id(3) r0.xyyy, l1.x", INDICES, 0),
        all("uav_arena_load_id(4)_size(byte) r1.x, r0.x", BYTES, 0),
        all("uav_arena_load_id(4)_size(short) r1.x, r0.x", BYTES, 0),
        all("uav_arena_store_id(4)_size(byte) r0.x, l1.x", BYTES, 0),
        all("uav_arena_store_id(4)_size(short) r0.x, l1.x", BYTES, 0),
        all("uav_arena_store_id(4)_size(dword) r0.x, l1.x", BYTES, 0),
        all("srv_raw_load_id(5) r1.x, r0.x", BYTES, 0),
        all("mov r0.y, l0.x\nsrv_struct_load_id(6) r1.x, r0.xy", INDICES, 0),
        all("mov r0.y, l0.x\nload_resource(7) r1, r0.xyyy", INDICES, 0),
        all("mov r0.y, r0.x\nmov r0.x, l0.x\nload_resource(7) r1, r0.xyyy", INDICES, 0),
        Case {
            body: "mov r0.y, l1.y\nsample_resource(7)_sampler(0) r1, r0.xyyy",
            places: COORDINATES.iter().map(|(u, column)| (u.to_bits(), pattern(*column as usize))).collect(),
        },
        // A number of a resource that is not bound.
        all(
            "mov r0.y, l0.x\nload_resource(7)_ext r1, l0.xxxx, r0.x",
            &[1, 2, 100, 0x7FFF_FFFF, 0x8000_0000],
            0,
        ),
        all("mov r1, g[r0.x]", INDICES, 0),
        all("mov g[r0.x], l1.x", INDICES, 0),
        all("mov r1, cb1[r0.x]", INDICES, 0),
        // The array between others in the registers of the thread: all of it is still as it was.
        all(
            "mov x1[0], l1.x\nmov x1[9], l1.x\nmov x0[r0.x], l1.w\nmov r1, x0[r0.x]\n\
             ior r1.x, r1.x, r1.w\nixor r2.x, x1[0].x, l1.x\nixor r2.y, x1[9].w, l1.x\nior r1.x, r1.x, r2.x\n\
             ior r1.x, r1.x, r2.y\nior r1.x, r1.x, x0[0].x\nior r1.x, r1.x, x0[9].w",
            INDICES,
            0,
        ),
        // The block behind it is still as it was.
        all("lds_store_id(0) r0.x, l1.x\nfence_threads_lds\nlds_load_id(1) r1.x, l0.x", BYTES, 0),
        all("lds_load_id(0) r1.x, r0.x", BYTES, 0),
        all("lds_read_add_id(0) r1.x, r0.x, l1.x\nlds_load_id(1) r2.x, l0.x\nior r1.x, r1.x, r2.x", BYTES, 0),
        all("lds_store_byte_id(0) r0.x, l1.x\nlds_load_short_id(0) r1.x, r0.x", BYTES, 0),
        all("gds_store_id(0) r0.x, l1.x\ngds_load_id(0) r1.x, r0.x", BYTES, 0),
    ]
}

/// A memory of a device, and what can be seen of it and its surroundings.
struct Block {
    memory: Arc<dyn Memory>,
    /// On the CPU: the pages it lies in.
    pages: Option<Guarded>,
    /// On Vulkan: its neighbours.
    neighbours: Vec<Arc<dyn Memory>>,
    bytes: usize,
}

const CANARY: u32 = 0xCA4A_41E5;
const NEIGHBOUR: usize = 4096;

fn write(memory: &dyn Memory, words: impl Iterator<Item = u32>) {
    let at = memory.map().unwrap().cast::<u32>();
    // SAFETY: the callers give no more words than the memory has; no command uses it now.
    words.enumerate().for_each(|(k, word)| unsafe { at.add(k).write(word) });
    memory.unmap();
}

fn read(memory: &dyn Memory, words: usize) -> Vec<u32> {
    let at = memory.map().unwrap().cast::<u32>();
    // SAFETY: as in `write`.
    let list = (0..words).map(|k| unsafe { at.add(k).read() }).collect();
    memory.unmap();
    list
}

impl Block {
    fn new(device: &dyn Device, guarded: bool, bytes: usize, word: impl Fn(usize) -> u32) -> Block {
        let allocate = |bytes: usize| {
            let bytes = bytes.next_multiple_of(4096) as u64;
            device.allocate(MemoryRequest { bytes, heap: Heap::Remote }).unwrap()
        };
        let block = if guarded {
            let pages = Guarded::new(bytes);
            // SAFETY: the last `bytes` bytes of the pages, which live as long as the block.
            let memory =
                unsafe { device.import(pages.start().add(pages.bytes() - bytes), bytes as u64) }.unwrap();
            Block { memory, pages: Some(pages), neighbours: Vec::new(), bytes }
        } else {
            let before = allocate(NEIGHBOUR);
            let memory = allocate(bytes);
            let neighbours = vec![before, allocate(NEIGHBOUR)];
            for neighbour in &neighbours {
                write(&**neighbour, std::iter::repeat_n(CANARY, NEIGHBOUR / 4));
            }
            Block { memory, pages: None, neighbours, bytes }
        };
        write(&*block.memory, (0..bytes / 4).map(word));
        block
    }

    fn surface(&self, format: Format, width: u32, height: u32) -> Surface {
        let surface = Surface { memory: self.memory.clone(), width, height, pitch: width, format };
        assert!(surface.bytes() as usize <= self.bytes);
        surface
    }

    fn words(&self) -> Vec<u32> {
        read(&*self.memory, self.bytes / 4)
    }

    /// Words near it that are not what they were.
    fn damage(&self) -> usize {
        let changed =
            |n: &Arc<dyn Memory>| read(&**n, NEIGHBOUR / 4).iter().filter(|word| **word != CANARY).count();
        let page = self.pages.as_ref().map_or(0, |pages| {
            let all = pages.read();
            all[..all.len() - self.bytes].iter().filter(|byte| **byte != 0).count()
        });
        page + self.neighbours.iter().map(changed).sum::<usize>()
    }
}

fn isolated(name: &str, device: &Arc<dyn Device>, guarded: bool, cases: Vec<Case>) {
    let queue = device.create_queue().unwrap();
    let words = Format::UnsignedInt32x1;
    let wide = Format::UnsignedInt32x4;
    for case in cases {
        let text = format!(
            "{HEAD}{}\nishl r9.y, r9.x, l0.y\nuav_raw_store_id(0) mem0.x___, r9.y, r1.x\nend\n",
            case.body
        );
        let shown = format!("{name}: {}", case.body);
        let program = recal_il::compile(text.as_bytes())
            .unwrap_or_else(|e| panic!("{}", recal_il::diagnostic::render(&e, text.as_bytes(), &shown)));
        let block = |bytes: usize| Block::new(&**device, guarded, bytes, pattern);
        // The places, one a row; threads beyond take the first.
        let place = |thread: usize| case.places.get(thread).unwrap_or(&case.places[0]);
        let out = Block::new(&**device, guarded, 256, |_| 0);
        let input = Block::new(&**device, guarded, 64 * 16, |k| place(k / 4).0);
        let (raw, records, typed, arena) = (block(240), block(160), block(140), block(240));
        let (raw_srv, struct_srv, texture) = (block(240), block(160), block(140));
        let (constants, global) = (block(160), block(160));
        let bindings = Bindings {
            resources: vec![
                (5, raw_srv.surface(words, 60, 1)),
                (6, struct_srv.surface(words, 40, 1)),
                (7, texture.surface(words, 7, 5)),
            ],
            samplers: Vec::new(),
            constants: vec![(0, input.surface(wide, 64, 1)), (1, constants.surface(wide, 10, 1))],
            outputs: Vec::new(),
            uavs: vec![
                (0, out.surface(words, 64, 1)),
                (1, raw.surface(words, 60, 1)),
                (2, records.surface(words, 40, 1)),
                (3, typed.surface(words, 7, 5)),
                (4, arena.surface(words, 60, 1)),
            ],
            global: Some(global.surface(wide, 10, 1)),
            domain_params: None,
        };
        let kernel = match device.load(Arc::new(program)) {
            Ok(kernel) => kernel,
            Err(error) => panic!("{shown}: {error}"),
        };
        let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
        let ticket = queue.submit(Command::Launch { kernel, bindings: Arc::new(bindings), extent }).unwrap();
        queue.wait(ticket).unwrap();
        assert_eq!(queue.error(ticket), None, "{shown}");
        for (thread, found) in out.words().into_iter().enumerate() {
            let (at, expected) = *place(thread);
            assert_eq!(found, expected, "{shown}, at {at:#x}");
        }
        let all = [&raw, &records, &typed, &arena, &raw_srv, &struct_srv, &texture, &constants, &global];
        for (number, block) in all.into_iter().enumerate() {
            // Nothing was to be written at all, and nothing behind or before.
            let changed = block.words().into_iter().enumerate().find(|(k, word)| *word != pattern(*k));
            assert_eq!(changed, None, "{shown}: memory {number}");
        }
        for (number, block) in all.into_iter().chain([&out, &input]).enumerate() {
            assert_eq!(block.damage(), 0, "{shown}: around memory {number}");
        }
    }
}

fn the_cpu_stays_between_guard_pages() {
    let device = CpuBackend::new().adapters()[0].open(&DeviceOptions::default()).unwrap();
    isolated("cpu", &device, true, cases());
    // And while it checks kernels.
    let options = DeviceOptions { checks: true, ..DeviceOptions::default() };
    let device = CpuBackend::new().adapters()[0].open(&options).unwrap();
    isolated("cpu, checked", &device, true, cases());
}

fn vulkan() -> Vulkan {
    Vulkan::new(Options { software: true, ..Options::default() })
}

fn vulkan_leaves_the_neighbours_alone() {
    for adapter in vulkan().adapters() {
        for float_mode in [FloatMode::Faithful, FloatMode::Native] {
            let device = adapter.open(&DeviceOptions { float_mode, ..DeviceOptions::default() }).unwrap();
            isolated(&adapter.attributes().name, &device, false, cases());
        }
    }
}

/// The test itself: a store inside is noticed.
fn what_is_written_is_noticed() {
    let store = || {
        let device = CpuBackend::new().adapters()[0].open(&DeviceOptions::default()).unwrap();
        isolated("cpu", &device, true, vec![all("uav_raw_store_id(1) mem0.x, r0.x, l1.x", &[236], 0)]);
    };
    let noticed = std::panic::catch_unwind(store).unwrap_err();
    let text = noticed.downcast_ref::<String>().expect("a text");
    assert!(text.contains("memory 0"), "{text}");
}

fn main() -> std::process::ExitCode {
    let device = Need::vulkan(vulkan().adapters().len());
    let trials = vec![
        trial("the_cpu_stays_between_guard_pages", [], the_cpu_stays_between_guard_pages),
        trial("vulkan_leaves_the_neighbours_alone", [device], vulkan_leaves_the_neighbours_alone),
        trial("what_is_written_is_noticed", [], what_is_written_is_noticed),
    ];
    recal_needs::run(&Arguments::from_args(), trials)
}
