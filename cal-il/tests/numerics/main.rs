//! The numbers: every scalar operation against references of other origin.

mod exact;
mod gcn;
mod golden;
mod idioms;
mod inexact;
mod integer;
mod sequences;
mod support;

use std::collections::BTreeSet;

use cal_il::isa::LaneOp;

/// What is compared with a reference on every edge value and a million random operands, read off the tests' own text.
#[test]
fn every_operation_has_a_reference() {
    const TESTS: [&str; 4] = [
        include_str!("exact.rs"),
        include_str!("integer.rs"),
        include_str!("inexact.rs"),
        include_str!("gcn.rs"),
    ];
    // `LaneOp::Add`, or `Iadd |a, b| …` in the macro for words.
    let words: BTreeSet<&str> = TESTS
        .iter()
        .flat_map(|text| text.lines())
        .flat_map(|line| {
            let in_macro = line.trim_start().split_once(" |").map(|(name, _)| name);
            line.split("LaneOp::").skip(1).chain(in_macro)
        })
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default())
        .collect();
    let missing: Vec<_> = LaneOp::ALL.iter().filter(|op| !words.contains(&*format!("{op:?}"))).collect();
    assert!(missing.is_empty(), "no reference for {missing:?}");
}
