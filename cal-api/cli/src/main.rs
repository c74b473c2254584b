//! The `recal` command: devices, compile, run, bench, trace, analyze, disassemble.

mod analyze;
mod bench;
mod data;
mod manual;
mod progress;
mod run;
mod trace;

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use recal::target::{TARGETS, Target};
use recal::{Diagnostic, Image, Object, Runtime, Severity};
use recal_il::diagnostic::{position, render};
use serde_json::{Value, json};

/// AMD IL kernels and the devices that run them.
#[derive(Parser)]
#[command(
    name = "recal",
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

/// Whether a file is an image or an object rather than a text.
fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

/// The IL text in a file.
pub(crate) fn text(path: &Path) -> Outcome<Vec<u8>> {
    let bytes = read(path)?;
    if is_elf(&bytes) {
        let what = "an image; IL text is wanted, which `recal disassemble` shows";
        return Err(format!("{}: {what}", path.display()).into());
    }
    Ok(bytes)
}

/// The image in a file, or the one that its IL text compiles to.
pub(crate) fn image(path: &Path, target: u32) -> Outcome<Image> {
    let bytes = read(path)?;
    if !is_elf(&bytes) {
        return Ok(object(path, &bytes, target)?.into());
    }
    Image::from_bytes(&bytes).map_err(|e| format!("{}: {e}", path.display()).into())
}

/// Compiles a text; what there is to say about it names its file. Warnings are told at once.
pub(crate) fn object(path: &Path, text: &[u8], target: u32) -> Outcome<Object> {
    let name = path.display().to_string();
    let found = recal::diagnose(text, target)?;
    if found.iter().any(|d| d.severity == Severity::Error) {
        return Err(refused(&found, text, &name).into());
    }
    eprint!("{}", render(&found, text, &name));
    recal::compile(text, target).map_err(|e| format!("{name}: {e}").into())
}

/// What is said of a kernel that is not accepted.
pub(crate) fn refused(found: &[Diagnostic], text: &[u8], name: &str) -> String {
    format!("{name}: the kernel is not accepted\n{}", render(found, text, name).trim_end())
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
    let mut list = String::new();
    for (ordinal, d) in runtime.devices().enumerate() {
        let target = Target::from_value(d.target).map_or("?", |t| t.name);
        // Writing to a string cannot fail.
        let _ = write!(
            list,
            "{ordinal}: {}\n   target {target}, {} SIMDs, wavefront {}, {} MHz\n   \
             memory {} MiB local, {} MiB remote, {} MiB cached remote\n   \
             doubles {}, compute {}, LDS {} bytes, groups up to {}, {} UAVs\n   \
             largest resource {} or {} x {} elements\n",
            d.name,
            d.simds,
            d.wavefront_size,
            d.engine_clock,
            d.local_ram,
            d.uncached_remote_ram,
            d.cached_remote_ram,
            yes(d.double_precision),
            yes(d.compute),
            d.lds_bytes,
            d.max_group,
            d.uavs,
            d.max_width_1d,
            d.max_width_2d,
            d.max_height_2d
        );
    }
    print(&list)
}

fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// Prints on standard output. An error where nobody reads it any more.
pub(crate) fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints JSON for people and programs: indented, with a newline.
pub(crate) fn print_json(value: &Value) -> Outcome {
    print(&format!("{value:#}\n"))
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
    let text = text(kernel)?;
    if json {
        let mut found: Vec<Diagnostic> = Vec::new();
        for target in targets {
            let more = recal::diagnose(&text, target.value)?;
            found.extend(more.into_iter().filter(|d| !found.contains(d)).collect::<Vec<_>>());
        }
        let accepted = found.iter().all(|d| d.severity != Severity::Error);
        print_json(&json!({
            "file": kernel.display().to_string(),
            "accepted": accepted,
            "targets": targets.iter().map(|t| t.name.to_ascii_lowercase()).collect::<Vec<_>>(),
            "output": output.filter(|_| accepted).map(|path| path.display().to_string()),
            "diagnostics": found.iter().map(|d| diagnostic(d, &text)).collect::<Vec<_>>(),
        }))?;
        if !accepted {
            return Err(Told.into());
        }
    }
    let compiled = |t: &Target| {
        object(kernel, &text, t.value).map_err(|e| match targets.len() {
            1 => e,
            _ => format!("for {}: {e}", t.name).into(),
        })
    };
    let objects = targets.iter().map(compiled).collect::<Result<Vec<_>, _>>()?;
    let image = Image::link(&objects.iter().collect::<Vec<_>>())?;
    match output {
        Some(path) => write(path, image.as_bytes()),
        None if json => Ok(()),
        None => print(&format!("{}: accepted\n", kernel.display())),
    }
}

fn disassemble(file: &Path, json: bool) -> Outcome {
    let bytes = read(file)?;
    let name = file.display().to_string();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    if is_elf(&bytes) {
        let named = |e: recal::Error| format!("{name}: {e}");
        let image = Image::from_bytes(&bytes).map_err(named)?;
        if !json {
            let mut listing = String::new();
            image.disassemble(|line| listing += line).map_err(named)?;
            return print(&listing);
        }
        let program = |l: &recal::Listing| {
            json!({
                "target": l.target.to_ascii_lowercase(), "stage": if l.compute { "compute" } else { "pixel" },
                "il": lines(&l.il), "spirv": l.spirv.as_deref().map(lines),
            })
        };
        let programs: Vec<_> = image.listings().map_err(named)?.iter().map(program).collect();
        return print_json(&json!({ "file": name, "kind": "image", "programs": programs }));
    }
    let ast = recal_il::text::parse(&bytes).map_err(|e| refused(&e, &bytes, &name))?;
    let il = recal_il::text::print(&ast);
    if !json {
        return print(&il);
    }
    let stage = format!("{:?}", ast.header.stage).to_ascii_lowercase();
    let program = json!({ "target": null, "stage": stage, "il": lines(&il), "spirv": null });
    print_json(&json!({ "file": name, "kind": "il", "programs": [program] }))
}

/// Whether an error only says that the reader of the output is gone, as `head` is when it has enough.
fn reader_is_gone(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    recal::logger::start(&recal::Config::from_env().0);
    let outcome = match arguments.command {
        Command::Devices => devices(),
        Command::Compile { kernel, output, target, json } => {
            compile(&kernel, output.as_deref(), &target, json)
        }
        Command::Run(arguments) => run::run(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Analyze(arguments) => analyze::analyze(&arguments),
        Command::Completions { shell } => manual::completions(shell),
        Command::Manual { folder } => manual::manual(&folder),
        Command::Disassemble { file, json } => disassemble(&file, json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if reader_is_gone(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("recal: {error}");
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
