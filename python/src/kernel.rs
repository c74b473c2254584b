//! Kernels, and their launches.

use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyList;
use recal::typed::{Threads, Work};
use recal::{Domain, Symbol};
use recal_hal::with_room;
use recal_il::inst::{Interface, Uav};

use crate::context::Context;
use crate::errors::{argument, diagnostics, guarded, raised, with_text};
use crate::memory::{Given, Memory};

/// How long a launch goes on before the interpreter is asked whether someone has pressed Ctrl-C.
const ASK: Duration = Duration::from_millis(100);

/// A kernel in a context.
#[pyclass(frozen, module = "recal")]
pub(crate) struct Kernel {
    il: String,
    compute: bool,
    symbols: Vec<String>,
    linear: Vec<String>,
    /// Locked from binding to the end: what is bound belongs to the kernel.
    kernel: Mutex<recal::typed::Kernel>,
    context: recal::Context,
}

#[pymethods]
impl Kernel {
    /// Compiles a text for a context, that of the first device if none is given.
    #[new]
    #[pyo3(signature = (il, context=None))]
    fn new(py: Python<'_>, il: String, context: Option<&Context>) -> PyResult<Kernel> {
        guarded(|| {
            let context = match context {
                Some(context) => context.context.clone(),
                None => py.detach(recal::default_context).map_err(raised)?,
            };
            let (kernel, linear) = py
                .detach(|| {
                    let kernel = recal::typed::Kernel::load(&context, &il)?;
                    let front = with_room(|| recal_il::front(il.as_bytes()));
                    Ok((kernel, front.map_or_else(|_| Vec::new(), |front| linear(&front.interface))))
                })
                .map_err(|error| with_text(error, &il))?;
            let compute = kernel.module().info().group != [0; 3];
            let symbols = kernel.module().symbols().iter().map(Symbol::to_string).collect();
            Ok(Kernel { il, compute, symbols, linear, kernel: Mutex::new(kernel), context })
        })
    }

    /// The text.
    #[getter]
    fn il(&self) -> &str {
        &self.il
    }

    /// Whether it is a compute kernel, which runs in groups; a pixel kernel runs over a rectangle.
    #[getter]
    fn compute(&self) -> bool {
        self.compute
    }

    /// What it binds: `i0`, `o0`, `cb0`, `g[]`, `uav0`, `s0`.
    #[getter]
    fn symbols(&self) -> Vec<String> {
        self.symbols.clone()
    }

    /// Of these the memory that has addresses and no shape: `g[]`, raw and structured buffers and views.
    #[getter]
    fn linear(&self) -> Vec<String> {
        self.linear.clone()
    }

    /// What the compiler remarks.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guarded(|| {
            let target = self.context.device().info().target;
            let found = py.detach(|| recal::diagnose(&self.il, target)).map_err(raised)?;
            diagnostics(py, &found, &self.il)
        })
    }

    /// Facts about the device that it runs on.
    #[getter]
    fn context(&self) -> Context {
        Context { context: self.context.clone() }
    }

    /// Runs it over so many columns and rows, or threads in x, y, z, and waits: seconds that the launch took, and the symbols
    /// whose memory was copied. `given`: symbol, bytes row by row, width, height (0: one dimension), format, whether it is written.
    fn launch(&self, py: Python<'_>, given: Vec<Given>, work: [u32; 3]) -> PyResult<(f64, Vec<String>)> {
        guarded(|| self.launched(py, given, work))
    }

    fn __repr__(&self) -> String {
        format!("<recal.Kernel binding {}>", self.symbols.join(", "))
    }
}

impl Kernel {
    fn launched(&self, py: Python<'_>, given: Vec<Given>, work: [u32; 3]) -> PyResult<(f64, Vec<String>)> {
        let kernel = loop {
            match self.kernel.try_lock() {
                Ok(kernel) => break kernel,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                // Another thread has it, and wants the interpreter to go on.
                Err(TryLockError::WouldBlock) => py.detach(|| std::thread::sleep(Duration::from_micros(100))),
            }
        };
        let module = kernel.module();
        let mut all = Vec::with_capacity(given.len());
        for given in given {
            let (symbol, memory) = Memory::new(py, &self.context, given)?;
            module.name(&symbol).and_then(|name| name.bind(&memory.mem)).map_err(raised)?;
            all.push((symbol, memory));
        }
        let [x, y, z] = work;
        let work = match self.compute {
            true => Work::Threads(Threads(work.map(u64::from))),
            false if z == 1 => Work::Domain(Domain::of(x, y)),
            false => return Err(argument("a pixel kernel runs over columns and rows")),
        };
        let start = Instant::now();
        let event = py.detach(|| kernel.launch(work, &[], &[])).map_err(raised)?;
        while !py.detach(|| event.wait_timeout(ASK)).map_err(raised)? {
            if let Err(stopped) = py.check_signals() {
                // It goes on using its memory until it is done, which CAL_TIMEOUT limits.
                let _ = py.detach(|| event.wait());
                return Err(stopped);
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        all.iter().try_for_each(|(_, memory)| memory.finish(py))?;
        Ok((seconds, all.iter().filter(|(_, m)| m.copied).map(|(s, _)| s.clone()).collect()))
    }
}

/// Symbols of memory without a shape.
fn linear(interface: &Interface) -> Vec<String> {
    let uavs = interface.uavs.iter().filter(|(_, kind)| !matches!(kind, Uav::Typed { .. }));
    let mut all: Vec<_> = interface.srvs.keys().map(|&n| Symbol::Input(n)).collect();
    all.extend(uavs.map(|(&n, _)| Symbol::Uav(n)));
    all.extend(interface.global.then_some(Symbol::Global));
    all.iter().map(Symbol::to_string).collect()
}
