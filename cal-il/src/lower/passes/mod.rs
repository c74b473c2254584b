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
