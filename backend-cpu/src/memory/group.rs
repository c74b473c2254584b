//! Memory of threads: arrays and shared registers.

use super::texture::deliver;
use crate::context::Context;
use crate::op::{NONE, RowId, Rows4};
use crate::wave::{Row, Wave, lanes};

/// Row of component 0 of `index + offset` for each lane, if it exists.
#[inline(always)]
fn element(word: u32, offset: i32, elements: u32, first: RowId) -> Option<usize> {
    let element = i64::from(word as i32) + i64::from(offset);
    ((element as u64) < u64::from(elements)).then(|| first as usize + 4 * element as usize)
}

/// The element that all executing lanes name, if they name the same.
#[inline(always)]
fn uniform(wave: &Wave, index: &Row) -> Option<u32> {
    if wave.exec == 0 {
        return None;
    }
    let word = index.0[wave.exec.trailing_zeros() as usize];
    let other = Row(index.0.map(|w| w ^ word));
    (crate::wave::nonzero(&other) & wave.exec == 0).then_some(word)
}

/// `x#[index + offset]`
pub fn array_load(wave: &mut Wave, first: RowId, elements: u32, index: RowId, offset: i32, dst: Rows4) {
    let index = wave.rows[index as usize];
    let mut rows = [Row::ZERO; 4];
    if let Some(word) = uniform(wave, &index) {
        if let Some(at) = element(word, offset, elements, first) {
            rows.copy_from_slice(&wave.rows[at..at + 4]);
        }
    } else {
        for lane in lanes(wave.exec) {
            if let Some(at) = element(index.0[lane], offset, elements, first) {
                for (k, row) in rows.iter_mut().enumerate() {
                    row.0[lane] = wave.rows[at + k].0[lane];
                }
            }
        }
    }
    deliver(wave, dst, &rows, !0);
}

/// `x#[index + offset] = src`
pub fn array_store(wave: &mut Wave, first: RowId, elements: u32, index: RowId, offset: i32, src: Rows4) {
    let index = wave.rows[index as usize];
    if let Some(word) = uniform(wave, &index) {
        if let Some(at) = element(word, offset, elements, first) {
            // All sources are read before any is written, in case they come from the array itself.
            let rows = src.map(|id| if id == NONE { Row::ZERO } else { wave.rows[id as usize] });
            for (k, row) in rows.iter().enumerate().filter(|(k, _)| src[*k] != NONE) {
                wave.put((at + k) as RowId, row);
            }
        }
        return;
    }
    for lane in lanes(wave.exec) {
        if let Some(at) = element(index.0[lane], offset, elements, first) {
            let words = src.map(|id| if id == NONE { 0 } else { wave.rows[id as usize].0[lane] });
            for (k, word) in words.into_iter().enumerate().filter(|(k, _)| src[*k] != NONE) {
                wave.rows[at + k].0[lane] = word;
            }
        }
    }
}

/// `sr#`, one bank of 64 lanes for the launch.
pub fn shared_load(wave: &mut Wave, context: &mut Context<'_>, register: u32, dst: Rows4) {
    let first = 4 * register as usize;
    if let Some(bank) = context.shared.get(first..first + 4) {
        let rows = std::array::from_fn(|k| bank[k]);
        deliver(wave, dst, &rows, !0);
    }
}

/// `sr# = src`
pub fn shared_store(wave: &mut Wave, context: &mut Context<'_>, register: u32, src: Rows4) {
    let first = 4 * register as usize;
    let Some(bank) = context.shared.get_mut(first..first + 4) else { return };
    for (row, id) in bank.iter_mut().zip(src).filter(|(_, id)| *id != NONE) {
        for lane in lanes(wave.exec) {
            row.0[lane] = wave.rows[id as usize].0[lane];
        }
    }
}
