//! A module: a kernel loaded into a context, and what is bound to it.
//!
//! Bindings belong to the module and persist across launches until replaced, unbound, or their mem is released.
//! A launch takes a snapshot; the snapshot is kept until something changes.

use std::fmt;
use std::sync::{Arc, Weak};

use recal_hal::sync::Mutex;
use recal_hal::{Bindings, DomainParam, Kernel, Program, Sampler, timeline, with_room};
use recal_il::inst::GroupSize;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::image::Image;
use crate::mem::Mem;
use crate::resource::Resource;
use crate::scan::Scan;
use crate::symbol::Symbol;

/// A kernel loaded into a context. Clones are the same module; work in flight keeps it alive.
#[derive(Clone)]
pub struct Module(Arc<Inner>);

pub(crate) struct Inner {
    context: Context,
    program: Arc<Program>,
    kernel: Arc<dyn Kernel>,
    /// Kept for captures only.
    text: Option<Box<[u8]>>,
    symbols: Vec<Symbol>,
    scan: Scan,
    bound: Mutex<Slots>,
}

/// What is bound to each symbol, in the order of [`Inner::symbols`].
struct Slots {
    mems: Vec<Option<Mem>>,
    samplers: Vec<Sampler>,
    /// What the last launch took, if nothing has changed since.
    snapshot: Option<Snapshot>,
}

/// Bindings of a launch and the resources behind them.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) bindings: Arc<Bindings>,
    pub(crate) resources: Arc<[Resource]>,
}

/// A symbol of a module.
#[derive(Clone)]
pub struct Name {
    module: Module,
    slot: usize,
}

/// Figures about a kernel (CAL 1.4: `CALfuncInfo`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FuncInfo {
    /// Threads per group in x, y, z; zeros in pixel kernels.
    pub group: [u32; 3],
    /// Threads per group, flattened.
    pub threads_per_group: u32,
    /// Threads per wave.
    pub wavefront: u32,
    /// Vector registers used.
    pub gprs: u32,
    /// Shared registers declared.
    pub shared_gprs: u32,
    /// Scratch registers used.
    pub scratch: u32,
    /// LDS bytes of the device and of the kernel.
    pub lds: [u32; 2],
    /// Control-flow stack entries used.
    pub stack: u32,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbols: Vec<_> = self.0.symbols.iter().map(Symbol::to_string).collect();
        write!(f, "Module({} in {:?})", symbols.join(", "), self.0.context)
    }
}

impl PartialEq for Module {
    fn eq(&self, other: &Module) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Context {
    /// Loads the code that an image has for this device.
    pub fn load(&self, image: &Image) -> Result<Module> {
        let target = crate::runtime::target_of(self.device().info());
        let (text, target) = image.text_for(target)?;
        with_room(|| self.load_text(self.device().program(text, target)?, text))
    }

    /// Loads a program that was made without an image.
    pub fn load_program(&self, program: Arc<Program>) -> Result<Module> {
        with_room(|| self.load_text(program, &[]))
    }

    fn load_text(&self, program: Arc<Program>, text: &[u8]) -> Result<Module> {
        let start = timeline::now();
        let kernel = self.device().hal().load_with_text(Arc::clone(&program), text);
        timeline::done(start, "compile", "load kernel");
        let kernel = kernel
            .map_err(|e| Error::backend(format!("loading a kernel on {}", self.device().info().name), e))?;
        let captured = self.device().runtime().capture().is_some() && !text.is_empty();
        let text = captured.then(|| text.into());
        let symbols = symbols(&program);
        let scan = Scan::of(&program);
        let slots = Slots {
            mems: vec![None; symbols.len()],
            samplers: vec![Sampler::default(); symbols.len()],
            snapshot: None,
        };
        let module = Module(Arc::new(Inner {
            context: self.clone(),
            program,
            kernel,
            text,
            symbols,
            scan,
            bound: Mutex::new(slots),
        }));
        self.add_module(&module);
        Ok(module)
    }
}

impl Module {
    /// The context.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// What the kernel binds, declared or used.
    pub fn symbols(&self) -> &[Symbol] {
        &self.0.symbols
    }

    /// The symbol called `name`: `i0`, `o0`, `cb0`, `uav0`, `g[]`, `s0`.
    pub fn name(&self, name: &str) -> Result<Name> {
        name.parse().ok().and_then(|symbol| self.slot(symbol)).ok_or_else(|| self.unknown(name))
    }

