//! Memory instructions: textures, queries, counters, LDS by thread, fences (amd-il 5). Accesses by address are in
//! `area`.

use crate::inst::{Dimension, Dst, Fence, Inst, Src, Stage, Write};
use crate::ir::{Id, InfoSource, MemoryInst, Operand, Src4, StmtKind};
use crate::isa::{Area, Memory, View};

use super::build::Builder;
use super::write::written;

impl Builder<'_> {
    pub fn memory_inst(&mut self, inst: &Inst, what: Memory) {
        let c = &inst.controls;
        match what {
            Memory::Sample => {
                let (resource, sampler) = self.ids(inst, true);
                let unnormalized = self.unnormalized(inst);
                let Some(dst) = self.dst(inst) else { return };
                let p = self.source(&self.sources(inst)[0], 0b0111, View::Float);
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
                let p = self.source(&self.sources(inst)[0], 0b0011, View::Float);
                let coord = [p[0], p[1]];
                let texel_offset = (what == Memory::GatherOffset).then(|| {
                    let o = self.source(&self.sources(inst)[1], 0b0011, View::Int);
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
                let p = self.source(&self.sources(inst)[0], 0b0111, View::Int);
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
            Memory::BufferInfo if c.of_uav => self.buffer_info(inst, Area::Uav, InfoSource::Uav),
            Memory::BufferInfo if self.asks_srv(inst) => self.buffer_info(inst, Area::Srv, InfoSource::Srv),
            Memory::BufferInfo => {
                let of = InfoSource::Resource(self.ids(inst, false).0);
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
                let src = self.stored(&self.sources(inst)[0], dst);
                self.memory(MemoryInst::LdsWriteOwn { offset: c.lds_offset, src });
            }
            Memory::ReadAny => {
                let Some(dst) = self.dst(inst) else { return };
                let a = self.source(&self.sources(inst)[0], 0b0011, View::Int);
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

    pub(super) fn dst<'i>(&mut self, inst: &'i Inst) -> Option<&'i Dst> {
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
            if let Some(src) = self.sources(inst).get(own) {
                resource_index = Some(self.position(src, 0, View::Int));
            }
            if sampler && let Some(src) = self.sources(inst).get(own + 1) {
                sampler_index = Some(self.position(src, 0, View::Int));
            }
        }
        let id = |base: u32, index: Option<Operand>| match index {
            Some(Operand::Imm(k)) => Id { base: base.wrapping_add(k), index: None },
            index => Id { base, index },
        };
        (id(c.id, resource_index), id(c.sampler, sampler_index))
    }

    /// `bufinfo` of a number that a read-only buffer has, and no resource.
    fn asks_srv(&self, inst: &Inst) -> bool {
        let interface = &self.kernel.interface;
        let id = inst.controls.id;
        interface.srvs.contains_key(&id) && !interface.resources.contains_key(&id)
    }

    fn unnormalized(&self, inst: &Inst) -> bool {
        inst.controls.unnormalized.unwrap_or_else(|| {
            self.kernel.interface.resources.get(&inst.controls.id).is_none_or(|r| r.unnormalized)
        })
    }

    /// The words that a store to `mem.mask` takes from `src`.
    pub(super) fn stored(&mut self, src: &Src, dst: &Dst) -> Src4 {
        let mask = written(dst);
        let words = self.source(src, mask, View::Bits);
        std::array::from_fn(|k| (mask & (1 << k) != 0).then_some(words[k]))
    }
}
