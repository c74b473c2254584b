//! What a kernel asks of a chip of its time: counts, registers, clauses, and which unit limits it.
//!
//! Input is a checked kernel. [`crate::vliw`] makes code of it, as a compiler of the time would; stream cores, fetch units and memory
//! bus work side by side, so the slowest decides. `docs/analyzer.md` says what each figure means and how far it goes.
//!
//! Formats belong to the memory that is bound, not to the kernel. Where [`Elements`] does not tell the size of an element, a
//! read counts the components that it delivers and a store or output the components that it takes, 32 bits each.

use std::fmt::{self, Display, Formatter};

use super::{Block, LaneInst, MemoryInst, Program, StmtKind};
use crate::inst::{Kernel, Node};
use crate::isa::lane::Class;
use crate::vliw::{self, Chip, Code, Cost, Costs, Counts, Holder};
pub use crate::vliw::{CHIPS, Elements};

/// Rounds that loops are taken to run where neither constants nor anybody say how many.
pub const ASSUMED_ROUNDS: u32 = 16;

/// Counts of a program: every statement once, both sides of an `if`, a round of a loop.
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
    /// LDS bytes of a group.
    pub lds_bytes: u32,
    /// Threads of a group; 0 in pixel kernels.
    pub group: u32,
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

/// Engine clocks of the whole chip for a thread, by unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clocks {
    /// Stream cores.
    pub alu: f64,
    /// Fetch units.
    pub fetch: f64,
    /// Memory bus.
    pub memory: f64,
}

/// An estimate for a chip.
#[derive(Clone, Debug)]
pub struct Report {
    /// Where.
    pub chip: Chip,
    /// Counts of the program.
    pub stats: Stats,
    /// The code of the chip.
    pub code: Code,
    /// Counts of the code.
    pub counts: Counts,
    /// What a thread takes.
    pub costs: Costs,
    /// Rounds of loops about which constants say nothing.
    pub assumed: u32,
    /// Waves that fit a SIMD engine. None: not even a group does.
    pub waves: u32,
    /// What keeps more of them away.
    pub holder: Holder,
}

impl Clocks {
    fn of(cost: &Cost, chip: &Chip) -> Self {
        let bits_a_clock =
            f64::from(chip.bus_bits) * f64::from(chip.memory_mbps) / f64::from(chip.engine_mhz);
        Self {
            alu: cost.bundles / f64::from(chip.thread_processors()),
            fetch: cost.fetches / f64::from(chip.fetch_units),
            memory: cost.bits / bits_a_clock,
        }
    }

    /// The slowest unit, which decides, and its clocks.
    pub fn limit(&self) -> (Unit, f64) {
        if self.alu >= self.fetch && self.alu >= self.memory {
            (Unit::Alu, self.alu)
        } else if self.fetch >= self.memory {
            (Unit::Fetch, self.fetch)
        } else {
            (Unit::Memory, self.memory)
        }
    }
}

impl Report {
    /// Clocks of a thread: least, on average, most.
    pub fn clocks(&self) -> [Clocks; 3] {
        [self.costs.least, self.costs.mean, self.costs.most].map(|cost| Clocks::of(&cost, &self.chip))
    }

    /// The unit that decides, on average.
    pub fn limit(&self) -> Unit {
        self.clocks()[1].limit().0
    }

    /// Engine clocks of the deciding unit while each SIMD engine runs one wave: least, on average, most.
    pub fn wave_clocks(&self) -> [f64; 3] {
        self.clocks().map(|clocks| clocks.limit().1 * f64::from(self.chip.simds * self.chip.wave()))
    }

    /// VLIW instructions for each fetch, on average; infinite without fetches.
    pub fn alu_to_fetch(&self) -> f64 {
        self.costs.mean.bundles / self.costs.mean.fetches
    }

    /// Part of the slots of the VLIW instructions that does something.
    pub fn packing(&self) -> f64 {
        f64::from(self.counts.slots) / f64::from((self.counts.bundles * self.chip.slots()).max(1))
    }

