//! The back end on CAL: memory, programs and launches of one device.
//!
//! A device has one context, whose queue works in order: what is submitted later sees what came before. So nothing here waits
//! but reading results out. Memory and host buffers that nobody uses are kept and used again.

pub(crate) mod launch;
mod memory;
mod program;
pub(crate) mod reduce;
mod remap;
mod transfer;

use std::collections::HashMap;

use recal::{Context, Device, Event, Runtime};

use crate::error::{Code, Failure, Result};
use crate::shape::Limits;
pub(crate) use launch::{Bound, Rectangle};
pub(crate) use memory::Buffer;
use memory::Pool;
use program::Program;
pub(crate) use remap::Remap;
pub(crate) use transfer::Pending;

/// An open device.
pub(crate) struct CalDevice {
    device: Device,
    context: Context,
    pool: Pool,
    programs: HashMap<(usize, usize, usize), Program>,
    remap: Option<Program>,
}

impl CalDevice {
    pub(crate) fn open(runtime: &Runtime, ordinal: u32) -> Result<CalDevice> {
        let failed = |e| Failure::cal(Code::Declaration, "opening a device", &e);
        let device = runtime.open(ordinal).map_err(failed)?;
        let context = device.create_context().map_err(failed)?;
        Ok(CalDevice { device, context, pool: Pool::default(), programs: HashMap::new(), remap: None })
    }

    pub(crate) fn limits(&self) -> Limits {
        let info = self.device.info();
        Limits { width_1d: info.max_width_1d, width_2d: info.max_width_2d, height_2d: info.max_height_2d }
    }

    pub(crate) fn has_doubles(&self) -> bool {
        self.device.info().double_precision
    }

    pub(crate) fn has_groups(&self) -> bool {
        self.device.info().compute
    }

    /// Waits for everything submitted.
    pub(crate) fn finish(&self) -> Result<()> {
        self.context.finish().map_err(|e| Failure::cal(Code::Kernel, "waiting", &e))
    }

    /// An event behind everything submitted so far, if the queue gives one.
    pub(crate) fn is_done(event: &Event) -> Result<bool> {
        event.is_done().map_err(|e| Failure::cal(Code::Kernel, "a kernel", &e))
    }
}
