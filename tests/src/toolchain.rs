//! Installs reCAL into a folder under `target/` with `make install`, and builds and runs C and C++ programs
//! against it.
//!
//! A test that needs a tool which is not there fails and says which package has it; `make test` installs them all.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Result of a step; the error is text for the person who reads the test's output.
pub type Result<T> = std::result::Result<T, String>;

/// Longest time a test program may run.
const PATIENCE: Duration = Duration::from_secs(240);

/// A language standard to compile for; the name is the compiler's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// C, by `gcc`.
    C(&'static str),
    /// C++, by `g++`.
    Cxx(&'static str),
}

impl Standard {
    /// The standard that a source file is written for, by its extension.
    pub fn of(source: &Path) -> Standard {
        if source.extension().is_some_and(|e| e == "cpp") {
            Standard::Cxx("c++11")
        } else {
            Standard::C("c99")
        }
    }

    /// The compiler with the options that choose the standard.
    pub fn compiler(self) -> Command {
        let (program, standard) = match self {
            Standard::C(standard) => ("gcc", standard),
            Standard::Cxx(standard) => ("g++", standard),
        };
        let mut command = Command::new(program);
        command.arg(format!("-std={standard}"));
        command
    }
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_path_buf()
}

/// An installed reCAL and a folder to build programs in.
#[derive(Clone, Debug)]
pub struct Installation {
    /// Where `include/CAL` and `lib` are.
    pub prefix: PathBuf,
    /// Where programs are built.
    pub build: PathBuf,
}

impl Installation {
    /// Builds the libraries if they are out of date and installs them into `scratch`.
    pub fn new(scratch: &Path) -> Result<Installation> {
        let installation = Installation { prefix: scratch.join("prefix"), build: scratch.join("build") };
        std::fs::create_dir_all(&installation.build).map_err(|e| format!("{}: {e}", scratch.display()))?;
        let mut make = Command::new("make");
        make.current_dir(repository()).arg("install");
        make.arg(format!("PREFIX={}", installation.prefix.display()));
        // `cargo test` exports these for its own build; the libraries are another one.
        for name in
            ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "MAKEFLAGS", "MAKELEVEL", "DESTDIR"]
        {
            make.env_remove(name);
        }
        run(&mut make, Duration::from_secs(1800))?.success("make install")?;
        Ok(installation)
    }

    /// Options that an old program's build file would have.
    pub fn compile_options(&self) -> Vec<String> {
        vec![format!("-I{}", self.prefix.join("include/CAL").display())]
    }

    /// Likewise for linking, with a run path so that the program finds the libraries.
    pub fn link_options(&self) -> Vec<String> {
        let lib = self.prefix.join("lib");
        vec![
            // As distributions do: a program records only what it uses.
            "-Wl,--as-needed".into(),
            format!("-L{}", lib.display()),
            format!("-Wl,-rpath,{}", lib.display()),
            "-laticalrt".into(),
            "-laticalcl".into(),
            "-lm".into(),
            "-lpthread".into(),
            "-ldl".into(),
        ]
    }

    /// Compiles and links one program; warnings are errors.
    pub fn build(
        &self,
        name: &str,
        sources: &[PathBuf],
        standard: Standard,
        options: &[&str],
    ) -> Result<PathBuf> {
        let program = self.build.join(name);
        let mut compiler = standard.compiler();
        compiler.args(["-O2", "-g", "-Wall", "-Wextra", "-Werror"]).args(options);
        compiler.args(self.compile_options()).args(sources).arg("-o").arg(&program).args(self.link_options());
        run(&mut compiler, PATIENCE)?.success(&format!("compiling {name}"))?;
        Ok(program)
    }
}

/// What a finished program left.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// The output if the program ended with 0, else everything it said.
    pub fn success(self, what: &str) -> Result<Outcome> {
        if self.status.success() {
            return Ok(self);
        }
        let mut message = format!("{what}: {}", self.status);
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                // Writing to a String cannot fail.
                let _ = write!(message, "\n--- {name}\n{text}");
            }
        }
        Err(message)
    }
}

/// Runs a command to its end, or kills it when it takes too long.
pub fn run(command: &mut Command, patience: Duration) -> Result<Outcome> {
    let shown = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // `cargo test` points it at its own build of the libraries, which would take the place of the installed ones.
    if !command.get_envs().any(|(name, _)| name == "LD_LIBRARY_PATH") {
        command.env_remove("LD_LIBRARY_PATH");
    }
    let mut child =
        command.spawn().map_err(|e| format!("{shown}: {e}; `make test` installs what the tests need"))?;
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| format!("{shown}: {e}"))? {
            break status;
        }
        if start.elapsed() > patience {
            // It may have ended in between; either way it is gone.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("{shown}: still running after {} s", patience.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let collect = |reader: std::thread::JoinHandle<String>| reader.join().unwrap_or_default();
    Ok(Outcome { status, stdout: collect(stdout), stderr: collect(stderr) })
}

/// Reads a pipe to its end on a thread, so that a program that says much is never blocked.
fn drain<R: Read + Send + 'static>(pipe: Option<R>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What could be read is shown; a broken pipe ends with the program.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
