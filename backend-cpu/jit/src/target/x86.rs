//! What the targets of one architecture share: calls, jumps, the loop over strips, the encodings of instructions.
//!
//! rdi points to the rows from the strip on, rsi to the constants, rcx to the stack's places, r9 to the views; rdx holds
//! the executing lanes from the strip on, rax the result, rbx the strips that are left. r8 is the stack pointer as it was
//! before there were places: there are where the wave is, and how many waves are left. r10 to r12
//! and rbp are free within an instruction; in loops that add up products r10 and r11 are, and the others hold addresses.

pub mod encode;
pub mod keeping;
pub mod table;

pub(super) use self::encode::instructions;
pub use self::encode::{
    BELOW, Enc, M0F, M3A, M38, NOT_ABOVE, NOT_BELOW, NOT_ZERO, NP, P66, PF2, PF3, Row, Shape, ZERO, back,
    jump, land, land_at, modrm, register,
};
pub(super) use self::keeping::alike;
use super::{Base, Blocks, Called, Frame, Rm, Scalar, entry};
use crate::emit::{Code, Pool};
use crate::ticks::{EXECUTING, FEW, LOOKS, PERIOD, STOP};
use crate::{mode, row};

/// r10 = the first word of a view
pub fn view_start(code: &mut Code, view: u8) {
    code.raw_with(&[0x4D, 0x8B, 0x91], entry(view)); // mov r10, [r9 + entry]
}

/// r11 = where word number r11d of the view at r10 is; jumps unless it and the `more` that follow are inside.
pub fn inside(code: &mut Code, view: u8, more: u32) -> usize {
    code.raw_with(&[0x49, 0x81, 0xC3], more); // add r11, more
    code.raw_with(&[0x45, 0x3B, 0x99], entry(view) + 8); // cmp r11d, [r9 + entry + 8]
    let outside = jump(code, Some(NOT_BELOW));
    code.raw_with(&[0x4F, 0x8D, 0x9C, 0x9A], (4 * more).wrapping_neg()); // lea r11, [r10 + 4 * r11 - 4 * more]
    outside
}

/// r11 = where word number r11d of the view at r10 is
pub fn first_address(code: &mut Code) {
    code.raw(&[0x4F, 0x8D, 0x1C, 0x9A]); // lea r11, [r10 + 4 * r11]
}

/// r11 = so many bytes from an address
pub fn address_from(code: &mut Code, base: Base, bytes: u32) {
    code.raw(&[0x4C | register(base) >> 3, 0x8D]); // lea r11, [base + bytes]
    modrm(code, 11, Rm::Mem(base, bytes), 1);
}

/// Stores blocks whose lanes are in ebp, one lane after another; the vectors of numbers and of words are on the stack.
pub fn blocks_apart(code: &mut Code, view: u8, places: &[u32], blocks: Blocks) {
    let (count, words) = (blocks.count(), places[1]);
    let next = code.bytes.len();
    code.raw(&[0xF3, 0x44, 0x0F, 0xBC, 0xE5]); // tzcnt r12d, ebp
    code.raw_with(&[0x46, 0x8B, 0x9C, 0xA1], places[0]); // mov r11d, [rcx + 4 * r12 + place]
    // Where its block begins, or half of it.
    if count == 2 {
        code.raw(&[0x45, 0x89, 0xE5]); // mov r13d, r12d
        code.raw(&[0x41, 0x83, 0xE5, 1]); // and r13d, 1
    }
    code.raw(&[0x41, 0x83, 0xE4, 0xFC]); // and r12d, -4
    if count == 2 {
        code.raw(&[0x47, 0x8D, 0x24, 0x6C]); // lea r12d, [r12 + 2 * r13]
    }
    // Jumps unless word number r11d + k is inside.
    let inside = |code: &mut Code, k: u8| {
        code.raw(&[0x45, 0x8D, 0x73, k]); // lea r14d, [r11 + k]
        code.raw_with(&[0x45, 0x3B, 0xB1], entry(view) + 8); // cmp r14d, [r9 + entry + 8]
        jump(code, Some(NOT_BELOW))
    };
    // Words from k on, one or two.
    let moved = |code: &mut Code, k: u32, two: u8| {
        code.raw_with(&[0x46 | two, 0x8B, 0xAC, 0xA1], words + 4 * k); // mov r13, [rcx + 4 * r12 + place]
        code.raw(&[0x47 | two, 0x89, 0x6C, 0x9A, 4 * k as u8]); // mov [r10 + 4 * r11 + 4 * k], r13
    };
    let mut stored = None;
    if blocks.all() {
        let partly = inside(code, count as u8 - 1);
        (0..count).step_by(2).for_each(|k| moved(code, k, 8));
        stored = Some(jump(code, None));
        land(code, partly);
    }
    let mut ends = Vec::new();
    for k in (0..count).filter(|k| blocks.words >> k & 1 == 1) {
        // If one is outside, those behind it are.
        ends.push(inside(code, k as u8));
        moved(code, k, 0);
    }
    stored.into_iter().chain(ends).for_each(|end| land(code, end));
    code.raw(&[0xC4, 0xE2, 0x50, 0xF3, 0xCD]); // blsr ebp, ebp
    back(code, NOT_ZERO, next);
}

