//! Loads and stores: what lies together in memory is moved together.

use recal_il::ir::lines::Shape;

use super::encode::{Lanes, first_word, gather, lanes_to_bits, permute, plain, scattered, short, vector};
use super::near;
use super::table::*;
use super::{SCRATCH, TEMPORARY, VECTOR};
use crate::emit::Code;
use crate::target::x86::{self, BELOW, NOT_BELOW, NOT_ZERO, ZERO, inside, jump, land, view_start};
use crate::target::{Access, Base, Blocks, Order, Rm, Window, entry};

/// r11 = where the first lane's word is
pub fn first_address(code: &mut Code, index: u8) {
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
pub fn unequal(code: &mut Code, a: u8, b: u8, within: Lanes) -> usize {
    const UNEQUAL: u8 = 4;
    vector(code, PCMPD, TEMPORARY, a, Rm::Reg(b), within, Some(UNEQUAL));
    super::encode::mask_test(code, TEMPORARY);
    jump(code, Some(NOT_ZERO))
}

pub fn executing(access: &Access<'_>) -> Lanes {
    access.exec.map_or(Lanes::All, Lanes::Some)
}

/// `SCRATCH` becomes the lanes whose numbers are within the view.
pub fn within_view(code: &mut Code, view: u8, index: u8, within: Lanes) {
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
pub const WINDOW: u32 = 32;

/// Loads words at known distances from the one at r11, as each table among the constants says, to a register.
pub fn spread(code: &mut Code, window: Window, tables: &[(u8, u32)]) {
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
