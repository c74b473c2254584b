//! Launches and copies.

use super::boundary::Call;
use super::context::{event_handle, mem_of};
use super::types::*;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::launch::{Domain, Grid};
use crate::module::Module;

/// More grids than this in one array are refused rather than read.
const MAX_GRIDS: u32 = 1 << 20;

fn func_of(call: &Call, context: &Context, handle: CALfunc) -> Result<Module> {
    let module = call.find(&call.process.funcs, "func", handle)?;
    if module.context() == context {
        Ok(module)
    } else {
        Err(Error::bad_handle(format!("func: {handle:#x} belongs to another context")))
    }
}

/// # Safety
/// `domain` is NULL or valid for reading.
unsafe fn domain_at(domain: *const CALdomain) -> Result<Domain> {
    if domain.is_null() {
        return Err(Error::invalid("domain: NULL"));
    }
    // SAFETY: not NULL; valid by the contract.
    let CALdomain { x, y, width, height } = unsafe { domain.read_unaligned() };
    Ok(Domain { x, y, width, height })
}

fn grid_of(call: &Call, context: &Context, grid: &CALprogramGrid) -> Result<(Module, Grid)> {
    let module = func_of(call, context, grid.func)?;
    let extent = |e: CALdomain3D| [e.width, e.height, e.depth];
    Ok((module, Grid { block: extent(grid.gridBlock), groups: extent(grid.gridSize) }))
}

fn params(params: &CALdomainparam) -> [crate::DomainParam; 8] {
    let corner = |v: CALvec4f| [v.x, v.y, v.z, v.w];
    let one = |p: CALparam| crate::DomainParam { ul: corner(p.ul), ll: corner(p.ll), lr: corner(p.lr) };
    let p = params;
    [p.param0, p.param1, p.param2, p.param3, p.param4, p.param5, p.param6, p.param7].map(one)
}

boundary! {
    /// Runs a pixel kernel over a rectangle. Returns before it is done.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxRunProgram(call; event: CALevent; ctx: CALcontext, func: CALfunc, domain: *const CALdomain) {
        let context = call.context(ctx)?;
        let module = func_of(call, &context, func)?;
        // SAFETY: NULL or valid by the contract of the function.
        let done = context.run(&module, unsafe { domain_at(domain) }?)?;
        Ok((event_handle(&context, &done),))
    }

    /// Extension `CAL_EXT_DOMAIN_PARAMS`: as `calCtxRunProgram`, with eight interpolated inputs.
    Runtime Init
    fn calCtxRunProgramParams(call; event: CALevent; ctx: CALcontext, func: CALfunc, domain: *const CALdomain, domain_params: *const CALdomainparam) {
        let context = call.context(ctx)?;
        let module = func_of(call, &context, func)?;
        if domain_params.is_null() {
            return Err(Error::invalid("params: NULL"));
        }
        // SAFETY: not NULL; valid by the contract of the function.
        let values = params(&unsafe { domain_params.read_unaligned() });
        // SAFETY: NULL or valid by the contract of the function.
        let done = context.run_with_params(&module, unsafe { domain_at(domain) }?, values)?;
        Ok((event_handle(&context, &done),))
    }

    /// Runs a compute kernel. Returns before it is done.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxRunProgramGrid(call; event: CALevent; ctx: CALcontext, pProgramGrid: *mut CALprogramGrid) {
        let context = call.context(ctx)?;
        if pProgramGrid.is_null() {
            return Err(Error::invalid("pProgramGrid: NULL"));
        }
        // SAFETY: not NULL; valid by the contract of the function.
        let (module, grid) = grid_of(call, &context, &unsafe { pProgramGrid.read_unaligned() })?;
        let done = context.run_grid(&module, grid)?;
        Ok((event_handle(&context, &done),))
    }

    /// Runs several grids one after the other; one event for all.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxRunProgramGridArray(call; event: CALevent; ctx: CALcontext, pGridArray: *mut CALprogramGridArray) {
        let context = call.context(ctx)?;
        if pGridArray.is_null() {
            return Err(Error::invalid("pGridArray: NULL"));
        }
        // SAFETY: not NULL; valid by the contract of the function.
        let array = unsafe { pGridArray.read_unaligned() };
        if array.gridArray.is_null() || array.num == 0 || array.num > MAX_GRIDS {
            return Err(Error::invalid(format!("pGridArray: {} grids at {:?}", array.num, array.gridArray)));
        }
        let mut grids = Vec::new();
        for index in 0..array.num as usize {
            // SAFETY: not NULL, and valid for `num` grids by the contract of the function; reading stops at a bad one.
            let grid = unsafe { array.gridArray.add(index).read_unaligned() };
            grids.push(grid_of(call, &context, &grid).map_err(|e| e.context(format_args!("grid {index}")))?);
        }
        let done = context.run_grids(&grids)?;
        context.remember_range(&done);
        Ok((event_handle(&context, &done),))
    }

    /// Copies a resource to another of the same format that is at least as large. Returns before it is done; mapped
    /// resources may take part.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calMemCopy(call; event: CALevent; ctx: CALcontext, srcMem: CALmem, dstMem: CALmem, flags: CALuint) {
        let _ = flags;
        let context = call.context(ctx)?;
        let source = mem_of(call, &context, "srcMem", srcMem)?;
        let destination = mem_of(call, &context, "dstMem", dstMem)?;
        let done = context.copy(&source, &destination)?;
        Ok((event_handle(&context, &done),))
    }
}
