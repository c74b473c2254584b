//! Rules of the compiler: kernels that break them, and what is said then.

use std::collections::BTreeMap;

use crate::topic::{Block, Kind, Section, Topic};

/// The pages of messages, which a test of the compiler keeps true.
const PAGES: &[(&str, &str)] = &[
    ("declarations", include_str!("../messages/declarations.md")),
    ("flow", include_str!("../messages/flow.md")),
    ("frame", include_str!("../messages/frame.md")),
    ("macros", include_str!("../messages/macros.md")),
    ("memory", include_str!("../messages/memory.md")),
    ("modifiers", include_str!("../messages/modifiers.md")),
    ("numbers", include_str!("../messages/numbers.md")),
    ("operands", include_str!("../messages/operands.md")),
    ("statements", include_str!("../messages/statements.md")),
];

/// A kernel and what is said of it.
struct Case {
    heading: &'static str,
    kernel: &'static str,
    said: &'static str,
}

fn cases(page: &'static str) -> Vec<Case> {
    let between = |text: &'static str, open: &str| -> Option<(&'static str, &'static str)> {
        text.split_once(open)?.1.split_once("```")
    };
    page.split("\n## ")
        .skip(1)
        .filter_map(|section| {
            let (heading, body) = section.split_once('\n')?;
            let (kernel, rest) = between(body, "```il\n")?;
            let (said, _) = between(rest, "```text\n")?;
            Some(Case { heading: heading.trim(), kernel, said })
        })
        .collect()
}

/// Severities and names of the rules of a message: `error[short-swizzle]`.
fn names(said: &'static str) -> Vec<(&'static str, &'static str, &'static str)> {
    let told = |line: &'static str| {
        let (severity, rest) = line.split_once('[')?;
        let (rule, message) = rest.split_once("]: ")?;
        matches!(severity, "error" | "warning" | "note").then_some((severity, rule, message))
    };
    said.lines().filter_map(told).collect()
}

/// A topic for each rule that a page shows.
pub fn topics() -> Vec<Topic> {
    let mut rules: BTreeMap<&str, (&str, &str, Vec<Case>)> = BTreeMap::new();
    for (_, page) in PAGES {
        for case in cases(page) {
            for (severity, rule, message) in names(case.said) {
                let (_, _, shown) = rules.entry(rule).or_insert((severity, message, Vec::new()));
                // Three say enough.
                if shown.len() < 3 && shown.iter().all(|c| c.kernel != case.kernel) {
                    shown.push(Case { ..case });
                }
            }
        }
    }
    let topic = |(rule, (severity, message, shown)): (&str, (&str, &str, Vec<Case>))| {
        let mut blocks = Vec::new();
        for case in &shown {
            blocks.push(Block::Text(format!("{}:", case.heading.trim_end_matches('.'))));
            blocks.push(Block::Code("il", case.kernel.trim_end().to_string()));
            blocks.push(Block::Code("text", case.said.trim_end().to_string()));
        }
        let outcome = match severity {
            "error" => "The kernel is refused.",
            "warning" => "The kernel is accepted; something else may have been meant.",
            _ => "The kernel is accepted; there is something to know about it.",
        };
        Topic {
            name: rule.to_string(),
            aliases: Vec::new(),
            kind: Kind::Rule,
            summary: format!("{}{}: {message}.", severity[..1].to_uppercase(), &severity[1..]),
            sections: vec![
                Section { title: "Outcome", blocks: vec![Block::Text(outcome.to_string())] },
                Section { title: "Examples", blocks },
            ],
            see_also: Vec::new(),
        }
    };
    rules.into_iter().map(topic).collect()
}
