//! Parts of a launch, tiles and groups, and where the threads of each are.

use recal_hal::Extent;

use crate::context::Surface;
use crate::op::Emitted;
use crate::wave::LANES;

/// Columns and lines of the tiles of a domain: flat, so that what neighbours read and write lies in a row.
pub(super) fn tile_shape(width: u32) -> [u32; 2] {
    let columns = 1 << width.clamp(1, LANES as u32).ilog2();
    [columns, LANES as u32 / columns]
}

/// How many neighbouring threads of a wave are in a line, as [`recal_jit::line`] says.
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
    if tile_shape(width)[0] != LANES as u32 || !inside || !matches!(words, 1 | 2 | 4) {
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

/// Number of parts of a launch: tiles or groups. Of more than anyone can wait for it is the largest number there is.
pub fn parts(extent: Extent) -> u64 {
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

/// The part of a thread at an absolute position, and its number in the part.
pub fn part_of(extent: Extent, thread: [u32; 3]) -> Option<(u64, u32)> {
    match extent {
        Extent::Domain { x, y, width, height } => {
            let (column, line) = (thread[0].checked_sub(x)?, thread[1].checked_sub(y)?);
            let [columns, lines] = tile_shape(width);
            let origin = [column / columns * columns, line / lines * lines];
            let part = (0..parts(extent)).find(|&part| tile_origin(part, width, height, BAND) == origin)?;
            (column < width && line < height).then_some((part, line % lines * columns + column % columns))
        }
        Extent::Grid { groups, block } => {
            let group: [u32; 3] = std::array::from_fn(|k| thread[k] / block[k].max(1));
            let own: [u32; 3] = std::array::from_fn(|k| thread[k] % block[k].max(1));
            let flat = |at: [u32; 3], size: [u32; 3]| {
                let [x, y, z] = at.map(u128::from);
                x + u128::from(size[0]) * (y + u128::from(size[1]) * z)
            };
            let part = u64::try_from(flat(group, groups)).ok()?;
            (0..3).all(|k| group[k] < groups[k]).then(|| (part, flat(own, block) as u32))
        }
    }
}

/// Absolute position of a thread of a part: column and row of the domain, or `vAbsTid`. The reverse of [`part_of`].
pub fn position_of(extent: Extent, part: u64, number: u32) -> [u32; 3] {
    match extent {
        Extent::Domain { x, y, width, height } => {
            let [left, top] = tile_origin(part, width, height, BAND);
            let [columns, _] = tile_shape(width);
            [x + left + number % columns, y + top + number / columns, 0]
        }
        Extent::Grid { groups, block } => {
            let unflat = |n: u64, size: [u32; 3]| {
                let [width, height] = [size[0].max(1), size[1].max(1)].map(u64::from);
                [n % width, n / width % height, n / width / height].map(|n| n as u32)
            };
            let (group, own) = (unflat(part, groups), unflat(u64::from(number), block));
            std::array::from_fn(|k| group[k].wrapping_mul(block[k]).wrapping_add(own[k]))
        }
    }
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
    use super::*;
    use crate::launch::Tile;

    #[test]
    fn the_number_of_groups_does_not_wrap() {
        let parts = |groups| parts(Extent::Grid { groups, block: [1; 3] });
        assert_eq!(parts([3, 5, 7]), 105);
        assert_eq!(parts([1 << 31, 1 << 31, 2]), 1 << 63);
        for most in [[1 << 22, 1 << 22, 1 << 20], [1 << 31, 1 << 31, 4], [u32::MAX; 3]] {
            assert_eq!(parts(most), u64::MAX);
        }
        let extent = Extent::Grid { groups: [u32::MAX; 3], block: [1; 3] };
        assert_eq!(part_of(extent, [5, 1, 0]), Some((5 + u64::from(u32::MAX), 0)));
        assert_eq!(part_of(extent, [0, 0, 1 << 30]), None, "it is never reached");
    }

    #[test]
    fn every_thread_of_a_grid_has_a_place_and_others_have_none() {
        let (groups, block) = ([2, 3, 4], [3, 1, 2]);
        let extent = Extent::Grid { groups, block };
        let mut seen = std::collections::BTreeSet::new();
        for part in 0..parts(extent) {
            for number in 0..6 {
                let at = position_of(extent, part, number);
                assert!((0..3).all(|k| at[k] < groups[k] * block[k]), "{at:?}");
                assert_eq!(part_of(extent, at), Some((part, number)));
                seen.insert(at);
            }
        }
        assert_eq!(seen.len(), 24 * 6);
        assert_eq!(part_of(extent, [0, 0, 8]), None);
        assert_eq!(parts(Extent::Grid { groups: [1; 3], block: [0, 1, 1] }), 0);
        let domain = Extent::Domain { x: 3, y: 4, width: 9, height: 3 };
        assert!(part_of(domain, [11, 6, 0]).is_some());
        assert_eq!(part_of(domain, [12, 6, 0]), None, "in the last tile, but not in the domain");
        assert_eq!(part_of(domain, [11, 7, 0]), None, "in the last tile, but not in the domain");
    }

    #[test]
    fn every_tile_is_run_once() {
        for (width, height) in [(1, 1), (1, 200), (2, 3), (8, 8), (9, 40), (100, 7), (64, 24), (70, 300)] {
            let [columns, lines] = tile_shape(width);
            assert_eq!(columns * lines, 64);
            let extent = Extent::Domain { x: 3, y: 4, width, height };
            let count = parts(extent);
            for band in [1, BAND] {
                let mut origins: Vec<_> =
                    (0..count).map(|part| tile_origin(part, width, height, band)).collect();
                origins.sort_unstable();
                origins.dedup();
                assert_eq!(origins.len() as u64, count);
                let inside = |[x, y]: [u32; 2]| x % columns == 0 && y % lines == 0 && x < width && y < height;
                assert!(origins.into_iter().all(inside));
            }
            for (x, y) in [(0, 0), (width - 1, 0), (0, height - 1), (width / 2, height / 2)] {
                let (part, lane) = part_of(extent, [3 + x, 4 + y, 0]).unwrap();
                let corner = tile_origin(part, width, height, BAND);
                let tile = Tile { shift: columns.ilog2(), corner, first: [3, 4], size: [width, height] };
                assert_eq!(tile.at(lane as usize), [x, y]);
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
}
