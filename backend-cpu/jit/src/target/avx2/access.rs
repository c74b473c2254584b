//! Loads and stores: what lies together in memory is moved together.

use recal_il::ir::lines::Shape;

use super::encode::{first_word, gather, plain, short, test, top_bits, vector, word};
use super::table::*;
use super::{VECTOR, near, window};
use crate::emit::{Code, Pool};
use crate::target::x86::{
    BELOW, NOT_BELOW, NOT_ZERO, ZERO, ask_ahead, ask_for_stores, ask_further, back, blocks_apart,
    first_address, inside, jump, land, view_start,
};
use crate::target::{Access, Base, Blocks, Order, Rm, Window, entry};

const EBP: u8 = 5;

/// The lanes that execute, as an operand.
pub fn executing(pool: &mut Pool, exec: Option<u8>) -> Rm {
    exec.map_or_else(|| ones(pool), Rm::Reg)
}

fn ones(pool: &mut Pool) -> Rm {
    Rm::Mem(Base::Pool, pool.splat(8, u32::MAX))
}

/// Jumps unless executing lanes have the same words in `a` as in `b`; `a` is lost.
pub fn unequal(code: &mut Code, a: u8, b: u8, exec: Rm) -> usize {
    vector(code, PCMPEQD, a, a, Rm::Reg(b), None);
    test(code, a, exec);
    jump(code, Some(NOT_BELOW))
}

/// Jumps unless the numbers of the lanes are that of the first lane and the steps that the pool holds.
fn differ(code: &mut Code, index: u8, steps: u32, exec: Rm) -> usize {
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    vector(code, PADDD, VECTOR, VECTOR, Rm::Mem(Base::Pool, steps), None);
    unequal(code, VECTOR, index, exec)
}

/// `VECTOR` = the executing lanes whose numbers are within the view.
fn within_view(code: &mut Code, view: u8, index: u8, exec: Rm) {
    plain(code, PBROADCASTD, VECTOR, Rm::Mem(Base::Views, entry(view) + 8));
    vector(code, PMAXUD, VECTOR, VECTOR, Rm::Reg(index), None);
    vector(code, PCMPEQD, VECTOR, VECTOR, Rm::Reg(index), None);
    vector(code, PANDN, VECTOR, VECTOR, exec, None);
}

/// `VECTOR` = the lanes whose words are gathered.
pub fn gathered(code: &mut Code, pool: &mut Pool, view: u8, index: u8, exec: Rm, inside: bool) {
    match inside {
        // Every word is there, and nobody looks at those of lanes that do not execute.
        true => {
            let all = ones(pool);
            plain(code, LOAD, VECTOR, all);
        }
        false => within_view(code, view, index, exec),
    }
}

/// r11 = where the first word is; jumps, to `others`, unless it and those that follow are in the view.
pub fn reach(code: &mut Code, view: u8, more: u32, is_inside: bool, others: &mut Vec<usize>) {
    match is_inside {
        true => first_address(code),
        false => others.push(inside(code, view, more)),
    }
}

/// Loads words at known distances.
fn load_spread(access: Access<'_>, to: u8, window: Window) {
    let Access { code, pool, view, index, .. } = access;
    view_start(code, view);
    first_word(code, index);
    let outside = inside(code, view, window.read() - 1);
    window::words(code, pool, window, &[(to, window.table(8, Order::Words, 0))]);
    scattered(code, pool, outside, view, index, to);
}

/// Behind the function, for words of which some are outside: each by itself.
fn scattered(code: &mut Code, pool: &mut Pool, outside: usize, view: u8, index: u8, to: u8) {
    let all = ones(pool);
    code.apart(|cold| {
        cold.enter(outside);
        within_view(&mut cold.code, view, index, all);
        gather(&mut cold.code, to, index, 0, VECTOR);
    });
}

