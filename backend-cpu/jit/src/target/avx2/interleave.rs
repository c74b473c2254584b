//! Elements as they lie in memory, and their words one by one.

use super::VECTOR;
use super::encode::{plain, test, vector};
use super::table::*;
use crate::emit::{Code, Pool};
use crate::target::x86::{self, NOT_BELOW};
use crate::target::{Base, Rm, Steps};

fn mix(code: &mut Code, enc: x86::Enc, to: u8, a: u8, b: u8, how: Option<u8>) {
    vector(code, enc, to, a, Rm::Reg(b), how);
}

/// Words and elements trade places within halves, in the first four registers.
fn within_halves(code: &mut Code) {
    for (to, enc, from) in [(4, UNPCKLPS, 0), (5, UNPCKHPS, 0), (6, UNPCKLPS, 2), (7, UNPCKHPS, 2)] {
        mix(code, enc, to, from, from + 1, None);
    }
    for (to, enc, from) in [(0, UNPCKLPD, 4), (1, UNPCKHPD, 4), (2, UNPCKLPD, 5), (3, UNPCKHPD, 5)] {
        mix(code, enc, to, from, from + 2, None);
    }
}

/// Low halves of two registers, then high ones.
fn halves(code: &mut Code, to: [u8; 2], from: [u8; 2]) {
    for (to, how) in to.into_iter().zip([0x20, 0x31]) {
        mix(code, PERM2F128, to, from[0], from[1], Some(how));
    }
}

/// See [`crate::target::Target::interleave`].
pub fn interleave(code: &mut Code, count: u32, there: bool) {
    match (count, there) {
        (4, true) => {
            within_halves(code);
            halves(code, [4, 6], [0, 1]);
            halves(code, [5, 7], [2, 3]);
            (0..4).for_each(|k| plain(code, COPY, k, Rm::Reg(4 + k)));
        }
        (4, false) => {
            halves(code, [4, 5], [0, 2]);
            halves(code, [6, 7], [1, 3]);
            (0..4).for_each(|k| plain(code, COPY, k, Rm::Reg(4 + k)));
            within_halves(code);
        }
        (_, true) => {
            mix(code, UNPCKLPS, 4, 0, 1, None);
            mix(code, UNPCKHPS, 5, 0, 1, None);
            halves(code, [0, 1], [4, 5]);
        }
        (_, false) => {
            halves(code, [4, 5], [0, 1]);
            mix(code, SHUFPS, 0, 4, 5, Some(0x88));
            mix(code, SHUFPS, 1, 4, 5, Some(0xDD));
        }
    }
}

/// See [`crate::target::Target::unless_steps`].
pub fn unless_steps(code: &mut Code, pool: &mut Pool, Steps { at, first, from, step }: Steps) -> usize {
    let steps = pool.lanes(8, |lane| from.wrapping_add(lane * step));
    let ones = Rm::Mem(Base::Pool, pool.splat(8, u32::MAX));
    plain(code, BROADCASTSS, VECTOR, Rm::Mem(Base::Stack, first));
    vector(code, PADDD, VECTOR, VECTOR, Rm::Mem(Base::Pool, steps), None);
    vector(code, PCMPEQD, VECTOR, VECTOR, Rm::Mem(Base::Stack, at), None);
    test(code, VECTOR, ones);
    x86::jump(code, Some(NOT_BELOW))
}
