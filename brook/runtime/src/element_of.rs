//! Types of Rust that are elements of streams.

use std::mem::MaybeUninit;

use brook_abi::Scalar;

use crate::element::{Element as Description, Member};

/// A type that streams hold: numbers, arrays of two to four of them for the short vectors of the language (`[f32; 4]` is `float4`),
/// and structs of those, for which `recal-brook-build` writes the implementation.
///
/// # Safety
/// The type is `repr(C)` or a primitive, has exactly the members told, and any bits are a value of them.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The vectors inside, in order, with their places in bytes.
    fn members() -> Vec<Member>;
}

/// A number of the language.
///
/// # Safety
/// The type has the size of the scalar, and any bits are a value of it.
pub unsafe trait Number: Copy + Send + Sync + 'static {
    /// Which.
    const SCALAR: Scalar;
}

/// A constant of a kernel: a number, or a short vector of numbers.
pub trait Constant: Element {
    /// Its numbers.
    const SCALAR: Scalar;
    /// How many.
    const WIDTH: usize;
}

macro_rules! numbers {
    ($($type:ty: $scalar:ident, $($width:literal)*;)*) => {$(
        // SAFETY: the sizes are those of the language, and the types are plain numbers.
        unsafe impl Number for $type {
            const SCALAR: Scalar = Scalar::$scalar;
        }
        // SAFETY: as above.
        unsafe impl Element for $type {
            fn members() -> Vec<Member> {
                vec![Member { scalar: Scalar::$scalar, width: 1, offset: 0 }]
            }
        }
        impl Constant for $type {
            const SCALAR: Scalar = Scalar::$scalar;
            const WIDTH: usize = 1;
        }
        $(
            // SAFETY: an array is its elements, without padding.
            unsafe impl Element for [$type; $width] {
                fn members() -> Vec<Member> {
                    vec![Member { scalar: Scalar::$scalar, width: $width, offset: 0 }]
                }
            }
            impl Constant for [$type; $width] {
                const SCALAR: Scalar = Scalar::$scalar;
                const WIDTH: usize = $width;
            }
        )*
    )*};
}
numbers! {
    i8: Char, 2 3 4;
    u8: UChar, 2 3 4;
    i16: Short, 2 3 4;
    u16: UShort, 2 3 4;
    i32: Int, 2 3 4;
    u32: UInt, 2 3 4;
    f32: Float, 2 3 4;
    f64: Double, 2;
}

/// What the runtime knows about an element.
pub(crate) fn describe<T: Element>() -> Description {
    Description { members: T::members(), size: size_of::<T>() }
}

/// True if nothing lies between the members.
fn is_dense<T: Element>() -> bool {
    T::members().iter().map(Member::bytes).sum::<usize>() == size_of::<T>()
}

/// Elements as bytes; padding, whose bytes are no values, is 0.
pub(crate) fn with_bytes<T: Element, R>(list: &[T], work: impl FnOnce(&[u8]) -> R) -> R {
    let (address, length) = (list.as_ptr().cast::<u8>(), size_of_val(list));
    if is_dense::<T>() {
        // SAFETY: the memory of the list, of which every byte belongs to a number.
        return work(unsafe { std::slice::from_raw_parts(address, length) });
    }
    let mut bytes = vec![0; length];
    for (at, to) in bytes.chunks_exact_mut(size_of::<T>()).enumerate() {
        for member in T::members() {
            let place = at * size_of::<T>() + member.offset;
            // SAFETY: the bytes of a member of an element of the list.
            let from = unsafe { std::slice::from_raw_parts(address.add(place), member.bytes()) };
            to[member.offset..][..from.len()].copy_from_slice(from);
        }
    }
    work(&bytes)
}

/// Elements from bytes.
pub(crate) fn from_bytes<T: Element>(bytes: &[u8], list: &mut [T]) {
    let length = size_of_val(list).min(bytes.len());
    // SAFETY: as many bytes as both have; any bits are a value of the type. Bytes of padding may be anything.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), list.as_mut_ptr().cast(), length) };
}

/// An element whose bits are all 0.
pub(crate) fn zero<T: Element>() -> T {
    // SAFETY: any bits are a value of the type.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Padded {
        small: i8,
        large: f64,
        last: [i16; 3],
    }

    // SAFETY: the members are all there are.
    unsafe impl Element for Padded {
        fn members() -> Vec<Member> {
            vec![
                Member { scalar: Scalar::Char, width: 1, offset: 0 },
                Member { scalar: Scalar::Double, width: 1, offset: 8 },
                Member { scalar: Scalar::Short, width: 3, offset: 16 },
            ]
        }
    }

    #[test]
    fn padding_is_zero_and_members_survive() {
        let list = [Padded { small: -3, large: 1.5, last: [1, 2, 3] }; 3];
        let bytes = with_bytes(&list, <[u8]>::to_vec);
        assert_eq!(bytes.len(), 72);
        assert_eq!(&bytes[24..32], &[0xFD, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&bytes[40..48], &[1, 0, 2, 0, 3, 0, 0, 0]);
        let mut back = [zero::<Padded>(); 3];
        from_bytes(&bytes, &mut back);
        assert_eq!(back, list);
    }

    #[test]
    fn numbers_have_their_sizes() {
        fn check<T: Element>() {
            assert_eq!(describe::<T>().members.iter().map(Member::bytes).sum::<usize>(), size_of::<T>());
        }
        check::<i8>();
        check::<[u16; 3]>();
        check::<[i32; 4]>();
        check::<[f64; 2]>();
        assert_eq!(<u8 as Number>::SCALAR.bytes(), 1);
    }
}
