//! Reads and writes of elements by texel: `sample` with the nearest filter, `load`, typed UAVs, and outputs.

use recal_hal::{Sampler, Wrap};
use recal_il::isa::memory::Truth;
use recal_il::isa::memory::texel::{self, Axis, Grid, Mode};
use recal_il::isa::{Algebra, Scalar};

use super::elements::{Read, load_elements, load_placed, place, store_elements};
use super::words::{Pattern, flushed};
use super::{filter, words};
use crate::context::{Context, Launch, Surface};
use crate::op::{Addressing, NONE, RowId, Rows4, SampleOp, Slot};
use crate::wave::{LANES, Mask, Row, Wave, lanes, nonzero};

/// The texels of a `sample`, for later ones with the same coordinates.
#[derive(Clone, Copy)]
pub struct TexelCache {
    /// Shape of the surface and wrap modes they were made for.
    key: (u32, u32, u32, u32, [Wrap; 3]),
    /// Element numbers times words per element.
    at: Row,
    /// How they lie.
    pattern: Pattern,
    /// Lanes that hit the surface; others take the border.
    inside: Mask,
}

impl TexelCache {
    /// No sample may use it: surfaces of width 0 hold no texels.
    fn forget(&mut self) {
        self.key.0 = 0;
    }
}

impl Default for TexelCache {
    fn default() -> Self {
        TexelCache {
            key: (0, 0, 0, 0, [Wrap::ClampToEdge; 3]),
            at: Row::ZERO,
            pattern: Pattern::Mixed,
            inside: 0,
        }
    }
}

/// Applies `body` to each surface that the executing lanes name, with the lanes that name it; `None` is a number
/// that is not bound.
#[inline(always)]
pub fn each_surface<'a>(
    wave: &mut Wave,
    launch: &Launch<'a>,
    slot: Slot,
    mut body: impl FnMut(&mut Wave, Option<&Surface<'a>>),
) {
    if slot.index == NONE {
        return body(wave, launch.resource(slot));
    }
    let all = wave.exec;
    let index = wave.rows[slot.index as usize];
    let mut rest = all;
    while rest != 0 {
        let word = index.0[rest.trailing_zeros() as usize];
        let same = lanes(rest).filter(|&lane| index.0[lane] == word).fold(0, |mask, lane| mask | 1 << lane);
        let number = slot.base.wrapping_add(word);
        let place = launch.code.resources.iter().position(|&n| n == number);
        wave.set_exec(same);
        body(wave, place.map(|place| &launch.resources[place]));
        rest &= !same;
    }
    wave.set_exec(all);
}

/// The sampler of the executing lanes. Lanes of a wave with different sampler numbers use the first one's.
pub fn sampler_of(wave: &Wave, launch: &Launch<'_>, slot: Slot) -> Sampler {
    let added = if slot.index == NONE || wave.exec == 0 {
        0
    } else {
        wave.rows[slot.index as usize].0[wave.exec.trailing_zeros() as usize]
    };
    launch.samplers.get(slot.base.wrapping_add(added) as usize).copied().unwrap_or_default()
}

/// One axis of a surface as a sampler sees it; the coordinate is another for each lane.
#[inline(always)]
pub fn axis(at: &Addressing, surface: &Surface<'_>, sampler: &Sampler, number: usize) -> Axis<u32> {
    Axis {
        coord: 0,
        size: [surface.width, surface.height][number].max(1),
        offset: at.offset[number],
        unnormalized: at.unnormalized,
        mode: Mode::Known(sampler.wrap[number]),
    }
}

