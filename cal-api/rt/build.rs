//! Linker options of the shared library.

fn main() {
    // Old programs call into the library from static destructors and after `dlclose`; worker threads may still run.
    // (Windows and macOS have no such option: see `recal::ffi`.)
    if matches!(std::env::var("CARGO_CFG_TARGET_OS").as_deref(), Ok("linux" | "android" | "freebsd")) {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
