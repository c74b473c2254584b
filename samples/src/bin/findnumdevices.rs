//! Lists the devices. The twin of `c/findnumdevices.c`, with the names that the C interface has no room for.

use std::process::ExitCode;

use recal::Runtime;
use recal_samples::{Options, Result, verdict};

fn main() -> ExitCode {
    verdict("findnumdevices", run)
}

fn run(_: &Options) -> Result<bool> {
    let runtime = Runtime::new()?;
    let mut count = 0;
    for (ordinal, info) in runtime.devices().enumerate() {
        println!("device {ordinal}: {info:#?}");
        count += 1;
    }
    Ok(count > 0)
}
