//! The 2 x 2 neighbourhood of a texture coordinate: bilinear filter and `fetch4`.

use recal_hal::{Sampler, Wrap};
use recal_il::format::Format;

use super::texture::{deliver, denormalized, each_surface, sampler_of, wrap};
use crate::context::{Context, Surface};
use crate::op::{Addressing, RowId, Rows4, Slot};
use crate::wave::{Mask, Row, Wave, lanes};

/// The border colour as an element of the format would be fetched.
fn border_words(sampler: &Sampler, format: Format) -> [u32; 4] {
    let missing = format.decode(&[0; 16]);
    let words = std::array::from_fn(|k| {
        if k >= format.components() as usize {
            missing[k]
        } else if format.is_integer() {
            sampler.border[k] as i32 as u32
        } else {
            sampler.border[k].to_bits()
        }
    });
    if format.is_scalar() { [words[0]; 4] } else { words }
}

/// Gives the lanes in `mask` the border colour.
pub fn border(rows: &mut [Row; 4], sampler: &Sampler, surface: &Surface<'_>, mask: Mask) {
    let words = border_words(sampler, surface.format);
    for lane in lanes(mask) {
        for (row, word) in rows.iter_mut().zip(words) {
            row.0[lane] = word;
        }
    }
}

/// The four components of a texel, or of the border.
fn texel(surface: &Surface<'_>, sampler: &Sampler, column: Option<u32>, row: Option<u32>) -> [u32; 4] {
    let (Some(column), Some(row)) = (column, row) else { return border_words(sampler, surface.format) };
    let bytes = surface.format.bytes() as usize;
    let element = row as usize * surface.pitch as usize + column as usize;
    surface.format.fetch(&surface.view.element(element * bytes, bytes))
}

/// A tap of the linear filter. `Clamp` and `MirrorClamp` reach half-way into the border.
fn tap(index: i64, n: u32, mode: Wrap) -> Option<u32> {
    match mode {
        Wrap::Clamp => wrap(index, n, Wrap::ClampToBorder),
        Wrap::MirrorClamp => wrap(index, n, Wrap::MirrorClampToBorder),
        _ => wrap(index, n, mode),
    }
}

/// ⌊v + halves / 2⌋ and the fraction of that sum. The sum itself is never formed: it would round, and a tiny negative
/// coordinate would change its texel.
pub fn split(v: f32, halves: i32) -> (i64, f32) {
    let whole = v.floor();
    let steps = i64::from(halves.div_euclid(2));
    let fraction = f64::from(v) - f64::from(whole);
    if halves.rem_euclid(2) == 0 {
        return (whole as i64 + steps, fraction as f32);
    }
    let upper = fraction >= 0.5;
    let base = f64::from(whole) + if upper { 0.5 } else { -0.5 };
    (whole as i64 + steps + i64::from(upper), (f64::from(v) - base) as f32)
}

/// The texel below the position − ½ and the distance to it, where the modes that clamp the coordinate have clamped it.
fn corner(bits: u32, size: u32, offset: i8, unnormalized: bool, mode: Wrap) -> (i64, f32) {
    let v = denormalized(bits, size, unnormalized);
    // Limits of v, so that v + offset / 2 is within them.
    let (moved, size) = (f32::from(offset) / 2.0, size as f32);
    let v = match mode {
        Wrap::Clamp => v.clamp(-moved, size - moved),
        Wrap::MirrorClamp => v.clamp(-size - moved, size - moved),
        _ => v,
    };
    split(v, i32::from(offset) - 1)
}

/// Denormals to zeros of the same sign.
fn flush(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

/// Bilinear `sample`.
#[inline(never)]
pub fn linear(wave: &mut Wave, surface: &Surface<'_>, sampler: &Sampler, at: &Addressing, dst: Rows4) {
    let mut out = [Row::ZERO; 4];
    for lane in lanes(wave.exec) {
        let bits = |k: usize| wave.rows[at.coord[k] as usize].0[lane];
        let (i, fu) = corner(bits(0), surface.width, at.offset[0], at.unnormalized, sampler.wrap[0]);
        let columns = [i, i + 1].map(|i| tap(i, surface.width, sampler.wrap[0]));
        let (rows, fv) = if at.dimensions > 1 {
            let (j, fv) = corner(bits(1), surface.height, at.offset[1], at.unnormalized, sampler.wrap[1]);
            ([j, j + 1].map(|j| tap(j, surface.height, sampler.wrap[1])), fv)
        } else {
            ([Some(0); 2], 0.0)
        };
        let taps = rows.map(|row| columns.map(|column| texel(surface, sampler, column, row)));
        for (k, out) in out.iter_mut().enumerate() {
            let value = |j: usize, i: usize| f32::from_bits(taps[j][i][k]);
            // A tap of weight 0 does not count, so that an infinity or NaN beside the texel does no harm.
            // As all single precision arithmetic of the device, each step flushes denormals.
            let mix = |a: f32, b: f32, f: f32| {
                let (a, b) = (flush(a), flush(b));
                if f == 0.0 { a } else { flush(flush(a * (1.0 - f)) + flush(b * f)) }
            };
            let mixed = mix(mix(value(0, 0), value(0, 1), fu), mix(value(1, 0), value(1, 1), fu), fv);
            out.0[lane] = if mixed.is_nan() { 0x7FC0_0000 } else { mixed.to_bits() };
        }
    }
    deliver(wave, dst, &out, !0);
}

/// `fetch4`: (i0, j1), (i1, j1), (i1, j0), (i0, j0).
#[allow(clippy::too_many_arguments)]
#[inline(never)]
pub fn gather(
    wave: &mut Wave,
    context: &mut Context<'_>,
    resource: Slot,
    sampler: Slot,
    at: &Addressing,
    texel_offset: Option<[RowId; 2]>,
    component: u8,
    dst: Rows4,
) {
    let sampler = sampler_of(wave, context.launch, sampler);
    each_surface(wave, context.launch, resource, |wave, surface| {
        let Some(surface) = surface else { return deliver(wave, dst, &[Row::ZERO; 4], 0) };
        let mut out = [Row::ZERO; 4];
        for lane in lanes(wave.exec) {
            let word = |id: RowId| wave.rows[id as usize].0[lane];
            let added = texel_offset.map_or([0; 2], |ids| ids.map(|id| i64::from(word(id) as i32)));
            let taps = |k: usize, size: u32| {
                let (first, _) =
                    corner(word(at.coord[k]), size, at.offset[k], at.unnormalized, sampler.wrap[k]);
                [0, 1].map(|step| wrap(first + added[k] + step, size, sampler.wrap[k]))
            };
            let (i, j) = (taps(0, surface.width), taps(1, surface.height));
            let order = [(i[0], j[1]), (i[1], j[1]), (i[1], j[0]), (i[0], j[0])];
            for (row, (column, line)) in out.iter_mut().zip(order) {
                row.0[lane] = texel(surface, &sampler, column, line)[usize::from(component & 3)];
            }
        }
        deliver(wave, dst, &out, !0);
    });
}
