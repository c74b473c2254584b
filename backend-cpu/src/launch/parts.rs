//! Parts of a launch, tiles and groups, and where the threads of each are.

use recal_hal::{Bindings, Extent};

use super::turned::{SIDE, WAVES, blocks, turned};
use crate::context::{Launch, Surface};
use crate::op::{Code, Emitted};
use crate::wave::LANES;

/// Halves of whole numbers below it are floats.
pub(super) const EXACT: u32 = 1 << 22;

/// Fewest columns of a tile that could have more: the threads that compiled code does together.
const FEWEST: u32 = 16;
/// Bytes of what a wave reads down its columns that leave it in the second-level cache, with all else that is there.
const PANEL: u64 = 256 << 10;

/// Waves of a tile that is longer than one.
pub(super) const TOGETHER: u32 = 8;

/// Waves whose rows are held at a time: those of a part, or one for each of several groups that are done in registers.
pub(super) fn held(group_waves: u32, launch: &Launch<'_>) -> u32 {
    match launch.extent {
        Extent::Domain { .. } if turned(launch.code, launch.extent) => WAVES as u32,
        Extent::Domain { width, .. } => (tile_shape(width, launch.columns)[0] / LANES as u32).max(1),
        Extent::Grid { .. } if launch.body.in_registers().is_some() => TOGETHER,
        Extent::Grid { .. } => group_waves,
    }
}

/// The most columns of longer tiles, so that code is called once for several waves, if a launch has enough of them for all threads of the
/// host.
pub fn longer(extent: Extent, columns: u32, threads: usize) -> u32 {
    let mut longer = columns;
    if let Extent::Domain { width, .. } = extent
        && columns == LANES as u32
    {
        while longer < TOGETHER * columns
            && width >= 2 * longer
            && tiles(extent, 2 * longer) >= LEFT * threads as u64
        {
            longer *= 2;
        }
    }
    longer
}

/// The most columns that a tile, or a group that nobody sees, has: as many as a wave has lanes, unless a loop reads down the columns of
/// surfaces so high that the caches would not keep it for the next line of threads.
pub fn columns(code: &Code, bindings: &Bindings) -> u32 {
    let surface = |place: u32| {
        let number = code.resources.get(place as usize)?;
        bindings.resources.iter().find(|(other, _)| other == number).map(|(_, surface)| surface)
    };
    let bytes = |place: &u32| {
        surface(*place).map_or(0, |surface| u64::from(surface.height) * surface.format.bytes() as u64)
    };
    let column: u64 = code.panels.iter().map(bytes).sum();
    let mut columns = LANES as u32;
    // A line of a panel is read once for all lines of a wave.
    let most = if code.abreast { 0 } else { PANEL };
    while columns > FEWEST && u64::from(columns) * column > most {
        columns /= 2;
    }
    columns
}

/// Columns and lines of the tiles of a domain: flat, so that what neighbours read and write lies in a row. A tile is a wave, or a line of
/// several.
pub(super) fn tile_shape(width: u32, columns: u32) -> [u32; 2] {
    let columns = 1 << width.clamp(1, columns).ilog2();
    [columns, (LANES as u32 / columns).max(1)]
}

/// How many neighbouring threads of a wave are in a line, as [`recal_jit::line`] says, if lines are not turned.
pub fn line(extent: Extent, columns: u32) -> u32 {
    recal_jit::line(match extent {
        Extent::Domain { width, .. } => tile_shape(width, columns)[0].min(LANES as u32),
        Extent::Grid { block, .. } => block[0],
    })
}

