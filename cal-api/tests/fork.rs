//! Children of `fork` start over, whatever the threads of the parent were doing: none hangs, each computes.
#![cfg(unix)]
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use support::*;

/// Children; `RECAL_FORKS` says how many.
fn forks() -> u32 {
    std::env::var("RECAL_FORKS").ok().map_or(200, |n| n.parse().expect("RECAL_FORKS is a number"))
}

/// Threads of a launch.
const WIDTH: u32 = 64 * 64;

/// The last device with a kernel that numbers its threads.
struct Work {
    ctx: CALcontext,
    func: CALfunc,
    out: CALresource,
}

impl Work {
    fn new(device: CALdevice) -> Work {
        let ctx = context(device);
        let (module, func) = load(ctx, NUMBER);
        let out = remote_1d(device, WIDTH, Format::UnsignedInt32x1);
        bind(ctx, module, c"uav0", out);
        Work { ctx, func, out }
    }

    fn launch(&self) -> CALevent {
        let one = |width| CALdomain3D { width, height: 1, depth: 1 };
        let (block, groups) = (one(64), one(WIDTH / 64));
        let mut grid = CALprogramGrid { func: self.func, gridBlock: block, gridSize: groups, flags: 0 };
        let mut event = 0;
        ok!(calCtxRunProgramGrid(&mut event, self.ctx, &mut grid));
        event
    }

    fn compute(&self) {
        with_map(self.out, WIDTH as usize, |w, _| w.fill(!0));
        assert_eq!(finish(self.ctx, self.launch()), CalResult::Ok);
        with_map(self.out, WIDTH as usize, |w, _| assert!(w.iter().zip(0..).all(|(word, k)| *word == k)));
    }
}

/// What a child does. A panic must not reach the code of the parent.
fn child(number: u32) -> ! {
    // Each has its objects at other addresses: what a parent leaves behind may be looked up by address.
    for size in (32..1024).step_by(16) {
        (0..number % 16).for_each(|_| _ = std::hint::black_box(vec![1u8; size]).leak());
    }
    let computed = std::panic::catch_unwind(|| {
        ok!(calInit());
        let device = open(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(move || {
                    let own = Work::new(device);
                    for round in 0..4 {
                        own.compute();
                        std::thread::sleep(Duration::from_micros(40 * round));
                    }
                });
            }
        });
        ok!(calShutdown());
    });
    // SAFETY: ends the child without the exit handlers of the parent's test program.
    unsafe { libc::_exit(if computed.is_ok() { 0 } else { 1 }) }
}

/// How a child has ended; `None` if it had to be killed.
fn wait_for(child: libc::pid_t, patience: Duration) -> Option<i32> {
    let start = Instant::now();
    let mut status = 0;
    loop {
        // SAFETY: the child is ours and was not awaited yet; `status` lives until the call returns.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if start.elapsed() < patience => std::thread::sleep(Duration::from_micros(300)),
            0 => {
                // SAFETY: as above.
                unsafe {
                    libc::kill(child, libc::SIGKILL);
                    libc::waitpid(child, &mut status, 0);
                }
                return None;
            }
            ended => {
                assert_eq!(ended, child);
                return Some(status);
            }
        }
    }
}

#[test]
fn no_child_hangs() {
    let _alone = alone();
    recal::register_backend(std::sync::Arc::new(recal_cpu::CpuBackend::new()));
    // The test is of locks and threads of ours, not of what Vulkan drivers leave behind.
    // SAFETY: no other thread runs yet that looks at the environment.
    unsafe { std::env::set_var("CAL_BACKEND", "cpu") };
    ok!(calInit());
    let device = open(0);
    let going = AtomicBool::new(true);
    // Some threads park for workers, some for a queue that they share.
    let shared = Work::new(device);
    let (shared, going) = (&shared, &going);
    std::thread::scope(|scope| {
        for number in 0..2 {
            scope.spawn(move || {
                let own = Work::new(device);
                while going.load(Relaxed) {
                    own.compute();
                    if number % 2 == 0 {
                        assert_eq!(finish(shared.ctx, shared.launch()), CalResult::Ok);
                    }
                }
            });
        }
        let own = Work::new(device);
        let (mut hung, mut failed) = (0, 0);
        let forks = forks();
        for number in 0..forks {
            own.compute();
            // So that workers look for work, are about to sleep, or sleep.
            std::thread::sleep(Duration::from_micros(u64::from(number % 8 * 50)));
            // SAFETY: the child runs `child` only, which makes everything anew and never returns.
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                child(number);
            }
            assert!(pid > 0, "no child");
            match wait_for(pid, Duration::from_secs(30)) {
                None => hung += 1,
                Some(0) => {}
                Some(_) => failed += 1,
            }
            if hung + failed > 2 {
                break;
            }
        }
        going.store(false, Relaxed);
        assert_eq!((hung, failed), (0, 0), "children that hung, or failed, of {forks}");
    });
    ok!(calShutdown());
}
