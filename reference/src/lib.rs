//! The plain interpreter of programs: what engines are compared with.
//!
//! ```text
//! lib      what is bound, and the launch      group    statements, for the threads of a group
//! thread   a thread: registers, where it is   memory   bytes, words, atomics      texture   texels of surfaces
//! ```
//!
//! It shares no optimisation with anything: the threads of a group go through the program statement by statement, one after
//! the other at each, so that a wave's loads come before its next statement and barriers hold by themselves. It is complete: all that
//! a [`Program`] can hold. Arithmetic, elements, texels and filters are the functions of [`recal_il::isa`], for one
//! thread at a time. It is made for tests, hundreds of times slower than the CPU device.
//!
//! It takes contracts at their word: an operand that must be flushed and is not is an error ([`Machine::bare`] lifts that), and a
//! NaN that may have any payload gets an odd one.
//!
//! What depends on the order of groups or waves is not seen: there is one order. A wave that waits in a loop for a word
//! that another wave of its group writes without a barrier waits for ever ([`Stopped::Endless`]).

mod group;
mod memory;
mod texture;
mod thread;

use std::collections::BTreeMap;
use std::fmt;

use recal_hal::{DomainParam, Extent, Format, Sampler};
use recal_il::ir::Program;

use crate::group::Group;

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
pub struct Machine {
    /// The bytes behind all surfaces.
    pub memories: Vec<Vec<u8>>,
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
    /// Statements that the threads of a launch may execute, all together.
    pub patience: u64,
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            memories: Vec::new(),
            resources: BTreeMap::new(),
            constants: BTreeMap::new(),
            outputs: BTreeMap::new(),
            uavs: BTreeMap::new(),
            global: None,
            samplers: BTreeMap::new(),
            params: None,
            bare: false,
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
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Unbound(what) => write!(f, "{what} is not bound, or to too little memory"),
            Stopped::Endless => f.write_str("endless: more statements than anybody waits for"),
            Stopped::Unflushed(operation) => write!(f, "{operation} gets a denormal"),
        }
    }
}

impl std::error::Error for Stopped {}

/// What all groups of a launch share beside memory.
pub(crate) struct Launch {
    /// GDS blocks.
    gds: BTreeMap<u32, Vec<u8>>,
    /// Append counters by UAV number.
    counters: [u32; 16],
    /// `sr#` of each lane.
    shared: Vec<[[u32; 4]; WAVE]>,
    /// Statements left.
    patience: u64,
}

impl Machine {
    /// A memory that holds these bytes; its number.
    pub fn memory(&mut self, bytes: Vec<u8>) -> usize {
        self.memories.push(bytes);
        self.memories.len() - 1
    }

    /// Runs all threads of a launch.
    pub fn launch(&mut self, program: &Program, extent: Extent) -> Result<(), Stopped> {
        self.check(program)?;
        let blocks =
            |(number, block): (&u32, &recal_il::ir::MemoryBlock)| (*number, vec![0; block.bytes as usize]);
        let mut launch = Launch {
            gds: program.interface.gds.iter().map(blocks).collect(),
            counters: [0; 16],
            shared: vec![[[0; 4]; WAVE]; program.interface.shared as usize],
            patience: self.patience,
        };
        for threads in thread::groups(program, extent) {
            let lds = program.interface.lds.iter().map(blocks).collect();
            Group::new(self, &mut launch, program, extent, threads, lds).run()?;
        }
        Ok(())
    }

    /// Everything that the program names is bound, and to enough memory.
    fn check(&self, program: &Program) -> Result<(), Stopped> {
        let interface = &program.interface;
        let fits = |surface: &Surface| {
            let memory = self.memories.get(surface.memory).map_or(0, Vec::len);
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
