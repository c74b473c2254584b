//! `recal-bench`: see the library.

use std::process::ExitCode;

use clap::Parser;
use recal_bench::run::{Options, run};
use recal_bench::tables;

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match &options.tables {
        Some(document) => tables::write(document, &options.results),
        None => run(&options).map(|_| ()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
