//! Products of numbers in memory of the host that a device reads and writes itself: nothing is packed, and copies, kernels and copies
//! back overlap.
//!
//! Both factors lie there as the kernel wants them, the left one by columns, the right one by rows, in bands of steps. Bands are
//! copied one after another and added up as they come; for the last one, strips of the product are copied back as they are done.
//!
//! Nothing is computed before the first band is there, so it is a small one. The product comes back while the last one is
//! computed: that is the largest, lest the copies take longer. In between a band arrives while the one before it is computed, and
//! what is computed takes longer than what is copied by at least the factor by which they grow, if matrices are not small.

use std::ops::Range;

use recal::{Context, Event, Format, Mem, Module, Place, Resource};

use crate::blas::Blas;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Side};
use crate::scalar::Real;
use crate::tiled::Tiled;
use crate::worker::Worker;

/// Steps of the first band at least, by what each is larger than the one before, and what a band is a multiple of and may have.
const FIRST: f64 = 384.0;
const GROWTH: f64 = 1.5;
const STEPS: usize = 64;
const MOST: usize = 8192;

/// Rows of a strip, and how many strips there are at least, if rows are enough.
const HIGH: usize = 1024;
const STRIPS: usize = 4;

/// The bands of so many steps: where each begins and ends.
fn bands(steps: usize) -> Vec<Range<usize>> {
    // Parts of the first one that all together are.
    let all = |count: i32| (GROWTH.powi(count) - 1.0) / (GROWTH - 1.0);
    let count = (1..).take_while(|count| FIRST * all(*count) <= steps as f64).last().unwrap_or(1);
    let end = |number: i32| {
        let end = steps as f64 * all(number) / all(count);
        if number == count { steps } else { (end / STEPS as f64).round() as usize * STEPS }
    };
    let grown = (1..=count).map(|number| end(number - 1)..end(number));
    let cut = |band: Range<usize>| {
        let end = band.end;
        band.step_by(MOST).map(move |first| first..end.min(first + MOST))
    };
    grown.flat_map(cut).collect()
}

/// The strips of so many rows, whole tiles of so many: where each begins and ends. Nothing is computed while the last one is copied back, so
/// that has half of the rows.
fn strips(rows: usize, tile: usize) -> Vec<Range<usize>> {
    let most = rows.div_ceil(STRIPS).min(HIGH).next_multiple_of(tile).max(tile);
    let mut strips: Vec<_> = (0..rows).step_by(most).map(|first| first..rows.min(first + most)).collect();
    if let Some(last) = strips.pop() {
        let half = last.start + last.len().div_ceil(2).next_multiple_of(tile);
        strips.push(last.start..half.min(last.end));
        strips.extend(Some(half..last.end).filter(|rest| !rest.is_empty()));
    }
    strips
}

/// A product A B on one device, of numbers in pinned memory.
///
/// ```
/// use recal_blas::{Blas, Options};
///
/// let blas = Blas::new(Options::default());
/// let mut product = blas.pinned::<f32>([30, 10, 20])?;
/// product.left(|_step, column| column.fill(2.0))?;
/// product.right(|step, row| row.fill(if step < 10 { 1.0 } else { 0.0 }))?;
/// product.multiply()?; // What was written is sent, multiplied and brought back.
/// product.result(|_row, numbers| assert_eq!(numbers, [20.0; 10]))?;
/// # Ok::<(), recal_blas::Error>(())
/// ```
pub struct Pinned<'a, T> {
    worker: &'a Worker,
    kernel: Tiled,
    context: Context,
    module: Module,
    /// Rows and columns.
    size: [usize; 2],
    bands: Vec<Band>,
    strips: Vec<Strip>,
    constants: Vec<([u32; 4], Mem)>,
    numbers: std::marker::PhantomData<T>,
}

/// Memory of the host and its twin on the device.
struct Pair {
    here: Resource,
    mems: [Mem; 2],
}

/// Steps of both factors.
struct Band {
    steps: Range<usize>,
    factors: [Pair; 2],
}

/// Rows of the product.
struct Strip {
    rows: usize,
    product: Pair,
}

