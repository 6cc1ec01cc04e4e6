//! Tables in whole numbers, what a sender does besides looking up, and one flow, ACK by ACK.

use exmachina_rules::{self as rules, Controller, FixedTable};
use pyo3::prelude::*;

use crate::errors::input_error;
use crate::table::Table;

/// What every table means alike: weights of averages, bounds, units.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Semantics {
    fast_weight: f64,
    slow_weight: f64,
    loss_weight: f64,
    max_window: u32,
    most_in_one: u32,
    time_units_per_ms: f64,
    ratio_units: f64,
    multiple_units: f64,
}

impl Semantics {
    /// Those of the rules crate.
    pub const OURS: Semantics = Semantics {
        fast_weight: rules::FAST_WEIGHT,
        slow_weight: rules::SLOW_WEIGHT,
        loss_weight: rules::LOSS_WEIGHT,
        max_window: rules::MAX_WINDOW,
        most_in_one: rules::MOST_IN_ONE,
        time_units_per_ms: rules::TIME_UNITS_PER_MS,
        ratio_units: rules::RATIO_UNITS,
        multiple_units: rules::MULTIPLE_UNITS,
    };
}

/// A split: `signal < at` leads to `below`, else to `from_it_on`.
#[pyclass(frozen, get_all, module = "exmachina._core")]
#[derive(Clone)]
pub struct Plane {
    axis: usize,
    at: i64,
    below: i32,
    from_it_on: i32,
}

/// An action in whole numbers.
#[pyclass(frozen, get_all, module = "exmachina._core")]
#[derive(Clone)]
pub struct FixedAction {
    multiple: u64,
    increment_packets: i32,
    intersend_ns: u64,
}

/// What quantising did to the splits of one signal.
#[pyclass(frozen, get_all, module = "exmachina._core")]
#[derive(Clone)]
pub struct Moved {
    signal: &'static str,
    splits: usize,
    farthest: f64,
}

/// A table in whole numbers.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Quantised {
    dna: Vec<u8>,
    moved: Vec<Moved>,
    closed_rules: usize,
    multiple: f64,
    intersend_ms: f64,
    planes: Vec<Plane>,
    root: i32,
    depth: usize,
    actions: Vec<FixedAction>,
}

impl Quantised {
    /// Of a table.
    pub fn of(table: &rules::RuleTable) -> PyResult<Quantised> {
        let fixed = FixedTable::new(table).map_err(|error| input_error(format!("quantised: {error}")))?;
        let rules::Quantised { table, moved, closed, multiple, intersend_ms } = rules::Quantised::of(table);
        let moved = moved.iter().map(|m| Moved { signal: m.signal.name(), splits: m.splits, farthest: m.farthest });
        let plane =
            |p: rules::FixedPlane| Plane { axis: p.signal as usize, at: p.at, below: p.next[0], from_it_on: p.next[1] };
        let action = |a: rules::FixedAction| FixedAction {
            multiple: a.multiple,
            increment_packets: a.increment,
            intersend_ns: a.intersend_ns,
        };
        Ok(Quantised {
            dna: table.to_dna(),
            moved: moved.collect(),
            closed_rules: closed,
            multiple,
            intersend_ms,
            planes: fixed.planes.into_iter().map(plane).collect(),
            root: fixed.root,
            depth: fixed.depth,
            actions: fixed.rules.into_iter().map(action).collect(),
        })
    }
}

/// A flow under a table, told of every ACK.
#[pyclass(subclass, module = "exmachina._core")]
pub struct Flow {
    table: Py<Table>,
    controller: Controller,
}

#[pymethods]
impl Flow {
    #[new]
    fn new(table: &Bound<'_, Table>) -> Flow {
        Flow { controller: Controller::start(&table.get().flat), table: table.clone().unbind() }
    }

    #[pyo3(signature = (sent_ns, received_ns, *, tick_ns=1, advance=1, packets=1))]
    fn on_ack(&mut self, sent_ns: u64, received_ns: u64, tick_ns: u64, advance: u32, packets: u32) {
        let table = &self.table.get().flat;
        self.controller.on_stretched_ack(table, sent_ns, received_ns, tick_ns, advance, packets);
    }

    fn on_loss(&mut self, packets: u32) {
        self.controller.on_loss(packets);
    }

    #[getter]
    fn window(&self) -> u32 {
        self.controller.window()
    }

    #[getter]
    fn intersend_ns(&self) -> u64 {
        self.controller.intersend_ns()
    }

    #[getter]
    fn rule(&self) -> usize {
        self.controller.rule()
    }

    #[getter]
    fn memory(&self) -> rules::Point {
        self.controller.memory().point()
    }
}