    /// Engine clocks that `threads` threads take at best.
    pub fn cycles(&self, threads: f64) -> f64 {
        threads * self.clocks()[1].limit().1
    }

    /// Seconds that `threads` threads take at best.
    pub fn seconds(&self, threads: f64) -> f64 {
        self.cycles(threads) / (f64::from(self.chip.engine_mhz) * 1e6)
    }

    /// Why the deciding unit decides.
    pub fn reason(&self) -> String {
        let (cost, clocks, chip) = (&self.costs.mean, self.clocks()[1], &self.chip);
        let (unit, most) = clocks.limit();
        let others = [(Unit::Alu, clocks.alu), (Unit::Fetch, clocks.fetch), (Unit::Memory, clocks.memory)];
        let next = others.into_iter().filter(|(other, _)| *other != unit).max_by(|a, b| a.1.total_cmp(&b.1));
        let what = match unit {
            Unit::Alu => {
                format!(
                    "{:.1} VLIW instructions on {} thread processors",
                    cost.bundles,
                    chip.thread_processors()
                )
            }
            Unit::Fetch => format!("{:.1} fetches on {} fetch units", cost.fetches, chip.fetch_units),
            Unit::Memory => {
                format!(
                    "{:.0} bits on a bus of {} bits at {} Mbit/s a pin",
                    cost.bits, chip.bus_bits, chip.memory_mbps
                )
            }
        };
        match next {
            Some((other, clocks)) if clocks > 0.0 => {
                format!("{what} take {:.1} times as long as {}", most / clocks, other.name())
            }
            _ => format!("{what}; nothing else takes time"),
        }
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

/// Estimates how a kernel would run on `chip` with memory of the given element sizes. `program` is what [`crate::lower::lower_bare`]
/// makes of it; `rounds`: of loops about which constants say nothing. The message says what is beyond the model.
pub fn analyze(
    kernel: &Kernel,
    program: &Program,
    chip: &Chip,
    elements: &Elements,
    rounds: u32,
) -> Result<Report, &'static str> {
    let stats = Stats::of(kernel, program);
    let code = vliw::compile(program, chip, elements)?;
    let group = (stats.group > 0).then_some((stats.group, stats.lds_bytes));
    let (waves, holder) = chip.waves(code.gprs, group);
    Ok(Report {
        chip: *chip,
        stats,
        counts: code.counts(),
        costs: code.costs(rounds),
        code,
        assumed: rounds,
        waves,
        holder,
    })
}

impl Stats {
    /// Counts a kernel and its program.
    pub fn of(kernel: &Kernel, program: &Program) -> Self {
        let mut stats = Self {
            instructions: kernel.functions.iter().map(|f| instructions(&f.body)).sum(),
            export: program.outputs.len() as u32,
            lds_bytes: lds_bytes(program),
            group: threads(program),
            ..Self::default()
        };
        program.functions.iter().for_each(|function| stats.block(&function.body));
        stats
    }

