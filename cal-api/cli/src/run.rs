//! `cal run`: bind, launch, time, save.

use std::path::PathBuf;
use std::time::Instant;

use cal::{Context, Domain, Grid, Module, Runtime, Threads};

use crate::data::{self, Binding};
use crate::progress::Progress;
use crate::{Outcome, image};

/// Arguments of `cal run`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text or image
    kernel: PathBuf,
    /// What a symbol gets: i0=in.npy, i0=in.raw:64x64:float32_4, cb0=1,2.5,0x10,-3i, o0=64x64:float32_4 (zeros)
    #[arg(short, long = "bind", value_name = "NAME=VALUE", value_parser = data::binding)]
    bind: Vec<Binding>,
    /// File to save a symbol's memory to afterwards: o0=out.npy, or raw bytes under any other name
    #[arg(short, long = "save", value_name = "NAME=FILE")]
    save: Vec<String>,
    #[command(flatten)]
    extent: Extent,
    /// Device by number, see `cal devices`
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// Launches
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
}

/// How many threads run.
#[derive(clap::Args)]
pub(crate) struct Extent {
    /// Pixel kernel: columns and rows, e.g. 64x64
    #[arg(short, long, value_name = "WxH", value_parser = data::extent, conflicts_with = "grid")]
    domain: Option<(u32, u32)>,
    /// Compute kernel: groups, e.g. 16 or 16x16
    #[arg(short, long, value_name = "X[xY]", value_parser = data::extent)]
    grid: Option<(u32, u32)>,
}

impl Extent {
    pub(crate) fn threads(&self, module: &Module) -> Outcome<Threads> {
        match (self.domain, self.grid) {
            (Some((width, height)), _) => Ok(Threads::Domain(Domain::of(width, height.max(1)))),
            (None, Some((x, y))) => {
                let block = module.info().group;
                Ok(Threads::Grid(Grid { block, groups: [x, y.max(1), 1] }))
            }
            (None, None) => Err("give --domain for a pixel kernel or --grid for a compute kernel".into()),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let runtime = Runtime::new()?;
    let device = runtime.open(arguments.device)?;
    let context = device.create_context()?;
    let image = image(&arguments.kernel, device.info().target)?;
    let module = context.load(&image)?;
    let bound = data::bind(&device, &module, &arguments.bind)?;
    let saves = data::saves(&arguments.save, &bound)?;
    let threads = arguments.extent.threads(&module)?;
    let (best, total) = launch(arguments.repeat, &context, &module, threads)?;
    println!(
        "{}: {} launches, best {:.3} ms, mean {:.3} ms",
        device.info().name,
        arguments.repeat,
        best,
        total
    );
    saves.iter().try_for_each(|(bound, path)| bound.save(path))
}

/// Best and mean time of a launch, in milliseconds.
fn launch(repeat: u32, context: &Context, module: &Module, threads: Threads) -> Outcome<(f64, f64)> {
    let mut best = f64::INFINITY;
    let mut total = 0.0;
    let progress = Progress::new(u64::from(repeat));
    for done in 0..repeat {
        let start = Instant::now();
        let event = match threads {
            Threads::Domain(domain) => context.run(module, domain)?,
            Threads::Grid(grid) => context.run_grid(module, grid)?,
        };
        event.wait()?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        best = best.min(took);
        total += took;
        progress.at(u64::from(done) + 1);
    }
    Ok((best, total / f64::from(repeat)))
}
