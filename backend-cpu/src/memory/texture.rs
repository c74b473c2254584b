//! Reads and writes of elements by texel: `sample` with the nearest filter, `load`, typed UAVs, and outputs.

use cal_hal::{Sampler, Wrap};

use super::{filter, words};
use crate::context::{Context, Launch, Surface};
use crate::op::{Addressing, NONE, RowId, Rows4, Slot};
use crate::wave::{LANES, Mask, Row, Wave, lanes};

/// The texels of the last `sample`, for the next one with the same coordinates.
#[derive(Clone, Copy)]
pub struct TexelCache {
    /// Shape of the surface and wrap modes they were made for.
    key: (u32, u32, u32, [Wrap; 3]),
    /// Element numbers.
    element: Row,
    /// Lanes that hit the surface; others take the border.
    inside: Mask,
}

impl Default for TexelCache {
    fn default() -> Self {
        TexelCache { key: (0, 0, 0, [Wrap::ClampToEdge; 3]), element: Row::ZERO, inside: 0 }
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

/// A coordinate in texels: NaN is 0, and the rest is kept within a range where integer arithmetic is safe.
#[inline(always)]
pub fn denormalized(bits: u32, size: u32, unnormalized: bool) -> f32 {
    const FAR: f32 = 1.0e9;
    let value = f32::from_bits(bits);
    let value = if unnormalized { value } else { value * size as f32 };
    let value = if value < FAR { value } else { FAR };
    let value = if value > -FAR { value } else { -FAR };
    if f32::from_bits(bits).is_nan() { 0.0 } else { value }
}

/// ⌊value⌋ of a value within ±10^9, without a call on processors that lack the instruction.
#[inline(always)]
pub fn floor(value: f32) -> i32 {
    let near = value as i32;
    near - i32::from(near as f32 > value)
}

/// The index after wrapping, or `None` for the border colour, among `n` texels.
pub fn wrap(index: i64, n: u32, mode: Wrap) -> Option<u32> {
    let n = i64::from(n.max(1));
    let once = if index < 0 { -1 - index } else { index };
    let inside = |i: i64| (0..n).contains(&i).then_some(i);
    let wrapped = match mode {
        Wrap::Repeat => Some(index.rem_euclid(n)),
        Wrap::MirroredRepeat => {
            let i = index.rem_euclid(2 * n);
            Some(if i < n { i } else { 2 * n - 1 - i })
        }
        Wrap::ClampToEdge | Wrap::Clamp => Some(index.clamp(0, n - 1)),
        Wrap::MirrorClampToEdge | Wrap::MirrorClamp => Some(once.clamp(0, n - 1)),
        Wrap::ClampToBorder => inside(index),
        Wrap::MirrorClampToBorder => inside(once),
    };
    wrapped.map(|i| i as u32)
}

/// Texel indices of one coordinate with the nearest filter, and the lanes that are not on the border.
#[inline(always)]
fn nearest(row: &Row, size: u32, offset: i8, unnormalized: bool, mode: Wrap) -> (Row, Mask) {
    let mut out = Row::ZERO;
    if offset & 1 == 0 && matches!(mode, Wrap::ClampToEdge | Wrap::Clamp) {
        let last = size.saturating_sub(1) as i32;
        let whole = i32::from(offset) / 2;
        for lane in 0..LANES {
            let texel = floor(denormalized(row.0[lane], size, unnormalized)) + whole;
            out.0[lane] = texel.max(0).min(last) as u32;
        }
        return (out, !0);
    }
    let mut inside = 0;
    for lane in 0..LANES {
        let value = f64::from(denormalized(row.0[lane], size, unnormalized)) + f64::from(offset) / 2.0;
        if let Some(texel) = wrap(value.floor() as i64, size, mode) {
            out.0[lane] = texel;
            inside |= 1 << lane;
        }
    }
    (out, inside)
}

/// Loads the elements of the lanes in `ok` and converts them; other lanes hold anything.
#[inline(always)]
pub fn load_elements(surface: &Surface<'_>, element: &Row, ok: Mask) -> [Row; 4] {
    let scaled = |n: u32| Row(element.0.map(|e| e.wrapping_mul(n)));
    let missing = Row::splat(if surface.format.is_integer() { 1 } else { 1.0f32.to_bits() });
    match surface.words {
        4 => words::load4(&surface.view, &scaled(4), ok),
        2 => {
            let [x, y] = words::load2(&surface.view, &scaled(2), ok);
            [x, y, Row::ZERO, missing]
        }
        1 => {
            let [x] = words::load1(&surface.view, element, ok);
            [x, Row::ZERO, Row::ZERO, missing]
        }
        _ => convert(surface, element, ok),
    }
}

#[inline(never)]
fn convert(surface: &Surface<'_>, element: &Row, ok: Mask) -> [Row; 4] {
    let mut out = [Row::ZERO; 4];
    let bytes = surface.format.bytes() as usize;
    for lane in lanes(ok) {
        let words = surface.format.decode(&surface.view.element(element.0[lane] as usize * bytes, bytes));
        for (row, word) in out.iter_mut().zip(words) {
            row.0[lane] = word;
        }
    }
    out
}

/// Converts and stores one element for each lane in `ok`.
#[inline(always)]
pub fn store_elements(surface: &Surface<'_>, element: &Row, ok: Mask, rows: [&Row; 4]) {
    let scaled = |n: u32| Row(element.0.map(|e| e.wrapping_mul(n)));
    match surface.words {
        4 => words::store4(&surface.view, &scaled(4), ok, rows),
        2 => words::store2(&surface.view, &scaled(2), ok, [rows[0], rows[1]]),
        1 => words::store1(&surface.view, element, ok, [rows[0]]),
        _ => convert_and_store(surface, element, ok, rows),
    }
}

#[inline(never)]
fn convert_and_store(surface: &Surface<'_>, element: &Row, ok: Mask, rows: [&Row; 4]) {
    let n = surface.format.bytes() as usize;
    for lane in lanes(ok) {
        let bytes = surface.format.encode(rows.map(|row| row.0[lane]));
        let start = element.0[lane] as usize * n;
        for (k, &byte) in bytes[..n].iter().enumerate() {
            surface.view.set_byte(start + k, byte);
        }
    }
}

/// Writes the components that are wanted; `ok` lanes take `rows`, other executing lanes 0.
#[inline(always)]
pub fn deliver(wave: &mut Wave, dst: Rows4, rows: &[Row; 4], ok: Mask) {
    if wave.exec & !ok == 0 {
        for (&id, row) in dst.iter().zip(rows) {
            if id != NONE {
                wave.put(id, row);
            }
        }
    } else {
        let mask = crate::wave::spread(ok);
        for (&id, row) in dst.iter().zip(rows) {
            if id != NONE {
                wave.put(id, &Row(std::array::from_fn(|lane| row.0[lane] & mask.0[lane])));
            }
        }
    }
}

/// `sample`
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub fn sample(
    wave: &mut Wave,
    context: &mut Context<'_>,
    resource: Slot,
    sampler: Slot,
    at: &Addressing,
    dst: Rows4,
    again: bool,
    flushed: bool,
) {
    let launch = context.launch;
    let sampler = sampler_of(wave, launch, sampler);
    each_surface(wave, launch, resource, |wave, surface| {
        let Some(surface) = surface else {
            context.texels.key.0 = 0;
            return deliver(wave, dst, &[Row::ZERO; 4], 0);
        };
        if sampler.linear && !surface.format.is_integer() {
            context.texels.key.0 = 0;
            return filter::linear(wave, surface, &sampler, at, dst);
        }
        let cache = &mut context.texels;
        let key = (surface.width, surface.height, surface.pitch, sampler.wrap);
        if !again || cache.key != key || surface.width == 0 {
            cache.key = key;
            let [u, v, _] = at.coord;
            let (column, inside) = nearest(
                &wave.rows[u as usize],
                surface.width,
                at.offset[0],
                at.unnormalized,
                sampler.wrap[0],
            );
            (cache.element, cache.inside) = (column, inside);
            if at.dimensions > 1 && surface.height > 1 || sampler.wrap[1] as u32 > 5 {
                let (row, inside) = nearest(
                    &wave.rows[v as usize],
                    surface.height,
                    at.offset[1],
                    at.unnormalized,
                    sampler.wrap[1],
                );
                for lane in 0..LANES {
                    cache.element.0[lane] += row.0[lane].wrapping_mul(surface.pitch);
                }
                cache.inside &= inside;
            }
        }
        let mut rows = load_elements(surface, &cache.element, cache.inside);
        if cache.inside != !0 {
            filter::border(&mut rows, &sampler, surface, !cache.inside);
        }
        if flushed {
            for row in &mut rows {
                flush(row);
            }
        }
        deliver(wave, dst, &rows, !0);
    });
}

/// Denormals to zeros of the same sign.
#[inline(always)]
fn flush(row: &mut Row) {
    for word in &mut row.0 {
        *word = if *word & 0x7F80_0000 == 0 { *word & 0x8000_0000 } else { *word };
    }
}

/// Element numbers of integer texels, and the executing lanes that are inside.
#[inline(always)]
fn texels(
    wave: &Wave,
    surface: &Surface<'_>,
    coord: [RowId; 3],
    offset: [i8; 3],
    dimensions: u32,
) -> (Row, Mask) {
    let mut element = Row::ZERO;
    let mut outside = Row::ZERO;
    let (x, y) = (&wave.rows[coord[0] as usize], &wave.rows[coord[1] as usize]);
    let flat = dimensions < 2;
    for lane in 0..LANES {
        let column = i64::from(x.0[lane] as i32) + i64::from(offset[0]);
        let row = if flat { 0 } else { i64::from(y.0[lane] as i32) + i64::from(offset[1]) };
        let inside = (column as u64) < u64::from(surface.width) && (row as u64) < u64::from(surface.height);
        element.0[lane] =
            if inside { (row as u32).wrapping_mul(surface.pitch).wrapping_add(column as u32) } else { 0 };
        outside.0[lane] = u32::from(!inside);
    }
    (element, wave.exec & !crate::wave::nonzero(&outside))
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
    each_surface(wave, context.launch, resource, |wave, surface| {
        let Some(surface) = surface else { return deliver(wave, dst, &[Row::ZERO; 4], 0) };
        let (element, ok) = texels(wave, surface, coord, offset, dimensions);
        let rows = load_elements(surface, &element, ok);
        deliver(wave, dst, &rows, ok);
    });
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
    let (element, ok) = texels(wave, surface, coord, [0; 3], dimensions);
    let mut rows = load_elements(surface, &element, ok);
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
    let (element, ok) = texels(wave, surface, coord, [0; 3], dimensions);
    store_elements(surface, &element, ok, src.map(|id| &wave.rows[id as usize]));
}

/// Element number of each lane's texel in a typed UAV, and the executing lanes that are inside.
pub fn uav_texels(wave: &Wave, surface: &Surface<'_>, coord: [RowId; 3], dimensions: u32) -> (Row, Mask) {
    texels(wave, surface, coord, [0; 3], dimensions)
}

/// `resinfo`
pub fn info(wave: &mut Wave, context: &mut Context<'_>, resource: Slot, uint: bool, dst: Rows4) {
    each_surface(wave, context.launch, resource, |wave, surface| {
        let size = surface.map_or([0; 4], |s| [s.width, s.height, 1, 1]);
        let rows = size.map(|n| Row::splat(if uint { n } else { (n as f32).to_bits() }));
        deliver(wave, dst, &rows, !0);
    });
}
