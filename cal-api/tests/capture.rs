//! `CAL_CAPTURE` keeps what a program launches, and it runs again. A process of its own: the variable is read by `calInit`.

#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::path::{Path, PathBuf};

use recal::capture::Capture;
use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Config, Context, Format, Runtime, Threads};
use support::*;

/// `g[x] += v0 bits`, in the application's own memory of 5 elements a row.
const COUNT: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_cb cb0[1]\n\
    dcl_literal l0, 5, 0, 0, 0\nftoi r0, vWinCoord0.xyxy\nimad r1.x, r0.y, l0.x, r0.x\nmov r2, g[r1.x]\niadd r2, r2, cb0[0]\n\
    mov g[r1.x], r2\nend\n";

/// Memory of the application.
#[repr(align(4096))]
struct Pinned([u32; 64]);

fn cpu() -> Context {
    let config = Config { backends: vec!["cpu".into()], ..Config::default() };
    Runtime::with_config(config).unwrap().open(0).unwrap().create_context().unwrap()
}

fn fill(resource: CALresource, words: impl Iterator<Item = u32>) {
    let (mut address, mut pitch) = (std::ptr::null_mut(), 0);
    ok!(calResMap(&mut address, &mut pitch, resource, 0));
    for (at, word) in words.enumerate() {
        // SAFETY: tests fill no more than there is.
        unsafe { address.cast::<u32>().add(at).write(word) };
    }
    ok!(calResUnmap(resource));
}

/// Launches with changing data, a mapped resource, and memory of its own.
fn program(Pinned(memory): &mut Pinned) {
    ok!(calInit());
    let device = open(0);
    let ctx = context(device);
    let (module, func) = load(ctx, ADD);
    let [input, output] = [(); 2].map(|()| local_2d(device, 64, 4, Format::Float32x4));
    let constants = local_2d(device, 1, 1, Format::Float32x4);
    for (name, resource) in [(c"i0", input), (c"o0", output), (c"cb0", constants)] {
        bind(ctx, module, name, resource);
    }
    let domain = CALdomain { x: 0, y: 0, width: 64, height: 4 };
    let mut event = 0;
    for round in 1..=2u32 {
        fill(constants, [(round as f32).to_bits(); 4].into_iter());
        fill(input, (0..1024).map(|n| (n as f32).to_bits()));
        ok!(calCtxRunProgram(&mut event, ctx, func, &domain));
        assert_eq!(finish(ctx, event), CalResult::Ok);
    }
    // A third launch reads what the second wrote.
    ok!(calMemCopy(&mut event, ctx, mem(ctx, output), mem(ctx, input), 0));
    ok!(calCtxRunProgram(&mut event, ctx, func, &domain));
    let (mut address, mut pitch) = (std::ptr::null_mut(), 0);
    ok!(calResMap(&mut address, &mut pitch, output, 0));
    // SAFETY: mapped.
    let last = unsafe { address.cast::<f32>().add(1023).read() };
    assert_eq!(last, 1023.0 + 2.0 + 2.0);

    let (module, func) = load(ctx, COUNT);
    let mut pinned = 0;
    let address = memory.as_mut_ptr().cast();
    ok!(calResCreate2D(&mut pinned, device, address, 5, 3, Format::SignedInt32x4 as u32, 60 * 4, 0));
    bind(ctx, module, c"g[]", pinned);
    bind(ctx, module, c"cb0", constants);
    let domain = CALdomain { x: 0, y: 0, width: 5, height: 3 };
    ok!(calCtxRunProgram(&mut event, ctx, func, &domain));
    assert_eq!(finish(ctx, event), CalResult::Ok);
    ok!(calResUnmap(output));
    ok!(calResFree(pinned));
    ok!(calShutdown());
}

fn replayed(folder: &Path) {
    let capture = Capture::open(folder).unwrap();
    let context = cpu();
    for launch in capture.launches() {
        let prepared = capture.prepare(launch, &context).unwrap();
        prepared.run().unwrap();
        assert!(!launch.written().is_empty());
        for at in launch.written() {
            let then = capture.written(launch, at).unwrap().unwrap();
            assert!(then.iter().any(|&byte| byte != 0));
            assert!(prepared.contents(at).unwrap() == then, "launch {}", launch.number);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &to) } else { _ = std::fs::copy(path, to).unwrap() }
    }
}

