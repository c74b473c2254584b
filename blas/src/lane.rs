//! A lane: a context of a device, with kernels and memory for blocks.
//!
//! A lane works on one block at a time, part by part of the inner index: it packs a part, has it copied and multiplied, and packs
//! the next one meanwhile. What a part adds to stays on the device until the block is done. A device has two lanes, on two threads, so
//! that one packs while the other fetches and unpacks. The CPU's memory is the host's: there nothing is copied.

use std::ops::Range;
use std::time::{Duration, Instant};

use recal::{Context, Device, Domain, Event, FloatMode, Format, Mem, Module, Place, Resource, Result};

use crate::kernel::Shape;
use crate::pack::{self, Texture};
use crate::scalar::{Precision, Real, Scalar};
use crate::view::{View, ViewMut};

/// Real steps of the inner index that one launch adds up.
pub(crate) const DEPTH: usize = 2048;

/// Parts of a factor that a lane of the CPU keeps: one is packed while the other is read.
const KEPT: usize = 2;

/// Most that a lane of another device keeps, if its memory allows.
const MOST: usize = 64;

/// Elements that extents of memory are multiples of, so that blocks at the edges find memory that is there.
const STEP: usize = 64;

/// A context with what it needs.
pub(crate) struct Lane {
    device: Device,
    context: Context,
    direct: bool,
    kernels: Vec<(Shape, Module)>,
    /// Parts of left and of right factors.
    factors: [Vec<Factor>; 2],
    /// Where they are written, unless that is the device's memory.
    stages: [Vec<Stage>; 2],
    products: Vec<Product>,
    /// By what they hold.
    constants: Vec<([u32; 2], Buffer)>,
    clock: u64,
    /// Time that the block at hand took to be packed.
    packing: Duration,
    /// Memory that factors of one side may take.
    budget: u64,
    /// How many there may be.
    most: usize,
    /// Rows of the block that was computed last, by call: its left factor is there.
    pub(crate) last: Option<(u64, usize)>,
}

/// A texture on the device, and its twin on the host unless the device's memory is the host's.
struct Buffer {
    local: Resource,
    mem: Mem,
    twin: Option<(Resource, Mem)>,
}

/// Textures of one extent: elements in a line, and lines.
struct Factor {
    shape: Shape,
    extent: [usize; 2],
    textures: Textures,
    holds: Option<Part>,
    used: u64,
}

/// The same on the host.
struct Stage {
    shape: Shape,
    extent: [usize; 2],
    textures: Textures,
    used: u64,
}

/// The product of a block.
struct Product {
    number: u64,
    /// It is not unpacked yet.
    begun: bool,
    shape: Shape,
    extent: [usize; 2],
    buffers: Vec<Buffer>,
}

/// A block that is on its way.
pub(crate) struct Begun {
    product: u64,
    events: Vec<Event>,
    threads: usize,
}

/// Textures of a factor.
type Textures = Vec<(Resource, Mem)>;

/// A part of a factor: number of the call, first row or column, first step.
pub(crate) type Part = (u64, usize, usize);

/// The factors of a block.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a, T> {
    pub(crate) left: View<'a, T>,
    pub(crate) right: View<'a, T>,
    /// Number of the call, first row, first column.
    pub(crate) at: (u64, usize, usize),
    /// Threads that pack.
    pub(crate) threads: usize,
    /// Rows and columns that memory is made for, at least: those of other blocks, which find it there.
    pub(crate) room: [usize; 2],
}

impl Buffer {
    fn new(lane: &Lane, size: [usize; 2], format: Format) -> Result<Buffer> {
        let (local, mem) = lane.texture(size, format, Place::Local)?;
        let twin = match lane.direct {
            true => None,
            false => Some(lane.texture(size, format, Place::RemoteCached)?),
        };
        Ok(Buffer { local, mem, twin })
    }

    /// What the host sees of it.
    fn seen(&self) -> &Resource {
        self.twin.as_ref().map_or(&self.local, |(resource, _)| resource)
    }
}

