//! Memory of the device and of the host.
//!
//! Every block is a buffer with a device address. Host-visible blocks stay mapped. A block that the host cannot
//! reach, or reaches slowly, is mapped through a cached host copy.
//!
//! What programs map lies in pages of our own where the device can import them: they outlive it.

use std::any::Any;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use recal_hal::sync::Mutex;
use recal_hal::{Error, Heap, Memory, Result};

use crate::device::Gpu;
use crate::import::{Imported, Pages, Shadow};
use crate::once::run_once;
use crate::order::Span;

/// What all buffers are used for.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

pub(crate) type Flags = vk::MemoryPropertyFlags;

/// Zeros stand behind every block: this many bytes from the next multiple of it on. Loads outside end there.
pub(crate) const PADDING: u64 = 16;

/// What a block lies in.
enum Backing {
    /// Memory of the allocator; taken when the block goes.
    Allocated(Mutex<Option<Allocation>>),
    Pages(Pages),
}

/// A buffer with its memory.
pub(crate) struct Block {
    gpu: Arc<Gpu>,
    pub buffer: vk::Buffer,
    pub address: u64,
    pub bytes: u64,
    backing: Backing,
    heap: usize,
    /// Memory of the device rather than of the host.
    local: bool,
    mapped: Option<*mut u8>,
    /// Host copy while mapped, if the block is not mapped itself.
    staging: Mutex<Option<Arc<Block>>>,
}

// SAFETY: the pointer is to mapped memory that lives as long as the block; what is done through it is ordered by the
// callers as the contract of `Memory::map` says.
unsafe impl Send for Block {}
// SAFETY: as for `Send`.
unsafe impl Sync for Block {}

/// Creates a buffer and reads its address once it is bound.
pub(crate) fn buffer(gpu: &Gpu, bytes: u64, external: bool) -> Result<vk::Buffer> {
    let mut host = vk::ExternalMemoryBufferCreateInfo::default()
        .handle_types(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
    let mut info = vk::BufferCreateInfo::default().size(bytes).usage(USAGE);
    if gpu.families.len() > 1 {
        // Kernels and copies use it, one after the other or both to read.
        info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&gpu.families);
    }
    if external {
        info = info.push_next(&mut host);
    }
    // SAFETY: the device is alive and `info` lives until the call returns.
    unsafe { gpu.raw.create_buffer(&info, None) }.map_err(|error| gpu.error("buffer", error))
}

pub(crate) fn address(gpu: &Gpu, buffer: vk::Buffer) -> u64 {
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
    // SAFETY: the buffer is alive, bound, and made for this use.
    unsafe { gpu.raw.get_buffer_device_address(&info) }
}

const HOST: Flags = Flags::from_raw(Flags::HOST_VISIBLE.as_raw() | Flags::HOST_COHERENT.as_raw());
const CACHED: Flags = Flags::from_raw(HOST.as_raw() | Flags::HOST_CACHED.as_raw());
const UNIFIED: Flags = Flags::from_raw(CACHED.as_raw() | Flags::DEVICE_LOCAL.as_raw());

/// The memory types for a heap, best first, as flags that must and must not be there.
fn wishes(heap: Heap) -> Vec<(Flags, Flags)> {
    match heap {
        Heap::Local => vec![
            (UNIFIED, Flags::empty()),
            (Flags::DEVICE_LOCAL, Flags::HOST_VISIBLE),
            (Flags::DEVICE_LOCAL, Flags::empty()),
            (HOST, Flags::empty()),
        ],
        Heap::Remote => {
            const LOCAL_OR_CACHED: Flags =
                Flags::from_raw(Flags::DEVICE_LOCAL.as_raw() | Flags::HOST_CACHED.as_raw());
            vec![(HOST, LOCAL_OR_CACHED), (HOST, Flags::DEVICE_LOCAL), (HOST, Flags::empty())]
        }
        Heap::RemoteCached => {
            vec![(CACHED, Flags::DEVICE_LOCAL), (CACHED, Flags::empty()), (HOST, Flags::empty())]
        }
    }
}

