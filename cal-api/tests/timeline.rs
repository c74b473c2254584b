//! `CAL_TIMELINE` draws what a program does. A process of its own: the variable is read by `calInit`.

#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use serde_json::Value;
use support::*;

const LAUNCHES: usize = 3;

/// Compiles, launches, copies, waits.
fn program() {
    ok!(calInit());
    let device = open(0);
    let ctx = context(device);
    let (module, func) = load(ctx, FILL);
    let [out, other] = [(); 2].map(|()| local_2d(device, 64, 64, Format::Float32x1));
    bind(ctx, module, c"o0", out);
    let mut event = 0;
    for _ in 0..LAUNCHES {
        let domain = CALdomain { x: 0, y: 0, width: 64, height: 64 };
        ok!(calCtxRunProgram(&mut event, ctx, func, &domain));
    }
    ok!(calMemCopy(&mut event, ctx, mem(ctx, out), mem(ctx, other), 0));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    expect!(InvalidParameter, calCtxRunProgram(&mut event, ctx, func, std::ptr::null()));
    ok!(calShutdown());
}

/// What both forms say.
#[derive(Debug)]
struct Slice {
    row: u64,
    name: String,
    kind: String,
    start: f64,
    end: f64,
    leaves: Vec<u64>,
    arrives: Vec<u64>,
}

#[test]
fn a_program_is_drawn() {
    let number = std::process::id().to_string();
    let named = |end: &str| std::env::temp_dir().join(format!("recal-timeline-%p.{end}"));
    let file = |end: &str| std::env::temp_dir().join(format!("recal-timeline-{number}.{end}"));
    let (json, perfetto) = (file("json"), file("pftrace"));
    for path in [named("json"), named("pftrace")] {
        // SAFETY: this is the only test of the process.
        unsafe {
            std::env::set_var("CAL_TIMELINE", path);
            std::env::set_var("CAL_BACKEND", "cpu");
        }
        // Twice: the second goes on in the file.
        program();
        program();
    }
    let (rows, slices) = from_json(&json);
    look_at(&rows, &slices);
    let (rows, slices) = from_perfetto(&perfetto);
    look_at(&rows, &slices);
    [json, perfetto].iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

fn look_at(rows: &HashMap<u64, String>, slices: &[Slice]) {
    let count = |kind: &str, name: &str| slices.iter().filter(|s| s.kind == kind && s.name == name).count();
    // Each call that a program makes is there; what it asks about pending work is not.
    for (name, times) in
        [("calInit", 1), ("calCtxRunProgram", LAUNCHES + 1), ("calMemCopy", 1), ("calShutdown", 1)]
    {
        assert_eq!(count("call", name), 2 * times, "{name}");
    }
    assert!((1..=2).contains(&(count("call", "calCtxIsEventDone") / 2)));
    assert_eq!((count("compile", "compile"), count("compile", "load kernel")), (2, 2));
    assert_eq!((count("submit", "launch"), count("submit", "copy")), (2 * LAUNCHES, 2));
    assert_eq!((count("queue", "launch"), count("queue", "copy")), (2 * LAUNCHES, 2));
    assert_eq!(count("worker", "work"), 2 * (LAUNCHES + 1));
    // Each submission's arrow arrives once, later, in an execution of the same name on a queue's row.
    for submitted in slices.iter().filter(|s| s.kind == "submit") {
        let [flow] = submitted.leaves[..] else { panic!("{submitted:?}") };
        let arrives: Vec<&Slice> = slices.iter().filter(|s| s.arrives.contains(&flow)).collect();
        let [executed] = arrives[..] else { panic!("{submitted:?} arrives at {arrives:?}") };
        assert!(
            executed.kind == "queue" && executed.name == submitted.name && executed.start >= submitted.start
        );
        assert!(rows[&executed.row].starts_with("CPU queue "), "{}", rows[&executed.row]);
        // It leaves from within a call.
        let inside = |s: &&Slice| {
            s.kind == "call" && s.row == submitted.row && s.start <= submitted.start && submitted.end <= s.end
        };
        assert_eq!(slices.iter().filter(inside).count(), 1, "{submitted:?}");
    }
    // Slices of a row are in each other, or apart.
    for a in slices {
        assert!(a.start <= a.end && rows.contains_key(&a.row), "{a:?}");
        for b in slices.iter().filter(|b| b.row == a.row) {
            let apart = a.end <= b.start || b.end <= a.start;
            let nested = a.start <= b.start && b.end <= a.end || b.start <= a.start && a.end <= b.end;
            assert!(apart || nested, "{a:?} {b:?}");
        }
    }
}

fn from_json(path: &Path) -> (HashMap<u64, String>, Vec<Slice>) {
    let text = std::fs::read_to_string(path).unwrap();
    let events: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let mut rows = HashMap::new();
    let mut slices = Vec::new();
    for event in &events {
        let row = event["tid"].as_u64().unwrap();
        let text = |name: &str| event[name].as_str().unwrap().to_owned();
        assert_eq!(event["pid"], std::process::id());
        match event["ph"].as_str().unwrap() {
            "M" if event["name"] == "thread_name" => {
                rows.insert(row, event["args"]["name"].as_str().unwrap().to_owned());
            }
            "M" => assert_eq!(event["name"], "process_name"),
            "X" => {
                let start = event["ts"].as_f64().unwrap();
                let end = start + event["dur"].as_f64().unwrap();
                let (name, kind) = (text("name"), text("cat"));
                // Sums of microseconds are not exact.
                let [start, end] = [start, end].map(|t| (t * 1e3).round());
                slices.push(Slice { row, name, kind, start, end, leaves: vec![], arrives: vec![] });
            }
            phase @ ("s" | "f") => {
                // They follow their slice and lie at its start.
                let slice = slices.last_mut().unwrap();
                assert!(slice.row == row && slice.start == (event["ts"].as_f64().unwrap() * 1e3).round());
                let id = event["id"].as_u64().unwrap();
                if phase == "s" { slice.leaves.push(id) } else { slice.arrives.push(id) }
            }
            other => panic!("{other}"),
        }
    }
    let failed =
        events.iter().filter(|e| e["args"]["error"].as_str().is_some_and(|e| e.contains("domain: NULL")));
    assert_eq!(failed.count(), 2);
    (rows, slices)
}

/// The fields of a message of protocol buffers: number, and value or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
        }
        value
    }
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (value, length) = match key & 7 {
            0 => (varint(&mut bytes), 0),
            1 => (u64::from_le_bytes(bytes[..8].try_into().unwrap()), 8),
            2 => (0, varint(&mut bytes) as usize),
            other => panic!("wire type {other}"),
        };
        out.push((key >> 3, value, &bytes[..length]));
        bytes = &bytes[length..];
    }
    out
}

