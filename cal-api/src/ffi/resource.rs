//! Resources.

use std::ffi::c_void;

use super::boundary::Call;
use super::types::*;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::resource::{Flags, Place, Resource, Shape};

fn format(value: u32) -> Result<crate::Format> {
    crate::Format::from_value(value)
        .ok_or_else(|| Error::invalid(format!("format: {value} is no value of CALformat")))
}

fn flags(value: u32) -> Result<Flags> {
    let unknown = value & !(CAL_RESALLOC_GLOBAL_BUFFER | CAL_RESALLOC_CACHEABLE);
    if unknown != 0 {
        return Err(Error::invalid(format!("flags: {value:#x} has unknown bits {unknown:#x}")));
    }
    Ok(Flags { global_buffer: value & CAL_RESALLOC_GLOBAL_BUFFER != 0 })
}

fn local(call: &Call, device: u32, shape: Shape, flag_bits: u32) -> Result<(CALresource,)> {
    let flags = flags(flag_bits)?;
    let device = call.find(&call.process.devices, "dev", device)?;
    let resource = Resource::allocate(&[device], shape, Place::Local, flags)?;
    Ok((call.enter(&call.process.resources, resource)?,))
}

/// # Safety
/// `devices` is NULL or valid for reading `count` handles.
unsafe fn remote(
    call: &Call,
    devices: *const u32,
    count: u32,
    shape: Shape,
    flag_bits: u32,
) -> Result<(CALresource,)> {
    let flags = flags(flag_bits)?;
    if devices.is_null() || count == 0 {
        return Err(Error::invalid("dev, deviceCount: no device"));
    }
    let mut found: Vec<Device> = Vec::new();
    for index in 0..count as usize {
        // SAFETY: the caller provides `count` handles. Reading stops at the first bad one.
        let handle = unsafe { devices.add(index).read_unaligned() };
        let device = call.find(&call.process.devices, "dev", handle)?;
        if !found.contains(&device) {
            found.push(device);
        }
    }
    let cacheable = flag_bits & CAL_RESALLOC_CACHEABLE != 0;
    let place = if cacheable { Place::RemoteCached } else { Place::Remote };
    let resource = Resource::allocate(&found, shape, place, flags)?;
    Ok((call.enter(&call.process.resources, resource)?,))
}

/// # Safety
/// As [`Device::import`].
unsafe fn create(
    call: &Call,
    device: u32,
    memory: *mut c_void,
    shape: Shape,
    size: u32,
    flag_bits: u32,
) -> Result<(CALresource,)> {
    flags(flag_bits)?;
    let device = call.find(&call.process.devices, "dev", device)?;
    if memory.is_null() {
        return Err(Error::invalid("mem: NULL"));
    }
    let needed = Resource::pinned_bytes(&device, shape)?;
    if size != 0 && u64::from(size) < needed {
        return Err(Error::invalid(format!("size: {size} bytes, but the shape needs {needed}")));
    }
    let height = if shape.two_dimensional { shape.height } else { 0 };
    // SAFETY: the contract of this function.
    let resource = unsafe { device.import(memory.cast(), shape.width, height, shape.format) }?;
    Ok((call.enter(&call.process.resources, resource)?,))
}

boundary! {
    /// Allocates two-dimensional device memory.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calResAllocLocal2D(call; res: CALresource; dev: CALdevice, width: CALuint, height: CALuint, format_: CALformat, flags: CALresallocflags) {
        local(call, dev, Shape::rows(width, height, format(format_)?), flags)
    }

    /// Allocates two-dimensional host memory for one or several devices.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calResAllocRemote2D(call; res: CALresource; dev: *mut CALdevice, deviceCount: CALuint, width: CALuint, height: CALuint, format_: CALformat, flags: CALresallocflags) {
        // SAFETY: `dev` is NULL or valid for `deviceCount` handles by the contract of the function.
        unsafe { remote(call, dev, deviceCount, Shape::rows(width, height, format(format_)?), flags) }
    }

    /// Allocates one-dimensional device memory.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calResAllocLocal1D(call; res: CALresource; dev: CALdevice, width: CALuint, format_: CALformat, flags: CALresallocflags) {
        local(call, dev, Shape::line(width, format(format_)?), flags)
    }

    /// Allocates one-dimensional host memory for one or several devices.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calResAllocRemote1D(call; res: CALresource; dev: *mut CALdevice, deviceCount: CALuint, width: CALuint, format_: CALformat, flags: CALresallocflags) {
        // SAFETY: `dev` is NULL or valid for `deviceCount` handles by the contract of the function.
        unsafe { remote(call, dev, deviceCount, Shape::line(width, format(format_)?), flags) }
    }

    /// Frees a resource. Mems of it, bound or not, and work in flight keep the memory; a mapped address stays valid
    /// until then. With memory of the application (`calResCreate*`) the call waits for work that uses it, and later work with such
    /// a mem is refused.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calResFree(call; ; res: CALresource) {
        let resource = call.take(&call.process.resources, "res", res)?;
        if resource.is_pinned() {
            resource.give_back()?;
        }
        Ok(())
    }

    /// Maps a resource after waiting for all work that uses it. The pitch is in elements.
    /// Work submitted while it is mapped may use it.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calResMap(call; pPtr: *mut c_void, pitch: CALuint; res: CALresource, flags: CALuint) {
        let _ = flags;
        let resource = call.find(&call.process.resources, "res", res)?;
        let address = resource.map_raw()?;
        Ok((address.cast(), resource.pitch()))
    }

    /// Ends a map.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calResUnmap(call; ; res: CALresource) {
        call.find(&call.process.resources, "res", res)?.unmap_raw()
    }

    /// Extension `CAL_EXT_RES_CREATE`: a resource of the application's memory, two-dimensional. `size` 0 = as the
    /// shape needs.
    Runtime Init
    fn calResCreate2D(call; res: CALresource; dev: CALdevice, mem: *mut c_void, width: CALuint, height: CALuint, format_: CALformat, size: CALuint, flags: CALresallocflags) {
        // SAFETY: the caller keeps the memory valid until the resource is freed.
        unsafe { create(call, dev, mem, Shape::rows(width, height, format(format_)?), size, flags) }
    }

    /// Extension `CAL_EXT_RES_CREATE`: a resource of the application's memory, one-dimensional. `size` 0 = as the
    /// shape needs.
    Runtime Init
    fn calResCreate1D(call; res: CALresource; dev: CALdevice, mem: *mut c_void, width: CALuint, format_: CALformat, size: CALuint, flags: CALresallocflags) {
        // SAFETY: the caller keeps the memory valid until the resource is freed.
        unsafe { create(call, dev, mem, Shape::line(width, format(format_)?), size, flags) }
    }
}
