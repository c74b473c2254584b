//! Buffers: constants, `g[]`, and byte-addressed memory of any kind.

use recal_il::ir::Width;
use recal_il::isa::Scalar;
use recal_il::isa::memory::element;

use super::texture::{deliver, each_surface};
use super::words::Pattern;
use super::{View, words};
use crate::context::{Context, Surface};
use crate::op::{InfoOf, NONE, Place, RowId, Rows4};
use crate::wave::{LANES, Mask, Row, Wave, lanes, nonzero};

/// Components that an access needs: one more than its highest.
#[inline(always)]
fn reach(rows: Rows4) -> usize {
    4 - rows.iter().rev().take_while(|&&id| id == NONE).count()
}

/// Loads words `at + k` for the components of `dst`.
#[inline(always)]
fn load(wave: &mut Wave, view: &View<'_>, at: &Row, ok: Mask, dst: Rows4) {
    let rows = match reach(dst) {
        0 => return,
        1 => {
            let [x] = words::load1(view, at, ok, Pattern::of(at, ok, 1));
            [x, Row::ZERO, Row::ZERO, Row::ZERO]
        }
        2 => {
            let [x, y] = words::load2(view, at, ok, Pattern::of(at, ok, 2));
            [x, y, Row::ZERO, Row::ZERO]
        }
        _ => words::load4(view, at, ok, Pattern::of(at, ok, 4)),
    };
    // Lanes that are not `ok` were loaded as 0.
    deliver(wave, dst, &rows, !0);
}

/// Stores the components that `src` has at words `at + k`.
#[inline(always)]
fn store(wave: &Wave, view: &View<'_>, at: &Row, ok: Mask, src: Rows4) {
    let row = |k: usize| &wave.rows[src[k] as usize];
    match src.map(|id| id != NONE) {
        [true, true, true, true] => words::store4(view, at, ok, [row(0), row(1), row(2), row(3)]),
        [true, true, false, false] => words::store2(view, at, ok, [row(0), row(1)]),
        [true, false, false, false] => words::store1(view, at, ok, [row(0)]),
        _ => {
            for (k, &id) in src.iter().enumerate().filter(|(_, id)| **id != NONE) {
                let at = Row(at.0.map(|w| w.saturating_add(k as u32)));
                words::store1(view, &at, ok, [&wave.rows[id as usize]]);
            }
        }
    }
}

/// Word numbers of 16-byte elements `index + offset`, and the executing lanes for which they exist.
#[inline(always)]
fn elements(wave: &Wave, index: RowId, offset: i32, limit: usize) -> (Row, Mask) {
    let row = &wave.rows[index as usize];
    let limit = limit.div_ceil(16) as u64;
    let mut at = Row::ZERO;
    let mut inside = Row::ZERO;
    for lane in 0..LANES {
        let element = i64::from(row.0[lane] as i32) + i64::from(offset);
        at.0[lane] = (element as u32).wrapping_mul(4);
        inside.0[lane] = u32::from((element as u64) < limit);
    }
    (at, wave.exec & nonzero(&inside))
}

/// `cb#[index + offset]`, `icb[index + offset]`, `g[index + offset]`
#[inline(always)]
pub fn element_load(
    wave: &mut Wave,
    context: &mut Context<'_>,
    place: Place,
    index: RowId,
    offset: i32,
    dst: Rows4,
) {
    let view = view_of(context, place);
    let (at, ok) = elements(wave, index, offset, view.bytes());
    load(wave, &view, &at, ok, dst);
}

/// `g[index + offset] = src`
#[inline(always)]
pub fn global_store(wave: &mut Wave, context: &mut Context<'_>, index: RowId, offset: i32, src: Rows4) {
    let view = context.launch.global;
    let (at, ok) = elements(wave, index, offset, view.bytes());
    store(wave, &view, &at, ok, src);
}

