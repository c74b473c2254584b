//! Accesses to memory as fetches, writes, and instructions of the LDS.

use smallvec::{SmallVec, smallvec};

use super::translate::Translate;
use super::{Alu, Fetch, Generation, Item, Slot, Src, Unit, V, Word, Write};
use crate::ir::{AtomicAddress, Dst4, InfoSource, MemoryInst, Operand, Space, Src4};

impl Translate<'_, '_> {
    /// A word in a register: constants and signs are moved there.
    fn value(&mut self, operand: Operand) -> V {
        let word = self.word(operand);
        match word {
            Src { word: Word::V(value), neg: false, abs: false } => value,
            _ => self.emit.get("MOV", Unit::Any, &[word]).value().unwrap_or_default(),
        }
    }

    /// Words of an address: 0 and 1.0 come with the instruction.
    fn address(&mut self, operands: &[Operand]) -> SmallVec<[Src; 4]> {
        (operands.iter())
            .map(|operand| match operand {
                Operand::Imm(0 | 0x3f80_0000) => self.word(*operand),
                _ => Src::of(self.value(*operand)),
            })
            .collect()
    }

    fn fetch(&mut self, name: &'static str, from: String, address: &[Operand], dst: Dst4, ordered: bool) {
        let bits = self.bits;
        let address = self.address(address);
        self.flush();
        let at = self.at();
        self.items.push(Item::Fetch(Fetch {
            name,
            from,
            dst,
            address,
            data: SmallVec::new(),
            ordered,
            bits,
            at,
        }));
    }

    fn write(&mut self, name: &'static str, to: String, address: &[Operand], src: &[Operand], back: &[V]) {
        let bits = self.bits;
        let address = address.iter().map(|word| self.value(*word)).collect();
        let data = src.iter().map(|word| self.value(*word)).collect();
        self.flush();
        let at = self.at();
        self.items.push(Item::Write(Write { name, to, address, data, back: back.into(), bits, at }));
    }

    pub fn memory(&mut self, inst: &MemoryInst) {
        self.bits = self.traffic.bits(inst);
        let evergreen = self.chip().generation >= Generation::Evergreen;
        let some = |src: &Src4| src.iter().flatten().copied().collect::<SmallVec<[Operand; 4]>>();
        let array = |n: u32| format!("x{n}");
        match inst {
            MemoryInst::Sample { resource, coord, dst, sampler, .. } => {
                let from = format!("t{}, s{}", resource.base, sampler.base);
                self.fetch("SAMPLE", from, coord, *dst, false);
            }
            MemoryInst::Gather { resource, coord, dst, sampler, .. } => {
                let name = if evergreen { "GATHER4" } else { "FETCH4" };
                self.fetch(name, format!("t{}, s{}", resource.base, sampler.base), coord, *dst, false);
            }
            MemoryInst::Fetch { resource, coord, dst, .. } => {
                self.fetch("LD", format!("t{}", resource.base), coord, *dst, false);
            }
            MemoryInst::ResourceInfo { resource, dst, .. } => {
                self.fetch("GET_TEXTURE_RESINFO", format!("t{}", resource.base), &[], *dst, false);
            }
            MemoryInst::BufferInfo { of, dst } => {
                let from = match of {
                    InfoSource::Resource(id) => format!("t{}", id.base),
                    InfoSource::Uav(n) => format!("RAT{n}"),
                    InfoSource::Srv(n) => format!("fc{n}"),
                };
                self.fetch("GET_BUFFER_RESINFO", from, &[], *dst, false);
            }
            MemoryInst::ConstLoad { buffer, index, dst, .. } => {
                self.fetch("VFETCH", format!("cb{buffer}"), &[*index], *dst, false);
            }
            MemoryInst::ImmediateLoad { index, dst, .. } => {
                self.fetch("VFETCH", "icb".into(), &[*index], *dst, false);
            }
            MemoryInst::ArrayLoad { array: n, index, dst, .. } => {
                self.fetch("READ_SCRATCH", array(*n), &[*index], *dst, true);
            }
            MemoryInst::ArrayStore { array: n, index, src, .. } => {
                self.write("MEM_SCRATCH_WRITE", array(*n), &[*index], &some(src), &[]);
            }
            MemoryInst::GlobalLoad { index, dst, .. } => {
                self.fetch("VFETCH", "g".into(), &[*index], *dst, true);
            }
            MemoryInst::GlobalStore { index, src, .. } => {
                let name = if evergreen { "MEM_RAT_STORE_RAW" } else { "MEM_EXPORT_WRITE_IND" };
                self.write(name, "g".into(), &[*index], &some(src), &[]);
            }
            MemoryInst::SharedLoad { dst, .. } => {
                for dst in dst.iter().flatten() {
                    self.emit.put("MOV", Unit::Any, *dst, &[Src::new(Word::Special("SR"))]);
                }
            }
            MemoryInst::SharedStore { src, .. } => {
                for word in some(src) {
                    let word = self.word(word);
                    self.effect("MOV", Unit::Any, &[word]);
                }
            }
            MemoryInst::RawLoad { space, address, dst, .. } => match space {
                Space::Lds(_) => self.lds_load(*address, *dst),
                Space::Srv(n) => self.fetch("VFETCH", format!("fc{n}"), &[*address], *dst, false),
                Space::Uav(n) => self.fetch("VFETCH", format!("RAT{n}"), &[*address], *dst, true),
                Space::Gds(_) => self.fetch("GDS_READ_RET", "gds".into(), &[*address], *dst, true),
            },
            MemoryInst::RawStore { space, address, src, .. } => match space {
                Space::Lds(_) => self.lds_store(*address, &some(src)),
                Space::Gds(_) => self.write("GDS_WRITE", "gds".into(), &[*address], &some(src), &[]),
                Space::Uav(n) | Space::Srv(n) => {
                    self.write("MEM_RAT_STORE_RAW", format!("RAT{n}"), &[*address], &some(src), &[]);
                }
            },
            MemoryInst::TypedLoad { uav, coord, dst } => {
                self.fetch("VFETCH", format!("RAT{uav}"), coord, *dst, true);
            }
            MemoryInst::TypedStore { uav, coord, src } => {
                self.write("MEM_RAT_STORE_TYPED", format!("RAT{uav}"), coord, src, &[]);
            }
            MemoryInst::Atomic { space, address, src, src2, dst, wide, .. } => {
                let where_to: SmallVec<[Operand; 3]> = match address {
                    AtomicAddress::Byte(address) => smallvec![*address],
                    AtomicAddress::Texel(coord) => SmallVec::from_slice(coord),
                };
                let mut data: SmallVec<[Operand; 4]> = smallvec![*src];
                data.extend(*src2);
                let mut back: SmallVec<[V; 2]> = dst.iter().copied().collect();
                if let Some(wide) = wide {
                    data.push(wide.src);
                    data.extend(wide.src2);
                    back.extend(wide.dst);
                }
                match space {
                    Space::Lds(_) if evergreen => {
                        let address = self.word(where_to[0]);
                        let mut srcs: SmallVec<[Src; 3]> = smallvec![address];
                        srcs.extend(data.iter().take(2).map(|word| self.word(*word)));
                        let name = if dst.is_some() { "LDS_ATOMIC_RET" } else { "LDS_ATOMIC" };
                        self.effect(name, Unit::First, &srcs);
                        back.iter().for_each(|dst| self.pop(*dst));
                    }
                    Space::Gds(_) => self.write("GDS_ATOMIC", "gds".into(), &where_to, &data, &back),
                    Space::Uav(n) | Space::Srv(n) | Space::Lds(n) => {
                        self.write("MEM_RAT_ATOMIC", format!("RAT{n}"), &where_to, &data, &back);
                    }
                }
            }
            MemoryInst::LdsWriteOwn { src, .. } => {
                let data = some(src).iter().map(|word| self.value(*word)).collect();
                self.lds_clause("LOCAL_DS_WRITE", [None; 4], SmallVec::new(), data);
            }
            MemoryInst::LdsReadAny { thread, offset, dst, .. } => {
                let address = self.address(&[*thread, *offset]);
                self.lds_clause("LOCAL_DS_READ", *dst, address, SmallVec::new());
            }
            MemoryInst::Counter { uav, consume, dst } => {
                let name = if *consume { "GDS_CONSUME" } else { "GDS_APPEND" };
                self.fetch(name, format!("uav{uav}"), &[], [Some(*dst), None, None, None], true);
            }
            MemoryInst::InitShared => {}
        }
    }

