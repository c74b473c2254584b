//! The C interface: `brook/capi.h`.
//!
//! No panic leaves a function, NULL objects are taken and do nothing, and failures are noted on the streams concerned.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::device::System;
use crate::element::{Element, Member, Scalar};
use crate::error::{Code, Failure};
use crate::kernel::{Access, Entry, Kernel, Pass, Technique, Usage};
use crate::run::{Argument, Call, Role};
use crate::stream::{Core, Handle};

pub mod types;

use types::{ArgumentInfo, CallInfo, MemberInfo};

/// Runs the inside of a function; a panic is logged and gives `otherwise`.
fn boundary<T>(otherwise: T, inside: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(inside)).unwrap_or_else(|_| {
        log::error!("a panic inside libbrook");
        otherwise
    })
}

type MemoryHandler = extern "C" fn(usize) -> c_int;

static HANDLER: AtomicUsize = AtomicUsize::new(0);

/// The program's handler of failed allocations.
pub(crate) fn memory_handler() -> Option<MemoryHandler> {
    let address = HANDLER.load(Ordering::Acquire);
    // SAFETY: only addresses of such functions are stored, by `brook_set_memory_handler`.
    (address != 0).then(|| unsafe { std::mem::transmute::<usize, MemoryHandler>(address) })
}

/// Sets the handler of failed allocations.
#[unsafe(no_mangle)]
pub extern "C" fn brook_set_memory_handler(handler: Option<MemoryHandler>) {
    HANDLER.store(handler.map_or(0, |h| h as usize), Ordering::Release);
}

/// # Safety
/// A string of C, or NULL.
unsafe fn text<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("")
}

/// # Safety
/// An object of this interface, or NULL.
unsafe fn stream<'a>(pointer: *const Handle) -> Option<&'a Handle> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }
}

/// # Safety
/// Four numbers, or NULL.
unsafe fn four(pointer: *const c_uint) -> Option<[u32; 4]> {
    // SAFETY: the caller's promise.
    (!pointer.is_null()).then(|| unsafe { pointer.cast::<[u32; 4]>().read() })
}

fn export(handle: Handle) -> *const Handle {
    Arc::into_raw(Arc::new(handle))
}

/// A kernel without programs. It is kept until the process ends.
#[unsafe(no_mangle)]
pub extern "C" fn brook_kernel_new() -> *mut Kernel {
    boundary(std::ptr::null_mut(), || Box::into_raw(Box::default()))
}

/// Adds a technique.
///
/// # Safety
/// As `brook/capi.h` says: a kernel of [`brook_kernel_new`] that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_kernel_technique(kernel: *mut Kernel, translation: c_int) {
    // SAFETY: the caller's promise.
    if let Some(kernel) = unsafe { kernel.as_mut() } {
        kernel.techniques.push(Technique { translation: translation != 0, passes: Vec::new() });
    }
}

/// Adds a pass to the last technique.
///
/// # Safety
/// As [`brook_kernel_technique`]; strings of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_kernel_pass(
    kernel: *mut Kernel,
    name: *const c_char,
    il: *const c_char,
    compute: c_int,
) {
    // SAFETY: the caller's promise.
    let (kernel, name, image) = unsafe { (kernel.as_mut(), text(name), text(il)) };
    if let Some(technique) = kernel.and_then(|k| k.techniques.last_mut()) {
        technique.passes.push(Pass {
            name: name.to_owned(),
            image: image.to_owned(),
            compute: compute != 0,
            entries: Vec::new(),
        });
    }
}

/// Adds something bound to the last pass.
///
/// # Safety
/// As [`brook_kernel_technique`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_kernel_entry(
    kernel: *mut Kernel,
    kind: c_int,
    argument: c_uint,
    what: c_uint,
    access: c_int,
) {
    // SAFETY: the caller's promise.
    let pass =
        unsafe { kernel.as_mut() }.and_then(|k| k.techniques.last_mut()).and_then(|t| t.passes.last_mut());
    let Some(pass) = pass else { return };
    let (argument, member) = (argument as usize, what as usize);
    let access = if access == 0 { Access::Random } else { Access::Stream };
    pass.entries.push(match (kind, what) {
        (0, 0) => Entry::Constant(argument, Usage::User),
        (0, 1) => Entry::Constant(argument, Usage::StreamShape),
        (0, 3) => Entry::Constant(argument, Usage::ReductionFactor),
        (0, 5) => Entry::Constant(argument, Usage::Positions),
        (0, _) => Entry::Constant(argument, Usage::BufferShape),
        (1, _) => Entry::ConstArray(argument),
        (2, _) => Entry::Input(argument, member, access),
        _ => Entry::Output(argument, member, access),
    });
}

