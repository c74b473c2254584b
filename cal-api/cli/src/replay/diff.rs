//! `recal diff`: a capture on two devices; the first launch, resource and element whose bits differ.

use std::path::PathBuf;

use recal::capture::{Capture, Launch, Prepared};
use serde_json::{Value, json};

use super::compare::{Difference, compare};
use super::instruction::{self, Found};
use super::{chosen, extent};
use crate::choice::{self, Choice, Opened};
use crate::files::{print, print_json};
use crate::kernel::Kernel;
use crate::run::threads_json;
use crate::{Differs, Outcome};

/// Arguments of `recal diff`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder that CAL_CAPTURE filled
    folder: PathBuf,
    /// The two devices, each with -d, as for `recal replay`: -d cpu -d llvmpipe:native
    #[arg(short, long, num_args = 1, required = true, value_parser = choice::choice)]
    device: Vec<Choice>,
    /// This launch only
    #[arg(short, long, value_name = "NUMBER")]
    launch: Option<u32>,
    /// Another kernel instead of the launch's: IL text or an image
    #[arg(short, long, value_name = "FILE", requires = "launch")]
    kernel: Option<PathBuf>,
    /// Look for the instruction: the thread that wrote the element is traced, and each of its instructions runs by itself on both
    /// devices, with the operands that it had
    #[arg(short, long)]
    trace: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What differs first.
struct First<'c> {
    launch: &'c Launch,
    /// Its kernel.
    text: Vec<u8>,
    /// Place in the launch's resources.
    resource: usize,
    difference: Difference,
    found: Option<Found>,
}

pub(crate) fn diff(arguments: &Arguments) -> Outcome {
    let [first, second] = &arguments.device[..] else {
        return Err("two devices are compared: -d A -d B".into());
    };
    let capture = Capture::open(&arguments.folder)?;
    let launches = chosen(&capture, arguments.launch)?;
    let kernel = arguments.kernel.as_deref().map(Kernel::read).transpose()?;
    let devices = [first.open()?, second.open()?];
    let (mut same, mut different) = (0, None);
    for launch in launches {
        let text = super::text(&capture, launch, kernel.as_ref())?;
        match look(&capture, launch, &text, &devices)? {
            Some((resource, difference)) => {
                let found = match arguments.trace {
                    true => {
                        Some(instruction::find(&capture, launch, &text, resource, &difference, &devices)?)
                    }
                    false => None,
                };
                different = Some(First { launch, text, resource, difference, found });
                break;
            }
            None => same += 1,
        }
    }
    let names = [&devices[0].name, &devices[1].name];
    if arguments.json {
        print_json(&json!({
            "folder": arguments.folder.display().to_string(), "devices": names, "same": same,
            "cut_off": capture.is_cut_off(), "difference": different.as_ref().map(First::json),
        }))?;
    } else {
        let launches = if same == 1 { "launch writes" } else { "launches write" };
        let text = match &different {
            Some(first) => first.text(),
            None => format!("{same} {launches} the same bits\n"),
        };
        print(&format!("A: {}\nB: {}\n{text}", names[0], names[1]))?;
    }
    Differs::check(different.is_some(), "the devices differ")
}

/// Runs a launch on both devices: the first resource that differs.
fn look(
    capture: &Capture,
    launch: &Launch,
    text: &[u8],
    devices: &[Opened; 2],
) -> Outcome<Option<(usize, Difference)>> {
    let mut ran: Vec<Result<Prepared, recal::Error>> = Vec::new();
    for device in devices {
        ran.push(super::ran(capture, launch, text, device)?);
    }
    let [first, second] = match (ran.remove(0), ran.remove(0)) {
        (Ok(first), Ok(second)) => [first, second],
        // What fails everywhere is no difference.
        (Err(_), Err(_)) => return Ok(None),
        (Err(e), _) => return Err(format!("{}: {e}; the other device runs it", devices[0].name).into()),
        (_, Err(e)) => return Err(format!("{}: {e}; the other device runs it", devices[1].name).into()),
    };
    for at in launch.written() {
        if let Some(difference) = compare(&launch.resources[at], &first.contents(at)?, &second.contents(at)?)?
        {
            return Ok(Some((at, difference)));
        }
    }
    Ok(None)
}

impl First<'_> {
    fn text(&self) -> String {
        let First { launch, resource, difference, found, text: kernel } = self;
        let symbols = launch.resources[*resource].symbols.join(", ");
        let mut text = format!("launch {}, {}, {}\n", launch.number, extent(launch), launch.kernel);
        text += &format!("  {symbols}: {}\n", difference.text("A", "B"));
        if let Some(found) = found {
            text += &found.text();
            if let Found::Instruction(at) = found {
                let kernel = String::from_utf8_lossy(kernel);
                // What is around it.
                let number = at.line as usize;
                for (n, line) in kernel.lines().enumerate().skip(number.saturating_sub(3)).take(5) {
                    text += &format!("  {} {:>5} | {line}\n", if n + 1 == number { ">" } else { " " }, n + 1);
                }
            }
        }
        text
    }

    fn json(&self) -> Value {
        let launch = self.launch;
        json!({
            "launch": launch.number, "kernel": launch.kernel, "threads": threads_json(launch.threads()),
            "symbols": launch.resources[self.resource].symbols, "difference": self.difference.json(),
            "trace": self.found.as_ref().map(Found::json),
        })
    }
}
