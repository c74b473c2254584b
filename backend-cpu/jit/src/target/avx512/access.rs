//! Loads and stores: what lies together in memory is moved together.

use recal_il::ir::lines::Shape;

use super::encode::{
    Lanes, first_word, gather, lanes_to_bits, mask_load, permute, plain, scattered, short, vector,
};
use super::near;
use super::table::*;
use super::{SCRATCH, TEMPORARY, VECTOR};
use crate::emit::Code;
use crate::target::x86::{self, BELOW, NOT_BELOW, NOT_ZERO, ZERO, inside, jump, land, view_start};
use crate::target::{Access, Base, Blocks, Group, Order, Rm, Window, entry};

/// Which words of two vectors are first components of elements of two words, or the first two of those of four.
const EVEN: [[u32; 16]; 2] = [
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
    [0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29],
];
/// The others.
const ODD: [[u32; 16]; 2] = [
    [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31],
    [2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31],
];

/// The same of 64-bit elements: the first one's vectors, then the second one's, see [`crate::op::Op::Pair`].
const FIRST: [[u32; 16]; 2] = [
    [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27],
    [0, 1, 4, 5, 16, 17, 20, 21, 8, 9, 12, 13, 24, 25, 28, 29],
];
const SECOND: [[u32; 16]; 2] = [
    [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31],
    [2, 3, 6, 7, 18, 19, 22, 23, 10, 11, 14, 15, 26, 27, 30, 31],
];

/// r11 = where the first lane's word is
fn first_address(code: &mut Code, index: u8) {
    first_word(code, index);
    x86::first_address(code);
}

/// Jumps unless the numbers of the lanes are those of the first lane and the steps that the pool holds, or equal.
fn differ(code: &mut Code, index: u8, steps: Option<u32>, within: Lanes) -> usize {
    plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
    if let Some(at) = steps {
        vector(code, PADDD, VECTOR, VECTOR, Rm::Mem(Base::Pool, at), Lanes::All, None);
    }
    unequal(code, VECTOR, index, within)
}

/// Jumps unless two vectors are equal.
fn unequal(code: &mut Code, a: u8, b: u8, within: Lanes) -> usize {
    const UNEQUAL: u8 = 4;
    vector(code, PCMPD, TEMPORARY, a, Rm::Reg(b), within, Some(UNEQUAL));
    super::encode::mask_test(code, TEMPORARY);
    jump(code, Some(NOT_ZERO))
}

fn executing(access: &Access<'_>) -> Lanes {
    access.exec.map_or(Lanes::All, Lanes::Some)
}

/// `SCRATCH` becomes the lanes whose numbers are within the view.
fn within_view(code: &mut Code, view: u8, index: u8, within: Lanes) {
    const LESS: u8 = 1;
    vector(code, PCMPUD, SCRATCH, index, Rm::Splat(Base::Views, entry(view) + 8), within, Some(LESS));
}

/// r11 = where the first lane's word is; jumps unless it and the `more` that follow are in the view.
fn first_inside(code: &mut Code, view: u8, index: u8, more: u32) -> usize {
    view_start(code, view);
    first_word(code, index);
    inside(code, view, more)
}

/// Loads words whose numbers have a known shape; false if that is none.
fn load_known(access: &mut Access<'_>, to: u8) -> bool {
    let (view, index, ahead) = (access.view, access.index, access.ahead);
    let stride = access.stride();
    let more = match (access.shape, stride) {
        (_, Some(stride)) => 15 * stride,
        (Shape::Same, _) => 0,
        (Shape::Step(1), _) => 15,
        _ => return false,
    };
    let words = |code: &mut Code| match stride {
        Some(stride) => apart(code, to, stride),
        None if more == 0 => plain(code, PBROADCASTD, to, Rm::Mem(Base::First, 0)),
        None => {
            plain(code, LOAD_NEAR, to, Rm::Mem(Base::First, 0));
            if ahead {
                x86::ask_ahead(code);
            }
        }
    };
    let code = &mut *access.code;
    if access.inside {
        view_start(code, view);
        first_address(code, index);
        words(code);
        return true;
    }
    let outside = first_inside(code, view, index, more);
    words(code);
    let done = jump(code, None);
    land(code, outside);
    within_view(code, view, index, Lanes::All);
    gather(code, to, index, SCRATCH);
    land(code, done);
    true
}

