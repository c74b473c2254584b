//! The matrix product of the CAL tutorials: 8 streams of A, 4 of B, 8 outputs, float4 elements.

mod harness;
mod matmul_kernel;

use harness::{Machine, domain, read, write};

fn random(seed: &mut u32) -> f32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) as f32 / 16_777_216.0 - 0.5
}

#[test]
fn product_equals_a_loop_in_the_same_order() {
    // Tiles of all shapes, whole and in part: domains of n / 4 columns and m / 8 lines.
    // The last two read so many lines of B that tiles have 32 and 16 columns.
    let sizes = [
        (64, 96, 32),
        (24, 300, 32),
        (8, 256, 16),
        (40, 4, 48),
        (520, 8, 16),
        (40, 300, 512),
        (24, 256, 784),
    ];
    for (m, n, k) in sizes {
        product(m, n, k);
    }
}

fn product(m: u32, n: u32, k: u32) {
    let machine = Machine::new();
    let mut seed = 1;
    let a: Vec<f32> = (0..m * k).map(|_| random(&mut seed)).collect();
    let b: Vec<f32> = (0..k * n).map(|_| random(&mut seed)).collect();
    let (bindings, outputs) = matmul_kernel::bind(&machine, m, n, k);
    // A_i holds rows i, i + 8, …; B_j holds rows j, j + 4, ….
    for (i, surface) in &bindings.resources {
        let (streams, columns, source, first) = if *i < 8 { (8, k, &a, *i) } else { (4, n, &b, *i - 8) };
        let mut words = vec![0; (surface.pitch * surface.height * 4) as usize];
        for row in 0..surface.height {
            for column in 0..columns {
                words[(row * surface.pitch * 4 + column) as usize] =
                    source[((row * streams + first) * columns + column) as usize].to_bits();
            }
        }
        write(surface, &words);
    }
    let extent = domain(n / 4, m / 8);
    machine.run(&matmul_kernel::text(), bindings, extent);
    for (i, output) in outputs.iter().enumerate() {
        let words = read(output, (output.pitch * output.height * 4) as usize);
        for row in 0..m as usize / 8 {
            for column in 0..n as usize {
                let mut sum = 0f32;
                for step in 0..k as usize / 4 {
                    // The kernel adds y, x, z, w.
                    for part in [1, 0, 2, 3] {
                        let depth = 4 * step + part;
                        sum += a[(row * 8 + i) * k as usize + depth] * b[depth * n as usize + column];
                    }
                }
                let got = words[row * output.pitch as usize * 4 + column];
                assert_eq!(got, sum.to_bits(), "o{i} row {row} column {column}");
            }
        }
    }
}
