//! Programs on software Vulkan drivers: a process each, since a process loads its drivers once.

use std::path::Path;
use std::process::Command;

pub use recal_needs::{Driver, LAVAPIPE, SWIFTSHADER};

use recal_conformance::toolchain::Result;

/// Has a program see this driver's device alone, in faithful mode.
pub fn only(driver: Driver, command: &mut Command) -> Result<()> {
    let manifest = driver.manifest().ok_or_else(|| format!("{} is not installed", driver.name))?;
    command.env("CAL_BACKEND", "vulkan").env("CAL_VULKAN_DEVICE", driver.device);
    command.env("CAL_FLOAT", "faithful");
    manifests(command, &[&manifest]);
    Ok(())
}

/// Has the Vulkan loader take these drivers and no others.
pub fn manifests(command: &mut Command, files: &[&Path]) {
    let list = std::env::join_paths(files).unwrap_or_default();
    command.env("VK_DRIVER_FILES", &list).env("VK_ICD_FILENAMES", &list);
}
