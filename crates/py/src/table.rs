//! Rule tables.

use exmachina_rules::{self as rules, FlatTable, Point, RuleTable, Signal};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::input_error;
use crate::fixed::Quantised;
use crate::law::Law;

/// What a rule does: the window becomes `multiple` times what it was and `increment_packets` more, and sends are at least
/// `intersend_ms` apart (Remy'13 §4.2).
///
///     >>> exmachina.Action(0.5, 3, 2.5)
///     Action(multiple=0.5, increment_packets=3, intersend_ms=2.5)
#[pyclass(frozen, get_all, eq, module = "exmachina._core")]
#[derive(Clone, PartialEq)]
pub struct Action {
    multiple: f64,
    increment_packets: i32,
    intersend_ms: f64,
}

#[pymethods]
impl Action {
    #[new]
    pub fn new(multiple: f64, increment_packets: i32, intersend_ms: f64) -> Action {
        Action { multiple, increment_packets, intersend_ms }
    }

    /// What a pickle holds.
    fn __getnewargs__(&self) -> (f64, i32, f64) {
        (self.multiple, self.increment_packets, self.intersend_ms)
    }

    fn __repr__(&self) -> String {
        let Action { multiple, increment_packets, intersend_ms } = self;
        format!("Action(multiple={multiple}, increment_packets={increment_packets}, intersend_ms={intersend_ms})")
    }
}

/// A rule: the box of memory where it holds, and what it does there.
#[pyclass(frozen, get_all, eq, module = "exmachina._core")]
#[derive(Clone, PartialEq)]
pub struct Rule {
    lower: Point,
    upper: Point,
    action: Action,
}

#[pymethods]
impl Rule {
    #[new]
    fn new(lower: Point, upper: Point, action: PyRef<'_, Action>) -> Rule {
        Rule { lower, upper, action: action.clone() }
    }

    /// What a pickle holds.
    fn __getnewargs__(&self) -> (Point, Point, Action) {
        (self.lower, self.upper, self.action.clone())
    }

    fn __repr__(&self) -> String {
        format!("Rule(lower={:?}, upper={:?}, action={})", self.lower, self.upper, self.action.__repr__())
    }
}

/// What a design needs to be repeated.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Provenance {
    version: String,
    model: String,
    search: String,
    seed: u64,
    /// None where nobody received anything, or nothing was measured: a file has no number there.
    score: Option<f64>,
}

/// A range of values.
#[pyclass(frozen, get_all, module = "exmachina._core")]
#[derive(Clone)]
pub struct Range {
    low: f64,
    high: f64,
}

