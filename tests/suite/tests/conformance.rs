//! The suite on the CPU backend, in faithful and in native mode and with checks, and on the plain interpreter: every case passes or is in
//! `known.toml`.

use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::{DeviceOptions, FloatMode};
use recal_needs::{Arguments, Need, trial};
use recal_suite::runner::{Runner, Verdict};
use recal_suite::{coverage, plain, report, suite};

/// With one set of instructions; `first`: launches are interpreted that come before there is code.
fn the_cpu_backend_passes_every_case(set: InstructionSet, mode: FloatMode, first: bool) {
    let cases = suite::load("").unwrap();
    let backend = CpuBackend::limited(set);
    let backend = if first { backend.thrifty() } else { backend };
    let runner = Runner::open(&backend, None, mode).unwrap();
    let verdicts = runner.run_all(&cases);
    let name = name(mode);
    let summary = report::summarize(&cases, &verdicts, &suite::known().unwrap(), "cpu", name, &runner.name);
    assert!(summary.wrong.is_empty(), "{}: {summary}", set.name());
    assert!(summary.passed > 600, "{}: {summary}", set.name());
}

/// Where kernels are checked, the plain interpreter runs them on the device's memory.
fn the_checking_cpu_backend_passes_every_case(mode: FloatMode) {
    let cases = suite::load("").unwrap();
    let options = DeviceOptions { float_mode: mode, checks: true, ..DeviceOptions::default() };
    let runner = Runner::open_to(&CpuBackend::new(), None, options).unwrap();
    let (verdicts, known) = (runner.run_all(&cases), suite::known().unwrap());
    let summary = report::summarize(&cases, &verdicts, &known, "cpu", name(mode), &runner.name);
    assert!(summary.wrong.is_empty(), "{summary}");
    assert!(summary.passed > 600, "{summary}");
}

fn name(mode: FloatMode) -> &'static str {
    if mode == FloatMode::Native { "native" } else { "faithful" }
}

fn the_plain_interpreter_passes_every_case() {
    let cases = suite::load("").unwrap();
    let (verdicts, known) = (plain::run_all(&cases), suite::known().unwrap());
    let summary = report::summarize(&cases, &verdicts, &known, "cpu", "faithful", "the plain interpreter");
    assert!(summary.wrong.is_empty(), "{summary}");
    assert!(summary.passed > 600, "{summary}");
}

fn every_instruction_has_cases() {
    let rows = coverage::coverage(&suite::load("").unwrap(), &suite::known().unwrap());
    let gaps = coverage::gaps(&rows);
    assert!(gaps.is_empty(), "no case for {gaps:?}");
}

fn conformance_md_is_up_to_date() {
    let text = coverage::document(&suite::load("").unwrap(), &suite::known().unwrap());
    let file = std::fs::read_to_string(coverage::document_path()).unwrap();
    assert!(file == text, "run `cargo run -p recal-suite -- --write-conformance`");
}

/// The tables of `docs/conformance.md` name cases: `family/name`, or `family/name*` for several.
fn the_cases_that_the_documents_name_exist() {
    let names: Vec<String> = suite::load("").unwrap().into_iter().map(|case| case.name).collect();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md");
    let text = std::fs::read_to_string(path).unwrap();
    let families: Vec<&str> = names.iter().filter_map(|name| name.split('/').next()).collect();
    let mut seen = 0;
    for word in
        text.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('`').skip(1).step_by(2))
    {
        if !word.split_once('/').is_some_and(|(family, _)| families.contains(&family)) {
            continue;
        }
        seen += 1;
        let (start, end) = word.split_once('*').unwrap_or((word, "\0"));
        let named = |name: &String| match end {
            "\0" => {
                name == start
                    || name.starts_with(&format!("{start}/"))
                    || name.starts_with(&format!("{start}_"))
            }
            end => name.starts_with(start) && name[start.len()..].contains(end),
        };
        assert!(names.iter().any(named), "no case is called `{word}`");
    }
    assert!(seen > 70, "only {seen} names were found");
}

/// The comparison itself: every case fails when one expected word is another.
fn a_wrong_expectation_is_noticed() {
    let mut cases = suite::load("alu/iadd").unwrap();
    for case in &mut cases {
        let wanted = case.buffers.iter_mut().filter_map(|b| b.expected.as_mut()).next().unwrap();
        let recal_suite::case::Want::Word(word) = &mut wanted[0].1 else { panic!("iadd is exact") };
        *word ^= 1 << 31;
    }
    let runner = Runner::open(&CpuBackend::new(), None, FloatMode::Faithful).unwrap();
    for verdict in runner.run_all(&cases) {
        assert!(matches!(verdict, Verdict::Failed(_)), "{verdict:?}");
    }
}

fn main() -> std::process::ExitCode {
    let mut trials = vec![
        trial("the_plain_interpreter_passes_every_case", [], the_plain_interpreter_passes_every_case),
        trial("every_instruction_has_cases", [], every_instruction_has_cases),
        trial("conformance_md_is_up_to_date", [], conformance_md_is_up_to_date),
        trial("the_cases_that_the_documents_name_exist", [], the_cases_that_the_documents_name_exist),
        trial("a_wrong_expectation_is_noticed", [], a_wrong_expectation_is_noticed),
    ];
    for mode in [FloatMode::Faithful, FloatMode::Native] {
        let name = format!("the_checking_cpu_backend_passes_every_case::{}", name(mode));
        trials.push(trial(name, [], move || the_checking_cpu_backend_passes_every_case(mode)));
    }
    for set in InstructionSet::ALL {
        let needs = [Need::instructions(set.name(), set.available())];
        for mode in [FloatMode::Faithful, FloatMode::Native] {
            let compiled = set.code().is_some();
            for first in [false, true].into_iter().filter(|first| compiled || !first) {
                let what = if first { "first_launches_pass" } else { "the_cpu_backend_passes" };
                let name = format!("{what}_every_case::{}::{}", set.name(), name(mode));
                let passes = move || the_cpu_backend_passes_every_case(set, mode, first);
                trials.push(trial(name, needs.clone(), passes));
            }
        }
    }
    recal_needs::run(&Arguments::from_args(), trials)
}
