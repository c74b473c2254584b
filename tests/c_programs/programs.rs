//! The programs of `tests/c`: built with the real compilers, run on the CPU, on software Vulkan drivers, and under
//! valgrind. What a program says to hold (`behaviour.h`) is a test of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use recal_conformance::toolchain::{Installation, Result, Standard, repository, run};
use recal_needs::{Failed, Need, Trial};

use crate::drivers::{Driver, LAVAPIPE, SWIFTSHADER, manifests, only};
use crate::{Lazy, needing, trial};

/// Longest time for a program.
const PATIENCE: Duration = Duration::from_secs(240);

/// The programs that run under valgrind as well: those that misuse the interface, end in odd orders or hand over memory
/// of their own.
const UNDER_VALGRIND: &[&str] = &[
    "accl",
    "brook_exit_order",
    "calpp",
    "corepy",
    "exit_with_work",
    "extensions",
    "handles",
    "hetpas",
    "nulls",
];

/// Programs for which Vulkan is the same as the CPU: they test the compiler, the handles, the CPU's own checks. And those
/// with sizes that take software drivers minutes; samples of the same names run there.
const CPU_ONLY: &[&str] = &[
    "checks",
    "handles",
    "large_arrays",
    "large_resources",
    "malformed",
    "mandelbrot",
    "matmul",
    "messages",
    "nulls",
    "reduction",
    "unbound",
];

/// Programs that need 64-bit floats.
const DOUBLES: &[&str] = &["caldgemm", "milkyway"];

/// Programs with larger groups than some drivers run.
const LARGE_GROUPS: &[&str] = &["hdminer"];

/// A program: built once, run once on the CPU, whoever asks first.
#[derive(Clone)]
pub struct Program {
    /// Its text.
    pub source: PathBuf,
    built: Arc<OnceLock<Result<PathBuf>>>,
    printed: Arc<OnceLock<Result<String>>>,
}

impl Program {
    fn new(source: PathBuf) -> Self {
        Self { source, built: Arc::default(), printed: Arc::default() }
    }

    /// Name of the source without its extension.
    pub fn name(&self) -> String {
        stem(&self.source)
    }

    fn build(&self, installation: &Installation) -> Result<PathBuf> {
        let build = || {
            let sources = std::slice::from_ref(&self.source);
            let include = format!("-I{}", installation.prefix.join("include").display());
            installation.build(
                &self.name(),
                sources,
                Standard::of(&self.source),
                &["-D_GNU_SOURCE", &include],
            )
        };
        self.built.get_or_init(build).clone()
    }

    fn command(&self, installation: &Installation) -> Result<Command> {
        let mut command = Command::new(self.build(installation)?);
        command.current_dir(&installation.build);
        Ok(command)
    }

    /// Whether software drivers do not run it.
    pub fn is_of_the_cpu(&self) -> bool {
        CPU_ONLY.contains(&self.name().as_str())
    }

    /// What it prints on the CPU.
    fn printed(&self, installation: &Installation) -> Result<String> {
        let print = || {
            let outcome = run(&mut self.command(installation)?, PATIENCE)?;
            Ok(outcome.success(&self.name())?.stdout)
        };
        self.printed.get_or_init(print).clone()
    }

    /// The names that stand in `HOLDS(...)`.
    pub fn behaviours(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.source).unwrap_or_default();
        let names = text.split("HOLDS(").skip(1).filter_map(|rest| rest.split_once(')'));
        names.map(|(name, _)| name.to_owned()).collect()
    }
}

