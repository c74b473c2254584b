//! A pass: binding and launching.

use recal::{Domain, Event, Grid};

use super::{Buffer, CalDevice};
use crate::error::{Code, Failure, Result};
use crate::kernel::{Access, Entry, Pass, Usage};
use crate::shape::Shape;

/// An argument, ready to bind.
#[derive(Clone)]
pub(crate) enum Bound {
    /// A stream: the memory of each member.
    Stream(Vec<Buffer>, Shape),
    /// A constant.
    Constant([u32; 4]),
    /// A constant array.
    Array(Vec<[u32; 4]>),
}

/// Columns and rows that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Rectangle {
    pub(crate) fn all(shape: &Shape) -> Rectangle {
        Rectangle { x: 0, y: 0, width: shape.cells[0], height: shape.cells[1] }
    }
}

/// Numbers of a launch that programs know as constants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    /// Of a reduction: elements of the input to one of the result.
    pub(crate) factor: [u32; 4],
    /// Of a kernel that scatters: see `Usage::Positions`.
    pub(crate) positions: [u32; 4],
}

/// Which program of which kernel.
#[derive(Clone, Copy)]
pub(crate) struct Which<'p> {
    pub(crate) key: (usize, usize, usize),
    pub(crate) pass: &'p Pass,
}

fn failed(e: recal::Error) -> Failure {
    Failure::cal(Code::Kernel, "running a kernel", &e)
}

impl CalDevice {
    /// Runs a pass on rectangles, or on a number of groups.
    pub(crate) fn run(
        &mut self,
        which: Which<'_>,
        args: &[Bound],
        extents: Extents,
        rectangles: &[Rectangle],
        groups: Option<(u32, u32)>,
    ) -> Result<()> {
        if !self.programs.contains_key(&which.key) {
            let program = self.load(&which.pass.name, &which.pass.image)?;
            self.programs.insert(which.key, program);
        }
        let Some(program) = self.programs.get_mut(&which.key) else {
            return Err(Failure::new(Code::Kernel, "the program is gone"));
        };
        let wrong = |what: &str| Failure::new(Code::Kernel, format!("{}: {what}", which.pass.name.trim()));
        let mut slots: Vec<[u32; 4]> = Vec::new();
        let mut arrays: Vec<&[[u32; 4]]> = Vec::new();
        let (mut inputs, mut outputs) = (0, 0);
        for entry in &which.pass.entries {
            match *entry {
                Entry::Constant(at, usage) => slots.push(match (usage, args.get(at)) {
                    (Usage::User, Some(Bound::Constant(words))) => *words,
                    (Usage::StreamShape, Some(Bound::Stream(_, shape))) => shape.dims,
                    (Usage::BufferShape, Some(Bound::Stream(_, shape))) => {
                        [shape.cells[0], shape.cells[1], 1, 1]
                    }
                    (Usage::ReductionFactor, _) => extents.factor,
                    (Usage::Positions, _) => extents.positions,
                    _ => return Err(wrong(&format!("argument {at} is of another kind"))),
                }),
                Entry::ConstArray(at) => match args.get(at) {
                    Some(Bound::Array(values)) => arrays.push(values),
                    _ => return Err(wrong(&format!("argument {at} is no constant array"))),
                },
                Entry::Input(at, member, _) | Entry::Output(at, member, _) => {
                    let Some(Bound::Stream(buffers, _)) = args.get(at) else {
                        return Err(wrong(&format!("argument {at} is no stream")));
                    };
                    let buffer = buffers
                        .get(member)
                        .ok_or_else(|| wrong(&format!("argument {at} has no member {member}")))?;
                    let name = match entry {
                        Entry::Input(..) => {
                            inputs += 1;
                            program.inputs.get(inputs - 1)
                        }
                        Entry::Output(_, _, Access::Random) => program.store.as_ref(),
                        _ => {
                            outputs += 1;
                            program.outputs.get(outputs - 1)
                        }
                    };
                    name.ok_or_else(|| wrong("its text and its description differ"))?
                        .bind(buffer.mem())
                        .map_err(failed)?;
                }
            }
        }
        let mut buffers = arrays;
        if !slots.is_empty() {
            buffers.push(&slots);
        }
        if program.constants.len() != buffers.len() {
            return Err(wrong("its text and its description differ"));
        }
        for (constants, values) in program.constants.iter_mut().zip(buffers) {
            constants.bind(&self.device, &self.context, values)?;
        }
        let mut last: Option<Event> = None;
        if let Some((groups, threads)) = groups {
            let grid = Grid { block: [threads, 1, 1], groups: [groups, 1, 1] };
            last = Some(self.context.run_grid(&program.module, grid).map_err(failed)?);
        } else {
            for r in rectangles {
                let domain = Domain { x: r.x, y: r.y, width: r.width, height: r.height };
                last = Some(self.context.run(&program.module, domain).map_err(failed)?);
            }
        }
        if let Some(event) = last {
            program.constants.iter_mut().for_each(|c| c.used(&event));
        }
        self.context.flush().map_err(failed)
    }
}
