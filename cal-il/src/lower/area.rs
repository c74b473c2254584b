//! Loads, stores and atomics by address or texel: UAVs, read-only buffers, LDS, GDS (amd-il 5.5, 5.6, 5.9, 5.11).

use crate::inst::{Inst, Src, Uav};
use crate::ir::{
    AtomicAddress, AtomicOp, Cond, Dst4, InfoSource, LaneOp, MemoryInst, Operand, Reg, Space, StmtKind,
    WideAtomic, Width,
};
use crate::isa::{Access, Area, Opcode, View};

use super::build::Builder;
use super::write::{Value, written};

/// Order of the two values of a compare-exchange on LDS and GDS: compare value, then new value.
const SHARED_COMPARE_FIRST: bool = true;
/// The same for UAVs: new value, then compare value. One code generator is the only witness of both orders.
const UAV_COMPARE_FIRST: bool = false;

/// The last word that an address can be of: out of range of all memory below 4 GiB.
const FAR: u32 = 0xFFFF_FFFC;

impl Builder<'_> {
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
        let stride = stride.max(1);
        let known = if let Operand::Imm(offset) = offset { offset.min(FAR) } else { 0 };
        let last = Operand::Imm((FAR - known) / stride);
        let index = self.value(LaneOp::Umin, &[index, last]);
        let stride = Operand::Imm(stride);
        match offset {
            Operand::Imm(0) => self.value(LaneOp::Imul, &[index, stride]),
            Operand::Imm(_) => self.value(LaneOp::Imad, &[index, stride, Operand::Imm(known)]),
            offset => {
                let start = self.value(LaneOp::Imul, &[index, stride]);
                let rest = self.value(LaneOp::Isub, &[Operand::Imm(FAR), start]);
                let offset = self.value(LaneOp::Umin, &[offset, rest]);
                self.value(LaneOp::Iadd, &[start, offset])
            }
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

    /// Accesses the memory that the instruction names. With `_ext` the last operand is added to the number: that is
    /// one guarded access for each declared memory that the instruction fits, and none for other numbers.
    fn choose(&mut self, inst: &Inst, area: Area, mut access: impl FnMut(&mut Self, u32)) {
        let base = inst.controls.id;
        if !inst.controls.ext {
            return access(self, base);
        }
        let index = self.sources(inst).get(usize::from(inst.opcode.row().sources));
        let index = index.map_or(Operand::Imm(0), |src| self.position(src, 0, View::Int));
        let chosen = self.value(LaneOp::Iadd, &[Operand::Imm(base), index]);
        let interface = &self.kernel.interface;
        let candidates: Vec<u32> = match area {
            Area::Uav => {
                interface.uavs.iter().filter(|(_, u)| u.takes(inst.opcode)).map(|(&id, _)| id).collect()
            }
            _ => interface.srvs.iter().filter(|(_, s)| reads(inst.opcode, **s)).map(|(&id, _)| id).collect(),
        };
        for id in candidates {
            match chosen {
                Operand::Imm(number) if number == id => access(self, id),
                Operand::Imm(_) => {}
                chosen => {
                    let operand = self.value(LaneOp::Ieq, &[chosen, Operand::Imm(id)]);
                    let outer = std::mem::take(&mut self.block);
                    access(self, id);
                    let then = std::mem::replace(&mut self.block, outer);
                    let cond = Cond { operand, nonzero: true };
                    self.statement(StmtKind::If { cond, then, otherwise: Vec::new() });
                }
            }
        }
    }

    /// Registers for what the memory chosen by `_ext` delivers; they are 0 where there is no such memory.
    fn zeros<const N: usize>(&mut self, wanted: [bool; N]) -> [Option<Reg>; N] {
        let registers = wanted.map(|wanted| wanted.then(|| self.scratch()));
        registers.into_iter().flatten().for_each(|register| self.copy(register, Operand::Imm(0)));
        registers
    }

    /// `bufinfo` of a UAV or read-only buffer.
    pub fn buffer_info(&mut self, inst: &Inst, area: Area, of: fn(u32) -> InfoSource) {
        let Some(dst) = self.dst(inst) else { return };
        if !inst.controls.ext {
            let of = of(inst.controls.id);
            return self.load_into(dst, &inst.controls, |dst| MemoryInst::BufferInfo { of, dst });
        }
        let mask = written(dst);
        let loaded = self.zeros([0, 1, 2, 3].map(|k| mask & (1 << k) != 0));
        self.choose(inst, area, |this, id| this.memory(MemoryInst::BufferInfo { of: of(id), dst: loaded }));
        self.write(dst, loaded.map(|reg| reg.map(|reg| Value::Word(Operand::Reg(reg)))));
    }

    pub fn area_load(&mut self, inst: &Inst, area: Area, access: Access) {
        let Some(dst) = self.dst(inst) else { return };
        let width = width(access, inst.controls.size);
        match access {
            Access::Typed | Access::Vector | Access::Split if !inst.controls.ext => {
                let place = self.place(inst, area, access, inst.controls.id);
                self.load_into(dst, &Default::default(), |dst| place.load(width, dst));
            }
            Access::Typed | Access::Vector | Access::Split => {
                let mask = written(dst);
                let loaded = self.zeros([0, 1, 2, 3].map(|k| mask & (1 << k) != 0));
                self.load_chosen(inst, area, access, loaded);
                self.write(dst, loaded.map(|reg| reg.map(|reg| Value::Word(Operand::Reg(reg)))));
            }
            Access::Wide => {
                // The pair goes to both halves of the destination.
                let place = self.place(inst, area, access, inst.controls.id);
                let (lo, hi) = (self.scratch(), self.scratch());
                self.memory(place.load(width, [Some(lo), Some(hi), None, None]));
                self.write_pair(dst, [Operand::Reg(lo), Operand::Reg(hi)]);
            }
            _ if !inst.controls.ext => {
                let place = self.place(inst, area, access, inst.controls.id);
                self.load_word(dst, |reg| place.load(width, [Some(reg), None, None, None]));
            }
            _ => {
                let loaded = self.zeros([true, false, false, false]);
                self.load_chosen(inst, area, access, loaded);
                let word = Operand::Reg(loaded[0].unwrap_or(Reg(0)));
                self.write(dst, Self::replicate(dst, Value::Word(word)));
            }
        }
    }

    fn load_chosen(&mut self, inst: &Inst, area: Area, access: Access, dst: Dst4) {
        let width = width(access, inst.controls.size);
        self.choose(inst, area, |this, id| {
            let place = this.place(inst, area, access, id);
            this.memory(place.load(width, dst));
        });
    }

    /// The texel or byte that a load or store of memory number `id` accesses.
    fn place(&mut self, inst: &Inst, area: Area, access: Access, id: u32) -> Place {
        let space = Self::space(area, id);
        let address = match access {
            Access::Typed => return Place::Texel { uav: id, coord: self.texel(&self.sources(inst)[0]) },
            Access::Split => self.split_address(area, id, &self.sources(inst)[0], &self.sources(inst)[1]),
            _ => self.address(area, id, &self.sources(inst)[0]),
        };
        let address = match access {
            Access::Wide => self.value(LaneOp::And, &[address, Operand::Imm(!7)]),
            _ => address,
        };
        Place::Byte { space, address }
    }

    pub fn area_store(&mut self, inst: &Inst, area: Area, access: Access) {
        self.choose(inst, area, |this, id| this.store_to(inst, area, access, id));
    }

    fn store_to(&mut self, inst: &Inst, area: Area, access: Access, id: u32) {
        let data = &self.sources(inst)[usize::from(inst.opcode.row().sources) - 1];
        let (space, address) = match self.place(inst, area, access, id) {
            Place::Texel { uav, coord } => {
                let src = self.source(data, 0b1111, View::Bits);
                return self.memory(MemoryInst::TypedStore { uav, coord, src });
            }
            Place::Byte { space, address } => (space, address),
        };
        let width = width(access, inst.controls.size);
        let src = match access {
            Access::Vector | Access::Split => {
                let Some(dst) = self.dst(inst) else { return };
                self.stored(data, dst)
            }
            Access::Wide => {
                let words = self.source(data, 0b0011, View::Bits);
                [Some(words[0]), Some(words[1]), None, None]
            }
            _ => [Some(self.position(data, 0, View::Bits)), None, None, None],
        };
        self.memory(MemoryInst::RawStore { space, address, width, src });
    }

    pub fn atomic(&mut self, inst: &Inst, area: Area, op: AtomicOp, returns: bool, wide: bool) {
        if !returns {
            return self.choose(inst, area, |this, id| this.atomic_on(inst, area, id, op, wide, [None; 2]));
        }
        let Some(dst) = self.dst(inst) else { return };
        if wide {
            let (lo, hi) = (self.scratch(), self.scratch());
            self.atomic_on(inst, area, inst.controls.id, op, wide, [Some(lo), Some(hi)]);
            self.write_pair(dst, [Operand::Reg(lo), Operand::Reg(hi)]);
        } else if inst.controls.ext {
            let old = self.zeros([true, false]);
            self.choose(inst, area, |this, id| this.atomic_on(inst, area, id, op, wide, old));
            let word = Operand::Reg(old[0].unwrap_or(Reg(0)));
            self.write(dst, Self::replicate(dst, Value::Word(word)));
        } else {
            let make = self.atomic_inst(inst, area, inst.controls.id, op, wide);
            self.load_word(dst, |reg| make([Some(reg), None]));
        }
    }

    fn atomic_on(
        &mut self,
        inst: &Inst,
        area: Area,
        id: u32,
        op: AtomicOp,
        wide: bool,
        old: [Option<Reg>; 2],
    ) {
        let make = self.atomic_inst(inst, area, id, op, wide);
        self.memory(make(old));
    }

    /// The atomic on memory number `id`, still without the registers for the old value.
    fn atomic_inst(
        &mut self,
        inst: &Inst,
        area: Area,
        id: u32,
        op: AtomicOp,
        wide: bool,
    ) -> impl FnOnce([Option<Reg>; 2]) -> MemoryInst + use<> {
        let address = match (area, self.kernel.interface.uavs.get(&id)) {
            (Area::Uav, Some(Uav::Typed { .. })) => AtomicAddress::Texel(self.texel(&self.sources(inst)[0])),
            _ => {
                let address = self.address(area, id, &self.sources(inst)[0]);
                let address =
                    if wide { self.value(LaneOp::And, &[address, Operand::Imm(!7)]) } else { address };
                AtomicAddress::Byte(address)
            }
        };
        let positions = if wide { 0b11 } else { 0b01 };
        let view = if wide { View::Quad } else { View::Int };
        let first = self.source(&self.sources(inst)[1], positions, view);
        let second =
            (inst.opcode.row().sources == 3).then(|| self.source(&self.sources(inst)[2], positions, view));
        let compare_first = match area {
            Area::Uav | Area::Srv => UAV_COMPARE_FIRST,
            Area::Lds | Area::Gds => SHARED_COMPARE_FIRST,
        };
        let (src, src2) = match second {
            Some(new) if op == AtomicOp::CmpXchg && compare_first => (new, Some(first)),
            second => (first, second),
        };
        let space = Self::space(area, id);
        move |old: [Option<Reg>; 2]| MemoryInst::Atomic {
            op,
            space,
            address,
            src: src[0],
            src2: src2.map(|words| words[0]),
            dst: old[0],
            wide: wide.then(|| WideAtomic { src: src[1], src2: src2.map(|words| words[1]), dst: old[1] }),
        }
    }
}

/// Where a load or store goes.
enum Place {
    Texel { uav: u32, coord: [Operand; 3] },
    Byte { space: Space, address: Operand },
}

impl Place {
    fn load(self, width: Width, dst: Dst4) -> MemoryInst {
        match self {
            Place::Texel { uav, coord } => MemoryInst::TypedLoad { uav, coord, dst },
            Place::Byte { space, address } => MemoryInst::RawLoad { space, address, width, dst },
        }
    }
}

/// The instruction can read a read-only buffer with records of `stride` bytes, 0 for a raw one.
fn reads(opcode: Opcode, stride: u32) -> bool {
    match opcode {
        Opcode::SrvRawLoad => stride == 0,
        Opcode::SrvStructLoad => stride > 0,
        _ => true,
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