    /// As [`Module::name`], for who has the symbol.
    pub fn symbol(&self, symbol: Symbol) -> Result<Name> {
        self.slot(symbol).ok_or_else(|| self.unknown(&symbol.to_string()))
    }

    fn slot(&self, symbol: Symbol) -> Option<Name> {
        let slot = self.0.symbols.iter().position(|&known| known == symbol)?;
        Some(Name { module: self.clone(), slot })
    }

    fn unknown(&self, name: &str) -> Error {
        let known: Vec<_> = self.0.symbols.iter().map(Symbol::to_string).collect();
        Error::failed(format!("varName: the kernel has no `{name}`; it has {}", known.join(", ")))
    }

    /// Binds a resource to a symbol: [`Module::name`], [`Context::mem`] and [`Name::bind`] in one.
    pub fn bind(&self, name: &str, resource: &Resource) -> Result<()> {
        self.name(name)?.bind(&self.0.context.mem(resource)?)
    }

    /// Figures about the kernel.
    pub fn info(&self) -> FuncInfo {
        let used = self.0.kernel.resources();
        let device = self.0.context.device().info();
        let (group, threads) = match self.0.program.interface.group {
            Some(GroupSize::Exact(g)) => (g, g.iter().product()),
            Some(GroupSize::AtMost(n)) => ([n, 1, 1], n),
            None => ([0; 3], 0),
        };
        FuncInfo {
            group,
            threads_per_group: threads,
            wavefront: device.wavefront_size,
            gprs: used.gprs,
            shared_gprs: self.0.program.interface.shared,
            scratch: used.scratch,
            lds: [device.lds_bytes, used.lds_bytes],
            stack: used.stack,
        }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.0.program
    }

    pub(crate) fn kernel(&self) -> &Arc<dyn Kernel> {
        &self.0.kernel
    }

    /// The text of the kernel, if launches are captured and there is one.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        self.0.text.as_deref()
    }

    pub(crate) fn scan(&self) -> Scan {
        self.0.scan
    }

    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    pub(crate) fn upgrade(weak: &Weak<Inner>) -> Option<Module> {
        weak.upgrade().map(Module)
    }

    /// Columns and rows that the bound outputs have, at most; `None` if threads write anywhere else.
    pub(crate) fn output_extent(&self) -> Option<(u32, u32)> {
        let interface = &self.0.program.interface;
        if interface.global || !interface.uavs.is_empty() {
            return None;
        }
        let slots = self.0.bound.lock();
        let outputs = self.0.symbols.iter().zip(&slots.mems).filter(|(s, _)| matches!(s, Symbol::Output(_)));
        let resources = outputs.filter_map(|(_, m)| m.as_ref()?.resource());
        resources.map(|r| (r.width(), r.height())).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))
    }

    /// Declared memory that the kernel never touches may stay unbound, as many programs leave it.
    fn must_be_bound(&self, symbol: Symbol) -> bool {
        let interface = &self.0.program.interface;
        match symbol {
            Symbol::Input(n) => interface.resources.contains_key(&n) || interface.srvs.contains_key(&n),
            Symbol::Constant(n) => interface.constants.contains_key(&n),
            Symbol::Uav(n) => interface.uavs.contains_key(&n),
            Symbol::Output(_) | Symbol::Global | Symbol::Sampler(_) => true,
        }
    }

    /// An error that names what is not bound.
    pub(crate) fn check_bound(&self) -> Result<()> {
        self.bound(None).map(|_| ())
    }

    /// What is bound now.
    pub(crate) fn bound(&self, params: Option<Box<[DomainParam; 8]>>) -> Result<Snapshot> {
        let mut slots = self.0.bound.lock();
        if params.is_none()
            && let Some(snapshot) = &slots.snapshot
        {
            return Ok(snapshot.clone());
        }
        let mut bindings = Bindings { domain_params: params, ..Bindings::default() };
        let mut resources: Vec<Resource> = Vec::new();
        let mut missing = Vec::new();
        for (slot, &symbol) in self.0.symbols.iter().enumerate() {
            if let Symbol::Sampler(n) = symbol {
                bindings.samplers.push((n, slots.samplers[slot]));
                continue;
            }
            let Some((resource, surface)) = slots.mems[slot].as_ref().and_then(Mem::surface) else {
                if self.must_be_bound(symbol) {
                    missing.push(symbol.to_string());
                }
                continue;
            };
            match symbol {
                Symbol::Input(n) => bindings.resources.push((n, surface)),
                Symbol::Output(n) => bindings.outputs.push((n, surface)),
                Symbol::Constant(n) => bindings.constants.push((n, surface)),
                Symbol::Uav(n) => bindings.uavs.push((n, surface)),
                Symbol::Global => bindings.global = Some(surface),
                Symbol::Sampler(_) => {}
            }
            if !resources.contains(&resource) {
                resources.push(resource);
            }
        }
        if !missing.is_empty() {
            return Err(Error::failed(format!("nothing is bound to {}", missing.join(", "))));
        }
        let snapshot = Snapshot { bindings: Arc::new(bindings), resources: resources.into() };
        if snapshot.bindings.domain_params.is_none() {
            slots.snapshot = Some(snapshot.clone());
        }
        Ok(snapshot)
    }

    pub(crate) fn forget_mem(&self, mem: &Mem) {
        let mut slots = self.0.bound.lock();
        let mut dropped = Vec::new();
        for bound in &mut slots.mems {
            if bound.as_ref() == Some(mem) {
                dropped.extend(bound.take());
            }
        }
        let snapshot = if dropped.is_empty() { None } else { slots.snapshot.take() };
        // What goes away may wait for work; not with the lock held.
        drop(slots);
        drop((snapshot, dropped));
    }
}

