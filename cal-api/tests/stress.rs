//! Many threads, contexts and devices at once: no launch is lost, done twice, or done out of order.
//!
//! `RECAL_LAUNCHES` says how many launches in all; `make stress` makes a million. Software Vulkan devices, where there are
//! any, take a small share.
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use recal_cpu::CpuBackend;
use recal_hal::{Adapter, Backend};
use recal_needs::Need;
use recal_vulkan::{Options, Vulkan};
use support::*;

const THREADS: u32 = 16;
/// Contexts of a device, shared by the threads that use the device.
const CONTEXTS: usize = 4;
/// Threads of a group.
const GROUP: u32 = 64;
/// Groups of wide launches, which all workers share.
const WIDE: u32 = 1100;
/// Wide launches in a row.
const WIDE_LAUNCHES: u64 = 3;
/// Words of a thread's memory: one for each thread of a wide launch, a group to a row.
const WORDS: u32 = GROUP * WIDE;
/// Columns of a copy.
const COPY_PITCH: u32 = 2 * GROUP;
/// Launches on the CPU for each one on a software rasteriser.
const SHARE: u64 = 200;

/// `uav1[thread] = 3 · uav1[thread] + cb0[0].x + thread`, and 1 to `uav0[0]` from every thread.
const STEP: &str = "il_cs_2_0\n\
    dcl_num_thread_per_group 64\n\
    dcl_raw_uav_id(0)\n\
    dcl_raw_uav_id(1)\n\
    dcl_cb cb0[1]\n\
    dcl_literal l0, 0, 1, 2, 3\n\
    ishl r0.x, vAbsTidFlat.x, l0.z\n\
    uav_raw_load_id(1) r1.x, r0.x\n\
    umul r1.x, r1.x, l0.w\n\
    iadd r1.x, r1.x, cb0[0].x\n\
    iadd r1.x, r1.x, vAbsTidFlat.x\n\
    uav_raw_store_id(1) mem.x___, r0.x, r1.x\n\
    uav_add_id(0) l0.x, l0.y\n\
    end\n";

/// Devices of another backend under a name of their own.
struct Renamed(&'static str, Vec<Arc<dyn Adapter>>);

impl Backend for Renamed {
    fn name(&self) -> &'static str {
        self.0
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        self.1.clone()
    }
}

/// What the threads of a device share.
struct Shared {
    device: CALdevice,
    contexts: Vec<CALcontext>,
    /// Counts threads of kernels.
    total: CALresource,
    launches: AtomicU32,
    groups: AtomicU32,
    software: bool,
}

/// What a thread has of its own: `uav1`, and what it must hold.
struct Own {
    salt: u32,
    words: CALresource,
    copy: CALresource,
    constant: CALresource,
    expected: Vec<u32>,
}

/// A module in a context with everything bound.
struct Ready {
    ctx: CALcontext,
    module: CALmodule,
    func: CALfunc,
    mems: Vec<CALmem>,
}

impl Ready {
    fn new(ctx: CALcontext, image: CALimage, shared: &Shared, own: &Own) -> Ready {
        let (mut module, mut func) = (0, 0);
        ok!(calModuleLoad(&mut module, ctx, image));
        ok!(calModuleGetEntry(&mut func, ctx, module, c"main".as_ptr()));
        let symbols = [(c"uav0", shared.total), (c"uav1", own.words), (c"cb0", own.constant)];
        let mems = symbols.map(|(symbol, resource)| bind(ctx, module, symbol, resource)).into();
        Ready { ctx, module, func, mems }
    }

    fn launch(&self, groups: u32) -> CALevent {
        let one = |width| CALdomain3D { width, height: 1, depth: 1 };
        let mut grid =
            CALprogramGrid { func: self.func, gridBlock: one(GROUP), gridSize: one(groups), flags: 0 };
        let mut event = 0;
        ok!(calCtxRunProgramGrid(&mut event, self.ctx, &mut grid));
        event
    }

    /// Unloads, with work in flight or without.
    fn end(self) {
        ok!(calModuleUnload(self.ctx, self.module));
        for mem in self.mems {
            ok!(calCtxReleaseMem(self.ctx, mem));
        }
    }
}

impl Own {
    fn new(device: CALdevice, salt: u32) -> Own {
        let rows = |width| local_2d(device, width, WIDE, Format::UnsignedInt32x1);
        let own = Own {
            salt,
            words: rows(GROUP),
            // Between the rows of a copy is something else.
            copy: rows(COPY_PITCH),
            constant: remote_1d(device, 1, Format::UnsignedInt32x4),
            expected: vec![0; WORDS as usize],
        };
        with_map(own.constant, 4, |w, _| w.fill(salt));
        own
    }

    fn stepped(&mut self, groups: u32) {
        for (thread, word) in self.expected.iter_mut().enumerate().take((groups * GROUP) as usize) {
            *word = word.wrapping_mul(3).wrapping_add(self.salt).wrapping_add(thread as u32);
        }
    }

    /// Every row of the resource, `pitch` words after the one before, is as expected.
    fn check(&self, resource: CALresource, pitch: u32, what: &str) {
        with_map(resource, (pitch * WIDE) as usize, |w, real| {
            assert_eq!(real, pitch);
            let rows = w.chunks_exact(pitch as usize).zip(self.expected.chunks_exact(GROUP as usize));
            for (number, (row, expected)) in rows.enumerate() {
                let (own, between) = row.split_at(GROUP as usize);
                assert_eq!(own, expected, "{what} of thread {}, row {number}", self.salt);
                assert!(
                    between.iter().all(|word| *word == 0),
                    "{what} of thread {}: beside {number}",
                    self.salt
                );
            }
        });
    }

