//! What a memory access touches: for each lane the memory by its name in the kernel, the place as the kernel counts it,
//! and the bytes.

use recal_hal::Wrap;
use recal_il::ir::Width;
use recal_il::isa::Scalar;
use recal_il::isa::memory::Truth;
use recal_il::isa::memory::texel::{Axis, nearest};

use super::place::{Area, At, Kind};
use crate::context::{Context, Surface};
use crate::memory::texture::{axis, sampler_of};
use crate::memory::{View, is_beyond, view_of};
use crate::op::{Addressing, AtomicAt, Code, MemoryOp, NONE, Place, RowId, SampleOp, Slot};
use crate::wave::{LANES, Wave, lanes};

/// Neighbouring bytes of a view, and what is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub offset: usize,
    /// How many, at most 16.
    pub bytes: usize,
    /// What a store leaves there, little-endian.
    pub value: [u8; 16],
}

/// The access of one lane.
#[derive(Clone, Copy)]
pub struct Touch<'a> {
    /// Which.
    pub lane: usize,
    /// Memory.
    pub area: Area,
    /// Place in it.
    pub at: At,
    /// What it does.
    pub kind: Kind,
    /// Part of it misses the memory.
    pub outside: bool,
    /// The bytes, of memory that threads share.
    pub view: View<'a>,
    /// Those that are inside.
    pub pieces: [Option<Piece>; 4],
    /// Of reads of texels, address and bytes of the texel; with a filter, of the nearest one.
    pub texel: Option<(usize, usize)>,
}

/// Number of an `x#`, or of a block of LDS or GDS, by where it lies.
fn number(list: &[(u32, u32)], at: u32) -> u32 {
    list.iter().find(|(start, _)| *start == at).map_or(0, |(_, number)| *number)
}

fn area_of(code: &Code, place: Place) -> Area {
    match place {
        Place::Uav(k) => Area::Uav(code.uavs.get(k as usize).copied().unwrap_or(k)),
        Place::Srv(k) => Area::Resource(code.resources.get(k as usize).copied().unwrap_or(k)),
        Place::Output(_) => unreachable!("no access is to an output by address"),
        Place::Lds { offset, .. } => Area::Lds(number(&code.lds_blocks, offset)),
        Place::Gds { offset, .. } => Area::Gds(number(&code.gds_blocks, offset)),
        Place::Constants(k) => Area::Constant(code.buffers.get(k as usize).copied().unwrap_or(k)),
        Place::Global => Area::Global,
    }
}

/// Collects touches.
struct Lister<'w, 'a, 'f> {
    wave: &'w Wave,
    context: &'w Context<'a>,
    add: &'f mut dyn FnMut(Touch<'a>),
}

/// Calls `add` with what each executing lane touches with `op`.
pub fn each_touch<'a>(wave: &Wave, context: &Context<'a>, op: &MemoryOp, add: &mut dyn FnMut(Touch<'a>)) {
    Lister { wave, context, add }.list(op);
}

impl<'a> Lister<'_, 'a, '_> {
    fn word(&self, row: RowId, lane: usize) -> u32 {
        if row == NONE { 0 } else { self.wave.rows[row as usize].0[lane] }
    }

