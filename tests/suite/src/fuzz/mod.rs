//! Differential fuzzing: random kernels run on two engines that must leave the same memory, bit for bit.
//!
//! Input: seeds, a device, and what it is compared with: another device, or the plain interpreter, which takes the contracts of
//! programs at their word. Output: differences, shrunk, as cases. It judges no value: where both engines share a mistake it
//! sees nothing.

pub mod elements;
mod kernel;
mod memory;
pub mod products;
mod shape;
mod shrink;
mod sweep;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use recal_il::ir::passes::{EMISSION, Settings, run};
use recal_il::lower::lower_named;

use crate::case::{Buffer, Case, Needs, Want};
use crate::generate::values::Random;
use crate::plain;
use crate::runner::Runner;
pub use kernel::Kernel;
pub use shape::Engine;

/// What a device is compared with.
pub enum Against<'a> {
    /// Another device.
    Device(&'a Runner),
    /// The plain interpreter.
    Interpreter,
    /// A device that takes one opcode word for another: a mistake to be found, for tests.
    Replaced(&'a Runner, &'a str, &'a str),
}

/// Two engines did not agree.
#[derive(Debug)]
pub struct Difference {
    /// Seed of the kernel.
    pub seed: u64,
    /// What was seen, for people.
    pub what: String,
    /// The shrunk kernel; expected words are those of the other engine.
    pub case: Case,
}

/// Memory after a launch, a block for each buffer, or why there is none.
type Outcome = Result<Vec<Vec<u8>>, String>;

/// Attempts at making a kernel smaller.
const BUDGET: usize = 600;
/// Time for that: some drivers compile for seconds.
const PATIENCE: Duration = Duration::from_secs(90);

/// The kernel of `seed`, of what both can do.
pub fn kernel(against: &Against<'_>, seed: u64) -> Kernel {
    let engine = match against {
        Against::Device(device) => device.engine(),
        Against::Replaced(..) => Engine::WORDS,
        // Half of the kernels compute much and do little else.
        Against::Interpreter if seed % 2 == 0 => Engine::WORDS,
        Against::Interpreter => Engine::DEVICE,
    };
    Kernel::new(seed, engine)
}

/// Runs the kernel of `seed` on both; `Ok` if they agree.
pub fn compare(
    runner: &Runner,
    against: &Against<'_>,
    kernel: Kernel,
    seed: u64,
) -> Result<(), Box<Difference>> {
    let differs = |kernel: &Kernel| difference(runner, against, &case(kernel, seed));
    let Some(first) = differs(&kernel) else { return Ok(()) };
    let deadline = Instant::now() + PATIENCE;
    let compiles = |kernel: &Kernel| recal_il::compile(kernel.text().as_bytes()).is_ok();
    let kernel = if compiles(&kernel) {
        shrink::shrink(kernel, BUDGET, deadline, |smaller| compiles(smaller) && differs(smaller).is_some())
    } else {
        kernel
    };
    let mut case = case(&kernel, seed);
    shrink_memory(&mut case, |case| Instant::now() < deadline && difference(runner, against, case).is_some());
    let what = difference(runner, against, &case).unwrap_or_else(|| format!("it comes and goes: {first}"));
    if let Ok(blocks) = other(against, &case) {
        let changes = |(buffer, block): (&Buffer, &Vec<u8>)| {
            let places = (0..buffer.initial.len()).map(|at| buffer.place(at));
            places.zip(&buffer.initial).any(|(place, byte)| block[place] != *byte)
        };
        let changed: Vec<bool> = case.buffers.iter().zip(&blocks).map(changes).collect();
        // A case expects something: all memory as it was, if nothing changed.
        let all = !changed.contains(&true);
        for ((buffer, block), changed) in case.buffers.iter_mut().zip(blocks).zip(changed) {
            let word = |k: usize| u32::from_le_bytes([0, 1, 2, 3].map(|n| block[buffer.place(4 * k + n)]));
            let words = || (0..buffer.initial.len() / 4).map(|k| (4 * k, Want::Word(word(k)))).collect();
            buffer.expected = (changed || all).then(words);
        }
    }
    Err(Box::new(Difference { seed, what, case }))
}

/// Puts zeros in place of words that the difference does not need, in smaller and smaller pieces.
fn shrink_memory(case: &mut Case, mut differs: impl FnMut(&Case) -> bool) {
    for k in 0..case.buffers.len() {
        let size = case.buffers[k].initial.len();
        for pieces in [1, 8, 64] {
            let piece = (size / pieces).max(16);
            for start in (0..size).step_by(piece) {
                let place = start..(start + piece).min(size);
                let old = case.buffers[k].initial[place.clone()].to_vec();
                if old.iter().any(|byte| *byte != 0) {
                    case.buffers[k].initial[place.clone()].fill(0);
                    if !differs(case) {
                        case.buffers[k].initial[place].copy_from_slice(&old);
                    }
                }
            }
        }
    }
}

/// What differs between two engines that run a case, if anything does, by the words of memory, of which each row begins at its pitch.
pub fn difference(runner: &Runner, against: &Against<'_>, case: &Case) -> Option<String> {
    match (on(runner, case), other(against, case)) {
        (Ok(a), Ok(b)) => (0..a.len()).find_map(|k| {
            let at = a[k].iter().zip(&b[k]).position(|(a, b)| a != b)? & !3;
            let hex = |block: &[u8]| -> String {
                block[at..].iter().take(4).rev().map(|b| format!("{b:02X}")).collect()
            };
            let slot = case.buffers[k].slots[0];
            Some(format!("{slot} word {}: 0x{} and 0x{}", at / 4, hex(&a[k]), hex(&b[k])))
        }),
        (Err(why), _) => Some(why),
        (_, Err(why)) => Some(format!("the other: {why}")),
    }
}

fn on(runner: &Runner, case: &Case) -> Outcome {
    runner.memory_after(case).map_err(|lines| lines.join("\n"))
}

fn other(against: &Against<'_>, case: &Case) -> Outcome {
    match against {
        Against::Device(runner) => on(runner, case),
        Against::Replaced(runner, from, to) => {
            on(runner, &Case { text: case.text.replace(from, to), ..case.clone() })
        }
        Against::Interpreter => catch_unwind(AssertUnwindSafe(|| interpret(case))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned())
        }),
    }
}

