//! The suite on the software Vulkan drivers that are installed: a process each, since a process loads its drivers
//! once. `make test` installs both drivers and the validation layer; where one is missing its test says so and ends.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The first file whose name begins so in a folder.
fn find(folder: &str, begin: &str) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(begin) && name.ends_with(".json")
    })
}

/// What the suite prints on one driver's device, where it must succeed; nothing if the driver is not installed.
fn output(driver: Option<PathBuf>, device: &str, arguments: &[&str]) -> Option<String> {
    let Some(driver) = driver else {
        eprintln!("{device} is not installed");
        return None;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_recal-suite"))
        .args(["--backend", "vulkan", "--device", device])
        .args(arguments)
        .env("VK_DRIVER_FILES", &driver)
        .env("VK_ICD_FILENAMES", &driver)
        .output()
        .expect("the suite starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    Some(text)
}

/// Runs the suite on one driver's device and expects that nothing is wrong.
fn run(driver: Option<PathBuf>, device: &str, arguments: &[&str]) {
    if let Some(text) = output(driver, device, arguments) {
        assert!(text.contains(" 0 wrong on "), "{text}");
        assert!(!text.starts_with("0 cases passed"), "{text}");
    }
}

fn lavapipe() -> Option<PathBuf> {
    find("/usr/share/vulkan/icd.d", "lvp_icd")
}

fn swiftshader() -> Option<PathBuf> {
    find("/usr/lib/chromium", "vk_swiftshader_icd")
}

#[test]
fn lavapipe_passes_every_case() {
    run(lavapipe(), "llvmpipe", &[]);
}

#[test]
fn lavapipe_keeps_the_bounds_of_native_mode() {
    run(lavapipe(), "llvmpipe", &["--mode", "native"]);
}

/// The same kernels in every run; more of them with `recal-suite fuzz`.
#[test]
fn lavapipe_agrees_with_the_cpu_on_random_kernels() {
    let arguments = ["fuzz", "--against", "vulkan", "--seconds", "20", "--count", "100"];
    if let Some(text) = output(lavapipe(), "llvmpipe", &arguments) {
        assert!(text.contains(", 0 differences, ") && !text.starts_with("0 kernels"), "{text}");
    }
}

/// A third of the cases: its compiler is slow.
#[test]
fn swiftshader_passes_every_third_case() {
    run(swiftshader(), "SwiftShader", &["--every", "3"]);
}

/// Half of the cases, with synchronization validation.
#[test]
fn validation_reports_nothing() {
    if !Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").exists() {
        eprintln!("the validation layer is not installed");
        return;
    }
    run(lavapipe(), "llvmpipe", &["--validation", "--every", "2"]);
}
