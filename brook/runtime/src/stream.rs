//! Streams: extents, elements, memory on one device, and the errors of what was done with them.
//!
//! A part of a stream (`domain`) on the CPU is a view of the same memory. On CAL it has memory of its own; both know by version
//! numbers which of them changed last, so that the part fetches before it is read and the whole is updated after the part is
//! written.

use std::sync::Arc;

use recal_hal::sync::{Mutex, MutexGuard};

use crate::cal::{Buffer, CalDevice, Pending, Remap};
use crate::cpu::Block;
use crate::device::System;
use crate::element::Element;
use crate::error::{Code, Errors, Failure, Result};
use crate::shape::Shape;

/// A stream; what `brook_stream` of the C interface points to.
pub struct Handle {
    pub(crate) core: Arc<Core>,
    /// Only so many elements run (`execDomain`).
    pub(crate) exec: Option<u32>,
}

/// What handles of one stream share.
pub(crate) struct Core {
    pub(crate) device: usize,
    pub(crate) element: Element,
    pub(crate) shape: Shape,
    /// The stream that this is a part of, and where it begins there.
    pub(crate) whole: Option<(Arc<Core>, [u32; 4])>,
    /// Of the process that made it.
    system: &'static System,
    /// Why there is no such stream: then whatever is done with it fails.
    unmade: Option<Failure>,
    errors: Mutex<Errors>,
    pub(crate) state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Memory on a device of CAL, one for each member; none before it is needed.
    pub(crate) buffers: Vec<Buffer>,
    /// Memory of the CPU.
    pub(crate) block: Option<Arc<Block>>,
    /// Something was stored.
    pub(crate) written: bool,
    /// Was told that nothing was.
    pub(crate) warned: bool,
    /// Counts changes of the whole; of a part, the change that it has seen.
    version: u64,
    pending: Option<(Pending, Destination)>,
}

/// Memory of the program that results go to.
struct Destination(*mut u8, usize);

// SAFETY: it is only written while the stream's state is locked; the program keeps it valid until it asked for the end of the
// copy, which is the contract of asynchronous writes.
unsafe impl Send for Destination {}

impl Core {
    /// A stream without memory. One that cannot be is made nevertheless, with the error.
    pub(crate) fn new(device: usize, rank: usize, dims: &[u32], element: Element) -> Arc<Core> {
        let shape = Core::shape(device, rank, dims, &element);
        Arc::new(Core::of(device, element, shape))
    }

