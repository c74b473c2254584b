//! Tables of results for documents, made from files that `--json` wrote: no figure is copied by hand.
//!
//! A document has a block for each file, between `<!-- results NAME -->` and `<!-- end of results -->`.

use std::fs;
use std::path::Path;

use crate::measure::Result;
use crate::report::{Report, Row, digits};

const BEGIN: &str = "<!-- results ";
const CLOSE: &str = " -->\n";
const END: &str = "<!-- end of results -->";

/// Writes the blocks of a document anew.
pub fn write(document: &Path, results: &Path) -> Result<()> {
    let text = fs::read_to_string(document)?;
    let made = filled(&text, |name| {
        let path = results.join(format!("{name}.json"));
        let json = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(tables(&serde_json::from_str(&json)?))
    })?;
    if made != text {
        fs::write(document, made)?;
    }
    Ok(())
}

/// The document with its blocks made by `make`, from the name of each.
pub fn filled(document: &str, make: impl Fn(&str) -> Result<String>) -> Result<String> {
    let (mut made, mut rest) = (String::new(), document);
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let (name, block) = block.split_once(CLOSE).ok_or("a block whose first line does not end")?;
        let (_, after) = block.split_once(END).ok_or_else(|| format!("the block of {name} does not end"))?;
        made += &format!("{before}{BEGIN}{name}{CLOSE}\n{}\n{END}", make(name)?);
        rest = after;
    }
    Ok(made + rest)
}

/// Everything that a document says of a run.
pub fn tables(report: &Report) -> String {
    let mut text = format!("{}, {}.", report.machine, report.isa);
    if let Some(vulkan) = &report.vulkan {
        text += &format!(" Vulkan: {vulkan}.");
    }
    if let Some(opencl) = &report.opencl {
        text += &format!(" OpenCL: {opencl}.");
    }
    text += &format!(" Medians of {} rounds.", report.rounds);
    if let Some(peak) = report.peak {
        text += &format!(
            " At best: {} GFLOPS, {} of doubles, {} Gop/s of integers, copies {} GB/s.",
            digits(peak.single),
            digits(peak.double),
            digits(peak.integer),
            digits(peak.bytes)
        );
    }
    text.push_str("\n\n");
    text += &kernels(report);
    text += &overheads(report);
    text += &aims(report);
    text
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn table(rows: &[Vec<String>]) -> String {
    let [head, rows @ ..] = rows else { return String::new() };
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let rows: String = rows.iter().map(|row| line(row)).collect();
    line(head) + &rule + &rows
}

/// Ratios that say something: our CPU device beside everybody, our Vulkan backend beside what runs on the same device.
fn compared(who: &str, against: &str) -> bool {
    who == "cpu" || !["pocl", "opencl", "loop"].contains(&against)
}

fn kernels(report: &Report) -> String {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| row.work.is_some()).collect();
    let kernels: Vec<&Row> =
        rows.iter().copied().filter(|row| !row.name.starts_with("copy command")).collect();
    let mut who: Vec<&str> = Vec::new();
    for entry in kernels.iter().flat_map(|row| &row.entries) {
        if !who.contains(&entry.who.as_str()) {
            who.push(&entry.who);
        }
    }
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for ratio in kernels.iter().flat_map(|row| &row.ratios) {
        let pair = (ratio.who.as_str(), ratio.against.as_str());
        if !pairs.contains(&pair) && compared(pair.0, pair.1) {
            pairs.push(pair);
        }
    }
    let peak = kernels.iter().any(|row| row.of_peak.is_some());
    let mut head = vec!["kernel".into(), "unit".into()];
    head.extend(who.iter().map(|who| (*who).to_owned()));
    head.extend(peak.then(|| "% of peak".into()));
    head.extend(pairs.iter().map(|(who, against)| format!("{who} / {against}")));
    let mut lines = vec![head];
    for row in &kernels {
        let rate = |who: &&str| row.entries.iter().find(|entry| entry.who == *who).map(|entry| entry.rate);
        let ratio = |pair: &(&str, &str)| {
            row.ratios.iter().find(|r| (r.who.as_str(), r.against.as_str()) == *pair).map(|r| r.ratio)
        };
        let mut cells = vec![row.name.clone(), row.unit.clone()];
        cells.extend(who.iter().map(|who| rate(who).map_or(String::new(), digits)));
        cells.extend(peak.then(|| row.of_peak.map_or(String::new(), |part| format!("{:.0}", 100.0 * part))));
        cells.extend(pairs.iter().map(|pair| ratio(pair).map_or(String::new(), |r| format!("{r:.2}"))));
        lines.push(cells);
    }
    let mean = |(who, against): &(&str, &str)| {
        report.means.iter().find(|mean| mean.who == *who && mean.against == *against)
    };
    let mut cells = vec![format!("geometric mean of {}", kernels.len()), String::new()];
    cells.extend(who.iter().map(|_| String::new()));
    cells.extend(peak.then(|| report.of_peak.map_or(String::new(), |part| format!("{:.0}", 100.0 * part))));
    cells.extend(pairs.iter().map(|pair| mean(pair).map_or(String::new(), |m| format!("{:.2}", m.ratio))));
    lines.push(cells);
    let mut cells = vec!["least".into(), String::new()];
    cells.extend(who.iter().map(|_| String::new()));
    cells.extend(peak.then(String::new));
    cells.extend(pairs.iter().map(|pair| mean(pair).map_or(String::new(), |m| format!("{:.2}", m.least))));
    lines.push(cells);
    table(&lines) + "\n"
}

