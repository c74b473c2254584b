//! The chips of the time, a row each: everything that the model knows about them.
//!
//! Units and board figures are those commonly stated for the first board of a chip. Only RV670's were compared with a print of
//! the time (the technical overview of 2009: 64 thread processors, 16 fetch units, 256 bits, 775 and 2 x 1125 MHz).

/// What the instruction sets differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// R6xx: shifts in the transcendental slot only, fetch clauses of 8.
    R600,
    /// R7xx: LDS through the fetch units.
    R700,
    /// Evergreen and the five-slot chips after it: LDS in ALU clauses, operations on bit fields.
    Evergreen,
    /// Cayman: four slots, none of them transcendental.
    Cayman,
}

/// A chip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chip {
    /// Name.
    pub name: &'static str,
    /// Instruction set.
    pub generation: Generation,
    /// SIMD engines.
    pub simds: u32,
    /// Thread processors of a SIMD engine: each executes one VLIW instruction a clock.
    pub lanes: u32,
    /// Fetches that the chip starts in a clock.
    pub fetch_units: u32,
    /// Width of the memory bus in bits.
    pub bus_bits: u32,
    /// Engine clock, MHz.
    pub engine_mhz: u32,
    /// Data rate of a memory pin, Mbit/s.
    pub memory_mbps: u32,
    /// Bytes of LDS of a SIMD engine.
    pub lds_bytes: u32,
    /// Whether it computes doubles.
    pub doubles: bool,
}

use Generation::{Cayman, Evergreen, R600, R700};

/// Units: SIMD engines, thread processors of each, fetch units.
#[rustfmt::skip]
const fn chip(
    name: &'static str, generation: Generation, [simds, lanes, fetch_units]: [u32; 3], bus_bits: u32,
    [engine_mhz, memory_mbps]: [u32; 2], doubles: bool,
) -> Chip {
    let lds_bytes = match generation {
        R600 => 0,
        R700 => 16 << 10,
        Evergreen | Cayman => 32 << 10,
    };
    Chip {
        name, generation, simds, lanes, fetch_units, bus_bits, engine_mhz, memory_mbps, lds_bytes, doubles,
    }
}

/// Known chips, oldest first.
#[rustfmt::skip]
pub const CHIPS: &[Chip] = &[
    chip("R600",    R600,      [ 4, 16, 16], 512, [743, 1656], false), // HD 2900 XT
    chip("RV610",   R600,      [ 2,  4,  4],  64, [700, 1600], false), // HD 2400 XT
    chip("RV630",   R600,      [ 3,  8,  8], 128, [800, 2200], false), // HD 2600 XT
    chip("RV670",   R600,      [ 4, 16, 16], 256, [775, 2250], true),  // HD 3870
    chip("RV770",   R700,      [10, 16, 40], 256, [750, 3600], true),  // HD 4870
    chip("RV740",   R700,      [ 8, 16, 32], 128, [750, 3200], true),  // HD 4770
    chip("RV730",   R700,      [ 8,  8, 32], 128, [750, 1800], false), // HD 4670
    chip("RV710",   R700,      [ 2,  8,  8],  64, [600, 1600], false), // HD 4550
    chip("Cypress", Evergreen, [20, 16, 80], 256, [850, 4800], true),  // HD 5870
    chip("Juniper", Evergreen, [10, 16, 40], 128, [850, 4800], false), // HD 5770
    chip("Redwood", Evergreen, [ 5, 16, 20], 128, [775, 4000], false), // HD 5670
    chip("Cedar",   Evergreen, [ 2,  8,  8],  64, [650, 1600], false), // HD 5450
    chip("Barts",   Evergreen, [14, 16, 56], 256, [900, 4200], false), // HD 6870
    chip("Turks",   Evergreen, [ 6, 16, 24], 128, [800, 4000], false), // HD 6670
    chip("Caicos",  Evergreen, [ 2, 16,  8],  64, [625, 1600], false), // HD 6450
    chip("Cayman",  Cayman,    [24, 16, 96], 256, [880, 5500], true),  // HD 6970
];

/// Registers that a lane of a SIMD engine has for all its waves: 256, less two sets of four that clauses keep for themselves.
const REGISTERS: u32 = 256 - 2 * 4;
/// Registers that a thread can name; four names are those of clause temporaries.
pub const NAMES: u32 = 128 - 4;
/// Waves that a SIMD engine keeps at most.
const WAVES: u32 = 32;
/// Groups that a SIMD engine keeps at most.
const GROUPS: u32 = 8;

/// What keeps more waves from a SIMD engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Registers.
    Registers,
    /// LDS of the groups.
    Lds,
    /// There are no more groups on a SIMD engine.
    Groups,
    /// There are no more waves on a SIMD engine.
    Waves,
}

impl Holder {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::Lds => "LDS",
            Self::Groups => "groups",
            Self::Waves => "waves",
        }
    }
}

impl Chip {
    /// The chip with this name, in any case.
    pub fn named(name: &str) -> Option<&'static Chip> {
        CHIPS.iter().find(|chip| chip.name.eq_ignore_ascii_case(name))
    }

    /// Threads of a wave: a SIMD engine issues an instruction for it over four clocks.
    pub const fn wave(&self) -> u32 {
        4 * self.lanes
    }

    /// VLIW instructions a clock.
    pub const fn thread_processors(&self) -> u32 {
        self.simds * self.lanes
    }

    /// Scalar operations in a VLIW instruction.
    pub const fn slots(&self) -> u32 {
        if self.is_cayman() { 4 } else { 5 }
    }

    /// Whether it has four slots.
    pub const fn is_cayman(&self) -> bool {
        matches!(self.generation, Cayman)
    }

    /// Fetches in a clause.
    pub const fn fetches(&self) -> usize {
        if matches!(self.generation, R600) { 8 } else { 16 }
    }

    /// Waves of a SIMD engine, and what keeps more away. `group`: threads and LDS bytes of a group. No waves: the group does not
    /// fit.
    pub fn waves(&self, gprs: u32, group: Option<(u32, u32)>) -> (u32, Holder) {
        let by_registers = REGISTERS / gprs.clamp(1, NAMES);
        let mut best = (WAVES, Holder::Waves);
        if by_registers < best.0 {
            best = (by_registers, Holder::Registers);
        }
        let Some((threads, lds)) = group else { return best };
        let waves = threads.div_ceil(self.wave()).max(1);
        let mut groups = best.0 / waves;
        // One group stays whatever the registers say; the compiler spills until it fits.
        groups = groups.max(1);
        if GROUPS < groups {
            (groups, best.1) = (GROUPS, Holder::Groups);
        }
        if let Some(by_lds) = self.lds_bytes.checked_div(lds)
            && by_lds < groups
        {
            (groups, best.1) = (by_lds, Holder::Lds);
        }
        (groups * waves, best.1)
    }
}