/// Bytes that a block of so many numbers takes on the device, with a part of each factor.
pub(crate) fn bytes(precision: Precision, rows: usize, columns: usize, steps: usize) -> usize {
    (KEPT * (rows * steps + steps * columns) + rows * columns) * precision.bytes()
}

/// The left or the right factor.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Writes into textures, once nobody reads them any more; how long that took without the wait.
fn fill<R: Real>(textures: &[(Resource, Mem)], write: impl FnOnce(Vec<Texture<R>>)) -> Result<Duration> {
    let mut maps = textures.iter().map(|(resource, _)| resource.map::<R>()).collect::<Result<Vec<_>>>()?;
    let whole = maps.iter_mut().zip(textures);
    let textures = whole.map(|(map, (resource, _))| Texture { numbers: map, pitch: pitch::<R>(resource) });
    let (textures, start) = (textures.collect(), Instant::now());
    write(textures);
    Ok(start.elapsed())
}

/// Numbers from one row to the next.
fn pitch<R: Real>(resource: &Resource) -> usize {
    resource.pitch() as usize * resource.format().bytes() as usize / R::PRECISION.bytes()
}

impl Lane {
    pub(crate) fn new(device: &Device, direct: bool) -> Result<Lane> {
        let context = device.create_context()?;
        let memory = device.memory_status().map_or(0, |status| u64::from(status.local) << 20);
        Ok(Lane {
            device: device.clone(),
            context,
            direct,
            kernels: Vec::new(),
            factors: Default::default(),
            stages: Default::default(),
            products: Vec::new(),
            constants: Vec::new(),
            clock: 0,
            packing: Duration::ZERO,
            budget: memory / 16,
            most: if direct { KEPT } else { MOST },
            last: None,
        })
    }

    pub(crate) fn float_mode(&self) -> FloatMode {
        self.device.float_mode()
    }

    /// The same that keeps all parts of factors of so many bytes.
    pub(crate) fn keeping(self, bytes: u64) -> Lane {
        Lane { budget: self.budget.max(bytes), most: usize::MAX, ..self }
    }

    fn texture(&self, size: [usize; 2], format: Format, place: Place) -> Result<(Resource, Mem)> {
        let resource = self.device.allocate_2d(size[0] as u32, size[1] as u32, format, place)?;
        let mem = self.context.mem(&resource)?;
        Ok((resource, mem))
    }

    fn kernel(&mut self, shape: Shape) -> Result<Module> {
        if let Some((_, module)) = self.kernels.iter().find(|(known, _)| *known == shape) {
            return Ok(module.clone());
        }
        let object = recal::compile(shape.text(), self.device.info().target)?;
        let module = self.context.load(&object.into())?;
        self.kernels.push((shape, module.clone()));
        Ok(module)
    }

    /// New memory. Others have memory, too, so what is kept for later gives way, but for a left factor that is `held` and, with it, the
    /// product.
    fn made<M>(&mut self, held: Option<Part>, make: impl Fn(&Lane) -> Result<M>) -> Result<M> {
        make(self).or_else(|e| {
            log::debug!("{e}: memory of other blocks is given back");
            self.context.finish()?;
            let [left, right] = &mut self.factors;
            left.retain(|factor| held.is_some() && factor.holds == held);
            right.clear();
            self.stages = Default::default();
            if held.is_none() {
                self.products.retain(|product| product.begun);
            }
            make(self)
        })
    }

    /// The textures of a side, and the extent that they have for so many rows or columns.
    fn textures(shape: &Shape, side: Side) -> (usize, Format) {
        match side {
            Side::Left => (shape.groups() * shape.depth, shape.left_format()),
            Side::Right => (shape.depth, shape.right_format()),
        }
    }

    fn several(&self, shape: &Shape, side: Side, extent: [usize; 2], place: Place) -> Result<Textures> {
        let (count, format) = Lane::textures(shape, side);
        (0..count).map(|_| self.texture(extent, format, place)).collect()
    }

