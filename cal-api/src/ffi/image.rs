//! Objects and images as C sees them: `malloc` blocks that hold the ELF file, freed by `free`.

use std::ffi::c_void;

use super::types::*;
use crate::error::{Error, Result};
use crate::image::{HEADER_BYTES, Image, Object, size_from_header};

/// A `malloc` block with these bytes.
pub(super) fn block<T>(bytes: &[u8]) -> Result<*mut T> {
    // SAFETY: `malloc` may be called with any size.
    let address = unsafe { libc::malloc(bytes.len().max(1)) };
    if address.is_null() {
        return Err(Error::failed(format!("out of memory: {} bytes", bytes.len())));
    }
    // SAFETY: the block was just allocated with this size.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address.cast::<u8>(), bytes.len()) };
    Ok(address.cast())
}

/// The bytes of the ELF file at an address; there is no length, so its header says how many.
///
/// # Safety
/// `address` is NULL or the address of an ELF file, or of at least an ELF header's bytes that are none.
unsafe fn bytes_at<'a>(argument: &str, address: *const c_void) -> Result<&'a [u8]> {
    if address.is_null() {
        return Err(Error::invalid(format!("{argument}: NULL")));
    }
    // SAFETY: valid for a header by the contract; the array has no alignment.
    let header = unsafe { &*address.cast::<[u8; HEADER_BYTES]>() };
    let size = size_from_header(header).map_err(|e| e.context(argument))?;
    // SAFETY: a CAL ELF file is as long as its header says.
    Ok(unsafe { std::slice::from_raw_parts(address.cast(), size) })
}

/// # Safety
/// As [`bytes_at`].
pub(super) unsafe fn image_at(image: CALimage) -> Result<Image> {
    // SAFETY: the contract of this function.
    Image::from_bytes(unsafe { bytes_at("image", image.cast()) }?)
}

/// # Safety
/// As [`bytes_at`].
pub(super) unsafe fn object_at(object: CALobject) -> Result<Object> {
    // SAFETY: the contract of this function.
    Object::from_bytes(unsafe { bytes_at("obj", object.cast()) }?)
}

/// # Safety
/// `address` is NULL or came from `malloc`.
pub(super) unsafe fn free(argument: &str, address: *mut c_void) -> Result<()> {
    if address.is_null() {
        return Err(Error::invalid(format!("{argument}: NULL")));
    }
    // SAFETY: the contract of this function.
    unsafe { libc::free(address) };
    Ok(())
}

boundary! {
    /// Makes an image of the bytes that `calclImageWrite` wrote; they are copied.
    #[unsafe(no_mangle)]
    Runtime Init
    fn calImageRead(call; image: CALimage; buffer: *const c_void, size: CALuint) {
        let _ = call;
        if buffer.is_null() {
            return Err(Error::invalid("buffer: NULL"));
        }
        // SAFETY: not NULL, and valid for `size` bytes by the contract of the function.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), size as usize) };
        Ok((block(Image::from_bytes(bytes)?.as_bytes())?,))
    }

    /// Frees an image, wherever it came from. Works at any time.
    #[unsafe(no_mangle)]
    Runtime Nothing
    fn calImageFree(call; ; image: CALimage) {
        let _ = call;
        // SAFETY: NULL or a `malloc` block by the contract of the function.
        unsafe { free("image", image.cast()) }
    }
}
