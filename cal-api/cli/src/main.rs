//! The `cal` command: devices, compile, run, bench, trace, analyze, disassemble.

mod analyze;
mod bench;
mod data;
mod manual;
mod progress;
mod run;
mod trace;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cal::target::{TARGETS, Target};
use cal::{Diagnostic, Image, Runtime, Severity};
use cal_il::diagnostic::position;
use clap::{Parser, Subcommand};
use serde_json::{Value, json};

/// AMD IL kernels and the devices that run them.
#[derive(Parser)]
#[command(
    version,
    after_help = "Environment variables such as CAL_BACKEND and CAL_LOG act as for any CAL program."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the devices
    Devices,
    /// Compile IL text to an image; without an output, only check it
    Compile {
        /// IL text
        kernel: PathBuf,
        /// Image to write
        #[arg(short, long)]
        output: Option<PathBuf>,
        /// Target by name or number, e.g. cypress, 770, 8; several make an image for each
        #[arg(short, long, default_value = "cypress", value_parser = target)]
        target: Vec<Target>,
        /// Print what there is to say as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a kernel once or several times and time it
    Run(run::Arguments),
    /// Time a device: launches, copies, arithmetic; or a kernel of yours
    Bench(bench::Arguments),
    /// Follow one thread of a kernel: the registers that each instruction writes
    Trace(trace::Arguments),
    /// Show what a kernel binds, what it consists of, and what would limit it on a device of the time
    Analyze(analyze::Arguments),
    /// Print completions for a shell
    Completions {
        /// Which
        shell: clap_complete::Shell,
    },
    /// Write the man pages
    #[command(hide = true)]
    Manual {
        /// Folder that receives them
        folder: PathBuf,
    },
    /// List an image, an object or IL text in canonical form
    Disassemble {
        /// Image or IL text
        file: PathBuf,
        /// Print the listing as JSON
        #[arg(long)]
        json: bool,
    },
}

fn target(text: &str) -> Result<Target, String> {
    Target::parse(text).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|t| t.name.to_ascii_lowercase()).collect();
        format!("no such target; there are {}", names.join(", "))
    })
}

/// Whatever went wrong, for people.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()).into())
}

/// The image in a file, or the one that its IL text compiles to.
pub(crate) fn image(path: &Path, target: u32) -> Outcome<Image> {
    let bytes = read(path)?;
    let image = if bytes.starts_with(b"\x7fELF") {
        Image::from_bytes(&bytes)
    } else {
        cal::compile(&bytes, target).map(Image::from)
    };
    image.map_err(|e| format!("{}: {e}", path.display()).into())
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome {
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()).into())
}

fn devices() -> Outcome {
    let runtime = Runtime::new()?;
    if runtime.devices().next().is_none() {
        return Err(
            "no device; CAL_BACKEND names the backends that are asked, CAL_LOG=info tells what they find"
                .into(),
        );
    }
    for (ordinal, d) in runtime.devices().enumerate() {
        let target = Target::from_value(d.target).map_or("?", |t| t.name);
        println!("{ordinal}: {}", d.name);
        println!(
            "   target {target}, {} SIMDs, wavefront {}, {} MHz",
            d.simds, d.wavefront_size, d.engine_clock
        );
        println!(
            "   memory {} MiB local, {} MiB remote, {} MiB cached remote",
            d.local_ram, d.uncached_remote_ram, d.cached_remote_ram
        );
        println!(
            "   doubles {}, compute {}, LDS {} bytes, groups up to {}, {} UAVs",
            yes(d.double_precision),
            yes(d.compute),
            d.lds_bytes,
            d.max_group,
            d.uavs
        );
        println!(
            "   largest resource {} or {} x {} elements",
            d.max_width_1d, d.max_width_2d, d.max_height_2d
        );
    }
    Ok(())
}

fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// Prints JSON for people and programs: indented, with a newline.
pub(crate) fn print_json(value: &Value) {
    println!("{value:#}");
}

