//! The plain interpreter of programs: what engines are compared with, and what shows people what a kernel does.
//!
//! ```text
//! lib      what is bound, and the launch      wave     statements, for the threads of a wave
//! group    waves of a group, their barriers   memory   accesses      texture   texels of surfaces
//! thread   a thread: registers, where it is   parts    tiles and groups      bytes   memory itself
//! watch    who is told of all of it: checks, traces, counts, the debugger
//! ```
//!
//! It shares no optimisation with anything: the threads of a wave go through the program statement by statement, one after
//! the other at each, so that a wave's loads come before its next statement; the waves of a group take turns at barriers. It is
//! complete: all that a [`Program`] can hold. Arithmetic, elements, texels and filters are the functions of [`recal_il::isa`], for one
//! thread at a time. Memory is any that can be read and written by bytes ([`Memory`]): vectors in tests, a device's own where a
//! launch is watched.
//!
//! It takes contracts at their word: an operand that must be flushed and is not is an error ([`Machine::bare`] lifts that), and a
//! NaN that may have any payload gets an odd one ([`Machine::payload`]).
//!
//! What depends on the order of groups or waves is not seen: there is one order. A wave that waits in a loop for a word
//! that another wave of its group writes without a barrier waits for ever ([`Stopped::Endless`]).

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bytes;
mod group;
mod memory;
mod parts;
mod texture;
mod thread;
pub mod watch;
mod wave;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use recal_hal::{DomainParam, Extent, Format, Sampler};
use recal_il::ir::Program;

use crate::bytes::Memories;
use crate::group::Group;
use crate::watch::Watch;

pub use bytes::Memory;
pub use parts::{part_of, parts, position_of};

/// Threads of a wave.
pub const WAVE: usize = 64;

/// Payload of NaNs that the contract leaves open.
pub const ODD_NAN: u32 = 0xFFC1_2345;

/// Memory seen as rows of elements.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// Which of [`Machine::memories`].
    pub memory: usize,
    /// Elements per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Of an element.
    pub format: Format,
}

impl Surface {
    /// The whole of a memory as one row of elements.
    pub fn row(memory: usize, format: Format, width: u32) -> Surface {
        Surface { memory, width, height: 1, pitch: width, format }
    }

    /// Bytes that kernels may touch.
    fn bytes(&self) -> usize {
        self.pitch as usize * self.height as usize * self.format.bytes() as usize
    }
}

/// Everything that is bound, and how a launch runs.
#[derive(Clone, Debug)]
pub struct Machine<M = Vec<u8>> {
    /// The bytes behind all surfaces.
    pub memories: Vec<M>,
    /// `i#`, and read-only buffers
    pub resources: BTreeMap<u32, Surface>,
    /// `cb#`
    pub constants: BTreeMap<u32, Surface>,
    /// `o#`
    pub outputs: BTreeMap<u32, Surface>,
    /// `uav#`
    pub uavs: BTreeMap<u32, Surface>,
    /// `g[]`
    pub global: Option<Surface>,
    /// `s#`; others have the default state.
    pub samplers: BTreeMap<u32, Sampler>,
    /// Corner values of interpolated inputs.
    pub params: Option<[DomainParam; 8]>,
    /// Regions run bare first: operands need not be flushed where that makes no difference.
    pub bare: bool,
    /// Payload of NaNs that the contract leaves open; if there is none, they are as they are computed.
    pub payload: Option<u32>,
    /// Statements that the threads of a launch may execute, all together.
    pub patience: u64,
}

impl Default for Machine {
    fn default() -> Self {
        Machine::on(Vec::new())
    }
}

impl<M> Machine<M> {
    /// One with these memories, and nothing bound.
    pub fn on(memories: Vec<M>) -> Machine<M> {
        Machine {
            memories,
            resources: BTreeMap::new(),
            constants: BTreeMap::new(),
            outputs: BTreeMap::new(),
            uavs: BTreeMap::new(),
            global: None,
            samplers: BTreeMap::new(),
            params: None,
            bare: false,
            payload: Some(ODD_NAN),
            patience: 100_000_000,
        }
    }
}

/// Why a launch did not end as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A symbol has no memory, or too little.
    Unbound(String),
    /// [`Machine::patience`] is at its end.
    Endless,
    /// An operation got a denormal where the program promises none.
    Unflushed(String),
    /// Who watches has seen enough.
    Ended,
    /// There is no room for a copy of so many bytes.
    Memory(usize),
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Unbound(what) => write!(f, "{what} is not bound, or to too little memory"),
            Stopped::Endless => f.write_str("endless: more statements than anybody waits for"),
            Stopped::Unflushed(operation) => write!(f, "{operation} gets a denormal"),
            Stopped::Ended => f.write_str("ended before its end"),
            Stopped::Memory(bytes) => write!(f, "there is no memory for a copy of {bytes} bytes"),
        }
    }
}

