//! Memory of threads and groups: arrays, shared registers, and the write-own, read-any LDS of the R700.

use super::texture::deliver;
use crate::context::Context;
use crate::op::{NONE, RowId, Rows4};
use crate::wave::{LANES, Row, Wave, lanes};

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

/// First word of the R700 areas, which lie after the blocks.
fn areas(context: &Context<'_>) -> usize {
    context.launch.code.lds_bytes as usize / 4
}

/// `lds_write_vec`: own dwords `offset + k`.
pub fn lds_write_own(wave: &mut Wave, context: &mut Context<'_>, offset: u32, src: Rows4) {
    let (own, base) = (context.launch.code.lds_own, areas(context));
    for lane in lanes(wave.exec) {
        let thread = wave.index as usize * LANES + lane;
        for (k, &id) in src.iter().enumerate().filter(|(_, id)| **id != NONE) {
            if offset + (k as u32) < own {
                let word = base + thread * own as usize + offset as usize + k;
                context.lds.set_word(word, wave.rows[id as usize].0[lane]);
            }
        }
    }
}

/// `lds_read_vec`: dwords of any thread; with the exchange, each quad of lanes transposes what it loaded.
pub fn lds_read_any(
    wave: &mut Wave,
    context: &mut Context<'_>,
    thread: RowId,
    offset: RowId,
    neighbor_exchange: bool,
    dst: Rows4,
) {
    let (own, base) = (context.launch.code.lds_own, areas(context));
    let mut rows = [Row::ZERO; 4];
    for lane in lanes(wave.exec) {
        let (thread, offset) = (wave.rows[thread as usize].0[lane], wave.rows[offset as usize].0[lane]);
        for (k, row) in rows.iter_mut().enumerate() {
            let dword = u64::from(offset) + k as u64;
            if thread < context.group_threads && dword < u64::from(own) {
                row.0[lane] = context.lds.word(base + thread as usize * own as usize + dword as usize);
            }
        }
    }
    if neighbor_exchange {
        let loaded = rows;
        for (c, row) in rows.iter_mut().enumerate() {
            for lane in 0..LANES {
                row.0[lane] = loaded[lane & 3].0[(lane & !3) + c];
            }
        }
    }
    deliver(wave, dst, &rows, !0);
}