#[test]
fn a_program_is_kept_and_runs_again() {
    let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("capture-{}", std::process::id()));
    let folder = base.join(std::process::id().to_string());
    let list = folder.join("capture.jsonl");
    // SAFETY: this is the only test of the process.
    unsafe {
        std::env::set_var("CAL_CAPTURE", base.join("%p"));
        std::env::set_var("CAL_BACKEND", "cpu");
    }
    let mut pinned = Pinned([7; 64]);
    program(&mut pinned);
    let Pinned(memory) = pinned;
    assert_eq!((memory[0], memory[59], memory[60]), (7 + 2f32.to_bits(), 7 + 2f32.to_bits(), 7));

    let capture = Capture::open(&folder).unwrap();
    assert!(!capture.is_cut_off());
    let launches = capture.launches();
    assert_eq!(launches.len(), 4);
    assert_eq!(launches[0].threads(), Threads::Domain((64, 4).into()));
    // What was the same is there once.
    let data = |launch: usize, symbol: &str| {
        let held = launches[launch].resources.iter().find(|held| held.symbols == [symbol]).unwrap();
        held.data.clone().unwrap()
    };
    assert_eq!(data(0, "i0"), data(1, "i0"));
    assert_ne!(data(0, "cb0"), data(1, "cb0"));
    assert_eq!(launches[0].kernel, launches[2].kernel);
    assert_eq!(capture.kernel(&launches[0]).unwrap(), ADD.as_bytes());
    assert_eq!(std::fs::read_dir(folder.join("kernels")).unwrap().count(), 2);
    let calls = capture.calls();
    assert!(calls[0].starts_with("calInit() = ") && calls.last().unwrap().starts_with("calShutdown() = "));
    assert_eq!(calls.iter().filter(|call| call.starts_with("calCtxRunProgram(")).count(), 4);
    assert!(!calls.iter().any(|call| call.contains("PENDING")));
    replayed(&folder);

    // A second runtime of the process goes on.
    program(&mut Pinned([0; 64]));
    let numbers: Vec<u32> = Capture::open(&folder).unwrap().launches().iter().map(|l| l.number).collect();
    assert_eq!(numbers, (0..8).collect::<Vec<_>>());

    // Killed in the middle of a line, or of a launch: what was there before runs.
    let text = std::fs::read(&list).unwrap();
    let ends: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'\n').collect();
    let begun = text.windows(10).position(|bytes| bytes.starts_with(b"{\"launch\":")).unwrap();
    let after = *ends.iter().find(|&&end| end > begun).unwrap();
    for (length, launches, done) in [(after + 1, 1, false), (after - 3, 0, false), (after + 20, 1, false)] {
        let cut = base.join(format!("cut-{length}"));
        copy(&folder, &cut);
        std::fs::write(cut.join("capture.jsonl"), &text[..length]).unwrap();
        let capture = Capture::open(&cut).unwrap();
        assert!(capture.is_cut_off(), "{length}");
        assert_eq!(capture.launches().len(), launches, "{length}");
        for launch in capture.launches() {
            assert_eq!(launch.done.is_some(), done);
            capture.prepare(launch, &cpu()).unwrap().run().unwrap();
        }
    }

    // What is not as it was is told.
    let open = |name: &str, change: &dyn Fn(&Path)| {
        let other = base.join(name);
        copy(&folder, &other);
        change(&other);
        let capture = Capture::open(&other)?;
        capture.prepare(&capture.launches()[0], &cpu()).map(drop)
    };
    open("same", &|_| {}).unwrap();
    let lost = open("lost", &|other| std::fs::remove_file(other.join(data(0, "i0"))).unwrap()).unwrap_err();
    assert!(lost.to_string().contains(&data(0, "i0")), "{lost}");
    let short =
        open("short", &|other| std::fs::write(other.join(data(0, "i0")), [1, 2]).unwrap()).unwrap_err();
    assert!(short.to_string().contains("launch 0: i0: ") && short.to_string().contains("2 bytes"), "{short}");
    let rubbish = open("rubbish", &|other| std::fs::write(other.join("capture.jsonl"), "{}\n").unwrap());
    assert!(rubbish.unwrap_err().to_string().contains("capture.jsonl: line 1"));
    let nothing = Capture::open(base.join("nothing")).unwrap_err();
    assert!(nothing.to_string().contains("CAL_CAPTURE"), "{nothing}");

    // A folder that cannot be made costs the capture, not the program.
    // SAFETY: as above.
    unsafe { std::env::set_var("CAL_CAPTURE", list.join("below-a-file")) };
    program(&mut Pinned([0; 64]));
    // The list is open until the process ends, and Windows then keeps its folder.
    let removed = std::fs::remove_dir_all(base);
    assert!(removed.is_ok() || cfg!(windows), "{removed:?}");
}
