//! The program's float environment: results do not depend on it, nothing traps, and it is the program's again afterwards.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::arch::asm;

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use support::*;

/// To nearest, nothing trapped.
const KNOWN: u32 = 0x1F80;

/// What programs set: rounding up, towards zero, `-ffast-math`, everything trapped.
const MODES: [(&str, u32); 4] =
    [("upward", 0x5F80), ("towards zero", 0x7F80), ("flush to zero", 0x9FC0), ("trapped", 0x0000)];

fn mxcsr() -> u32 {
    let mut word = 0u32;
    // SAFETY: stores four bytes where there are four.
    unsafe { asm!("stmxcsr [{}]", in(reg) &mut word) };
    word
}

fn set_mxcsr(word: u32) {
    // SAFETY: what runs under it is the library and code without floats.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &word) };
}

/// Literals, constant expressions, and the same with values that are known at the launch only: single and double, inexact,
/// overflowing, denormal.
const KERNEL: &str = "il_cs_2_0\n\
    dcl_num_thread_per_group 64\n\
    dcl_raw_uav_id(0)\n\
    dcl_cb cb0[2]\n\
    dcl_literal l0, 0.1, 3.3, 123456.789, 1e-3\n\
    dcl_literal l1, 3.0, 7.0, 11.0, 0.7\n\
    dcl_literal l2, 16, 112, 32, 48\n\
    dcl_literal l3, 64, 80, 96, 0x7f7fffff\n\
    dcl_literal l4, 5, 0, 7, 0x00010000\n\
    imul r0.x, vAbsTidFlat.x, l2.y\n\
    utof r9.x, vAbsTidFlat.x\n\
    uav_raw_store_id(0) mem.xyzw, r0.x, l0\n\
    div_zeroop(infinity) r1, l0, l1\n\
    iadd r0.y, r0.x, l2.x\n\
    uav_raw_store_id(0) mem.xyzw, r0.y, r1\n\
    mad_ieee r1, l0, l1, l1.wzyx\n\
    iadd r0.y, r0.x, l2.z\n\
    uav_raw_store_id(0) mem.xyzw, r0.y, r1\n\
    dadd r1.xy, l4.xy, l4.zw\n\
    dadd r1.zw, cb0[0].xy, cb0[0].zw\n\
    iadd r0.y, r0.x, l2.w\n\
    uav_raw_store_id(0) mem.xyzw, r0.y, r1\n\
    div_zeroop(infinity) r1, cb0[1], r9.x\n\
    mad_ieee r1, r1, cb0[1].wzyx, cb0[1].yyyy\n\
    iadd r0.y, r0.x, l3.x\n\
    uav_raw_store_id(0) mem.xyzw, r0.y, r1\n\
    mul_ieee r1.x, l3.w, r9.x\n\
    sqrt_vec r2, r9.x\n\
    mov r1.y, r2.x\n\
    sin r1.z, r9.x\n\
    log r1.w, r9.x\n\
    iadd r0.y, r0.x, l3.y\n\
    uav_raw_store_id(0) mem.xyzw, r0.y, r1\n\
    f2d r3.xy, r9.x\n\
    f2d r4.xy, l0.y\n\
    ddiv r1.xy, r4.xy, r3.xy\n\
    dmul r1.zw, r1.xy, r4.xy\n\
    iadd r0.y, r0.x, l3.z\n\
    uav_raw_store_id(0) mem.xyzw, r0.y, r1\n\
    end\n";
/// Words of a thread.
const WORDS: u32 = 28;
/// Enough groups for all workers.
const GROUPS: u32 = 64;

#[derive(Clone, Copy, PartialEq)]
enum Wait {
    Map,
    Poll,
    Event,
}