/// A stream. It has one reference, and its errors if it cannot be.
///
/// # Safety
/// As `brook/capi.h` says: `rank` numbers and `count` members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_new(
    rank: c_uint,
    dims: *const c_uint,
    members: *const MemberInfo,
    count: c_uint,
    size: c_uint,
) -> *const Handle {
    boundary(std::ptr::null(), || {
        if members.is_null() || count == 0 {
            return std::ptr::null();
        }
        // SAFETY: the caller's promise.
        let infos = unsafe { std::slice::from_raw_parts(members, count as usize) };
        let list: Option<Vec<Member>> = infos
            .iter()
            .map(|m| {
                let scalar = Scalar::from_value(m.scalar)?;
                let member = Member { scalar, width: m.width as usize, offset: m.offset as usize };
                let fits = (1..=4).contains(&m.width) && member.offset + member.bytes() <= size as usize;
                fits.then_some(member)
            })
            .collect();
        let Some(members) = list else { return std::ptr::null() };
        let dims = if dims.is_null() || rank > 4 {
            &[]
        } else {
            // SAFETY: the caller's promise.
            unsafe { std::slice::from_raw_parts(dims, rank as usize) }
        };
        let element = Element { members, size: size as usize };
        export(Handle { core: Core::new(System::get().current(), rank as usize, dims, element), exec: None })
    })
}

/// One reference more.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_retain(handle: *const Handle) {
    if !handle.is_null() {
        // SAFETY: the pointer came from `export`, and the caller holds a reference.
        unsafe { Arc::increment_strong_count(handle) };
    }
}

/// One reference less.
///
/// # Safety
/// As [`brook_stream_read`]; the reference is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_release(handle: *const Handle) {
    if !handle.is_null() {
        // SAFETY: the pointer came from `export`, and the caller gives its reference up.
        boundary((), || drop(unsafe { Arc::from_raw(handle) }));
    }
}

/// Reads host memory into a stream.
///
/// # Safety
/// A stream of this interface, or NULL; memory for all its elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_read(handle: *const Handle, from: *const c_void, flags: *const c_char) {
    // SAFETY: the caller's promise.
    boundary((), || unsafe {
        if let Some(handle) = stream(handle) {
            handle.core.read(from.cast(), text(flags));
        }
    });
}

/// Writes a stream to host memory.
///
/// # Safety
/// As [`brook_stream_read`]; after `async`, the memory stays valid until the stream was waited for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_write(handle: *const Handle, to: *mut c_void, flags: *const c_char) {
    // SAFETY: the caller's promise.
    boundary((), || unsafe {
        if let Some(handle) = stream(handle) {
            handle.core.write(to.cast(), text(flags));
        }
    });
}

/// Copies a stream.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_assign(to: *const Handle, from: *const Handle) {
    // SAFETY: the caller's promise.
    let (to, from) = unsafe { (stream(to), stream(from)) };
    boundary((), || match (to, from) {
        (Some(to), Some(from)) => to.core.assign(&from.core),
        (Some(to), None) => to.core.fail(&Failure::new(Code::InvalidParameter, "assign: the source is NULL")),
        (None, _) => {}
    });
}

/// A part of a stream; NULL corners give one with an error.
///
/// # Safety
/// As [`brook_stream_read`]; corners with a number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_domain(
    handle: *const Handle,
    start: *const c_uint,
    end: *const c_uint,
) -> *const Handle {
    boundary(std::ptr::null(), || {
        // SAFETY: the caller's promise.
        let Some(handle) = (unsafe { stream(handle) }) else { return std::ptr::null() };
        let corner = |pointer: *const c_uint| {
            let mut four = [0; 4];
            // SAFETY: the caller's promise.
            (0..handle.core.shape.rank).for_each(|i| four[i] = unsafe { pointer.add(i).read() });
            four
        };
        let corners = (!start.is_null() && !end.is_null()).then(|| (corner(start), corner(end)));
        export(handle.domain(corners))
    })
}

/// The same stream, of which only the first elements run.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_exec_domain(handle: *const Handle, count: c_uint) -> *const Handle {
    boundary(std::ptr::null(), || {
        // SAFETY: the caller's promise.
        unsafe { stream(handle) }.map_or(std::ptr::null(), |h| export(h.exec_domain(count)))
    })
}

/// 1 if nothing is outstanding.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_is_sync(handle: *const Handle) -> c_int {
    // SAFETY: the caller's promise.
    boundary(1, || unsafe { stream(handle) }.map_or(1, |h| c_int::from(h.core.is_sync())))
}

/// Waits.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_finish(handle: *const Handle) {
    // SAFETY: the caller's promise.
    let handle = unsafe { stream(handle) };
    boundary((), || {
        if let Some(handle) = handle {
            handle.core.finish();
        }
    });
}

