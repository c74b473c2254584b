//! The C samples: run, run under valgrind, and compared bit for bit between the CPU and software Vulkan drivers.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use recal_conformance::toolchain::{Installation, Result, Standard, repository, run};
use recal_needs::{Failed, Need, Trial};

use crate::drivers::{Driver, LAVAPIPE, SWIFTSHADER, only};
use crate::programs::{sources, stem, valgrind};
use crate::{Lazy, needing, trial};

/// Longest time for a sample.
const PATIENCE: Duration = Duration::from_secs(240);

/// The samples with arguments that keep them short, and again for valgrind and for software Vulkan drivers, where
/// everything is slower.
#[rustfmt::skip]
const SAMPLES: &[(&str, &[&str], &[&str])] = &[
    ("async_copy", &["-n", "128", "-m", "6"], &["-n", "64", "-m", "3"]),
    ("basic", &["-n", "100"], &["-n", "16"]),
    ("bitonic_sort", &["-n", "4096"], &["-n", "128"]),
    ("black_scholes", &["-n", "64", "-i", "1"], &["-n", "8", "-i", "1"]),
    ("compute_matmult", &["-n", "96", "-i", "1"], &["-n", "32", "-i", "1"]),
    ("double_matmult", &["-n", "50", "-i", "1"], &["-n", "16", "-i", "1"]),
    ("fft", &["-n", "1024", "-i", "1"], &["-n", "128", "-i", "1"]),
    ("findnumdevices", &[], &[]),
    ("hellocal", &[], &[]),
    ("mandelbrot", &["-n", "150", "-i", "1"], &["-n", "32", "-m", "64", "-i", "1"]),
    ("memexport", &["-n", "128", "-i", "1"], &["-n", "64", "-i", "1"]),
    ("memimport", &["-n", "4096", "-i", "1"], &["-n", "128", "-i", "1"]),
    ("mersenne_twister", &["-n", "64", "-m", "700"], &["-n", "64", "-m", "10"]),
    ("multi_device", &["-n", "150", "-i", "1"], &["-n", "32", "-i", "1"]),
    ("nbody", &["-n", "256"], &["-n", "64", "-i", "1"]),
    ("offline_compile", &[], &[]),
    ("pinned_memory", &["-n", "128", "-i", "2"], &["-n", "64", "-i", "1"]),
    ("polynomial", &["-n", "100", "-i", "1"], &["-n", "16", "-i", "1"]),
    ("reduction", &["-n", "100001", "-i", "1"], &["-n", "3000", "-i", "1"]),
    ("simple_matmult", &["-n", "256", "-i", "2"], &["-n", "64", "-i", "1"]),
    ("stencil", &["-n", "100", "-i", "20"], &["-n", "32", "-i", "3"]),
    ("transpose", &["-n", "256", "-i", "1"], &["-n", "64", "-i", "1"]),
    ("vector_matrix", &["-n", "512", "-i", "1"], &["-n", "128", "-i", "1"]),
];

/// Samples without a checksum of their results, and why.
const NO_CHECKSUM: &[(&str, &str)] = &[
    ("findnumdevices", "runs no kernel"),
    ("hellocal", "does without sample.c; its check is for equal bits"),
    ("offline_compile", "its kernel runs in a child, whose check is for equal bits"),
];

/// Samples that do not run on a driver, and why.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("double_matmult", "swiftshader", "needs 64-bit floats"),
    ("mersenne_twister", "lavapipe", "LLVM 15 takes minutes over its array of 624 registers"),
];

/// A sample: built once.
#[derive(Clone)]
pub struct Sample {
    /// Name of the source without its extension.
    pub name: &'static str,
    arguments: &'static [&'static str],
    /// Arguments that give it little work.
    pub small: &'static [&'static str],
    built: Arc<OnceLock<Result<PathBuf>>>,
    /// What the small run prints on the CPU.
    printed: Arc<OnceLock<Result<String>>>,
}

/// All of them.
pub fn all() -> Vec<Sample> {
    let sample = |&(name, arguments, small): &(_, _, _)| Sample {
        name,
        arguments,
        small,
        built: Arc::default(),
        printed: Arc::default(),
    };
    SAMPLES.iter().map(sample).collect()
}

/// Whether a sample does not run on a driver.
pub fn left_out(name: &str, driver: &str) -> bool {
    LEFT_OUT.iter().any(|&(sample, on, _)| (sample, on) == (name, driver))
}

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    let mut trials = Vec::new();
    for sample in all() {
        let name = sample.name;
        let this = sample.clone();
        trials.push(trial(format!("samples::{name}"), lazy, move |i| {
            this.run(&mut this.command(i, this.arguments)?).map(drop)
        }));
        let this = sample.clone();
        trials.push(trial(format!("valgrind::{name}"), lazy, move |i| {
            valgrind(i, &this.build(i)?, this.small, this.name)
        }));
        for driver in [LAVAPIPE, SWIFTSHADER] {
            if !left_out(name, driver.name) {
                let this = sample.clone();
                let name = format!("samples::{name}::{}", driver.name);
                let needs = [Need::driver(driver)];
                trials.push(needing(name, needs, lazy, move |i| this.same_bits(i, driver)));
            }
        }
    }
    for name in ["mandelbrot", "transpose"] {
        trials.push(trial(format!("samples::{name}::picture"), lazy, move |i| picture(i, name)));
    }
    trials.push(Trial::test("samples::all_are_tested", || all_are_tested().map_err(Failed::from)));
    trials
}

