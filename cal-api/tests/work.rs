//! Launches, events, order and lifetime through the C ABI (reference, sections 4.3 and 5).
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::ptr::null_mut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use support::*;

/// A context on the manual device with a loaded FILL and its output.
fn filled() -> (CALdevice, CALcontext, CALfunc, CALresource) {
    let device = open(MANUAL);
    let ctx = context(device);
    let (module, func) = load(ctx, FILL);
    let out = local_2d(device, 8, 8, Format::Float32x1);
    bind(ctx, module, c"o0", out);
    (device, ctx, func, out)
}

#[test]
fn a_domain_program_computes() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let (module, func) = load(ctx, ADD);
    let (input, output) =
        (local_2d(device, 33, 7, Format::Float32x1), local_2d(device, 33, 7, Format::Float32x1));
    let constants = remote_1d(device, 1, Format::Float32x4);
    with_rows(input, [33, 7], |w| w.iter_mut().enumerate().for_each(|(i, w)| *w = (i as f32).to_bits()));
    with_map(constants, 4, |w, _| w.fill(0.5f32.to_bits()));
    bind(ctx, module, c"i0", input);
    bind(ctx, module, c"o0", output);
    bind(ctx, module, c"cb0", constants);
    let event = run(ctx, func, 33, 7);
    assert_eq!(finish(ctx, event), CalResult::Ok);
    with_rows(output, [33, 7], |w| {
        for (i, &w) in w.iter().enumerate() {
            assert_eq!(f32::from_bits(w), i as f32 + 0.5);
        }
    });
    // A part of it, elsewhere: only those threads run.
    with_rows(output, [33, 7], |w| w.fill(7));
    let mut event = 0;
    let domain = CALdomain { x: 1, y: 4, width: 31, height: 2 };
    ok!(calCtxRunProgram(&mut event, ctx, func, &domain));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    with_rows(output, [33, 7], |w| {
        for (i, &w) in w.iter().enumerate() {
            let (x, y) = (i % 33, i / 33);
            let inside = (1..32).contains(&x) && (4..6).contains(&y);
            assert_eq!(w == 7, !inside, "{x},{y}");
        }
    });
}

/// A kernel that is loaded again is not made again, but what is bound to it is its own.
#[test]
fn modules_of_one_kernel_have_their_own_bindings() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let constants = [1.0f32, 2.0].map(|value| {
        let constants = remote_1d(device, 1, Format::Float32x4);
        with_map(constants, 4, |w, _| w.fill(value.to_bits()));
        constants
    });
    let outputs = constants.map(|_| local_2d(device, 8, 8, Format::Float32x1));
    let input = local_2d(device, 8, 8, Format::Float32x1);
    let modules = [0, 1].map(|k| {
        let (module, func) = load(ctx, ADD);
        bind(ctx, module, c"i0", input);
        bind(ctx, module, c"o0", outputs[k]);
        bind(ctx, module, c"cb0", constants[k]);
        (module, func)
    });
    for (module, func) in modules {
        let event = run(ctx, func, 8, 8);
        assert_eq!(finish(ctx, event), CalResult::Ok);
        ok!(calModuleUnload(ctx, module));
    }
    for (output, value) in outputs.into_iter().zip([1.0f32, 2.0]) {
        with_rows(output, [8, 8], |w| assert!(w.iter().all(|&w| w == value.to_bits())));
    }
}

