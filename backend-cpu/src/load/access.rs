//! Accesses to memory: rows for their operands, places for what they access.

use super::*;

impl Loader<'_> {
    pub(super) fn memory(&mut self, inst: &MemoryInst) {
        let Some(op) = self.access(inst) else { return };
        self.close_lanes();
        if let MemoryOp::Sample(SampleOp { at, slot, .. }) = &op {
            if *slot == self.sampled.len() {
                self.sampled.push(None);
                self.code.texel_slots = self.code.texel_slots.max(self.sampled.len());
            }
            self.sampled[*slot] = Some(*at);
        }
        op.each_row(|row, written| {
            if written {
                self.written(row);
            }
        });
        let index = self.code.memory.len() as u32;
        self.code.memory.push(Access { op, effect: inst.effect(), flush: 0, lanes: self.known });
        self.emit(Op::Memory(index));
    }

    fn element(&mut self, place: Place, index: Operand, offset: i32, dst: Dst4) -> MemoryOp {
        MemoryOp::ElementLoad { place, index: self.operand(index), offset, dst: destinations(dst) }
    }

    fn access(&mut self, inst: &MemoryInst) -> Option<MemoryOp> {
        Some(match *inst {
            MemoryInst::Sample { resource, sampler, unnormalized, coord, offset, dst } => {
                let dimensions = self.dimensions(resource.base);
                let at = Addressing { coord: self.operands(coord), offset, unnormalized, dimensions };
                let known = self.sampled.iter().position(|sampled| *sampled == Some(at));
                let again = known.is_some();
                let slot = known.unwrap_or_else(|| self.free_slot());
                let (resource, sampler) = (self.resource(resource), self.slot(sampler, 0));
                let number = self.code.samples;
                self.code.samples += 1;
                let dst = destinations(dst);
                MemoryOp::Sample(SampleOp { number, resource, sampler, at, dst, slot, again })
            }
            MemoryInst::Gather {
                resource,
                sampler,
                unnormalized,
                coord,
                offset,
                texel_offset,
                component,
                dst,
            } => {
                let [u, v] = self.operands(coord);
                let dimensions = self.dimensions(resource.base);
                let at = Addressing { coord: [u, v, v], offset, unnormalized, dimensions };
                let texel_offset = texel_offset.map(|offset| self.operands(offset));
                let (resource, sampler) = (self.resource(resource), self.slot(sampler, 0));
                MemoryOp::Gather { resource, sampler, at, texel_offset, component, dst: destinations(dst) }
            }
            MemoryInst::Fetch { resource, coord, offset, dst } => {
                let dimensions = self.dimensions(resource.base);
                let (coord, resource) = (self.operands(coord), self.resource(resource));
                MemoryOp::Fetch { resource, coord, offset, dimensions, dst: destinations(dst) }
            }
            MemoryInst::ResourceInfo { resource, uint, dst } => {
                MemoryOp::ResourceInfo { resource: self.resource(resource), uint, dst: destinations(dst) }
            }
            MemoryInst::BufferInfo { of, dst } => {
                let interface = &self.program.interface;
                let of = match of {
                    InfoSource::Resource(id) => InfoOf::Resource(self.resource(id)),
                    InfoSource::Uav(n) => {
                        let place = place_of(&self.code.uavs, n);
                        match interface.uavs.get(&n) {
                            Some(Uav::Typed { .. }) => InfoOf::Typed(place),
                            Some(Uav::Structured { stride }) => InfoOf::Uav { place, stride: *stride },
                            _ => InfoOf::Uav { place, stride: 0 },
                        }
                    }
                    InfoSource::Srv(n) => {
                        let stride = interface.srvs.get(&n).copied().unwrap_or(0);
                        InfoOf::Srv { place: place_of(&self.code.resources, n), stride }
                    }
                };
                MemoryOp::BufferInfo { of, dst: destinations(dst) }
            }
            MemoryInst::ConstLoad { buffer, index, offset, dst } => {
                let place = Place::Constants(place_of(&self.code.buffers, buffer));
                self.element(place, index, offset, dst)
            }
            MemoryInst::ImmediateLoad { index, offset, dst } => {
                self.element(Place::Immediates, index, offset, dst)
            }
            MemoryInst::ArrayLoad { array, index, offset, dst } => {
                let (first, elements) = self.arrays.get(&array).copied().unwrap_or((0, 0));
                MemoryOp::ArrayLoad {
                    first,
                    elements,
                    index: self.operand(index),
                    offset,
                    dst: destinations(dst),
                }
            }
            MemoryInst::ArrayStore { array, index, offset, src } => {
                let (first, elements) = self.arrays.get(&array).copied().unwrap_or((0, 0));
                let (index, src) = (self.operand(index), self.sources(src));
                MemoryOp::ArrayStore { first, elements, index, offset, src }
            }
            MemoryInst::GlobalLoad { index, offset, dst } => self.element(Place::Global, index, offset, dst),
            MemoryInst::GlobalStore { index, offset, src } => {
                MemoryOp::GlobalStore { index: self.operand(index), offset, src: self.sources(src) }
            }
            MemoryInst::SharedLoad { register, dst } => {
                MemoryOp::SharedLoad { register, dst: destinations(dst) }
            }
            MemoryInst::SharedStore { register, src } => {
                MemoryOp::SharedStore { register, src: self.sources(src) }
            }
            MemoryInst::RawLoad { space, address, width, dst } => {
                let place = self.space(space);
                MemoryOp::RawLoad { place, address: self.operand(address), width, dst: destinations(dst) }
            }
            MemoryInst::RawStore { space, address, width, src } => {
                let place = self.space(space);
                MemoryOp::RawStore { place, address: self.operand(address), width, src: self.sources(src) }
            }
            MemoryInst::TypedLoad { uav, coord, dst } => {
                let (place, dimensions) = (place_of(&self.code.uavs, uav), self.uav_dimensions(uav));
                MemoryOp::TypedLoad { place, coord: self.operands(coord), dimensions, dst: destinations(dst) }
            }
            MemoryInst::TypedStore { uav, coord, src } => {
                let (place, dimensions) = (place_of(&self.code.uavs, uav), self.uav_dimensions(uav));
                MemoryOp::TypedStore {
                    place,
                    coord: self.operands(coord),
                    dimensions,
                    src: self.operands(src),
                }
            }
            MemoryInst::Atomic { op, space, address, src, src2, dst, wide } => {
                let place = self.space(space);
                let (src, src2) = (self.operand(src), self.optional(src2));
                let dst = destination(dst);
                match (address, wide) {
                    (AtomicAddress::Byte(address), Some(wide)) => {
                        let src = [src, self.operand(wide.src)];
                        let src2 = [src2, self.optional(wide.src2)];
                        let dst = [dst, destination(wide.dst)];
                        MemoryOp::AtomicWide { op, place, address: self.operand(address), src, src2, dst }
                    }
                    (AtomicAddress::Byte(address), None) => {
                        let at = AtomicAt::Byte(self.operand(address));
                        MemoryOp::Atomic { op, place, at, dimensions: 1, src, src2, dst }
                    }
                    // Typed UAVs have no 64-bit formats with atomics: the low words are meant.
                    (AtomicAddress::Texel(coord), _) => {
                        let at = AtomicAt::Texel(self.operands(coord));
                        let dimensions = if let Space::Uav(n) = space { self.uav_dimensions(n) } else { 1 };
                        MemoryOp::Atomic { op, place, at, dimensions, src, src2, dst }
                    }
                }
            }
            MemoryInst::LdsWriteOwn { .. } | MemoryInst::LdsReadAny { .. } => {
                unreachable!("LDS of threads that is a block")
            }
            MemoryInst::Counter { uav, consume, dst } => MemoryOp::Counter { uav, consume, dst: dst.0 },
            // Each launch starts with a bank of zeros anyway.
            MemoryInst::InitShared => return None,
        })
    }
}

pub(super) fn destinations(dst: Dst4) -> Rows4 {
    dst.map(destination)
}

/// The row of a register.
fn destination(dst: Option<Reg>) -> RowId {
    dst.map_or(NONE, |register| register.0)
}

/// Place of a number in a list, or a place that is in none.
pub(super) fn place_of(list: &[u32], number: u32) -> u32 {
    list.iter().position(|&n| n == number).map_or(u32::MAX, |place| place as u32)
}

pub(super) fn planar(dimension: Dimension) -> u32 {
    match dimension {
        Dimension::D1 | Dimension::Buffer => 1,
        Dimension::D2 | Dimension::D3 | Dimension::D1Array | Dimension::D2Array => 2,
    }
}
