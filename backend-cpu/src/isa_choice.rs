//! Choice of the instruction set at run time.
//!
//! Everything that touches rows is compiled for the baseline of the target and, on x86-64, for AVX-512 and for AVX2 with
//! FMA too. [`chosen`] asks the processor once. All other code stays free of `unsafe` because a [`Handler`] or
//! an [`Isa`] can only be had from here, after that question was answered.

use std::sync::OnceLock;

use recal_il::for_each_lane_op;
use recal_il::isa::lane::*;
use recal_il::isa::{Algebra, LaneOp};

use crate::context::{Context, Launch, Surface};
use crate::flow::{self, Outcome};
use crate::lane_ops::{lane_body, lane_table, mad_table};
use crate::launch::{self, Own, Placed, Tile};
use crate::op::{Code, RowId, Rows4};
use crate::wave::{LANES, Mask, Row, Wave};
use recal_il::isa::Scalar as Cpu;

/// A row operation: reads and writes whole rows.
#[derive(Clone, Copy)]
pub struct Handler(unsafe fn(&mut [Row], &[RowId]));

impl Handler {
    fn new(row: unsafe fn(&mut [Row], &[RowId])) -> Handler {
        Handler(row)
    }

    /// Runs the operation on the rows named by `ids`.
    #[inline(always)]
    pub fn call(self, rows: &mut [Row], ids: &[RowId]) {
        // SAFETY: handlers come from the table of an `Isa`, which `chosen` hands out only if the processor has
        // the features that the table was compiled for. They have no other requirement.
        unsafe { (self.0)(rows, ids) }
    }
}

/// Fused multiply-adds, four components that share a factor.
#[derive(Clone, Copy, Debug)]
pub struct MadShape {
    /// [`LaneOp::Mad`] or [`LaneOp::MadIeee`].
    pub op: LaneOp,
    /// Links of the chain: 1, 2 or 4.
    pub length: usize,
    /// The sums of the last but one link are wanted too.
    pub middle: bool,
}

/// Sets of instructions, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// What every processor of the architecture has; everything is interpreted.
    Baseline,
    /// NEON, which is the baseline of AArch64 with compiled code.
    Neon,
    /// AVX2, with FMA, BMI and F16C.
    Avx2,
    /// AVX-512: F, BW, DQ, VL and CD.
    Avx512,
}

impl InstructionSet {
    /// All of them.
    pub const ALL: [InstructionSet; 4] =
        [InstructionSet::Baseline, InstructionSet::Neon, InstructionSet::Avx2, InstructionSet::Avx512];

    /// Its name in `CAL_ISA`, and [`recal_jit`]'s.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::Baseline => "baseline",
            InstructionSet::Neon => "neon",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Avx512 => "avx512",
        }
    }

    /// What kernels are compiled to for it, whether this processor has it or not.
    pub fn code(self) -> Option<recal_jit::Isa> {
        recal_jit::Isa::all().find(|isa| isa.name() == self.name())
    }

    /// The best that this processor has.
    pub fn best() -> InstructionSet {
        available()[0].set
    }

    /// This processor has it.
    pub fn available(self) -> bool {
        available().iter().any(|isa| isa.set == self)
    }
}

