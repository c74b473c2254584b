//! What a kernel asks of a device of its time: counts, register use, and which unit limits it.
//!
//! Input is a checked kernel and its program. The estimate follows the usual back-of-the-envelope rule for these
//! parts: arithmetic, fetches and memory run in parallel, so the slowest of the three decides. Counts are static:
//! every statement counts once, both sides of an `if` too, and a loop body as one iteration. Flushes and
//! canonicalisations are ours and count nothing.
//!
//! Formats belong to the memory that is bound, not to the kernel. Where [`Elements`] does not tell the size of an element, a
//! read counts the components that it delivers and a store or output the components that it takes, 32 bits each.

mod bundles;

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use self::bundles::Bundles;
use super::compact::compact;
use super::uniformity::Uniformity;
use super::{Block, LaneInst, LaneOp, MemoryInst, Operand, Output, Program, StmtKind, visit};
use crate::inst::{Kernel, Node};
use crate::isa::lane::Class;

/// A device of the time, as far as the estimate needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Name of the chip.
    pub name: &'static str,
    /// VLIW instructions a clock.
    pub thread_processors: u32,
    /// Fetches a clock.
    pub fetch_units: u32,
    /// Width of the memory bus in bits.
    pub bus_bits: u32,
    /// Engine clock, MHz.
    pub engine_mhz: u32,
    /// Data rate of a memory pin, Mbit/s.
    pub memory_mbps: u32,
    /// Scalar operations in one VLIW instruction.
    pub slots: u32,
}

const fn target(name: &'static str, units: [u32; 2], bus_bits: u32, clocks: [u32; 2], slots: u32) -> Target {
    Target {
        name,
        thread_processors: units[0],
        fetch_units: units[1],
        bus_bits,
        engine_mhz: clocks[0],
        memory_mbps: clocks[1],
        slots,
    }
}

/// Known targets, oldest first: the figures of the first board of each chip.
pub const TARGETS: &[Target] = &[
    target("R600", [64, 16], 512, [743, 1656], 5),
    target("RV610", [8, 4], 64, [700, 1600], 5),
    target("RV630", [24, 8], 128, [800, 2200], 5),
    target("RV670", [64, 16], 256, [775, 2250], 5),
    target("RV770", [160, 40], 256, [750, 3600], 5),
    target("RV730", [64, 32], 128, [750, 1800], 5),
    target("RV710", [16, 8], 64, [600, 1600], 5),
    target("Cypress", [320, 80], 256, [850, 4800], 5),
    target("Juniper", [160, 40], 128, [850, 4800], 5),
    target("Redwood", [80, 20], 128, [775, 4000], 5),
    target("Cedar", [16, 8], 64, [650, 1600], 5),
    target("Barts", [224, 56], 256, [900, 4200], 5),
    target("Turks", [96, 24], 128, [800, 4000], 5),
    target("Caicos", [32, 8], 64, [625, 1600], 5),
    target("Cayman", [384, 96], 256, [880, 5500], 4),
];

impl Target {
    /// The target with this name, in any case.
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name.eq_ignore_ascii_case(name))
    }
}

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

/// Counts of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// IL instructions.
    pub instructions: u32,
    /// Scalar single precision operations.
    pub float: u32,
    /// Of these, the ones of the transcendental unit.
    pub transcendental: u32,
    /// Scalar integer and bit operations, comparisons and moves.
    pub integer: u32,
    /// Operations on doubles and 64-bit integers.
    pub double: u32,
    /// VLIW instructions, packed as dependencies allow.
    pub vliw: u32,
    /// Texture and buffer fetches.
    pub fetch: u32,
    /// Reads of UAVs, `g[]` and indexed temporaries.
    pub load: u32,
    /// Writes of UAVs, `g[]` and indexed temporaries.
    pub store: u32,
    /// Atomic operations on any memory, and counters.
    pub atomic: u32,
    /// LDS accesses.
    pub lds: u32,
    /// Branches, loops, jumps and calls.
    pub flow: u32,
    /// Loops among them.
    pub loops: u32,
    /// Barriers and fences.
    pub fence: u32,
    /// Outputs.
    pub export: u32,
    /// Bits of global memory read and written.
    pub memory_bits: u32,
    /// Registers of four components live at once, about.
    pub gprs: u32,
    /// LDS bytes of a group.
    pub lds_bytes: u32,
}

