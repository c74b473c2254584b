//! Loads and stores: what lies together in memory is moved together.

use super::{Body, SCRATCH, TEST, VECTORS};
use crate::View;
use crate::encode::{Base, Code, Lanes, NOT_BELOW, NOT_ZERO, Rm, inst::*};
use crate::graph::{NO, Val};

/// Where a view is in the table of views.
pub fn entry(view: u8) -> u32 {
    size_of::<View>() as u32 * u32::from(view)
}

/// How the words of the lanes lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// One after the other.
    Near,
    /// All lanes mean the same.
    Splat,
    Far,
}

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

/// r10 = the first word of a view
fn view_start(code: &mut Code, entry: u32) {
    code.raw(&[0x4D, 0x8B, 0x91]); // mov r10, [r9 + entry]
    code.raw(&entry.to_le_bytes());
}

/// r11 = where the first lane's word is
fn first_address(code: &mut Code, index: u8) {
    code.first_word(index);
    code.raw(&[0x4F, 0x8D, 0x1C, 0x9A]); // lea r11, [r10 + 4 * r11]
}

/// Jumps unless the numbers of the lanes are those of the first lane and the steps that the pool holds, or equal.
fn differ(code: &mut Code, index: u8, steps: Option<u32>, within: Lanes) -> usize {
    code.vector(PBROADCASTD, VECTORS, 0, Rm::Reg(index), Lanes::All, None);
    if let Some(at) = steps {
        code.vector(PADDD, VECTORS, VECTORS, Rm::Mem(Base::Pool, at), Lanes::All, None);
    }
    unequal(code, VECTORS, index, within)
}

/// Jumps unless two vectors are equal.
fn unequal(code: &mut Code, a: u8, b: u8, within: Lanes) -> usize {
    const UNEQUAL: u8 = 4;
    code.vector(PCMPD, TEST, a, Rm::Reg(b), within, Some(UNEQUAL));
    code.raw(&[0xC5, 0xF8, 0x98, 0xC0]); // kortestw k0, k0
    code.jump(Some(NOT_ZERO))
}

/// Where to read the numbers of the first lanes of lines: the vector of all numbers, and a place on the stack with those
/// of all lines but the first one; and the numbers that follow in a line.
struct Starts {
    index: u8,
    stack: Option<u32>,
    entry: u32,
    more: u32,
}

impl Starts {
    /// r11 = where the word of a lane is; jumps, to `others`, unless it and those that follow are in the view.
    fn find(&self, code: &mut Code, lane: u32, others: &mut Vec<usize>) {
        match self.stack {
            Some(at) if lane > 0 => {
                code.raw(&[0x44, 0x8B, 0x99]); // mov r11d, [rcx + at + 4 * lane]
                code.raw(&(at + 4 * lane).to_le_bytes());
            }
            _ => code.first_word(self.index),
        }
        code.raw(&[0x49, 0x81, 0xC3]); // add r11, more
        code.raw(&self.more.to_le_bytes());
        code.raw(&[0x45, 0x3B, 0x99]); // cmp r11d, [r9 + entry + 8]
        code.raw(&(self.entry + 8).to_le_bytes());
        others.push(code.jump(Some(NOT_BELOW)));
        code.raw(&[0x4F, 0x8D, 0x9C, 0x9A]); // lea r11, [r10 + 4 * r11 - 4 * more]
        code.raw(&(4 * self.more).wrapping_neg().to_le_bytes());
    }
}

impl Body<'_, '_> {
    /// Code for an access to the words `index` of a view: `SCRATCH` becomes the lanes that are within it. Neighbours
    /// are moved together; so are loads of one word, if they are told apart.
    pub fn access(
        &mut self,
        view: u8,
        index: u8,
        within: Lanes,
        splat: bool,
        mut transfer: impl FnMut(&mut Code, Way),
    ) {
        const LESS: u8 = 1;
        let entry = entry(view);
        let lanes = self.frame.pool.lanes(1);
        let code = &mut self.frame.code;
        code.vector(PCMPUD, SCRATCH, index, Rm::Splat(Base::Views, entry + 8), within, Some(LESS));
        view_start(code, entry);
        let other = differ(code, index, Some(lanes), within);
        first_address(code, index);
        transfer(code, Way::Near);
        let mut ends = vec![code.jump(None)];
        code.land(other);
        if splat {
            let other = differ(code, index, None, within);
            first_address(code, index);
            transfer(code, Way::Splat);
            ends.push(code.jump(None));
            code.land(other);
        }
        transfer(code, Way::Far);
        ends.into_iter().for_each(|end| code.land(end));
    }

