//! Several devices: which of them are chosen, and a product that they share.

mod support;

use std::sync::Arc;

use recal::{Config, Runtime, register_backend};
use recal_blas::{Blas, Kind, Options, View, ViewMut};
use recal_cpu::CpuBackend;
use recal_hal::*;
use support::{Random, expected, options};

/// The CPU, under three names.
struct Three;
struct Named(Arc<dyn Adapter>, Attributes);

impl Backend for Three {
    fn name(&self) -> &'static str {
        "three"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        let cpu = CpuBackend::new().adapters().remove(0);
        let named = |name: &str| {
            let attributes = Attributes { name: name.into(), ..cpu.attributes().clone() };
            Arc::new(Named(cpu.clone(), attributes)) as Arc<dyn Adapter>
        };
        ["red", "green", "blue"].map(named).into()
    }
}

impl Adapter for Named {
    fn attributes(&self) -> &Attributes {
        &self.1
    }

    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        self.0.open(options)
    }

    fn memory_status(&self) -> MemoryStatus {
        self.0.memory_status()
    }
}

fn blas(options: Options) -> Blas {
    register_backend(Arc::new(Three));
    let config = Config { backends: vec!["three".into()], ..Config::default() };
    Blas::on(&Runtime::with_config(config).unwrap(), options)
}

#[test]
fn devices_are_chosen_by_ordinal_or_by_the_number_of_the_process() {
    let names = |options| blas(options).devices().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(Options::default()), ["red", "green", "blue"]);
    assert_eq!(names(Options { devices: Some(vec![2, 0]), ..Options::default() }), ["blue", "red"]);
    assert_eq!(names(Options { devices: Some(vec![]), rank: Some(1), ..Options::default() }), [""; 0]);
    for (rank, name) in ["red", "green", "blue", "red", "green"].into_iter().enumerate() {
        assert_eq!(names(Options { rank: Some(rank as u32), ..Options::default() }), [name]);
    }
    let two = Options { devices: Some(vec![1, 2]), rank: Some(3), ..Options::default() };
    assert_eq!(names(two), ["blue"]);
}

#[test]
fn devices_share_a_product() {
    let blas = blas(options(32));
    let (m, n, k) = (130, 97, 40);
    let mut random = Random(3);
    let mut numbers = |count: usize| (0..count).map(|_| random.integer()).collect::<Vec<f32>>();
    let (a, b, mut c) = (numbers(m * k), numbers(k * n), numbers(m * n));
    let (va, vb) = (View::by_rows(&a, m, k).unwrap(), View::by_columns(&b, k, n).unwrap());
    let wanted = expected(3.0, va, vb, -1.0, View::by_columns(&c, m, n).unwrap());
    blas.gemm(3.0, va, vb, -1.0, ViewMut::by_columns(&mut c, m, n).unwrap()).unwrap();
    assert_eq!(c, wanted);
    assert_eq!(blas.figures(Kind::Single).operations, [2.0 * (m * n * k) as f64, 0.0]);
}

/// Three devices have parts of the rows, and compute as often as they are asked to.
#[test]
fn numbers_stay_on_devices() {
    let blas = blas(options(32));
    let mut random = Random(4);
    for (m, n, k) in [(130, 97, 40), (1, 5, 4200), (2, 70, 1), (9, 4, 0), (0, 4, 3), (3, 0, 2)] {
        let mut numbers = |count: usize| (0..count).map(|_| random.integer()).collect::<Vec<f64>>();
        let (a, b, c) = (numbers(m * k), numbers(k * n), numbers(m * n));
        let (va, vb) = (View::by_rows(&a, m, k).unwrap(), View::by_columns(&b, k, n).unwrap());
        let wanted = expected(2.0, va, vb, -1.0, View::by_columns(&c, m, n).unwrap());
        let mut product = blas.resident(va, vb).unwrap();
        for again in 0..3 {
            let mut found = c.clone();
            product.fetch(2.0, -1.0, ViewMut::by_columns(&mut found, m, n).unwrap()).unwrap();
            assert_eq!(found, wanted, "{m} x {n} x {k}, {again}");
            product.multiply().unwrap();
        }
        let mut other = vec![0.0; (m + 1) * n];
        assert!(product.fetch(1.0, 0.0, ViewMut::by_columns(&mut other, m + 1, n).unwrap()).is_err());
    }
    let numbers = [1.0; 6];
    let (a, b) = (View::by_rows(&numbers, 2, 3).unwrap(), View::by_rows(&numbers, 2, 3).unwrap());
    assert!(blas.resident(a, b).is_err());
}

