//! Builds every sample of `brook/samples` by its makefile and runs it with `-e` on each back end: the sample compares its results
//! with the host's, and its exit status tells.

#[path = "../suite/build.rs"]
#[expect(dead_code, reason = "the suite compiles its sources itself, the samples have a makefile")]
mod build;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};

use recal_needs::{Arguments, Failed, Trial};

use build::{BACKENDS, Tools};

/// The samples with arguments that keep them short, and do not divide by anything.
#[rustfmt::skip]
const SAMPLES: &[(&str, &[&str])] = &[
    ("binomial_options", &["-x", "13", "-y", "7"]),
    ("bitonic_sort", &["-x", "25", "-y", "9"]),
    ("black_scholes", &["-x", "11", "-y", "5"]),
    ("fft", &["-x", "64", "-y", "3"]),
    ("floyd_warshall", &["-x", "33"]),
    ("gather", &["-x", "130", "-y", "70"]),
    ("image_filter", &["-x", "37", "-y", "21"]),
    ("lds", &["-x", "2"]),
    ("mandelbrot", &["-x", "45", "-y", "31"]),
    ("mersenne_twister", &["-x", "5", "-y", "2"]),
    ("multi_device", &["-x", "200", "-y", "200"]),
    ("optimized_matmult", &["-x", "40", "-y", "24"]),
    ("out_of_core_matmult", &["-x", "130", "-y", "70"]),
    ("prefix_sum", &["-x", "77", "-y", "5"]),
    ("reduction", &["-x", "40", "-y", "32"]),
    ("scatter", &["-x", "130", "-y", "70"]),
    ("simple_matmult", &["-x", "19", "-y", "23"]),
    ("sparse_matrix_vector", &["-x", "6", "-y", "90"]),
    ("structs", &["-x", "70", "-y", "9"]),
    ("sum", &["-x", "130", "-y", "70"]),
    ("vector_matrix", &["-x", "256"]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples")
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let built: Arc<OnceLock<Result<PathBuf, String>>> = Arc::default();
    let mut trials =
        vec![Trial::test("samples/every_one_is_here_and_in_the_table", || complete().map_err(Failed::from))];
    let shown = Arc::clone(&built);
    trials.push(Trial::test("samples/they_print_what_the_table_shows", move || {
        let programs = shown.get_or_init(make).as_ref().map_err(|e| Failed::from(e.clone()))?;
        prints(programs).map_err(Failed::from)
    }));
    for backend in &BACKENDS {
        for &(name, arguments) in SAMPLES {
            let built = Arc::clone(&built);
            let test = move || -> Result<(), String> {
                let programs = built.get_or_init(make).as_ref().map_err(Clone::clone)?;
                let mut command = backend.command(&programs.join(name));
                let said = build::run(command.args(["-e", "-t", "-q"]).args(arguments))?;
                match said.contains(&format!("{name}: Passed!")) {
                    true => Ok(()),
                    false => Err(format!("it did not say that it passed:\n{said}")),
                }
            };
            let title = format!("{}/samples/{name}", backend.name);
            trials.push(recal_needs::trial(title, backend.needs(), test));
        }
    }
    recal_needs::run(&arguments, trials)
}

/// All of them, by their makefile.
fn make() -> Result<PathBuf, String> {
    let tools = Tools::new()?;
    let out = tools.scratch.join("samples");
    let mut make = Command::new("make");
    make.arg("-C").arg(folder()).arg("-j2").arg("CXXFLAGS=-O1");
    make.arg(format!("OUT={}", out.display())).arg(format!("BROOK_LIB={}", tools.scratch.display()));
    // This may be a part of another make, whose options and job server are not ours.
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        make.env_remove(name);
    }
    build::run(&mut make)?;
    Ok(out)
}

/// What lies in the folder is tested, and told of in its table.
fn complete() -> Result<(), String> {
    let entries = std::fs::read_dir(folder()).map_err(|e| e.to_string())?;
    let mut there: Vec<String> = entries
        .flatten()
        .filter_map(|e| e.file_name().to_str().and_then(|n| n.strip_suffix(".br")).map(str::to_owned))
        .collect();
    there.sort();
    let mut known: Vec<&str> = SAMPLES.iter().map(|s| s.0).collect();
    known.sort_unstable();
    if there != known {
        return Err(format!("the folder has {there:?}, the tests {known:?}"));
    }
    let table = std::fs::read_to_string(folder().join("README.md")).map_err(|e| e.to_string())?;
    match known.iter().find(|name| !table.contains(&format!("| `{name}` |"))) {
        Some(name) => Err(format!("README.md does not tell of {name}")),
        None => Ok(()),
    }
}

/// What README.md shows of each sample, on CAL's CPU device, where every bit is defined.
fn prints(programs: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(folder().join("README.md")).map_err(|e| e.to_string())?;
    let cal = BACKENDS.iter().find(|b| b.name == "cal").ok_or("no back end is called cal")?;
    let mut runs: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("    $ built/"), runs.last_mut()) {
            (Some(command), _) => runs.push((command, String::new())),
            (None, Some((_, wanted))) if line.starts_with("    ") => {
                wanted.push_str(&line[4..]);
                wanted.push('\n');
            }
            _ => {}
        }
    }
    for (name, _) in SAMPLES {
        let (command, wanted) = runs
            .iter()
            .find(|(c, _)| c.split(' ').next() == Some(name))
            .ok_or_else(|| format!("README.md does not show what {name} prints"))?;
        let found = build::run(cal.command(&programs.join(name)).args(command.split(' ').skip(1)))?;
        if found != *wanted {
            return Err(format!("{command} printed\n{found}\nrather than\n{wanted}"));
        }
    }
    Ok(())
}
