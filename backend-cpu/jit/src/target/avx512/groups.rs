//! Loads of whole elements, whose words become vectors.

use recal_il::ir::lines::Shape;

use super::access::{WINDOW, executing, first_address, spread, unequal, within_view};
use super::encode::{Lanes, first_word, gather, mask_load, permute, plain, vector};
use super::table::*;
use super::{SCRATCH, VECTOR};
use crate::emit::Code;
use crate::target::x86::{self, inside, jump, land, view_start};
use crate::target::{Access, Base, Group, Order, Rm, Window};

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

/// Where to read the numbers of the first lanes of lines: the vector of all numbers, and a place on the stack with those
/// of all lines but the first one; and the numbers that follow in a line.
struct Starts {
    index: u8,
    stack: Option<u32>,
    view: u8,
    more: u32,
    /// They are in the view.
    is_inside: bool,
    /// See [`Access`].
    at: Option<(Base, u32)>,
}

impl Starts {
    /// r11 = where the word of a lane is; jumps, to `others`, unless it and those that follow are in the view.
    fn find(&self, code: &mut Code, lane: u32, others: &mut Vec<usize>) {
        if let Some((base, bytes)) = self.at {
            debug_assert!(lane == 0);
            return x86::address_from(code, base, bytes);
        }
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
    let Access { code, pool, exec, view, index, at, shape, inside: is_inside, places, .. } = access;
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
    if at.is_none() {
        view_start(code, view);
    }
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
    let near_inside = is_inside && exec.is_none();
    let starts = Starts { index, stack, view, more: line * count - 1, is_inside: near_inside, at };
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
