//! Running schemes on specimens.

use exmachina_hosts::scheme::{Aimd, AnyScheme, Remy};
use exmachina_net::outcome::{Flow, Outcome};
use exmachina_net::random::Seed;
use exmachina_net::time::Duration;
use exmachina_rules::{FlatTable, Point, Signal};
use exmachina_run::record::{Record, record as record_run};
use exmachina_run::reference::references;
use exmachina_run::scoring::{Scorable, outcomes};
use exmachina_run::usage::usage as usage_of;
use exmachina_run::worth::{Fared, counted, fared, score_of};
use exmachina_scenario::objective::Objective;
use exmachina_scenario::role::{Runs, objective_of};
use exmachina_scenario::{Specimen, bounds};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::columns::{Column, column};
use crate::errors::input_error;
use crate::model::Specimens;
use crate::stop::Stop;
use crate::table::Table;
use crate::workers::Workers;

/// A scheme as Python names it: a table, or the name of one that is no table.
#[derive(FromPyObject)]
pub enum SchemeArgument<'py> {
    Table(PyRef<'py, Table>),
    /// A table for each class of senders.
    Tables(Vec<PyRef<'py, Table>>),
    Name(String),
}

impl SchemeArgument<'_> {
    fn contender(&self) -> PyResult<Scorable> {
        match self {
            SchemeArgument::Table(table) => Ok(Scorable::Table(Box::new(table.flat.clone()))),
            SchemeArgument::Tables(tables) if !tables.is_empty() => {
                Ok(Scorable::Tables(tables.iter().map(|table| table.flat.clone()).collect()))
            }
            SchemeArgument::Tables(_) => Err(input_error("scheme: expected at least one table")),
            SchemeArgument::Name(name) if name == "aimd" => Ok(Scorable::Aimd),
            SchemeArgument::Name(name) => Err(input_error(format!("scheme: expected a table or \"aimd\", got {name}"))),
        }
    }
}

/// Refuses a length that no run can have.
#[pyfunction]
pub fn check_duration(seconds: f64) -> PyResult<()> {
    bounds::check_duration(seconds, bounds::longest_run_s(), bounds::CLOCK_ENDS).map(|_| ()).map_err(input_error)
}

/// Runs a scheme on all specimens: one row per specimen and sender.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    scheme: SchemeArgument<'_>,
    specimens: &Specimens,
    duration_s: f64,
    workers: &Workers,
    stop: &Stop,
) -> PyResult<Vec<Column>> {
    let contender = scheme.contender()?;
    let outcomes = workers.run(py, || outcomes(&contender, &specimens.set, duration_s, &stop.flag));
    Ok(scored(py, &specimens.set.specimens, &outcomes, &specimens.objective))
}

/// The omniscient reference on all specimens, in the same columns.
#[pyfunction]
pub fn reference(
    py: Python<'_>,
    specimens: &Specimens,
    duration_s: f64,
    workers: &Workers,
    stop: &Stop,
) -> Vec<Column> {
    let outcomes = workers.run(py, || references(&specimens.set, duration_s, &stop.flag));
    scored(py, &specimens.set.specimens, &outcomes, &specimens.objective)
}

/// Outcomes of specimens, scored: one row per specimen and sender. Whatever is scored goes through here.
pub fn scored(py: Python<'_>, specimens: &[Specimen], outcomes: &[Outcome], objective: &Objective) -> Vec<Column> {
    let mut rows = Vec::new();
    for (specimen, outcome) in specimens.iter().zip(outcomes) {
        let roles = &specimen.roles;
        let fared = fared(outcome, roles, objective);
        let score = score_of(&fared, roles);
        rows.extend(outcome.flows.iter().zip(&fared).enumerate().map(|(sender, (flow, fared))| {
            let counted = counted(flow, objective_of(roles, sender, objective).deliveries);
            Row {
                specimen: specimen.index,
                sender: sender as u32,
                senders: outcome.flows.len() as u32,
                rate_mbps: outcome.rate_mbps,
                flow: *flow,
                throughput_mbps: counted.throughput_mbps(),
                normalised_throughput: counted.normalised_throughput(outcome.rate_mbps),
                mean_rtt_ms: counted.mean_rtt_ms().unwrap_or(f64::NAN),
                utility: match fared {
                    Fared::Utility(utility) => *utility,
                    Fared::NeverOn | Fared::Starved => f64::NAN,
                },
                starved: *fared == Fared::Starved,
                specimen_score: score.mean.unwrap_or(f64::NAN),
            }
        }));
    }
    columns(py, &rows)
}

/// One specimen and sender.
struct Row {
    specimen: u64,
    sender: u32,
    senders: u32,
    rate_mbps: f64,
    flow: Flow,
    throughput_mbps: f64,
    normalised_throughput: f64,
    mean_rtt_ms: f64,
    utility: f64,
    starved: bool,
    specimen_score: f64,
}

