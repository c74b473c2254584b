//! Software rasterisers, which the command finds and leaves out.

use std::process::Command;

use recal_needs::{LAVAPIPE, Need};
use serde_json::Value;

/// What `recal doctor` finds with these back ends.
fn doctor(backend: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
    let output = command.args(["doctor", "--json"]).env("CAL_BACKEND", backend).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// A software rasteriser is there and left out, unless it is asked for.
fn devices_that_are_left_out_are_told() {
    let asked = doctor("vulkan");
    let devices = asked["devices"].as_array().unwrap();
    assert!(devices.iter().any(|d| d["name"].as_str().unwrap().contains("llvmpipe")), "{asked:#}");
    let json = doctor("");
    let vulkan =
        json["sections"].as_array().unwrap().iter().find(|s| s["title"] == "backend vulkan").unwrap();
    let left_out = vulkan["lines"].as_array().unwrap().iter().any(|l| {
        let text = l["text"].as_str().unwrap();
        l["state"] == "absent" && text.contains("llvmpipe") && text.contains("software, which is taken if")
    });
    assert!(left_out, "{vulkan:#}");
}

recal_needs::tests!([Need::driver(LAVAPIPE)] => devices_that_are_left_out_are_told);