impl Blas {
    /// Memory for a product of so many rows, columns and steps, on the first device that works. Numbers are zero.
    pub fn pinned<T: Real>(&self, [rows, columns, steps]: [usize; 3]) -> Result<Pinned<'_, T>> {
        let worker = self.working(T::KIND).next().ok_or_else(|| Error::shape("no device works"))?;
        let made = Pinned::new(worker, [rows, columns, steps]);
        made.map_err(|e| Error::device(&worker.name, &e))
    }
}

impl Pair {
    /// Elements in a line and lines; without lines one line, as long as memory is.
    fn new(context: &Context, size: [usize; 2], format: Format) -> recal::Result<Pair> {
        let device = context.device();
        let make = |place| match size.map(|n| n as u32) {
            [elements, 0] => device.allocate_buffer(elements, format, place),
            [width, height] => device.allocate_2d(width, height, format, place),
        };
        let (here, there) = (make(Place::RemoteCached)?, make(Place::Local)?);
        let mems = [context.mem(&here)?, context.mem(&there)?];
        Ok(Pair { here, mems })
    }
}

impl<'a, T: Real> Pinned<'a, T> {
    fn new(worker: &'a Worker, [rows, columns, steps]: [usize; 3]) -> recal::Result<Pinned<'a, T>> {
        let tiled = Tiled::best(T::PRECISION);
        let kernel = Kernel::Tiled(tiled);
        let device = &worker.device;
        let context = device.create_context()?;
        let module = context.load(&recal::compile(tiled.text(), device.info().target)?.into())?;
        let (mut made, mut strips, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        let any = rows > 0 && columns > 0;
        for steps in bands(if any { steps } else { 0 }) {
            let pair = |side, numbers| {
                let extent = kernel.extent(side, numbers, steps.len());
                Pair::new(&context, extent, tiled.format())
            };
            let factors = [pair(Side::Left, rows)?, pair(Side::Right, columns)?];
            // What is missing changes no sum: see `pack`.
            let minus_zero = -T::ZERO;
            factors[0].here.map::<T>()?.rows_mut().skip(steps.len()).for_each(|line| line.fill(minus_zero));
            made.push(Band { steps, factors });
        }
        let high = tiled.tile()[0];
        let parts = if any { self::strips(rows, high) } else { Vec::new() };
        for Range { start, end } in parts.iter().cloned() {
            let size = kernel.memory(kernel.product(end - start, columns));
            strips.push(Strip { rows: end - start, product: Pair::new(&context, size, tiled.format())? });
        }
        let line = kernel.product(1, columns)[0] as u32;
        for (number, band) in made.iter().enumerate() {
            for Range { start: first, .. } in parts.iter().cloned() {
                let [rounds, pitch, go_on, _] = kernel.constants(band.steps.len(), line, number > 0);
                let words = [rounds, pitch, go_on, (first / high) as u32];
                if constants.iter().all(|(known, _)| *known != words) {
                    let memory = device.allocate_1d(1, Format::UnsignedInt32x4, Place::Local)?;
                    memory.map::<u32>()?[..4].copy_from_slice(&words);
                    constants.push((words, context.mem(&memory)?));
                }
            }
        }
        let size = [rows, columns];
        let numbers = std::marker::PhantomData;
        Ok(Pinned { worker, kernel: tiled, context, module, size, bands: made, strips, constants, numbers })
    }

    /// The name of the device.
    pub fn device(&self) -> &str {
        &self.worker.name
    }

    fn failed(&self) -> impl Fn(recal::Error) -> Error {
        |e| Error::device(&self.worker.name, &e)
    }

    /// Has columns of the left factor written: by number, the step.
    pub fn left(&mut self, write: impl FnMut(usize, &mut [T])) -> Result<()> {
        self.write(Side::Left, write)
    }

    /// Has rows of the right factor written: by number, the step.
    pub fn right(&mut self, write: impl FnMut(usize, &mut [T])) -> Result<()> {
        self.write(Side::Right, write)
    }

    fn write(&mut self, side: Side, mut write: impl FnMut(usize, &mut [T])) -> Result<()> {
        let numbers = self.size[side as usize];
        for band in &self.bands {
            let mut map = band.factors[side as usize].here.map::<T>().map_err(self.failed())?;
            for (step, line) in band.steps.clone().zip(map.rows_mut()) {
                write(step, &mut line[..numbers]);
            }
        }
        Ok(())
    }

    /// Sends the factors, multiplies and brings the product back; returns when it is there.
    pub fn multiply(&mut self) -> Result<()> {
        self.issue().and_then(|events| events.iter().try_for_each(Event::wait)).map_err(self.failed())
    }

    fn issue(&self) -> recal::Result<Vec<Event>> {
        let kernel = Kernel::Tiled(self.kernel);
        let (context, module, mut events) = (&self.context, &self.module, Vec::new());
        let ([factors, _, product], line) = (kernel.names(), kernel.product(1, self.size[1])[0] as u32);
        for (number, band) in self.bands.iter().enumerate() {
            for Pair { mems: [here, there], .. } in &band.factors {
                events.push(context.copy(here, there)?);
            }
            context.flush()?;
            for (name, pair) in factors.iter().zip(&band.factors) {
                module.name(name)?.bind(&pair.mems[1])?;
            }
            let mut tile = 0;
            for Strip { rows, product: pair } in &self.strips {
                let [here, there] = &pair.mems;
                let [rounds, pitch, go_on, _] = kernel.constants(band.steps.len(), line, number > 0);
                let words = [rounds, pitch, go_on, tile];
                let constants = self.constants.iter().find(|(known, _)| *known == words);
                if let Some((_, constants)) = constants {
                    module.name("cb0")?.bind(constants)?;
                }
                module.name(&product[0])?.bind(there)?;
                events.push(kernel.launch(context, module, *rows, self.size[1])?);
                tile += (rows / self.kernel.tile()[0]) as u32;
                if number + 1 == self.bands.len() {
                    events.push(context.copy(there, here)?);
                    context.flush()?;
                }
            }
            context.flush()?;
        }
        Ok(events)
    }

    /// Shows rows of the product, by number: what the last [`Pinned::multiply`] left, or zeros.
    pub fn result(&self, mut read: impl FnMut(usize, &[T])) -> Result<()> {
        let [rows, columns] = self.size;
        if self.bands.is_empty() {
            (0..rows).for_each(|row| read(row, &vec![T::ZERO; columns]));
            return Ok(());
        }
        let (line, mut first) = (Kernel::Tiled(self.kernel).product(1, columns)[0] * self.kernel.per(), 0);
        for Strip { rows, product } in &self.strips {
            let map = product.here.map::<T>().map_err(self.failed())?;
            for (row, numbers) in map.chunks_exact(line).take(*rows).enumerate() {
                read(first + row, &numbers[..columns]);
            }
            first += rows;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, STEPS, bands, strips};

    #[test]
    fn the_last_strip_is_halved() {
        assert_eq!(strips(4096, 64), [0..1024, 1024..2048, 2048..3072, 3072..3584, 3584..4096]);
        assert_eq!(strips(200, 64), [0..64, 64..128, 128..192, 192..200]);
        assert_eq!(strips(100, 64), [0..64, 64..100]);
        assert_eq!(strips(300, 64), [0..128, 128..256, 256..300]);
        assert!(strips(0, 64).is_empty());
        for rows in 1..3000 {
            let strips = strips(rows, 128);
            let ends = strips.iter().map(|strip| strip.end);
            assert!(strips.iter().all(|strip| !strip.is_empty() && strip.start % 128 == 0), "{strips:?}");
            assert!(
                [0].into_iter().chain(ends).eq(strips.iter().map(|s| s.start).chain([rows])),
                "{strips:?}"
            );
        }
    }

    /// Bands follow one another to the last step, each larger than the one before, the first one small.
    #[test]
    fn bands_grow() {
        let lengths = |steps| bands(steps).iter().map(|band| band.len()).collect::<Vec<_>>();
        assert_eq!(lengths(8192), [384, 576, 896, 1344, 1984, 3008]);
        assert_eq!([0, 1, 900].map(lengths), [vec![], vec![1], vec![900]]);
        for steps in (1..60_000).step_by(617) {
            let bands = bands(steps);
            assert_eq!((bands[0].start, bands[bands.len() - 1].end), (0, steps));
            for pair in bands.windows(2) {
                let [band, next] = pair else { unreachable!() };
                assert_eq!(band.end, next.start);
                assert!(band.len() % STEPS == 0 && band.len() <= MOST, "{steps}: {bands:?}");
                assert!(band.len() <= next.len() || band.len() == MOST, "{steps}: {bands:?}");
            }
        }
    }
}
