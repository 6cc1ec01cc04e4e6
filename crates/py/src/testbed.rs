//! Runs of an evaluation on this machine's kernel.

use exmachina_testbed::{KernelNames, Run};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{file_error, input_error};
use crate::evaluation::{Evaluation, columns};
use crate::stop::Stop;

/// What a run on the kernel gave.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Measured {
    /// One row per sender, as a simulated run has them.
    flows: Py<PyList>,
    late_mean_ms: f64,
    late_p99_ms: f64,
    late_p999_ms: f64,
    late_max_ms: f64,
    /// The packets, as a pcap file, if they were recorded.
    capture: Option<Py<PyBytes>>,
}

/// Refuses an evaluation that only a simulation can run; `loaded` are the kernel's names of rule tables, by their labels.
#[pyfunction]
pub fn check_measurable(py: Python<'_>, evaluation: &Evaluation, file: &str, loaded: KernelNames) -> PyResult<()> {
    exmachina_testbed::check(&evaluation.inner, &evaluation.text, file, &loaded).map_err(|error| file_error(py, &error))
}

/// Measures one run of a contender.
#[pyfunction]
pub fn measure(
    py: Python<'_>,
    evaluation: &Evaluation,
    contender: usize,
    run: u64,
    loaded: KernelNames,
    captures: bool,
    stop: &Stop,
) -> PyResult<Measured> {
    let library = evaluation.library();
    let measured = py.detach(|| {
        let (evaluation, library, loaded) = (&evaluation.inner, &library, &loaded);
        exmachina_testbed::measure(Run { evaluation, contender, run, library, loaded, captures }, &stop.flag)
    });
    let measured = measured.map_err(input_error)?;
    let late = measured.lateness;
    Ok(Measured {
        flows: PyList::new(py, columns(py, &measured.rows))?.unbind(),
        late_mean_ms: late.mean_ms,
        late_p99_ms: late.p99_ms,
        late_p999_ms: late.p999_ms,
        late_max_ms: late.max_ms,
        capture: measured.capture.map(|file| PyBytes::new(py, &file).unbind()),
    })
}
