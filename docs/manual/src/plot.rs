//! Plots as SVG, from tables of numbers: bars in groups.

use std::fmt::Write as _;

use crate::book::escape;

/// The tables, by name. The first line is the unit and the names of the bars of a group; the others are groups.
const DATA: &[(&str, &str)] =
    &[("product", include_str!("../data/product.csv")), ("branches", include_str!("../data/branches.csv"))];

/// A table read: unit, names of bars, groups with their values.
pub struct Table {
    /// What values are in.
    pub unit: String,
    /// What each bar of a group is.
    pub bars: Vec<String>,
    /// Groups: a name, and a value for each bar.
    pub groups: Vec<(String, Vec<f64>)>,
}

/// The table of a name.
pub fn table(name: &str) -> Option<Table> {
    let (_, text) = DATA.iter().find(|(n, _)| *n == name)?;
    let mut lines = text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    let mut head = lines.next()?.split(',').map(|c| c.trim().to_string());
    let unit = head.next()?;
    let bars: Vec<String> = head.collect();
    let group = |line: &str| -> Option<(String, Vec<f64>)> {
        let mut cells = line.split(',').map(str::trim);
        let name = cells.next()?.to_string();
        let values: Option<Vec<f64>> = cells.map(|c| c.parse().ok()).collect();
        values.filter(|v| v.len() == bars.len()).map(|v| (name, v))
    };
    let groups: Option<Vec<_>> = lines.map(group).collect();
    Some(Table { unit, bars, groups: groups? })
}

/// A number of three digits.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Horizontal bars: names have room at any width, and values stand at their ends.
pub fn bars(name: &str, caption: &str) -> Option<String> {
    let table = table(name)?;
    let most = table.groups.iter().flat_map(|(_, v)| v).copied().fold(0.0, f64::max);
    let (width, left, right, height) = (440.0, 4.0, 52.0, 20.0);
    let mut body = String::new();
    let mut y = 8.0;
    for (group, values) in &table.groups {
        let _ = write!(
            body,
            "<text x=\"{left}\" y=\"{:.0}\" font-weight=\"600\">{}</text>",
            y + 13.0,
            escape(group)
        );
        y += 20.0;
        for (k, (value, bar)) in values.iter().zip(&table.bars).enumerate() {
            let length = (value / most * (width - 2.0 * left - right - 96.0)).max(1.0);
            let from = left + 96.0;
            let _ = write!(
                body,
                "<text class=\"soft\" x=\"{:.0}\" y=\"{:.0}\">{}</text><rect class=\"s{}\" x=\"{from:.0}\" y=\"{y:.0}\" width=\"{length:.1}\" \
                 height=\"15\" rx=\"2\"><title>{}, {}: {} {}</title></rect><text x=\"{:.1}\" y=\"{:.0}\">{}</text>",
                left + 12.0,
                y + 12.0,
                escape(bar),
                k % 4,
                escape(group),
                escape(bar),
                value,
                escape(&table.unit),
                from + length + 6.0,
                y + 12.0,
                short(*value)
            );
            y += height;
        }
        y += 10.0;
    }
    let label = format!("{caption} ({})", table.unit);
    Some(format!(
        "<figure><svg viewBox=\"0 0 {width:.0} {y:.0}\" role=\"img\" aria-label=\"{}\">{body}</svg><figcaption>{}</figcaption></figure>",
        escape(&label),
        escape(&label)
    ))
}
