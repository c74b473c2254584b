//! The numbers: every scalar operation against references of other origin.

mod exact;
#[allow(dead_code)]
#[path = "../../examples/exhaustive.rs"]
mod exhaustive;
mod gcn;
mod golden;
mod idioms;
mod inexact;
mod integer;
mod sequences;
mod support;

use std::collections::BTreeSet;

use recal_il::isa::LaneOp;

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

/// Where the inexact operations are not measured, `docs/numerics.md` says what they give. This is a sample of what
/// `make exhaustive` tries on every operand.
#[test]
fn results_outside_the_measured_ranges_are_known() {
    for (name, wrong) in exhaustive::wrong_results(2047) {
        assert!(wrong == 0, "{name}: {wrong} results are not what they must be");
    }
}
