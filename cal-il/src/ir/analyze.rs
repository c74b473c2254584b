//! What a kernel asks of a device of its time: counts, register use, and which unit limits it.
//!
//! Input is a checked kernel and its program. The estimate follows the usual back-of-the-envelope rule for these
//! parts: arithmetic, fetches and memory run in parallel, so the slowest of the three decides. Counts are static:
//! every statement counts once, both sides of an `if` too, and a loop body as one iteration. Flushes and
//! canonicalisations are ours and count nothing.
//!
//! Formats belong to the memory that is bound, not to the kernel. Where [`Elements`] does not tell the size of an element, a
//! read counts the components that it delivers and a store or output the components that it takes, 32 bits each.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

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

/// How far ahead of the first open VLIW instruction a free slot is looked for.
const WINDOW: usize = 64;

/// Packs the operations of a basic block, as early as their operands allow.
#[derive(Default)]
struct Bundles {
    /// VLIW instructions of closed blocks.
    total: u32,
    /// Used general slots, and whether the transcendental one is taken, of each instruction of the open block.
    bundles: Vec<(u32, bool)>,
    /// By register: the instruction after the one that computes it, counted over all blocks.
    ready: Vec<u32>,
    slots: u32,
}

impl Bundles {
    fn close(&mut self) {
        self.total += self.bundles.len() as u32;
        self.bundles.clear();
    }

    fn earliest(&self, inst: &LaneInst) -> u32 {
        let ready = |operand: &Operand| match operand {
            Operand::Reg(reg) => self.ready[*reg as usize],
            _ => 0,
        };
        inst.args.iter().map(ready).max().unwrap_or(0).max(self.total)
    }

    fn finish(&mut self, inst: &LaneInst, at: u32) {
        for reg in inst.dst {
            self.ready[reg as usize] = at;
        }
    }

    fn pass_on(&mut self, inst: &LaneInst) {
        let at = self.earliest(inst);
        self.finish(inst, at);
    }

    fn place(&mut self, inst: &LaneInst, width: u32, transcendental: bool) {
        // Five slots: four general ones and a transcendental one that takes anything. Four slots: a
        // transcendental operation occupies three.
        let five = self.slots == 5;
        let first = (self.earliest(inst) - self.total) as usize;
        let first = first.max(self.bundles.len().saturating_sub(WINDOW));
        let width = if transcendental && !five { 3 } else { width };
        let mut at = first;
        loop {
            while at >= self.bundles.len() {
                self.bundles.push((0, false));
            }
            let (used, taken) = &mut self.bundles[at];
            if transcendental && five {
                if !*taken {
                    *taken = true;
                    break;
                }
            } else if *used + width <= 4 {
                *used += width;
                break;
            } else if five && width == 1 && !*taken {
                *taken = true;
                break;
            }
            at += 1;
        }
        self.finish(inst, self.total + at as u32 + 1);
    }
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
mod tests {
    use super::*;

    fn report(body: &str, target: &str) -> Report {
        report_of(body, target, &Elements::default())
    }

    fn report_of(body: &str, target: &str, elements: &Elements) -> Report {
        let text = format!(
            "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\ndcl_cb cb0[4]\n\
             dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n{body}\nend\n"
        );
        let kernel = crate::front(text.as_bytes()).unwrap();
        let program = crate::lower::lower(&kernel).unwrap();
        analyze(&kernel, &program, Target::named(target).unwrap(), elements)
    }

