//! Passes over the program after lowering.

mod float_state;
mod values;
mod webs;

use crate::ir::{Program, Reg};

/// Runs all passes. Returns the numbers that registers had before, for those that may be read before they are written.
pub(super) fn run(program: &mut Program) -> Vec<Option<Reg>> {
    let origins = reduce(program);
    let early: Vec<bool> = origins.iter().map(Option::is_some).collect();
    float_state::run(program, &early);
    origins
}

/// Runs the passes that rename registers and remove what nothing reads.
pub(super) fn reduce(program: &mut Program) -> Vec<Option<Reg>> {
    let origins = webs::run(program);
    let early: Vec<bool> = origins.iter().map(Option::is_some).collect();
    values::forward(program, &early);
    values::sweep(program);
    origins
}

/// Runs only what the meaning of the operations asks for; registers keep their numbers.
pub(super) fn required(program: &mut Program) {
    let early = vec![true; program.registers as usize];
    float_state::run(program, &early);
}
