//! Scenarios: what a person knows about a network, each number a value or a distribution, read from TOML.
//!
//! One schema serves design models and evaluations. A design model has the tables of this first example only:
//!
//! ```toml
//! name = "home"                       # default: the file's name
//! description = "A home link shared by a few people"
//!
//! [link]
//! rate_mbps = { uniform = [10, 20] }  # or a number, log_uniform, list, grid, log_grid
//! buffer = { bdp = 5 }                # or { packets = 1000 }, { bytes = 1_000_000 }, or "infinite" (default)
//! loss = 0.001                        # probability; default 0
//!
//! [path]
//! rtt_ms = { uniform = [100, 200] }   # or rtt_ms_each = [50, 100], one per sender
//! jitter_ms = 0.5                     # uniform extra delay in [0, jitter), never reorders; default 0
//! clock_ms = 1                        # resolution of the senders' clocks; default 0
//!
//! [senders]
//! count = { uniform = [1, 16] }
//!
//! [workload]
//! on = { seconds = 5 }                # mean of an exponential; or { bytes = 100_000 }, likewise;
//!                                     # { fixed_seconds = 5 }; { icsi = { extra_bytes = 16384 } }, the default of {};
//!                                     # "forever"; or { at = [{ start_s = 0, bytes = 1e6 },
//!                                     #   { start_s = 5, seconds = 10 }, { start_s = 20 }] }: the last never ends
//! off = { seconds = 5 }               # mean of an exponential; or { fixed_seconds = 5 }; not needed with the last two
//! first_off = "exponential"           # a draw with the mean of `off`; "half-exponential"; or { seconds = 1 }
//! ```
//!
//! Evaluations may have these, too:
//!
//! ```toml
//! schemes = ["newreno", "cubic/sfqcodel", "my.dna"]  # contenders: scheme, or scheme/queue. A scheme is one of
//!                                     # newreno, reno-linux, cubic, cubic-linux, cubic-linux-2.6.22, cubic-rfc9438,
//!                                     # compound, vegas, vegas-ns2, dctcp, xcp, aimd, bbr1, bbr3, copa, ledbat,
//!                                     # omniscient, window:40 (packets), rate:2.5 (Mbit/s), an algorithm that comes with
//!                                     # the program, such as general-1, or a .dna file
//! runs = 16                           # of each contender, at each point where the scenario is a grid
//! duration_s = 100                    # simulated seconds of each
//! seed = 1
//!
//! [link]                              # exactly one of rate_mbps, trace, cellular
//! trace = "verizon.down"              # mahimahi's format, relative to this file
//! trace_offset = "random"             # where a run starts in it (default); or "none": at its beginning
//! cellular = { mean_mbps = 9, max_mbps = 50, spread = 0.54, memory_s = 5, outage_per_s = 0.2, outage_mean_s = 0.25 }
//! queue = "droptail"                  # or red, step, codel, sfqcodel, fqcodel, pie, xcp; or with settings, one of:
//! # queue = { red = { min_packets = 5, max_packets = 15, max_probability = 0.1, weight = 0.002, gentle = true,
//! #                   wait = true, ecn = false } }
//! # queue = { step = { packets = 65 } }
//! # queue = { codel = { target_ms = 5, interval_ms = 100, ecn = false } }
//! # queue = { sfqcodel = { bins = 1024, target_ms = 5, interval_ms = 100, ecn = false } }
//! # queue = { fqcodel = { queues = 1024, quantum_bytes = 1514, target_ms = 5, interval_ms = 100, ecn = false } }
//! # queue = { pie = { target_ms = 15, update_ms = 15, burst_ms = 150, ecn = false } }
//! # queue = { xcp = { alpha = 0.4, beta = 0.226, gamma = 0.1, capacity_mbps = 15 } }
//! name = "A"                          # by which routes name it
//! delay_ms = 75                       # one way to the next link of a route
//!
//! # [[links]]                         # several links instead of one, each with the fields of [link]
//!
//! [path]                              # not needed where every group of senders has its RTT
//! reordering = { probability = 0.01, delay_ms = 5 }  # packets that are held back, and overtaken
//!
//! [[senders]]                         # or [senders]: several groups that differ
//! count = 8
//! scheme = "compound"                 # always; without it the contender's
//! rtt_ms = 100                        # default: the path's; or else twice the delays of its links
//! links = ["A", "B"]                  # its route; default: all links, in order
//! workload = { on = "forever" }       # its own, with the fields of [workload]
//!
//! [transport]                         # a preset, and what differs from it
//! preset = "today"                    # or "papers": that of the papers' ns-2
//! connections = "fresh"               # a new one for each on-period; or "persistent"
//! initial_window = 10                 # packets
//! delayed_ack_ms = 40                 # 0: every packet is acknowledged at once
//! rto_min_ms = 200
//! rto_initial_ms = 1000
//! clock_ms = 0                        # resolution of RTT samples
//! recovery = "proportional"           # or go-back-n, newreno, rate-halving; the papers' differs by scheme
//! dup_threshold = 3
//! adapts_to_reordering = true
//! grows_unused_windows = false
//! idle_timer = false
//! packet_bytes = 1250                 # on the wire; 40 of them are headers
//! ecn = false                         # of NewReno and Cubic; other schemes have their way
//! ```
//!
//! A link without `queue` has the queue that the contender is made for (step for dctcp, xcp for xcp), else drop-tail.
//! The tables `[objective]`, `[[also]]` and `[design]` of a design model do not matter to an evaluation.
//!
//! A scenario gives concrete networks in three ways: drawn at random, as all corners of what it allows, and, where
//! every number is exact, a list or a grid, as all points of that grid.