/// A diagnostic and its place.
pub(crate) fn diagnostic(d: &Diagnostic, text: &[u8]) -> Value {
    let (line, column) = position(text, d.span.start);
    let severity = if d.severity == Severity::Error { "error" } else { "warning" };
    json!({
        "severity": severity, "rule": d.rule, "message": d.message, "note": d.note,
        "line": line, "column": column, "start": d.span.start, "end": d.span.end,
    })
}

/// The kernel is not what it should be, and that was said already.
#[derive(Debug)]
struct Told;

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the kernel was not accepted")
    }
}

impl Error for Told {}

fn compile(kernel: &Path, output: Option<&Path>, targets: &[Target], json: bool) -> Outcome {
    let text = read(kernel)?;
    if json {
        let mut found: Vec<Diagnostic> = Vec::new();
        for target in targets {
            let more = cal::diagnose(&text, target.value)?;
            found.extend(more.into_iter().filter(|d| !found.contains(d)).collect::<Vec<_>>());
        }
        let accepted = found.iter().all(|d| d.severity != Severity::Error);
        print_json(&json!({
            "file": kernel.display().to_string(),
            "accepted": accepted,
            "targets": targets.iter().map(|t| t.name.to_ascii_lowercase()).collect::<Vec<_>>(),
            "output": output.filter(|_| accepted).map(|path| path.display().to_string()),
            "diagnostics": found.iter().map(|d| diagnostic(d, &text)).collect::<Vec<_>>(),
        }));
        if !accepted {
            return Err(Told.into());
        }
    }
    let compiled = |t: &Target| {
        cal::compile(&text, t.value).map_err(|e| format!("{}, for {}: {e}", kernel.display(), t.name))
    };
    let objects = targets.iter().map(compiled).collect::<Result<Vec<_>, _>>()?;
    let image = Image::link(&objects.iter().collect::<Vec<_>>())?;
    match output {
        Some(path) => write(path, image.as_bytes()),
        None if json => Ok(()),
        None => {
            println!("{}: accepted", kernel.display());
            Ok(())
        }
    }
}

fn disassemble(file: &Path, json: bool) -> Outcome {
    let bytes = read(file)?;
    let name = file.display().to_string();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    if bytes.starts_with(b"\x7fELF") {
        let image = Image::from_bytes(&bytes)?;
        if !json {
            return Ok(image.disassemble(|line| print!("{line}"))?);
        }
        let program = |l: &cal::Listing| {
            json!({
                "target": l.target.to_ascii_lowercase(), "stage": if l.compute { "compute" } else { "pixel" },
                "il": lines(&l.il), "spirv": l.spirv.as_deref().map(lines),
            })
        };
        let programs: Vec<_> = image.listings()?.iter().map(program).collect();
        print_json(&json!({ "file": name, "kind": "image", "programs": programs }));
        return Ok(());
    }
    let errors = |e: Vec<_>| cal_il::diagnostic::render(&e, &bytes, &name);
    let ast = cal_il::text::parse(&bytes).map_err(errors)?;
    let il = cal_il::text::print(&ast);
    if !json {
        print!("{il}");
        return Ok(());
    }
    let stage = format!("{:?}", ast.header.stage).to_ascii_lowercase();
    let program = json!({ "target": null, "stage": stage, "il": lines(&il), "spirv": null });
    print_json(&json!({ "file": name, "kind": "il", "programs": [program] }));
    Ok(())
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Devices => devices(),
        Command::Compile { kernel, output, target, json } => {
            compile(&kernel, output.as_deref(), &target, json)
        }
        Command::Run(arguments) => run::run(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Analyze(arguments) => analyze::analyze(&arguments),
        Command::Completions { shell } => {
            manual::completions(shell);
            Ok(())
        }
        Command::Manual { folder } => manual::manual(&folder),
        Command::Disassemble { file, json } => disassemble(&file, json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cal: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
