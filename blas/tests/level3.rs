//! Symmetric factors, products of a matrix with itself and triangles against their definition, in small integers: exact.

mod support;

use recal_blas::{Blas, Complex32, Complex64, Part, Scalar, Side, View, ViewMut};
use support::{Random, cpu, options};

/// Orders on both sides of where recursions end.
const ORDERS: [usize; 5] = [0, 1, 7, 129, 200];

fn engine() -> Blas {
    cpu(options(4096))
}

fn numbers<T: Scalar>(random: &mut Random, count: usize) -> Vec<T>
where
    T::Real: From<i8>,
{
    (0..count).map(|_| random.integer()).collect()
}

fn inside(part: Part, i: usize, j: usize) -> bool {
    if part == Part::Lower { i >= j } else { i <= j }
}

/// A matrix by columns, of a function.
fn made<T: Scalar>(rows: usize, columns: usize, of: impl Fn(usize, usize) -> T) -> Vec<T> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| of(i, j)).collect()
}

fn times<T: Scalar>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
    made(m, n, |i, j| (0..k).fold(T::ZERO, |sum, s| sum + a[s * m + i] * b[j * k + s]))
}

fn real<T: Scalar>(x: T) -> T {
    T::of(x.parts()[0], T::ZERO.parts()[0])
}

fn symmetric<T: Scalar>()
where
    T::Real: From<i8>,
{
    let (blas, mut random) = (engine(), Random(3));
    for n in [0, 1, 7, 60] {
        for (side, part, hermitian) in [
            (Side::Left, Part::Lower, false),
            (Side::Right, Part::Upper, true),
            (Side::Left, Part::Upper, true),
            (Side::Right, Part::Lower, false),
        ] {
            let other = 11;
            let a: Vec<T> = numbers(&mut random, n * n);
            let whole = made(n, n, |i, j| {
                let (x, y) = (a[j * n + i], a[i * n + j]);
                match (hermitian, inside(part, i, j)) {
                    (true, _) if i == j => real(x),
                    (_, true) => x,
                    (true, false) => y.conj(),
                    (false, false) => y,
                }
            });
            let (m, columns) = if side == Side::Left { (n, other) } else { (other, n) };
            let b: Vec<T> = numbers(&mut random, m * columns);
            let mut c: Vec<T> = numbers(&mut random, m * columns);
            let (alpha, beta): (T, T) = (random.integer(), random.integer());
            let product = match side {
                Side::Left => times(&whole, &b, n, n, other),
                Side::Right => times(&b, &whole, other, n, n),
            };
            let wanted: Vec<T> = product.iter().zip(&c).map(|(p, c)| alpha * *p + beta * *c).collect();
            let (va, vb) = (View::by_columns(&a, n, n).unwrap(), View::by_columns(&b, m, columns).unwrap());
            let to = ViewMut::by_columns(&mut c, m, columns).unwrap();
            match hermitian {
                true => blas.hemm(side, part, alpha, va, vb, beta, to).unwrap(),
                false => blas.symm(side, part, alpha, va, vb, beta, to).unwrap(),
            }
            assert_eq!(c, wanted, "{n} {side:?} {part:?} {hermitian}");
        }
    }
}

