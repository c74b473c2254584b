//! The five benchmarks with which EPGPU (Lawlor 2011) showed kernels inside C++, in Rust: each file is a whole program but for `main`.
//! `src/bin/epgpu.rs` checks them and times them beside the same kernels through the long form of the interface.

pub mod local_transpose;
pub mod mandelbrot;
pub mod naive_transpose;
pub mod poly3;
pub mod stencil;