    fn shape(device: usize, rank: usize, dims: &[u32], element: &Element) -> Result<Shape> {
        let system = System::get();
        if !(1..=4).contains(&rank) || dims.len() < rank {
            let message = format!("a stream of {rank} dimensions; there are 1 to 4");
            return Err(Failure::new(Code::InvalidParameter, message));
        }
        let mut extents = [1; 4];
        extents[..rank].copy_from_slice(&dims[..rank]);
        if extents.contains(&0) {
            return Err(Failure::new(Code::InvalidParameter, "a stream without elements"));
        }
        let count = extents.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent as usize));
        let bytes = count.and_then(|count| count.checked_mul(element.size));
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            let message = format!("{:?} elements are more than memory can have", &extents[..rank]);
            return Err(Failure::new(Code::NotSupported, message));
        }
        if device == system.cpu() {
            return Ok(Shape { rank, dims: extents, cells: [1; 2], translated: false });
        }
        let device = system.cal(device)?;
        let device = device.lock();
        let doubles = element.members.iter().any(|m| m.scalar == crate::element::Scalar::Double);
        if doubles && !device.has_doubles() {
            return Err(Failure::new(Code::NotSupported, "the device has no doubles"));
        }
        Shape::new(rank, extents, device.limits())
    }

    fn of(device: usize, element: Element, shape: Result<Shape>) -> Core {
        let mut errors = Errors::default();
        let unmade = shape.as_ref().err().cloned();
        unmade.iter().for_each(|failure| errors.add(failure));
        let shape = shape.unwrap_or(Shape { rank: 1, dims: [1; 4], cells: [1; 2], translated: false });
        let (errors, state) = (Mutex::new(errors), Mutex::new(State::default()));
        Core { device, element, shape, whole: None, system: System::get(), unmade, errors, state }
    }

    /// A stream that only carries an error.
    fn wrong(of: &Core, failure: &Failure) -> Arc<Core> {
        Arc::new(Core::of(of.device, of.element.clone(), Err(failure.clone())))
    }

    /// Whether there is such a stream; `doing` is what is to be done with it.
    pub(crate) fn made(&self, doing: Code) -> Result<()> {
        match &self.unmade {
            None if self.is_inherited() => {
                let message =
                    "the stream is the parent's: a child of `fork` has none of its memory on a device";
                Err(Failure::new(doing, message))
            }
            None => Ok(()),
            Some(why) => Err(Failure::new(doing, format!("the stream could not be made: {why}"))),
        }
    }

    pub(crate) fn fail(&self, failure: &Failure) {
        self.errors.lock().add(failure);
    }

    pub(crate) fn errors(&self) -> MutexGuard<'_, Errors> {
        self.errors.lock()
    }

    fn note(&self, result: Result<()>) {
        if let Err(failure) = result {
            self.fail(&failure);
        }
    }

    pub(crate) fn is_cpu(&self) -> bool {
        self.device == self.system.cpu()
    }

    /// Its memory is of a device that the process which this one was forked from has open.
    fn is_inherited(&self) -> bool {
        !self.is_cpu() && !std::ptr::eq(self.system, System::get())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shape.count().saturating_mul(self.element.size)
    }

    /// The memory of the CPU: that of the whole, where it is a part.
    pub(crate) fn block(&self) -> Result<Arc<Block>> {
        if let Some((whole, _)) = &self.whole {
            return whole.block();
        }
        let mut state = self.state.lock();
        if let Some(block) = &state.block {
            return Ok(Arc::clone(block));
        }
        let block = Arc::new(Block::new(self.bytes())?);
        state.block = Some(Arc::clone(&block));
        Ok(block)
    }

    /// Where a part begins, and the strides of the whole, in elements.
    pub(crate) fn view(&self) -> (usize, [usize; 4]) {
        let (start, dims) =
            self.whole.as_ref().map_or(([0; 4], self.shape.dims), |(w, at)| (*at, w.shape.dims));
        let mut strides = [1; 4];
        for i in 1..4 {
            strides[i] = strides[i - 1] * dims[i - 1] as usize;
        }
        ((0..4).map(|i| start[i] as usize * strides[i]).sum(), strides)
    }

    /// The memory on a device of CAL, allocated if it is not there yet.
    pub(crate) fn buffers(&self, device: &mut CalDevice) -> Result<Vec<Buffer>> {
        let mut state = self.state.lock();
        if state.buffers.is_empty() {
            let mut buffers = Vec::new();
            for member in &self.element.members {
                buffers.push(device.allocate(&self.shape, member.format())?);
            }
            state.buffers = buffers;
        }
        Ok(state.buffers.clone())
    }

    /// Brings a part up to date.
    pub(crate) fn pull(&self, device: &mut CalDevice) -> Result<()> {
        let Some((whole, start)) = &self.whole else { return Ok(()) };
        let version = whole.state.lock().version;
        if self.state.lock().version == version {
            return Ok(());
        }
        let (from, to) = (whole.buffers(device)?, self.buffers(device)?);
        let remap = Remap::copy([0; 4], self.shape.dims, *start);
        device.remap((&from, &whole.shape), (&to, &self.shape), remap)?;
        let mut state = self.state.lock();
        state.version = version;
        state.written = true;
        Ok(())
    }

    /// Tells that something was stored; a part updates the whole.
    pub(crate) fn push(&self, device: &mut CalDevice) -> Result<()> {
        self.state.lock().written = true;
        let Some((whole, start)) = &self.whole else {
            self.state.lock().version += 1;
            return Ok(());
        };
        let (from, to) = (self.buffers(device)?, whole.buffers(device)?);
        let remap = Remap { low: *start, ..Remap::copy(*start, self.shape.dims, [0; 4]) };
        device.remap((&from, &self.shape), (&to, &whole.shape), remap)?;
        let mut outer = whole.state.lock();
        outer.version += 1;
        outer.written = true;
        let version = outer.version;
        drop(outer);
        self.state.lock().version = version;
        Ok(())
    }

    /// True if something was stored, here or in the whole.
    pub(crate) fn is_written(&self) -> bool {
        self.state.lock().written || self.whole.as_ref().is_some_and(|(w, _)| w.is_written())
    }

    pub(crate) fn mark_written(&self) {
        self.state.lock().written = true;
        if let Some((whole, _)) = &self.whole {
            whole.mark_written();
        }
    }

    /// Ends an asynchronous write.
    fn settle(&self, device: &mut CalDevice) -> Result<()> {
        let pending = self.state.lock().pending.take();
        let Some((pending, Destination(address, bytes))) = pending else { return Ok(()) };
        // SAFETY: the program keeps the memory of an asynchronous write valid until it has asked for its end, which is now.
        let host = unsafe { std::slice::from_raw_parts_mut(address, bytes) };
        device.end_write(pending, host)
    }

    /// Reads host memory into the stream.
    ///
    /// # Safety
    /// `from` is valid for reads of all elements.
    pub(crate) unsafe fn read(&self, from: *const u8, flags: &str) {
        if from.is_null() {
            return self.fail(&Failure::new(Code::InvalidParameter, "read: the pointer is NULL"));
        }
        if let Err(failure) = self.made(Code::Read) {
            return self.fail(&failure);
        }
        // SAFETY: the caller's promise.
        let host = unsafe { std::slice::from_raw_parts(from, self.bytes()) };
        if self.is_cpu() {
            let done = self.block().map(|block| block.store(self, host));
            self.mark_written();
            return self.note(done);
        }
        self.note(self.with_device(|device| {
            self.settle(device)?;
            let buffers = self.buffers(device)?;
            let pinned = flags.contains("nocopy")
                // SAFETY: the memory is valid until the call returns, which waits; it is only read.
                && unsafe { device.copy_pinned(&buffers[0], &self.element, self.shape.count(), from.cast_mut(), false) }?;
            if !pinned {
                device.read(&buffers, &self.element, host)?;
            }
            self.push(device)
        }));
    }

    /// Writes the stream to host memory.
    ///
    /// # Safety
    /// `to` is valid for writes of all elements; of an asynchronous write, until the stream was waited for.
    pub(crate) unsafe fn write(&self, to: *mut u8, flags: &str) {
        if to.is_null() {
            return self.fail(&Failure::new(Code::InvalidParameter, "write: the pointer is NULL"));
        }
        if let Err(failure) = self.made(Code::Write) {
            return self.fail(&failure);
        }
        // SAFETY: the caller's promise.
        let host = unsafe { std::slice::from_raw_parts_mut(to, self.bytes()) };
        if self.is_cpu() {
            return self.note(self.block().map(|block| block.fetch(self, host)));
        }
        self.note(self.with_device(|device| {
            self.settle(device)?;
            self.pull(device)?;
            let buffers = self.buffers(device)?;
            let pinned = flags.contains("nocopy")
                // SAFETY: the memory is valid until the call returns, which waits.
                && unsafe { device.copy_pinned(&buffers[0], &self.element, self.shape.count(), to, true) }?;
            if pinned {
                return Ok(());
            }
            let pending = device.begin_write(&buffers, &self.element, self.shape.count())?;
            if flags.contains("async") {
                self.state.lock().pending = Some((pending, Destination(to, self.bytes())));
                return Ok(());
            }
            device.end_write(pending, host)
        }));
    }

    fn with_device(&self, work: impl FnOnce(&mut CalDevice) -> Result<()>) -> Result<()> {
        let device = System::get().cal(self.device)?;
        work(&mut device.lock())
    }

    /// Takes over the elements of a stream of the same shape.
    pub(crate) fn assign(&self, from: &Core) {
        if let Err(failure) = self.made(Code::Assign).and_then(|()| from.made(Code::Assign)) {
            return self.fail(&failure);
        }
        if from.shape.rank != self.shape.rank
            || from.shape.dims != self.shape.dims
            || from.element != self.element
        {
            let failure =
                Failure::new(Code::InvalidParameter, "assign: the streams have different shapes or elements");
            return self.fail(&failure);
        }
        if !from.is_written() {
            return self.fail(&Failure::new(Code::Assign, "assign: nothing was ever stored in the source"));
        }
        if self.device == from.device && !self.is_cpu() {
            // Equal shapes lie equally, parts of other streams too.
            return self.note(self.with_device(|device| {
                self.settle(device)?;
                from.pull(device)?;
                let (a, b) = (from.buffers(device)?, self.buffers(device)?);
                device.assign(&a, &b)?;
                self.push(device)
            }));
        }
        let mut host = vec![0u8; self.bytes()];
        // SAFETY: the memory is as large as the streams, which have one shape.
        unsafe {
            from.write(host.as_mut_ptr(), "");
            self.read(host.as_ptr(), "");
        }
    }

    /// True if nothing is outstanding.
    pub(crate) fn is_sync(&self) -> bool {
        let pending = match &self.state.lock().pending {
            Some((pending, _)) => pending.is_done(),
            None => Ok(true),
        };
        match pending {
            Ok(false) => false,
            Ok(true) => {
                self.finish();
                true
            }
            Err(failure) => {
                self.fail(&failure);
                true
            }
        }
    }

    /// Waits for everything that was to be done with the stream.
    pub(crate) fn finish(&self) {
        if self.is_cpu() || self.is_inherited() {
            return;
        }
        self.note(self.with_device(|device| {
            self.settle(device)?;
            device.finish()
        }));
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if self.is_inherited() {
            // Threads that the parent has, and this process has not, may hold what the memory's end needs.
            std::mem::forget(std::mem::take(self.state.get_mut()));
        } else if self.state.get_mut().pending.is_some() {
            self.finish();
        }
    }
}

