//! Products on the CPU device against their definition: sizes, strides, transposition, factors, exceptional numbers.

mod support;

use recal::FloatMode;
use recal_blas::{Complex32, Complex64, Kind, Scalar, View, ViewMut};
use support::{Random, cpu, cpu_in, expected, options};

/// A stored matrix: how it lies, how it is read.
struct Stored<T> {
    numbers: Vec<T>,
    strides: [usize; 2],
    turned: u32,
}

impl<T: Scalar> Stored<T>
where
    T::Real: From<i8>,
{
    /// Rows and columns of what is read; stored transposed or not, by rows, by columns or with gaps in both directions.
    fn new(random: &mut Random, rows: usize, columns: usize) -> Self {
        let turned = random.word() % 4;
        let [stored_rows, stored_columns] = if turned % 2 == 1 { [columns, rows] } else { [rows, columns] };
        let gap = random.below(4);
        let strides = match random.below(3) {
            0 => [stored_columns + gap, 1],
            1 => [1, stored_rows + gap],
            _ => [2 * stored_columns + gap, 2],
        };
        let numbers = (0..stored_rows * strides[0] + stored_columns * strides[1] + 1)
            .map(|_| random.integer())
            .collect();
        Stored { numbers, strides: strides.map(|s| s.max(1)), turned }
    }

    fn view(&self, rows: usize, columns: usize) -> View<'_, T> {
        let [rows, columns] = if self.turned % 2 == 1 { [columns, rows] } else { [rows, columns] };
        let view = View::new(&self.numbers, rows, columns, self.strides).unwrap();
        match self.turned {
            0 => view,
            1 => view.t(),
            2 => view.conj(),
            _ => view.h(),
        }
    }
}

fn random_products<T: Scalar>(rounds: usize)
where
    T::Real: From<i8>,
{
    let mut random = Random(2009 + T::KIND as u64);
    // Blocks of 16 cut even small products into many.
    let engines = [cpu(options(16)), cpu(options(4096))];
    for round in 0..rounds {
        let blas = &engines[round % 2];
        let [m, n, k] = [0; 3].map(|_| if random.below(9) == 0 { random.below(2) } else { random.below(70) });
        let (a, b) = (Stored::<T>::new(&mut random, m, k), Stored::<T>::new(&mut random, k, n));
        let mut c = Stored::<T>::new(&mut random, m, n);
        c.turned &= 1;
        let scale = |random: &mut Random| match random.below(3) {
            0 => T::ZERO,
            1 => T::ONE,
            _ => random.integer(),
        };
        let (alpha, beta) = (scale(&mut random), scale(&mut random));
        let wanted = expected(alpha, a.view(m, k), b.view(k, n), beta, c.view(m, n));
        let before = c.numbers.clone();
        let what = format!(
            "round {round}: {m} x {n} x {k}, {alpha:?}, {beta:?}, {:?} {:?}",
            a.view(m, k),
            b.view(k, n)
        );
        let (strides, turned) = (c.strides, c.turned == 1);
        let [rows, columns] = if turned { [n, m] } else { [m, n] };
        let to = ViewMut::new(&mut c.numbers, rows, columns, strides).unwrap();
        let to = if turned { to.t() } else { to };
        blas.gemm(alpha, a.view(m, k), b.view(k, n), beta, to).unwrap();
        let view = c.view(m, n);
        let found: Vec<T> =
            (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).map(|(i, j)| view.at(i, j)).collect();
        assert_eq!(found, wanted, "{what}");
        // What lies between rows and columns is nobody's.
        let mut inside = vec![false; before.len()];
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            inside[i * strides[0] + j * strides[1]] = true;
        }
        for (at, _) in inside.iter().enumerate().filter(|(_, inside)| !**inside) {
            assert_eq!(c.numbers[at], before[at], "{what}: number {at} is between the elements");
        }
    }
    let done = engines[0].figures(T::KIND);
    assert!(done.operations[0] > 0.0 && done.operations[1] == 0.0, "{done:?}");
}

#[test]
fn single() {
    random_products::<f32>(80);
}

#[test]
fn double() {
    random_products::<f64>(80);
}

#[test]
fn complex() {
    random_products::<Complex32>(60);
}

#[test]
fn double_complex() {
    random_products::<Complex64>(60);
}

