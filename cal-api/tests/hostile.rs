//! Programs in a hostile house: rubbish in every environment variable, no file descriptors, no memory, full disks; and
//! kernels of a hundred thousand instructions.
//!
//! Limits hold for a process, so most of it happens in children: this program again, with the test of one name.
#![cfg(target_os = "linux")]
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use recal::ffi::*;
use recal::{CalResult, Format};
use support::*;

/// What a child does before it computes.
const LIMIT: &str = "RECAL_LIMIT";

/// The variables of `docs/environment.md`.
fn variables() -> Vec<String> {
    let page = include_str!("../../docs/environment.md");
    let names: Vec<String> =
        page.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
    assert!(names.len() >= 10, "{names:?}");
    names
}

/// A folder, gone with all that is in it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let number = FOLDERS.fetch_add(1, Relaxed);
        let folder = std::env::temp_dir().join(format!("recal-hostile-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a test of this program by itself.
fn child(test: &str, environment: &[(String, OsString)]) -> Output {
    // Rubbish may be the name of a file or folder, which then appears.
    let folder = Folder::new();
    let mut command = Command::new(std::env::current_exe().expect("the name of this program"));
    command.args(["--exact", test, "--nocapture"]).current_dir(&folder.0);
    for name in variables() {
        command.env_remove(name);
    }
    command.envs(environment.iter().cloned()).output().expect("it starts")
}

/// The child has passed; what it wrote.
fn passed(output: &Output, what: &str) -> String {
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{what}: {}\n{text}", output.status);
    text.into_owned()
}

/// Sets a limit, which the process may lift again.
fn limit(resource: libc::__rlimit_resource_t, most: libc::rlim_t) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure lives until the calls return.
    let set = unsafe {
        libc::getrlimit(resource, &mut limit) == 0 && {
            limit.rlim_cur = most.min(limit.rlim_max);
            libc::setrlimit(resource, &limit) == 0
        }
    };
    assert!(set, "a lower limit may be set");
}

fn address_space() -> libc::rlim_t {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    pages.split(' ').next().and_then(|n| n.parse::<libc::rlim_t>().ok()).expect("a number") * 4096
}

/// What every child does, and a test of its own: a small program on the last device, under the limit that is asked for.
#[test]
fn a_small_program() {
    let _alone = alone();
    let asked = std::env::var(LIMIT).unwrap_or_default();
    match asked.as_str() {
        // Those that are open already.
        "files" => limit(libc::RLIMIT_NOFILE, 3),
        "disk" => {
            // SAFETY: ignoring a signal; a write beyond the limit is then an error, as on a full disk.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
            limit(libc::RLIMIT_FSIZE, 0);
        }
        _ => {}
    }
    ok!(calInit());
    let (mut count, mut device) = (0, 0);
    ok!(calDeviceGetCount(&mut count));
    if count == 0 {
        // Somebody asked for backends that are not there.
        expect!(Error, calDeviceOpen(&mut device, 0));
        assert!(error().contains("there is no device (CAL_BACKEND is "), "{}", error());
        ok!(calShutdown());
        return;
    }
    let device = open(count - 1);
    let ctx = context(device);
    if asked == "memory" {
        // Far more than there will be in all, and little for everything else.
        let most = address_space() + (256 << 20);
        limit(libc::RLIMIT_AS, most);
        let mut taken = Vec::new();
        loop {
            // Threads take what they need meanwhile. None that fits may leave less than a little.
            let left = most.saturating_sub(address_space());
            let fits = (16 << 20)..(20 << 20);
            limit(libc::RLIMIT_AS, if fits.contains(&left) { most - (5 << 20) } else { most });
            let mut res = 0;
            match call!(calResAllocLocal2D(&mut res, device, 2048, 2048, Format::Float32x1 as u32, 0)) {
                CalResult::Ok => taken.push(res),
                code => {
                    assert_eq!((code, res), (CalResult::Error, 0));
                    break;
                }
            }
        }
        let text = error();
        if taken.len() > 24 || !text.contains("16777216 bytes") {
            // A message needs memory, too.
            limit(libc::RLIMIT_AS, libc::RLIM_INFINITY);
            panic!("{} resources of 16 MiB, then {text}", taken.len());
        }
        taken.into_iter().for_each(|res| ok!(calResFree(res)));
    }
    let (module, func) = load(ctx, FILL);
    let out = remote_1d(device, 64, Format::Float32x1);
    bind(ctx, module, c"o0", out);
    assert_eq!(finish(ctx, run(ctx, func, 64, 1)), CalResult::Ok);
    with_map(out, 64, |w, _| assert_eq!(w, [1.5f32.to_bits(); 64]));
    ok!(calShutdown());
}

#[test]
fn rubbish_in_the_environment() {
    let rubbish: [&[u8]; 7] = [
        b"\xFF\xFE\x80",
        b"%s%n%x",
        b"-99999999999999999999999",
        b"/proc/self/mem/no/such/folder",
        b"/dev/full",
        b",,=;\n,\t",
        &[b'A'; 20_000],
    ];
    for value in rubbish {
        let value = OsStr::from_bytes(value);
        let shown = value.to_string_lossy();
        let shown = &shown[..shown.len().min(40)];
        let all: Vec<_> = variables().into_iter().map(|name| (name, value.to_owned())).collect();
        passed(&child("a_small_program", &all), shown);
        // Without the one that may ask for backends that do not exist, the program has to compute.
        let rest: Vec<_> = all.into_iter().filter(|(name, _)| name != "CAL_BACKEND").collect();
        let text = passed(&child("a_small_program", &rest), shown);
        assert!(!text.contains("panicked"), "{shown}: {text}");
    }
    // What cannot be understood is told, and by name.
    let wrong = [("CAL_TIMEOUT".to_owned(), "soon".into()), ("CAL_TARGET".to_owned(), "\u{1F980}".into())];
    let text = passed(&child("a_small_program", &wrong), "two wrong ones");
    assert!(text.contains("CAL_TIMEOUT=soon") && text.contains("CAL_TARGET=\u{1F980}"), "{text}");
}

#[test]
fn without_descriptors_memory_or_disk() {
    let folder = Folder::new();
    for what in ["files", "memory", "disk"] {
        let at = |name: &str| folder.0.join(name).into_os_string();
        let environment = [
            (LIMIT.to_owned(), what.into()),
            ("CAL_DUMP".to_owned(), at("dump")),
            ("CAL_CACHE".to_owned(), at("cache")),
            ("CAL_TRACE".to_owned(), if what == "disk" { "/dev/full".into() } else { at("trace") }),
        ];
        passed(&child("a_small_program", &environment), what);
    }
}

/// Runs a kernel of one group of 64 threads, and returns what it wrote to `uav0`.
fn compute(runtime: &recal::Runtime, text: &str) -> recal::Result<Vec<u32>> {
    let device = runtime.open(0)?;
    let ctx = device.create_context()?;
    let module = ctx.load(&recal::compile(text, device.info().target)?.into())?;
    let out = device.allocate_1d(64, Format::UnsignedInt32x1, recal::Place::Remote)?;
    module.bind("uav0", &out)?;
    ctx.run_grid(&module, recal::Grid { block: [64, 1, 1], groups: [1; 3] })?.wait()?;
    Ok(out.map::<u32>()?.to_vec())
}

fn cpu(timeout: Option<Duration>) -> recal::Runtime {
    let config = recal::Config { backends: vec!["cpu".into()], timeout, ..recal::Config::default() };
    recal::Runtime::with_config(config).expect("the CPU is always there")
}

/// Largest resident memory so far, MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

/// Kernels that are far larger than programs write them: what they may cost is what `docs/reliability.md` says.
#[test]
fn huge_kernels() {
    if std::env::var_os(LIMIT).is_none() {
        // The peak of memory is a process's.
        let text = passed(&child("huge_kernels", &[(LIMIT.to_owned(), "peak".into())]), "huge kernels");
        text.lines().filter(|line| line.contains("MiB")).for_each(|line| println!("{line}"));
        return;
    }
    let runtime = cpu(None);
    let head = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 1, 3, 0\n\
                ishl r0.x, vAbsTidFlat.x, l0.x\nmov r1, vAbsTidFlat.xxxx\n";
    let tail = "uav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n";
    let straight =
        |n: usize| (0..n).map(|k| format!("iadd r1.x, r1.x, l0.{}\n", ["y", "z"][k % 2])).collect();
    let many_registers = |n: usize| {
        (0..n).map(|k| format!("iadd r{}.x, r{}.x, l0.y\n", 2 + (k + 1) % 4000, 2 + k % 4000)).collect()
    };
    let branches = |n: usize| {
        (0..n / 4)
            .map(|_| "if_logicalnz r1.x\niadd r1.x, r1.x, l0.y\nelse\niadd r1.x, r1.x, l0.x\nendif\n")
            .collect()
    };
    let cases: [(&str, String, Option<u32>); 4] = [
        // 1 and 3 in turn.
        ("100,000 instructions in a row", straight(100_000), Some(200_000)),
        ("100,000 instructions over 4,000 registers", many_registers(100_000), Some(0)),
        ("25,000 branches", branches(100_000), None),
        ("1 MB of comments", format!("; {}\n", "x".repeat(98)).repeat(10_000), Some(0)),
    ];
    for (what, body, added) in cases {
        let text = format!("{head}{body}{tail}");
        let start = Instant::now();
        let found = compute(&runtime, &text).unwrap_or_else(|error| panic!("{what}: {error}"));
        let (time, memory) = (start.elapsed(), peak());
        println!("{what}: {} KB of text, {time:?}, {memory} MiB", text.len() / 1000);
        for (thread, word) in found.into_iter().enumerate() {
            let start = thread as u32;
            let expected = match added {
                Some(added) => start + added,
                // A branch adds 1 to what is not 0, else 2.
                None if start == 0 => 2 + 24_999,
                None => start + 25_000,
            };
            assert_eq!(word, expected, "{what}, thread {thread}");
        }
        assert!(time < Duration::from_secs(60), "{what}: {time:?}");
        assert!(memory < 1024, "{what}: {memory} MiB");
    }
}

#[test]
fn an_endless_kernel_ends_and_its_context_goes_on() {
    let endless = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 0, 0\n\
                   whileloop\niadd r0.x, r0.x, l0.y\nendloop\nuav_raw_store_id(0) mem0.x___, l0.x, r0.x\nend\n";
    let runtime = cpu(Some(Duration::from_millis(300)));
    let device = runtime.open(0).expect("it is there");
    let ctx = device.create_context().expect("a context");
    let load = |text: &str| {
        let module = ctx.load(&recal::compile(text, 8).expect("it compiles").into()).expect("it loads");
        let out = device.allocate_1d(64, Format::UnsignedInt32x1, recal::Place::Remote).expect("memory");
        module.bind("uav0", &out).expect("it binds");
        (module, out)
    };
    let grid = recal::Grid { block: [64, 1, 1], groups: [1; 3] };
    let ((hangs, _bound), (numbers, out)) = (load(endless), load(NUMBER));
    let start = Instant::now();
    let hanging = ctx.run_grid(&hangs, grid).expect("it is accepted");
    let error = hanging.wait().expect_err("it never ends by itself");
    assert!(error.to_string().contains("timeout"), "{error}");
    assert!(hanging.is_done().is_err(), "and so it stays");
    assert!(start.elapsed() < Duration::from_secs(10));
    ctx.run_grid(&numbers, grid).expect("accepted").wait().expect("it is done");
    assert!(out.map::<u32>().expect("a map").iter().enumerate().all(|(k, word)| *word == k as u32));
}
