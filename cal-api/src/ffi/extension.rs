//! Extensions: which there are, and their entry points.

use std::ffi::{c_char, c_void};

use super::types::*;
use super::{context, counter, module, resource, run, sampler};
use crate::error::{Error, Result};

/// Ids that are supported.
const SUPPORTED: [u32; 7] = [
    CAL_EXT_COUNTERS,
    CAL_EXT_DOMAIN_PARAMS,
    CAL_EXT_RES_CREATE,
    CAL_EXT_COMPUTE_SHADER,
    CAL_EXT_SAMPLER_PARAM,
    CAL_PRIVATE_EXT_SYNC_OBJECT,
    CAL_PRIVATE_EXT_ATOMIC_COUNTER,
];

/// The entry point of this name, whichever extension it belongs to: programs disagree about that.
fn find(name: &str) -> Option<*mut c_void> {
    macro_rules! entry_points {
        ($($($name:literal)|+ => $function:path,)*) => {
            match name {
                $($($name)|+ => Some($function as *const () as *mut c_void),)*
                _ => None,
            }
        };
    }
    entry_points! {
        "calCtxCreateCounter" => counter::calCtxCreateCounter,
        "calCtxDestroyCounter" => counter::calCtxDestroyCounter,
        "calCtxBeginCounter" => counter::calCtxBeginCounter,
        "calCtxEndCounter" => counter::calCtxEndCounter,
        "calCtxGetCounter" => counter::calCtxGetCounter,
        "calCtxRunProgramParams" => run::calCtxRunProgramParams,
        "calResCreate1D" => resource::calResCreate1D,
        "calResCreate2D" => resource::calResCreate2D,
        "calCtxRunProgramGrid" => run::calCtxRunProgramGrid,
        "calCtxRunProgramGridArray" => run::calCtxRunProgramGridArray,
        "calModuleGetFuncInfo" => module::calModuleGetFuncInfo,
        "calCtxSetSamplerParams" | "calCtxSetSamplerParameter" => sampler::calCtxSetSamplerParams,
        "calCtxGetSamplerParams" | "calCtxGetSamplerParameter" => sampler::calCtxGetSamplerParams,
        "calCtxWaitForEvents" => context::calCtxWaitForEvents,
        "calReadAtomicCounter" => counter::calReadAtomicCounter,
        "calWriteAtomicCounter" => counter::calWriteAtomicCounter,
    }
}

fn supported(extid: u32) -> Result<()> {
    match extid {
        id if SUPPORTED.contains(&id) => Ok(()),
        CAL_EXT_D3D9 | CAL_EXT_D3D10 => {
            Err(Error::unsupported(format!("extid: {extid:#x}: Direct3D is not available on this system")))
        }
        _ => Err(Error::unsupported(format!("extid: {extid:#x} is not supported"))),
    }
}

boundary! {
    /// `OK` if an extension is there.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calExtSupported(call; ; extid: CALextid) {
        let _ = call;
        supported(extid)
    }

    /// Version of an extension: 1.0.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calExtGetVersion(call; major: CALuint, minor: CALuint; extid: CALextid) {
        let _ = call;
        supported(extid)?;
        Ok((1, 0))
    }

    /// Address of an entry point; NULL on failure.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calExtGetProc(call; proc_: CALextproc; extid: CALextid, procname: *const c_char) {
        let _ = call;
        supported(extid)?;
        // SAFETY: NULL or NUL-terminated by the contract of the function.
        let name = unsafe { module::text_at("procname", procname) }?;
        let entry = find(&name);
        Ok((entry.ok_or_else(|| Error::unsupported(format!("procname: there is no `{name}`")))?,))
    }
}
