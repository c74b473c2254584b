//! A backend that fails at its n-th call, for every n until a whole program passes without a fault: every failure reaches
//! the caller as a code and a text, handles stay 0, nothing is left behind, and other devices go on.
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::any::Any;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use recal::ffi::types::*;
use recal::ffi::*;
use recal::{CalResult, Format};
use recal_cpu::CpuBackend;
use recal_hal::*;
use support::*;

/// When and how a call of the backend fails.
#[derive(Default)]
struct Plan {
    calls: AtomicU64,
    fail_at: AtomicU64,
    loses: AtomicBool,
    lost: AtomicBool,
    fired: AtomicBool,
    live: AtomicI64,
}

impl Plan {
    fn arm(&self, call: u64, loses: bool) {
        self.calls.store(0, SeqCst);
        self.fail_at.store(call, SeqCst);
        self.loses.store(loses, SeqCst);
        self.lost.store(false, SeqCst);
        self.fired.store(false, SeqCst);
    }

    fn call(&self) -> Result<()> {
        if self.lost.load(SeqCst) {
            return Err(Error::DeviceLost("it went away".into()));
        }
        if self.calls.fetch_add(1, SeqCst) + 1 != self.fail_at.load(SeqCst) {
            return Ok(());
        }
        self.fired.store(true, SeqCst);
        if self.loses.load(SeqCst) {
            self.lost.store(true, SeqCst);
            return Err(Error::DeviceLost("it went away".into()));
        }
        Err(Error::OutOfMemory("nothing is left".into()))
    }
}

/// An object of the CPU backend, with a plan.
struct Planned<T: ?Sized> {
    inner: Arc<T>,
    plan: Arc<Plan>,
}

impl<T: ?Sized> Planned<T> {
    fn new(inner: Arc<T>, plan: &Arc<Plan>) -> Arc<Self> {
        plan.live.fetch_add(1, SeqCst);
        Arc::new(Planned { inner, plan: plan.clone() })
    }
}

impl<T: ?Sized> Drop for Planned<T> {
    fn drop(&mut self) {
        self.plan.live.fetch_sub(1, SeqCst);
    }
}

struct Faulty(Arc<Plan>);

impl Backend for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        let wrap = |inner| Planned::new(inner, &self.0) as Arc<dyn Adapter>;
        CpuBackend::new().adapters().into_iter().map(wrap).collect()
    }
}

impl Adapter for Planned<dyn Adapter> {
    fn attributes(&self) -> &Attributes {
        self.inner.attributes()
    }

    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        self.plan.call()?;
        Ok(Planned::new(self.inner.open(options)?, &self.plan))
    }

    fn memory_status(&self) -> MemoryStatus {
        self.inner.memory_status()
    }
}

impl Device for Planned<dyn Device> {
    fn allocate(&self, request: MemoryRequest) -> Result<Arc<dyn Memory>> {
        self.plan.call()?;
        Ok(Planned::new(self.inner.allocate(request)?, &self.plan))
    }

    unsafe fn import(&self, address: *mut u8, bytes: u64) -> Result<Arc<dyn Memory>> {
        self.plan.call()?;
        // SAFETY: passed on from the caller.
        Ok(Planned::new(unsafe { self.inner.import(address, bytes) }?, &self.plan))
    }

    fn create_queue(&self) -> Result<Arc<dyn Queue>> {
        self.plan.call()?;
        let inner = self.inner.create_queue()?;
        Ok(Planned::new(
            Arc::new(Lossy { inner, last: AtomicU64::new(0), done: AtomicU64::new(0) }),
            &self.plan,
        ))
    }

    fn load(&self, program: Arc<Program>) -> Result<Arc<dyn Kernel>> {
        self.plan.call()?;
        Ok(Planned::new(self.inner.load(program)?, &self.plan))
    }

    fn counter(&self, index: u32) -> Result<u32> {
        self.plan.call()?;
        self.inner.counter(index)
    }

    fn set_counter(&self, index: u32, value: u32) -> Result<()> {
        self.plan.call()?;
        self.inner.set_counter(index, value)
    }
}

impl Memory for Planned<dyn Memory> {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn map(&self) -> Result<*mut u8> {
        self.plan.call()?;
        self.inner.map()
    }

    fn unmap(&self) {
        self.inner.unmap();
    }

