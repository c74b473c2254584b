//! Which kernel a device runs, and how fast: candidates of the model are measured once, and the result is kept in a file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use recal::{Event, FloatMode, Result};

use crate::kernel::Kernel;
use crate::lane::{Factors, Lane};
use crate::scalar::{Precision, Real};
use crate::view::View;

/// Candidates without group memory that are measured.
const TRIED: usize = 3;

/// Operations a second that a device does by them if its group memory is worth a try. What is slower may be a processor, which takes
/// minutes to compile so long a kernel of doubles.
const FAST: f64 = 100e9;

/// Rows, columns and steps of the product that is measured.
const SIZE: [usize; 3] = [384, 512, 256];

/// Times that each has its turn, the best of which counts.
const TIMES: u32 = 3;

/// Seconds that are long beside what a launch takes, and how many times larger products become to last so long.
const LONG: f64 = 0.005;
const LARGEST: usize = 8;

/// How many times as fast as its measurement products are if that was made on a busy machine.
const DISTURBED: f64 = 1.5;

/// A kernel and its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tuned {
    pub(crate) kernel: Kernel,
    /// Operations a second, without packing.
    pub(crate) speed: f64,
}

impl Tuned {
    /// Products did so many operations a second, packing included, as no measurement allows for that had the machine for itself. Then
    /// another kernel may be the best.
    pub(crate) fn is_refuted_by(&self, speed: f64) -> bool {
        speed > DISTURBED * self.speed
    }
}

/// What a device is best at, from the file or measured.
pub(crate) fn tuned<R: Real>(lane: &mut Lane, device: &str, cache: Option<&Path>) -> Result<Tuned> {
    let file = cache.map(|folder| file(folder, device, lane.float_mode(), R::PRECISION));
    if let Some(known) =
        file.as_deref().and_then(|file| read(&std::fs::read_to_string(file).ok()?, R::PRECISION))
    {
        return Ok(known);
    }
    let (tiled, fetching): (Vec<Kernel>, _) =
        Kernel::candidates(R::PRECISION).into_iter().partition(|kernel| matches!(kernel, Kernel::Tiled(_)));
    let mut found = fastest::<R>(lane, device, fetching.into_iter().take(TRIED));
    // In faithful mode the one of doubles is several times as long to compile.
    let long = R::PRECISION == Precision::Double && lane.float_mode() != FloatMode::Native;
    let slow = found.as_ref().is_ok_and(|found| found.speed < FAST);
    if !(lane.is_direct() || long || slow) {
        let other = fastest::<R>(lane, device, tiled.into_iter());
        found = match (found, other) {
            (Ok(a), Ok(b)) => Ok(if b.speed > a.speed { b } else { a }),
            (found, other) => found.or(other),
        };
    }
    let best = found?;
    if let Some(file) = file {
        let folder = file.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder).and_then(|()| replace(&file, &write(&best)));
        if let Err(e) = written {
            log::info!("{}: {e}; kernels will be measured again", file.display());
        }
    }
    Ok(best)
}

/// Forgets what was kept of a device, so that it is measured again.
pub(crate) fn forget(device: &str, mode: FloatMode, precision: Precision, cache: Option<&Path>) {
    let Some(file) = cache.map(|folder| file(folder, device, mode, precision)) else { return };
    match std::fs::remove_file(&file) {
        Ok(()) => log::info!("{}: products are faster than was measured: measured again", file.display()),
        Err(e) => log::debug!("{}: {e}", file.display()),
    }
}

/// A new file in place of the old one, so that nobody reads half of it.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let new = file.with_extension(format!("new{}", std::process::id()));
    std::fs::write(&new, text)?;
    std::fs::rename(&new, file)
}

fn file(folder: &Path, device: &str, mode: FloatMode, precision: Precision) -> PathBuf {
    let name: String = device.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // What is fast in one float mode need not be in the other.
    let mode = if mode == FloatMode::Native { "native" } else { "faithful" };
    folder.join(format!("{name}-{mode}-{}.txt", precision.name()))
}

fn write(tuned: &Tuned) -> String {
    format!("{} {} {}\n", env!("CARGO_PKG_VERSION"), tuned.kernel.name(), tuned.speed)
}

