//! The list of rules beside what the compiler says, what the cases break, and what the documentation tells.

#[path = "../suite/cases.rs"]
#[expect(dead_code, reason = "rules have no use for what kernels mean")]
mod cases;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use brcc::rules::RULES;

/// Rules that no small program breaks, with the test that does.
const ELSEWHERE: [(&str, &str); 2] = [
    ("file", "`brook/brcc/tests/damaged.rs`: a file of more than 16 MiB"),
    ("too-large", "`brook/brcc/tests/damaged.rs`: calls that double with every kernel"),
];

/// For each rule the shortest case that breaks it and no other rule, with what it gets.
fn examples() -> BTreeMap<String, (String, String)> {
    let mut shortest: BTreeMap<String, (usize, String, String)> = BTreeMap::new();
    for case in cases::load("errors") {
        let marks: Vec<String> = ["error", "warning"]
            .iter()
            .flat_map(|kind| case.marks(kind).unwrap_or_default())
            .map(|(_, rule)| rule)
            .collect();
        for rule in marks.iter().collect::<BTreeSet<_>>() {
            let others = marks.iter().filter(|m| *m != rule).count();
            let weight = case.source.len() + 1000 * others;
            if shortest.get(rule).is_none_or(|(least, ..)| weight < *least) {
                let options = cases::options(&case).unwrap_or_default();
                let found = match brcc::compile(&case.source, &options) {
                    Ok(output) => output.warnings,
                    Err(found) => found,
                };
                let said = found.iter().find(|d| d.rule == rule);
                let mut said = said.map_or(String::new(), |d| d.message.clone());
                for option in case.words.iter().filter(|w| w.starts_with('-')) {
                    let _ = write!(said, " (`brcc {option}`)");
                }
                shortest.insert(rule.clone(), (weight, case.source.trim().to_owned(), said));
            }
        }
    }
    shortest.into_iter().map(|(rule, (_, source, said))| (rule, (source, said))).collect()
}

#[test]
fn rules_are_sorted_and_have_cases() {
    assert!(RULES.is_sorted_by_key(|r| r.0), "by name");
    let broken = examples();
    let known: BTreeSet<&str> = RULES.iter().map(|r| r.0).collect();
    let unknown: Vec<&String> = broken.keys().filter(|r| !known.contains(r.as_str())).collect();
    assert!(unknown.is_empty(), "cases break {unknown:?}, which are no rules");
    let lacking: Vec<&str> = RULES
        .iter()
        .map(|r| r.0)
        .filter(|r| !broken.contains_key(*r) && !ELSEWHERE.iter().any(|(e, _)| e == r))
        .collect();
    assert!(lacking.is_empty(), "no case breaks {lacking:?}");
}

#[test]
fn the_list_of_rules_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/brook-rules.md");
    let examples = examples();
    let mut text = String::from(
        "# The rules of Brook+\n\nWhat `brcc` says in brackets behind `error` and `warning`. Made from `brook/brcc/src/rules.rs` and \
         the shortest case of\n`brook/tests/errors` that breaks each rule; `UPDATE=1 cargo test -p recal-brook-tests --test rules` \
         writes it anew.\n",
    );
    for (rule, meaning) in RULES {
        let _ = write!(text, "\n## {rule}\n\n{}{}.\n", meaning[..1].to_uppercase(), &meaning[1..]);
        match examples.get(*rule) {
            Some((source, said)) => {
                text.push('\n');
                for line in source.lines() {
                    let cut: String = line.chars().take(200).collect();
                    let more = if cut.len() < line.len() { " …" } else { "" };
                    let _ = writeln!(text, "    {cut}{more}");
                }
                let _ = write!(text, "\n> {said}\n");
            }
            None => {
                let place = ELSEWHERE.iter().find(|(e, _)| e == rule).map_or("", |(_, place)| place);
                let _ = write!(text, "\nCase: {place}.\n");
            }
        }
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == text, "docs/brook-rules.md is out of date: UPDATE=1 writes it");
}
