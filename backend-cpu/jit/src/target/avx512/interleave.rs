//! Elements as they lie in memory, and their words one by one.

use super::encode::{Lanes, mask_test, plain, vector};
use super::table::*;
use super::{TEMPORARY, VECTOR};
use crate::emit::{Code, Pool};
use crate::target::x86::{self, NOT_ZERO};
use crate::target::{Base, Rm, Steps};

fn mix(code: &mut Code, enc: x86::Enc, to: u8, a: u8, b: u8, how: Option<u8>) {
    vector(code, enc, to, a, Rm::Reg(b), Lanes::All, how);
}

/// Words and elements trade places within blocks of four words, in the first four registers.
fn within_blocks(code: &mut Code) {
    for (to, enc, from) in [(4, UNPCKLPS, 0), (5, UNPCKHPS, 0), (6, UNPCKLPS, 2), (7, UNPCKHPS, 2)] {
        mix(code, enc, to, from, from + 1, None);
    }
    for (to, enc, from) in [(0, UNPCKLPD, 4), (1, UNPCKHPD, 4), (2, UNPCKLPD, 5), (3, UNPCKHPD, 5)] {
        mix(code, enc, to, from, from + 2, None);
    }
}

/// Blocks and vectors trade places.
fn among_blocks(code: &mut Code) {
    for (to, from, how) in [(4, 0, 0x44), (5, 0, 0xEE), (6, 2, 0x44), (7, 2, 0xEE)] {
        mix(code, SHUFI64X2, to, from, from + 1, Some(how));
    }
    for (to, from, how) in [(0, 4, 0x88), (1, 4, 0xDD), (2, 5, 0x88), (3, 5, 0xDD)] {
        mix(code, SHUFI64X2, to, from, from + 2, Some(how));
    }
}

/// See [`crate::target::Target::interleave`].
pub fn interleave(code: &mut Code, count: u32, there: bool) {
    match (count, there) {
        (4, true) => {
            within_blocks(code);
            among_blocks(code);
        }
        (4, false) => {
            among_blocks(code);
            within_blocks(code);
        }
        (_, true) => {
            mix(code, UNPCKLPS, 4, 0, 1, None);
            mix(code, UNPCKHPS, 5, 0, 1, None);
            for (to, how) in [(0, 0x44), (1, 0xEE)] {
                mix(code, SHUFI64X2, to, 4, 5, Some(how));
                mix(code, SHUFI64X2, to, to, to, Some(0xD8));
            }
        }
        (_, false) => {
            for (to, from) in [(4, 0), (5, 1)] {
                mix(code, SHUFI64X2, to, from, from, Some(0xD8));
            }
            mix(code, SHUFI64X2, 0, 4, 5, Some(0x44));
            mix(code, SHUFI64X2, 1, 4, 5, Some(0xEE));
            mix(code, SHUFPS, 4, 0, 1, Some(0x88));
            mix(code, SHUFPS, 1, 0, 1, Some(0xDD));
            plain(code, LOAD, 0, Rm::Reg(4));
        }
    }
}

/// See [`crate::target::Target::unless_steps`].
pub fn unless_steps(code: &mut Code, pool: &mut Pool, Steps { at, first, from, step }: Steps) -> usize {
    const UNEQUAL: u8 = 4;
    let steps = pool.lanes(16, |lane| from.wrapping_add(lane * step));
    plain(code, PBROADCASTD, VECTOR, Rm::Mem(Base::Stack, first));
    vector(code, PADDD, VECTOR, VECTOR, Rm::Mem(Base::Pool, steps), Lanes::All, None);
    vector(code, PCMPD, TEMPORARY, VECTOR, Rm::Mem(Base::Stack, at), Lanes::All, Some(UNEQUAL));
    mask_test(code, TEMPORARY);
    x86::jump(code, Some(NOT_ZERO))
}
