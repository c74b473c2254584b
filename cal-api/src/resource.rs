//! Resources: memory with a shape and a format.
//!
//! The pitch is the width rounded up to [`PITCH_ALIGNMENT`] elements; of the application's own memory it is the width.
//! Sizes are rounded up to whole pages, so that the slack which programs expect after the last row is there. A resource
//! remembers which queues used it last: mapping waits for them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use recal_hal::sync::Mutex;
use recal_hal::{Format, Heap, Memory, MemoryRequest, Surface, Ticket};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::line::Line;

const PAGE: u64 = 4096;

/// Elements that pitches are multiples of. Programs of the time count on it: they end rows with whole lines of 64 bytes,
/// or compute the pitch by themselves.
pub(crate) const PITCH_ALIGNMENT: u32 = 64;

/// Where a resource lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Device memory.
    Local,
    /// Host memory, fast to write on the host.
    Remote,
    /// Host memory, fast to read on the host (`CAL_RESALLOC_CACHEABLE`).
    RemoteCached,
}

impl Place {
    fn heap(self) -> Heap {
        match self {
            Place::Local => Heap::Local,
            Place::Remote => Heap::Remote,
            Place::RemoteCached => Heap::RemoteCached,
        }
    }
}

/// What else was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// `CAL_RESALLOC_GLOBAL_BUFFER`: a 1D resource is limited by memory only.
    pub(crate) global_buffer: bool,
}

/// Extent and element format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) two_dimensional: bool,
    pub(crate) format: Format,
}

/// Elements from one row to the next, and the bytes of all rows.
#[derive(Clone, Copy)]
struct Layout {
    pitch: u32,
    bytes: u64,
}

impl Shape {
    pub(crate) fn line(width: u32, format: Format) -> Self {
        Self { width, height: 1, two_dimensional: false, format }
    }

    pub(crate) fn rows(width: u32, height: u32, format: Format) -> Self {
        Self { width, height, two_dimensional: true, format }
    }

    /// The layout with pitches that are multiples of `alignment`.
    fn layout(&self, alignment: u32) -> Result<Layout> {
        let beyond = || Error::failed("width, height: more bytes than can be counted");
        let pitch = self.width.checked_next_multiple_of(alignment).ok_or_else(beyond)?;
        let bytes = (u64::from(pitch) * u64::from(self.height)).checked_mul(u64::from(self.format.bytes()));
        Ok(Layout { pitch, bytes: bytes.ok_or_else(beyond)? })
    }

    /// Checks the shape against the limits of a device.
    fn check(&self, device: &Device, flags: Flags) -> Result<()> {
        let info = device.info();
        for (name, value) in [("width", self.width), ("height", self.height)] {
            if value == 0 {
                return Err(Error::invalid(format!("{name}: 0")));
            }
        }
        let beyond = |name, value, limit| {
            if value > limit {
                Err(Error::failed(format!("{name}: {value} is more than the {limit} of {}", info.name)))
            } else {
                Ok(())
            }
        };
        if self.two_dimensional {
            beyond("width", self.width, info.max_width_2d)?;
            beyond("height", self.height, info.max_height_2d)?;
        } else if !flags.global_buffer {
            beyond("width", self.width, info.max_width_1d)?;
        }
        Ok(())
    }
}

/// Who has the resource mapped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mapped {
    No,
    /// `calResMap`: kernels and copies may still use it, as old programs do.
    Raw,
    /// A [`crate::Map`]: nothing else touches it.
    Guard,
}

struct State {
    mapped: Mapped,
    /// The application has its memory back.
    given_back: bool,
    /// Latest use by each queue; `None` while it is being submitted.
    uses: Vec<(Arc<Line>, Option<Ticket>)>,
}

/// Memory with a shape and a format. Clones are the same memory.
#[derive(Clone)]
pub struct Resource(Arc<Inner>);

struct Inner {
    shape: Shape,
    layout: Layout,
    /// The memory as each of the devices sees it; the first allocated it.
    views: Vec<(Device, Arc<dyn Memory>)>,
    /// Host address that is valid as long as the resource: shared between devices, or the application's.
    fixed: Option<HostAddress>,
    pinned: bool,
    state: Mutex<State>,
}

impl Drop for Inner {
    /// Commands keep what they use alive, but not what it borrows from: the application's memory, or another
    /// device's. So the end of such a resource waits for its work.
    fn drop(&mut self) {
        if self.fixed.is_some() {
            for (line, _) in std::mem::take(&mut self.state.get_mut().uses) {
                if let Err(e) = line.wait_all() {
                    log::warn!("work on a resource that is going away: {e}");
                }
            }
            self.views.truncate(1);
        }
    }
}

/// An address that is only ever handed out, never followed here.
#[derive(Clone, Copy)]
struct HostAddress(usize);

impl PartialEq for Resource {
    fn eq(&self, other: &Resource) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource({} x {} {})", self.width(), self.height(), self.format().name())
    }
}

