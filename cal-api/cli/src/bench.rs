//! `recal bench`: what a device takes for a launch, for copies, for arithmetic and fetches; or for a kernel of the user's.

use std::path::PathBuf;
use std::time::Instant;

use recal::{Context, Device, Domain, Event, Format, Module, Place, Resource, Runtime, Threads};
use serde_json::{Value, json};

use crate::data::{self, Binding};
use crate::files::{print, print_json};
use crate::kernel::Kernel;
use crate::misuse::{self, Misused};
use crate::run::Extent;
use crate::{Outcome, hints, kernel};

/// Arguments of `recal bench`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text or image to time instead of the standard probes; `-` = standard input
    kernel: Option<PathBuf>,
    /// What a symbol gets, as for `recal run`
    #[arg(short, long = "bind", value_name = "NAME=VALUE", value_parser = data::binding, requires = "kernel")]
    bind: Vec<Binding>,
    #[command(flatten)]
    extent: Extent,
    /// Device by number, see `recal devices`
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// Measurements of each kind; best, median and worst are shown
    #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Size of the copies, in MiB
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    size: u32,
    /// Print one JSON object instead of a table; times in seconds
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was measured, and how much was done in it.
struct Measured {
    name: &'static str,
    /// Seconds, sorted.
    seconds: Vec<f64>,
    /// Work of one measurement, with its unit.
    work: Option<(f64, &'static str)>,
}

/// Launches that are queued before one wait, for the share of each.
const QUEUED: u32 = 64;

/// Threads in a row and rounds of the arithmetic probe: 2 x 4 operations a round.
const ROW: u32 = 512;
const ROUNDS: u32 = 256;

const EMPTY: &str = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 1.0, 1.0, 1.0, 1.0\nmov o0, l0\nend\n";

const ARITHMETIC: &str = "il_ps_2_0\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    dcl_literal l0, 0, 1, 256, 0\n\
    dcl_literal l1, 0.5, 0.25, 0.0, 0.0\n\
    mov r0, vWinCoord0.xyxy\n\
    mov r1.x, l0.x\n\
    whileloop\n\
    ige r1.y, r1.x, l0.z\n\
    break_logicalnz r1.y\n\
    mad r0, r0, l1.xxxx, l1.yyyy\n\
    iadd r1.x, r1.x, l0.y\n\
    endloop\n\
    mov o0, r0\n\
    end\n";

const FETCH: &str = "il_ps_2_0\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n\
    mov o0, r0\n\
    end\n";

pub(crate) fn bench(arguments: &Arguments) -> Outcome {
    let runtime = Runtime::new()?;
    let device = runtime.open(arguments.device)?;
    let context = device.create_context()?;
    let mut value = json!({ "device": device.info().name, "ordinal": arguments.device });
    let results = match &arguments.kernel {
        Some(path) => vec![one(arguments, &Kernel::read(path)?, &context, &mut value)?],
        None => probes(arguments, &device, &context)?,
    };
    let findings = device.findings();
    if arguments.json {
        value["results"] = results.iter().map(Measured::json).collect();
        value["findings"] = misuse::json(findings.as_deref());
        print_json(&value)?;
        return Misused::check(findings);
    }
    let mut table =
        format!("{}\n{:<34} {:>12} {:>12} {:>12}\n", device.info().name, "", "best", "median", "worst");
    results.iter().for_each(|r| table += &(r.line() + "\n"));
    print(&table)?;
    Misused::check(findings)
}

/// A kernel of the user's; what is to be said about it goes into the JSON.
fn one(arguments: &Arguments, kernel: &Kernel, context: &Context, json: &mut Value) -> Outcome<Measured> {
    let loaded = kernel.load(context, arguments.json)?;
    let module = loaded.module;
    json["file"] = kernel.name.clone().into();
    json["warnings"] = kernel::diagnostics(&loaded.warnings, &loaded.text);
    json["hints"] = hints::tell(&loaded.text, &arguments.bind, arguments.json).into();
    let _bound = data::bind(context.device(), &module, &arguments.bind)?;
    let threads = arguments.extent.threads(&module)?;
    measure("launch and wait", arguments.repeat, || {
        let event = match threads {
            Threads::Domain(domain) => context.run(&module, domain)?,
            Threads::Grid(grid) => context.run_grid(&module, grid)?,
        };
        Ok(event.wait()?)
    })
}

/// What every device is asked.
fn probes(arguments: &Arguments, device: &Device, context: &Context) -> Outcome<Vec<Measured>> {
    let (repeat, mut results) = (arguments.repeat, Vec::new());

    let target = device.info().target;
    results.push(measure("compile and load a kernel", repeat.min(5), || {
        // A text of its own each time, so that no cache has it.
        let text = format!("{ARITHMETIC}; {:?}\n", Instant::now());
        context.load(&recal::compile(text, target)?.into())?;
        Ok(())
    })?);

    let dot = device.allocate_2d(64, 1, Format::Float32x4, Place::Local)?;
    let empty = load(context, target, EMPTY, &[("o0", &dot)])?;
    let small = Domain::of(64, 1);
    results.push(measure("launch of 64 threads, and wait", repeat, || {
        Ok(context.run(&empty, small)?.wait()?)
    })?);
    let mut queued = measure("launch, one of 64 before a wait", repeat, || {
        let mut last: Option<Event> = None;
        for _ in 0..QUEUED {
            last = Some(context.run(&empty, small)?);
        }
        Ok(last.map_or(Ok(()), |event| event.wait())?)
    })?;
    queued.seconds.iter_mut().for_each(|s| *s /= f64::from(QUEUED));
    results.push(queued);

    // Rows of 16-byte elements that make up the size.
    let (width, height) = (1024, arguments.size * 64);
    let bytes = f64::from(width) * f64::from(height) * 16.0;
    let allocate = |place| device.allocate_2d(width, height, Format::Float32x4, place);
    let (remote, cached) = (allocate(Place::Remote)?, allocate(Place::RemoteCached)?);
    let local = [allocate(Place::Local)?, allocate(Place::Local)?];
    let gigabytes = Some((bytes * 1e-9, "GB/s"));
    let mems = [&remote, &cached, &local[0], &local[1]].map(|r| context.mem(r));
    let [remote_mem, cached_mem, first, second] = mems;
    let (remote_mem, cached_mem, first, second) = (remote_mem?, cached_mem?, first?, second?);
    for (name, from, to) in [
        ("copy, host to device", &remote_mem, &first),
        ("copy, device to host", &first, &cached_mem),
        ("copy, device to device", &first, &second),
    ] {
        let copy = measure(name, repeat, || Ok(context.copy(from, to)?.wait()?))?;
        results.push(Measured { work: gigabytes, ..copy });
    }
    // No rate: where the host sees the memory, nothing moves.
    results.push(measure("map device memory and unmap it", repeat, || {
        local[0].map::<u32>()?;
        Ok(())
    })?);

    let fetch = load(context, target, FETCH, &[("i0", &local[0]), ("o0", &local[1])])?;
    let fetched = measure("kernel, fetch and store 16 bytes", repeat, || {
        Ok(context.run(&fetch, Domain::of(width, height))?.wait()?)
    })?;
    results.push(Measured { work: Some((2.0 * bytes * 1e-9, "GB/s")), ..fetched });

    let square = device.allocate_2d(ROW, ROW, Format::Float32x4, Place::Local)?;
    let arithmetic = load(context, target, ARITHMETIC, &[("o0", &square)])?;
    let computed = measure("kernel, multiply and add", repeat, || {
        Ok(context.run(&arithmetic, Domain::of(ROW, ROW))?.wait()?)
    })?;
    let operations = f64::from(ROW) * f64::from(ROW) * f64::from(ROUNDS) * 8.0;
    results.push(Measured { work: Some((operations * 1e-9, "GFLOPS")), ..computed });
    Ok(results)
}

/// What a device does at best in a short look: operations on floats a second, of a kernel that does nothing else, and bytes a
/// second, of one that reads and writes 16 bytes a thread.
pub(crate) fn roof(device: &Device, context: &Context) -> Outcome<[f64; 2]> {
    const REPEAT: u32 = 3;
    let target = device.info().target;
    let allocate = |width, height| device.allocate_2d(width, height, Format::Float32x4, Place::Local);
    let (from, to) = (allocate(1024, 1024)?, allocate(1024, 1024)?);
    let fetch = load(context, target, FETCH, &[("i0", &from), ("o0", &to)])?;
    let fetched = measure("fetch", REPEAT, || Ok(context.run(&fetch, Domain::of(1024, 1024))?.wait()?))?;
    let arithmetic = load(context, target, ARITHMETIC, &[("o0", &to)])?;
    let computed =
        measure("arithmetic", REPEAT, || Ok(context.run(&arithmetic, Domain::of(ROW, ROW))?.wait()?))?;
    let operations = f64::from(ROW) * f64::from(ROW) * f64::from(ROUNDS) * 8.0;
    Ok([operations / computed.times()[0], 2.0 * 1024.0 * 1024.0 * 16.0 / fetched.times()[0]])
}

fn load(context: &Context, target: u32, text: &str, bind: &[(&str, &Resource)]) -> Outcome<Module> {
    let module = context.load(&recal::compile(text, target)?.into())?;
    bind.iter().try_for_each(|(symbol, resource)| module.bind(symbol, resource))?;
    Ok(module)
}

/// Times a piece of work, after doing it once unseen.
fn measure(name: &'static str, repeat: u32, mut work: impl FnMut() -> Outcome) -> Outcome<Measured> {
    work()?;
    let mut seconds = Vec::new();
    for _ in 0..repeat {
        let start = Instant::now();
        work()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(Measured { name, seconds, work: None })
}

impl Measured {
    /// Best, median, worst.
    fn times(&self) -> [f64; 3] {
        let last = self.seconds.len() - 1;
        [self.seconds[0], self.seconds[last / 2], self.seconds[last]]
    }

    fn line(&self) -> String {
        let [best, median, worst] = self.times().map(shown);
        let mut line = format!("{:<34} {best:>12} {median:>12} {worst:>12}", self.name);
        if let Some((work, unit)) = self.work {
            line += &format!("   {:.2} {unit}", work / self.times()[1]);
        }
        line
    }

    fn json(&self) -> Value {
        let [best, median, worst] = self.times();
        let mut value = json!({ "name": self.name, "best": best, "median": median, "worst": worst });
        if let Some((work, unit)) = self.work {
            value["rate"] = json!(work / median);
            value["unit"] = json!(unit);
        }
        value
    }
}

/// Seconds in a unit that suits them.
fn shown(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_rate() {
        let result = Measured { name: "x", seconds: vec![0.5, 1.0, 4.0], work: Some((3.0, "GB/s")) };
        assert_eq!(result.times(), [0.5, 1.0, 4.0]);
        assert_eq!(result.json()["rate"], 3.0);
        assert!(result.line().ends_with("3.00 GB/s"), "{}", result.line());
        let shown = [shown(40e-9), shown(2.5e-6), shown(0.0025), shown(2.5)];
        assert_eq!(shown, ["40 ns", "2.5 us", "2.500 ms", "2.500 s"]);
    }
}
