//! Memory between pages that nobody may touch: what reaches beyond it ends the process.

use std::ptr::NonNull;

/// Some pages, with a page before and a page behind them that can be neither read nor written.
pub struct Guarded {
    /// Start of the whole mapping.
    map: NonNull<u8>,
    /// Bytes between the guards, a multiple of the page size.
    bytes: usize,
}

/// Size of a guard, and unit of the size.
const PAGE: usize = 4096;

// SAFETY: the mapping belongs to this value alone, and its address means the same in every thread.
unsafe impl Send for Guarded {}

impl Guarded {
    /// At least `bytes` bytes, zero.
    ///
    /// # Panics
    /// If the system has no memory.
    pub fn new(bytes: usize) -> Guarded {
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        // SAFETY: a new anonymous mapping wherever the system likes.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes + 2 * PAGE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(map, libc::MAP_FAILED, "no memory");
        let map = NonNull::new(map.cast::<u8>()).expect("a mapping is not at 0");
        let guarded = Guarded { map, bytes };
        // SAFETY: these pages are inside the mapping that was just made.
        let opened =
            unsafe { libc::mprotect(guarded.start().cast(), bytes, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(opened, 0, "no access");
        guarded
    }

    /// First byte between the guards, aligned to a page.
    pub fn start(&self) -> *mut u8 {
        // SAFETY: the mapping is larger than a page.
        unsafe { self.map.as_ptr().add(PAGE) }
    }

    /// Bytes between the guards.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Fills the memory.
    pub fn fill(&mut self, value: u8) {
        // SAFETY: these bytes are mapped and writable, and nothing else refers to them while `self` is borrowed.
        unsafe { std::ptr::write_bytes(self.start(), value, self.bytes) };
    }

    /// A copy of the memory.
    pub fn read(&self) -> Vec<u8> {
        // SAFETY: these bytes are mapped, readable and initialised by the system.
        (0..self.bytes).map(|at| unsafe { self.start().add(at).read_volatile() }).collect()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and size, and nothing uses it any more.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.bytes + 2 * PAGE) };
    }
}
