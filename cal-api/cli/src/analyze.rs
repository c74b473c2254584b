//! `recal analyze`: what a kernel binds, what chips of the time would make of it, and what would limit it there.

use std::path::PathBuf;

use recal::target::Target as Device;
use recal::{Format, InstructionSet, Interpreted, Severity, Symbol};
use recal_il::inst::{GroupSize, Interface, Stage};
use recal_il::ir::Program;
use recal_il::ir::analyze::{self, ASSUMED_ROUNDS, Clocks, Elements, Report};
use recal_il::vliw::{CHIPS, Chip, Cost};
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
    device: (Device, &'static Chip),
    /// Rounds of loops about which constants say nothing
    #[arg(long, default_value_t = ASSUMED_ROUNDS)]
    trips: u32,
    /// Print the code of the device, too, in the style of its disassembler
    #[arg(short, long)]
    listing: bool,
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

/// The target that a chip's programs are compiled for.
fn target_of(chip: &Chip) -> Option<Device> {
    // RV740 has a name of its own only on its box.
    Device::parse(if chip.name == "RV740" { "RV770" } else { chip.name })
}

/// The chip of a device.
fn chip_of(device: Device) -> Option<&'static Chip> {
    CHIPS.iter().find(|chip| target_of(chip) == Some(device))
}

/// A device by any of its names, and its chip.
fn device(text: &str) -> Result<(Device, &'static Chip), String> {
    if let Some(chip) = Chip::named(text.trim())
        && let Some(device) = target_of(chip)
    {
        return Ok((device, chip));
    }
    let device = compile::target(text)?;
    let chip = chip_of(device).ok_or_else(|| {
        let names: Vec<_> = CHIPS.iter().map(|chip| chip.name.to_ascii_lowercase()).collect();
        format!("there are no figures for this device, but for {}", names.join(", "))
    })?;
    Ok((device, chip))
}

