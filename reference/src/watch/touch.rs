//! What a memory access touches: the memory by its name in the kernel, the place as the kernel counts it, and the bytes.

use recal_hal::{Sampler, Wrap};
use recal_il::ir::{
    AtomicAddress, Dst4, Id, MemoryInst, Operand, Space, Src4, Uav, Width, visit::operands_of,
};
use recal_il::isa::memory::Truth;
use recal_il::isa::memory::texel::{self, Axis, Mode, nearest};
use recal_il::isa::{Algebra, Scalar};

use super::place::{Area, At, Kind};
use super::{Home, Scene};
use crate::Surface;
use crate::texture::planar;

/// Neighbouring bytes of a memory, and what is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub offset: usize,
    /// How many, at most 16.
    pub bytes: usize,
    /// What a store leaves there, little-endian.
    pub value: [u8; 16],
}

/// The access of one thread.
#[derive(Clone, Copy)]
pub struct Touch {
    /// Memory.
    pub area: Area,
    /// Place in it.
    pub at: At,
    /// What it does.
    pub kind: Kind,
    /// Part of it misses the memory.
    pub outside: bool,
    /// Where the bytes are, of memory that threads share.
    pub home: Option<Home>,
    /// Those that are inside.
    pub pieces: [Option<Piece>; 4],
    /// Of reads of texels, the texel's memory, its first byte and how many it has; with a filter, of the nearest one.
    pub texel: Option<(usize, usize, usize)>,
}

/// Words that there are.
type Words = [Option<u32>; 4];

impl Touch {
    /// Of no memory that others see, unless more is said.
    fn of(area: Area, at: At, kind: Kind, outside: bool) -> Touch {
        Touch { area, at, kind, outside, home: None, pieces: [None; 4], texel: None }
    }

    /// Components that are there: `size` bytes each from byte `base` on, of a memory's first bytes.
    fn words(
        area: Area,
        at: At,
        kind: Kind,
        memory: Option<(Home, usize)>,
        base: i64,
        size: usize,
        words: Words,
    ) -> Touch {
        let mut touch = Touch::of(area, at, kind, false);
        let (home, bytes) = memory.map_or((None, 0), |(home, bytes)| (Some(home), bytes));
        touch.home = home;
        for (k, word) in words.into_iter().enumerate() {
            let Some(word) = word else { continue };
            let offset = usize::try_from(base + 4 * k as i64).ok();
            match offset.filter(|o| o.checked_add(size).is_some_and(|end| end <= bytes)) {
                Some(offset) => {
                    let mut value = [0; 16];
                    value[..4].copy_from_slice(&word.to_le_bytes());
                    touch.pieces[k] = Some(Piece { offset, bytes: size, value });
                }
                None => touch.outside = true,
            }
        }
        touch
    }
}

/// A load leaves nothing.
fn loaded(dst: &Dst4) -> Words {
    dst.map(|register| register.map(|_| 0))
}

/// A thread about to access memory.
pub struct Lister<'l, 's> {
    /// Where.
    pub scene: &'l Scene<'s>,
    /// Its number in the group.
    pub thread: usize,
}

impl Lister<'_, '_> {
    fn word(&self, operand: Operand) -> u32 {
        self.scene.word(self.thread, operand)
    }

    fn sources(&self, src: &Src4) -> Words {
        src.map(|operand| operand.map(|operand| self.word(operand)))
    }

    /// Element `index + offset`.
    fn element(&self, index: Operand, offset: i32) -> i64 {
        i64::from(self.word(index) as i32) + i64::from(offset)
    }

    /// Elements of 16 bytes.
    fn elements(
        &self,
        area: Area,
        kind: Kind,
        surface: Option<&Surface>,
        element: i64,
        words: Words,
    ) -> Touch {
        let memory = self.scene.surface(surface);
        Touch::words(area, At::Element(element), kind, memory, 16 * element, 4, words)
    }

    /// Elements of a table that no other thread sees.
    fn private(area: Area, kind: Kind, element: i64, elements: usize) -> Touch {
        Touch::of(area, At::Element(element), kind, element as u64 >= elements as u64)
    }

    fn space(&self, space: Space) -> (Area, Option<(Home, usize)>) {
        let (scene, whole) =
            (self.scene, |home| self.scene.memory(home).map(|memory| (home, memory.bytes())));
        match space {
            Space::Uav(n) => (Area::Uav(n), scene.surface(scene.bound.uavs.get(&n))),
            Space::Srv(n) => (Area::Resource(n), scene.surface(scene.bound.resources.get(&n))),
            Space::Lds(n) => (Area::Lds(n), whole(Home::Lds(n))),
            Space::Gds(n) => (Area::Gds(n), whole(Home::Gds(n))),
        }
    }

