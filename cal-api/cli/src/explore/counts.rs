//! A real run: what each line of the kernel did, and where the kernel lies under the roofs of chips and of this machine.

use std::collections::BTreeMap;
use std::time::Duration;

use recal::{Config, Profile, Runtime, Symbol};
use serde_json::{Value, json};

use super::{Arguments, gather};
use crate::kernel::{Content, Kernel};
use crate::{Outcome, bench, data, run};

/// The longest that counting takes.
const LIMIT: Duration = Duration::from_secs(5);
/// Launches that are timed.
const LAUNCHES: u32 = 3;
/// Bytes of a line of the cache.
const LINE: u64 = 64;

/// The counts, nothing if there is nothing to run, or an object with `error`.
pub(super) fn run(arguments: &Arguments, text: &[u8]) -> Value {
    if !arguments.extent.is_given() {
        return Value::Null;
    }
    counted(arguments, text).unwrap_or_else(|error| json!({ "error": error.to_string() }))
}

fn counted(arguments: &Arguments, text: &[u8]) -> Outcome<Value> {
    // Only the CPU can be watched.
    let (config, _) = Config::from_env();
    let runtime = Runtime::with_config(Config { backends: vec!["cpu".into()], checks: false, ..config })?;
    let device = runtime.open(0)?;
    let context = device.create_context()?;
    let kernel = Kernel { name: "kernel".into(), content: Content::Text(text.to_vec()) };
    let module = kernel.load(&context, true)?.module;
    let threads = arguments.extent.threads(&module)?;
    let bindings: Vec<_> = arguments.bind.iter().map(|given| given.binding.clone()).collect();
    let bound = data::bind(&device, &module, &bindings)?;
    let profile = module.profile(text, threads, LIMIT)?;
    let whole = profile.parts.0 == profile.parts.1;
    let count = profile.threads;
    let stored: u64 = bound.iter().filter_map(|bound| stored(bound, count)).sum();
    // Of as many threads as ran.
    let [ran, all] = [profile.parts.0, profile.parts.1].map(u128::from);
    let stored = (u128::from(stored) * ran / all.max(1)) as u64;
    let (seconds, roof) = match whole {
        true => {
            let (best, _) = run::launch(LAUNCHES, &context, &module, threads)?;
            (Some(best), Some(bench::roof(&device, &context)?))
        }
        false => (None, None),
    };
    let flops: u64 = profile.counts.iter().map(|counts| counts.flops).sum();
    Ok(json!({
        "device": device.info().name,
        "extent": run::threads_json(threads),
        "threads": count,
        "parts": [profile.parts.0, profile.parts.1],
        "limit": LIMIT.as_secs(),
        "lines": lines(&profile, text),
        "flops": flops,
        "bytes": profile.lines * LINE + stored,
        "line_bytes": LINE,
        "seconds": seconds,
        "roof": roof,
    }))
}

/// Bytes that the ends of threads store to an output: no instruction does.
fn stored(bound: &data::Bound, threads: u64) -> Option<u64> {
    let (symbol, elements, bytes) = bound.size();
    matches!(symbol.parse(), Ok(Symbol::Output(_))).then(|| threads.min(elements).saturating_mul(bytes))
}

/// The counts of lines; several instructions of one line together.
fn lines(profile: &Profile, text: &[u8]) -> Vec<Value> {
    let mut all: BTreeMap<usize, [u64; 7]> = BTreeMap::new();
    for c in &profile.counts {
        let sums = all.entry(gather::line(c.span, text)).or_default();
        let own = [c.executions, c.lanes, c.launched, c.splits, c.flops, c.lines, c.new_lines];
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    let told = all.into_iter().map(|(line, [executions, lanes, launched, splits, flops, touched, new])| {
        json!({
            "line": line, "executions": executions, "lanes": lanes, "launched": launched, "splits": splits,
            "flops": flops, "touched": touched, "new": new,
        })
    });
    told.collect()
}

/// A roof and the kernel's dot below it: operations a second, bytes a second, and for the dot operations a byte and a second.
fn roof(name: &str, source: &str, [peak, bandwidth]: [f64; 2], dot: Option<[f64; 2]>) -> Value {
    json!({ "name": name, "source": source, "peak": peak, "bandwidth": bandwidth, "dot": dot })
}

/// The roofs of the chips by their stated clocks and units, with what the analyzer makes of the kernel; and of the CPU device as
/// it was measured.
pub(super) fn roofs(chips: &Value, run: &Value) -> Vec<Value> {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let (flops, bytes) = (number(&run["flops"]), number(&run["bytes"]));
    let intensity = (flops > 0.0 && bytes > 0.0).then(|| flops / bytes);
    let each = flops / number(&run["threads"]).max(1.0);
    let mut all = Vec::new();
    if let (Some(seconds), Some([peak, bandwidth])) =
        (run["seconds"].as_f64(), run["roof"].as_array().map(|roof| [number(&roof[0]), number(&roof[1])]))
    {
        let dot = intensity.map(|intensity| [intensity, flops / seconds]);
        all.push(roof("CPU device", "measured", [peak, bandwidth], dot));
    }
    for chip in chips.as_array().into_iter().flatten().filter(|chip| chip["error"].is_null()) {
        let target = &chip["target"];
        let name = target["name"].as_str().unwrap_or_default();
        if !["rv670", "rv770", "cypress"].contains(&name) {
            continue;
        }
        // A multiplication and an addition in each slot, each clock.
        let slots = number(&target["thread_processors"]) * number(&target["slots"]);
        let peak = 2e6 * slots * number(&target["engine_mhz"]);
        let bandwidth = 1e6 * number(&target["memory_mbps"]) * number(&target["bus_bits"]) / 8.0;
        let dot = intensity.map(|intensity| [intensity, each * number(&chip["threads_per_second"])]);
        all.push(roof(&name.to_uppercase(), "stated, a model", [peak, bandwidth], dot));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roofs_are_what_the_boards_are_said_to_do() {
        let chips = json!([{ "target": {
            "name": "cypress", "thread_processors": 320, "slots": 5, "engine_mhz": 850, "memory_mbps": 4800,
            "bus_bits": 256 }, "threads_per_second": 1e9 }]);
        let run = json!({ "flops": 4000, "bytes": 1000, "threads": 100, "seconds": 0.5, "roof": [1e9, 1e8] });
        let all = roofs(&chips, &run);
        assert_eq!((&all[1]["peak"], &all[1]["bandwidth"]), (&json!(2.72e12), &json!(1.536e11)));
        assert_eq!(all[1]["dot"], json!([4.0, 4e10]));
        assert_eq!(all[0]["dot"], json!([4.0, 8000.0]));
        assert_eq!(roofs(&chips, &Value::Null)[0]["dot"], Value::Null);
    }
}
