//! Linker options of the shared library.

fn main() {
    // Old programs call into the library from static destructors and after `dlclose`; worker threads may still run.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
