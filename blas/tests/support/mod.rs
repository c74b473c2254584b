//! What the tests share: engines, random numbers, products by definition.
#![allow(dead_code, reason = "each test takes what it needs")]

use recal::{Config, FloatMode, Runtime};
use recal_blas::{Blas, Options, Scalar, View};

/// Random numbers, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.word() as usize % n
    }

    /// A number of two small integers.
    pub fn integer<T: Scalar>(&mut self) -> T
    where
        T::Real: From<i8>,
    {
        let mut part = || T::Real::from((self.word() % 9) as i8 - 4);
        let re = part();
        T::of(re, part())
    }
}

/// The CPU device alone does everything, in blocks of `block`.
pub fn options(block: usize) -> Options {
    Options { threshold: 0.0, share: Some(1.0), block, ..Options::default() }
}

pub fn cpu(options: Options) -> Blas {
    cpu_in(FloatMode::Faithful, options)
}

/// In a float mode.
pub fn cpu_in(float: FloatMode, options: Options) -> Blas {
    let config = Config { backends: vec!["cpu".into()], float, ..Config::default() };
    Blas::on(&Runtime::with_config(config).unwrap(), options)
}

/// alpha A B + beta C by definition, C first read if beta is not 0.
pub fn expected<T: Scalar>(alpha: T, a: View<T>, b: View<T>, beta: T, c: View<T>) -> Vec<T> {
    let mut all = Vec::new();
    for j in 0..c.columns() {
        for i in 0..c.rows() {
            let sum = (0..a.columns()).fold(T::ZERO, |sum, k| sum + a.at(i, k) * b.at(k, j));
            let old = if beta == T::ZERO { T::ZERO } else { beta * c.at(i, j) };
            all.push(if alpha == T::ZERO { old } else { alpha * sum + old });
        }
    }
    all
}