/// Loads words: neighbours together, and one that all lanes want once.
pub fn load(access: Access<'_>, to: u8) {
    if let Some(window) = Window::of(access.shape, 8, 1, window::MOST) {
        return load_spread(access, to, window);
    }
    let Access { code, pool, exec, view, index, shape, inside: is_inside, ahead, places, .. } = access;
    let known = match shape {
        Shape::Same => Some((0, BROADCASTSS)),
        Shape::Step(1) => Some((7, LOAD)),
        _ => None,
    };
    if let Some((more, enc)) = known {
        view_start(code, view);
        first_word(code, index);
        if is_inside {
            first_address(code);
            return plain(code, enc, to, Rm::Mem(Base::First, 0));
        }
        let outside = inside(code, view, more);
        plain(code, enc, to, Rm::Mem(Base::First, 0));
        if ahead && shape != Shape::Same {
            ask_ahead(code);
        }
        return scattered(code, pool, outside, view, index, to);
    }
    let mask = exec;
    let (exec, lanes) = (executing(pool, mask), pool.lanes(8, |lane| lane));
    view_start(code, view);
    let other = differ(code, index, lanes, exec);
    first_word(code, index);
    let mut others = Vec::new();
    reach(code, view, 7, is_inside && mask.is_none(), &mut others);
    plain(code, LOAD, to, Rm::Mem(Base::First, 0));
    if ahead {
        ask_further(code);
    }
    code.apart(|cold| {
        cold.enter(other);
        let code = &mut cold.code;
        let unlike = near::unlike(code, index, exec);
        let mut apart = Vec::new();
        first_word(code, index);
        reach(code, view, 0, is_inside, &mut apart);
        plain(code, BROADCASTSS, to, Rm::Mem(Base::First, 0));
        let same = jump(code, None);
        land(code, unlike);
        apart.extend(near::load(code, view, index, exec, to, places[0]));
        let window = jump(code, None);
        // Neighbours or equal ones of which some are outside are in no window that is inside, if all lanes execute.
        others.into_iter().for_each(|other| cold.enter(other));
        let code = &mut cold.code;
        apart.into_iter().for_each(|at| land(code, at));
        gathered(code, pool, view, index, exec, is_inside);
        gather(code, to, index, 0, VECTOR);
        [same, window].into_iter().for_each(|done| land(code, done));
    });
}

/// Stores words from r11 on, so many words from each to the next.
fn put_apart(code: &mut Code, from: u8, stride: u32) {
    for half in 0..2 {
        let part = if half == 0 { from } else { VECTOR };
        if half > 0 {
            vector(code, EXTRACTF128, from, 0, Rm::Reg(VECTOR), Some(1));
        }
        for k in 0..4 {
            let to = Rm::Mem(Base::First, 4 * stride * (4 * half + k));
            match k {
                0 => short(code, MOVD_TO, part, to),
                _ => word(code, PEXTRD, part, 0, to, k as u8),
            }
        }
    }
}

/// Stores words: neighbours together, others one by one.
pub fn store(access: Access<'_>, from: u8) {
    let (stride, known) = (access.stride(), access.follows());
    let Access { code, pool, exec: mask, view, index, earlier, places, .. } = access;
    let [at, what] = [places[0], places[1]];
    let (exec, ones, lanes) = (executing(pool, mask), ones(pool), pool.lanes(8, |lane| lane));
    view_start(code, view);
    let other = (!known).then(|| differ(code, index, lanes, exec));
    first_word(code, index);
    let outside = inside(code, view, 7 * stride.unwrap_or(1));
    let mut masked = None;
    if let Some(mask) = mask {
        test(code, mask, ones);
        let all = jump(code, Some(BELOW));
        vector(code, MASKMOV, from, mask, Rm::Mem(Base::First, 0), None);
        masked = Some(jump(code, None));
        land(code, all);
    }
    match stride {
        Some(stride) => put_apart(code, from, stride),
        None => {
            plain(code, STORE, from, Rm::Mem(Base::First, 0));
            earlier.into_iter().for_each(|at| ask_for_stores(code, at, 8));
        }
    }
    masked.into_iter().for_each(|masked| land(code, masked));
    code.apart(|cold| {
        let mut ends = Vec::new();
        let mut others = Vec::new();
        if let Some(other) = other {
            cold.enter(other);
            let code = &mut cold.code;
            if let Some(mask) = mask {
                test(code, mask, ones);
                others.push(jump(code, Some(NOT_BELOW)));
            }
            let unlike = differ(code, index, pool.lanes(8, |lane| 2 * lane), ones);
            first_word(code, index);
            others.push(inside(code, view, 14));
            put_apart(code, from, 2);
            ends.push(jump(code, None));
            land(code, unlike);
            pairs(code, pool, view, index, from, at, &mut others);
            ends.push(jump(code, None));
        }
        cold.enter(outside);
        let code = &mut cold.code;
        others.into_iter().for_each(|other| land(code, other));
        within_view(code, view, index, exec);
        one_by_one(code, index, from, [at, what]);
        ends.into_iter().for_each(|end| land(code, end));
    });
}

