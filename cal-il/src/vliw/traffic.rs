//! What reaches the memory bus: a model of the cache.
//!
//! The threads of a wave read together, and each element that they read comes from memory once; nothing is kept for later
//! instructions or other waves. So a read costs its element where each thread of the wave reads one of its own, a part of it where the
//! address depends on fewer dimensions of the thread's position than the wave has, and next to nothing where it depends on none.
//! Writes cost what they write.

use std::collections::BTreeMap;

use crate::ir::{Builtin, GroupSize, MemoryInst, Operand, Program, Space, Src4, StmtKind, ThreadId, visit};

/// Sizes of the elements of bound memory in bits, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    /// `i#`
    pub resources: BTreeMap<u32, u32>,
    /// `o#`
    pub outputs: BTreeMap<u32, u32>,
    /// Typed `uav#`
    pub uavs: BTreeMap<u32, u32>,
}

/// What a word depends on.
const X: u8 = 1;
const Y: u8 = 2;
const ALL: u8 = 4;

pub(super) struct Traffic {
    depends: Vec<u8>,
    elements: Elements,
    /// Different columns and rows in a wave, and threads.
    columns: f64,
    rows: f64,
    wave: f64,
}

impl Traffic {
    pub fn of(program: &Program, wave: u32, elements: &Elements) -> Self {
        // Pixels of a wave are a square, or two; threads are a row of their group.
        let (columns, rows) = match program.interface.group {
            None => match wave {
                64 => (8, 8),
                32 => (8, 4),
                _ => (4, 4),
            },
            Some(GroupSize::AtMost(_)) => (wave, 1),
            Some(GroupSize::Exact([x, y, _])) => (x.clamp(1, wave), (wave / x.max(1)).clamp(1, y.max(1))),
        };
        let mut traffic = Self {
            depends: vec![0; program.registers as usize],
            elements: elements.clone(),
            columns: f64::from(columns),
            rows: f64::from(rows),
            wave: f64::from(wave),
        };
        let mut changed = true;
        while changed {
            changed = false;
            for function in &program.functions {
                visit::each(&function.body, &mut |stmt| {
                    let mut depends = 0;
                    match &stmt.kind {
                        StmtKind::Lane(inst) => {
                            inst.args.iter().for_each(|arg| depends |= traffic.operand(*arg))
                        }
                        // One address, one word.
                        StmtKind::Memory(inst)
                            if matches!(**inst, MemoryInst::Atomic { .. } | MemoryInst::Counter { .. }) =>
                        {
                            depends = ALL
                        }
                        StmtKind::Memory(inst) => {
                            visit::operands_of(inst).iter().for_each(|arg| depends |= traffic.operand(*arg));
                        }
                        _ => return,
                    }
                    visit::named(&stmt.kind, &mut |reg, write| {
                        let known = &mut traffic.depends[reg.index()];
                        if write && *known | depends != *known {
                            *known |= depends;
                            changed = true;
                        }
                    });
                });
            }
        }
        traffic
    }

    fn operand(&self, operand: Operand) -> u8 {
        match operand {
            Operand::Reg(reg) => self.depends[reg.index()],
            Operand::Imm(_) | Operand::Const { .. } => 0,
            Operand::Builtin(builtin) => match builtin {
                Builtin::Position(0) | Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute, 0) => X,
                Builtin::Position(_) | Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute, 1) => Y,
                Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _)
                | Builtin::Timer(_)
                | Builtin::ComputeUnit
                | Builtin::WaveSlot => 0,
                Builtin::Thread(..) | Builtin::Interpolant(..) | Builtin::ObjectIndex => ALL,
            },
        }
    }

    /// The part of the wave's threads that read elements of their own.
    fn part(&self, address: &[Operand]) -> f64 {
        let depends = address.iter().fold(0, |all, word| all | self.operand(*word));
        let different = match depends {
            0 => 1.0,
            X => self.columns,
            Y => self.rows,
            depends if depends & ALL == 0 => self.columns * self.rows,
            _ => self.wave,
        };
        (different / self.wave).min(1.0)
    }

    /// Bits of global memory that an access costs a thread.
    pub fn bits(&self, inst: &MemoryInst) -> f64 {
        let read = 32 * visit::destinations_of(inst).len() as u32;
        let written = |src: &Src4| f64::from(32 * src.iter().flatten().count() as u32);
        let (bits, address): (u32, &[Operand]) = match inst {
            MemoryInst::Sample { resource, coord, .. } | MemoryInst::Fetch { resource, coord, .. } => {
                (self.elements.resources.get(&resource.base).copied().unwrap_or(read), coord)
            }
            // Four elements.
            MemoryInst::Gather { resource, coord, .. } => {
                (self.elements.resources.get(&resource.base).map_or(read, |bits| 4 * bits), coord)
            }
            MemoryInst::TypedLoad { uav, coord, .. } => {
                (self.elements.uavs.get(uav).copied().unwrap_or(read), coord)
            }
            // What kernels write is not cached.
            MemoryInst::GlobalLoad { .. } | MemoryInst::RawLoad { space: Space::Uav(_), .. } => {
                return f64::from(read);
            }
            MemoryInst::RawLoad { space: Space::Srv(_), address, .. } => {
                (read, std::slice::from_ref(address))
            }
            MemoryInst::ArrayLoad { .. } => return f64::from(read),
            MemoryInst::GlobalStore { src, .. }
            | MemoryInst::ArrayStore { src, .. }
            | MemoryInst::RawStore { space: Space::Uav(_), src, .. } => return written(src),
            MemoryInst::TypedStore { uav, .. } => {
                return f64::from(self.elements.uavs.get(uav).copied().unwrap_or(128));
            }
            MemoryInst::Atomic { space: Space::Uav(_), wide, .. } => {
                return if wide.is_some() { 128.0 } else { 64.0 };
            }
            _ => return 0.0,
        };
        f64::from(bits) * self.part(address)
    }
}