fn columns(py: Python<'_>, rows: &[Row]) -> Vec<Column> {
    let number = |name, get: fn(&Row) -> f64| column(py, name, rows.iter().map(get));
    let count = |name, get: fn(&Row) -> u64| column(py, name, rows.iter().map(get));
    vec![
        count("specimen", |r| r.specimen),
        column(py, "sender", rows.iter().map(|r| r.sender)),
        column(py, "senders", rows.iter().map(|r| r.senders)),
        number("rate_mbps", |r| r.rate_mbps),
        number("min_rtt_ms", |r| r.flow.min_rtt_ms),
        number("on_s", |r| r.flow.on_s),
        count("sent_packets", |r| r.flow.sent),
        count("delivered_packets", |r| r.flow.delivered),
        count("late_packets", |r| r.flow.late),
        number("throughput_mbps", |r| r.throughput_mbps),
        number("normalised_throughput", |r| r.normalised_throughput),
        number("mean_rtt_ms", |r| r.mean_rtt_ms),
        number("delay_ratio", |r| r.mean_rtt_ms / r.flow.min_rtt_ms),
        number("utility", |r| r.utility),
        column(py, "starved", rows.iter().map(|r| u8::from(r.starved))),
        number("specimen_score", |r| r.specimen_score),
    ]
}

/// One run.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Recorded {
    /// One row per event.
    events: Py<PyList>,
    /// How much of it the rows cover, s.
    covered_s: f64,
}

/// One run, event by event.
#[pyfunction]
pub fn record(
    py: Python<'_>,
    scheme: SchemeArgument<'_>,
    specimens: &Specimens,
    index: usize,
    duration_s: f64,
    max_rows: usize,
) -> PyResult<Recorded> {
    let specimen = specimens.set.specimens.get(index).ok_or_else(|| PyIndexError::new_err("no such specimen"))?;
    let contender = scheme.contender()?;
    let r = py.detach(|| record_one(&contender, specimen, specimens.set.seed, duration_s, max_rows));
    let mut columns = vec![
        column(py, "time_s", r.time_s),
        column(py, "sender", r.sender),
        column(py, "event", r.event),
        column(py, "window_packets", r.window),
        column(py, "intersend_ms", r.intersend_ms),
        column(py, "rtt_ms", r.rtt_ms),
        column(py, "queue_packets", r.queue),
        column(py, "seq", r.seq),
        column(py, "rule", r.rule),
    ];
    let signals = Signal::ALL.iter().zip(r.signals);
    columns.extend(signals.map(|(signal, values)| column(py, signal.name(), values)));
    Ok(Recorded { events: PyList::new(py, columns)?.unbind(), covered_s: r.covered_s })
}

fn record_one(c: &Scorable, specimen: &Specimen, root: u64, duration_s: f64, max_rows: usize) -> Record {
    let seed = Seed { root, specimen: specimen.index };
    let runs = |i: usize| specimen.roles.get(i).map_or(Runs::Table(0), |role| role.runs);
    let scheme = |i| match (c, runs(i)) {
        (Scorable::Aimd, _) | (_, Runs::Aimd) => AnyScheme::Aimd(Aimd::default()),
        (Scorable::Table(table), _) => AnyScheme::Remy(Remy::new(table)),
        (Scorable::Tables(tables), Runs::Table(class)) => {
            AnyScheme::Remy(Remy::new(&tables[class.min(tables.len() - 1)]))
        }
    };
    record_run(&specimen.network, seed, scheme, Duration::from_s(duration_s), max_rows)
}

/// How a rule is used.
#[pyclass(frozen, get_all, module = "exmachina._core")]
#[derive(Clone)]
pub struct RuleUsage {
    uses: u64,
    mean: Point,
    median: Point,
    median_window_packets: f64,
}

/// How all rules of a table are used.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Usage {
    /// One for each.
    rules: Vec<RuleUsage>,
    /// A sample of the uses of all.
    sample: Py<PyList>,
}

/// How the rules of a table are used on all specimens.
#[pyfunction]
pub fn usage(
    py: Python<'_>,
    table: PyRef<'_, Table>,
    specimens: &Specimens,
    duration_s: f64,
    workers: &Workers,
    stop: &Stop,
) -> PyResult<Usage> {
    let flat: &FlatTable = &table.flat;
    let used = workers.run(py, || usage_of(flat, &specimens.set, duration_s, &stop.flag));
    let rules = used.rules.iter().map(|r| RuleUsage {
        uses: r.uses,
        mean: r.mean,
        median: r.median,
        median_window_packets: r.median_window,
    });
    let mut sample = vec![
        column(py, "rule", used.sample.iter().map(|u| u.rule)),
        column(py, "window_packets", used.sample.iter().map(|u| u.window)),
    ];
    for signal in Signal::ALL {
        sample.push(column(py, signal.name(), used.sample.iter().map(|u| u.memory[signal as usize])));
    }
    Ok(Usage { rules: rules.collect(), sample: PyList::new(py, sample)?.unbind() })
}
