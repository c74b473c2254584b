//! Copies through the C ABI (reference, sections 4.3 and 5).
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::ptr::null_mut;

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use support::*;

#[test]
fn copies_check_format_size_and_owner() {
    let session = start();
    session.manual.run_freely();
    let device = open(MANUAL);
    let (ctx, other) = (context(device), context(device));
    let small = mem(ctx, local_2d(device, 4, 4, Format::Float32x4));
    let large = mem(ctx, local_2d(device, 5, 6, Format::Float32x4));
    let integers = mem(ctx, local_2d(device, 5, 6, Format::UnsignedInt32x4));
    let foreign = mem(other, local_2d(device, 5, 6, Format::Float32x4));
    let mut event = 9;
    expect!(Error, calMemCopy(&mut event, ctx, large, small, 0));
    assert!(error().contains("5 x 6") && event == 0, "{}", error());
    expect!(Error, calMemCopy(&mut event, ctx, small, integers, 0));
    expect!(BadHandle, calMemCopy(&mut event, ctx, small, foreign, 0));
    expect!(BadHandle, calMemCopy(&mut event, ctx, small, 0, 0));
    expect!(InvalidParameter, calMemCopy(null_mut(), ctx, small, large, 0));
    ok!(calMemCopy(&mut event, ctx, small, large, 0));
    ok!(calMemCopy(&mut event, ctx, small, small, 0));
    assert_eq!(finish(ctx, event), CalResult::Ok);
}

#[test]
fn a_copy_goes_to_the_origin_with_both_pitches_on_every_device() {
    let session = start();
    session.manual.run_freely();
    for ordinal in [MANUAL, CPU] {
        let device = open(ordinal);
        let ctx = context(device);
        let source = local_2d(device, 3, 2, Format::UnsignedInt32x1);
        let destination = local_2d(device, 5, 4, Format::UnsignedInt32x1);
        with_rows(source, [3, 2], |w| w.copy_from_slice(&[1, 2, 3, 4, 5, 6]));
        let mut event = 0;
        ok!(calMemCopy(&mut event, ctx, mem(ctx, source), mem(ctx, destination), 0));
        assert_eq!(finish(ctx, event), CalResult::Ok);
        with_rows(destination, [5, 4], |w| {
            assert_eq!(w, [1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        });
    }
}

#[test]
fn mapped_remote_memory_takes_part_in_copies_and_kernels() {
    let _session = start();
    let mut device = open(CPU);
    let ctx = context(device);
    let mut staging = 0;
    ok!(calResAllocRemote2D(
        &mut staging,
        &mut device,
        1,
        8,
        8,
        Format::Float32x1 as u32,
        CAL_RESALLOC_CACHEABLE
    ));
    let local = local_2d(device, 8, 8, Format::Float32x1);
    let (staging_mem, local_mem) = (mem(ctx, staging), mem(ctx, local));
    let (mut address, mut pitch) = (null_mut(), 0);
    ok!(calResMap(&mut address, &mut pitch, staging, 0));
    let at = |i: usize| i / 8 * pitch as usize + i % 8;
    // SAFETY: mapped, eight rows of eight words; volatile because the device writes too.
    let word = |i: usize| unsafe { address.cast::<u32>().add(at(i)).read_volatile() };
    for round in 1..20u32 {
        // SAFETY: as above, and nothing is in flight.
        (0..64).for_each(|i| unsafe { address.cast::<u32>().add(at(i)).write_volatile(round) });
        let mut event = 0;
        ok!(calMemCopy(&mut event, ctx, staging_mem, local_mem, 0));
        assert_eq!(finish(ctx, event), CalResult::Ok);
        // SAFETY: as above.
        (0..64).for_each(|i| unsafe { address.cast::<u32>().add(at(i)).write_volatile(0) });
        ok!(calMemCopy(&mut event, ctx, local_mem, staging_mem, 0));
        assert_eq!(finish(ctx, event), CalResult::Ok);
        assert!((0..64).all(|i| word(i) == round));
    }
    let (module, func) = load(ctx, FILL);
    ok!(calCtxSetMem(ctx, name(ctx, module, c"o0"), staging_mem));
    let event = run(ctx, func, 8, 8);
    assert_eq!(finish(ctx, event), CalResult::Ok);
    assert!((0..64).all(|i| word(i) == 1.5f32.to_bits()));
    ok!(calResUnmap(staging));
}
