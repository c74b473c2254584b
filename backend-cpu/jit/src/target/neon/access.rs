//! Loads and stores: what lies together in memory is moved together.

use recal_il::ir::lines::Shape;

use super::encode::*;
use super::table::*;
use super::{EXEC, OTHER, VECTOR};
use crate::emit::Code;
use crate::target::{Access, Base, Blocks, Group, Order, entry};

/// x9 = the first word of a view, w11 = how many it has
fn view_start(code: &mut Code, view: u8) {
    load_address(code, START, VIEWS, entry(view));
    load_word(code, COUNT, VIEWS, entry(view) + 8);
}

/// Jumps unless word number w10 and the `more` that follow are inside.
fn inside(code: &mut Code, more: u32) -> usize {
    if more > 0 {
        add(code, FREE, WORD, more, false);
        compare(code, FREE, COUNT);
    } else {
        compare(code, WORD, COUNT);
    }
    jump_near(code, If::NotBelow)
}

/// What lanes that do not execute count as.
#[derive(Clone, Copy)]
enum Others {
    /// All lanes execute.
    None,
    Equal,
    Different,
}

fn others(masked: bool, others: Others) -> Others {
    if masked { others } else { Others::None }
}

/// Jumps unless the numbers of the lanes are those of the first lane and the steps that the pool holds, or equal.
fn differ(code: &mut Code, index: u8, steps: Option<u32>, others: Others) -> usize {
    splat_lane(code, VECTOR, index, 0);
    if let Some(at) = steps {
        load(code, OTHER, Base::Pool, at);
        three(code, ADD, VECTOR, VECTOR, OTHER);
    }
    three(code, CMEQ, VECTOR, VECTOR, index);
    match others {
        Others::None => {}
        Others::Equal => three(code, ORN, VECTOR, VECTOR, EXEC),
        Others::Different => three(code, AND, VECTOR, VECTOR, EXEC),
    }
    two(code, UMINV, VECTOR, VECTOR);
    first_to_word(code, FREE, VECTOR);
    jump_near(code, If::Zero(FREE))
}

/// x10 = where the first lane's word is; jumps, to `others`, unless it and those that follow are inside.
fn first_address(code: &mut Code, index: u8, more: u32, is_inside: bool, others: &mut Vec<usize>) {
    lane_to_word(code, WORD, index, 0);
    if !is_inside {
        others.push(inside(code, more));
    }
    add_words(code, WORD, START, WORD);
}

/// For each lane that executes and whose word is inside, with its address in x10.
fn each_lane(code: &mut Code, masked: bool, index: u8, mut visit: impl FnMut(&mut Code, u8)) {
    let mut from = index;
    if masked {
        // No view has as many words.
        three(code, ORN, VECTOR, index, EXEC);
        from = VECTOR;
    }
    for lane in 0..4 {
        lane_to_word(code, WORD, from, lane);
        let outside = inside(code, 0);
        add_words(code, WORD, START, WORD);
        visit(code, lane);
        land(code, outside);
    }
}

fn zero(code: &mut Code, to: u8) {
    let held = immediate(code, to, 0);
    debug_assert!(held);
}

/// Loads words: neighbours together, and one that all lanes want once.
pub fn load_words(access: Access<'_>, to: u8) {
    let Access { code, pool, exec, view, index, shape, inside: is_inside, .. } = access;
    let steps = pool.lanes(4, |lane| lane);
    let masked = exec.is_some();
    let rest = others(masked, Others::Equal);
    let (may_differ, may_be_same) = (shape != Shape::Same, shape != Shape::Step(1));
    view_start(code, view);
    let (mut apart, mut ends) = (Vec::new(), Vec::new());
    if may_differ {
        let other = may_be_same.then(|| differ(code, index, Some(steps), rest));
        first_address(code, index, 3, is_inside && !masked, &mut apart);
        load(code, to, Base::First, 0);
        ends.push(jump_far(code, None));
        other.into_iter().for_each(|jump| land(code, jump));
    }
    if may_be_same {
        if may_differ {
            apart.push(differ(code, index, None, rest));
        }
        first_address(code, index, 0, is_inside, &mut apart);
        two(code, LD1R, to, WORD);
        ends.push(jump_far(code, None));
    }
    apart.into_iter().for_each(|jump| land(code, jump));
    zero(code, to);
    each_lane(code, masked, index, |code, lane| single(code, LD1_LANE, to, lane, WORD));
    ends.into_iter().for_each(|jump| land(code, jump));
}

/// Stores words: neighbours together, others one by one.
pub fn store_words(access: Access<'_>, from: u8) {
    let Access { code, pool, exec, view, index, shape, .. } = access;
    let steps = pool.lanes(4, |lane| lane);
    view_start(code, view);
    let masked = exec.is_some();
    let rest = others(masked, Others::Different);
    let other = (shape != Shape::Step(1)).then(|| differ(code, index, Some(steps), rest));
    let mut apart: Vec<usize> = other.into_iter().collect();
    first_address(code, index, 3, false, &mut apart);
    store(code, from, Base::First, 0);
    let near = jump_far(code, None);
    apart.into_iter().for_each(|jump| land(code, jump));
    each_lane(code, masked, index, |code, lane| single(code, ST1_LANE, from, lane, WORD));
    land(code, near);
}

