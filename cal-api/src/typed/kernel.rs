//! Kernels that know what they take.

use std::fmt;

use recal_hal::sync::{Mutex, MutexGuard};

use super::Value;
use super::constants::Constants;
use super::held::Held;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::launch::{Domain, Grid};
use crate::module::Module;
use crate::symbol::Symbol;

mod sealed {
    pub trait Sealed {}
}

impl<T: super::Texel> sealed::Sealed for super::Buffer<T> {}
impl<T: super::Texel> sealed::Sealed for super::Image<T> {}

/// Memory that a launch takes: [`Buffer`](super::Buffer), [`Image`](super::Image).
pub trait Bound: sealed::Sealed {
    #[doc(hidden)]
    fn held(&self) -> &Held;
}

/// Threads of a compute kernel in x, y, z. A launch has whole groups, so that there may be more: what they write outside of memory is
/// dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(pub [u64; 3]);

impl From<u32> for Threads {
    fn from(x: u32) -> Threads {
        Threads([x.into(), 1, 1])
    }
}

impl From<usize> for Threads {
    fn from(x: usize) -> Threads {
        Threads([x as u64, 1, 1])
    }
}

impl From<(u32, u32)> for Threads {
    fn from((x, y): (u32, u32)) -> Threads {
        Threads([x.into(), y.into(), 1])
    }
}

impl From<(u32, u32, u32)> for Threads {
    fn from((x, y, z): (u32, u32, u32)) -> Threads {
        Threads([x.into(), y.into(), z.into()])
    }
}

impl From<Grid> for Threads {
    fn from(grid: Grid) -> Threads {
        Threads([0, 1, 2].map(|k| u64::from(grid.block[k]) * u64::from(grid.groups[k])))
    }
}

/// What a launch goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Of a pixel kernel.
    Domain(Domain),
    /// Of a compute kernel.
    Threads(Threads),
}

/// A kernel in a context. The macros `recal::il!` and `#[recal::kernel]` make functions with types of it; without them, it takes
/// what it binds by symbols.
///
/// ```
/// use recal::typed::{Image, Kernel, Work};
/// use recal::Symbol;
/// let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[1]\nmov o0, cb0[0]\nend\n";
/// let context = recal::default_context()?;
/// let kernel = Kernel::load(&context, text)?;
/// let image = Image::<f32>::output(&context, 4, 4)?;
/// let work = Work::Domain((4, 4).into());
/// kernel.launch(work, &[(Symbol::Output(0), &image, true)], &[(0, &[&2.5f32])])?;
/// assert_eq!(image.read()?, [2.5; 16]);
/// # Ok::<(), recal::Error>(())
/// ```
pub struct Kernel {
    module: Module,
    /// Threads of a group; `None` of pixel kernels.
    block: Option<[u32; 3]>,
    /// Constant buffers by number. Locked while a launch binds and starts: what is bound belongs to the module.
    constants: Mutex<Vec<(u32, Constants)>>,
}

impl Kernel {
    /// Compiles a text for the context's device and loads it.
    pub fn load(context: &Context, text: &str) -> Result<Kernel> {
        let object = crate::compile(text, context.device().info().target)?;
        Kernel::of(context.load(&object.into())?)
    }

    /// A module that is loaded already.
    pub fn of(module: Module) -> Result<Kernel> {
        let group = module.info().group;
        let block = (group != [0; 3]).then_some(group);
        Ok(Kernel { module, block, constants: Mutex::default() })
    }

    /// The module: its samplers, its figures.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Work for all elements of a memory.
    pub fn over(&self, memory: &dyn Bound) -> Work {
        let resource = memory.held().resource();
        let extents = (resource.width(), resource.height());
        match self.block {
            Some(_) => Work::Threads(extents.into()),
            None => Work::Domain(extents.into()),
        }
    }

    /// Appends a launch to the context's queue: memory by symbols (true: the launch writes it), and rows of `cb#`, which are those of this
    /// launch whatever follows. The event need not be waited for.
    pub fn launch(
        &self,
        work: Work,
        memory: &[(Symbol, &dyn Bound, bool)],
        values: &[(u32, &[&dyn Value])],
    ) -> Result<Event> {
        let context = self.module.context();
        for (symbol, bound, _) in memory {
            if bound.held().context() != context {
                return Err(Error::invalid(format!("{symbol}: its memory belongs to another context")));
            }
        }
        // All in one order, so that launches of several threads do not wait for each other in a circle.
        let mut order: Vec<&Held> = memory.iter().map(|(_, bound, _)| bound.held()).collect();
        order.sort_by_key(|held| address(held));
        order.dedup_by_key(|held| address(held));
        let mut constants = self.constants.lock();
        let mut writers: Vec<(usize, MutexGuard<'_, Option<Event>>)> =
            order.iter().map(|held| (address(held), held.writer())).collect();
        for (symbol, bound, _) in memory {
            self.module.symbol(*symbol)?.bind(bound.held().mem())?;
        }
        for (number, rows) in values {
            let rows: Vec<[u32; 4]> = rows.iter().map(|value| value.row()).collect();
            let at = constants.iter().position(|(n, _)| n == number).unwrap_or_else(|| {
                constants.push((*number, Constants::default()));
                constants.len() - 1
            });
            let held = constants[at].1.place(context, &rows)?;
            self.module.symbol(Symbol::Constant(*number))?.bind(held.mem())?;
        }
        let event = self.start(work)?;
        for (_, bound, _) in memory.iter().filter(|(.., writes)| *writes) {
            let at = address(bound.held());
            for (_, writer) in writers.iter_mut().filter(|(address, _)| *address == at) {
                **writer = Some(event.clone());
            }
        }
        Ok(event)
    }

    fn start(&self, work: Work) -> Result<Event> {
        let context = self.module.context();
        match work {
            Work::Domain(domain) => context.run(&self.module, domain),
            Work::Threads(Threads(threads)) => {
                let block = self.block.unwrap_or([1; 3]);
                let mut groups = [0; 3];
                for (k, groups) in groups.iter_mut().enumerate() {
                    *groups = u32::try_from(threads[k].div_ceil(block[k].into())).map_err(|_| {
                        Error::invalid(format!("{threads:?} threads are more groups than can be counted"))
                    })?;
                }
                context.run_grid(&self.module, Grid { block, groups })
            }
        }
    }
}

fn address(held: &Held) -> usize {
    std::ptr::from_ref(held).addr()
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({:?})", self.module.symbols())
    }
}
