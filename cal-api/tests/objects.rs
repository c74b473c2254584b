//! Subsystem, devices, resources, mems, modules through the C ABI: codes, outputs, limits, layouts.
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Config, FloatMode, Format, Runtime};
use support::*;

#[test]
fn nothing_but_version_and_text_works_outside_a_pair() {
    let _alone = alone();
    let (mut major, mut minor, mut imp) = (9, 9, 9);
    ok!(calGetVersion(&mut major, &mut minor, &mut imp));
    assert_eq!((major, minor, imp), (1, 4, 1734));
    ok!(calclGetVersion(&mut major, &mut minor, &mut imp));
    assert_eq!((major, minor, imp), (1, 4, 1734));
    let mut word = 7;
    let mut address = 8 as *mut c_void;
    expect!(NotInitialized, calDeviceGetCount(&mut word));
    assert_eq!(word, 0, "outputs are zero after a failure");
    word = 7;
    expect!(NotInitialized, calResMap(&mut address, &mut word, 1, 0));
    assert!(address.is_null() && word == 0);
    expect!(NotInitialized, calCtxCreate(&mut word, 1));
    expect!(NotInitialized, calCtxDestroy(1));
    expect!(NotInitialized, calDeviceClose(1));
    expect!(NotInitialized, calResFree(1));
    expect!(NotInitialized, calCtxIsEventDone(1, 1));
    expect!(NotInitialized, calExtSupported(CAL_EXT_COUNTERS));
    expect!(NotInitialized, calShutdown());
    assert!(error().starts_with("calShutdown: "), "{}", error());
}

#[test]
fn init_is_a_flag_and_pairs_may_be_repeated() {
    let _alone = alone();
    for _ in 0..3 {
        ok!(calInit());
        expect!(Already, calInit());
        ok!(calShutdown());
        expect!(NotInitialized, calShutdown());
    }
}

#[test]
fn devices_answer_by_ordinal_and_by_handle() {
    let _session = start();
    let mut count = 0;
    ok!(calDeviceGetCount(&mut count));
    assert_eq!(count, 2);
    let mut info =
        CALdeviceinfo { target: 9, maxResource1DWidth: 9, maxResource2DWidth: 9, maxResource2DHeight: 9 };
    ok!(calDeviceGetInfo(&mut info, MANUAL));
    assert_eq!((info.target, info.maxResource1DWidth, info.maxResource2DHeight), (8, 16384, 16384));
    expect!(Error, calDeviceGetInfo(&mut info, count));
    expect!(InvalidParameter, calDeviceGetInfo(null_mut(), 0));
    let mut device = 5;
    expect!(Error, calDeviceOpen(&mut device, count));
    assert_eq!(device, 0);
    expect!(InvalidParameter, calDeviceOpen(null_mut(), 0));

    let device = open(MANUAL);
    let mut second = 5;
    expect!(Already, calDeviceOpen(&mut second, MANUAL));
    assert_eq!(second, 0);
    ok!(calDeviceClose(device));
    expect!(BadHandle, calDeviceClose(device));
    let again = open(MANUAL);
    assert_ne!(device, again);
}

#[test]
fn sized_structures_of_every_generation() {
    let _session = start();
    for size in [8u32, 68, 80, 88, 112, 200] {
        let mut words = [0xAAAA_AAAAu32; 64];
        words[0] = size;
        ok!(calDeviceGetAttribs(words.as_mut_ptr().cast(), MANUAL));
        assert_eq!(words[0], size);
        assert_eq!(words[1], 8);
        let written = (size as usize).min(112) / 4;
        assert!(words[written..].iter().all(|&w| w == 0xAAAA_AAAA), "the tail is untouched");
        if written > 9 {
            assert_eq!((words[2], words[5], words[7], words[8], words[9]), (1024, 850, 64, 20, 1));
        }
    }
    let mut words = [0u32; 28];
    for size in [0u32, 4, 7] {
        words[0] = size;
        expect!(InvalidParameter, calDeviceGetAttribs(words.as_mut_ptr().cast(), MANUAL));
    }
    words[0] = 112;
    expect!(Error, calDeviceGetAttribs(words.as_mut_ptr().cast(), 77));
    expect!(InvalidParameter, calDeviceGetAttribs(null_mut(), MANUAL));

    let device = open(MANUAL);
    for size in [16u32, 72] {
        let mut words = [0xBBBB_BBBBu32; 20];
        words[0] = size;
        ok!(calDeviceGetStatus(words.as_mut_ptr().cast(), device));
        assert_eq!(&words[1..4], &[1000, 500, 250]);
        assert!(words[size as usize / 4..].iter().all(|&w| w == 0xBBBB_BBBB));
    }
    expect!(BadHandle, calDeviceGetStatus(words.as_mut_ptr().cast(), 0xEFEF_EFEF));
}

