//! A lane: a context of a device, with kernels and memory for blocks.
//!
//! A lane works on one block at a time, part by part of the inner index: it packs a part, has it copied and multiplied, and packs
//! the next one meanwhile. What a part adds to stays on the device until the block is done. The CPU has two lanes, on two threads, so
//! that one packs while the other computes; other devices one. The CPU's memory is the host's: there nothing is copied.

use std::ops::Range;
use std::time::{Duration, Instant};

use recal::{Context, Device, Event, FloatMode, Format, Mem, Module, Place, Resource, Result};

use crate::cores::cores;
use crate::kernel::{Kernel, Side};
use crate::pack::{self, Texture};
use crate::scalar::{Precision, Real, Scalar};
use crate::view::{View, ViewMut};

/// Real steps of the inner index that one launch adds up.
pub(crate) const DEPTH: usize = 2048;

/// The same on the CPU, half of whose second-level cache they take.
const SHALLOW: usize = 512;

/// Bytes of a step of the right factor that a wave of the CPU's has: a block is as wide, so that its waves read what lies together and
/// stays in the cache.
const WAVE: usize = 1024;

/// And where factors are on the device already.
const DEEP: usize = 8192;

/// Parts of a factor that a lane has at least: one is packed while the other is read.
const KEPT: usize = 2;

/// Most that it keeps, if memory allows.
const MOST: usize = 64;

/// Elements that extents of memory are multiples of, so that blocks at the edges find memory that is there.
const STEP: usize = 64;

/// A context with what it needs.
pub(crate) struct Lane {
    device: Device,
    context: Context,
    direct: bool,
    /// Other lanes have their part of the cores, so that it does its launches itself.
    alone: bool,
    modules: Vec<(Kernel, Module)>,
    /// Parts of left and of right factors.
    factors: [Vec<Factor>; 2],
    /// Where they are written, unless that is the device's memory.
    stages: [Vec<Stage>; 2],
    products: Vec<Product>,
    /// By what they hold.
    constants: Vec<([u32; 4], Buffer)>,
    clock: u64,
    /// Time that the block at hand took to be packed.
    packing: Duration,
    /// Memory that factors of one side may take.
    budget: u64,
    /// How many there may be.
    most: usize,
    /// Real steps of the inner index that one launch adds up.
    depth: usize,
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
    kernel: Kernel,
    extent: [usize; 2],
    textures: Textures,
    holds: Option<Part>,
    used: u64,
}

/// The same on the host.
struct Stage {
    kernel: Kernel,
    extent: [usize; 2],
    textures: Textures,
    used: u64,
}

/// The product of a block.
struct Product {
    number: u64,
    /// It is not unpacked yet.
    begun: bool,
    kernel: Kernel,
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
        let make = |place| lane.texture(size, format, place);
        let (local, mem) = make(Place::Local)?;
        let twin = if lane.direct { None } else { Some(make(Place::RemoteCached)?) };
        Ok(Buffer { local, mem, twin })
    }

    /// What the host sees of it.
    fn seen(&self) -> &Resource {
        self.twin.as_ref().map_or(&self.local, |(resource, _)| resource)
    }
}

/// Real columns of a block on the CPU.
pub(crate) fn wide(precision: Precision) -> usize {
    WAVE / precision.bytes()
}

/// Bytes that a block of so many numbers takes on the device, with a part of each factor.
pub(crate) fn bytes(precision: Precision, rows: usize, columns: usize, steps: usize) -> usize {
    (KEPT * (rows * steps + steps * columns) + rows * columns) * precision.bytes()
}

impl Lane {
    pub(crate) fn new(device: &Device, direct: bool) -> Result<Lane> {
        let context = device.create_context()?;
        let memory = device.memory_status().map_or(0, |status| u64::from(status.local) << 20);
        Ok(Lane {
            device: device.clone(),
            context,
            direct,
            alone: false,
            modules: Vec::new(),
            factors: Default::default(),
            stages: Default::default(),
            products: Vec::new(),
            constants: Vec::new(),
            clock: 0,
            packing: Duration::ZERO,
            budget: memory / 16,
            most: MOST,
            depth: if direct { SHALLOW } else { DEPTH },
            last: None,
        })
    }

    /// Its device's memory is the host's.
    pub(crate) fn is_direct(&self) -> bool {
        self.direct
    }