/// Only what is a candidate: files may be old or damaged.
fn read(text: &str, precision: Precision) -> Option<Tuned> {
    let mut words = text.split_whitespace();
    if words.next() != Some(env!("CARGO_PKG_VERSION")) {
        return None;
    }
    let name = words.next()?;
    let kernel = Kernel::candidates(precision).into_iter().find(|kernel| kernel.name() == name)?;
    let speed = words.next()?.parse::<f64>().ok().filter(|speed| speed.is_finite() && *speed > 0.0)?;
    Some(Tuned { kernel, speed })
}

/// The fastest of some kernels, whose factors are on the device. They are launched in turn, so that other work on the machine slows all of
/// them. Of a fast device small products say nothing but how long a launch takes, so those are followed by larger ones. One that the
/// driver does not take, for its group memory say, is no reason to do without the others.
fn fastest<R: Real>(lane: &mut Lane, device: &str, kernels: impl Iterator<Item = Kernel>) -> Result<Tuned> {
    let mut left: Vec<Kernel> = kernels.collect();
    let mut failed = None;
    let mut scale = 1;
    loop {
        let [m, n, k] = SIZE.map(|side| side * scale);
        let (ones, mut best) = ([vec![R::ONE; m * k], vec![R::ONE; k * n]], vec![f64::INFINITY; left.len()]);
        for _ in 0..TIMES {
            for (kernel, best) in left.iter().zip(&mut best) {
                // The first launch of a turn makes kernel and memory and sends the factors.
                let mut turn = || launch(lane, *kernel, [&ones[0], &ones[1]], [m, n, k], scale);
                match turn().and_then(|_| turn()) {
                    Ok(took) => *best = best.min(took),
                    Err(e) => {
                        log::debug!("{device}: {}: {e}", kernel.name());
                        (*best, failed) = (f64::NAN, Some(e));
                    }
                }
            }
            let mut works = best.iter().map(|best| !best.is_nan());
            left.retain(|_| works.next() == Some(true));
            best.retain(|best| !best.is_nan());
        }
        let times = left.iter().zip(best);
        let Some((kernel, took)) = times.clone().min_by(|(_, a), (_, b)| a.total_cmp(b)) else {
            return Err(failed.unwrap_or_else(|| unreachable!("there are candidates for each precision")));
        };
        if took > LONG || scale >= LARGEST {
            let operations = 2.0 * (m * n * k) as f64;
            for (kernel, took) in times {
                log::debug!("{device}: {} {:.2} GFLOPS", kernel.name(), operations / took * 1e-9);
            }
            return Ok(Tuned { kernel: *kernel, speed: operations / took });
        }
        scale *= 2;
    }
}

/// Seconds of one launch.
fn launch<R: Real>(
    lane: &mut Lane,
    kernel: Kernel,
    [left, right]: [&[R]; 2],
    [m, n, k]: [usize; 3],
    scale: usize,
) -> Result<f64> {
    let [left, right] = [View::by_rows(left, m, k), View::by_rows(right, k, n)].map(|view| match view {
        Ok(view) => view,
        Err(e) => unreachable!("sizes are those of the vectors: {e}"),
    });
    // No product has this number, and each size another first row.
    let factors = Factors { left, right, at: (u64::MAX, scale, scale), threads: 1, room: [0; 2] };
    let (start, mut events) = (Instant::now(), Vec::new());
    lane.multiply(kernel, factors, &mut events)?;
    events.iter().try_for_each(Event::wait)?;
    Ok(start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_back_and_damaged_ones_are_not() {
        for kernel in Kernel::candidates(Precision::Double) {
            let tuned = Tuned { kernel, speed: 2.5e9 };
            let text = write(&tuned);
            let double = |text: &str| read(text, Precision::Double);
            assert_eq!(double(&text), Some(tuned));
            assert_eq!(read(&text, Precision::Single), None);
            for end in 0..text.trim_end().len() - 10 {
                assert_eq!(double(&text[..end]), None, "{}", &text[..end]);
            }
            assert_eq!(double(&text.replace("2500000000", "NaN")), None);
            assert_eq!(double(&text.replacen("0.1.0", "0.0.9", 1)), None);
        }
    }
}
