//! Loads of whole elements, whose words become vectors.

use recal_il::ir::lines::Shape;

use super::access::{executing, gathered, reach, unequal};
use super::encode::{first_word, gather, plain, short, vector};
use super::table::*;
use super::{VECTOR, window};
use crate::emit::Code;
use crate::target::x86::{address_from, first_address, jump, land, view_start};
use crate::target::{Access, Base, Group, Order, Rm, Window};

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
    let offsets: Vec<u32> = (0..count).map(|k| pool.splat(8, k)).collect();
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
