//! Other systems and processors: samples and programs built by cross compilers against the libraries of
//! `target/recal/TARGET`, run by an emulator, Wine, or as they are. Results must be those of this machine.
//!
//! `scripts/platforms.sh` builds the libraries and runs these tests; `RECAL_PLATFORMS` names the targets, none by default.

mod built;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, Once};
use std::time::Duration;

use recal_conformance::toolchain::{Installation, Result, Standard, repository, run};
use recal_needs::{Failed, Need, Trial};

use crate::programs::{Program, programs, sources, stem};
use crate::samples::{self, Sample};
use crate::{Lazy, needing};

/// Longest time for a program: emulators are slow.
const PATIENCE: Duration = Duration::from_secs(600);

/// How programs of a target run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// As they are, by the loader and the C library of the cross compiler.
    Loader,
    /// An emulator of the processor, on the C library of the cross compiler.
    Qemu,
    /// Wine, the system's own.
    Wine,
    /// Wine of a Debian system in the folder that `RECAL_I386` names, or the system's own without it.
    Wine32,
}

#[derive(Clone, Copy, Debug)]
struct Platform {
    target: &'static str,
    /// What the names of the compilers begin with.
    tools: &'static str,
    by: By,
    /// Options for the compilers.
    options: &'static [&'static str],
}

const PLATFORMS: &[Platform] = &[
    Platform {
        target: "i686-unknown-linux-gnu",
        tools: "i686-linux-gnu-",
        by: By::Loader,
        options: &[
            // Floats of the samples' own computations are rounded when they are computed.
            "-msse2",
            "-mfpmath=sse",
            "-Wl,--dynamic-linker=/usr/i686-linux-gnu/lib/ld-linux.so.2",
            "-Wl,--disable-new-dtags,-rpath,/usr/i686-linux-gnu/lib",
        ],
    },
    Platform {
        target: "aarch64-unknown-linux-gnu",
        tools: "aarch64-linux-gnu-",
        by: By::Qemu,
        // Products and sums are rounded each, as on x86.
        options: &["-ffp-contract=off"],
    },
    Platform {
        target: "x86_64-pc-windows-gnu",
        tools: "x86_64-w64-mingw32-",
        by: By::Wine,
        options: &["-static"],
    },
    Platform {
        target: "i686-pc-windows-gnu",
        tools: "i686-w64-mingw32-",
        by: By::Wine32,
        // Of 2 GiB of addresses no 600 MB are free in one piece.
        options: &["-static", "-msse2", "-mfpmath=sse", "-Wl,--large-address-aware"],
    },
];

/// Programs that are not for Windows, and why.
const NOT_ON_WINDOWS: &[(&str, &str)] = &[
    (
        "checks",
        "it catches what is written to file descriptor 2, which is not how Windows' programs are heard",
    ),
    ("cancelled_threads", "it cancels threads as glibc does"),
    ("dlopen", "it forks"),
    ("exit_other_thread", "it forks"),
    ("large_arrays", "it limits its memory with setrlimit"),
    ("signals", "Windows has none"),
];

/// Nor for its 32 bits.
const NOT_ON_32_BIT_WINDOWS: &[(&str, &str)] =
    &[("exceptions", "there exceptions of mingw pass other libraries only where all share one libgcc")];

/// Where the system says that it knows how to start programs for Arm.
const BINFMT: &str = "/proc/sys/fs/binfmt_misc/qemu-aarch64";

/// Programs that start programs, which an emulated process cannot unless the system knows of the emulator.
const STARTS_ITSELF: &[&str] = &["exit_other_thread", "offline_compile"];

