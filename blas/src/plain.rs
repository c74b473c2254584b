//! Loops for where there is neither a device nor a host BLAS, and for the small triangles that recursions end with.

use crate::scalar::Scalar;
use crate::view::{View, ViewMut};

/// C = alpha A B + beta C.
pub(crate) fn gemm<T: Scalar>(alpha: T, a: View<T>, b: View<T>, beta: T, c: &mut ViewMut<T>) {
    c.scale(beta);
    for j in 0..c.columns() {
        for k in 0..a.columns() {
            let factor = alpha * b.at(k, j);
            for i in 0..c.rows() {
                c.update(i, j, |sum| sum + factor * a.at(i, k));
            }
        }
    }
}

/// X of A X = B in B's place, with a triangle A; its diagonal is not read if it is of ones.
pub(crate) fn solve<T: Scalar>(lower: bool, unit: bool, a: View<T>, b: &mut ViewMut<T>) {
    let n = a.rows();
    for j in 0..b.columns() {
        for step in 0..n {
            let k = if lower { step } else { n - 1 - step };
            if !unit {
                b.update(k, j, |x| x.divide(a.at(k, k)));
            }
            let x = b.view().at(k, j);
            for i in if lower { k + 1..n } else { 0..k } {
                b.update(i, j, |y| y - x * a.at(i, k));
            }
        }
    }
}

/// B = A B with a triangle A; its diagonal is not read if it is of ones.
pub(crate) fn multiply<T: Scalar>(lower: bool, unit: bool, a: View<T>, b: &mut ViewMut<T>) {
    let n = a.rows();
    for j in 0..b.columns() {
        for step in 0..n {
            let k = if lower { n - 1 - step } else { step };
            let x = b.view().at(k, j);
            for i in if lower { k + 1..n } else { 0..k } {
                b.update(i, j, |y| y + x * a.at(i, k));
            }
            if !unit {
                b.update(k, j, |x| a.at(k, k) * x);
            }
        }
    }
}
