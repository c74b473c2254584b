//! Launches whose threads read at their own place with column and line exchanged.
//!
//! Waves of threads along a line would read as many lines of memory as they have lanes, a word of each. So they go down the columns,
//! where what they read lies in a line, and a part of the launch is a block of 16 x 16 positions: what its waves have computed is stored line by
//! line when all of them are done.

use std::array::from_fn;

use recal_hal::Extent;
use recal_jit::Waves;

use super::{Last, Tile, clear};
use crate::context::{Context, Surface};
use crate::flow::Outcome;
use crate::isa_choice::Isa;
use crate::memory::elements;
use crate::op::{Code, NONE, Rows4};
use crate::stages::Plan;
use crate::wave::{LANES, Row, Wave};

/// Columns and lines of a block.
pub const SIDE: u32 = 16;
/// Columns of a wave.
const COLUMNS: u32 = LANES as u32 / SIDE;
/// Waves of a block.
pub const WAVES: usize = (SIDE / COLUMNS) as usize;

/// Waves go down columns.
pub fn turned(code: &Code, extent: Extent) -> bool {
    matches!(extent, Extent::Domain { width, height, .. } if code.turned && width >= SIDE && height >= SIDE)
}

/// Number of blocks of a domain.
pub fn blocks(width: u32, height: u32) -> u64 {
    u64::from(width.div_ceil(SIDE)) * u64::from(height.div_ceil(SIDE))
}

/// First column and line of the block number `part`: down the columns, so that what is read goes on line after line, and processors
/// fetch it before it is asked for.
fn origin(part: u64, height: u32) -> [u32; 2] {
    let down = u64::from(height.div_ceil(SIDE));
    [part / down, part % down].map(|block| block as u32 * SIDE)
}

/// Runs the block number `part` and stores its outputs.
pub fn block(isa: &Isa, plan: &Plan, waves: &mut [Wave], context: &mut Context<'_>, part: u64) -> Outcome {
    let launch = context.launch;
    let Some(waves) = waves.first_chunk_mut::<WAVES>() else { return Outcome::Ended };
    let Extent::Domain { x, y, width, height } = launch.extent else { return Outcome::Ended };
    let corner = origin(part, height);
    let tile = |index: usize| Tile {
        shift: SIDE.ilog2(),
        corner: [corner[0] + index as u32 * COLUMNS, corner[1]],
        first: [x, y],
        size: [width, height],
        turned: true,
    };
    let before = context.tile.replace(Last { part, corner, next: None });
    let other = before.is_none_or(|last| last.corner[0] != corner[0]);
    if launch.params.is_some() {
        context.mode.leave();
    }
    let within = corner[0] + SIDE <= width && corner[1] + SIDE <= height;
    for (index, wave) in waves.iter_mut().enumerate() {
        let tile = tile(index);
        let inside = |lane: &usize| {
            let [column, line] = tile.at(*lane);
            column < width && line < height
        };
        let mask = match within {
            true => !0,
            false => (0..LANES).filter(inside).fold(0, |mask, lane| mask | 1 << lane),
        };
        clear(&mut wave.rows, context);
        isa.place_tile(wave, launch, &tile, other);
        wave.start(mask, 0);
    }
    let outcome = if launch.body.stages.is_empty() {
        let mut run = |wave: &mut Wave| match wave.launched {
            0 => Outcome::Ended,
            _ => isa.run(wave, launch.code, context),
        };
        waves.iter_mut().map(&mut run).find(|outcome| *outcome != Outcome::Ended).unwrap_or(Outcome::Ended)
    } else {
        let list = &mut waves.each_mut().map(|wave| recal_jit::Wave::new(&mut wave.rows, wave.launched));
        plan.run(&mut Waves::new(list), context)
    };
    if outcome != Outcome::Ended {
        return outcome;
    }
    context.mode.leave();
    for (surface, (_, rows)) in launch.outputs.iter().zip(&launch.code.outputs) {
        let first = [x.wrapping_add(corner[0]), y.wrapping_add(corner[1])];
        let ends = |axis: usize, size: u32| u64::from(first[axis]) + u64::from(SIDE) <= u64::from(size);
        let whole = waves.iter().all(|wave| wave.launched & !wave.killed == !0);
        let inside = whole && ends(0, surface.width) && ends(1, surface.height);
        if inside && isa.store_block(waves, surface, *rows, first) {
            continue;
        }
        for (index, wave) in waves.iter().enumerate() {
            isa.store_output(wave, surface, *rows, &tile(index), wave.launched & !wave.killed);
        }
    }
    Outcome::Ended
}

/// Stores an output of a block whose threads are all inside; false if its elements are converted.
#[inline(always)]
pub fn store_block(waves: &[Wave], surface: &Surface<'_>, rows: Rows4, first: [u32; 2]) -> bool {
    match surface.words {
        1 => store_words::<1, { SIDE as usize }>(waves, surface, rows, first),
        2 => store_words::<2, { 2 * SIDE as usize }>(waves, surface, rows, first),
        4 => store_words::<4, { 4 * SIDE as usize }>(waves, surface, rows, first),
        _ => return false,
    }
    true
}

/// The same for elements of so many words, and as many words in a line of the block.
#[inline(always)]
fn store_words<const WORDS: usize, const LINE: usize>(
    waves: &[Wave],
    surface: &Surface<'_>,
    rows: Rows4,
    [x, y]: [u32; 2],
) {
    const FOUR: usize = COLUMNS as usize;
    for band in (0..SIDE as usize).step_by(FOUR) {
        let mut lines = [[0; LINE]; FOUR];
        for (index, wave) in waves.iter().enumerate() {
            for (k, &row) in rows.iter().enumerate().take(WORDS) {
                let row = if row == NONE { &Row::ZERO } else { &wave.rows[row as usize] };
                let words: [[u32; FOUR]; FOUR] =
                    from_fn(|column| from_fn(|line| row.0[column * SIDE as usize + band + line]));
                for (line, to) in lines.iter_mut().enumerate() {
                    let to = &mut to[index * FOUR * WORDS..][..FOUR * WORDS];
                    words.iter().zip(to.chunks_exact_mut(WORDS)).for_each(|(from, to)| to[k] = from[line]);
                }
            }
        }
        for (line, words) in lines.iter().enumerate() {
            let start = (y as usize + band + line) * surface.pitch as usize + x as usize;
            elements::write(surface, WORDS * start, words);
            // Where the block below stores; a processor follows no lines that are pages apart.
            let below = WORDS * (start + SIDE as usize * surface.pitch as usize);
            if !surface.past_caches {
                (0..LINE).step_by(16).for_each(|word| surface.view.prefetch((below + word) as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_run_once() {
        for (width, height) in [(16, 16), (17, 40), (100, 33), (16, 300), (300, 16)] {
            let mut origins: Vec<_> = (0..blocks(width, height)).map(|part| origin(part, height)).collect();
            origins.sort_unstable();
            origins.dedup();
            assert_eq!(origins.len() as u64, blocks(width, height));
            let inside = |[x, y]: [u32; 2]| x % SIDE == 0 && y % SIDE == 0 && x < width && y < height;
            assert!(origins.into_iter().all(inside));
        }
    }
}
