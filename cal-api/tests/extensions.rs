//! Extensions through the C ABI (reference, section 2.7).
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Duration;

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use support::*;

fn proc_of(id: u32, name: &CStr) -> *mut c_void {
    let mut entry = 8 as *mut c_void;
    let code = call!(calExtGetProc(&mut entry, id, name.as_ptr()));
    assert_eq!(code == CalResult::Ok, !entry.is_null(), "NULL exactly on failure");
    entry
}

#[test]
fn supported_ids_and_names() {
    let _session = start();
    for id in [0x1004, 0x1005, 0x1006, 0x1007, 0x1008, 0x8009, 0x8011] {
        ok!(calExtSupported(id));
        let (mut major, mut minor) = (9, 9);
        ok!(calExtGetVersion(&mut major, &mut minor, id));
        assert_eq!((major, minor), (1, 0));
    }
    for id in [0, 0x1001, 0x1002, 0x1003, 0x1009, 0x8001, 0x8017, u32::MAX] {
        expect!(NotSupported, calExtSupported(id));
        assert!(proc_of(id, c"calCtxCreateCounter").is_null());
    }
    for name in [
        c"calCtxCreateCounter",
        c"calCtxDestroyCounter",
        c"calCtxBeginCounter",
        c"calCtxEndCounter",
        c"calCtxGetCounter",
        c"calCtxRunProgramParams",
        c"calResCreate1D",
        c"calResCreate2D",
        c"calCtxRunProgramGrid",
        c"calCtxRunProgramGridArray",
        c"calModuleGetFuncInfo",
        c"calCtxSetSamplerParams",
        c"calCtxGetSamplerParams",
        c"calCtxSetSamplerParameter",
        c"calCtxGetSamplerParameter",
        c"calCtxWaitForEvents",
        c"calReadAtomicCounter",
        c"calWriteAtomicCounter",
    ] {
        // Any supported id will do.
        assert!(!proc_of(CAL_EXT_COUNTERS, name).is_null(), "{name:?}");
    }
    assert!(proc_of(CAL_EXT_COUNTERS, c"calD3D10MapResourc").is_null());
    let mut entry = null_mut();
    expect!(InvalidParameter, calExtGetProc(&mut entry, CAL_EXT_COUNTERS, null()));
    expect!(InvalidParameter, calExtGetProc(null_mut(), CAL_EXT_COUNTERS, c"calCtxGetCounter".as_ptr()));
}

#[test]
fn pinned_memory_needs_no_map() {
    let _session = start();
    type Create = unsafe extern "system" fn(*mut u32, u32, *mut c_void, u32, u32, u32, u32) -> CalResult;
    // SAFETY: the header declares this type for the procedure.
    let create: Create = unsafe { std::mem::transmute(proc_of(CAL_EXT_RES_CREATE, c"calResCreate1D")) };
    let device = open(CPU);
    let ctx = context(device);
    let mut block = vec![0u32; 4096];
    let memory = block.as_mut_ptr();
    let offset = memory.align_offset(4096);
    // SAFETY: within the block, which has four pages.
    let memory = unsafe { memory.add(offset) };
    let format = Format::UnsignedInt32x1 as u32;
    let mut res = 9;
    expect!(InvalidParameter, create(&mut res, device, null_mut(), 64, format, 0, 0));
    assert_eq!(res, 0);
    expect!(InvalidParameter, create(&mut res, device, memory.cast(), 64, format, 8, 0));
    expect!(BadHandle, create(&mut res, 3, memory.cast(), 64, format, 0, 0));
    ok!(create(&mut res, device, memory.cast(), 640, format, 0, 0));
    let (module, func) = load(ctx, NUMBER);
    bind(ctx, module, c"uav0", res);
    let one = |n| CALdomain3D { width: n, height: 1, depth: 1 };
    let mut grid = CALprogramGrid { func, gridBlock: one(64), gridSize: one(10), flags: 0 };
    let mut event = 0;
    ok!(calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    // SAFETY: results are there when the event is done.
    assert!((0..640).all(|i| unsafe { memory.add(i).read_volatile() } == i as u32));
    let (mut address, mut pitch) = (null_mut(), 0);
    ok!(calResMap(&mut address, &mut pitch, res, 0));
    assert_eq!(address, memory.cast());
    ok!(calResUnmap(res));
    ok!(calResFree(res));
}

#[test]
fn freeing_pinned_memory_waits_for_its_work() {
    let session = start();
    let device = open(MANUAL);
    let ctx = context(device);
    let mut block = [7u32; 64];
    let format = Format::UnsignedInt32x1 as u32;
    let mut pinned = 0;
    ok!(calResCreate2D(&mut pinned, device, block.as_mut_ptr().cast(), 8, 8, format, 256, 0));
    let local = local_2d(device, 8, 8, Format::UnsignedInt32x1);
    let mut event = 0;
    ok!(calMemCopy(&mut event, ctx, mem(ctx, pinned), mem(ctx, local), 0));
    let manual = Arc::clone(&session.manual);
    let stepper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        manual.run_freely();
    });
    ok!(calResFree(pinned));
    ok!(calCtxIsEventDone(ctx, event));
    block.fill(0);
    stepper.join().unwrap();
    with_rows(local, [8, 8], |w| assert!(w.iter().all(|&w| w == 7)));
}

