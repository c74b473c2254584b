//! Loads and stores: what lies together in memory is moved together.

use recal_il::ir::lines::Shape;

use super::encode::{first_word, gather, plain, short, test, top_bits, vector, word};
use super::table::*;
use super::{VECTOR, near, window};
use crate::emit::{Code, Pool};
use crate::target::x86::{
    BELOW, NOT_BELOW, NOT_ZERO, ZERO, address_from, ask_ahead, ask_for_stores, ask_further, back,
    blocks_apart, first_address, inside, jump, land, view_start,
};
use crate::target::{Access, Base, Blocks, Group, Order, Rm, Window, entry};

const EBP: u8 = 5;

/// The lanes that execute, as an operand.
fn executing(pool: &mut Pool, exec: Option<u8>) -> Rm {
    exec.map_or_else(|| ones(pool), Rm::Reg)
}

fn ones(pool: &mut Pool) -> Rm {
    Rm::Mem(Base::Pool, pool.lanes(8, |_| u32::MAX))
}

/// Jumps unless executing lanes have the same words in `a` as in `b`; `a` is lost.
fn unequal(code: &mut Code, a: u8, b: u8, exec: Rm) -> usize {
    vector(code, PCMPEQD, a, a, Rm::Reg(b), None);
    test(code, a, exec);
    jump(code, Some(NOT_BELOW))
}

