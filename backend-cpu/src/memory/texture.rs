//! Reads and writes of elements by texel: `sample` with the nearest filter, `load`, typed UAVs, and outputs.

use recal_hal::{Sampler, Wrap};

use super::words::{Pattern, flushed};
use super::{filter, words};
use crate::context::{Context, Launch, Surface};
use crate::op::{NONE, RowId, Rows4, SampleOp, Slot};
use crate::wave::{LANES, Mask, Row, Wave, lanes};

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
        let (index, _) = filter::split(denormalized(row.0[lane], size, unnormalized), i32::from(offset));
        if let Some(texel) = wrap(index, size, mode) {
            out.0[lane] = texel;
            inside |= 1 << lane;
        }
    }
    (out, inside)
}

/// Word numbers of elements that are stored bit for bit, and their pattern; of others the element numbers.
#[inline(always)]
fn place(surface: &Surface<'_>, element: &Row, ok: Mask) -> (Row, Pattern) {
    let n = surface.words.max(1);
    let mut at = *element;
    for word in &mut at.0 {
        *word = word.wrapping_mul(n);
    }
    (at, Pattern::of(&at, ok, n))
}

/// What becomes of an element.
#[derive(Clone, Copy, PartialEq)]
enum Read {
    /// As [`recal_il::format::Format::fetch`] says.
    Fetch,
    /// As [`recal_il::format::Format::decode`] says.
    Uav,
}

/// Loads the elements of the lanes in `ok` and converts them; other lanes hold anything.
#[inline(always)]
fn load_elements(surface: &Surface<'_>, element: &Row, ok: Mask, read: Read) -> [Row; 4] {
    let (at, pattern) = place(surface, element, ok);
    load_placed(surface, &at, ok, pattern, read)
}

/// The same for elements that [`place`] has placed.
#[inline(always)]
fn load_placed(surface: &Surface<'_>, at: &Row, ok: Mask, pattern: Pattern, read: Read) -> [Row; 4] {
    let missing = Row::splat(if surface.format.is_integer() { 1 } else { 1.0f32.to_bits() });
    match surface.words {
        4 => words::load4(&surface.view, at, ok, pattern),
        2 => {
            let [x, y] = words::load2(&surface.view, at, ok, pattern);
            [x, y, Row::ZERO, missing]
        }
        1 => {
            let [x] = words::load1(&surface.view, at, ok, pattern);
            if read == Read::Fetch { [x; 4] } else { [x, Row::ZERO, Row::ZERO, missing] }
        }
        _ => convert(surface, at, ok, read),
    }
}

#[inline(never)]
fn convert(surface: &Surface<'_>, element: &Row, ok: Mask, read: Read) -> [Row; 4] {
    let mut out = [Row::ZERO; 4];
    let bytes = surface.format.bytes() as usize;
    for lane in lanes(ok) {
        let element = surface.view.element(element.0[lane] as usize * bytes, bytes);
        let words = match read {
            Read::Fetch => surface.format.fetch(&element),
            Read::Uav => surface.format.decode(&element),
        };
        for (row, word) in out.iter_mut().zip(words) {
            row.0[lane] = word;
        }
    }
    out
}

/// Stores neighbours from element `start` on, if they are stored bit for bit and lie inside.
#[inline(always)]
pub fn store_line(surface: &Surface<'_>, start: usize, rows: [&Row; 4]) -> bool {
    let [x, y, z, w] = rows.map(|row| &row.0);
    match surface.words {
        4 => {
            let mut words = [0; 4 * LANES];
            for lane in 0..LANES {
                words[4 * lane] = x[lane];
                words[4 * lane + 1] = y[lane];
                words[4 * lane + 2] = z[lane];
                words[4 * lane + 3] = w[lane];
            }
            surface.view.write(4 * start, &words)
        }
        2 => {
            let mut words = [0; 2 * LANES];
            for lane in 0..LANES {
                words[2 * lane] = x[lane];
                words[2 * lane + 1] = y[lane];
            }
            surface.view.write(2 * start, &words)
        }
        1 => surface.view.write(start, x),
        _ => false,
    }
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
        let (column, inside) =
            nearest(&wave.rows[u as usize], surface.width, at.offset[0], at.unnormalized, sampler.wrap[0]);
        (cache.at, cache.inside) = (column, inside);
        if at.dimensions > 1 && surface.height > 1 || sampler.wrap[1] as u32 >= Wrap::ClampToBorder as u32 {
            let (row, inside) = nearest(
                &wave.rows[v as usize],
                surface.height,
                at.offset[1],
                at.unnormalized,
                sampler.wrap[1],
            );
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
        filter::border(&mut rows, sampler, surface, !cache.inside);
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
    let mut outside = Row::ZERO;
    let (x, y) = (&wave.rows[coord[0] as usize], &wave.rows[coord[1] as usize]);
    let flat = dimensions < 2;
    for lane in 0..LANES {
        let column = i64::from(x.0[lane] as i32) + i64::from(offset[0]);
        let row = if flat { 0 } else { i64::from(y.0[lane] as i32) + i64::from(offset[1]) };
        let inside = (column as u64) < u64::from(columns) && (row as u64) < u64::from(surface.height);
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