mod bottleneck;
mod checked;
mod document;
mod draw;
mod error;
mod evaluation;
#[cfg(test)]
mod evaluation_tests;
mod group;
mod quantity;
mod queues;
mod tables;
#[cfg(test)]
mod tests;
mod transport;
mod workload;

use std::path::Path as FilePath;

use serde::Deserialize;

pub use bottleneck::{Bottleneck, ServiceTable};
use checked::{some_table, table};
pub use document::Document;
pub use draw::DrawnWorld;
pub use error::FileError;
pub use evaluation::Evaluation;
pub use group::{Contender, Group, GroupScheme};
pub use quantity::Quantity;
pub use queues::queue_by_name;
pub use tables::{BufferSize, Link, Path, Senders};
pub use transport::Transport;
pub use workload::{OffPeriod, OnPeriod, Workload};

use crate::network::{Buffer, Network, PACKET_BYTES};
use crate::random::{Purpose, Stream};

/// The most networks that a grid may have.
const MAX_GRID: usize = 100_000;

/// How many quantities a scenario has.
const QUANTITIES: usize = 8;

/// What is known about a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name; the file's own where the file does not say.
    pub name: String,
    /// What it is, in a person's words; may be empty.
    pub description: String,
    /// The bottleneck.
    pub link: Link,
    /// Delay, and what clouds its measurement.
    pub path: Path,
    /// How many senders there are.
    pub senders: Senders,
    /// When they have something to send.
    pub workload: Workload,
}

/// One network to simulate, and the key of its random streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Specimen {
    /// The network.
    pub network: Network,
    /// The `specimen` of its [`Stream`]s.
    pub index: u64,
}

/// Networks to simulate, and the root seed of all their random streams.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecimenSet {
    /// The `root` of every [`Stream`] of these specimens.
    pub seed: u64,
    /// The networks.
    pub specimens: Vec<Specimen>,
}

/// A scenario as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFile {
    name: Option<String>,
    description: Option<String>,
    #[serde(deserialize_with = "table")]
    link: Link,
    #[serde(deserialize_with = "table")]
    path: Path,
    #[serde(default, deserialize_with = "some_table")]
    senders: Option<Senders>,
    #[serde(deserialize_with = "table")]
    workload: Workload,
}

