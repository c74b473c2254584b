//! `CAL_CAPTURE`: what a program launched, kept in a folder, so that it can be run again without the program.
//!
//! ```text
//! recorder   launches → lines of `capture.jsonl`, kernels and contents by their hashes
//! replay     the folder → launches → modules with everything bound
//! ```
//!
//! `docs/capture.md` describes the folder. Each launch has the contents of everything that was bound before it, so any of them
//! runs by itself: what the program did in between, maps and copies, need not be known.
//!
//! ```no_run
//! use recal::capture::Capture;
//! let capture = Capture::open("hung-gpu.cap")?;
//! let context = recal::default_context()?;
//! for launch in capture.launches() {
//!     let prepared = capture.prepare(launch, &context)?;
//!     prepared.run()?;
//!     for resource in launch.written() {
//!         let now = prepared.contents(resource)?;
//!         let then = capture.written(launch, resource)?;
//!         assert_eq!(Some(now), then, "launch {}", launch.number);
//!     }
//! }
//! # Ok::<(), recal::Error>(())
//! ```

mod recorder;
mod replay;

use std::collections::BTreeMap;

use recal_hal::{DomainParam, Extent, Sampler, Wrap};
use serde::{Deserialize, Serialize};

use crate::launch::{Domain, Grid, Threads};

pub(crate) use recorder::{Recorder, begin, is_on};
pub use replay::{Capture, Prepared};

/// Version of the folder's form.
const VERSION: u32 = 1;
/// The list of what happened.
const LIST: &str = "capture.jsonl";
/// Kernels, named by their SHA-256.
const KERNELS: &str = "kernels";
/// Contents of resources, named by their SHA-256.
const DATA: &str = "data";

/// A line of the list.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Record {
    /// The first line.
    Capture(Head),
    /// A C function that has returned.
    Call(String),
    /// A launch is about to begin.
    Launch(Box<Launch>),
    /// The launch of this number has ended.
    Done(Done),
}

/// What was captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the form.
    version: u32,
    /// Name of the program's file.
    pub program: String,
    /// Number of its process.
    pub process: u32,
    /// Version of this library.
    pub recal: String,
}

/// A launch, and what was bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// From 0, in the order in which launches were asked for.
    pub number: u32,
    /// The context that it was asked of, by a number.
    pub context: u32,
    /// Name of the device.
    pub device: String,
    /// Name of the target that the device reported.
    pub target: String,
    /// File of the kernel, in the folder: IL text (`.il`), or a program (`.ir`) of which there was no text.
    pub kernel: String,
    /// Column, row, width and height of a pixel kernel's domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    domain: Option<[u32; 4]>,
    /// Groups, and threads of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grid: Option<[[u32; 3]; 2]>,
    /// Bits of the interpolated inputs: `ul`, `ll`, `lr` of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    params: Option<Vec<[[u32; 4]; 3]>>,
    /// Samplers, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    samplers: BTreeMap<u32, SamplerState>,
    /// Append counters that the kernel uses, by number of the UAV, and their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    counters: BTreeMap<u32, u32>,
    /// What was bound.
    pub resources: Vec<Held>,
    /// What became of it; none if the capture ends before.
    #[serde(skip)]
    pub done: Option<Done>,
}

/// A resource that was bound, as it was before the launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The symbols that it was bound to.
    pub symbols: Vec<String>,
    /// Elements in a row.
    pub width: u32,
    /// Rows; 0 if one-dimensional.
    pub height: u32,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Element format, without `CAL_FORMAT_`.
    pub format: String,
    /// File of the contents, all rows to the pitch; none if they could not be had.
    pub data: Option<String>,
    /// Why they could not be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The end of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    launch: u32,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Files of what it wrote, by the place in [`Launch::resources`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    written: BTreeMap<usize, String>,
}

/// A sampler, its floats as bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SamplerState {
    linear: bool,
    /// Values of `Wrap`.
    wrap: [u32; 3],
    border: [u32; 4],
}

impl From<&Sampler> for SamplerState {
    fn from(sampler: &Sampler) -> Self {
        let border = sampler.border.map(f32::to_bits);
        SamplerState { linear: sampler.linear, wrap: sampler.wrap.map(|wrap| wrap as u32), border }
    }
}

impl SamplerState {
    /// None if there is no such wrap mode.
    fn sampler(&self) -> Option<Sampler> {
        let [u, v, w] = self.wrap.map(|number| Wrap::ALL.get(number as usize).copied());
        let border = self.border.map(f32::from_bits);
        Some(Sampler { linear: self.linear, wrap: [u?, v?, w?], border })
    }
}

impl Launch {
    /// The threads that ran.
    pub fn threads(&self) -> Threads {
        match (self.domain, self.grid) {
            (Some([x, y, width, height]), _) => Threads::Domain(Domain { x, y, width, height }),
            (None, Some([groups, block])) => Threads::Grid(Grid { groups, block }),
            (None, None) => Threads::Domain(Domain::of(0, 0)),
        }
    }

    /// Places in [`Launch::resources`] of what a kernel may write: outputs, UAVs, `g[]`.
    pub fn written(&self) -> Vec<usize> {
        let written = |held: &Held| held.symbols.iter().any(|s| is_written(s));
        (0..self.resources.len()).filter(|&at| written(&self.resources[at])).collect()
    }

    /// Whether the kernel has interpolated inputs, which depend on the whole domain.
    pub fn is_interpolated(&self) -> bool {
        self.params.is_some()
    }

    /// The same over another domain, where it has one.
    #[must_use]
    pub fn over(&self, domain: Domain) -> Launch {
        let Domain { x, y, width, height } = domain;
        Launch { domain: self.domain.map(|_| [x, y, width, height]), ..self.clone() }
    }

    fn set_extent(&mut self, extent: Extent) {
        match extent {
            Extent::Domain { x, y, width, height } => self.domain = Some([x, y, width, height]),
            Extent::Grid { groups, block } => self.grid = Some([groups, block]),
        }
    }

    fn domain_params(&self) -> Option<[DomainParam; 8]> {
        let corner = |bits: [u32; 4]| bits.map(f32::from_bits);
        let params: Vec<DomainParam> = (self.params.as_ref()?.iter())
            .map(|&[ul, ll, lr]| DomainParam { ul: corner(ul), ll: corner(ll), lr: corner(lr) })
            .collect();
        params.try_into().ok()
    }
}

/// Whether a kernel may write to a symbol.
fn is_written(symbol: &str) -> bool {
    symbol.starts_with('o') || symbol.starts_with("uav") || symbol == "g[]"
}

/// The bits of interpolated inputs.
fn bits_of(params: &[DomainParam; 8]) -> Vec<[[u32; 4]; 3]> {
    params.iter().map(|p| [p.ul, p.ll, p.lr].map(|corner| corner.map(f32::to_bits))).collect()
}
