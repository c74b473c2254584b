//! Programs of today that still look for CAL: BOINC's client, as Debian has it.

use std::time::Duration;

use recal_conformance::toolchain::{Installation, Result, run};
use recal_needs::{Need, Trial};

use crate::{Lazy, needing};

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    vec![needing("clients::boinc".into(), [Need::program("boinc")], lazy, boinc)]
}

/// What stands between the tags.
fn element<'a>(text: &'a str, name: &str) -> Result<&'a str> {
    let found = text.split_once(&format!("<{name}>")).and_then(|(_, rest)| rest.split_once('<'));
    found.map(|(value, _)| value.trim()).ok_or_else(|| format!("no {name} in\n{text}"))
}

fn number(text: &str, name: &str) -> Result<f64> {
    let value = element(text, name)?;
    value.parse().map_err(|e| format!("{name}: {value}: {e}"))
}

/// The client finds the CPU, and what it makes of its attributes could be true.
fn boinc(installation: &Installation) -> Result<()> {
    let folder = installation.build.join("boinc-client");
    // What an earlier run wrote must not count.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut command = std::process::Command::new("boinc");
    command.current_dir(&folder).arg("--detect_gpus").arg("--dir").arg(&folder);
    command.env("LD_LIBRARY_PATH", installation.prefix.join("lib")).env("CAL_BACKEND", "cpu");
    run(&mut command, Duration::from_secs(120))?.success("boinc --detect_gpus")?;

    let file = folder.join("coproc_info.xml");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let device = text.split_once("<coproc_ati>").map(|(_, rest)| rest).unwrap_or_default();
    let expected = [("have_cal", "1"), ("CALVersion", "1.4.1734"), ("wavefrontSize", "64")];
    for (name, value) in expected {
        if element(device, name)? != value {
            return Err(format!("{name} is not {value}:\n{text}"));
        }
    }
    let cores = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
    if number(device, "numberOfSIMD")? != cores {
        return Err(format!("not {cores} engines:\n{text}"));
    }
    // A core does from 8 operations a cycle, at 0.5 GHz, to 64, at 6 GHz.
    let peak = number(device, "peak_flops")? / cores;
    if !(4e9..=384e9).contains(&peak) {
        return Err(format!("{peak:e} operations a second for a core:\n{text}"));
    }
    let ram = number(device, "available_ram")?;
    if ram < 256e6 || ram > number(device, "localRAM")? * 1_048_576.0 {
        return Err(format!("{ram} bytes of free memory:\n{text}"));
    }
    Ok(())
}