/// See [`crate::op::Op::StoreBlocks`]: a vector is one block.
pub fn store_blocks(access: Access<'_>, from: u8, blocks: Blocks) {
    let Access { code, pool, exec, view, index, shape, .. } = access;
    let (count, masked) = (blocks.count(), exec.is_some());
    view_start(code, view);
    let mut apart = Vec::new();
    let mut near = None;
    if blocks.all() {
        if shape != Shape::Step(count) {
            let steps = pool.lanes(4, |lane| lane * count);
            apart.push(differ(code, index, Some(steps), others(masked, Others::Different)));
        }
        first_address(code, index, 4 * count - 1, false, &mut apart);
        store(code, from, Base::First, 16 * blocks.number);
        near = Some(jump_far(code, None));
    }
    apart.into_iter().for_each(|jump| land(code, jump));
    for lane in (0..4).filter(|lane| blocks.has(*lane)) {
        let idle = masked.then(|| {
            lane_to_word(code, WORD, EXEC, lane as u8);
            jump_near(code, If::Zero(WORD))
        });
        lane_to_word(code, WORD, index, lane as u8);
        for k in (0..count).filter(|k| blocks.words >> k & 1 == 1) {
            add_word(code, FREE, WORD, k);
            compare(code, FREE, COUNT);
            let outside = jump_near(code, If::NotBelow);
            add_words(code, FREE, START, FREE);
            single(code, ST1_LANE, from, (blocks.place(lane) + k) as u8, FREE);
            land(code, outside);
        }
        idle.into_iter().for_each(|idle| land(code, idle));
    }
    near.into_iter().for_each(|jump| land(code, jump));
}

/// Loads the parts of a group that are wanted.
pub fn group(access: Access<'_>, group: &Group) {
    let Access { code, pool, exec, view, index, shape, inside: is_inside, .. } = access;
    let Group { count, to, wanted, order, .. } = *group;
    let whole = order == Order::Pairs;
    let (may_differ, may_be_same) = (shape != Shape::Same, shape != Shape::Step(count));
    let (all, one, lane_of) = if count == 2 { (LD2, LD2R, LD2_LANE) } else { (LD4, LD4R, LD4_LANE) };
    let steps = pool.lanes(4, |lane| lane * count);
    let masked = exec.is_some();
    let rest = others(masked, Others::Equal);
    view_start(code, view);
    let (mut apart, mut ends) = (Vec::new(), Vec::new());
    if may_differ {
        let other = may_be_same.then(|| differ(code, index, Some(steps), rest));
        first_address(code, index, 4 * count - 1, is_inside && !masked, &mut apart);
        two(code, all, VECTOR, WORD);
        ends.push(jump_far(code, None));
        other.into_iter().for_each(|jump| land(code, jump));
    }
    if may_be_same {
        if may_differ {
            apart.push(differ(code, index, None, rest));
        }
        first_address(code, index, count - 1, is_inside, &mut apart);
        two(code, one, VECTOR, WORD);
        ends.push(jump_far(code, None));
    }
    apart.into_iter().for_each(|jump| land(code, jump));
    let words = group.words().map(|k| k as u8);
    (0..count as u8).for_each(|k| zero(code, VECTOR + k));
    for lane in 0..4 {
        let mut next = Vec::new();
        if masked {
            lane_to_word(code, WORD, EXEC, lane);
            next.push(jump_near(code, If::Zero(WORD)));
        }
        lane_to_word(code, WORD, index, lane);
        let partly = inside(code, count - 1);
        add_words(code, WORD, START, WORD);
        single(code, lane_of, VECTOR, lane, WORD);
        next.push(jump_far(code, None));
        land(code, partly);
        for k in words.clone() {
            add_word(code, FREE, WORD, u32::from(k));
            compare(code, FREE, COUNT);
            let outside = jump_near(code, If::NotBelow);
            add_words(code, FREE, START, FREE);
            single(code, LD1_LANE, VECTOR + k, lane, FREE);
            land(code, outside);
        }
        next.into_iter().for_each(|jump| land(code, jump));
    }
    ends.into_iter().for_each(|jump| land(code, jump));
    let wanted = (0..count as u8).filter(|&k| wanted[usize::from(k)]);
    for (k, to) in wanted.map(|k| (k, to[usize::from(k)])) {
        let first = VECTOR + k / 2 * 2;
        match (whole, k % 2) {
            (false, _) => copy(code, to, VECTOR + k),
            (true, 0) => three(code, ZIP1, to, first, first + 1),
            (true, _) => three(code, ZIP2, to, first, first + 1),
        }
    }
}