#[test]
fn a_grid_program_computes_and_checks_its_groups() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let (module, func) = load(ctx, NUMBER);
    let buffer = local_2d(device, 64, 5, Format::UnsignedInt32x1);
    bind(ctx, module, c"uav0", buffer);
    let one = |n| CALdomain3D { width: n, height: 1, depth: 1 };
    let mut grid = CALprogramGrid { func, gridBlock: one(64), gridSize: one(5), flags: 0 };
    let mut event = 0;
    ok!(calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    with_map(buffer, 320, |w, _| assert!(w.iter().enumerate().all(|(i, &w)| w == i as u32)));

    grid.gridBlock = one(32);
    expect!(Error, calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    assert_eq!(event, 0);
    assert!(error().contains("32 x 1 x 1") && error().contains("64 x 1 x 1"), "{}", error());
    grid = CALprogramGrid { func, gridBlock: one(64), gridSize: one(0), flags: 0 };
    ok!(calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    grid.gridSize = one(u32::MAX);
    expect!(Error, calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    let domain = CALdomain { x: 0, y: 0, width: 1, height: 1 };
    expect!(Error, calCtxRunProgram(&mut event, ctx, func, &domain));
    expect!(InvalidParameter, calCtxRunProgramGrid(&mut event, ctx, null_mut()));

    // An array: one event for all.
    with_map(buffer, 320, |w, _| w.fill(0));
    let mut grids = [CALprogramGrid { func, gridBlock: one(64), gridSize: one(5), flags: 0 }; 3];
    let mut array = CALprogramGridArray { gridArray: grids.as_mut_ptr(), num: 3, flags: 0 };
    ok!(calCtxRunProgramGridArray(&mut event, ctx, &mut array));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    with_map(buffer, 320, |w, _| assert_eq!(w[319], 319));
    array.num = 0;
    expect!(InvalidParameter, calCtxRunProgramGridArray(&mut event, ctx, &mut array));
}

#[test]
fn what_is_unbound_is_named() {
    let _session = start();
    let device = open(MANUAL);
    let ctx = context(device);
    let (module, func) = load(ctx, ADD);
    let out = local_2d(device, 4, 4, Format::Float32x4);
    bind(ctx, module, c"o0", out);
    let mut event = 9;
    let domain = CALdomain { x: 0, y: 0, width: 4, height: 4 };
    expect!(Error, calCtxRunProgram(&mut event, ctx, func, &domain));
    assert_eq!(event, 0);
    assert!(error().contains("i0, cb0"), "{}", error());
    let input = bind(ctx, module, c"i0", out);
    let constants = bind(ctx, module, c"cb0", out);
    ok!(calCtxRunProgram(&mut event, ctx, func, &domain));
    // Mem 0 unbinds; releasing a mem does too.
    ok!(calCtxSetMem(ctx, name(ctx, module, c"i0"), 0));
    expect!(Error, calCtxRunProgram(&mut event, ctx, func, &domain));
    assert!(error().ends_with("bound to i0"), "{}", error());
    ok!(calCtxSetMem(ctx, name(ctx, module, c"i0"), input));
    ok!(calCtxReleaseMem(ctx, constants));
    expect!(Error, calCtxRunProgram(&mut event, ctx, func, &domain));
    assert!(error().ends_with("bound to cb0"), "{}", error());
    expect!(InvalidParameter, calCtxRunProgram(&mut event, ctx, func, std::ptr::null()));
}

#[test]
fn odd_domains_are_harmless() {
    let _session = start();
    let device = open(CPU);
    let ctx = context(device);
    let (module, func) = load(ctx, FILL);
    let out = local_2d(device, 8, 8, Format::Float32x1);
    bind(ctx, module, c"o0", out);
    let run = |x, y, width, height| {
        let mut event = 0;
        let code = call!(calCtxRunProgram(&mut event, ctx, func, &CALdomain { x, y, width, height }));
        if code == CalResult::Ok {
            assert_ne!(event, 0);
            assert_eq!(finish(ctx, event), CalResult::Ok);
        } else {
            assert_eq!(event, 0);
        }
        code
    };
    assert_eq!(run(0, 0, 0, 0), CalResult::Ok);
    assert_eq!(run(3, 3, 0, 5), CalResult::Ok);
    // Far larger than the output: ends at once, since nothing outside can be seen.
    let start = Instant::now();
    assert_eq!(run(0, 0, u32::MAX, u32::MAX), CalResult::Ok);
    assert_eq!(run(100, 100, 1 << 30, 1 << 30), CalResult::Ok);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(run(1, 0, u32::MAX, 1), CalResult::Error);
    with_rows(out, [8, 8], |w| assert!(w.iter().all(|&w| w == 1.5f32.to_bits())));
}

#[test]
fn work_is_pending_until_done_and_then_done_for_ever() {
    let session = start();
    let (_, ctx, func, out) = filled();
    let first = run(ctx, func, 8, 8);
    let second = run(ctx, func, 8, 8);
    assert_ne!(first, second);
    let before = session.manual.flushes();
    expect!(Pending, calCtxIsEventDone(ctx, first));
    assert_eq!(session.manual.flushes(), before + 1, "asking starts the work");
    expect!(Pending, calCtxIsEventDone(ctx, second));
    assert_eq!(session.manual.flushes(), before + 1, "once");
    session.manual.step(1);
    ok!(calCtxIsEventDone(ctx, first));
    expect!(Pending, calCtxIsEventDone(ctx, second));
    session.manual.step(1);
    // The later one implies the earlier one; both stay done however often asked.
    for _ in 0..1000 {
        ok!(calCtxIsEventDone(ctx, second));
        ok!(calCtxIsEventDone(ctx, first));
    }
    with_rows(out, [8, 8], |w| assert_eq!(w[63], 0x0202_0202));
    // Unknown, foreign and malformed events.
    for bad in [0, second + 1, second ^ 1 << 24, u32::MAX, ctx, 1] {
        expect!(BadHandle, calCtxIsEventDone(ctx, bad));
    }
    expect!(BadHandle, calCtxIsEventDone(ctx ^ 1, first));
}

#[test]
fn events_stay_known_over_many_launches() {
    let session = start();
    session.manual.run_freely();
    let (_, ctx, func, _) = filled();
    let first = run(ctx, func, 8, 8);
    for _ in 0..20_000 {
        run(ctx, func, 8, 8);
    }
    let last = run(ctx, func, 8, 8);
    assert_eq!(finish(ctx, last), CalResult::Ok);
    ok!(calCtxIsEventDone(ctx, first));
}

#[test]
fn an_event_is_of_one_context_however_many_there_are() {
    let session = start();
    session.manual.run_freely();
    let device = open(MANUAL);
    let image = image(FILL);
    let out = local_2d(device, 8, 8, Format::Float32x1);
    let launched: Vec<_> = (0..150)
        .map(|_| {
            let ctx = context(device);
            let mut module = 0;
            ok!(calModuleLoad(&mut module, ctx, image));
            bind(ctx, module, c"o0", out);
            let mut func = 0;
            ok!(calModuleGetEntry(&mut func, ctx, module, c"main".as_ptr()));
            (ctx, run(ctx, func, 8, 8))
        })
        .collect();
    for (ctx, own) in &launched {
        assert_eq!(finish(*ctx, *own), CalResult::Ok);
        for (_, event) in launched.iter().filter(|(other, _)| other != ctx) {
            expect!(BadHandle, calCtxIsEventDone(*ctx, *event));
        }
    }
    ok!(calImageFree(image));
}

/// What the processor has done for this thread, whatever else it did.
#[cfg(unix)]
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Each context costs what the first ones did: eight times as many take about eight times as long, not 64 times.
#[cfg(unix)]
#[test]
fn contexts_are_made_in_linear_time() {
    let _session = start();
    let device = open(MANUAL);
    let time = |count: usize| {
        let start = processor_time();
        let contexts: Vec<_> = (0..count).map(|_| context(device)).collect();
        contexts.into_iter().for_each(|ctx| ok!(calCtxDestroy(ctx)));
        processor_time() - start
    };
    let best = |count| (0..3).map(|_| time(count)).min().unwrap();
    let (few, many) = (best(4000), best(32_000));
    assert!(many < 30 * few, "{few:?} for 4,000 contexts, {many:?} for 32,000");
}

#[test]
fn mapping_waits_for_work_on_any_queue() {
    let session = start();
    let (device, ctx, func, out) = filled();
    let other = context(device);
    let copy = local_2d(device, 8, 8, Format::Float32x1);
    let mut event = 0;
    ok!(calMemCopy(&mut event, other, mem(other, out), mem(other, copy), 0));
    run(ctx, func, 8, 8);
    let manual = Arc::clone(&session.manual);
    let stepper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(60));
        manual.run_freely();
    });
    let start = Instant::now();
    with_rows(out, [8, 8], |w| assert_ne!(w[0], 0, "the launch is done"));
    assert!(start.elapsed() >= Duration::from_millis(50), "both queues were awaited");
    stepper.join().unwrap();
    // A resource that nothing uses is mapped at once.
    let idle = local_2d(device, 8, 8, Format::Float32x1);
    with_rows(idle, [8, 8], |_| ());
}

