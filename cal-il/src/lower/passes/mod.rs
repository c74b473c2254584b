//! Passes over the program after translation.

mod float_state;
mod gvn;
mod values;
mod webs;

use std::borrow::Cow;

use crate::ir::passes::{Flushes, For, Pass, Watch};
use crate::ir::{Program, needed};
pub(super) use webs::Registers;

/// The passes of lowering, in their order.
pub static LOWERING: [Pass; 5] = [
    Pass {
        name: "webs",
        about: "unrelated uses of one register come apart",
        flushes: Flushes::Ignored,
        needed: For::All,
        run: |program, _| {
            changed(program, |program| {
                webs::run(program);
            })
        },
    },
    Pass {
        name: "gvn",
        about: "copies, constants and equal values are read where they are first; what is constant is computed",
        flushes: Flushes::Ignored,
        needed: For::All,
        run: |program, _| {
            changed(program, |program| {
                let names = names(program);
                gvn::run(program, &names);
            })
        },
    },
    Pass {
        name: "dce",
        about: "operations and loads go whose results nobody reads",
        flushes: Flushes::Ignored,
        needed: For::All,
        run: |program, _| {
            changed(program, |program| {
                let mut uses = values::uses(program);
                values::dce(program, &mut uses);
            })
        },
    },
    Pass {
        name: "float_state",
        about: "flushes and canonical NaNs come where operations ask for them",
        flushes: Flushes::Placed,
        needed: For::All,
        run: |program, _| changed(program, |program| float_state::run(program, &early(program))),
    },
    Pass {
        name: "needed",
        about: "memory that nothing touches need not be bound",
        flushes: Flushes::Ignored,
        needed: For::All,
        run: |program, _| changed(program, needed::forget_untouched),
    },
];

fn changed(program: &Program, change: impl FnOnce(&mut Program)) -> Cow<'_, Program> {
    let mut program = program.clone();
    change(&mut program);
    Cow::Owned(program)
}

/// Registers that are names for values.
fn names(program: &mut Program) -> Vec<bool> {
    let definitions = webs::definitions(program);
    values::names(program, &early(program), &definitions)
}

/// Registers that may be read before they are written.
fn early(program: &Program) -> Vec<bool> {
    let mut early = vec![false; program.registers as usize];
    let origins = webs::run(&mut program.clone()).origins;
    origins.into_iter().flatten().for_each(|reg| early[reg.index()] = true);
    early
}

/// Runs all passes. Returns what the split of registers told.
pub(super) fn run(program: &mut Program, watch: Watch<'_>) -> Registers {
    let registers = reduce(program, watch);
    float_state::run(program, &registers.early());
    watch("float_state", program);
    needed::forget_untouched(program);
    watch("needed", program);
    registers
}

/// Runs the passes that rename registers and remove what nothing reads.
pub(super) fn reduce(program: &mut Program, watch: Watch<'_>) -> Registers {
    let mut registers = webs::run(program);
    watch("webs", program);
    let names = values::names(program, &registers.early(), &registers.definitions);
    registers.uses = gvn::run(program, &names);
    watch("gvn", program);
    values::dce(program, &mut registers.uses);
    watch("dce", program);
    registers
}

/// Runs only what the meaning of the operations asks for; registers keep their numbers.
pub(super) fn required(program: &mut Program) {
    let early = vec![true; program.registers as usize];
    float_state::run(program, &early);
}
