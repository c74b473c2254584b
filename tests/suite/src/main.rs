//! Command line of the conformance suite.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::{Backend, FloatMode};
use recal_suite::runner::Runner;
use recal_suite::{case, coverage, fuzz, report, suite};

/// Runs the conformance cases of reCAL on a backend.
#[derive(Parser)]
#[command(name = "recal-suite")]
struct Arguments {
    /// Backend: cpu or vulkan
    #[arg(long, default_value = "cpu")]
    backend: String,
    /// Part of the device's name; `name#1` is the second of such devices
    #[arg(long)]
    device: Option<String>,
    /// Run only cases whose name contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// Float mode: faithful or native
    #[arg(long, default_value = "faithful")]
    mode: String,
    /// Instruction set of the CPU backend, as CAL_ISA names it; the best of this processor by default
    #[arg(long, global = true, value_parser = instructions)]
    isa: Option<InstructionSet>,
    /// The CPU backend interprets first launches, as it does for programs; else all that can be is compiled
    #[arg(long, global = true)]
    first: bool,
    /// Print the selected cases as case files instead of running them
    #[arg(long)]
    print: bool,
    /// List the selected cases instead of running them
    #[arg(long)]
    list: bool,
    /// Run only every n-th of the selected cases
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Run under the validation layer with synchronization validation; a message fails the run
    #[arg(long)]
    validation: bool,
    /// Write CONFORMANCE.md
    #[arg(long)]
    write_conformance: bool,
    #[command(subcommand)]
    command: Option<Task>,
}

#[derive(clap::Subcommand)]
enum Task {
    /// Runs random kernels on the CPU backend and on another engine, and keeps what differs
    Fuzz {
        /// How long
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// First seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The other engine: interpreter or vulkan
        #[arg(long, default_value = "interpreter")]
        against: String,
        /// Ends after so many differences
        #[arg(long, default_value_t = 5)]
        most: usize,
        /// Ends after so many kernels
        #[arg(long, default_value_t = u64::MAX)]
        count: u64,
        /// How many kernels at a time
        #[arg(long, default_value_t = 1)]
        threads: usize,
        /// Leaves out kernels of more lines, for drivers that compile slowly
        #[arg(long, default_value_t = usize::MAX)]
        lines: usize,
    },
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("recal-suite: {message}");
            ExitCode::from(2)
        }
    }
}

/// An instruction set that this processor has.
fn instructions(name: &str) -> Result<InstructionSet, String> {
    let set = InstructionSet::ALL.into_iter().find(|set| set.name() == name);
    let set = set.ok_or_else(|| format!("unknown instruction set `{name}`"))?;
    if set.available() { Ok(set) } else { Err(format!("this processor does not have {name}")) }
}

/// The CPU backend with the instructions that are asked for.
fn processor(arguments: &Arguments) -> CpuBackend {
    let backend = arguments.isa.map_or_else(CpuBackend::new, CpuBackend::limited);
    if arguments.first { backend.thrifty() } else { backend }
}

/// Writes what cases are called, and with `whole` what they are.
fn list(cases: &[case::Case], whole: bool, to: &mut dyn Write) -> std::io::Result<()> {
    for case in cases {
        writeln!(to, "; {} ({} checks)", case.name, case.checks)?;
        if whole {
            writeln!(to, "{}", case::print(case))?;
        }
    }
    Ok(())
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    if let Some(task) = &arguments.command {
        return fuzz_for(task, arguments);
    }
    let mut cases = suite::load(&arguments.filter)?;
    if arguments.every > 1 {
        cases = cases.into_iter().step_by(arguments.every).collect();
    }
    if arguments.list || arguments.print {
        return match list(&cases, arguments.print, &mut std::io::stdout().lock()) {
            // Who reads it has read enough.
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.to_string()),
            _ => Ok(true),
        };
    }
    if arguments.write_conformance {
        let cases = suite::load("")?;
        let text = coverage::document(&cases, &suite::known()?);
        std::fs::write(coverage::document_path(), text).map_err(|e| e.to_string())?;
        return Ok(true);
    }
    if arguments.validation {
        log::set_logger(&Validation).map_err(|e| e.to_string())?;
        log::set_max_level(log::LevelFilter::Warn);
    }
    let mode = match arguments.mode.as_str() {
        "faithful" => FloatMode::Faithful,
        "native" => FloatMode::Native,
        other => return Err(format!("unknown float mode `{other}`")),
    };
    let backend: Box<dyn Backend> = match arguments.backend.as_str() {
        "cpu" => Box::new(processor(arguments)),
        "vulkan" => Box::new(vulkan(arguments.validation)),
        other => return Err(format!("unknown backend `{other}`")),
    };
    let runner = Runner::open(backend.as_ref(), arguments.device.as_deref(), mode)?;
    let start = Instant::now();
    let verdicts = runner.run_all(&cases);
    let summary = report::summarize(
        &cases,
        &verdicts,
        &suite::known()?,
        &arguments.backend,
        &arguments.mode,
        &runner.name,
    );
    for (operation, worst) in runner.errors() {
        println!("native error of {operation}: {worst} floats");
    }
    println!("{summary} on {} in {:.1} s", runner.name, start.elapsed().as_secs_f64());
    if arguments.validation {
        // What is left of a device is told of when it goes.
        drop((runner, backend));
        let messages = MESSAGES.load(Ordering::Relaxed);
        println!("{messages} messages of the validation layer");
        return Ok(summary.wrong.is_empty() && messages == 0);
    }
    Ok(summary.wrong.is_empty())
}