    fn bytes(&self, space: Space, address: Operand, kind: Kind, width: Width, words: Words) -> Touch {
        let ((area, memory), address) = (self.space(space), self.word(address));
        let (base, size, words) = match width {
            Width::Dwords => (address & !3, 4, words),
            Width::U8 | Width::I8 => (address, 1, [words[0], None, None, None]),
            Width::U16 | Width::I16 => (address & !1, 2, [words[0], None, None, None]),
        };
        Touch::words(area, At::Byte(address), kind, memory, base.into(), size, words)
    }

    /// What the access touches; `None` if it is none of memory.
    pub fn touch(&self, inst: &MemoryInst) -> Option<Touch> {
        let (bound, program) = (&self.scene.bound, self.scene.program);
        Some(match inst {
            MemoryInst::RawLoad { space, address, width, dst } => {
                // Narrow loads deliver one value to every component.
                let any = dst.iter().any(Option::is_some).then_some(0);
                let words = if *width == Width::Dwords { loaded(dst) } else { [any, None, None, None] };
                self.bytes(*space, *address, Kind::Read, *width, words)
            }
            MemoryInst::RawStore { space, address, width, src } => {
                self.bytes(*space, *address, Kind::Write, *width, self.sources(src))
            }
            MemoryInst::Atomic { space, address: AtomicAddress::Byte(address), src, wide, .. } => {
                let (low, high) = (self.word(*src), wide.as_ref().map(|wide| self.word(wide.src)));
                let words = [Some(low), high, None, None];
                let ((area, memory), byte) = (self.space(*space), self.word(*address));
                let base = if wide.is_some() { byte & !7 } else { byte & !3 };
                Touch::words(area, At::Byte(byte), Kind::Atomic, memory, base.into(), 4, words)
            }
            MemoryInst::Atomic { space: Space::Uav(uav), address: AtomicAddress::Texel(coord), .. } => {
                self.typed(*uav, coord, Kind::Atomic, None)?
            }
            MemoryInst::TypedLoad { uav, coord, .. } => self.typed(*uav, coord, Kind::Read, None)?,
            MemoryInst::TypedStore { uav, coord, src } => self.typed(*uav, coord, Kind::Write, Some(src))?,
            MemoryInst::GlobalLoad { index, offset, dst } => {
                let element = self.element(*index, *offset);
                self.elements(Area::Global, Kind::Read, bound.global.as_ref(), element, loaded(dst))
            }
            MemoryInst::GlobalStore { index, offset, src } => {
                let (element, words) = (self.element(*index, *offset), self.sources(src));
                self.elements(Area::Global, Kind::Write, bound.global.as_ref(), element, words)
            }
            MemoryInst::ConstLoad { buffer, index, offset, dst } => {
                let (area, element) = (Area::Constant(*buffer), self.element(*index, *offset));
                self.elements(area, Kind::Read, bound.constants.get(buffer), element, loaded(dst))
            }
            MemoryInst::ImmediateLoad { index, offset, .. } => {
                let elements = program.interface.immediates.len();
                Self::private(Area::Immediate, Kind::Read, self.element(*index, *offset), elements)
            }
            MemoryInst::ArrayLoad { array, index, offset, .. } => Self::private(
                Area::Array(*array),
                Kind::Read,
                self.element(*index, *offset),
                self.elements_of(*array),
            ),
            MemoryInst::ArrayStore { array, index, offset, .. } => Self::private(
                Area::Array(*array),
                Kind::Write,
                self.element(*index, *offset),
                self.elements_of(*array),
            ),
            MemoryInst::SharedLoad { register, .. } => {
                Touch::of(Area::Shared(*register), At::Whole, Kind::Read, false)
            }
            MemoryInst::SharedStore { register, .. } => {
                Touch::of(Area::Shared(*register), At::Whole, Kind::Write, false)
            }
            MemoryInst::LdsWriteOwn { offset, src } => {
                self.owned(self.thread as u32, u64::from(*offset), Kind::Write, self.sources(src))
            }
            MemoryInst::LdsReadAny { thread, offset, dst, .. } => {
                let (thread, dword) = (self.word(*thread), self.word(*offset));
                self.owned(thread, u64::from(dword), Kind::Read, loaded(dst))
            }
            MemoryInst::Fetch { resource, coord, offset, .. } => {
                let (area, surface) = self.resource(*resource);
                let dimensions = self.dimensions(*resource) as usize;
                let at: [i64; 2] = std::array::from_fn(|k| {
                    let whole = i64::from(self.word(coord[k]) as i32) + i64::from(offset[k]);
                    if k < dimensions { whole } else { 0 }
                });
                let outside = surface.is_none_or(|s| texel_outside([s.width, s.height], at));
                let texel = at.map(|k| u32::try_from(k).unwrap_or(u32::MAX));
                texture((area, surface), At::Texel(at), outside, texel)
            }
            MemoryInst::Sample { resource, sampler, unnormalized, coord, offset, .. } => {
                let at =
                    Sampled { coord: [coord[0], coord[1]], offset: *offset, unnormalized: *unnormalized };
                self.sampled(*resource, *sampler, &at, None)
            }
            MemoryInst::Gather { resource, sampler, unnormalized, coord, offset, texel_offset, .. } => {
                let at = Sampled { coord: *coord, offset: *offset, unnormalized: *unnormalized };
                self.sampled(*resource, *sampler, &at, *texel_offset)
            }
            MemoryInst::Atomic { .. }
            | MemoryInst::ResourceInfo { .. }
            | MemoryInst::BufferInfo { .. }
            | MemoryInst::Counter { .. }
            | MemoryInst::InitShared => return None,
        })
    }

