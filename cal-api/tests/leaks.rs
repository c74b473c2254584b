//! Every object is made and given up many times over, and the process stays as large as it was: allocations, resident
//! memory, address space, file descriptors, threads.
//!
//! `RECAL_ROUNDS` says how often; `make stress` asks for 100,000. All of it is one test: others would allocate, too.
#![cfg(target_os = "linux")]
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use recal::Format;
use recal::ffi::types::*;
use recal::ffi::*;
use recal_hal::{Adapter, Backend};
use recal_needs::Need;
use recal_vulkan::{Options, Vulkan};
use support::*;

/// Counts what is allocated and not yet freed. Images and objects come from `malloc` and show in the resident memory.
struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: the caller's promises are those that are asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add(size as i64 - layout.size() as i64, Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Size of the process.
#[derive(Clone, Copy, Debug)]
struct Size {
    allocated: i64,
    resident: i64,
    address_space: i64,
    descriptors: i64,
    threads: i64,
}

impl Size {
    fn now() -> Size {
        let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        let pages: Vec<i64> = pages.split(' ').take(2).map(|n| n.parse().expect("numbers")).collect();
        let entries = |folder| std::fs::read_dir(folder).expect("Linux").count() as i64;
        Size {
            allocated: BYTES.load(Relaxed),
            resident: pages[1] * 4096,
            address_space: pages[0] * 4096,
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
        }
    }
}

impl Size {
    /// Whether the process has grown by no more than this.
    fn within(&self, before: &Size, slack: &Slack) -> bool {
        let pages = slack.pages.is_none_or(|pages| {
            self.resident <= before.resident + pages && self.address_space <= before.address_space + pages
        });
        pages
            && self.allocated <= before.allocated + slack.allocated
            && self.descriptors <= before.descriptors
            && self.threads <= before.threads
    }
}

/// What a process may grow by, whatever the number of rounds.
struct Slack {
    /// Bytes of our allocations: containers round up.
    allocated: i64,
    /// Bytes of pages: allocators keep some, and what drivers keep for themselves is only shown.
    pages: Option<i64>,
}

/// Bytes that threads and devices keep for the work to come: not the same after each round, but no more after more of them.
const KEPT: i64 = 256 << 10;

/// Freed slots of a handle table wait behind 4096 others: until then each object takes a new one.
const TABLES_FILL: u64 = 4200;

/// Rounds of each object. Expensive ones take a part of them.
fn rounds() -> u64 {
    let given = std::env::var("RECAL_ROUNDS").ok();
    given.map_or(2000, |n| n.parse().expect("RECAL_ROUNDS is a number"))
}

fn steady(what: &str, warm: u64, rounds: u64, slack: &Slack, mut once: impl FnMut()) {
    let start = Instant::now();
    (0..warm).for_each(|_| once());
    let before = Size::now();
    (0..rounds).for_each(|_| once());
    // What is in flight, here or in a driver, ends by itself; a leak does not.
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut after = Size::now();
    while !after.within(&before, slack) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
        after = Size::now();
    }
    println!(
        "{what}: {rounds} rounds after {warm}: allocated {:+}, resident {:+} KiB, address space {:+} KiB, {:?}",
        after.allocated - before.allocated,
        (after.resident - before.resident) / 1024,
        (after.address_space - before.address_space) / 1024,
        start.elapsed()
    );
    assert!(after.within(&before, slack), "{what}: {before:?} to {after:?}");
}

/// Software Vulkan devices, which are not offered unasked.
struct Software(Vec<Arc<dyn Adapter>>);

impl Backend for Software {
    fn name(&self) -> &'static str {
        "software"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        self.0.clone()
    }
}

/// Objects of a device, each with everything that it needs.
fn device_objects(device: CALdevice, warm: u64, rounds: u64, slack: &Slack) {
    let words = Format::UnsignedInt32x1;
    for (place, flags) in [("remote", 0), ("cached remote", CAL_RESALLOC_CACHEABLE)] {
        steady(&format!("{place} resource"), warm, rounds, slack, || {
            let (mut res, mut dev) = (0, device);
            ok!(calResAllocRemote2D(&mut res, &mut dev, 1, 64, 3, words as u32, flags));
            ok!(calResFree(res));
        });
    }
    steady("local resource", warm, rounds, slack, || ok!(calResFree(local_2d(device, 64, 64, words))));

    let mut block = vec![0u32; 3 * 1024];
    let offset = block.as_ptr().align_offset(4096);
    let pinned = block[offset..].as_mut_ptr().cast::<c_void>();
    steady("pinned resource", warm, rounds, slack, || {
        let mut res = 0;
        ok!(calResCreate1D(&mut res, device, pinned, 1024, words as u32, 4096, 0));
        ok!(calResFree(res));
    });

    let resource = local_2d(device, 64, 64, words);
    steady("map", 100, rounds, slack, || with_map(resource, 64, |w, _| w.fill(1)));
    let ctx = context(device);
    steady("mem", warm, rounds, slack, || ok!(calCtxReleaseMem(ctx, mem(ctx, resource))));
    steady("counter", warm, rounds, slack, || {
        let mut counter = 0;
        ok!(calCtxCreateCounter(&mut counter, ctx, CAL_COUNTER_IDLE));
        ok!(calCtxBeginCounter(ctx, counter));
        ok!(calCtxEndCounter(ctx, counter));
        ok!(calCtxDestroyCounter(ctx, counter));
    });

    let (module, func) = load(ctx, FILL);
    bind(ctx, module, c"o0", resource);
    steady("launch and event", 500, rounds, slack, || {
        let mut event = run(ctx, func, 64, 1);
        ok!(calCtxWaitForEvents(ctx, &mut event, 1, 0));
        ok!(calCtxIsEventDone(ctx, event));
    });
    let other = local_2d(device, 64, 64, words);
    steady("copy and event", 500, rounds, slack, || {
        let (from, to) = (mem(ctx, resource), mem(ctx, other));
        let mut event = 0;
        ok!(calMemCopy(&mut event, ctx, from, to, 0));
        ok!(calCtxReleaseMem(ctx, from));
        ok!(calCtxReleaseMem(ctx, to));
        ok!(calCtxWaitForEvents(ctx, &mut event, 1, 0));
    });
    let image = image(FILL);
    let mut round = 0;
    steady("module with names", warm, rounds, slack, || {
        // llvmpipe keeps pipelines that were destroyed until something is submitted.
        round += 1;
        if round % 16 == 0 {
            let mut event = run(ctx, func, 64, 1);
            ok!(calCtxWaitForEvents(ctx, &mut event, 1, 0));
        }
        let (mut module, mut func) = (0, 0);
        ok!(calModuleLoad(&mut module, ctx, image));
        ok!(calModuleGetEntry(&mut func, ctx, module, c"main".as_ptr()));
        name(ctx, module, c"o0");
        ok!(calModuleUnload(ctx, module));
    });
    steady("context with module, mem and work in flight", warm, rounds, slack, || {
        let ctx = context(device);
        let (mut module, mut func) = (0, 0);
        ok!(calModuleLoad(&mut module, ctx, image));
        ok!(calModuleGetEntry(&mut func, ctx, module, c"main".as_ptr()));
        bind(ctx, module, c"o0", resource);
        run(ctx, func, 64, 1);
        ok!(calCtxDestroy(ctx));
    });
    // The last of them may still be at work.
    with_map(resource, 64, |_, _| ());
    ok!(calImageFree(image));
    for resource in [resource, other] {
        ok!(calResFree(resource));
    }
    ok!(calCtxDestroy(ctx));
}