    /// Takes part of the host's cores as one of so many lanes. With more threads than cores one waits for what another, that does not run,
    /// has begun.
    pub(crate) fn among(&mut self, lanes: usize) {
        let cores = cores();
        self.context.limit_threads((cores / lanes).max(1));
        self.alone = self.direct && lanes > 1;
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    pub(crate) fn float_mode(&self) -> FloatMode {
        self.device.float_mode()
    }

    /// The same that keeps all parts of factors of so many bytes.
    pub(crate) fn keeping(self, bytes: u64) -> Lane {
        let depth = if self.direct { self.depth } else { DEEP };
        Lane { budget: self.budget.max(bytes), most: usize::MAX, depth, ..self }
    }

    /// Elements in a line and lines; without lines all is one, which may be as long as memory is.
    fn texture(&self, size: [usize; 2], format: Format, place: Place) -> Result<(Resource, Mem)> {
        let resource = match size.map(|n| n as u32) {
            [elements, 0] => self.device.allocate_buffer(elements, format, place)?,
            [width, height] => self.device.allocate_2d(width, height, format, place)?,
        };
        let mem = self.context.mem(&resource)?;
        Ok((resource, mem))
    }

    fn module(&mut self, kernel: Kernel) -> Result<Module> {
        if let Some((_, module)) = self.modules.iter().find(|(known, _)| *known == kernel) {
            return Ok(module.clone());
        }
        let object = recal::compile(kernel.text(), self.device.info().target)?;
        let module = self.context.load(&object.into())?;
        self.modules.push((kernel, module.clone()));
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

    fn several(&self, kernel: &Kernel, side: Side, extent: [usize; 2], place: Place) -> Result<Textures> {
        let (count, format) = kernel.textures(side);
        (0..count).map(|_| self.texture(extent, format, place)).collect()
    }

    /// A part of a factor on the device, packed and sent if it is not there. `held`: the part of the left one that goes with it.
    fn factor<R: Real>(
        &mut self,
        kernel: Kernel,
        side: Side,
        extent: [usize; 2],
        [part, held]: [Part; 2],
        events: &mut Vec<Event>,
        pack: impl FnOnce(Vec<Texture<R>>),
    ) -> Result<()> {
        self.clock += 1;
        let (clock, at) = (self.clock, side as usize);
        let fits = |factor: &Factor| factor.kernel == kernel && factor.extent == extent;
        let known = self.factors[at].iter().position(|f| fits(f) && f.holds == Some(part));
        if let Some(known) = known {
            self.factors[at][known].used = clock;
            return Ok(());
        }
        let (count, format) = kernel.textures(side);
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
                    self.made(Some(held), |lane| lane.several(&kernel, side, extent, Place::Local))?;
                self.factors[at].push(Factor { kernel, extent, textures, holds: None, used: 0 });
                self.factors[at].len() - 1
            }
        };
        let factor = &mut self.factors[at][place];
        (factor.holds, factor.used) = (None, clock);
        if self.direct {
            self.packing += pack::fill(&factor.textures, pack)?;
        } else {
            let stage = self.stage(kernel, side, extent)?;
            let (stage, factor) = (&self.stages[at][stage], &self.factors[at][place]);
            self.packing += pack::fill(&stage.textures, pack)?;
            for ((_, from), (_, to)) in stage.textures.iter().zip(&factor.textures) {
                events.push(self.context.copy(from, to)?);
            }
            self.context.flush()?;
        }
        self.factors[at][place].holds = Some(part);
        Ok(())
    }

    /// Where a part is, that was asked for last.
    fn held(&self, kernel: Kernel, side: usize, part: Part) -> &[(Resource, Mem)] {
        let holds = |factor: &&Factor| factor.kernel == kernel && factor.holds == Some(part);
        self.factors[side]
            .iter()
            .filter(holds)
            .max_by_key(|factor| factor.used)
            .map_or(&[], |factor| &factor.textures)
    }