fn interpret(case: &Case) -> Outcome {
    let program = recal_il::compile(case.text.as_bytes()).map_err(|errors| format!("{errors:?}"))?;
    // The device runs loops and regions as they are. Here all are changed, whatever that saves.
    let settings = Settings { cost: &|_| 1, worth: i64::MIN, ..Settings::USUAL };
    let program = run(&EMISSION, &program, &settings, &mut |_, _| {});
    let after = plain::memory_after(case, &program, true)?;
    // All that lowering does beyond translation is left out here.
    let named = recal_il::front(case.text.as_bytes()).and_then(|kernel| lower_named(&kernel));
    let (named, _) = named.map_err(|errors| format!("{errors:?}"))?;
    match plain::memory_after(case, &named, false)? == after {
        true => Ok(after),
        false => Err("passes change what it computes".into()),
    }
}

/// The kernel with its memory.
pub fn case(kernel: &Kernel, seed: u64) -> Case {
    let shape = &kernel.shape;
    Case {
        name: format!("found/seed_{seed}"),
        text: kernel.text(),
        from: format!("fuzzing, seed {seed}; words of the other engine, to be confirmed by hand"),
        extent: Some(shape.extent()),
        buffers: shape.buffers(&mut Random::new(!seed)),
        samplers: shape.samplers(),
        params: shape.params(),
        refused: None,
        needs: Needs { compute: true, fp64: shape.engine.float64 },
        faithful_only: true,
        checks: 1,
    }
}
