//! Memory instructions: textures, UAVs, read-only buffers, LDS, GDS, counters and atomics (amd-il 5).

use crate::inst::{Dimension, Dst, Fence, Inst, Src, Stage, Uav, Write};
use crate::ir::{
    AtomicAddress, AtomicOp, Cond, Dst4, Id, InfoSource, LaneOp, MemoryInst, Operand, Space, Src4, StmtKind,
    WideAtomic, Width,
};
use crate::isa::{Access, Area, Memory, View};

use super::build::Builder;
use super::write::{Value, written};

/// Order of the two values of a compare-exchange on LDS and GDS: compare value, then new value.
const SHARED_COMPARE_FIRST: bool = true;
/// The same for UAVs: new value, then compare value. One code generator is the only witness of both orders.
const UAV_COMPARE_FIRST: bool = false;

/// No memory reaches this far, so an access at such an address is out of range.
const FAR: u32 = 0x7FFF_FFFC;

impl Builder<'_> {
    pub fn memory_inst(&mut self, inst: &Inst, what: Memory) {
        let c = &inst.controls;
        match what {
            Memory::Sample => {
                let (resource, sampler) = self.ids(inst, true);
                let unnormalized = self.unnormalized(inst);
                let Some(dst) = self.dst(inst) else { return };
                let p = self.source(&inst.src[0], 0b0111, View::Float);
                let coord = [p[0], p[1], p[2]];
                let offset = c.offset;
                self.load_into(dst, c, |dst| MemoryInst::Sample {
                    resource,
                    sampler,
                    unnormalized,
                    coord,
                    offset,
                    dst,
                });
            }
            Memory::Gather | Memory::GatherOffset => {
                let (resource, sampler) = self.ids(inst, true);
                let unnormalized = self.unnormalized(inst);
                let Some(dst) = self.dst(inst) else { return };
                let p = self.source(&inst.src[0], 0b0011, View::Float);
                let coord = [p[0], p[1]];
                let texel_offset = (what == Memory::GatherOffset).then(|| {
                    let o = self.source(&inst.src[1], 0b0011, View::Int);
                    [o[0], o[1]]
                });
                let (offset, component) = (c.offset, c.component);
                self.load_into(dst, c, |dst| MemoryInst::Gather {
                    resource,
                    sampler,
                    unnormalized,
                    coord,
                    offset,
                    texel_offset,
                    component,
                    dst,
                });
            }
            Memory::Fetch => {
                let (resource, _) = self.ids(inst, false);
                let Some(dst) = self.dst(inst) else { return };
                let p = self.source(&inst.src[0], 0b0111, View::Int);
                let coord = [p[0], p[1], p[2]];
                // Offsets count half texels; whole texels are meant here.
                let offset = c.offset.map(|half| half.div_euclid(2));
                self.load_into(dst, c, |dst| MemoryInst::Fetch { resource, coord, offset, dst });
            }
            Memory::ResourceInfo => {
                let (resource, _) = self.ids(inst, false);
                let Some(dst) = self.dst(inst) else { return };
                let uint = c.uint;
                // Dimensions that the resource does not have are 0.
                let absent: &[usize] = match self.kernel.interface.resources.get(&resource.base) {
                    Some(r) if matches!(r.dimension, Dimension::D1 | Dimension::Buffer) => &[1, 2],
                    Some(r) if r.dimension == Dimension::D1Array => &[1],
                    Some(r) if r.dimension == Dimension::D2 => &[2],
                    _ => &[],
                };
                let mut dst = dst.clone();
                for &k in absent {
                    if dst.mask[k] == Write::Result {
                        dst.mask[k] = Write::Zero;
                    }
                }
                self.load_into(&dst, c, |dst| MemoryInst::ResourceInfo { resource, uint, dst });
            }
            Memory::BufferInfo => {
                let of = if c.of_uav {
                    InfoSource::Uav(c.id)
                } else if self.kernel.interface.srvs.contains_key(&c.id)
                    && !self.kernel.interface.resources.contains_key(&c.id)
                {
                    InfoSource::Srv(c.id)
                } else {
                    InfoSource::Resource(self.ids(inst, false).0)
                };
                let Some(dst) = self.dst(inst) else { return };
                self.load_into(dst, c, |dst| MemoryInst::BufferInfo { of, dst });
            }
            Memory::Load(area, access) => self.area_load(inst, area, access),
            Memory::Store(area, access) => self.area_store(inst, area, access),
            Memory::Atomic(area, op) => self.atomic(inst, area, op, false, false),
            Memory::AtomicRead(area, op) => self.atomic(inst, area, op, true, false),
            Memory::Atomic64(area, op) => self.atomic(inst, area, op, false, true),
            Memory::AtomicRead64(area, op) => self.atomic(inst, area, op, true, true),
            Memory::Append | Memory::Consume => {
                let Some(dst) = self.dst(inst) else { return };
                let (uav, consume) = (c.id, what == Memory::Consume);
                self.load_word(dst, |dst| MemoryInst::Counter { uav, consume, dst });
            }
            Memory::WriteOwn => {
                let Some(dst) = self.dst(inst) else { return };
                let src = self.stored(&inst.src[0], dst);
                self.memory(MemoryInst::LdsWriteOwn { offset: c.lds_offset, src });
            }
            Memory::ReadAny => {
                let Some(dst) = self.dst(inst) else { return };
                let a = self.source(&inst.src[0], 0b0011, View::Int);
                let neighbor_exchange = c.neighbor_exchange;
                self.load_into(dst, &Default::default(), |dst| MemoryInst::LdsReadAny {
                    thread: a[0],
                    offset: a[1],
                    neighbor_exchange,
                    dst,
                });
            }
            Memory::Fence => {
                let mut fence = c.fence;
                if fence.contains(Fence::THREADS) {
                    // A bare `_threads` orders LDS too; pixel threads have no group to wait for.
                    fence |= Fence::LDS;
                    if self.kernel.stage == Stage::Pixel {
                        fence -= Fence::THREADS;
                    }
                }
                self.statement(StmtKind::Fence(fence));
            }
            Memory::InitShared => self.memory(MemoryInst::InitShared),
        }
    }

    fn dst<'i>(&mut self, inst: &'i Inst) -> Option<&'i Dst> {
        if inst.dst.is_none() {
            self.refuse("operand-count", format!("`{}` needs a destination", inst.opcode.mnemonic()));
        }
        inst.dst.as_ref()
    }

    /// Resource and sampler numbers with their `_ext` indices, which are the last operands.
    fn ids(&mut self, inst: &Inst, sampler: bool) -> (Id, Id) {
        let c = &inst.controls;
        let (mut resource_index, mut sampler_index) = (None, None);
        let own = usize::from(inst.opcode.row().sources);
        if c.ext {
            if let Some(src) = inst.src.get(own) {
                resource_index = Some(self.position(src, 0, View::Int));
            }
            if sampler && let Some(src) = inst.src.get(own + 1) {
                sampler_index = Some(self.position(src, 0, View::Int));
            }
        }
        let id = |base: u32, index: Option<Operand>| match index {
            Some(Operand::Imm(k)) => Id { base: base.wrapping_add(k), index: None },
            index => Id { base, index },
        };
        (id(c.id, resource_index), id(c.sampler, sampler_index))
    }

    fn unnormalized(&self, inst: &Inst) -> bool {
        inst.controls.unnormalized.unwrap_or_else(|| {
            self.kernel.interface.resources.get(&inst.controls.id).is_none_or(|r| r.unnormalized)
        })
    }

    /// The words that a store to `mem.mask` takes from `src`.
    fn stored(&mut self, src: &Src, dst: &Dst) -> Src4 {
        let mask = written(dst);
        let words = self.source(src, mask, View::Bits);
        std::array::from_fn(|k| (mask & (1 << k) != 0).then_some(words[k]))
    }

    fn space(area: Area, id: u32) -> Space {
        match area {
            Area::Uav => Space::Uav(id),
            Area::Srv => Space::Srv(id),
            Area::Lds => Space::Lds(id),
            Area::Gds => Space::Gds(id),
        }
    }

    /// Bytes per record of a structured area; 0 for a raw one.
    fn stride(&self, area: Area, id: u32) -> u32 {
        let interface = &self.kernel.interface;
        match area {
            Area::Uav => match interface.uavs.get(&id) {
                Some(Uav::Structured { stride }) => *stride,
                _ => 0,
            },
            Area::Srv => interface.srvs.get(&id).copied().unwrap_or(0),
            Area::Lds => interface.lds.get(&id).map_or(0, |block| block.stride),
            Area::Gds => interface.gds.get(&id).map_or(0, |block| block.stride),
        }
    }

    /// Byte address of `index`, `offset`. Far records stay far: the product must not wrap into the range.
    fn record(&mut self, stride: u32, index: Operand, offset: Operand) -> Operand {
        let last = Operand::Imm(FAR / stride.max(1));
        let index = self.value(LaneOp::Umin, &[index, last]);
        let offset = self.value(LaneOp::Umin, &[offset, Operand::Imm(FAR)]);
        match offset {
            Operand::Imm(0) => self.value(LaneOp::Imul, &[index, Operand::Imm(stride)]),
            offset => self.value(LaneOp::Imad, &[index, Operand::Imm(stride), offset]),
        }
    }

    /// Byte address in operand `src` of an access to `area` number `id`.
    fn address(&mut self, area: Area, id: u32, src: &Src) -> Operand {
        match self.stride(area, id) {
            0 => self.position(src, 0, View::Int),
            stride => {
                let a = self.source(src, 0b0011, View::Int);
                self.record(stride, a[0], a[1])
            }
        }
    }

    /// Byte address of the `_vec` forms: a raw block ignores the second operand (it repeats the first).
    fn split_address(&mut self, area: Area, id: u32, record: &Src, offset: &Src) -> Operand {
        let index = self.position(record, 0, View::Int);
        match self.stride(area, id) {
            0 => index,
            stride => {
                let offset = self.position(offset, 0, View::Int);
                self.record(stride, index, offset)
            }
        }
    }

    fn texel(&mut self, src: &Src) -> [Operand; 3] {
        let p = self.source(src, 0b0111, View::Int);
        [p[0], p[1], p[2]]
    }

    fn area_load(&mut self, inst: &Inst, area: Area, access: Access) {
        let Some(dst) = self.dst(inst) else { return };
        let c = &inst.controls;
        let (id, space) = (c.id, Self::space(area, c.id));
        let none = Default::default();
        match access {
            Access::Typed => {
                let coord = self.texel(&inst.src[0]);
                self.load_into(dst, &none, |dst| MemoryInst::TypedLoad { uav: id, coord, dst });
            }
            Access::Vector => {
                if c.ext && area == Area::Srv {
                    return self.indexed_load(inst, dst);
                }
                let address = self.address(area, id, &inst.src[0]);
                let width = Width::Dwords;
                self.load_into(dst, &none, |dst| MemoryInst::RawLoad { space, address, width, dst });
            }
            Access::Split => {
                let address = self.split_address(area, id, &inst.src[0], &inst.src[1]);
                let width = Width::Dwords;
                self.load_into(dst, &none, |dst| MemoryInst::RawLoad { space, address, width, dst });
            }
            Access::Wide => {
                // The pair goes to both halves of the destination.
                let address = self.address(area, id, &inst.src[0]);
                let address = self.value(LaneOp::And, &[address, Operand::Imm(!7)]);
                let (lo, hi) = (self.scratch(), self.scratch());
                let loaded: Dst4 = [Some(lo), Some(hi), None, None];
                self.memory(MemoryInst::RawLoad { space, address, width: Width::Dwords, dst: loaded });
                self.write_pair(dst, [Operand::Reg(lo), Operand::Reg(hi)]);
            }
            Access::Dword | Access::U8 | Access::I8 | Access::U16 | Access::I16 | Access::Arena => {
                let address = self.address(area, id, &inst.src[0]);
                let width = width(access, c.size);
                self.load_word(dst, |reg| MemoryInst::RawLoad {
                    space,
                    address,
                    width,
                    dst: [Some(reg), None, None, None],
                });
            }
        }
    }

    /// A load from a read-only buffer chosen at run time: one guarded load for each declared buffer. An undeclared
    /// one reads as 0.
    fn indexed_load(&mut self, inst: &Inst, dst: &Dst) {
        let own = usize::from(inst.opcode.row().sources);
        let index = inst.src.get(own).map_or(Operand::Imm(0), |src| self.position(src, 0, View::Int));
        let chosen = self.value(LaneOp::Iadd, &[Operand::Imm(inst.controls.id), index]);
        let mask = written(dst);
        let loaded: Dst4 = std::array::from_fn(|k| (mask & (1 << k) != 0).then(|| self.scratch()));
        loaded.into_iter().flatten().for_each(|reg| self.copy(reg, Operand::Imm(0)));
        let buffers: Vec<u32> = self.kernel.interface.srvs.keys().copied().collect();
        for id in buffers {
            let operand = self.value(LaneOp::Ieq, &[chosen, Operand::Imm(id)]);
            let outer = std::mem::take(&mut self.block);
            let address = self.address(Area::Srv, id, &inst.src[0]);
            self.memory(MemoryInst::RawLoad {
                space: Space::Srv(id),
                address,
                width: Width::Dwords,
                dst: loaded,
            });
            let then = std::mem::replace(&mut self.block, outer);
            let cond = Cond { operand, nonzero: true };
            self.statement(StmtKind::If { cond, then, otherwise: Vec::new() });
        }
        self.write(dst, loaded.map(|reg| reg.map(|reg| Value::Word(Operand::Reg(reg)))));
    }

    fn area_store(&mut self, inst: &Inst, area: Area, access: Access) {
        let c = &inst.controls;
        let (id, space) = (c.id, Self::space(area, c.id));
        let last = inst.src.len() - 1;
        match access {
            Access::Typed => {
                let coord = self.texel(&inst.src[0]);
                let src = self.source(&inst.src[last], 0b1111, View::Bits);
                self.memory(MemoryInst::TypedStore { uav: id, coord, src });
            }
            Access::Vector | Access::Split => {
                let Some(dst) = self.dst(inst) else { return };
                let (address, data) = match (access, &inst.src[..]) {
                    (Access::Split, [record, offset, data]) => {
                        (self.split_address(area, id, record, offset), data)
                    }
                    _ => (self.address(area, id, &inst.src[0]), &inst.src[last]),
                };
                let src = self.stored(data, dst);
                self.memory(MemoryInst::RawStore { space, address, width: Width::Dwords, src });
            }
            Access::Wide => {
                let address = self.address(area, id, &inst.src[0]);
                let address = self.value(LaneOp::And, &[address, Operand::Imm(!7)]);
                let words = self.source(&inst.src[last], 0b0011, View::Bits);
                let src = [Some(words[0]), Some(words[1]), None, None];
                self.memory(MemoryInst::RawStore { space, address, width: Width::Dwords, src });
            }
            Access::Dword | Access::U8 | Access::I8 | Access::U16 | Access::I16 | Access::Arena => {
                let address = self.address(area, id, &inst.src[0]);
                let word = self.position(&inst.src[last], 0, View::Bits);
                let width = width(access, c.size);
                self.memory(MemoryInst::RawStore {
                    space,
                    address,
                    width,
                    src: [Some(word), None, None, None],
                });
            }
        }
    }

    fn atomic(&mut self, inst: &Inst, area: Area, op: AtomicOp, returns: bool, wide: bool) {
        let id = inst.controls.id;
        let address = match (area, self.kernel.interface.uavs.get(&id)) {
            (Area::Uav, Some(Uav::Typed { .. })) => AtomicAddress::Texel(self.texel(&inst.src[0])),
            _ => {
                let address = self.address(area, id, &inst.src[0]);
                let address =
                    if wide { self.value(LaneOp::And, &[address, Operand::Imm(!7)]) } else { address };
                AtomicAddress::Byte(address)
            }
        };
        let positions = if wide { 0b11 } else { 0b01 };
        let view = if wide { View::Quad } else { View::Int };
        let first = self.source(&inst.src[1], positions, view);
        let second = inst.src.get(2).map(|src| self.source(src, positions, view));
        let compare_first = match area {
            Area::Uav | Area::Srv => UAV_COMPARE_FIRST,
            Area::Lds | Area::Gds => SHARED_COMPARE_FIRST,
        };
        let (src, src2) = match second {
            Some(new) if op == AtomicOp::CmpXchg && compare_first => (new, Some(first)),
            second => (first, second),
        };
        let space = Self::space(area, id);
        let make = |dst: Option<u32>, high: Option<u32>| MemoryInst::Atomic {
            op,
            space,
            address,
            src: src[0],
            src2: src2.map(|words| words[0]),
            dst,
            wide: wide.then(|| WideAtomic { src: src[1], src2: src2.map(|words| words[1]), dst: high }),
        };
        if !returns {
            return self.memory(make(None, None));
        }
        let Some(dst) = self.dst(inst) else { return };
        if wide {
            let (lo, hi) = (self.scratch(), self.scratch());
            self.memory(make(Some(lo), Some(hi)));
            self.write_pair(dst, [Operand::Reg(lo), Operand::Reg(hi)]);
        } else {
            self.load_word(dst, |reg| make(Some(reg), None));
        }
    }
}

fn width(access: Access, size: u8) -> Width {
    match (access, size) {
        (Access::U8, _) | (Access::Arena, 1) => Width::U8,
        (Access::I8, _) => Width::I8,
        (Access::U16, _) | (Access::Arena, 2) => Width::U16,
        (Access::I16, _) => Width::I16,
        _ => Width::Dwords,
    }
}
