//! The search, one step at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exmachina_design::search::{self, Meter, Progress, Search, Settings};
use exmachina_rules::RuleTable;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::columns::{Column, column};
use crate::errors::input_error;
use crate::model::Model;
use crate::stop::Stop;
use crate::table::Table;
use crate::workers::Workers;

/// A search. One thread steps; any thread may ask how it stands, or stop it.
#[pyclass(frozen, module = "exmachina._core")]
pub struct Designer {
    search: Mutex<search::Designer>,
    /// As of the last step, so that nobody waits for the present one.
    progress: Mutex<Progress>,
    /// Packets before this process.
    resumed_at: u64,
    meter: Meter,
    stop: AtomicBool,
}

/// The bytes of tables by name.
type Dnas<'py> = Vec<(String, Bound<'py, PyBytes>)>;

/// A search that panicked in a step is as it was before the step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<search::Designer> for Designer {
    fn from(search: search::Designer) -> Self {
        let progress = search.progress();
        Designer {
            resumed_at: progress.packets,
            progress: Mutex::new(progress),
            search: Mutex::new(search),
            meter: Meter::default(),
            stop: AtomicBool::new(false),
        }
    }
}

#[pymethods]
impl Designer {
    #[new]
    fn new(
        model: PyRef<'_, Model>,
        search: &str,
        seed: Option<u64>,
        start: Vec<PyRef<'_, Table>>,
        start_names: Vec<String>,
    ) -> PyResult<Designer> {
        let search = match search {
            "default" => Search::Default,
            "paper" => Search::Paper,
            other => return Err(input_error(format!("search: expected default or paper, got {other}"))),
        };
        let (model, settings) =
            (model.inner.clone(), Settings { search, seed, start: start_names, ..Settings::default() });
        let start: Vec<RuleTable> = start.iter().map(|table| table.tree.clone()).collect();
        let designer = if start.is_empty() {
            search::Designer::new(model, settings)
        } else {
            search::Designer::with_start(model, settings, &start)
                .map_err(|error| input_error(format!("start: {error}")))?
        };
        Ok(designer.into())
    }

    /// Goes on from a checkpoint.
    #[staticmethod]
    fn resume(checkpoint: &str, file: &str) -> PyResult<Designer> {
        let designer = search::Designer::resume(checkpoint);
        designer.map(Designer::from).map_err(|error| input_error(format!("{file}: {error}")))
    }

    /// One step of the search; false if it was stopped, and nothing has changed.
    fn step(&self, py: Python<'_>, workers: &Workers) -> bool {
        workers.run(py, || {
            let mut search = lock(&self.search);
            let done = search.step(&self.stop, &self.meter).is_ok();
            *lock(&self.progress) = search.progress();
            done
        })
    }

    /// Ends the present step early, and all later ones at once.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn checkpoint(&self, py: Python<'_>) -> String {
        py.detach(|| lock(&self.search).checkpoint())
    }

    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let now = lock(&self.progress).clone();
        let dict = PyDict::new(py);
        dict.set_item("step", now.step)?;
        dict.set_item("rules", now.rules)?;
        dict.set_item("score", now.best.and_then(|best| best.score))?;
        dict.set_item("starved_share", now.best.map(|best| best.starved))?;
        dict.set_item("cpu_s", now.cpu_s)?;
        dict.set_item("packets", self.resumed_at + self.meter.packets.load(Ordering::Relaxed))?;
        dict.set_item("doing", now.doing)?;
        Ok(dict)
    }

    fn history(&self, py: Python<'_>) -> Vec<Column> {
        let search = lock(&self.search);
        let points = search.history();
        vec![
            column(py, "step", points.iter().map(|p| p.step)),
            column(py, "cpu_s", points.iter().map(|p| p.cpu_s)),
            column(py, "packets", points.iter().map(|p| p.packets)),
            column(py, "rules", points.iter().map(|p| p.rules as u64)),
            column(py, "score", points.iter().map(|p| p.best.score.unwrap_or(f64::NAN))),
            column(py, "starved_share", points.iter().map(|p| p.best.starved)),
        ]
    }

    /// The tables to hand over, by the names of the senders that run them (one without a name where all run the same); their
    /// score on the specimens of measurements, and the share of senders that starve there, unless that is stopped.
    fn answer<'py>(&self, py: Python<'py>, workers: &Workers, stop: &Stop) -> (Dnas<'py>, Option<f64>, f64) {
        let (tables, measure) = workers.run(py, || lock(&self.search).answer(&stop.flag));
        let dnas = tables.into_iter().map(|(name, table)| (name, PyBytes::new(py, &table.to_dna()))).collect();
        (dnas, measure.and_then(|measure| measure.score), measure.map_or(0.0, |measure| measure.starved))
    }

    #[getter]
    fn model_text(&self) -> String {
        lock(&self.search).model().text.clone()
    }

    #[getter]
    fn search(&self) -> &'static str {
        match lock(&self.search).settings().search {
            Search::Default => "default",
            Search::Paper => "paper",
        }
    }

    #[getter]
    fn seed(&self) -> u64 {
        lock(&self.search).seed()
    }
}