/// See [`super::Target::elements`].
pub fn elements(code: &mut Code, view: u8, count: u32, origin: u32) {
    view_start(code, view);
    code.raw(&[0x49, 0x89, 0xFB]); // mov r11, rdi
    code.raw_with(&[0x4C, 0x2B, 0x99], origin); // sub r11, [rcx + origin]
    code.raw(&[0x4F, 0x8D, 0x1C, 0x1A | (count.trailing_zeros() as u8) << 6]); // lea r11, [r10 + count * r11]
}

/// r11 = where the word with byte address r11d is; jumps unless it and the `last` that follow are in the view.
pub fn find_base(code: &mut Code, view: u8, last: u32) -> Vec<usize> {
    view_start(code, view);
    code.raw(&[0x41, 0xC1, 0xEB, 2]); // shr r11d, 2
    // Addresses behind it start again at 0.
    code.raw_with(&[0x41, 0x81, 0xFB], (1 << 30) - last); // cmp r11d, 2^30 - last
    let around = jump(code, Some(NOT_BELOW));
    vec![around, inside(code, view, last)]
}

/// Registers for the computation of addresses.
const SCALARS: [u8; 2] = [11, 10];

/// Registers that hold addresses: rbp, r12 to r15.
pub const ADDRESSES: [u8; 5] = [5, 12, 13, 14, 15];

/// A register for addresses = r11
pub fn keep_address(code: &mut Code, to: u8) {
    let to = ADDRESSES[usize::from(to)];
    code.raw(&[0x4C | to >> 3, 0x89, 0xC0 | (11 & 7) << 3 | to & 7]); // mov to, r11
}

/// See [`super::Target::scalar`].
pub fn scalar(code: &mut Code, op: Scalar, to: u8, from: Result<(Base, u32), u8>) {
    let to = SCALARS[usize::from(to)];
    let (rm, base) = match from {
        Ok((base, at)) => (Rm::Mem(base, at), register(base)),
        Err(other) => (Rm::Reg(SCALARS[usize::from(other)]), SCALARS[usize::from(other)]),
    };
    let with = |code: &mut Code, opcode: &[u8]| {
        code.raw(&[0x40 | (to >> 3) << 2 | base >> 3]);
        code.raw(opcode);
        modrm(code, to, rm, 1);
    };
    match op {
        Scalar::Move => with(code, &[0x8B]),
        Scalar::Add => with(code, &[0x03]),
        Scalar::Mul => with(code, &[0x0F, 0xAF]),
        // A comparison, and a move if the other one is less, or greater.
        Scalar::Min => [&[0x3B][..], &[0x0F, 0x4F]].into_iter().for_each(|opcode| with(code, opcode)),
        Scalar::Max => [&[0x3B][..], &[0x0F, 0x4C]].into_iter().for_each(|opcode| with(code, opcode)),
        Scalar::Shl(by) => code.raw(&[0x40 | to >> 3, 0xC1, 0xE0 | to & 7, by]),
    }
}

/// Jumps unless one of the strips that are done now is good: they are bits of edx, the lowest first.
pub fn unless_good(code: &mut Code, strip: u32) -> usize {
    code.raw(&[0x0F, 0xBA, 0xE2, strip as u8]); // bt edx, strip
    jump(code, Some(NOT_BELOW))
}

/// An address that is kept goes on by so many bytes.
pub fn move_address(code: &mut Code, number: u8, bytes: u32) {
    let of = ADDRESSES[usize::from(number)];
    code.raw_with(&[0x48 | of >> 3, 0x81, 0xC0 | of & 7], bytes); // add address, bytes
}

