//! Cases on the plain interpreter.
//!
//! Input: cases. Output: verdicts, or the memory that a launch leaves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use recal_il::ir::Program;
use recal_reference::{Machine, Surface};

use crate::case::{Case, Slot};
use crate::judge::{compare, panic_text, refusal};
use crate::runner::Verdict;

/// Runs a program with a case's memory and threads; what the buffers hold then, rows at their pitch. `bare` as for
/// [`Machine::bare`].
pub fn memory_after(case: &Case, program: &Program, bare: bool) -> Result<Vec<Vec<u8>>, String> {
    let Some(extent) = case.extent else { return Err("a case without threads".into()) };
    let mut machine = Machine {
        samplers: case.samplers.iter().copied().collect(),
        params: case.params,
        bare,
        ..Machine::default()
    };
    for buffer in &case.buffers {
        let memory = machine.memory(buffer.spread());
        let surface = Surface {
            memory,
            width: buffer.width,
            height: buffer.height,
            pitch: buffer.pitch(),
            format: buffer.format,
        };
        for slot in &buffer.slots {
            match *slot {
                Slot::Resource(n) => drop(machine.resources.insert(n, surface)),
                Slot::Constant(n) => drop(machine.constants.insert(n, surface)),
                Slot::Output(n) => drop(machine.outputs.insert(n, surface)),
                Slot::Uav(n) => drop(machine.uavs.insert(n, surface)),
                Slot::Global => machine.global = Some(surface),
            }
        }
    }
    machine.launch(program, extent).map_err(|stopped| stopped.to_string())?;
    Ok(machine.memories)
}

/// Verdicts of all cases, in their order.
pub fn run_all(cases: &[Case]) -> Vec<Verdict> {
    cases.par_iter().map(run).collect()
}

fn run(case: &Case) -> Verdict {
    match catch_unwind(AssertUnwindSafe(|| attempt(case))) {
        Ok(Ok(())) => Verdict::Passed,
        Ok(Err(lines)) => Verdict::Failed(lines),
        Err(panic) => Verdict::Failed(vec![format!("panic: {}", panic_text(&*panic))]),
    }
}

fn attempt(case: &Case) -> Result<(), Vec<String>> {
    let program = match (recal_il::compile(case.text.as_bytes()), &case.refused) {
        (Ok(program), None) => program,
        (Ok(_), Some(rule)) => return Err(vec![format!("compiles, but must be refused ({rule})")]),
        (Err(errors), refused) => return refusal(&case.text, &errors, refused.as_deref()),
    };
    let memories = memory_after(case, &program, false).map_err(|why| vec![why])?;
    let mut lines = Vec::new();
    for (buffer, bytes) in case.buffers.iter().zip(memories) {
        compare(buffer, &bytes, false, &mut lines);
    }
    if lines.is_empty() { Ok(()) } else { Err(lines) }
}
