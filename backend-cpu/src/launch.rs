//! Runs parts of a launch: tiles of a pixel domain, groups of a compute grid.
//!
//! A pixel wave is a tile of 64 positions, as wide as the domain allows; a compute group is as many waves as its threads fill. Waves of a
//! group take turns at barriers. Everything a thread of the host needs for that is its [`Scratch`].

mod groups;
mod parts;
mod place;
mod scratch;
mod turned;

use std::ops::Range;

use recal_hal::{Error, Extent};

pub use self::groups::{GROUP, Own, Placed, grown, place_group, place_own, shared};
use self::groups::{compiled, group, in_registers, place_wave};
use self::parts::{BAND, TOGETHER, held, tile_origin, tile_shape};
pub use self::parts::{columns, emitted, in_waves, line, longer, parts, regrouped, tiles, whole};
pub use self::place::{place_line, place_tile};
pub use self::scratch::{Scratch, affordable};
pub use self::turned::{store_block, turned};
use crate::context::{Context, Launch, Surface};
use crate::flow::Outcome;
use crate::isa_choice::Isa;
use crate::memory::{TexelCache, View, border_words, elements, ordered, view_of};
use crate::op::{NONE, Place, Seen};
use crate::repack::Thrift;
use crate::stages::{Plan, idle};
use crate::wave::{LANES, Mask, Row, Wave, launched};

/// Threads and waves of a group; a tile is one wave.
fn group_size(extent: Extent) -> (u32, u32) {
    match extent {
        Extent::Domain { .. } => (LANES as u32, 1),
        Extent::Grid { block, .. } => {
            let threads = block.iter().product::<u32>();
            (threads, threads.div_ceil(LANES as u32))
        }
    }
}

/// Runs the parts that `claim` gives out until it has no more, or the launch is told to stop.
pub fn run_parts<'a>(
    launch: &'a Launch<'a>,
    isa: &Isa,
    scratch: &'a mut Scratch,
    claim: impl FnMut() -> Option<Range<u64>>,
) -> Result<(), Error> {
    scratch.prepare(launch)?;
    let (group_threads, group_waves) = group_size(launch.extent);
    let turned = turned(launch.code, launch.extent);
    let lds_bytes = launch.code.lds_bytes as usize;
    let lds = scratch.lds.as_ref().map_or(View::EMPTY, |block| block.view().part(0, lds_bytes));
    let (waves, others) = scratch.waves.split_at_mut(held(group_waves, launch) as usize);
    let own = match launch.extent {
        Extent::Grid { block, .. } if launch.body.in_registers().is_none() => {
            let placed = waves.iter_mut().enumerate();
            placed.map(|(index, wave)| place_wave(wave, launch, block, index)).collect()
        }
        _ => Vec::new(),
    };
    let idle = if own.is_empty() { Vec::new() } else { idle(waves, group_threads, launch) };
    let plan = Plan::new(launch.body, waves.len(), &idle);
    let alone = Plan::new(launch.body, 1, &[]);
    let mut context = Context {
        own,
        launch,
        lds,
        compiled: None,
        packed: others.first_mut().map(|wave| &mut wave.rows[..]).unwrap_or_default(),
        thrift: Thrift::new(launch.code.thrifty),
        shared: &mut scratch.shared,
        group_threads,
        group_waves,
        texels: vec![TexelCache::default(); launch.code.texel_slots],
        placed: Vec::new(),
        group: [0; 3],
        last_group: None,
        tile: None,
        ticks: 0,
        native_ticks: recal_jit::Ticks::new(launch.stop),
        mode: recal_jit::Mode::default(),
    };
    let views = launch.body.views.iter().map(|&seen| seen_by_code(&context, seen)).collect();
    context.compiled = launch.body.module.as_ref().map(|module| module.bind(views));
    let context = &mut context;
    match launch.extent {
        Extent::Domain { .. } if turned => {
            each_part(claim, context, |context, part| turned::block(isa, &plan, waves, context, part))
        }
        Extent::Domain { .. } => {
            each_part(claim, context, |context, part| tile(isa, [&plan, &alone], waves, context, part))
        }
        Extent::Grid { .. } if launch.body.stages.is_empty() => {
            each_part(claim, context, |context, part| group(isa, waves, context, part));
        }
        Extent::Grid { .. } if let Some(function) = launch.body.in_registers() => {
            let mut waves: Vec<_> = waves.iter_mut().map(|w| recal_jit::Wave::new(&mut w.rows, !0)).collect();
            let mut waves = recal_jit::Waves::new(&mut waves);
            each_run(claim, context, |context, parts| in_registers(&function, &mut waves, context, parts));
        }
        Extent::Grid { .. } => {
            let wave = |(index, wave): (usize, &'a mut Wave)| {
                recal_jit::Wave::new(&mut wave.rows, launched(group_threads, index))
            };
            let mut waves: Vec<_> = waves.iter_mut().enumerate().map(wave).collect();
            let mut waves = recal_jit::Waves::new(&mut waves);
            each_part(claim, context, |context, part| compiled(isa, &plan, &mut waves, context, part));
        }
    }
    if launch.outputs.iter().any(|output| output.past_caches) {
        ordered();
    }
    Ok(())
}