pub(crate) fn format(text: &str) -> Result<(Symbol, Format), String> {
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

/// What a chip of the table makes of the kernel, or why it does not take it.
type Row = (&'static Chip, Result<Report, String>);

/// A row for each chip.
fn table(
    trips: u32,
    text: &[u8],
    kernel: &recal_il::inst::Kernel,
    program: &Program,
    elements: &Elements,
) -> Outcome<Vec<Row>> {
    let row = |chip: &'static Chip| -> Outcome<Row> {
        let device = target_of(chip).ok_or_else(|| format!("no target is called {}", chip.name))?;
        let found = recal::diagnose(text, device.value)?;
        if let Some(error) = found.iter().find(|d| d.severity == Severity::Error) {
            return Ok((chip, Err(error.message.clone())));
        }
        let report = analyze::analyze(kernel, program, chip, elements, trips);
        Ok((chip, report.map_err(str::to_owned)))
    };
    CHIPS.iter().map(row).collect()
}

/// The table for a million threads, for a kernel that is accepted: a chip each, as in the field `chips` of `--json`.
pub(crate) fn chips(text: &[u8], trips: u32) -> Outcome<Vec<Value>> {
    let (kernel, bare) = compiled(text).map_err(|_| "the kernel is not accepted")?;
    let rows = table(trips, text, &kernel, &bare, &Elements::default())?;
    Ok(rows.iter().map(|row| in_a_row(row, 1_000_000)).collect())
}

/// A kernel, and its program as chips of the time take it.
fn compiled(text: &[u8]) -> Result<(recal_il::inst::Kernel, Program), Vec<recal::Diagnostic>> {
    let kernel = recal_il::front(text)?;
    let program = recal_il::lower::lower_bare(&kernel)?;
    Ok((kernel, program))
}

pub(crate) fn analyze(arguments: &Arguments) -> Outcome {
    let source = Kernel::read(&arguments.kernel)?;
    let (device, chip) = arguments.device;
    let text = source.text(device.value)?;
    let refused = |found: Vec<_>| source.refused(text, found);
    // What the device does not have is told, too.
    let found = recal::diagnose(text, device.value)?;
    if found.iter().any(|d| d.severity == Severity::Error) {
        return Err(refused(found).into());
    }
    let elements = elements(&arguments.format)?;
    let (kernel, bare) = compiled(text).map_err(refused)?;
    let report = analyze::analyze(&kernel, &bare, chip, &elements, arguments.trips)
        .map_err(|reason| format!("{}: {reason}", source.name))?;
    let rows = table(arguments.trips, text, &kernel, &bare, &elements)?;
    let set = arguments.isa.unwrap_or_else(InstructionSet::best);
    let program = recal_il::lower::lower(&kernel).map_err(refused)?;
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
        value["loops"] = report
            .code
            .loops()
            .iter()
            .map(|one| json!({ "line": line_of(one.at, text), "rounds": one.rounds.unwrap_or(arguments.trips), "known": one.rounds.is_some() }))
            .collect::<Vec<_>>()
            .into();
        value["chips"] = rows.iter().map(|row| in_a_row(row, threads)).collect::<Vec<_>>().into();
        if arguments.listing {
            value["listing"] =
                report.code.listing(chip).lines().map(str::to_owned).collect::<Vec<_>>().into();
        }
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
    let listing = if arguments.listing { format!("\n{}", report.code.listing(chip)) } else { String::new() };
    print(&format!(
        "kernel        {}\nbinds         {}\n{report}{}at best       {cycles:.0} clocks, {:.3} ms for {threads} threads\non a CPU      {}\n\n{}{LEGEND}{listing}",
        stage(kernel.stage, &kernel.interface),
        binds(&kernel.interface),
        loops(&report, arguments.trips, text),
        1e3 * seconds,
        on_a_cpu(set, interpreted.as_deref(), text),
        rows.iter().fold(HEAD.to_owned(), |all, row| all + &as_a_line(row)),
    ))
}

/// The head of the table.
const HEAD: &str = "chip      GPRs  scr  waves held by    ALU  tex  wr ctl   VLIW packed     least      mean      most   ALU:tex Mthreads/s limit\n";

/// What the figures are, and what they are not.
const LEGEND: &str = "
A model, not a measurement: docs/analyzer.md. ALU, tex, wr, ctl: clauses and instructions of the control flow program.
least, mean, most: engine clocks of the deciding unit while each SIMD runs a wave; latency is taken to be hidden. Of an `if`, most has
both sides and mean half of both; loops of unknown rounds run once at least. A wave reads an element from memory once,
and nothing is kept for the next instruction or wave.
";

/// A line of the table.
fn as_a_line((chip, report): &Row) -> String {
    let report = match report {
        Ok(report) => report,
        Err(reason) => return format!("{:<9} {reason}\n", chip.name),
    };
    let (c, [least, mean, most]) = (&report.counts, report.wave_clocks());
    let ratio = report.alu_to_fetch();
    let ratio = if ratio.is_finite() { format!("{ratio:.2}") } else { "-".into() };
    let held = if report.waves == 0 { "does not fit" } else { report.holder.name() };
    format!(
        "{:<9} {:>4} {:>4} {:>6} {:<9} {:>5} {:>4} {:>3} {:>3} {:>6} {:>5.1}% {:>9.1} {:>9.1} {:>9.1} {:>9} {:>10.1} {}\n",
        chip.name,
        report.code.gprs,
        report.code.scratch,
        report.waves,
        held,
        c.alu_clauses,
        c.fetch_clauses,
        c.writes,
        c.control,
        c.bundles,
        100.0 * report.packing(),
        least,
        mean,
        most,
        ratio,
        throughput(report) / 1e6,
        report.limit().name(),
    )
}

/// Threads a second, at best.
fn throughput(report: &Report) -> f64 {
    1.0 / report.seconds(1.0)
}

/// The loops and their rounds, if there are any.
fn loops(report: &Report, trips: u32, text: &[u8]) -> String {
    let one = |count: &recal_il::vliw::LoopCount| match count.rounds {
        Some(rounds) => format!("line {}: {rounds} rounds", line_of(count.at, text)),
        None => format!("line {}: {trips} rounds, assumed (--trips)", line_of(count.at, text)),
    };
    let all: Vec<String> = report.code.loops().iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!("loops         {}\n", all.join("; ")) }
}

