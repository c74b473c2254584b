//! The C ABI: the 38 functions of `cal.h`, the 13 of `calcl.h`, and the extension entry points.
//!
//! One macro ([`boundary`](self)) makes every entry point: it checks that the runtime is initialised and that output
//! pointers are not NULL, sets outputs to zero, runs a safe body, catches panics, stores the error text and writes
//! the trace. The `cal*` symbols are defined here; the `calcl*` functions are `recal_cl_*` symbols that
//! `libaticalcl.so` forwards to, so that one library holds all state. They are callable from Rust as they are.
#![allow(non_snake_case, non_camel_case_types)]

#[macro_use]
mod boundary;
mod show;
mod state;
mod trace;

mod abi;
mod cancel;
mod compiler;
mod context;
mod counter;
mod device;
mod error_text;
mod events;
mod extension;
mod image;
mod module;
mod resource;
mod run;
mod sampler;
mod system;
pub mod types;

pub use abi::abi_lines;
pub use compiler::*;
pub use context::*;
pub use counter::*;
pub use device::*;
pub use extension::*;
pub use image::*;
pub use module::*;
pub use resource::*;
pub use run::*;
pub use sampler::*;
pub use system::*;

pub use crate::error::CalResult;
