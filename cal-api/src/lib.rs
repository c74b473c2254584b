//! The Compute Abstraction Layer (CAL): devices, memory, kernels in AMD IL, and queues to run them on.
//!
//! ```
//! use recal::{Domain, Format, Place, Runtime};
//!
//! let text = "il_ps_2_0\n\
//!             dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
//!             dcl_output_generic o0\n\
//!             mov o0, vWinCoord0.x\n\
//!             end\n";
//! let runtime = Runtime::new()?;
//! let device = runtime.open(0)?;
//! let context = device.create_context()?;
//! let module = context.load(&recal::compile(text, device.info().target)?.into())?;
//! let output = device.allocate_2d(64, 64, Format::Float32x1, Place::Local)?;
//! module.bind("o0", &output)?;
//! context.run(&module, Domain::of(64, 64))?.wait()?;
//! assert_eq!(output.map::<f32>()?[3], 3.5);
//! # Ok::<(), recal::Error>(())
//! ```
//!
//! [`typed`] has buffers and images with element types, and kernels inside Rust, by the macros `il!` and `#[kernel]`.
//!
//! Objects are reference-counted and usable from any thread; what a launch uses stays alive until it is done,
//! whatever is dropped meanwhile. [`Error::result`] gives the `CALresult` code.
//!
//! The features `cpu` and `vulkan`, both on unless switched off, are the backends that are compiled in; [`register_backend`] adds others.
//! Following and counting what a kernel does ([`Module::trace`], [`Module::profile`], [`mod@debug`]) needs `cpu`.
//!
//! The C functions, `calInit` to `calShutdown` and the extensions, are in [`ffi`]; they are the same objects behind
//! handles. Where the documents leave room, `docs/api-choices.md` says what this implementation does.

#[cfg(feature = "cpu")]
pub use recal_cpu::{InstructionSet, Interpreted, code_listing, interpreted, vector_listing};
pub use recal_hal::{DomainParam, Finding, FloatMode, Format, Misuse, Remark, Sampler, Wrap};
pub use recal_il::diagnostic::{Diagnostic, Severity};
#[cfg(feature = "macros")]
#[doc = include_str!("typed/il.md")]
pub use recal_macros::il;
#[cfg(feature = "macros")]
#[doc = include_str!("typed/kernel.md")]
pub use recal_macros::kernel;

pub use crate::compiler::{compile, diagnose};
pub use crate::config::{Config, Trace};
pub use crate::context::{Context, default_context};
pub use crate::counter::{Counter, CounterType};
pub use crate::device::{Device, DeviceInfo};
pub use crate::error::{CalResult, Error, ErrorKind, Result};
pub use crate::event::Event;
pub use crate::image::{Image, Listing, Object};
pub use crate::launch::{Domain, Grid, Threads};
pub use crate::listing::{spirv_lines, spirv_listing};
pub use crate::map::{Element, Map};
pub use crate::mem::Mem;
pub use crate::module::{FuncInfo, Module, Name};
pub use crate::resource::{Place, Resource};
pub use crate::runtime::{Runtime, register_backend};
#[cfg(feature = "cpu")]
pub use crate::step::{Access, AccessKind, Area, At, Counts, Flow, Profile, Step};
pub use crate::symbol::Symbol;

pub mod capture;
pub mod config;
#[cfg(feature = "cpu")]
pub mod debug;
pub mod ffi;
pub mod logger;
pub mod target;
mod timeline;
pub mod typed;

mod compiler;
mod context;
mod counter;
mod device;
mod error;
mod event;
mod handle;
mod image;
mod launch;
mod line;
mod listing;
mod map;
mod mem;
mod module;
mod resource;
mod runtime;
mod scan;
#[cfg(feature = "cpu")]
mod step;
mod symbol;
mod sync;
mod wakers;

/// The examples of the README are tests.
#[cfg(all(doctest, feature = "cpu"))]
#[doc = include_str!("../README.md")]
struct Readme;
