//! The command: which instructions the CPU backend has, and who reads only the beginning.

use std::process::{Command, Stdio};

fn suite() -> Command {
    Command::new(env!("CARGO_BIN_EXE_recal-suite"))
}

#[test]
fn an_instruction_set_is_chosen() {
    let output = suite().args(["--isa", "baseline", "--filter", "texture/load_buffer"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("(baseline)"), "{output:?}");
    let output = suite().args(["--isa", "sse9"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("unknown instruction set `sse9`"), "{output:?}");
}

#[test]
fn who_stops_reading_is_no_error() {
    let mut child = suite()
        .args(["--print", "--filter", "texture/"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
