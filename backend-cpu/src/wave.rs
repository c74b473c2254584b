//! A wave: 64 threads that execute every statement together.
//!
//! Each register is a [`Row`], one word a lane. Literals, constant-buffer words and thread numbers are rows too,
//! so that a lane operation finds all its operands by row number. Which lanes take part is the `exec` mask.

use crate::op::Frame;

pub use recal_jit::{LANES, Row, lanes};

/// Mask of lanes; bit k is lane k.
pub type Mask = u64;

/// Lanes whose word is not 0.
#[inline(always)]
pub fn nonzero(row: &Row) -> Mask {
    let mut mask = 0;
    for (part, words) in row.0.chunks_exact(8).enumerate() {
        let mut bits = 0u64;
        for (lane, &word) in words.iter().enumerate() {
            bits |= u64::from(word != 0) << lane;
        }
        mask |= bits << (8 * part);
    }
    mask
}

/// The words !0 for lanes in `mask` and 0 for others.
#[inline]
pub fn spread(mask: Mask) -> Row {
    let mut row = Row::ZERO;
    for (part, words) in row.0.chunks_exact_mut(8).enumerate() {
        let bits = (mask >> (8 * part)) as u32;
        for (lane, word) in words.iter_mut().enumerate() {
            *word = 0u32.wrapping_sub((bits >> lane) & 1);
        }
    }
    row
}

/// The lanes of the wave number `index` of a group of so many threads.
pub fn launched(threads: u32, index: usize) -> Mask {
    match threads as usize - index * LANES {
        here @ 0..LANES => (1 << here) - 1,
        _ => !0,
    }
}

/// State of the threads of one wave.
#[derive(Default)]
pub struct Wave {
    /// Registers, arrays, literals, constants and launch values, numbered by the loader.
    pub rows: Vec<Row>,
    /// Lanes that execute now.
    pub exec: Mask,
    /// `exec` as words, when it was last asked for.
    spread: (Mask, Row),
    /// Lanes whose word was not 0 in the last test of compiled code.
    pub tested: Mask,
    /// Lanes that the launch gave to this wave.
    pub launched: Mask,
    /// All launched lanes execute: operations may then write all lanes, since nobody sees the others.
    pub full: bool,
    /// Lanes that left the innermost loop.
    pub broken: Mask,
    /// Lanes that returned from main.
    pub returned: Mask,
    /// Lanes that were discarded.
    pub killed: Mask,
    /// Open constructs.
    pub frames: Vec<Frame>,
    /// Next operation.
    pub pc: usize,
    /// All threads of a group's wave are done.
    pub ended: bool,
    /// Where each sample of the program read last and the time before, to guess where it reads next.
    pub starts: Vec<[u32; 2]>,
    /// Components that the current load flushes.
    pub flush: u8,
    /// Number of the wave in its group.
    pub index: u32,
}

impl Wave {
    /// Makes the wave ready to run from the start with the given lanes.
    pub fn start(&mut self, launched: Mask, index: u32) {
        self.launched = launched;
        self.broken = 0;
        self.returned = 0;
        self.killed = 0;
        self.frames.clear();
        self.pc = 0;
        self.ended = false;
        self.index = index;
        self.set_exec(launched);
    }

    /// Changes the executing lanes.
    #[inline]
    pub fn set_exec(&mut self, exec: Mask) {
        self.full = exec == self.launched;
        self.exec = exec;
    }

    /// `exec` as words.
    #[inline(always)]
    pub fn exec_row(&mut self) -> Row {
        if self.spread.0 != self.exec {
            self.spread = (self.exec, spread(self.exec));
        }
        self.spread.1
    }

    /// Lanes of `outer` that have not left the current loop, nor the program.
    #[inline]
    pub fn still(&self, outer: Mask) -> Mask {
        outer & !(self.broken | self.returned | self.killed)
    }

    /// Writes `value` to row `dst` in the executing lanes.
    #[inline]
    pub fn put(&mut self, dst: u32, value: &Row) {
        if self.full {
            self.rows[dst as usize] = *value;
        } else {
            let exec = self.exec_row();
            let row = &mut self.rows[dst as usize];
            for ((word, &new), &mask) in row.0.iter_mut().zip(&value.0).zip(&exec.0) {
                *word = new & mask | *word & !mask;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_rows_agree() {
        for mask in [0, !0, 1, 1 << 63, 0x8000_0001_0F00_0300] {
            let row = spread(mask);
            assert_eq!(nonzero(&row), mask);
            assert_eq!(lanes(mask).fold(0, |m, lane| m | 1 << lane), mask);
            assert!(row.0.iter().all(|&w| w == 0 || w == !0));
        }
    }

    #[test]
    fn masked_writes_leave_other_lanes() {
        let mut wave = Wave { rows: vec![Row::splat(7); 1], ..Wave::default() };
        wave.start(!0, 0);
        wave.set_exec(0b10);
        wave.put(0, &Row::splat(9));
        assert_eq!(wave.rows[0].0[..3], [7, 9, 7]);
    }
}
