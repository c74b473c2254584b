//! The launch table: what an emitted kernel finds in its uniform block.
//!
//! Rows of four words. Row 0: pixel kernels the domain's x, y, width, height; compute kernels the groups in x, y, z.
//! Row 1: the launch's group size; w is 1 if corner values of interpolants are given. Then [`INTERPOLANT_ROWS`] rows of corner values if the kernel has interpolants,
//! then two rows for each bound object, the first of them for nothing (an index out of range ends there):
//!
//! | row | x | y | z | w |
//! |---|---|---|---|---|
//! | surface, first | address low | address high | size in words | [`format_word`] |
//! | surface, second | width | height | pitch | w of a fetch that the format lacks |
//! | sampler, first | linear | wrap u | wrap v | wrap w |
//! | sampler, second | border x | y | z | w |
//!
//! Addresses are 16-byte aligned and valid even where the size is 0. The first surface after the empty one is the
//! scratch memory (GDS, shared registers), if [`Layout::scratch_words`] is not 0; it is zero at the start
//! of a launch.

use std::collections::BTreeMap;

use super::Target;
use super::rounds::has_loops;
use super::uniforms::{Words, floats};
use crate::format::{Encoding, Format};
use crate::ir::visit::program_has;
use crate::ir::{Area, InfoSource, MemoryInst, Program};

/// Rows of the corner values of v0 to v7: upper left, lower left, lower right of each.
pub const INTERPOLANT_ROWS: u32 = 24;

/// A bound object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// Nothing: size 0, which is also the zero that drivers cannot know.
    Empty,
    /// GDS and shared registers.
    Scratch,
    /// Append counters, one word for each UAV number; they last as long as the device.
    Counters,
    /// `i#`, also read-only buffers
    Resource(u32),
    /// `cb#`
    Constant(u32),
    /// `o#`
    Output(u32),
    /// `uav#`
    Uav(u32),
    /// `g[]`
    Global,
    /// `s#`
    Sampler(u32),
}

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Objects and their first rows.
    pub slots: BTreeMap<Slot, u32>,
    /// First row of the corner values.
    pub interpolants: Option<u32>,
    /// Rows in all.
    pub rows: u32,
    /// The last row, of programs with loops on devices that end them: the address of a word that becomes 1 if that happens.
    pub report: Option<u32>,
    /// Constant buffers that may be uniform buffers, and what of them is read there.
    pub(super) uniforms: Words,
    /// Words of scratch memory.
    pub scratch_words: u32,
    /// First words of the GDS blocks in the scratch memory; a zero follows each.
    pub(super) gds: BTreeMap<u32, u32>,
    /// First word of the shared registers, 64 lanes of four words each.
    pub(super) shared: u32,
}

impl Layout {
    /// The layout for a program on a device.
    pub fn new(program: &Program, target: &Target) -> Self {
        let interface = &program.interface;
        let mut scratch = 0;
        let mut take = |words: u32| {
            scratch += words;
            scratch - words
        };
        let gds = interface.gds.iter().map(|(id, block)| (*id, take(block.bytes.div_ceil(4) + 1))).collect();
        let shared = take(interface.shared * 64 * 4);

        let indexed = uses_index(program);
        let mut slots = vec![Slot::Empty];
        if scratch > 0 {
            slots.push(Slot::Scratch);
        }
        if !interface.counters.is_empty() {
            slots.push(Slot::Counters);
        }
        let mut resources: Vec<u32> =
            interface.resources.keys().chain(interface.srvs.keys()).copied().collect();
        if indexed {
            // A run-time index counts from 0; ids in between are bound to nothing.
            resources = (0..=resources.iter().copied().max().unwrap_or(0)).collect();
        }
        resources.sort_unstable();
        resources.dedup();
        let samplers: Vec<u32> = if indexed { (0..16).collect() } else { interface.samplers.clone() };
        slots.extend(resources.into_iter().map(Slot::Resource));
        slots.extend(interface.constants.keys().map(|id| Slot::Constant(*id)));
        slots.extend(interface.outputs.keys().map(|id| Slot::Output(*id)));
        slots.extend(program.outputs.iter().map(|output| Slot::Output(output.index)));
        slots.extend(interface.uavs.keys().map(|id| Slot::Uav(*id)));
        slots.extend(interface.global.then_some(Slot::Global));
        slots.extend(samplers.into_iter().map(Slot::Sampler));

        let mut rows = 2;
        let interpolants = (!interface.interpolants.is_empty()).then_some(rows);
        if interpolants.is_some() {
            rows += INTERPOLANT_ROWS;
        }
        let mut map = BTreeMap::new();
        for slot in slots {
            map.entry(slot).or_insert_with(|| {
                rows += 2;
                rows - 2
            });
        }
        let report = (target.ends_loops && has_loops(program)).then_some(rows);
        rows += u32::from(report.is_some());
        let uniforms = floats(program, target);
        Self { slots: map, interpolants, rows, report, uniforms, scratch_words: scratch, gds, shared }
    }

    /// How many of the slots are surfaces; they come first.
    pub fn surfaces(&self) -> usize {
        self.slots.keys().filter(|slot| !matches!(slot, Slot::Sampler(_))).count()
    }

    /// Constant buffers that may be uniform buffers, and how many rows they have there.
    pub fn uniforms(&self) -> impl ExactSizeIterator<Item = (u32, u32)> {
        self.uniforms.iter().map(|(buffer, words)| (*buffer, words.last().map_or(0, |(row, _)| row + 1)))
    }

    /// First row of an object; of the empty one if the program does not know it.
    pub fn row(&self, slot: Slot) -> u32 {
        self.slots.get(&slot).or_else(|| self.slots.get(&Slot::Empty)).copied().unwrap_or(0)
    }
}

/// A format in one word: its number, encoding << 8, components << 16, log2 of the bytes << 24.
pub fn format_word(format: Format) -> u32 {
    format as u32
        | encoding_number(format.encoding()) << 8
        | format.components() << 16
        | format.bytes().ilog2() << 24
}

/// Number of an encoding in the launch table.
pub(super) fn encoding_number(encoding: Encoding) -> u32 {
    encoding as u32
}

/// Whether a resource or sampler number is computed at run time.
fn uses_index(program: &Program) -> bool {
    program_has(program, &|kind| {
        let Some(inst) = kind.memory() else { return false };
        let sampler = match inst {
            MemoryInst::Sample { sampler, .. } | MemoryInst::Gather { sampler, .. } => sampler.index,
            _ => None,
        };
        let resource = match inst.effect().0 {
            Area::Resource(id) | Area::Size(InfoSource::Resource(id)) => id.index,
            _ => None,
        };
        resource.or(sampler).is_some()
    })
}
