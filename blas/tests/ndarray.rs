//! Arrays of ndarray as matrices: any layout, with strides of both signs.

mod support;

use ndarray::{Array2, ArrayView2, s};
use recal_blas::{Blas, View, ViewMut};
use support::{Random, cpu, options};

fn random(random: &mut Random, rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || random.integer())
}

fn check(blas: &Blas, a: ArrayView2<f64>, b: ArrayView2<f64>, mut c: Array2<f64>, turned: bool) {
    let wanted = if turned { 2.0 * a.dot(&b) + 3.0 * &c.t() } else { 2.0 * a.dot(&b) + 3.0 * &c };
    let to = if turned { c.view_mut().reversed_axes() } else { c.view_mut() };
    blas.gemm(2.0, View::from(a), View::from(b), 3.0, ViewMut::from(to)).unwrap();
    let found = if turned { c.t().to_owned() } else { c };
    assert_eq!(found, wanted);
}

#[test]
fn arrays_are_matrices() {
    let blas = cpu(options(4096));
    let mut numbers = Random(7);
    let (m, n, k) = (23, 31, 17);
    let (a, b) = (random(&mut numbers, m, k), random(&mut numbers, k, n));
    let (at, bt) = (random(&mut numbers, k, m), random(&mut numbers, n, k));
    let mut fresh = |rows, columns| random(&mut numbers, rows, columns);
    check(&blas, a.view(), b.view(), fresh(m, n), false);
    check(&blas, at.t(), bt.t(), fresh(n, m), true);
    // Backwards, and every second row.
    check(&blas, a.slice(s![..;-1, ..;-1]), b.slice(s![..;-1, ..;-1]), fresh(m, n), false);
    check(&blas, a.slice(s![..;2, 3..]), b.slice(s![3.., 4..;3]), fresh(12, 9), false);
    // Parts of a larger result: the rest stays.
    let mut c = Array2::from_elem((2 * m, n + 2), 5.0);
    blas.gemm(1.0, View::from(a.view()), View::from(b.view()), 0.0, c.slice_mut(s![1..;2, 1..=n]).into())
        .unwrap();
    assert_eq!(c.slice(s![1..;2, 1..=n]), a.dot(&b));
    assert_eq!(c.slice(s![..;2, ..]), Array2::from_elem((m, n + 2), 5.0));
    assert!(c.column(0).iter().chain(c.column(n + 1)).all(|x| *x == 5.0));
}