impl Scenario {
    /// Reads a scenario from the text of a file.
    ///
    /// # Errors
    /// Where the text is no scenario, or an impossible one.
    pub fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        Self::from_document(&Document::parse(text, file)?)
    }

    /// Reads a scenario from what is left of a document once other tables have been taken.
    ///
    /// # Errors
    /// Where the rest is no scenario, or an impossible one.
    pub fn from_document(document: &Document<'_>) -> Result<Self, FileError> {
        let file: ScenarioFile = document.rest().map_err(of_evaluations)?;
        let scenario = Self {
            name: file.name.unwrap_or_else(|| stem(document.file())),
            description: file.description.unwrap_or_default(),
            senders: senders(file.senders, &file.path, document)?,
            link: file.link,
            path: file.path,
            workload: file.workload,
        };
        scenario.check(document)?;
        Ok(scenario)
    }

    /// Refuses what each field allows and all of them together do not.
    fn check(&self, document: &Document<'_>) -> Result<(), FileError> {
        let longest = self.path.rtt_ms.extremes().1;
        for (field, quantity) in [("path.jitter_ms", &self.path.jitter_ms), ("path.clock_ms", &self.path.clock_ms)] {
            let largest = quantity.extremes().1;
            if largest > longest {
                let message = format!("expected at most the largest RTT, {longest} ms, got {largest}");
                return Err(document.error(field, message));
            }
        }
        let sizes = self.quantities().map(|q| q.points().map(<[f64]>::len));
        let networks = sizes.into_iter().try_fold(1, |product: usize, size| Some(product.saturating_mul(size?)));
        match networks {
            Some(n) if n > MAX_GRID => {
                Err(document.error("", format!("expected at most {MAX_GRID} combinations of lists and grids, got {n}")))
            }
            _ => Ok(()),
        }
    }

    /// One network at random: the first draws of the stream, one for each quantity in the order of
    /// rate, RTT, count, loss, jitter, clock, on, off. Quantities that are added come last.
    pub fn draw(&self, stream: &mut Stream) -> Network {
        self.network(self.quantities().map(|quantity| quantity.draw(stream)))
    }

    /// Every combination of the smallest and largest value of each quantity, those of the rate varying slowest.
    #[must_use]
    pub fn corners(&self) -> Vec<Network> {
        self.networks(self.quantities().map(|quantity| {
            let (lo, hi) = quantity.extremes();
            if lo == hi { vec![lo] } else { vec![lo, hi] }
        }))
    }

    /// Every combination of the values of each quantity, those of the rate varying slowest; none where the values
    /// of one are not listed one by one.
    #[must_use]
    pub fn grid(&self) -> Option<Vec<Network>> {
        let quantities = self.quantities();
        quantities
            .iter()
            .all(|quantity| quantity.points().is_some())
            .then(|| self.networks(quantities.map(|quantity| quantity.points().unwrap_or_default().to_vec())))
    }

    /// Whether every quantity is one value, so that there is one network only.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.quantities().iter().all(|quantity| matches!(quantity, Quantity::Exact(_)))
    }

    /// Specimens of this scenario: the points of its grid in turn, where it has one, otherwise random draws.
    /// The specimens of a smaller count are the first of a larger one.
    #[must_use]
    pub fn specimens(&self, seed: u64, count: usize) -> SpecimenSet {
        let grid = self.grid();
        let network = |index: u64| match &grid {
            Some(points) => points[index as usize % points.len()].clone(),
            None => self.draw(&mut Stream::new(seed, index, 0, Purpose::Network)),
        };
        let specimens = (0..count as u64).map(|index| Specimen { network: network(index), index }).collect();
        SpecimenSet { seed, specimens }
    }

    /// All quantities, in the order in which they are drawn.
    fn quantities(&self) -> [&Quantity; QUANTITIES] {
        let [on, off] = self.workload.quantities();
        [
            &self.link.rate_mbps,
            &self.path.rtt_ms,
            &self.senders.count,
            &self.link.loss,
            &self.path.jitter_ms,
            &self.path.clock_ms,
            on,
            off,
        ]
    }

    /// The network that has these values, in the order of [`Scenario::quantities`].
    fn network(&self, values: [f64; QUANTITIES]) -> Network {
        let [rate_mbps, rtt_ms, count, loss, jitter_ms, clock_ms, on, off_s] = values;
        let mut network = Network {
            rate_mbps,
            rtt_ms: self.path.rtt_ms_each.clone().unwrap_or_else(|| vec![rtt_ms; count as usize]),
            buffer: Buffer::Infinite,
            loss,
            jitter_ms,
            clock_ms,
            workload: self.workload.with([on, off_s]),
        };
        network.buffer = match self.link.buffer {
            BufferSize::Infinite => Buffer::Infinite,
            BufferSize::Packets(packets) => Buffer::Packets(packets),
            BufferSize::Bytes(bytes) => Buffer::Packets(u32::try_from(bytes / PACKET_BYTES as u64).unwrap_or(u32::MAX)),
            BufferSize::Bdp(times) => {
                // rtt_ms is the largest where senders differ.
                let packets = times * network.packets_per_s() * rtt_ms / 1e3;
                Buffer::Packets(packets.round().max(1.0) as u32)
            }
        };
        network
    }

    /// The networks of every combination of these values, those of the first quantity varying slowest.
    fn networks(&self, choices: [Vec<f64>; QUANTITIES]) -> Vec<Network> {
        let mut combinations = vec![[0.0; QUANTITIES]];
        for (i, choice) in choices.iter().enumerate() {
            let extended = combinations.iter().flat_map(|values| {
                choice.iter().map(move |&value| {
                    let mut values = *values;
                    values[i] = value;
                    values
                })
            });
            combinations = extended.collect();
        }
        combinations.into_iter().map(|values| self.network(values)).collect()
    }
}

