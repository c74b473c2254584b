//! What `docs/numerics.md` says about a lane operation: its tables, read.

use recal_il::isa::LaneOp;

/// The page.
pub const PAGE: &str = include_str!("../numerics.md");

/// A row of its tables.
pub struct Facts {
    /// Operations that the row is about.
    pub operations: Vec<&'static str>,
    /// What they are.
    pub definition: String,
    /// Range, worst error in units in the last place, share of results that are not the nearest; of inexact operations.
    pub error: Option<[String; 3]>,
}

/// Words between backticks.
fn operations(cell: &'static str) -> Vec<&'static str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// All rows whose first cell names lane operations.
fn rows() -> impl Iterator<Item = Facts> {
    PAGE.lines().filter_map(|line| {
        let cells: Vec<&'static str> =
            line.strip_prefix('|')?.trim_end_matches('|').split(" | ").map(str::trim).collect();
        let operations = operations(cells[0]);
        operations.iter().any(|name| LaneOp::named(name).is_some()).then_some(())?;
        match cells[..] {
            [head, range, worst, share, definition] => {
                // The formula stands behind the name.
                let formula = head.rsplit('`').next().unwrap_or_default().trim();
                let definition = [formula, definition]
                    .into_iter()
                    .filter(|t| !t.is_empty())
                    .collect::<Vec<_>>()
                    .join(": ");
                let error = Some([range, worst, share].map(str::to_string));
                Some(Facts { operations, definition, error })
            }
            [_, definition, ..] => {
                Some(Facts { operations, definition: definition.to_string(), error: None })
            }
            _ => None,
        }
    })
}

/// What is said about an operation.
pub fn of(op: LaneOp) -> Vec<Facts> {
    rows().filter(|facts| facts.operations.contains(&op.name())).collect()
}
