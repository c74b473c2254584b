//! Devices.

use super::types::*;
use crate::error::{Error, Result};

/// Attributes that programs compiled with older headers have: only these many bytes are written.
///
/// # Safety
/// `destination` is valid for writing `struct_size` bytes, which it begins with.
unsafe fn write_sized<T: Copy>(
    destination: *mut T,
    argument: &str,
    mut value: T,
    set_size: fn(&mut T, u32),
) -> Result<()> {
    if destination.is_null() {
        return Err(Error::invalid(format!("{argument}: NULL")));
    }
    // SAFETY: the structure begins with its size, set by the caller.
    let size = unsafe { destination.cast::<u32>().read_unaligned() };
    if size < 8 {
        return Err(Error::invalid(format!(
            "{argument}: struct_size is {size}; set it to sizeof *{argument} first"
        )));
    }
    set_size(&mut value, size);
    let bytes = size_of::<T>().min(size as usize);
    // SAFETY: the caller provides `size` bytes; `value` has at least `bytes`; both are plain data.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), destination.cast::<u8>(), bytes)
    };
    Ok(())
}

boundary! {
    /// Number of devices.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calDeviceGetCount(call; count: CALuint;) {
        Ok((call.process.runtime()?.devices().count() as u32,))
    }

    /// Target and limits of a device, which need not be open.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calDeviceGetInfo(call; ; info: *mut CALdeviceinfo, ordinal: CALuint) {
        if info.is_null() {
            return Err(Error::invalid("info: NULL"));
        }
        let runtime = call.process.runtime()?;
        let zero = CALdeviceinfo { target: 0, maxResource1DWidth: 0, maxResource2DWidth: 0, maxResource2DHeight: 0 };
        let found = runtime.info(ordinal);
        let value = found.as_ref().map_or(zero, |i| CALdeviceinfo {
            target: i.target,
            maxResource1DWidth: i.max_width_1d,
            maxResource2DWidth: i.max_width_2d,
            maxResource2DHeight: i.max_height_2d,
        });
        // SAFETY: not NULL, and valid for a CALdeviceinfo by the contract of the function.
        unsafe { info.write(value) };
        found.map(|_| ())
    }

    /// Facts about a device, which need not be open. As many bytes as `struct_size` says, which any generation of
    /// the headers may have set.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calDeviceGetAttribs(call; ; attribs: *mut CALdeviceattribs, ordinal: CALuint) {
        let runtime = call.process.runtime()?;
        let i = runtime.info(ordinal)?;
        let evergreen = i.target >= crate::target::CYPRESS;
        let value = CALdeviceattribs {
            struct_size: 0,
            target: i.target,
            localRAM: i.local_ram,
            uncachedRemoteRAM: i.uncached_remote_ram,
            cachedRemoteRAM: i.cached_remote_ram,
            engineClock: i.engine_clock,
            memoryClock: i.memory_clock,
            wavefrontSize: i.wavefront_size,
            numberOfSIMD: i.simds,
            doublePrecision: i.double_precision.into(),
            localDataShare: i.compute.into(),
            globalDataShare: evergreen.into(),
            globalGPR: i.compute.into(),
            computeShader: i.compute.into(),
            memExport: 1,
            pitch_alignment: crate::resource::PITCH_ALIGNMENT,
            surface_alignment: i.surface_alignment,
            numberOfUAVs: i.uavs,
            bUAVMemExport: (i.compute && !evergreen).into(),
            b3dProgramGrid: evergreen.into(),
            numberOfShaderEngines: i.shader_engines,
            targetRevision: 1,
            totalVisibleHeap: i.local_ram,
            totalInvisibleHeap: 0,
            totalDirectHeap: 0,
            totalCoherentHeap: 0,
            totalRemoteSharedHeap: i.uncached_remote_ram,
            totalCachedRemoteSharedHeap: i.cached_remote_ram,
        };
        // SAFETY: NULL or valid for `struct_size` bytes by the contract of the function.
        unsafe { write_sized(attribs, "attribs", value, |v, size| v.struct_size = size) }
    }

    /// Memory left on an open device. As many bytes as `struct_size` says.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calDeviceGetStatus(call; ; status: *mut CALdevicestatus, device: CALdevice) {
        let device = call.find(&call.process.devices, "device", device)?;
        let m = device.memory_status()?;
        let value = CALdevicestatus {
            struct_size: 0,
            availLocalRAM: m.local,
            availUncachedRemoteRAM: m.uncached_remote,
            availCachedRemoteRAM: m.cached_remote,
            availVisibleHeap: m.local,
            availInvisibleHeap: 0,
            availDirectHeap: 0,
            availCoherentHeap: 0,
            availRemoteSharedHeap: m.uncached_remote,
            availCachedRemoteSharedHeap: m.cached_remote,
            largestBlockVisibleHeap: m.local,
            largestBlockInvisibleHeap: 0,
            largestBlockRemoteHeap: m.uncached_remote,
            largestBlockCachedRemoteHeap: m.cached_remote,
            largestBlockDirectHeap: 0,
            largestBlockCoherentHeap: 0,
            largestBlockRemoteSharedHeap: m.uncached_remote,
            largestBlockCachedRemoteSharedHeap: m.cached_remote,
        };
        // SAFETY: NULL or valid for `struct_size` bytes by the contract of the function.
        unsafe { write_sized(status, "status", value, |v, size| v.struct_size = size) }
    }

    /// Opens a device. `ALREADY` if it is open.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calDeviceOpen(call; dev: CALdevice; ordinal: CALuint) {
        let device = call.process.runtime()?.open(ordinal)?;
        Ok((call.enter(&call.process.devices, device)?,))
    }

    /// Closes a device; its contexts and resources go with it, when the work on them that was submitted is done.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calDeviceClose(call; ; dev: CALdevice) {
        let process = call.process;
        let device = call.take(&process.devices, "dev", dev)?;
        let contexts = process.contexts.remove_where(|c| *c.device() == device);
        for context in &contexts {
            super::context::destroy(process, context);
        }
        let resources = process.resources.remove_where(|r| r.is_on(&device));
        // Work that was submitted is still done: what is mapped shows it, and memory of the application is the application's again.
        for resource in &resources {
            if let Err(e) = resource.wait_idle() {
                log::warn!("work in flight on a device that is closed: {e}");
            }
        }
        process.keep_mapped(&resources);
        device.close();
        Ok(())
    }
}
