//! What is made of matrix products: symmetric factors, products of a matrix with itself, triangles.
//!
//! Sides, triangles and transposition come down to few cases, since views can be transposed and conjugated: a factor from the
//! right is one from the left of the transpose.

use std::ops::Range;

use crate::blas::Blas;
use crate::error::{Error, Result};
use crate::host::Triangle;
use crate::plain;
use crate::scalar::Scalar;
use crate::view::{View, ViewMut};

/// Order of triangles at which recursions end.
const BASE: usize = 128;

/// Which part of a matrix is given; the other follows from it, or is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
}

/// Where the structured factor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A B.
    Left,
    /// B A.
    Right,
}

impl Part {
    /// That of the transpose.
    pub fn other(self) -> Part {
        match self {
            Part::Lower => Part::Upper,
            Part::Upper => Part::Lower,
        }
    }
}

fn square<T: Scalar>(a: &View<T>) -> Result<usize> {
    if a.rows() != a.columns() {
        return Err(Error::shape(format!("{} x {} is not square", a.rows(), a.columns())));
    }
    Ok(a.rows())
}

/// A term of a sum: alpha A B.
type Term<'a, T> = (T, View<'a, T>, View<'a, T>);

/// A part of the sum: these rows of the factors A, these columns of the factors B.
fn cut<'a, T: Scalar>(terms: &[Term<'a, T>], rows: Range<usize>, columns: Range<usize>) -> Vec<Term<'a, T>> {
    let mut parts = Vec::new();
    for &(alpha, a, b) in terms {
        parts.push((alpha, a.part(rows.clone(), 0..a.columns()), b.part(0..b.rows(), columns.clone())));
    }
    parts
}

/// Only the real part.
fn real<T: Scalar>(x: T) -> T {
    T::of(x.parts()[0], T::ZERO.parts()[0])
}

impl Blas {
    /// C = alpha A B + beta C or alpha B A + beta C, with a symmetric A of which one part is read.
    #[allow(clippy::too_many_arguments)]
    pub fn symm<T: Scalar>(
        &self,
        side: Side,
        part: Part,
        alpha: T,
        a: View<T>,
        b: View<T>,
        beta: T,
        c: ViewMut<T>,
    ) -> Result<()> {
        self.structured(false, side, part, alpha, a, b, beta, c)
    }

    /// As [`Blas::symm`], with a Hermitian A. The imaginary parts of its diagonal are not read.
    #[allow(clippy::too_many_arguments)]
    pub fn hemm<T: Scalar>(
        &self,
        side: Side,
        part: Part,
        alpha: T,
        a: View<T>,
        b: View<T>,
        beta: T,
        c: ViewMut<T>,
    ) -> Result<()> {
        self.structured(true, side, part, alpha, a, b, beta, c)
    }

    #[allow(clippy::too_many_arguments)]
    fn structured<T: Scalar>(
        &self,
        hermitian: bool,
        side: Side,
        part: Part,
        alpha: T,
        a: View<T>,
        b: View<T>,
        beta: T,
        mut c: ViewMut<T>,
    ) -> Result<()> {
        let n = square(&a)?;
        if alpha == T::ZERO {
            c.scale(beta);
            return Ok(());
        }
        let lower = if part == Part::Lower { a } else { a.t() };
        let mut whole = Vec::with_capacity(n * n);
        for (j, i) in (0..n).flat_map(|j| (0..n).map(move |i| (j, i))) {
            let x = if i >= j { lower.at(i, j) } else { lower.at(j, i) };
            // The triangle that is there may be the transpose of the lower one.
            let turned = (i < j) != (part == Part::Upper);
            whole.push(match (hermitian, i == j) {
                (true, true) => real(x),
                (true, false) if turned => x.conj(),
                _ => x,
            });
        }
        let whole = View::by_columns(&whole, n, n)?;
        match side {
            Side::Left => self.gemm(alpha, whole, b, beta, c),
            Side::Right => self.gemm(alpha, b, whole, beta, c),
        }
    }

    /// C = alpha A Aᵀ + beta C, of which one part is read and written.
    pub fn syrk<T: Scalar>(&self, part: Part, alpha: T, a: View<T>, beta: T, c: ViewMut<T>) -> Result<()> {
        self.rank_k(false, part, &[(alpha, a, a.t())], beta, c)
    }