/// Runs parts one by one.
fn each_part(
    claim: impl FnMut() -> Option<Range<u64>>,
    context: &mut Context<'_>,
    mut run: impl FnMut(&mut Context<'_>, u64) -> Outcome,
) {
    each_run(claim, context, |context, parts| (1, run(context, parts.start)));
}

/// Runs parts, as many of those that are left as `run` says that it ran.
fn each_run(
    mut claim: impl FnMut() -> Option<Range<u64>>,
    context: &mut Context<'_>,
    mut run: impl FnMut(&mut Context<'_>, Range<u64>) -> (u64, Outcome),
) {
    while let Some(mut range) = claim() {
        while !range.is_empty() {
            let (count, outcome) = run(context, range.clone());
            range.start += count;
            let long = (0..count).any(|_| context.part());
            if outcome == Outcome::Stopped || long || context.launch.stop.raised() {
                return;
            }
        }
    }
}

/// A place as compiled code sees it.
fn seen_by_code(context: &Context<'_>, (place, sampler): Seen) -> recal_jit::View {
    if place == Place::Group {
        return recal_jit::View::of_words([0; recal_jit::SHARED]);
    }
    let view = view_of(context, place).for_code();
    let launch = context.launch;
    let surface = match place {
        Place::Srv(place) => launch.resources.get(place as usize),
        Place::Uav(place) => launch.uavs.get(place as usize),
        _ => None,
    };
    match surface {
        // Its lines go on to the pitch, and who reads an element asks whether it is there.
        Some(s) if matches!(place, Place::Uav(_)) => {
            view.with_texels(s.pitch, s.height, s.pitch.wrapping_mul(s.words.max(1)), 0, [0; 4])
        }
        Some(s) => {
            let sampler = launch.samplers.get(sampler as usize).copied().unwrap_or_default();
            let line = s.pitch.wrapping_mul(s.words.max(1));
            view.with_texels(s.width, s.height, line, s.words, border_words(&sampler, s))
        }
        None => view,
    }
}

fn clear(rows: &mut [Row], context: &Context<'_>) {
    for range in &context.launch.code.zeroed {
        rows[range.start as usize..range.end as usize].fill(Row::ZERO);
    }
}

/// Where a tile lies.
#[derive(Clone, Copy)]
pub struct Tile {
    /// Columns as a power of two; lines, if it is turned.
    shift: u32,
    /// Lanes go down the columns.
    turned: bool,
    /// First column and line, within the domain.
    corner: [u32; 2],
    /// First position of the domain.
    first: [u32; 2],
    /// Size of the domain.
    size: [u32; 2],
}

impl Tile {
    /// The elements of a surface where the lanes of so many waves are, from this one on, which are all in one line inside.
    fn elements<'a>(&self, surface: &Surface<'a>, waves: usize) -> View<'a> {
        let [column, line] = [0, 1].map(|axis| self.first[axis].wrapping_add(self.corner[axis]) as usize);
        let bytes = 4 * surface.words as usize;
        surface.view.part((line * surface.pitch as usize + column) * bytes, waves * LANES * bytes)
    }

    /// Column and line of a lane within the domain.
    #[inline(always)]
    fn at(&self, lane: usize) -> [u32; 2] {
        [0, 1].map(|axis| self.corner[axis] + self.place(axis, lane as u32))
    }

    /// Its place in the tile along an axis.
    #[inline(always)]
    fn place(&self, axis: usize, lane: u32) -> u32 {
        if (axis == 0) != self.turned { lane & ((1 << self.shift) - 1) } else { lane >> self.shift }
    }
}

/// The tile that was run last.
#[derive(Clone, Copy)]
pub struct Last {
    part: u64,
    corner: [u32; 2],
    /// Where the next one is, if it lies beside it or below and is like it: whole, placed by lines, run and stored by compiled code.
    next: Option<[u32; 2]>,
}

