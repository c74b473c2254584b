//! Passes over the program after lowering.

mod float_state;

use crate::ir::Program;

/// Runs all passes.
pub(super) fn run(program: &mut Program) {
    float_state::run(program);
}
