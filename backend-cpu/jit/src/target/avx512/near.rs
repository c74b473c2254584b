//! Loads and stores of words that are in a window of two vectors, in any order, which is found when code runs.

use super::encode::{Lanes, first_word, mask_test, plain, vector};
use super::learned::{self, count, find, learn};
use super::table::*;
use super::{SCRATCH, TEMPORARY, VECTOR};
use crate::emit::{Code, Pool};
use crate::target::x86::{NOT_ZERO, jump, land, land_at, window};
use crate::target::{Access, Base, Rm};

const LANES: u8 = 16;
/// Which word of a window it is.
const WORD: u32 = 2 * LANES as u32 - 1;

/// Loads words whose numbers differ in the last bits alone; the jumps are taken if not, or not all of the window is in the view. The
/// lanes that are within the view are in `SCRATCH`.
pub fn load(code: &mut Code, pool: &mut Pool, view: u8, index: u8, within: Lanes, to: u8) -> [usize; 2] {
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    vector(code, PXORD, VECTOR, VECTOR, Rm::Reg(index), Lanes::All, None);
    let others = Rm::Splat(Base::Pool, pool.word(!WORD));
    vector(code, PTESTMD, TEMPORARY, VECTOR, others, within, None);
    mask_test(code, TEMPORARY);
    let far = jump(code, Some(NOT_ZERO));
    first_word(code, index);
    let outside = window(code, view, LANES);
    plain(code, LOAD_NEAR, VECTOR, Rm::Mem(Base::First, 0));
    plain(code, LOAD, to, Rm::Reg(index));
    vector(code, PERMI2D, to, VECTOR, Rm::Mem(Base::First, 64), Lanes::OrZero(SCRATCH), None);
    [far, outside]
}

/// Stores words in an order that was learned; a jump that is taken when that is done, and others if it is not. All lanes execute.
pub fn store(access: &mut Access<'_>, from: u8, [ticks, number]: [u32; 2]) -> (usize, [usize; 3]) {
    let (view, index) = (access.view, access.index);
    let [distances, order] = learned::places(number);
    let learned = |at: u32| Rm::Mem(Base::Learned, at);
    let beginning = Rm::Splat(Base::Pool, access.pool.word(!WORD));
    let code = &mut *access.code;
    find(code, ticks);
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    vector(code, PANDD, VECTOR, VECTOR, beginning, Lanes::All, None);
    vector(code, PSUBD, VECTOR, index, Rm::Reg(VECTOR), Lanes::All, None);
    const UNEQUAL: u8 = 4;
    vector(code, PCMPD, TEMPORARY, VECTOR, learned(distances), Lanes::All, Some(UNEQUAL));
    mask_test(code, TEMPORARY);
    let new = jump(code, Some(NOT_ZERO));
    let known = code.bytes.len();
    first_word(code, index);
    let outside = window(code, view, LANES);
    for half in [0, 64] {
        plain(code, LOAD_NEAR, VECTOR, learned(order + half));
        plain(code, PMOVD2M, SCRATCH, Rm::Reg(VECTOR));
        vector(code, PERMD, VECTOR, VECTOR, Rm::Reg(from), Lanes::All, None);
        vector(code, STORE_NEAR, VECTOR, 0, Rm::Mem(Base::First, half), Lanes::Some(SCRATCH), None);
    }
    let done = jump(code, None);
    land(code, new);
    let never = count(code, number);
    plain(code, STORE_NEAR, VECTOR, learned(distances));
    vector(code, PXORD, VECTOR, VECTOR, Rm::Reg(VECTOR), Lanes::All, None);
    [0, 64].into_iter().for_each(|half| plain(code, STORE_NEAR, VECTOR, learned(order + half)));
    let none = learn(code, view, number, LANES);
    let again = jump(code, None);
    land_at(code, again, known);
    (done, [outside, never, none])
}
