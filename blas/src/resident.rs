//! Products whose numbers stay on devices.

use recal::Event;

use crate::blas::Blas;
use crate::cores::cores;
use crate::error::{Error, Result};
use crate::lane::{Factors, Lane};
use crate::scalar::Scalar;
use crate::tune::Tuned;
use crate::view::{View, ViewMut};
use crate::worker::Worker;

/// A product A B of which each device has rows of A, all of B, and computes rows of the product, as often as one likes.
///
/// ```
/// use recal_blas::{Blas, Options, View, ViewMut};
///
/// let blas = Blas::new(Options::default());
/// let (a, b) = (vec![2.0f32; 30 * 20], vec![0.5f32; 20 * 10]);
/// let mut product = blas.resident(View::by_rows(&a, 30, 20)?, View::by_rows(&b, 20, 10)?)?;
/// product.multiply()?; // The numbers are there: only devices work.
/// let mut c = vec![0.0; 30 * 10];
/// product.fetch(1.0, 0.0, ViewMut::by_rows(&mut c, 30, 10)?)?;
/// assert_eq!(c, [20.0; 300]);
/// # Ok::<(), recal_blas::Error>(())
/// ```
pub struct Resident<'a, T> {
    right: View<'a, T>,
    pieces: Vec<Piece<'a, T>>,
    rows: usize,
}

/// What one device has.
struct Piece<'a, T> {
    name: &'a str,
    lane: Lane,
    tuned: Tuned,
    left: View<'a, T>,
    /// The number of its product.
    product: u64,
    /// Rows before its own.
    first: usize,
}

impl Blas {
    /// Sends two factors to the devices and multiplies them there. A result that one is sure of is one of devices, so what goes wrong
    /// is an error and nobody else's work.
    pub fn resident<'a, T: Scalar>(&'a self, a: View<'a, T>, b: View<'a, T>) -> Result<Resident<'a, T>> {
        if a.columns() != b.rows() {
            return Err(Error::shape(format!("{a:?} and {b:?} have no product")));
        }
        let workers: Vec<&Worker> = self.working(T::KIND).collect();
        let speeds: Vec<f64> = workers.iter().map(|worker| worker.kernel_speed::<T>(self)).collect();
        // Devices of one name are alike, whatever their measurements say.
        let alike = |k: usize| {
            let same = workers.iter().zip(&speeds).filter(|(other, _)| other.name == workers[k].name);
            let speeds: Vec<f64> = same.map(|(_, speed)| *speed).collect();
            speeds.iter().sum::<f64>() / speeds.len() as f64
        };
        let weights: Vec<f64> = (0..workers.len()).map(alike).collect();
        let whole: f64 = weights.iter().sum();
        if whole <= 0.0 {
            return Err(Error::shape("no device works"));
        }
        let (mut pieces, mut first, mut weight) = (Vec::new(), 0, 0.0);
        for (worker, own) in workers.iter().zip(weights) {
            weight += own;
            let last = ((a.rows() as f64 * weight / whole).round() as usize).min(a.rows());
            let left = a.part(first..last, 0..a.columns());
            if left.rows() > 0 && b.columns() > 0 && a.columns() > 0 {
                let failed = |e: recal::Error| Error::device(&worker.name, &e);
                let mut lane = Lane::new(&worker.device, worker.cpu).map_err(failed)?;
                let tuned = worker.tuned::<T>(self, &mut lane)?;
                let numbers = left.rows().max(b.columns()) * a.columns() * T::PARTS * T::PARTS;
                let lane = lane.keeping(2 * (numbers * T::KIND.precision().bytes()) as u64);
                pieces.push(Piece { name: &worker.name, lane, tuned, left, product: 0, first });
            }
            first = last;
        }
        let mut resident = Resident { right: b, pieces, rows: a.rows() };
        resident.multiply()?;
        Ok(resident)
    }
}

impl<T: Scalar> Resident<'_, T> {
    /// Computes the product, on all devices at once, and waits for them.
    pub fn multiply(&mut self) -> Result<()> {
        let threads = cores();
        let mut events: Vec<(&str, Vec<Event>)> = Vec::new();
        for Piece { name, lane, tuned, left, product, .. } in &mut self.pieces {
            let factors = Factors { left: *left, right: self.right, at: (0, 0, 0), threads, room: [0; 2] };
            let mut own = Vec::new();
            *product = lane.multiply(tuned.kernel, factors, &mut own).map_err(|e| Error::device(name, &e))?;
            events.push((name, own));
        }
        for (name, own) in events {
            own.iter().try_for_each(Event::wait).map_err(|e| Error::device(name, &e))?;
        }
        Ok(())
    }

    /// C = alpha A B + beta C. With beta 0, C is not read.
    pub fn fetch(&self, alpha: T, beta: T, mut c: ViewMut<T>) -> Result<()> {
        if [c.rows(), c.columns()] != [self.rows, self.right.columns()] {
            return Err(Error::shape(format!("{} x {} is not {c:?}", self.rows, self.right.columns())));
        }
        if self.pieces.is_empty() {
            c.scale(beta);
        }
        let threads = cores();
        for Piece { name, lane, left, product, first, .. } in &self.pieces {
            let columns = 0..self.right.columns();
            let to = c.reborrow().part(*first..first + left.rows(), columns);
            let mut events = Vec::new();
            let done = lane.fetch(*product, &mut events).and_then(|()| {
                events.iter().try_for_each(Event::wait)?;
                lane.unpack(*product, [alpha, beta], to, threads)
            });
            done.map_err(|e| Error::device(name, &e))?;
        }
        Ok(())
    }
}
