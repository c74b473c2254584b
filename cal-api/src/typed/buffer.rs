//! Memory of one dimension.

use std::fmt;
use std::marker::PhantomData;

use super::Texel;
use super::held::{Contents, Held, memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::resource::Shape;

/// Elements one after the other, as many as memory holds: for `g[]`, `uav#`, one-dimensional `i#`, a row of `o#`, `cb#`.
///
/// ```
/// let context = recal::default_context()?;
/// let mut buffer = recal::typed::Buffer::from_slice(&context, &[[1.0f32, 2.0], [3.0, 4.0]])?;
/// assert_eq!(buffer.read()?, [[1.0, 2.0], [3.0, 4.0]]);
/// buffer.write(&[[0.5, 0.5]; 2])?;
/// buffer.map()?.rows_mut().for_each(|row| row[3] = 7.0);
/// assert_eq!(buffer.read()?, [[0.5, 0.5], [0.5, 7.0]]);
/// # Ok::<(), recal::Error>(())
/// ```
pub struct Buffer<T: Texel> {
    held: Held,
    elements: PhantomData<T>,
}

impl<T: Texel> Buffer<T> {
    fn with(context: &Context, length: usize, contents: Contents) -> Result<Self> {
        let width = u32::try_from(length)
            .map_err(|_| Error::invalid(format!("length: {length} elements are more than 32 bits count")))?;
        let held = Held::new(context, Shape::line(width, T::FORMAT), contents)?;
        Ok(Self { held, elements: PhantomData })
    }

    /// Zeros. A length of 0 is an error.
    pub fn new(context: &Context, length: usize) -> Result<Self> {
        Self::with(context, length, Contents::Zeros)
    }

    /// For a kernel to write: what is there before is zeros, or what another buffer left. Costs nothing where one of the same length
    /// is gone.
    pub fn output(context: &Context, length: usize) -> Result<Self> {
        Self::with(context, length, Contents::FromKernel)
    }

    /// The elements of a slice.
    pub fn from_slice(context: &Context, elements: &[T]) -> Result<Self> {
        let buffer = Self::with(context, elements.len(), Contents::FromHost)?;
        buffer.held.write(elements)?;
        Ok(buffer)
    }

    /// Number of elements; never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.held.len()
    }
}

memory!(Buffer);

impl<T: Texel> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} {})", self.len(), T::FORMAT.name())
    }
}

#[cfg(feature = "ndarray")]
impl<T: Texel> Buffer<T> {
    /// The elements of an array, whatever its strides.
    pub fn from_array<'a>(context: &Context, array: impl Into<ndarray::ArrayView1<'a, T>>) -> Result<Self> {
        let array = array.into();
        match array.as_slice() {
            Some(elements) => Self::from_slice(context, elements),
            None => Self::from_slice(context, &array.iter().copied().collect::<Vec<T>>()),
        }
    }

    /// As [`Buffer::read`].
    pub fn to_array(&self) -> Result<ndarray::Array1<T>> {
        Ok(self.read()?.into())
    }
}
