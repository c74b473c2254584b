//! The part of the Python package `recal` that is Rust: devices, kernels, launches, figures. What is convenient is in `recal/*.py`.
//!
//! Memory of Python comes as buffers of bytes with a shape and a format; [`memory`] says how a kernel gets at them.

mod analyze;
mod context;
mod errors;
mod guard;
mod kernel;
mod memory;

use pyo3::prelude::*;
use pyo3::types::PyList;
use recal::target::Target;

use crate::errors::guarded;

/// Everything that the compiler has to say about a text for a target.
#[pyfunction]
#[pyo3(signature = (il, target="cypress"))]
fn check<'py>(py: Python<'py>, il: &str, target: &str) -> PyResult<Bound<'py, PyList>> {
    guarded(|| {
        let unknown = || errors::argument(format!("target: `{target}` is no device that CAL knew"));
        let target = Target::parse(target).ok_or_else(unknown)?;
        let found = py.detach(|| recal::diagnose(il, target.value)).map_err(errors::raised)?;
        errors::diagnostics(py, &found, il)
    })
}

/// The Rust part of the package.
#[pymodule]
fn _recal(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // As for C programs: CAL_LOG says what is told, on standard error.
    recal::logger::start(&recal::Config::from_env().0);
    let py = module.py();
    module.add("Error", py.get_type::<errors::Error>())?;
    module.add("KernelError", py.get_type::<errors::KernelError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<context::Context>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_function(wrap_pyfunction!(context::devices, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(analyze::analyze, module)?)?;
    Ok(())
}