/// Copies it to the stack, or back.
pub fn address_to_stack(code: &mut Code, number: u8, at: u32, there: bool) {
    let of = ADDRESSES[usize::from(number)];
    code.raw(&[0x48 | of >> 3 << 2, if there { 0x89 } else { 0x8B }]); // mov [rcx + at], address
    modrm(code, of, Rm::Mem(Base::Stack, at), 1);
}

/// Asks for the line of the cache behind the one that r11 points into.
pub fn ask_ahead(code: &mut Code) {
    code.raw(&[0x41, 0x0F, 0x18, 0x4B, 64]); // prefetcht0 [r11 + 64]
}

/// Asks for a line that is some lines behind it, where each load leads into another page and only the next ones go on from it.
pub fn ask_further(code: &mut Code) {
    code.raw_with(&[0x41, 0x0F, 0x18, 0x8B], 256); // prefetcht0 [r11 + 256]
}

/// Asks for where a vector will be stored after so many bytes of others as a group of lines of 16 words has, if it goes on as it did since
/// the same part of the line before: r11 points to a vector of `lanes` words, and places on the stack hold where the ones before were, 0
/// at first, which leads to where no address is.
pub fn ask_for_stores(code: &mut Code, places: u32, lanes: u32) {
    let before = if lanes < 16 { places + 8 } else { places };
    code.raw(&[0x4D, 0x89, 0xDA]); // mov r10, r11
    code.raw_with(&[0x4C, 0x2B, 0x91], before); // sub r10, [rcx + before]
    if lanes < 16 {
        code.raw_with(&[0x4C, 0x8B, 0xA1], places); // mov r12, [rcx + places]
        code.raw_with(&[0x4C, 0x89, 0xA1], before); // mov [rcx + before], r12
    }
    code.raw_with(&[0x4C, 0x89, 0x99], places); // mov [rcx + places], r11
    code.raw(&[0x49, 0xC1, 0xE2, 4]); // shl r10, 4
    code.raw(&[0x43, 0x0F, 0x18, 0x0C, 0x13]); // prefetcht0 [r11 + r10]
}

/// Bytes to what is not in the second-level cache any more, when a column of it is read again.
const FAR: u32 = 16 << 10;

/// Asks for so many bytes where they will be next time, if r11 goes on as it did since the last time; where it was is on the stack.
/// What is nearer is in the second-level cache; to be asked for it, too, makes a processor slower.
pub fn fetch_ahead(code: &mut Code, at: u32, bytes: u32) {
    keeping::moved(code, Base::Stack, at);
    code.raw_with(&[0x49, 0x81, 0xFA], FAR); // cmp r10, FAR
    let near = jump(code, Some(BELOW));
    code.raw(&[0x4D, 0x01, 0xDA]); // add r10, r11
    for line in (0..bytes).step_by(64) {
        code.raw_with(&[0x41, 0x0F, 0x18, 0x8A], line); // prefetcht0 [r10 + line]
    }
    land(code, near);
}

/// Bytes that processors do not step ahead by themselves.
const STRIDE: u32 = 2 << 10;

/// The same if how far r11 is from where it was is on the stack. In `short` rounds what is four of them further is asked for.
pub fn fetch_further(code: &mut Code, base: Base, at: u32, bytes: u32, short: bool) {
    let base = if let Base::Kept(number) = base { ADDRESSES[usize::from(number)] } else { 11 };
    // prefetcht0 [base + r10 + line], [base + 4 * r10 + line]
    let (far, place) = if short { (STRIDE, 0x90) } else { (FAR, 0x10) };
    code.raw_with(&[0x4C, 0x8B, 0x91], at); // mov r10, [rcx + at]
    code.raw_with(&[0x49, 0x81, 0xFA], far); // cmp r10, far
    let near = jump(code, Some(BELOW));
    for line in (0..bytes).step_by(64) {
        code.raw_with(&[0x42 | base >> 3, 0x0F, 0x18, 0x8C, place | base & 7], line);
    }
    land(code, near);
}

/// r11 = an address on the stack
pub fn take_address(code: &mut Code, at: u32) {
    code.raw(&[0x4C, 0x8B]); // mov r11, [rcx + at]
    modrm(code, 11, Rm::Mem(Base::Stack, at), 1);
}

/// Puts r11d on the stack.
pub fn word_to_stack(code: &mut Code, at: u32) {
    code.raw_with(&[0x44, 0x89, 0x99], at); // mov [rcx + at], r11d
}

