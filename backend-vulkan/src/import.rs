//! Host memory that the device sees where it lies: the application's, and pages of our own for blocks that the host maps.
//!
//! Application memory is imported where the device can and the address allows; elsewhere a host block shadows it:
//! filled when a command that uses it is appended, and written back when one that writes it is done.

use std::any::Any;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ash::vk;
use memmap2::{MmapMut, MmapRaw};
use recal_hal::{Error, Heap, Memory, Result};

use crate::device::Gpu;
use crate::memory::{Block, Flags, Place, address, buffer};
use crate::order::Span;
use crate::overlap::Entry;

/// A buffer over host memory.
pub(crate) struct Window {
    gpu: Arc<Gpu>,
    pub buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    pub address: u64,
    /// Number of the memory type.
    pub kind: usize,
}

impl Window {
    /// Imports whole pages, as [`Facts::import_alignment`](crate::adapter::Facts) counts them.
    ///
    /// # Safety
    /// `size` bytes at `start` are valid for reads and writes until the result is dropped.
    unsafe fn new(gpu: &Arc<Gpu>, start: *mut u8, size: u64) -> Result<Self> {
        let Some(import) = &gpu.import else {
            return Err(Error::Unsupported("the device does not import host memory".into()));
        };
        let kind = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the extension is enabled; the pointer is in memory that the caller keeps valid.
        unsafe {
            (import.fp().get_memory_host_pointer_properties_ext)(
                gpu.raw.handle(),
                kind,
                start.cast_const().cast(),
                &mut properties,
            )
        }
        .result()
        .map_err(|error| gpu.error("host pointer", error))?;
        let buffer = buffer(gpu, size, true)?;
        let give_up = |error: Error| {
            // SAFETY: nothing uses the buffer.
            unsafe { gpu.raw.destroy_buffer(buffer, None) };
            Err(error)
        };
        // SAFETY: the buffer was just made.
        let requirements = unsafe { gpu.raw.get_buffer_memory_requirements(buffer) };
        let allowed = properties.memory_type_bits & requirements.memory_type_bits;
        let types = gpu.facts.memory.memory_types_as_slice();
        let coherent =
            |k: &usize| allowed & (1 << k) != 0 && types[*k].property_flags.contains(Flags::HOST_COHERENT);
        let Some(number) = (0..types.len()).find(coherent) else {
            return give_up(Error::Unsupported("no memory type for host memory".into()));
        };
        if requirements.size > size {
            return give_up(Error::Unsupported("the buffer needs more than the host memory".into()));
        }
        let mut pointer =
            vk::ImportMemoryHostPointerInfoEXT::default().handle_type(kind).host_pointer(start.cast());
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(number as u32)
            .push_next(&mut pointer)
            .push_next(&mut flags);
        // SAFETY: the pages are valid as the caller promises; the chain lives until the call returns.
        let memory = match unsafe { gpu.raw.allocate_memory(&info, None) } {
            Ok(memory) => memory,
            Err(error) => return give_up(gpu.error("importing host memory", error)),
        };
        // SAFETY: buffer and memory are new and fit each other.
        if let Err(error) = unsafe { gpu.raw.bind_buffer_memory(buffer, memory, 0) } {
            // SAFETY: nothing uses the memory.
            unsafe { gpu.raw.free_memory(memory, None) };
            return give_up(gpu.error("binding host memory", error));
        }
        Ok(Self { gpu: gpu.clone(), buffer, memory, address: address(gpu, buffer), kind: number })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if self.gpu.hung() {
            return;
        }
        // SAFETY: commands hold an Arc of the memory while they use it; none is left.
        unsafe {
            self.gpu.raw.destroy_buffer(self.buffer, None);
            self.gpu.raw.free_memory(self.memory, None);
        }
    }
}

/// Pages of our own that the device imports: a map of them needs no device.
pub(crate) struct Pages {
    pub window: Window,
    pub size: u64,
    pages: Arc<MmapRaw>,
}

impl Pages {
    /// At least `bytes` bytes, which are 0.
    pub fn new(gpu: &Arc<Gpu>, bytes: u64) -> Result<Self> {
        let Some(alignment) = gpu.facts.import_alignment else {
            return Err(Error::Unsupported("the device does not import host memory".into()));
        };
        let size = bytes.next_multiple_of(alignment);
        // A window is an allocation of its own; the other half is the allocator's.
        if gpu.imports.fetch_add(1, Relaxed) >= gpu.facts.limits.max_memory_allocation_count / 2 {
            gpu.imports.fetch_sub(1, Relaxed);
            return Err(Error::OutOfMemory("as many imports as the device allows".into()));
        }
        let window = || {
            // More than the alignment asked for is rare, and then a map begins at any page.
            let none = |error| Error::OutOfMemory(format!("{size} bytes are not to be had: {error}"));
            let length = usize::try_from(size).map_err(|e| Error::OutOfMemory(e.to_string()))?;
            let pages = Arc::new(MmapRaw::from(MmapMut::map_anon(length).map_err(none)?));
            if pages.as_mut_ptr() as u64 % alignment != 0 {
                return Err(Error::Unsupported(format!("host memory is not aligned to {alignment} bytes")));
            }
            // SAFETY: the pages live as long as the window, which is dropped before them.
            let window = unsafe { Window::new(gpu, pages.as_mut_ptr(), size) }?;
            Ok(Self { window, size, pages })
        };
        window().inspect_err(|_| {
            gpu.imports.fetch_sub(1, Relaxed);
        })
    }

