//! Which kernel a device runs, and how fast: candidates of the model are measured once, and the result is kept in a file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use recal::Result;

use crate::kernel::Shape;
use crate::lane::{Block, Lane};
use crate::scalar::{Precision, Real};
use crate::view::{View, ViewMut};

/// Candidates that are measured.
const TRIED: usize = 3;

/// Rows, columns and steps of the product that is measured.
const SIZE: [usize; 3] = [384, 512, 256];

/// Launches of each, the best of which counts.
const TIMES: usize = 3;

/// A kernel and its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tuned {
    pub(crate) shape: Shape,
    /// Operations a second, packing included.
    pub(crate) speed: f64,
}

/// What a device is best at, from the file or measured.
pub(crate) fn tuned<R: Real>(lane: &mut Lane, device: &str, cache: Option<&Path>) -> Result<Tuned> {
    let file = cache.map(|folder| file(folder, device, R::PRECISION));
    if let Some(known) =
        file.as_deref().and_then(|file| read(&std::fs::read_to_string(file).ok()?, R::PRECISION))
    {
        return Ok(known);
    }
    let mut best: Option<Tuned> = None;
    for shape in Shape::candidates(R::PRECISION).into_iter().take(TRIED) {
        let speed = measure::<R>(lane, shape)?;
        log::debug!("{device}: {shape:?} {:.2} GFLOPS", speed * 1e-9);
        if best.is_none_or(|best| best.speed < speed) {
            best = Some(Tuned { shape, speed });
        }
    }
    let Some(best) = best else { unreachable!("there are candidates for each precision") };
    if let Some(file) = file {
        let folder = file.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder).and_then(|()| replace(&file, &write(&best)));
        if let Err(e) = written {
            log::info!("{}: {e}; kernels will be measured again", file.display());
        }
    }
    Ok(best)
}

/// A new file in place of the old one, so that nobody reads half of it.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let new = file.with_extension(format!("new{}", std::process::id()));
    std::fs::write(&new, text)?;
    std::fs::rename(&new, file)
}

fn file(folder: &Path, device: &str, precision: Precision) -> PathBuf {
    let name: String = device.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    folder.join(format!("{name}-{}.txt", precision.name()))
}

fn write(tuned: &Tuned) -> String {
    let Shape { rows, columns, depth, .. } = tuned.shape;
    format!("{} {rows} {columns} {depth} {}\n", env!("CARGO_PKG_VERSION"), tuned.speed)
}

/// Only what is a candidate: files may be old or damaged.
fn read(text: &str, precision: Precision) -> Option<Tuned> {
    let mut words = text.split_whitespace();
    if words.next() != Some(env!("CARGO_PKG_VERSION")) {
        return None;
    }
    let mut number = || words.next()?.parse::<usize>().ok();
    let shape = Shape { precision, rows: number()?, columns: number()?, depth: number()? };
    let speed = words.next()?.parse::<f64>().ok().filter(|speed| speed.is_finite() && *speed > 0.0)?;
    Shape::candidates(precision).contains(&shape).then_some(Tuned { shape, speed })
}

fn measure<R: Real>(lane: &mut Lane, shape: Shape) -> Result<f64> {
    let [m, n, k] = SIZE;
    let (left, right) = (vec![R::ONE; m * k], vec![R::ONE; k * n]);
    let mut product = vec![R::ZERO; m * n];
    let [left, right] = [View::by_rows(&left, m, k), View::by_rows(&right, k, n)].map(|view| match view {
        Ok(view) => view,
        Err(e) => unreachable!("sizes are those of the vectors: {e}"),
    });
    let mut best = f64::INFINITY;
    for time in 0..=TIMES {
        let Ok(mut to) = ViewMut::by_rows(&mut product, m, n) else { unreachable!("as above") };
        let block = Block { left, right, parts: [(0, 0, 0); 2], alpha: R::ONE, beta: R::ZERO, to: &mut to };
        let start = Instant::now();
        lane.run(shape, block)?;
        // The first launch builds the kernel.
        if time > 0 {
            best = best.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(2.0 * (m * n * k) as f64 / best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_back_and_damaged_ones_are_not() {
        let shape = Shape::candidates(Precision::Double)[1];
        let tuned = Tuned { shape, speed: 2.5e9 };
        let text = write(&tuned);
        assert_eq!(read(&text, Precision::Double), Some(tuned));
        assert_eq!(read(&text, Precision::Single), None);
        for end in 0..text.trim_end().len() - 10 {
            assert_eq!(read(&text[..end], Precision::Double), None, "{}", &text[..end]);
        }
        assert_eq!(read(&text.replace("2500000000", "NaN"), Precision::Double), None);
        assert_eq!(read(&text.replacen("0.1.0", "0.0.9", 1), Precision::Double), None);
    }
}
