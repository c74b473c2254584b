//! `recal run`: bind, launch, time, save.

use std::path::PathBuf;
use std::time::Instant;

use recal::{Context, Domain, Grid, Module, Runtime, Threads};
use serde_json::{Value, json};

use crate::data::{self, Binding, Save};
use crate::files::{print, print_json, say};
use crate::kernel::{Kernel, diagnostics};
use crate::misuse::{self, Misused};
use crate::progress::Progress;
use crate::{Outcome, hints};

/// Arguments of `recal run`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text or image; `-` = standard input
    kernel: PathBuf,
    #[command(flatten)]
    launch: Launch,
    /// Device by number, see `recal devices`
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// Launches
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Print one JSON object; times in seconds
    #[arg(long)]
    pub(crate) json: bool,
}

/// What runs, on what: what all commands that run a kernel once take.
#[derive(clap::Args)]
pub(crate) struct Launch {
    /// What a symbol gets: i0=in.npy, i0=in.png, i0=in.raw:64x64:float_4 (`-` = standard input), cb0=1,2.5,0x10,-3i
    /// (integers have an i or are hex), o0=64x64:float_4 (zeros)
    #[arg(short, long = "bind", value_name = "NAME=VALUE", value_parser = data::binding)]
    pub(crate) bind: Vec<Binding>,
    /// File to save a symbol's memory to afterwards, as it is then: o0=out.npy, o0=out.png, or raw bytes under any other name (`-` =
    /// standard output)
    #[arg(short, long = "save", value_name = "NAME=FILE", value_parser = data::save)]
    pub(crate) save: Vec<Save>,
    #[command(flatten)]
    pub(crate) extent: Extent,
}

/// How many threads run.
#[derive(clap::Args)]
pub(crate) struct Extent {
    /// Pixel kernel: columns and rows, e.g. 64x64; and the first of each where that is not 0, e.g. 64x64+8+4
    #[arg(short, long, value_name = "WxH[+X+Y]", value_parser = domain, conflicts_with = "grid")]
    domain: Option<Domain>,
    /// Compute kernel: groups, e.g. 16, 16x16 or 4x4x2
    #[arg(short, long, value_name = "X[xY[xZ]]", value_parser = groups)]
    grid: Option<Groups>,
}

/// Groups in three directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Groups([u32; 3]);

fn domain(text: &str) -> Result<Domain, String> {
    let mut parts = text.split('+');
    let (width, height) = data::extent(parts.next().unwrap_or_default())?;
    let origin = parts.map(data::number).collect::<Result<Vec<_>, _>>()?;
    let (x, y) = match origin[..] {
        [] => (0, 0),
        [x, y] => (x, y),
        _ => return Err("expected WIDTHxHEIGHT+X+Y".into()),
    };
    Ok(Domain { x, y, width, height: height.max(1) })
}

fn groups(text: &str) -> Result<Groups, String> {
    let mut groups = [1; 3];
    let parts: Vec<&str> = text.split('x').collect();
    if parts.len() > groups.len() {
        return Err("more than three numbers".into());
    }
    for (to, part) in groups.iter_mut().zip(parts) {
        *to = data::number(part)?;
    }
    Ok(Groups(groups))
}

impl Extent {
    /// Something was said about it.
    pub(crate) fn is_given(&self) -> bool {
        self.domain.is_some() || self.grid.is_some()
    }

    /// The arguments that say the same.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(Domain { x, y, width, height }) = self.domain {
            all.extend(["--domain".into(), format!("{width}x{height}+{x}+{y}")]);
        }
        if let Some(Groups([x, y, z])) = self.grid {
            all.extend(["--grid".into(), format!("{x}x{y}x{z}")]);
        }
        all
    }

    pub(crate) fn threads(&self, module: &Module) -> Outcome<Threads> {
        let block = module.info().group;
        // Pixel kernels have no groups.
        match (block == [0; 3], self.domain, self.grid) {
            (true, Some(domain), _) if domain.width == 0 || domain.height == 0 => {
                Err("--domain: there are no threads in it".into())
            }
            (true, Some(domain), _) => Ok(Threads::Domain(domain)),
            (false, _, Some(Groups(groups))) if groups.contains(&0) => {
                Err("--grid: there are no groups in it".into())
            }
            (false, _, Some(Groups(groups))) => Ok(Threads::Grid(Grid { block, groups })),
            (true, None, _) => Err("a pixel kernel wants --domain, e.g. --domain 64x64".into()),
            (false, _, None) => Err("a compute kernel wants --grid, e.g. --grid 16".into()),
        }
    }
}

