//! Accesses to memory as steps of functions.

use recal_il::ir::{Builtin, Width};
use recal_jit::{At, Filter, Sample, Step};

use super::{Builder, What};
use crate::op::{Access, AtomicAt, MemoryOp, NONE, Place, RowId, SampleOp, Shape, Texture};

/// Offsets of elements that are not so large wrap into no memory.
const FAR: u32 = 1 << 30;

impl Builder<'_> {
    /// The access, if it can be compiled.
    pub(super) fn access(&self, index: u32) -> Option<What> {
        match self.code.memory[index as usize].op {
            MemoryOp::RawLoad { place, width: Width::Dwords, .. } => Some(What::Load(index, place)),
            MemoryOp::RawLoad {
                place: place @ (Place::Lds { bytes, .. } | Place::Gds { bytes, .. }),
                ..
            } => (bytes % 4 == 0).then_some(What::Load(index, place)),
            MemoryOp::ElementLoad { place, offset, .. } => {
                (offset.unsigned_abs() < FAR).then_some(What::Load(index, place))
            }
            MemoryOp::RawStore { place, width: Width::Dwords, .. } => Some(What::Store(index, place)),
            MemoryOp::RawStore {
                place: place @ (Place::Lds { bytes, .. } | Place::Gds { bytes, .. }),
                ..
            } => (bytes % 4 == 0).then_some(What::Store(index, place)),
            MemoryOp::GlobalStore { offset, .. } => {
                (offset.unsigned_abs() < FAR).then_some(What::Store(index, Place::Global))
            }
            MemoryOp::Atomic { place, at: AtomicAt::Byte(_), .. } | MemoryOp::AtomicWide { place, .. } => {
                Some(What::Atomic(index, place))
            }
            MemoryOp::Counter { uav, .. } => Some(What::Atomic(index, Place::Counter(uav))),
            ref op => {
                let (place, _) = op.sampled()?;
                self.shape(op)?;
                Some(match op {
                    MemoryOp::Atomic { .. } => What::Atomic(index, place),
                    MemoryOp::RawStore { .. } | MemoryOp::TypedStore { .. } => What::Store(index, place),
                    _ => What::Load(index, place),
                })
            }
        }
    }

    /// The step of an access; `None` if there is no view for it.
    pub(super) fn moved(&mut self, index: u32, place: Place) -> Option<Step<'static>> {
        let access = &self.code.memory[index as usize];
        let (lanes, flush) = (access.lanes.shape, access.flush);
        Some(match access.op {
            MemoryOp::ElementLoad { index: element, offset, dst: to, .. } => {
                Step::LoadElement { view: self.view(place)?, element, offset, to, flush, lanes }
            }
            MemoryOp::RawLoad { address, width: Width::Dwords, dst: to, .. } => {
                Step::Load { view: self.view(place)?, address, to, flush, lanes }
            }
            MemoryOp::RawLoad { address, width, dst: to, .. } => {
                Step::LoadPart { view: self.view(place)?, address, width, to, flush, lanes }
            }
            MemoryOp::GlobalStore { index: element, offset, src: from } => {
                Step::StoreElement { view: self.view(place)?, element, offset, from, lanes }
            }
            MemoryOp::TypedStore { coord: [u, v, _], dimensions, src: from, .. } => {
                let format = self.shape(&access.op)?.format;
                let coordinates = [u, if dimensions > 1 { v } else { NONE }];
                Step::StoreTexel { view: self.view(place)?, format, coordinates, from }
            }
            MemoryOp::RawStore { address, width, src: [from, ..], .. } if width != Width::Dwords => {
                Step::StorePart { view: self.view(place)?, address, width, from }
            }
            MemoryOp::RawStore { address, src: from, .. } => {
                Step::Store { view: self.view(place)?, address, from, lanes }
            }
            MemoryOp::Atomic { op, at, dimensions, src, src2, dst, .. } => {
                let at = match at {
                    AtomicAt::Byte(address) => At::Byte(address),
                    AtomicAt::Texel([u, v, _]) => {
                        let format = self.shape(&access.op)?.format;
                        At::Element([u, if dimensions > 1 { v } else { NONE }], format)
                    }
                };
                let (from, to) = ([src, NONE, src2, NONE], [dst, NONE]);
                Step::Atomic {
                    view: self.view(place)?,
                    op,
                    wide: false,
                    alone: place.of_group(),
                    at,
                    from,
                    to,
                }
            }
            MemoryOp::AtomicWide { op, address, src: [a, b], src2: [c, d], dst: to, .. } => {
                let (at, from) = (At::Byte(address), [a, b, c, d]);
                Step::Atomic {
                    view: self.view(place)?,
                    op,
                    wide: true,
                    alone: place.of_group(),
                    at,
                    from,
                    to,
                }
            }
            MemoryOp::Counter { consume, dst: to, .. } => {
                Step::Count { view: self.view(place)?, consume, to }
            }
            ref op => self.sample(op, access)?,
        })
    }

    /// The shape that a sample finds, if it can be compiled.
    fn shape(&self, op: &MemoryOp) -> Shape {
        let pair = op.sampled()?;
        let at = self.code.sampled.iter().position(|known| *known == pair)?;
        self.key.shapes.get(at).copied().flatten()
    }

    /// A read of texels as a step.
    fn sample(&mut self, op: &MemoryOp, access: &Access) -> Option<Step<'static>> {
        let (place, sampler) = op.sampled()?;
        let Texture { format, wrap, linear } = self.shape(op)?;
        let (filter, coord, offset, unnormalized, dimensions, added, to) = match *op {
            MemoryOp::Sample(SampleOp { at, dst, .. }) => {
                let filter = if linear { Filter::Linear } else { Filter::Nearest };
                (filter, at.coord, at.offset, at.unnormalized, at.dimensions, None, dst)
            }
            MemoryOp::Gather { at, texel_offset, component, dst, .. } => {
                let filter = Filter::Gather(component);
                (filter, at.coord, at.offset, at.unnormalized, at.dimensions, texel_offset, dst)
            }
            MemoryOp::Fetch { coord, offset, dimensions, dst, .. } => {
                (Filter::Integers, coord, offset, true, dimensions, None, dst)
            }
            MemoryOp::TypedLoad { coord, dimensions, dst, .. } => {
                (Filter::Element, coord, [0; 3], true, dimensions, None, dst)
            }
            _ => return None,
        };
        let [u, v, _] = coord;
        let normal = [u, v].map(|row| {
            let known = |&(other, builtin): &(RowId, Builtin)| {
                other == row && matches!(builtin, Builtin::Position(_))
            };
            self.code.builtins.iter().any(known)
        });
        let second = dimensions > 1;
        let [more_u, more_v] = added.unwrap_or([NONE; 2]);
        let more_v = if second { more_v } else { NONE };
        Some(Step::Sample {
            view: self.seen((place, sampler))?,
            sample: Sample { unnormalized, offset: [offset[0], offset[1]], format, wrap, filter, normal },
            coordinates: [u, if second { v } else { NONE }, more_u, more_v],
            to,
            flush: access.flush,
            lanes: access.lanes.shape,
            same: access.lanes.same,
        })
    }
}