/// Launches, loads, the copy command: in microseconds, or as they are.
fn overheads(report: &Report) -> String {
    let mut lines = vec![vec!["beside kernels".to_owned(), "unit".into(), "who: how much".into()]];
    let beside = |row: &&Row| row.work.is_none() || row.name.starts_with("copy command");
    for row in report.rows.iter().filter(beside) {
        let all: Vec<String> =
            row.entries.iter().map(|entry| format!("{}: {}", entry.who, digits(entry.rate))).collect();
        lines.push(vec![row.name.clone(), row.unit.clone(), all.join(", ")]);
    }
    if lines.len() == 1 { String::new() } else { table(&lines) + "\n" }
}

/// What is to be reached by our CPU device: parts of the peak by the beginning of a kernel's name.
const PARTS: [(&str, f64); 7] = [
    ("matmul ", 0.6),
    ("matmul_wide", 0.7),
    ("matmul_outer", 0.7),
    ("matmul_lds", 0.35),
    ("dgemm", 0.5),
    ("straight", 0.9),
    ("copy ", 0.8),
];
const PART: f64 = 0.5;

/// Geometric means and least ratios beside others, with these instructions.
const RATIOS: [(&str, &str, f64, f64); 4] = [
    ("glsl", "avx512", 6.0, 1.5),
    ("glsl", "avx2", 4.0, 1.2),
    ("pocl", "avx512", 1.5, 1.0),
    ("pocl", "avx2", 1.5, 1.0),
];

fn aims(report: &Report) -> String {
    let mut lines = vec![["aim", "at least", "reached", "met"].map(str::to_owned).to_vec()];
    let mut add = |what: String, least: f64, reached: f64, shown: fn(f64) -> String| {
        let met = if reached >= least { "yes" } else { "no" };
        lines.push(vec![what, shown(least), shown(reached), met.into()]);
    };
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    let plain = |ratio: f64| format!("{ratio:.2}");
    if let Some(mean) = report.of_peak {
        add("part of the peak, geometric mean".into(), PART, mean, percent);
    }
    for row in &report.rows {
        let aim = PARTS.iter().find(|(name, _)| row.name.starts_with(name));
        if let (Some((_, least)), Some(part)) = (aim, row.of_peak) {
            add(format!("part of the peak, {}", row.name), *least, part, percent);
        }
    }
    for mean in report.means.iter().filter(|mean| mean.who == "cpu") {
        let aim = RATIOS.iter().find(|(against, isa, ..)| mean.against == *against && report.isa == *isa);
        if let Some((against, _, least_mean, least)) = aim {
            add(format!("over {against}, geometric mean"), *least_mean, mean.ratio, plain);
            add(format!("over {against}, least ({})", mean.least_name), *least, mean.least, plain);
        }
    }
    if lines.len() == 1 { String::new() } else { table(&lines) }
}
