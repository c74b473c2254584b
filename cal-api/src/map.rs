//! Typed access to mapped resources, and memory shared between devices: the only unsafe code outside [`crate::ffi`].

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use recal_hal::Memory;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::resource::{Resource, Shape};

mod sealed {
    /// Plain numbers: every bit pattern is a value.
    pub trait Sealed: Copy {}
}

/// A number that memory may be read as.
pub trait Element: sealed::Sealed {}

macro_rules! elements {
    ($($t:ty),*) => { $(impl sealed::Sealed for $t {} impl Element for $t {})* };
}
elements!(u8, i8, u16, i16, u32, i32, f32, u64, i64, f64);

/// A mapped resource: a slice of all its rows, to the pitch; [`Map::rows`] are without the padding. While it lives no kernel
/// or copy can use the resource; dropping it ends the map.
///
/// ```
/// # use recal::{Format, Place, Runtime};
/// # let runtime = Runtime::new()?;
/// # let Ok(device) = runtime.open(0) else { return Ok(()) };
/// let resource = device.allocate_2d(4, 2, Format::Float32x2, Place::Remote)?;
/// resource.map::<f32>()?.fill(1.5);
/// assert_eq!(resource.map::<f32>()?.len(), (resource.pitch() * 2 * 2) as usize);
/// assert!(resource.map::<f32>()?.rows().eq([[1.5; 4 * 2]; 2]));
/// assert!(resource.map::<u32>()?.iter().all(|&bits| bits == 1.5f32.to_bits()));
/// # Ok::<(), recal::Error>(())
/// ```
pub struct Map<'r, T: Element> {
    resource: &'r Resource,
    address: *mut T,
    length: usize,
    elements: PhantomData<&'r mut [T]>,
}

// SAFETY: the map is an exclusive slice of numbers; it may move between threads like one.
unsafe impl<T: Element + Send> Send for Map<'_, T> {}
// SAFETY: shared access to the map only reads numbers.
unsafe impl<T: Element + Sync> Sync for Map<'_, T> {}

impl Resource {
    /// Maps the resource, after waiting for all work that uses it. Fails if it is mapped already.
    pub fn map<T: Element>(&self) -> Result<Map<'_, T>> {
        let length = self.bytes() / size_of::<T>();
        let address = self.map_guard()?.cast::<T>();
        if address.is_null() || !address.is_aligned() {
            self.unmap_guard();
            return Err(Error::failed("mapped memory is not aligned for this type"));
        }
        Ok(Map { resource: self, address, length, elements: PhantomData })
    }
}

impl<T: Element> Map<'_, T> {
    /// The rows, each as long as the resource is wide.
    ///
    /// # Panics
    /// If rows do not begin at whole `T`s, which application memory of elements smaller than `T` may do.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        let [pitch, width] = self.row_lengths();
        self.chunks_exact(pitch).map(move |row| &row[..width])
    }

    /// As [`Map::rows`], to be written.
    ///
    /// # Panics
    /// As [`Map::rows`].
    pub fn rows_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [T]> {
        let [pitch, width] = self.row_lengths();
        self.chunks_exact_mut(pitch).map(move |row| &mut row[..width])
    }

    /// Pitch and width in numbers of this type.
    fn row_lengths(&self) -> [usize; 2] {
        let bytes = self.resource.format().bytes() as usize;
        let [pitch, width] = [self.resource.pitch(), self.resource.width()].map(|n| n as usize * bytes);
        assert!(pitch % size_of::<T>() == 0, "a pitch of {pitch} bytes is not a whole number of elements");
        [pitch / size_of::<T>(), width / size_of::<T>()]
    }
}

impl<T: Element> Deref for Map<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the backend maps at least the bytes of the shape, aligned (checked) and initialised (contents are
        // zero at first); nothing else uses the memory while the guard is in place; any bits are a `T`.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }
}

impl<T: Element> DerefMut for Map<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.length) }
    }
}

impl<T: Element> Drop for Map<'_, T> {
    fn drop(&mut self) {
        self.resource.unmap_guard();
    }
}

/// Shows memory that one device allocated and mapped to another device.
pub(crate) fn share(device: &Device, address: *mut u8, bytes: u64) -> recal_hal::Result<Arc<dyn Memory>> {
    // SAFETY: the resource that owns the allocation keeps it mapped; when it goes, it first waits for all work, then
    // drops the imports, then the allocation.
    unsafe { device.hal().import(address, bytes) }
}

impl Device {
    /// Makes a resource of the application's own memory (`calResCreate1D`, `calResCreate2D`): kernels read and write
    /// it directly, results are there when the event is done, without a map. `height` 0 makes it one-dimensional.
    ///
    /// # Safety
    /// `address` is valid for reads and writes of all rows until the resource is dropped everywhere and all work
    /// that uses it is done; meanwhile the program touches it only while no such work is in flight.
    pub unsafe fn import(
        &self,
        address: *mut u8,
        width: u32,
        height: u32,
        format: crate::Format,
    ) -> Result<Resource> {
        let shape = if height == 0 { Shape::line(width, format) } else { Shape::rows(width, height, format) };
        if address.is_null() {
            return Err(Error::invalid("mem: NULL"));
        }
        let bytes = Resource::pinned_bytes(self, shape)?;
        // SAFETY: the caller keeps the memory valid for as long as the resource and its work live.
        let memory = unsafe { self.hal().import(address, bytes) }
            .map_err(|e| Error::backend(format!("importing {bytes} bytes"), e))?;
        Resource::pinned(self, shape, address, memory)
    }
}
