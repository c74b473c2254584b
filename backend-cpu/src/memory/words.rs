//! Moves words between registers and memory, a wave at a time.
//!
//! Lanes are taken in eights, a row of a pixel tile: neighbours in memory and equal addresses are common there and
//! are moved as blocks; anything else goes lane by lane.

use super::View;
use crate::wave::{LANES, Mask, Row, lanes};

/// Lanes that are looked at together.
pub const PART: usize = 8;

/// All ones for lanes whose step to the next lane matters: those that are not the last of eight.
const INNER: [u32; LANES] = {
    let mut inner = [!0; LANES];
    let mut lane = PART - 1;
    while lane < LANES {
        inner[lane] = 0;
        lane += PART;
    }
    inner
};

/// How the words of a wave lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All lanes are live, and each eight of them read the same words.
    Splats,
    /// All lanes are live, and each eight of them read neighbours.
    Runs,
    /// Anything else.
    Mixed,
}

impl Pattern {
    /// The pattern of accesses to `n` words at `at` by the lanes in `ok`.
    #[inline(always)]
    pub fn of(at: &Row, ok: Mask, n: u32) -> Pattern {
        if ok != !0 {
            return Pattern::Mixed;
        }
        let mut next = at.0;
        next.copy_within(1.., 0);
        let (mut far, mut apart) = (0, 0);
        for ((next, at), inner) in next.iter().zip(&at.0).zip(&INNER) {
            let step = next.wrapping_sub(*at);
            far |= (step ^ n) & inner;
            apart |= step & inner;
        }
        match (far, apart) {
            (0, _) => Pattern::Runs,
            (_, 0) => Pattern::Splats,
            _ => Pattern::Mixed,
        }
    }
}

/// Loads four words a lane straight into rows, flushing those whose bit is set; the pattern is not mixed. False if
/// something is outside: then the rows hold anything.
#[inline(always)]
pub fn load4_into(
    view: &View<'_>,
    at: &Row,
    pattern: Pattern,
    rows: &mut [Row],
    dst: [u32; 4],
    flush: u8,
) -> bool {
    let mut parts = [[0u32; PART]; 4];
    let mut before = None;
    for first in (0..LANES).step_by(PART) {
        let start = at.0[first];
        if before != Some(start) {
            before = Some(start);
            if pattern == Pattern::Splats {
                let Some(words) = view.read::<4>(start as usize) else { return false };
                for k in 0..4 {
                    parts[k] = [if flush >> k & 1 == 1 { flushed(words[k]) } else { words[k] }; PART];
                }
            } else {
                let Some(words) = view.read::<32>(start as usize) else { return false };
                for (k, part) in parts.iter_mut().enumerate() {
                    for (lane, word) in part.iter_mut().enumerate() {
                        *word = words[4 * lane + k];
                    }
                    if flush >> k & 1 == 1 {
                        *part = part.map(flushed);
                    }
                }
            }
        }
        for k in 0..4 {
            rows[dst[k] as usize].0[first..first + PART].copy_from_slice(&parts[k]);
        }
    }
    true
}

/// Denormals to zeros of the same sign.
#[inline(always)]
pub fn flushed(word: u32) -> u32 {
    if word & 0x7F80_0000 == 0 { word & 0x8000_0000 } else { word }
}

macro_rules! load {
    ($name:ident, $n:literal, $block:literal) => {
        /// Words `at + k` of each lane in `ok`; 0 for other lanes and for words outside the view. The pattern is
        /// the one of `at` and `ok`.
        #[inline(always)]
        pub fn $name(view: &View<'_>, at: &Row, ok: Mask, pattern: Pattern) -> [Row; $n] {
            let mut out = [Row::ZERO; $n];
            let mut before = None;
            for part in 0..LANES / PART {
                let first = part * PART;
                let start = at.0[first];
                if pattern != Pattern::Mixed {
                    if before == Some(start) {
                        for row in &mut out {
                            row.0.copy_within(first - PART..first, first);
                        }
                        continue;
                    }
                    before = Some(start);
                }
                if pattern == Pattern::Splats {
                    if let Some(words) = view.read::<$n>(start as usize) {
                        for (row, word) in out.iter_mut().zip(words) {
                            row.0[first..first + PART].fill(word);
                        }
                        continue;
                    }
                } else if pattern == Pattern::Runs {
                    if let Some(words) = view.read::<$block>(start as usize) {
                        for (k, row) in out.iter_mut().enumerate() {
                            for lane in 0..PART {
                                row.0[first + lane] = words[$n * lane + k];
                            }
                        }
                        continue;
                    }
                }
                for lane in lanes((ok >> first) & 0xFF).map(|lane| first + lane) {
                    let start = at.0[lane] as usize;
                    match view.read::<$n>(start) {
                        Some(words) => {
                            for (row, word) in out.iter_mut().zip(words) {
                                row.0[lane] = word;
                            }
                        }
                        None => {
                            for (k, row) in out.iter_mut().enumerate() {
                                row.0[lane] = view.word(start + k);
                            }
                        }
                    }
                }
            }
            out
        }
    };
}

