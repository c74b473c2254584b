//! Following one thread of a launch, instruction by instruction.
//!
//! Input: a module with everything bound, the text of its kernel, and a thread. Output: a [`Step`] for each IL
//! instruction that the thread executes. The tile or group of the thread runs, on
//! the host and before the function returns; its stores are made, those of other tiles and groups are not. Only the CPU
//! backend has memory that can be looked into in this way: modules of other devices are refused.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

pub use recal_cpu::{
    Area, At, Counts, Kind as AccessKind, Profile, TraceAccess as Access, TraceFlow as Flow,
};
use recal_hal::{Extent, with_room};
use recal_il::diagnostic::Span;
use recal_il::ir::{Program, Reg};
use recal_il::lower::Names;

use crate::compiler::refused;
use crate::error::{Error, Result};
use crate::launch::{Domain, Threads};
use crate::module::Module;

/// An IL instruction that the thread executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Line of the kernel text, from 1.
    pub line: u32,
    /// The instruction as the kernel has it.
    pub text: String,
    /// Components of `r#` and `o#` that it wrote, and their values; by name.
    pub writes: Vec<(String, u32)>,
    /// What it touched in memory, arrays among it, in this order.
    pub accesses: Vec<Access>,
    /// Where it went, if it is an instruction of flow.
    pub flow: Option<Flow>,
}

impl Module {
    /// Runs the tile or group of `thread` and delivers the steps of the thread. `text` is what the module was compiled
    /// from; `thread` is the position in the domain, or `vAbsTid`. It ends where `deliver` says so, and is an error after
    /// [`Config::timeout`](crate::Config::timeout).
    ///
    /// ```
    /// use recal::{Domain, Format, Place, Threads};
    /// let runtime = recal::Runtime::with_config(recal::Config { backends: vec!["cpu".into()], ..Default::default() })?;
    /// let device = runtime.open(0)?;
    /// let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 0x2, 0x3, 0x0, 0x0\niadd o0.x, l0.x, l0.y\nend\n";
    /// let module = device.create_context()?.load(&recal::compile(text, device.info().target)?.into())?;
    /// module.bind("o0", &device.allocate_2d(4, 4, Format::UnsignedInt32x1, Place::Local)?)?;
    /// let mut steps = Vec::new();
    /// module.trace(text, Threads::Domain(Domain::of(4, 4)), [1, 2, 0], |step| {
    ///     steps.push(step);
    ///     std::ops::ControlFlow::Continue(())
    /// })?;
    /// assert_eq!((steps[0].line, &steps[0].writes[0]), (4, &("o0.x".to_owned(), 5)));
    /// # Ok::<(), recal::Error>(())
    /// ```
    pub fn trace(
        &self,
        text: impl AsRef<[u8]>,
        threads: Threads,
        thread: [u32; 3],
        mut deliver: impl FnMut(Step) -> ControlFlow<()>,
    ) -> Result<()> {
        let text = text.as_ref();
        let (program, names) = self.watched(text)?;
        let extent = self.watched_extent(threads)?;
        self.context().finish()?;
        let bound = self.bound(None)?;
        let limit = self.context().device().runtime().config().timeout;
        let mut open = Open { text, span: None, writes: Vec::new(), accesses: Vec::new(), flow: None };
        let went = Cell::new(ControlFlow::Continue(()));
        let mut sink = |step| {
            if went.get().is_continue() {
                went.set(deliver(step));
            }
        };
        let outcome = recal_cpu::trace(&program, &bound.bindings, extent, thread, limit, &mut |step| {
            let writes = step.writes.iter().filter_map(|(reg, word)| Some((*reg, names.get(reg)?, *word)));
            open.add(step.span, writes, &mut sink);
            open.accesses.extend(step.access);
            // The operations before it, if any, have computed the condition.
            if step.flow.is_some() {
                open.flow = step.flow;
                open.close(&mut sink);
            }
            went.get()
        });
        open.close(&mut sink);
        outcome.map_err(|e| Error::backend("tracing a thread", e))
    }
}

