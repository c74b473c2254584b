//! The suite on the software Vulkan drivers that are installed: a process each, since a process loads its drivers
//! once.

use std::process::Command;

use recal_needs::{Arguments, Driver, LAVAPIPE, Need, SWIFTSHADER, trial};

/// What the suite prints on one driver's device, where it must succeed.
fn output(driver: Driver, arguments: &[&str]) -> String {
    let manifest = driver.manifest().expect("the test needs it");
    let output = Command::new(env!("CARGO_BIN_EXE_recal-suite"))
        .args(["--backend", "vulkan", "--device", driver.device])
        .args(arguments)
        .env("VK_DRIVER_FILES", &manifest)
        .env("VK_ICD_FILENAMES", &manifest)
        .output()
        .expect("the suite starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    text
}

/// Runs the suite on one driver's device and expects that nothing is wrong.
fn run(driver: Driver, arguments: &[&str]) {
    let text = output(driver, arguments);
    assert!(text.contains(" 0 wrong on "), "{text}");
    assert!(!text.starts_with("0 cases passed"), "{text}");
}

fn lavapipe_passes_every_case() {
    run(LAVAPIPE, &[]);
}

fn lavapipe_keeps_the_bounds_of_native_mode() {
    run(LAVAPIPE, &["--mode", "native"]);
}

/// The same kernels in every run; more of them with `recal-suite fuzz`.
fn lavapipe_agrees_with_the_cpu_on_random_kernels() {
    let arguments = ["fuzz", "--against", "vulkan", "--seconds", "20", "--count", "100"];
    let text = output(LAVAPIPE, &arguments);
    assert!(text.contains(", 0 differences, ") && !text.starts_with("0 kernels"), "{text}");
}

/// A third of the cases: its compiler is slow.
fn swiftshader_passes_every_third_case() {
    run(SWIFTSHADER, &["--every", "3"]);
}

/// Coordinates that loops count have integers beside them in native mode alone.
fn swiftshader_counts_texels() {
    run(SWIFTSHADER, &["--mode", "native", "--filter", "texture/"]);
}

/// Half of the cases, with synchronization validation.
fn validation_reports_nothing() {
    run(LAVAPIPE, &["--validation", "--every", "2"]);
}

fn main() -> std::process::ExitCode {
    let lavapipe = || [Need::driver(LAVAPIPE)];
    let trials = vec![
        trial("lavapipe_passes_every_case", lavapipe(), lavapipe_passes_every_case),
        trial(
            "lavapipe_keeps_the_bounds_of_native_mode",
            lavapipe(),
            lavapipe_keeps_the_bounds_of_native_mode,
        ),
        trial(
            "lavapipe_agrees_with_the_cpu_on_random_kernels",
            lavapipe(),
            lavapipe_agrees_with_the_cpu_on_random_kernels,
        ),
        trial(
            "swiftshader_passes_every_third_case",
            [Need::driver(SWIFTSHADER)],
            swiftshader_passes_every_third_case,
        ),
        trial("swiftshader_counts_texels", [Need::driver(SWIFTSHADER)], swiftshader_counts_texels),
        trial(
            "validation_reports_nothing",
            [Need::driver(LAVAPIPE), Need::validation()],
            validation_reports_nothing,
        ),
    ];
    recal_needs::run(&Arguments::from_args(), trials)
}
