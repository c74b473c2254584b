//! Passes over the program after lowering.

mod float_state;
mod values;
mod webs;

use crate::ir::Program;

/// Runs all passes.
pub(super) fn run(program: &mut Program) {
    let early = webs::run(program);
    values::forward(program, &early);
    values::sweep(program);
    float_state::run(program, &early);
}

/// Runs only what the meaning of the operations asks for; registers keep their numbers.
pub(super) fn required(program: &mut Program) {
    let early = vec![true; program.registers as usize];
    float_state::run(program, &early);
}
