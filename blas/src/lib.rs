//! Linear algebra on CAL: matrix products on devices and host cores.
//!
//! ```
//! use recal_blas::{Blas, Options, View, ViewMut};
//!
//! let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]; // 2 x 3, by rows
//! let b = [1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0]; // 3 x 2
//! let mut c = [0.0; 4];
//! let blas = Blas::new(Options::default());
//! blas.gemm(1.0, View::by_rows(&a, 2, 3)?, View::by_rows(&b, 3, 2)?, 0.0, ViewMut::by_rows(&mut c, 2, 2)?)?;
//! assert_eq!(c, [4.0, 5.0, 10.0, 11.0]);
//! # Ok::<(), recal_blas::Error>(())
//! ```
//!
//! [`gemm`] does the same as the environment says. The C library with the names of BLAS, `libCALBLAS.so`, is `blas/abi`; how work is
//! shared out, which bits are fixed and what the variables `CALBLAS_…` do is in `docs/blas.md`.
//!
//! Read it downhill: `level3` makes products of everything; `blas` cuts a product into blocks and shares them out; `balance` says by
//! whom, `share` who takes which; a `worker`, one device, takes blocks; a `lane` packs a block (`pack`), runs a `kernel` (`shape`, `tiled`) and unpacks; `tune` chooses the kernel; `host` is the library
//! that does the rest.

pub use crate::blas::Blas;
pub use crate::error::{Error, Result};
pub use crate::host::{Host, set_own_routine};
pub use crate::level3::{Part, Side};
pub use crate::options::{BLOCK, Options, THRESHOLD};
pub use crate::pinned::Pinned;
pub use crate::resident::Resident;
pub use crate::scalar::{Complex32, Complex64, Kind, Precision, Real, Scalar};
pub use crate::shape::Shape;
pub use crate::tally::Figures;
pub use crate::tiled::Tiled;
pub use crate::view::{View, ViewMut};

mod balance;
mod blas;
mod cores;
mod error;
mod host;
mod kernel;
mod lane;
mod level3;
mod options;
mod pack;
mod pinned;
mod plain;
mod resident;
mod scalar;
mod shape;
mod share;
mod tally;
mod tiled;
mod tune;
mod view;
mod worker;

/// C = alpha A B + beta C, as the environment says: [`Blas::gemm`] of [`Blas::global`].
pub fn gemm<T: Scalar>(alpha: T, a: View<T>, b: View<T>, beta: T, c: ViewMut<T>) -> Result<()> {
    Blas::global().gemm(alpha, a, b, beta, c)
}