impl Handle {
    /// A part of the stream: from `start` up to, and without, `end`.
    pub(crate) fn domain(&self, corners: Option<([u32; 4], [u32; 4])>) -> Handle {
        let core = &self.core;
        let rank = core.shape.rank;
        let wrong = |message: &str| {
            let failure = Failure::new(Code::InvalidParameter, message);
            core.fail(&failure);
            Handle { core: Core::wrong(core, &failure), exec: None }
        };
        if let Err(failure) = core.made(Code::Domain) {
            core.fail(&failure);
            return Handle { core: Core::wrong(core, &failure), exec: None };
        }
        let Some((start, end)) = corners else {
            return wrong(
                "domain: the corners have another number of components than the stream has dimensions",
            );
        };
        let (mut extent, mut at) = ([1; 4], [0; 4]);
        for i in 0..rank {
            if start[i] >= end[i] || end[i] > core.shape.dims[i] {
                return wrong(&format!(
                    "domain: {} to {} of {} elements",
                    start[i], end[i], core.shape.dims[i]
                ));
            }
            extent[i] = end[i] - start[i];
            at[i] = start[i];
        }
        // Parts of parts are parts of the whole.
        let (whole, base) =
            core.whole.as_ref().map_or((Arc::clone(core), [0; 4]), |(w, b)| (Arc::clone(w), *b));
        let part = Core::new(core.device, rank, &extent[..rank], core.element.clone());
        if part.errors().is_set() {
            return Handle { core: part, exec: None };
        }
        let mut part =
            Arc::into_inner(part).unwrap_or_else(|| unreachable!("nobody else has the new stream"));
        part.whole = Some((whole, std::array::from_fn(|i| base[i] + at[i])));
        // What the whole has is not here yet.
        part.state.get_mut().version = u64::MAX;
        Handle { core: Arc::new(part), exec: None }
    }

    /// The same stream, of which only the first elements run.
    pub(crate) fn exec_domain(&self, count: u32) -> Handle {
        let core = &self.core;
        if core.shape.rank != 1 || count == 0 || count > core.shape.dims[0] {
            let message = format!("execDomain({count}): for streams of one dimension, up to their length");
            core.fail(&Failure::new(Code::InvalidParameter, message));
            return Handle { core: Arc::clone(core), exec: None };
        }
        Handle { core: Arc::clone(core), exec: Some(count) }
    }
}