/// Puts where a view begins on the stack.
pub fn view_to_stack(code: &mut Code, view: u8, at: u32) {
    view_start(code, view);
    code.raw_with(&[0x4C, 0x89, 0x91], at); // mov [rcx + at], r10
}

/// Copies the two or four words at r11 to a place on the stack.
pub fn copy_element(code: &mut Code, count: u32, at: u32) {
    code.raw(&[0x4D, 0x8B, 0x13]); // mov r10, [r11]
    code.raw_with(&[0x4C, 0x89, 0x91], at); // mov [rcx + at], r10
    if count == 4 {
        code.raw(&[0x4D, 0x8B, 0x53, 8]); // mov r10, [r11 + 8]
        code.raw_with(&[0x4C, 0x89, 0x91], at + 8); // mov [rcx + at + 8], r10
    }
}

/// Lets denormal operands count as zeros, or not.
fn float_mode(code: &mut Code, pool: &mut Pool, lazy: bool) {
    let at = pool.word(if lazy { mode::LAZY } else { mode::GRADUAL });
    code.raw_with(&[0x0F, 0xAE, 0x96], at); // ldmxcsr [rsi + at]
}

/// See [`super::Target::count`].
pub fn count(code: &mut Code, ticks: u32) -> usize {
    code.raw_with(&[0x4C, 0x8B, 0x91], ticks); // mov r10, [rcx + ticks]
    code.raw(&[0x41, 0xFF, 0x0A]); // dec dword [r10]
    jump(code, Some(NOT_ZERO))
}

/// See [`super::Target::ask`]; r10 is what `count` left there.
pub fn ask(code: &mut Code, pool: &mut Pool, lazy: bool, restore: &mut dyn FnMut(&mut Code)) -> usize {
    if lazy {
        float_mode(code, pool, false);
    }
    code.raw(&[0xC5, 0xF8, 0x77]); // vzeroupper
    // push rax, rcx, rdx, rsi, rdi, r8, r9; the stack is a multiple of 64
    code.raw(&[0x50, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51]);
    code.raw(&[0x48, 0x83, 0xEC, 8]); // sub rsp, 8
    code.raw(&[0x4C, 0x89, 0xD7]); // mov rdi, r10
    code.raw(&[0x41, 0xFF, 0x52, 8]); // call [r10 + 8]
    code.raw(&[0x41, 0x89, 0xC3]); // mov r11d, eax
    code.raw(&[0x48, 0x83, 0xC4, 8]); // add rsp, 8
    code.raw(&[0x41, 0x59, 0x41, 0x58, 0x5F, 0x5E, 0x5A, 0x59, 0x58]); // pop r9, r8, rdi, rsi, rdx, rcx, rax
    if lazy {
        float_mode(code, pool, true);
    }
    restore(code);
    jump_if_answer(code, STOP)
}

/// Jumps if that is a bit of the answer.
pub fn jump_if_answer(code: &mut Code, bit: u8) -> usize {
    code.raw(&[0x41, 0xF6, 0xC3, bit]); // test r11b, bit
    jump(code, Some(NOT_ZERO))
}

/// See [`super::Target::look`]; the lanes are in r10, where the question wants something else.
pub fn look(code: &mut Code, ticks: u32) -> usize {
    code.raw_with(&[0x4C, 0x8B, 0x99], ticks); // mov r11, [rcx + ticks]
    code.raw(&[0x45, 0x89, 0x53, EXECUTING]); // mov [r11 + EXECUTING], r10d
    code.raw(&[0xF3, 0x45, 0x0F, 0xB8, 0xD2]); // popcnt r10d, r10d
    code.raw(&[0x45, 0x3B, 0x53, FEW]); // cmp r10d, [r11 + FEW]
    let few = jump(code, Some(NOT_ABOVE));
    code.raw(&[0x45, 0x8B, 0x53, PERIOD]); // mov r10d, [r11 + PERIOD]
    code.raw(&[0x45, 0x89, 0x13]); // mov [r11], r10d
    code.raw(&[0x41, 0xFF, 0x4B, LOOKS]); // dec dword [r11 + LOOKS]
    let more = jump(code, Some(NOT_ZERO));
    land(code, few);
    code.raw(&[0x4D, 0x89, 0xDA]); // mov r10, r11
    more
}

/// See [`super::Target::jump_if_given`].
pub fn jump_if_given(code: &mut Code) -> usize {
    code.raw(&[0x48, 0x85, 0xC0]); // test rax, rax
    jump(code, Some(NOT_ZERO))
}

