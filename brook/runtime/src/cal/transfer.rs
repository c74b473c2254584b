//! Host to stream and back.

use recal::Event;

use super::memory::Staging;
use super::{Buffer, CalDevice};
use crate::element::Element;
use crate::error::{Code, Failure, Result};

/// Results on their way out: copied to the program's memory when they are there.
pub(crate) struct Pending {
    parts: Vec<(usize, Staging)>,
    event: Option<Event>,
    element: Element,
    count: usize,
}

impl Pending {
    pub(crate) fn is_done(&self) -> Result<bool> {
        self.event.as_ref().map_or(Ok(true), CalDevice::is_done)
    }
}

/// Widths that pinned memory may have, in elements.
const PINNED_STEP: usize = 64;
/// What the address of pinned memory is a multiple of.
const PINNED_ADDRESS: usize = 64;

impl CalDevice {
    /// Copies host memory into the buffers of a stream. It may change as soon as this returns.
    pub(crate) fn read(&mut self, buffers: &[Buffer], element: &Element, host: &[u8]) -> Result<()> {
        let failed = |e: recal::Error| Failure::cal(Code::Read, "reading a stream", &e);
        for (member, buffer) in buffers.iter().enumerate() {
            let mut staging = self.staging(buffer.resource(), false)?;
            // Rows end where the width does, memory where the pitch does.
            let mut map = staging.resource.map::<u8>().map_err(failed)?;
            for (row, part) in
                map.rows_mut().zip(host.chunks(staging.resource.width() as usize * element.size))
            {
                element.pack(member, part, row);
            }
            drop(map);
            let event = self.context.copy(&staging.mem, buffer.mem()).map_err(failed)?;
            staging.event = Some(event);
            self.keep_staging(staging);
        }
        self.context.flush().map_err(failed)
    }

    /// Begins to copy the buffers of a stream out.
    pub(crate) fn begin_write(
        &mut self,
        buffers: &[Buffer],
        element: &Element,
        count: usize,
    ) -> Result<Pending> {
        let failed = |e: recal::Error| Failure::cal(Code::Write, "writing a stream", &e);
        let mut pending = Pending { parts: Vec::new(), event: None, element: element.clone(), count };
        for (member, buffer) in buffers.iter().enumerate() {
            let staging = self.staging(buffer.resource(), true)?;
            pending.event = Some(self.context.copy(buffer.mem(), &staging.mem).map_err(failed)?);
            pending.parts.push((member, staging));
        }
        self.context.flush().map_err(failed)?;
        Ok(pending)
    }

    /// Waits for results and copies them to the program's memory.
    pub(crate) fn end_write(&mut self, pending: Pending, host: &mut [u8]) -> Result<()> {
        let failed = |e: recal::Error| Failure::cal(Code::Write, "writing a stream", &e);
        if let Some(event) = &pending.event {
            event.wait().map_err(failed)?;
        }
        let host = &mut host[..pending.count * pending.element.size];
        for (member, staging) in pending.parts {
            let map = staging.resource.map::<u8>().map_err(failed)?;
            let length = staging.resource.width() as usize * pending.element.size;
            for (row, part) in map.rows().zip(host.chunks_mut(length)) {
                pending.element.unpack(member, row, part);
            }
            drop(map);
            self.keep_staging(staging);
        }
        Ok(())
    }

    /// Copies straight between the program's memory and a stream's, of `count` elements, if both can; false if they cannot.
    ///
    /// # Safety
    /// `address` is valid for reads, and for writes if `out`, of all elements of the stream until this returns.
    pub(crate) unsafe fn copy_pinned(
        &mut self,
        buffer: &Buffer,
        element: &Element,
        count: usize,
        address: *mut u8,
        out: bool,
    ) -> Result<bool> {
        let resource = buffer.resource();
        let m = &element.members[0];
        let fits = element.members.len() == 1
            && m.width != 3
            && m.bytes() == element.size
            && resource.width() as usize % PINNED_STEP == 0
            // The last row of elements that are stored row by row may have others, which the program's memory has not.
            && resource.width() as usize * resource.height() as usize == count
            && address as usize % PINNED_ADDRESS == 0;
        if !fits {
            return Ok(false);
        }
        let (width, height) = (resource.width(), resource.height());
        // SAFETY: the caller keeps the memory valid until this returns, and this returns when the copy is done.
        let pinned = unsafe { self.device.import(address, width, height, resource.format()) };
        let Ok(pinned) = pinned else { return Ok(false) };
        let code = if out { Code::Write } else { Code::Read };
        let failed = |e: recal::Error| Failure::cal(code, "copying pinned memory", &e);
        let mem = self.context.mem(&pinned).map_err(failed)?;
        let event =
            if out { self.context.copy(buffer.mem(), &mem) } else { self.context.copy(&mem, buffer.mem()) };
        event.and_then(|e| e.wait()).map_err(failed)?;
        Ok(true)
    }

    /// Copies streams of one shape.
    pub(crate) fn assign(&mut self, from: &[Buffer], to: &[Buffer]) -> Result<()> {
        let failed = |e: recal::Error| Failure::cal(Code::Assign, "copying a stream", &e);
        for (from, to) in from.iter().zip(to) {
            self.context.copy(from.mem(), to.mem()).map_err(failed)?;
        }
        self.context.flush().map_err(failed)
    }
}
