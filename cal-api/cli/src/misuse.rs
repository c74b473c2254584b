//! What `CAL_DEBUG=checks` finds: as JSON, and as the way that the command ends.

use std::error::Error;
use std::fmt;

use recal::Finding;
use serde_json::{Value, json};

use crate::Outcome;

/// The kernel ran and did something wrong. What it was is in the log.
#[derive(Debug)]
pub(crate) struct Misused(usize);

impl Misused {
    /// An error if there are findings.
    pub(crate) fn check(findings: Option<Vec<Finding>>) -> Outcome {
        match findings.map_or(0, |list| list.len()) {
            0 => Ok(()),
            n => Err(Misused(n).into()),
        }
    }
}

impl fmt::Display for Misused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = if self.0 == 1 { "finding" } else { "findings" };
        write!(f, "CAL_DEBUG=checks: {} {findings}", self.0)
    }
}

impl Error for Misused {}

/// A list; null where nothing looked.
pub(crate) fn json(findings: Option<&[Finding]>) -> Value {
    findings.map_or(Value::Null, |list| list.iter().map(finding).collect())
}

fn finding(f: &Finding) -> Value {
    let (line, instruction) = f.line.as_ref().map_or((None, None), |(line, text)| (Some(line), Some(text)));
    json!({
        "rule": f.misuse.name(), "line": line, "instruction": instruction, "what": f.what,
        "thread": f.position, "number": f.thread, "group": f.part, "message": f.to_string(),
    })
}