/// The engine compiled for one instruction set.
pub struct Isa {
    /// Its name, for logs.
    pub name: &'static str,
    /// Which one.
    pub set: InstructionSet,
    lane: fn(LaneOp) -> Handler,
    mad: fn(MadShape) -> Handler,
    run: unsafe fn(&mut Wave, &Code, &mut Context<'_>) -> Outcome,
    place_line: unsafe fn(&mut [Wave], &Launch<'_>, &Tile, [bool; 2]) -> bool,
    place_tile: unsafe fn(&mut Wave, &Launch<'_>, &Tile, bool),
    place_group: unsafe fn(&mut [Row], &Own, &[Placed]),
    store_output: unsafe fn(&Wave, &Surface<'_>, Rows4, &Tile, Mask),
    store_block: unsafe fn(&[Wave], &Surface<'_>, Rows4, [u32; 2]) -> bool,
}

impl Isa {
    /// What kernels are compiled to, if they are.
    pub fn compiled(&self) -> Option<recal_jit::Isa> {
        self.set.code().filter(|code| code.available())
    }

    /// The handlers of a lane operation.
    pub fn lane(&self, op: LaneOp) -> Handler {
        (self.lane)(op)
    }

    /// The handler of fused multiply-adds.
    pub fn mad(&self, shape: MadShape) -> Handler {
        (self.mad)(shape)
    }

    /// Runs a wave until it ends or waits.
    pub fn run(&self, wave: &mut Wave, code: &Code, context: &mut Context<'_>) -> Outcome {
        // SAFETY: only `chosen` and `available` hand out an `Isa`, after they saw that the processor has its
        // features.
        unsafe { (self.run)(wave, code, context) }
    }

    /// The same as [`Isa::place_tile`] for the waves of a tile in one line, or false; see [`launch::place_line`].
    pub fn place_line(&self, waves: &mut [Wave], launch: &Launch<'_>, tile: &Tile, other: [bool; 2]) -> bool {
        // SAFETY: as in `run`.
        unsafe { (self.place_line)(waves, launch, tile, other) }
    }

    /// Fills the rows that depend on where a tile lies.
    pub fn place_tile(&self, wave: &mut Wave, launch: &Launch<'_>, tile: &Tile, other: bool) {
        // SAFETY: as in `run`.
        unsafe { (self.place_tile)(wave, launch, tile, other) }
    }

    /// Fills the rows that depend on the group.
    pub fn place_group(&self, rows: &mut [Row], own: &Own, placed: &[Placed]) {
        // SAFETY: as in `run`.
        unsafe { (self.place_group)(rows, own, placed) }
    }

    /// Stores an output of a block of turned tiles; false if it is to be stored tile by tile.
    pub fn store_block(&self, waves: &[Wave], surface: &Surface<'_>, rows: Rows4, first: [u32; 2]) -> bool {
        // SAFETY: as in `run`.
        unsafe { (self.store_block)(waves, surface, rows, first) }
    }

    /// Stores an output of a tile.
    pub fn store_output(&self, wave: &Wave, surface: &Surface<'_>, rows: Rows4, tile: &Tile, kept: Mask) {
        // SAFETY: as in `run`.
        unsafe { (self.store_output)(wave, surface, rows, tile, kept) }
    }
}

macro_rules! build {
    ($module:ident, $name:literal, $set:ident, $table:ident, $features:literal) => {
        mod $module {
            use super::*;

            for_each_lane_op!($table);
            mad_table!($features);

            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            unsafe fn run(wave: &mut Wave, code: &Code, context: &mut Context<'_>) -> Outcome {
                flow::run(wave, code, context)
            }

            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            unsafe fn place_line(
                waves: &mut [Wave],
                launch: &Launch<'_>,
                tile: &Tile,
                other: [bool; 2],
            ) -> bool {
                launch::place_line(waves, launch, tile, other)
            }

            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            unsafe fn place_tile(wave: &mut Wave, launch: &Launch<'_>, tile: &Tile, other: bool) {
                launch::place_tile(wave, launch, tile, other);
            }

            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            unsafe fn place_group(rows: &mut [Row], own: &Own, placed: &[Placed]) {
                launch::place_group(rows, own, placed);
            }

            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            unsafe fn store_output(wave: &Wave, surface: &Surface<'_>, rows: Rows4, tile: &Tile, kept: Mask) {
                launch::store_output(wave, surface, rows, tile, kept);
            }

            #[cfg_attr(target_arch = "x86_64", target_feature(enable = $features))]
            unsafe fn store_block(
                waves: &[Wave],
                surface: &Surface<'_>,
                rows: Rows4,
                first: [u32; 2],
            ) -> bool {
                launch::store_block(waves, surface, rows, first)
            }

            pub static ISA: Isa = Isa {
                name: $name,
                set: InstructionSet::$set,
                lane,
                mad,
                run,
                place_line,
                place_tile,
                place_group,
                store_output,
                store_block,
            };
        }
    };
}

macro_rules! baseline_table {
    ($($row:tt)*) => { lane_table! { "sse2"; $($row)* } };
}
build!(baseline, "baseline", Baseline, baseline_table, "sse2");

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;

    macro_rules! avx2_table {
        ($($row:tt)*) => { lane_table! { "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"; $($row)* } };
    }
    build!(avx2, "AVX2", Avx2, avx2_table, "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c");

    macro_rules! avx512_table {
        ($($row:tt)*) => {
            lane_table! {
                "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"; $($row)*
            }
        };
    }
    build!(
        avx512,
        "AVX-512",
        Avx512,
        avx512_table,
        "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
    );

    /// What the processor can run, best first.
    pub fn available() -> impl Iterator<Item = &'static Isa> {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("f16c");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512cd");
        [(avx512, &avx512::ISA), (avx2, &avx2::ISA)].into_iter().filter_map(|(has, isa)| has.then_some(isa))
    }
}

/// The baseline of AArch64 has NEON, so that nothing but kernels needs to be compiled for it.
#[cfg(target_arch = "aarch64")]
static NEON: Isa = Isa { name: "NEON", set: InstructionSet::Neon, ..baseline::ISA };

/// Every build that this processor can run, best first.
pub fn available() -> Vec<&'static Isa> {
    #[cfg(target_arch = "x86_64")]
    let of_its_own = x86::available();
    #[cfg(target_arch = "aarch64")]
    let of_its_own = [&NEON];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let of_its_own = [];
    of_its_own.into_iter().chain([&baseline::ISA]).collect()
}

/// The best build for this processor that is not above `limit`.
pub fn chosen(limit: InstructionSet) -> &'static Isa {
    static AVAILABLE: OnceLock<Vec<&'static Isa>> = OnceLock::new();
    let list = AVAILABLE.get_or_init(available);
    list.iter().copied().find(|isa| isa.set <= limit).unwrap_or(&baseline::ISA)
}

#[cfg(test)]
mod tests;
