//! Tests that see reCAL from outside, as its users do: C programs built by the real compilers against the installed
//! headers and libraries.

pub mod dependencies;
pub mod toolchain;
pub mod unsafety;