impl Resource {
    /// Allocates on the first device and shows the memory to the others.
    pub(crate) fn allocate(devices: &[Device], shape: Shape, place: Place, flags: Flags) -> Result<Resource> {
        let [first, others @ ..] = devices else {
            return Err(Error::invalid("no device"));
        };
        for device in devices {
            shape.check(device, flags)?;
        }
        let layout = shape.layout(PITCH_ALIGNMENT)?;
        let rounded = layout
            .bytes
            .checked_next_multiple_of(PAGE)
            .ok_or_else(|| Error::failed("more bytes than can be counted"))?;
        let request = MemoryRequest { bytes: rounded, heap: place.heap() };
        let memory = first
            .hal()
            .allocate(request)
            .or_else(|error| match error {
                // Freed resources keep their memory while work in flight uses it.
                recal_hal::Error::OutOfMemory(_) if first.runtime().wait_for_all() => {
                    first.hal().allocate(request)
                }
                error => Err(error),
            })
            .map_err(|e| Error::backend(format!("allocating {rounded} bytes on {}", first.info().name), e))?;
        let mut views = vec![(first.clone(), Arc::clone(&memory))];
        let mut fixed = None;
        if !others.is_empty() {
            let address =
                memory.map().map_err(|e| Error::backend("mapping memory for several devices", e))?;
            fixed = Some(HostAddress(address as usize));
            for device in others {
                let shared = crate::map::share(device, address, rounded)
                    .map_err(|e| Error::backend(format!("sharing memory with {}", device.info().name), e))?;
                views.push((device.clone(), shared));
            }
        }
        Ok(Self::new(shape, layout, views, fixed, false))
    }

    /// Allocates with rows that are so many elements apart, as memory of the application may have them.
    pub(crate) fn with_pitch(device: &Device, shape: Shape, pitch: u32, place: Place) -> Result<Resource> {
        if pitch < shape.width {
            return Err(Error::failed(format!("pitch: {pitch}, but rows have {} elements", shape.width)));
        }
        shape.check(device, Flags { global_buffer: true })?;
        let layout = Shape { width: pitch, ..shape }.layout(1)?;
        let rounded = layout
            .bytes
            .checked_next_multiple_of(PAGE)
            .ok_or_else(|| Error::failed("more bytes than can be counted"))?;
        let memory =
            device.hal().allocate(MemoryRequest { bytes: rounded, heap: place.heap() }).map_err(|e| {
                Error::backend(format!("allocating {rounded} bytes on {}", device.info().name), e)
            })?;
        Ok(Self::new(shape, layout, vec![(device.clone(), memory)], None, false))
    }

    /// Memory of the same shape and pitch that is fast to read on the host.
    pub(crate) fn twin(&self, device: &Device) -> Result<Resource> {
        Self::with_pitch(device, self.shape(), self.pitch(), Place::RemoteCached)
    }

    /// Wraps memory of the application that a backend has imported.
    pub(crate) fn pinned(
        device: &Device,
        shape: Shape,
        address: *mut u8,
        memory: Arc<dyn Memory>,
    ) -> Result<Resource> {
        let views = vec![(device.clone(), memory)];
        Ok(Self::new(shape, shape.layout(1)?, views, Some(HostAddress(address as usize)), true))
    }

    fn new(
        shape: Shape,
        layout: Layout,
        views: Vec<(Device, Arc<dyn Memory>)>,
        fixed: Option<HostAddress>,
        pinned: bool,
    ) -> Resource {
        let state = Mutex::new(State { mapped: Mapped::No, given_back: false, uses: Vec::new() });
        Resource(Arc::new(Inner { shape, layout, views, fixed, pinned, state }))
    }

    /// Bytes of a pinned resource of this shape on a device, after all checks.
    pub(crate) fn pinned_bytes(device: &Device, shape: Shape) -> Result<u64> {
        // Application memory is bound as `g[]`, `uav#` or `cb#`, and nothing says which when it is made.
        shape.check(device, Flags { global_buffer: true })?;
        Ok(shape.layout(1)?.bytes)
    }

    /// Elements in a row.
    pub fn width(&self) -> u32 {
        self.0.shape.width
    }

    /// Rows; 1 if one-dimensional.
    pub fn height(&self) -> u32 {
        self.0.shape.height
    }

    /// Elements from one row to the next: the width rounded up to 64, or of the application's memory the width.
    pub fn pitch(&self) -> u32 {
        self.0.layout.pitch
    }

    /// Element format.
    pub fn format(&self) -> Format {
        self.0.shape.format
    }

    pub(crate) fn shape(&self) -> Shape {
        self.0.shape
    }

