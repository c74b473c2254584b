//! Results as a table and as JSON.

use serde::{Deserialize, Serialize};

use crate::measure::Series;
use crate::peak::Peak;

/// Everything of a run.
#[derive(Deserialize, Serialize)]
pub struct Report {
    /// What tables call the machine.
    pub machine: String,
    /// The instructions that our CPU device uses.
    pub isa: String,
    /// Processor.
    pub processor: String,
    /// Its cores that this program may use.
    pub cores: usize,
    /// Vulkan device of the peers and of the Vulkan backend.
    pub vulkan: Option<String>,
    /// OpenCL's device and version.
    pub opencl: Option<String>,
    /// Optimised build.
    pub optimised: bool,
    /// Rounds.
    pub rounds: usize,
    /// What the processor does at best, if our CPU device is measured.
    pub peak: Option<Peak>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Ratios over all kernels, by who and against whom.
    pub means: Vec<Mean>,
    /// The geometric mean of the parts of the peak.
    pub of_peak: Option<f64>,
    /// What could not be measured, and why.
    pub notes: Vec<String>,
}

/// One kernel, or one kind of overhead.
#[derive(Deserialize, Serialize)]
pub struct Row {
    /// Which.
    pub name: String,
    /// Work of one run, in `unit`s times a second; nothing for overheads.
    pub work: Option<f64>,
    /// Of the rates.
    pub unit: String,
    /// Who took how long.
    pub entries: Vec<Entry>,
    /// Speeds compared.
    pub ratios: Vec<Ratio>,
    /// The part of what the processor can do at best, at 1, that our CPU device does of a kernel.
    pub of_peak: Option<f64>,
}

/// How fast one was.
#[derive(Deserialize, Serialize)]
pub struct Entry {
    /// Who.
    pub who: String,
    /// Median seconds of a run.
    pub median: f64,
    /// Least seconds of a run.
    pub best: f64,
    /// Work in 10^9 a second by the median; 10^6 s by it for overheads: microseconds.
    pub rate: f64,
}

/// One speed over another.
#[derive(Clone, Deserialize, Serialize)]
pub struct Ratio {
    /// Whose.
    pub who: String,
    /// Over whose.
    pub against: String,
    /// Above 1: faster.
    pub ratio: f64,
}

/// A ratio over all kernels.
#[derive(Clone, Deserialize, Serialize)]
pub struct Mean {
    /// Whose.
    pub who: String,
    /// Over whose.
    pub against: String,
    /// Geometric mean.
    pub ratio: f64,
    /// Of so many kernels.
    pub kernels: usize,
    /// The least of them.
    pub least: f64,
    /// Whose that is.
    pub least_name: String,
}

impl Row {
    /// A row of a kernel (with work) or an overhead (in microseconds). Ratios are ours against all others.
    pub fn new(name: &str, work: Option<f64>, unit: &str, series: &[Series]) -> Row {
        let entries = series
            .iter()
            .map(|s| {
                let rate = match work {
                    Some(work) => work / s.median() * 1e-9,
                    None => s.median() * 1e6,
                };
                Entry { who: s.who.clone(), median: s.median(), best: s.best(), rate }
            })
            .collect();
        let ours = |s: &&Series| s.who.starts_with("cpu") || s.who.starts_with("vulkan");
        let mut ratios = Vec::new();
        for own in series.iter().filter(ours) {
            for other in series.iter().filter(|s| !ours(s)) {
                ratios.push(Ratio {
                    who: own.who.clone(),
                    against: other.who.clone(),
                    ratio: own.speedup(other),
                });
            }
        }
        Row { name: name.into(), work, unit: unit.into(), entries, ratios, of_peak: None }
    }

    /// The same with our CPU device's part of the most that can be reached, in 10^9 of the unit a second.
    pub fn of_peak(self, limit: Option<f64>) -> Row {
        let rate = self.entries.iter().find(|entry| entry.who == "cpu").map(|entry| entry.rate);
        Row { of_peak: limit.zip(rate).map(|(limit, rate)| rate / limit), ..self }
    }

    /// One line.
    pub fn line(&self) -> String {
        let mut text = format!("{:<28}", self.name);
        for entry in &self.entries {
            text += &format!("  {} {}", entry.who, digits(entry.rate));
        }
        text += &format!(" {}", self.unit);
        for ratio in &self.ratios {
            text += &format!("  {}/{} {:.2}", ratio.who, ratio.against, ratio.ratio);
        }
        if let Some(part) = self.of_peak {
            text += &format!("  {:.0} % of peak", 100.0 * part);
        }
        text
    }
}

fn geometric(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

/// Three digits, or as many as there are before the point.
pub fn digits(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

impl Report {
    /// Geometric means over the kernels, and the worst, by pairs.
    pub fn finish(&mut self) {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for ratio in self.rows.iter().filter(|r| r.work.is_some()).flat_map(|r| &r.ratios) {
            let pair = (ratio.who.clone(), ratio.against.clone());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (who, against) in pairs {
            let of: Vec<(f64, &str)> = self
                .rows
                .iter()
                .filter(|row| row.work.is_some())
                .flat_map(|row| row.ratios.iter().map(move |r| (r, row.name.as_str())))
                .filter(|(r, _)| r.who == who && r.against == against)
                .map(|(r, name)| (r.ratio, name))
                .collect();
            let Some((least, name)) = of.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            let ratio = geometric(of.iter().map(|(ratio, _)| *ratio));
            println!(
                "{who} against {against}: geometric mean {ratio:.2} over {} kernels, least {least:.2} ({name})",
                of.len()
            );
            let (kernels, least, least_name) = (of.len(), *least, (*name).to_owned());
            self.means.push(Mean { who, against, ratio, kernels, least, least_name });
        }
        let parts: Vec<f64> = self.rows.iter().filter_map(|row| row.of_peak).collect();
        if !parts.is_empty() {
            let mean = geometric(parts.iter().copied());
            println!("cpu: geometric mean {:.0} % of peak over {} kernels", 100.0 * mean, parts.len());
            self.of_peak = Some(mean);
        }
        for note in &self.notes {
            println!("note: {note}");
        }
    }
}
