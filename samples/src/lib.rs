//! What the Rust samples share: the command line, the verdict, numbers, pictures.
//!
//! Each program of `src/bin` takes the same options, checks its own result and ends with `PASS` or `FAIL`.

use std::error::Error;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use recal::{Map, Resource};

pub mod epgpu;

/// What can go wrong in a sample.
pub type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The command line of a sample.
#[derive(clap::Parser, Clone, Debug)]
pub struct Options {
    /// Size of the problem; each sample has its own default.
    #[arg(short = 'n', long)]
    pub size: Option<u32>,
    /// How often the timed part runs.
    #[arg(short, long, default_value_t = 3)]
    pub iterations: u32,
    /// Device, by ordinal.
    #[arg(short, long, default_value_t = 0)]
    pub device: u32,
    /// Where to write the picture, for samples that make one.
    #[arg(short, long)]
    pub output: Option<std::path::PathBuf>,
}

/// Runs a sample and prints its verdict. An error is a failure.
pub fn verdict(name: &str, sample: impl FnOnce(&Options) -> Result<bool>) -> ExitCode {
    let options = <Options as clap::Parser>::parse();
    let passed = sample(&options).unwrap_or_else(|error| {
        eprintln!("{error}");
        false
    });
    println!("{name}: {}", if passed { "PASS" } else { "FAIL" });
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The shortest of several runs.
pub fn best_of(iterations: u32, mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..iterations.max(1) {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

/// Deterministic numbers, the same as in the C samples.
#[derive(Clone, Debug)]
pub struct Random(pub u32);

impl Random {
    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0
    }

    /// A multiple of 1/8 below 1: products and their sums are exact, whatever the order.
    pub fn eighth(&mut self) -> f32 {
        (self.next_u32() >> 29) as f32 / 8.0
    }
}

/// Writes packed rows into a resource of one number per component.
pub fn write_rows<T: recal::Element>(resource: &Resource, mut rows: &[T]) -> Result<(), recal::Error> {
    let mut map: Map<'_, T> = resource.map()?;
    for to in map.rows_mut() {
        let row;
        (row, rows) = rows.split_at(to.len());
        to.copy_from_slice(row);
    }
    Ok(())
}

/// Reads packed rows from a resource.
pub fn read_rows<T: recal::Element>(resource: &Resource) -> Result<Vec<T>, recal::Error> {
    Ok(resource.map()?.rows().flatten().copied().collect())
}

/// Writes an 8-bit picture: 1 channel grey, 3 channels RGB.
pub fn write_png(path: &Path, width: u32, height: u32, pixels: &[u8]) -> Result<()> {
    let file = BufWriter::new(std::fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, width, height);
    let grey = pixels.len() == width as usize * height as usize;
    encoder.set_color(if grey { png::ColorType::Grayscale } else { png::ColorType::Rgb });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}

/// The examples of the manual's chapters are tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/manual/chapters/rust.md")]
struct Chapter;

/// The same of the tasks of someone new.
#[cfg(doctest)]
#[doc = include_str!("../../docs/manual/chapters/tasks.md")]
struct Tasks;