/// The line of a byte of the text.
pub(crate) fn line_of(start: u32, text: &[u8]) -> usize {
    1 + text[..(start as usize).min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}

/// The lines of the instructions that need an operation.
fn lines(operation: &Interpreted, text: &[u8]) -> Vec<usize> {
    let mut lines: Vec<usize> = operation.spans.iter().map(|span| line_of(span.start, text)).collect();
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
    let (s, c, chip) = (&report.stats, &report.counts, &report.chip);
    let ratio = report.alu_to_fetch().is_finite().then(|| report.alu_to_fetch());
    let [least, mean, most] = report.clocks();
    json!({
        "target": {
            "name": chip.name.to_ascii_lowercase(), "simds": chip.simds, "thread_processors": chip.thread_processors(),
            "wave": chip.wave(), "fetch_units": chip.fetch_units, "bus_bits": chip.bus_bits, "engine_mhz": chip.engine_mhz,
            "memory_mbps": chip.memory_mbps, "slots": chip.slots(), "lds_bytes": chip.lds_bytes,
        },
        "counts": {
            "instructions": s.instructions, "vliw": c.bundles, "float": s.float,
            "transcendental": s.transcendental, "integer": s.integer, "double": s.double,
            "fetch": s.fetch, "load": s.load, "store": s.store, "atomic": s.atomic, "lds": s.lds,
            "output": s.export, "flow": s.flow, "loops": s.loops, "fence": s.fence,
        },
        "code": {
            "alu_clauses": c.alu_clauses, "fetch_clauses": c.fetch_clauses, "writes": c.writes, "control": c.control,
            "vliw": c.bundles, "slots_used": c.slots, "packing": report.packing(), "fetches": c.fetches,
            "literals": c.literals,
        },
        "thread": {
            "least": cost(&report.costs.least, &least), "mean": cost(&report.costs.mean, &mean),
            "most": cost(&report.costs.most, &most),
        },
        "trips": report.assumed,
        "gprs": report.code.gprs,
        "scratch": report.code.scratch,
        "waves_per_simd": report.waves,
        "held_by": report.holder.name().to_ascii_lowercase(),
        "lds_bytes": s.lds_bytes,
        "alu_to_fetch": ratio,
        "limit": report.limit().name().to_ascii_lowercase(),
        "reason": report.reason(),
        "wave_clocks": report.wave_clocks(),
        "threads": threads,
        "clocks": report.cycles(threads as f64),
        "seconds": report.seconds(threads as f64),
        "threads_per_second": throughput(report),
    })
}

/// What a thread takes, and the clocks of the units for it.
fn cost(cost: &Cost, clocks: &Clocks) -> Value {
    json!({
        "vliw": cost.bundles, "fetches": cost.fetches, "writes": cost.writes, "memory_bits": cost.bits,
        "clocks": { "alu": clocks.alu, "fetch": clocks.fetch, "memory": clocks.memory },
    })
}

/// A row of the table as JSON.
fn in_a_row((chip, report): &Row, threads: u64) -> Value {
    match report {
        Ok(report) => figures(report, threads),
        Err(reason) => json!({ "target": { "name": chip.name.to_ascii_lowercase() }, "error": reason }),
    }
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
        for chip in CHIPS {
            assert_eq!(
                device(chip.name).map(|(device, chip)| (Some(device), chip.name)),
                Ok((target_of(chip), chip.name))
            );
        }
        for text in ["rv770", "770", "5", "CAL_TARGET_770", "RV770"] {
            assert_eq!(device(text).map(|(_, chip)| chip.name), Ok("RV770"), "{text}");
        }
        for other in TARGETS.iter().filter(|t| chip_of(**t).is_none()) {
            assert!(
                device(other.name)
                    .unwrap_err()
                    .contains("there are no figures for this device, but for r600, ")
            );
        }
        assert!(device("voodoo").unwrap_err().contains("no such device"));
    }
}
