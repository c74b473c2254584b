//! The software Vulkan drivers that programs run on as well: a process each, since a process loads its drivers once.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A driver, as `CAL_VULKAN_DEVICE` knows its device.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    /// For names of tests.
    pub name: &'static str,
    device: &'static str,
    folder: &'static str,
    begin: &'static str,
}

/// Mesa's, with everything that CAL needs.
pub const LAVAPIPE: Driver =
    Driver { name: "lavapipe", device: "llvmpipe", folder: "/usr/share/vulkan/icd.d", begin: "lvp_icd" };

/// Chromium's, without 64-bit numbers.
pub const SWIFTSHADER: Driver = Driver {
    name: "swiftshader",
    device: "SwiftShader",
    folder: "/usr/lib/chromium",
    begin: "vk_swiftshader_icd",
};

impl Driver {
    /// Its manifest, if it is installed.
    pub fn manifest(&self) -> Option<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(self.folder).ok()?.flatten().map(|entry| entry.path()).collect();
        files.sort();
        files.into_iter().find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(self.begin) && name.ends_with(".json")
        })
    }

    /// Has a program see this driver's device alone, in faithful mode. False, with a word about it, where the driver is
    /// not installed: `make test` installs both.
    pub fn set(&self, command: &mut Command) -> bool {
        let Some(manifest) = self.manifest() else {
            eprintln!("{} is not installed", self.name);
            return false;
        };
        command.env("CAL_BACKEND", "vulkan").env("CAL_VULKAN_DEVICE", self.device);
        command.env("CAL_FLOAT", "faithful");
        manifests(command, &[&manifest]);
        true
    }
}

/// Has the Vulkan loader take these drivers and no others.
pub fn manifests(command: &mut Command, files: &[&Path]) {
    let list = std::env::join_paths(files).unwrap_or_default();
    command.env("VK_DRIVER_FILES", &list).env("VK_ICD_FILENAMES", &list);
}