/// Runs the tile number `part` and stores its outputs: by what is planned for all waves of one, or for one after another.
fn tile(
    isa: &Isa,
    [plan, alone]: [&Plan; 2],
    waves: &mut [Wave],
    context: &mut Context<'_>,
    part: u64,
) -> Outcome {
    let launch = context.launch;
    let Extent::Domain { x, y, width, height } = launch.extent else { return Outcome::Ended };
    let lanes = LANES as u32;
    // What is read in the order of the tiles is best read line by line.
    let band = if launch.code.in_lines { 1 } else { BAND };
    let size = [width, height];
    let (corner, before) = match context.tile.take() {
        Some(Last { part: last, corner, next: Some(next) }) if last + 1 == part => (next, Some(corner)),
        _ => (tile_origin(part, size, tile_shape(width, launch.columns), band), None),
    };
    let tile = |wave: u32| Tile {
        shift: width.clamp(1, launch.columns.min(lanes)).ilog2(),
        turned: false,
        corner: [corner[0] + lanes * wave, corner[1]],
        first: [x, y],
        size,
    };
    let columns = waves.len() as u32 * lanes;
    let staged = !launch.body.stages.is_empty();
    let emitted = staged && !launch.body.emitted.is_empty();
    // Outputs of several waves are stored where the first one lies: by all at once.
    let at_once = waves.len() == 1 || !plan.takes_turns();
    if emitted && at_once && width - corner[0] >= columns {
        let other = [0, 1].map(|axis| before.is_none_or(|before| before[axis] != corner[axis]));
        if isa.place_line(waves, launch, &tile(0), other) {
            context.tile = Some(Last { part, corner, next: next_corner(corner, size, columns, band) });
            return match waves.len() {
                1 => run_together::<1>(plan, waves, context, &tile(0)),
                2 => run_together::<2>(plan, waves, context, &tile(0)),
                4 => run_together::<4>(plan, waves, context, &tile(0)),
                _ => run_together::<{ TOGETHER as usize }>(plan, waves, context, &tile(0)),
            };
        }
    }
    // Lanes that are left in loops of several waves go on together.
    let beside = staged && waves.len() > 1 && at_once && launch.body.repacks();
    if beside && !emitted && width - corner[0] >= columns {
        return run_beside(isa, plan, waves, context, tile);
    }
    let inside = |wave: &u32| corner[0] + lanes * wave < width;
    let mut outcomes = (0..waves.len() as u32)
        .take_while(inside)
        .map(|at| run_alone(isa, alone, &mut waves[0], context, &tile(at)));
    outcomes.find(|outcome| *outcome != Outcome::Ended).unwrap_or(Outcome::Ended)
}

/// Runs a tile of one wave.
fn run_alone(isa: &Isa, plan: &Plan, wave: &mut Wave, context: &mut Context<'_>, tile: &Tile) -> Outcome {
    let launch = context.launch;
    let columns = 1 << tile.shift;
    let [across, down] = [0, 1].map(|axis| tile.size[axis] - tile.corner[axis]);
    let in_line = Mask::MAX >> (LANES as u32 - across.min(columns));
    let lines = down.min(LANES as u32 / columns);
    let mask = (0..lines).fold(0, |mask, line| mask | in_line << (columns * line));
    begin(isa, wave, context, tile, mask);
    let emitted = mask == !0 && !launch.body.emitted.is_empty();
    if emitted {
        aim(context, tile, 1);
    }
    let outcome = if launch.body.stages.is_empty() {
        isa.run(wave, launch.code, context)
    } else {
        plan.run(&mut recal_jit::Waves::new(&mut [recal_jit::Wave::new(&mut wave.rows, mask)]), context)
    };
    if outcome == Outcome::Ended && !emitted {
        end(isa, wave, context, tile, mask);
    }
    outcome
}

/// Runs the waves of a whole tile that follow each other along x by stages, and stores their outputs.
fn run_beside(
    isa: &Isa,
    plan: &Plan,
    waves: &mut [Wave],
    context: &mut Context<'_>,
    tile: impl Fn(u32) -> Tile,
) -> Outcome {
    waves.iter_mut().zip(0..).for_each(|(wave, at)| begin(isa, wave, context, &tile(at), !0));
    let mut list: Vec<_> = waves.iter_mut().map(|wave| recal_jit::Wave::new(&mut wave.rows, !0)).collect();
    let outcome = plan.run(&mut recal_jit::Waves::new(&mut list), context);
    if outcome == Outcome::Ended {
        waves.iter().zip(0..).for_each(|(wave, at)| end(isa, wave, context, &tile(at), !0));
    }
    outcome
}

/// Makes a wave ready to run some lanes of a tile.
fn begin(isa: &Isa, wave: &mut Wave, context: &mut Context<'_>, tile: &Tile, lanes: Mask) {
    let launch = context.launch;
    clear(&mut wave.rows, context);
    if launch.params.is_some() {
        context.mode.leave();
    }
    if !isa.place_line(std::slice::from_mut(wave), launch, tile, [true; 2]) {
        isa.place_tile(wave, launch, tile, true);
    }
    wave.start(lanes, 0);
}

