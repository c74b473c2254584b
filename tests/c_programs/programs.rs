//! The programs of `tests/c` and the samples: built with the real compilers, run, and run again under valgrind.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use conformance::toolchain::{Installation, Result, Standard, repository, run};
use libtest_mimic::{Failed, Trial};

use crate::{Lazy, trial};

/// The samples with arguments that keep them short, and again for valgrind, where everything is fifty times slower.
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

/// The programs of `tests/c` that run under valgrind as well: those that misuse the interface, end in odd orders or hand
/// over memory of their own.
const UNDER_VALGRIND: &[&str] = &["accl", "calpp", "extensions", "handles", "hetpas", "nulls"];

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    let mut trials = Vec::new();
    for source in sources(&repository().join("tests/c")) {
        let name = stem(&source);
        trials.push(trial(format!("programs::{name}"), lazy, move |i| {
            let program = i.build(
                &stem(&source),
                std::slice::from_ref(&source),
                Standard::of(&source),
                &["-D_GNU_SOURCE"],
            )?;
            run(Command::new(program).current_dir(&i.build), Duration::from_secs(240))?
                .success(&stem(&source))?;
            Ok(())
        }));
    }
    for &name in UNDER_VALGRIND {
        trials.push(trial(format!("valgrind::{name}"), lazy, move |i| {
            let folder = repository().join("tests/c");
            let source = sources(&folder).into_iter().find(|s| stem(s) == name);
            let source = source.ok_or_else(|| format!("tests/c has no {name}"))?;
            let standard = Standard::of(&source);
            let program = i.build(&format!("{name}-valgrind"), &[source], standard, &["-D_GNU_SOURCE"])?;
            valgrind(i, &program, &[], name)
        }));
    }
    for &(name, arguments, small) in SAMPLES {
        trials.push(trial(format!("samples::{name}"), lazy, move |i| {
            let program = sample(i, name, "run")?;
            let mut command = Command::new(program);
            command.current_dir(&i.build).args(arguments);
            let output = run(&mut command, Duration::from_secs(240))?.success(name)?.stdout;
            if output.contains(&format!("{name}: PASS")) {
                Ok(())
            } else {
                Err(format!("no PASS:\n{output}"))
            }
        }));
        trials.push(trial(format!("valgrind::{name}"), lazy, move |i| {
            let program = sample(i, name, "valgrind")?;
            valgrind(i, &program, small, name)
        }));
    }
    trials.push(Trial::test("samples::all_are_tested", || all_are_tested().map_err(Failed::from)));
    trials
}

fn stem(source: &Path) -> String {
    source.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The C and C++ files of a folder, sorted by name.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    files.sort();
    files
}

/// Every sample of the folder stands in [`SAMPLES`].
fn all_are_tested() -> Result<()> {
    for source in sources(&repository().join("samples/c")) {
        let name = stem(&source);
        if name != "sample" && !SAMPLES.iter().any(|&(known, ..)| known == name) {
            return Err(format!("samples/c/{name}.c is not tested"));
        }
    }
    Ok(())
}

/// Builds a sample; `purpose` keeps apart the programs that several tests build at the same time.
fn sample(installation: &Installation, name: &str, purpose: &str) -> Result<PathBuf> {
    let folder = repository().join("samples/c");
    let sources = [folder.join(format!("{name}.c")), folder.join("sample.c")];
    installation.build(
        &format!("sample-{name}-{purpose}"),
        &sources,
        Standard::C("c99"),
        &["-pedantic", "-Wno-overlength-strings"],
    )
}

/// Memory errors and definite leaks are failures. On the CPU device only: the Vulkan loader and the drivers that it
/// opens have errors of their own under valgrind.
fn valgrind(installation: &Installation, program: &Path, arguments: &[&str], name: &str) -> Result<()> {
    let mut command = Command::new("valgrind");
    command.current_dir(&installation.build);
    command.args(["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", "--quiet"]);
    command.env("CAL_BACKEND", "cpu").arg(program).args(arguments);
    run(&mut command, Duration::from_secs(240))?.success(name)?;
    Ok(())
}
