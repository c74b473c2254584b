//! `CAL_CAPTURE` with a C sample: its launches run again, and on two devices, by the installed command.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use recal_conformance::toolchain::{Installation, Outcome, Result, run};
use recal_needs::{Need, Trial};
use serde_json::Value;

use crate::drivers::{LAVAPIPE, manifests, only};
use crate::samples::{self, Sample};
use crate::{Lazy, needing, trial};

/// Between its launches it copies and maps, and uses memory again for other contents.
const SAMPLE: &str = "async_copy";
/// What a launch of it writes is 0.5 of this and 0.25, 64 times.
const FACTOR: &str = "dcl_literal l1, 0.5,";
/// Longest time for the command.
const PATIENCE: Duration = Duration::from_secs(240);

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    let Some(sample) = samples::all().into_iter().find(|sample| sample.name == SAMPLE) else {
        return Vec::new();
    };
    let this = sample.clone();
    let needs = [Need::driver(LAVAPIPE)];
    vec![
        trial("capture::cpu".into(), lazy, move |i| replayed(i, &this)),
        needing("capture::lavapipe".into(), needs, lazy, move |i| compared(i, &sample)),
    ]
}

/// Runs the sample with a capture; the folder.
fn captured(
    installation: &Installation,
    sample: &Sample,
    mut command: Command,
    place: &str,
) -> Result<PathBuf> {
    let folder = installation.build.join(format!("capture-{place}"));
    drop(std::fs::remove_dir_all(&folder));
    sample.run(command.env("CAL_CAPTURE", &folder))?;
    Ok(folder)
}

/// The installed command with a capture.
fn recal(
    installation: &Installation,
    verb: &str,
    folder: &Path,
    rest: &[&str],
    change: impl FnOnce(&mut Command) -> Result<()>,
) -> Result<Outcome> {
    let mut command = Command::new(installation.prefix.join("bin/recal"));
    command.arg(verb).arg(folder).args(rest);
    change(&mut command)?;
    run(&mut command, PATIENCE)
}

fn json(outcome: Outcome, what: &str) -> Result<Value> {
    let text = outcome.success(what)?.stdout;
    serde_json::from_str(&text).map_err(|e| format!("{what}: {e}: {text}"))
}

/// Captured on the CPU, run again on another engine of it.
fn replayed(installation: &Installation, sample: &Sample) -> Result<()> {
    let mut command = sample.command(installation, sample.small)?;
    command.env("CAL_BACKEND", "cpu");
    let folder = captured(installation, sample, command, "cpu")?;
    let again = json(
        recal(installation, "replay", &folder, &["-d", "cpu:baseline", "--json"], |_| Ok(()))?,
        "replay",
    )?;
    let calls = again["calls"].as_array().ok_or("no calls")?;
    let called = |name: &str| {
        calls.iter().filter(|call| call.as_str().is_some_and(|call| call.starts_with(name))).count()
    };
    let launches = again["launches"].as_array().ok_or("no launches")?;
    let programs = called("calCtxRunProgram(");
    if programs == 0
        || launches.len() != programs
        || called("calMemCopy(") == 0
        || called("calShutdown(") != 1
    {
        return Err(format!("{} launches of {programs}: {again:#}", launches.len()));
    }
    let same = |launch: &Value| launch["written"][0]["as_captured"] == true && launch["written"][1].is_null();
    if again["differ"] != 0 || again["cut_off"] != false || !launches.iter().all(same) {
        return Err(format!("{again:#}"));
    }
    // Another kernel in its place writes something else, which is told.
    let kernels = std::fs::read_dir(folder.join("kernels")).map_err(|e| e.to_string())?.flatten();
    let texts: Vec<String> = kernels.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
    let [text] = &texts[..] else { return Err(format!("{} kernels", texts.len())) };
    let other = folder.with_extension("il");
    let wrong = text.replacen(FACTOR, "dcl_literal l1, 0.75,", 1);
    std::fs::write(&other, &wrong).map_err(|e| e.to_string())?;
    let kernel = other.to_string_lossy();
    let outcome = recal(installation, "replay", &folder, &["-l", "1", "-k", &kernel], |_| Ok(()))?;
    if wrong == *text || outcome.status.code() != Some(3) || !outcome.stdout.contains("elements differ") {
        return Err(format!("with another kernel: {outcome:?}"));
    }
    Ok(())
}

/// Captured on a software Vulkan driver; there and on the CPU the same bits are written.
fn compared(installation: &Installation, sample: &Sample) -> Result<()> {
    let mut command = sample.command(installation, sample.small)?;
    only(LAVAPIPE, &mut command)?;
    let folder = captured(installation, sample, command, "lavapipe")?;
    let manifest = LAVAPIPE.manifest().ok_or("no manifest")?;
    let device = format!("{}:faithful", LAVAPIPE.device);
    let arguments = ["-d", "cpu", "-d", &device, "--json"];
    let outcome = recal(installation, "diff", &folder, &arguments, |command| {
        manifests(command, &[&manifest]);
        Ok(())
    })?;
    let both = json(outcome, "diff")?;
    let devices = both["devices"].to_string();
    // The launches of the sample, and no others: when it was opened the device was tried out.
    let launches =
        json(recal(installation, "replay", &folder, &["-d", "cpu", "--json"], |_| Ok(()))?, "replay")?;
    let programs = launches["launches"].as_array().map_or(0, Vec::len);
    if !both["difference"].is_null()
        || programs == 0
        || both["same"] != programs
        || !devices.contains(LAVAPIPE.device)
    {
        return Err(format!("{programs} launches: {both:#}"));
    }
    Ok(())
}