/// By the numbers of Perfetto's documents: packets are field 1; of a packet 8 is the time, 11 an event, 60 a track.
fn from_perfetto(path: &PathBuf) -> (HashMap<u64, String>, Vec<Slice>) {
    let bytes = std::fs::read(path).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut rows = HashMap::new();
    let mut events = Vec::new();
    for (number, _, packet) in fields(&bytes) {
        assert_eq!(number, 1);
        let packet = fields(packet);
        let time = packet.iter().find(|f| f.0 == 8).map(|f| f.1);
        assert!(packet.iter().any(|f| (f.0, f.1) == (10, 1)), "all packets are of one sequence");
        for (field, _, bytes) in &packet {
            let inner = fields(bytes);
            let value = |n: u64| inner.iter().find(|f| f.0 == n);
            match field {
                60 => {
                    let name = value(2).map_or_else(String::new, |f| text(f.2));
                    rows.insert(value(1).unwrap().1, name);
                }
                11 => {
                    let flows = |n: u64| inner.iter().filter(|f| f.0 == n).map(|f| f.1).collect::<Vec<_>>();
                    let string = |n: u64| value(n).map_or_else(String::new, |f| text(f.2));
                    let begins = value(9).unwrap().1 == 1;
                    let event = (value(11).unwrap().1, begins, string(23), string(22), flows(47), flows(48));
                    events.push((time.unwrap(), event));
                }
                _ => {}
            }
        }
    }
    // As a reader does: by time, ends close what was opened last on their row.
    events.sort_by_key(|event| event.0);
    let mut open: HashMap<u64, Vec<Slice>> = HashMap::new();
    let mut slices = Vec::new();
    for (time, (row, begins, name, kind, leaves, arrives)) in events {
        let stack = open.entry(row).or_default();
        if begins {
            stack.push(Slice { row, name, kind, start: time as f64, end: 0.0, leaves, arrives });
        } else {
            slices.push(Slice { end: time as f64, ..stack.pop().unwrap() });
        }
    }
    assert!(open.values().all(Vec::is_empty), "{open:?}");
    (rows, slices)
}
