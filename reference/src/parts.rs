//! Parts of a launch, tiles of a domain and groups of a grid: how many there are, and where the threads of each are.
//!
//! A tile is a wave: as many columns as the domain has, but a power of two and 64 at most, and as many lines as make 64 pixels. Tiles
//! are counted line by line.

use recal_hal::Extent;

use crate::WAVE;
use crate::wave::Mask;

/// Columns and lines of the tiles of a domain.
fn tile_shape(width: u32) -> [u32; 2] {
    let columns = 1 << width.clamp(1, WAVE as u32).ilog2();
    [columns, WAVE as u32 / columns]
}

/// Tiles in a line of them.
fn tiles_across(width: u32) -> u64 {
    u64::from(width.div_ceil(tile_shape(width)[0]))
}

/// First column and line of a tile, within the domain.
fn tile_corner(part: u64, width: u32) -> [u32; 2] {
    let ([columns, lines], across) = (tile_shape(width), tiles_across(width).max(1));
    [(part % across) as u32 * columns, (part / across) as u32 * lines]
}

/// Number of tiles or groups. Of more than anyone can wait for it is the largest number there is.
pub fn parts(extent: Extent) -> u64 {
    match extent {
        Extent::Domain { width, height, .. } => {
            tiles_across(width) * u64::from(height.div_ceil(tile_shape(width)[1]))
        }
        Extent::Grid { groups, block } => {
            let count = groups.iter().fold(1u64, |count, &n| count.saturating_mul(n.into()));
            if block.contains(&0) { 0 } else { count }
        }
    }
}

/// Threads of a part, those of a tile that are not in the domain among them.
pub(crate) fn threads(extent: Extent) -> u32 {
    match extent {
        Extent::Domain { .. } => WAVE as u32,
        Extent::Grid { block, .. } => block.iter().product(),
    }
}

/// Threads of a wave of a part that there are.
pub(crate) fn launched(extent: Extent, part: u64, wave: u32) -> Mask {
    let there = |lane: &u32| match extent {
        Extent::Domain { width, height, .. } => {
            let ([column, line], [columns, _]) = (tile_corner(part, width), tile_shape(width));
            column + lane % columns < width && line + lane / columns < height
        }
        Extent::Grid { .. } => wave * WAVE as u32 + lane < threads(extent),
    };
    (0..WAVE as u32).filter(there).fold(0, |mask, lane| mask | 1 << lane)
}

/// Place of a part: first column and line of a tile within the domain, or place of a group in the grid.
pub(crate) fn place(extent: Extent, part: u64) -> [u32; 3] {
    match extent {
        Extent::Domain { width, .. } => {
            let [column, line] = tile_corner(part, width);
            [column, line, 0]
        }
        Extent::Grid { groups, .. } => unflat(part, groups),
    }
}

/// Place of a thread in its part.
pub(crate) fn own(extent: Extent, number: u32) -> [u32; 3] {
    match extent {
        Extent::Domain { width, .. } => {
            let [columns, _] = tile_shape(width);
            [number % columns, number / columns, 0]
        }
        Extent::Grid { block, .. } => unflat(number.into(), block),
    }
}

fn unflat(number: u64, size: [u32; 3]) -> [u32; 3] {
    let [width, height] = [size[0].max(1), size[1].max(1)].map(u64::from);
    [number % width, number / width % height, number / width / height].map(|n| n as u32)
}

/// The part of a thread at an absolute position, and its number in the part.
pub fn part_of(extent: Extent, thread: [u32; 3]) -> Option<(u64, u32)> {
    match extent {
        Extent::Domain { x, y, width, height } => {
            let (column, line) = (thread[0].checked_sub(x)?, thread[1].checked_sub(y)?);
            let [columns, lines] = tile_shape(width);
            let part = u64::from(line / lines) * tiles_across(width) + u64::from(column / columns);
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
    let (place, own) = (place(extent, part), own(extent, number));
    match extent {
        Extent::Domain { x, y, .. } => {
            [x.wrapping_add(place[0] + own[0]), y.wrapping_add(place[1] + own[1]), 0]
        }
        Extent::Grid { block, .. } => {
            std::array::from_fn(|k| place[k].wrapping_mul(block[k]).wrapping_add(own[k]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(launched(extent, part, 0), 0b11_1111);
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
    }

    #[test]
    fn every_pixel_is_in_one_tile() {
        for (width, height) in [(1, 1), (1, 200), (2, 3), (8, 8), (9, 40), (100, 7), (64, 24), (70, 300)] {
            let extent = Extent::Domain { x: 3, y: 4, width, height };
            let mut pixels = 0;
            for part in 0..parts(extent) {
                for lane in (0..64).filter(|lane| launched(extent, part, 0) >> lane & 1 == 1) {
                    let at = position_of(extent, part, lane);
                    assert!(at[0] - 3 < width && at[1] - 4 < height, "{at:?}");
                    assert_eq!(part_of(extent, at), Some((part, lane)));
                    pixels += 1;
                }
            }
            assert_eq!(pixels, width * height);
        }
        let domain = Extent::Domain { x: 3, y: 4, width: 9, height: 3 };
        assert!(part_of(domain, [11, 6, 0]).is_some());
        assert_eq!(part_of(domain, [12, 6, 0]), None, "in the last tile, but not in the domain");
        assert_eq!(part_of(domain, [11, 7, 0]), None, "in the last tile, but not in the domain");
        assert_eq!(part_of(domain, [2, 6, 0]), None);
    }
}
