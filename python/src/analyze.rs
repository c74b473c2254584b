//! What chips of the time would make of a kernel: the figures of `recal analyze --json`, which `docs/command.md` explains.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use recal_hal::with_room;
use recal_il::ir::analyze::{ASSUMED_ROUNDS, Elements, Report, analyze as estimate};
use recal_il::vliw::{CHIPS, Chip};

use crate::errors::{argument, error, guarded};

/// Figures of a kernel on a chip; with `chip=None` a list, of all chips that take it.
#[pyfunction]
#[pyo3(signature = (il, chip="cypress", trips=ASSUMED_ROUNDS))]
pub(crate) fn analyze<'py>(
    py: Python<'py>,
    il: &str,
    chip: Option<&str>,
    trips: u32,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(|| {
        let refused = |found: Vec<recal::Diagnostic>| {
            crate::errors::refused(recal_il::diagnostic::render(&found, il.as_bytes(), "kernel"), &found, il)
        };
        let compiled = with_room(|| -> Result<_, Vec<recal::Diagnostic>> {
            let kernel = recal_il::front(il.as_bytes())?;
            let program = recal_il::lower::lower_bare(&kernel)?;
            Ok((kernel, program))
        });
        let (kernel, program) = compiled.map_err(refused)?;
        let of = |chip| with_room(|| estimate(&kernel, &program, chip, &Elements::default(), trips));
        match chip {
            Some(name) => {
                let known =
                    || CHIPS.iter().map(|c| c.name.to_ascii_lowercase()).collect::<Vec<_>>().join(", ");
                let chip = Chip::named(name)
                    .ok_or_else(|| argument(format!("chip: `{name}` is none of {}", known())))?;
                let report = of(chip)
                    .map_err(|why| error(why.to_owned(), "CAL_RESULT_NOT_SUPPORTED", "unsupported"))?;
                Ok(figures(py, &report)?.into_any())
            }
            None => {
                let all = PyList::empty(py);
                for report in CHIPS.iter().filter_map(|chip| of(chip).ok()) {
                    all.append(figures(py, &report)?)?;
                }
                Ok(all.into_any())
            }
        }
    })
}

fn figures<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let (chip, counts, stats) = (&report.chip, &report.counts, &report.stats);
    let target = PyDict::new(py);
    target.set_item("name", chip.name.to_ascii_lowercase())?;
    target.set_item("simds", chip.simds)?;
    target.set_item("thread_processors", chip.thread_processors())?;
    target.set_item("slots", chip.slots())?;
    target.set_item("engine_mhz", chip.engine_mhz)?;
    target.set_item("memory_mbps", chip.memory_mbps)?;
    target.set_item("bus_bits", chip.bus_bits)?;
    let code = PyDict::new(py);
    code.set_item("alu_clauses", counts.alu_clauses)?;
    code.set_item("fetch_clauses", counts.fetch_clauses)?;
    code.set_item("writes", counts.writes)?;
    code.set_item("control", counts.control)?;
    code.set_item("vliw", counts.bundles)?;
    code.set_item("slots_used", counts.slots)?;
    code.set_item("packing", report.packing())?;
    code.set_item("fetches", counts.fetches)?;
    let thread = PyDict::new(py);
    for (name, cost) in
        [("least", &report.costs.least), ("mean", &report.costs.mean), ("most", &report.costs.most)]
    {
        let one = PyDict::new(py);
        one.set_item("vliw", cost.bundles)?;
        one.set_item("fetches", cost.fetches)?;
        one.set_item("writes", cost.writes)?;
        one.set_item("memory_bits", cost.bits)?;
        thread.set_item(name, one)?;
    }
    let all = PyDict::new(py);
    all.set_item("target", target)?;
    all.set_item("code", code)?;
    all.set_item("thread", thread)?;
    all.set_item("gprs", report.code.gprs)?;
    all.set_item("scratch", report.code.scratch)?;
    all.set_item("waves_per_simd", report.waves)?;
    all.set_item("held_by", report.holder.name().to_ascii_lowercase())?;
    all.set_item("lds_bytes", stats.lds_bytes)?;
    let ratio = report.alu_to_fetch();
    all.set_item("alu_to_fetch", ratio.is_finite().then_some(ratio))?;
    all.set_item("limit", report.limit().name().to_ascii_lowercase())?;
    all.set_item("reason", report.reason())?;
    all.set_item("wave_clocks", report.wave_clocks())?;
    all.set_item("threads_per_second", 1.0 / report.seconds(1.0))?;
    Ok(all)
}
