//! Kernel calls: the rules about their arguments, then the back end.

use std::sync::Arc;

use crate::cal::launch::{Extents, Which};
use crate::cal::reduce::no_technique;
use crate::cal::{Bound, CalDevice, Rectangle, Remap};
use crate::capi::types::CpuArray;
pub use crate::capi::types::CpuKernel;
use crate::cpu::Launch;
use crate::device::System;
use crate::element::{Scalar, constant_words};
use crate::error::{Code, Failure, Result};
use crate::kernel::Kernel;
use crate::shape::Shape;
use crate::stream::{Core, Handle};

/// How a kernel uses a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Each thread its element.
    Input,
    /// Anywhere, for reading.
    Gather,
    /// Each thread its element, for writing.
    Output,
    /// Anywhere, for writing.
    Scatter,
    /// The result of a reduction.
    Reduce,
}

/// An argument.
pub enum Argument<'a> {
    /// A stream.
    Stream(Role, Option<&'a Handle>),
    /// Numbers: of what kind, how many in each element, how many elements; the bytes as the host has them.
    Constant {
        /// Kind of the numbers.
        scalar: Scalar,
        /// Numbers of an element.
        width: usize,
        /// True of an array, which has a constant buffer of its own.
        array: bool,
        /// The bytes.
        bytes: &'a [u8],
    },
}

/// A call.
pub struct Call<'a> {
    /// The kernel's name.
    pub name: &'a str,
    /// Its programs.
    pub cal: Option<&'a Kernel>,
    /// Its CPU version.
    pub cpu: Option<CpuKernel>,
    /// It is a reduction.
    pub reduce: bool,
    /// Threads of a group and bytes that they share.
    pub group: Option<(u32, u32)>,
    /// The arguments.
    pub arguments: Vec<Argument<'a>>,
    /// First position that runs.
    pub offset: Option<[u32; 4]>,
    /// Positions that run.
    pub size: Option<[u32; 4]>,
}

