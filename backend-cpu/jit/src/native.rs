//! Where code meets the processor: memory that it is in, and how it is called.

use std::io;

use crate::row::Wave;
use crate::{Ticks, View, call};

/// What depends on how functions are called: the convention that targets know.
macro_rules! called_as {
    ($convention:literal) => {
        /// A compiled function: waves, constants, how many waves, at least one, views, the count of back-edges.
        pub type Entry =
            unsafe extern $convention fn(*mut Wave<'_>, *const u32, u64, *const View, *mut Ticks<'_>);

        /// What code calls when the count of back-edges is 0, and what it is to do then.
        pub type Check = unsafe extern $convention fn(*mut Ticks<'_>) -> u8;

        /// What code calls that lanes do one after another: rows from the strip on, what is to be done, the lanes, views, operands.
        pub type Called =
            unsafe extern $convention fn(*mut u32, *const call::Words, u64, *const View, *const u32);

        /// See [`call::call`].
        ///
        /// # Safety
        /// Called by code with what that function asks for.
        pub unsafe extern $convention fn called(
            rows: *mut u32,
            words: *const call::Words,
            lanes: u64,
            views: *const View,
            operands: *const u32,
        ) {
            // SAFETY: code was made so.
            unsafe { call::call(rows, words, lanes, views, operands) }
        }

        /// The count is 0; what is to be done.
        ///
        /// # Safety
        /// Called by code that got the reference from [`crate::Module::call`].
        pub unsafe extern $convention fn ticked(ticks: *mut Ticks<'_>) -> u8 {
            // SAFETY: `Module::call` has it exclusively, and the code that it runs does nothing meanwhile.
            unsafe { &mut *ticks }.asked()
        }
    };
}
#[cfg(target_arch = "x86_64")]
called_as!("sysv64");
#[cfg(not(target_arch = "x86_64"))]
called_as!("C");

#[cfg(target_os = "macos")]
pub use macos::Code;
#[cfg(not(target_os = "macos"))]
pub use memmap2::Mmap as Code;

/// Memory with code that any thread may run from now on.
#[cfg(not(target_os = "macos"))]
pub fn executable(code: &[u8]) -> io::Result<Code> {
    let mut memory = memmap2::MmapMut::map_anon(code.len().max(1))?;
    memory[..code.len()].copy_from_slice(code);
    let memory = memory.make_exec()?;
    visible(&memory)?;
    Ok(memory)
}

/// Memory with code that any thread may run from now on.
#[cfg(target_os = "macos")]
pub fn executable(code: &[u8]) -> io::Result<Code> {
    let memory = Code::new(code)?;
    visible(&memory)?;
    Ok(memory)
}

#[cfg(target_os = "macos")]
mod macos;

/// Makes what was written be what all threads of the process execute. On x86 it is.
#[cfg(not(target_arch = "aarch64"))]
fn visible(_: &[u8]) -> io::Result<()> {
    Ok(())
}

/// Makes what was written be what all threads of the process execute: the caches of data and of instructions know
/// nothing of each other, and processors that run other threads may have fetched instructions already.
#[cfg(target_arch = "aarch64")]
fn visible(code: &[u8]) -> io::Result<()> {
    clean(code);
    synchronise()
}

#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple")))]
fn clean(code: &[u8]) {
    use std::arch::asm;
    let types: u64;
    // SAFETY: reads a register that says how caches are built.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
    let [instructions, data] = [types, types >> 16].map(|bits| 4usize << (bits & 15));
    let (start, end) = (code.as_ptr() as usize, code.as_ptr() as usize + code.len());
    let lines = |size: usize| (start & !(size - 1)..end).step_by(size);
    // SAFETY: the addresses lie in the slice, or in a cache line that it shares; no content changes.
    unsafe {
        for line in lines(data) {
            asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
        for line in lines(instructions) {
            asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
}

#[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
fn clean(code: &[u8]) {
    unsafe extern "C" {
        fn sys_icache_invalidate(start: *mut std::ffi::c_void, length: usize);
    }
    // SAFETY: the slice is mapped; no content changes.
    unsafe { sys_icache_invalidate(code.as_ptr().cast_mut().cast(), code.len()) };
}

/// All threads of the process forget the instructions that they have fetched.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
fn synchronise() -> io::Result<()> {
    let barrier = |command: libc::c_int| {
        // SAFETY: the call takes three numbers and touches no memory.
        match unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    barrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)?;
    barrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE)
}

/// Elsewhere the system does so when memory becomes executable.
#[cfg(all(target_arch = "aarch64", not(target_os = "linux")))]
fn synchronise() -> io::Result<()> {
    Ok(())
}
