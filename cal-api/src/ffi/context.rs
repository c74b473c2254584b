//! Contexts, mems, events.

use super::boundary::Call;
use super::state::{Process, bad_handle, process};
use super::types::*;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::handle::Kind;
use crate::mem::Mem;

/// The handle of an event of this context.
pub(super) fn event_handle(context: &Context, event: &Event) -> CALevent {
    process().events.handle(context.number(), event.tickets().1)
}

/// First and last ticket of the event behind a handle.
fn tickets(context: &Context, argument: &str, handle: CALevent) -> Result<(u64, u64)> {
    let ticket = process().events.ticket(context.number(), handle);
    match ticket.filter(|ticket| *ticket <= context.line().last()) {
        Some(ticket) => Ok((context.first_ticket(ticket), ticket)),
        None => Err(bad_handle(Kind::Event, argument, handle)),
    }
}

/// Drops what belongs to a context. Work in flight goes on.
pub(super) fn destroy(process: &Process, context: &Context) {
    if let Err(e) = context.flush() {
        log::warn!("work of a context that is destroyed: {e}");
    }
    let _names = process.names.remove_where(|n| n.module().context() == context);
    let _funcs = process.funcs.remove_where(|m| m.context() == context);
    let _modules = process.modules.remove_where(|m| m.module.context() == context);
    let _counters = process.counters.remove_where(|c| c.context() == context);
    for mem in process.mems.remove_where(|m| m.context() == context) {
        mem.release();
    }
    process.events.release(context.number());
}

/// The mem behind a handle, if it belongs to the context.
pub(super) fn mem_of(call: &Call, context: &Context, argument: &str, handle: CALmem) -> Result<Mem> {
    let mem = call.find(&call.process.mems, argument, handle)?;
    if mem.context() == context {
        Ok(mem)
    } else {
        Err(Error::bad_handle(format!("{argument}: {handle:#x} belongs to another context")))
    }
}

boundary! {
    /// Makes a context.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxCreate(call; ctx: CALcontext; dev: CALdevice) {
        let context = call.find(&call.process.devices, "dev", dev)?.create_context()?;
        Ok((call.enter(&call.process.contexts, context)?,))
    }

    /// Destroys a context with its modules and mems. Work that was submitted is still done.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxDestroy(call; ; ctx: CALcontext) {
        let context = call.take(&call.process.contexts, "ctx", ctx)?;
        destroy(call.process, &context);
        Ok(())
    }

    /// Makes a mem: a resource as the context sees it.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxGetMem(call; mem: CALmem; ctx: CALcontext, res: CALresource) {
        let context = call.context(ctx)?;
        let resource = call.find(&call.process.resources, "res", res)?;
        Ok((call.enter(&call.process.mems, context.mem(&resource)?)?,))
    }

    /// Releases a mem and unbinds it. Work that was submitted with it is still done.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxReleaseMem(call; ; ctx: CALcontext, mem: CALmem) {
        let context = call.context(ctx)?;
        mem_of(call, &context, "mem", mem)?;
        call.take(&call.process.mems, "mem", mem)?.release();
        Ok(())
    }

    /// Binds a mem to a name, in place of what was bound; mem 0 unbinds.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxSetMem(call; ; ctx: CALcontext, name: CALname, mem: CALmem) {
        let context = call.context(ctx)?;
        let name = super::module::name_of(call, &context, name)?;
        if mem == 0 {
            return name.unbind();
        }
        name.bind(&mem_of(call, &context, "mem", mem)?)
    }

    /// `OK` if the work of an event is done, also when asked again later; `PENDING` if not; `ERROR` if it failed.
    /// Starts what was submitted.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxIsEventDone(call; ; ctx: CALcontext, event: CALevent) {
        let context = call.context(ctx)?;
        let (first, last) = tickets(&context, "event", event)?;
        let done = context.line().is_done(first, last);
        context.observe();
        if done? { Ok(()) } else { Err(Error::pending()) }
    }

    /// Starts what was submitted; does not wait.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calCtxFlush(call; ; ctx: CALcontext) {
        call.context(ctx)?.flush()
    }

    /// Extension `CAL_PRIVATE_EXT_SYNC_OBJECT`: waits for events; `flags` 0 sleeps, 1 spins. Event 0 is no event.
    Runtime Init
    fn calCtxWaitForEvents(call; ; ctx: CALcontext, events: *mut CALevent, n: CALuint, flags: CALuint) {
        let context = call.context(ctx)?;
        if events.is_null() && n > 0 {
            return Err(Error::invalid("events: NULL"));
        }
        if flags > CAL_WAIT_POLLING {
            return Err(Error::invalid(format!("flags: {flags} is neither 0 (sleep) nor 1 (poll)")));
        }
        for index in 0..n as usize {
            // SAFETY: not NULL, and valid for `n` events by the contract of the function; reading stops at a bad one.
            let event = unsafe { events.add(index).read_unaligned() };
            if event == 0 {
                continue;
            }
            let (first, last) = tickets(&context, "events", event)?;
            if flags == CAL_WAIT_POLLING {
                while !context.line().is_done(first, last)? {
                    std::hint::spin_loop();
                }
            } else {
                context.line().wait(first, last)?;
            }
        }
        context.observe();
        Ok(())
    }
}
