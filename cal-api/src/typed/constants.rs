//! Values of a launch in constant buffers.

use super::held::{Contents, Held};
use crate::context::Context;
use crate::error::Result;
use crate::resource::Shape;

mod sealed {
    pub trait Sealed {}
}

/// A plain argument of a kernel: a row of a constant buffer, from x on. What it does not fill is 0; an `f64` fills two.
pub trait Value: sealed::Sealed {
    /// The words of the row.
    fn row(&self) -> [u32; 4];
}

macro_rules! values {
    ($($number:ty),*) => { $(
        impl sealed::Sealed for $number {}

        impl Value for $number {
            fn row(&self) -> [u32; 4] {
                [*self].row()
            }
        }

        values!($number; 1, 2, 3, 4);
    )* };
    ($number:ty; $($n:literal),*) => { $(
        impl sealed::Sealed for [$number; $n] {}

        impl Value for [$number; $n] {
            fn row(&self) -> [u32; 4] {
                let mut row = [0; 4];
                for (word, number) in row.iter_mut().zip(self) {
                    *word = u32::from_ne_bytes(number.to_ne_bytes());
                }
                row
            }
        }
    )* };
}
values!(f32, i32, u32);

impl sealed::Sealed for f64 {}

impl Value for f64 {
    fn row(&self) -> [u32; 4] {
        [*self, 0.0].row()
    }
}

impl sealed::Sealed for [f64; 2] {}

impl Value for [f64; 2] {
    fn row(&self) -> [u32; 4] {
        let [low, high] = self.map(|number| number.to_bits());
        [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
    }
}

/// Buffers that wait for launches at most.
const MOST: usize = 16;

/// The constant buffers of one `cb#` of a kernel: launches in flight have theirs, others are used again.
#[derive(Default)]
pub(super) struct Constants {
    buffers: Vec<Held>,
    /// Which one holds what the latest launch has.
    latest: Option<(usize, Vec<[u32; 4]>)>,
}

impl Constants {
    /// A buffer with these rows.
    pub(super) fn place(&mut self, context: &Context, rows: &[[u32; 4]]) -> Result<&Held> {
        let at = match &self.latest {
            Some((at, same)) if same == rows => *at,
            _ => {
                let at = self.free(context, rows.len())?;
                self.latest = None;
                self.buffers[at].write(rows)?;
                self.latest = Some((at, rows.to_vec()));
                at
            }
        };
        Ok(&self.buffers[at])
    }

    fn free(&mut self, context: &Context, rows: usize) -> Result<usize> {
        let mut fitting = (0..self.buffers.len()).filter(|&at| self.buffers[at].len() == rows);
        if let Some(at) = fitting.clone().find(|&at| self.buffers[at].resource().is_idle()) {
            return Ok(at);
        }
        if fitting.clone().count() < MOST {
            let shape = Shape::line(rows as u32, <[u32; 4] as super::Texel>::FORMAT);
            self.buffers.push(Held::new(context, shape, Contents::FromHost)?);
            return Ok(self.buffers.len() - 1);
        }
        // In turn: the first is the one that was launched first.
        let first = fitting.next().unwrap_or(0);
        let held = self.buffers.remove(first);
        self.buffers.push(held);
        Ok(self.buffers.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_from_x_on() {
        assert_eq!(1.5f32.row(), [1.5f32.to_bits(), 0, 0, 0]);
        assert_eq!([-1i32, 2, 3].row(), [u32::MAX, 2, 3, 0]);
        assert_eq!(1.0f64.row(), [0, 0x3ff0_0000, 0, 0]);
        assert_eq!([0.0, 1.0f64].row(), [0, 0, 0, 0x3ff0_0000]);
    }
}