impl std::error::Error for Stopped {}

/// What all groups of a launch share beside memory.
pub struct Launch<'m> {
    /// GDS blocks.
    pub(crate) gds: BTreeMap<u32, Box<dyn Memory + 'm>>,
    /// Append counters by UAV number, a word each.
    pub(crate) counters: Box<dyn Memory + 'm>,
    /// `sr#` of each lane.
    pub(crate) shared: Vec<[[u32; 4]; WAVE]>,
    /// Statements left.
    patience: u64,
}

/// Append counters.
pub const COUNTERS: usize = 16;

impl<'m> Launch<'m> {
    /// With memory of its own, all zeros.
    pub fn of(program: &Program) -> Launch<'m> {
        let gds = program.interface.gds.iter();
        let blocks = gds
            .map(|(number, block)| (*number, Box::new(vec![0u8; block.bytes as usize]) as Box<dyn Memory>));
        Launch::on(program, blocks.collect(), Box::new(vec![0u8; 4 * COUNTERS]))
    }

    /// With the GDS and the counters of a device. Several may be of the same launch, each for other parts.
    pub fn on(
        program: &Program,
        gds: BTreeMap<u32, Box<dyn Memory + 'm>>,
        counters: Box<dyn Memory + 'm>,
    ) -> Launch<'m> {
        let shared = vec![[[0; 4]; WAVE]; program.interface.shared as usize];
        Launch { gds, counters, shared, patience: u64::MAX }
    }
}

/// All that is bound, whatever memory is.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'s> {
    pub memories: &'s dyn Memories,
    pub resources: &'s BTreeMap<u32, Surface>,
    pub constants: &'s BTreeMap<u32, Surface>,
    pub outputs: &'s BTreeMap<u32, Surface>,
    pub uavs: &'s BTreeMap<u32, Surface>,
    pub global: Option<Surface>,
    pub samplers: &'s BTreeMap<u32, Sampler>,
    pub params: Option<&'s [DomainParam; 8]>,
}

impl<M: Memory> Machine<M> {
    /// A memory; its number.
    pub fn memory(&mut self, memory: M) -> usize {
        self.memories.push(memory);
        self.memories.len() - 1
    }

    pub(crate) fn bound(&self) -> Bound<'_> {
        Bound {
            memories: &self.memories,
            resources: &self.resources,
            constants: &self.constants,
            outputs: &self.outputs,
            uavs: &self.uavs,
            global: self.global,
            samplers: &self.samplers,
            params: self.params.as_ref(),
        }
    }

    /// Runs all threads of a launch.
    pub fn launch(&mut self, program: &Program, extent: Extent) -> Result<(), Stopped> {
        let mut launch = Launch { patience: self.patience, ..Launch::of(program) };
        self.run(program, extent, &mut launch, 0..parts(extent), None)
    }

    /// Runs some parts of a launch, in their order, and tells `watch`.
    pub fn run(
        &mut self,
        program: &Program,
        extent: Extent,
        launch: &mut Launch<'_>,
        parts: Range<u64>,
        mut watch: Option<&mut dyn Watch>,
    ) -> Result<(), Stopped> {
        self.check(program)?;
        for part in parts {
            let watch: Option<&mut dyn Watch> = match &mut watch {
                Some(watch) => Some(&mut **watch),
                None => None,
            };
            Group::new(self, launch, program, extent, part, watch).run()?;
        }
        Ok(())
    }

    /// Everything that the program names is bound, and to enough memory.
    fn check(&self, program: &Program) -> Result<(), Stopped> {
        let interface = &program.interface;
        let fits = |surface: &Surface| {
            let memory = self.memories.get(surface.memory).map_or(0, Memory::bytes);
            surface.bytes() <= memory && surface.width <= surface.pitch
        };
        let look = |what: &str, number: u32, bound: &BTreeMap<u32, Surface>| match bound.get(&number) {
            Some(surface) if fits(surface) => Ok(()),
            _ => Err(Stopped::Unbound(format!("{what}{number}"))),
        };
        let resources = interface.resources.keys().chain(interface.srvs.keys());
        resources.into_iter().try_for_each(|n| look("i", *n, &self.resources))?;
        interface.constants.keys().try_for_each(|n| look("cb", *n, &self.constants))?;
        interface.uavs.keys().try_for_each(|n| look("uav", *n, &self.uavs))?;
        program.outputs.iter().try_for_each(|output| look("o", output.index, &self.outputs))?;
        match &self.global {
            Some(surface) if !fits(surface) => Err(Stopped::Unbound("g[]".into())),
            _ => Ok(()),
        }
    }
}