impl Sample {
    fn build(&self, installation: &Installation) -> Result<PathBuf> {
        let build = || {
            let folder = repository().join("samples/c");
            let sources = [folder.join(format!("{}.c", self.name)), folder.join("sample.c")];
            let options = ["-pedantic", "-Wno-overlength-strings"];
            installation.build(&format!("sample-{}", self.name), &sources, Standard::C("c99"), &options)
        };
        self.built.get_or_init(build).clone()
    }

    pub fn command(&self, installation: &Installation, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(self.build(installation)?);
        command.current_dir(&installation.build).args(arguments);
        Ok(command)
    }

    /// What it prints; `PASS` must be there.
    pub fn run(&self, command: &mut Command) -> Result<String> {
        let output = run(command, PATIENCE)?.success(self.name)?.stdout;
        if output.contains(&format!("{}: PASS", self.name)) {
            Ok(output)
        } else {
            Err(format!("no PASS:\n{output}"))
        }
    }

    /// Whether it tells a checksum of its results when asked.
    pub fn has_checksum(&self) -> bool {
        !NO_CHECKSUM.iter().any(|(name, _)| *name == self.name)
    }

    /// The small run, with a checksum where there is one.
    fn small(&self, installation: &Installation) -> Result<Command> {
        let mut command = self.command(installation, self.small)?;
        if self.has_checksum() {
            command.arg("--checksum");
        }
        Ok(command)
    }

    /// The small run elsewhere printed the checksum of this machine's CPU.
    pub fn agrees(&self, installation: &Installation, there: &str, place: &str) -> Result<()> {
        let on_cpu = || self.run(self.small(installation)?.env("CAL_BACKEND", "cpu"));
        let here = self.printed.get_or_init(on_cpu).clone()?;
        if let Some((_, why)) = NO_CHECKSUM.iter().find(|(name, _)| *name == self.name) {
            eprintln!("{} is not compared: {why}", self.name);
            return Ok(());
        }
        match (checksum(&here), checksum(there)) {
            (Some(cpu), Some(other)) if cpu == other => Ok(()),
            (cpu, other) => Err(format!("checksum on the CPU {cpu:?}, on {place} {other:?}")),
        }
    }

    /// Passes on a driver's device, with the results of the CPU.
    fn same_bits(&self, installation: &Installation, driver: Driver) -> Result<()> {
        let mut command = self.small(installation)?;
        only(driver, &mut command)?;
        let there = self.run(&mut command)?;
        self.agrees(installation, &there, driver.name)
    }
}

/// The pictures that samples write can be read, and show what they should.
fn picture(installation: &Installation, name: &'static str) -> Result<()> {
    const SIZE: usize = 64;
    let sample = Sample { name, arguments: &[], small: &[], built: Arc::default(), printed: Arc::default() };
    let file = installation.build.join(format!("{name}.png"));
    let mut command = sample.command(installation, &["-n", "64", "-i", "1", "-o"])?;
    sample.run(command.arg(&file))?;
    let told = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let reader = std::io::BufReader::new(std::fs::File::open(&file).map_err(|e| told(&e))?);
    let mut reader = png::Decoder::new(reader).read_info().map_err(|e| told(&e))?;
    let mut grey = vec![0; reader.output_buffer_size().unwrap_or_default()];
    let info = reader.next_frame(&mut grey).map_err(|e| told(&e))?;
    let width = info.width as usize;
    let at = |x: usize, y: usize| grey[y * width + x];
    let shows = match name {
        // The middle of the set is black, a far corner is not.
        "mandelbrot" => width == SIZE && at(SIZE * 6 / 10, SIZE / 2) == 0 && at(SIZE - 1, 0) > 200,
        // The right half is the left one mirrored at its diagonal, which changes it.
        _ => {
            let mirrored = |x: usize, y: usize| at(SIZE + x, y) == at(y, x);
            let all = (0..SIZE * SIZE).all(|i| mirrored(i % SIZE, i / SIZE));
            width == 2 * SIZE && all && (0..SIZE).any(|y| at(SIZE, y) != at(0, y))
        }
    };
    if shows && info.height as usize == SIZE { Ok(()) } else { Err(format!("{}", file.display())) }
}

/// The checksum in what a sample printed; that of no results at all does not count.
fn checksum(printed: &str) -> Option<&str> {
    let text = printed.lines().find_map(|line| line.strip_prefix("checksum: "))?.trim_end();
    (text.len() == 16 && text.chars().any(|c| c != '0')).then_some(text)
}

/// Every sample of the folder stands in [`SAMPLES`], and no other in the lists of exceptions.
fn all_are_tested() -> Result<()> {
    let known = |name: &str| SAMPLES.iter().any(|&(known, ..)| known == name);
    for source in sources(&repository().join("samples/c")) {
        let name = stem(&source);
        if name != "sample" && !known(&name) {
            return Err(format!("samples/c/{name}.c is not tested"));
        }
    }
    for name in NO_CHECKSUM.iter().map(|(name, _)| name).chain(LEFT_OUT.iter().map(|(name, ..)| name)) {
        if !known(name) {
            return Err(format!("there is no sample {name}"));
        }
    }
    Ok(())
}