#[test]
fn a_launch_takes_the_bindings_of_its_moment() {
    let session = start();
    let (device, ctx, func, first) = filled();
    let (module, func2) = load(ctx, FILL);
    let second = local_2d(device, 8, 8, Format::Float32x1);
    bind(ctx, module, c"o0", first);
    run(ctx, func2, 8, 8);
    bind(ctx, module, c"o0", second);
    let event = run(ctx, func2, 8, 8);
    ok!(calModuleUnload(ctx, module));
    run(ctx, func, 0, 0);
    session.manual.run_freely();
    assert_eq!(finish(ctx, event), CalResult::Ok);
    with_rows(first, [8, 8], |w| assert_eq!(w[0], 0x0101_0101));
    with_rows(second, [8, 8], |w| assert_eq!(w[0], 0x0202_0202));
}

#[test]
fn what_is_in_flight_stays_alive() {
    let session = start();
    let device = open(MANUAL);
    let ctx = context(device);
    let source = local_2d(device, 8, 8, Format::UnsignedInt32x1);
    let destination = local_2d(device, 8, 8, Format::UnsignedInt32x1);
    with_rows(source, [8, 8], |w| w.fill(42));
    let (from, to) = (mem(ctx, source), mem(ctx, destination));
    let mut event = 0;
    ok!(calMemCopy(&mut event, ctx, from, to, 0));
    expect!(Pending, calCtxIsEventDone(ctx, event));
    ok!(calCtxReleaseMem(ctx, from));
    ok!(calCtxReleaseMem(ctx, to));
    ok!(calResFree(source));
    ok!(calCtxDestroy(ctx));
    session.manual.run_freely();
    with_rows(destination, [8, 8], |w| assert!(w.iter().all(|&w| w == 42)));
}

