//! `CAL_TIMELINE` with a C sample: on the CPU and on a software Vulkan driver.

use std::collections::BTreeMap;

use recal_conformance::toolchain::{Installation, Result};
use recal_needs::{Need, Trial};
use serde_json::Value;

use crate::drivers::{Driver, LAVAPIPE, only};
use crate::samples::{self, Sample};
use crate::{Lazy, needing, trial};

/// It launches, copies and waits all the time.
const SAMPLE: &str = "async_copy";

/// The tests of this file.
pub fn trials(lazy: &Lazy) -> Vec<Trial> {
    let Some(sample) = samples::all().into_iter().find(|sample| sample.name == SAMPLE) else {
        return Vec::new();
    };
    let this = sample.clone();
    vec![
        trial("timeline::cpu".into(), lazy, move |i| drawn(i, &this, None)),
        needing("timeline::lavapipe".into(), [Need::driver(LAVAPIPE)], lazy, move |i| {
            drawn(i, &sample, Some(LAVAPIPE))
        }),
    ]
}

fn drawn(installation: &Installation, sample: &Sample, driver: Option<Driver>) -> Result<()> {
    let place = driver.map_or("cpu", |driver| driver.name);
    let file = installation.build.join(format!("timeline-{place}.json"));
    let mut command = sample.command(installation, sample.small)?;
    match driver {
        Some(driver) => only(driver, &mut command)?,
        None => drop(command.env("CAL_BACKEND", "cpu")),
    }
    sample.run(command.env("CAL_TIMELINE", &file))?;
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let events: Vec<Value> = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    look_at(&events).map_err(|e| format!("{}: {e}", file.display()))
}

fn look_at(events: &[Value]) -> Result<()> {
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let called = |name: &str| of("X").filter(|e| e["cat"] == "call" && e["name"] == name).count();
    let submitted = |name: &str| of("X").filter(|e| e["cat"] == "submit" && e["name"] == name).count();
    let (launches, copies) = (called("calCtxRunProgram"), called("calMemCopy"));
    // A Vulkan device is tried out with kernels of ours when it is opened.
    let submissions = submitted("launch") + submitted("copy");
    if launches == 0 || copies == 0 || submitted("launch") < launches || submitted("copy") < copies {
        return Err(format!("{launches} launches and {copies} copies were asked for, others submitted"));
    }
    // Every arrow has two ends, and leads forward.
    let mut arrows: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for event in of("s").chain(of("f")) {
        arrows.entry(event["id"].as_u64().unwrap_or_default()).or_default().push(event);
    }
    if arrows.len() != submissions {
        return Err(format!("{} arrows for {submissions} submissions", arrows.len()));
    }
    for ends in arrows.values() {
        let [from, to] = ends[..] else { return Err(format!("an arrow's ends: {ends:?}")) };
        if from["ph"] != "s"
            || to["ph"] != "f"
            || from["ts"].as_f64() > to["ts"].as_f64()
            || from["tid"] == to["tid"]
        {
            return Err(format!("from {from} to {to}"));
        }
    }
    // Spans of a row are in each other, or apart: in the order of their beginnings each ends within those that are open.
    let mut rows: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for event in of("X") {
        let [start, took] = ["ts", "dur"].map(|name| event[name].as_f64().unwrap_or(f64::NAN));
        rows.entry(event["tid"].as_u64().unwrap_or_default()).or_default().push((start, start + took));
    }
    for spans in rows.values_mut() {
        spans.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut open: Vec<f64> = Vec::new();
        for (start, end) in spans {
            // Sums of microseconds are not exact.
            while open.last().is_some_and(|last| *last <= *start + 5e-4) {
                open.pop();
            }
            if open.last().is_some_and(|last| *end > *last + 5e-4) {
                return Err(format!("the span from {start} to {end} ends after the one that it began in"));
            }
            open.push(*end);
        }
    }
    Ok(())
}
