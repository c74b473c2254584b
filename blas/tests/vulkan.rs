//! Products through group memory on a Vulkan device, which need not be what it is fastest at: the file of measurements says they are.

mod support;

use std::fs;
use std::path::PathBuf;

use recal::{Config, FloatMode, Runtime};
use recal_blas::{Blas, Options, Real, Tiled, View, ViewMut};
use recal_needs::{LAVAPIPE, Need};
use support::{Random, expected, options};

recal_needs::tests!([Need::driver(LAVAPIPE)] => singles doubles pinned_memory);

/// An engine that takes the kernel for the fastest, and the file that says so.
fn engine<T: Real>(float: FloatMode, block: usize) -> (Blas, PathBuf, String) {
    let config = Config {
        backends: vec!["vulkan".into()],
        vulkan_device: Some(LAVAPIPE.device.into()),
        float,
        ..Config::default()
    };
    let runtime = Runtime::with_config(config).unwrap();
    let folder = format!("recal-blas-{}-{float:?}-{}-{block}", std::process::id(), T::PRECISION.name());
    let folder = std::env::temp_dir().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let name: String = runtime.devices().next().unwrap().name.clone();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mode = if float == FloatMode::Native { "native" } else { "faithful" };
    let file = folder.join(format!("{name}-{mode}-{}.txt", T::PRECISION.name()));
    let kernel = Tiled::best(T::PRECISION);
    let [block_of_thread, lanes, warps] =
        [kernel.block, kernel.lanes, kernel.warps].map(|[rows, columns]| format!("{rows}x{columns}"));
    let text = format!(
        "{} tiled-{block_of_thread}-{lanes}-{warps}-{} 1e9\n",
        env!("CARGO_PKG_VERSION"),
        kernel.depth
    );
    fs::write(&file, &text).unwrap();
    let blas = Blas::on(&runtime, Options { cache: Some(folder), ..options(block) });
    (blas, file, text)
}

/// Blocks that a tile does not divide, of whole and of broken turns, in one launch and in two; transposed and not; twice on the device.
fn products<T: Real + From<i8>>(modes: &[FloatMode]) {
    for &float in modes {
        let (blas, file, text) = engine::<T>(float, 64);
        let mut random = Random(6);
        for (m, n, k) in [(1, 1, 1), (65, 130, 33), (30, 70, 2065)] {
            let mut numbers = |count: usize| (0..count).map(|_| random.integer::<T>()).collect::<Vec<T>>();
            let (a, b, c) = (numbers(m * k), numbers(k * n), numbers(m * n));
            for layouts in 0..4 {
                let by = |at: u32, numbers, rows, columns| match layouts & at {
                    0 => View::by_rows(numbers, rows, columns).unwrap(),
                    _ => View::by_columns(numbers, rows, columns).unwrap(),
                };
                let (va, vb) = (by(1, &a, m, k), by(2, &b, k, n));
                let two = T::from(2);
                let wanted = expected(two, va, vb, -T::ONE, View::by_columns(&c, m, n).unwrap());
                let mut found = c.clone();
                blas.gemm(two, va, vb, -T::ONE, ViewMut::by_columns(&mut found, m, n).unwrap()).unwrap();
                assert_eq!(found, wanted, "{float:?} {m} x {n} x {k}, {layouts}");
                if layouts != n as u32 % 4 {
                    continue;
                }
                let mut there = blas.resident(va, vb).unwrap();
                there.multiply().unwrap();
                found.clone_from(&c);
                there.fetch(two, -T::ONE, ViewMut::by_columns(&mut found, m, n).unwrap()).unwrap();
                assert_eq!(found, wanted, "{float:?} {m} x {n} x {k}, {layouts}, on the device");
            }
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "another kernel was chosen");
        fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }
}

/// And the bits of sums in order, some of which are small.
fn singles() {
    products::<f32>(&[FloatMode::Faithful, FloatMode::Native]);
    let (blas, file, _) = engine::<f32>(FloatMode::Faithful, 128);
    let (m, n, k) = (5, 9, 2100);
    let mut random = Random(12);
    let mut numbers =
        |count: usize| (0..count).map(|_| random.word() as f32 / 1e9 - 1.0).collect::<Vec<f32>>();
    let (a, b) = (numbers(m * k), numbers(k * n));
    let (va, vb) = (View::by_rows(&a, m, k).unwrap(), View::by_rows(&b, k, n).unwrap());
    let wanted = expected(1.0, va, vb, 0.0, View::by_columns(&a, m, n).unwrap());
    let mut found = vec![f32::NAN; m * n];
    blas.gemm(1.0, va, vb, 0.0, ViewMut::by_columns(&mut found, m, n).unwrap()).unwrap();
    assert_eq!(found, wanted);
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
}

/// A rasteriser compiles the faithful kernel for minutes; that one runs on the CPU device (`kernel.rs`).
fn doubles() {
    products::<f64>(&[FloatMode::Native]);
}

fn pinned_memory() {
    for float in [FloatMode::Faithful, FloatMode::Native] {
        let (blas, file, _) = engine::<f32>(float, 256);
        let (m, n, k) = (190, 33, 1100);
        let mut random = Random(7);
        let mut numbers = |count: usize| (0..count).map(|_| random.integer()).collect::<Vec<f32>>();
        let (a, b) = (numbers(m * k), numbers(k * n));
        let mut product = blas.pinned::<f32>([m, n, k]).unwrap();
        product.left(|step, column| column.copy_from_slice(&a[step * m..][..m])).unwrap();
        product.right(|step, row| row.copy_from_slice(&b[step * n..][..n])).unwrap();
        let (va, vb) = (View::by_columns(&a, m, k).unwrap(), View::by_rows(&b, k, n).unwrap());
        let wanted = expected(1.0, va, vb, 0.0, View::by_columns(&a, m, n).unwrap());
        for _ in 0..3 {
            product.multiply().unwrap();
            let mut found = vec![f32::NAN; m * n];
            let put = |row: usize, numbers: &[f32]| {
                (0..n).for_each(|column| found[column * m + row] = numbers[column]);
            };
            product.result(put).unwrap();
            assert_eq!(found, wanted, "{float:?}");
        }
        fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }
}