fn vulkan(validation: bool) -> recal_vulkan::Vulkan {
    recal_vulkan::Vulkan::new(recal_vulkan::Options {
        software: true,
        on_demand: true,
        at_once: true,
        uniforms: true,
        validation,
        ..Default::default()
    })
}

/// Compares the CPU backend with another engine until the time is over; differences become files in `found/`.
fn fuzz_for(task: &Task, arguments: &Arguments) -> Result<bool, String> {
    let (device, print) = (arguments.device.as_deref(), arguments.print);
    let Task::Fuzz { seconds, seed: first, against, most, count, threads, lines } = task;
    let runner = Runner::open(&processor(arguments), None, FloatMode::Faithful)?;
    let device = match against.as_str() {
        "vulkan" => Some(Runner::open(&vulkan(false), device, FloatMode::Faithful)?),
        "interpreter" => None,
        other => return Err(format!("unknown engine `{other}`")),
    };
    let name = device.as_ref().map_or("the plain interpreter", |device| &device.name);
    let against = device.as_ref().map_or(fuzz::Against::Interpreter, fuzz::Against::Device);
    let folder = suite::cases_folder().join("found");
    // Panics are findings; each is reported once, with its kernel.
    std::panic::set_hook(Box::new(|_| ()));
    let (start, time) = (Instant::now(), Duration::from_secs(*seconds));
    let (next, compared, found) = (AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    let work = || -> Result<(), String> {
        while start.elapsed() < time && found.load(Ordering::Relaxed) < *most {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= *count {
                break;
            }
            let seed = first.wrapping_add(number);
            let kernel = fuzz::kernel(&against, seed);
            if kernel.text().lines().count() > *lines {
                continue;
            }
            if print {
                println!("{}", case::print(&fuzz::case(&kernel, seed)));
                continue;
            }
            compared.fetch_add(1, Ordering::Relaxed);
            if let Err(difference) = fuzz::compare(&runner, &against, kernel, seed) {
                found.fetch_add(1, Ordering::Relaxed);
                std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
                let path = folder.join(format!("seed_{seed}.il"));
                std::fs::write(&path, case::print(&difference.case)).map_err(|e| e.to_string())?;
                println!("seed {seed}: {}\n  kept as {}", difference.what, path.display());
            }
            // Products, which run bare first, for every second; samples that become outputs for the others.
            let (what, case) = match seed % 2 {
                0 => ("products", fuzz::products::case(seed)),
                _ => ("elements", fuzz::elements::case(seed)),
            };
            if case.text.lines().count() <= *lines {
                compared.fetch_add(1, Ordering::Relaxed);
                if let Some(difference) = fuzz::difference(&runner, &against, &case) {
                    found.fetch_add(1, Ordering::Relaxed);
                    println!("{what} of seed {seed}: {difference}\n{}", case::print(&case));
                }
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..(*threads).max(1)).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?)
    })?;
    let found = found.into_inner();
    let kernels = compared.into_inner();
    println!(
        "{kernels} kernels from seed {first}, {found} differences, {name}, {:.0} s",
        start.elapsed().as_secs_f64()
    );
    Ok(found == 0)
}

static MESSAGES: AtomicUsize = AtomicUsize::new(0);

/// Prints and counts messages of the validation layer, and its absence.
struct Validation;

impl log::Log for Validation {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("recal_vulkan")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            eprintln!("{}", record.args());
            MESSAGES.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn flush(&self) {}
}