    /// Where the host finds them.
    pub fn host(&self) -> *mut u8 {
        self.pages.as_mut_ptr()
    }

    /// The pages without the device.
    pub fn keep(&self) -> Arc<MmapRaw> {
        self.pages.clone()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.window.gpu.imports.fetch_sub(1, Relaxed);
        if self.window.gpu.hung() {
            // Work that never ends may write to them.
            std::mem::forget(self.pages.clone());
        }
    }
}

/// Application memory.
pub(crate) enum Imported {
    /// The device sees it.
    Direct(Direct),
    /// A block of ours stands in for it.
    Shadow(Shadow),
}

/// Imported host memory.
pub(crate) struct Direct {
    entry: Entry,
    window: Window,
    /// From the start of the window.
    offset: u64,
    bytes: u64,
    host: *mut u8,
}

/// Application memory that the device cannot see.
pub(crate) struct Shadow {
    entry: Entry,
    block: Arc<Block>,
    host: *mut u8,
    bytes: u64,
    /// Commands that use it and are not done.
    users: AtomicU64,
}

// SAFETY: the caller of `Imported::new` keeps the memory valid for reads and writes from any thread.
unsafe impl Send for Imported {}
// SAFETY: as for `Send`.
unsafe impl Sync for Imported {}

impl Imported {
    /// Wraps application memory.
    ///
    /// # Safety
    /// `bytes` bytes at `host` are valid for reads and writes until the result is dropped and all commands that use
    /// it are done.
    pub unsafe fn new(gpu: &Arc<Gpu>, host: *mut u8, bytes: u64) -> Result<Self> {
        // Kernels load 16 bytes at a time.
        if host as usize % 16 == 0 {
            // SAFETY: passed on from the caller.
            match unsafe { Self::direct(gpu, host, bytes) } {
                Ok(Some(direct)) => return Ok(Self::Direct(direct)),
                Ok(None) => {}
                Err(error) => log::debug!("host memory is not imported but copied: {error}"),
            }
        }
        let block = Arc::new(Block::allocate(gpu, bytes, Heap::RemoteCached)?);
        if block.host().is_none() {
            return Err(Error::Unsupported("the device has no memory that the host can reach".into()));
        }
        let entry = Entry::new(gpu, span(host, bytes), true);
        Ok(Self::Shadow(Shadow { entry, block, host, bytes, users: AtomicU64::new(0) }))
    }

    /// # Safety
    /// As for [`Imported::new`].
    unsafe fn direct(gpu: &Arc<Gpu>, host: *mut u8, bytes: u64) -> Result<Option<Direct>> {
        let Some(alignment) = gpu.facts.import_alignment else { return Ok(None) };
        // Whole pages: those at the ends are there, since they hold bytes of the caller.
        let offset = host as u64 % alignment;
        let size = (offset + bytes).next_multiple_of(alignment);
        // SAFETY: passed on from the caller.
        let window = unsafe { Window::new(gpu, host.wrapping_sub(offset as usize), size) }?;
        let entry = Entry::new(gpu, span(host, bytes), false);
        Ok(Some(Direct { entry, window, offset, bytes, host }))
    }
}

fn span(host: *mut u8, bytes: u64) -> Span {
    Span { start: host as u64, end: host as u64 + bytes }
}

impl Shadow {
    /// A command that uses the memory is appended. Host writes since the last one was done become visible.
    pub fn enter(&self) {
        if self.users.fetch_add(1, Relaxed) == 0 {
            if let Some(copy) = self.block.host() {
                // SAFETY: both ranges have that many bytes; the caller of `import` keeps the application's valid,
                // and no command uses the copy.
                unsafe { ptr::copy_nonoverlapping(self.host, copy, self.bytes as usize) };
            }
        }
    }

    /// A command is done. If it wrote, the application sees it.
    pub fn leave(&self, wrote: bool) {
        if let (true, Some(copy)) = (wrote, self.block.host()) {
            // SAFETY: as in `enter`; the command that wrote is done.
            unsafe { ptr::copy_nonoverlapping(copy, self.host, self.bytes as usize) };
        }
        self.users.fetch_sub(1, Relaxed);
    }
}

impl Memory for Imported {
    fn bytes(&self) -> u64 {
        match self {
            Self::Direct(direct) => direct.bytes,
            Self::Shadow(shadow) => shadow.bytes,
        }
    }

    fn map(&self) -> Result<*mut u8> {
        match self {
            Self::Direct(direct) => Ok(direct.host),
            Self::Shadow(shadow) => Ok(shadow.host),
        }
    }

    fn unmap(&self) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Imported {
    /// What commands need to know of it.
    pub fn place(&self) -> Place {
        match self {
            Self::Direct(direct) => Place {
                buffer: direct.window.buffer,
                offset: direct.offset,
                address: direct.window.address + direct.offset,
                bytes: direct.bytes,
                local: false,
                visible: true,
                span: direct.entry.import.span,
                padded: false,
            },
            Self::Shadow(shadow) => {
                Place { bytes: shadow.bytes, span: shadow.entry.import.span, ..shadow.block.place() }
            }
        }
    }

    /// It among all imports.
    pub fn entry(&self) -> &Entry {
        match self {
            Self::Direct(direct) => &direct.entry,
            Self::Shadow(shadow) => &shadow.entry,
        }
    }

    /// The shadow, if it has one.
    pub fn shadow(&self) -> Option<&Shadow> {
        match self {
            Self::Shadow(shadow) => Some(shadow),
            Self::Direct(_) => None,
        }
    }
}
