//! The runtime of Brook+: streams, and kernels that run on them, on a device of CAL or on the CPU.
//!
//! C++ programs come in through [`capi`], with the classes of `brook/Stream.h` around it. A call does not wait: reads, kernels and
//! copies are queued in order, results are waited for when they are written out. What fails is kept by the streams that it was
//! for.

mod cal;
pub mod capi;
mod cpu;
mod device;
mod element;
mod error;
mod kernel;
mod run;
mod shape;
mod stream;