load!(load1, 1, 8);
load!(load2, 2, 16);
load!(load4, 4, 32);

macro_rules! store {
    ($name:ident, $n:literal, $block:literal) => {
        /// Stores words `at + k` of each lane in `ok`; words outside the view are dropped.
        #[inline(always)]
        pub fn $name(view: &View<'_>, at: &Row, ok: Mask, rows: [&Row; $n]) {
            for part in 0..LANES / PART {
                let first = part * PART;
                let live = (ok >> first) & 0xFF;
                let mut index = [0; PART];
                index.copy_from_slice(&at.0[first..first + PART]);
                let mut next = live == 0xFF;
                for lane in 0..PART {
                    next &= index[lane] == index[0].wrapping_add($n * lane as u32);
                }
                if next {
                    let mut words = [0; $block];
                    for (k, row) in rows.iter().enumerate() {
                        for lane in 0..PART {
                            words[$n * lane + k] = row.0[first + lane];
                        }
                    }
                    if view.write(index[0] as usize, &words) {
                        continue;
                    }
                }
                for lane in lanes(live) {
                    let start = index[lane] as usize;
                    let words: [u32; $n] = std::array::from_fn(|k| rows[k].0[first + lane]);
                    if !view.write(start, &words) {
                        for (k, &word) in words.iter().enumerate() {
                            view.set_word(start + k, word);
                        }
                    }
                }
            }
        }
    };
}

store!(store1, 1, 8);
store!(store2, 2, 16);
store!(store4, 4, 32);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Block, InUse};

    fn memory(words: usize) -> Block {
        let block = Block::allocate(4 * words as u64, u64::MAX, &InUse::default()).unwrap();
        (0..words).for_each(|i| block.view().set_word(i, i as u32 * 10));
        block
    }

    #[test]
    fn patterns_are_recognised() {
        let row = |f: fn(usize) -> usize| Row(std::array::from_fn(|l| f(l) as u32));
        assert_eq!(Pattern::of(&row(|l| 4 * l), !0, 4), Pattern::Runs);
        assert_eq!(Pattern::of(&row(|l| 4 * (l % 8) + 100 * (l / 8)), !0, 4), Pattern::Runs);
        assert_eq!(Pattern::of(&row(|l| 4 * l), !0, 2), Pattern::Mixed);
        assert_eq!(Pattern::of(&row(|l| l / 8), !0, 4), Pattern::Splats);
        assert_eq!(Pattern::of(&row(|l| l / 4), !0, 4), Pattern::Mixed);
        assert_eq!(Pattern::of(&row(|_| 3), !1, 4), Pattern::Mixed);
    }

    #[test]
    fn every_pattern_loads_the_words_it_names() {
        let block = memory(300);
        let patterns: [fn(usize) -> usize; 6] =
            [|l| 4 * l, |_| 5, |l| l / 8, |l| (l * 37) % 290, |l| 4 * (l % 8), |l| 60 + 4 * l];
        for pattern in patterns {
            for ok in [!0, 0x0F0F_00FF_FF00_1234] {
                let at = Row(std::array::from_fn(|l| pattern(l) as u32));
                let four = load4(&block.view(), &at, ok, Pattern::of(&at, ok, 4));
                let two = load2(&block.view(), &at, ok, Pattern::of(&at, ok, 2));
                let one = load1(&block.view(), &at, ok, Pattern::of(&at, ok, 1));
                for lane in 0..LANES {
                    let expected = |k: usize| {
                        let word = pattern(lane) + k;
                        if ok >> lane & 1 == 1 && word < 300 { word as u32 * 10 } else { 0 }
                    };
                    assert!((0..4).all(|k| four[k].0[lane] == expected(k)));
                    assert!((0..2).all(|k| two[k].0[lane] == expected(k)));
                    assert_eq!(one[0].0[lane], expected(0));
                }
            }
        }
    }

    #[test]
    fn stores_hit_their_words_and_no_others() {
        for step in [4, 5] {
            let block = memory(4 * 64 - 2);
            let at = Row(std::array::from_fn(|l| step * l as u32));
            let rows = [Row(std::array::from_fn(|l| l as u32)), Row::splat(1), Row::splat(2), Row::splat(3)];
            let ok = !0b10;
            store4(&block.view(), &at, ok, [&rows[0], &rows[1], &rows[2], &rows[3]]);
            for word in 0..4 * 64 - 2 {
                let (lane, k) = (word / step as usize, word % step as usize);
                let expected = match k {
                    _ if lane == 1 || k == 4 => word as u32 * 10,
                    0 => lane as u32,
                    k => k as u32,
                };
                assert_eq!(block.view().word(word), expected, "word {word}");
            }
        }
    }
}
