//! Memory of two dimensions.

use std::fmt;
use std::marker::PhantomData;

use super::Texel;
use super::held::{Contents, Held, memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::resource::Shape;

/// Rows of elements, for two-dimensional `i#` and `uav#`, and `o#`. In slices, rows follow each other without padding.
///
/// ```
/// use recal::typed::Image;
/// let context = recal::default_context()?;
/// let image = Image::from_rows(&context, 3, &[1u8, 2, 3, 4, 5, 6])?;
/// assert_eq!((image.width(), image.height()), (3, 2));
/// assert_eq!(image.read()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), recal::Error>(())
/// ```
pub struct Image<T: Texel> {
    held: Held,
    elements: PhantomData<T>,
}

impl<T: Texel> Image<T> {
    fn with(context: &Context, width: u32, height: u32, contents: Contents) -> Result<Self> {
        let held = Held::new(context, Shape::rows(width, height, T::FORMAT), contents)?;
        Ok(Self { held, elements: PhantomData })
    }

    /// Zeros, so many columns and rows. None are an error, and more than the device's limits are
    /// ([`DeviceInfo::max_width_2d`](crate::DeviceInfo)).
    pub fn new(context: &Context, width: u32, height: u32) -> Result<Self> {
        Self::with(context, width, height, Contents::Zeros)
    }

    /// For a kernel to write: what is there before is zeros, or what another image left. Costs nothing where one of the same extents
    /// is gone.
    pub fn output(context: &Context, width: u32, height: u32) -> Result<Self> {
        Self::with(context, width, height, Contents::FromKernel)
    }

    /// Whole rows of a slice, each of so many elements.
    pub fn from_rows(context: &Context, width: u32, elements: &[T]) -> Result<Self> {
        let height = elements.len().checked_div(width as usize).unwrap_or(0);
        let height = u32::try_from(height).ok().filter(|&h| h as usize * width as usize == elements.len());
        let height = height
            .ok_or_else(|| Error::invalid(format!("{} elements are no rows of {width}", elements.len())))?;
        let image = Self::with(context, width, height, Contents::FromHost)?;
        image.held.write(elements)?;
        Ok(image)
    }

    /// Columns.
    pub fn width(&self) -> u32 {
        self.held.resource().width()
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.held.resource().height()
    }
}

memory!(Image);

impl<T: Texel> fmt::Debug for Image<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({} x {} {})", self.width(), self.height(), T::FORMAT.name())
    }
}

#[cfg(feature = "ndarray")]
impl<T: Texel> Image<T> {
    /// The elements of an array of rows and columns, whatever its strides.
    ///
    /// ```
    /// use ndarray::array;
    /// let context = recal::default_context()?;
    /// let a = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let image = recal::typed::Image::from_array(&context, a.t())?;
    /// assert_eq!(image.to_array()?, a.t());
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn from_array<'a>(context: &Context, array: impl Into<ndarray::ArrayView2<'a, T>>) -> Result<Self> {
        let array = array.into();
        let width = u32::try_from(array.ncols())
            .map_err(|_| Error::invalid(format!("{} columns are more than 32 bits count", array.ncols())))?;
        match array.as_slice() {
            Some(elements) => Self::from_rows(context, width, elements),
            None => Self::from_rows(context, width, &array.iter().copied().collect::<Vec<T>>()),
        }
    }

    /// As [`Image::read`], an array of rows and columns.
    pub fn to_array(&self) -> Result<ndarray::Array2<T>> {
        let shape = (self.height() as usize, self.width() as usize);
        ndarray::Array2::from_shape_vec(shape, self.read()?).map_err(|e| Error::failed(e.to_string()))
    }
}