/// Stores words that follow each other two by two, by way of a vector on the stack; jumps, to `others`, unless they do and all are inside.
fn pairs(code: &mut Code, pool: &mut Pool, view: u8, index: u8, from: u8, at: u32, others: &mut Vec<usize>) {
    // The even lanes' numbers, twice.
    const EVEN: u8 = 0xA0;
    let (ones, follow) = (ones(pool), Rm::Mem(Base::Pool, pool.lanes(8, |lane| lane % 2)));
    vector(code, PSHUFD, VECTOR, 0, Rm::Reg(index), Some(EVEN));
    vector(code, PADDD, VECTOR, VECTOR, follow, None);
    others.push(unequal(code, VECTOR, index, ones));
    within_view(code, view, index, ones);
    test(code, VECTOR, ones);
    others.push(jump(code, Some(NOT_BELOW)));
    plain(code, STORE, index, Rm::Mem(Base::Stack, at));
    for half in 0..2 {
        let part = if half == 0 { from } else { VECTOR };
        if half > 0 {
            vector(code, EXTRACTF128, from, 0, Rm::Reg(VECTOR), Some(1));
        }
        for (k, enc) in [MOVLPS_TO, MOVHPS_TO].into_iter().enumerate() {
            code.raw_with(&[0x44, 0x8B, 0x99], at + 16 * half + 8 * k as u32); // mov r11d, [rcx + at]
            first_address(code);
            short(code, enc, part, Rm::Mem(Base::First, 0));
        }
    }
}

/// Stores words of the lanes that `VECTOR` has, one by one; two vectors on the stack are for that.
fn one_by_one(code: &mut Code, index: u8, from: u8, [at, what]: [u32; 2]) {
    let mut ends = Vec::new();
    top_bits(code, EBP, VECTOR);
    plain(code, STORE, index, Rm::Mem(Base::Stack, at));
    plain(code, STORE, from, Rm::Mem(Base::Stack, what));
    code.raw(&[0x81, 0xFD, 0xFF, 0, 0, 0]); // cmp ebp, 0xFF
    let some = jump(code, Some(NOT_ZERO));
    for lane in (0..32).step_by(4) {
        code.raw_with(&[0x44, 0x8B, 0x99], at + lane); // mov r11d, [rcx + at]
        code.raw_with(&[0x44, 0x8B, 0xA1], what + lane); // mov r12d, [rcx + at]
        code.raw(&[0x47, 0x89, 0x24, 0x9A]); // mov [r10 + 4 * r11], r12d
    }
    ends.push(jump(code, None));
    land(code, some);
    code.raw(&[0x85, 0xED]); // test ebp, ebp
    ends.push(jump(code, Some(ZERO)));
    let next = code.bytes.len();
    code.raw(&[0xF3, 0x44, 0x0F, 0xBC, 0xE5]); // tzcnt r12d, ebp
    code.raw_with(&[0x46, 0x8B, 0x9C, 0xA1], at); // mov r11d, [rcx + 4 * r12 + at]
    code.raw_with(&[0x46, 0x8B, 0xA4, 0xA1], what); // mov r12d, [rcx + 4 * r12 + at]
    code.raw(&[0x47, 0x89, 0x24, 0x9A]); // mov [r10 + 4 * r11], r12d
    code.raw(&[0xC4, 0xE2, 0x50, 0xF3, 0xCD]); // blsr ebp, ebp
    back(code, NOT_ZERO, next);
    ends.into_iter().for_each(|end| land(code, end));
}

/// See [`crate::op::Op::StoreBlocks`]: where elements follow each other and all lanes execute, a store for each block.
pub fn store_blocks(access: Access<'_>, from: u8, blocks: Blocks) {
    let Access { code, pool, exec: mask, view, index, shape, places, .. } = access;
    let count = blocks.count();
    view_start(code, view);
    let mut apart = Vec::new();
    let mut near = None;
    if blocks.all() {
        if let Some(mask) = mask {
            let ones = ones(pool);
            test(code, mask, ones);
            apart.push(jump(code, Some(NOT_BELOW)));
        }
        if shape != Shape::Step(count) {
            let (ones, steps) = (ones(pool), pool.lanes(8, |lane| lane * count));
            apart.push(differ(code, index, steps, ones));
        }
        first_word(code, index);
        apart.push(inside(code, view, 8 * count - 1));
        short(code, STORE, from, Rm::Mem(Base::First, 16 * blocks.number));
        vector(code, EXTRACTF128, from, 0, Rm::Mem(Base::First, 16 * (count + blocks.number)), Some(1));
        near = Some(jump(code, None));
    }
    apart.into_iter().for_each(|at| land(code, at));
    let lanes = blocks.lanes(8);
    match mask {
        Some(mask) => top_bits(code, EBP, mask),
        None => code.raw_with(&[0xBD], lanes), // mov ebp, lanes
    }
    code.raw_with(&[0x81, 0xE5], lanes); // and ebp, lanes
    let none = jump(code, Some(ZERO));
    plain(code, STORE, index, Rm::Mem(Base::Stack, places[0]));
    plain(code, STORE, from, Rm::Mem(Base::Stack, places[1]));
    blocks_apart(code, view, &places, blocks);
    land(code, none);
    near.into_iter().for_each(|at| land(code, at));
}
