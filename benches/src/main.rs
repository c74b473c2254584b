//! `recal-bench`: see the library.

use std::process::ExitCode;

use clap::Parser;
use recal_bench::run::{Options, run};

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
