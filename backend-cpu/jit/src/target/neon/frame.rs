//! Functions: what is saved, the loop over strips, the question whether to stop.

use super::EXEC;
use super::encode::*;
use super::table::CMTST;
use crate::emit::{Code, Pool};
use crate::row;
use crate::target::{Base, Called, Frame};
use crate::ticks::{EXECUTING, FEW, LOOKS, PERIOD, STOP};

/// A bit for each lane.
pub fn bits(pool: &mut Pool) -> u32 {
    pool.lanes(4, |lane| 1 << lane)
}

/// x6 |= x`from` << 60
pub fn join_result(code: &mut Code, from: u8) {
    word(code, 0xAA00_F000 | u32::from(from) << 16 | u32::from(RESULT) << 5 | u32::from(RESULT));
}

/// See [`crate::target::Target::count`].
pub fn count(code: &mut Code) -> usize {
    load_word(code, WORD, TICKS, 0);
    count_down(code, WORD);
    store_word(code, WORD, TICKS, 0);
    jump_far(code, Some(If::Unequal))
}

/// Keeps the registers that functions have for themselves, in so many bytes.
fn save(code: &mut Code) -> u32 {
    word(code, 0xA9BC_07E0); // stp x0, x1, [sp, #-64]!
    word(code, 0xA901_0FE2); // stp x2, x3, [sp, #16]
    word(code, 0xA902_1BE4); // stp x4, x6, [sp, #32]
    word(code, 0xF900_1BE7); // str x7, [sp, #48]
    64
}

/// The reverse.
fn restore_saved(code: &mut Code) {
    word(code, 0xF940_1BE7); // ldr x7, [sp, #48]
    word(code, 0xA942_1BE4); // ldp x4, x6, [sp, #32]
    word(code, 0xA941_0FE2); // ldp x2, x3, [sp, #16]
    word(code, 0xA8C4_07E0); // ldp x0, x1, [sp], #64
}

/// x`d` = x`n` + a number of 24 bits
fn add_far(code: &mut Code, d: u8, n: u8, number: u32) {
    add(code, d, n, number % 4096, false);
    if number >= 4096 {
        add(code, d, d, number / 4096, true);
    }
}

/// See [`crate::target::Target::call`]; the lanes are in w10.
pub fn call(code: &mut Code, of: &Called) {
    let saved = save(code);
    load_address(code, FREE, TICKS, 16);
    add_far(code, 1, 1, of.words);
    move_general(code, 2, WORD);
    add_far(code, TICKS, STACK, of.operands + saved);
    word(code, 0xD63F_0000 | u32::from(FREE) << 5); // blr x12
    restore_saved(code);
}

/// See [`crate::target::Target::ask`].
pub fn ask(code: &mut Code, restore: &mut dyn FnMut(&mut Code)) -> usize {
    save(code);
    move_general(code, 0, TICKS);
    load_address(code, FREE, TICKS, 8);
    word(code, 0xD63F_0000 | u32::from(FREE) << 5); // blr x12
    word(code, 0x1200_1C0A); // and w10, w0, #255
    restore_saved(code);
    restore(code);
    jump_if_answer(code, STOP)
}

/// Jumps if that is a bit of the answer.
pub fn jump_if_answer(code: &mut Code, bit: u8) -> usize {
    // tst w10, bit: a run of one bit, turned
    let turn = (32 - bit.trailing_zeros()) % 32;
    word(code, 0x7200_001F | turn << 16 | u32::from(WORD) << 5);
    jump_far(code, Some(If::Unequal))
}

/// See [`crate::target::Target::jump_if_given`].
pub fn jump_if_given(code: &mut Code) -> usize {
    word(code, 0xF100_001F | u32::from(RESULT) << 5); // cmp x6, #0
    jump_far(code, Some(If::Unequal))
}