    /// A part of a factor on the device, packed and sent if it is not there. `held`: the part of the left one that goes with it.
    fn factor<R: Real>(
        &mut self,
        shape: Shape,
        side: Side,
        extent: [usize; 2],
        [part, held]: [Part; 2],
        events: &mut Vec<Event>,
        pack: impl FnOnce(Vec<Texture<R>>),
    ) -> Result<()> {
        self.clock += 1;
        let (clock, at) = (self.clock, side as usize);
        let fits = |factor: &Factor| factor.shape == shape && factor.extent == extent;
        let known = self.factors[at].iter().position(|f| fits(f) && f.holds == Some(part));
        if let Some(known) = known {
            self.factors[at][known].used = clock;
            return Ok(());
        }
        let (count, format) = Lane::textures(&shape, side);
        let size = (extent[0] * extent[1] * count) as u64 * u64::from(format.bytes());
        let kept = ((self.budget / size.max(1)) as usize).min(self.most).max(KEPT);
        // What holds nothing of this call is of no use any more; making new memory takes longer than packing.
        let oldest = |list: &[Factor], among: &dyn Fn(&Factor) -> bool| {
            (0..list.len()).filter(|k| among(&list[*k])).min_by_key(|k| list[*k].used)
        };
        let stale = |factor: &Factor| fits(factor) && factor.holds.is_none_or(|(call, ..)| call != part.0);
        let fitting = self.factors[at].iter().filter(|factor| fits(factor)).count();
        // One that a launch may still read is not packed again at once.
        let spare = if fitting < KEPT { None } else { oldest(&self.factors[at], &stale) };
        let full = || if fitting < kept { None } else { oldest(&self.factors[at], &fits) };
        let place = match spare.or_else(full) {
            Some(place) => place,
            None => {
                if self.factors[at].len() >= kept + KEPT {
                    let gone = oldest(&self.factors[at], &|_| true).unwrap_or(0);
                    self.factors[at].swap_remove(gone);
                }
                let textures =
                    self.made(Some(held), |lane| lane.several(&shape, side, extent, Place::Local))?;
                self.factors[at].push(Factor { shape, extent, textures, holds: None, used: 0 });
                self.factors[at].len() - 1
            }
        };
        let factor = &mut self.factors[at][place];
        (factor.holds, factor.used) = (None, clock);
        if self.direct {
            self.packing += fill(&factor.textures, pack)?;
        } else {
            let stage = self.stage(shape, side, extent)?;
            let (stage, factor) = (&self.stages[at][stage], &self.factors[at][place]);
            self.packing += fill(&stage.textures, pack)?;
            for ((_, from), (_, to)) in stage.textures.iter().zip(&factor.textures) {
                events.push(self.context.copy(from, to)?);
            }
            self.context.flush()?;
        }
        self.factors[at][place].holds = Some(part);
        Ok(())
    }

    /// Where a part is, that was asked for last.
    fn held(&self, shape: Shape, side: usize, part: Part) -> &[(Resource, Mem)] {
        let holds = |factor: &&Factor| factor.shape == shape && factor.holds == Some(part);
        self.factors[side]
            .iter()
            .filter(holds)
            .max_by_key(|factor| factor.used)
            .map_or(&[], |factor| &factor.textures)
    }

