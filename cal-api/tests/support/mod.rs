//! What the tests of the C ABI share: a lock, since `calInit` is process-wide; a backend whose work is done when the
//! test says so; short ways to make objects.
#![allow(dead_code)]

pub mod manual;

use std::ffi::{CStr, CString, c_void};
use std::sync::{Arc, Mutex, MutexGuard};

use recal::CalResult;
use recal::ffi::types::*;
use recal::ffi::*;

/// Calls a function of the C ABI. The macros exist to make such calls short, so the tests allow what they expand.
#[macro_export]
macro_rules! call {
    // SAFETY: tests pass NULL, dangling-free pointers to locals, and arbitrary handles.
    ($($call:tt)*) => { unsafe { $($call)* } };
}

/// Calls and expects `OK`.
#[macro_export]
macro_rules! ok {
    ($($call:tt)*) => {
        // SAFETY: as for `call!`.
        assert_eq!(unsafe { $($call)* }, recal::CalResult::Ok, "{}: {}", stringify!($($call)*), $crate::support::error())
    };
}

/// Calls and expects another code.
#[macro_export]
macro_rules! expect {
    ($code:ident, $($call:tt)*) => {
        // SAFETY: as for `call!`.
        assert_eq!(unsafe { $($call)* }, recal::CalResult::$code, "{}", stringify!($($call)*))
    };
}

/// `o0 = i0 + cb0[0]` over a domain.
pub const ADD: &str = "il_ps_2_0\n\
    dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
    dcl_cb cb0[1]\n\
    sample_resource(0)_sampler(0) r0, vWinCoord0.xy00\n\
    add o0, r0, cb0[0]\n\
    end\n";

/// `o0 = 1.5`
pub const FILL: &str =
    "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 1.5, 1.5, 1.5, 1.5\nmov o0, l0\nend\n";

/// `uav0[thread] = thread`
pub const NUMBER: &str = "il_cs_2_0\n\
    dcl_num_thread_per_group 64\n\
    dcl_raw_uav_id(0)\n\
    dcl_literal l0, 2, 2, 2, 2\n\
    ishl r0, vAbsTidFlat.x, l0\n\
    uav_raw_store_id(0) mem.x___, r0.x, vAbsTidFlat.x\n\
    end\n";

/// Latest error text.
pub fn error() -> String {
    // SAFETY: never NULL, NUL-terminated.
    unsafe { CStr::from_ptr(calGetErrorString()) }.to_string_lossy().into_owned()
}

pub fn compiler_error() -> String {
    // SAFETY: never NULL, NUL-terminated.
    unsafe { CStr::from_ptr(calclGetErrorString()) }.to_string_lossy().into_owned()
}

/// An init/shutdown pair of one test. Device 0 is the manual one, device 1 the CPU.
pub struct Session {
    pub manual: Arc<manual::Control>,
    _lock: MutexGuard<'static, ()>,
}

pub const MANUAL: u32 = 0;
pub const CPU: u32 = 1;

static LOCK: Mutex<()> = Mutex::new(());

/// Keeps other tests away; the runtime is not initialised.
pub fn alone() -> MutexGuard<'static, ()> {
    LOCK.lock().unwrap_or_else(|e| e.into_inner())
}

pub fn start() -> Session {
    let lock = alone();
    let manual = manual::Control::new();
    recal::register_backend(Arc::new(manual::Manual::new(&manual)));
    ok!(calInit());
    Session { manual, _lock: lock }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.manual.run_freely();
        // A test that shut down itself gets `NOT_INITIALIZED` here.
        let _ = call!(calShutdown());
    }
}

pub fn open(ordinal: u32) -> CALdevice {
    let mut device = 0;
    ok!(calDeviceOpen(&mut device, ordinal));
    assert_ne!(device, 0);
    device
}

pub fn context(device: CALdevice) -> CALcontext {
    let mut context = 0;
    ok!(calCtxCreate(&mut context, device));
    assert_ne!(context, 0);
    context
}

