//! Structures of `brook/capi.h`.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::kernel::Kernel;
use crate::stream::Handle;

/// `brook_member`
#[repr(C)]
#[allow(missing_docs)]
pub struct MemberInfo {
    pub scalar: c_uint,
    pub width: c_uint,
    pub offset: c_uint,
}

/// `brook_cpu_array`
#[repr(C)]
#[allow(missing_docs)]
pub struct CpuArray {
    pub data: *mut c_void,
    pub dims: [c_uint; 4],
    pub strides: [usize; 4],
}

/// `brook_cpu_call`
#[repr(C)]
#[allow(missing_docs)]
pub struct CpuCall {
    pub arrays: *const CpuArray,
    pub origin: [c_uint; 4],
    pub extent: [c_uint; 4],
    pub shape: [c_uint; 4],
    pub resize: c_int,
    pub group: c_uint,
    pub shared: *mut c_void,
    pub shared_bytes: c_uint,
}

/// `brook_cpu_kernel`
pub type CpuKernel = unsafe extern "C" fn(*const CpuCall, usize, usize);

/// `brook_argument`
#[repr(C)]
#[allow(missing_docs)]
pub struct ArgumentInfo {
    pub kind: c_int,
    pub stream: *const Handle,
    pub data: *const c_void,
    pub scalar: c_uint,
    pub width: c_uint,
    pub count: c_uint,
}

/// `brook_call`
#[repr(C)]
#[allow(missing_docs)]
pub struct CallInfo {
    pub name: *const c_char,
    pub cal: *const Kernel,
    pub cpu: Option<CpuKernel>,
    pub reduce: c_int,
    pub group: c_uint,
    pub shared: c_uint,
    pub arguments: *const ArgumentInfo,
    pub count: c_uint,
    pub offset: *const c_uint,
    pub size: *const c_uint,
}