    /// Where a part is written: the one whose copy is longest ago.
    fn stage(&mut self, shape: Shape, side: Side, extent: [usize; 2]) -> Result<usize> {
        let (clock, at) = (self.clock, side as usize);
        let fits = |stage: &Stage| stage.shape == shape && stage.extent == extent;
        let oldest = |list: &[Stage]| (0..list.len()).min_by_key(|k| list[*k].used).unwrap_or(0);
        let there: Vec<usize> = (0..self.stages[at].len()).filter(|k| fits(&self.stages[at][*k])).collect();
        let place = if there.len() >= KEPT {
            there.into_iter().min_by_key(|k| self.stages[at][*k].used).unwrap_or(0)
        } else {
            if self.stages[at].len() >= 2 * KEPT {
                let gone = oldest(&self.stages[at]);
                self.stages[at].swap_remove(gone);
            }
            // Memory for writing alone may be written a few bytes at a time, where a machine is virtual.
            let textures = self.several(&shape, side, extent, Place::RemoteCached)?;
            self.stages[at].push(Stage { shape, extent, textures, used: 0 });
            self.stages[at].len() - 1
        };
        self.stages[at][place].used = clock;
        Ok(place)
    }

    /// A product that nobody waits for; its number.
    fn product(&mut self, shape: Shape, extent: [usize; 2]) -> Result<u64> {
        let known = |product: &&Product| !product.begun && product.shape == shape && product.extent == extent;
        if let Some(product) = self.products.iter().find(known) {
            return Ok(product.number);
        }
        if self.products.len() >= KEPT
            && let Some(at) = self.products.iter().position(|product| !product.begun)
        {
            self.products.remove(at);
        }
        let buffers = self.made(None, |lane| {
            let new = |_| Buffer::new(lane, extent, shape.right_format());
            (0..shape.rows).map(new).collect::<Result<Vec<_>>>()
        })?;
        self.clock += 1;
        let number = self.clock;
        self.products.push(Product { number, begun: false, shape, extent, buffers });
        Ok(number)
    }

    fn the(&self, number: u64) -> &Product {
        let product = self.products.iter().find(|product| product.number == number);
        product.unwrap_or_else(|| unreachable!("a product that is begun or being computed is kept"))
    }

    fn note(&mut self, number: u64, begun: bool) {
        self.products
            .iter_mut()
            .filter(|product| product.number == number)
            .for_each(|product| product.begun = begun);
    }

    /// Constants of a launch: rounds, and whether sums go on.
    fn constants(&mut self, words: [u32; 2], events: &mut Vec<Event>) -> Result<usize> {
        if let Some(at) = self.constants.iter().position(|(known, _)| *known == words) {
            return Ok(at);
        }
        if self.constants.len() == MOST {
            self.constants.remove(0);
        }
        let buffer = Buffer::new(self, [1, 1], Format::UnsignedInt32x4)?;
        buffer.seen().map::<u32>()?[..2].copy_from_slice(&words);
        if let Some((_, twin)) = &buffer.twin {
            events.push(self.context.copy(twin, &buffer.mem)?);
        }
        self.constants.push((words, buffer));
        Ok(self.constants.len() - 1)
    }

    /// Begins a block: it is packed, and what is left to do goes on without the host.
    pub(crate) fn begin<T: Scalar>(&mut self, shape: Shape, factors: Factors<T>) -> Result<Begun> {
        let (threads, start, mut events) = (factors.threads, Instant::now(), Vec::new());
        let size = [factors.left.rows(), factors.right.columns(), factors.left.columns()];
        self.packing = Duration::ZERO;
        let product = self.multiply(shape, factors, &mut events)?;
        self.fetch(product, &mut events)?;
        let [packed, issued] =
            [self.packing, start.elapsed() - self.packing].map(|time| 1e3 * time.as_secs_f64());
        log::trace!("{size:?}, {threads} threads: packed {packed:.2} ms, issued {issued:.2}");
        self.note(product, true);
        Ok(Begun { product, events, threads })
    }

    /// Ends a block: D = alpha L R + beta D. Nothing is written to it if this fails.
    pub(crate) fn end<T: Scalar>(&mut self, block: Begun, scales: [T; 2], to: ViewMut<T>) -> Result<()> {
        let Begun { product, events, threads } = block;
        let start = Instant::now();
        events.iter().try_for_each(Event::wait)?;
        let waited = start.elapsed();
        self.unpack(product, scales, to, threads)?;
        let [waited, unpacked] = [waited, start.elapsed() - waited].map(|time| 1e3 * time.as_secs_f64());
        log::trace!("waited {waited:.2} ms, unpacked {unpacked:.2}");
        self.note(product, false);
        Ok(())
    }

