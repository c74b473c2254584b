//! Bytes in and out of mapped backend memory. The only `unsafe` of the suite.

use recal_hal::{Memory, Result};

/// Copies `bytes` to the start of `memory`.
pub fn write(memory: &dyn Memory, bytes: &[u8]) -> Result<()> {
    assert!(bytes.len() as u64 <= memory.bytes(), "the caller allocated enough");
    let address = memory.map()?;
    // SAFETY: `map` gives the address of `memory.bytes()` bytes, valid until `unmap`; the length was checked, and
    // no command uses the memory yet.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address, bytes.len()) };
    memory.unmap();
    Ok(())
}

/// All bytes of `memory`.
pub fn read(memory: &dyn Memory) -> Result<Vec<u8>> {
    let mut bytes = vec![0; memory.bytes() as usize];
    let address = memory.map()?;
    // SAFETY: as above; the caller has waited for all commands that use the memory.
    unsafe { std::ptr::copy_nonoverlapping(address, bytes.as_mut_ptr(), bytes.len()) };
    memory.unmap();
    Ok(bytes)
}