#[test]
fn the_application_gets_its_memory_back() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let mut block = [7u32; 64];
    let mut pinned = 0;
    let format = Format::UnsignedInt32x1 as u32;
    ok!(calResCreate1D(&mut pinned, device, block.as_mut_ptr().cast(), 64, format, 256, 0));
    let (module, func) = load(ctx, NUMBER);
    let bound = bind(ctx, module, c"uav0", pinned);
    let other = mem(ctx, local_2d(device, 64, 1, Format::UnsignedInt32x1));
    ok!(calResFree(pinned));
    // Whose memory it is now, nobody knows.
    let one = |n| CALdomain3D { width: n, height: 1, depth: 1 };
    let mut grid = CALprogramGrid { func, gridBlock: one(64), gridSize: one(1), flags: 0 };
    let mut event = 0;
    expect!(Error, calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    for (from, to) in [(other, bound), (bound, other)] {
        expect!(Error, calMemCopy(&mut event, ctx, from, to, 0));
    }
    assert!(block.iter().all(|&w| w == 7));
    // The context goes on with other memory.
    bind(ctx, module, c"uav0", remote_1d(device, 64, Format::UnsignedInt32x1));
    ok!(calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    ok!(calCtxReleaseMem(ctx, bound));
}

#[test]
fn waiting_sleeps_or_spins() {
    let session = start();
    let device = open(MANUAL);
    let ctx = context(device);
    let (module, func) = load(ctx, FILL);
    bind(ctx, module, c"o0", local_2d(device, 8, 8, Format::Float32x1));
    for flags in [0, 1] {
        let mut events = [run(ctx, func, 8, 8), 0, run(ctx, func, 8, 8)];
        let manual = Arc::clone(&session.manual);
        let stepper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            manual.step(2);
        });
        ok!(calCtxWaitForEvents(ctx, events.as_mut_ptr(), 3, flags));
        ok!(calCtxIsEventDone(ctx, events[2]));
        stepper.join().unwrap();
    }
    ok!(calCtxWaitForEvents(ctx, null_mut(), 0, 0));
    expect!(InvalidParameter, calCtxWaitForEvents(ctx, null_mut(), 1, 0));
    expect!(InvalidParameter, calCtxWaitForEvents(ctx, null_mut(), 0, 2));
    let mut bad = [0x8000_0000 | 77];
    expect!(BadHandle, calCtxWaitForEvents(ctx, bad.as_mut_ptr(), 1, 0));
}

#[test]
fn counters_give_fractions() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let (module, func) = load(ctx, ADD);
    let (input, output) =
        (local_2d(device, 256, 256, Format::Float32x4), local_2d(device, 256, 256, Format::Float32x4));
    bind(ctx, module, c"i0", input);
    bind(ctx, module, c"o0", output);
    bind(ctx, module, c"cb0", remote_1d(device, 1, Format::Float32x4));
    let (mut idle, mut cache) = (0, 0);
    ok!(calCtxCreateCounter(&mut idle, ctx, CAL_COUNTER_IDLE));
    ok!(calCtxCreateCounter(&mut cache, ctx, CAL_COUNTER_INPUT_CACHE_HIT_RATE));
    let mut bad = 9;
    expect!(InvalidParameter, calCtxCreateCounter(&mut bad, ctx, 2));
    assert_eq!(bad, 0);
    let mut value = 5.0;
    expect!(Error, calCtxGetCounter(&mut value, ctx, idle));
    assert_eq!(value, 0.0);
    expect!(Error, calCtxEndCounter(ctx, idle));
    for counter in [idle, cache] {
        ok!(calCtxBeginCounter(ctx, counter));
    }
    for _ in 0..20 {
        run(ctx, func, 256, 256);
    }
    for counter in [idle, cache] {
        ok!(calCtxEndCounter(ctx, counter));
    }
    ok!(calCtxGetCounter(&mut value, ctx, idle));
    assert!((0.0..0.9).contains(&value), "idle {value} while 20 launches ran");
    ok!(calCtxGetCounter(&mut value, ctx, cache));
    // Each pixel reads its own 16 bytes: of four reads in a line of 64 bytes one misses.
    assert!((value - 0.75).abs() < 1e-3, "{value}");
    // Nothing runs: idle.
    ok!(calCtxBeginCounter(ctx, idle));
    std::thread::sleep(Duration::from_millis(20));
    ok!(calCtxEndCounter(ctx, idle));
    ok!(calCtxGetCounter(&mut value, ctx, idle));
    assert!(value > 0.99, "{value}");
    let other = context(device);
    expect!(BadHandle, calCtxGetCounter(&mut value, other, idle));
    ok!(calCtxDestroyCounter(ctx, idle));
    expect!(BadHandle, calCtxDestroyCounter(ctx, idle));
    ok!(calCtxDestroy(ctx));
    expect!(BadHandle, calCtxGetCounter(&mut value, ctx, cache));
}

