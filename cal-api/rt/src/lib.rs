//! `libaticalrt.so`: all code and all state of reCAL behind the C ABI.
//!
//! The 38 `cal*` symbols, and the `recal_cl_*` bridge behind the 13 functions of `libaticalcl.so`, are defined in
//! [`recal::ffi`]; this crate only gives them a shared library.

pub use recal::ffi;
