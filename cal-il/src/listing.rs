//! Listings: lines of text that know which part of the kernel's text they come from.

use crate::bits::BitSet;
use crate::diagnostic::Span;
use crate::ir::live;
use crate::ir::visit::count;
use crate::ir::{Program, Reg};

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it says, without a newline.
    pub text: String,
    /// The instruction in the kernel's text that it comes from.
    pub span: Option<Span>,
}

impl Line {
    /// A line that comes from a part of the text; an empty part is none.
    pub fn new(text: impl Into<String>, span: Span) -> Line {
        Line { text: text.into(), span: (span != Span::default()).then_some(span) }
    }
}

/// Statements times registers of which sets are kept: 16 MiB.
const MOST: usize = 1 << 27;

/// A program as text, and for each line the registers that are live when its statement begins: they hold words that something
/// reads later. `None` for lines that are no statements, and for all of programs so large that the sets would be.
pub fn program(program: &Program) -> Vec<(Line, Option<BitSet<Reg>>)> {
    let statements: usize = program.functions.iter().map(|function| count(&function.body)).sum();
    let small = statements.saturating_mul(program.registers as usize) <= MOST;
    let live = if small { live::live(program) } else { Vec::new() };
    let mut live = live.into_iter();
    // The printer says with each statement where it comes from; nothing else begins with an @.
    let placed = |line: &str| {
        let text = line.trim_start();
        let (place, rest) = text.strip_prefix('@')?.split_once(' ')?;
        let (start, end) = place.split_once(':')?;
        let span = Span { start: start.parse().ok()?, end: end.parse().ok()? };
        Some((format!("{}{rest}", &line[..line.len() - text.len()]), span))
    };
    let lines = format!("{program:#}");
    let listed = lines.lines().map(|line| match placed(line) {
        Some((text, span)) => (Line::new(text, span), live.next()),
        None => (Line::new(line, Span::default()), None),
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_know_their_instructions_and_the_rest_is_the_program() {
        let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[2]\ndcl_literal l0, 1, 0, 0, 0\nmov r0.x, cb0[0].x\n\
            whileloop\nige r1.x, r0.x, cb0[1].x\nbreak_logicalnz r1.x\niadd r0.x, r0.x, l0.x\nendloop\n\
            mov o0, r0.x\nend\n";
        let compiled = crate::compile(text.as_bytes()).unwrap();
        let lines = program(&compiled);
        let plain: String = lines.iter().map(|(line, _)| line.text.clone() + "\n").collect();
        assert_eq!(plain, compiled.to_string());
        let said = |line: &Line| line.span.map(|span| &text[span.start as usize..span.end as usize]);
        let of = |part: &str| lines.iter().find(|(line, _)| line.text.contains(part)).unwrap();
        assert_eq!(said(&of("= Iadd ").0), Some("iadd r0.x, r0.x, l0.x"));
        assert!(said(&of("loop {").0).unwrap().starts_with("whileloop"));
        assert_eq!((said(&of("program pixel").0), &of("program pixel").1), (None, &None));
        // In the loop the counter is live, at its end nothing else is.
        assert!(!of("= Iadd ").1.as_ref().unwrap().is_empty());
    }
}