/// More steps than one launch adds up.
#[test]
fn long_sums() {
    let blas = cpu(options(4096));
    for k in [2047, 2048, 2049, 4100] {
        let (a, b) = (vec![1.0f32; 3 * k], vec![2.0f32; k * 5]);
        let mut c = vec![1.0; 15];
        let (a, b) = (View::by_rows(&a, 3, k).unwrap(), View::by_columns(&b, k, 5).unwrap());
        blas.gemm(1.0, a, b, 3.0, ViewMut::by_rows(&mut c, 3, 5).unwrap()).unwrap();
        assert_eq!(c, [2.0 * k as f32 + 3.0; 15]);
    }
}

/// With beta 0, C is not read; with alpha 0, neither are A and B. Otherwise NaN and infinities go their way: 0 times an
/// infinity is a NaN, also in kernels.
#[test]
fn exceptional_numbers() {
    let blas = cpu(options(4096));
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    let product = |alpha: f32, a: [f32; 2], b: [f32; 2], beta: f32, c: f32| {
        let mut c = [c];
        let (a, b) = (View::by_rows(&a, 1, 2).unwrap(), View::by_rows(&b, 2, 1).unwrap());
        blas.gemm(alpha, a, b, beta, ViewMut::by_rows(&mut c, 1, 1).unwrap()).unwrap();
        c[0]
    };
    assert_eq!(product(1.0, [1.0, 2.0], [3.0, 4.0], 0.0, nan), 11.0);
    assert_eq!(product(0.0, [nan, 2.0], [infinity, 4.0], 2.0, 3.0), 6.0);
    assert_eq!(product(0.0, [nan, 2.0], [infinity, 4.0], 0.0, nan).to_bits(), 0);
    assert!(product(1.0, [0.0, 2.0], [infinity, 4.0], 0.0, 0.0).is_nan());
    assert!(product(1.0, [0.0, 2.0], [nan, 4.0], 0.0, 0.0).is_nan());
    assert!(product(1.0, [1.0, 2.0], [3.0, 4.0], 1.0, nan).is_nan());
    assert_eq!(product(1.0, [1.0, 2.0], [infinity, 4.0], 1.0, 1.0), infinity);
    assert!(product(1.0, [1.0, 1.0], [infinity, -infinity], 1.0, 1.0).is_nan());
    // A NaN in one row of A stays in that row of C, whatever the kernel's block is.
    let a: Vec<f32> = (0..9 * 5).map(|n| if n == 4 * 5 { nan } else { 1.0 }).collect();
    let (b, mut c) = (vec![1.0; 5 * 7], vec![0.0; 9 * 7]);
    let to = ViewMut::by_rows(&mut c, 9, 7).unwrap();
    blas.gemm(1.0, View::by_rows(&a, 9, 5).unwrap(), View::by_rows(&b, 5, 7).unwrap(), 0.0, to).unwrap();
    for (row, numbers) in c.chunks(7).enumerate() {
        assert!(
            numbers.iter().all(|x| if row == 4 { x.is_nan() } else { *x == 5.0 }),
            "row {row}: {numbers:?}"
        );
    }
}

/// The sum of two numbers without an error: (sum, error).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// A sum of products in about 106 bits.
fn precise(a: &[f64], b: &[f64]) -> f64 {
    let (mut high, mut low) = (0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let product = x * y;
        let error = x.mul_add(*y, -product);
        let (sum, lost) = two_sum(high, product);
        (high, low) = two_sum(sum, low + lost + error);
    }
    high + low
}