    /// Loads the parts of a group that are used, with the first words of the elements in `index`.
    ///
    /// Where threads lie in short lines, as those of groups of 8 x 8, each line is looked at by itself: it may read
    /// neighbours, or one element.
    pub fn group(&mut self, view: u8, first: Val, parts: [Val; 4]) {
        let index = self.fetch(first);
        let count = parts.iter().filter(|&&val| val != NO).count() as u32;
        let wanted = parts.map(|val| val != NO && self.next_use(val).is_some());
        let mut to = [0; 4];
        for k in 0..4 {
            // The places of parts that nobody wants hold what is in between.
            if parts[k] != NO {
                to[k] = self.take(parts[k]);
                self.pinned.push(parts[k]);
            }
        }
        let (entry, within) = (entry(view), self.lanes);
        // A load of 64 bytes is of one line.
        let line = self.frame.line.max(16 / count);
        let stack = (line < 16).then(|| self.slot());
        self.freed.extend(stack);
        let pool = &mut *self.frame.pool;
        let firsts = pool.table(&std::array::from_fn(|lane| lane as u32 / line * line));
        let steps = pool.table(&std::array::from_fn(|lane| lane as u32 % line * count));
        let (low, high) =
            (pool.table(&EVEN[count as usize / 2 - 1]), pool.table(&ODD[count as usize / 2 - 1]));
        let offsets: Vec<u32> = (0..count).map(|k| pool.word(k)).collect();
        let lines: Vec<(u32, u32)> =
            (0..16).step_by(line as usize).map(|lane| (lane, pool.word(0xFFFF << lane & 0xFFFF))).collect();
        let table = |at| Rm::Mem(Base::Pool, at);
        let all = Lanes::All;
        let code = &mut self.frame.code;
        view_start(code, entry);
        // The number of the first lane of each line; the sums may be where the result will be.
        if line < 16 {
            code.vector(LOAD_NEAR, VECTORS, 0, table(firsts), all, None);
            code.vector(PERMD, VECTORS, VECTORS, Rm::Reg(index), all, None);
        } else {
            code.vector(PBROADCASTD, VECTORS, 0, Rm::Reg(index), all, None);
        }
        if let Some(at) = stack {
            // Processors may let a word of a longer store wait until it is in memory.
            for &(lane, _) in &lines[1..] {
                let to = Rm::Mem(Base::Stack, at + 4 * lane);
                code.vector(EXTRACT, index, 0, to, all, Some(lane as u8 / 4));
            }
        }
        code.vector(PADDD, to[0], VECTORS, table(steps), all, None);
        let not_near = unequal(code, to[0], index, within);
        // Neighbours, all of them inside.
        let mut others = Vec::new();
        let starts = Starts { index, stack, entry, more: line * count - 1 };
        // r11 = where the words of a vector are, and how far behind.
        let mut words = |code: &mut Code, vector: u32| {
            let lane = vector * 16 / count;
            if lane % line == 0 {
                starts.find(code, lane, &mut others);
            }
            Rm::Mem(Base::First, 4 * count * (lane % line))
        };
        if count == 2 {
            let from = words(code, 0);
            code.vector(LOAD_NEAR, VECTORS, 0, from, all, None);
            let from = words(code, 1);
            for (k, at) in [(0, low), (1, high)].into_iter().filter(|&(k, _)| wanted[k]) {
                code.vector(LOAD_NEAR, to[k], 0, table(at), all, None);
                code.vector(PERMI2D, to[k], VECTORS, from, all, None);
            }
        } else {
            // Two components of eight lanes each, then their halves.
            for (k, at) in [(0, low), (2, high)].into_iter().filter(|&(k, _)| wanted[k] || wanted[k + 1]) {
                code.vector(LOAD_NEAR, to[k], 0, table(at), all, None);
                code.vector(LOAD, to[k + 1], 0, Rm::Reg(to[k]), all, None);
            }
            for half in 0..2u32 {
                let from = words(code, 2 * half);
                code.vector(LOAD_NEAR, VECTORS, 0, from, all, None);
                let from = words(code, 2 * half + 1);
                for k in [0, 2].into_iter().filter(|&k| wanted[k] || wanted[k + 1]) {
                    code.vector(PERMI2D, to[k + half as usize], VECTORS, from, all, None);
                }
            }
            for k in [0, 2].into_iter().filter(|&k| wanted[k] || wanted[k + 1]) {
                let (a, b) = (to[k], to[k + 1]);
                code.vector(SHUFI64X2, VECTORS, a, Rm::Reg(b), all, Some(0xEE));
                code.vector(SHUFI64X2, a, a, Rm::Reg(b), all, Some(0x44));
                code.vector(LOAD, b, 0, Rm::Reg(VECTORS), all, None);
            }
        }
        let mut ends = vec![code.jump(None)];
        code.land(not_near);
        // One element for all of a line.
        others.push(unequal(code, VECTORS, index, within));
        let starts = Starts { more: count - 1, ..starts };
        for &(lane, mask) in &lines {
            starts.find(code, lane, &mut others);
            if lane > 0 {
                code.mask_constant(SCRATCH, mask);
            }
            let lanes = if lane > 0 { Lanes::Some(SCRATCH) } else { all };
            for k in (0..count as usize).filter(|&k| wanted[k]) {
                code.vector(PBROADCASTD, to[k], 0, Rm::Mem(Base::First, 4 * k as u32), lanes, None);
            }
        }
        ends.push(code.jump(None));
        others.into_iter().for_each(|at| code.land(at));
        // Word by word.
        const LESS: u8 = 1;
        for k in (0..count as usize).filter(|&k| wanted[k]) {
            code.vector(PADDD, VECTORS, index, Rm::Splat(Base::Pool, offsets[k]), all, None);
            code.vector(PCMPUD, SCRATCH, VECTORS, Rm::Splat(Base::Views, entry + 8), within, Some(LESS));
            code.vector(PXORD, to[k], to[k], Rm::Reg(to[k]), all, None);
            code.scattered(PGATHERDD, to[k], VECTORS, SCRATCH);
        }
        ends.into_iter().for_each(|end| code.land(end));
        self.release(first);
        parts.into_iter().filter(|&val| val != NO).for_each(|val| self.release(val));
    }
}