/// See [`super::Target::call`]; the lanes are in r10.
pub fn call(code: &mut Code, of: &Called) {
    code.raw_with(&[0x4C, 0x8B, 0x99], of.ticks); // mov r11, [rcx + ticks]
    code.raw(&[0xC5, 0xF8, 0x77]); // vzeroupper
    // push rax, rcx, rdx, rsi, rdi, r8, r9; the stack is a multiple of 64
    code.raw(&[0x50, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51]);
    code.raw(&[0x48, 0x83, 0xEC, 8]); // sub rsp, 8
    code.raw_with(&[0x4C, 0x8D, 0x81], of.operands); // lea r8, [rcx + operands]
    code.raw_with(&[0x48, 0x8D, 0xB6], of.words); // lea rsi, [rsi + words]
    code.raw(&[0x4C, 0x89, 0xD2]); // mov rdx, r10
    code.raw(&[0x4C, 0x89, 0xC9]); // mov rcx, r9
    code.raw(&[0x41, 0xFF, 0x53, 16]); // call [r11 + 16]
    code.raw(&[0x48, 0x83, 0xC4, 8]); // add rsp, 8
    code.raw(&[0x41, 0x59, 0x41, 0x58, 0x5F, 0x5E, 0x5A, 0x59, 0x58]); // pop r9, r8, rdi, rsi, rdx, rcx, rax
}

/// r10 = so many lanes
pub fn all_lanes(code: &mut Code, lanes: u32) {
    code.raw_with(&[0x41, 0xBA], u32::MAX >> (32 - lanes)); // mov r10d, lanes
}

/// Bytes of a row.
const ROW: u32 = 4 * row::LANES as u32;
/// Beside the origin of rows: the bytes of as many rows as there were waves before.
const DONE: u32 = 8;