fn ranks<T: Scalar>()
where
    T::Real: From<i8>,
{
    let (blas, mut random) = (engine(), Random(5));
    for (n, part) in ORDERS.into_iter().flat_map(|n| [(n, Part::Lower), (n, Part::Upper)]) {
        let k = 9;
        let (a, b): (Vec<T>, Vec<T>) = (numbers(&mut random, n * k), numbers(&mut random, n * k));
        let c: Vec<T> = numbers(&mut random, n * n);
        let alpha: T = random.integer();
        let beta = T::Real::from(2);
        let (va, vb) = (View::by_columns(&a, n, k).unwrap(), View::by_columns(&b, n, k).unwrap());
        let sum = |x: &[T], y: &[T], i: usize, j: usize, conjugated: bool| {
            (0..k).fold(T::ZERO, |sum, s| {
                let y = y[s * n + j];
                sum + x[s * n + i] * if conjugated { y.conj() } else { y }
            })
        };
        let scale = |x: T::Real| T::of(x, T::ZERO.parts()[0]);
        for which in 0..4 {
            let wanted = made(n, n, |i, j| {
                let old = c[j * n + i];
                let new = match which {
                    0 => alpha * sum(&a, &a, i, j, false),
                    1 => scale(beta) * sum(&a, &a, i, j, true),
                    2 => alpha * sum(&a, &b, i, j, false) + alpha * sum(&b, &a, i, j, false),
                    _ => alpha * sum(&a, &b, i, j, true) + alpha.conj() * sum(&b, &a, i, j, true),
                } + scale(beta) * old;
                match inside(part, i, j) {
                    false => old,
                    true if which % 2 == 1 && i == j => real(new),
                    true => new,
                }
            });
            let mut found = c.clone();
            let to = ViewMut::by_columns(&mut found, n, n).unwrap();
            match which {
                0 => blas.syrk(part, alpha, va, scale(beta), to).unwrap(),
                1 => blas.herk(part, beta, va, beta, to).unwrap(),
                2 => blas.syr2k(part, alpha, va, vb, scale(beta), to).unwrap(),
                _ => blas.her2k(part, alpha, va, vb, beta, to).unwrap(),
            }
            assert!(found == wanted, "routine {which}, {n} {part:?}");
        }
    }
}

/// A triangle with ones on its diagonal: products and solutions are integers. What is not read is NaN.
fn triangles<T: Scalar>(nan: T)
where
    T::Real: From<i8>,
{
    let (blas, mut random) = (engine(), Random(9));
    let minus = T::ZERO - T::ONE;
    for (n, part, side) in ORDERS.into_iter().flat_map(|n| {
        [(n, Part::Lower, Side::Left), (n, Part::Upper, Side::Right), (n, Part::Upper, Side::Left)]
    }) {
        let other = 13;
        // Few entries, so that powers stay small.
        let entries: Vec<T> =
            (0..n * n).map(|_| if random.below(20) == 0 { random.integer() } else { T::ZERO }).collect();
        for unit in [true, false] {
            let diagonal = if unit { T::ONE } else { minus };
            let dense = made(n, n, |i, j| match inside(part, i, j) {
                _ if i == j => diagonal,
                true => entries[j * n + i],
                false => T::ZERO,
            });
            let stored = made(n, n, |i, j| match inside(part, i, j) {
                true if i == j && unit => nan,
                true => dense[j * n + i],
                false => nan,
            });
            let (m, columns) = if side == Side::Left { (n, other) } else { (other, n) };
            let x: Vec<T> = numbers(&mut random, m * columns);
            let product = match side {
                Side::Left => times(&dense, &x, n, n, other),
                Side::Right => times(&x, &dense, other, n, n),
            };
            let two = T::ONE + T::ONE;
            let doubled: Vec<T> = product.iter().map(|p| two * *p).collect();
            let a = View::by_columns(&stored, n, n).unwrap();
            let mut found = x.clone();
            blas.trmm(side, part, unit, two, a, ViewMut::by_columns(&mut found, m, columns).unwrap())
                .unwrap();
            assert!(found == doubled, "multiply {n} {part:?} {side:?} {unit}");
            let mut found = product;
            let to = ViewMut::by_columns(&mut found, m, columns).unwrap();
            blas.trsm(side, part, unit, minus, a, to).unwrap();
            let wanted: Vec<T> = x.iter().map(|x| minus * *x).collect();
            assert!(found == wanted, "solve {n} {part:?} {side:?} {unit}");
        }
    }
}

#[test]
fn symmetric_factors() {
    symmetric::<f32>();
    symmetric::<f64>();
    symmetric::<Complex32>();
    symmetric::<Complex64>();
}

#[test]
fn products_with_itself() {
    ranks::<f64>();
    ranks::<Complex32>();
}

#[test]
fn triangles_of_all_types() {
    triangles::<f32>(f32::NAN);
    triangles::<f64>(f64::NAN);
    triangles::<Complex32>(Complex32::new(f32::NAN, 0.0));
    triangles::<Complex64>(Complex64::new(0.0, f64::NAN));
}