impl Block {
    /// A block of zeros.
    pub fn allocate(gpu: &Arc<Gpu>, bytes: u64, heap: Heap) -> Result<Self> {
        Self::of_kind(gpu, bytes, heap, &wishes(heap))
    }

    /// A block of zeros that programs may map: in pages of our own where the host sees the memory and the device can import
    /// them.
    pub fn for_programs(gpu: &Arc<Gpu>, bytes: u64, heap: Heap) -> Result<Self> {
        // Memory of a device that the host reads as well as its own is the host's.
        let unified = |t: &vk::MemoryType| t.property_flags.contains(UNIFIED);
        let of_host = heap != Heap::Local || gpu.facts.memory.memory_types_as_slice().iter().any(unified);
        if of_host && gpu.import.is_some() {
            match Self::of_pages(gpu, bytes) {
                Ok(block) => return Ok(block),
                Err(error) => log::debug!("{bytes} bytes are not imported but allocated: {error}"),
            }
        }
        Self::allocate(gpu, bytes, heap)
    }

    fn of_pages(gpu: &Arc<Gpu>, bytes: u64) -> Result<Self> {
        let facts = &gpu.facts;
        let bytes = bytes.max(16);
        let size = bytes.next_multiple_of(PADDING).saturating_add(PADDING);
        if size > facts.max_allocation.min(facts.max_buffer) {
            return Err(Error::OutOfMemory(format!("{} allows less in one piece", facts.name)));
        }
        let pages = Pages::new(gpu, size)?;
        let kind = facts.memory.memory_types_as_slice()[pages.window.kind];
        let heap = kind.heap_index as usize;
        let used = gpu.in_use[heap].fetch_add(pages.size, Relaxed);
        if used.saturating_add(pages.size) > facts.memory.memory_heaps[heap].size {
            gpu.in_use[heap].fetch_sub(pages.size, Relaxed);
            return Err(Error::OutOfMemory(format!("{used} bytes are in use on {}", facts.name)));
        }
        Ok(Self {
            gpu: gpu.clone(),
            buffer: pages.window.buffer,
            address: pages.window.address,
            bytes,
            heap,
            local: kind.property_flags.contains(Flags::DEVICE_LOCAL),
            mapped: Some(pages.host()),
            backing: Backing::Pages(pages),
            staging: Mutex::new(None),
        })
    }

    /// A block that the host writes and kernels read: the device's own memory where the host sees it, so that no kernel
    /// begins by waiting for the bus.
    pub fn for_tables(gpu: &Arc<Gpu>, bytes: u64) -> Result<Self> {
        let visible = Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let mut kinds = vec![(visible, Flags::empty())];
        kinds.extend(wishes(Heap::Remote));
        Self::of_kind(gpu, bytes, Heap::Remote, &kinds)
    }