/// Most words of a [`Window`]: two vectors.
const WINDOW: u32 = 32;

/// Loads words at known distances from the one at r11, as each table among the constants says, to a register.
fn spread(code: &mut Code, window: Window, tables: &[(u8, u32)]) {
    let first = Rm::Mem(Base::First, 0);
    let enc = match window.reach.next_power_of_two() {
        ..=4 => BROADCAST4,
        8 => BROADCAST8,
        _ => LOAD_NEAR,
    };
    plain(code, enc, VECTOR, first);
    for &(to, table) in tables {
        plain(code, LOAD_NEAR, to, Rm::Mem(Base::Pool, table));
        if window.reach > WINDOW / 2 {
            vector(code, PERMI2D, to, VECTOR, Rm::Mem(Base::First, 64), Lanes::All, None);
        } else {
            permute(code, to, VECTOR);
        }
    }
}

/// Loads words at known distances.
fn load_spread(access: Access<'_>, to: u8, window: Window) {
    let Access { code, pool, view, index, .. } = access;
    let table = pool.table(&window.table(16, Order::Words, 0));
    let outside = first_inside(code, view, index, window.read() - 1);
    spread(code, window, &[(to, table)]);
    let done = jump(code, None);
    land(code, outside);
    within_view(code, view, index, Lanes::All);
    gather(code, to, index, SCRATCH);
    land(code, done);
}

/// Loads words from r11 on, so many words from each to the next: faster than a gather, which is as many loads and twice as many
/// operations.
fn apart(code: &mut Code, to: u8, stride: u32) {
    for four in 0..4 {
        let part = if four == 0 { to } else { VECTOR };
        for k in 0..4 {
            let from = Rm::Mem(Base::First, 4 * stride * (4 * four + k));
            match k {
                0 => short(code, MOVD, part, 0, from, None),
                _ => short(code, PINSRD, part, part, from, Some(k as u8)),
            }
        }
        if four > 0 {
            vector(code, INSERT, to, to, Rm::Reg(VECTOR), Lanes::All, Some(four as u8));
        }
    }
}

/// Stores words likewise.
fn put_apart(code: &mut Code, from: u8, stride: u32) {
    for four in 0..4 {
        let part = if four == 0 { from } else { VECTOR };
        if four > 0 {
            vector(code, EXTRACT, from, 0, Rm::Reg(VECTOR), Lanes::All, Some(four as u8));
        }
        for k in 0..4 {
            let to = Rm::Mem(Base::First, 4 * stride * (4 * four + k));
            match k {
                0 => short(code, MOVD_TO, part, 0, to, None),
                _ => short(code, PEXTRD, part, 0, to, Some(k as u8)),
            }
        }
    }
}

/// Loads words: neighbours together, and one that all lanes want once.
pub fn load(mut access: Access<'_>, to: u8) {
    if load_known(&mut access, to) {
        return;
    }
    if let Some(window) = Window::of(access.shape, 16, 1, WINDOW) {
        return load_spread(access, to, window);
    }
    let within = executing(&access);
    let lanes = access.pool.lanes(16, |lane| lane);
    let Access { code, pool, view, index, ahead, .. } = access;
    let first = Rm::Mem(Base::First, 0);
    within_view(code, view, index, within);
    view_start(code, view);
    let other = differ(code, index, Some(lanes), within);
    first_address(code, index);
    vector(code, LOAD_NEAR, to, 0, first, Lanes::OrZero(SCRATCH), None);
    if ahead {
        x86::ask_further(code);
    }
    let near = jump(code, None);
    land(code, other);
    let other = differ(code, index, None, within);
    first_address(code, index);
    vector(code, PBROADCASTD, to, 0, first, Lanes::OrZero(SCRATCH), None);
    let same = jump(code, None);
    land(code, other);
    let far = near::load(code, pool, view, index, within, to);
    let window = jump(code, None);
    far.into_iter().for_each(|far| land(code, far));
    gather(code, to, index, SCRATCH);
    [near, same, window].into_iter().for_each(|done| land(code, done));
}

