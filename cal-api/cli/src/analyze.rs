//! `recal analyze`: what a kernel binds, what it consists of, and what would limit it on a device of the time.

use std::path::PathBuf;

use recal::target::Target as Device;
use recal::{Format, InstructionSet, Interpreted, Severity, Symbol};
use recal_il::inst::{GroupSize, Interface, Stage};
use recal_il::ir::analyze::{self, Elements, Report, Target};
use serde_json::{Value, json};

use crate::files::{print, print_json};
use crate::kernel::{Kernel, diagnostics};
use crate::{Outcome, compile, data};

/// Arguments of `recal analyze`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text or image; `-` = standard input
    kernel: PathBuf,
    /// Device that the figures are for: a name or number as for `recal compile --target`
    #[arg(short, long, default_value = "cypress", value_parser = device)]
    device: (Device, &'static Target),
    /// Format of the memory of a symbol, e.g. i0=unorm_int8_1; reads and writes of it count whole elements
    #[arg(short, long = "format", value_name = "NAME=FORMAT", value_parser = format)]
    format: Vec<(Symbol, Format)>,
    /// Threads that the estimate is for
    #[arg(short, long, default_value_t = 1_000_000)]
    threads: u64,
    /// Instructions that the CPU device would compile the kernel to, as CAL_ISA names them; the best of this processor by default
    #[arg(short, long, value_parser = instructions)]
    isa: Option<InstructionSet>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The figures of a device.
fn figures_of(device: Device) -> Option<&'static Target> {
    analyze::TARGETS.iter().find(|figures| Device::parse(figures.name) == Some(device))
}

/// A device by any of its names, and its figures.
fn device(text: &str) -> Result<(Device, &'static Target), String> {
    let device = compile::target(text)?;
    let figures = figures_of(device).ok_or_else(|| {
        let names: Vec<_> = analyze::TARGETS.iter().map(|t| t.name.to_ascii_lowercase()).collect();
        format!("there are no figures for this device, but for {}", names.join(", "))
    })?;
    Ok((device, figures))
}

fn format(text: &str) -> Result<(Symbol, Format), String> {
    let (symbol, format) = text.split_once('=').ok_or("it is NAME=FORMAT, e.g. i0=unorm_int8_1")?;
    let symbol = symbol.parse().map_err(|()| data::no_symbol(symbol))?;
    Ok((symbol, data::format(format)?))
}

pub(crate) fn instructions(text: &str) -> Result<InstructionSet, String> {
    let names = || InstructionSet::ALL.map(InstructionSet::name).join(", ");
    let named = |set: &InstructionSet| text.eq_ignore_ascii_case(set.name());
    InstructionSet::ALL.into_iter().find(named).ok_or_else(|| format!("it is one of {}", names()))
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
    let source = Kernel::read(&arguments.kernel)?;
    let (device, figures_of_device) = arguments.device;
    let text = source.text(device.value)?;
    let refused = |found: Vec<_>| source.refused(text, found);
    // What the device does not have is told, too.
    let found = recal::diagnose(text, device.value)?;
    if found.iter().any(|d| d.severity == Severity::Error) {
        return Err(refused(found).into());
    }
    let kernel = recal_il::front(text).map_err(refused)?;
    let program = recal_il::lower::lower(&kernel).map_err(refused)?;
    let report = analyze::analyze(&kernel, &program, figures_of_device, &elements(&arguments.format)?);
    let set = arguments.isa.unwrap_or_else(InstructionSet::best);
    let interpreted = recal::interpreted(&program, set);
    let threads = arguments.threads;
    if arguments.json {
        let mut value = figures(&report, threads);
        value["file"] = source.name.clone().into();
        value["stage"] = if kernel.stage == Stage::Pixel { "pixel" } else { "compute" }.into();
        value["group"] = match kernel.interface.group {
            Some(GroupSize::Exact(size)) => json!(size),
            Some(GroupSize::AtMost(n)) => json!([n, 1, 1]),
            None => Value::Null,
        };
        value["binds"] =
            bound(&kernel.interface).into_iter().map(|(name, _)| name).collect::<Vec<_>>().into();
        value["warnings"] = diagnostics(&found, text);
        value["cpu"] = json!({
            "isa": set.name(),
            "compiled": interpreted.is_some(),
            "interpreted": interpreted.iter().flatten().map(|operation| json!({
                "operation": operation.what, "why": operation.why, "lines": lines(operation, text),
            })).collect::<Vec<_>>(),
        });
        return print_json(&value);
    }
    source.tell(&found, text);
    let (cycles, seconds) = (report.cycles(threads as f64), report.seconds(threads as f64));
    print(&format!(
        "kernel        {}\nbinds         {}\n{report}at best       {cycles:.0} clocks, {:.3} ms for {threads} threads\non a CPU      {}\n",
        stage(kernel.stage, &kernel.interface),
        binds(&kernel.interface),
        1e3 * seconds,
        on_a_cpu(set, interpreted.as_deref(), text)
    ))
}

/// The lines of the instructions that need an operation.
fn lines(operation: &Interpreted, text: &[u8]) -> Vec<usize> {
    let line = |start: usize| 1 + text[..start.min(text.len())].iter().filter(|&&byte| byte == b'\n').count();
    let mut lines: Vec<usize> = operation.spans.iter().map(|span| line(span.start as usize)).collect();
    lines.dedup();
    lines
}

/// What of the kernel is compiled for the CPU device.
fn on_a_cpu(set: InstructionSet, interpreted: Option<&[Interpreted]>, text: &[u8]) -> String {
    let name = set.name();
    let Some(list) = interpreted else { return format!("all is interpreted: {name} has no code") };
    if list.is_empty() {
        return format!("all is compiled to {name} code");
    }
    let mut said = format!("compiled to {name} code; interpreted are");
    for operation in list {
        let lines: Vec<String> = lines(operation, text).iter().map(usize::to_string).collect();
        let Interpreted { what, why, .. } = operation;
        said += &format!("\n              {what}, line {}: {why}", lines.join(", "));
    }
    said
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

#[cfg(test)]
mod tests {
    use recal::target::TARGETS;

    use super::*;

    #[test]
    fn figures_are_for_devices_that_the_compiler_knows() {
        for figures in analyze::TARGETS {
            let device = Device::parse(figures.name).unwrap();
            assert_eq!(figures_of(device).map(|f| f.name), Some(figures.name));
        }
        for text in ["rv770", "770", "5", "CAL_TARGET_770", "RV770"] {
            assert_eq!(device(text).map(|(_, figures)| figures.name), Ok("RV770"), "{text}");
        }
        for other in TARGETS.iter().filter(|t| figures_of(**t).is_none()) {
            assert!(
                device(other.name)
                    .unwrap_err()
                    .contains("there are no figures for this device, but for r600, ")
            );
        }
        assert!(device("voodoo").unwrap_err().contains("no such device"));
    }
}
