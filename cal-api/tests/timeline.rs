//! `CAL_TIMELINE` draws what a program does, on the CPU and on a Vulkan device. A process of its own: the variable is read by `calInit`.

#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use recal_needs::{LAVAPIPE, Need};
use serde_json::Value;
use support::*;

const LAUNCHES: usize = 3;

/// Takes a while.
const LONG: &str = "il_ps_2_0\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    dcl_literal l0, 0, 1, 500, 0\n\
    mov r0, vWinCoord0.xyxy\n\
    mov r1.x, l0.x\n\
    whileloop\n\
    ige r2.x, r1.x, l0.z\n\
    break_logicalnz r2.x\n\
    mad r0, r0, r0, vWinCoord0.xyxy\n\
    iadd r1.x, r1.x, l0.y\n\
    endloop\n\
    mov o0, r0\n\
    end\n";
/// Nanoseconds that no machine does it in: two million products, 16 at a time, four billion times in a second.
const LEAST: f64 = 20_000.0;

/// Compiles, launches, copies, waits.
fn program() {
    ok!(calInit());
    let device = open(0);
    let ctx = context(device);
    let (module, func) = load(ctx, LONG);
    let [out, other] = [(); 2].map(|()| local_2d(device, 64, 64, Format::Float32x4));
    bind(ctx, module, c"o0", out);
    let mut event = 0;
    for _ in 0..LAUNCHES {
        let domain = CALdomain { x: 0, y: 0, width: 64, height: 64 };
        ok!(calCtxRunProgram(&mut event, ctx, func, &domain));
    }
    ok!(calMemCopy(&mut event, ctx, mem(ctx, out), mem(ctx, other), 0));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    expect!(InvalidParameter, calCtxRunProgram(&mut event, ctx, func, std::ptr::null()));
    #[cfg(unix)]
    a_child_is_not_drawn();
    ok!(calShutdown());
}

/// A child of `fork` computes, and neither waits for what the parent's threads hold nor writes to its file.
#[cfg(unix)]
fn a_child_is_not_drawn() {
    thread_local!(static CHILD: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    if CHILD.get() || std::env::var("CAL_BACKEND").as_deref() != Ok("cpu") {
        return;
    }
    // SAFETY: the child only calls functions under test and `_exit`; a signal ends it if it hangs.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: as above.
        unsafe { libc::alarm(60) };
        CHILD.set(true);
        let computed = std::panic::catch_unwind(program).is_ok();
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(!computed)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
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

/// Draws a program in both forms, on a backend.
fn drawn(backend: &str, look_at: fn(&HashMap<u64, String>, &[Slice])) {
    // They share the environment and `calInit`.
    let _alone = start_alone();
    let number = std::process::id().to_string();
    let named = |end: &str| std::env::temp_dir().join(format!("recal-timeline-{backend}-%p.{end}"));
    let file = |end: &str| PathBuf::from(named(end).to_string_lossy().replace("%p", &number));
    for end in ["json", "pftrace"] {
        // SAFETY: no other thread of this process looks at the environment: the tests run one at a time.
        unsafe {
            std::env::set_var("CAL_TIMELINE", named(end));
            std::env::set_var("CAL_BACKEND", backend);
            std::env::set_var("CAL_VULKAN_DEVICE", LAVAPIPE.device);
            std::env::set_var("CAL_CACHE", "off");
        }
        // Twice: the second goes on in the file.
        program();
        program();
    }
    for (path, read) in [(file("json"), from_json as fn(&Path) -> _), (file("pftrace"), from_perfetto)] {
        let (rows, slices) = read(&path);
        are_nested(&rows, &slices);
        look_at(&rows, &slices);
        std::fs::remove_file(path).unwrap();
    }
}

fn start_alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn main() -> std::process::ExitCode {
    let arguments = recal_needs::Arguments { test_threads: Some(1), ..recal_needs::Arguments::from_args() };
    let trials = vec![
        recal_needs::trial("a_program_is_drawn", [], || drawn("cpu", look_at)),
        recal_needs::trial(
            "a_device_tells_its_times",
            [
                Need::driver(LAVAPIPE),
                Need::system("Wine has no Vulkan device without a display", cfg!(not(windows))),
            ],
            || drawn("vulkan", look_at_device),
        ),
    ];
    recal_needs::run(&arguments, trials)
}

/// Each submission of the program, in order, with where its arrow arrives.
fn arrows<'a>(slices: &'a [Slice]) -> Vec<(&'a Slice, &'a Slice)> {
    let of_a_call = |s: &&Slice| {
        let inside = |call: &&Slice| {
            call.kind == "call" && call.row == s.row && call.start <= s.start && s.end <= call.end
        };
        // A device is tried out with kernels of ours when it is opened.
        slices.iter().filter(inside).any(|call| ["calCtxRunProgram", "calMemCopy"].contains(&&*call.name))
    };
    let submitted = slices.iter().filter(|s| s.kind == "submit");
    let mut own: Vec<&Slice> = submitted.clone().filter(of_a_call).collect();
    own.sort_by(|a, b| a.start.total_cmp(&b.start));
    let end = |s: &'a Slice| {
        let [flow] = s.leaves[..] else { panic!("{s:?}") };
        let arrives: Vec<&Slice> = slices.iter().filter(|s| s.arrives.contains(&flow)).collect();
        let [executed] = arrives[..] else { panic!("{s:?} arrives at {arrives:?}") };
        (s, executed)
    };
    // Those that are not the program's have two ends, too.
    submitted.for_each(|s| {
        end(s);
    });
    own.into_iter().map(end).collect()
}