/// What an object takes of resident memory, on average over many.
fn cost<T>(what: &str, most: i64, make: impl FnMut(u32) -> T, free: impl FnMut(T)) {
    const COUNT: u32 = 500;
    let before = Size::now().resident;
    let all: Vec<T> = (0..COUNT).map(make).collect();
    let each = (Size::now().resident - before) / i64::from(COUNT);
    println!("{what}: {each} bytes of {most}");
    assert!(each <= most, "{what}: {each} bytes");
    all.into_iter().for_each(free);
}

/// A resource costs its bytes, a page for where it begins and at most another, a context less than 1 MiB. Before anything else is
/// freed, which would be used again.
fn costs(device: CALdevice) {
    let resource = |_| {
        let resource = local_2d(device, 128, 128, Format::UnsignedInt32x1);
        with_map(resource, 128 * 128, |words, _| words.fill(1));
        resource
    };
    cost("resource of 65,536 bytes", 65_536 + 2 * 4096, resource, |resource| ok!(calResFree(resource)));
    cost("context", (1 << 20) - 1, |_| context(device), |ctx| ok!(calCtxDestroy(ctx)));
}

#[test]
fn nothing_grows() {
    let _alone = alone();
    // Else each thread that allocates for the first time reserves 64 MiB of addresses.
    // SAFETY: changes a setting of the C library's allocator.
    assert_eq!(unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) }, 1);
    let rounds = rounds();
    let exact = Slack { allocated: KEPT, pages: Some(2 << 20) };
    let vulkan = Vulkan::new(Options { software: true, ..Options::default() }).adapters();
    let software = Need::vulkan(vulkan.len()).met("nothing_grows, on Vulkan");
    recal::register_backend(Arc::new(Software(vulkan)));

    let mut object = compile(FILL, 8).expect("it compiles");
    steady("object", 100, rounds, &exact, || ok!(calclFreeObject(compile(FILL, 8).expect("it compiles"))));
    steady("image", 100, rounds, &exact, || {
        let mut image = null_mut();
        ok!(calclLink(&mut image, &mut object, 1));
        ok!(calclFreeImage(image));
    });
    let whole = image(FILL);
    let mut size = 0;
    ok!(calclImageGetSize(&mut size, whole));
    let mut bytes = vec![0u8; size as usize];
    ok!(calclImageWrite(bytes.as_mut_ptr().cast(), size, whole));
    ok!(calclFreeImage(whole));
    ok!(calclFreeObject(object));

    ok!(calInit());
    steady("image from a file", 100, rounds, &exact, || {
        let mut image = null_mut();
        ok!(calImageRead(&mut image, bytes.as_ptr().cast(), size));
        ok!(calImageFree(image));
    });
    let mut count = 0;
    ok!(calDeviceGetCount(&mut count));
    let cpu = open(count - 1);
    costs(cpu);
    device_objects(cpu, TABLES_FILL, rounds, &exact);
    ok!(calDeviceClose(cpu));
    steady("CPU device", TABLES_FILL, rounds, &exact, || ok!(calDeviceClose(open(count - 1))));
    if software {
        // Its objects take long to make. That each is destroyed is counted in `backend-vulkan/tests/faults.rs`.
        let loose = Slack { allocated: KEPT, pages: None };
        let device = open(0);
        device_objects(device, 50, rounds / 50, &loose);
        ok!(calDeviceClose(device));
        steady("Vulkan device", 3, rounds / 500, &loose, || ok!(calDeviceClose(open(0))));
    }
    ok!(calShutdown());
    steady("runtime", 5, rounds / 200, &Slack { allocated: KEPT, pages: None }, || {
        ok!(calInit());
        ok!(calShutdown());
    });
}