/// Stores words, neighbours together.
pub fn store(mut access: Access<'_>, from: u8) {
    let within = executing(&access);
    let lanes = access.pool.lanes(16, |lane| lane);
    let (stride, follows) = (access.stride(), access.follows());
    let Access { ref mut code, view, index, learned, earlier, .. } = access;
    if follows {
        let outside = first_inside(code, view, index, 15 * stride.unwrap_or(1));
        match stride {
            Some(stride) => put_apart(code, from, stride),
            None => {
                plain(code, STORE_NEAR, from, Rm::Mem(Base::First, 0));
                earlier.into_iter().for_each(|at| x86::ask_for_stores(code, at, 16));
            }
        }
        let done = jump(code, None);
        land(code, outside);
        within_view(code, view, index, within);
        scattered(code, PSCATTERDD, from, index, SCRATCH);
        return land(code, done);
    }
    within_view(code, view, index, within);
    view_start(code, view);
    let other = differ(code, index, Some(lanes), within);
    first_address(code, index);
    // What a masked store holds is not handed to loads that follow.
    super::encode::mask_test(code, SCRATCH);
    let all = jump(code, Some(BELOW));
    vector(code, STORE_NEAR, from, 0, Rm::Mem(Base::First, 0), Lanes::Some(SCRATCH), None);
    let some = jump(code, None);
    land(code, all);
    plain(code, STORE_NEAR, from, Rm::Mem(Base::First, 0));
    let near = jump(code, None);
    land(code, other);
    let mut done = vec![some, near];
    if let Some(learned) = learned {
        let (stored, others) = near::store(&mut access, from, learned);
        done.push(stored);
        others.into_iter().for_each(|other| land(access.code, other));
    }
    let code = access.code;
    scattered(code, PSCATTERDD, from, index, SCRATCH);
    done.into_iter().for_each(|done| land(code, done));
}

/// See [`crate::op::Op::StoreBlocks`]: where elements follow each other and all lanes execute, a store for each block.
pub fn store_blocks(access: Access<'_>, from: u8, blocks: Blocks) {
    let Access { code, pool, exec, view, index, shape, places, .. } = access;
    let count = blocks.count();
    view_start(code, view);
    let mut apart = Vec::new();
    let mut near = None;
    if blocks.all() {
        if let Some(exec) = exec {
            super::encode::mask_test(code, exec);
            apart.push(jump(code, Some(NOT_BELOW)));
        }
        if shape != Shape::Step(count) {
            let steps = pool.lanes(16, |lane| lane * count);
            apart.push(differ(code, index, Some(steps), Lanes::All));
        }
        first_word(code, index);
        apart.push(inside(code, view, 16 * count - 1));
        for block in 0..4 {
            let to = Rm::Mem(Base::First, 16 * (block * count + blocks.number));
            vector(code, EXTRACT, from, 0, to, Lanes::All, Some(block as u8));
        }
        near = Some(jump(code, None));
    }
    apart.into_iter().for_each(|at| land(code, at));
    lanes_to_bits(code, exec, blocks.lanes(16));
    let none = jump(code, Some(ZERO));
    plain(code, STORE, index, Rm::Mem(Base::Stack, places[0]));
    plain(code, STORE, from, Rm::Mem(Base::Stack, places[1]));
    x86::blocks_apart(code, view, &places, blocks);
    land(code, none);
    near.into_iter().for_each(|at| land(code, at));
}

/// Where to read the numbers of the first lanes of lines: the vector of all numbers, and a place on the stack with those
/// of all lines but the first one; and the numbers that follow in a line.
struct Starts {
    index: u8,
    stack: Option<u32>,
    view: u8,
    more: u32,
    /// They are in the view.
    is_inside: bool,
}

impl Starts {
    /// r11 = where the word of a lane is; jumps, to `others`, unless it and those that follow are in the view.
    fn find(&self, code: &mut Code, lane: u32, others: &mut Vec<usize>) {
        match self.stack {
            Some(at) if lane > 0 => code.raw_with(&[0x44, 0x8B, 0x99], at + 4 * lane), // mov r11d, [rcx + ..]
            _ => first_word(code, self.index),
        }
        match self.is_inside {
            true => x86::first_address(code),
            false => others.push(inside(code, self.view, self.more)),
        }
    }
}