    /// Where a part is written: the one whose copy is longest ago.
    fn stage(&mut self, kernel: Kernel, side: Side, extent: [usize; 2]) -> Result<usize> {
        let (clock, at) = (self.clock, side as usize);
        let fits = |stage: &Stage| stage.kernel == kernel && stage.extent == extent;
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
            let textures = self.several(&kernel, side, extent, Place::RemoteCached)?;
            self.stages[at].push(Stage { kernel, extent, textures, used: 0 });
            self.stages[at].len() - 1
        };
        self.stages[at][place].used = clock;
        Ok(place)
    }

    /// A product that nobody waits for; its number.
    fn product(&mut self, kernel: Kernel, extent: [usize; 2]) -> Result<u64> {
        let known =
            |product: &&Product| !product.begun && product.kernel == kernel && product.extent == extent;
        if let Some(product) = self.products.iter().find(known) {
            return Ok(product.number);
        }
        if self.products.len() >= KEPT
            && let Some(at) = self.products.iter().position(|product| !product.begun)
        {
            self.products.remove(at);
        }
        let (count, format) = kernel.outputs();
        let buffers = self.made(None, |lane| {
            let new = |_| Buffer::new(lane, kernel.memory(extent), format);
            (0..count).map(new).collect::<Result<Vec<_>>>()
        })?;
        self.clock += 1;
        let number = self.clock;
        self.products.push(Product { number, begun: false, kernel, extent, buffers });
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

    /// Constants of a launch.
    fn constants(&mut self, words: [u32; 4], events: &mut Vec<Event>) -> Result<usize> {
        if let Some(at) = self.constants.iter().position(|(known, _)| *known == words) {
            return Ok(at);
        }
        if self.constants.len() == MOST {
            self.constants.remove(0);
        }
        let buffer = Buffer::new(self, [1, 1], Format::UnsignedInt32x4)?;
        buffer.seen().map::<u32>()?[..4].copy_from_slice(&words);
        if let Some((_, twin)) = &buffer.twin {
            events.push(self.context.copy(twin, &buffer.mem)?);
        }
        self.constants.push((words, buffer));
        Ok(self.constants.len() - 1)
    }

    /// Begins a block: it is packed, and what is left to do goes on without the host.
    pub(crate) fn begin<T: Scalar>(&mut self, kernel: Kernel, factors: Factors<T>) -> Result<Begun> {
        let (threads, start, mut events) = (factors.threads, Instant::now(), Vec::new());
        let size = [factors.left.rows(), factors.right.columns(), factors.left.columns()];
        self.packing = Duration::ZERO;
        let product = self.multiply(kernel, factors, &mut events)?;
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
        kernel: Kernel,
        block: Factors<T>,
        events: &mut Vec<Event>,
    ) -> Result<u64> {
        let (rows, columns) = (block.left.rows(), block.right.columns());
        let computed = if self.direct { kernel.whole(columns * T::PARTS) } else { columns * T::PARTS };
        let (high, wide) = (rows.max(block.room[0]), columns.max(block.room[1]) * T::PARTS);
        let (all, step) = (block.left.columns(), self.depth / T::PARTS);
        let whole = |extent: [usize; 2]| extent.map(|n| n.next_multiple_of(STEP));
        let deepest = all.min(step) * T::PARTS;
        let extents = [(Side::Left, high), (Side::Right, wide)]
            .map(|(side, numbers)| whole(kernel.extent(side, numbers, deepest)));
        let extent = whole(kernel.product(high, wide));
        let (module, (call, row, column)) = (self.module(kernel)?, block.at);
        let product = self.product(kernel, extent)?;
        self.last = Some((call, row));
        for first in (0..all).step_by(step) {
            let steps: Range<usize> = first..all.min(first + step);
            let (left, right) =
                (block.left.part(0..rows, steps.clone()), block.right.part(steps.clone(), 0..columns));
            let threads = block.threads;
            let parts = [(call, row, first), (call, column, first)];
            for (side, from) in [(Side::Left, left), (Side::Right, right)] {
                let at = side as usize;
                self.factor(kernel, side, extents[at], [parts[at], parts[0]], events, |textures| {
                    pack::factor(&kernel, side, from, textures, threads);
                })?;
            }
            let constants = kernel.constants(steps.len() * T::PARTS, extent[0] as u32, first > 0);
            let constants = self.constants(constants, events)?;
            let factors = [0, 1].map(|side| self.held(kernel, side, parts[side]));
            let sums = self.the(product).buffers.iter().map(|buffer| &buffer.mem);
            let factors = factors.into_iter().flatten().map(|(_, mem)| mem);
            let [inputs, earlier, outputs] = kernel.names();
            let memory = factors.chain(sums.clone().take(earlier.len())).chain(sums);
            for (name, mem) in inputs.iter().chain(&earlier).chain(&outputs).zip(memory) {
                module.name(name)?.bind(mem)?;
            }
            module.name("cb0")?.bind(&self.constants[constants].1.mem)?;
            let launched = kernel.launch(&self.context, &module, rows, computed)?;
            if self.alone {
                launched.wait()?;
            } else {
                self.context.flush()?;
            }
            events.push(launched);
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
        let Product { kernel, extent, buffers, .. } = self.the(product);
        let maps = buffers.iter().map(|b| b.seen().map::<T::Real>()).collect::<Result<Vec<_>>>()?;
        let outputs: Vec<&[T::Real]> = maps.iter().map(|map| &**map).collect();
        let element = kernel.outputs().1.bytes() as usize;
        let pitch = extent[0] * element / T::KIND.precision().bytes();
        pack::product(&outputs, pitch, scales, to, threads);
        Ok(())
    }
}