    fn elements_of(&self, array: u32) -> usize {
        self.scene.program.interface.arrays.get(&array).map_or(0, |elements| *elements as usize)
    }

    /// Dwords `dword + k` of what `thread` owns.
    fn owned(&self, thread: u32, dword: u64, kind: Kind, words: Words) -> Touch {
        let own = u64::from(self.scene.program.interface.lds_dwords_per_thread);
        let foreign = thread as usize >= self.scene.threads.len();
        let misses = |k: usize| foreign || dword + k as u64 >= own;
        let outside = (0..4).any(|k| words[k].is_some() && misses(k));
        let kept = std::array::from_fn(|k| words[k].filter(|_| !misses(k)));
        let base = 4 * (u64::from(thread) * own + dword.min(own));
        let memory = Some((Home::Own, self.scene.local.owned.len()));
        let touch = Touch::words(Area::OwnLds, At::Owned(thread, dword), kind, memory, base as i64, 4, kept);
        Touch { outside: outside || touch.outside, ..touch }
    }

    fn typed(&self, uav: u32, coord: &[Operand; 3], kind: Kind, src: Option<&[Operand; 4]>) -> Option<Touch> {
        let surface = self.scene.bound.uavs.get(&uav)?;
        let dimensions = uav_dimensions(self.scene, uav);
        let bytes = surface.format.bytes() as usize;
        let at: [i64; 2] =
            std::array::from_fn(|k| if k < dimensions { i64::from(self.word(coord[k]) as i32) } else { 0 });
        let outside = texel_outside([surface.pitch, surface.height], at);
        let mut touch = Touch::of(Area::Uav(uav), At::Texel(at), kind, outside);
        touch.home = Some(Home::Bound(surface.memory));
        if !outside {
            let offset = (at[1] as usize * surface.pitch as usize + at[0] as usize) * bytes;
            let words = src.map_or([0; 4], |src| src.map(|operand| self.word(operand)));
            touch.pieces[0] = Some(Piece { offset, bytes, value: surface.format.encode(words) });
        }
        Some(touch)
    }

    /// A number of the text with what is added to it.
    fn number(&self, id: Id) -> u32 {
        id.index.map_or(id.base, |index| id.base.wrapping_add(self.word(index)))
    }

    /// The resource that is named; `None` is a number that the kernel does not have.
    fn resource(&self, id: Id) -> (Area, Option<Surface>) {
        let (number, interface) = (self.number(id), &self.scene.program.interface);
        let there = interface.resources.contains_key(&number) || interface.srvs.contains_key(&number);
        (Area::Resource(number), self.scene.bound.resources.get(&number).filter(|_| there).copied())
    }

    fn dimensions(&self, id: Id) -> u32 {
        let resource = self.scene.program.interface.resources.get(&id.base);
        resource.map_or(2, |resource| planar(resource.dimension))
    }

