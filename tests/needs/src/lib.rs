//! What tests need of the machine that they run on. The harness of Rust knows no test that finds out at run time that it
//! cannot run: it would pass. Those that need something are [`trial`]s, which are then *ignored*; and a line that begins
//! with SKIPPED says what was missing, whether output is captured or not.
//!
//! With `CI=true` in the environment what `scripts/install-test-deps.sh` installs has to be there, and tests that miss it
//! fail. What a processor does not have is skipped everywhere.

pub mod pages;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use libtest_mimic::{Arguments, Failed, Trial};

/// Something that a machine has or has not.
#[derive(Clone, Debug)]
pub struct Need {
    what: String,
    there: bool,
    /// By the project's script.
    installed: bool,
}

/// A software Vulkan driver, as `CAL_VULKAN_DEVICE` knows its device.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    /// For names of tests.
    pub name: &'static str,
    /// Part of the device's name.
    pub device: &'static str,
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
        let entries = std::fs::read_dir(self.folder).ok()?.flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files.into_iter().find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(self.begin) && name.ends_with(".json")
        })
    }
}

impl Need {
    /// A driver that the script installs.
    pub fn driver(driver: Driver) -> Need {
        Need {
            what: format!("{} is not installed", driver.name),
            there: driver.manifest().is_some(),
            installed: true,
        }
    }

    /// The validation layer of Vulkan, which the script installs.
    pub fn validation() -> Need {
        let file = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json";
        let what = "the validation layer of Vulkan is not installed".to_owned();
        Need { what, there: Path::new(file).exists(), installed: true }
    }

    /// A program on the search path that the script installs.
    pub fn program(name: &str) -> Need {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let there = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        Need { what: format!("{name} is not installed"), there, installed: true }
    }

    /// Anything else that the script installs; `what` says that it is not there.
    pub fn installed(what: &str, there: bool) -> Need {
        Need { what: what.into(), there, installed: true }
    }

    /// Any Vulkan device, as the caller found them: the script installs drivers.
    pub fn vulkan(devices: usize) -> Need {
        Need { what: "there is no Vulkan device".into(), there: devices > 0, installed: true }
    }

    /// A set of instructions, which processors have or have not.
    pub fn instructions(name: &str, there: bool) -> Need {
        Need { what: format!("this processor has no {name}"), there, installed: false }
    }

    /// What a system, or the way in which its programs are run here, has or has not; `what` says that it is not there.
    pub fn system(what: &str, there: bool) -> Need {
        Need { what: what.into(), there, installed: false }
    }

    /// For a part of a test: whether it can run. If not, the skip is told in `test`'s name.
    ///
    /// # Panics
    ///
    /// With `CI=true` where what the script installs is missing.
    pub fn met(&self, test: &str) -> bool {
        if !self.there {
            assert!(!self.must_be_there(), "{test}: {}, and CI={CI}", self.what);
            self.tell(test);
        }
        self.there
    }

    fn must_be_there(&self) -> bool {
        self.installed && std::env::var("CI").is_ok_and(|value| value == CI)
    }

    fn tell(&self, test: &str) {
        // Not by the macros: what they print of a test that passes is kept back.
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {}", self.what);
    }
}

/// The value of the variable `CI` that says that nothing may be missing.
const CI: &str = "true";

/// What tests give back: nothing, or why they fail.
pub trait Outcome {
    /// As the harness takes it.
    fn result(self) -> Result<(), Failed>;
}

impl Outcome for () {
    fn result(self) -> Result<(), Failed> {
        Ok(())
    }
}

impl Outcome for Result<(), String> {
    fn result(self) -> Result<(), Failed> {
        self.map_err(Failed::from)
    }
}

/// A test that needs something: ignored, or failing, without it.
pub fn trial<R: Outcome>(
    name: impl Into<String>,
    needs: impl IntoIterator<Item = Need>,
    test: impl FnOnce() -> R + Send + 'static,
) -> Trial {
    let name = name.into();
    let test = move || test().result();
    match needs.into_iter().find(|need| !need.there) {
        None => Trial::test(name, test),
        Some(need) if need.must_be_there() => {
            Trial::test(name, move || Err(format!("{}, and CI={CI}", need.what).into()))
        }
        Some(need) => {
            need.tell(&name);
            Trial::test(name, test).with_ignored_flag(true)
        }
    }
}

/// The tests of a file that all need the same: `main` of a test without Rust's harness.
///
/// ```ignore
/// recal_needs::tests!([Need::vulkan(devices())] => copies kernels);
/// ```
#[macro_export]
macro_rules! tests {
    (fn $main:ident, $needs:expr => $($test:ident)*) => {
        fn $main() -> std::process::ExitCode {
            let arguments = $crate::Arguments::from_args();
            let needs = $needs;
            let trials = vec![$($crate::trial(stringify!($test), needs.clone(), $test)),*];
            $crate::run(&arguments, trials)
        }
    };
    ($needs:expr => $($test:ident)*) => {
        $crate::tests!(fn main, $needs => $($test)*);
    };
}

/// Runs them, as the arguments say.
pub fn run(arguments: &Arguments, trials: Vec<Trial>) -> std::process::ExitCode {
    libtest_mimic::run(arguments, trials).exit_code()
}
