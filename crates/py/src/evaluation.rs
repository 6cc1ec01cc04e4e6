//! Evaluations: scenarios with contenders, and their runs.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::{self, SchemeName};
use exmachina_net::file_error::FileError;
use exmachina_net::service::Trace;
use exmachina_net::time::Duration;
use exmachina_rules::{FlatTable, RuleTable};
use exmachina_run::packet_log::{PacketLog, record};
use exmachina_run::runs::{FlowRow, outcomes, runs, runs_until};
use exmachina_scenario::{BufferSize, Contender, queue_by_name};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::columns::{Column, column};
use crate::errors::{file_error, input_error};
use crate::model::Specimens;
use crate::own::{Failure, maker};
use crate::run::scored;
use crate::stop::Stop;
use crate::table::Table;
use crate::workers::Workers;

/// A contender, as Python has it.
#[derive(FromPyObject)]
pub struct Given<'py> {
    /// What results call it.
    label: String,
    /// A name, a rule table, or a Python class.
    scheme: Bound<'py, PyAny>,
    /// The discipline of every queue; the network's if none.
    queue: Option<String>,
}

/// A run, packet by packet.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct PacketRecord {
    /// What the senders did, as columns.
    senders: Py<PyList>,
    /// What happened at the hops, as columns.
    hops: Py<PyList>,
}

/// Whether a name is that of a scheme that is built in, though perhaps with a number that it cannot have.
#[pyfunction]
pub fn is_scheme(name: &str) -> bool {
    SchemeName::is_built_in(name)
}

/// Whether a name is that of a file with a rule table. It may have bytes that are no text.
#[pyfunction]
pub fn is_table_file(name: OsString) -> bool {
    scheme::is_table_file(&name.to_string_lossy())
}

/// What is written as `scheme/queue`, taken apart.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct SchemeAndQueue {
    scheme: String,
    queue: Option<String>,
}

#[pymethods]
impl SchemeAndQueue {
    /// `algorithms` are the rule tables that go by a name.
    #[staticmethod]
    fn of(text: &str, algorithms: Vec<String>) -> SchemeAndQueue {
        let taken = exmachina_scenario::SchemeAndQueue::of(text, &algorithms);
        SchemeAndQueue { scheme: taken.scheme.to_owned(), queue: taken.queue.map(str::to_owned) }
    }
}

/// A scenario with contenders.
#[pyclass(frozen, subclass, module = "exmachina._core")]
pub struct Evaluation {
    /// What it is.
    pub inner: exmachina_scenario::Evaluation,
    /// The file that it is from.
    pub text: String,
    /// Rule tables that go by a name.
    algorithms: Vec<String>,
    library: Mutex<Arc<Library>>,
    /// Schemes that are Python classes, by their names in the library.
    own: Vec<(String, Py<PyAny>)>,
}

