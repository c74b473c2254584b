//! Products of numbers in memory of the host that a device reads and writes itself: nothing is packed, and copies, kernels and copies
//! back overlap.
//!
//! Both factors lie there as the kernel wants them, the left one by columns, the right one by rows, in bands of steps. Bands are
//! copied one after another and added up as they come; for the last one, strips of the product are copied back as they are done.

use recal::{Context, Event, Format, Mem, Module, Place, Resource};

use crate::blas::Blas;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Side};
use crate::scalar::Real;
use crate::tiled::Tiled;
use crate::worker::Worker;

/// Steps of a band.
const BAND: usize = 1024;

/// Rows of a strip, and how many strips there are at least, if rows are enough.
const HIGH: usize = 1024;
const STRIPS: usize = 4;

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
    steps: usize,
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
        let (mut bands, mut strips, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        let any = rows > 0 && columns > 0;
        for first in (0..if any { steps } else { 0 }).step_by(BAND) {
            let own = BAND.min(steps - first);
            let pair = |side, numbers| {
                let extent = kernel.extent(side, numbers, own);
                Pair::new(&context, extent, tiled.format())
            };
            let factors = [pair(Side::Left, rows)?, pair(Side::Right, columns)?];
            // What is missing changes no sum: see `pack`.
            let minus_zero = -T::ZERO;
            factors[0].here.map::<T>()?.rows_mut().skip(own).for_each(|line| line.fill(minus_zero));
            bands.push(Band { steps: own, factors });
        }
        let high = tiled.tile()[0];
        let most = rows.div_ceil(STRIPS).min(HIGH).next_multiple_of(high).max(high);
        for first in (0..if any { rows } else { 0 }).step_by(most) {
            let own = most.min(rows - first);
            let size = kernel.memory(kernel.product(own, columns));
            strips.push(Strip { rows: own, product: Pair::new(&context, size, tiled.format())? });
        }
        let line = kernel.product(1, columns)[0] as u32;
        for (number, band) in bands.iter().enumerate() {
            for first in (0..rows).step_by(most) {
                let [rounds, pitch, go_on, _] = kernel.constants(band.steps, line, number > 0);
                let words = [rounds, pitch, go_on, (first / high) as u32];
                if constants.iter().all(|(known, _)| *known != words) {
                    let memory = device.allocate_1d(1, Format::UnsignedInt32x4, Place::Remote)?;
                    memory.map::<u32>()?[..4].copy_from_slice(&words);
                    constants.push((words, context.mem(&memory)?));
                }
            }
        }
        let size = [rows, columns];
        let numbers = std::marker::PhantomData;
        Ok(Pinned { worker, kernel: tiled, context, module, size, bands, strips, constants, numbers })
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
        for (number, band) in self.bands.iter().enumerate() {
            let mut map = band.factors[side as usize].here.map::<T>().map_err(self.failed())?;
            for (step, line) in map.rows_mut().take(band.steps).enumerate() {
                write(number * BAND + step, &mut line[..numbers]);
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
                let [rounds, pitch, go_on, _] = kernel.constants(band.steps, line, number > 0);
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