/// What a Vulkan device did, by its own clock.
fn look_at_device(rows: &HashMap<u64, String>, slices: &[Slice]) {
    let arrows = arrows(slices);
    assert_eq!(arrows.len(), 2 * (LAUNCHES + 1));
    let mut last = 0.0;
    for (submitted, executed) in &arrows {
        assert_eq!((&*executed.kind, &executed.name), ("device", &submitted.name), "{executed:?}");
        let row = &rows[&executed.row];
        // Mesa's driver has its clock read.
        let queue = row.strip_suffix(", by the device's clock").unwrap_or_else(|| panic!("{row}"));
        // After it was asked for, in the order of the queue, and before the host saw that it was done.
        assert!(executed.start >= submitted.start.max(last), "{submitted:?} {executed:?}");
        last = executed.end;
        let around = |s: &&Slice| {
            s.kind == "queue" && rows[&s.row] == queue && s.start <= executed.start && executed.end <= s.end
        };
        let seen = slices.iter().find(around).unwrap_or_else(|| panic!("{executed:?} in no chunk"));
        let done = |s: &&Slice| s.kind == "call" && s.name == "calCtxIsEventDone" && s.end >= seen.end;
        assert!(slices.iter().any(|s| done(&s)), "{seen:?} was never asked for");
        if executed.name == "launch" {
            assert!(executed.end - executed.start >= LEAST, "{executed:?}");
        }
    }
}

/// Slices of a row are in each other, or apart.
fn are_nested(rows: &HashMap<u64, String>, slices: &[Slice]) {
    for a in slices {
        assert!(a.start <= a.end && rows.contains_key(&a.row), "{a:?}");
        for b in slices.iter().filter(|b| b.row == a.row) {
            let apart = a.end <= b.start || b.end <= a.start;
            let nested = a.start <= b.start && b.end <= a.end || b.start <= a.start && a.end <= b.end;
            assert!(apart || nested, "{a:?} {b:?}");
        }
    }
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
    // Each submission's arrow leaves from within a call and arrives once, later, in an execution of the same name on a queue's row.
    let arrows = arrows(slices);
    assert_eq!(arrows.len(), 2 * (LAUNCHES + 1));
    for (submitted, executed) in arrows {
        assert!(
            executed.kind == "queue" && executed.name == submitted.name && executed.start >= submitted.start
        );
        assert!(rows[&executed.row].starts_with("CPU queue "), "{}", rows[&executed.row]);
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
fn from_perfetto(path: &Path) -> (HashMap<u64, String>, Vec<Slice>) {
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