/// The unit that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Stream cores.
    Alu,
    /// Fetch units.
    Fetch,
    /// Memory bus.
    Memory,
}

/// An estimate for a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Counts.
    pub stats: Stats,
    /// Where.
    pub target: Target,
    /// Engine clocks that the stream cores of the whole chip spend on a thread.
    pub alu_clocks: f64,
    /// Engine clocks of the fetch units.
    pub fetch_clocks: f64,
    /// Engine clocks of the memory bus.
    pub memory_clocks: f64,
    /// The largest of the three.
    pub limit: Unit,
    /// Stream core instructions for each fetch; infinite without fetches.
    pub alu_to_fetch: f64,
    /// Waves that fit a SIMD by register use.
    pub waves: u32,
}

impl Report {
    /// Engine clocks that `threads` threads take at best.
    pub fn cycles(&self, threads: f64) -> f64 {
        threads * self.alu_clocks.max(self.fetch_clocks).max(self.memory_clocks)
    }

    /// Seconds that `threads` threads take at best.
    pub fn seconds(&self, threads: f64) -> f64 {
        self.cycles(threads) / (f64::from(self.target.engine_mhz) * 1e6)
    }
}

impl Unit {
    /// `ALU`, `fetch` or `memory`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Alu => "ALU",
            Unit::Fetch => "fetch",
            Unit::Memory => "memory",
        }
    }
}

/// Estimates how `program` would run on `target` with memory of the given element sizes.
pub fn analyze(kernel: &Kernel, program: &Program, target: &Target, elements: &Elements) -> Report {
    let stats = Stats::of(kernel, program, target.slots, elements);
    let alu_clocks = f64::from(stats.vliw) / f64::from(target.thread_processors);
    let fetches = stats.fetch + stats.load;
    let fetch_clocks = f64::from(fetches) / f64::from(target.fetch_units);
    let bits_a_clock =
        f64::from(target.bus_bits) * f64::from(target.memory_mbps) / f64::from(target.engine_mhz);
    let memory_clocks = f64::from(stats.memory_bits) / bits_a_clock;
    let limit = if alu_clocks >= fetch_clocks && alu_clocks >= memory_clocks {
        Unit::Alu
    } else if fetch_clocks >= memory_clocks {
        Unit::Fetch
    } else {
        Unit::Memory
    };
    Report {
        stats,
        target: *target,
        alu_clocks,
        fetch_clocks,
        memory_clocks,
        limit,
        alu_to_fetch: f64::from(stats.vliw) / f64::from(fetches),
        // A SIMD holds 256 registers for each lane of a wave.
        waves: (256 / stats.gprs.max(1)).clamp(1, 32),
    }
}

impl Stats {
    /// Counts `program`; `slots` is the width of a VLIW instruction.
    pub fn of(kernel: &Kernel, program: &Program, slots: u32, elements: &Elements) -> Self {
        let mut stats = Self {
            instructions: kernel.functions.iter().map(|f| instructions(&f.body)).sum(),
            export: program.outputs.len() as u32,
            lds_bytes: lds_bytes(program),
            ..Self::default()
        };
        let output = |o: &Output| elements.outputs.get(&o.index).copied().unwrap_or(128);
        stats.memory_bits = program.outputs.iter().map(output).sum();
        let mut packer = Bundles { ready: vec![0; program.registers as usize], slots, ..Bundles::default() };
        for function in &program.functions {
            stats.block(&function.body, &mut packer, elements);
        }
        stats.vliw = packer.total + packer.bundles.len() as u32;
        let mut packed = program.clone();
        let facts = compact(&mut packed, &Uniformity::of(program));
        // Uniform values live in constant registers or are recomputed; the rest takes vector registers.
        let varying = (0..packed.registers).filter(|reg| !facts.register(*reg)).count() as u32;
        stats.gprs = varying.div_ceil(4).max(1);
        stats
    }