    /// Nothing that was submitted with it is under way.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.0.state.lock();
        state.uses.iter().all(|(line, ticket)| ticket.is_some_and(|t| line.completed() >= t))
    }

    /// Someone else has it, too.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// True if the resource belongs to `device`.
    pub fn is_on(&self, device: &Device) -> bool {
        self.memory_on(device).is_some()
    }

    /// Bytes of all rows.
    pub(crate) fn bytes(&self) -> usize {
        self.0.layout.bytes as usize
    }

    pub(crate) fn memory_on(&self, device: &Device) -> Option<&Arc<dyn Memory>> {
        self.0.views.iter().find(|(d, _)| d == device).map(|(_, m)| m)
    }

    pub(crate) fn surface(&self, memory: &Arc<dyn Memory>) -> Surface {
        Surface {
            memory: Arc::clone(memory),
            width: self.width(),
            height: self.height(),
            pitch: self.pitch(),
            format: self.format(),
        }
    }

    pub(crate) fn is_pinned(&self) -> bool {
        self.0.pinned
    }

    /// Maps for C: the address stays valid until [`Resource::unmap_raw`]; work may use the memory meanwhile.
    pub(crate) fn map_raw(&self) -> Result<*mut u8> {
        self.map_as(Mapped::Raw)
    }

    pub(crate) fn unmap_raw(&self) -> Result<()> {
        self.unmap_as(Mapped::Raw)
    }

    pub(crate) fn map_guard(&self) -> Result<*mut u8> {
        self.map_as(Mapped::Guard)
    }

    pub(crate) fn unmap_guard(&self) {
        // The guard exists, so the state is right.
        let _ = self.unmap_as(Mapped::Guard);
    }

    fn map_as(&self, how: Mapped) -> Result<*mut u8> {
        {
            let mut state = self.0.state.lock();
            if state.mapped != Mapped::No {
                return Err(Error::failed("res: the resource is mapped already"));
            }
            state.mapped = how;
        }
        let address = self.wait_idle().and_then(|()| match self.0.fixed {
            Some(HostAddress(address)) => Ok(address as *mut u8),
            None => self.0.views[0].1.map().map_err(|e| Error::backend("mapping memory", e)),
        });
        if address.is_err() {
            self.0.state.lock().mapped = Mapped::No;
        }
        address
    }

    fn unmap_as(&self, how: Mapped) -> Result<()> {
        let mut state = self.0.state.lock();
        if state.mapped != how {
            return Err(Error::failed("res: the resource is not mapped"));
        }
        if self.0.fixed.is_none() {
            self.0.views[0].1.unmap();
        }
        state.mapped = Mapped::No;
        Ok(())
    }

    /// What keeps the bytes at their address for a program that has them mapped when their device goes.
    pub(crate) fn keep_mapped(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        if self.0.pinned || self.0.state.lock().mapped != Mapped::Raw {
            return None;
        }
        let kept = Arc::clone(&self.0.views[0].1).keep_mapped();
        if kept.is_none() {
            log::warn!("{self:?} is mapped, and goes with its device");
        }
        kept
    }

    /// Waits for all work that was submitted with this resource. Failed work counts as done.
    pub(crate) fn wait_idle(&self) -> Result<()> {
        let uses = self.0.state.lock().uses.clone();
        for (line, ticket) in uses {
            let ticket = match ticket {
                Some(ticket) => ticket,
                None => {
                    // Another thread is just submitting; its ticket is known when it lets go.
                    let _submitted = line.begin();
                    line.last()
                }
            };
            if line.completed() < ticket
                && let Err(e) = line.wait(ticket, ticket)
                && line.completed() < ticket
            {
                return Err(e);
            }
        }
        self.0.state.lock().uses.retain(|(line, ticket)| ticket.is_none_or(|t| line.completed() < t));
        Ok(())
    }

    /// Refuses later work and waits for what was submitted: the application may free its memory then, whoever still has the resource.
    pub(crate) fn give_back(&self) -> Result<()> {
        self.0.state.lock().given_back = true;
        self.wait_idle()
    }

    /// Announces a use by a queue whose submission has begun.
    pub(crate) fn announce(&self, line: &Arc<Line>) -> Result<()> {
        let mut state = self.0.state.lock();
        if state.mapped == Mapped::Guard {
            return Err(Error::failed("a bound resource is mapped"));
        }
        if state.given_back {
            return Err(Error::failed(
                "a resource is of memory of the application, which has that back: the resource was freed",
            ));
        }
        set_use(&mut state.uses, line, None);
        Ok(())
    }

    /// Records the ticket of an announced use.
    pub(crate) fn record(&self, line: &Arc<Line>, ticket: Ticket) {
        set_use(&mut self.0.state.lock().uses, line, Some(ticket));
    }
}

fn set_use(uses: &mut Vec<(Arc<Line>, Option<Ticket>)>, line: &Arc<Line>, ticket: Option<Ticket>) {
    match uses.iter_mut().find(|(l, _)| Arc::ptr_eq(l, line)) {
        Some((_, t)) => *t = ticket,
        None => {
            uses.retain(|(line, ticket)| ticket.is_none_or(|t| line.completed() < t));
            uses.push((Arc::clone(line), ticket));
        }
    }
}
