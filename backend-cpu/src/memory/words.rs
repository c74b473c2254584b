//! Moves words between registers and memory, a wave at a time.
//!
//! Neighbours in memory and equal addresses are common, for a whole wave or for each eight lanes of it, and are moved
//! as blocks; anything else goes lane by lane.

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
    /// All lanes are live and read the same words.
    Splat,
    /// All lanes are live, and each reads the words after those of the lane before.
    Run,
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
        // What lane 63 compares itself with is itself, so its step is left out.
        let (mut far, mut apart, mut far_inside, mut apart_inside) = (0, 0, 0, 0);
        for lane in 0..LANES {
            let step = next[lane].wrapping_sub(at.0[lane]);
            let off = step ^ n;
            far |= off & LINKED[lane];
            apart |= step;
            far_inside |= off & INNER[lane];
            apart_inside |= step & INNER[lane];
        }
        match (far, apart, far_inside, apart_inside) {
            (0, ..) => Pattern::Run,
            (_, 0, ..) => Pattern::Splat,
            (_, _, 0, _) => Pattern::Runs,
            (_, _, _, 0) => Pattern::Splats,
            _ => Pattern::Mixed,
        }
    }
}

/// All ones for every lane but the last.
const LINKED: [u32; LANES] = {
    let mut linked = [!0; LANES];
    linked[LANES - 1] = 0;
    linked
};

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
    let flushes = |k: usize| flush >> k & 1 == 1;
    match pattern {
        Pattern::Splat => {
            let Some(words) = view.read::<4>(at.0[0] as usize) else { return false };
            for k in 0..4 {
                let word = if flushes(k) { flushed(words[k]) } else { words[k] };
                rows[dst[k] as usize] = Row::splat(word);
            }
            true
        }
        Pattern::Splats => {
            let mut out = [Row::ZERO; 4];
            for first in (0..LANES).step_by(PART) {
                let Some(words) = view.read::<4>(at.0[first] as usize) else { return false };
                for k in 0..4 {
                    let word = if flushes(k) { flushed(words[k]) } else { words[k] };
                    out[k].0[first..first + PART].fill(word);
                }
            }
            (0..4).for_each(|k| rows[dst[k] as usize] = out[k]);
            true
        }
        Pattern::Run => {
            let Some(words) = view.read::<{ 4 * LANES }>(at.0[0] as usize) else { return false };
            let kept = [0, 1, 2, 3].map(|k| if flushes(k) { 0x8000_0000 } else { !0 });
            let word = |at: usize, k: usize| {
                let word = words[4 * at + k];
                if word & 0x7F80_0000 == 0 { word & kept[k] } else { word }
            };
            let [mut x, mut y, mut z, mut w] = [Row::ZERO; 4];
            // One loop over all four, which the compiler makes wide loads and permutations of.
            for lane in 0..LANES {
                x.0[lane] = word(lane, 0);
                y.0[lane] = word(lane, 1);
                z.0[lane] = word(lane, 2);
                w.0[lane] = word(lane, 3);
            }
            rows[dst[0] as usize] = x;
            rows[dst[1] as usize] = y;
            rows[dst[2] as usize] = z;
            rows[dst[3] as usize] = w;
            true
        }
        Pattern::Runs => {
            // The four rows are distinct, so each may be written while the others are.
            for first in (0..LANES).step_by(PART) {
                let Some(words) = view.read::<32>(at.0[first] as usize) else { return false };
                for k in 0..4 {
                    let mut part: [u32; PART] = std::array::from_fn(|lane| words[4 * lane + k]);
                    if flushes(k) {
                        part = part.map(flushed);
                    }
                    rows[dst[k] as usize].0[first..first + PART].copy_from_slice(&part);
                }
            }
            true
        }
        Pattern::Mixed => false,
    }
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
            if pattern == Pattern::Splat {
                if let Some(words) = view.read::<$n>(at.0[0] as usize) {
                    return words.map(Row::splat);
                }
            }
            for part in 0..LANES / PART {
                let first = part * PART;
                let index: [u32; PART] = std::array::from_fn(|lane| at.0[first + lane]);
                let start = index[0];
                let live = (ok >> first) & 0xFF == 0xFF;
                let (splat, run) = match pattern {
                    Pattern::Splat | Pattern::Splats => (true, false),
                    Pattern::Run | Pattern::Runs => (false, true),
                    // Waves at an edge still have parts in order.
                    Pattern::Mixed if live => {
                        let (mut apart, mut far) = (0, 0);
                        for lane in 0..PART {
                            let step = index[lane].wrapping_sub(start);
                            apart |= step;
                            far |= step ^ ($n * lane as u32);
                        }
                        (apart == 0, far == 0)
                    }
                    Pattern::Mixed => (false, false),
                };
                if splat {
                    if let Some(words) = view.read::<$n>(start as usize) {
                        for (row, word) in out.iter_mut().zip(words) {
                            row.0[first..first + PART].fill(word);
                        }
                        continue;
                    }
                } else if run {
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
        assert_eq!(Pattern::of(&row(|l| 4 * l), !0, 4), Pattern::Run);
        assert_eq!(Pattern::of(&row(|l| 4 * l.min(62)), !0, 4), Pattern::Mixed);
        assert_eq!(Pattern::of(&row(|_| 9), !0, 4), Pattern::Splat);
        assert_eq!(Pattern::of(&row(|l| 9 + l / 63), !0, 4), Pattern::Mixed);
        assert_eq!(Pattern::of(&row(|l| 4 * (l % 8) + 100 * (l / 8)), !0, 4), Pattern::Runs);
        assert_eq!(Pattern::of(&row(|l| 4 * l), !0, 2), Pattern::Mixed);
        assert_eq!(Pattern::of(&row(|l| l / 8), !0, 4), Pattern::Splats);
        assert_eq!(Pattern::of(&row(|l| l / 4), !0, 4), Pattern::Mixed);
        assert_eq!(Pattern::of(&row(|_| 3), !1, 4), Pattern::Mixed);
    }

    #[test]
    fn every_pattern_loads_the_words_it_names() {
        let block = memory(300);
        let patterns: [fn(usize) -> usize; 9] = [
            |l| 4 * l,
            |_| 5,
            |l| l / 8,
            |l| (l * 37) % 290,
            |l| 4 * (l % 8),
            |l| 60 + 4 * l,
            |l| 4 * l.min(50),
            |l| 2 * l,
            |l| 20 + l.max(9),
        ];
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
    fn every_component_is_flushed_by_its_own_bit() {
        // Small whole numbers, with either sign, are denormal; every fifth word is not.
        let word =
            |i: usize| if i % 5 == 4 { 0x3F80_0000 + i as u32 } else { i as u32 | (i as u32 & 1) << 31 };
        let block = memory(300);
        (0..300).for_each(|i| block.view().set_word(i, word(i)));
        type Place = fn(usize) -> usize;
        let patterns: [(Place, Pattern); 4] = [
            (|_| 7, Pattern::Splat),
            (|l| 4 * l, Pattern::Run),
            (|l| 9 + l / 8, Pattern::Splats),
            (|l| 4 * (l % 8) + 5 * (l / 8), Pattern::Runs),
        ];
        for (place, pattern) in patterns {
            let at = Row(std::array::from_fn(|l| place(l) as u32));
            assert_eq!(Pattern::of(&at, !0, 4), pattern);
            for flush in 0..16 {
                let (mut rows, dst) = ([Row::ZERO; 6], [3, 0, 5, 2]);
                assert!(load4_into(&block.view(), &at, pattern, &mut rows, dst, flush));
                for (lane, k) in (0..LANES).flat_map(|lane| (0..4).map(move |k| (lane, k))) {
                    let stored = word(place(lane) + k);
                    let number = f32::from_bits(stored).abs() >= f32::MIN_POSITIVE;
                    let kept = if flush >> k & 1 == 0 || number { stored } else { stored & 1 << 31 };
                    assert_eq!(rows[dst[k] as usize].0[lane], kept, "{pattern:?}, {flush:04b}: {lane}, {k}");
                }
            }
        }
        let end = Row(std::array::from_fn(|l| 297 + l as u32));
        assert!(!load4_into(&block.view(), &end, Pattern::Run, &mut [Row::ZERO; 4], [0, 1, 2, 3], 0));
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
