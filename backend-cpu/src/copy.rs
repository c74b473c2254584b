//! The copy command, in parts that several threads may do.

use std::ops::Range;

use recal_hal::{Error, Result, Surface};

use crate::context::{Stop, block, whole};
use crate::memory::{Block, InUse, View};

/// Bytes of a part: so many that it is worth the way to another thread.
const PART: usize = 1 << 20;

/// Copies the rectangle of a surface to the origin of another.
pub struct Copy {
    from: Surface,
    to: Surface,
    /// Bytes of a row, and of the last one.
    row: usize,
    last: usize,
    /// Bytes from each row to the next, where they are and where they go.
    pitches: [usize; 2],
    rows: usize,
    /// Rows of a part.
    each: usize,
    /// Within one memory the order counts: rows that move apart go last first, so that each is read before it is overwritten.
    last_first: bool,
    /// Where all rows go first if there is no such order.
    between: Option<Block>,
}

impl Copy {
    /// An error if it does not fit the surfaces, or they are not this backend's.
    pub fn new(from: Surface, to: Surface) -> Result<Copy> {
        block(&from)?.read();
        let views = [whole(&from)?, whole(&to)?];
        let element = from.format.bytes() as usize;
        let (row, rows) = (from.width as usize * element, from.height as usize);
        let pitches = [&from, &to].map(|surface| surface.pitch as usize * element);
        let inside = |k: usize| rows == 0 || (rows - 1) * pitches[k] + row <= views[k].bytes();
        let fits =
            from.width <= to.width && from.height <= to.height && element == to.format.bytes() as usize;
        if !fits || !(0..2).all(inside) {
            return Err(Error::Failed("a copy does not fit its surfaces".into()));
        }
        let [here, there] = views.map(|view| view.address()..view.address() + view.bytes());
        let apart = here.end <= there.start || there.end <= here.start;
        // Rows that follow each other without a gap are one.
        let gapless = rows == 1 || pitches == [row; 2];
        let (row, rows) = if gapless { (row * rows, 1) } else { (row, rows) };
        // Within one memory all is one part.
        let first_first = pitches[1] <= pitches[0] && there.start <= here.start;
        let last_first = pitches[1] >= pitches[0] && there.start >= here.start;
        let between = if apart || first_first || last_first || rows <= 1 {
            None
        } else {
            Some(Block::allocate((row * rows) as u64, u64::MAX, &InUse::default())?)
        };
        let last_first = last_first && !first_first;
        let mut copy = Copy { from, to, row, last: row, pitches, rows, each: rows, last_first, between };
        if apart && gapless {
            let rows = row.div_ceil(PART).max(1);
            copy =
                Copy { row: PART, last: row - (rows - 1) * PART, pitches: [PART; 2], rows, each: 1, ..copy };
        } else if apart {
            copy.each = (PART / row.max(1)).max(1);
        }
        Ok(copy)
    }

    /// How many parts it has.
    pub fn parts(&self) -> u64 {
        self.rows.div_ceil(self.each.max(1)) as u64
    }

    /// How many bytes it copies.
    pub fn bytes(&self) -> u64 {
        self.rows.saturating_sub(1) as u64 * self.row as u64 + self.last as u64
    }

    /// Does the parts that `claim` gives out until it has no more, or is told to stop.
    pub fn run(&self, stop: &Stop, mut claim: impl FnMut() -> Option<Range<u64>>) -> Result<()> {
        let views = [whole(&self.from)?, whole(&self.to)?];
        while let Some(parts) = claim() {
            parts.for_each(|part| self.part(part as usize, &views));
            if stop.raised() {
                break;
            }
        }
        Ok(())
    }

