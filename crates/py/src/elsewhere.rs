//! Batches of runs of a search that Python has made by others.

use std::sync::{Mutex, PoisonError};

use exmachina_design::search::{self, Batch, Elsewhere, Unit};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::stop::Stop;
use crate::workers::Workers;

/// A Python object with the methods of `_core.Elsewhere`.
pub struct PythonElsewhere {
    others: Py<PyAny>,
    failure: Mutex<Option<PyErr>>,
}

impl PythonElsewhere {
    /// One that has not failed.
    pub fn new(others: Py<PyAny>) -> PythonElsewhere {
        PythonElsewhere { others, failure: Mutex::default() }
    }

    /// What went wrong there.
    pub fn failure(self) -> Option<PyErr> {
        self.failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, py: Python<'_>, batch: &Batch<'_>, take: &mut dyn FnMut(&[u8])) -> PyResult<()> {
        let others = self.others.bind(py);
        let (workers, most_s): (usize, f64) = others.call_method0("size")?.extract()?;
        let units = batch.cut(workers.max(1), most_s);
        let bytes = |unit: &Unit| (PyBytes::new(py, &unit.bytes).unbind(), unit.runs);
        let given = (PyBytes::new(py, &batch.shared()), units.iter().map(bytes).collect::<Vec<_>>(), batch.cost_s());
        for report in others.call_method1("run", given)?.try_iter()? {
            take(report?.cast::<PyBytes>()?.as_bytes());
        }
        Ok(())
    }
}

impl Elsewhere for PythonElsewhere {
    fn run(&self, batch: &Batch<'_>, take: &mut dyn FnMut(&[u8])) {
        let sent = Python::attach(|py| self.send(py, batch, take));
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = sent.err();
    }
}

/// Makes the runs of a unit, and reports on them.
#[pyfunction]
pub fn run_unit(py: Python<'_>, shared: &[u8], unit: &[u8], workers: &Workers, stop: &Stop) -> PyResult<Py<PyBytes>> {
    let report = workers.run(py, || search::run_unit(shared, unit, &stop.flag));
    let report = report.map_err(|_| PyRuntimeError::new_err("stopped"))?;
    Ok(PyBytes::new(py, &report).unbind())
}