/// How compiled code stores an output; `None` if it can't: the threads of a wave that is whole are not in a line, or not inside, or
/// elements are converted.
pub fn emitted(extent: Extent, columns: u32, surface: &Surface<'_>) -> Option<Emitted> {
    let Extent::Domain { x, y, width, height } = extent else { return None };
    let words = surface.words;
    let ends = |first: u32, count: u32, size: u32| u64::from(first) + u64::from(count) <= u64::from(size);
    let inside = ends(x, width, surface.width) && ends(y, height, surface.height);
    // Compiled code is told that columns are exact.
    let exact = ends(x, width, EXACT);
    if tile_shape(width, columns)[0] < LANES as u32 || !inside || !exact || !matches!(words, 1 | 2 | 4) {
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

/// All lanes of all waves of a launch execute when they begin.
pub fn whole(code: &Code, extent: Extent, columns: u32) -> bool {
    let lanes = LANES as u32;
    match extent {
        Extent::Domain { width, height, .. } if turned(code, extent) => {
            [width, height].iter().all(|size| size.is_multiple_of(SIDE))
        }
        Extent::Domain { width, height, .. } => {
            let columns = tile_shape(width, columns)[0].min(lanes);
            width.is_multiple_of(columns) && height.is_multiple_of(lanes / columns)
        }
        Extent::Grid { block, .. } => block.iter().product::<u32>().is_multiple_of(lanes),
    }
}

/// Number of parts of a launch: tiles, groups, or blocks of tiles.
pub fn parts(code: &Code, extent: Extent, columns: u32) -> u64 {
    match extent {
        Extent::Domain { width, height, .. } if turned(code, extent) => blocks(width, height),
        _ => tiles(extent, columns),
    }
}

/// Number of tiles or groups of a launch. Of more than anyone can wait for it is the largest number there is.
pub fn tiles(extent: Extent, columns: u32) -> u64 {
    match extent {
        Extent::Domain { width, height, .. } => {
            let [columns, lines] = tile_shape(width, columns);
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
pub fn regrouped(extent: Extent, columns: u32) -> Extent {
    let Extent::Grid { groups, block } = extent else { return extent };
    let size: Option<Vec<u32>> = (0..3).map(|k| groups[k].checked_mul(block[k])).collect();
    let Some([x, y, z]) = size.as_deref() else { return extent };
    if *x == 0 || *y == 0 || *z == 0 {
        return extent;
    }
    let power = |size: u32, most: u32| 1 << size.trailing_zeros().min(most.ilog2());
    let lanes = LANES as u32;
    let columns = power(*x, columns);
    let lines = power(*y, lanes / columns);
    let other = Extent::Grid { groups: [x / columns, y / lines, *z], block: [columns, lines, 1] };
    let longer = line(other, columns) > line(extent, columns);
    if columns * lines == lanes && longer { other } else { extent }
}

/// Waves of groups that [`joined`] makes at most: a group costs as much as some of them.
const JOINED: u32 = 8;

/// Parts for each thread of the host that it leaves at least.
const LEFT: u64 = 16;

/// The waves of a kernel that can't tell which of them are a group: in larger groups, or each in its own, if code does all of a wave at once.
pub fn in_waves(code: &Code, extent: Extent, threads: usize) -> Extent {
    if code.in_place { parted(extent) } else { joined(extent, threads) }
}

/// The same waves, of threads along x, in larger groups, of a kernel that can't tell which waves are a group: code is called once for all
/// waves of one.
fn joined(extent: Extent, threads: usize) -> Extent {
    let Extent::Grid { groups: [mut groups, y, z], block: [mut block, 1, 1] } = extent else { return extent };
    let lanes = LANES as u32;
    let most = JOINED * lanes;
    let mut rest = tiles(extent, lanes) / 2;
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

/// The same waves, of threads along x, in groups of one.
fn parted(extent: Extent) -> Extent {
    let lanes = LANES as u32;
    match extent {
        Extent::Grid { groups: [groups, y, z], block: [block, 1, 1] } if block > 0 && block % lanes == 0 => {
            match groups.checked_mul(block / lanes) {
                Some(groups) => Extent::Grid { groups: [groups, y, z], block: [lanes, 1, 1] },
                None => extent,
            }
        }
        other => other,
    }
}

/// Lines of threads that are walked together, a column of tiles after the other: what it reads stays in the cache.
pub(super) const BAND: u32 = 16;

/// First column and line of the tile number `part`, where the tiles of `band` lines are walked together, at least a row of them.
pub(super) fn tile_origin(part: u64, size: [u32; 2], shape: [u32; 2], band: u32) -> [u32; 2] {
    let shifts = shape.map(u32::ilog2);
    let [across, down] = [0, 1].map(|k| (u64::from(size[k]) + (1 << shifts[k]) - 1) >> shifts[k]);
    let band = u64::from(band >> shifts[1]).max(1);
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
        let parts = |groups| tiles(Extent::Grid { groups, block: [1; 3] }, 64);
        assert_eq!(parts([3, 5, 7]), 105);
        assert_eq!(parts([1 << 31, 1 << 31, 2]), 1 << 63);
        for most in [[1 << 22, 1 << 22, 1 << 20], [1 << 31, 1 << 31, 4], [u32::MAX; 3]] {
            assert_eq!(parts(most), u64::MAX);
        }
        assert_eq!(tiles(Extent::Grid { groups: [1; 3], block: [0, 1, 1] }, 64), 0);
    }

    #[test]
    fn code_that_is_told_of_columns_sees_exact_ones() {
        let block = Block::allocate(64, u64::MAX, &InUse::default()).unwrap();
        let (width, format) = (u32::MAX, Format::Float32x1);
        let view = block.view();
        let surface = Surface { view, width, height: 1, pitch: width, format, words: 1, past_caches: false };
        let domain = |x| Extent::Domain { x, y: 0, width: 64, height: 1 };
        let stores = |x| emitted(domain(x), 64, &surface).is_some();
        assert!(stores(0) && stores(EXACT - 64) && emitted(domain(0), 32, &surface).is_none());
        assert!(!stores(EXACT - 63) && !stores(EXACT));
    }

    #[test]
    fn every_tile_is_run_once() {
        let sizes = [(1, 1), (1, 200), (2, 3), (8, 8), (9, 40), (100, 7), (64, 24), (70, 300)];
        for ((width, height), most) in
            sizes.into_iter().flat_map(|size| [16, 32, 64].map(|most| (size, most)))
        {
            let shape @ [columns, lines] = tile_shape(width, most);
            assert_eq!(columns * lines, 64);
            let extent = Extent::Domain { x: 3, y: 4, width, height };
            let count = tiles(extent, most);
            for band in [1, BAND] {
                let mut origins: Vec<_> =
                    (0..count).map(|part| tile_origin(part, [width, height], shape, band)).collect();
                origins.sort_unstable();
                origins.dedup();
                assert_eq!(origins.len() as u64, count);
                let inside = |[x, y]: [u32; 2]| x % columns == 0 && y % lines == 0 && x < width && y < height;
                assert!(origins.into_iter().all(inside));
            }
            for part in 0..count {
                let corner = tile_origin(part, [width, height], shape, BAND);
                let shift = columns.ilog2();
                let tile = Tile { shift, turned: false, corner, first: [3, 4], size: [width, height] };
                let last = [corner[0] + columns - 1, corner[1] + lines - 1];
                assert_eq!((tile.at(0), tile.at(63)), (corner, last));
            }
        }
    }

    /// A kernel that reads down the columns of one surface, in a loop, and across the lines of the other.
    #[test]
    fn what_is_read_down_columns_makes_tiles_narrow() {
        let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
            dcl_output_generic o0\ndcl_cb cb0[1]\n\
            dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
            dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
            dcl_literal l0, 0.0, 1.0, 0, 1\nmov r0, l0.xxxx\nmov r1, l0.xxzz\nwhileloop\n\
            ige r1.w, r1.z, cb0[0].x\nbreak_logicalnz r1.w\nmov r2.x, vWinCoord0.x\nmov r2.y, r1.x\n\
            sample_resource(0)_sampler(0) r3, r2.xyxx\nmov r2.x, r1.x\nmov r2.y, vWinCoord0.y\n\
            sample_resource(1)_sampler(0) r4, r2.xyxx\nmad r0, r3, r4.x, r0\nadd r1.x, r1.x, l0.y\n\
            iadd r1.z, r1.z, l0.w\nendloop\nmov o0, r0\nend\n";
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let of = |compiled: bool, heights: [u32; 2]| {
            let (packed, known) = crate::load::prepare(&program, compiled, false);
            let code = crate::load::load_compiled(&packed, &known);
            let surface = |height: u32| {
                let memory = std::sync::Arc::new(Block::allocate(64, u64::MAX, &InUse::default()).unwrap());
                recal_hal::Surface { memory, width: 64, height, pitch: 64, format: Format::Float32x4 }
            };
            let resources = vec![(0, surface(heights[0])), (1, surface(heights[1]))];
            columns(&code, &Bindings { resources, ..Bindings::default() })
        };
        assert_eq!([256, 257, 512, 513, 100_000].map(|height| of(true, [height, 1])), [64, 32, 32, 16, 16]);
        assert_eq!(of(true, [16, 100_000]), 64);
        // Nothing is known of lines where nothing is compiled.
        assert_eq!(of(false, [100_000, 1]), 64);
    }

    /// The same with doubles, whose loop goes round as often for all threads, or not.
    #[test]
    fn lines_that_read_columns_of_doubles_are_done_together() {
        let columns_of = |rounds: &str| {
            let text = format!(
                "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
                 dcl_output_generic o0\ndcl_cb cb0[1]\n\
                 dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
                 dcl_literal l0, 0.0, 1.0, 0, 1\nmov r0, l0.xxxx\nmov r1, l0.xxzz\nwhileloop\n\
                 ge r1.w, r1.x, {rounds}\nbreak_logicalnz r1.w\nmov r2.x, vWinCoord0.x\nmov r2.y, r1.x\n\
                 sample_resource(0)_sampler(0) r3, r2.xyxx\ndadd r0.xy, r3.xy, r0.xy\n\
                 add r1.x, r1.x, l0.y\nendloop\nmov o0, r0\nend\n"
            );
            let program = recal_il::compile(text.as_bytes()).unwrap();
            let (packed, known) = crate::load::prepare(&program, true, false);
            let code = crate::load::load_compiled(&packed, &known);
            let memory = std::sync::Arc::new(Block::allocate(64, u64::MAX, &InUse::default()).unwrap());
            let surface =
                recal_hal::Surface { memory, width: 64, height: 4, pitch: 64, format: Format::Float64x1 };
            columns(&code, &Bindings { resources: vec![(0, surface)], ..Bindings::default() })
        };
        let rounds = ["cb0[0].x", "vWinCoord0.x", "vWinCoord0.y"];
        assert_eq!(rounds.map(columns_of), [16, 64, 64]);
    }

    #[test]
    fn other_groups_have_the_same_threads_in_longer_lines() {
        let grid = |groups, block| Extent::Grid { groups, block };
        assert_eq!(regrouped(grid([8, 8, 1], [8, 8, 1]), 64), grid([1, 64, 1], [64, 1, 1]));
        assert_eq!(regrouped(grid([3, 4, 5], [8, 4, 2]), 64), grid([3, 4, 5], [8, 4, 2]));
        assert_eq!(regrouped(grid([3, 4, 5], [4, 8, 2]), 64), grid([3, 4, 5], [4, 8, 2]));
        assert_eq!(regrouped(grid([6, 4, 5], [4, 4, 2]), 64), grid([3, 2, 10], [8, 8, 1]));
        // Nothing to gain, or threads that fill no wave.
        let rest =
            [([4, 4, 1], [64, 1, 1]), ([1, 1, 1], [8, 4, 1]), ([3, 3, 1], [5, 5, 1]), ([0, 1, 1], [8, 8, 1])];
        for (groups, block) in rest {
            assert_eq!(regrouped(grid(groups, block), 64), grid(groups, block));
        }
        assert_eq!(regrouped(grid([u32::MAX; 3], [8, 8, 1]), 64), grid([u32::MAX; 3], [8, 8, 1]));
    }

    #[test]
    fn waves_are_joined_while_there_are_parts_for_all_threads() {
        let grid = |x, y, block| Extent::Grid { groups: [x, y, 1], block: [block, 1, 1] };
        assert_eq!(joined(grid(512, 1, 64), 2), grid(64, 1, 512));
        assert_eq!(joined(grid(512, 1, 64), 8), grid(128, 1, 256));
        assert_eq!(joined(grid(512, 1, 64), 17), grid(512, 1, 64));
        assert_eq!(joined(grid(12, 64, 128), 2), grid(3, 64, 512));
        assert_eq!(parted(grid(3, 5, 256)), grid(12, 5, 64));
        let rest = [grid(u32::MAX, 1, 128), grid(3, 1, 96), grid(0, 1, 64), grid(3, 1, 0)];
        rest.into_iter().for_each(|extent| assert_eq!(parted(extent), extent));
        let rest = [grid(511, 3, 64), grid(512, 1, 32), grid(512, 1, 96), grid(512, 1, 1024), grid(0, 1, 64)];
        let plane = Extent::Grid { groups: [512, 512, 1], block: [8, 8, 1] };
        let domain = Extent::Domain { x: 0, y: 0, width: 4096, height: 4096 };
        rest.into_iter().chain([plane, domain]).for_each(|extent| assert_eq!(joined(extent, 1), extent));
    }
}