impl Name {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The symbol.
    pub fn symbol(&self) -> Symbol {
        self.module.0.symbols[self.slot]
    }

    /// Binds a mem, in place of what was bound.
    pub fn bind(&self, mem: &Mem) -> Result<()> {
        if mem.context() != self.module.context() {
            return Err(Error::bad_handle("mem: it belongs to another context than the name"));
        }
        if mem.resource().is_none() {
            return Err(Error::bad_handle("mem: it was released"));
        }
        self.set(Some(mem.clone()))
    }

    /// Unbinds.
    pub fn unbind(&self) -> Result<()> {
        self.set(None)
    }

    fn set(&self, mem: Option<Mem>) -> Result<()> {
        if let Symbol::Sampler(_) = self.symbol() {
            return Err(Error::bad_name_type(format!(
                "name: {} is a sampler and takes no memory",
                self.symbol()
            )));
        }
        let mut slots = self.module.0.bound.lock();
        if slots.mems[self.slot] == mem {
            return Ok(());
        }
        let before = (std::mem::replace(&mut slots.mems[self.slot], mem), slots.snapshot.take());
        let bound = slots.mems[self.slot].clone();
        drop(slots);
        drop(before);
        let viewed = matches!(self.symbol(), Symbol::Input(_) | Symbol::Output(_) | Symbol::Uav(_));
        if let (true, Some((_, surface))) = (viewed, bound.and_then(|mem| mem.surface())) {
            self.module.0.kernel.expect_surface(surface.format);
        }
        Ok(())
    }

    /// State of a sampler.
    pub fn sampler(&self) -> Result<Sampler> {
        self.sampler_only()?;
        Ok(self.module.0.bound.lock().samplers[self.slot])
    }

    /// Changes the state of a sampler.
    pub fn set_sampler(&self, sampler: Sampler) -> Result<()> {
        self.sampler_only()?;
        let mut slots = self.module.0.bound.lock();
        slots.samplers[self.slot] = sampler;
        let before = slots.snapshot.take();
        drop(slots);
        drop(before);
        self.module.0.kernel.expect_sampler(&sampler);
        Ok(())
    }

    fn sampler_only(&self) -> Result<()> {
        match self.symbol() {
            Symbol::Sampler(_) => Ok(()),
            other => Err(Error::bad_handle(format!("name: {other} is not a sampler"))),
        }
    }
}

/// What the host binds; every declared slot is listed, used or not.
fn symbols(program: &Program) -> Vec<Symbol> {
    let interface = &program.declared;
    let mut symbols: Vec<Symbol> = Vec::new();
    symbols.extend(interface.resources.keys().chain(interface.srvs.keys()).map(|&n| Symbol::Input(n)));
    symbols.extend(interface.outputs.keys().map(|&n| Symbol::Output(n)));
    symbols.extend(interface.constants.keys().map(|&n| Symbol::Constant(n)));
    symbols.extend(interface.uavs.keys().map(|&n| Symbol::Uav(n)));
    symbols.extend(interface.global.then_some(Symbol::Global));
    symbols.extend(interface.samplers.iter().map(|&n| Symbol::Sampler(n)));
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}