/// The first error since the last call.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_error(handle: *const Handle) -> c_int {
    boundary(Code::Declaration as c_int, || {
        // SAFETY: the caller's promise.
        let Some(handle) = (unsafe { stream(handle) }) else { return Code::Declaration as c_int };
        if !handle.core.errors().is_set() {
            handle.core.finish();
        }
        handle.core.errors().take_first() as c_int
    })
}

/// The texts of the errors since the last call; valid up to the next one.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_error_log(handle: *const Handle) -> *const c_char {
    const NOTHING: &CStr = c"the stream could not be made";
    boundary(NOTHING.as_ptr(), || {
        // SAFETY: the caller's promise.
        unsafe { stream(handle) }.map_or(NOTHING.as_ptr(), |h| h.core.errors().show_log())
    })
}

/// Properties are for memory of graphics interfaces, of which there is none.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_property(
    handle: *const Handle,
    name: *const c_char,
    value: *mut c_void,
) {
    let _ = value;
    // SAFETY: the caller's promise.
    boundary((), || unsafe {
        if let Some(handle) = stream(handle) {
            let message = format!("`{}`: memory of graphics interfaces cannot be shared here", text(name));
            handle.core.fail(&Failure::new(Code::NotSupported, message));
        }
    });
}

/// Number of dimensions.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_rank(handle: *const Handle) -> c_uint {
    // SAFETY: the caller's promise.
    unsafe { stream(handle) }.map_or(0, |h| h.core.shape.rank as c_uint)
}

/// Extents, four of them.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_dims(handle: *const Handle) -> *const c_uint {
    // SAFETY: the caller's promise.
    unsafe { stream(handle) }.map_or(std::ptr::null(), |h| h.core.shape.dims.as_ptr())
}

/// Number of the stream's device.
///
/// # Safety
/// As [`brook_stream_read`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_stream_device(handle: *const Handle) -> c_uint {
    // SAFETY: the caller's promise.
    unsafe { stream(handle) }.map_or(0, |h| h.core.device as c_uint)
}

/// Devices of a type.
///
/// # Safety
/// A string of C; a place for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_devices(name: *const c_char, count: *mut c_uint) -> c_uint {
    boundary(0, || {
        // SAFETY: the caller's promise.
        let range = System::get().of_type(unsafe { text(name) });
        // SAFETY: the caller's promise.
        if let Some(count) = unsafe { count.as_mut() } {
            *count = range.len() as c_uint;
        }
        range.start as c_uint
    })
}

/// 1 of the CPU.
#[unsafe(no_mangle)]
pub extern "C" fn brook_device_is_cpu(device: c_uint) -> c_int {
    boundary(0, || c_int::from(device as usize == System::get().cpu()))
}

/// Makes a device the thread's; gives the one before.
#[unsafe(no_mangle)]
pub extern "C" fn brook_use_device(device: c_uint) -> c_uint {
    boundary(0, || System::get().set_current(device as usize) as c_uint)
}

/// Runs a kernel; 1 if it ran, 0 if its outputs are as they were and have an error.
///
/// # Safety
/// As `brook/capi.h` says: objects of this interface, and numbers where numbers are told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brook_run(call: *const CallInfo) -> c_int {
    boundary(0, || {
        // SAFETY: the caller's promise.
        let Some(call) = (unsafe { call.as_ref() }) else { return 0 };
        let infos: &[ArgumentInfo] = if call.arguments.is_null() {
            &[]
        } else {
            // SAFETY: the caller's promise.
            unsafe { std::slice::from_raw_parts(call.arguments, call.count as usize) }
        };
        let arguments = infos
            .iter()
            .map(|info| {
                let role = match info.kind {
                    0 => Role::Input,
                    1 => Role::Gather,
                    4 => Role::Output,
                    5 => Role::Scatter,
                    6 => Role::Reduce,
                    _ => {
                        let scalar = Scalar::from_value(info.scalar).unwrap_or(Scalar::Float);
                        let width = (info.width as usize).clamp(1, 4);
                        let length = scalar.bytes() * width * info.count as usize;
                        if info.data.is_null() {
                            return Argument::Stream(Role::Input, None);
                        }
                        // SAFETY: the caller's promise: so many numbers.
                        let bytes = unsafe { std::slice::from_raw_parts(info.data.cast::<u8>(), length) };
                        return Argument::Constant { scalar, width, array: info.kind == 3, bytes };
                    }
                };
                // SAFETY: the caller's promise.
                Argument::Stream(role, unsafe { stream(info.stream) })
            })
            .collect();
        // SAFETY: the caller's promise.
        let (name, cal, offset, size) =
            unsafe { (text(call.name), call.cal.as_ref(), four(call.offset), four(call.size)) };
        let group = (call.group > 0).then_some((call.group, call.shared));
        let call =
            Call { name, cal, cpu: call.cpu, reduce: call.reduce != 0, group, arguments, offset, size };
        c_int::from(call.run())
    })
}
