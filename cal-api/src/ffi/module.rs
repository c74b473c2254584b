//! Modules, functions, names.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::Arc;

use recal_hal::sync::Mutex;

use super::boundary::Call;
use super::state::Loaded;
use super::types::*;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::module::Name;

/// Longest name that is looked at.
const MAX_NAME: usize = 256;

/// # Safety
/// `text` is NULL or ends with NUL.
pub(super) unsafe fn text_at(argument: &str, text: *const c_char) -> Result<String> {
    if text.is_null() {
        return Err(Error::invalid(format!("{argument}: NULL")));
    }
    // SAFETY: not NULL; ends with NUL by the contract.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    Ok(String::from_utf8_lossy(&text[..text.len().min(MAX_NAME)]).into_owned())
}

fn module_of(call: &Call, context: &Context, handle: CALmodule) -> Result<Arc<Loaded>> {
    let loaded = call.find(&call.process.modules, "module", handle)?;
    if loaded.module.context() == context {
        Ok(loaded)
    } else {
        Err(Error::bad_handle(format!("module: {handle:#x} belongs to another context")))
    }
}

/// The name behind a handle, if its module belongs to the context.
pub(super) fn name_of(call: &Call, context: &Context, handle: CALname) -> Result<Name> {
    let name = call.find(&call.process.names, "name", handle)?;
    if name.module().context() == context {
        Ok(name)
    } else {
        Err(Error::bad_handle(format!("name: {handle:#x} belongs to another context")))
    }
}

boundary! {
    /// Loads the code that an image has for the device of the context. The image may be freed afterwards.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calModuleLoad(call; module: CALmodule; ctx: CALcontext, image: CALimage) {
        let context = call.context(ctx)?;
        // SAFETY: NULL or the address of an image by the contract of the function.
        let image = unsafe { super::image::image_at(image) }?;
        let module = context.load(&image)?;
        let loaded = Loaded { module, handles: Mutex::new(BTreeMap::new()) };
        Ok((call.enter(&call.process.modules, Arc::new(loaded))?,))
    }

    /// Unloads a module with its functions and names. Work in flight is still done.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calModuleUnload(call; ; ctx: CALcontext, module: CALmodule) {
        let context = call.context(ctx)?;
        module_of(call, &context, module)?;
        let loaded = call.take(&call.process.modules, "module", module)?;
        for (name, handle) in std::mem::take(&mut *loaded.handles.lock()) {
            if name.is_empty() {
                call.process.funcs.remove(handle);
            } else {
                call.process.names.remove(handle);
            }
        }
        Ok(())
    }

    /// The entry point: `main`.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calModuleGetEntry(call; func: CALfunc; ctx: CALcontext, module: CALmodule, procName: *const c_char) {
        let context = call.context(ctx)?;
        let loaded = module_of(call, &context, module)?;
        // SAFETY: NULL or NUL-terminated by the contract of the function.
        let name = unsafe { text_at("procName", procName) }?;
        if name != "main" {
            return Err(Error::failed(format!("procName: there is no `{name}`; kernels export `main`")));
        }
        let mut handles = loaded.handles.lock();
        if let Some(&handle) = handles.get("") {
            return Ok((handle,));
        }
        let handle = call.enter(&call.process.funcs, loaded.module.clone())?;
        handles.insert(String::new(), handle);
        Ok((handle,))
    }

    /// A symbol of the kernel: `i0`, `o0`, `cb0`, `uav0`, `g[]`, `s0`.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calModuleGetName(call; name: CALname; ctx: CALcontext, module: CALmodule, varName: *const c_char) {
        let context = call.context(ctx)?;
        let loaded = module_of(call, &context, module)?;
        // SAFETY: NULL or NUL-terminated by the contract of the function.
        let text = unsafe { text_at("varName", varName) }?;
        let mut handles = loaded.handles.lock();
        if !text.is_empty()
            && let Some(&handle) = handles.get(&text)
        {
            return Ok((handle,));
        }
        let handle = call.enter(&call.process.names, loaded.module.name(&text)?)?;
        handles.insert(text, handle);
        Ok((handle,))
    }

    /// Figures about a function.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calModuleGetFuncInfo(call; ; pInfo: *mut CALfuncInfo, ctx: CALcontext, module: CALmodule, func: CALfunc) {
        if pInfo.is_null() {
            return Err(Error::invalid("pInfo: NULL"));
        }
        let context = call.context(ctx)?;
        let loaded = module_of(call, &context, module)?;
        if call.find(&call.process.funcs, "func", func)? != loaded.module {
            return Err(Error::bad_handle(format!("func: {func:#x} belongs to another module")));
        }
        let info = loaded.module.info();
        // Evergreen: 256 registers for 64 threads of a SIMD, so as many waves as fit, at most 32.
        const GPRS: u32 = 256;
        const WAVES: u32 = 32;
        let waves = (GPRS / info.gprs.max(1)).clamp(1, WAVES);
        let value = CALfuncInfo {
            maxScratchRegsNeeded: info.scratch,
            numSharedGPRUser: info.shared_gprs,
            numSharedGPRTotal: info.shared_gprs,
            eCsSetupMode: 0,
            numThreadPerGroup: info.threads_per_group,
            numThreadPerGroupX: info.group[0],
            numThreadPerGroupY: info.group[1],
            numThreadPerGroupZ: info.group[2],
            totalNumThreadGroup: 0,
            numWavefrontPerSIMD: waves,
            isMaxNumWavePerSIMD: (waves == WAVES).into(),
            setBufferForNumGroup: 0,
            wavefrontSize: info.wavefront,
            numGPRsAvailable: GPRS,
            numGPRsUsed: info.gprs,
            LDSSizeAvailable: info.lds[0],
            LDSSizeUsed: info.lds[1],
            stackSizeAvailable: 512,
            stackSizeUsed: info.stack,
        };
        // SAFETY: not NULL, and valid for a CALfuncInfo by the contract of the function.
        unsafe { pInfo.write_unaligned(value) };
        Ok(())
    }
}