    fn keep_mapped(self: Arc<Self>) -> Option<Arc<dyn Any + Send + Sync>> {
        Arc::clone(&self.inner).keep_mapped()
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }
}

impl Kernel for Planned<dyn Kernel> {
    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }

    fn resources(&self) -> KernelResources {
        self.inner.resources()
    }
}

/// A queue and what was done on it before the device was lost.
struct Lossy {
    inner: Arc<dyn Queue>,
    last: AtomicU64,
    done: AtomicU64,
}

impl Queue for Planned<Lossy> {
    fn submit(&self, command: Command) -> Result<Ticket> {
        self.plan.call()?;
        let ticket = self.inner.inner.submit(command)?;
        self.inner.last.store(ticket, SeqCst);
        Ok(ticket)
    }

    fn flush(&self) -> Result<()> {
        self.plan.call()?;
        self.inner.inner.flush()
    }

    fn completed(&self) -> Ticket {
        if self.plan.lost.load(SeqCst) {
            return self.inner.last.load(SeqCst);
        }
        let done = self.inner.inner.completed();
        self.inner.done.store(done, SeqCst);
        done
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        self.plan.call()?;
        self.inner.inner.wait(ticket)
    }

    fn error(&self, ticket: Ticket) -> Option<Error> {
        if self.plan.lost.load(SeqCst) && ticket > self.inner.done.load(SeqCst) {
            return Some(Error::DeviceLost("it went away".into()));
        }
        self.inner.inner.error(ticket)
    }

    fn busy(&self) -> Duration {
        self.inner.inner.busy()
    }
}

/// What an output holds that was given nothing.
fn nothing<T: Default>(_: &T) -> T {
    T::default()
}

/// Calls, and ends the program with the code if it is an error.
macro_rules! step {
    ($name:ident(&mut $out:ident $(, $argument:expr)*)) => {
        // SAFETY: as for `call!`.
        match unsafe { $name(&mut $out $(, $argument)*) } {
            CalResult::Ok => assert_ne!($out, nothing(&$out), stringify!($name)),
            code => {
                assert_eq!($out, nothing(&$out), "{} failed and gave something", stringify!($name));
                return Err((stringify!($name), code));
            }
        }
    };
    ($name:ident($($argument:expr),*)) => {
        // SAFETY: as for `call!`.
        match unsafe { $name($($argument),*) } {
            CalResult::Ok => {}
            code => return Err((stringify!($name), code)),
        }
    };
}

