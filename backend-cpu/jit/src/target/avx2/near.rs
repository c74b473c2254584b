//! Loads and stores of words that are in a window of two vectors, in any order, which is found when code runs.

use super::VECTOR;
use super::encode::{first_word, plain, test, vector};
use super::table::*;
use crate::emit::{Code, Pool};
use crate::target::x86::learned::{self, count, find, learn};
use crate::target::x86::{NOT_BELOW, jump, land, land_at};
use crate::target::{Access, Base, Rm};

const LANES: u8 = 8;
/// Which word of a window it is, as bits.
const BITS: u8 = 4;

/// Loads words whose numbers differ in the last bits alone; the jumps are taken if not, or not all of the window is in the view.
pub fn load(
    code: &mut Code,
    pool: &mut Pool,
    view: u8,
    index: u8,
    exec: Rm,
    to: u8,
    place: u32,
) -> [usize; 2] {
    let zeros = pool.lanes(8, |_| 0);
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    vector(code, PXOR, VECTOR, VECTOR, Rm::Reg(index), None);
    vector(code, PSRLD, SHIFT_RIGHT, VECTOR, Rm::Reg(VECTOR), Some(BITS));
    vector(code, PCMPEQD, VECTOR, VECTOR, Rm::Mem(Base::Pool, zeros), None);
    test(code, VECTOR, exec);
    let far = jump(code, Some(NOT_BELOW));
    first_word(code, index);
    let outside = learned::window(code, view, LANES);
    // Three bits of each number count, then the next one.
    vector(code, PERMD, VECTOR, index, Rm::Mem(Base::First, 32), None);
    plain(code, STORE, VECTOR, Rm::Mem(Base::Stack, place));
    vector(code, PERMD, VECTOR, index, Rm::Mem(Base::First, 0), None);
    vector(code, PSLLD, SHIFT_LEFT, to, Rm::Reg(index), Some(32 - BITS));
    vector(code, BLENDVPS, to, VECTOR, Rm::Mem(Base::Stack, place), Some(to << 4));
    [far, outside]
}

/// Digits of the opcodes.
const SHIFT_RIGHT: u8 = 2;
const SHIFT_LEFT: u8 = 6;

/// `VECTOR` = how far words are behind the window that the first one is in.
fn distances(code: &mut Code, pool: &mut Pool, index: u8) {
    let beginning = pool.lanes(8, |_| u32::MAX << BITS);
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    vector(code, PAND, VECTOR, VECTOR, Rm::Mem(Base::Pool, beginning), None);
    vector(code, PSUBD, VECTOR, index, Rm::Reg(VECTOR), None);
}

/// Stores words in an order that was learned; a jump that is taken when that is done, and others if it is not. All lanes execute.
pub fn store(access: &mut Access<'_>, from: u8, [ticks, number]: [u32; 2]) -> (usize, [usize; 3]) {
    let (view, index, words) = (access.view, access.index, Rm::Mem(Base::Stack, access.places[1]));
    let [place, order] = learned::places(number);
    let learned = |at: u32| Rm::Mem(Base::Learned, at);
    let ones = access.pool.lanes(8, |_| u32::MAX);
    let Access { code, pool, .. } = access;
    find(code, ticks);
    distances(code, pool, index);
    vector(code, PCMPEQD, VECTOR, VECTOR, learned(place), None);
    test(code, VECTOR, Rm::Mem(Base::Pool, ones));
    let new = jump(code, Some(NOT_BELOW));
    let known = code.bytes.len();
    first_word(code, index);
    let outside = learned::window(code, view, LANES);
    plain(code, STORE, from, words);
    for half in [0, 32] {
        plain(code, LOAD, VECTOR, learned(order + half));
        vector(code, PERMD, from, VECTOR, words, None);
        vector(code, MASKMOV, from, VECTOR, Rm::Mem(Base::First, half), None);
    }
    plain(code, LOAD, from, words);
    let done = jump(code, None);
    land(code, new);
    let never = count(code, number);
    distances(code, pool, index);
    plain(code, STORE, VECTOR, learned(place));
    vector(code, PXOR, VECTOR, VECTOR, Rm::Reg(VECTOR), None);
    [0, 32].into_iter().for_each(|half| plain(code, STORE, VECTOR, learned(order + half)));
    let none = learn(code, view, number, LANES);
    let again = jump(code, None);
    land_at(code, again, known);
    (done, [outside, never, none])
}
