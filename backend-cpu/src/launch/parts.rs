//! Parts of a launch, tiles and groups, and where the threads of each are.

use recal_hal::Extent;

use super::turned::{blocks, turned};
use crate::context::Surface;
use crate::op::{Code, Emitted};
use crate::wave::LANES;

/// Halves of whole numbers below it are floats.
pub(super) const EXACT: u32 = 1 << 22;

/// Columns and lines of the tiles of a domain: flat, so that what neighbours read and write lies in a row.
pub(super) fn tile_shape(width: u32) -> [u32; 2] {
    let columns = 1 << width.clamp(1, LANES as u32).ilog2();
    [columns, LANES as u32 / columns]
}

/// How many neighbouring threads of a wave are in a line, as [`recal_jit::line`] says, if lines are not turned.
pub fn line(extent: Extent) -> u32 {
    recal_jit::line(match extent {
        Extent::Domain { width, .. } => tile_shape(width)[0],
        Extent::Grid { block, .. } => block[0],
    })
}

/// How compiled code stores an output; `None` if it can't: the threads of a wave that is whole are not in a line, or not inside, or
/// elements are converted.
pub fn emitted(extent: Extent, surface: &Surface<'_>) -> Option<Emitted> {
    let Extent::Domain { x, y, width, height } = extent else { return None };
    let words = surface.words;
    let ends = |first: u32, count: u32, size: u32| u64::from(first) + u64::from(count) <= u64::from(size);
    let inside = ends(x, width, surface.width) && ends(y, height, surface.height);
    // Compiled code is told that columns are exact.
    let exact = ends(x, width, EXACT);
    if tile_shape(width)[0] != LANES as u32 || !inside || !exact || !matches!(words, 1 | 2 | 4) {
        return None;
    }
    let aligned = [
        surface.view.address(),
        4 * words as usize * surface.pitch as usize,
        4 * words as usize * x as usize,
    ];
    let past_caches = surface.past_caches && aligned.iter().all(|at| at % 64 == 0);
    Some(Emitted { words, past_caches })
}

/// Number of parts of a launch: tiles, groups, or blocks of tiles.
pub fn parts(code: &Code, extent: Extent) -> u64 {
    match extent {
        Extent::Domain { width, height, .. } if turned(code, extent) => blocks(width, height),
        _ => tiles(extent),
    }
}

/// Number of tiles or groups of a launch. Of more than anyone can wait for it is the largest number there is.
pub fn tiles(extent: Extent) -> u64 {
    match extent {
        Extent::Domain { width, height, .. } => {
            let [columns, lines] = tile_shape(width);
            u64::from(width.div_ceil(columns)) * u64::from(height.div_ceil(lines))
        }
        Extent::Grid { groups, block } => {
            let empty = block.contains(&0);
            let count = groups.iter().fold(1u64, |count, &n| count.saturating_mul(n.into()));
            if empty { 0 } else { count }
        }
    }
}

/// The same threads in groups of one wave, in longer lines, of a kernel that can't tell which group a thread is in.
pub fn regrouped(extent: Extent) -> Extent {
    let Extent::Grid { groups, block } = extent else { return extent };
    let size: Option<Vec<u32>> = (0..3).map(|k| groups[k].checked_mul(block[k])).collect();
    let Some([x, y, z]) = size.as_deref() else { return extent };
    if *x == 0 || *y == 0 || *z == 0 {
        return extent;
    }
    let power = |size: u32, most: u32| 1 << size.trailing_zeros().min(most.ilog2());
    let lanes = LANES as u32;
    let columns = power(*x, lanes);
    let lines = power(*y, lanes / columns);
    let other = Extent::Grid { groups: [x / columns, y / lines, *z], block: [columns, lines, 1] };
    if columns * lines == lanes && line(other) > line(extent) { other } else { extent }
}

/// Waves of groups that [`joined`] makes at most: a group costs as much as some of them.
const JOINED: u32 = 8;

/// Parts for each thread of the host that it leaves at least.
const LEFT: u64 = 16;

/// The same waves, of threads along x, in larger groups, of a kernel that can't tell which waves are a group: code is called once for all
/// waves of one.
pub fn joined(extent: Extent, threads: usize) -> Extent {
    let Extent::Grid { groups: [mut groups, y, z], block: [mut block, 1, 1] } = extent else { return extent };
    let lanes = LANES as u32;
    let most = JOINED * lanes;
    let mut rest = tiles(extent) / 2;
    while block % lanes == 0
        && 0 < block
        && block <= most / 2
        && groups % 2 == 0
        && rest >= LEFT * threads as u64
    {
        (groups, block, rest) = (groups / 2, 2 * block, rest / 2);
    }
    Extent::Grid { groups: [groups, y, z], block: [block, 1, 1] }
}

/// Rows of tiles that are walked together, column by column: what a column of tiles reads stays in the cache.
pub(super) const BAND: u64 = 16;

/// First column and line of the tile number `part`, where `band` rows of tiles are walked together.
pub(super) fn tile_origin(part: u64, width: u32, height: u32, band: u64) -> [u32; 2] {
    let shifts = tile_shape(width).map(u32::ilog2);
    let [across, down] = [0, 1].map(|k| (u64::from([width, height][k]) + (1 << shifts[k]) - 1) >> shifts[k]);
    // A division of 64 bits takes several times as long as one of 32.
    let divide = |a: u64, b: u64| match (u32::try_from(a), u32::try_from(b)) {
        (Ok(a), Ok(b)) => (u64::from(a / b), u64::from(a % b)),
        _ => (a / b, a % b),
    };
    let first = divide(part, across * band).0 * band;
    let (column, row) = divide(part - first * across, band.min(down - first));
    [(column as u32) << shifts[0], ((first + row) as u32) << shifts[1]]
}

