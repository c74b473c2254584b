//! `recal replay` and `recal diff`: the launches of a capture again, on one device or on two.

mod compare;
mod diff;
mod instruction;
mod micro;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use recal::Threads;
use recal::capture::{Capture, Held, Launch, Prepared};
use serde_json::{Value, json};

use crate::choice::{self, Choice, Opened};
use crate::files::{print, print_json};
use crate::kernel::Kernel;
use crate::misuse::{self, Misused};
use crate::run::threads_json;
use crate::{Differs, Outcome};
use compare::{Difference, compare};

pub(crate) use diff::{Arguments as DiffArguments, diff};

/// Arguments of `recal replay`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder that CAL_CAPTURE filled
    folder: PathBuf,
    /// Device by number, see `recal devices`, or by a part of its name or its backend's; with `:native`, `:faithful` or
    /// the CPU's `:avx512`, `:avx2`, `:neon`, `:baseline`
    #[arg(short, long, default_value = "0", value_parser = choice::choice)]
    device: Choice,
    /// This launch only
    #[arg(short, long, value_name = "NUMBER")]
    launch: Option<u32>,
    /// Another kernel instead of the launch's: IL text or an image
    #[arg(short, long, value_name = "FILE", requires = "launch")]
    kernel: Option<PathBuf>,
    /// Folder that receives what the launches write: launch-0-o0.bin, all rows to the pitch
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn replay(arguments: &Arguments) -> Outcome {
    let json = arguments.json;
    let capture = Capture::open(&arguments.folder)?;
    let launches = chosen(&capture, arguments.launch)?;
    if let Some(folder) = &arguments.output {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let kernel = arguments.kernel.as_deref().map(Kernel::read).transpose()?;
    let opened = arguments.device.open()?;
    let (mut shown, mut differ) = (Vec::new(), 0);
    for launch in launches.iter().copied() {
        let text = text(&capture, launch, kernel.as_ref())?;
        let ran = ran(&capture, launch, &text, &opened)?;
        let failed = ran.as_ref().err();
        if let Some(error) = failed.filter(|_| !failed_before(launch)) {
            return Err(format!("{error}; it did not fail when it was captured").into());
        }
        let mut written = Vec::new();
        if let Ok(prepared) = &ran {
            for at in launch.written() {
                written.push(Written::look(&capture, launch, prepared, at, arguments.output.as_deref())?);
            }
        }
        differ += written.iter().filter(|written| written.difference.is_some()).count();
        match json {
            true => shown.push(launch_json(launch, &written, failed)),
            false => print(&launch_text(launch, &written, failed))?,
        }
    }
    let findings = opened.device.findings();
    let cut = capture.is_cut_off();
    if json {
        let head = capture.head();
        print_json(&json!({
            "folder": arguments.folder.display().to_string(), "program": head.program, "device": opened.name,
            "calls": capture.calls(), "launches": shown, "cut_off": cut, "differ": differ,
            "findings": misuse::json(findings.as_deref()),
        }))?;
    } else {
        let count = launches.len();
        let launches = if count == 1 { "launch" } else { "launches" };
        let cut = if cut { "; the capture ends in the middle of the program" } else { "" };
        print(&format!("{}: {count} {launches} of {}{cut}\n", opened.name, capture.head().program))?;
    }
    Misused::check(findings)?;
    Differs::check(differ > 0, "the results are not those of the capture")
}

/// The launch failed when it was captured.
fn failed_before(launch: &Launch) -> bool {
    launch.done.as_ref().is_some_and(|done| done.error.is_some())
}

/// A launch that has run, or why it has not. What was refused when it was captured may have nothing to be made of.
fn ran(
    capture: &Capture,
    launch: &Launch,
    text: &[u8],
    on: &Opened,
) -> Outcome<Result<Prepared, recal::Error>> {
    match capture.prepare_with(launch, text, &on.context) {
        Ok(prepared) => Ok(prepared.run().map(|()| prepared)),
        Err(error) if failed_before(launch) => Ok(Err(error)),
        Err(error) => Err(format!("{}: {error}", on.name).into()),
    }
}

/// The kernel of a launch, or another.
fn text(capture: &Capture, launch: &Launch, other: Option<&Kernel>) -> Outcome<Vec<u8>> {
    match other {
        Some(kernel) => Ok(kernel.text(recal::target::CYPRESS)?.to_vec()),
        None => Ok(capture.kernel(launch)?),
    }
}

/// The launches that are wanted.
fn chosen(capture: &Capture, number: Option<u32>) -> Outcome<Vec<&Launch>> {
    let all = capture.launches();
    let Some(number) = number else {
        return if all.is_empty() {
            Err("the capture has no launches".into())
        } else {
            Ok(all.iter().collect())
        };
    };
    let found: Vec<_> = all.iter().filter(|launch| launch.number == number).collect();
    match found.is_empty() {
        true => {
            Err(format!("--launch {number}: the capture has launches 0 to {}", all.len().max(1) - 1).into())
        }
        false => Ok(found),
    }
}

/// What a launch wrote.
struct Written<'c> {
    held: &'c Held,
    /// The capture has something to compare with.
    compared: bool,
    difference: Option<Difference>,
    saved: Option<PathBuf>,
}