/// The bytes of a byte-addressed space.
#[inline(always)]
pub fn view_of<'a>(context: &Context<'a>, place: Place) -> View<'a> {
    let of = |list: &[Surface<'a>], place: u32| list.get(place as usize).map(|s| s.view);
    match place {
        Place::Uav(place) => of(&context.launch.uavs, place).unwrap_or(View::EMPTY),
        Place::Srv(place) => of(&context.launch.resources, place).unwrap_or(View::EMPTY),
        Place::Output(place) => of(&context.launch.outputs, place).unwrap_or(View::EMPTY),
        Place::Lds { offset, bytes } => context.lds.part(offset as usize, bytes as usize),
        Place::Gds { offset, bytes } => context.launch.gds.part(offset as usize, bytes as usize),
        Place::Constants(place) => context.launch.buffers.get(place as usize).copied().unwrap_or(View::EMPTY),
        Place::Immediates => View::of(&context.launch.code.immediates),
        Place::Global => context.launch.global,
        Place::Counter(uav) => View::of(context.launch.counters).part(4 * uav as usize, 4),
        Place::Group => View::EMPTY,
    }
}

/// Byte-addressed load.
#[inline(always)]
pub fn raw_load(
    wave: &mut Wave,
    context: &mut Context<'_>,
    place: Place,
    address: RowId,
    width: Width,
    dst: Rows4,
) {
    let view = view_of(context, place);
    if width == Width::Dwords {
        let at = Row(wave.rows[address as usize].0.map(|byte| byte >> 2));
        return load(wave, &view, &at, wave.exec, dst);
    }
    let row = &wave.rows[address as usize];
    let mut out = Row::ZERO;
    for lane in lanes(wave.exec) {
        let at = row.0[lane] as usize;
        let short = || {
            let at = at & !1;
            // A half word at the very end that is not whole reads 0.
            if at + 2 <= view.bytes() { u16::from_le_bytes([view.byte(at), view.byte(at + 1)]) } else { 0 }
        };
        let low = match width {
            Width::U8 | Width::I8 => u32::from(view.byte(at)),
            Width::U16 | Width::I16 => u32::from(short()),
            Width::Dwords => view.word(at / 4),
        };
        out.0[lane] = element::extended(&mut Scalar, width, low);
    }
    deliver(wave, dst, &[out; 4], !0);
}

/// Byte-addressed store.
#[inline(always)]
pub fn raw_store(
    wave: &mut Wave,
    context: &mut Context<'_>,
    place: Place,
    address: RowId,
    width: Width,
    src: Rows4,
) {
    let view = view_of(context, place);
    if width == Width::Dwords {
        let at = Row(wave.rows[address as usize].0.map(|byte| byte >> 2));
        return store(wave, &view, &at, wave.exec, src);
    }
    let (row, value) = (&wave.rows[address as usize], &wave.rows[src[0] as usize]);
    for lane in lanes(wave.exec) {
        let (at, bytes) = (row.0[lane] as usize, value.0[lane].to_le_bytes());
        match width {
            Width::U8 | Width::I8 => view.set_byte(at, bytes[0]),
            Width::U16 | Width::I16 if (at & !1) + 2 <= view.bytes() => {
                view.set_byte(at & !1, bytes[0]);
                view.set_byte(at | 1, bytes[1]);
            }
            _ => {}
        }
    }
}

/// `bufinfo`
pub fn info(wave: &mut Wave, context: &mut Context<'_>, of: InfoOf, dst: Rows4) {
    let launch = context.launch;
    let elements =
        |surface: Option<&Surface<'_>>| [surface.map_or(0, |s| s.width.saturating_mul(s.height)), 0, 0, 0];
    let bytes = |surface: Option<&Surface<'_>>, stride: u32| match surface {
        None => [0; 4],
        Some(s) if stride != 0 => [(s.view.bytes() / stride as usize) as u32, stride, 0, 0],
        Some(s) => [s.view.bytes() as u32, 0, 0, 0],
    };
    let counts = match of {
        InfoOf::Resource(slot) => {
            return each_surface(wave, launch, slot, |wave, surface| {
                deliver(wave, dst, &elements(surface).map(Row::splat), !0);
            });
        }
        InfoOf::Typed(place) => elements(launch.uavs.get(place as usize)),
        InfoOf::Uav { place, stride } => bytes(launch.uavs.get(place as usize), stride),
        InfoOf::Srv { place, stride } => bytes(launch.resources.get(place as usize), stride),
    };
    deliver(wave, dst, &counts.map(Row::splat), !0);
}
