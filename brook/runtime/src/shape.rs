//! Extents of streams, and where their elements lie in device memory.

use crate::error::{Code, Failure, Result};

/// Extents, x first, and the memory that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) rank: usize,
    pub(crate) dims: [u32; 4],
    /// Columns and rows of the memory.
    pub(crate) cells: [u32; 2],
    /// Elements lie row by row, whatever the extents.
    pub(crate) translated: bool,
}

/// Largest widths and heights of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) width_1d: u32,
    pub(crate) width_2d: u32,
    pub(crate) height_2d: u32,
}

/// Narrowest row of translated memory; shorter streams are one row.
const NARROWEST: u64 = 64;

impl Shape {
    /// The memory for extents.
    pub(crate) fn new(rank: usize, dims: [u32; 4], limits: Limits) -> Result<Shape> {
        let count: u64 = dims.iter().map(|d| u64::from(*d)).product();
        let plain = |cells| Ok(Shape { rank, dims, cells, translated: false });
        match rank {
            1 if dims[0] <= limits.width_1d => return plain([dims[0], 1]),
            2 if dims[0] <= limits.width_2d && dims[1] <= limits.height_2d => {
                return plain([dims[0], dims[1]]);
            }
            2 => {
                let message = format!(
                    "{} x {} elements; the device has rows of {} and columns of {}",
                    dims[0], dims[1], limits.width_2d, limits.height_2d
                );
                return Err(Failure::new(Code::NotSupported, message));
            }
            _ => {}
        }
        let mut width = 1u64 << count.isqrt().max(1).ilog2();
        if width < NARROWEST {
            width = count;
        }
        width = width.min(u64::from(limits.width_2d));
        let mut height = count.div_ceil(width);
        if height > u64::from(limits.height_2d) {
            width = u64::from(limits.width_2d);
            height = count.div_ceil(width);
        }
        if height > u64::from(limits.height_2d) {
            let most = u64::from(limits.width_2d) * u64::from(limits.height_2d);
            return Err(Failure::new(
                Code::NotSupported,
                format!("{count} elements; the device takes {most}"),
            ));
        }
        Ok(Shape { rank, dims, cells: [width as u32, height as u32], translated: true })
    }

    /// Elements.
    pub(crate) fn count(&self) -> usize {
        self.dims.iter().map(|d| *d as usize).product()
    }
}