/// Jumps unless the numbers of the lanes are those of the first lane and the steps that the pool holds, or equal.
fn differ(code: &mut Code, index: u8, steps: Option<u32>, exec: Rm) -> usize {
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    if let Some(at) = steps {
        vector(code, PADDD, VECTOR, VECTOR, Rm::Mem(Base::Pool, at), None);
    }
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
fn gathered(code: &mut Code, pool: &mut Pool, view: u8, index: u8, exec: Rm, inside: bool) {
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
fn reach(code: &mut Code, view: u8, more: u32, is_inside: bool, others: &mut Vec<usize>) {
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
    let other = differ(code, index, Some(lanes), exec);
    first_word(code, index);
    let mut others = Vec::new();
    reach(code, view, 7, is_inside && mask.is_none(), &mut others);
    plain(code, LOAD, to, Rm::Mem(Base::First, 0));
    if ahead {
        ask_further(code);
    }
    code.apart(|cold| {
        cold.enter(other);
        let mut unlike = vec![differ(&mut cold.code, index, None, exec)];
        first_word(&mut cold.code, index);
        reach(&mut cold.code, view, 0, is_inside, &mut unlike);
        plain(&mut cold.code, BROADCASTSS, to, Rm::Mem(Base::First, 0));
        let same = jump(&mut cold.code, None);
        others.into_iter().for_each(|other| cold.enter(other));
        let code = &mut cold.code;
        unlike.into_iter().for_each(|other| land(code, other));
        let far = near::load(code, pool, view, index, exec, to, places[0]);
        let window = jump(code, None);
        far.into_iter().for_each(|far| land(code, far));
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
    let other = (!known).then(|| differ(code, index, Some(lanes), exec));
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
        other.into_iter().chain([outside]).for_each(|other| cold.enter(other));
        within_view(&mut cold.code, view, index, exec);
        one_by_one(&mut cold.code, index, from, [at, what]);
    });
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
            apart.push(differ(code, index, Some(steps), ones));
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

/// How the elements of a group are found.
#[derive(Clone, Copy)]
struct Starts {
    view: u8,
    index: u8,
    /// See [`Access`].
    at: Option<(Base, u32)>,
    is_inside: bool,
}

impl Starts {
    /// r11 = where the word of a lane is; jumps, to `others`, unless it and those that follow are in the view.
    fn find(self, code: &mut Code, lane: u32, more: u32, others: &mut Vec<usize>) {
        if let Some((base, bytes)) = self.at {
            debug_assert!(lane == 0, "what is known is known of all lanes of a strip");
            return address_from(code, base, bytes);
        }
        if lane == 0 {
            first_word(code, self.index);
        } else {
            vector(code, EXTRACTF128, self.index, 0, Rm::Reg(VECTOR), Some(1));
            first_word(code, VECTOR);
        }
        reach(code, self.view, more, self.is_inside, others);
    }
}

/// Loads the parts of a group that are wanted. Where threads lie in lines of four, each line is looked at by itself.
pub fn group(access: Access<'_>, group: &Group) {
    let Access { code, pool, exec, view, index, at, shape, inside: is_inside, .. } = access;
    let Group { count, line, to, wanted, order } = *group;
    let starts = Starts { view, index, at, is_inside };
    let whole = order == Order::Pairs;
    let window = Window::of(shape, 8, count, window::MOST);
    let known = shape == Shape::Same || shape == Shape::Step(count) || window.is_some();
    let near_inside = is_inside && exec.is_none();
    let exec = executing(pool, exec);
    let steps = pool.lanes(8, |lane| lane % line * count);
    let offsets: Vec<u32> = (0..count).map(|k| pool.lanes(8, |_| k)).collect();
    let firsts = |code: &mut Code, to: u8| match line {
        8 => plain(code, PBROADCASTD, to, Rm::Reg(index)),
        _ => vector(code, PSHUFD, to, 0, Rm::Reg(index), Some(0)),
    };
    if at.is_none() {
        view_start(code, view);
    }
    if order == Order::Memory {
        debug_assert!(shape == Shape::Step(count) && is_inside);
        first_word(code, index);
        first_address(code);
        return (0..).zip(to).filter(|(k, _)| wanted[*k as usize]).for_each(|(k, to)| {
            plain(code, LOAD, to, Rm::Mem(Base::First, 32 * k));
        });
    }
    let mut others = Vec::new();
    let mut not_near = None;
    if shape == Shape::Same {
        alike(code, starts, group, &mut others);
    } else {
        not_near = (!known).then(|| {
            firsts(code, VECTOR);
            vector(code, PADDD, VECTOR, VECTOR, Rm::Mem(Base::Pool, steps), None);
            unequal(code, VECTOR, index, exec)
        });
        if let Some(window) = window {
            let more = window.read() - 1;
            let is_inside = near_inside && more < window.reach;
            Starts { is_inside, ..starts }.find(code, 0, more, &mut others);
            window::elements(code, pool, window, group);
        }
        // Neighbours, all of them inside: two halves of four lanes, 4 * count words each.
        for half in (0..2u32).filter(|_| window.is_none()) {
            let lane = 4 * half;
            if lane % line == 0 {
                Starts { is_inside: near_inside, ..starts }.find(code, lane, line * count - 1, &mut others);
            }
            let start = if lane % line == 0 { 0 } else { 16 * count };
            for k in 0..count {
                let from = Rm::Mem(Base::First, start + 16 * k);
                match half {
                    0 => short(code, LOAD, to[k as usize], from),
                    _ => vector(code, INSERTF128, to[k as usize], to[k as usize], from, Some(1)),
                }
            }
        }
        // Elements of two words are in their places already.
        if window.is_some() {
        } else if whole && count == 4 {
            unpack(code, to, wanted);
        } else if !whole && count == 2 {
            let [a, b, ..] = to;
            vector(code, SHUFPS, VECTOR, a, Rm::Reg(b), Some(0xDD));
            vector(code, SHUFPS, a, a, Rm::Reg(b), Some(0x88));
            plain(code, COPY, b, Rm::Reg(VECTOR));
        } else if !whole {
            transpose(code, to, wanted);
        }
    }
    if others.is_empty() && known {
        return;
    }
    code.apart(|cold| {
        let mut ends = Vec::new();
        let mut unlike = Vec::new();
        if let Some(not_near) = not_near {
            cold.enter(not_near);
            firsts(&mut cold.code, VECTOR);
            unlike.push(unequal(&mut cold.code, VECTOR, index, exec));
            alike(&mut cold.code, starts, group, &mut unlike);
            ends.push(jump(&mut cold.code, None));
        }
        others.into_iter().for_each(|other| cold.enter(other));
        let code = &mut cold.code;
        unlike.into_iter().for_each(|at| land(code, at));
        // Word by word.
        for k in group.words() {
            vector(code, PADDD, to[k], index, Rm::Mem(Base::Pool, offsets[k]), None);
            gathered(code, pool, view, to[k], exec, is_inside);
            gather(code, to[k], index, 4 * k as u32, VECTOR);
        }
        if whole {
            for k in group.elements() {
                let [a, b] = [to[k], to[k + 1]];
                vector(code, UNPCKLPS, VECTOR, a, Rm::Reg(b), None);
                vector(code, UNPCKHPS, b, a, Rm::Reg(b), None);
                plain(code, COPY, a, Rm::Reg(VECTOR));
            }
        }
        ends.into_iter().for_each(|end| land(code, end));
    });
}

/// Loads the one element that all lanes of each line want; jumps, to `others`, unless it is in the view.
fn alike(code: &mut Code, starts: Starts, group: &Group, others: &mut Vec<usize>) {
    let Group { count, line, to, wanted, order } = *group;
    let whole = order == Order::Pairs;
    for lane in (0..8).step_by(line as usize) {
        starts.find(code, lane, count - 1, others);
        let (step, broadcast) = if whole { (2, BROADCASTSD) } else { (1, BROADCASTSS) };
        for k in group.words().step_by(step) {
            let word = Rm::Mem(Base::First, 4 * k as u32);
            let places = if whole { vec![k, k + 1] } else { vec![k] };
            let to = places.into_iter().filter(|&k| wanted[k]).map(|k| to[k]);
            if lane == 0 {
                to.for_each(|to| plain(code, broadcast, to, word));
            } else {
                plain(code, broadcast, VECTOR, word);
                to.for_each(|to| vector(code, BLENDPS, to, to, Rm::Reg(VECTOR), Some(0xF0)));
            }
        }
    }
}

/// Vectors of two 64-bit elements of one lane of each half become vectors of the first ones, then of the second ones.
fn unpack(code: &mut Code, [a, b, c, d]: [u8; 4], wanted: [bool; 4]) {
    let (first, second) = (wanted[0] || wanted[1], wanted[2] || wanted[3]);
    if second {
        vector(code, UNPCKHPD, VECTOR, a, Rm::Reg(b), None);
    }
    if first {
        vector(code, UNPCKLPD, a, a, Rm::Reg(b), None);
        vector(code, UNPCKLPD, b, c, Rm::Reg(d), None);
    }
    if second {
        vector(code, UNPCKHPD, d, c, Rm::Reg(d), None);
        plain(code, COPY, c, Rm::Reg(VECTOR));
    }
}

/// Vectors of whole elements, four words of one lane of each half, become vectors of components.
pub fn transpose(code: &mut Code, to: [u8; 4], wanted: [bool; 4]) {
    let [a, b, c, d] = to;
    let (low, high) = (wanted[0] || wanted[1], wanted[2] || wanted[3]);
    let mix = |code: &mut Code, to, x, y, how| vector(code, SHUFPS, to, x, Rm::Reg(y), Some(how));
    if low {
        vector(code, UNPCKLPS, VECTOR, a, Rm::Reg(b), None);
    }
    if high {
        vector(code, UNPCKHPS, b, a, Rm::Reg(b), None);
    }
    if low {
        vector(code, UNPCKLPS, a, c, Rm::Reg(d), None);
    }
    if high {
        vector(code, UNPCKHPS, d, c, Rm::Reg(d), None);
    }
    // The first two components are in VECTOR and a, the others in b and d; c is free.
    if low {
        mix(code, c, VECTOR, a, 0xEE);
        mix(code, a, VECTOR, a, 0x44);
    }
    if high {
        mix(code, VECTOR, b, d, 0x44);
        mix(code, d, b, d, 0xEE);
    }
    if low {
        plain(code, COPY, b, Rm::Reg(c));
    }
    if high {
        plain(code, COPY, c, Rm::Reg(VECTOR));
    }
}