    /// Components that are there: `bytes` each from byte `base` of `view`, in the first `limit` bytes.
    fn words(
        &self,
        lane: usize,
        (area, at, kind): (Area, At, Kind),
        view: View<'a>,
        base: i64,
        bytes: usize,
        components: [RowId; 4],
    ) -> Touch<'a> {
        let mut touch = Touch { lane, area, at, kind, outside: false, view, pieces: [None; 4], texel: None };
        for (k, &row) in components.iter().enumerate().filter(|(_, row)| **row != NONE) {
            let offset = usize::try_from(base + 4 * k as i64).ok();
            let inside = offset.filter(|o| o.checked_add(bytes).is_some_and(|end| end <= view.bytes()));
            let Some(offset) = inside else {
                touch.outside = true;
                continue;
            };
            let mut value = [0; 16];
            value[..4].copy_from_slice(&self.word(row, lane).to_le_bytes());
            touch.pieces[k] = Some(Piece { offset, bytes, value });
        }
        touch
    }

    /// Elements of 16 bytes.
    fn elements(
        &mut self,
        area: Area,
        kind: Kind,
        view: View<'a>,
        index: (RowId, i32),
        components: [RowId; 4],
    ) {
        for lane in lanes(self.wave.exec) {
            let element = i64::from(self.word(index.0, lane) as i32) + i64::from(index.1);
            let touch =
                self.words(lane, (area, At::Element(element), kind), view, 16 * element, 4, components);
            (self.add)(touch);
        }
    }

    /// Elements of a table that no other thread sees.
    fn private(&mut self, area: Area, kind: Kind, index: (RowId, i32), elements: u32) {
        for lane in lanes(self.wave.exec) {
            let element = i64::from(self.word(index.0, lane) as i32) + i64::from(index.1);
            let outside = element as u64 >= u64::from(elements);
            let at = At::Element(element);
            let (view, pieces) = (View::EMPTY, [None; 4]);
            (self.add)(Touch { lane, area, at, kind, outside, view, pieces, texel: None });
        }
    }

    fn bytes(&mut self, place: Place, address: RowId, kind: Kind, width: Width, components: [RowId; 4]) {
        let (area, view) = (area_of(self.context.launch.code, place), view_of(self.context, place));
        for lane in lanes(self.wave.exec) {
            let address = self.word(address, lane);
            let (base, bytes, components) = match width {
                Width::Dwords => (address & !3, 4, components),
                Width::U8 | Width::I8 => (address, 1, [components[0], NONE, NONE, NONE]),
                Width::U16 | Width::I16 => (address & !1, 2, [components[0], NONE, NONE, NONE]),
            };
            let what = (area, At::Byte(address), kind);
            let touch = self.words(lane, what, view, i64::from(base), bytes, components);
            (self.add)(touch);
        }
    }

    fn list(&mut self, op: &MemoryOp) {
        let (context, code) = (self.context, self.context.launch.code);
        match op {
            MemoryOp::RawLoad { place, address, width, dst } => {
                // Narrow loads deliver one value to every component.
                let first = dst.iter().copied().find(|row| *row != NONE).unwrap_or(NONE);
                let dst = if *width == Width::Dwords { *dst } else { [first, NONE, NONE, NONE] };
                self.bytes(*place, *address, Kind::Read, *width, dst);
            }
            MemoryOp::RawStore { place, address, width, src } => {
                self.bytes(*place, *address, Kind::Write, *width, *src);
            }
            MemoryOp::Atomic { place, at: AtomicAt::Byte(address), src, .. } => {
                self.bytes(*place, *address, Kind::Atomic, Width::Dwords, [*src, NONE, NONE, NONE]);
            }
            MemoryOp::AtomicWide { place, address, src, .. } => {
                let (area, view) = (area_of(code, *place), view_of(context, *place));
                for lane in lanes(self.wave.exec) {
                    let byte = self.word(*address, lane);
                    let what = (area, At::Byte(byte), Kind::Atomic);
                    let src = [src[0], src[1], NONE, NONE];
                    let touch = self.words(lane, what, view, i64::from(byte & !7), 4, src);
                    (self.add)(touch);
                }
            }
            MemoryOp::GlobalLoad { index, offset, dst } => {
                self.elements(Area::Global, Kind::Read, context.launch.global, (*index, *offset), *dst);
            }
            MemoryOp::GlobalStore { index, offset, src } => {
                self.elements(Area::Global, Kind::Write, context.launch.global, (*index, *offset), *src);
            }
            MemoryOp::ConstLoad { place, index, offset, dst } => {
                let view = context.launch.buffers.get(*place as usize).copied().unwrap_or(View::EMPTY);
                let number = code.buffers.get(*place as usize).copied().unwrap_or(*place);
                self.elements(Area::Constant(number), Kind::Read, view, (*index, *offset), *dst);
            }
            MemoryOp::ImmediateLoad { index, offset, .. } => {
                self.private(Area::Immediate, Kind::Read, (*index, *offset), code.immediates.len() as u32);
            }
            MemoryOp::ArrayLoad { first, elements, index, offset, .. } => {
                let area = Area::Array(number(&code.arrays, *first));
                self.private(area, Kind::Read, (*index, *offset), *elements);
            }
            MemoryOp::ArrayStore { first, elements, index, offset, .. } => {
                let area = Area::Array(number(&code.arrays, *first));
                self.private(area, Kind::Write, (*index, *offset), *elements);
            }
            MemoryOp::SharedLoad { register, .. } => self.shared(*register, Kind::Read),
            MemoryOp::SharedStore { register, .. } => self.shared(*register, Kind::Write),
            MemoryOp::LdsWriteOwn { offset, src } => {
                for lane in lanes(self.wave.exec) {
                    let thread = self.wave.index * LANES as u32 + lane as u32;
                    self.owned(lane, thread, u64::from(*offset), Kind::Write, *src);
                }
            }
            MemoryOp::LdsReadAny { thread, offset, dst, .. } => {
                for lane in lanes(self.wave.exec) {
                    let (thread, dword) = (self.word(*thread, lane), self.word(*offset, lane));
                    self.owned(lane, thread, u64::from(dword), Kind::Read, *dst);
                }
            }
            MemoryOp::TypedLoad { place, coord, dimensions, .. } => {
                self.typed(*place, *coord, *dimensions, Kind::Read, [NONE; 4]);
            }
            MemoryOp::TypedStore { place, coord, dimensions, src } => {
                self.typed(*place, *coord, *dimensions, Kind::Write, *src);
            }
            MemoryOp::Atomic { place: Place::Uav(place), at: AtomicAt::Texel(coord), dimensions, .. } => {
                self.typed(*place, *coord, *dimensions, Kind::Atomic, [NONE; 4]);
            }
            MemoryOp::Fetch { resource, coord, offset, dimensions, .. } => {
                for lane in lanes(self.wave.exec) {
                    let (area, surface) = self.resource(*resource, lane);
                    let at: [i64; 2] = std::array::from_fn(|k| {
                        let used = k < *dimensions as usize;
                        let whole = i64::from(self.word(coord[k], lane) as i32) + i64::from(offset[k]);
                        if used { whole } else { 0 }
                    });
                    let outside = surface.is_none_or(|s| texel_outside([s.width, s.height], at));
                    let texel = at.map(|k| u32::try_from(k).unwrap_or(u32::MAX));
                    self.texture(lane, (area, surface), At::Texel(at), outside, texel);
                }
            }
            MemoryOp::Sample(SampleOp { resource, sampler, at, .. }) => {
                self.sampled(*resource, *sampler, at, None);
            }
            MemoryOp::Gather { resource, sampler, at, texel_offset, .. } => {
                self.sampled(*resource, *sampler, at, *texel_offset);
            }
            MemoryOp::Atomic { .. }
            | MemoryOp::ResourceInfo { .. }
            | MemoryOp::BufferInfo { .. }
            | MemoryOp::Counter { .. } => {}
        }
    }

    fn shared(&mut self, register: u32, kind: Kind) {
        for lane in lanes(self.wave.exec) {
            let area = Area::Shared(register);
            let touch = Touch {
                lane,
                area,
                at: At::Whole,
                kind,
                outside: false,
                view: View::EMPTY,
                pieces: [None; 4],
                texel: None,
            };
            (self.add)(touch);
        }
    }

    /// Dwords `dword + k` of what `thread` owns.
    fn owned(&mut self, lane: usize, thread: u32, dword: u64, kind: Kind, components: [RowId; 4]) {
        let (context, code) = (self.context, self.context.launch.code);
        let view = view_of(context, Place::Lds { offset: 0, bytes: u32::MAX });
        let own = u64::from(code.lds_own);
        let foreign = thread >= context.group_threads;
        let within = components.map(|row| row != NONE);
        let outside =
            foreign || within.iter().enumerate().any(|(k, there)| *there && dword + k as u64 >= own);
        let mut kept = components;
        for (k, row) in kept.iter_mut().enumerate() {
            if foreign || dword + k as u64 >= own {
                *row = NONE;
            }
        }
        let base = u64::from(code.lds_bytes) + 4 * (u64::from(thread) * own + dword.min(own));
        let what = (Area::OwnLds, At::Owned(thread, dword), kind);
        let touch = self.words(lane, what, view, base as i64, 4, kept);
        (self.add)(Touch { outside: outside || touch.outside, ..touch });
    }

    fn typed(&mut self, place: u32, coord: [RowId; 3], dimensions: u32, kind: Kind, src: [RowId; 4]) {
        let Some(surface) = self.context.launch.uavs.get(place as usize) else { return };
        let area = area_of(self.context.launch.code, Place::Uav(place));
        let bytes = surface.format.bytes() as usize;
        for lane in lanes(self.wave.exec) {
            let at: [i64; 2] = std::array::from_fn(|k| {
                if k < dimensions as usize { i64::from(self.word(coord[k], lane) as i32) } else { 0 }
            });
            let outside = texel_outside([surface.pitch, surface.height], at);
            let mut pieces = [None; 4];
            if !outside {
                let offset = (at[1] as usize * surface.pitch as usize + at[0] as usize) * bytes;
                let value = surface.format.encode(src.map(|row| self.word(row, lane)));
                pieces[0] = Some(Piece { offset, bytes, value });
            }
            let at = At::Texel(at);
            let view = surface.view;
            (self.add)(Touch { lane, area, at, kind, outside, view, pieces, texel: None });
        }
    }

    /// The resource that a lane names; `None` is a number that is not bound.
    fn resource(&self, slot: Slot, lane: usize) -> (Area, Option<&'a Surface<'a>>) {
        let launch = self.context.launch;
        if slot.index == NONE {
            return (Area::Resource(slot.base), launch.resources.get(slot.place as usize));
        }
        let number = slot.base.wrapping_add(self.word(slot.index, lane));
        let place = launch.code.resources.iter().position(|&n| n == number);
        (Area::Resource(number), place.map(|place| &launch.resources[place]))
    }

    /// A read of the texel at a column and row, if it is one of the surface's.
    fn texture(
        &mut self,
        lane: usize,
        (area, surface): (Area, Option<&Surface<'a>>),
        at: At,
        outside: bool,
        texel: [u32; 2],
    ) {
        let (view, pieces, kind) = (View::EMPTY, [None; 4], Kind::Read);
        let texel = surface.filter(|s| texel[0] < s.width && texel[1] < s.height).map(|s| {
            let element = texel[1] as usize * s.pitch as usize + texel[0] as usize;
            (s.view.address() + element * s.format.bytes() as usize, s.format.bytes() as usize)
        });
        (self.add)(Touch { lane, area, at, kind, outside, view, pieces, texel });
    }

    /// A sample misses if its nearest texel is beyond an edge to which coordinates are clamped. The other wrap modes are
    /// there to be used beyond the edges.
    fn sampled(&mut self, resource: Slot, sampler: Slot, at: &Addressing, texel_offset: Option<[RowId; 2]>) {
        let sampler = sampler_of(self.wave, self.context.launch, sampler);
        for lane in lanes(self.wave.exec) {
            let (area, surface) = self.resource(resource, lane);
            let bits = [0, 1].map(|k| self.word(at.coord[k], lane));
            let beyond = |surface: &Surface<'_>| {
                (0..at.dimensions.min(2) as usize).any(|k| {
                    let size = [surface.width, surface.height][k];
                    // One row: the second coordinate does not matter.
                    if k == 1 && size == 1 || !matches!(sampler.wrap[k], Wrap::ClampToEdge | Wrap::Clamp) {
                        return false;
                    }
                    let added = texel_offset.map_or(0, |rows| i64::from(self.word(rows[k], lane) as i32));
                    is_beyond(at, surface, k, bits[k], added)
                })
            };
            let outside = surface.is_none_or(beyond);
            let mut shown = bits.map(f32::from_bits);
            if at.dimensions < 2 {
                shown[1] = 0.0;
            }
            let texel = surface.map_or([u32::MAX; 2], |surface| {
                [0, 1].map(|k| match k == 1 && (at.dimensions < 2 || surface.height < 2) {
                    true => 0,
                    false => {
                        let axis = Axis { coord: bits[k], ..axis(at, surface, &sampler, k) };
                        let (index, inside) = nearest(&mut Scalar, &axis);
                        if matches!(inside, Truth::Known(true) | Truth::Value(true)) {
                            index
                        } else {
                            u32::MAX
                        }
                    }
                })
            });
            self.texture(lane, (area, surface), At::Coordinate(shown), outside, texel);
        }
    }
}

