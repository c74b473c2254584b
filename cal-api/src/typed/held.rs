//! The memory of a typed buffer or image, and what is kept of those that are gone.

use recal_hal::sync::{Mutex, MutexGuard};

use super::Texel;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::map::Map;
use crate::mem::Mem;
use crate::resource::{Flags, Place, Resource, Shape};

/// Memory kept at most, bytes and pieces.
const KEPT_BYTES: usize = 256 << 20;
const KEPT: usize = 32;

/// What memory is to hold at first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    /// Zeros.
    Zeros,
    /// Anything: the host writes it next.
    FromHost,
    /// Anything: a launch of the same queue writes it next.
    FromKernel,
}

/// Memory of typed buffers and images that are gone: the latest last.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Resource>>);

impl Pool {
    pub(crate) fn clear(&self) {
        let kept = std::mem::take(&mut *self.0.lock());
        // Not while the lock is held.
        drop(kept);
    }

    fn put(&self, resource: Resource) {
        let mut kept = self.0.lock();
        kept.push(resource);
        let mut bytes = 0;
        let fits = kept.iter().rev().take(KEPT).take_while(|r| {
            bytes += r.bytes();
            bytes <= KEPT_BYTES
        });
        let first = kept.len() - fits.count();
        let gone: Vec<Resource> = kept.drain(..first).collect();
        drop(kept);
        drop(gone);
    }

    fn take(&self, shape: Shape, idle: bool) -> Option<Resource> {
        let mut kept = self.0.lock();
        // The one that rests longest: what was used last may still be in flight.
        let at = kept.iter().position(|r| r.shape() == shape && (!idle || r.is_idle()))?;
        Some(kept.remove(at))
    }
}

/// Memory in a context.
pub struct Held {
    context: Context,
    resource: Resource,
    mem: Mem,
    /// Who writes it last, if a launch. Locked while the host has it mapped, and while a launch takes it: a mapped resource cannot be
    /// launched with, and the one thread is not to see an error because of the other.
    writer: Mutex<Option<Event>>,
}

impl Held {
    pub(super) fn new(context: &Context, shape: Shape, contents: Contents) -> Result<Held> {
        let kept = context.pool().take(shape, contents != Contents::FromKernel);
        let reused = kept.is_some();
        let resource = match kept {
            Some(resource) => resource,
            None => allocate(context, shape)?,
        };
        if reused && contents == Contents::Zeros {
            resource.map::<u8>()?.fill(0);
        }
        let mem = context.mem(&resource)?;
        Ok(Held { context: context.clone(), resource, mem, writer: Mutex::new(None) })
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn resource(&self) -> &Resource {
        &self.resource
    }

    pub(super) fn mem(&self) -> &Mem {
        &self.mem
    }

    /// Keeps the host away while a launch takes the memory.
    pub(super) fn writer(&self) -> MutexGuard<'_, Option<Event>> {
        self.writer.lock()
    }

    /// Waits for the launches that use it; an error if the one that wrote it last failed.
    pub(super) fn wait(&self) -> Result<()> {
        let writer = self.writer.lock().clone();
        if let Some(event) = writer {
            event.wait()?;
        }
        self.resource.wait_idle()
    }

    /// Reads packed rows.
    pub(super) fn read<T: Texel>(&self, texels: &mut [T]) -> Result<()> {
        self.check(texels.len())?;
        self.wait()?;
        let _mapped = self.writer.lock();
        let map: Map<'_, T::Component> = self.resource.map()?;
        let to = T::components_mut(texels);
        for (row, to) in map.rows().zip(to.chunks_exact_mut(self.row::<T>())) {
            to.copy_from_slice(row);
        }
        Ok(())
    }

    pub(super) fn read_all<T: Texel>(&self) -> Result<Vec<T>> {
        let mut texels = vec![T::default(); self.len()];
        self.read(&mut texels)?;
        Ok(texels)
    }

    /// Writes packed rows.
    pub(super) fn write<T: Texel>(&self, texels: &[T]) -> Result<()> {
        self.check(texels.len())?;
        let mut writer = self.writer.lock();
        let mut map: Map<'_, T::Component> = self.resource.map()?;
        let from = T::components(texels);
        for (row, from) in map.rows_mut().zip(from.chunks_exact(self.row::<T>())) {
            row.copy_from_slice(from);
        }
        *writer = None;
        Ok(())
    }

    /// The memory itself, for who has it alone.
    pub(super) fn map<T: Texel>(&mut self) -> Result<Map<'_, T::Component>> {
        self.wait()?;
        *self.writer.get_mut() = None;
        self.resource.map()
    }

    pub(super) fn len(&self) -> usize {
        self.resource.width() as usize * self.resource.height() as usize
    }

    /// Components of a row.
    fn row<T: Texel>(&self) -> usize {
        self.resource.width() as usize * T::FORMAT.components() as usize
    }

    fn check(&self, length: usize) -> Result<()> {
        match self.len() {
            len if len == length => Ok(()),
            len => Err(Error::invalid(format!("{length} elements given for {len} of memory"))),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Unbound everywhere, so that the memory is free when the pool lets go of it.
        self.mem.release();
        if !self.resource.is_shared() {
            self.context.pool().put(self.resource.clone());
        }
    }
}

fn allocate(context: &Context, shape: Shape) -> Result<Resource> {
    let new = || {
        let device = std::slice::from_ref(context.device());
        Resource::allocate(device, shape, Place::Local, Flags { global_buffer: true })
    };
    match new() {
        Err(error) if error.kind() == ErrorKind::OutOfMemory => {
            context.trim();
            new()
        }
        result => result,
    }
}

/// What can be done with memory that is typed by element, whatever its extents.
macro_rules! memory {
    ($name:ident) => {
        impl<T: Texel> $name<T> {
            /// The elements, row by row, after the launches that use them.
            pub fn read(&self) -> Result<Vec<T>> {
                self.held.read_all()
            }

            /// Reads into a slice of as many elements.
            pub fn read_into(&self, elements: &mut [T]) -> Result<()> {
                self.held.read(elements)
            }

            /// Writes all elements, after the launches that use them.
            pub fn write(&mut self, elements: &[T]) -> Result<()> {
                self.held.write(elements)
            }

            /// The memory itself, as numbers; [`Map::rows`](crate::Map::rows) are its rows.
            pub fn map(&mut self) -> Result<crate::Map<'_, T::Component>> {
                self.held.map::<T>()
            }

            /// The context whose launches may use it.
            pub fn context(&self) -> &Context {
                self.held.context()
            }

            /// The resource, for the functions that take one. Who keeps it sees the memory as long as it lives.
            pub fn resource(&self) -> &crate::Resource {
                self.held.resource()
            }
        }

        impl<T: Texel> super::Bound for $name<T> {
            fn held(&self) -> &Held {
                &self.held
            }
        }
    };
}
pub(super) use memory;
