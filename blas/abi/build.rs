//! Writes the functions of the table.

#[path = "src/table.rs"]
#[allow(dead_code, reason = "the header is for a test")]
mod table;

fn main() {
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(std::path::Path::new(&folder).join("functions.rs"), table::functions())
        .expect("a folder of the build");
    println!("cargo:rerun-if-changed=routines.txt");
    println!("cargo:rerun-if-changed=src/table.rs");
    println!("cargo:rerun-if-changed=build.rs");
}
