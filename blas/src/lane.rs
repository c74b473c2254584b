//! A lane: a context of a device, with a kernel and the memory of one block.
//!
//! A lane works on one block at a time: it packs, copies, launches, waits, unpacks. A device has two of them, on two threads, so
//! that one packs and copies while the other's kernel runs. The CPU's memory is the host's: there nothing is copied.

use recal::{Context, Device, Domain, Event, Format, Mem, Module, Place, Resource, Result};

use crate::kernel::Shape;
use crate::pack::{self, Texture};
use crate::scalar::{Precision, Real, Scalar};
use crate::view::{View, ViewMut};

/// Real steps of the inner index that one launch adds up. Always the same, since it decides on the bits of results.
pub(crate) const DEPTH: usize = 2048;

/// Sets of memory that a lane keeps.
const SETS: usize = 3;

/// Elements that extents of memory are multiples of, so that blocks at the edges find memory that is there.
const STEP: usize = 64;

/// A context with what it needs.
pub(crate) struct Lane {
    device: Device,
    context: Context,
    direct: bool,
    kernels: Vec<(Shape, Module)>,
    sets: Vec<Set>,
}

/// A texture on the device, and its twin on the host unless the device's memory is the host's.
struct Buffer {
    local: Resource,
    mem: Mem,
    twin: Option<(Resource, Mem)>,
}

/// Memory of one block.
struct Set {
    shape: Shape,
    /// Elements: blocks of rows, blocks of columns, rounds.
    extent: [usize; 3],
    left: Vec<Buffer>,
    right: Vec<Buffer>,
    product: Vec<Buffer>,
    rounds: Buffer,
    /// What lies in `left` and `right`: the call, and which part.
    holds: [Option<Part>; 2],
}

/// A part of a factor: number of the call, first row or column, first step.
pub(crate) type Part = (u64, usize, usize);

/// A block of the product: D = alpha L R + beta D.
pub(crate) struct Block<'a, 'd, T> {
    pub(crate) left: View<'a, T>,
    pub(crate) right: View<'a, T>,
    pub(crate) parts: [Part; 2],
    pub(crate) alpha: T,
    pub(crate) beta: T,
    pub(crate) to: &'a mut ViewMut<'d, T>,
}

impl Buffer {
    fn new(lane: (&Device, &Context, bool), size: [usize; 2], format: Format, back: bool) -> Result<Buffer> {
        let (device, context, direct) = lane;
        let make = |place| device.allocate_2d(size[0] as u32, size[1] as u32, format, place);
        let local = make(Place::Local)?;
        let mem = context.mem(&local)?;
        let twin = match direct {
            true => None,
            false => {
                let twin = make(if back { Place::RemoteCached } else { Place::Remote })?;
                let mem = context.mem(&twin)?;
                Some((twin, mem))
            }
        };
        Ok(Buffer { local, mem, twin })
    }

    /// What the host sees of it.
    fn seen(&self) -> &Resource {
        self.twin.as_ref().map_or(&self.local, |(resource, _)| resource)
    }

    fn send(&self, context: &Context, events: &mut Vec<Event>) -> Result<()> {
        if let Some((_, twin)) = &self.twin {
            events.push(context.copy(twin, &self.mem)?);
        }
        Ok(())
    }

    fn fetch(&self, context: &Context, events: &mut Vec<Event>) -> Result<()> {
        if let Some((_, twin)) = &self.twin {
            events.push(context.copy(&self.mem, twin)?);
        }
        Ok(())
    }
}

/// Bytes that a set for a block of so many numbers takes on the device.
pub(crate) fn bytes(precision: Precision, rows: usize, columns: usize, steps: usize) -> usize {
    (rows * steps + steps * columns + rows * columns) * precision.bytes()
}

impl Set {
    fn new(lane: (&Device, &Context, bool), shape: Shape, extent: [usize; 3]) -> Result<Set> {
        let [rows, columns, rounds] = extent;
        let make = |count: usize, size, format, back| {
            (0..count).map(|_| Buffer::new(lane, size, format, back)).collect::<Result<Vec<_>>>()
        };
        Ok(Set {
            shape,
            extent,
            left: make(shape.groups() * shape.depth, [rounds, rows], shape.left_format(), false)?,
            right: make(shape.depth, [columns, rounds], shape.right_format(), false)?,
            product: make(shape.rows, [columns, rows], shape.right_format(), true)?,
            rounds: Buffer::new(lane, [1, 1], Format::UnsignedInt32x4, false)?,
            holds: [None; 2],
        })
    }

    fn bind(&self, module: &Module) -> Result<()> {
        for (number, buffer) in self.left.iter().chain(&self.right).enumerate() {
            module.name(&format!("i{number}"))?.bind(&buffer.mem)?;
        }
        for (number, buffer) in self.product.iter().enumerate() {
            module.name(&format!("o{number}"))?.bind(&buffer.mem)?;
        }
        module.name("cb0")?.bind(&self.rounds.mem)
    }
}