pub fn local_2d(device: CALdevice, width: u32, height: u32, format: recal::Format) -> CALresource {
    let mut resource = 0;
    ok!(calResAllocLocal2D(&mut resource, device, width, height, format as u32, 0));
    resource
}

pub fn remote_1d(mut device: CALdevice, width: u32, format: recal::Format) -> CALresource {
    let mut resource = 0;
    ok!(calResAllocRemote1D(&mut resource, &mut device, 1, width, format as u32, 0));
    resource
}

pub fn mem(context: CALcontext, resource: CALresource) -> CALmem {
    let mut mem = 0;
    ok!(calCtxGetMem(&mut mem, context, resource));
    mem
}

pub fn compile(text: &str, target: u32) -> Result<CALobject, CalResult> {
    let text = CString::new(text).unwrap();
    let mut object = std::ptr::null_mut();
    match call!(calclCompile(&mut object, 1, text.as_ptr(), target)) {
        CalResult::Ok => Ok(object),
        code => {
            assert!(object.is_null());
            Err(code)
        }
    }
}

/// Compiles and links for Cypress.
pub fn image(text: &str) -> CALimage {
    let mut object = compile(text, 8).unwrap_or_else(|_| panic!("{}", compiler_error()));
    let mut image = std::ptr::null_mut();
    ok!(calclLink(&mut image, &mut object, 1));
    ok!(calclFreeObject(object));
    image
}

pub fn load(context: CALcontext, text: &str) -> (CALmodule, CALfunc) {
    let image = image(text);
    let (mut module, mut func) = (0, 0);
    ok!(calModuleLoad(&mut module, context, image));
    ok!(calclFreeImage(image));
    ok!(calModuleGetEntry(&mut func, context, module, c"main".as_ptr()));
    (module, func)
}

pub fn name(context: CALcontext, module: CALmodule, name: &CStr) -> CALname {
    let mut handle = 0;
    ok!(calModuleGetName(&mut handle, context, module, name.as_ptr()));
    handle
}

pub fn bind(context: CALcontext, module: CALmodule, symbol: &CStr, resource: CALresource) -> CALmem {
    let mem = mem(context, resource);
    ok!(calCtxSetMem(context, name(context, module, symbol), mem));
    mem
}

/// Calls `use_it` with the mapped memory as words, and the pitch.
pub fn with_map<R>(resource: CALresource, words: usize, use_it: impl FnOnce(&mut [u32], u32) -> R) -> R {
    let (mut address, mut pitch) = (std::ptr::null_mut::<c_void>(), 0);
    ok!(calResMap(&mut address, &mut pitch, resource, 0));
    assert!(!address.is_null() && (address as usize).is_multiple_of(32));
    // SAFETY: the test asks for no more words than the resource has.
    let result = use_it(unsafe { std::slice::from_raw_parts_mut(address.cast(), words) }, pitch);
    ok!(calResUnmap(resource));
    result
}

/// Calls `use_it` with the elements of `size` columns and rows, one word each, without what lies between the rows.
pub fn with_rows<R>(resource: CALresource, size: [usize; 2], use_it: impl FnOnce(&mut [u32]) -> R) -> R {
    let [width, height] = size;
    let pitch = with_map(resource, 0, |_, pitch| pitch as usize);
    with_map(resource, pitch * height, |words, _| {
        let mut packed: Vec<u32> = words.chunks(pitch).flat_map(|row| &row[..width]).copied().collect();
        let result = use_it(&mut packed);
        for (to, from) in words.chunks_mut(pitch).zip(packed.chunks(width)) {
            to[..width].copy_from_slice(from);
        }
        result
    })
}

pub fn finish(context: CALcontext, event: CALevent) -> CalResult {
    loop {
        match call!(calCtxIsEventDone(context, event)) {
            CalResult::Pending => std::thread::yield_now(),
            done => return done,
        }
    }
}

pub fn run(context: CALcontext, func: CALfunc, width: u32, height: u32) -> CALevent {
    let mut event = 0;
    let domain = CALdomain { x: 0, y: 0, width, height };
    ok!(calCtxRunProgram(&mut event, context, func, &domain));
    assert_ne!(event, 0);
    event
}
