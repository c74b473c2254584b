//! The call graph: no recursion, bounded depth, bounded size.

use super::macros::MAX_EXPANDED;
use super::{Checker, Go};
use crate::diagnostic::Diagnostic;
use crate::inst::{MAX_CALL_DEPTH, Node};

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
        // Statements of each function with those of all that it calls, every time.
        let mut size: Vec<usize> = self.functions.iter().map(|f| statements(&f.body)).collect();
        let most = MAX_EXPANDED + self.ast.statements.len();
        let mut too_large = None;
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
                for &call in &callees[function] {
                    let (_, callee, span) = self.calls[call];
                    size[function] = size[function].saturating_add(size[callee]);
                    if size[function] > most {
                        // The innermost one is found first.
                        too_large.get_or_insert(span);
                    }
                }
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
        if let Some(span) = too_large {
            let message = format!("with this call, calls expand to more than {MAX_EXPANDED} statements");
            return self
                .error(Diagnostic::error("call-size", span, message).with_note(
                    "a function counts again wherever it is called: Vulkan drivers copy it there",
                ));
        }
        Ok(())
    }
}

/// Statements of a body, nested ones too.
fn statements(body: &[Node]) -> usize {
    let mut count = 0;
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        count += body.len();
        for node in body {
            match node {
                Node::If { then, otherwise, .. } => open.extend([&then[..], otherwise]),
                Node::Loop { body, .. } => open.push(body),
                Node::Switch { arms, .. } => open.extend(arms.iter().map(|arm| &arm.body[..])),
                _ => {}
            }
        }
    }
    count
}
