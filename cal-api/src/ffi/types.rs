//! The types of `cal.h`, `calcl.h`, `cal_ext.h` and `cal_ext_counter.h` with their historical layouts.

use std::ffi::{c_char, c_void};

/// Device handle.
pub type CALdevice = u32;
/// Context handle.
pub type CALcontext = u32;
/// Resource handle.
pub type CALresource = u32;
/// Mem handle.
pub type CALmem = u32;
/// Function handle.
pub type CALfunc = u32;
/// Name handle.
pub type CALname = u32;
/// Module handle.
pub type CALmodule = u32;
/// Event handle; 0 = no event.
pub type CALevent = u32;
/// Counter handle.
pub type CALcounter = u32;
/// Unsigned integer.
pub type CALuint = u32;
/// A value of an enum of the headers; any value may come from C. So for those that follow, which have their own names
/// for who reads a trace.
pub type CALenum = u32;
/// Storage format of a resource.
pub type CALformat = CALenum;
/// Device that code is made for.
pub type CALtarget = CALenum;
/// Language of a kernel.
pub type CALlanguage = CALenum;
/// Extension.
pub type CALextid = CALenum;
/// Flags of an allocation.
pub type CALresallocflags = CALenum;
/// Parameter of a sampler.
pub type CALsamplerParameter = CALenum;
/// Kind of a counter.
pub type CALcountertype = CALenum;
/// Float.
pub type CALfloat = f32;
/// Boolean, 0 or 1.
pub type CALboolean = u32;
/// Function pointer from `calExtGetProc`.
pub type CALextproc = *mut c_void;
/// Object: a `malloc` block that begins with an ELF header.
pub type CALobject = *mut CALobjectRec;
/// Image: a `malloc` block that begins with an ELF header.
pub type CALimage = *mut CALimageRec;
/// Receives a listing line by line.
pub type CALLogFunction = Option<unsafe extern "C-unwind" fn(*const c_char)>;

/// Opaque.
#[repr(C)]
pub struct CALobjectRec {
    _opaque: [u8; 0],
}

/// Opaque.
#[repr(C)]
pub struct CALimageRec {
    _opaque: [u8; 0],
}

/// Value that an output has after a failure.
pub(super) trait Zero {
    const ZERO: Self;
}

impl Zero for u32 {
    const ZERO: u32 = 0;
}

impl Zero for f32 {
    const ZERO: f32 = 0.0;
}

impl<T> Zero for *mut T {
    const ZERO: *mut T = std::ptr::null_mut();
}

macro_rules! structs {
    ($(
        $(#[$meta:meta])*
        $name:ident { $($field:ident: $type:ty,)* }
    )*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, PartialEq)]
            #[allow(missing_docs)]
            pub struct $name { $(pub $field: $type,)* }
        )*

        /// (struct, size, [(member, offset)]) of every struct, for the comparison with the headers.
        pub(super) fn layouts() -> Vec<(&'static str, usize, Vec<(&'static str, usize)>)> {
            vec![$((
                stringify!($name),
                size_of::<$name>(),
                vec![$((stringify!($field), std::mem::offset_of!($name, $field))),*],
            )),*]
        }
    };
}