impl<'c> Written<'c> {
    fn look(
        capture: &Capture,
        launch: &'c Launch,
        prepared: &Prepared,
        at: usize,
        output: Option<&Path>,
    ) -> Outcome<Written<'c>> {
        let held = &launch.resources[at];
        let now = prepared.contents(at)?;
        let then = capture.written(launch, at)?;
        let difference = then.as_deref().map(|then| compare(held, then, &now)).transpose()?.flatten();
        let mut saved = None;
        if let Some(folder) = output {
            let symbol = held.symbols.first().map_or("memory", |symbol| symbol.trim_end_matches("[]"));
            let path = folder.join(format!("launch-{}-{symbol}.bin", launch.number));
            crate::files::write(&path, &now)?;
            saved = Some(path);
        }
        Ok(Written { held, compared: then.is_some(), difference, saved })
    }
}

/// `64 x 64 at (0, 0)`, `16 x 1 x 1 groups of 64 x 1 x 1`
fn extent(launch: &Launch) -> String {
    let three = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    match launch.threads() {
        Threads::Domain(d) => format!("{} x {} at ({}, {})", d.width, d.height, d.x, d.y),
        Threads::Grid(g) => format!("{} groups of {}", three(g.groups), three(g.block)),
    }
}

fn launch_text(launch: &Launch, written: &[Written<'_>], failed: Option<&recal::Error>) -> String {
    let mut text = format!("launch {}, {}, {}", launch.number, extent(launch), launch.kernel);
    if let Some(error) = failed {
        return format!("{text}: fails, as it did: {error}\n");
    }
    for Written { held, compared, difference, .. } in written {
        let symbols = held.symbols.join(", ");
        // Writing to a string cannot fail.
        let _ = match (difference, compared) {
            (Some(difference), _) => write!(text, "\n  {symbols}: {}", difference.text("captured", "now")),
            (None, true) => write!(text, "\n  {symbols}: as captured"),
            (None, false) => write!(text, "\n  {symbols}: the capture has nothing to compare with"),
        };
    }
    text + "\n"
}

fn launch_json(launch: &Launch, written: &[Written<'_>], failed: Option<&recal::Error>) -> Value {
    let one = |w: &Written<'_>| {
        json!({
            "symbols": w.held.symbols, "as_captured": w.compared.then_some(w.difference.is_none()),
            "difference": w.difference.as_ref().map(Difference::json),
            "file": w.saved.as_ref().map(|path| path.display().to_string()),
        })
    };
    json!({
        "number": launch.number, "kernel": launch.kernel, "threads": threads_json(launch.threads()),
        "error": failed.map(recal::Error::to_string), "written": written.iter().map(one).collect::<Value>(),
    })
}
