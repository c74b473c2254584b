//! `docs/client-behaviours.md` maps each line of the reference's sections 5 and 6 to tests: all of them exist, and every
//! behaviour that a program says to hold stands there.

use std::collections::BTreeSet;

use recal_conformance::toolchain::{Result, repository};
use recal_needs::{Failed, Trial};

use crate::programs::programs;

/// The tests of this file. `others` are the names of all other tests of this binary.
pub fn trials(others: BTreeSet<String>) -> Vec<Trial> {
    vec![Trial::test("behaviours::the_map_is_true", move || the_map_is_true(&others).map_err(Failed::from))]
}

fn read(path: &str) -> Result<String> {
    let file = repository().join(path);
    std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))
}

/// Tests in the page are `behaviour`, `folder/file.rs::function`, or names of this binary with `::` in them.
fn the_map_is_true(others: &BTreeSet<String>) -> Result<()> {
    let page = read("docs/client-behaviours.md")?;
    // Tests stand in the last column of the tables.
    let cells =
        page.lines().filter_map(|l| l.strip_prefix('|')?.trim_end().strip_suffix('|')?.rsplit('|').next());
    let named: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let behaviours: BTreeSet<String> = programs().iter().flat_map(|p| p.behaviours()).collect();
    let mut wrong = Vec::new();
    for name in &named {
        let exists = match name.split_once(".rs::") {
            Some((file, function)) => read(&format!("{file}.rs"))?.contains(&format!("fn {function}(")),
            None if name.contains("::") => others.contains(*name),
            None => behaviours.contains(*name),
        };
        if !exists {
            wrong.push(format!("`{name}` is no test"));
        }
    }
    for behaviour in behaviours.iter().filter(|b| !named.contains(b.as_str())) {
        wrong.push(format!("`{behaviour}` is not in docs/client-behaviours.md"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
