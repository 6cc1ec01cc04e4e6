//! Rule tables.

use exmachina_rules::{Action, FlatTable, Range, RuleTable, Signal};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::input_error;

/// A rule table.
#[pyclass(frozen, subclass, module = "exmachina._core")]
pub struct Table {
    /// As a tree, with all that a file holds.
    pub tree: RuleTable,
    /// For looking up.
    pub flat: FlatTable,
}

impl Table {
    fn checked(tree: RuleTable, file: &str) -> PyResult<Table> {
        let flat = FlatTable::new(&tree).map_err(|error| input_error(format!("{file}: {error}")))?;
        Ok(Table { tree, flat })
    }
}

#[pymethods]
impl Table {
    #[new]
    fn new(dna: &[u8], file: &str) -> PyResult<Table> {
        let tree = RuleTable::from_dna(dna).map_err(|error| input_error(format!("{file}: {error}")))?;
        Table::checked(tree, file)
    }

    /// The bytes of a `.dna` file with one rule.
    #[staticmethod]
    fn single_dna<'py>(
        py: Python<'py>,
        signals: Vec<String>,
        multiple: f64,
        increment: i32,
        intersend_ms: f64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let signal = |name: &String| {
            let all = Signal::ALL.map(Signal::name).join(", ");
            Signal::from_name(name).ok_or_else(|| input_error(format!("signals: expected some of {all}, got {name}")))
        };
        let signals = signals.iter().map(signal).collect::<PyResult<Vec<_>>>()?;
        let table = RuleTable::single(&signals, Action { multiple, increment, intersend_ms });
        Table::checked(table, "table").map(|table| PyBytes::new(py, &table.tree.to_dna()))
    }

    #[getter]
    fn dna<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.tree.to_dna())
    }

    fn __len__(&self) -> usize {
        self.flat.len()
    }

    #[getter]
    fn signals(&self) -> Vec<&'static str> {
        self.tree.signals.iter().map(|s| s.name()).collect()
    }

    /// Lower bounds, upper bounds and action (m, b, r) of every rule.
    #[getter]
    #[allow(clippy::type_complexity)]
    fn rules(&self) -> Vec<([f64; 6], [f64; 6], (f64, i32, f64))> {
        let rules = self.tree.rules().into_iter();
        rules.map(|(c, a)| (c.lower, c.upper, (a.multiple, a.increment, a.intersend_ms))).collect()
    }

    #[getter]
    fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(p) = &self.tree.provenance else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("version", &p.version)?;
        dict.set_item("model", &p.model)?;
        dict.set_item("search", &p.search)?;
        dict.set_item("seed", p.seed)?;
        dict.set_item("score", p.score)?;
        Ok(Some(dict))
    }

    /// The ranges of networks in the authors' form, low and high; none where the file does not say.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(c) = self.tree.config() else { return Ok(None) };
        let range = |r: Option<Range>| r.and_then(|r| Some((r.low?, r.high?)));
        let one = |ms: Option<f64>| ms.map(|ms| (ms, ms));
        let dict = PyDict::new(py);
        dict.set_item("packets_per_ms", range(c.link_packets_per_ms))?;
        dict.set_item("rtt_ms", range(c.rtt))?;
        dict.set_item("senders", range(c.num_senders))?;
        dict.set_item("on_ms", range(c.mean_on_duration).or(one(c.mean_on_ms)))?;
        dict.set_item("off_ms", range(c.mean_off_duration).or(one(c.mean_off_ms)))?;
        Ok(Some(dict))
    }
}