/// The loop over waves, and over strips of so many lanes: rdi waves, rsi constants, rdx their number, rcx views, r8 ticks. `executing`
/// makes the mask of the lanes that execute from edx.
pub fn function(
    code: &mut Code,
    pool: &mut Pool,
    frame: &Frame<'_>,
    lanes: u8,
    executing: impl Fn(&mut Code, &mut Pool),
) {
    code.raw(&[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57]); // push rbx, rbp, r12 to r15
    code.raw(&[0x52, 0x57]); // push rdx, rdi
    code.raw(&[0x49, 0x89, 0xC9]); // mov r9, rcx
    code.raw(&[0x4D, 0x89, 0xC2]); // mov r10, r8
    code.raw(&[0x49, 0x89, 0xE0]); // mov r8, rsp
    if frame.stack > 0 {
        code.raw(&[0x48, 0x83, 0xE4, 0xC0]); // and rsp, -64
        // Page by page, so that the guard page is not passed over; nothing below rsp is touched.
        for _ in 0..frame.stack / 4096 {
            code.raw_with(&[0x48, 0x81, 0xEC], 4096); // sub rsp, 4096
            code.raw(&[0x48, 0x83, 0x0C, 0x24, 0]); // or qword [rsp], 0
        }
        code.raw_with(&[0x48, 0x81, 0xEC], frame.stack % 4096); // sub rsp, the rest
        code.raw(&[0x48, 0x89, 0xE1]); // mov rcx, rsp
    }
    for at in frame.ahead.iter().copied().chain(frame.origin.map(|at| at + DONE)) {
        code.raw_with(&[0x48, 0xC7, 0x81], at); // mov qword [rcx + at], 0
        code.raw(&[0; 4]);
    }
    if let Some(at) = frame.ticks {
        code.raw_with(&[0x4C, 0x89, 0x91], at); // mov [rcx + at], r10
    }
    let wave = code.bytes.len();
    code.raw(&[0x4D, 0x8B, 0x10]); // mov r10, [r8]
    code.raw(&[0x49, 0x8B, 0x3A]); // mov rdi, [r10]
    if frame.masked {
        code.raw(&[0x49, 0x8B, 0x52, row::WAVE_EXEC]); // mov rdx, [r10 + exec]
    }
    let mut ready = None;
    if let Some(at) = frame.origin {
        code.raw_with(&[0x4C, 0x8B, 0x91], at + DONE); // mov r10, [rcx + at + DONE]
        code.raw(&[0x49, 0x89, 0xFB]); // mov r11, rdi
        code.raw(&[0x4D, 0x29, 0xD3]); // sub r11, r10
        code.raw_with(&[0x4C, 0x89, 0x99], at); // mov [rcx + at], r11
        code.raw_with(&[0x48, 0x81, 0x81], at + DONE); // add qword [rcx + at + DONE], the size of a row
        code.raw(&ROW.to_le_bytes());
        // What is done before strips is for as many as there are lanes, which may be those of several waves.
        let strips = u32::from(lanes) * u32::from(lanes) * 4;
        if strips > ROW && !frame.before.bytes.is_empty() {
            code.raw_with(&[0x41, 0xF7, 0xC2], strips - 1); // test r10d, strips - 1
            ready = Some(jump(code, Some(NOT_ZERO)));
        }
    }
    code.append(frame.before);
    ready.into_iter().for_each(|ready| land(code, ready));
    let lanes = frame.strips * lanes;
    code.raw(&[0xBB, 64 / lanes, 0, 0, 0]); // mov ebx, 64 / lanes
    code.raw(&[0x31, 0xC0]); // xor eax, eax
    let start = code.bytes.len();
    code.raw(&[0x48, 0xC1, 0xE8, lanes]); // shr rax, lanes
    let mut none = None;
    if frame.masked {
        match lanes {
            32 => code.raw(&[0x85, 0xD2]),       // test edx, edx
            16 => code.raw(&[0x66, 0x85, 0xD2]), // test dx, dx
            _ => code.raw(&[0x84, 0xD2]),        // test dl, dl
        }
        none = Some(jump(code, Some(ZERO)));
        executing(code, pool);
    }
    let base = code.bytes.len();
    code.append(frame.body);
    none.into_iter().for_each(|none| land(code, none));
    code.raw_with(&[0x48, 0x81, 0xC7], 4 * u32::from(lanes)); // add rdi, 4 * lanes
    // Where all lanes execute, there may be a bit for each strip that is good.
    let bits = if frame.before.bytes.is_empty() { lanes } else { frame.strips };
    code.raw(&[0x48, 0xC1, 0xEA, bits]); // shr rdx, bits
    code.raw(&[0xFF, 0xCB]); // dec ebx
    back(code, NOT_ZERO, start);
    code.raw(&[0x4D, 0x8B, 0x10]); // mov r10, [r8]
    code.raw(&[0x49, 0x89, 0x42, row::WAVE_TESTED]); // mov [r10 + tested], rax
    let more = |at: u32, by: u32| [&[0x41, 0x81, 0x81][..], &at.to_le_bytes(), &by.to_le_bytes()].concat();
    frame.grown.iter().for_each(|of| code.raw(&more(of.0, of.1))); // add dword [r9 + at], by
    code.raw(&[0x49, 0x83, 0xC2, row::WAVE_BYTES]); // add r10, the size of a wave
    code.raw(&[0x4D, 0x89, 0x10]); // mov [r8], r10
    code.raw(&[0x49, 0xFF, 0x48, 8]); // dec qword [r8 + 8]
    back(code, NOT_ZERO, wave);
    frame.stops.iter().for_each(|at| land(code, base + at));
    code.raw(&[0x4C, 0x89, 0xC4]); // mov rsp, r8
    code.raw(&[0x48, 0x83, 0xC4, 16]); // add rsp, 16
    code.raw(&[0xC5, 0xF8, 0x77]); // vzeroupper
    code.raw(&[0x41, 0x5F, 0x41, 0x5E, 0x41, 0x5D, 0x41, 0x5C, 0x5D, 0x5B, 0xC3]); // pop r15 to r12, rbp, rbx; ret
    settle(code);
    code.bytes.resize(code.bytes.len().next_multiple_of(32), 0xCC);
}

/// Appends what is to stand behind the code.
fn settle(code: &mut Code) {
    for mut cold in std::mem::take(&mut code.cold) {
        let (start, back) = (code.bytes.len(), jump(&mut cold.code, None));
        code.append(&cold.code);
        cold.entries.iter().for_each(|&(jump, to)| land_at(code, jump, start + to));
        land_at(code, start + back, cold.back);
    }
}

/// r11 = where the window begins of the word whose number is r11d, in the view at r10, for so many lanes; jumps unless all of it is in
/// the view.
pub fn window(code: &mut Code, view: u8, lanes: u8) -> usize {
    let words = 2 * lanes;
    code.raw(&[0x41, 0x83, 0xE3, words.wrapping_neg()]); // and r11d, -words
    inside(code, view, u32::from(words) - 1)
}