/// Writes into textures.
fn fill<R: Real>(buffers: &[Buffer], write: impl FnOnce(&mut [Texture<R>])) -> Result<()> {
    let mut maps = buffers.iter().map(|buffer| buffer.seen().map::<R>()).collect::<Result<Vec<_>>>()?;
    let mut textures: Vec<Texture<R>> = maps
        .iter_mut()
        .zip(buffers)
        .map(|(map, buffer)| Texture { numbers: map, pitch: pitch::<R>(buffer.seen()) })
        .collect();
    write(&mut textures);
    Ok(())
}

/// Numbers from one row to the next.
fn pitch<R: Real>(resource: &Resource) -> usize {
    resource.pitch() as usize * resource.format().bytes() as usize / R::PRECISION.bytes()
}

impl Lane {
    pub(crate) fn new(device: &Device, direct: bool) -> Result<Lane> {
        let context = device.create_context()?;
        Ok(Lane { device: device.clone(), context, direct, kernels: Vec::new(), sets: Vec::new() })
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

    /// The place of a set that takes this extent. One that holds a wanted factor comes first.
    fn set(&mut self, shape: Shape, extent: [usize; 3], parts: &[Part; 2]) -> Result<usize> {
        let fits = |set: &Set| {
            set.shape == shape
                && set.extent.iter().zip(&extent).all(|(has, wants)| has >= wants)
                // Whole textures are copied, so much too large ones are not taken.
                && set.extent.iter().product::<usize>() <= 2 * extent.iter().product::<usize>().max(1 << 16)
        };
        let kept = |set: &Set| {
            set.holds.iter().zip(parts).filter(|(has, wants)| has.as_ref() == Some(*wants)).count()
        };
        let found =
            (0..self.sets.len()).filter(|at| fits(&self.sets[*at])).max_by_key(|at| kept(&self.sets[*at]));
        if let Some(at) = found {
            return Ok(at);
        }
        if self.sets.len() == SETS {
            self.sets.remove(0);
        }
        let lane = (&self.device, &self.context, self.direct);
        let set = match Set::new(lane, shape, extent) {
            // Others have memory, too: what is kept for later gives way.
            Err(e) if !self.sets.is_empty() => {
                log::debug!("{e}: memory of other blocks is given back");
                self.sets.clear();
                Set::new(lane, shape, extent)?
            }
            made => made?,
        };
        self.sets.push(set);
        Ok(self.sets.len() - 1)
    }

    /// Computes a block. Nothing is written to it if this fails.
    pub(crate) fn run<T: Scalar>(&mut self, shape: Shape, block: Block<'_, '_, T>) -> Result<()> {
        let (rows, columns) = (block.to.rows(), block.to.columns() * T::PARTS);
        let rounds = (block.left.columns() * T::PARTS).div_ceil(shape.depth);
        let (high, wide) = (rows.div_ceil(shape.rows), columns.div_ceil(shape.columns));
        let extent = [high, wide, rounds].map(|n| n.next_multiple_of(STEP));
        let module = self.kernel(shape)?;
        let at = self.set(shape, extent, &block.parts)?;
        let (context, set) = (&self.context, &mut self.sets[at]);
        let wanted = block.parts.map(Some);
        let mut events = Vec::new();
        let events = &mut events;
        if set.holds[0] != wanted[0] {
            set.holds[0] = None;
            fill(&set.left, |textures| pack::left(&shape, block.left, textures))?;
            set.left.iter().try_for_each(|buffer| buffer.send(context, events))?;
        }
        if set.holds[1] != wanted[1] {
            set.holds[1] = None;
            fill(&set.right, |textures| pack::right(&shape, block.right, textures))?;
            set.right.iter().try_for_each(|buffer| buffer.send(context, events))?;
        }
        set.holds = wanted;
        let counted = set.rounds.seen().map::<u32>()?[0] as usize;
        if counted != rounds {
            set.rounds.seen().map::<u32>()?[0] = rounds as u32;
            set.rounds.send(context, events)?;
        }
        set.bind(&module)?;
        events.push(context.run(&module, Domain::of(wide as u32, high as u32))?);
        set.product.iter().try_for_each(|buffer| buffer.fetch(context, events))?;
        if let Err(e) = events.iter().try_for_each(Event::wait) {
            set.holds = [None; 2];
            return Err(e);
        }
        let maps = set.product.iter().map(|b| b.seen().map::<T::Real>()).collect::<Result<Vec<_>>>()?;
        let outputs: Vec<&[T::Real]> = maps.iter().map(|map| &**map).collect();
        let pitch = pitch::<T::Real>(set.product[0].seen());
        pack::product(&shape, &outputs, pitch, block.alpha, block.beta, block.to);
        Ok(())
    }
}
