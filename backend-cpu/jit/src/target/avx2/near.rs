//! Loads of words that are in a window of two vectors, in any order, which is found when code runs.

use super::VECTOR;
use super::encode::{first_word, plain, vector};
use super::table::*;
use crate::emit::Code;
use crate::target::x86::{NOT_ZERO, jump, window};
use crate::target::{Base, Rm};

const LANES: u8 = 8;
/// Which word of a window it is, as bits.
const BITS: u8 = 4;

/// `VECTOR` = in which bits the lanes' numbers differ from the first one's; jumps if they do in executing lanes.
pub fn unlike(code: &mut Code, index: u8, exec: Rm) -> usize {
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    vector(code, PXOR, VECTOR, VECTOR, Rm::Reg(index), None);
    plain(code, PTEST, VECTOR, exec);
    jump(code, Some(NOT_ZERO))
}

/// Loads words whose numbers differ in the last bits alone, see [`unlike`]; the jumps are taken if not, or not all of the window is in
/// the view.
pub fn load(code: &mut Code, view: u8, index: u8, exec: Rm, to: u8, place: u32) -> [usize; 2] {
    vector(code, PSRLD, SHIFT_RIGHT, VECTOR, Rm::Reg(VECTOR), Some(BITS));
    plain(code, PTEST, VECTOR, exec);
    let far = jump(code, Some(NOT_ZERO));
    first_word(code, index);
    let outside = window(code, view, LANES);
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