/// Stores the outputs of a wave that has run these lanes of a tile.
fn end(isa: &Isa, wave: &Wave, context: &mut Context<'_>, tile: &Tile, lanes: Mask) {
    let launch = context.launch;
    context.mode.leave();
    let kept = lanes & !wave.killed;
    for (surface, (_, rows)) in launch.outputs.iter().zip(&launch.code.outputs) {
        isa.store_output(wave, surface, *rows, tile, kept);
    }
}

/// Runs the waves of a whole tile, which are placed; compiled code stores their outputs.
#[inline(always)]
fn run_together<const N: usize>(
    plan: &Plan,
    waves: &mut [Wave],
    context: &mut Context<'_>,
    first: &Tile,
) -> Outcome {
    let Some(waves) = waves.first_chunk_mut::<N>() else { return Outcome::Ended };
    waves.iter_mut().for_each(|wave| clear(&mut wave.rows, context));
    if context.launch.params.is_some() {
        context.mode.leave();
    }
    aim(context, first, N);
    let list = &mut waves.each_mut().map(|wave| recal_jit::Wave::new(&mut wave.rows, !0));
    plan.run(&mut recal_jit::Waves::new(list), context)
}

/// Where the tile of so many columns is that comes after a whole one, if that is whole, too, and beside it or below.
fn next_corner(
    [column, line]: [u32; 2],
    [width, height]: [u32; 2],
    columns: u32,
    band: u32,
) -> Option<[u32; 2]> {
    if band == 1 {
        return (width - column >= 2 * columns).then(|| [column + columns, line]);
    }
    let below = u64::from(line) + 1;
    (below < u64::from(height) && below % u64::from(band) != 0).then(|| [column, line + 1])
}

/// Compiled code stores outputs where a tile of so many waves lies.
#[inline(always)]
fn aim(context: &mut Context<'_>, tile: &Tile, waves: usize) {
    let launch = context.launch;
    let Some(compiled) = &mut context.compiled else { return };
    for (&view, surface) in launch.body.emitted.iter().zip(&launch.outputs) {
        compiled.aim(view, tile.elements(surface, waves).for_code());
    }
}

/// Stores an output of a tile.
#[inline(always)]
pub fn store_output(wave: &Wave, surface: &Surface<'_>, rows: [u32; 4], tile: &Tile, kept: Mask) {
    let sources = rows.map(|row| if row == NONE { &Row::ZERO } else { &wave.rows[row as usize] });
    let [column, line] = [0, 1].map(|axis| tile.first[axis].wrapping_add(tile.corner[axis]));
    // A whole tile, as most are.
    let columns = 1 << tile.shift;
    let ends = |first: u32, count: usize, size: u32| u64::from(first) + count as u64 <= u64::from(size);
    let inside = ends(column, columns, surface.width) && ends(line, LANES / columns, surface.height);
    let start = (line as usize).wrapping_mul(surface.pitch as usize).wrapping_add(column as usize);
    let whole = kept == !0 && columns >= 8 && !tile.turned && inside;
    if whole && elements::store_lines(surface, start, columns, sources) {
        return;
    }
    let (mut element, mut inside) = (Row::ZERO, Row::ZERO);
    for lane in 0..LANES {
        let [column, line] = tile.at(lane);
        let [column, line] = [tile.first[0].wrapping_add(column), tile.first[1].wrapping_add(line)];
        inside.0[lane] = u32::from(column < surface.width && line < surface.height);
        element.0[lane] = line.wrapping_mul(surface.pitch).wrapping_add(column);
    }
    let ok = kept & crate::wave::nonzero(&inside);
    elements::store_elements(surface, &element, ok, sources);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_tile_is_where_its_number_says() {
        let sizes = [(64, 1), (200, 40), (256, 16), (128, 33), (1000, 5)];
        for ((width, height), columns) in
            sizes.into_iter().flat_map(|size| [64, 128, 256].map(|of| (size, of)))
        {
            if width < columns {
                continue;
            }
            let shape = tile_shape(width, columns);
            assert_eq!(shape, [columns, 1]);
            for band in [1, BAND] {
                let origin = |part| tile_origin(part, [width, height], shape, band);
                let whole = |[column, _]: [u32; 2]| width - column >= shape[0];
                let mut found = 0;
                let last = tiles(Extent::Domain { x: 0, y: 0, width, height }, columns) - 1;
                for part in (0..=last).filter(|part| whole(origin(*part))) {
                    if let Some(next) = next_corner(origin(part), [width, height], columns, band) {
                        assert!(
                            part < last && next == origin(part + 1) && whole(next),
                            "{part} of {width} x {height}"
                        );
                        found += 1;
                    }
                }
                // All but the last of each line, or of each column of a band.
                let (lines, columns) = (u64::from(height), u64::from(width / columns));
                let runs = if band == 1 { lines } else { columns * lines.div_ceil(band.into()) };
                assert_eq!(found, lines * columns - runs);
            }
        }
    }
}