    /// C = alpha A Aᴴ + beta C with real alpha and beta, of which one part is read and written. Its diagonal becomes real.
    pub fn herk<T: Scalar>(
        &self,
        part: Part,
        alpha: T::Real,
        a: View<T>,
        beta: T::Real,
        c: ViewMut<T>,
    ) -> Result<()> {
        let [alpha, beta] = [alpha, beta].map(|x| T::of(x, T::ZERO.parts()[0]));
        self.rank_k(true, part, &[(alpha, a, a.h())], beta, c)
    }

    /// C = alpha A Bᵀ + alpha B Aᵀ + beta C, of which one part is read and written.
    pub fn syr2k<T: Scalar>(
        &self,
        part: Part,
        alpha: T,
        a: View<T>,
        b: View<T>,
        beta: T,
        c: ViewMut<T>,
    ) -> Result<()> {
        self.rank_k(false, part, &[(alpha, a, b.t()), (alpha, b, a.t())], beta, c)
    }

    /// C = alpha A Bᴴ + conj(alpha) B Aᴴ + beta C with real beta, of which one part is read and written. Its diagonal becomes real.
    pub fn her2k<T: Scalar>(
        &self,
        part: Part,
        alpha: T,
        a: View<T>,
        b: View<T>,
        beta: T::Real,
        c: ViewMut<T>,
    ) -> Result<()> {
        let beta = T::of(beta, T::ZERO.parts()[0]);
        self.rank_k(true, part, &[(alpha, a, b.h()), (alpha.conj(), b, a.h())], beta, c)
    }

    /// One part of C = sum of alpha A B + beta C: halves along the diagonal, a product between them.
    fn rank_k<T: Scalar>(
        &self,
        hermitian: bool,
        part: Part,
        terms: &[Term<T>],
        beta: T,
        mut c: ViewMut<T>,
    ) -> Result<()> {
        let n = square(&c.view())?;
        for (_, a, b) in terms {
            if a.rows() != n || b.columns() != n || a.columns() != b.rows() {
                return Err(Error::shape(format!("{a:?} times {b:?} is not {n} x {n}")));
            }
        }
        if n > BASE {
            let half = (n / 2).next_multiple_of(8);
            let cut = |rows: Range<usize>, columns: Range<usize>| cut(terms, rows, columns);
            let (first, second) = (0..half, half..n);
            let (rows, columns) = match part {
                Part::Lower => (second.clone(), first.clone()),
                Part::Upper => (first.clone(), second.clone()),
            };
            self.rank_k(
                hermitian,
                part,
                &cut(first.clone(), first.clone()),
                beta,
                c.reborrow().part(first.clone(), first),
            )?;
            self.sum(&cut(rows.clone(), columns.clone()), beta, c.reborrow().part(rows, columns))?;
            return self.rank_k(
                hermitian,
                part,
                &cut(second.clone(), second.clone()),
                beta,
                c.part(second.clone(), second),
            );
        }
        // The whole square, of which a part is taken. The other part of C is not read.
        let mut square = vec![T::ZERO; n * n];
        let live: Vec<_> = terms.iter().filter(|(alpha, ..)| *alpha != T::ZERO).copied().collect();
        self.sum(&live, T::ZERO, ViewMut::by_columns(&mut square, n, n)?)?;
        let empty = live.is_empty() || live.iter().all(|(_, a, _)| a.columns() == 0);
        for j in 0..n {
            for i in if part == Part::Lower { j..n } else { 0..j + 1 } {
                let sum = square[j * n + i];
                let diagonal = hermitian && i == j;
                c.update(i, j, |old| {
                    let kept = match beta {
                        _ if beta == T::ZERO => T::ZERO,
                        _ if beta == T::ONE => old,
                        _ => beta * old,
                    };
                    // Of nothing and beta 1 the reference leaves C as it is.
                    let new = if empty {
                        kept
                    } else if beta == T::ZERO {
                        sum
                    } else {
                        sum + kept
                    };
                    if diagonal && !(empty && beta == T::ONE) { real(new) } else { new }
                });
            }
        }
        Ok(())
    }

    /// C = sum of alpha A B + beta C.
    fn sum<T: Scalar>(&self, terms: &[Term<T>], beta: T, mut c: ViewMut<T>) -> Result<()> {
        for (number, (alpha, a, b)) in terms.iter().enumerate() {
            self.gemm(*alpha, *a, *b, if number == 0 { beta } else { T::ONE }, c.reborrow())?;
        }
        if terms.is_empty() {
            c.scale(beta);
        }
        Ok(())
    }