fn texel_outside(size: [u32; 2], at: [i64; 2]) -> bool {
    (0..2).any(|k| at[k] as u64 >= u64::from(size[k]))
}

/// The rows whose values matter to an access: not coordinates that the shape lacks, nor components that the format
/// does not store.
pub fn rows_used(op: &MemoryOp, context: &Context<'_>, mut visit: impl FnMut(RowId)) {
    let mut all = |rows: &[RowId]| rows.iter().filter(|row| **row != NONE).for_each(|row| visit(*row));
    match op {
        MemoryOp::Sample(SampleOp { resource, sampler, at, .. }) => {
            all(&[resource.index, sampler.index]);
            all(&at.coord[..at.dimensions.min(3) as usize]);
        }
        MemoryOp::Fetch { resource, coord, dimensions, .. } => {
            all(&[resource.index]);
            all(&coord[..(*dimensions).min(3) as usize]);
        }
        MemoryOp::TypedLoad { coord, dimensions, .. } => all(&coord[..(*dimensions).min(3) as usize]),
        MemoryOp::TypedStore { place, coord, dimensions, src } => {
            all(&coord[..(*dimensions).min(3) as usize]);
            let stored = context.launch.uavs.get(*place as usize).map_or(4, |s| s.format.components());
            all(&src[..stored.min(4) as usize]);
        }
        MemoryOp::Atomic { at: AtomicAt::Texel(coord), dimensions, src, src2, .. } => {
            all(&coord[..(*dimensions).min(3) as usize]);
            all(&[*src, *src2]);
        }
        // What an array holds is followed element by element.
        MemoryOp::ArrayStore { index, .. } => all(&[*index]),
        op => op.each_row(|row, written| {
            if !written {
                visit(row);
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::texel_outside;

    #[test]
    fn texels_outside_are_outside_on_either_axis() {
        let size = [4, 3];
        for inside in [[0, 0], [3, 2]] {
            assert!(!texel_outside(size, inside), "{inside:?}");
        }
        for outside in [[4, 0], [0, 3], [-1, 0], [0, -1], [4, 3]] {
            assert!(texel_outside(size, outside), "{outside:?}");
        }
    }
}