/// Loads elements that follow each other in each line; jumps, to `others`, unless they are in the view. The tables say which words
/// of two vectors are which components.
fn neighbours(code: &mut Code, group: &Group, starts: &Starts, tables: [u32; 2], others: &mut Vec<usize>) {
    let Group { count, to, wanted, .. } = *group;
    let [low, high] = tables;
    let (all, table) = (Lanes::All, |at| Rm::Mem(Base::Pool, at));
    let line = group.line.max(16 / count);
    // r11 = where the words of a vector are, and how far behind.
    let mut words = |code: &mut Code, vector: u32| {
        let lane = vector * 16 / count;
        if lane % line == 0 {
            starts.find(code, lane, others);
        }
        Rm::Mem(Base::First, 4 * count * (lane % line))
    };
    if count == 2 {
        let from = words(code, 0);
        plain(code, LOAD_NEAR, VECTOR, from);
        let from = words(code, 1);
        for (k, at) in [(0, low), (1, high)].into_iter().filter(|&(k, _)| wanted[k]) {
            plain(code, LOAD_NEAR, to[k], table(at));
            vector(code, PERMI2D, to[k], VECTOR, from, all, None);
        }
        return;
    }
    // Two components of eight lanes each, then their halves.
    for (k, at) in [(0, low), (2, high)].into_iter().filter(|&(k, _)| wanted[k] || wanted[k + 1]) {
        plain(code, LOAD_NEAR, to[k], table(at));
        plain(code, LOAD, to[k + 1], Rm::Reg(to[k]));
    }
    for half in 0..2u32 {
        let from = words(code, 2 * half);
        plain(code, LOAD_NEAR, VECTOR, from);
        let from = words(code, 2 * half + 1);
        for k in [0, 2].into_iter().filter(|&k| wanted[k] || wanted[k + 1]) {
            vector(code, PERMI2D, to[k + half as usize], VECTOR, from, all, None);
        }
    }
    for k in [0, 2].into_iter().filter(|&k| wanted[k] || wanted[k + 1]) {
        let (a, b) = (to[k], to[k + 1]);
        vector(code, SHUFI64X2, VECTOR, a, Rm::Reg(b), all, Some(0xEE));
        vector(code, SHUFI64X2, a, a, Rm::Reg(b), all, Some(0x44));
        plain(code, LOAD, b, Rm::Reg(VECTOR));
    }
}

