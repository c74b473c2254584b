//! The wheel as its users get it: maturin builds it, pip installs it into an environment of its own, and the tests of Python run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use recal_needs::{Need, Trial};

#[path = "../src/guard.rs"]
mod guard;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A Python with maturin and all that the tests import: the one that `scripts/install-test-deps.sh` makes, or the user's.
fn interpreter() -> Option<PathBuf> {
    let asked = "import sys, numpy, pytest, matplotlib, maturin, venv; assert sys.version_info >= (3, 11)";
    let fits = |program: &PathBuf| {
        Command::new(program).args(["-c", asked]).output().is_ok_and(|output| output.status.success())
    };
    let made = package().join("../target/recal/python/bin/python");
    [made, "python3".into(), "/usr/bin/python3".into()].into_iter().find(fits)
}

/// Runs it, and gives what it says if it fails.
fn done(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// The Python of an environment that has the wheel.
fn installed() -> Result<PathBuf, String> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    INSTALLED.get_or_init(install).clone()
}

fn install() -> Result<PathBuf, String> {
    let python = interpreter().expect("it was found before");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let _ = fs::remove_dir_all(&scratch);
    let [wheels, environment] = ["wheels", "environment"].map(|name| scratch.join(name));
    // By the profile whose crates `make test` has built for the libraries. What cargo says about this run is not for that one.
    done(
        Command::new(&python)
            .args(["-m", "maturin", "build", "--release", "--offline", "--manifest-path"])
            .arg(package().join("Cargo.toml"))
            .arg("--out")
            .arg(&wheels)
            .env_remove("CARGO_TARGET_TMPDIR"),
    )?;
    let wheel = fs::read_dir(&wheels).map_err(|e| e.to_string())?.next();
    let wheel = wheel.ok_or("maturin made no wheel")?.map_err(|e| e.to_string())?.path();
    // Its numpy is that of the system.
    done(Command::new(&python).args(["-m", "venv", "--system-site-packages"]).arg(&environment))?;
    let own = environment.join("bin/python");
    done(
        Command::new(&own).args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]).arg(&wheel),
    )?;
    Ok(own)
}

/// The tests, and the examples of the README and of the manual's chapter.
fn pytest(backend: &str) -> Result<(), String> {
    let python = installed()?;
    // Not in the package's folder, whose `recal` has no library.
    let root = package().join("..");
    done(
        Command::new(&python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"])
            .args(["--doctest-glob=*.md", "--rootdir"])
            .arg(package())
            .arg(package().join("tests"))
            .arg(package().join("README.md"))
            .arg(package().join("../docs/manual/chapters/tasks.md"))
            .current_dir(root)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("MPLBACKEND", "agg")
            .env("CAL_BACKEND", backend)
            .env("CAL_FLOAT", "faithful"),
    )
}

fn panics_stay_inside() {
    assert_eq!(guard::caught(|| 1), Ok(1));
    assert_eq!(guard::caught(|| panic!("a {}", "word")), Err::<(), _>("a word".to_owned()));
}

fn main() -> ExitCode {
    let there = interpreter().is_some();
    let python =
        Need::installed("Python 3.11 with numpy, pytest, matplotlib and maturin is not installed", there);
    let trials: Vec<Trial> = vec![
        recal_needs::trial("panics_stay_inside", [], panics_stay_inside),
        recal_needs::trial("wheel_on_the_cpu", [python.clone()], || pytest("cpu")),
        recal_needs::trial("wheel_on_vulkan", [python, Need::driver(recal_needs::LAVAPIPE)], || {
            pytest("vulkan")
        }),
    ];
    recal_needs::run(&recal_needs::Arguments::from_args(), trials)
}
