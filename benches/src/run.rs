//! A whole run: which devices, which kernels, in which order.

use std::path::PathBuf;
use std::time::Duration;

use recal::{Config, InstructionSet};

use crate::case::{Case, Scale};
use crate::cases::FAMILIES;
use crate::cuda::Cuda;
use crate::measure::{Effort, Result, Runner, Series, Timed, interleaved};
use crate::opencl::OpenCl;
use crate::overhead;
use crate::peak::{Meter, Peak};
use crate::peer::{self, Gpu};
use crate::report::{Report, Row};
use crate::subject::Ours;

/// The others: whoever is here.
#[derive(Clone, Copy, Default)]
pub struct Peers<'a> {
    /// GLSL on a Vulkan device.
    pub glsl: Option<&'a Gpu>,
    /// OpenCL C on the processor.
    pub opencl: Option<&'a OpenCl>,
    /// CUDA's library.
    pub cuda: Option<&'a Cuda>,
}

/// The command line.
#[derive(clap::Parser, Clone, Debug, Default)]
#[command(about = "Speed of reCAL beside hand-written GLSL and OpenCL C, plain loops and CUDA's own library")]
pub struct Options {
    /// Small problems, one round: does everything run?
    #[arg(long)]
    pub quick: bool,
    /// Vulkan device of the peers and of the Vulkan backend: a part of its name. Default: hardware, else the first.
    #[arg(long, default_value = "")]
    pub device: String,
    /// Kernels whose names begin with one of these; also `overlap`, `launch`, `front`, `load`. Default: all.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Leave our CPU device out. It is left out beside hardware anyhow.
    #[arg(long)]
    pub no_cpu: bool,
    /// Leave the Vulkan backend out.
    #[arg(long)]
    pub no_vulkan: bool,
    /// Leave GLSL out.
    #[arg(long)]
    pub no_glsl: bool,
    /// Leave OpenCL out. It is left out beside hardware anyhow.
    #[arg(long)]
    pub no_opencl: bool,
    /// Rounds.
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// Milliseconds that a measurement takes at least.
    #[arg(long, default_value_t = 30)]
    pub least: u32,
    /// Milliseconds that each works before it is measured: pipelines that know sizes are built behind the first launches.
    #[arg(long, default_value_t = 300)]
    pub warm: u64,
    /// Problems for a GPU, whatever the device. Default: by the device.
    #[arg(long)]
    pub large: bool,
    /// What tables call the machine. Default: its processor.
    #[arg(long)]
    pub machine: Option<String>,
    /// Where to write the results as JSON.
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Measure nothing: write the tables of this document from results that were kept.
    #[arg(long)]
    pub tables: Option<PathBuf>,
    /// Folder of files that `--json` wrote, for `--tables`.
    #[arg(long, default_value = "benches/results")]
    pub results: PathBuf,
}

