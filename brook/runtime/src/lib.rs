//! The runtime of Brook+: streams, and kernels that run on them, on a device of CAL or on the CPU.
//!
//! A call does not wait: reads, kernels and copies are queued in order, results are waited for when they are written out.
//!
//! Rust programs have [`Stream`] and typed functions that the crate `recal-brook-build` makes of their kernels:
//!
//! ```ignore
//! brook::kernels!(mod saxpy);                 // build.rs: brook_build::compile("saxpy.br");
//! let x = brook::Stream::from_slice(&[1.0f32, 2.0, 3.0])?;
//! let result = brook::Stream::new(x.dims())?;
//! saxpy::saxpy(2.0, &x, &x, &result)?;
//! assert_eq!(result.to_vec()?, [3.0, 6.0, 9.0]);
//! ```
//!
//! C++ programs come in through [`capi`], with the classes of `brook/Stream.h` around it; there what fails is kept by the streams
//! that it was for.

mod cal;
pub mod capi;
mod cpu;
mod device;
mod element;
mod element_of;
mod error;
mod kernel;
mod run;
mod safe;
mod shape;
mod stream;

pub use brook_abi::{Access, Entry, Scalar, Usage};
pub use element::Member;
pub use element_of::{Constant, Element, Number};
pub use error::{Code, Failure, Result};
pub use kernel::{Kernel, Pass, Technique};
pub use safe::{Call, Device, KernelInfo, Positions, Stream};

/// The module that `brook_build::compile` made of a file: `brook::kernels!(mod name);` for `name.br`. Attributes and `pub` may stand
/// before `mod`.
#[macro_export]
macro_rules! kernels {
    ($(#[$attribute:meta])* $visibility:vis mod $name:ident) => {
        $(#[$attribute])*
        $visibility mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    };
}