#[test]
fn a_failed_command_is_an_error_of_its_event_only() {
    let session = start();
    let (_, ctx, func, out) = filled();
    session.manual.fail(true);
    let bad = run(ctx, func, 8, 8);
    session.manual.step(1);
    expect!(Error, calCtxIsEventDone(ctx, bad));
    assert!(error().contains("timeout: stopped"), "{}", error());
    session.manual.fail(false);
    let good = run(ctx, func, 8, 8);
    session.manual.step(1);
    ok!(calCtxIsEventDone(ctx, good));
    expect!(Error, calCtxIsEventDone(ctx, bad));
    let mut events = [good, bad];
    expect!(Error, calCtxWaitForEvents(ctx, events.as_mut_ptr(), 2, 0));
    ok!(calCtxWaitForEvents(ctx, events.as_mut_ptr(), 1, 0));
    with_rows(out, [8, 8], |_| ());
}

#[test]
fn any_error_of_a_grid_array_is_the_error_of_its_event() {
    let session = start();
    let device = open(MANUAL);
    let ctx = context(device);
    let (module, func) = load(ctx, NUMBER);
    bind(ctx, module, c"uav0", local_2d(device, 64, 1, Format::UnsignedInt32x1));
    let one = |n| CALdomain3D { width: n, height: 1, depth: 1 };
    let mut grids = [CALprogramGrid { func, gridBlock: one(64), gridSize: one(1), flags: 0 }; 3];
    let mut array = CALprogramGridArray { gridArray: grids.as_mut_ptr(), num: 3, flags: 0 };
    let mut event = 0;
    ok!(calCtxRunProgramGridArray(&mut event, ctx, &mut array));
    expect!(Pending, calCtxIsEventDone(ctx, event));
    session.manual.fail(true);
    session.manual.step(1);
    expect!(Pending, calCtxIsEventDone(ctx, event));
    session.manual.fail(false);
    session.manual.step(2);
    expect!(Error, calCtxIsEventDone(ctx, event));
}

#[test]
fn shutdown_ends_everything_and_init_begins_anew() {
    let session = start();
    let (device, ctx, func, out) = filled();
    let (mut address, mut pitch) = (null_mut(), 0);
    let mapped = remote_1d(device, 16, Format::UnsignedInt32x1);
    ok!(calResMap(&mut address, &mut pitch, mapped, 0));
    let event = run(ctx, func, 8, 8);
    let bound = mem(ctx, out);
    let manual = Arc::clone(&session.manual);
    let stepper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        manual.run_freely();
    });
    ok!(calShutdown());
    stepper.join().unwrap();
    // The order of Brook+: everything is destroyed after the shutdown.
    expect!(NotInitialized, calCtxDestroy(ctx));
    expect!(NotInitialized, calDeviceClose(device));
    expect!(NotInitialized, calCtxReleaseMem(ctx, bound));
    expect!(NotInitialized, calResFree(out));
    expect!(NotInitialized, calModuleUnload(ctx, 1));
    // A mapped address outlives it all.
    // SAFETY: mapped memory stays until the process ends.
    unsafe { address.cast::<u32>().write(77) };
    assert_eq!(session.manual.live_memories(), 1, "only the mapped one");
    assert_eq!(session.manual.live_kernels(), 0);
    ok!(calInit());
    expect!(BadHandle, calCtxDestroy(ctx));
    expect!(BadHandle, calDeviceClose(device));
    expect!(BadHandle, calResFree(out));
    expect!(BadHandle, calCtxIsEventDone(ctx, event));
    let again = open(MANUAL);
    assert_ne!(again, device);
    // SAFETY: as above.
    assert_eq!(unsafe { address.cast::<u32>().read() }, 77);
}

#[cfg(unix)]
#[test]
fn a_child_of_fork_starts_over() {
    let _session = start();
    let (_, ctx, _, _) = filled();
    // SAFETY: the child only calls functions under test and `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let shutdown = call!(calShutdown());
        let destroy = call!(calCtxDestroy(ctx));
        let good = shutdown == CalResult::NotInitialized && destroy == CalResult::NotInitialized;
        // SAFETY: ends the child without running the handlers of the test program.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    ok!(calCtxFlush(ctx));
}