/// See [`crate::target::Target::look`]; the lanes are in w10, and how many they are, negated, is in w11.
pub fn look(code: &mut Code) -> usize {
    store_word(code, WORD, TICKS, EXECUTING.into());
    load_word(code, FREE, TICKS, FEW.into());
    word(code, 0x2B0C_017F); // cmn w11, w12
    let few = jump_near(code, If::NotNegative);
    load_word(code, FREE, TICKS, PERIOD.into());
    store_word(code, FREE, TICKS, 0);
    load_word(code, WORD, TICKS, LOOKS.into());
    count_down(code, WORD);
    store_word(code, WORD, TICKS, LOOKS.into());
    let more = jump_far(code, Some(If::Unequal));
    land(code, few);
    more
}

/// The loop over waves and strips: x0 waves, x1 constants, x2 their number, x3 views, x4 ticks.
pub fn function(code: &mut Code, pool: &mut Pool, frame: &Frame<'_>) {
    word(code, 0xA9BF_7BFD); // stp x29, x30, [sp, #-16]!
    word(code, 0xA9BF_53F3); // stp x19, x20, [sp, #-16]!
    // Of registers 8 to 15 the lower halves belong to the caller.
    word(code, 0x6DBC_27E8); // stp d8, d9, [sp, #-64]!
    word(code, 0x6D01_2FEA); // stp d10, d11, [sp, #16]
    word(code, 0x6D02_37EC); // stp d12, d13, [sp, #32]
    word(code, 0x6D03_3FEE); // stp d14, d15, [sp, #48]
    // Page by page, so that the guard page is not passed over; nothing below sp is touched.
    for _ in 0..frame.stack / 4096 {
        sub(code, STACK, STACK, 1, true);
        word(code, 0xF900_03FF); // str xzr, [sp]
    }
    if frame.stack % 4096 > 0 {
        sub(code, STACK, STACK, frame.stack % 4096, false);
    }
    move_general(code, WAVE, ROWS);
    move_general(code, WAVES, LANES);
    let wave = code.bytes.len();
    load_address(code, ROWS, WAVE, 0);
    if frame.masked {
        load_address(code, LANES, WAVE, row::WAVE_EXEC.into());
    }
    set(code, STRIPS, 16);
    set(code, RESULT, 0);
    let start = code.bytes.len();
    word(code, 0xD344_FCC6); // lsr x6, x6, #4
    let mut none = None;
    if frame.masked {
        word(code, 0x7200_0C5F); // tst w2, #15
        none = Some(jump_far(code, Some(If::Equal)));
        splat_word(code, EXEC, LANES);
        load(code, super::VECTOR, Base::Pool, bits(pool));
        three(code, CMTST, EXEC, EXEC, super::VECTOR);
    }
    let base = code.bytes.len();
    code.append(frame.body);
    none.into_iter().for_each(|none| land(code, none));
    add(code, ROWS, ROWS, 16, false);
    word(code, 0xD344_FC42); // lsr x2, x2, #4
    count_down(code, STRIPS);
    back(code, If::Unequal, start);
    store_address(code, RESULT, WAVE, row::WAVE_TESTED.into());
    add(code, WAVE, WAVE, row::WAVE_BYTES.into(), false);
    count_down(code, WAVES);
    back(code, If::Unequal, wave);
    frame.stops.iter().for_each(|at| land(code, base + at));
    if frame.stack / 4096 > 0 {
        add(code, STACK, STACK, frame.stack / 4096, true);
    }
    if frame.stack % 4096 > 0 {
        add(code, STACK, STACK, frame.stack % 4096, false);
    }
    word(code, 0x6D43_3FEE); // ldp d14, d15, [sp, #48]
    word(code, 0x6D42_37EC); // ldp d12, d13, [sp, #32]
    word(code, 0x6D41_2FEA); // ldp d10, d11, [sp, #16]
    word(code, 0x6CC4_27E8); // ldp d8, d9, [sp], #64
    word(code, 0xA8C1_53F3); // ldp x19, x20, [sp], #16
    word(code, 0xA8C1_7BFD); // ldp x29, x30, [sp], #16
    word(code, 0xD65F_03C0); // ret
    // Functions start at a line of 32 bytes; what is between them traps.
    while code.bytes.len() % 32 != 0 {
        word(code, 0xD420_0000); // brk #0
    }
}