structs! {
    /// Limits of a device.
    CALdeviceinfo {
        target: CALtarget,
        maxResource1DWidth: CALuint,
        maxResource2DWidth: CALuint,
        maxResource2DHeight: CALuint,
    }

    /// Facts about a device; the caller sets `struct_size`.
    CALdeviceattribs {
        struct_size: CALuint,
        target: CALtarget,
        localRAM: CALuint,
        uncachedRemoteRAM: CALuint,
        cachedRemoteRAM: CALuint,
        engineClock: CALuint,
        memoryClock: CALuint,
        wavefrontSize: CALuint,
        numberOfSIMD: CALuint,
        doublePrecision: CALboolean,
        localDataShare: CALboolean,
        globalDataShare: CALboolean,
        globalGPR: CALboolean,
        computeShader: CALboolean,
        memExport: CALboolean,
        pitch_alignment: CALuint,
        surface_alignment: CALuint,
        numberOfUAVs: CALuint,
        bUAVMemExport: CALboolean,
        b3dProgramGrid: CALboolean,
        numberOfShaderEngines: CALuint,
        targetRevision: CALuint,
        totalVisibleHeap: CALuint,
        totalInvisibleHeap: CALuint,
        totalDirectHeap: CALuint,
        totalCoherentHeap: CALuint,
        totalRemoteSharedHeap: CALuint,
        totalCachedRemoteSharedHeap: CALuint,
    }

    /// Memory left on a device; the caller sets `struct_size`.
    CALdevicestatus {
        struct_size: CALuint,
        availLocalRAM: CALuint,
        availUncachedRemoteRAM: CALuint,
        availCachedRemoteRAM: CALuint,
        availVisibleHeap: CALuint,
        availInvisibleHeap: CALuint,
        availDirectHeap: CALuint,
        availCoherentHeap: CALuint,
        availRemoteSharedHeap: CALuint,
        availCachedRemoteSharedHeap: CALuint,
        largestBlockVisibleHeap: CALuint,
        largestBlockInvisibleHeap: CALuint,
        largestBlockRemoteHeap: CALuint,
        largestBlockCachedRemoteHeap: CALuint,
        largestBlockDirectHeap: CALuint,
        largestBlockCoherentHeap: CALuint,
        largestBlockRemoteSharedHeap: CALuint,
        largestBlockCachedRemoteSharedHeap: CALuint,
    }

    /// Rectangle of a pixel kernel.
    CALdomain {
        x: CALuint,
        y: CALuint,
        width: CALuint,
        height: CALuint,
    }

    /// Three-dimensional extent.
    CALdomain3D {
        width: CALuint,
        height: CALuint,
        depth: CALuint,
    }

    /// Launch of a compute kernel.
    CALprogramGrid {
        func: CALfunc,
        gridBlock: CALdomain3D,
        gridSize: CALdomain3D,
        flags: CALuint,
    }

    /// Several launches.
    CALprogramGridArray {
        gridArray: *mut CALprogramGrid,
        num: CALuint,
        flags: CALuint,
    }

    /// Figures about a kernel, in the layout of the last headers.
    CALfuncInfo {
        maxScratchRegsNeeded: CALuint,
        numSharedGPRUser: CALuint,
        numSharedGPRTotal: CALuint,
        eCsSetupMode: CALboolean,
        numThreadPerGroup: CALuint,
        numThreadPerGroupX: CALuint,
        numThreadPerGroupY: CALuint,
        numThreadPerGroupZ: CALuint,
        totalNumThreadGroup: CALuint,
        numWavefrontPerSIMD: CALuint,
        isMaxNumWavePerSIMD: CALboolean,
        setBufferForNumGroup: CALboolean,
        wavefrontSize: CALuint,
        numGPRsAvailable: CALuint,
        numGPRsUsed: CALuint,
        LDSSizeAvailable: CALuint,
        LDSSizeUsed: CALuint,
        stackSizeAvailable: CALuint,
        stackSizeUsed: CALuint,
    }

    /// Four floats.
    CALvec4f {
        x: CALfloat,
        y: CALfloat,
        z: CALfloat,
        w: CALfloat,
    }

    /// An interpolated value at three corners.
    CALparam {
        ul: CALvec4f,
        ll: CALvec4f,
        lr: CALvec4f,
    }

    /// The eight interpolated values.
    CALdomainparam {
        param0: CALparam,
        param1: CALparam,
        param2: CALparam,
        param3: CALparam,
        param4: CALparam,
        param5: CALparam,
        param6: CALparam,
        param7: CALparam,
    }
}