/// Threads as JSON.
pub(crate) fn threads_json(threads: Threads) -> Value {
    match threads {
        Threads::Domain(d) => json!({ "domain": [d.width, d.height], "origin": [d.x, d.y] }),
        Threads::Grid(g) => json!({ "groups": g.groups, "block": g.block }),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let json = arguments.json;
    let output_taken = data::takes_output(&arguments.launch.save, json)?;
    let kernel = Kernel::read(&arguments.kernel)?;
    let runtime = Runtime::new()?;
    let device = runtime.open(arguments.device)?;
    let context = device.create_context()?;
    let loaded = kernel.load(&context, json)?;
    let module = loaded.module;
    let threads = arguments.launch.extent.threads(&module)?;
    let bound = data::bind(&device, &module, &arguments.launch.bind)?;
    let saves = data::saves(&arguments.launch.save, &bound)?;
    let hints = hints::tell(&loaded.text, &arguments.launch.bind, json);
    let (best, mean) = launch(arguments.repeat, &context, &module, threads)?;
    saves.iter().try_for_each(|(bound, path)| bound.save(path))?;
    let findings = device.findings();
    if json {
        let saved: Vec<_> = arguments.launch.save.iter().map(Save::json).collect();
        print_json(&json!({
            "file": kernel.name,
            "device": device.info().name,
            "ordinal": arguments.device,
            "threads": threads_json(threads),
            "launches": arguments.repeat,
            "best": best,
            "mean": mean,
            "saved": saved,
            "warnings": diagnostics(&loaded.warnings, &loaded.text),
            "hints": hints,
            "findings": misuse::json(findings.as_deref()),
        }))?;
    } else {
        let launches = if arguments.repeat == 1 { "launch" } else { "launches" };
        let (name, best, mean) = (&device.info().name, 1e3 * best, 1e3 * mean);
        let said = format!("{name}: {} {launches}, best {best:.3} ms, mean {mean:.3} ms\n", arguments.repeat);
        match output_taken {
            true => say(&said),
            false => print(&said)?,
        }
    }
    Misused::check(findings)
}

/// Best and mean time of a launch, in seconds.
pub(crate) fn launch(
    repeat: u32,
    context: &Context,
    module: &Module,
    threads: Threads,
) -> Outcome<(f64, f64)> {
    let mut best = f64::INFINITY;
    let mut total = 0.0;
    let progress = Progress::new(u64::from(repeat));
    for done in 0..repeat {
        let start = Instant::now();
        let event = match threads {
            Threads::Domain(domain) => context.run(module, domain),
            Threads::Grid(grid) => context.run_grid(module, grid),
        };
        let event = event.map_err(remedied)?;
        event.wait()?;
        let took = start.elapsed().as_secs_f64();
        best = best.min(took);
        total += took;
        progress.at(u64::from(done) + 1);
    }
    Ok((best, total / f64::from(repeat)))
}

/// An error with what to do about symbols that nothing is bound to.
fn remedied(error: recal::Error) -> Box<dyn std::error::Error> {
    let text = error.to_string();
    let Some(first) = text.split("nothing is bound to ").nth(1).and_then(|names| names.split(',').next())
    else {
        return error.into();
    };
    let value = if first.starts_with("cb") { "1,2.5" } else { "64x64:float_4" };
    format!("{text}; --bind does that, e.g. --bind {first}={value}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents() {
        assert_eq!(domain("8"), Ok(Domain::of(8, 1)));
        assert_eq!(domain("8x4"), Ok(Domain::of(8, 4)));
        assert_eq!(domain("8x4+3+2"), Ok(Domain { x: 3, y: 2, width: 8, height: 4 }));
        assert_eq!(groups("2"), Ok(Groups([2, 1, 1])));
        assert_eq!(groups("2x3x4"), Ok(Groups([2, 3, 4])));
        for bad in ["", "x", "8x4+1", "8x4+1+2+3", "8xy", "-8"] {
            assert!(domain(bad).is_err(), "{bad}");
        }
        for bad in ["", "2x", "1x2x3x4", "2,3"] {
            assert!(groups(bad).is_err(), "{bad}");
        }
    }
}
