//! The call graph: no recursion, bounded depth.

use super::{Checker, Go};
use crate::diagnostic::Diagnostic;
use crate::inst::MAX_CALL_DEPTH;

impl Checker<'_> {
    /// Walks calls depth first without recursing itself; chains may be long.
    pub(super) fn check_calls(&mut self) -> Go {
        let count = self.functions.len();
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (i, &(caller, ..)) in self.calls.iter().enumerate() {
            callees[caller].push(i);
        }
        // Longest chain of calls below each function; None while unknown.
        let mut depth: Vec<Option<usize>> = vec![None; count];
        let mut active = vec![false; count];
        for root in 0..count {
            if depth[root].is_some() {
                continue;
            }
            let mut stack = vec![(root, 0usize)];
            active[root] = true;
            while let Some(&mut (function, ref mut next)) = stack.last_mut() {
                if let Some(&call) = callees[function].get(*next) {
                    *next += 1;
                    let (_, callee, span) = self.calls[call];
                    if active[callee] {
                        let label = self.functions[callee].label.unwrap_or(0);
                        return self.error(
                            Diagnostic::error(
                                "recursion",
                                span,
                                format!("this call makes function {label} call itself"),
                            )
                            .with_note("the hardware has no stack of registers: functions must not recurse"),
                        );
                    }
                    if depth[callee].is_none() {
                        active[callee] = true;
                        stack.push((callee, 0));
                    }
                    continue;
                }
                let below =
                    callees[function].iter().filter_map(|&c| depth[self.calls[c].1]).map(|d| d + 1).max();
                depth[function] = Some(below.unwrap_or(0));
                active[function] = false;
                stack.pop();
            }
        }
        for &(_, callee, span) in &self.calls {
            // The chain that starts with this call: report the first place that is too deep.
            if depth[callee].is_some_and(|d| d + 1 > MAX_CALL_DEPTH) {
                let d = Diagnostic::error(
                    "call-depth",
                    span,
                    format!("calls nest deeper than {MAX_CALL_DEPTH} from here"),
                );
                return self.error(d);
            }
        }
        Ok(())
    }
}