    /// B = alpha A B or alpha B A, with a triangle A. What is not in its part is not read, nor is a diagonal of ones (`unit`).
    pub fn trmm<T: Scalar>(
        &self,
        side: Side,
        part: Part,
        unit: bool,
        alpha: T,
        a: View<T>,
        b: ViewMut<T>,
    ) -> Result<()> {
        self.triangular(Triangle::Multiply, side, part, unit, alpha, a, b)
    }

    /// X of A X = alpha B or X A = alpha B in B's place, with a triangle A. What is not in its part is not read, nor is a
    /// diagonal of ones (`unit`).
    pub fn trsm<T: Scalar>(
        &self,
        side: Side,
        part: Part,
        unit: bool,
        alpha: T,
        a: View<T>,
        b: ViewMut<T>,
    ) -> Result<()> {
        self.triangular(Triangle::Solve, side, part, unit, alpha, a, b)
    }

    #[allow(clippy::too_many_arguments)]
    fn triangular<T: Scalar>(
        &self,
        what: Triangle,
        side: Side,
        part: Part,
        unit: bool,
        alpha: T,
        a: View<T>,
        b: ViewMut<T>,
    ) -> Result<()> {
        let n = square(&a)?;
        let (a, part, mut b) = match side {
            Side::Left => (a, part, b),
            Side::Right => (a.t(), part.other(), b.t()),
        };
        if n != b.rows() {
            return Err(Error::shape(format!("a triangle of {n} rows and {b:?}")));
        }
        if n == 0 || b.columns() == 0 {
            return Ok(());
        }
        if alpha == T::ZERO {
            b.scale(alpha);
            return Ok(());
        }
        self.halves(what, [part == Part::Lower, unit], alpha, a, b)
    }

    /// B = alpha A B, or X of A X = alpha B: one half, the product between the halves, the other half. First comes what needs nothing of
    /// the other (a solution), or what nothing else needs (a product).
    fn halves<T: Scalar>(
        &self,
        what: Triangle,
        [lower, unit]: [bool; 2],
        alpha: T,
        a: View<T>,
        mut b: ViewMut<T>,
    ) -> Result<()> {
        let n = a.rows();
        if n <= BASE {
            b.scale(alpha);
            self.base(what, lower, unit, a, &mut b);
            return Ok(());
        }
        let half = (n / 2).next_multiple_of(8);
        let (top, bottom) = (0..half, half..n);
        let between =
            if lower { a.part(bottom.clone(), top.clone()) } else { a.part(top.clone(), bottom.clone()) };
        let [top_a, bottom_a] = [top, bottom].map(|half| a.part(half.clone(), half));
        let (top, bottom) = b.split_rows(half);
        let (mut first, first_a, mut second, second_a) = match lower == (what == Triangle::Solve) {
            true => (top, top_a, bottom, bottom_a),
            false => (bottom, bottom_a, top, top_a),
        };
        let form = [lower, unit];
        self.halves(what, form, alpha, first_a, first.reborrow())?;
        match what {
            Triangle::Solve => {
                self.gemm(-T::ONE, between, first.view(), alpha, second.reborrow())?;
                self.halves(what, form, T::ONE, second_a, second)
            }
            Triangle::Multiply => {
                self.gemm(alpha, between, second.view(), T::ONE, first)?;
                self.halves(what, form, alpha, second_a, second)
            }
        }
    }

    /// A small triangle: the host's BLAS, or loops.
    fn base<T: Scalar>(&self, what: Triangle, lower: bool, unit: bool, a: View<T>, b: &mut ViewMut<T>) {
        let n = a.rows();
        let mut triangle = vec![T::ZERO; n * n];
        for j in 0..n {
            for i in if lower { j..n } else { 0..j + 1 } {
                if i != j || !unit {
                    triangle[j * n + i] = a.at(i, j);
                }
            }
        }
        if self.host().is_some_and(|host| host.triangle(what, lower, unit, &triangle, b)) {
            return;
        }
        match what {
            Triangle::Solve => plain::solve(lower, unit, a, b),
            Triangle::Multiply => plain::multiply(lower, unit, a, b),
        }
    }
}