    fn block(&mut self, block: &Block, packer: &mut Bundles, elements: &Elements) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) => self.lane(inst, packer),
                StmtKind::Memory(inst) => self.memory(inst, elements),
                StmtKind::Fence(_) => self.fence += 1,
                other => {
                    self.flow += 1;
                    packer.close();
                    match other {
                        StmtKind::If { then, otherwise, .. } => {
                            self.block(then, packer, elements);
                            packer.close();
                            self.block(otherwise, packer, elements);
                            packer.close();
                        }
                        StmtKind::Loop { body } => {
                            self.loops += 1;
                            self.block(body, packer, elements);
                            packer.close();
                        }
                        StmtKind::Switch { arms, .. } => {
                            for arm in arms {
                                self.block(&arm.body, packer, elements);
                                packer.close();
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn lane(&mut self, inst: &LaneInst, packer: &mut Bundles) {
        if matches!(inst.op, LaneOp::Flush | LaneOp::Canon) {
            packer.pass_on(inst);
            return;
        }
        let classes = inst.op.arguments();
        let wide = inst.op.result() == Class::Q || classes.contains(&Class::Q);
        let transcendental = is_transcendental(inst.op);
        if wide {
            self.double += 1;
        } else if classes.contains(&Class::F) || inst.op.result() == Class::F {
            self.float += 1;
            self.transcendental += u32::from(transcendental);
        } else {
            self.integer += 1;
        }
        let width = match inst.op {
            LaneOp::Dmul | LaneOp::Dmad | LaneOp::Ddiv | LaneOp::Drcp | LaneOp::Dsqrt | LaneOp::Drsq => 4,
            _ if wide => 2,
            _ => 1,
        };
        packer.place(inst, width, transcendental);
    }

    fn memory(&mut self, inst: &MemoryInst, elements: &Elements) {
        use super::Space;
        let read = 32 * visit::destinations_of(inst).len() as u32;
        let written = |src: &super::Src4| 32 * src.iter().flatten().count() as u32;
        match inst {
            MemoryInst::Sample { resource, .. }
            | MemoryInst::Fetch { resource, .. }
            | MemoryInst::Gather { resource, .. } => {
                self.fetch += 1;
                // A gather reads four elements.
                let times = if matches!(inst, MemoryInst::Gather { .. }) { 4 } else { 1 };
                let element = elements.resources.get(&resource.base).map(|bits| bits * times);
                self.memory_bits += element.unwrap_or(read);
            }
            MemoryInst::ConstLoad { .. }
            | MemoryInst::ImmediateLoad { .. }
            | MemoryInst::ResourceInfo { .. }
            | MemoryInst::BufferInfo { .. }
            | MemoryInst::RawLoad { space: Space::Srv(_), .. } => self.fetch += 1,
            MemoryInst::RawLoad { space: Space::Lds(_), .. }
            | MemoryInst::RawStore { space: Space::Lds(_), .. }
            | MemoryInst::LdsWriteOwn { .. }
            | MemoryInst::LdsReadAny { .. } => self.lds += 1,
            MemoryInst::TypedLoad { uav, .. } => {
                self.load += 1;
                self.memory_bits += elements.uavs.get(uav).copied().unwrap_or(read);
            }
            MemoryInst::RawLoad { space: Space::Gds(_), .. } => self.load += 1,
            MemoryInst::RawStore { space: Space::Gds(_), .. } => self.store += 1,
            MemoryInst::GlobalLoad { .. } | MemoryInst::RawLoad { .. } => {
                self.load += 1;
                self.memory_bits += read;
            }
            MemoryInst::GlobalStore { src, .. } | MemoryInst::RawStore { src, .. } => {
                self.store += 1;
                self.memory_bits += written(src);
            }
            MemoryInst::TypedStore { uav, .. } => {
                self.store += 1;
                self.memory_bits += elements.uavs.get(uav).copied().unwrap_or(128);
            }
            MemoryInst::ArrayLoad { .. } | MemoryInst::SharedLoad { .. } => self.load += 1,
            MemoryInst::ArrayStore { .. } | MemoryInst::SharedStore { .. } => self.store += 1,
            MemoryInst::Atomic { .. } | MemoryInst::Counter { .. } => self.atomic += 1,
            MemoryInst::InitShared => {}
        }
    }
}

fn is_transcendental(op: LaneOp) -> bool {
    matches!(
        op,
        LaneOp::Rcp
            | LaneOp::Rsq
            | LaneOp::Sqrt
            | LaneOp::Exp
            | LaneOp::Exn
            | LaneOp::Log
            | LaneOp::Ln
            | LaneOp::Sin
            | LaneOp::Cos
            | LaneOp::Div
            | LaneOp::Pow
            | LaneOp::Itof
            | LaneOp::Utof
            | LaneOp::Ftou
            | LaneOp::Imul
            | LaneOp::ImulHigh
            | LaneOp::UmulHigh
            | LaneOp::Udiv
            | LaneOp::Umod
    )
}

fn instructions(nodes: &[Node]) -> u32 {
    (nodes.iter())
        .map(|node| match node {
            Node::If { then, otherwise, .. } => 1 + instructions(then) + instructions(otherwise),
            Node::Loop { body, .. } => 1 + instructions(body),
            Node::Switch { arms, .. } => 1 + arms.iter().map(|arm| instructions(&arm.body)).sum::<u32>(),
            _ => 1,
        })
        .sum()
}

fn lds_bytes(program: &Program) -> u32 {
    let interface = &program.interface;
    let blocks: u32 = interface.lds.values().fold(0, |sum, block| sum.saturating_add(block.bytes));
    let threads = match interface.group {
        Some(super::GroupSize::Exact([x, y, z])) => x.saturating_mul(y).saturating_mul(z),
        Some(super::GroupSize::AtMost(n)) => n,
        None => 0,
    };
    blocks.saturating_add(interface.lds_dwords_per_thread.saturating_mul(4).saturating_mul(threads))
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = &self.stats;
        writeln!(f, "target        {}", self.target.name)?;
        writeln!(f, "instructions  {} IL, {} VLIW", s.instructions, s.vliw)?;
        writeln!(
            f,
            "operations    {} float ({} transcendental), {} integer, {} double",
            s.float, s.transcendental, s.integer, s.double
        )?;
        writeln!(
            f,
            "memory        {} fetches, {} loads, {} stores, {} atomics, {} LDS, {} outputs, {} bits a thread",
            s.fetch, s.load, s.store, s.atomic, s.lds, s.export, s.memory_bits
        )?;
        writeln!(f, "flow          {} ({} loops), {} fences", s.flow, s.loops, s.fence)?;
        writeln!(
            f,
            "registers     {} GPRs: {} waves a SIMD; {} bytes of LDS",
            s.gprs, self.waves, s.lds_bytes
        )?;
        if self.alu_to_fetch.is_finite() {
            writeln!(f, "ALU:fetch     {:.2}", self.alu_to_fetch)?;
        }
        writeln!(
            f,
            "clocks        {:.5} ALU, {:.5} fetch, {:.5} memory a thread: {} bound",
            self.alu_clocks,
            self.fetch_clocks,
            self.memory_clocks,
            self.limit.name()
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
