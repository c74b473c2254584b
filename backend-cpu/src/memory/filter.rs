//! The 2 x 2 neighbourhood of a texture coordinate: bilinear filter and `fetch4`.

use recal_hal::{Sampler, Wrap};
use recal_il::isa::Scalar;
use recal_il::isa::memory::element::Layout;
use recal_il::isa::memory::filter;
use recal_il::isa::memory::texel::{self, Axis, GATHER_ORDER};

use super::elements::{Read, load_elements};
use super::texture::{Texels, axis, by_mode, deliver, each_surface, sampler_of};
use crate::context::{Context, Surface};
use crate::op::{Addressing, RowId, Rows4, Slot};
use crate::wave::{LANES, Row, Wave, nonzero};

/// The border colour as an element of the surface would be fetched.
pub fn border_words(sampler: &Sampler, surface: &Surface<'_>) -> [u32; 4] {
    Layout::of(&mut Scalar, surface.format).border(&mut Scalar, sampler.border.map(f32::to_bits))
}

/// Gives the lanes that are not `inside` the border colour.
pub fn border(rows: &mut [Row; 4], sampler: &Sampler, surface: &Surface<'_>, inside: &Row) {
    for (row, word) in rows.iter_mut().zip(border_words(sampler, surface)) {
        for lane in 0..LANES {
            row.0[lane] = row.0[lane] & inside.0[lane] | word & !inside.0[lane];
        }
    }
}

/// Texels, or the border, at columns and rows.
fn corner(wave: &Wave, surface: &Surface<'_>, sampler: &Sampler, column: &Texels, row: &Texels) -> [Row; 4] {
    let (mut element, mut inside) = (Row::ZERO, Row::ZERO);
    for lane in 0..LANES {
        let start = row.index.0[lane].wrapping_mul(surface.pitch);
        element.0[lane] = start.wrapping_add(column.index.0[lane]);
        inside.0[lane] = column.inside.0[lane] & row.inside.0[lane];
    }
    let mut words = load_elements(surface, &element, wave.exec & nonzero(&inside), Read::Fetch);
    border(&mut words, sampler, surface, &inside);
    words
}

/// Both taps of the linear filter on one axis, and the weight of the second.
fn taps(coord: &Row, axis: &Axis<u32>, wrap: Wrap) -> ([Texels; 2], Row) {
    let (mut taps, mut weight) = ([Texels::FIRST; 2], Row::ZERO);
    by_mode!(wrap, mode => {
        for lane in 0..LANES {
            let axis = Axis { coord: coord.0[lane], mode, ..*axis };
            let ([first, second], part) = texel::taps(&mut Scalar, &axis);
            taps[0].put(lane, first);
            taps[1].put(lane, second);
            weight.0[lane] = part;
        }
    });
    (taps, weight)
}

/// Bilinear `sample`.
#[inline(never)]
pub fn linear(wave: &mut Wave, surface: &Surface<'_>, sampler: &Sampler, at: &Addressing, dst: Rows4) {
    let side =
        |k: usize| taps(&wave.rows[at.coord[k] as usize], &axis(at, surface, sampler, k), sampler.wrap[k]);
    let (columns, across) = side(0);
    let down = (at.dimensions > 1).then(|| side(1));
    let (rows, weight) = down.unwrap_or(([Texels::FIRST; 2], Row::ZERO));
    let line = |row: &Texels| columns.map(|column| corner(wave, surface, sampler, &column, row));
    let first = line(&rows[0]);
    let second = if down.is_some() { line(&rows[1]) } else { first };
    let mut out = [Row::ZERO; 4];
    for (k, out) in out.iter_mut().enumerate() {
        for lane in 0..LANES {
            let words = |line: &[[Row; 4]; 2]| [line[0][k].0[lane], line[1][k].0[lane]];
            let below = down.is_some().then(|| (words(&second), weight.0[lane]));
            out.0[lane] = filter::linear(&mut Scalar, words(&first), below, across.0[lane]);
        }
    }
    deliver(wave, dst, &out, !0);
}

/// `fetch4`
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
        let sides = [0, 1].map(|k| {
            if k == 1 && at.dimensions < 2 {
                return [Texels::FIRST; 2];
            }
            let axis = axis(at, surface, &sampler, k);
            let coord = &wave.rows[at.coord[k] as usize];
            let added = texel_offset.map(|ids| &wave.rows[ids[k] as usize]);
            let mut both = [Texels::FIRST; 2];
            for lane in 0..LANES {
                let axis = Axis { coord: coord.0[lane], ..axis };
                let texels = texel::gathered(&mut Scalar, &axis, added.map(|added| added.0[lane]));
                both.iter_mut().zip(texels).for_each(|(to, texel)| to.put(lane, texel));
            }
            both
        });
        let out = GATHER_ORDER.map(|(i, j)| {
            corner(wave, surface, &sampler, &sides[0][i], &sides[1][j])[usize::from(component & 3)]
        });
        deliver(wave, dst, &out, !0);
    });
}