/// The fields that only evaluations have: the design simulator knows a dumbbell and nothing else.
const OF_EVALUATIONS: [&str; 17] = [
    "schemes",
    "runs",
    "duration_s",
    "seed",
    "links",
    "transport",
    "link.trace",
    "link.trace_offset",
    "link.cellular",
    "link.queue",
    "link.name",
    "link.delay_ms",
    "path.reordering",
    "senders.scheme",
    "senders.rtt_ms",
    "senders.links",
    "senders.workload",
];

/// Says of a field of evaluations that it is one, where a design model has it.
fn of_evaluations(mut error: FileError) -> FileError {
    if OF_EVALUATIONS.contains(&error.field.as_str()) {
        error.message = error.message.replace("unknown field", "for evaluations only, not for design models");
    } else if error.field.starts_with("senders") && error.message == "expected a table, got a list" {
        error.field = "senders".to_owned();
        error.message += "; groups of senders are for evaluations only";
    }
    error
}

/// The number of senders: as written, or one for each RTT where those are written one by one.
fn senders(table: Option<Senders>, path: &Path, document: &Document<'_>) -> Result<Senders, FileError> {
    const FIELD: &str = "senders.count";
    match (table, &path.rtt_ms_each) {
        (Some(senders), None) => Ok(senders),
        (None, None) => Err(document.error(FIELD, "missing; this field is required unless path.rtt_ms_each is given")),
        (table, Some(each)) => {
            let count = Quantity::Exact(each.len() as f64);
            match table {
                Some(senders) if senders.count != count => {
                    Err(document
                        .error(FIELD, format!("expected {}, one sender for each of path.rtt_ms_each", each.len())))
                }
                _ => Ok(Senders { count }),
            }
        }
    }
}

/// The name of a file without its folder and its ending.
fn stem(file: &str) -> String {
    FilePath::new(file).file_stem().map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