/// Programs that the emulator does not run as a processor would, and why.
const NOT_EMULATED: &[(&str, &str)] = &[("large_arrays", "it limits its memory, and so the emulator's")];

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    let wanted = std::env::var("RECAL_PLATFORMS").unwrap_or_default();
    let mut trials = vec![Trial::test("platforms::lists", || lists().map_err(Failed::from)), built::msvc()];
    for name in wanted.split_whitespace() {
        let Some(&platform) = PLATFORMS.iter().find(|p| p.target == name) else {
            let unknown = format!("RECAL_PLATFORMS: no target {name}");
            trials.push(Trial::test(format!("platforms::{name}"), move || Err(Failed::from(unknown))));
            continue;
        };
        trials.extend(of(lazy, platform));
    }
    trials
}

fn of(lazy: &Lazy, platform: Platform) -> Vec<Trial> {
    let target = platform.target;
    let mut trials = Vec::new();
    let drivers: &[bool] = if platform.llvmpipe().is_some() { &[false, true] } else { &[false] };
    for &driver in drivers {
        let on = if driver { "::lavapipe" } else { "" };
        for sample in samples::all() {
            let name = sample.name;
            if driver && samples::left_out(name, "lavapipe") {
                continue;
            }
            let test = move |i: &Installation| platform.sample(i, &sample, driver);
            let needs = platform.lacks(name);
            trials.push(needing(format!("platforms::{target}::samples::{name}{on}"), needs, lazy, test));
        }
        for program in programs() {
            if driver && program.is_of_the_cpu() {
                continue;
            }
            let name = program.name();
            let needs = platform.lacks(&name);
            let test = move || platform.program(&program, driver);
            trials.push(recal_needs::trial(
                format!("platforms::{target}::programs::{name}{on}"),
                needs,
                test,
            ));
        }
    }
    if platform.is_windows() {
        for source in sources(&repository().join("tests/c/windows")) {
            let name = stem(&source);
            let test = move || platform.windows_program(&source).map_err(Failed::from);
            trials.push(Trial::test(format!("platforms::{target}::windows::{name}"), test));
        }
    }
    let test = move || platform.exports().map_err(Failed::from);
    trials.push(Trial::test(format!("platforms::{target}::exports"), test));
    let test = move || platform.command_line().map_err(Failed::from);
    trials.push(Trial::test(format!("platforms::{target}::command"), test));
    let test = move || platform.brook_program().map_err(Failed::from);
    trials.push(Trial::test(format!("platforms::{target}::brook"), test));
    trials
}

impl Platform {
    fn is_windows(self) -> bool {
        matches!(self.by, By::Wine | By::Wine32)
    }

    fn folder(self) -> PathBuf {
        repository().join("target/recal").join(self.target)
    }

    fn libraries(self) -> PathBuf {
        self.folder().join("lib")
    }

    /// Where Brook+ lies.
    fn brook(self) -> PathBuf {
        self.folder().join("brook")
    }

    /// Where programs lie: beside the libraries on Windows, where Wine sees them.
    fn programs(self) -> Result<PathBuf> {
        let folder = match self.system() {
            Some(system) => system.join("tmp/recal").join(self.target),
            None => self.folder().join("programs"),
        };
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    }

    /// The folder that the programs take for the root.
    fn system(self) -> Option<PathBuf> {
        (self.by == By::Wine32).then(i386_system).flatten()
    }

    /// The manifest of Mesa's software driver for 32-bit programs.
    fn llvmpipe(self) -> Option<PathBuf> {
        let system = (self.by == By::Loader).then(i386_system).flatten()?;
        let given = system.join("usr/share/vulkan/icd.d/lvp_icd.i686.json");
        let text = std::fs::read_to_string(given).ok()?;
        let text = text.replace("\"/usr/", &format!("\"{}/usr/", system.display()));
        let manifest = self.folder().join("lvp_icd.json");
        std::fs::write(&manifest, text).ok()?;
        Some(manifest)
    }