#[pymethods]
impl Evaluation {
    #[new]
    #[pyo3(signature = (text, file, algorithms = Vec::new()))]
    fn new(py: Python<'_>, text: &str, file: &str, algorithms: Vec<String>) -> PyResult<Evaluation> {
        let inner = exmachina_scenario::Evaluation::parse_with(text, file, &algorithms)
            .map_err(|error| file_error(py, &error))?;
        Ok(Evaluation { inner, text: text.to_owned(), algorithms, library: Mutex::default(), own: Vec::new() })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.inner.description
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn runs(&self) -> usize {
        self.inner.runs()
    }

    #[getter]
    fn grid_points(&self) -> Option<usize> {
        self.inner.points()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.duration_s
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed
    }

    #[getter]
    fn contenders(&self) -> Vec<&str> {
        self.inner.contenders.iter().map(|contender| contender.label.as_str()).collect()
    }

    #[getter]
    fn scheme_names(&self) -> Vec<&str> {
        self.inner.scheme_names()
    }

    /// The files that the scenario names and that have not been loaded, relative to its own; and rule tables by name.
    #[getter]
    fn files(&self) -> Vec<String> {
        let library = self.library();
        let tables = self.inner.table_names().into_iter().filter(|name| !library.tables.contains_key(*name));
        let traces = self.inner.trace_names().into_iter().filter(|name| !library.traces.contains_key(*name));
        tables.chain(traces).map(str::to_owned).collect()
    }

    /// Takes what such a file holds.
    fn load(&self, py: Python<'_>, path: &str, data: &[u8]) -> PyResult<()> {
        let table = self.inner.table_names().contains(path).then(|| flat_table(path, data)).transpose()?;
        let trace = self.inner.trace_names().contains(path).then(|| {
            let text = std::str::from_utf8(data).map_err(|_| input_error(format!("{path}: expected text")))?;
            Trace::parse(text, path).map_err(|error| file_error(py, &error))
        });
        let trace = trace.transpose()?;
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let library = Arc::make_mut(&mut library);
        library.tables.extend(table.map(|table| (path.to_owned(), table)));
        library.traces.extend(trace.map(|trace| (path.to_owned(), trace)));
        Ok(())
    }

    /// The same scenario with other settings, which the caller has checked; runs are for each point of a grid.
    #[pyo3(signature = (runs, duration_s, seed))]
    fn with_settings(
        &self,
        py: Python<'_>,
        runs: Option<usize>,
        duration_s: Option<f64>,
        seed: Option<u64>,
    ) -> Evaluation {
        let mut inner = self.inner.clone();
        inner.runs_per_point = runs.unwrap_or(inner.runs_per_point);
        inner.duration_s = duration_s.unwrap_or(inner.duration_s);
        inner.seed = seed.unwrap_or(inner.seed);
        self.with(py, inner)
    }

    /// The same scenario with room for `times` the bandwidth-delay product in queues that are infinite.
    fn with_buffer_bdp(&self, py: Python<'_>, times: f64) -> Evaluation {
        let mut inner = self.inner.clone();
        for link in inner.links.iter_mut().filter(|link| link.buffer == BufferSize::Infinite) {
            link.buffer = BufferSize::Bdp { times, beyond_ms: 0.0 };
        }
        self.with(py, inner)
    }

    /// The same scenario with other contenders.
    fn with_schemes(&self, py: Python<'_>, schemes: Vec<Given<'_>>) -> PyResult<Evaluation> {
        let mut library = Library::clone(&self.library());
        let mut own = Vec::new();
        let mut contenders = Vec::with_capacity(schemes.len());
        for (i, Given { label, scheme, queue }) in schemes.into_iter().enumerate() {
            let refused = |message| field_error(py, "schemes", message);
            let queue = queue.map(|name| queue_by_name(&name)).transpose().map_err(refused)?;
            // No file of a scenario is called like this.
            let name = format!("{label} (#{i})");
            let known = if let Ok(text) = scheme.extract::<String>() {
                let named = SchemeName::parse(&text).and_then(|s| s.check(&self.algorithms).map(|()| s));
                named.map_err(refused)?
            } else if let Ok(table) = scheme.extract::<PyRef<'_, Table>>() {
                library.tables.insert(name.clone(), table.flat.clone());
                SchemeName::Table(name)
            } else if scheme.is_callable() {
                own.push((name.clone(), scheme.unbind()));
                SchemeName::Own(name)
            } else {
                return Err(refused(format!("expected names, tables or classes, got {}", scheme.repr()?)));
            };
            contenders.push(Contender { label, scheme: known, queue });
        }
        let mut inner = self.inner.clone();
        inner.contenders = contenders;
        let algorithms = self.algorithms.clone();
        Ok(Evaluation { inner, text: self.text.clone(), algorithms, library: Mutex::new(Arc::new(library)), own })
    }

    /// The runs of a contender from `first_run` up to `last_run`, which is not included: one row per run and sender.
    fn run(
        &self,
        py: Python<'_>,
        contender: usize,
        first_run: u64,
        last_run: u64,
        workers: &Workers,
        stop: &Stop,
    ) -> PyResult<Vec<Column>> {
        let which = first_run..last_run.min(self.inner.runs() as u64);
        let rows = if self.is_own(contender) {
            let failure = Arc::new(Failure::default());
            let library = self.library_with_own(py, &failure);
            let rows = py.detach(|| runs_until(&self.inner, contender, which, &library, &failure.stop));
            failure.check()?;
            rows
        } else {
            let library = self.library();
            workers.run(py, || runs(&self.inner, contender, which, &library, &stop.flag))
        };
        rows.map(|rows| columns(py, &rows)).map_err(input_error)
    }

    /// The runs that are these specimens, scored as rule tables are on them: the caller has made an evaluation whose run r is
    /// specimen r. One row per specimen and sender.
    fn scored(
        &self,
        py: Python<'_>,
        contender: usize,
        specimens: &Specimens,
        workers: &Workers,
        stop: &Stop,
    ) -> PyResult<Vec<Column>> {
        let set = &specimens.set.specimens;
        let (first, last) = (set.first().map_or(0, |s| s.index), set.last().map_or(0, |s| s.index + 1));
        let library = self.library();
        let outcomes = workers.run(py, || outcomes(&self.inner, contender, first..last, &library, &stop.flag));
        Ok(scored(py, set, &outcomes.map_err(input_error)?, &specimens.objective))
    }

    /// One run, packet by packet: what the senders did, and what happened at the hops.
    #[pyo3(signature = (contender, run, duration_s, max_rows))]
    fn record(
        &self,
        py: Python<'_>,
        contender: usize,
        run: u64,
        duration_s: Option<f64>,
        max_rows: usize,
    ) -> PyResult<PacketRecord> {
        if !self.inner.sends(contender) {
            return Err(input_error("omniscient: a calculation, which sends no packets to record"));
        }
        let failure = Arc::new(Failure::default());
        let library = self.library_with_own(py, &failure);
        let seconds = duration_s.map_or(self.inner.duration_s, |s| s.clamp(0.0, self.inner.duration_s));
        let trace = py.detach(|| {
            let drawn = self.inner.world(contender, run, &library)?;
            Ok(record(&drawn.world, self.inner.run_seed(run), Duration::from_s(seconds), max_rows))
        });
        failure.check()?;
        trace_columns(py, trace.map_err(|message: String| input_error(message))?)
    }
}

