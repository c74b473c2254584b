//! Atomics on any memory, lane after lane; truly atomic against other groups and queues.

use std::sync::atomic::Ordering::Relaxed;

use recal_il::ir::AtomicOp;

use super::buffer::view_of;
use super::texture::uav_texels;
use crate::context::Context;
use crate::op::{AtomicAt, NONE, Place, RowId};
use crate::wave::{Row, Wave, lanes};

macro_rules! new_value {
    ($name:ident, $word:ty, $signed:ty) => {
        /// The new value for old value `m` (amd-il 5.5).
        #[inline(always)]
        fn $name(op: AtomicOp, m: $word, s: $word, s2: $word) -> $word {
            match op {
                AtomicOp::Add => m.wrapping_add(s),
                AtomicOp::Sub => m.wrapping_sub(s),
                AtomicOp::RSub => s.wrapping_sub(m),
                AtomicOp::Min => (m as $signed).min(s as $signed) as $word,
                AtomicOp::Max => (m as $signed).max(s as $signed) as $word,
                AtomicOp::UMin => m.min(s),
                AtomicOp::UMax => m.max(s),
                AtomicOp::And => m & s,
                AtomicOp::Or => m | s,
                AtomicOp::Xor => m ^ s,
                AtomicOp::Inc => {
                    if m >= s {
                        0
                    } else {
                        m + 1
                    }
                }
                AtomicOp::Dec => {
                    if m == 0 || m > s {
                        s
                    } else {
                        m - 1
                    }
                }
                AtomicOp::MskOr => m & !s | s2,
                AtomicOp::Xchg => s,
                AtomicOp::CmpXchg => {
                    if m == s2 {
                        s
                    } else {
                        m
                    }
                }
            }
        }
    };
}
new_value!(new_word, u32, i32);
new_value!(new_quad, u64, i64);

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
    for lane in lanes(ok) {
        let Some(cell) = view.atomic(at.0[lane] as usize) else { continue };
        let (s, s2) = (source.0[lane], second.0[lane]);
        old.0[lane] = match op {
            AtomicOp::Add => cell.fetch_add(s, Relaxed),
            AtomicOp::Xchg => cell.swap(s, Relaxed),
            AtomicOp::CmpXchg => cell.compare_exchange(s2, s, Relaxed, Relaxed).unwrap_or_else(|m| m),
            _ => {
                let mut m = cell.load(Relaxed);
                loop {
                    match cell.compare_exchange_weak(m, new_word(op, m, s, s2), Relaxed, Relaxed) {
                        Ok(m) => break m,
                        Err(now) => m = now,
                    }
                }
            }
        };
    }
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
    for lane in lanes(wave.exec) {
        let Some(cell) = view.atomic_wide(address.0[lane] as usize / 8 * 2) else { continue };
        let (s, s2) = (pair(&s_lo, &s_hi, lane), pair(&s2_lo, &s2_hi, lane));
        let mut m = cell.load(Relaxed);
        let old = loop {
            match cell.compare_exchange_weak(m, new_quad(op, m, s, s2), Relaxed, Relaxed) {
                Ok(m) => break m,
                Err(now) => m = now,
            }
        };
        old_lo.0[lane] = old as u32;
        old_hi.0[lane] = (old >> 32) as u32;
    }
    for (id, row) in dst.into_iter().zip([old_lo, old_hi]) {
        if id != NONE {
            wave.put(id, &row);
        }
    }
}

/// Append (value before increment) or consume (value after decrement).
pub fn counter(wave: &mut Wave, context: &mut Context<'_>, uav: u32, consume: bool, dst: RowId) {
    let mut out = Row::ZERO;
    if let Some(cell) = context.launch.counters.get(uav as usize) {
        for lane in lanes(wave.exec) {
            out.0[lane] =
                if consume { cell.fetch_sub(1, Relaxed).wrapping_sub(1) } else { cell.fetch_add(1, Relaxed) };
        }
    }
    wave.put(dst, &out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_values_follow_the_table() {
        let cases = [
            (AtomicOp::Add, !0, 2, 0, 1),
            (AtomicOp::Sub, 1, 2, 0, !0),
            (AtomicOp::RSub, 1, 5, 0, 4),
            (AtomicOp::Min, !0, 1, 0, !0),
            (AtomicOp::UMin, !0, 1, 0, 1),
            (AtomicOp::Max, !0, 1, 0, 1),
            (AtomicOp::UMax, !0, 1, 0, !0),
            (AtomicOp::And, 6, 3, 0, 2),
            (AtomicOp::Or, 6, 3, 0, 7),
            (AtomicOp::Xor, 6, 3, 0, 5),
            (AtomicOp::Inc, 4, 4, 0, 0),
            (AtomicOp::Inc, 3, 4, 0, 4),
            (AtomicOp::Dec, 0, 9, 0, 9),
            (AtomicOp::Dec, 10, 9, 0, 9),
            (AtomicOp::Dec, 9, 9, 0, 8),
            (AtomicOp::MskOr, 0xFF, 0x0F, 0x100, 0x1F0),
            (AtomicOp::Xchg, 1, 2, 0, 2),
            (AtomicOp::CmpXchg, 7, 2, 7, 2),
            (AtomicOp::CmpXchg, 8, 2, 7, 8),
        ];
        for (op, m, s, s2, expected) in cases {
            assert_eq!(new_word(op, m, s, s2), expected, "{op:?} of {m} and {s}");
        }
        assert_eq!(new_quad(AtomicOp::Add, u64::from(u32::MAX), 1, 0), 1 << 32);
        assert_eq!(new_quad(AtomicOp::Min, u64::MAX, 1, 0), u64::MAX);
    }
}