impl<'a> Call<'a> {
    fn streams(&self, wanted: fn(Role) -> bool) -> impl Iterator<Item = &'a Handle> {
        self.arguments.iter().filter_map(move |a| match a {
            Argument::Stream(role, Some(handle)) if wanted(*role) => Some(*handle),
            _ => None,
        })
    }

    pub(crate) fn outputs(&self) -> impl Iterator<Item = &'a Handle> {
        self.streams(|r| matches!(r, Role::Output | Role::Scatter | Role::Reduce))
    }

    fn fail(&self, failure: &Failure) {
        let failure = Failure::new(failure.code, format!("{}: {}", self.name, failure.message));
        self.outputs().for_each(|h| h.core.fail(&failure));
    }

    /// Runs the kernel, true if it did; what fails is noted on its outputs.
    pub fn run(&self) -> bool {
        let done = self.checked();
        done.inspect_err(|failure| self.fail(failure)).is_ok()
    }

    pub(crate) fn checked(&self) -> Result<()> {
        let invalid = |message: String| Err(Failure::new(Code::InvalidParameter, message));
        if self.arguments.iter().any(|a| matches!(a, Argument::Stream(_, None))) {
            return invalid("a stream or an array is missing".to_owned());
        }
        for handle in self.streams(|_| true) {
            handle.core.made(Code::Kernel)?;
        }
        let Some(first) = self.outputs().next() else { return Ok(()) };
        let device = System::get().current();
        for handle in self.streams(|_| true) {
            if handle.core.device != device {
                let message = "a stream belongs to another device than the one that the thread uses";
                return Err(Failure::new(Code::Kernel, message));
            }
        }
        let inputs = || self.streams(|r| matches!(r, Role::Input | Role::Gather));
        for input in inputs() {
            let mut state = input.core.state.lock();
            let told = std::mem::replace(&mut state.warned, true);
            drop(state);
            if !told && !input.core.is_written() {
                self.fail(&Failure::new(Code::Warning, "an input was never stored to"));
            }
        }
        let same = |a: &Handle, b: &Handle| Arc::ptr_eq(&a.core, &b.core);
        if inputs().any(|i| self.outputs().any(|o| same(i, o)))
            && std::env::var_os("BRT_PERMIT_READ_WRITE_ALIASING").is_none()
        {
            let message = "a stream is input and output at once (BRT_PERMIT_READ_WRITE_ALIASING permits it)";
            println!("Brook+: {}: {message}", self.name);
            return invalid(message.to_owned());
        }
        self.check_shapes(first)?;
        if device == System::get().cpu() { self.run_cpu(first) } else { self.run_cal(device, first) }
    }

    /// The stream whose shape rules: the first ordinary output, or the scatter stream.
    fn ruler(&self) -> Option<&'a Handle> {
        self.streams(|r| r == Role::Output).next().or_else(|| self.outputs().next())
    }

    /// True if inputs are brought to the shape of the output.
    pub(crate) fn resizes(&self) -> bool {
        self.streams(|r| r == Role::Output).next().is_some()
            && std::env::var_os("BRT_DISABLE_STREAM_RESIZE").is_none()
    }

    fn check_shapes(&self, first: &Handle) -> Result<()> {
        let ruler = self.ruler().unwrap_or(first);
        let rule = &ruler.core.shape;
        for output in self.streams(|r| r == Role::Output) {
            if output.core.shape.dims != rule.dims || output.core.shape.rank != rule.rank {
                output.core.fail(&Failure::new(
                    Code::Warning,
                    format!("{}: outputs have different shapes", self.name),
                ));
            }
        }
        if self.reduce {
            for input in self.streams(|r| r == Role::Input) {
                let from = &input.core.shape;
                if rule.rank > from.rank || (0..4).any(|i| from.dims[i] % rule.dims[i] != 0) {
                    let message = format!(
                        "{:?} elements do not reduce to {:?}",
                        &from.dims[..from.rank],
                        &rule.dims[..rule.rank]
                    );
                    return Err(Failure::new(Code::InvalidParameter, message));
                }
            }
            return Ok(());
        }
        if self.streams(|r| r == Role::Output).next().is_none() {
            return Ok(());
        }
        for input in self.streams(|r| r == Role::Input) {
            let shape = &input.core.shape;
            if shape.rank != rule.rank {
                let message = format!("an input has {} dimensions, the output {}", shape.rank, rule.rank);
                return Err(Failure::new(Code::InvalidParameter, message));
            }
            if shape.dims != rule.dims {
                let message = if self.resizes() {
                    "an input of another size is repeated or skipped over: the result is valid, but this costs time"
                } else {
                    "an input has another size than the output"
                };
                self.fail(&Failure::new(Code::InvalidParameter, message));
            }
        }
        Ok(())
    }

    /// True if a stream that is stored to anywhere rules: it has no element for each position.
    fn only_scatters(&self) -> bool {
        !self.reduce && self.streams(|r| r == Role::Output).next().is_none()
    }

    /// Positions that run: where they begin, how many, by axis. Those of a reduction are all of the result; groups have no offset.
    fn positions(&self, ruler: &Handle) -> Result<([u32; 4], [u32; 4])> {
        let shape = &ruler.core.shape;
        if self.reduce {
            return Ok(([0; 4], shape.dims));
        }
        if let Some(count) = ruler.exec {
            return Ok(([0; 4], [count, 1, 1, 1]));
        }
        if self.offset.is_none() && self.size.is_none() {
            return Ok(([0; 4], shape.dims));
        }
        if shape.rank > 2 {
            let message = "domainOffset and domainSize are for streams of one or two dimensions";
            return Err(Failure::new(Code::NotSupported, message));
        }
        let offset = self.offset.filter(|_| self.group.is_none());
        let bounded = !self.only_scatters();
        let mut origin = [0; 4];
        let mut extent = shape.dims;
        let mut all = 1u64;
        for i in 0..shape.rank {
            origin[i] = offset.map_or(0, |o| o[i]);
            let rest = shape.dims[i].saturating_sub(origin[i]);
            extent[i] = self.size.map_or(rest, |s| s[i]);
            all = all.saturating_mul(u64::from(origin[i]) + u64::from(extent[i]));
            if extent[i] == 0 || bounded && extent[i] > rest {
                let message = format!(
                    "positions {} to {} of {}",
                    origin[i],
                    u64::from(origin[i]) + u64::from(extent[i]),
                    shape.dims[i]
                );
                return Err(Failure::new(Code::InvalidParameter, message));
            }
        }
        // Kernels number them by `int`.
        if all > i32::MAX as u64 {
            return Err(Failure::new(Code::NotSupported, format!("{all} positions")));
        }
        Ok((origin, extent))
    }

    fn run_cpu(&self, first: &Handle) -> Result<()> {
        let Some(kernel) = self.cpu else {
            return Err(Failure::new(Code::NotSupported, "the kernel has no CPU version (brcc -p cal)"));
        };
        let ruler = self.ruler().unwrap_or(first);
        let (origin, extent) = self.positions(ruler)?;
        let mut shape = ruler.core.shape.dims;
        if self.group.is_none() {
            // Behind what is stored to there may be positions.
            shape = std::array::from_fn(|i| shape[i].max(origin[i] + extent[i]));
        }
        let mut kept = Vec::new();
        let mut arrays = Vec::new();
        for argument in &self.arguments {
            arrays.push(match argument {
                Argument::Constant { bytes, .. } => {
                    CpuArray { data: bytes.as_ptr().cast_mut().cast(), dims: [1; 4], strides: [0; 4] }
                }
                Argument::Stream(_, Some(handle)) => {
                    let block = handle.core.block()?;
                    let (start, strides) = handle.core.view();
                    let data = block.address().wrapping_add(start * handle.core.element.size);
                    kept.push(block);
                    CpuArray { data: data.cast(), dims: handle.core.shape.dims, strides }
                }
                Argument::Stream(_, None) => return Ok(()),
            });
        }
        let launch = Launch {
            kernel,
            arrays: &arrays,
            origin,
            extent,
            shape,
            resize: self.resizes(),
            group: self.group,
        };
        launch.run();
        self.outputs().for_each(|o| o.core.mark_written());
        Ok(())
    }

    fn run_cal(&self, device: usize, first: &Handle) -> Result<()> {
        let Some(kernel) = self.cal else {
            return Err(Failure::new(Code::NotSupported, "the kernel has no programs for CAL (brcc -p cpu)"));
        };
        let ruler = self.ruler().unwrap_or(first);
        let device = System::get().cal(device)?;
        let device = &mut *device.lock();
        if self.group.is_some() && !device.has_groups() {
            return Err(Failure::new(Code::NotSupported, "the device has no groups"));
        }
        let mut bound = self.bind(device, ruler)?;
        if self.reduce {
            let at = |role: Role| {
                self.arguments.iter().position(|a| matches!(a, Argument::Stream(r, _) if *r == role))
            };
            if let (Some(input), Some(output)) = (at(Role::Input), at(Role::Reduce)) {
                device.reduce(kernel, &bound, input, output)?;
            }
        } else {
            self.map(device, kernel, &mut bound, ruler)?;
        }
        for output in self.outputs() {
            output.core.push(device)?;
        }
        Ok(())
    }

    fn map(
        &self,
        device: &mut CalDevice,
        kernel: &Kernel,
        bound: &mut [Bound],
        ruler: &Handle,
    ) -> Result<()> {
        let (origin, extent) = self.positions(ruler)?;
        let shape = ruler.core.shape;
        let end: [u32; 4] = std::array::from_fn(|i| shape.dims[i].max(origin[i] + extent[i]));
        // What more positions than the stream has would need, were they stored: so they are numbered.
        let launch = if end == shape.dims || self.group.is_some() {
            shape
        } else {
            Shape::new(shape.rank, end, device.limits())?
        };
        let shapes =
            || bound.iter().filter_map(|b| if let Bound::Stream(_, shape) = b { Some(shape) } else { None });
        let translation = self.group.is_some() || launch.translated || shapes().any(|s| s.translated);
        // Kernels that need translation whatever their streams are have nothing else.
        let of = |t: bool| kernel.techniques.iter().position(|technique| technique.translation == t);
        let chosen = if translation { of(true) } else { of(false).or(of(true)) };
        let Some(t) = chosen else { return Err(no_technique()) };
        let count: u32 = extent.iter().product();
        let (rectangles, last) = if launch.translated && extent != launch.dims {
            (rows(&launch, origin[0], extent[0]), origin[0] + extent[0])
        } else if launch.translated {
            (vec![Rectangle::all(&launch)], launch.count() as u32)
        } else {
            let r = Rectangle { x: origin[0], y: origin[1], width: extent[0], height: extent[1] };
            (vec![r], launch.cells[0] * launch.cells[1])
        };
        let groups = self.group.map(|(threads, _)| (count.div_ceil(threads), threads));
        let last = if groups.is_some() { count } else { last };
        let positions = [launch.cells[0], launch.dims[0], launch.dims[1], last];
        let extents = Extents { factor: [1; 4], positions };
        for (number, pass) in kernel.techniques[t].passes.iter().enumerate() {
            let which = Which { key: (kernel.id, t, number), pass };
            device.run(which, bound, extents, &rectangles, groups)?;
        }
        Ok(())
    }

    /// Arguments with their memory: inputs up to date, and of the output's shape.
    fn bind(&self, device: &mut CalDevice, ruler: &Handle) -> Result<Vec<Bound>> {
        let rule = ruler.core.shape;
        let mut list = Vec::new();
        for argument in &self.arguments {
            list.push(match argument {
                Argument::Stream(role, Some(handle)) => {
                    let core = &handle.core;
                    // Parts of outputs that are not stored to keep what the whole has.
                    core.pull(device)?;
                    let buffers = core.buffers(device)?;
                    let other = *role == Role::Input && !self.reduce && core.shape.dims != rule.dims;
                    if other && self.resizes() {
                        self.resized(device, core, &buffers, &rule)?
                    } else {
                        Bound::Stream(buffers, core.shape)
                    }
                }
                Argument::Stream(_, None) => {
                    return Err(Failure::new(Code::InvalidParameter, "a stream is missing"));
                }
                Argument::Constant { scalar, width, array, bytes } => {
                    let each = scalar.bytes() * width;
                    let mut words = bytes.chunks_exact(each).map(|b| constant_words(*scalar, *width, b));
                    if *array {
                        Bound::Array(words.collect())
                    } else {
                        Bound::Constant(words.next().unwrap_or([0; 4]))
                    }
                }
            });
        }
        Ok(list)
    }

    fn resized(
        &self,
        device: &mut CalDevice,
        core: &Core,
        buffers: &[crate::cal::Buffer],
        rule: &Shape,
    ) -> Result<Bound> {
        let remap = Remap::resize(core.shape.dims, rule.dims)?;
        let mut copies = Vec::new();
        for member in &core.element.members {
            copies.push(device.allocate(rule, member.format())?);
        }
        device.remap((buffers, &core.shape), (&copies, rule), remap)?;
        Ok(Bound::Stream(copies, *rule))
    }
}

/// Elements `first..first + count` of translated memory: part of a row, whole rows, part of a row.
fn rows(shape: &Shape, first: u32, count: u32) -> Vec<Rectangle> {
    let width = shape.cells[0];
    let (mut at, end) = (first, first + count);
    let mut list = Vec::new();
    while at < end {
        let (x, y) = (at % width, at / width);
        let whole = if x == 0 { (end - at) / width } else { 0 };
        let r = if whole > 0 {
            Rectangle { x: 0, y, width, height: whole }
        } else {
            Rectangle { x, y, width: (width - x).min(end - at), height: 1 }
        };
        at += r.width * r.height;
        list.push(r);
    }
    list
}