    /// A sample misses if its nearest texel is beyond an edge to which coordinates are clamped. The other wrap modes are
    /// there to be used beyond the edges.
    fn sampled(&self, resource: Id, sampler: Id, at: &Sampled, texel_offset: Option<[Operand; 2]>) -> Touch {
        let sampler = self.scene.bound.samplers.get(&self.number(sampler)).copied().unwrap_or_default();
        let (dimensions, (area, surface)) = (self.dimensions(resource), self.resource(resource));
        let bits = at.coord.map(|operand| self.word(operand));
        let beyond = |surface: &Surface| {
            (0..dimensions.min(2) as usize).any(|k| {
                let size = [surface.width, surface.height][k];
                // One row: the second coordinate does not matter.
                if k == 1 && size == 1 || !matches!(sampler.wrap[k], Wrap::ClampToEdge | Wrap::Clamp) {
                    return false;
                }
                let added = texel_offset.map_or(0, |operands| i64::from(self.word(operands[k]) as i32));
                let place = texel::denormalized(&mut Scalar, bits[k], size, at.unnormalized);
                let texel = texel::floor(&mut Scalar, place, at.offset[k].into()) as i32;
                Scalar.is_nan(bits[k]) || (i64::from(texel) + added) as u64 >= u64::from(size)
            })
        };
        let outside = surface.as_ref().is_none_or(beyond);
        let mut shown = bits.map(f32::from_bits);
        if dimensions < 2 {
            shown[1] = 0.0;
        }
        let texel = surface.map_or([u32::MAX; 2], |surface| {
            [0, 1].map(|k| match k == 1 && (dimensions < 2 || surface.height < 2) {
                true => 0,
                false => at.nearest(&surface, &sampler, k, bits[k]),
            })
        });
        texture((area, surface), At::Coordinate(shown), outside, texel)
    }
}

/// Coordinates of a filtered read.
struct Sampled {
    coord: [Operand; 2],
    offset: [i8; 3],
    unnormalized: bool,
}

impl Sampled {
    /// The nearest texel of an axis; none if it is outside.
    fn nearest(&self, surface: &Surface, sampler: &Sampler, k: usize, coord: u32) -> u32 {
        let axis = Axis {
            coord,
            size: [surface.width, surface.height][k].max(1),
            offset: self.offset[k],
            unnormalized: self.unnormalized,
            mode: Mode::Known(sampler.wrap[k]),
        };
        match nearest(&mut Scalar, &axis) {
            (index, Truth::Known(true) | Truth::Value(true)) => index,
            _ => u32::MAX,
        }
    }
}

/// A read of the texel at a column and row, if it is one of the surface's.
fn texture((area, surface): (Area, Option<Surface>), at: At, outside: bool, texel: [u32; 2]) -> Touch {
    let texel = surface.filter(|s| texel[0] < s.width && texel[1] < s.height).map(|s| {
        let element = texel[1] as usize * s.pitch as usize + texel[0] as usize;
        (s.memory, element * s.format.bytes() as usize, s.format.bytes() as usize)
    });
    Touch { texel, ..Touch::of(area, at, Kind::Read, outside) }
}

fn uav_dimensions(scene: &Scene<'_>, uav: u32) -> usize {
    match scene.program.interface.uavs.get(&uav) {
        Some(Uav::Typed { dimension }) => planar(*dimension) as usize,
        _ => 1,
    }
}

fn texel_outside(size: [u32; 2], at: [i64; 2]) -> bool {
    (0..2).any(|k| at[k] as u64 >= u64::from(size[k]))
}

/// The operands whose values matter to an access: not coordinates that the shape lacks, nor components that the format
/// does not store.
pub fn operands_used(inst: &MemoryInst, scene: &Scene<'_>) -> Vec<Operand> {
    let dimensions = |resource: &Id| {
        let known = scene.program.interface.resources.get(&resource.base);
        known.map_or(2, |resource| planar(resource.dimension)) as usize
    };
    match inst {
        MemoryInst::Sample { resource, sampler, coord, .. } => {
            let numbers = [resource.index, sampler.index].into_iter().flatten();
            numbers.chain(coord[..dimensions(resource)].iter().copied()).collect()
        }
        MemoryInst::Fetch { resource, coord, .. } => {
            let numbers = resource.index.into_iter();
            numbers.chain(coord[..dimensions(resource)].iter().copied()).collect()
        }
        MemoryInst::TypedLoad { uav, coord, .. } => coord[..uav_dimensions(scene, *uav)].to_vec(),
        MemoryInst::TypedStore { uav, coord, src } => {
            let stored = scene.bound.uavs.get(uav).map_or(4, |surface| surface.format.components());
            let coord = coord[..uav_dimensions(scene, *uav)].iter();
            coord.chain(&src[..stored.min(4) as usize]).copied().collect()
        }
        MemoryInst::Atomic {
            space: Space::Uav(uav),
            address: AtomicAddress::Texel(coord),
            src,
            src2,
            ..
        } => {
            let coord = coord[..uav_dimensions(scene, *uav)].iter().copied();
            coord.chain([*src]).chain(*src2).collect()
        }
        // What an array holds is followed element by element.
        MemoryInst::ArrayStore { index, .. } => vec![*index],
        inst => operands_of(inst).to_vec(),
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
