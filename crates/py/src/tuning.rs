//! A law as numbers between 0 and 1, the way back, and the evolution of such numbers: for whoever tunes it.

use exmachina_design::search::{Draws, Evolution as Core, OWN_NUMBERS, law_at, places_of};
use exmachina_net::random::{Purpose, Stream};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::input_error;
use crate::table::Table;

/// Where the numbers of a table's law are in their ranges, those of sharing left out; none where it is no law.
#[pyfunction]
pub fn law_places(table: &Table) -> Option<Vec<f64>> {
    table.tree.law.map(|law| places_of(&law)[..OWN_NUMBERS].to_vec())
}

/// The bytes of a table's file with its law's numbers at these places. It shares with others as it did; what it was designed for
/// stays, and where that is known `search` is how it was made (JSON) and it has no score yet.
#[pyfunction]
pub fn law_at_places<'py>(
    py: Python<'py>,
    table: &Table,
    places: Vec<f64>,
    search: Option<String>,
) -> PyResult<Bound<'py, PyBytes>> {
    let Some(begun) = &table.tree.law else { return Err(input_error("table: expected a law")) };
    if places.len() != OWN_NUMBERS {
        return Err(input_error(format!("places: expected {OWN_NUMBERS}, got {}", places.len())));
    }
    Ok(PyBytes::new(py, &table.with_law(law_at(&places, Some(begun)), search).to_dna()))
}

/// An evolution of numbers: candidates are drawn, somebody orders them, and it learns.
#[pyclass(module = "exmachina._core")]
pub struct Evolution {
    core: Core,
    seed: u64,
    drawn: Option<Draws>,
}

#[pymethods]
impl Evolution {
    /// Around these numbers, with this standard deviation.
    #[new]
    fn new(mean: Vec<f64>, size: f64, seed: u64) -> Evolution {
        Evolution { core: Core::around(mean, size), seed, drawn: None }
    }

    /// The candidates of the next generation.
    fn draw(&mut self, count: usize) -> Vec<Vec<f64>> {
        let stream = &mut Stream::new(self.seed, self.core.generation.into(), 0, Purpose::Candidates);
        let drawn = self.core.draw(count, stream);
        let candidates = drawn.candidates.clone();
        self.drawn = Some(drawn);
        candidates
    }

    /// Learns from the numbers of the candidates last drawn, the best first.
    fn learn(&mut self, order: Vec<usize>) -> PyResult<()> {
        let Some(drawn) = self.drawn.take() else { return Err(input_error("learn: expected candidates drawn before")) };
        let mut numbers = order.clone();
        numbers.sort_unstable();
        if !numbers.iter().copied().eq(0..drawn.candidates.len()) {
            return Err(input_error("order: expected the numbers of all candidates, each once"));
        }
        self.core.learn(&drawn, &order);
        Ok(())
    }

    #[getter]
    fn mean(&self) -> Vec<f64> {
        self.core.mean.clone()
    }

    #[getter]
    fn size(&self) -> f64 {
        self.core.size
    }
}
