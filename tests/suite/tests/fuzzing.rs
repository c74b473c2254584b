//! Random kernels, the same in every run: the CPU backend against the plain interpreter, and against a Vulkan
//! device where there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::FloatMode;
use recal_needs::{Arguments, Need, trial};
use recal_suite::case::{self, Case};
use recal_suite::fuzz::{self, Against, Engine, Kernel};
use recal_suite::runner::{Runner, Verdict};

fn cpu() -> Runner {
    Runner::open(&CpuBackend::new(), None, FloatMode::Faithful).unwrap()
}

/// With one set of instructions.
fn the_cpu_backend_agrees_with_the_plain_interpreter(set: InstructionSet) {
    let runner = &Runner::open(&CpuBackend::limited(set), None, FloatMode::Faithful).unwrap();
    let start = Instant::now();
    // As many as ten seconds allow, and some on a busy machine, too.
    let differences: Vec<_> = (1..2000u64)
        .into_par_iter()
        .filter(|seed| *seed <= 60 || start.elapsed() < Duration::from_secs(10))
        .filter_map(|seed| {
            let against = Against::Interpreter;
            fuzz::compare(runner, &against, fuzz::kernel(&against, seed), seed).err()
        })
        .map(|d| format!("seed {}: {}\n{}", d.seed, d.what, d.case.text))
        .collect();
    assert!(differences.is_empty(), "{}: {}", set.name(), differences.join("\n"));
}

/// The comparison itself: an engine that takes one instruction for another differs, and what is kept shows it.
fn a_difference_is_noticed_and_shrunk() {
    let runner = cpu();
    let wrong = Against::Replaced(&runner, "dadd ", "dmul ");
    let found =
        (1..200u64).find_map(|seed| fuzz::compare(&runner, &wrong, fuzz::kernel(&wrong, seed), seed).err());
    let found = found.expect("a kernel with a dadd whose result matters");
    assert!(found.case.text.contains("dadd"), "{}", found.case.text);
    let whole = Kernel::new(found.seed, Engine::WORDS).text();
    assert!(found.case.text.lines().count() < whole.lines().count(), "{}", found.case.text);
}

/// In every row: here of three the first one is the same.
fn a_difference_is_noticed_in_every_row() {
    let runner = cpu();
    let text = ";@ from amd-il 3.10\n;@ domain 4x3\n;@ o0 FLOAT32_1 4x3\n;@ expect o0 = 0.5*4 0.75*8\nil_ps_2_0\n\
        dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_literal l0, 0.75, 0, 0, 0\nadd r0.x, vWinCoord0.y, l0.y\nmin o0, r0.xxxx, l0.xxxx\nend\n";
    let case = case::parse("rows", text).unwrap();
    let (same, other) = ("end\n", "min o0, r0.xxxx, l0.xxxx");
    let differs = |from, to| fuzz::difference(&runner, &Against::Replaced(&runner, from, to), &case);
    assert_eq!(differs(same, same), None);
    assert_eq!(differs(other, "mov o0, r0.xxxx").unwrap(), "o0 word 64: 0x3F400000 and 0x3FC00000");
}

/// What is kept of a difference holds on the engine that is taken to be right, whatever the pitch of its memory.
fn what_is_kept_is_a_case() {
    let runner = cpu();
    let (from, to) = ("mov o0, r1", "mov o0, r2");
    let wrong = Against::Replaced(&runner, from, to);
    let found = (1..400u64).filter_map(|seed| {
        let kernel = Kernel::new(seed, Engine::DEVICE);
        let rows = kernel.text().contains(from);
        let found = rows.then(|| fuzz::compare(&runner, &wrong, kernel, seed))?.err()?;
        Some(Case { text: found.case.text.replace(from, to), ..found.case })
    });
    let kept: Vec<Case> = found.take(3).collect();
    assert_eq!(kept.len(), 3);
    for (case, verdict) in kept.iter().zip(runner.run_all(&kept)) {
        assert!(matches!(verdict, Verdict::Passed), "{verdict:?}\n{}", case.text);
    }
}

/// Together the kernels hold nearly every instruction that computes.
fn kernels_are_varied() {
    let text: String = (1..1500).map(|seed| Kernel::new(seed, Engine::DEVICE).text()).collect();
    let words: BTreeSet<&str> = text.lines().filter_map(|line| line.split([' ', '_']).next()).collect();
    for word in
        ["dmad", "i64div", "sin", "whileloop", "switch", "call", "lds", "uav", "sample", "ret", "msad"]
    {
        assert!(words.contains(word), "no {word}");
    }
    assert!(words.len() > 200, "{}", words.len());
}

