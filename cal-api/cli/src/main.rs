//! The `cal` command: devices, compile, run, trace, analyze, disassemble.

mod analyze;
mod data;
mod manual;
mod progress;
mod run;
mod trace;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cal::target::{TARGETS, Target};
use cal::{Image, Runtime};
use clap::{Parser, Subcommand};

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
    },
    /// Run a kernel once or several times and time it
    Run(run::Arguments),
    /// Follow one thread of a kernel: the registers that each instruction writes
    Trace(trace::Arguments),
    /// Show what a kernel binds, what it consists of, and what would limit it on a device of the time
    Analyze {
        /// IL text
        kernel: PathBuf,
        /// Device that the figures are for
        #[arg(short, long, default_value = "cypress", value_parser = analyze::device)]
        device: cal_il::ir::analyze::Target,
    },
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

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome {
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()).into())
}

fn devices() -> Outcome {
    let runtime = Runtime::new()?;
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

fn compile(kernel: &Path, output: Option<&Path>, targets: &[Target]) -> Outcome {
    let text = read(kernel)?;
    let objects = targets.iter().map(|t| cal::compile(&text, t.value)).collect::<Result<Vec<_>, _>>()?;
    let image = Image::link(&objects.iter().collect::<Vec<_>>())?;
    match output {
        Some(path) => write(path, image.as_bytes()),
        None => {
            println!("{}: accepted", kernel.display());
            Ok(())
        }
    }
}

fn disassemble(file: &Path) -> Outcome {
    let bytes = read(file)?;
    if bytes.starts_with(b"\x7fELF") {
        Image::from_bytes(&bytes)?.disassemble(|line| print!("{line}"))?;
    } else {
        let errors = |e: Vec<_>| cal_il::diagnostic::render(&e, &bytes, &file.display().to_string());
        print!("{}", cal_il::text::print(&cal_il::text::parse(&bytes).map_err(errors)?));
    }
    Ok(())
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Devices => devices(),
        Command::Compile { kernel, output, target } => compile(&kernel, output.as_deref(), &target),
        Command::Run(arguments) => run::run(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Analyze { kernel, device } => analyze::analyze(&kernel, &device),
        Command::Completions { shell } => {
            manual::completions(shell);
            Ok(())
        }
        Command::Manual { folder } => manual::manual(&folder),
        Command::Disassemble { file } => disassemble(&file),
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
