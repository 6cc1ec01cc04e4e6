//! The search, one step at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exmachina_design::model::Form;
use exmachina_design::search::{self, Elsewhere, Meter, Progress, Search, Settings};
use exmachina_rules::RuleTable;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::columns::{Column, column};
use crate::elsewhere::PythonElsewhere;
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

/// How a search stands.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct DesignProgress {
    step: u64,
    rules: usize,
    score: Option<f64>,
    starved_share: Option<f64>,
    cpu_s: f64,
    packets: u64,
    doing: String,
}

/// A table that was designed.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Designed {
    /// Of the senders that run it; empty where all run the same.
    name: String,
    /// The bytes of its file.
    dna: Py<PyBytes>,
}

/// What a search has to hand over.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Answer {
    /// [`Designed`], one for each name of senders.
    tables: Py<PyList>,
    /// On the specimens of measurements; none if unmeasured, or if nobody received anything there.
    score: Option<f64>,
    /// Share of the senders that starve there; none if unmeasured.
    starved_share: Option<f64>,
}

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
        if model.design.form == Form::Law && settings.search == Search::Paper {
            return Err(input_error(format!("search: {}", search::DesignError::PaperLaw)));
        }
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

    /// One step of the search; false if it was stopped, and nothing has changed. Others make the runs of large batches, if
    /// any are given.
    #[pyo3(signature = (workers, others = None))]
    fn step(&self, py: Python<'_>, workers: &Workers, others: Option<Py<PyAny>>) -> PyResult<bool> {
        let others = others.map(PythonElsewhere::new);
        let done = workers.run(py, || {
            let mut search = lock(&self.search);
            let elsewhere = others.as_ref().map(|others| others as &dyn Elsewhere);
            let done = search.step(&self.stop, &self.meter, elsewhere).is_ok();
            *lock(&self.progress) = search.progress();
            done
        });
        others.and_then(PythonElsewhere::failure).map_or(Ok(done), Err)
    }

    /// Ends the present step early, and all later ones at once.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn checkpoint(&self, py: Python<'_>) -> String {
        py.detach(|| lock(&self.search).checkpoint())
    }

    fn progress(&self) -> DesignProgress {
        let now = lock(&self.progress).clone();
        DesignProgress {
            step: now.step,
            rules: now.rules,
            score: now.measure.and_then(|measure| measure.score),
            starved_share: now.measure.map(|measure| measure.starved),
            cpu_s: now.cpu_s,
            packets: self.resumed_at + self.meter.packets.load(Ordering::Relaxed),
            doing: now.doing,
        }
    }

    fn history(&self, py: Python<'_>) -> Vec<Column> {
        let search = lock(&self.search);
        let points = search.history();
        vec![
            column(py, "step", points.iter().map(|p| p.step)),
            column(py, "cpu_s", points.iter().map(|p| p.cpu_s)),
            column(py, "packets", points.iter().map(|p| p.packets)),
            column(py, "rules", points.iter().map(|p| p.rules as u64)),
            column(py, "score", points.iter().map(|p| p.measure.score.unwrap_or(f64::NAN))),
            column(py, "starved_share", points.iter().map(|p| p.measure.starved)),
        ]
    }

    /// The tables to hand over, and how they measure, unless that is stopped.
    fn answer(&self, py: Python<'_>, workers: &Workers, stop: &Stop) -> PyResult<Answer> {
        let (tables, measure) = workers.run(py, || lock(&self.search).answer(&stop.flag));
        let designed =
            |(name, table): (String, RuleTable)| Designed { name, dna: PyBytes::new(py, &table.to_dna()).unbind() };
        Ok(Answer {
            tables: PyList::new(py, tables.into_iter().map(designed).collect::<Vec<_>>())?.unbind(),
            score: measure.and_then(|measure| measure.score),
            starved_share: measure.map(|measure| measure.starved),
        })
    }

    #[getter]
    fn model_text(&self) -> String {
        lock(&self.search).model().text.clone()
    }

    /// Whether it designs a law, and no rules.
    #[getter]
    fn law(&self) -> bool {
        lock(&self.search).model().design.form == Form::Law
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
