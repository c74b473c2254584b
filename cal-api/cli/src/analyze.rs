//! `recal analyze`: what a kernel binds, what it consists of, and what would limit it on a device of the time.

use std::path::PathBuf;

use recal::{Format, Symbol};
use recal_il::diagnostic::render;
use recal_il::inst::{GroupSize, Interface, Stage};
use recal_il::ir::analyze::{self, Elements, Report, Target};
use serde_json::{Value, json};

use crate::{Outcome, data, diagnostic, print, print_json, text};

/// Arguments of `recal analyze`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text
    kernel: PathBuf,
    /// Device that the figures are for
    #[arg(short, long, default_value = "cypress", value_parser = device)]
    device: Target,
    /// Format of the memory of a symbol, e.g. i0=unorm_int8_1; reads and writes of it count whole elements
    #[arg(short, long = "format", value_name = "NAME=FORMAT", value_parser = format)]
    format: Vec<(Symbol, Format)>,
    /// Threads that the estimate is for
    #[arg(short, long, default_value_t = 1_000_000)]
    threads: u64,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// A device that the figures are for.
fn device(text: &str) -> Result<Target, String> {
    Target::named(text).cloned().ok_or_else(|| {
        let names: Vec<_> = analyze::TARGETS.iter().map(|t| t.name).collect();
        format!("no figures for this device; there are {}", names.join(", "))
    })
}

fn format(text: &str) -> Result<(Symbol, Format), String> {
    let (symbol, format) = text.split_once('=').ok_or("it is NAME=FORMAT, e.g. i0=unorm_int8_1")?;
    let symbol = symbol.parse().map_err(|_| format!("`{symbol}` is no symbol such as i0, o0 or uav0"))?;
    Ok((symbol, data::format(format)?))
}

fn elements(formats: &[(Symbol, Format)]) -> Outcome<Elements> {
    let mut elements = Elements::default();
    for (symbol, format) in formats {
        let bits = 8 * format.bytes();
        match symbol {
            Symbol::Input(n) => elements.resources.insert(*n, bits),
            Symbol::Output(n) => elements.outputs.insert(*n, bits),
            Symbol::Uav(n) => elements.uavs.insert(*n, bits),
            other => return Err(format!("{other}: no format of its own counts").into()),
        };
    }
    Ok(elements)
}

pub(crate) fn analyze(arguments: &Arguments) -> Outcome {
    let text = text(&arguments.kernel)?;
    let name = arguments.kernel.display().to_string();
    let refused = |e: Vec<_>| crate::refused(&e, &text, &name);
    let kernel = recal_il::front(&text).map_err(refused)?;
    let program = recal_il::lower::lower(&kernel).map_err(refused)?;
    let report = analyze::analyze(&kernel, &program, &arguments.device, &elements(&arguments.format)?);
    let threads = arguments.threads;
    if arguments.json {
        let warnings: Vec<_> = program.warnings.iter().map(|d| diagnostic(d, &text)).collect();
        let mut value = figures(&report, threads);
        value["file"] = name.into();
        value["stage"] = if kernel.stage == Stage::Pixel { "pixel" } else { "compute" }.into();
        value["group"] = match kernel.interface.group {
            Some(GroupSize::Exact(size)) => json!(size),
            Some(GroupSize::AtMost(n)) => json!([n, 1, 1]),
            None => Value::Null,
        };
        value["binds"] =
            bound(&kernel.interface).into_iter().map(|(name, _)| name).collect::<Vec<_>>().into();
        value["warnings"] = warnings.into();
        return print_json(&value);
    }
    eprint!("{}", render(&program.warnings, &text, &name));
    let (cycles, seconds) = (report.cycles(threads as f64), report.seconds(threads as f64));
    print(&format!(
        "kernel        {}\nbinds         {}\n{report}at best       {cycles:.0} clocks, {:.3} ms for {threads} threads\n",
        stage(kernel.stage, &kernel.interface),
        binds(&kernel.interface),
        1e3 * seconds
    ))
}

/// The figures as JSON; `docs/command.md` says what each is.
fn figures(report: &Report, threads: u64) -> Value {
    let (s, t) = (&report.stats, &report.target);
    let ratio = report.alu_to_fetch.is_finite().then_some(report.alu_to_fetch);
    json!({
        "target": {
            "name": t.name.to_ascii_lowercase(), "thread_processors": t.thread_processors,
            "fetch_units": t.fetch_units, "bus_bits": t.bus_bits, "engine_mhz": t.engine_mhz,
            "memory_mbps": t.memory_mbps, "slots": t.slots,
        },
        "counts": {
            "instructions": s.instructions, "vliw": s.vliw, "float": s.float,
            "transcendental": s.transcendental, "integer": s.integer, "double": s.double,
            "fetch": s.fetch, "load": s.load, "store": s.store, "atomic": s.atomic, "lds": s.lds,
            "output": s.export, "flow": s.flow, "loops": s.loops, "fence": s.fence,
            "memory_bits": s.memory_bits,
        },
        "gprs": s.gprs,
        "waves_per_simd": report.waves,
        "lds_bytes": s.lds_bytes,
        "alu_to_fetch": ratio,
        "clocks_per_thread": {
            "alu": report.alu_clocks, "fetch": report.fetch_clocks, "memory": report.memory_clocks,
        },
        "limit": report.limit.name().to_ascii_lowercase(),
        "threads": threads,
        "clocks": report.cycles(threads as f64),
        "seconds": report.seconds(threads as f64),
    })
}

fn stage(stage: Stage, interface: &Interface) -> String {
    match (stage, interface.group) {
        (Stage::Compute, Some(GroupSize::Exact([x, y, z]))) => format!("compute, groups of {x} x {y} x {z}"),
        (Stage::Compute, Some(GroupSize::AtMost(n))) => format!("compute, groups of at most {n}"),
        (Stage::Compute, None) => "compute".into(),
        (Stage::Pixel, _) => "pixel".into(),
    }
}

/// What the kernel binds: names as in the API, and of what kind.
fn bound(interface: &Interface) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    all.extend(interface.resources.iter().map(|(n, r)| (format!("i{n}"), format!(" ({:?})", r.dimension))));
    all.extend(interface.srvs.keys().map(|n| (format!("i{n}"), " (buffer)".into())));
    all.extend(interface.outputs.keys().map(|n| (format!("o{n}"), String::new())));
    all.extend(interface.constants.iter().map(|(n, rows)| (format!("cb{n}"), format!("[{rows}]"))));
    all.extend(interface.uavs.iter().map(|(n, u)| (format!("uav{n}"), format!(" ({u:?})"))));
    all.extend(interface.global.then(|| ("g[]".to_owned(), String::new())));
    all.extend(interface.samplers.iter().map(|n| (format!("s{n}"), String::new())));
    all
}

fn binds(interface: &Interface) -> String {
    let all: Vec<String> = bound(interface).into_iter().map(|(name, kind)| name + &kind).collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}