#[test]
fn resources_check_shape_format_flags_and_device() {
    let session = start();
    let mut device = open(MANUAL);
    let float4 = Format::Float32x4 as u32;
    let mut res = 9;
    for (width, height) in [(0, 1), (1, 0)] {
        expect!(InvalidParameter, calResAllocLocal2D(&mut res, device, width, height, float4, 0));
        assert_eq!(std::mem::replace(&mut res, 9), 0);
    }
    for (width, height) in [(u32::MAX, 1), (1, u32::MAX), (u32::MAX, u32::MAX), (16385, 1)] {
        expect!(Error, calResAllocLocal2D(&mut res, device, width, height, float4, 0));
        expect!(Error, calResAllocRemote2D(&mut res, &mut device, 1, width, height, float4, 0));
        assert_eq!(std::mem::replace(&mut res, 9), 0);
    }
    expect!(InvalidParameter, calResAllocLocal1D(&mut res, device, 16, 47, 0));
    expect!(InvalidParameter, calResAllocLocal1D(&mut res, device, 16, float4, 128));
    expect!(BadHandle, calResAllocLocal1D(&mut res, 0, 16, float4, 0));
    expect!(BadHandle, calResAllocLocal1D(&mut res, 0xEFEF_EFEF, 16, float4, 0));
    expect!(InvalidParameter, calResAllocLocal1D(null_mut(), device, 16, float4, 0));
    expect!(InvalidParameter, calResAllocRemote1D(&mut res, null_mut(), 1, 16, float4, 0));
    expect!(InvalidParameter, calResAllocRemote1D(&mut res, &mut device, 0, 16, float4, 0));
    // One-dimensional limits do not hold for global buffers, local or remote.
    expect!(Error, calResAllocLocal1D(&mut res, device, 16385, float4, 0));
    ok!(calResAllocLocal1D(&mut res, device, 163_840, float4, CAL_RESALLOC_GLOBAL_BUFFER));
    ok!(calResAllocRemote1D(
        &mut res,
        &mut device,
        1,
        163_840,
        float4,
        CAL_RESALLOC_GLOBAL_BUFFER | CAL_RESALLOC_CACHEABLE
    ));
    // Beyond memory: a clean error.
    expect!(Error, calResAllocLocal1D(&mut res, device, u32::MAX, float4, CAL_RESALLOC_GLOBAL_BUFFER));
    assert_eq!(res, 0);
    assert!(error().contains("calResAllocLocal1D") && error().contains("bytes"), "{}", error());
    // Local and cacheable is accepted.
    ok!(calResAllocLocal1D(&mut res, device, 16, float4, CAL_RESALLOC_CACHEABLE));
    for format in Format::ALL {
        ok!(calResAllocLocal2D(&mut res, device, 3, 5, *format as u32, 0));
        assert_ne!(res, 0);
        ok!(calResFree(res));
    }
    session.manual.fail_allocations();
    expect!(Error, calResAllocLocal1D(&mut res, device, 16, float4, 0));
    assert_eq!(res, 0);
}

