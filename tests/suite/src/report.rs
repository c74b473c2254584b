//! What a run found, for people.

use crate::case::Case;
use crate::known::Known;
use crate::runner::Verdict;

/// Counts of a run and the cases that make it fail.
#[derive(Debug, Default)]
pub struct Summary {
    /// Cases that passed.
    pub passed: usize,
    /// Checks in them.
    pub checks: usize,
    /// Cases the device is not meant to run.
    pub skipped: usize,
    /// Failures that are known.
    pub known: usize,
    /// Failures and unexpected passes, with what was wrong.
    pub wrong: Vec<(String, Vec<String>)>,
}

/// Judges verdicts with the list of known failures.
pub fn summarize(
    cases: &[Case],
    verdicts: &[Verdict],
    known: &Known,
    backend: &str,
    mode: &str,
    device: &str,
) -> Summary {
    let mut summary = Summary::default();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let reason = known.reason(&case.name, backend, mode, Some(device));
        match (verdict, reason) {
            (Verdict::Passed, None) => {
                summary.passed += 1;
                summary.checks += case.checks;
            }
            (Verdict::Skipped(_), _) => summary.skipped += 1,
            (Verdict::Failed(_), Some(_)) => summary.known += 1,
            (Verdict::Failed(lines), None) => summary.wrong.push((case.name.clone(), lines.clone())),
            (Verdict::Passed, Some(reason)) => {
                let line = format!("passes, but known.toml says it fails: {reason}");
                summary.wrong.push((case.name.clone(), vec![line]));
            }
        }
    }
    summary
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, lines) in &self.wrong {
            writeln!(f, "{name}")?;
            lines.iter().try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        write!(
            f,
            "{} cases passed ({} checks), {} skipped, {} known failures, {} wrong",
            self.passed,
            self.checks,
            self.skipped,
            self.known,
            self.wrong.len()
        )
    }
}