impl Module {
    /// Runs a launch on the host and before the function returns, one operation at a time, and counts what each
    /// instruction does. `text` is what the module was compiled from. After `limit` it ends where it is. Stores are made.
    pub fn profile(&self, text: impl AsRef<[u8]>, threads: Threads, limit: Duration) -> Result<Profile> {
        let (program, _) = self.watched(text.as_ref())?;
        let extent = match threads {
            Threads::Domain(domain) => crate::launch::domain_extent(self, domain)?,
            Threads::Grid(grid) => crate::launch::grid_extent(self, grid)?,
        };
        let Some(extent) = extent else { return Ok(Profile::default()) };
        self.context().finish()?;
        let bound = self.bound(None)?;
        recal_cpu::profile(&program, &bound.bindings, extent, limit)
            .map_err(|e| Error::backend("counting what a kernel does", e))
    }

    /// The program to be watched, and what its registers are called.
    pub(crate) fn watched(&self, text: &[u8]) -> Result<(Program, Names)> {
        let lowered =
            with_room(|| recal_il::front(text).and_then(|kernel| recal_il::lower::lower_named(&kernel)));
        let (program, names) = lowered.map_err(|e| refused(&e, text))?;
        match program.declared == self.program().declared {
            true => Ok((program, names)),
            false => Err(Error::invalid("text: it is not the text of this module")),
        }
    }

    /// The launch as it is asked for, whatever of it does nothing.
    pub(crate) fn watched_extent(&self, threads: Threads) -> Result<Extent> {
        match threads {
            Threads::Domain(Domain { x, y, width, height }) => {
                crate::launch::domain_extent(self, Domain { x, y, width, height })?;
                Ok(Extent::Domain { x, y, width, height })
            }
            Threads::Grid(grid) => {
                crate::launch::grid_extent(self, grid)?;
                Ok(Extent::Grid { groups: grid.groups, block: grid.block })
            }
        }
    }
}

/// The instruction at work: several scalar operations make one.
struct Open<'t> {
    text: &'t [u8],
    span: Option<Span>,
    writes: Vec<(Reg, String, u32)>,
    accesses: Vec<Access>,
    flow: Option<Flow>,
}

impl Open<'_> {
    fn add<'n>(
        &mut self,
        span: Span,
        writes: impl Iterator<Item = (Reg, &'n String, u32)>,
        sink: &mut impl FnMut(Step),
    ) {
        if self.span.is_some_and(|open| open != span) {
            self.close(sink);
        }
        self.span = Some(span);
        for (reg, name, word) in writes {
            // Written again: the loop around has come back to the only instruction in it.
            if self.writes.iter().any(|(seen, ..)| *seen == reg) {
                self.close(sink);
                self.span = Some(span);
            }
            self.writes.push((reg, name.clone(), word));
        }
    }

    fn close(&mut self, sink: &mut impl FnMut(Step)) {
        let Some(span) = self.span.take() else { return };
        let mut writes: Vec<_> =
            std::mem::take(&mut self.writes).into_iter().map(|(_, name, word)| (name, word)).collect();
        // x before w.
        writes.sort_by_key(|(name, _)| {
            let (register, component) = name.split_at(name.len() - 1);
            (register.to_owned(), "xyzw".find(component))
        });
        let start = (span.start as usize).min(self.text.len());
        let end = (span.end as usize).clamp(start, self.text.len());
        let line = 1 + self.text[..start].iter().filter(|&&byte| byte == b'\n').count() as u32;
        let text = String::from_utf8_lossy(&self.text[start..end]).trim().to_owned();
        let (accesses, flow) = (std::mem::take(&mut self.accesses), self.flow.take());
        sink(Step { line, text, writes, accesses, flow });
    }
}