/// The same with a mode that is known where this is expanded, so that loops over lanes become vector code.
macro_rules! by_mode {
    ($mode:expr, $known:ident => $body:expr) => {
        match $mode {
            Wrap::Repeat => by_mode!(@one Repeat, $known => $body),
            Wrap::MirroredRepeat => by_mode!(@one MirroredRepeat, $known => $body),
            Wrap::ClampToEdge => by_mode!(@one ClampToEdge, $known => $body),
            Wrap::MirrorClampToEdge => by_mode!(@one MirrorClampToEdge, $known => $body),
            Wrap::Clamp => by_mode!(@one Clamp, $known => $body),
            Wrap::MirrorClamp => by_mode!(@one MirrorClamp, $known => $body),
            Wrap::ClampToBorder => by_mode!(@one ClampToBorder, $known => $body),
            Wrap::MirrorClampToBorder => by_mode!(@one MirrorClampToBorder, $known => $body),
        }
    };
    (@one $mode:ident, $known:ident => $body:expr) => {{
        let $known = recal_il::isa::memory::texel::Mode::Known(Wrap::$mode);
        $body
    }};
}
pub(super) use by_mode;

/// Texel indices, and all ones for the lanes that are inside.
#[derive(Clone, Copy)]
pub struct Texels {
    pub index: Row,
    pub inside: Row,
}

impl Texels {
    pub const FIRST: Texels = Texels { index: Row::ZERO, inside: Row([!0; LANES]) };

    /// Notes the texel of a lane.
    #[inline(always)]
    pub fn put(&mut self, lane: usize, (index, inside): texel::Texel<Scalar>) {
        self.index.0[lane] = index;
        self.inside.0[lane] = match inside {
            Truth::Known(inside) | Truth::Value(inside) => Scalar.mask(inside),
        };
    }
}

/// Texel indices of one coordinate with the nearest filter, and the lanes that are not on the border.
#[inline(always)]
fn nearest(row: &Row, axis: &Axis<u32>, wrap: Wrap) -> (Row, Mask) {
    // Mostly an edge, and no half texels.
    if matches!(wrap, Wrap::ClampToEdge | Wrap::Clamp) && axis.offset % 2 == 0 {
        let axis = Axis { mode: Mode::Known(Wrap::ClampToEdge), offset: axis.offset & !1, ..*axis };
        let mut out = Row::ZERO;
        for lane in 0..LANES {
            out.0[lane] = texel::nearest(&mut Scalar, &Axis { coord: row.0[lane], ..axis }).0;
        }
        return (out, !0);
    }
    nearest_of_any(row, axis, wrap)
}

#[inline(never)]
fn nearest_of_any(row: &Row, axis: &Axis<u32>, wrap: Wrap) -> (Row, Mask) {
    let mut out = Texels::FIRST;
    by_mode!(wrap, mode => {
        for lane in 0..LANES {
            let axis = Axis { coord: row.0[lane], mode, ..*axis };
            out.put(lane, texel::nearest(&mut Scalar, &axis));
        }
    });
    (out.index, nonzero(&out.inside))
}

/// Writes the components that are wanted, flushed if the access says so; `ok` lanes take `rows`, other executing
/// lanes 0.
#[inline(always)]
pub fn deliver(wave: &mut Wave, dst: Rows4, rows: &[Row; 4], ok: Mask) {
    if wave.full && wave.exec & !ok == 0 {
        for (k, (&id, row)) in dst.iter().zip(rows).enumerate() {
            if id == NONE {
                continue;
            }
            let to = &mut wave.rows[id as usize].0;
            if wave.flush >> k & 1 == 0 {
                *to = row.0;
            } else {
                for (to, &word) in to.iter_mut().zip(&row.0) {
                    *to = flushed(word);
                }
            }
        }
    } else {
        deliver_some(wave, dst, rows, ok);
    }
}

#[inline(never)]
fn deliver_some(wave: &mut Wave, dst: Rows4, rows: &[Row; 4], ok: Mask) {
    let mask = crate::wave::spread(ok);
    for (k, (&id, row)) in dst.iter().zip(rows).enumerate().filter(|(_, (id, _))| **id != NONE) {
        let mut row = *row;
        for lane in 0..LANES {
            row.0[lane] &= mask.0[lane];
        }
        if wave.flush >> k & 1 == 1 {
            row.0 = row.0.map(flushed);
        }
        wave.put(id, &row);
    }
}

