//! Memory of streams and buffers of the host, kept when they fall free.

use std::sync::{Arc, Weak};

use recal::{Event, Format, Mem, Place, Resource};
use recal_hal::sync::Mutex;

use super::CalDevice;
use crate::error::{Code, Failure, Result};
use crate::shape::Shape;

/// Memory of one member of a stream. It goes back to its device's pool when the last stream lets go of it.
#[derive(Clone)]
pub(crate) struct Buffer(Arc<Held>);

struct Held {
    memory: Memory,
    free: Weak<Free>,
}

/// Memory as the context sees it.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) resource: Resource,
    pub(crate) mem: Mem,
    line: bool,
}

type Free = Mutex<Vec<Memory>>;

impl Drop for Held {
    fn drop(&mut self) {
        // Work in flight keeps what it needs, and later work comes after it.
        if let Some(free) = self.free.upgrade() {
            free.lock().push(self.memory.clone());
        }
    }
}

impl Buffer {
    pub(crate) fn mem(&self) -> &Mem {
        &self.0.memory.mem
    }

    pub(crate) fn resource(&self) -> &Resource {
        &self.0.memory.resource
    }
}

/// A buffer of the host, busy until its event.
pub(crate) struct Staging {
    pub(crate) resource: Resource,
    pub(crate) mem: Mem,
    pub(crate) cached: bool,
    pub(crate) event: Option<Event>,
}

/// What is free.
#[derive(Default)]
pub(crate) struct Pool {
    free: Arc<Free>,
    staging: Vec<Staging>,
}

/// Asks the program's handler for memory; false if there is none or it gives up.
fn ask_handler(bytes: usize) -> bool {
    crate::capi::memory_handler().is_some_and(|handler| handler(bytes) != 0)
}

impl CalDevice {
    /// Memory for one member of a stream.
    pub(crate) fn allocate(&mut self, shape: &Shape, format: Format) -> Result<Buffer> {
        let line = shape.rank == 1 && !shape.translated;
        let fits = |m: &Memory| {
            m.line == line
                && m.resource.width() == shape.cells[0]
                && m.resource.height() == shape.cells[1]
                && m.resource.format() == format
        };
        let known = {
            let mut free = self.pool.free.lock();
            free.iter().position(fits).map(|at| free.swap_remove(at))
        };
        let memory = match known {
            Some(memory) => memory,
            None => self.new_memory(shape.cells, line, format, Place::Local)?,
        };
        Ok(Buffer(Arc::new(Held { memory, free: Arc::downgrade(&self.pool.free) })))
    }

    fn new_memory(&mut self, cells: [u32; 2], line: bool, format: Format, place: Place) -> Result<Memory> {
        let try_it = |device: &recal::Device| match line {
            true => device.allocate_1d(cells[0], format, place),
            false => device.allocate_2d(cells[0], cells[1], format, place),
        };
        let mut result = try_it(&self.device);
        if result.is_err() {
            // What is kept for later is let go first.
            self.pool.free.lock().clear();
            self.pool.staging.retain(|s| s.event.is_some());
            result = try_it(&self.device);
        }
        let bytes = cells[0] as usize * cells[1] as usize * format.bytes() as usize;
        while result.is_err() && ask_handler(bytes) {
            result = try_it(&self.device);
        }
        let failed = |e| Failure::cal(Code::Declaration, "memory of a stream", &e);
        let resource = result.map_err(failed)?;
        let mem = self.context.mem(&resource).map_err(failed)?;
        Ok(Memory { resource, mem, line })
    }

    /// A buffer of the host with the shape of a stream's memory; `cached` for reading results.
    pub(crate) fn staging(&mut self, resource: &Resource, cached: bool) -> Result<Staging> {
        let (cells, format) = ([resource.width(), resource.height()], resource.format());
        let idle = |s: &Staging| {
            s.cached == cached
                && s.resource.width() == cells[0]
                && s.resource.height() == cells[1]
                && s.resource.format() == format
                && s.event.as_ref().is_none_or(|e| e.is_done().unwrap_or(true))
        };
        if let Some(at) = self.pool.staging.iter().position(idle) {
            let mut staging = self.pool.staging.swap_remove(at);
            staging.event = None;
            return Ok(staging);
        }
        let place = if cached { Place::RemoteCached } else { Place::Remote };
        let memory = self.new_memory(cells, false, format, place)?;
        Ok(Staging { resource: memory.resource, mem: memory.mem, cached, event: None })
    }

    pub(crate) fn keep_staging(&mut self, staging: Staging) {
        self.pool.staging.push(staging);
    }
}
