//! The CPU backend: runs IL programs on the host's cores, bit for bit as documented. It is the oracle that other
//! backends are compared with, and the device that is always there.
//!
//! ```text
//! ir::Program ─[load]→ op::Code ─[launch: tiles, groups]→ wave::Wave ─[flow, lane_ops, memory]→ memory
//! Command ─[queue]→ schedule::Job ─[worker threads]→ launch, or copy
//! ```
//!
//! 64 threads run as one wave; each register is a row of 64 words ([`wave`]). A program is loaded once into flat
//! operations with row numbers ([`op`], [`load`]), which [`flow`] walks with a mask of executing lanes. The loops
//! over lanes are compiled for several instruction sets ([`isa_choice`]). `unsafe` is found in three places only:
//! that choice, shared bytes ([`memory`]), and stacks that change threads ([`fiber`]).

mod context;
mod copy;
mod device;
mod fiber;
mod flow;
mod fuse;
mod isa_choice;
mod lane_ops;
mod launch;
mod listing;
mod load;
mod memory;
mod native;
mod op;
mod queue;
mod registers;
mod repack;
mod report;
mod schedule;
mod sleepers;
mod stages;
mod system;
mod watched;
mod wave;

use recal_hal::sync;

pub use device::CpuBackend;
pub use isa_choice::InstructionSet;
pub use listing::{code_listing, vector_listing};
pub use recal_reference::watch::{
    Area, At, Call, Contents, Counts, Debugger, Finding, Kind, Layout, Misuse, Next, Profile, State,
    TraceAccess, TraceFlow, TraceStep,
};
pub use report::{Interpreted, interpreted};
pub use watched::{debug, profile, trace};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
