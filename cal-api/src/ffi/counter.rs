//! Extensions `CAL_EXT_COUNTERS` and `CAL_PRIVATE_EXT_ATOMIC_COUNTER`.

use super::boundary::Call;
use super::types::*;
use crate::counter::{Counter, CounterType};
use crate::error::{Error, Result};

fn counter_of(call: &Call, ctx: CALcontext, handle: CALcounter) -> Result<Counter> {
    let context = call.context(ctx)?;
    let counter = call.find(&call.process.counters, "counter", handle)?;
    if *counter.context() == context {
        Ok(counter)
    } else {
        Err(Error::bad_handle(format!("counter: {handle:#x} belongs to another context")))
    }
}

boundary! {
    /// Makes a counter: idle fraction (measured) or input cache hit rate (modelled).
    Runtime Init
    fn calCtxCreateCounter(call; counter: CALcounter; ctx: CALcontext, kind: CALcountertype) {
        let context = call.context(ctx)?;
        let kind = match kind {
            CAL_COUNTER_IDLE => CounterType::Idle,
            CAL_COUNTER_INPUT_CACHE_HIT_RATE => CounterType::InputCacheHitRate,
            other => return Err(Error::invalid(format!("type: {other} is no value of CALcountertype"))),
        };
        Ok((call.enter(&call.process.counters, context.create_counter(kind))?,))
    }

    /// Destroys a counter.
    Runtime Init
    fn calCtxDestroyCounter(call; ; ctx: CALcontext, counter: CALcounter) {
        counter_of(call, ctx, counter)?;
        call.take(&call.process.counters, "counter", counter).map(|_| ())
    }

    /// Starts measuring.
    Runtime Init
    fn calCtxBeginCounter(call; ; ctx: CALcontext, counter: CALcounter) {
        counter_of(call, ctx, counter)?.begin()
    }

    /// Ends measuring after what was submitted so far.
    Runtime Init
    fn calCtxEndCounter(call; ; ctx: CALcontext, counter: CALcounter) {
        counter_of(call, ctx, counter)?.end()
    }

    /// The fraction, 0 to 1; waits for the work.
    Runtime Init
    fn calCtxGetCounter(call; result: CALfloat; ctx: CALcontext, counter: CALcounter) {
        Ok((counter_of(call, ctx, counter)?.value()?,))
    }
}

// The arguments of these two are in another order than everywhere else: outputs last.
boundary! {
    /// Reads the counter that appends to and consumes from a UAV; waits for work in flight.
    Runtime Init
    fn calReadAtomicCounter(call; ; dev: CALdevice, index: CALuint, value: *mut CALuint) {
        let device = call.find(&call.process.devices, "dev", dev)?;
        if value.is_null() {
            return Err(Error::invalid("value: NULL"));
        }
        let counter = device.atomic_counter(index)?;
        // SAFETY: not NULL; valid for writing by the contract of the function.
        unsafe { value.write_unaligned(counter) };
        Ok(())
    }

    /// Writes the counter that appends to and consumes from a UAV; waits for work in flight.
    Runtime Init
    fn calWriteAtomicCounter(call; ; dev: CALdevice, index: CALuint, value: CALuint) {
        let device = call.find(&call.process.devices, "dev", dev)?;
        device.set_atomic_counter(index, value)
    }
}
