//! Models and the specimens that are drawn from them.

use exmachina_design::model;
use exmachina_net::network::{Network, On, PACKET_BYTES, packets_per_s};
use exmachina_net::queue::Limit;
use exmachina_rules::Signal;
use exmachina_scenario::SpecimenSet;
use exmachina_scenario::objective;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{file_error, input_error};
use crate::objective::Objective;
use crate::table::Action;

/// A design model.
#[pyclass(frozen, subclass, module = "exmachina._core")]
pub struct Model {
    /// What the bindings pass on.
    pub inner: model::Model,
    /// Of which entry of `[[also]]` it is, if not the model's own.
    #[pyo3(get)]
    entry: Option<usize>,
    /// How much a point of score counts there, against one of the model itself.
    #[pyo3(get)]
    weight: f64,
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (text, file, entry = None))]
    fn new(py: Python<'_>, text: &str, file: &str, entry: Option<usize>) -> PyResult<Model> {
        let own = model::Model::parse(text, file).map_err(|error| file_error(py, &error))?;
        let Some(k) = entry else { return Ok(Model { inner: own, entry, weight: 1.0 }) };
        let many = own.also.len();
        let missing = || input_error(format!("{file}: also: expected an entry below {many}, got {k}"));
        let inner = own.also_model(k).ok_or_else(missing)?;
        Ok(Model { inner, entry, weight: own.also[k].weight })
    }

    /// How many entries of `[[also]]` it has.
    #[getter]
    fn entries(&self) -> usize {
        self.inner.also.len()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.scenario.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.inner.scenario.description
    }

    #[getter]
    fn text(&self) -> &str {
        &self.inner.text
    }

    #[getter]
    fn signals(&self) -> Vec<&'static str> {
        self.inner.design.signals.iter().map(|s: &Signal| s.name()).collect()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.inner.design.duration_s
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.inner.design.seed
    }

    /// The names of the tables that its senders run; one that is empty where all run the same.
    #[getter]
    fn classes(&self) -> Vec<&str> {
        self.inner.scenario.classes()
    }

    #[getter]
    fn grid_points(&self) -> Option<usize> {
        self.inner.scenario.grid().map(|points| points.len())
    }

    #[getter]
    fn start_action(&self) -> Action {
        let design = &self.inner.design;
        Action::new(design.multiple.start, design.increment.start as i32, design.intersend_ms.start)
    }

    #[getter]
    fn objective(&self) -> Objective {
        self.inner.objective.into()
    }

    #[pyo3(signature = (seed, count, in_world = false))]
    fn held_out(&self, seed: u64, count: usize, in_world: bool) -> Specimens {
        let set = self.inner.held_out(seed, count);
        let set = if in_world { self.inner.in_world(set) } else { set };
        Specimens { set, objective: self.inner.objective }
    }
}

/// Networks to simulate, and what counts there.
#[pyclass(frozen, module = "exmachina._core")]
pub struct Specimens {
    /// The networks.
    pub set: SpecimenSet,
    /// What counts.
    pub objective: objective::Objective,
}

#[pymethods]
impl Specimens {
    /// The root of all that is random about them.
    #[getter]
    fn seed(&self) -> u64 {
        self.set.seed
    }

    fn __len__(&self) -> usize {
        self.set.specimens.len()
    }

    /// The specimens with these places, in this order.
    fn part(&self, places: Vec<usize>) -> PyResult<Specimens> {
        let at = |place: usize| self.set.specimens.get(place).cloned();
        let specimens = places.into_iter().map(at).collect::<Option<_>>();
        let specimens = specimens.ok_or_else(|| PyIndexError::new_err("no such part"))?;
        Ok(Specimens { set: SpecimenSet { seed: self.set.seed, specimens }, objective: self.objective })
    }

    /// The same networks with room for `times` the bandwidth-delay product, at least one packet; before each link, where
    /// there are several, for the longest RTT of all.
    fn with_buffer_bdp(&self, times: f64) -> Specimens {
        let mut set = self.set.clone();
        for network in set.specimens.iter_mut().map(|s| &mut s.network) {
            let longest = network.longest_rtt_ms();
            for hop in &mut network.hops {
                let packets = times * packets_per_s(hop.link.mean_mbps()) * longest / 1e3;
                hop.limit = Limit::Packets(packets.round().max(1.0) as u32);
            }
        }
        Specimens { set, objective: self.objective }
    }

    /// What each network is like: how many senders, the least and the longest RTT, ms, and of each link the mean rate, Mbit/s,
    /// and the packets that there is room for, infinitely many where none is dropped.
    fn numbers(&self) -> Vec<Vec<f64>> {
        let of = |network: &Network| {
            let (least, longest) = (network.rtts_ms().fold(f64::INFINITY, f64::min), network.longest_rtt_ms());
            let links = network.hops.iter().flat_map(|hop| {
                let room = hop.limit.packets(PACKET_BYTES as u16).map_or(f64::INFINITY, f64::from);
                [hop.link.mean_mbps(), room]
            });
            [network.flows.len() as f64, least, longest].into_iter().chain(links).collect()
        };
        self.set.specimens.iter().map(|specimen| of(&specimen.network)).collect()
    }

    /// A network in words and numbers.
    fn network<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let specimen = self.set.specimens.get(index).ok_or_else(|| PyIndexError::new_err("no such specimen"))?;
        let network = &specimen.network;
        let dict = PyDict::new(py);
        let (hop, workload) = (&network.hops[0], &network.flows[0].workload);
        dict.set_item("rate_mbps", network.rate_mbps())?;
        dict.set_item("rtt_ms", network.rtts_ms().collect::<Vec<_>>())?;
        dict.set_item("buffer_packets", hop.limit.packets(PACKET_BYTES as u16))?;
        dict.set_item("loss", hop.loss)?;
        dict.set_item("jitter_ms", network.jitter_ms)?;
        dict.set_item("clock_ms", network.clock_ms)?;
        let (on_s, on_bytes, on) = match workload.on {
            On::Seconds(mean) => (Some(mean), None, "seconds"),
            On::FixedSeconds(s) => (Some(s), None, "seconds"),
            On::Bytes(mean) => (None, Some(mean), "bytes"),
            On::Icsi { .. } => (None, None, "icsi"),
            On::Forever => (None, None, "forever"),
            On::At(_) | On::After(_) => (None, None, "given"),
        };
        dict.set_item("on", on)?;
        dict.set_item("on_s", on_s)?;
        dict.set_item("on_bytes", on_bytes)?;
        dict.set_item("off_s", workload.off_s)?;
        Ok(dict)
    }
}