/// The programs of `tests/c`.
pub fn programs() -> Vec<Program> {
    sources(&repository().join("tests/c")).into_iter().map(Program::new).collect()
}

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    let programs = programs();
    let mut trials = Vec::new();
    for program in &programs {
        let name = program.name();
        let this = program.clone();
        trials.push(trial(format!("programs::{name}"), lazy, move |i| this.printed(i).map(drop)));
        for behaviour in program.behaviours() {
            let this = program.clone();
            trials.push(trial(format!("behaviours::{behaviour}"), lazy, move |i| {
                let said = format!("holds: {behaviour}");
                if this.printed(i)?.lines().any(|line| line == said) {
                    Ok(())
                } else {
                    Err(format!("{} does not say that it holds", this.name()))
                }
            }));
        }
        for driver in [LAVAPIPE, SWIFTSHADER] {
            let too_much = DOUBLES.contains(&name.as_str()) || LARGE_GROUPS.contains(&name.as_str());
            let left_out = CPU_ONLY.contains(&name.as_str()) || too_much && driver.name == SWIFTSHADER.name;
            if !left_out {
                let this = program.clone();
                let name = format!("programs::{name}::{}", driver.name);
                let needs = [Need::driver(driver)];
                trials.push(needing(name, needs, lazy, move |i| on_driver(i, &this, driver)));
            }
        }
        if UNDER_VALGRIND.contains(&name.as_str()) {
            let this = program.clone();
            trials.push(trial(format!("valgrind::{name}"), lazy, move |i| {
                valgrind(i, &this.build(i)?, &[], &this.name())
            }));
        }
        if name == "devices" {
            let this = program.clone();
            let needs = [Need::driver(LAVAPIPE), Need::driver(SWIFTSHADER)];
            let name = "programs::devices::all".to_owned();
            trials.push(needing(name, needs, lazy, move |i| all_devices(i, &this)));
        }
    }
    trials.push(Trial::test("programs::lists", || lists().map_err(Failed::from)));
    trials
}

/// Everything that holds on the CPU holds on the driver's device.
fn on_driver(installation: &Installation, program: &Program, driver: Driver) -> Result<()> {
    let mut command = program.command(installation)?;
    only(driver, &mut command)?;
    let printed = run(&mut command, PATIENCE)?.success(&program.name())?.stdout;
    let missing: Vec<_> =
        program.behaviours().into_iter().filter(|b| !printed.contains(&format!("holds: {b}\n"))).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("not said to hold: {}", missing.join(", "))) }
}

/// Two Vulkan devices and the CPU in one process: data goes from one to the other.
fn all_devices(installation: &Installation, program: &Program) -> Result<()> {
    let (Some(lavapipe), Some(swiftshader)) = (LAVAPIPE.manifest(), SWIFTSHADER.manifest()) else {
        return Err("one of the drivers is not installed".into());
    };
    let mut command = program.command(installation)?;
    manifests(&mut command, &[&lavapipe, &swiftshader]);
    command.env("CAL_BACKEND", "vulkan,cpu").env("DEVICES", "3");
    run(&mut command, PATIENCE)?.success("three devices")?;
    Ok(())
}

/// The lists above name programs that there are.
fn lists() -> Result<()> {
    let known: BTreeSet<String> = programs().iter().map(Program::name).collect();
    for name in UNDER_VALGRIND.iter().chain(CPU_ONLY).chain(DOUBLES).chain(LARGE_GROUPS) {
        if !known.contains(*name) {
            return Err(format!("tests/c has no {name}"));
        }
    }
    Ok(())
}

/// Name of a source file without its extension.
pub fn stem(source: &Path) -> String {
    source.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The C and C++ files of a folder, sorted by name.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    files.sort();
    files
}

/// Memory errors and definite leaks are failures. On the CPU device only: the Vulkan loader and the drivers that it
/// opens have errors of their own under valgrind. `SMALL` asks programs for little work: everything is fifty times slower.
pub fn valgrind(installation: &Installation, program: &Path, arguments: &[&str], name: &str) -> Result<()> {
    let mut command = Command::new("valgrind");
    command.current_dir(&installation.build);
    command.args(["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", "--quiet"]);
    command.env("CAL_BACKEND", "cpu").env("SMALL", "1").arg(program).args(arguments);
    run(&mut command, PATIENCE)?.success(name)?;
    Ok(())
}
