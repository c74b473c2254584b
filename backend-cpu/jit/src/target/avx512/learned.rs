//! Stores that learn how their words lie: where all lanes' are in a window of two vectors, each its own, in an order that was met before,
//! vectors are permuted by what was found then and stored, only the words in question.

use crate::emit::Code;
use crate::target::x86::{NOT_BELOW, NOT_ZERO, ZERO, back, jump, land, view_start};
use crate::ticks::{LEARNED, LEFT, ORDERS};

/// Bytes of a row.
const ROW: u32 = 256;

/// Where in the rows the distances of a store are, and the order of the words of the window.
pub fn places(number: u32) -> [u32; 2] {
    [ROW * number, ROW * number + ORDERS]
}

/// r12 = where the rows are; `ticks` is a place on the stack.
pub fn find(code: &mut Code, ticks: u32) {
    code.raw_with(&[0x4C, 0x8B, 0xA1], ticks); // mov r12, [rcx + ticks]
    code.raw(&[0x4D, 0x8B, 0x64, 0x24, LEARNED]); // mov r12, [r12 + learned]
}

/// Learns the order of distances that were just stored in the row of a store, with zeros for the order; a jump that is taken if there is
/// none. r10 is where the view begins, then, too.
pub fn learn(code: &mut Code, view: u8, number: u32, lanes: u8) -> usize {
    let [distances, order] = places(number);
    code.raw(&[0xBD, lanes - 1, 0, 0, 0]); // mov ebp, lanes - 1
    let next = code.bytes.len();
    code.raw_with(&[0x45, 0x8B, 0x9C, 0xAC], distances); // mov r11d, [r12 + 4 * rbp + distances]
    code.raw(&[0x41, 0x83, 0xFB, 2 * lanes]); // cmp r11d, 2 * lanes
    let far = jump(code, Some(NOT_BELOW));
    code.raw_with(&[0x43, 0x83, 0xBC, 0x9C], order); // cmp dword [r12 + 4 * r11 + order], 0
    code.raw(&[0]);
    let twice = jump(code, Some(NOT_ZERO));
    code.raw_with(&[0x44, 0x8D, 0x95], 1 << 31); // lea r10d, [rbp + 1 << 31]
    code.raw_with(&[0x47, 0x89, 0x94, 0x9C], order); // mov [r12 + 4 * r11 + order], r10d
    code.raw(&[0x83, 0xED, 1]); // sub ebp, 1
    back(code, NOT_BELOW, next);
    let known = jump(code, None);
    [far, twice].into_iter().for_each(|at| land(code, at));
    code.raw_with(&[0x41, 0xC7, 0x84, 0x24], distances); // mov dword [r12 + distances], u32::MAX
    code.raw(&[0xFF; 4]);
    view_start(code, view);
    let none = jump(code, None);
    land(code, known);
    view_start(code, view);
    none
}

/// Counts what is learned; a jump that is taken if that was too often.
pub fn count(code: &mut Code, number: u32) -> usize {
    let left = ROW * number + LEFT;
    code.raw_with(&[0x41, 0x83, 0xBC, 0x24], left); // cmp dword [r12 + left], 0
    code.raw(&[0]);
    let none = jump(code, Some(ZERO));
    code.raw_with(&[0x41, 0xFF, 0x8C, 0x24], left); // dec dword [r12 + left]
    none
}
