//! What the system may refuse, refused at every place where it is asked for: memory of resources and of GDS, memory for
//! compiled code, the right to run it, threads. An error that says so, or the right results without it, and nothing left.
//!
//! The functions that ask the system are replaced for the whole of this program, by Linux's calls.
#![cfg(target_os = "linux")]

mod harness;

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use harness::{compile, grid, read, write};
use recal_cpu::CpuBackend;
use recal_hal::{
    Backend, Bindings, Command, DeviceOptions, Error, Format, Heap, MemoryRequest, Result, Surface,
};

/// A place where the system is asked for something.
struct Site {
    name: &'static str,
    calls: AtomicU64,
    /// The call that is refused.
    refused: AtomicU64,
    /// Given and not given back.
    live: AtomicI64,
}

impl Site {
    const fn new(name: &'static str) -> Site {
        Site { name, calls: AtomicU64::new(0), refused: AtomicU64::new(0), live: AtomicI64::new(0) }
    }

    fn refuse(&self, call: u64) {
        self.calls.store(0, SeqCst);
        self.refused.store(call, SeqCst);
    }

    /// Whether this call is the one; counts what is given otherwise.
    fn asked(&self) -> bool {
        let refused = self.calls.fetch_add(1, SeqCst) + 1 == self.refused.load(SeqCst);
        self.live.fetch_add(i64::from(!refused), SeqCst);
        refused
    }
}

/// Memory of resources and of GDS, and memory for compiled code.
static MAPPINGS: Site = Site::new("mappings");
static CODE: Site = Site::new("executable mappings");
static THREADS: Site = Site::new("threads");

thread_local! {
    /// The standard library maps a signal stack first of all in each thread, and gives up if it gets none.
    static STARTED: Cell<bool> = const { Cell::new(false) };
}

fn refuse_with(code: c_int) {
    // SAFETY: the address of this thread's error number.
    unsafe { *libc::__errno_location() = code };
}

/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    at: *mut c_void,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    if !STARTED.replace(true) {
        MAPPINGS.live.fetch_add(1, SeqCst);
    } else if MAPPINGS.asked() {
        refuse_with(libc::ENOMEM);
        return libc::MAP_FAILED;
    }
    // SAFETY: passed on from the caller.
    unsafe { libc::syscall(libc::SYS_mmap, at, bytes, access, flags, file, offset) as *mut c_void }
}

/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(at: *mut c_void, bytes: usize) -> c_int {
    MAPPINGS.live.fetch_sub(1, SeqCst);
    // SAFETY: passed on from the caller.
    unsafe { libc::syscall(libc::SYS_munmap, at, bytes) as c_int }
}

/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn mprotect(at: *mut c_void, bytes: usize, access: c_int) -> c_int {
    if access & libc::PROT_EXEC != 0 && CODE.asked() {
        refuse_with(libc::EACCES);
        return -1;
    }
    // SAFETY: passed on from the caller.
    unsafe { libc::syscall(libc::SYS_mprotect, at, bytes, access) as c_int }
}

/// # Safety
/// As for the function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    body: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    type Real = unsafe extern "C" fn(
        *mut libc::pthread_t,
        *const libc::pthread_attr_t,
        extern "C" fn(*mut c_void) -> *mut c_void,
        *mut c_void,
    ) -> c_int;
    if THREADS.asked() {
        return libc::EAGAIN;
    }
    // SAFETY: the next function of this name is the C library's; the arguments are the caller's.
    unsafe {
        let real: Real = transmute(libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()));
        real(thread, attributes, body, argument)
    }
}

/// Arithmetic that is compiled, textures as a launch has them, and GDS.
const KERNEL: &str = "il_cs_2_0\n\
    dcl_num_thread_per_group 64\n\
    dcl_raw_uav_id(0)\n\
    dcl_gds_id(0) 256\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    dcl_literal l0, 2, 3, 0, 0\n\
    ishl r0.x, vAbsTidFlat.x, l0.x\n\
    itof r2.x, vAbsTidFlat.x\n\
    mov r2.y, l0.z\n\
    sample_resource(0)_sampler(0) r3, r2.xyyy\n\
    imul r1.x, vAbsTidFlat.x, l0.y\n\
    iadd r1.x, r1.x, r3.x\n\
    gds_store_id(0) r0.x, r1.x\n\
    gds_load_id(0) r1.x, r0.x\n\
    uav_raw_store_id(0) mem0.x___, r0.x, r1.x\n\
    end\n";

/// A whole program. `armed` is called once the device is open.
fn scenario(armed: impl FnOnce()) -> Result<()> {
    let device = CpuBackend::new().adapters()[0].open(&DeviceOptions::default())?;
    armed();
    let surface = |width| -> Result<Surface> {
        let memory = device.allocate(MemoryRequest { bytes: 4096, heap: Heap::Local })?;
        Ok(Surface { memory, width, height: 1, pitch: width, format: Format::UnsignedInt32x1 })
    };
    let kernel = device.load(compile(KERNEL).into())?;
    let (input, out) = (surface(64)?, surface(64)?);
    write(&input, &[5; 64]);
    let bindings =
        Bindings { resources: vec![(0, input)], uavs: vec![(0, out.clone())], ..Bindings::default() };
    let queue = device.create_queue()?;
    let launch =
        || Command::Launch { kernel: kernel.clone(), bindings: bindings.clone().into(), extent: grid(1, 64) };
    // One is waited for; of the other it is only asked whether it is done, as most programs do.
    let waited = queue.submit(launch())?;
    queue.wait(waited)?;
    let looked = queue.submit(launch())?;
    queue.flush()?;
    let start = Instant::now();
    while queue.completed() < looked {
        assert!(start.elapsed() < Duration::from_secs(20), "it is never done");
        std::thread::yield_now();
    }
    let failures = [waited, looked].map(|ticket| queue.error(ticket));
    if let Some(error) = failures.into_iter().flatten().next() {
        // Only that launch failed.
        let again = queue.submit(launch())?;
        queue.wait(again)?;
        assert_eq!(queue.error(again), None);
        return Err(error);
    }
    let expected: Vec<u32> = (0..64).map(|k| 3 * k + 5).collect();
    assert_eq!(read(&out, 64), expected);
    Ok(())
}

#[test]
fn what_the_system_refuses_is_told_or_done_without() {
    let sites = [&MAPPINGS, &CODE, &THREADS];
    let live = || sites.map(|site| site.live.load(SeqCst));
    // Thread stacks and the like come and go with the C library; only our own count. Threads are joined.
    assert_eq!(scenario(|| ()), Ok(()));
    let before = live();
    for site in sites {
        let mut told = 0;
        for call in 1.. {
            let outcome = if std::ptr::eq(site, &THREADS) {
                site.refuse(call);
                scenario(|| ())
            } else {
                scenario(|| site.refuse(call))
            };
            let fired = site.calls.load(SeqCst) >= call;
            site.refuse(0);
            let now = live();
            assert_eq!(now[0], before[0], "{} {call}: not given back", site.name);
            if !fired {
                assert_eq!(outcome, Ok(()));
                println!("{}: {} calls refused, {told} led to an error", site.name, call - 1);
                break;
            }
            match outcome {
                Ok(()) => {}
                Err(Error::OutOfMemory(text)) => {
                    assert!(text.contains("bytes"), "{text}");
                    told += 1;
                }
                Err(other) => panic!("{} {call}: {other}", site.name),
            }
        }
        assert_eq!(told > 0, std::ptr::eq(site, &MAPPINGS), "only memory of resources is indispensable");
    }
}
