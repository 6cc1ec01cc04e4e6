//! What counts, as Python reads it.

use exmachina_scenario::objective::{self, Deliveries, ThroughputBasis};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An objective: all that a score depends on beside the runs.
#[pyclass(frozen, get_all, eq, module = "exmachina._core")]
#[derive(PartialEq)]
pub struct Objective {
    alpha: f64,
    beta: f64,
    delta: f64,
    throughput: &'static str,
    loss_weight: f64,
    deliveries: &'static str,
}

impl From<objective::Objective> for Objective {
    fn from(objective: objective::Objective) -> Self {
        let objective::Objective { alpha, beta, delta, throughput, loss_weight, deliveries } = objective;
        let throughput = match throughput {
            ThroughputBasis::Share => "share",
            ThroughputBasis::OnTime => "on-time",
        };
        let deliveries = match deliveries {
            Deliveries::All => "all",
            Deliveries::WhileOn => "while-on",
        };
        Objective { alpha, beta, delta, throughput, loss_weight, deliveries }
    }
}

#[pymethods]
impl Objective {
    /// All of it by name, as a model file has it.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("alpha", self.alpha)?;
        dict.set_item("beta", self.beta)?;
        dict.set_item("delta", self.delta)?;
        dict.set_item("throughput", self.throughput)?;
        dict.set_item("loss_weight", self.loss_weight)?;
        dict.set_item("deliveries", self.deliveries)?;
        Ok(dict)
    }
}
