//! Runs CAL programs on Vulkan devices.
//!
//! In: [`recal_hal`] calls. Out: SPIR-V from [`recal_il`] in compute pipelines, one timeline per queue, and one for its copies where the device has queues for them.
//!
//! * [`instance`](self) — loader, instance, validation messages, list of adapters
//! * `adapter` — what a physical device can do, as facts for the emitter and as CAL attributes
//! * `device`, `memory`, `import`, `kernel`, `queue` — the objects of the contract; `launch`, `copy` — what is recorded of a command, of a large launch slice by slice; `order` — what of a queue waits for what, `overlap` — for application memory;
//!   `timeline` — what it waits with; `stamps`, `clock` — when the device did it, for `draw`; `builder` — pipelines that are built behind the launches
//! * `table` — the bindings of a launch as its kernel reads them; `descriptors` — those of them that are pushed; `cache` — pipelines on disk; `probe` — what
//!   drivers do not report; `exit` — the end of the process
//!
//! A device takes part if it speaks Vulkan 1.2 with buffer device addresses and timeline semaphores and has a
//! compute queue; others are named in the log and left out. Kernels that need more than a device has (doubles, a
//! larger group, more LDS) are refused by [`recal_hal::Device::load`] with the reason.

mod adapter;
mod builder;
mod cache;
mod clock;
mod copy;
mod descriptors;
mod device;
mod draw;
mod exit;
mod import;
mod instance;
mod kernel;
mod launch;
mod memory;
mod once;
mod order;
mod overlap;
mod probe;
mod queue;
mod repeat;
mod stamps;
mod table;
mod timeline;

pub use instance::{Options, Vulkan};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