/// `sample`
#[inline(always)]
pub fn sample(wave: &mut Wave, context: &mut Context<'_>, op: &SampleOp) {
    let launch = context.launch;
    let sampler = sampler_of(wave, launch, op.sampler);
    match launch.resource(op.resource) {
        Some(surface) if op.resource.index == NONE && !sampler.linear => {
            let again = op.again && !launch.body.samples;
            sample_nearest(wave, surface, &sampler, &mut context.texels[op.slot], op, again);
        }
        _ => sample_any(wave, context, &sampler, op),
    }
}

/// The same for indexed, unbound and filtered resources.
#[inline(never)]
fn sample_any(wave: &mut Wave, context: &mut Context<'_>, sampler: &Sampler, op: &SampleOp) {
    let again = op.again && !context.launch.body.samples;
    let texels = &mut context.texels[op.slot];
    each_surface(wave, context.launch, op.resource, |wave, surface| match surface {
        Some(surface) if sampler.linear && !surface.format.is_integer() => {
            filter::linear(wave, surface, sampler, &op.at, op.dst);
            texels.forget();
        }
        Some(surface) => sample_nearest(wave, surface, sampler, texels, op, again),
        None => {
            deliver(wave, op.dst, &[Row::ZERO; 4], 0);
            texels.forget();
        }
    });
}

#[inline(always)]
fn sample_nearest(
    wave: &mut Wave,
    surface: &Surface<'_>,
    sampler: &Sampler,
    cache: &mut TexelCache,
    op: &SampleOp,
    again: bool,
) {
    let key = (surface.width, surface.height, surface.pitch, surface.words, sampler.wrap);
    if !again || cache.key != key || surface.width == 0 {
        cache.key = key;
        let at = &op.at;
        let [u, v, _] = at.coord;
        let axes = [0, 1].map(|k| axis(at, surface, sampler, k));
        (cache.at, cache.inside) = nearest(&wave.rows[u as usize], &axes[0], sampler.wrap[0]);
        // Of one row a second axis only tells what is beyond the border.
        if at.dimensions > 1 && (surface.height > 1 || sampler.wrap[1].has_border()) {
            let (row, inside) = nearest(&wave.rows[v as usize], &axes[1], sampler.wrap[1]);
            for lane in 0..LANES {
                cache.at.0[lane] += row.0[lane].wrapping_mul(surface.pitch);
            }
            cache.inside &= inside;
        }
        (cache.at, cache.pattern) = place(surface, &cache.at, cache.inside);
    }
    let at = &cache.at;
    // Kernels walk through their inputs in even steps, often a row at a time, which the processor does not foresee.
    // Two steps back, two ahead.
    let [last, before] = wave.starts[op.number as usize];
    let ahead = at.0[0].wrapping_add(at.0[0].wrapping_sub(before));
    wave.starts[op.number as usize] = [at.0[0], last];
    const LINE: u32 = 16;
    match cache.pattern {
        Pattern::Splat => surface.view.prefetch(ahead),
        Pattern::Run if ahead != at.0[0] => {
            let lines = LANES as u32 * surface.words / LINE;
            (0..lines).for_each(|line| surface.view.prefetch(ahead.wrapping_add(LINE * line)));
        }
        _ => {}
    }
    let direct =
        surface.words == 4 && cache.pattern != Pattern::Mixed && wave.full && !op.dst.contains(&NONE);
    if direct && words::load4_into(&surface.view, at, cache.pattern, &mut wave.rows, op.dst, wave.flush) {
        return;
    }
    let mut rows = load_placed(surface, at, cache.inside, cache.pattern, Read::Fetch);
    if cache.inside != !0 {
        filter::border(&mut rows, sampler, surface, &crate::wave::spread(cache.inside));
    }
    deliver(wave, op.dst, &rows, !0);
}

/// Element numbers of integer texels in rows of `columns`, and the executing lanes that are inside.
#[inline(always)]
fn texels(
    wave: &Wave,
    surface: &Surface<'_>,
    columns: u32,
    coord: [RowId; 3],
    offset: [i8; 3],
    dimensions: u32,
) -> (Row, Mask) {
    let mut element = Row::ZERO;
    let mut inside = Row::ZERO;
    let (x, y) = (&wave.rows[coord[0] as usize], &wave.rows[coord[1] as usize]);
    let grid = Grid { columns, rows: surface.height, pitch: surface.pitch, flat: dimensions < 2 };
    for lane in 0..LANES {
        let offset = [offset[0], offset[1]];
        let (number, within) = texel::at_integers(&mut Scalar, &grid, [x.0[lane], y.0[lane]], offset);
        element.0[lane] = number;
        inside.0[lane] = Scalar.mask(within);
    }
    (element, wave.exec & nonzero(&inside))
}

