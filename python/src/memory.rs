//! Memory of Python for a launch: used where it lies, if the device can, else by way of a copy.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use recal::{Context, Format, Mem, Place, Resource};

use crate::errors::{argument, raised};

/// What the package's Python part says of an array: symbol, bytes in a row-major order, width, height (0: one dimension), name of the
/// format, and whether the kernel writes it.
pub(crate) type Given = (String, PyBuffer<u8>, u32, u32, String, bool);

/// An array in a launch. The bytes are the last to go: the resource's end waits for work that uses them.
pub(crate) struct Memory {
    pub(crate) mem: Mem,
    resource: Resource,
    bytes: PyBuffer<u8>,
    writes: bool,
    pub(crate) copied: bool,
}

impl Memory {
    /// Gives the device an array.
    pub(crate) fn new(py: Python<'_>, context: &Context, given: Given) -> PyResult<(String, Memory)> {
        let (symbol, bytes, width, height, format, writes) = given;
        // Whatever is said: nobody can write the others.
        let writes = writes || !(symbol.starts_with('i') || symbol.starts_with("cb"));
        let format = Format::ALL.iter().copied().find(|f| f.name() == format);
        let format = format.ok_or_else(|| argument(format!("{symbol}: no such format")))?;
        let wanted = u64::from(width) * u64::from(height.max(1)) * u64::from(format.bytes());
        if wanted == 0 {
            return Err(argument(format!("{symbol}: an array without elements")));
        }
        if !bytes.is_c_contiguous() || bytes.len_bytes() as u64 != wanted {
            return Err(argument(format!("{symbol}: {wanted} bytes in a row are wanted")));
        }
        if writes && bytes.readonly() {
            return Err(argument(format!("{symbol}: the kernel writes it, and the array is read-only")));
        }
        let device = context.device();
        let imported = match wanted % 4 {
            // SAFETY: the buffer is held until `Memory` goes, so the bytes stay where they are, and their number was checked. The resource
            // goes first, which waits for all work that uses it. Meanwhile nothing here touches them; another thread of Python that does
            // gets what a racing kernel would, as with every array that two of them use. Inputs and constants, of which buffers may be read-only, no kernel writes.
            0 => unsafe { device.import(bytes.buf_ptr().cast(), width, height, format) }.ok(),
            // Kernels work on whole words.
            _ => None,
        };
        let (resource, copied) = match imported {
            Some(resource) => (resource, false),
            // Not every device reaches all memory of the host.
            None => {
                let own = match height {
                    0 => device.allocate_buffer(width, format, Place::Local),
                    rows => device.allocate_2d(width, rows, format, Place::Local),
                };
                let own = own.map_err(raised)?;
                let from = bytes.to_vec(py)?;
                let mut map = own.map::<u8>().map_err(raised)?;
                let row = width as usize * format.bytes() as usize;
                for (to, from) in map.rows_mut().zip(from.chunks_exact(row)) {
                    to.copy_from_slice(from);
                }
                drop(map);
                (own, true)
            }
        };
        let mem = context.mem(&resource).map_err(raised)?;
        Ok((symbol, Memory { mem, resource, bytes, writes, copied }))
    }

    /// Brings what the kernel wrote to the array.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        if self.copied && self.writes {
            let map = self.resource.map::<u8>().map_err(raised)?;
            let packed: Vec<u8> = map.rows().flatten().copied().collect();
            self.bytes.copy_from_slice(py, &packed)?;
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // The kernel lets go of it, so that the resource is the last that has it.
        self.mem.release();
    }
}