impl Evaluation {
    /// The same contenders and files, otherwise this.
    fn with(&self, py: Python<'_>, inner: exmachina_scenario::Evaluation) -> Evaluation {
        let own = self.own.iter().map(|(name, class)| (name.clone(), class.clone_ref(py))).collect();
        let (text, algorithms) = (self.text.clone(), self.algorithms.clone());
        Evaluation { inner, text, algorithms, library: Mutex::new(self.library()), own }
    }

    /// What the scenario names.
    pub fn library(&self) -> Arc<Library> {
        self.library.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_own(&self, contender: usize) -> bool {
        self.inner.contenders.get(contender).is_some_and(|c| matches!(c.scheme, SchemeName::Own(_)))
    }

    /// The library with the schemes that are Python classes, whose errors go to `failure`.
    fn library_with_own(&self, py: Python<'_>, failure: &Arc<Failure>) -> Arc<Library> {
        let mut library = self.library();
        if !self.own.is_empty() {
            let own = self.own.iter().map(|(name, class)| (name.clone(), maker(class.clone_ref(py), failure.clone())));
            Arc::make_mut(&mut library).own.extend(own);
        }
        library
    }
}

/// An error in a value that came from elsewhere than a file.
fn field_error(py: Python<'_>, field: &str, message: String) -> PyErr {
    file_error(py, &FileError { file: "evaluation".to_owned(), line: None, field: field.to_owned(), message })
}

fn flat_table(file: &str, data: &[u8]) -> PyResult<FlatTable> {
    let tree = RuleTable::from_dna(data).map_err(|error| input_error(format!("{file}: {error}")))?;
    FlatTable::new(&tree).map_err(|error| input_error(format!("{file}: {error}")))
}

/// The columns of these rows.
pub fn columns(py: Python<'_>, rows: &[FlowRow]) -> Vec<Column> {
    let number = |name, get: fn(&FlowRow) -> f64| column(py, name, rows.iter().map(get));
    let count = |name, get: fn(&FlowRow) -> u64| column(py, name, rows.iter().map(get));
    vec![
        column(py, "run", rows.iter().map(|r| r.run as u32)),
        column(py, "sender", rows.iter().map(|r| r.sender)),
        column(py, "senders", rows.iter().map(|r| r.senders)),
        column(py, "scheme", rows.iter().map(|r| r.scheme)),
        number("rate_mbps", |r| r.rate_mbps),
        number("min_rtt_ms", |r| r.min_rtt_ms),
        number("on_s", |r| r.on_s),
        count("sent_packets", |r| r.totals.sent),
        count("delivered_packets", |r| r.totals.delivered),
        count("in_order_packets", |r| r.totals.in_order),
        number("delivered_mbytes", FlowRow::delivered_mbytes),
        count("retransmitted_packets", |r| r.totals.retransmitted),
        count("timeouts", |r| r.totals.timeouts),
        count("reductions", |r| r.totals.reductions),
        count("marked_packets", |r| r.totals.marked),
        number("throughput_mbps", FlowRow::throughput_mbps),
        number("normalised_throughput", FlowRow::normalised_throughput),
        number("mean_rtt_ms", FlowRow::mean_rtt_ms),
        number("queueing_delay_ms", FlowRow::queueing_delay_ms),
        number("goodput_mbps", FlowRow::goodput_mbps),
        number("sampled_rtt_ms", FlowRow::sampled_rtt_ms),
        number("sampled_delay_ms", FlowRow::sampled_delay_ms),
        number("ns2_throughput_mbps", FlowRow::ns2_throughput_mbps),
        number("ns2_rtt_ms", FlowRow::ns2_rtt_ms),
    ]
}

fn trace_columns(py: Python<'_>, trace: PacketLog) -> PyResult<PacketRecord> {
    let PacketLog { senders, hops, .. } = trace;
    let senders = vec![
        column(py, "time_s", senders.time_s),
        column(py, "sender", senders.sender),
        column(py, "event", senders.event),
        column(py, "seq", senders.seq),
        column(py, "una", senders.una),
        column(py, "window", senders.window),
        column(py, "ssthresh", senders.ssthresh),
        column(py, "in_flight", senders.in_flight),
        column(py, "rtt_ms", senders.rtt_ms),
        column(py, "intersend_ms", senders.intersend_ms),
        column(py, "retransmission", senders.retransmission),
    ];
    let hops = vec![
        column(py, "time_s", hops.time_s),
        column(py, "hop", hops.hop),
        column(py, "event", hops.event),
        column(py, "sender", hops.sender),
        column(py, "seq", hops.seq),
        column(py, "backlog", hops.backlog),
    ];
    Ok(PacketRecord { senders: PyList::new(py, senders)?.unbind(), hops: PyList::new(py, hops)?.unbind() })
}