/// Runs the kernel with every call under `mode`; what it stored.
fn results(mode: u32, wait: Wait) -> Vec<u32> {
    let words = WORDS * 64 * GROUPS;
    let (mut device, mut ctx, mut module, mut func, mut object, mut image) =
        (0, 0, 0, 0, std::ptr::null_mut(), std::ptr::null_mut());
    let (mut out, mut constants, mut event) = (0, 0, 0);
    let text = std::ffi::CString::new(KERNEL).expect("no NUL");
    let mut changed = Vec::new();
    // Nothing but the library runs under the mode.
    macro_rules! under {
        ($($call:tt)*) => {
            set_mxcsr(mode);
            // SAFETY: pointers to locals.
            let code = unsafe { $($call)* };
            let after = mxcsr();
            set_mxcsr(KNOWN);
            assert_eq!(code, CalResult::Ok, "{}: {}", stringify!($($call)*), error());
            if after != mode {
                changed.push(stringify!($($call)*));
            }
        };
    }
    under!(calInit());
    under!(calDeviceOpen(&mut device, 0));
    under!(calCtxCreate(&mut ctx, device));
    under!(calclCompile(&mut object, 1, text.as_ptr(), 8));
    under!(calclLink(&mut image, &mut object, 1));
    under!(calModuleLoad(&mut module, ctx, image));
    under!(calModuleGetEntry(&mut func, ctx, module, c"main".as_ptr()));
    under!(calResAllocLocal1D(&mut out, device, words, Format::UnsignedInt32x1 as u32, 1));
    under!(calResAllocRemote1D(&mut constants, &mut device, 1, 2, Format::UnsignedInt32x4 as u32, 0));
    with_map(constants, 8, |w, _| {
        // Two doubles below the normal ones, and 1, 1/3, 0.7, 3.
        w.copy_from_slice(&[5, 0, 7, 0x10000, 0x3F80_0000, 0x3EAA_AAAB, 0x3F33_3333, 0x4040_0000]);
    });
    bind(ctx, module, c"uav0", out);
    bind(ctx, module, c"cb0", constants);
    let one = |width| CALdomain3D { width, height: 1, depth: 1 };
    let mut grid = CALprogramGrid { func, gridBlock: one(64), gridSize: one(GROUPS), flags: 0 };
    under!(calCtxRunProgramGrid(&mut event, ctx, &mut grid));
    match wait {
        Wait::Map => {}
        Wait::Poll => {
            under!(loop {
                match calCtxIsEventDone(ctx, event) {
                    CalResult::Pending => {}
                    code => break code,
                }
            });
        }
        Wait::Event => {
            under!(calCtxWaitForEvents(ctx, &mut event, 1, 0));
        }
    }
    let (mut address, mut pitch) = (std::ptr::null_mut(), 0);
    under!(calResMap(&mut address, &mut pitch, out, 0));
    // SAFETY: the resource has so many words.
    let found = unsafe { std::slice::from_raw_parts(address.cast::<u32>(), words as usize) }.to_vec();
    under!(calResUnmap(out));
    under!(calShutdown());
    under!(calclFreeObject(object));
    under!(calclFreeImage(image));
    assert!(changed.is_empty(), "the environment is another after {changed:?}");
    found
}

#[test]
fn results_do_not_depend_on_the_program() {
    let _alone = alone();
    let expected = results(KNOWN, Wait::Map);
    // By hand: 0.1, 0.1 / 3, 0.1 * 3 + 0.7, and the sum of the doubles' bits, both below or at the least normal one.
    assert_eq!(expected[..2], [0x3DCC_CCCD, 0x4053_3333]);
    assert_eq!((expected[4], expected[8]), (0x3D08_8889, 0x3F80_0000));
    for (name, mode) in MODES {
        for wait in [Wait::Map, Wait::Poll, Wait::Event] {
            let found = results(mode, wait);
            let wrong: Vec<usize> =
                (0..found.len()).filter(|&k| found[k] != expected[k]).map(|k| k % WORDS as usize).collect();
            assert!(wrong.is_empty(), "{name}: {} words, the first is number {}", wrong.len(), wrong[0]);
        }
    }
}