/// The networks in the authors' form; none where their file does not say.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Config {
    packets_per_ms: Option<Range>,
    rtt_ms: Option<Range>,
    senders: Option<Range>,
    on_ms: Option<Range>,
    off_ms: Option<Range>,
}

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

    /// Another law for what this table was designed for; how it was made is `search` (JSON), and it has no score yet.
    pub fn with_law(&self, law: rules::Law, search: Option<String>) -> RuleTable {
        RuleTable { provenance: self.made(search), ..RuleTable::of_law(&self.tree.signals, law) }
    }

    /// The provenance of what is made of this table.
    fn made(&self, search: Option<String>) -> Option<rules::Provenance> {
        self.tree.provenance.clone().map(|made| rules::Provenance {
            search: search.unwrap_or(made.search),
            score: f64::NAN,
            version: env!("CARGO_PKG_VERSION").into(),
            ..made
        })
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
        let table = RuleTable::single(&signals, rules::Action { multiple, increment, intersend_ms });
        Table::checked(table, "table").map(|table| PyBytes::new(py, &table.tree.to_dna()))
    }

    /// The bytes of a `.dna` file with a law.
    #[staticmethod]
    fn law_dna<'py>(py: Python<'py>, law: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyBytes>> {
        let table = RuleTable::of_law(&Signal::ALL[..rules::FIRST_SIGNALS], Law::of(law)?.into());
        Table::checked(table, "table").map(|table| PyBytes::new(py, &table.tree.to_dna()))
    }

    /// The bytes of a `.dna` file with another law, for what this table was designed for. `search` is as in `law_at_places`.
    fn with_law_dna<'py>(
        &self,
        py: Python<'py>,
        law: &Bound<'py, PyDict>,
        search: Option<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let tree = self.with_law(Law::of(law)?.into(), search);
        Table::checked(tree, "table").map(|table| PyBytes::new(py, &table.tree.to_dna()))
    }

    /// The bytes of a `.dna` file with other actions, one for each rule. `search` is as in `law_at_places`.
    fn with_actions_dna<'py>(
        &self,
        py: Python<'py>,
        actions: Vec<PyRef<'_, Action>>,
        search: Option<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut tree = RuleTable { provenance: self.made(search), ..self.tree.clone() };
        if self.tree.law.is_some() || actions.len() != tree.len() {
            let expected =
                if self.tree.law.is_some() { "a table: this is a law".into() } else { tree.len().to_string() };
            return Err(input_error(format!("actions: got {}, expected {expected}", actions.len())));
        }
        for (rule, action) in actions.iter().enumerate() {
            let Action { multiple, increment_packets: increment, intersend_ms } = **action;
            tree.set_action(rule, rules::Action { multiple, increment, intersend_ms });
        }
        Table::checked(tree, "table").map(|table| PyBytes::new(py, &table.tree.to_dna()))
    }

    /// How near a split of an average is to what that settles at in a model's networks, as a share of it.
    fn nearest_edge(&self, model: &crate::model::Model) -> f64 {
        exmachina_design::search::nearest(&self.tree, &model.inner)
    }

    /// The bytes of a `.dna` file in which one of the places where the table is split along a signal is so many times as far from
    /// where the signal is at rest. `search` is as in `law_at_places`.
    fn with_edge_dna<'py>(
        &self,
        py: Python<'py>,
        signal: &str,
        at: f64,
        times: f64,
        search: Option<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let known = Signal::from_name(signal).filter(|known| self.tree.signals.contains(known));
        let Some(known) = known else {
            let all = self.tree.signals.iter().map(|each| each.name()).collect::<Vec<_>>().join(", ");
            return Err(input_error(format!("signal: expected one of {all}, got {signal}")));
        };
        let mut tree = RuleTable { provenance: self.made(search), ..self.tree.clone() };
        let edges = tree.edges(known);
        let Some(number) = edges.iter().position(|&edge| edge == at) else {
            return Err(input_error(format!("{signal}: expected where the table is split, got {at}")));
        };
        let to = known.at_rest() + (at - known.at_rest()) * times;
        let below = if number == 0 { known.at_rest() } else { edges[number - 1] };
        let above = edges.get(number + 1).copied().unwrap_or(tree.root.cell.upper[known as usize]);
        if !(below < to && to < above) {
            return Err(input_error(format!("{signal}: expected a place between {below} and {above}, got {to}")));
        }
        tree.move_bound(known, at, to);
        Table::checked(tree, "table").map(|table| PyBytes::new(py, &table.tree.to_dna()))
    }

    /// Where it is split: signals and places, in order.
    #[getter]
    fn edges(&self) -> Vec<(&'static str, f64)> {
        let of = |&signal: &Signal| self.tree.edges(signal).into_iter().map(move |edge| (signal.name(), edge));
        self.tree.signals.iter().flat_map(of).collect()
    }

    #[getter]
    fn dna<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.tree.to_dna())
    }

    /// The same in whole numbers.
    fn quantised(&self) -> PyResult<Quantised> {
        Quantised::of(&self.tree)
    }

    fn __len__(&self) -> usize {
        self.flat.len()
    }

    #[getter]
    fn signals(&self) -> Vec<&'static str> {
        self.tree.signals.iter().map(|s| s.name()).collect()
    }

    #[getter]
    fn rules(&self) -> Vec<Rule> {
        let rules = self.tree.rules().into_iter();
        let action = |a: rules::Action| Action::new(a.multiple, a.increment, a.intersend_ms);
        rules.map(|(c, a)| Rule { lower: c.lower, upper: c.upper, action: action(a) }).collect()
    }

    #[getter]
    fn law(&self) -> Option<Law> {
        self.tree.law.map(Law::from)
    }

    #[getter]
    fn provenance(&self) -> Option<Provenance> {
        let rules::Provenance { version, model, search, seed, score, .. } = self.tree.provenance.clone()?;
        let score = Some(score).filter(|score| !score.is_nan());
        Some(Provenance { version, model, search, seed, score })
    }

    #[getter]
    fn config(&self) -> Option<Config> {
        let c = self.tree.config()?;
        let range = |r: Option<rules::Range>| r.and_then(|r| Some(Range { low: r.low?, high: r.high? }));
        let one = |ms: Option<f64>| ms.map(|ms| Range { low: ms, high: ms });
        Some(Config {
            packets_per_ms: range(c.link_packets_per_ms),
            rtt_ms: range(c.rtt),
            senders: range(c.num_senders),
            on_ms: range(c.mean_on_duration).or(one(c.mean_on_ms)),
            off_ms: range(c.mean_off_duration).or(one(c.mean_off_ms)),
        })
    }
}