#[cfg(test)]
mod tests {
    use recal_hal::Format;

    use super::*;
    use crate::launch::Tile;
    use crate::memory::{Block, InUse};

    #[test]
    fn the_number_of_groups_does_not_wrap() {
        let parts = |groups| tiles(Extent::Grid { groups, block: [1; 3] });
        assert_eq!(parts([3, 5, 7]), 105);
        assert_eq!(parts([1 << 31, 1 << 31, 2]), 1 << 63);
        for most in [[1 << 22, 1 << 22, 1 << 20], [1 << 31, 1 << 31, 4], [u32::MAX; 3]] {
            assert_eq!(parts(most), u64::MAX);
        }
        assert_eq!(tiles(Extent::Grid { groups: [1; 3], block: [0, 1, 1] }), 0);
    }

    #[test]
    fn code_that_is_told_of_columns_sees_exact_ones() {
        let block = Block::allocate(64, u64::MAX, &InUse::default()).unwrap();
        let (width, format) = (u32::MAX, Format::Float32x1);
        let view = block.view();
        let surface = Surface { view, width, height: 1, pitch: width, format, words: 1, past_caches: false };
        let stores = |x| emitted(Extent::Domain { x, y: 0, width: 64, height: 1 }, &surface).is_some();
        assert!(stores(0) && stores(EXACT - 64));
        assert!(!stores(EXACT - 63) && !stores(EXACT));
    }

    #[test]
    fn every_tile_is_run_once() {
        for (width, height) in [(1, 1), (1, 200), (2, 3), (8, 8), (9, 40), (100, 7), (64, 24), (70, 300)] {
            let [columns, lines] = tile_shape(width);
            assert_eq!(columns * lines, 64);
            let extent = Extent::Domain { x: 3, y: 4, width, height };
            let count = tiles(extent);
            for band in [1, BAND] {
                let mut origins: Vec<_> =
                    (0..count).map(|part| tile_origin(part, width, height, band)).collect();
                origins.sort_unstable();
                origins.dedup();
                assert_eq!(origins.len() as u64, count);
                let inside = |[x, y]: [u32; 2]| x % columns == 0 && y % lines == 0 && x < width && y < height;
                assert!(origins.into_iter().all(inside));
            }
            for part in 0..count {
                let corner = tile_origin(part, width, height, BAND);
                let shift = columns.ilog2();
                let tile = Tile { shift, turned: false, corner, first: [3, 4], size: [width, height] };
                let last = [corner[0] + columns - 1, corner[1] + lines - 1];
                assert_eq!((tile.at(0), tile.at(63)), (corner, last));
            }
        }
    }

    #[test]
    fn other_groups_have_the_same_threads_in_longer_lines() {
        let grid = |groups, block| Extent::Grid { groups, block };
        assert_eq!(regrouped(grid([8, 8, 1], [8, 8, 1])), grid([1, 64, 1], [64, 1, 1]));
        assert_eq!(regrouped(grid([3, 4, 5], [8, 4, 2])), grid([3, 4, 5], [8, 4, 2]));
        assert_eq!(regrouped(grid([3, 4, 5], [4, 8, 2])), grid([3, 4, 5], [4, 8, 2]));
        assert_eq!(regrouped(grid([6, 4, 5], [4, 4, 2])), grid([3, 2, 10], [8, 8, 1]));
        // Nothing to gain, or threads that fill no wave.
        let rest =
            [([4, 4, 1], [64, 1, 1]), ([1, 1, 1], [8, 4, 1]), ([3, 3, 1], [5, 5, 1]), ([0, 1, 1], [8, 8, 1])];
        for (groups, block) in rest {
            assert_eq!(regrouped(grid(groups, block)), grid(groups, block));
        }
        assert_eq!(regrouped(grid([u32::MAX; 3], [8, 8, 1])), grid([u32::MAX; 3], [8, 8, 1]));
    }

    #[test]
    fn waves_are_joined_while_there_are_parts_for_all_threads() {
        let grid = |x, y, block| Extent::Grid { groups: [x, y, 1], block: [block, 1, 1] };
        assert_eq!(joined(grid(512, 1, 64), 2), grid(64, 1, 512));
        assert_eq!(joined(grid(512, 1, 64), 8), grid(128, 1, 256));
        assert_eq!(joined(grid(512, 1, 64), 17), grid(512, 1, 64));
        assert_eq!(joined(grid(12, 64, 128), 2), grid(3, 64, 512));
        let rest = [grid(511, 3, 64), grid(512, 1, 32), grid(512, 1, 96), grid(512, 1, 1024), grid(0, 1, 64)];
        let plane = Extent::Grid { groups: [512, 512, 1], block: [8, 8, 1] };
        let domain = Extent::Domain { x: 0, y: 0, width: 4096, height: 4096 };
        rest.into_iter().chain([plane, domain]).for_each(|extent| assert_eq!(joined(extent, 1), extent));
    }
}
