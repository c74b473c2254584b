//! Passes over programs by name, for people and for tests of single passes.

use std::fmt;

use crate::ir::Program;
use crate::ir::passes::{COMPACT, CPU, EMISSION, Flushes, Pass, STRUCTURED, Settings, Watch};
use crate::ir::validate::{validate, validate_unflushed};
use crate::lower::LOWERING;

/// Every pass once, in the order in which a kernel meets them.
pub fn passes() -> impl Iterator<Item = &'static Pass> {
    let twice = |pass: &&Pass| EMISSION.iter().any(|other| other.name == pass.name);
    let others = STRUCTURED.iter().chain(&CPU).filter(move |pass| !twice(pass));
    LOWERING.iter().chain(&EMISSION).chain(others).chain([&COMPACT])
}

/// The pass of a name.
pub fn named(name: &str) -> Option<&'static Pass> {
    passes().find(|pass| pass.name == name)
}

/// A program is not consistent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistent {
    /// After which pass; none: before the first.
    pub after: Option<&'static str>,
    /// What is wrong, a sentence each.
    pub defects: Vec<String>,
}

impl fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.after {
            Some(pass) => write!(f, "the program is not consistent after {pass}")?,
            None => f.write_str("the program is not consistent")?,
        }
        self.defects.iter().try_for_each(|defect| write!(f, "\n  {defect}"))
    }
}

impl std::error::Error for Inconsistent {}

/// Runs passes one after another, in the order given, and looks after each whether the program is consistent. Passes that count
/// on flushes refuse programs without.
pub fn run(
    program: &Program,
    passes: &[&'static Pass],
    settings: &Settings<'_>,
    watch: Watch<'_>,
) -> Result<Program, Inconsistent> {
    let mut program = program.clone();
    validate_unflushed(&program).map_err(|defects| Inconsistent { after: None, defects })?;
    let mut last = None;
    for pass in passes {
        if matches!(pass.flushes, Flushes::Needed | Flushes::Dropped) {
            validate(&program).map_err(|defects| Inconsistent { after: last, defects })?;
        }
        program = (pass.run)(&program, settings).into_owned();
        last = Some(pass.name);
        pass.flushes.validate(&program).map_err(|defects| Inconsistent { after: last, defects })?;
        watch(pass.name, &program);
    }
    Ok(program)
}
