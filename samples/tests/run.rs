//! Runs every Rust sample at a small size.

use std::process::Command;

fn passes(name: &str, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains(&format!("{name}: PASS")), "{text}\n{errors}");
    text
}

/// Where a sample may write its picture.
fn picture(name: &str) -> String {
    format!("{}/{name}.png", env!("CARGO_TARGET_TMPDIR"))
}

/// Width and height from the header of a PNG file, after its signature has been checked.
fn png_size(path: &str) -> (u32, u32) {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    (word(16), word(20))
}

#[test]
fn hellocal() {
    passes("hellocal", env!("CARGO_BIN_EXE_hellocal"), &["-n", "100"]);
}

#[test]
fn findnumdevices() {
    let text = passes("findnumdevices", env!("CARGO_BIN_EXE_findnumdevices"), &[]);
    assert!(text.contains("device 0"));
}

#[test]
fn simple_matmult() {
    let text = passes("simple_matmult", env!("CARGO_BIN_EXE_simple_matmult"), &["-n", "128", "-i", "1"]);
    assert!(text.contains("GFLOPS") && text.contains("ratio"));
}

#[test]
fn mandelbrot() {
    let path = picture("mandelbrot");
    passes("mandelbrot", env!("CARGO_BIN_EXE_mandelbrot"), &["-n", "96", "-i", "1", "-o", &path]);
    assert_eq!(png_size(&path), (96, 96));
}

#[test]
fn transpose() {
    let path = picture("transpose");
    passes("transpose", env!("CARGO_BIN_EXE_transpose"), &["-n", "64", "-i", "1", "-o", &path]);
    assert_eq!(png_size(&path), (128, 64));
}

#[test]
fn epgpu() {
    let text = passes("epgpu", env!("CARGO_BIN_EXE_epgpu"), &["-n", "48", "-i", "1"]);
    assert_eq!(text.matches("ratio").count(), 5);
}