    fn end(self) {
        for resource in [self.words, self.copy, self.constant] {
            ok!(calResFree(resource));
        }
    }
}

/// One thread's work: rounds of launches, each checked, with objects made and given up in between.
fn thread(shared: &Shared, image: CALimage, number: u32, launches: u64) {
    let mut own = Own::new(shared.device, number + 1);
    let mut ready = None;
    let (mut done, mut round) = (0, 0);
    while done < launches {
        let ctx = shared.contexts[(number as usize + round / 8) % CONTEXTS];
        // Sometimes a context of the thread's own, which ends with the round.
        let private = round % 32 == 31;
        if round % 8 == 0 || private {
            if let Some(old) = ready.take() {
                Ready::end(old);
            }
        }
        let ctx = if private { context(shared.device) } else { ctx };
        let now = ready.get_or_insert_with(|| Ready::new(ctx, image, shared, &own));
        // Rounds of one launch and rounds beyond what a queue gathers; some of launches that all workers share.
        let wide = round % 8 == 5;
        let (count, groups) =
            if wide { (WIDE_LAUNCHES, WIDE) } else { ([1, 7, 64, 150][round % 4], 1 + round as u32 % 3) };
        let count = count.min(launches - done);
        let mut event = 0;
        for _ in 0..count {
            event = now.launch(groups);
            own.stepped(groups);
        }
        done += count;
        shared.groups.fetch_add(groups * count as u32, Ordering::Relaxed);
        match round % 3 {
            // The map alone has to wait.
            0 => {}
            1 => assert_eq!(finish(now.ctx, event), CalResult::Ok),
            _ => {
                let (from, to) = (mem(now.ctx, own.words), mem(now.ctx, own.copy));
                ok!(calMemCopy(&mut event, now.ctx, from, to, 0));
                // Work in flight keeps what it uses.
                ok!(calCtxReleaseMem(now.ctx, from));
                ok!(calCtxReleaseMem(now.ctx, to));
                own.check(own.copy, COPY_PITCH, "copy");
            }
        }
        own.check(own.words, GROUP, "memory");
        if private {
            ready = None;
            ok!(calCtxDestroy(ctx));
        }
        round += 1;
    }
    if let Some(old) = ready {
        old.end();
    }
    own.end();
    shared.launches.fetch_add(launches as u32, Ordering::Relaxed);
}

fn launches() -> u64 {
    let given = std::env::var("RECAL_LAUNCHES").ok();
    given.map_or(60_000, |n| n.parse().expect("RECAL_LAUNCHES is a number"))
}

#[test]
fn no_launch_is_lost() {
    let _alone = alone();
    let vulkan = Vulkan::new(Options { software: true, device: None, ..Options::default() }).adapters();
    let software = vulkan.len();
    Need::vulkan(software).met("no_launch_is_lost, on Vulkan");
    recal::register_backend(Arc::new(Renamed("second cpu", CpuBackend::new().adapters())));
    recal::register_backend(Arc::new(Renamed("software", vulkan)));
    ok!(calInit());
    let mut count = 0;
    ok!(calDeviceGetCount(&mut count));
    // Registered ones first, the CPU last.
    let ordinals: Vec<u32> = (0..=software as u32).chain([count - 1]).collect();
    let devices: Vec<Shared> = ordinals
        .iter()
        .map(|&ordinal| {
            let device = open(ordinal);
            Shared {
                device,
                contexts: (0..CONTEXTS).map(|_| context(device)).collect(),
                total: remote_1d(device, GROUP, Format::UnsignedInt32x1),
                launches: AtomicU32::new(0),
                groups: AtomicU32::new(0),
                software: (1..=software as u32).contains(&ordinal),
            }
        })
        .collect();
    let image = image(STEP) as usize;
    let (slow, fast): (Vec<_>, Vec<_>) = devices.iter().partition(|d| d.software);
    let few = if slow.is_empty() { 0 } else { 4 };
    let total = launches();
    let on_software = if slow.is_empty() { 0 } else { total / SHARE };
    let start = std::time::Instant::now();
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let (list, all, threads, place) = if number < few {
                (&slow, on_software, few, number)
            } else {
                (&fast, total - on_software, THREADS - few, number - few)
            };
            let shared = list[place as usize % list.len()];
            let (all, threads, place) = (all, u64::from(threads), u64::from(place));
            let share = all / threads + u64::from(place < all % threads);
            scope.spawn(move || thread(shared, image as CALimage, number, share));
        }
    });
    let mut ran = 0;
    for shared in &devices {
        let launches = shared.launches.load(Ordering::Relaxed);
        let threads = shared.groups.load(Ordering::Relaxed).wrapping_mul(GROUP);
        with_map(shared.total, 1, |w, _| assert_eq!(w[0], threads, "threads that ran"));
        ran += u64::from(launches);
        ok!(calResFree(shared.total));
        for ctx in &shared.contexts {
            ok!(calCtxDestroy(*ctx));
        }
        ok!(calDeviceClose(shared.device));
    }
    assert_eq!(ran, total);
    println!(
        "{total} launches, {on_software} of them on {} Vulkan devices, in {:?}",
        slow.len(),
        start.elapsed()
    );
    ok!(calImageFree(image as CALimage));
    ok!(calShutdown());
}