type Step = std::result::Result<(), (&'static str, CalResult)>;

/// Maps, checks the first word if one is expected, and fills the memory.
fn exchange(resource: CALresource, expected: Option<f32>, fill: f32) -> Step {
    let (mut address, mut pitch) = (null_mut(), 0);
    match call!(calResMap(&mut address, &mut pitch, resource, 0)) {
        CalResult::Ok => {}
        code => {
            assert!(address.is_null() && pitch == 0);
            return Err(("calResMap", code));
        }
    }
    let words = address.cast::<f32>();
    // SAFETY: the resources here have 64 floats or more, and are mapped.
    let found = unsafe {
        let found = words.read();
        (0..64).for_each(|k| words.add(k).write(fill));
        found
    };
    step!(calResUnmap(resource));
    assert_eq!(expected.unwrap_or(found), found);
    Ok(())
}

fn wait_for(ctx: CALcontext, event: CALevent) -> Step {
    match finish(ctx, event) {
        CalResult::Ok => Ok(()),
        code => Err(("calCtxIsEventDone", code)),
    }
}

/// What programs do, on device 0; the other takes part as well.
fn program(other: CALdevice, image: CALimage, own: *mut f32) -> Step {
    let (mut device, mut ctx) = (0, 0);
    step!(calDeviceOpen(&mut device, 0));
    let outcome = (|| {
        step!(calCtxCreate(&mut ctx, device));
        let (mut input, mut output, mut shared, mut pinned) = (0, 0, 0, 0);
        let float = Format::Float32x1 as u32;
        step!(calResAllocLocal2D(&mut input, device, 64, 1, float, 0));
        step!(calResAllocRemote1D(&mut output, [device].as_mut_ptr(), 1, 64, float, 0));
        step!(calResAllocRemote1D(&mut shared, [device, other].as_mut_ptr(), 2, 64, float, 0));
        step!(calResCreate1D(&mut pinned, device, own.cast(), 64, float, 256, 0));
        exchange(input, Some(0.0), 2.0)?;
        exchange(shared, Some(0.0), 0.25)?;
        let (mut module, mut func) = (0, 0);
        step!(calModuleLoad(&mut module, ctx, image));
        step!(calModuleGetEntry(&mut func, ctx, module, c"main".as_ptr()));
        for (symbol, resource) in [(c"i0", input), (c"o0", output), (c"cb0", shared)] {
            let (mut name, mut mem) = (0, 0);
            step!(calModuleGetName(&mut name, ctx, module, symbol.as_ptr()));
            step!(calCtxGetMem(&mut mem, ctx, resource));
            step!(calCtxSetMem(ctx, name, mem));
        }
        let domain = CALdomain { x: 0, y: 0, width: 64, height: 1 };
        let mut event = 0;
        step!(calCtxRunProgram(&mut event, ctx, func, &domain));
        wait_for(ctx, event)?;
        exchange(output, Some(2.25), 1.0)?;
        let (mut from, mut to) = (0, 0);
        step!(calCtxGetMem(&mut from, ctx, input));
        step!(calCtxGetMem(&mut to, ctx, pinned));
        // Many, so that the queue is started unasked.
        for _ in 0..70 {
            step!(calCtxRunProgram(&mut event, ctx, func, &domain));
        }
        step!(calMemCopy(&mut event, ctx, from, to, 0));
        step!(calCtxFlush(ctx));
        wait_for(ctx, event)?;
        // SAFETY: the copy is done; the caller's array has 64 floats.
        assert_eq!(unsafe { own.read_volatile() }, 2.0);
        let mut count = 5;
        step!(calWriteAtomicCounter(device, 3, 9));
        step!(calReadAtomicCounter(device, 3, &mut count));
        assert_eq!(count, 9);
        step!(calResFree(pinned));
        Ok(())
    })();
    if let Err((name, code)) = outcome {
        let text = error();
        assert!(matches!(code, CalResult::Error), "{name}: {code:?}");
        assert!(
            text.starts_with(name) && (text.contains("nothing is left") || text.contains("it went away")),
            "{name}: {text}"
        );
    }
    // Objects can be given up whatever has happened.
    if ctx != 0 {
        ok!(calCtxDestroy(ctx));
    }
    ok!(calDeviceClose(device));
    outcome
}

#[test]
fn every_call_of_a_backend_may_fail() {
    let _alone = alone();
    let plan = Arc::new(Plan::default());
    recal::register_backend(Arc::new(Faulty(plan.clone())));
    // Looking for GPUs would take most of the time.
    // SAFETY: the only test of this program; nothing else reads or changes the environment now.
    unsafe { std::env::set_var("CAL_BACKEND", "faulty,cpu") };
    let image = image(ADD);
    for loses in [false, true] {
        let mut errors = 0;
        for call in 1.. {
            plan.arm(0, loses);
            ok!(calInit());
            let mut count = 0;
            ok!(calDeviceGetCount(&mut count));
            let other = open(count - 1);
            let mut own = vec![0f32; 1024];
            let aligned = own.as_ptr().align_offset(256);
            let own = own[aligned..].as_mut_ptr();
            plan.arm(call, loses);
            let outcome = program(other, image, own);
            let fired = plan.fired.load(SeqCst);
            // The other device goes on.
            let ctx = context(other);
            let (_, func) = {
                let (module, func) = load(ctx, FILL);
                bind(ctx, module, c"o0", remote_1d(other, 64, Format::Float32x1));
                (module, func)
            };
            assert_eq!(finish(ctx, run(ctx, func, 64, 1)), CalResult::Ok);
            ok!(calShutdown());
            assert_eq!(plan.live.load(SeqCst), 0, "call {call}: {outcome:?}: objects are left");
            if !fired {
                assert_eq!(outcome, Ok(()));
                println!("{} calls failed, {errors} errors were told", call - 1);
                break;
            }
            errors += u32::from(outcome.is_err());
            // A lost device cannot have done the rest.
            assert!(outcome.is_err() || !loses || call > 20, "call {call}");
        }
        assert!(errors > 15);
    }
    ok!(calclFreeImage(image));
}
