//! BLAS by its names in Fortran and C.
//!
//! Levels 1 and 2 are the host's; level 3 is [`recal_blas`]'s, which hands on what is small. All functions are made by the build
//! script from the table `routines.txt`, see [`mod@table`]. Arguments are checked in the order of the reference implementation.
#![allow(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "the C ABI of BLAS, documented by its standard"
)]

use std::ffi::{c_char, c_int};

use recal_blas::{Complex32, Complex64};

use crate::forward::Routine;

pub mod cblas;
pub mod fortran;
pub mod forward;
pub mod table;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));
