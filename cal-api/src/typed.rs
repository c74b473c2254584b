//! Memory with element types, and kernels as functions of Rust.
//!
//! ```
//! use recal::typed::Buffer;
//!
//! recal::il! {
//!     /// y = a x + y
//!     pub fn saxpy(x: &Buffer<f32>, y: &mut Buffer<f32>, a: f32) {
//!         il_cs_2_0
//!         dcl_num_thread_per_group 64
//!         dcl_raw_srv_id(0)
//!         dcl_raw_uav_id(0)
//!         dcl_cb cb0[1]
//!         dcl_literal l0, 4, 0, 0, 0
//!         imul r0.x, vAbsTidFlat.x, l0.x
//!         srv_raw_load_id(0) r1.x, r0.x
//!         uav_raw_load_id(0) r2.x, r0.x
//!         mad r2.x, cb0[0].x, r1.x, r2.x
//!         uav_raw_store_id(0) mem0.x, r0.x, r2.x
//!         end
//!     }
//! }
//!
//! let context = recal::default_context()?;
//! let x = Buffer::from_slice(&context, &[1.0, 2.0, 3.0])?;
//! let mut y = Buffer::from_slice(&context, &[10.0, 20.0, 30.0])?;
//! let k = saxpy(&context)?;
//! k.run(3u32, &x, &mut y, 2.0)?;
//! assert_eq!(y.read()?, [12.0, 24.0, 36.0]);
//! # Ok::<(), recal::Error>(())
//! ```
//!
//! * [`Buffer`] has one dimension and any length, [`Image`] has two. Rows are without padding, whatever the pitch.
//! * A launch is appended to the context's queue and returns an [`Event`](crate::Event): wait for it, `.await` it, or leave it.
//!   Whoever reads memory waits for the launches that use it, and gets the error of the one that wrote it last if that failed. So
//!   memory may be read, written and dropped at any time, from any thread.
//! * Memory of buffers and images that are gone is kept for the next of the same shape, as many programs make them anew in every
//!   round; [`Context::trim`](crate::Context::trim) gives it back.
//! * The objects below are those of the rest of this crate: [`Buffer::resource`], [`Kernel::module`].

mod buffer;
mod constants;
mod held;
mod image;
mod kernel;
mod texel;

pub use buffer::Buffer;
pub use constants::Value;
pub(crate) use held::Pool;
pub use image::Image;
pub use kernel::{Bound, Kernel, Threads, Work};
pub use texel::{Texel, fits};