/// |error| is at most k u sum |a b|, with u half a unit in the last place, twice for products that are rounded, too.
#[test]
fn errors_are_within_the_usual_bound() {
    let mut random = Random(7);
    let k = 300;
    let mut numbers =
        || (0..k).map(|_| f64::from(random.word()) / f64::from(1u32 << 31) - 0.5).collect::<Vec<f64>>();
    let blas = cpu(options(4096));
    for _ in 0..20 {
        let (a, b) = (numbers(), numbers());
        let bound: f64 = a.iter().zip(&b).map(|(x, y)| (x * y).abs()).sum::<f64>() * k as f64;
        let mut c = [0.0];
        let (va, vb) = (View::by_rows(&a, 1, k).unwrap(), View::by_rows(&b, k, 1).unwrap());
        blas.gemm(1.0, va, vb, 0.0, ViewMut::by_rows(&mut c, 1, 1).unwrap()).unwrap();
        assert!((c[0] - precise(&a, &b)).abs() <= bound * f64::EPSILON / 2.0);
        let [a, b] = [a, b].map(|all| all.into_iter().map(|x| x as f32).collect::<Vec<f32>>());
        let mut c = [0.0f32];
        let (va, vb) = (View::by_rows(&a, 1, k).unwrap(), View::by_rows(&b, k, 1).unwrap());
        blas.gemm(1.0, va, vb, 0.0, ViewMut::by_rows(&mut c, 1, 1).unwrap()).unwrap();
        let [a, b] = [a, b].map(|all| all.into_iter().map(f64::from).collect::<Vec<f64>>());
        assert!((f64::from(c[0]) - precise(&a, &b)).abs() <= bound * f64::from(f32::EPSILON));
    }
}

/// Bits do not depend on how a product is cut, nor on the kernel: sums are in order, and singles are fused in native mode only. Long
/// ones are of several launches.
#[test]
fn bits_are_those_of_sums_in_order() {
    for mode in [FloatMode::Faithful, FloatMode::Native] {
        sums_in_order(mode, [37, 29, 150]);
        sums_in_order(mode, [3, 18, 4500]);
    }
}

fn sums_in_order(mode: FloatMode, [m, n, k]: [usize; 3]) {
    let mut random = Random(11);
    let mut numbers =
        |count: usize| (0..count).map(|_| random.word() as f32 / 1e9 - 1.0).collect::<Vec<f32>>();
    let (a, b) = (numbers(m * k), numbers(k * n));
    let mut wanted = vec![0.0f32; m * n];
    let mut wanted_doubles = vec![0.0f64; m * n];
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        for s in 0..k {
            let (x, y) = (a[i * k + s], b[s * n + j]);
            let sum = &mut wanted[i * n + j];
            *sum = if mode == FloatMode::Native { x.mul_add(y, *sum) } else { *sum + x * y };
            let sum = &mut wanted_doubles[i * n + j];
            *sum = f64::from(x).sin().mul_add(f64::from(y).sin(), *sum);
        }
    }
    let [da, db] = [&a, &b].map(|all| all.iter().map(|x| f64::from(*x).sin()).collect::<Vec<f64>>());
    for block in [16, 32, 4096] {
        let blas = cpu_in(mode, options(block));
        let mut c = vec![0.0; m * n];
        let (va, vb) = (View::by_rows(&a, m, k).unwrap(), View::by_rows(&b, k, n).unwrap());
        blas.gemm(1.0, va, vb, 0.0, ViewMut::by_rows(&mut c, m, n).unwrap()).unwrap();
        assert_eq!(c, wanted, "blocks of {block}");
        let mut c = vec![0.0; m * n];
        let (va, vb) = (View::by_rows(&da, m, k).unwrap(), View::by_rows(&db, k, n).unwrap());
        blas.gemm(1.0, va, vb, 0.0, ViewMut::by_rows(&mut c, m, n).unwrap()).unwrap();
        assert_eq!(c, wanted_doubles, "doubles, blocks of {block}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let blas = cpu(options(4096));
    let numbers = [0.0f64; 12];
    let mut to = [0.0; 4];
    let a = View::by_rows(&numbers, 2, 3).unwrap();
    let error = blas.gemm(1.0, a, a, 0.0, ViewMut::by_rows(&mut to, 2, 2).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "2 x 3 times 2 x 3 is not 2 x 2");
    assert!(View::new(&numbers, 3, 4, [4, 1]).is_ok());
    assert!(View::new(&numbers, 3, 4, [5, 1]).is_err());
    assert!(View::new(&numbers, usize::MAX, 2, [usize::MAX, 1]).is_err());
    for strides in [[0, 1], [1, 1], [1, 0], [2, 3]] {
        assert!(ViewMut::new(&mut [0.0; 12], 3, 3, strides).is_err(), "{strides:?}");
    }
    assert!(ViewMut::new(&mut [0.0; 12], 3, 3, [4, 1]).is_ok());
    assert_eq!(blas.figures(Kind::Double).calls, [0, 0]);
}
