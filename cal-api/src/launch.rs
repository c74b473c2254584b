//! Launching: extents are checked against the kernel, bindings are taken, the command goes to the queue.

use std::sync::Arc;

use recal_hal::{Command, DomainParam, Extent};
use recal_il::inst::{GroupSize, Stage};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::module::Module;

/// The rectangle of a pixel kernel (CAL 1.4: `CALdomain`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Domain {
    /// A rectangle at the origin.
    pub fn of(width: u32, height: u32) -> Self {
        Self { x: 0, y: 0, width, height }
    }
}

impl From<u32> for Domain {
    /// So many columns of one row.
    fn from(width: u32) -> Domain {
        Domain::of(width, 1)
    }
}

impl From<(u32, u32)> for Domain {
    /// Columns and rows at the origin.
    fn from((width, height): (u32, u32)) -> Domain {
        Domain::of(width, height)
    }
}

/// The groups of a compute kernel (CAL 1.4: `CALprogramGrid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Threads per group in x, y, z; equal to what the kernel declares.
    pub block: [u32; 3],
    /// Groups in x, y, z.
    pub groups: [u32; 3],
}

/// The threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Of a pixel kernel.
    Domain(Domain),
    /// Of a compute kernel.
    Grid(Grid),
}

impl Context {
    /// Runs a pixel kernel: one thread per position of `domain`.
    pub fn run(&self, module: &Module, domain: Domain) -> Result<Event> {
        self.launch(module, domain_extent(module, domain)?, None)
    }

    /// As [`Context::run`], with interpolated inputs `v0` to `v7` given at three corners of the domain.
    pub fn run_with_params(
        &self,
        module: &Module,
        domain: Domain,
        params: [DomainParam; 8],
    ) -> Result<Event> {
        self.launch(module, domain_extent(module, domain)?, Some(Box::new(params)))
    }

    /// Runs a compute kernel.
    pub fn run_grid(&self, module: &Module, grid: Grid) -> Result<Event> {
        self.launch(module, grid_extent(module, grid)?, None)
    }

    /// Runs grids one after the other; the event is done when all are. Nothing runs if one of them is refused.
    pub fn run_grids(&self, grids: &[(Module, Grid)]) -> Result<Event> {
        for (number, (module, grid)) in grids.iter().enumerate() {
            grid_extent(module, *grid)
                .and_then(|_| module.check_bound())
                .map_err(|e| e.context(format_args!("grid {number}")))?;
        }
        let mut events = Vec::with_capacity(grids.len());
        for (module, grid) in grids {
            events.push(self.run_grid(module, *grid)?);
        }
        match (events.first(), events.last()) {
            (Some(first), Some(last)) => {
                let (first, last) = (first.tickets().0, last.tickets().1);
                Ok(Event::new(Arc::clone(self.line()), first, last))
            }
            _ => Ok(self.present()),
        }
    }

    fn launch(
        &self,
        module: &Module,
        extent: Option<Extent>,
        params: Option<Box<[DomainParam; 8]>>,
    ) -> Result<Event> {
        if module.context() != self {
            return Err(Error::failed("func: its module was loaded into another context"));
        }
        let bound = module.bound(params)?;
        let Some(extent) = extent else {
            return Ok(self.present());
        };
        let windows = self.windows();
        if !windows.is_empty() {
            let reads = threads(extent) * f64::from(module.scan().fetches);
            let lines: u64 = bound.bindings.resources.iter().map(|(_, s)| s.bytes().div_ceil(64)).sum();
            windows.iter().for_each(|w| w.add(reads, lines as f64));
        }
        let kernel = Arc::clone(module.kernel());
        let command = Command::Launch { kernel, bindings: Arc::clone(&bound.bindings), extent };
        let submit = || self.submit(command, &bound.resources);
        match self.device().runtime().capture() {
            Some(recorder) => recorder.launch(module, &bound, extent, submit),
            None => submit(),
        }
    }
}

fn threads(extent: Extent) -> f64 {
    match extent {
        Extent::Domain { width, height, .. } => f64::from(width) * f64::from(height),
        Extent::Grid { groups, block } => groups.iter().chain(&block).map(|&n| f64::from(n)).product(),
    }
}

/// Checks a domain; `None` if it holds no thread that does anything.
pub(crate) fn domain_extent(module: &Module, domain: Domain) -> Result<Option<Extent>> {
    if module.program().stage != Stage::Pixel {
        return Err(Error::failed("func: a compute kernel runs on a grid, not on a domain"));
    }
    let Domain { x, y, mut width, mut height } = domain;
    for (name, start, extent) in [("x, width", x, width), ("y, height", y, height)] {
        if start.checked_add(extent).is_none() {
            return Err(Error::failed(format!("domain: {name}: {start} + {extent} is beyond 32 bits")));
        }
    }
    // Threads outside every output do nothing unless they write elsewhere. Numbers of threads depend on the width
    // of the domain, interpolated values on both sides.
    let scan = module.scan();
    if let Some((columns, rows)) = module.output_extent()
        && !scan.interpolates
    {
        height = height.min(rows.saturating_sub(y));
        if !scan.numbered {
            width = width.min(columns.saturating_sub(x));
        }
    }
    Ok((width > 0 && height > 0).then_some(Extent::Domain { x, y, width, height }))
}

/// Checks a grid; `None` if it holds no thread.
pub(crate) fn grid_extent(module: &Module, grid: Grid) -> Result<Option<Extent>> {
    if module.program().stage != Stage::Compute {
        return Err(Error::failed("func: a pixel kernel runs on a domain, not on a grid"));
    }
    let [x, y, z] = grid.block;
    match module.program().interface.group {
        Some(GroupSize::Exact(declared)) if declared != grid.block => {
            let [dx, dy, dz] = declared;
            return Err(Error::failed(format!(
                "gridBlock: {x} x {y} x {z}, but the kernel declares groups of {dx} x {dy} x {dz}"
            )));
        }
        Some(GroupSize::AtMost(most)) => {
            let size = u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z));
            if size == 0 || size > u64::from(most) {
                return Err(Error::failed(format!(
                    "gridBlock: {x} x {y} x {z}, but the kernel declares at most {most} threads per group"
                )));
            }
        }
        _ => {}
    }
    if grid.groups.contains(&0) {
        return Ok(None);
    }
    // Thread ids are 32-bit.
    for (axis, groups, block) in
        [("width", grid.groups[0], x), ("height", grid.groups[1], y), ("depth", grid.groups[2], z)]
    {
        if groups.checked_mul(block).is_none() {
            return Err(Error::failed(format!(
                "gridSize: {axis}: {groups} groups of {block} are beyond 32 bits"
            )));
        }
    }
    Ok(Some(Extent::Grid { groups: grid.groups, block: grid.block }))
}
