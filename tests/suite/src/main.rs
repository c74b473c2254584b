//! Command line of the conformance suite.

use std::process::ExitCode;
use std::time::Instant;

use cal_hal::{Backend, FloatMode};
use clap::Parser;
use recal_suite::runner::Runner;
use recal_suite::{case, coverage, report, suite};

/// Runs the conformance cases of reCAL on a backend.
#[derive(Parser)]
#[command(name = "recal-suite")]
struct Arguments {
    /// Backend: cpu or vulkan
    #[arg(long, default_value = "cpu")]
    backend: String,
    /// Part of the device's name
    #[arg(long)]
    device: Option<String>,
    /// Run only cases whose name contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// Float mode: faithful or native
    #[arg(long, default_value = "faithful")]
    mode: String,
    /// Print the selected cases as case files instead of running them
    #[arg(long)]
    print: bool,
    /// List the selected cases instead of running them
    #[arg(long)]
    list: bool,
    /// Write CONFORMANCE.md
    #[arg(long)]
    write_conformance: bool,
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

fn run(arguments: &Arguments) -> Result<bool, String> {
    let cases = suite::load(&arguments.filter)?;
    if arguments.list || arguments.print {
        for case in &cases {
            println!("; {} ({} checks)", case.name, case.checks);
            if arguments.print {
                println!("{}", case::print(case));
            }
        }
        return Ok(true);
    }
    if arguments.write_conformance {
        let cases = suite::load("")?;
        let text = coverage::document(&cases, &suite::known()?);
        std::fs::write(coverage::document_path(), text).map_err(|e| e.to_string())?;
        return Ok(true);
    }
    let mode = match arguments.mode.as_str() {
        "faithful" => FloatMode::Faithful,
        "native" => FloatMode::Native,
        other => return Err(format!("unknown float mode `{other}`")),
    };
    let backend: Box<dyn Backend> = match arguments.backend.as_str() {
        "cpu" => Box::new(backend_cpu::CpuBackend::new()),
        "vulkan" => Box::new(backend_vulkan::Vulkan::new(backend_vulkan::Options {
            software: true,
            ..Default::default()
        })),
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
    println!("{summary} on {} in {:.1} s", runner.name, start.elapsed().as_secs_f64());
    Ok(summary.wrong.is_empty())
}