/// Loads the parts of a group that are wanted. Where threads lie in short lines, as those of groups of 8 x 8, each line is looked at by
/// itself: it may read neighbours, or one element.
pub fn group(access: Access<'_>, group: &Group) {
    let within = executing(&access);
    let Access { code, pool, exec, view, index, shape, inside: is_inside, places, .. } = access;
    let Group { count, to, wanted, order, .. } = *group;
    let (whole, all) = (order == Order::Pairs, Lanes::All);
    let window = Window::of(shape, 16, count, WINDOW);
    let known = matches!(shape, Shape::Same) || shape == Shape::Step(count) || window.is_some();
    // A load of 64 bytes is of one line; what is known is known of all threads of the strip.
    let line = if known { 16 } else { group.line.max(16 / count) };
    let group = &Group { line, ..*group };
    let stack = places.first().copied().filter(|_| line < 16);
    let firsts = pool.lanes(16, |lane| lane / line * line);
    let steps = pool.lanes(16, |lane| lane % line * count);
    let tables = if whole { [&FIRST, &SECOND] } else { [&EVEN, &ODD] };
    let [low, high] = tables.map(|tables| pool.table(&tables[count as usize / 2 - 1]));
    let offsets: Vec<u32> = (0..count).map(|k| pool.word(k)).collect();
    let lines: Vec<(u32, u32)> =
        (0..16).step_by(line as usize).map(|lane| (lane, pool.word(0xFFFF << lane & 0xFFFF))).collect();
    let table = |at| Rm::Mem(Base::Pool, at);
    view_start(code, view);
    if order == Order::Memory {
        debug_assert!(shape == Shape::Step(count) && is_inside);
        first_address(code, index);
        return (0..).zip(to).filter(|(k, _)| wanted[*k as usize]).for_each(|(k, to)| {
            plain(code, LOAD_NEAR, to, Rm::Mem(Base::First, 64 * k));
        });
    }
    let mut others = Vec::new();
    let mut ends = Vec::new();
    if !known {
        // The number of the first lane of each line; the sums may be where the result will be.
        if line < 16 {
            plain(code, LOAD_NEAR, VECTOR, table(firsts));
            permute(code, VECTOR, index);
        } else {
            plain(code, PBROADCASTD, VECTOR, Rm::Reg(index));
        }
        if let Some(at) = stack {
            // Processors may let a word of a longer store wait until it is in memory.
            for &(lane, _) in &lines[1..] {
                vector(
                    code,
                    EXTRACT,
                    index,
                    0,
                    Rm::Mem(Base::Stack, at + 4 * lane),
                    all,
                    Some(lane as u8 / 4),
                );
            }
        }
    }
    let starts =
        Starts { index, stack, view, more: line * count - 1, is_inside: is_inside && exec.is_none() };
    if shape != Shape::Same {
        let not_near = (!known).then(|| {
            vector(code, PADDD, to[0], VECTOR, table(steps), all, None);
            unequal(code, to[0], index, within)
        });
        // Neighbours, all of them inside.
        match window {
            Some(window) => {
                let more = window.read() - 1;
                let is_inside = starts.is_inside && more < window.reach;
                Starts { more, is_inside, ..starts }.find(code, 0, &mut others);
                let wanted = (0..4).filter(|&k| wanted[k]);
                let tables: Vec<(u8, u32)> =
                    wanted.map(|k| (to[k], pool.table(&window.table(16, order, k)))).collect();
                spread(code, window, &tables);
            }
            None => neighbours(code, group, &starts, [low, high], &mut others),
        }
        if others.is_empty() && known {
            return;
        }
        ends.push(jump(code, None));
        not_near.into_iter().for_each(|at| land(code, at));
    }
    if !known {
        others.push(unequal(code, VECTOR, index, within));
    }
    if !known || shape == Shape::Same {
        // One element for all of a line.
        let starts = Starts { more: count - 1, is_inside, ..starts };
        for &(lane, mask) in &lines {
            starts.find(code, lane, &mut others);
            if lane > 0 {
                mask_load(code, SCRATCH, Base::Pool, mask);
            }
            let lanes = if lane > 0 { Lanes::Some(SCRATCH) } else { all };
            for k in group.words() {
                let from = Rm::Mem(Base::First, 4 * (k / 2 * 2) as u32);
                match whole && lines.len() == 1 {
                    true if wanted[k] => plain(code, PBROADCASTQ, to[k], from),
                    true => {}
                    false => {
                        let from = Rm::Mem(Base::First, 4 * k as u32);
                        vector(code, PBROADCASTD, to[k], 0, from, lanes, None);
                    }
                }
            }
        }
        if whole && lines.len() > 1 {
            put_together(code, group);
        }
        if others.is_empty() {
            return;
        }
        ends.push(jump(code, None));
    }
    others.into_iter().for_each(|at| land(code, at));
    // Word by word.
    for k in group.words() {
        vector(code, PADDD, VECTOR, index, Rm::Splat(Base::Pool, offsets[k]), all, None);
        within_view(code, view, VECTOR, within);
        gather(code, to[k], VECTOR, SCRATCH);
    }
    if whole {
        put_together(code, group);
    }
    ends.into_iter().for_each(|end| land(code, end));
}

/// Words become 64-bit elements.
fn put_together(code: &mut Code, group: &Group) {
    for k in group.elements() {
        let [a, b] = [group.to[k], group.to[k + 1]];
        vector(code, UNPCKLPS, VECTOR, a, Rm::Reg(b), Lanes::All, None);
        vector(code, UNPCKHPS, b, a, Rm::Reg(b), Lanes::All, None);
        plain(code, LOAD, a, Rm::Reg(VECTOR));
    }
}