#[test]
fn samplers_keep_their_parameters() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let (module, _) = load(ctx, ADD);
    let s0 = name(ctx, module, c"s0");
    let get = |param| {
        let mut word = 99u32;
        ok!(calCtxGetSamplerParams(ctx, s0, param, (&raw mut word).cast()));
        word
    };
    let set = |param, mut word: u32| call!(calCtxSetSamplerParams(ctx, s0, param, (&raw mut word).cast()));
    // Nearest, and clamped to the edge, unless set.
    let default = [1, 0, 2, 2, 2];
    assert_eq!([1, 2, 3, 4, 5].map(get), default);
    for wrap in 0..8 {
        assert_eq!(set(CAL_SAMPLER_PARAM_WRAP_T, wrap), CalResult::Ok);
        assert_eq!([get(3), get(4), get(5)], [2, wrap, 2]);
    }
    assert_eq!(set(CAL_SAMPLER_PARAM_WRAP_T, 8), CalResult::Error);
    assert_eq!(set(CAL_SAMPLER_PARAM_MAG_FILTER, 1), CalResult::Ok);
    assert_eq!(get(CAL_SAMPLER_PARAM_MAG_FILTER), 1);
    assert_eq!(set(CAL_SAMPLER_PARAM_MAG_FILTER, 4), CalResult::NotSupported);
    assert_eq!(set(7, 0), CalResult::Error);
    let mut colour = [0.25f32, 0.5, 0.75, 1.0];
    ok!(calCtxSetSamplerParams(ctx, s0, CAL_SAMPLER_PARAM_BORDER_COLOR, colour.as_mut_ptr().cast()));
    let mut read = [0f32; 4];
    ok!(calCtxGetSamplerParams(ctx, s0, CAL_SAMPLER_PARAM_BORDER_COLOR, read.as_mut_ptr().cast()));
    assert_eq!(read, colour);
    expect!(InvalidParameter, calCtxSetSamplerParams(ctx, s0, 3, null_mut()));
    expect!(InvalidParameter, calCtxGetSamplerParams(ctx, s0, 0, null_mut()));
    ok!(calCtxSetSamplerParams(ctx, s0, CAL_SAMPLER_PARAM_DEFAULT, null_mut()));
    assert_eq!([1, 2, 3, 4, 5].map(get), default);
    // Not a sampler; not a name.
    let mut word = 0u32;
    for bad in [name(ctx, module, c"i0"), 0, module] {
        expect!(BadHandle, calCtxSetSamplerParams(ctx, bad, 3, (&raw mut word).cast()));
    }
}

#[test]
fn atomic_counters_belong_to_the_device() {
    let _session = start();
    let manual = open(MANUAL);
    let device = open(CPU);
    let mut value = 9;
    // A backend of somebody's own that has no such counters says so.
    expect!(NotSupported, calReadAtomicCounter(manual, 0, &mut value));
    expect!(NotSupported, calWriteAtomicCounter(manual, 0, 1));
    for index in 0..12 {
        ok!(calReadAtomicCounter(device, index, &mut value));
        assert_eq!(value, 0);
        ok!(calWriteAtomicCounter(device, index, index + 100));
    }
    ok!(calReadAtomicCounter(device, 10, &mut value));
    assert_eq!(value, 110);
    expect!(InvalidParameter, calReadAtomicCounter(device, 12, &mut value));
    expect!(InvalidParameter, calReadAtomicCounter(device, 0, null_mut()));
    expect!(BadHandle, calWriteAtomicCounter(0, 0, 1));
}

#[test]
fn domain_parameters_are_taken() {
    let session = start();
    session.manual.run_freely();
    let device = open(MANUAL);
    let ctx = context(device);
    let (module, func) = load(ctx, FILL);
    bind(ctx, module, c"o0", local_2d(device, 8, 8, Format::Float32x1));
    let corner = CALvec4f { x: 0.0, y: 1.0, z: 2.0, w: 3.0 };
    let p = CALparam { ul: corner, ll: corner, lr: corner };
    let params = CALdomainparam {
        param0: p,
        param1: p,
        param2: p,
        param3: p,
        param4: p,
        param5: p,
        param6: p,
        param7: p,
    };
    let domain = CALdomain { x: 0, y: 0, width: 8, height: 8 };
    let mut event = 0;
    ok!(calCtxRunProgramParams(&mut event, ctx, func, &domain, &params));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    expect!(InvalidParameter, calCtxRunProgramParams(&mut event, ctx, func, &domain, null()));
}