    /// The worked examples of the technical overview of 2009, section 3.2: an RV670 with 64 thread processors, 16 fetch
    /// units, 256 bits of bus, 775 and 1125 MHz (double data rate); two million threads.
    #[test]
    fn worked_estimates_of_rv670() {
        let threads = 2e6;
        let near = |seconds: f64, printed: f64, last_digit: f64| {
            assert!((seconds - printed).abs() <= last_digit / 2.0, "{seconds} is not {printed}");
        };
        let byte = Elements {
            resources: BTreeMap::from([(0, 8)]),
            outputs: BTreeMap::from([(0, 8)]),
            ..Elements::default()
        };
        let engine = 775e6;
        // One stream core instruction: 2 M / (64 * 775 MHz) = 0.04 ms.
        let add = report_of("add o0.x, vWinCoord0.x, vWinCoord0.y", "RV670", &byte);
        assert_eq!((add.stats.vliw, add.stats.fetch), (1, 0));
        near(threads * add.alu_clocks / engine, 0.04e-3, 0.01e-3);
        // One fetch: 2 M / (16 * 775 MHz) = 0.16 ms. One byte in, one out: 2 M * 16 / (256 * 2250 MHz) = 0.056 ms.
        let copy = report_of("sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx", "RV670", &byte);
        assert_eq!((copy.stats.fetch, copy.stats.export, copy.stats.memory_bits), (1, 1, 16));
        near(threads * copy.fetch_clocks / engine, 0.16e-3, 0.01e-3);
        near(threads * copy.memory_clocks / engine, 0.056e-3, 0.001e-3);
        // All three together: 0.16 ms, bound by the fetch.
        let text = "sample_resource(0)_sampler(0) r0.x, vWinCoord0.xyxx\nadd o0.x, r0.x, vWinCoord0.x";
        let all = report_of(text, "RV670", &byte);
        assert_eq!((all.stats.vliw, all.stats.fetch, all.stats.memory_bits), (1, 1, 16));
        assert_eq!((all.limit, all.alu_to_fetch), (Unit::Fetch, 1.0));
        near(all.seconds(threads), 0.16e-3, 0.01e-3);
        // Four floats in and out make 256 bits: 2 M * 256 / (256 * 2250 MHz) = 0.889 ms.
        let wide = report("sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx", "RV670");
        assert_eq!((wide.stats.memory_bits, wide.limit), (256, Unit::Memory));
        near(wide.seconds(threads), 0.889e-3, 0.001e-3);
        assert!((wide.cycles(threads) - 0.889e-3 * engine).abs() < 1e3);
    }

    #[test]
    fn counts_of_each_kind() {
        let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 512\ndcl_literal l0, 1, 2, 3, 4\n\
            ishl r0.x, vAbsTid0.x, l0.y\nuav_raw_load_id(0) r1.xy, r0.x\nlds_store_id(0) l0.w, r1.x\nfence_threads_lds\n\
            lds_load_id(0) r2.x, l0.w\nif_logicalnz r2.x\nwhileloop\niadd r2.x, r2.x, r1.y\nbreak_logicalz r2.x\nendloop\n\
            endif\nuav_add_id(0) r0.x, r2.x\nuav_raw_store_id(0) mem0.x___, r0.x, r2.x\nend\n";
        let kernel = crate::front(text.as_bytes()).unwrap();
        let program = crate::lower::lower(&kernel).unwrap();
        let stats = Stats::of(&kernel, &program, 5, &Elements::default());
        // 64 bits are loaded, 32 stored. The flow: if, loop, break.
        assert_eq!((stats.load, stats.store, stats.atomic, stats.lds, stats.memory_bits), (1, 1, 1, 2, 96));
        assert_eq!((stats.flow, stats.loops, stats.fence, stats.lds_bytes, stats.fetch), (3, 1, 1, 512, 0));
        // The shift, the sum; flow separates the two.
        assert_eq!((stats.integer, stats.vliw), (2, 2));
    }

    #[test]
    fn independent_operations_share_a_vliw_instruction() {
        // Four adds of one vector fit one instruction, a chain of three scalars does not.
        let wide = report("add r0, vWinCoord0.xyxy, cb0[0]\nmov o0, r0", "Cypress");
        assert_eq!(wide.stats.float, 4);
        let chain = report(
            "add r0.x, vWinCoord0.x, cb0[0].x\nadd r1.x, r0.x, cb0[0].y\nadd o0.x, r1.x, cb0[0].z",
            "Cypress",
        );
        assert_eq!((chain.stats.float, chain.stats.vliw), (3, 3));
        // Two square roots wait for the one transcendental unit.
        let roots = report("sqrt_vec o0.xy, vWinCoord0.xyxy", "Cypress");
        assert_eq!((roots.stats.transcendental, roots.stats.vliw), (2, 2));
    }
}