/// `load`
#[inline(always)]
pub fn fetch(
    wave: &mut Wave,
    context: &mut Context<'_>,
    resource: Slot,
    coord: [RowId; 3],
    offset: [i8; 3],
    dimensions: u32,
    dst: Rows4,
) {
    match context.launch.resource(resource) {
        Some(surface) if resource.index == NONE => {
            fetch_one(wave, Some(surface), coord, offset, dimensions, dst)
        }
        _ => fetch_indexed(wave, context.launch, resource, coord, offset, dimensions, dst),
    }
}

#[inline(never)]
fn fetch_indexed(
    wave: &mut Wave,
    launch: &Launch<'_>,
    resource: Slot,
    coord: [RowId; 3],
    offset: [i8; 3],
    dimensions: u32,
    dst: Rows4,
) {
    each_surface(wave, launch, resource, |wave, surface| {
        fetch_one(wave, surface, coord, offset, dimensions, dst)
    });
}

#[inline(always)]
fn fetch_one(
    wave: &mut Wave,
    surface: Option<&Surface<'_>>,
    coord: [RowId; 3],
    offset: [i8; 3],
    dimensions: u32,
    dst: Rows4,
) {
    let Some(surface) = surface else { return deliver(wave, dst, &[Row::ZERO; 4], 0) };
    let (element, ok) = texels(wave, surface, surface.width, coord, offset, dimensions);
    let rows = load_elements(surface, &element, ok, Read::Fetch);
    deliver(wave, dst, &rows, ok);
}

/// Typed UAV load: outside, a missing w still reads 1 and the rest 0, as for a zero element.
#[inline(always)]
pub fn typed_load(
    wave: &mut Wave,
    context: &mut Context<'_>,
    place: u32,
    coord: [RowId; 3],
    dimensions: u32,
    dst: Rows4,
) {
    let Some(surface) = context.launch.uavs.get(place as usize) else { return };
    let (element, ok) = uav_texels(wave, surface, coord, dimensions);
    let mut rows = load_elements(surface, &element, ok, Read::Uav);
    let outside = surface.format.decode(&[0; 16]);
    for lane in lanes(wave.exec & !ok) {
        for (row, word) in rows.iter_mut().zip(outside) {
            row.0[lane] = word;
        }
    }
    deliver(wave, dst, &rows, !0);
}

/// Typed UAV store.
#[inline(always)]
pub fn typed_store(
    wave: &mut Wave,
    context: &mut Context<'_>,
    place: u32,
    coord: [RowId; 3],
    dimensions: u32,
    src: Rows4,
) {
    let Some(surface) = context.launch.uavs.get(place as usize) else { return };
    let (element, ok) = uav_texels(wave, surface, coord, dimensions);
    store_elements(surface, &element, ok, src.map(|id| &wave.rows[id as usize]));
}

/// Element number of each lane's texel in a typed UAV, and the executing lanes that are inside: rows go on to the pitch.
#[inline(always)]
pub fn uav_texels(wave: &Wave, surface: &Surface<'_>, coord: [RowId; 3], dimensions: u32) -> (Row, Mask) {
    texels(wave, surface, surface.pitch, coord, [0; 3], dimensions)
}

/// `resinfo`
pub fn info(wave: &mut Wave, context: &mut Context<'_>, resource: Slot, uint: bool, dst: Rows4) {
    each_surface(wave, context.launch, resource, |wave, surface| {
        let size = surface.map_or([0; 4], |s| [s.width, s.height, 1, 1]);
        let rows = size.map(|n| Row::splat(if uint { n } else { (n as f32).to_bits() }));
        deliver(wave, dst, &rows, !0);
    });
}
