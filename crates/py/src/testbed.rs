//! Runs of an evaluation in real time.

use exmachina_testbed::{KernelNames, Record, Run};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::{file_error, input_error};
use crate::evaluation::{Evaluation, columns};
use crate::stop::Stop;

/// Who is at both ends.
#[pyclass(frozen, module = "exmachina._core")]
pub struct Stack {
    inner: exmachina_testbed::Stack,
}

#[pymethods]
impl Stack {
    /// This machine's kernel; `loaded` are its names of rule tables, by their labels.
    #[staticmethod]
    fn kernel(loaded: KernelNames) -> Stack {
        Stack { inner: exmachina_testbed::Stack::Kernel(loaded) }
    }

    /// QUIC, in this process.
    #[staticmethod]
    fn quic() -> Stack {
        Stack { inner: exmachina_testbed::Stack::Quic }
    }
}

/// What a run gave.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Measured {
    /// One row per sender, as a simulated run has them.
    flows: Py<PyList>,
    late_mean_ms: f64,
    late_p99_ms: f64,
    late_p999_ms: f64,
    late_max_ms: f64,
    /// What the hosts saw, if it was written down: how the names of files end, and what they hold.
    records: Vec<(String, Py<PyBytes>)>,
}

/// Refuses an evaluation that only a simulation can run.
#[pyfunction]
pub fn check_measurable(py: Python<'_>, evaluation: &Evaluation, file: &str, stack: &Stack) -> PyResult<()> {
    let checked = exmachina_testbed::check(&evaluation.inner, &evaluation.text, file, &stack.inner);
    checked.map_err(|error| file_error(py, &error))
}

/// Measures one run of a contender.
#[pyfunction]
pub fn measure(
    py: Python<'_>,
    evaluation: &Evaluation,
    contender: usize,
    run: u64,
    stack: &Stack,
    records: bool,
    stop: &Stop,
) -> PyResult<Measured> {
    let library = evaluation.library();
    let measured = py.detach(|| {
        let (evaluation, library, stack) = (&evaluation.inner, &library, &stack.inner);
        exmachina_testbed::measure(Run { evaluation, contender, run, library, stack, records }, &stop.flag)
    });
    let measured = measured.map_err(input_error)?;
    let late = measured.lateness;
    let record = |Record { ending, bytes }: Record| (ending, PyBytes::new(py, &bytes).unbind());
    Ok(Measured {
        flows: PyList::new(py, columns(py, &measured.rows))?.unbind(),
        late_mean_ms: late.mean_ms,
        late_p99_ms: late.p99_ms,
        late_p999_ms: late.p999_ms,
        late_max_ms: late.max_ms,
        records: measured.records.into_iter().map(record).collect(),
    })
}
