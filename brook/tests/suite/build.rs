//! The runtime and the compilers.

use std::path::{Path, PathBuf};
use std::process::Command;

use recal_needs::{Driver, LAVAPIPE, Need};

/// Where kernels run.
pub struct Backend {
    /// For names of tests.
    pub name: &'static str,
    /// The environment that chooses it.
    env: &'static [(&'static str, &'static str)],
    /// A driver that must be there.
    driver: Option<Driver>,
}

/// All of them.
pub const BACKENDS: [Backend; 3] = [
    Backend { name: "cpu", env: &[("BRT_RUNTIME", "cpu"), ("CAL_BACKEND", "cpu")], driver: None },
    Backend { name: "cal", env: &[("BRT_RUNTIME", "cal"), ("CAL_BACKEND", "cpu")], driver: None },
    Backend {
        name: "llvmpipe",
        env: &[
            ("BRT_RUNTIME", "cal"),
            ("CAL_BACKEND", "vulkan"),
            ("CAL_VULKAN_DEVICE", "llvmpipe"),
            ("CAL_FLOAT", "faithful"),
        ],
        driver: Some(LAVAPIPE),
    },
];

impl Backend {
    /// What its tests need of the machine.
    pub fn needs(&self) -> Option<Need> {
        self.driver.map(Need::driver)
    }

    /// A program on it.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.envs(self.env.iter().copied()).env("CAL_CACHE", "off");
        command
    }
}

/// Whose code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// What brcc writes of kernels.
    Written,
    /// That, with a program's host code in it.
    Program,
    /// The tests' own.
    Tests,
}

/// What programs are made with.
pub struct Tools {
    /// Where everything is built.
    pub scratch: PathBuf,
}

impl Tools {
    /// Builds `libbrook.so` if it is out of date.
    pub fn new() -> Result<Tools, String> {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("brook");
        std::fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut script = Command::new("sh");
        script.current_dir(root).arg("scripts/build-brook.sh").arg(&scratch).arg("dev");
        for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            script.env_remove(name);
        }
        run(&mut script)?;
        Ok(Tools { scratch })
    }

    fn include() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../include")
    }

    /// Compiles code of C++98.
    pub fn compile(&self, source: &Path, object: &Path, code: Code) -> Command {
        let mut command = Command::new("g++");
        command.args(match code {
            // What brcc writes promises that there is nothing to warn about.
            Code::Written => ["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"].as_slice(),
            // Host code that stands in a source is copied, with what others find in it.
            Code::Program => ["-Wall", "-Werror", "-O1"].as_slice(),
            Code::Tests => ["-w", "-fwrapv", "-O0"].as_slice(),
        });
        command.args(["-std=c++98", "-g0", "-c"]).arg(source).arg("-o").arg(object);
        command.arg("-I").arg(Self::include()).arg("-I").arg(cases_folder());
        command
    }

    /// Links a program with the runtime.
    pub fn link(&self, objects: &[PathBuf], program: &Path) -> Command {
        let mut command = Command::new("g++");
        command.args(objects).arg("-o").arg(program).arg("-L").arg(&self.scratch).arg("-lbrook").arg("-lm");
        command.arg(format!("-Wl,-rpath,{}", self.scratch.display()));
        command
    }
}

fn cases_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite")
}

/// Runs a command to its end; the error has all that it said.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let mut said = text(&output.stdout) + &text(&output.stderr);
    if said.len() > 6000 {
        said = said.chars().take(6000).collect();
    }
    Err(format!("{command:?}: {}\n{said}", output.status))
}

/// Runs commands, two at a time.
pub fn run_all(commands: Vec<Command>) -> Result<(), String> {
    let queue = std::sync::Mutex::new(commands.into_iter());
    let work = || -> Result<(), String> {
        loop {
            let next = queue.lock().map_err(|e| e.to_string())?.next();
            let Some(mut command) = next else { return Ok(()) };
            run(&mut command)?;
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mine = work();
        let theirs = other.join().unwrap_or_else(|_| Err("a panic".to_owned()));
        mine.and(theirs)
    })
}