    /// A block of the first of several kinds of memory that can be had.
    fn of_kind(gpu: &Arc<Gpu>, bytes: u64, heap: Heap, kinds: &[(Flags, Flags)]) -> Result<Self> {
        let facts = &gpu.facts;
        let bytes = bytes.max(16);
        let limit = facts.max_allocation.min(facts.max_buffer);
        let size = bytes.next_multiple_of(PADDING).saturating_add(PADDING);
        if size > limit {
            return Err(Error::OutOfMemory(format!(
                "{bytes} bytes asked for; {} allows {limit} in one piece",
                facts.name
            )));
        }
        let buffer = buffer(gpu, size, false)?;
        // SAFETY: the buffer was just made.
        let requirements = unsafe { gpu.raw.get_buffer_memory_requirements(buffer) };
        let result = Self::memory(gpu, buffer, requirements, kinds);
        let remote = heap != Heap::Local;
        let (allocation, heap) = match result {
            Ok(found) => found,
            Err(error) => {
                // SAFETY: nothing uses the buffer.
                unsafe { gpu.raw.destroy_buffer(buffer, None) };
                return Err(error);
            }
        };
        let mapped = allocation.mapped_ptr().map(|pointer| pointer.as_ptr().cast());
        // Whether the host reads the memory at speed.
        let cached = allocation.memory_properties().contains(Flags::HOST_CACHED);
        let local = allocation.memory_properties().contains(Flags::DEVICE_LOCAL);
        let block = Self {
            gpu: gpu.clone(),
            buffer,
            address: address(gpu, buffer),
            bytes,
            backing: Backing::Allocated(Mutex::new(Some(allocation))),
            heap,
            local,
            mapped: mapped.filter(|_| cached || !local || remote),
            staging: Mutex::new(None),
        };
        match block.mapped {
            // SAFETY: the mapping covers the buffer and nobody else knows the block yet.
            Some(pointer) => unsafe { ptr::write_bytes(pointer, 0, size as usize) },
            None => run_once(gpu, |raw, commands| {
                // SAFETY: recording into a command buffer that is run before the block is given away.
                unsafe { raw.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0) };
            })?,
        }
        Ok(block)
    }

    fn memory(
        gpu: &Gpu,
        buffer: vk::Buffer,
        requirements: vk::MemoryRequirements,
        kinds: &[(Flags, Flags)],
    ) -> Result<(Allocation, usize)> {
        let facts = &gpu.facts;
        let types = facts.memory.memory_types_as_slice();
        let size = requirements.size;
        let mut refusal = format!("{}: no memory of this kind", facts.name);
        for (wanted, unwanted) in kinds.iter().copied() {
            let fits = |k: usize, t: &vk::MemoryType| {
                requirements.memory_type_bits & (1 << k) != 0
                    && t.property_flags.contains(wanted)
                    && !t.property_flags.intersects(unwanted)
            };
            let Some(number) = types.iter().enumerate().position(|(k, t)| fits(k, t)) else { continue };
            let heap = types[number].heap_index as usize;
            // Some drivers promise more than there is, so count here, too.
            let total = facts.memory.memory_heaps[heap].size;
            let used = gpu.in_use[heap].fetch_add(size, Relaxed);
            let release = || gpu.in_use[heap].fetch_sub(size, Relaxed);
            if used.saturating_add(size) > total {
                release();
                refusal = format!("{size} bytes asked for; {used} of {total} are in use on {}", facts.name);
                continue;
            }
            let result = gpu.allocator.lock().allocate(&AllocationCreateDesc {
                name: "cal",
                requirements: vk::MemoryRequirements { memory_type_bits: 1 << number, ..requirements },
                location: MemoryLocation::Unknown,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            });
            let allocation = match result {
                Ok(allocation) => allocation,
                Err(error) => {
                    release();
                    refusal = format!("{size} bytes asked for; {}: {error}", facts.name);
                    continue;
                }
            };
            // SAFETY: the buffer has no memory yet and the allocation was made for its requirements.
            let bound =
                unsafe { gpu.raw.bind_buffer_memory(buffer, allocation.memory(), allocation.offset()) };
            if let Err(error) = bound {
                let _ = gpu.allocator.lock().free(allocation);
                release();
                return Err(gpu.error("binding memory", error));
            }
            return Ok((allocation, heap));
        }
        Err(Error::OutOfMemory(refusal))
    }

    /// What commands need to know of the block.
    pub fn place(&self) -> Place {
        Place {
            buffer: self.buffer,
            offset: 0,
            address: self.address,
            bytes: self.bytes,
            local: self.local,
            visible: self.mapped.is_some(),
            span: self.span(),
            padded: true,
        }
    }

    /// Address of the zeros behind the block.
    pub fn zeros(&self) -> u64 {
        self.address + self.bytes.next_multiple_of(PADDING)
    }

    /// Where the block lies, as commands see it.
    pub fn span(&self) -> Span {
        Span { start: self.address, end: self.address + self.bytes }
    }

    /// Host address, if the block is always mapped.
    pub fn host(&self) -> Option<*mut u8> {
        self.mapped
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.gpu.hung() {
            return;
        }
        let allocation = match &mut self.backing {
            Backing::Allocated(allocation) => allocation.get_mut().take(),
            Backing::Pages(pages) => {
                self.gpu.in_use[self.heap].fetch_sub(pages.size, Relaxed);
                return;
            }
        };
        // SAFETY: commands hold an Arc of the block while they use it; none is left.
        unsafe { self.gpu.raw.destroy_buffer(self.buffer, None) };
        if let Some(allocation) = allocation {
            self.gpu.in_use[self.heap].fetch_sub(allocation.size(), Relaxed);
            if let Err(error) = self.gpu.allocator.lock().free(allocation) {
                log::error!("memory could not be freed: {error}");
            }
        }
    }
}

