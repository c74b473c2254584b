//! What elements of typed memory may be.

use recal_hal::Format;

use crate::map::Element;

mod sealed {
    pub trait Sealed {}
}

/// An element of a [`Buffer`](super::Buffer) or an [`Image`](super::Image): a number, or an array of two or four of one type. In a
/// kernel its components are x, y, z, w; an `f64` takes two.
pub trait Texel: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The format of resources of such elements.
    const FORMAT: Format;

    /// The type of its components.
    type Component: Element + Default + Send + Sync + 'static;

    /// The numbers of elements, one after the other.
    fn components(texels: &[Self]) -> &[Self::Component];

    /// The same, to be changed.
    fn components_mut(texels: &mut [Self]) -> &mut [Self::Component];
}

macro_rules! texels {
    ($($number:ty: $one:ident $(, [$n:literal]: $several:ident)*;)*) => { $(
        impl sealed::Sealed for $number {}

        impl Texel for $number {
            const FORMAT: Format = Format::$one;
            type Component = $number;

            fn components(texels: &[$number]) -> &[$number] {
                texels
            }

            fn components_mut(texels: &mut [$number]) -> &mut [$number] {
                texels
            }
        }

        $(
            impl sealed::Sealed for [$number; $n] {}

            impl Texel for [$number; $n] {
                const FORMAT: Format = Format::$several;
                type Component = $number;

                fn components(texels: &[Self]) -> &[$number] {
                    texels.as_flattened()
                }

                fn components_mut(texels: &mut [Self]) -> &mut [$number] {
                    texels.as_flattened_mut()
                }
            }
        )*
    )* };
}

texels! {
    f32: Float32x1, [2]: Float32x2, [4]: Float32x4;
    f64: Float64x1, [2]: Float64x2;
    i32: SignedInt32x1, [2]: SignedInt32x2, [4]: SignedInt32x4;
    u32: UnsignedInt32x1, [2]: UnsignedInt32x2, [4]: UnsignedInt32x4;
    i16: SignedInt16x1, [2]: SignedInt16x2, [4]: SignedInt16x4;
    u16: UnsignedInt16x1, [2]: UnsignedInt16x2, [4]: UnsignedInt16x4;
    i8: SignedInt8x1, [2]: SignedInt8x2, [4]: SignedInt8x4;
    u8: UnsignedInt8x1, [2]: UnsignedInt8x2, [4]: UnsignedInt8x4;
}

/// Whether elements are integers, or numbers with fractions: what the macros ask of types that they do not know by name, while the
/// program is compiled.
#[must_use]
pub const fn fits<T: Texel>(integers: bool) -> bool {
    T::FORMAT.is_integer() == integers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees<T: Texel>() {
        let components = size_of::<T>() / size_of::<T::Component>();
        assert_eq!(T::FORMAT.bytes() as usize, size_of::<T>(), "{:?}", T::FORMAT);
        assert_eq!(T::FORMAT.components() as usize, components, "{:?}", T::FORMAT);
        assert_eq!(T::components(&[T::default(); 3]).len(), 3 * components);
    }

    #[test]
    fn formats_are_those_of_the_types() {
        agrees::<f32>();
        agrees::<[f32; 2]>();
        agrees::<[f32; 4]>();
        agrees::<f64>();
        agrees::<[f64; 2]>();
        agrees::<[u16; 2]>();
        agrees::<[i8; 4]>();
        assert!(fits::<[i8; 4]>(true) && !fits::<f32>(true) && fits::<f64>(false));
    }
}
