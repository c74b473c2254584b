//! The four types of BLAS, and how the device sees them.
//!
//! A device multiplies real matrices only. A complex matrix on the left of a product is sent with twice the columns, one on
//! the right with twice the rows and columns, so that the real product of the two is the complex one, row by row:
//!
//! ```text
//! (re im) · ( re im) = (re·re − im·im   re·im + im·re)
//!           (-im re)
//! ```

use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

pub use num_complex::{Complex32, Complex64};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
    impl Sealed for super::Complex32 {}
    impl Sealed for super::Complex64 {}
}

/// One of the types of BLAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `s`: single precision.
    Single,
    /// `d`: double precision.
    Double,
    /// `c`: complex, single precision.
    Complex,
    /// `z`: complex, double precision.
    DoubleComplex,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Single, Kind::Double, Kind::Complex, Kind::DoubleComplex];

    /// The letter that names of routines begin with.
    pub const fn letter(self) -> char {
        match self {
            Kind::Single => 's',
            Kind::Double => 'd',
            Kind::Complex => 'c',
            Kind::DoubleComplex => 'z',
        }
    }

    /// The precision of its numbers.
    pub const fn precision(self) -> Precision {
        match self {
            Kind::Single | Kind::Complex => Precision::Single,
            Kind::Double | Kind::DoubleComplex => Precision::Double,
        }
    }

    /// Operations of one multiply-add: 2, or 8 of complex numbers.
    pub const fn operations(self) -> f64 {
        match self {
            Kind::Single | Kind::Double => 2.0,
            Kind::Complex | Kind::DoubleComplex => 8.0,
        }
    }
}

/// The precision of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

impl Precision {
    /// Its name in the file of measurements.
    pub const fn name(self) -> &'static str {
        match self {
            Precision::Single => "single",
            Precision::Double => "double",
        }
    }

    /// Bytes of a number.
    pub const fn bytes(self) -> usize {
        match self {
            Precision::Single => 4,
            Precision::Double => 8,
        }
    }
}

/// `f32`, `f64` and complex numbers of them.
pub trait Scalar:
    sealed::Sealed
    + Copy
    + Debug
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// The type of its parts.
    type Real: Real;
    /// Which it is.
    const KIND: Kind;
    /// Real numbers in one: 1 or 2.
    const PARTS: usize;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The number of real parts `re` and `im`; a real type drops `im`.
    fn of(re: Self::Real, im: Self::Real) -> Self;
    /// Real and imaginary part.
    fn parts(self) -> [Self::Real; 2];
    /// The complex conjugate.
    fn conj(self) -> Self;
    /// 1 / self, for the triangles of small systems.
    fn divide(self, by: Self) -> Self;

    /// Element (`row`, `column`) of the block that stands for a number on the right of a product.
    fn right(self, row: usize, column: usize) -> Self::Real {
        let [re, im] = self.parts();
        match (row, column) {
            (0, 0) | (1, 1) => re,
            (0, _) => im,
            _ => -im,
        }
    }
}

/// `f32` and `f64`.
pub trait Real: Scalar<Real = Self> + recal::Element + Send + Sync {
    /// Which it is.
    const PRECISION: Precision;
}

macro_rules! reals {
    ($($t:ty, $kind:ident;)*) => { $(
        impl Scalar for $t {
            type Real = $t;
            const KIND: Kind = Kind::$kind;
            const PARTS: usize = 1;
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;

            fn of(re: $t, _: $t) -> $t {
                re
            }
            fn parts(self) -> [$t; 2] {
                [self, 0.0]
            }
            fn conj(self) -> $t {
                self
            }
            fn divide(self, by: $t) -> $t {
                self / by
            }
        }

        impl Real for $t {
            const PRECISION: Precision = Precision::$kind;
        }
    )* };
}

macro_rules! complexes {
    ($($t:ty, $real:ty, $kind:ident;)*) => { $(
        impl Scalar for $t {
            type Real = $real;
            const KIND: Kind = Kind::$kind;
            const PARTS: usize = 2;
            const ZERO: $t = <$t>::new(0.0, 0.0);
            const ONE: $t = <$t>::new(1.0, 0.0);

            fn of(re: $real, im: $real) -> $t {
                <$t>::new(re, im)
            }
            fn parts(self) -> [$real; 2] {
                [self.re, self.im]
            }
            fn conj(self) -> $t {
                <$t>::new(self.re, -self.im)
            }
            fn divide(self, by: $t) -> $t {
                // Scaled by the larger part, so that the square does not overflow.
                if by.re.abs() >= by.im.abs() {
                    let ratio = by.im / by.re;
                    let scale = by.re + by.im * ratio;
                    <$t>::new((self.re + self.im * ratio) / scale, (self.im - self.re * ratio) / scale)
                } else {
                    let ratio = by.re / by.im;
                    let scale = by.re * ratio + by.im;
                    <$t>::new((self.re * ratio + self.im) / scale, (self.im * ratio - self.re) / scale)
                }
            }
        }
    )* };
}

reals! {
    f32, Single;
    f64, Double;
}
complexes! {
    Complex32, f32, Complex;
    Complex64, f64, DoubleComplex;
}