/// Some of them are compiled as whole groups, with words that other lanes have left.
fn groups_are_compiled_whole() {
    let whole = |seed: &u64| {
        let text = Kernel::new(*seed, Engine::DEVICE).text();
        let program = recal_il::compile(text.as_bytes()).unwrap();
        let listing = recal_cpu::vector_listing(&program, InstructionSet::Avx512, &BTreeMap::new()).unwrap();
        listing.ends_with("}\n1: End\n") && listing.contains(" = Permute")
    };
    let count = (5..800).step_by(8).filter(whole).count();
    assert!(count >= 10, "{count} of 100");
}

/// Sums and products that run bare first, in the plain interpreter, against the CPU backend, which runs them as they are.
fn bare_regions_agree_with_full_ones() {
    let runner = &cpu();
    let start = Instant::now();
    let tried: Vec<_> = (1..40_000u64)
        .into_par_iter()
        .filter(|seed| *seed <= 300 || start.elapsed() < Duration::from_secs(10))
        .map(|seed| {
            let case = fuzz::products::case(seed);
            let what = fuzz::difference(runner, &Against::Interpreter, &case);
            what.map(|what| format!("seed {seed}: {what}\n{}", case.text))
        })
        .collect();
    let differences: Vec<_> = tried.iter().flatten().take(3).cloned().collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let changed = |seed: &u64| {
        let text = fuzz::products::case(*seed).text;
        let program = recal_il::compile(text.as_bytes()).unwrap();
        recal_il::ir::speculate::speculate(&program, i64::MIN, true).registers > program.registers
    };
    let count = (1..200u64).filter(changed).count();
    assert!(count > 150, "{count} of 200 have regions that run bare");
}

/// Outputs that compiled code stores, and elements that stay whole.
fn elements_agree_with_the_plain_interpreter(set: InstructionSet) {
    let runner = &Runner::open(&CpuBackend::limited(set), None, FloatMode::Faithful).unwrap();
    let start = Instant::now();
    let differences: Vec<_> = (1..100_000u64)
        .into_par_iter()
        .filter(|seed| *seed <= 200 || start.elapsed() < Duration::from_secs(10))
        .filter_map(|seed| {
            let case = fuzz::elements::case(seed);
            let what = fuzz::difference(runner, &Against::Interpreter, &case)?;
            Some(format!("seed {seed}: {what}\n{}", case.text))
        })
        .collect();
    assert!(differences.is_empty(), "{}: {}", set.name(), differences[..differences.len().min(3)].join("\n"));
}

/// Loops are unrolled in a good part of the kernels, for devices and for the plain interpreter.
fn kernels_have_loops_to_unroll() {
    let unrolled = |seed: &u64| {
        let text = Kernel::new(*seed, Engine::WORDS).text();
        let program = recal_il::compile(text.as_bytes()).unwrap();
        recal_il::ir::unroll::unroll(&program, true, |_| 4).registers > program.registers
    };
    let count = (1..200u64).filter(unrolled).count();
    assert!(count > 30, "{count}");
}

fn main() -> std::process::ExitCode {
    let mut trials = vec![
        trial("a_difference_is_noticed_and_shrunk", [], a_difference_is_noticed_and_shrunk),
        trial("a_difference_is_noticed_in_every_row", [], a_difference_is_noticed_in_every_row),
        trial("what_is_kept_is_a_case", [], what_is_kept_is_a_case),
        trial("bare_regions_agree_with_full_ones", [], bare_regions_agree_with_full_ones),
        trial("kernels_are_varied", [], kernels_are_varied),
        trial("groups_are_compiled_whole", [], groups_are_compiled_whole),
        trial("kernels_have_loops_to_unroll", [], kernels_have_loops_to_unroll),
    ];
    for set in InstructionSet::ALL {
        let needs = [Need::instructions(set.name(), set.available())];
        let name = format!("elements_agree_with_the_plain_interpreter::{}", set.name());
        trials.push(trial(name, needs, move || elements_agree_with_the_plain_interpreter(set)));
        let needs = [Need::instructions(set.name(), set.available())];
        let name = format!("the_cpu_backend_agrees_with_the_plain_interpreter::{}", set.name());
        trials.push(trial(name, needs, move || the_cpu_backend_agrees_with_the_plain_interpreter(set)));
    }
    recal_needs::run(&Arguments::from_args(), trials)
}