/// Runs everything and prints the table.
pub fn run(options: &Options) -> Result<Report> {
    let mut notes = Vec::new();
    let mut note = |what: &str, error: &dyn std::fmt::Display| notes.push(format!("{what}: {error}"));
    let gpu = match Gpu::open(&options.device) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            note("no Vulkan device", &error);
            None
        }
    };
    let hardware = gpu.as_ref().is_some_and(|gpu| gpu.hardware);
    let scale = match () {
        () if options.quick => Scale::Smoke,
        () if options.large || hardware => Scale::Large,
        () => Scale::Small,
    };
    let effort = match options.quick {
        true => Effort { rounds: 1, least: 0.0, warm: Duration::ZERO },
        false => Effort {
            rounds: options.rounds.max(1),
            least: f64::from(options.least) * 1e-3,
            warm: Duration::from_millis(options.warm),
        },
    };
    let mut ours = Vec::new();
    if !options.no_cpu && (!hardware || options.quick) {
        ours.push(Ours::open("cpu", None)?);
    }
    if let (Some(gpu), false) = (&gpu, options.no_vulkan) {
        match Ours::open("vulkan", Some(&gpu.name)) {
            Ok(vulkan) => ours.push(vulkan),
            Err(error) => note("our Vulkan backend", &error),
        }
    }
    let cuda = match Cuda::open() {
        Ok(cuda) => Some(cuda).filter(|_| hardware),
        Err(error) => {
            note("no CUDA", &error);
            None
        }
    };
    let opencl = match OpenCl::open() {
        _ if options.no_opencl || (hardware && !options.quick) => None,
        Ok(opencl) => Some(opencl),
        Err(error) => {
            note("no OpenCL", &error);
            None
        }
    };
    let (processor, cores) = overhead::processor();
    let limit = Config::from_env().0.isa;
    let isa = InstructionSet::ALL.into_iter().rev().find(|isa| *isa <= limit && isa.available());
    let mut meter = ours.iter().any(|ours| ours.label == "cpu").then(|| Meter::new(cores, limit));
    let mut report = Report {
        machine: options.machine.clone().unwrap_or_else(|| format!("{cores} x {processor}")),
        isa: isa.unwrap_or(InstructionSet::Baseline).name().into(),
        processor,
        cores,
        vulkan: gpu.as_ref().map(|gpu| gpu.name.clone()),
        opencl: opencl.as_ref().map(|opencl| opencl.name.clone()),
        optimised: !cfg!(debug_assertions),
        rounds: effort.rounds,
        peak: meter.as_ref().map(Meter::best),
        rows: Vec::new(),
        means: Vec::new(),
        of_peak: None,
        notes,
    };
    println!(
        "{} x {}, {}, Vulkan: {}, OpenCL: {}{}",
        report.cores,
        report.processor,
        report.isa,
        report.vulkan.as_deref().unwrap_or("none"),
        report.opencl.as_deref().unwrap_or("none"),
        if report.optimised { "" } else { "; NOT an optimised build" }
    );
    if let Some(Peak { single, double, integer, bytes }) = report.peak {
        println!(
            "at best: {single:.0} GFLOPS, {double:.0} of doubles, {integer:.0} Gop/s of integers, copies {bytes:.1} GB/s"
        );
    }
    let wanted = |name: &str| {
        options.only.is_empty()
            || options.only.iter().any(|only| name.starts_with(only.as_str()) || only.starts_with(name))
    };
    let peers = Peers {
        glsl: gpu.as_ref().filter(|_| !options.no_glsl && peer::built()),
        opencl: opencl.as_ref(),
        cuda: cuda.as_ref(),
    };
    if !peer::built() {
        report.notes.push("no GLSL peers: glslangValidator was not there when this was built".into());
    }
    for (family, build) in FAMILIES {
        if !wanted(family) {
            continue;
        }
        for mut case in build(scale) {
            let exact = options.only.is_empty()
                || options.only.iter().any(|only| case.name.starts_with(only.as_str()) || family == only);
            if !exact {
                continue;
            }
            let before = meter.as_mut().map(|meter| meter.limit(&case));
            let row = measure(&mut case, effort, &ours, peers, &mut report.notes);
            let after = meter.as_mut().map(|meter| meter.limit(&case));
            let limit = before.zip(after).map(|(before, after)| before.max(after));
            report.peak = meter.as_ref().map(Meter::best);
            match row.map(|row| row.of_peak(limit)) {
                Ok(row) => add(&mut report, row),
                Err(error) => return Err(format!("{family}: {error}").into()),
            }
        }
    }
    let all: Vec<&Ours> = ours.iter().collect();
    if wanted("copy_command") {
        for case in crate::cases::copies(scale) {
            let row = overhead::copy_command(effort, &all, peers, case)?;
            add(&mut report, row);
        }
    }
    if wanted("overlap") {
        let bytes = match scale {
            Scale::Smoke => 1 << 20,
            Scale::Small => 8 << 20,
            Scale::Large => 64 << 20,
        };
        add(&mut report, overhead::copy_beside_kernel(effort, &all, bytes)?);
    }
    if wanted("launch") {
        for (name, series) in overhead::launches(effort, &all, peers)? {
            add(&mut report, Row::new(name, None, "µs", &series));
        }
    }
    if wanted("front") {
        let (bytes, series) = overhead::front_end(effort)?;
        add(&mut report, Row::new("front end, 1000 instructions", None, "µs", &series));
        let text = series.iter().find(|s| s.who == "text to checked kernel");
        let whole = series.iter().find(|s| s.who == "text to program");
        for (name, series) in [("text to checked kernel", text), ("text to program", whole)] {
            if let Some(series) = series {
                println!("{name}: {:.1} MB/s", bytes as f64 / series.median() * 1e-6);
            }
        }
    }
    if wanted("load") {
        add(
            &mut report,
            Row::new("warm load, 1000 instructions", None, "µs", &overhead::warm_loads(effort, &all)?),
        );
    }
    report.finish();
    if let Some(path) = &options.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)?;
    }
    Ok(report)
}

fn add(report: &mut Report, row: Row) {
    println!("{}", row.line());
    report.rows.push(row);
}

/// Checks everybody's result, then times them in turn.
fn measure(
    case: &mut Case,
    effort: Effort,
    ours: &[Ours],
    peers: Peers<'_>,
    notes: &mut Vec<String>,
) -> Result<Row> {
    let mut runners: Vec<(bool, Box<dyn Runner + '_>)> = Vec::new();
    for ours in ours {
        if case.doubles && !ours.device.info().double_precision {
            notes.push(format!("{}: {} has no 64-bit floats", case.name, ours.label));
            continue;
        }
        runners.push((true, Box::new(ours.prepare(case)?)));
    }
    if let Some(gpu) = peers.glsl {
        match gpu.doubles || !case.doubles {
            true => runners.push((false, Box::new(gpu.prepare(case)?))),
            false => notes.push(format!("{}: {} has no 64-bit floats", case.name, gpu.name)),
        }
    }
    if let Some(opencl) = peers.opencl {
        runners.push((false, Box::new(opencl.prepare(case)?)));
    }
    if let Some(runner) = peers.cuda.map(|cuda| cuda.prepare(case)).transpose()?.flatten() {
        runners.push((false, Box::new(runner)));
    }
    for (exact, runner) in &mut runners {
        runner.run(1)?;
        let buffers = runner.read()?;
        (case.check)(&buffers, *exact)
            .map_err(|error| format!("{} by {}: {error}", case.name, runner.who()))?;
    }
    let mut closures: Vec<Timed<'_>> = runners
        .iter_mut()
        .map(|(_, runner)| {
            let who = runner.who();
            (who, Box::new(move |times| runner.run(times)) as _)
        })
        .collect();
    if let Some(host) = &mut case.host {
        closures.push((
            "loop".into(),
            Box::new(move |times| {
                (0..times).for_each(|_| host());
                Ok(())
            }),
        ));
    }
    let series: Vec<Series> = interleaved(effort, &mut closures)?;
    Ok(Row::new(&case.name, Some(case.work), case.unit.rate(), &series))
}
