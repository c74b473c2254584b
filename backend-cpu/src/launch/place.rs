//! What depends on where a tile lies: positions, and what is interpolated over the domain.

use recal_il::ir::Builtin;

use super::Tile;
use super::parts::EXACT;
use crate::context::Launch;
use crate::wave::{LANES, Row, Wave};

/// The position of a thread where single precision is exact.
#[inline(always)]
fn exact(index: u32, half: f32) -> u32 {
    (index as i32 as f32 + half).to_bits()
}

/// Fills the rows that depend on where a tile lies, of which these are the waves and `tile` says where the first is, if it is one line, they
/// hold positions and those are exact; those of columns and of the line only if they are `other` than those that are in them. Else false.
#[inline(always)]
pub fn place_line(waves: &mut [Wave], launch: &Launch<'_>, tile: &Tile, other: [bool; 2]) -> bool {
    let first = [0, 1].map(|axis: usize| tile.first[axis].wrapping_add(tile.corner[axis]));
    let positions = |&(_, builtin): &(u32, Builtin)| matches!(builtin, Builtin::Position(0..=1));
    if 1 << tile.shift != LANES || tile.turned || first.iter().any(|at| *at >= EXACT) {
        return false;
    }
    if !launch.code.builtins.iter().all(positions) {
        return false;
    }
    let half = if launch.code.whole_position { 0.0 } else { 0.5 };
    for &(row, builtin) in &launch.code.builtins {
        let rows = waves.iter_mut().map(|wave| &mut wave.rows[row as usize]);
        match builtin {
            Builtin::Position(0) if !other[0] => {}
            Builtin::Position(0) => {
                let columns = (first[0]..).step_by(LANES);
                columns.zip(rows).for_each(|(first, row)| {
                    (first..).zip(&mut row.0).for_each(|(index, word)| *word = exact(index, half));
                });
            }
            _ if other[1] => {
                let line = Row::splat(exact(first[1], half));
                rows.for_each(|row| *row = line);
            }
            _ => {}
        }
    }
    true
}

/// The same of any tile; the rows of columns only if they are `other` than those that are in them.
#[inline(always)]
pub fn place_tile(wave: &mut Wave, launch: &Launch<'_>, tile: &Tile, other: bool) {
    for &(row, builtin) in &launch.code.builtins {
        let row = &mut wave.rows[row as usize];
        match builtin {
            Builtin::Position(0) if !other => {}
            Builtin::Position(axis @ 0..=1) => {
                let axis = usize::from(axis);
                let start = tile.first[axis].wrapping_add(tile.corner[axis]);
                let half = if launch.code.whole_position { 0.0f32 } else { 0.5 };
                if start < EXACT {
                    for lane in 0..LANES as u32 {
                        row.0[lane as usize] = exact(start + tile.place(axis, lane), half);
                    }
                    continue;
                }
                for lane in 0..LANES as u32 {
                    let index = start.wrapping_add(tile.place(axis, lane));
                    row.0[lane as usize] = ((f64::from(index) + f64::from(half)) as f32).to_bits();
                }
            }
            Builtin::ObjectIndex => {
                for lane in 0..LANES {
                    let [column, line] = tile.at(lane);
                    row.0[lane] = line.wrapping_mul(tile.size[0]).wrapping_add(column);
                }
            }
            Builtin::Interpolant(n, k) => {
                for lane in 0..LANES {
                    let at = tile.at(lane);
                    let absolute = [0, 1].map(|axis| tile.first[axis].wrapping_add(at[axis]));
                    row.0[lane] = interpolate(launch, n.into(), k, at, absolute, tile.size);
                }
            }
            _ => *row = Row::ZERO,
        }
    }
}

fn position(index: u32, whole: bool) -> u32 {
    let half = if whole { 0.0 } else { 0.5 };
    ((f64::from(index) + half) as f32).to_bits()
}

/// Interpolated input: linear over the domain at pixel centres; without corner values the pixel centre itself.
fn interpolate(launch: &Launch<'_>, n: u32, k: u8, at: [u32; 2], absolute: [u32; 2], size: [u32; 2]) -> u32 {
    let Some(param) = launch.params.and_then(|params| params.get(n as usize)) else {
        return absolute.get(usize::from(k)).map_or(0, |&index| position(index, false));
    };
    // In single precision, each step rounded and flushed, so that devices without doubles give the same bits.
    let flush = |value: f32| if value.is_subnormal() { 0f32.copysign(value) } else { value };
    let k = usize::from(k & 3);
    let [u, v] = [0, 1].map(|d| flush((at[d] as f32 + 0.5) / size[d] as f32));
    let [ul, ll, lr] = [param.ul, param.ll, param.lr].map(|corner| flush(corner[k]));
    let (across, down) = (flush(flush(lr - ll) * u), flush(flush(ll - ul) * v));
    let value = flush(flush(ul + across) + down);
    if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() }
}
