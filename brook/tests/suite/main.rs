//! Runs the cases of `kernels/`, `errors/` and `programs/`, sources that try the bounds of the compiler, and its options.
//!
//! A case of `kernels/` is a kernel, and in plain C what it computes for one element. All of them are compiled into one program
//! each: by brcc and g++ for Brook+, by gcc for the expected values. The program runs on the CPU back end, on CAL's CPU, and on CAL's
//! Vulkan with llvmpipe where that is installed; each case on each is a test. A case of `errors/` says which rules a source
//! breaks in which lines. A program of `programs/` has a main of its own, and prints what stands beside it; `projects/` has such of several files, with
//! makefiles.

mod build;
mod cases;
mod generate;
mod limits;
mod options;
mod programs;
mod projects;

use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use recal_needs::{Arguments, Failed, Trial};

use build::{BACKENDS, Tools};
use cases::Case;
use generate::Kernels;

/// What kernels gave, once for all cases.
struct Results {
    expected: Result<generate::Output, String>,
    found: Vec<OnceLock<Result<generate::Output, String>>>,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for case in cases::load("errors") {
        trials
            .push(Trial::test(format!("errors/{}", case.name), move || errors(&case).map_err(Failed::from)));
    }
    let tools: Arc<OnceLock<Result<Tools, String>>> = Arc::default();
    let kernels = Arc::new(Kernels::load(cases::load("kernels")));
    let built: Arc<OnceLock<Result<Results, String>>> = Arc::default();
    for (number, backend) in BACKENDS.iter().enumerate() {
        for case in 0..kernels.cases.len() {
            let (tools, kernels, built) = (Arc::clone(&tools), Arc::clone(&kernels), Arc::clone(&built));
            let name = format!("{}/{}", backend.name, kernels.cases[case].name);
            trials.push(recal_needs::trial(name, backend.needs(), move || {
                let tools = tools.get_or_init(Tools::new).as_ref().map_err(Clone::clone)?;
                let results = built.get_or_init(|| {
                    kernels.build(tools)?;
                    Ok(Results {
                        expected: kernels.expected(tools),
                        found: BACKENDS.iter().map(|_| OnceLock::new()).collect(),
                    })
                });
                let results = results.as_ref().map_err(Clone::clone)?;
                let found = results.found[number].get_or_init(|| kernels.run(tools, number));
                let found = found.as_ref().map_err(Clone::clone)?;
                let expected = results.expected.as_ref().map_err(Clone::clone)?;
                kernels.compare(case, expected, found)
            }));
        }
    }
    trials.extend(programs::trials(&tools));
    trials.extend(projects::trials(&tools));
    trials.extend(limits::trials(&tools));
    trials.extend(options::trials(&tools));
    recal_needs::run(&arguments, trials)
}

/// Compiles a source that is wrong, and compares what is told with what should be.
fn errors(case: &Case) -> Result<(), String> {
    let options = cases::options(case)?;
    let mut wanted: Vec<(usize, String)> = case.marks("error")?;
    let mut wanted_warnings: Vec<(usize, String)> = case.marks("warning")?;
    let found = match brcc::compile(&case.source, &options) {
        Ok(output) => output.warnings,
        Err(found) => found,
    };
    let shown = brcc::diagnostic::render(&found, &case.source, "case.br");
    for d in &found {
        let at = (brcc::diagnostic::position(&case.source, d.span.start).0, d.rule.to_owned());
        let list = match d.severity {
            brcc::diagnostic::Severity::Error => &mut wanted,
            brcc::diagnostic::Severity::Warning(_) => &mut wanted_warnings,
        };
        match list.iter().position(|w| *w == at) {
            Some(found) => drop(list.remove(found)),
            None => return Err(format!("unexpected `{}` in line {}\n{shown}", at.1, at.0)),
        }
    }
    match wanted.iter().chain(&wanted_warnings).next() {
        None => Ok(()),
        Some((line, rule)) => Err(format!("line {line} does not break `{rule}`\n{shown}")),
    }
}
