//! Speed beside hand-written GLSL and OpenCL C, plain loops and CUDA's own library, everything in one run.
//!
//! ```text
//! cases     kernels in IL, their GLSL peers, data, what must come out
//! subject   our devices      peer   plain Vulkan      opencl   OpenCL on the processor      cuda   NVIDIA's library
//! overhead  launching, compiling, loading      peak   what the processor does at best
//! measure   rounds in turn, medians                   report  table and JSON      tables  the same for documents, with the aims
//! ```
//!
//! Results are checked before anything is timed.

pub mod case;
pub mod cases;
pub mod cuda;
pub mod measure;
pub mod opencl;
pub mod overhead;
pub mod peak;
pub mod peer;
pub mod report;
pub mod run;
pub mod subject;
pub mod tables;
