//! The programs of `tests/c` and the samples: built with the real compilers, run, and run again under valgrind.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use conformance::toolchain::{Installation, Result, Standard, repository, run};
use libtest_mimic::Trial;

use crate::{Lazy, trial};

/// The samples with arguments that keep them short.
const SAMPLES: &[(&str, &[&str])] =
    &[("hellocal", &[]), ("findnumdevices", &[]), ("simple_matmult", &["-n", "64", "-i", "2"])];

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
            run(&mut Command::new(program), Duration::from_secs(240))?.success(&stem(&source))?;
            Ok(())
        }));
    }
    for &(name, arguments) in SAMPLES {
        trials.push(trial(format!("samples::{name}"), lazy, move |i| {
            let program = sample(i, name, "run")?;
            let output =
                run(Command::new(program).args(arguments), Duration::from_secs(240))?.success(name)?.stdout;
            if output.contains(&format!("{name}: PASS")) {
                Ok(())
            } else {
                Err(format!("no PASS:\n{output}"))
            }
        }));
        trials.push(trial(format!("valgrind::{name}"), lazy, move |i| {
            let program = sample(i, name, "valgrind")?;
            valgrind(&program, arguments, name)
        }));
    }
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

/// Memory errors and definite leaks are failures.
fn valgrind(program: &Path, arguments: &[&str], name: &str) -> Result<()> {
    let mut command = Command::new("valgrind");
    command.args(["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", "--quiet"]);
    command.arg(program).args(arguments);
    run(&mut command, Duration::from_secs(240))?.success(name)?;
    Ok(())
}