#[test]
fn maps_give_pitch_slack_and_the_same_contents_again() {
    let _session = start();
    for ordinal in [MANUAL, CPU] {
        let device = open(ordinal);
        let res = local_2d(device, 1025, 3, Format::Float32x4);
        // Rows are padded to 64 elements, and the padding is the program's.
        with_map(res, 1088 * 3 * 4, |words, pitch| {
            assert_eq!(pitch, 1088);
            assert!(words.iter().all(|&w| w == 0));
            words.iter_mut().enumerate().for_each(|(i, w)| *w = i as u32);
        });
        with_map(res, 1088 * 3 * 4, |words, _| {
            assert!(words.iter().enumerate().all(|(i, &w)| w == i as u32))
        });

        // 1088 bytes through the map of 256: one page is there.
        let small = remote_1d(device, 16, Format::Float32x4);
        with_map(small, 1024, |words, _| words.fill(3));

        let (mut address, mut pitch) = (null_mut(), 0);
        expect!(Error, calResUnmap(res));
        ok!(calResMap(&mut address, &mut pitch, res, 0));
        let (mut again, mut pitch2) = (8 as *mut c_void, 8);
        expect!(Error, calResMap(&mut again, &mut pitch2, res, 0));
        assert!(again.is_null() && pitch2 == 0);
        expect!(InvalidParameter, calResMap(null_mut(), &mut pitch, res, 0));
        expect!(InvalidParameter, calResMap(&mut again, null_mut(), res, 0));
        // Freed while mapped.
        ok!(calResFree(res));
        expect!(BadHandle, calResFree(res));
        expect!(BadHandle, calResUnmap(res));
        ok!(calDeviceClose(device));
    }
}

#[test]
fn mems_belong_to_contexts_and_resources_to_devices() {
    let _session = start();
    let (a, b) = (open(MANUAL), open(CPU));
    let (ctx_a, ctx_a2, ctx_b) = (context(a), context(a), context(b));
    let res = local_2d(a, 4, 4, Format::Float32x1);
    let mut handle = 9;
    expect!(Error, calCtxGetMem(&mut handle, ctx_b, res));
    assert_eq!(handle, 0);
    expect!(BadHandle, calCtxGetMem(&mut handle, res, res));
    assert!(error().contains("CALresource, not a CALcontext"), "{}", error());
    let first = mem(ctx_a, res);
    let second = mem(ctx_a, res);
    assert_ne!(first, second, "several mems of one resource live together");
    expect!(BadHandle, calCtxReleaseMem(ctx_a2, first));
    ok!(calCtxReleaseMem(ctx_a, first));
    expect!(BadHandle, calCtxReleaseMem(ctx_a, first));
    ok!(calCtxDestroy(ctx_a));
    expect!(BadHandle, calCtxReleaseMem(ctx_a, second));
    with_map(res, 16, |_, _| ());
    expect!(BadHandle, calCtxCreate(&mut handle, 0xEFEF_EFEF));
    ok!(calDeviceClose(a));
    expect!(BadHandle, calCtxFlush(ctx_a2));
    expect!(BadHandle, calResFree(res));
}

#[test]
fn memory_is_freed_when_the_last_user_goes() {
    let session = start();
    let device = open(MANUAL);
    let ctx = context(device);
    let (module, _) = load(ctx, FILL);
    assert_eq!((session.manual.live_memories(), session.manual.live_kernels()), (0, 1));
    let res = local_2d(device, 4, 4, Format::Float32x4);
    let bound = bind(ctx, module, c"o0", res);
    ok!(calResFree(res));
    assert_eq!(session.manual.live_memories(), 1, "the mem keeps the memory");
    ok!(calCtxReleaseMem(ctx, bound));
    assert_eq!(session.manual.live_memories(), 0, "a released mem is unbound");
    ok!(calModuleUnload(ctx, module));
    assert_eq!(session.manual.live_kernels(), 0);
}

