//! Atomics on any memory, lane after lane; truly atomic against other groups and queues, which have no part in LDS.

use recal_il::ir::AtomicOp;
use recal_jit::atomic;

use super::buffer::view_of;
use super::texture::uav_texels;
use crate::context::Context;
use crate::op::{AtomicAt, NONE, Place, RowId};
use crate::wave::{Row, Wave};

/// An atomic on one word.
#[allow(clippy::too_many_arguments)]
#[inline(never)]
pub fn word(
    wave: &mut Wave,
    context: &mut Context<'_>,
    op: AtomicOp,
    place: Place,
    at: AtomicAt,
    dimensions: u32,
    src: RowId,
    src2: RowId,
    dst: RowId,
) {
    let (view, at, ok) = match (at, place) {
        (AtomicAt::Byte(address), _) => {
            let row = &wave.rows[address as usize];
            (view_of(context, place), Row(row.0.map(|byte| byte >> 2)), wave.exec)
        }
        (AtomicAt::Texel(coord), Place::Uav(uav)) => {
            let Some(surface) = context.launch.uavs.get(uav as usize) else { return };
            let (element, ok) = uav_texels(wave, surface, coord, dimensions);
            // Only one-word formats have atomics; of wider ones the first word is meant.
            let words = surface.format.bytes().div_ceil(4);
            (surface.view, Row(element.0.map(|e| e.wrapping_mul(words))), ok)
        }
        (AtomicAt::Texel(_), _) => return,
    };
    let source = wave.rows[src as usize];
    let second = if src2 == NONE { Row::ZERO } else { wave.rows[src2 as usize] };
    let mut old = Row::ZERO;
    atomic::each(
        (op, place.of_group()),
        ok,
        |lane| at.0[lane],
        |number| view.atomic(number as usize),
        |lane| [source.0[lane], second.0[lane]],
        |lane, found| old.0[lane] = found,
    );
    if dst != NONE {
        wave.put(dst, &old);
    }
}

/// An atomic on two words at an address that is a multiple of 8.
#[allow(clippy::too_many_arguments)]
#[inline(never)]
pub fn wide(
    wave: &mut Wave,
    context: &mut Context<'_>,
    op: AtomicOp,
    place: Place,
    address: RowId,
    src: [RowId; 2],
    src2: [RowId; 2],
    dst: [RowId; 2],
) {
    let view = view_of(context, place);
    let row = |id: RowId| if id == NONE { Row::ZERO } else { wave.rows[id as usize] };
    let [address, s_lo, s_hi, s2_lo, s2_hi] = [address, src[0], src[1], src2[0], src2[1]].map(row);
    let pair = |lo: &Row, hi: &Row, lane: usize| u64::from(lo.0[lane]) | u64::from(hi.0[lane]) << 32;
    let (mut old_lo, mut old_hi) = (Row::ZERO, Row::ZERO);
    atomic::each(
        (op, place.of_group()),
        wave.exec,
        |lane| address.0[lane] / 8 * 2,
        |number| view.atomic_wide(number as usize),
        |lane| [pair(&s_lo, &s_hi, lane), pair(&s2_lo, &s2_hi, lane)],
        |lane, old| (old_lo.0[lane], old_hi.0[lane]) = (old as u32, (old >> 32) as u32),
    );
    for (id, row) in dst.into_iter().zip([old_lo, old_hi]) {
        if id != NONE {
            wave.put(id, &row);
        }
    }
}

/// Append (value before increment) or consume (value after decrement).
pub fn counter(wave: &mut Wave, context: &mut Context<'_>, uav: u32, consume: bool, dst: RowId) {
    let mut out = Row::ZERO;
    let cell = context.launch.counters.get(uav as usize);
    let found = |lane: usize, value| out.0[lane] = value;
    if consume {
        atomic::consume(cell, wave.exec, found)
    } else {
        atomic::append(cell, wave.exec, found)
    }
    wave.put(dst, &out);
}
