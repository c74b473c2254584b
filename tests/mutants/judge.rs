//! Looks at cases of the suite under a mutant, without a process for each; `recal-mutants` puts it into its copy.
//!
//! ```text
//! mutants_judge see cpu|modules            case, milliseconds and the mutants asked for, a line each
//! mutants_judge cpu|vulkan MUTANT CASE…    fails with the first case that does
//! mutants_judge modules MUTANT CASE…       the cases whose modules are others, shortest kernels first
//! ```

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::FloatMode;
use recal_il::spirv::{Assume, Formats, Mode, Target, emit};
use recal_suite::case::Case;
use recal_suite::runner::{Runner, Verdict};
use recal_suite::suite;

/// The engine as it is, and the interpreter alone.
fn cpu() -> Vec<Runner> {
    let backends = [CpuBackend::new(), CpuBackend::limited(InstructionSet::Baseline)];
    backends.iter().map(|b| Runner::open(b, None, FloatMode::Faithful).unwrap()).collect()
}

fn vulkan() -> Vec<Runner> {
    let options =
        recal_vulkan::Options { software: true, on_demand: true, at_once: true, ..Default::default() };
    let backend = recal_vulkan::Vulkan::new(options);
    let open = |mode| Runner::open(&backend, Some("llvmpipe"), mode).unwrap();
    vec![open(FloatMode::Faithful)]
}

fn fails(runners: &[Runner], case: &Case) -> bool {
    runners
        .iter()
        .any(|r| r.run_all(std::slice::from_ref(case)).iter().any(|v| matches!(v, Verdict::Failed(_))))
}

/// Of a device like llvmpipe, and of one that lacks much.
fn targets() -> Vec<Target> {
    let poor = Target {
        int64: false,
        int64_atomics: false,
        int64_shared_atomics: false,
        float64: false,
        longest_run: 64,
        ends_loops: true,
        fences_apart: false,
        ..Target::full(Mode::Faithful)
    };
    vec![Target::full(Mode::Faithful), Target::full(Mode::Native), poor]
}

/// A number for what a case's modules are; another one if making them panics.
fn modules(case: &Case, targets: &[Target]) -> u64 {
    let words = Assume { formats: Formats::Words, default_samplers: true, ..Assume::NOTHING };
    let buffers = Assume { buffers: true, padded: true, uniforms: true, ..Assume::NOTHING };
    let made = catch_unwind(AssertUnwindSafe(|| {
        let mut hasher = DefaultHasher::new();
        if let Ok(program) = recal_il::compile(case.text.as_bytes()) {
            for (target, assume) in
                targets.iter().flat_map(|t| [Assume::NOTHING, words, buffers].map(|a| (t, a)))
            {
                match emit(&program, target, assume) {
                    Ok(module) => (module.words, module.shared, module.group).hash(&mut hasher),
                    Err(error) => error.to_string().hash(&mut hasher),
                }
            }
        }
        hasher.finish()
    }));
    made.unwrap_or(1)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let cases = suite::load("").unwrap();
    let known = suite::known().unwrap();
    let known = |case: &Case| format!("{known:?}").contains(&case.name);
    std::panic::set_hook(Box::new(|_| ()));
    match &*arguments[0] {
        "see" => {
            let runners = if arguments[1] == "cpu" { cpu() } else { Vec::new() };
            mutants::see();
            mutants::seen();
            for (number, case) in cases.iter().enumerate() {
                let start = Instant::now();
                let bad =
                    if runners.is_empty() { modules(case, &targets()) == 1 } else { fails(&runners, case) };
                let numbers: Vec<String> = mutants::seen().iter().map(u32::to_string).collect();
                if !bad && !known(case) {
                    println!("{number}\t{}\t{}", start.elapsed().as_millis(), numbers.join(" "));
                }
            }
            ExitCode::SUCCESS
        }
        what => {
            let mutant: u32 = arguments[1].parse().unwrap();
            let chosen = arguments[2..].iter().map(|n| &cases[n.parse::<usize>().unwrap()]);
            if what == "modules" {
                let targets = targets();
                let mut changed = Vec::new();
                for case in chosen {
                    mutants::choose(mutants::NONE);
                    let right = modules(case, &targets);
                    mutants::choose(mutant);
                    if modules(case, &targets) != right {
                        changed
                            .push((case.text.len(), cases.iter().position(|c| c.name == case.name).unwrap()));
                    }
                }
                changed.sort_unstable();
                changed.iter().for_each(|(_, number)| println!("{number}"));
                return ExitCode::SUCCESS;
            }
            mutants::choose(mutant);
            let runners = if what == "cpu" { cpu() } else { vulkan() };
            for case in chosen {
                if fails(&runners, case) {
                    println!("{}", case.name);
                    return ExitCode::FAILURE;
                }
            }
            ExitCode::SUCCESS
        }
    }
}