    /// Has a product computed that stays on the device; its number.
    pub(crate) fn multiply<T: Scalar>(
        &mut self,
        shape: Shape,
        block: Factors<T>,
        events: &mut Vec<Event>,
    ) -> Result<u64> {
        let (rows, columns) = (block.left.rows(), block.right.columns());
        let (high, wide) = (rows.div_ceil(shape.rows), (columns * T::PARTS).div_ceil(shape.columns));
        let lines = rows.max(block.room[0]).div_ceil(shape.rows).next_multiple_of(STEP);
        let line = (columns.max(block.room[1]) * T::PARTS).div_ceil(shape.columns).next_multiple_of(STEP);
        let (all, step) = (block.left.columns(), DEPTH / T::PARTS);
        let deepest = (all.min(step) * T::PARTS).div_ceil(shape.depth).next_multiple_of(STEP);
        let (module, (call, row, column)) = (self.kernel(shape)?, block.at);
        let product = self.product(shape, [line, lines])?;
        self.last = Some((call, row));
        for first in (0..all).step_by(step) {
            let steps: Range<usize> = first..all.min(first + step);
            let (left, right) =
                (block.left.part(0..rows, steps.clone()), block.right.part(steps.clone(), 0..columns));
            let threads = block.threads;
            let rounds = (steps.len() * T::PARTS).div_ceil(shape.depth) as u32;
            let parts = [(call, row, first), (call, column, first)];
            let both = |part: Part| [part, parts[0]];
            self.factor(shape, Side::Left, [deepest, lines], both(parts[0]), events, |textures| {
                pack::left(&shape, left, textures, threads);
            })?;
            self.factor(shape, Side::Right, [line, deepest], both(parts[1]), events, |textures| {
                pack::right(&shape, right, textures, threads);
            })?;
            let constants = self.constants([rounds, u32::from(first > 0)], events)?;
            let factors = [0, 1].map(|side| self.held(shape, side, parts[side]));
            let sums = &self.the(product).buffers;
            let inputs = factors.into_iter().flatten().map(|(_, mem)| mem).chain(sums.iter().map(|b| &b.mem));
            for (number, mem) in inputs.enumerate() {
                module.name(&format!("i{number}"))?.bind(mem)?;
            }
            for (number, buffer) in sums.iter().enumerate() {
                module.name(&format!("o{number}"))?.bind(&buffer.mem)?;
            }
            module.name("cb0")?.bind(&self.constants[constants].1.mem)?;
            events.push(self.context.run(&module, Domain::of(wide as u32, high as u32))?);
            self.context.flush()?;
        }
        Ok(product)
    }

    /// Has a product copied to where the host sees it.
    pub(crate) fn fetch(&self, product: u64, events: &mut Vec<Event>) -> Result<()> {
        for buffer in &self.the(product).buffers {
            if let Some((_, twin)) = &buffer.twin {
                events.push(self.context.copy(&buffer.mem, twin)?);
            }
        }
        self.context.flush()
    }

    /// D = alpha P + beta D, with the product P that was fetched.
    pub(crate) fn unpack<T: Scalar>(
        &self,
        product: u64,
        scales: [T; 2],
        to: ViewMut<T>,
        threads: usize,
    ) -> Result<()> {
        let Product { shape, buffers, .. } = self.the(product);
        let maps = buffers.iter().map(|b| b.seen().map::<T::Real>()).collect::<Result<Vec<_>>>()?;
        let outputs: Vec<&[T::Real]> = maps.iter().map(|map| &**map).collect();
        let pitch = pitch::<T::Real>(buffers[0].seen());
        pack::product(shape, &outputs, pitch, scales, to, threads);
        Ok(())
    }
}