    fn block(&mut self, block: &Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) => self.lane(inst),
                StmtKind::Memory(inst) => self.memory(inst),
                StmtKind::Fence(_) => self.fence += 1,
                other => {
                    self.flow += 1;
                    self.loops += u32::from(matches!(other, StmtKind::Loop { .. }));
                    other.blocks().for_each(|block| self.block(block));
                }
            }
        }
    }

    fn lane(&mut self, inst: &LaneInst) {
        let classes = inst.op.arguments();
        if inst.op.result() == Class::Q || classes.contains(&Class::Q) {
            self.double += 1;
        } else if classes.contains(&Class::F) || inst.op.result() == Class::F {
            self.float += 1;
            self.transcendental += u32::from(inst.op.is_transcendental());
        } else {
            self.integer += 1;
        }
    }

    fn memory(&mut self, inst: &MemoryInst) {
        use super::Space;
        match inst {
            MemoryInst::Sample { .. }
            | MemoryInst::Fetch { .. }
            | MemoryInst::Gather { .. }
            | MemoryInst::ConstLoad { .. }
            | MemoryInst::ImmediateLoad { .. }
            | MemoryInst::ResourceInfo { .. }
            | MemoryInst::BufferInfo { .. }
            | MemoryInst::RawLoad { space: Space::Srv(_), .. } => self.fetch += 1,
            MemoryInst::RawLoad { space: Space::Lds(_), .. }
            | MemoryInst::RawStore { space: Space::Lds(_), .. }
            | MemoryInst::LdsWriteOwn { .. }
            | MemoryInst::LdsReadAny { .. } => self.lds += 1,
            MemoryInst::TypedLoad { .. }
            | MemoryInst::GlobalLoad { .. }
            | MemoryInst::RawLoad { .. }
            | MemoryInst::ArrayLoad { .. }
            | MemoryInst::SharedLoad { .. } => self.load += 1,
            MemoryInst::GlobalStore { .. }
            | MemoryInst::RawStore { .. }
            | MemoryInst::TypedStore { .. }
            | MemoryInst::ArrayStore { .. }
            | MemoryInst::SharedStore { .. } => self.store += 1,
            MemoryInst::Atomic { .. } | MemoryInst::Counter { .. } => self.atomic += 1,
            MemoryInst::InitShared => {}
        }
    }
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

fn threads(program: &Program) -> u32 {
    match program.interface.group {
        Some(super::GroupSize::Exact([x, y, z])) => x.saturating_mul(y).saturating_mul(z),
        Some(super::GroupSize::AtMost(n)) => n,
        None => 0,
    }
}

fn lds_bytes(program: &Program) -> u32 {
    let interface = &program.interface;
    let blocks: u32 = interface.lds.values().fold(0, |sum, block| sum.saturating_add(block.bytes));
    let own = interface.lds_dwords_per_thread.saturating_mul(4).saturating_mul(threads(program));
    blocks.saturating_add(own)
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (s, c) = (&self.stats, &self.counts);
        writeln!(f, "chip          {}", self.chip.name)?;
        writeln!(
            f,
            "operations    {} IL instructions: {} float ({} transcendental), {} integer, {} double",
            s.instructions, s.float, s.transcendental, s.integer, s.double
        )?;
        writeln!(
            f,
            "memory        {} fetches, {} loads, {} stores, {} atomics, {} LDS, {} outputs",
            s.fetch, s.load, s.store, s.atomic, s.lds, s.export
        )?;
        writeln!(f, "flow          {} ({} loops), {} fences", s.flow, s.loops, s.fence)?;
        writeln!(
            f,
            "code          {} VLIW, {:.1} % of their slots used; {} fetches; clauses: {} ALU, {} fetch, {} write, {} control",
            c.bundles,
            100.0 * self.packing(),
            c.fetches,
            c.alu_clauses,
            c.fetch_clauses,
            c.writes,
            c.control
        )?;
        write!(
            f,
            "registers     {} GPRs, {} rows of scratch, {} bytes of LDS a group: ",
            self.code.gprs, self.code.scratch, s.lds_bytes
        )?;
        match self.waves {
            0 => writeln!(f, "a group does not fit a SIMD")?,
            waves => writeln!(f, "{waves} waves a SIMD, held by {}", self.holder.name())?,
        }
        for (what, cost) in
            [("least", self.costs.least), ("mean", self.costs.mean), ("most", self.costs.most)]
        {
            writeln!(
                f,
                "{what:<13} {} VLIW, {} fetches, {} writes, {} bits a thread",
                cost.bundles, cost.fetches, cost.writes, cost.bits
            )?;
        }
        if self.alu_to_fetch().is_finite() {
            writeln!(f, "ALU:fetch     {:.2}", self.alu_to_fetch())?;
        }
        let clocks = self.clocks()[1];
        writeln!(
            f,
            "clocks        {:.5} ALU, {:.5} fetch, {:.5} memory a thread: {} bound",
            clocks.alu,
            clocks.fetch,
            clocks.memory,
            self.limit().name()
        )?;
        writeln!(f, "because       {}", self.reason())
    }
}

#[cfg(test)]
mod tests;
