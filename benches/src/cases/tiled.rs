//! Products through LDS by tiles: the kernels of `recal_blas`, double-buffered, 8 x 8 numbers a thread.

use recal_blas::{Precision, Tiled};

use super::matmul::Product;
use crate::case::{Buffer, Case, Scale, Step, Threads, Unit, bits};

/// In single precision.
pub fn singles(scale: Scale) -> Vec<Case> {
    cases(Precision::Single, scale.pick(&[128], &[512], &[4096, 8192]))
}

/// In double precision.
pub fn doubles(scale: Scale) -> Vec<Case> {
    cases(Precision::Double, scale.pick(&[128], &[256], &[4096]))
}

fn cases(precision: Precision, sizes: &[u32]) -> Vec<Case> {
    let kernel = Tiled::best(precision);
    sizes.iter().map(|n| case(&kernel, *n)).collect()
}

/// A square product by a kernel, the first factor by columns.
pub fn case(kernel: &Tiled, n: u32) -> Case {
    let product = Product::new(n);
    let side = n as usize;
    let columns: Vec<f32> = (0..side * side).map(|k| product.a[k % side * side + k / side]).collect();
    let doubles = kernel.precision == Precision::Double;
    let words = |values: &[f32]| match doubles {
        false => bits(values),
        true => {
            let words = values.iter().map(|v| f64::from(*v).to_bits());
            words.flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect()
        }
    };
    let row = n / kernel.per() as u32;
    let buffers = vec![
        Buffer::input("i0", [row, n], kernel.format(), words(&columns)),
        Buffer::input("i1", [row, n], kernel.format(), words(&product.b)),
        Buffer::output("g[]", [n * row, 0], kernel.format()),
    ];
    let [high, wide] = kernel.tile().map(|side| side as u32);
    let judge = product.judge();
    Case {
        name: format!("{} {n}", if doubles { "dgemm_tiled" } else { "matmul_tiled" }),
        il: kernel.text(),
        peer: if doubles { "dgemm_tiled" } else { "matmul_tiled" },
        buffers,
        threads: Threads::Grid([n / wide, n / high, 1], [kernel.threads() as u32, 1, 1]),
        steps: Step::of(&[n / kernel.turn() as u32, row, 0, 0], &[n]),
        work: 2.0 * f64::from(n).powi(3),
        unit: Unit::Flop,
        check: Box::new(move |buffers, _| {
            let double = |pair: &[u32]| f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32);
            match doubles {
                true => {
                    judge(&buffers[2].chunks_exact(2).map(|pair| double(pair) as f32).collect::<Vec<f32>>())
                }
                false => judge(&crate::case::floats(&buffers[2])),
            }
        }),
        host: None,
        doubles,
    }
}