/// Numbers in memory that the device reads and writes itself: edges, several bands of steps and strips of rows, again and again.
#[test]
fn products_of_pinned_memory() {
    let blas = blas(options(32));
    let mut random = Random(5);
    for (m, n, k) in
        [(130, 97, 40), (1, 5, 1300), (700, 3, 1025), (2, 70, 1), (9, 4, 0), (0, 4, 3), (3, 0, 2)]
    {
        let mut product = blas.pinned::<f32>([m, n, k]).unwrap();
        for again in 0..2 {
            let mut numbers = |count: usize| (0..count).map(|_| random.integer()).collect::<Vec<f32>>();
            let (a, b) = (numbers(m * k), numbers(k * n));
            product.left(|step, column| column.copy_from_slice(&a[step * m..][..m])).unwrap();
            product.right(|step, row| row.copy_from_slice(&b[step * n..][..n])).unwrap();
            product.multiply().unwrap();
            let (va, vb) = (View::by_columns(&a, m, k).unwrap(), View::by_rows(&b, k, n).unwrap());
            let nothing = vec![0.0; m * n];
            let wanted = expected(1.0, va, vb, 0.0, View::by_columns(&nothing, m, n).unwrap());
            let mut rows = 0;
            let check = |row: usize, numbers: &[f32]| {
                let wanted: Vec<f32> = (0..n).map(|column| wanted[column * m + row]).collect();
                assert_eq!(numbers, wanted, "{m} x {n} x {k}, {again}: row {row}");
                rows += 1;
            };
            product.result(check).unwrap();
            assert_eq!(rows, m);
        }
    }
}

/// A file from when the machine had other work says how slow kernels are, and perhaps which is best, wrongly.
#[test]
fn a_measurement_that_products_refute_is_made_again() {
    let folder = std::env::temp_dir().join(format!("recal-blas-devices-{}", std::process::id()));
    let (m, n, k) = (128, 128, 64);
    let (a, b, mut c) = (vec![1.0f32; m * k], vec![2.0f32; k * n], vec![0.0f32; m * n]);
    let mut product = |blas: &Blas| {
        let (va, vb) = (View::by_rows(&a, m, k).unwrap(), View::by_rows(&b, k, n).unwrap());
        blas.gemm(1.0, va, vb, 0.0, ViewMut::by_rows(&mut c, m, n).unwrap()).unwrap();
    };
    let engine = || blas(Options { devices: Some(vec![0]), cache: Some(folder.clone()), ..options(128) });
    product(&engine());
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let kept = std::fs::read_to_string(file).unwrap();
    // What is not refuted stays.
    product(&engine());
    assert_eq!(std::fs::read_to_string(file).unwrap(), kept);
    let speed = kept.split_whitespace().next_back().unwrap();
    std::fs::write(file, kept.replace(speed, "1")).unwrap();
    let engine = engine();
    product(&engine);
    assert!(!file.exists(), "a product that did more than an operation a second refutes it");
    product(&engine);
    let anew = std::fs::read_to_string(file).unwrap();
    assert!(anew.split_whitespace().next_back().unwrap().parse::<f64>().unwrap() > 1e3, "{anew}");
    std::fs::remove_dir_all(&folder).unwrap();
}
