//! Allocations: device memory, remote memory and wrapped application memory are all host memory here.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use memmap2::MmapMut;
use recal_hal::{Error, Memory, Result};

use super::View;

/// Bytes that live allocations of a device take.
pub type InUse = Arc<AtomicU64>;

/// Bytes from which on huge pages are asked for: the size of one. Kernels that step from line to line meet a new page at
/// each step otherwise.
#[cfg(target_os = "linux")]
const HUGE: usize = 2 << 20;

/// Bytes from which on blocks begin at different places of their first pages: kernels that go through several resources side by side
/// would find all of them in the same few places of a cache.
const LARGE: usize = 64 << 10;
const PAGE: usize = 4096;
const LINE: usize = 64;
/// Lines of a cache from where a block begins to where the next one does: more than kernels read of one at a time.
const APART: usize = 5;

/// A block of memory.
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
    /// What to give back; `None` for application memory.
    owned: Option<(MmapMut, InUse)>,
    /// Nobody has read what the last launch stored.
    unread: AtomicBool,
}

// SAFETY: the block only owns an address range; all access goes through `View`, which any thread may use.
unsafe impl Send for Block {}
// SAFETY: as for `Send`.
unsafe impl Sync for Block {}

impl Block {
    /// `bytes` zero bytes, from where a line of the cache begins: pages of their own, which are taken from the system when they are first
    /// touched.
    pub fn allocate(bytes: u64, limit: u64, in_use: &InUse) -> Result<Block> {
        let none = || Error::OutOfMemory(format!("{bytes} bytes are not to be had"));
        let size = usize::try_from(bytes).map_err(|_| none())?.max(1);
        if in_use.fetch_add(bytes, Relaxed).saturating_add(bytes) > limit {
            in_use.fetch_sub(bytes, Relaxed);
            return Err(Error::OutOfMemory(format!(
                "{bytes} bytes asked for; the device has {limit} in all"
            )));
        }
        static BLOCKS: AtomicUsize = AtomicUsize::new(0);
        let apart = if size < LARGE { 0 } else { BLOCKS.fetch_add(1, Relaxed) * APART * LINE % PAGE };
        let memory = MmapMut::map_anon(size + apart).ok();
        #[cfg(target_os = "linux")]
        if let Some(memory) = memory.as_ref().filter(|_| size >= HUGE) {
            // A favour: without it, or where the system does not know them, pages are small.
            let _ = memory.advise(memmap2::Advice::HugePage);
        }
        let start = memory.map(|mut memory| (NonNull::new(memory[apart..].as_mut_ptr()), memory));
        let Some((Some(start), memory)) = start else {
            in_use.fetch_sub(bytes, Relaxed);
            return Err(none());
        };
        Ok(Block {
            start,
            bytes: bytes as usize,
            owned: Some((memory, in_use.clone())),
            unread: false.into(),
        })
    }

    /// The application's `bytes` bytes at `address`.
    ///
    /// # Safety
    /// They are valid for reads and writes while the block lives.
    pub unsafe fn import(address: *mut u8, bytes: u64) -> Result<Block> {
        let start = NonNull::new(address).filter(|a| a.as_ptr() as usize % 4 == 0);
        let (Some(start), Ok(bytes)) = (start, usize::try_from(bytes)) else {
            return Err(Error::Unsupported("wrapped memory must be aligned to 4 bytes".into()));
        };
        Ok(Block { start, bytes, owned: None, unread: false.into() })
    }

    /// A launch, a copy or the host is about to read them.
    pub fn read(&self) {
        self.unread.store(false, Relaxed);
    }

    /// A launch is about to store to them; true if nobody has read what the launch before stored. Application memory is read by its owner, who doesn't say so.
    pub fn stored(&self) -> bool {
        self.unread.swap(self.owned.is_some(), Relaxed)
    }

    /// The bytes.
    pub fn view(&self) -> View<'_> {
        // SAFETY: live until `self` drops, which the lifetime of the view forbids while it is used; nobody makes a
        // reference to them, the host has only the raw address. Aligned to a line, or checked in `import`.
        unsafe { View::new(self.start, self.bytes) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some((_, in_use)) = &self.owned {
            in_use.fetch_sub(self.bytes as u64, Relaxed);
        }
    }
}

impl Memory for Block {
    fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    fn map(&self) -> Result<*mut u8> {
        self.read();
        Ok(self.start.as_ptr())
    }

    fn unmap(&self) {}

    fn keep_mapped(self: Arc<Self>) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