    fn build(self, name: &str, sources: &[PathBuf], standard: Standard, options: &[&str]) -> Result<PathBuf> {
        let program =
            self.programs()?.join(if self.is_windows() { format!("{name}.exe") } else { name.into() });
        let (compiler, standard) = match standard {
            Standard::C(standard) => ("gcc", standard),
            Standard::Cxx(standard) => ("g++", standard),
        };
        let include = repository().join("cal-api/include");
        let mut command = Command::new(format!("{}{compiler}", self.tools));
        command.arg(format!("-std={standard}")).args(["-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]);
        command.arg("-I").arg(&include).arg("-I").arg(include.join("CAL")).args(sources).args(options);
        command.arg("-o").arg(&program).arg("-L").arg(self.libraries());
        if !self.is_windows() {
            command.arg(format!("-Wl,-rpath,{}", self.libraries().display()));
        }
        command.args(["-laticalrt", "-laticalcl"]).args(self.options).args(["-lm", "-lpthread"]);
        if !self.is_windows() {
            command.arg("-ldl");
        }
        run(&mut command, PATIENCE)?.success(&format!("compiling {name}"))?;
        Ok(program)
    }

    /// A command that runs the program, on the CPU or on Mesa's software driver.
    fn command(self, program: &Path, driver: bool) -> Result<Command> {
        let libraries = self.libraries();
        let mut command = match self.by {
            By::Loader => Command::new(program),
            By::Qemu => {
                let mut command = Command::new("qemu-aarch64");
                command.args(["-L", "/usr/aarch64-linux-gnu"]).arg(program);
                command
            }
            By::Wine | By::Wine32 => self.wine(program)?,
        };
        command.env("CAL_BACKEND", "cpu").env("SMALL", "1");
        if !self.is_windows() {
            let folders = [libraries.clone(), self.brook()];
            command.current_dir(self.programs()?);
            command.env("LD_LIBRARY_PATH", std::env::join_paths(folders).unwrap_or_default());
        }
        if let Some(manifest) = driver.then(|| self.llvmpipe()).flatten() {
            let system = i386_system().unwrap_or_default();
            let folders =
                [libraries, system.join("lib/i386-linux-gnu"), system.join("usr/lib/i386-linux-gnu")];
            command.env("LD_LIBRARY_PATH", std::env::join_paths(folders).unwrap_or_default());
            command.env("CAL_BACKEND", "vulkan").env("CAL_VULKAN_DEVICE", "llvmpipe");
            command.env("CAL_FLOAT", "faithful");
            command.env("VK_DRIVER_FILES", &manifest).env("VK_ICD_FILENAMES", &manifest);
        }
        Ok(command)
    }

    /// Wine in the folder of the programs, with the libraries beside them.
    fn wine(self, program: &Path) -> Result<Command> {
        let folder = self.programs()?;
        // One test at a time.
        static COPYING: Mutex<()> = Mutex::new(());
        let copying = COPYING.lock();
        let folders = [self.libraries(), self.brook()].map(std::fs::read_dir);
        for entry in folders.into_iter().flatten().flatten().flatten() {
            let from = entry.path();
            let to = folder.join(entry.file_name());
            let older = |a: &Path, b: &Path| {
                let time = |p: &Path| p.metadata().and_then(|m| m.modified()).ok();
                time(a) < time(b)
            };
            if from.extension().is_some_and(|e| e == "dll") && (!to.exists() || older(&to, &from)) {
                // Processes may have the old one mapped.
                let new = to.with_extension("new");
                let put = std::fs::copy(&from, &new).and_then(|_| std::fs::rename(&new, &to));
                put.map_err(|e| format!("{}: {e}", to.display()))?;
            }
        }
        drop(copying);
        let name = program.file_name().unwrap_or_default();
        let mut command;
        if let Some(system) = self.system() {
            command = Command::new("chroot");
            let inside = format!("cd /tmp/recal/{} && exec wine \"$@\"", self.target);
            command.arg(&system).args(["/bin/sh", "-c", &inside, "wine"]).arg(name);
            command.env("WINEPREFIX", "/tmp/recal/wine").env("HOME", "/tmp/recal");
        } else {
            let prefix = self.folder().join("wine");
            // As in scripts/machine.sh: the server runs before the first program, and until nobody has needed it for a minute.
            static SERVED: Once = Once::new();
            SERVED.call_once(|| {
                for (name, argument) in [("wineserver", "-p60"), ("wine", "wineboot")] {
                    let mut command = Command::new(name);
                    command.arg(argument).env("WINEPREFIX", &prefix).env("WINEDEBUG", "-all");
                    // That one runs already is no failure, and without Wine programs say so.
                    _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
                }
            });
            command = Command::new("wine");
            command.arg(name).current_dir(&folder).env("WINEPREFIX", prefix);
        }
        command.env("WINEDEBUG", "-all");
        Ok(command)
    }

    /// What a program needs that there is not here.
    fn lacks(self, name: &str) -> Option<Need> {
        let listed =
            |list: &[(&str, &'static str)]| list.iter().find(|(n, _)| *n == name).map(|(_, why)| *why);
        let why = match self.by {
            By::Loader => None,
            By::Qemu if STARTS_ITSELF.contains(&name) && !Path::new(BINFMT).exists() => {
                Some("it starts itself, and the system does not know how to start it")
            }
            By::Qemu => listed(NOT_EMULATED),
            By::Wine => listed(NOT_ON_WINDOWS),
            By::Wine32 => listed(NOT_ON_WINDOWS).or_else(|| listed(NOT_ON_32_BIT_WINDOWS)),
        };
        why.map(|why| Need::system(why, false))
    }

    /// Passes, with the results that this machine's libraries give.
    fn sample(self, installation: &Installation, sample: &Sample, driver: bool) -> Result<()> {
        let folder = repository().join("samples/c");
        let sources = [folder.join(format!("{}.c", sample.name)), folder.join("sample.c")];
        let built = self.build(sample.name, &sources, Standard::C("c99"), &["-Wno-overlength-strings"])?;
        let mut command = self.command(&built, driver)?;
        command.args(sample.small);
        if sample.has_checksum() {
            command.arg("--checksum");
        }
        let there = sample.run(&mut command)?;
        sample.agrees(installation, &there, self.target)
    }

    /// Everything that a program says to hold, holds.
    fn program(self, program: &Program, driver: bool) -> Result<()> {
        let name = program.name();
        let sources = [program.source.clone()];
        let built = self.build(&name, &sources, Standard::of(&program.source), &[])?;
        let printed = run(&mut self.command(&built, driver)?, PATIENCE)?.success(&name)?.stdout;
        let said: BTreeSet<&str> = printed.lines().map(str::trim_end).collect();
        let behaviours = program.behaviours().into_iter();
        let missing: Vec<_> = behaviours.filter(|b| !said.contains(format!("holds: {b}").as_str())).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("not said to hold: {}", missing.join(", "))) }
    }

    /// A program of `tests/c/windows`: what is true of Windows only.
    fn windows_program(self, source: &PathBuf) -> Result<()> {
        let name = stem(source);
        let include = format!("-I{}", repository().join("tests/c").display());
        let built = self.build(&name, std::slice::from_ref(source), Standard::C("c99"), &[&include])?;
        run(&mut self.command(&built, false)?, PATIENCE)?.success(&name)?;
        Ok(())
    }
}

/// A folder with a Debian system for i386.
fn i386_system() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("RECAL_I386")?);
    folder.join("bin/sh").exists().then_some(folder)
}

/// The lists above name programs that there are.
fn lists() -> Result<()> {
    let known: BTreeSet<String> = programs()
        .iter()
        .map(Program::name)
        .chain(samples::all().into_iter().map(|s| s.name.to_owned()))
        .collect();
    let named = NOT_ON_WINDOWS
        .iter()
        .chain(NOT_ON_32_BIT_WINDOWS)
        .chain(NOT_EMULATED)
        .map(|(name, _)| name)
        .chain(STARTS_ITSELF);
    for name in named {
        if !known.contains(*name) {
            return Err(format!("neither tests/c nor samples/c has {name}"));
        }
    }
    Ok(())
}
