//! `cal run`: bind, launch, time, save.

use std::path::PathBuf;
use std::time::Instant;

use cal::{Context, Domain, Grid, Image, Module, Place, Resource, Runtime};

use crate::data::{self, Binding, Buffer};
use crate::{Outcome, read};

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
    /// Pixel kernel: columns and rows, e.g. 64x64
    #[arg(short, long, value_name = "WxH", value_parser = data::extent, conflicts_with = "grid")]
    domain: Option<(u32, u32)>,
    /// Compute kernel: groups, e.g. 16 or 16x16
    #[arg(short, long, value_name = "X[xY]", value_parser = data::extent)]
    grid: Option<(u32, u32)>,
    /// Device by number, see `cal devices`
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// Launches
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
}

struct Bound {
    symbol: String,
    resource: Resource,
    height: u32,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let bytes = read(&arguments.kernel)?;
    let runtime = Runtime::new()?;
    let device = runtime.open(arguments.device)?;
    let context = device.create_context()?;
    let image = if bytes.starts_with(b"\x7fELF") {
        Image::from_bytes(&bytes)?
    } else {
        cal::compile(&bytes, device.info().target)?.into()
    };
    let module = context.load(&image)?;
    let mut bound = Vec::new();
    for binding in &arguments.bind {
        let buffer = data::source(&binding.text)?.load()?;
        let resource = match buffer.height {
            0 => device.allocate_buffer(buffer.width, buffer.format, Place::Local)?,
            height => device.allocate_2d(buffer.width, height, buffer.format, Place::Local)?,
        };
        resource.map::<u8>()?.copy_from_slice(&buffer.bytes);
        module.bind(&binding.symbol, &resource)?;
        bound.push(Bound { symbol: binding.symbol.clone(), resource, height: buffer.height });
    }
    let mut saves = Vec::new();
    for save in &arguments.save {
        let (symbol, path) = save.split_once('=').ok_or("--save: expected NAME=FILE")?;
        let bound = bound.iter().find(|b| b.symbol == symbol);
        saves.push((bound.ok_or_else(|| format!("--save: `{symbol}` is not bound"))?, PathBuf::from(path)));
    }
    let (best, total) = launch(arguments, &context, &module)?;
    println!(
        "{}: {} launches, best {:.3} ms, mean {:.3} ms",
        device.info().name,
        arguments.repeat,
        best,
        total
    );
    for (bound, path) in saves {
        let bytes = bound.resource.map::<u8>()?.to_vec();
        let (width, format) = (bound.resource.width(), bound.resource.format());
        data::save(&path, &Buffer { width, height: bound.height, format, bytes })?;
    }
    Ok(())
}

/// Best and mean time of a launch, in milliseconds.
fn launch(arguments: &Arguments, context: &Context, module: &Module) -> Outcome<(f64, f64)> {
    let mut best = f64::INFINITY;
    let mut total = 0.0;
    for _ in 0..arguments.repeat {
        let start = Instant::now();
        let event = match (arguments.domain, arguments.grid) {
            (Some((width, height)), _) => context.run(module, Domain::of(width, height.max(1)))?,
            (None, Some((x, y))) => {
                let block = module.info().group;
                context.run_grid(module, Grid { block, groups: [x, y.max(1), 1] })?
            }
            (None, None) => {
                return Err("give --domain for a pixel kernel or --grid for a compute kernel".into());
            }
        };
        event.wait()?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        best = best.min(took);
        total += took;
    }
    Ok((best, total / f64::from(arguments.repeat)))
}
