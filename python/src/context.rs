//! Devices, and their queues.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use recal::target::Target;
use recal::{Config, DeviceInfo, Runtime};

use crate::errors::{argument, error, guarded, raised};

/// A queue of a device.
#[pyclass(frozen, module = "recal")]
pub(crate) struct Context {
    pub(crate) context: recal::Context,
}

#[pymethods]
impl Context {
    /// Of the first device that can be opened, or of one by its number in `devices()`; `backend` is "cpu" or "vulkan", whose first device is 0
    /// then. A launch is stopped after `timeout` seconds, if not given as `CAL_TIMEOUT` says. `checks` has the CPU look for misuse, which
    /// `findings` tells.
    #[new]
    #[pyo3(signature = (device=None, *, backend=None, timeout=None, checks=false))]
    fn new(
        py: Python<'_>,
        device: Option<u32>,
        backend: Option<String>,
        timeout: Option<f64>,
        checks: bool,
    ) -> PyResult<Context> {
        guarded(|| {
            let mut config = Config::from_env().0;
            let plain = device.is_none() && backend.is_none() && timeout.is_none() && !checks;
            config.backends = backend.map_or(config.backends, |name| vec![name]);
            config.checks |= checks;
            if let Some(seconds) = timeout {
                let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
                config.timeout = Some(limit.ok_or_else(|| argument(format!("timeout: {seconds} seconds")))?);
            }
            let context = py.detach(|| match plain {
                true => recal::default_context().map_err(raised),
                false => open(config, device),
            });
            Ok(Context { context: context? })
        })
    }

    /// Facts about the device.
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts(py, self.context.device().info())
    }

    /// Takes what kernels did wrong since the last call; None if nothing looks: `checks=True` and the CPU do.
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(found) = self.context.device().findings() else { return Ok(None) };
        let all = PyList::empty(py);
        for one in found {
            let (line, instruction) =
                one.line.as_ref().map_or((None, None), |(n, text)| (Some(n), Some(text)));
            let entry = PyDict::new(py);
            entry.set_item("rule", one.misuse.name())?;
            entry.set_item("line", line)?;
            entry.set_item("instruction", instruction)?;
            entry.set_item("what", &one.what)?;
            entry.set_item("thread", (one.position[0], one.position[1], one.position[2]))?;
            entry.set_item("message", one.to_string())?;
            all.append(entry)?;
        }
        Ok(Some(all))
    }

    fn __repr__(&self) -> String {
        format!("<recal.Context on {}>", self.context.device().info().name)
    }
}

fn open(config: Config, device: Option<u32>) -> PyResult<recal::Context> {
    let runtime = Runtime::with_config(config).map_err(raised)?;
    let devices = runtime.devices().count() as u32;
    if devices == 0 {
        return Err(error(nothing(&runtime), "CAL_RESULT_ERROR", "other"));
    }
    let one = |ordinal| runtime.open(ordinal).and_then(|device| device.create_context());
    match device {
        Some(ordinal) => one(ordinal).map_err(raised),
        // Why the first one failed says most.
        None => (0..devices)
            .map(one)
            .reduce(|first, next| first.or_else(|e| next.map_err(|_| e)))
            .unwrap_or_else(|| one(0))
            .map_err(raised),
    }
}

/// Why there is no device.
fn nothing(runtime: &Runtime) -> String {
    let mut text = String::from("there is no device");
    for (backend, remarks) in runtime.backends() {
        let why: Vec<_> =
            remarks.iter().filter(|remark| !remark.good).map(|remark| remark.text.as_str()).collect();
        text +=
            &format!("; {backend}: {}", if why.is_empty() { "finds none".into() } else { why.join(", ") });
    }
    text
}

fn facts<'py>(py: Python<'py>, info: &DeviceInfo) -> PyResult<Bound<'py, PyDict>> {
    let target = Target::from_value(info.target).map_or("?".into(), |t| t.name.to_ascii_lowercase());
    let facts = PyDict::new(py);
    facts.set_item("name", &info.name)?;
    facts.set_item("target", target)?;
    facts.set_item("simds", info.simds)?;
    facts.set_item("wavefront", info.wavefront_size)?;
    facts.set_item("engine_mhz", info.engine_clock)?;
    facts.set_item("memory_mhz", info.memory_clock)?;
    facts.set_item("local_mib", info.local_ram)?;
    facts.set_item("double_precision", info.double_precision)?;
    facts.set_item("compute", info.compute)?;
    facts.set_item("lds_bytes", info.lds_bytes)?;
    facts.set_item("max_group", info.max_group)?;
    facts.set_item("max_extents", (info.max_width_2d, info.max_height_2d))?;
    Ok(facts)
}

/// Facts about the devices, in order of their numbers.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    guarded(|| {
        let runtime = py.detach(Runtime::new).map_err(raised)?;
        let all = PyList::empty(py);
        for (number, (backend, info)) in runtime.devices_by_backend().enumerate() {
            let facts = facts(py, info)?;
            facts.set_item("number", number)?;
            facts.set_item("backend", backend)?;
            all.append(facts)?;
        }
        Ok(all)
    })
}