#[test]
fn modules_give_entries_and_names() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let other = context(device);
    let (module, func) = load(ctx, ADD);
    let mut handle = 0;
    ok!(calModuleGetEntry(&mut handle, ctx, module, c"main".as_ptr()));
    assert_eq!(handle, func, "asking again gives the same");
    expect!(Error, calModuleGetEntry(&mut handle, ctx, module, c"other".as_ptr()));
    assert_eq!(handle, 0);
    let i0 = name(ctx, module, c"i0");
    assert_eq!(i0, name(ctx, module, c"i0"));
    for wrong in [c"i1", c"o1", c"I0", c"", c"g[]", c"uav0", c"x"] {
        handle = 9;
        expect!(Error, calModuleGetName(&mut handle, ctx, module, wrong.as_ptr()));
        assert_eq!(handle, 0, "{wrong:?}");
    }
    expect!(InvalidParameter, calModuleGetName(&mut handle, ctx, module, null()));
    expect!(BadHandle, calModuleGetName(&mut handle, other, module, c"i0".as_ptr()));
    expect!(BadHandle, calModuleUnload(other, module));
    let bound = bind(ctx, module, c"o0", local_2d(device, 4, 4, Format::Float32x4));
    expect!(BadHandle, calCtxSetMem(ctx, i0, bound ^ 1));
    expect!(BadHandle, calCtxSetMem(other, i0, bound));
    ok!(calCtxSetMem(ctx, i0, bound));
    ok!(calCtxSetMem(ctx, i0, 0));
    // A sampler takes no memory.
    let s0 = name(ctx, module, c"s0");
    expect!(BadNameType, calCtxSetMem(ctx, s0, bound));

    let mut info = std::mem::MaybeUninit::<CALfuncInfo>::uninit();
    ok!(calModuleGetFuncInfo(info.as_mut_ptr(), ctx, module, func));
    expect!(InvalidParameter, calModuleGetFuncInfo(null_mut(), ctx, module, func));
    expect!(BadHandle, calModuleGetFuncInfo(info.as_mut_ptr(), ctx, module, 3));

    ok!(calModuleUnload(ctx, module));
    expect!(BadHandle, calCtxSetMem(ctx, i0, 0));
    let domain = CALdomain { x: 0, y: 0, width: 1, height: 1 };
    expect!(BadHandle, calCtxRunProgram(&mut handle, ctx, func, &domain));
}

#[test]
fn function_info_tells_the_group() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let (module, func) = load(ctx, NUMBER);
    let mut info = std::mem::MaybeUninit::<CALfuncInfo>::uninit();
    ok!(calModuleGetFuncInfo(info.as_mut_ptr(), ctx, module, func));
    // SAFETY: written by the successful call.
    let info = unsafe { info.assume_init() };
    assert_eq!((info.numThreadPerGroup, info.numThreadPerGroupX, info.numThreadPerGroupY), (64, 64, 1));
    assert_eq!(info.wavefrontSize, 64);
    assert_eq!(info.LDSSizeAvailable, 32768);
}

#[test]
fn a_failed_compile_is_told_by_both_libraries() {
    let _alone = alone();
    assert_eq!(compile("il_ps_2_0\nnonsense r0\nend\n", 8), Err(CalResult::Error));
    assert!(compiler_error().contains("nonsense") && error().contains("nonsense"));
    let mut object = null_mut();
    expect!(InvalidParameter, calclCompile(&mut object, 0, c"il_ps_2_0\nend\n".as_ptr(), 8));
    expect!(InvalidParameter, calclCompile(&mut object, 1, null(), 8));
    expect!(InvalidParameter, calclCompile(&mut object, 1, c"il_ps_2_0\nend\n".as_ptr(), 99));
    expect!(InvalidParameter, calclCompile(null_mut(), 1, c"il_ps_2_0\nend\n".as_ptr(), 8));
    expect!(NotSupported, calclAssembleObject(&mut object, 0, c"MOV R0, R1".as_ptr(), 8));
    assert!(compiler_error().contains("device code"));
    expect!(NotSupported, calclExtSupported(0x1001));
    expect!(InvalidParameter, calclFreeObject(null_mut()));
    expect!(InvalidParameter, calclFreeImage(null_mut()));
    expect!(InvalidParameter, calImageFree(null_mut()));
}

#[test]
fn exactness_is_chosen_for_the_process_or_for_a_device() {
    let _lock = alone();
    let control = manual::Control::new();
    recal::register_backend(std::sync::Arc::new(manual::Manual::new(&control)));
    control.run_freely();
    let config = Config { float: FloatMode::Faithful, backends: vec!["manual".into()], ..Config::default() };
    let runtime = Runtime::with_config(config).unwrap();
    // As the process wants it (C programs: CAL_FLOAT).
    drop(runtime.open(0).unwrap());
    assert_eq!(control.opened().float_mode, FloatMode::Faithful);
    // Another device, or this one again, another way; two runtimes at the same time.
    let native = runtime.open_with(0, FloatMode::Native).unwrap();
    assert_eq!(control.opened().float_mode, FloatMode::Native);
    let other = runtime.clone();
    assert_eq!(other.open(0).unwrap_err().result(), CalResult::Already);
    let second = Runtime::with_config(runtime.config().clone()).unwrap();
    drop(second.open(0).unwrap());
    assert_eq!(control.opened().float_mode, FloatMode::Faithful);
    drop(native);
}