    /// R7xx: the LDS belongs to the fetch units.
    fn lds_clause(
        &mut self,
        name: &'static str,
        dst: Dst4,
        address: SmallVec<[Src; 4]>,
        data: SmallVec<[V; 4]>,
    ) {
        self.flush();
        let at = self.at();
        let from = "lds".into();
        self.items.push(Item::Fetch(Fetch { name, from, dst, address, data, ordered: true, bits: 0.0, at }));
    }

    /// Takes the next word that the LDS has returned.
    fn pop(&mut self, dst: V) {
        let queue = Src::new(Word::Special("LDS_OQ_A_POP"));
        let slots = smallvec![Slot { dst: Some(dst), srcs: smallvec![queue] }];
        self.emit.out.push(Alu { name: "MOV", unit: Unit::Vec, slots, clamp: false, at: 0 });
    }

    /// Address of word `k` of a vector.
    fn lds_address(&mut self, address: Src, k: usize) -> Src {
        if k == 0 {
            return address;
        }
        self.emit.get("ADD_INT", Unit::Any, &[address, Src::new(Word::Imm(4 * k as u32))])
    }

    fn lds_load(&mut self, address: Operand, dst: Dst4) {
        if self.chip().generation < Generation::Evergreen {
            let address = self.address(&[address]);
            return self.lds_clause("LOCAL_DS_READ", dst, address, SmallVec::new());
        }
        let address = self.word(address);
        let wanted: Vec<(usize, V)> =
            dst.iter().enumerate().filter_map(|(k, dst)| Some((k, (*dst)?))).collect();
        for (k, _) in &wanted {
            let address = self.lds_address(address, *k);
            self.effect("LDS_READ_RET", Unit::First, &[address]);
        }
        wanted.iter().for_each(|(_, dst)| self.pop(*dst));
    }

    fn lds_store(&mut self, address: Operand, src: &[Operand]) {
        if self.chip().generation < Generation::Evergreen {
            let address = self.address(&[address]);
            let data = src.iter().map(|word| self.value(*word)).collect();
            return self.lds_clause("LOCAL_DS_WRITE", [None; 4], address, data);
        }
        let address = self.word(address);
        for (k, word) in src.iter().enumerate() {
            let (address, word) = (self.lds_address(address, k), self.word(*word));
            self.effect("LDS_WRITE", Unit::First, &[address, word]);
        }
    }
}