macro_rules! constants {
    ($($(#[$meta:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$meta])* #[allow(missing_docs)] pub const $name: u32 = $value;)*

        /// (enumerator, value) of every constant that this side uses, for the comparison with the headers.
        pub(super) const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

constants! {
    CAL_RESALLOC_GLOBAL_BUFFER = 1;
    CAL_RESALLOC_CACHEABLE = 2;
    CAL_LANGUAGE_IL = 1;
    CAL_PROGRAM_TYPE_PS = 0;
    CAL_PROGRAM_TYPE_CS = 1;
    CALCL_EXT_XXXX = 0x1001;
    CAL_EXT_D3D9 = 0x1001;
    CAL_EXT_RESERVED = 0x1002;
    CAL_EXT_D3D10 = 0x1003;
    CAL_EXT_COUNTERS = 0x1004;
    CAL_EXT_DOMAIN_PARAMS = 0x1005;
    CAL_EXT_RES_CREATE = 0x1006;
    CAL_EXT_COMPUTE_SHADER = 0x1007;
    CAL_EXT_SAMPLER_PARAM = 0x1008;
    CAL_PRIVATE_EXT_SYNC_OBJECT = 0x8009;
    CAL_PRIVATE_EXT_ATOMIC_COUNTER = 0x8011;
    CAL_WAIT_LOW_CPU_UTILIZATION = 0;
    CAL_WAIT_POLLING = 1;
    CAL_COUNTER_IDLE = 0;
    CAL_COUNTER_INPUT_CACHE_HIT_RATE = 1;
    CAL_MAX_ATOMIC_COUNTER = 11;
    CAL_SAMPLER_PARAM_DEFAULT = 0;
    CAL_SAMPLER_PARAM_MIN_FILTER = 1;
    CAL_SAMPLER_PARAM_MAG_FILTER = 2;
    CAL_SAMPLER_PARAM_WRAP_S = 3;
    CAL_SAMPLER_PARAM_WRAP_T = 4;
    CAL_SAMPLER_PARAM_WRAP_R = 5;
    CAL_SAMPLER_PARAM_BORDER_COLOR = 6;
    CAL_SAMPLER_MIN_LINEAR = 0;
    CAL_SAMPLER_MIN_NEAREST = 1;
    CAL_SAMPLER_MAG_NEAREST = 0;
    CAL_SAMPLER_MAG_LINEAR = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes and a spread of offsets as the reference lists them for x86-64 Linux; elsewhere pointers may be shorter.
    #[test]
    fn layouts_are_the_historical_ones() {
        let all = layouts();
        let size = |name| all.iter().find(|l| l.0 == name).unwrap().1;
        let offset = |name, member| {
            let layout = all.iter().find(|l| l.0 == name).unwrap();
            layout.2.iter().find(|m| m.0 == member).unwrap().1
        };
        for (name, bytes) in [
            ("CALdeviceinfo", 16),
            ("CALdeviceattribs", 112),
            ("CALdevicestatus", 72),
            ("CALdomain", 16),
            ("CALdomain3D", 12),
            ("CALprogramGrid", 32),
            ("CALprogramGridArray", 8 + size_of::<usize>()),
            ("CALfuncInfo", 76),
            ("CALvec4f", 16),
            ("CALparam", 48),
            ("CALdomainparam", 384),
        ] {
            assert_eq!(size(name), bytes, "{name}");
        }
        for (name, member, at) in [
            ("CALdeviceattribs", "surface_alignment", 64),
            ("CALdeviceattribs", "b3dProgramGrid", 76),
            ("CALdeviceattribs", "targetRevision", 84),
            ("CALdeviceattribs", "totalCachedRemoteSharedHeap", 108),
            ("CALdevicestatus", "availVisibleHeap", 16),
            ("CALdevicestatus", "largestBlockCachedRemoteSharedHeap", 68),
            ("CALprogramGrid", "gridBlock", 4),
            ("CALprogramGrid", "gridSize", 16),
            ("CALprogramGrid", "flags", 28),
            ("CALprogramGridArray", "num", size_of::<usize>()),
            ("CALprogramGridArray", "flags", size_of::<usize>() + 4),
            ("CALfuncInfo", "numThreadPerGroupX", 20),
            ("CALfuncInfo", "totalNumThreadGroup", 32),
            ("CALfuncInfo", "numWavefrontPerSIMD", 36),
            ("CALfuncInfo", "wavefrontSize", 48),
            ("CALfuncInfo", "stackSizeUsed", 72),
            ("CALparam", "ll", 16),
            ("CALparam", "lr", 32),
            ("CALdomainparam", "param7", 336),
        ] {
            assert_eq!(offset(name, member), at, "{name}.{member}");
        }
    }
}
