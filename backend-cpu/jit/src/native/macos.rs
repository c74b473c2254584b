//! Memory for code on macOS, whose programs with a hardened runtime may have such memory by `MAP_JIT` and the entitlement
//! `com.apple.security.cs.allow-jit` alone. Where the system refuses it, kernels are interpreted.

use std::{io, ops, ptr, slice};

/// Memory with code.
pub struct Code {
    start: ptr::NonNull<u8>,
    length: usize,
}

// SAFETY: after `Code::new` nobody writes it, and it belongs to its owner alone.
unsafe impl Send for Code {}
// SAFETY: likewise.
unsafe impl Sync for Code {}

/// Whether this thread may write memory for code. It may not run it then: Apple's processors know one or the other, for all such
/// memory of a process at once, and for each thread apart. Intel's have no such switch.
fn writable(yes: bool) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: it changes what this thread may do with memory for code. The one caller writes such memory and runs none meanwhile.
    unsafe {
        libc::pthread_jit_write_protect_np(libc::c_int::from(!yes));
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = yes;
}

impl Code {
    /// A copy of `code`, to be run.
    pub fn new(code: &[u8]) -> io::Result<Code> {
        let length = code.len().max(1);
        let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_JIT;
        // SAFETY: a new mapping, where the system likes.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = ptr::NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = Code { start, length };
        writable(true);
        // SAFETY: the mapping is ours, as long as the slice at least, and this thread may write it.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), start.as_ptr(), code.len()) };
        writable(false);
        Ok(memory)
    }
}

impl ops::Deref for Code {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping has this length, and nobody writes it.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and its last user is gone.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
