//! How tables come back from disturbed states.

use exmachina_run::disturbance::{Disturbed, disturbed};
use exmachina_scenario::Specimen;
use pyo3::prelude::*;

use crate::columns::{Column, column};
use crate::model::Specimens;
use crate::stop::Stop;
use crate::table::Table;
use crate::workers::Workers;

/// Of so many states of each specimen, what came of them: one row per specimen. All senders run the table.
#[pyfunction]
pub fn disturb(
    py: Python<'_>,
    table: PyRef<'_, Table>,
    specimens: &Specimens,
    states: u32,
    workers: &Workers,
    stop: &Stop,
) -> Vec<Column> {
    let flat = &table.flat;
    let found = workers.run(py, || disturbed(flat, &specimens.set, states, &stop.flag));
    let drawn = &specimens.set.specimens;
    let of = |number: fn(&Specimen) -> f64| drawn.iter().map(number);
    let count = |name, number: fn(&Disturbed) -> u32| column(py, name, found.iter().map(number));
    vec![
        column(py, "specimen", drawn.iter().map(|specimen| specimen.index)),
        column(py, "rate_mbps", of(|specimen| specimen.network.rate_mbps())),
        column(py, "min_rtt_ms", of(|specimen| specimen.network.rtts_ms().fold(f64::INFINITY, f64::min))),
        column(py, "senders", drawn.iter().map(|specimen| specimen.network.flows.len() as u32)),
        count("states", |each| each.states),
        count("back", |each| each.back),
        count("below", |each| each.below),
        count("stays", |each| each.stays),
        column(py, "lacks", found.iter().map(|each| each.lacks)),
        count("uneven", |each| u32::from(each.uneven)),
        count("nudged", |each| each.nudged),
        count("nudged_back", |each| each.nudged_back),
        count("nudged_stays", |each| each.nudged_stays),
    ]
}