impl Memory for Block {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn map(&self) -> Result<*mut u8> {
        // At the end of the process the memory is still there, the driver is not.
        if let (Some(pointer), true) = (self.mapped, crate::exit::ending()) {
            return Ok(pointer);
        }
        self.gpu.check()?;
        if let Some(pointer) = self.mapped {
            return Ok(pointer);
        }
        let mut staging = self.staging.lock();
        if staging.is_none() {
            let copy = Arc::new(Self::for_programs(&self.gpu, self.bytes, Heap::RemoteCached)?);
            self.copy_all(self.buffer, copy.buffer)?;
            *staging = Some(copy);
        }
        let pointer = staging.as_ref().and_then(|copy| copy.host());
        pointer.ok_or_else(|| Error::Failed("the device has no memory that the host can reach".into()))
    }

    fn unmap(&self) {
        if let Some(copy) = self.staging.lock().take() {
            if let Err(error) = self.copy_all(copy.buffer, self.buffer) {
                // What the host wrote is lost, which nobody may take for success.
                self.gpu.lose(Error::DeviceLost(format!("a mapped block was not written back: {error}")));
            }
        }
    }

    fn keep_mapped(self: Arc<Self>) -> Option<Arc<dyn Any + Send + Sync>> {
        let staging = self.staging.lock().clone();
        match &staging.as_ref().unwrap_or(&self).backing {
            Backing::Pages(pages) => Some(pages.keep()),
            Backing::Allocated(_) => None,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Block {
    fn copy_all(&self, from: vk::Buffer, to: vk::Buffer) -> Result<()> {
        run_once(&self.gpu, |raw, commands| {
            let region = [vk::BufferCopy::default().size(self.bytes)];
            // SAFETY: both buffers have that many bytes and live until the commands are done.
            unsafe { raw.cmd_copy_buffer(commands, from, to, &region) };
        })
    }
}

/// What commands need to know of a memory.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub buffer: vk::Buffer,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    pub address: u64,
    pub bytes: u64,
    /// Memory of the device rather than of the host.
    pub local: bool,
    /// The host reads it without asking.
    pub visible: bool,
    pub span: Span,
    /// Zeros follow ([`PADDING`]).
    pub padded: bool,
}

/// Finds our own type behind a memory of the contract.
pub(crate) fn place(memory: &dyn Memory) -> Result<Place> {
    if let Some(block) = memory.as_any().downcast_ref::<Block>() {
        return Ok(block.place());
    }
    match memory.as_any().downcast_ref::<Imported>() {
        Some(imported) => Ok(imported.place()),
        None => Err(Error::Failed("memory of another backend is bound".into())),
    }
}

/// The shadow behind a memory, if it has one.
pub(crate) fn shadow(memory: &dyn Memory) -> Option<&Shadow> {
    memory.as_any().downcast_ref::<Imported>().and_then(Imported::shadow)
}
