//! The kernels of the manual's tutorial make the product of matrices that it says.

use std::path::{Path, PathBuf};

use npyz::WriterBuilder as _;

use crate::{printed, scratch};

const N: usize = 16;

fn save(path: &Path, shape: &[usize], numbers: &[f32]) {
    let shape: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
    let mut bytes = Vec::new();
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut bytes).begin_nd().unwrap();
    writer.extend(numbers.iter().copied()).unwrap();
    writer.finish().unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn load(path: &Path) -> Vec<f32> {
    npyz::NpyFile::new(&std::fs::read(path).unwrap()[..]).unwrap().into_vec().unwrap()
}

/// Binds inputs and outputs by name, runs, and gives the outputs one behind the other.
fn run(
    kernel: &str,
    size: usize,
    domain: &str,
    inputs: &[(String, PathBuf)],
    outputs: &[(String, String)],
    folder: &Path,
) -> Vec<f32> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/examples").join(kernel);
    let mut arguments = vec![
        "run".to_string(),
        path.display().to_string(),
        "-d".into(),
        domain.into(),
        "-b".into(),
        format!("cb0={size}"),
    ];
    for (name, file) in inputs {
        arguments.extend(["-b".into(), format!("{name}={}", file.display())]);
    }
    let mut files = Vec::new();
    for (name, shape) in outputs {
        let file = folder.join(format!("{kernel}.{name}.npy"));
        arguments.extend([
            "-b".into(),
            format!("{name}={shape}"),
            "-s".into(),
            format!("{name}={}", file.display()),
        ]);
        files.push(file);
    }
    printed(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    files.iter().flat_map(|file| load(file)).collect()
}

#[test]
fn the_products_of_the_tutorial_are_products() {
    let folder = scratch("manual");
    let entry =
        |seed: usize| (0..N * N).map(|i| ((i * i * 7 + i * seed) % 13) as f32 - 6.0).collect::<Vec<f32>>();
    let (a, b) = (entry(3), entry(5));
    let product: Vec<f32> =
        (0..N * N).map(|at| (0..N).map(|k| a[at / N * N + k] * b[k * N + at % N]).sum()).collect();
    let file = |name: &str, shape: &[usize], numbers: &[f32]| {
        let path = folder.join(format!("{name}.npy"));
        save(&path, shape, numbers);
        path
    };

    let inputs = [("i0".into(), file("a1", &[N, N], &a)), ("i1".into(), file("b1", &[N, N], &b))];
    let shape = [("o0".into(), format!("{N}x{N}:float_1"))];
    assert_eq!(run("product_one.il", N, &format!("{N}x{N}"), &inputs, &shape, &folder), product);

    let wide = [N, N / 4, 4];
    let inputs = [("i0".into(), file("a4", &wide, &a)), ("i1".into(), file("b4", &wide, &b))];
    let shape = [("o0".into(), format!("{}x{N}:float_4", N / 4))];
    assert_eq!(run("product_four.il", N / 4, &format!("{}x{N}", N / 4), &inputs, &shape, &folder), product);

    // A quarter of the rows in each stream.
    let stream = |s: usize| &a[s * N * N / 4..][..N * N / 4];
    let mut inputs: Vec<(String, PathBuf)> =
        (0..4).map(|s| (format!("i{s}"), file(&format!("a4{s}"), &[N / 4, N / 4, 4], stream(s)))).collect();
    inputs.push(("i4".into(), file("b4", &wide, &b)));
    let shapes: Vec<(String, String)> =
        (0..4).map(|s| (format!("o{s}"), format!("{0}x{0}:float_4", N / 4))).collect();
    assert_eq!(
        run("product_block.il", N / 4, &format!("{0}x{0}", N / 4), &inputs, &shapes, &folder),
        product
    );
}