    fn part(&self, number: usize, [from, to]: &[View<'_>; 2]) {
        let first = number * self.each;
        let end = (first + self.each).min(self.rows);
        let rows = |to: &View<'_>, to_pitch: usize, from: &View<'_>, from_pitch: usize| {
            for number in first..end {
                let row = if self.last_first { first + end - 1 - number } else { number };
                let bytes = if row + 1 == self.rows { self.last } else { self.row };
                let copied = to.copy(row * to_pitch, from, row * from_pitch, bytes);
                debug_assert!(copied, "it was seen to fit");
            }
        };
        let [from_pitch, to_pitch] = self.pitches;
        match &self.between {
            None => rows(to, to_pitch, from, from_pitch),
            Some(between) => {
                rows(&between.view(), self.row, from, from_pitch);
                rows(to, to_pitch, &between.view(), self.row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use recal_hal::Format;

    use super::*;

    fn memory(bytes: usize) -> Arc<Block> {
        Arc::new(Block::allocate(bytes as u64, u64::MAX, &InUse::default()).unwrap())
    }

    fn surface(memory: &Arc<Block>, [width, height, pitch]: [u32; 3]) -> Surface {
        Surface { memory: memory.clone(), width, height, pitch, format: Format::UnsignedInt32x1 }
    }

    /// Whoever does parts does them in any order.
    fn run(copy: &Copy) {
        let mut parts = (0..copy.parts()).rev().map(|part| part..part + 1);
        copy.run(&Stop::after(None, None), || parts.next()).unwrap();
    }

    #[test]
    fn each_part_is_copied_and_nothing_else() {
        const WORDS: usize = PART / 4;
        let (most, all) = (5 * WORDS, 5 * WORDS as u32);
        // What is copied with its pitch, the pitch where it goes, and how many parts it has.
        let cases = [
            ([64, 3, 64], 64, 1),
            ([all - 7, 1, all], all, 5),
            ([512, 4 * WORDS as u32 / 512 + 1, 512], 512, 5),
            ([500, 1025, 512], 600, 2),
            ([500, 1025, 600], 512, 2),
            ([WORDS as u32 + 1, 2, WORDS as u32 + 1], WORDS as u32 + 9, 2),
        ];
        for (from, pitch, parts) in cases {
            let [here, there] = [0; 2].map(|_| memory(4 * most));
            let word = |at: usize| 0x9E37_79B9u32.wrapping_mul(at as u32 + 1);
            (0..most).for_each(|at| here.view().set_word(at, word(at)));
            let [width, height, _] = from;
            let copy = Copy::new(surface(&here, from), surface(&there, [width, height, pitch])).unwrap();
            assert_eq!((copy.parts(), copy.bytes()), (parts, 4 * u64::from(width) * u64::from(height)));
            run(&copy);
            let [width, pitch] = [width, pitch].map(|size| size as usize);
            let expected = |at: usize| {
                let copied = at % pitch < width && at / pitch < height as usize;
                if copied { word(at / pitch * from[2] as usize + at % pitch) } else { 0 }
            };
            let wrong = (0..most).find(|at| there.view().word(*at) != expected(*at));
            assert_eq!(wrong, None, "{from:?} to {pitch}");
        }
    }

    #[test]
    fn within_a_memory_the_order_counts() {
        for [from, to] in [[5, 8], [8, 5]] {
            let here = memory(4 << 20);
            let words = 1 << 20;
            (0..words).for_each(|at| here.view().set_word(at, at as u32));
            let height = (words / 8) as u32;
            let copy = Copy::new(surface(&here, [5, height, from]), surface(&here, [5, height, to])).unwrap();
            assert_eq!(copy.parts(), 1);
            run(&copy);
            let is = |at: usize| here.view().word(at / 5 * to as usize + at % 5);
            assert!((0..5 * height as usize).all(|at| is(at) == (at / 5 * from as usize + at % 5) as u32));
        }
        let here = memory(4 << 20);
        let all = || surface(&here, [1024, 1024, 1024]);
        assert_eq!(Copy::new(all(), all()).unwrap().parts(), 1);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let here = memory(4096);
        let fits = |from, to| Copy::new(surface(&here, from), surface(&here, to)).is_ok();
        assert!(fits([32, 32, 32], [32, 32, 32]));
        assert!(!fits([32, 32, 33], [32, 32, 32]) && !fits([32, 32, 32], [32, 32, 33]));
        assert!(!fits([32, 2, 32], [31, 2, 32]) && !fits([32, 2, 32], [32, 1, 32]));
    }
}
