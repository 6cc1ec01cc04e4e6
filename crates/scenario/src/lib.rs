//! Scenarios: what a person knows about a network, each number a value or a distribution, read from TOML.
//!
//! One schema serves design models and evaluations. A design model has the tables of these first examples only:
//!
//! ```toml
//! name = "home"                       # default: the file's name
//! description = "A home link shared by a few people"
//!
//! [link]
//! rate_mbps = { uniform = [10, 20] }  # or a number, log_uniform, list, grid, log_grid
//! buffer = { bdp = 5 }                # or { packets = 1000 }, { bytes = 1_000_000 }, or "infinite" (default);
//!                                     # { bdp = 5, beyond_ms = 2 }: of the longest RTT but for 2 ms of it
//! loss = 0.001                        # probability; default 0
//!
//! [path]
//! rtt_ms = { uniform = [100, 200] }   # or rtt_ms_each = [50, 100], one per sender
//! jitter_ms = 0.5                     # uniform extra delay in [0, jitter), never reorders a sender's packets; default 0
//! clock_ms = 1                        # resolution of the senders' clocks, and the least RTT they measure; default 0
//!
//! [senders]
//! count = { uniform = [1, 16] }
//! aimd = { list = [0, 1] }            # how many of them, the last ones, run AIMD (Tao'14 §4.5) always; default 0
//!
//! [workload]
//! on = { seconds = 5 }                # mean of an exponential; or { bytes = 100_000 }, likewise;
//!                                     # { fixed_seconds = 5 }; { icsi = { extra_bytes = 16384 } }, the default of {};
//!                                     # "forever"; or { at = [{ start_s = 0, bytes = 1e6 },
//!                                     #   { start_s = 5, seconds = 10 }, { start_s = 20 }] }: the last never ends
//! off = { seconds = 5 }               # mean of an exponential; or { fixed_seconds = 5 }; not needed with the last two:
//!                                     # flows for ever begin after a second on the mean then
//! first_off = "exponential"           # a draw with the mean of `off`; "half-exponential"; or { seconds = 1 }
//! ```
//!
//! Senders may differ, and links be several:
//!
//! ```toml
//! [[links]]                           # instead of [link], each with its fields
//! name = "A"                          # by which routes name it
//! rate_mbps = { log_uniform = [10, 100] }
//! delay_ms = 75                       # one way to the next link of a route
//!
//! [path]                              # not needed where every group of senders has its RTT
//!
//! [[senders]]                         # or [senders]: several groups that differ
//! count = { list = [0, 1, 2] }        # of several groups, one may be missing; all of them never are
//! rtt_ms = 100                        # default: the path's; or else twice the delays of its links
//! links = ["A", "B"]                  # its route; default: all links, in order
//! name = "fast"                       # of the table that they run: groups of the same name share one, and those of
//!                                     # different names are designed together; default: all senders run the same.
//!                                     # An evaluation passes over it, and over the objective
//! objective = { delta = 0.1 }         # what they strive for, with the fields of [objective]; default: as all others
//! ```
//!
//! Evaluations may have these, too:
//!
//! ```toml
//! schemes = ["newreno", "cubic/sfqcodel", "my.dna"]  # contenders: scheme, or scheme/queue. A scheme is one of
//!                                     # newreno, reno-linux, cubic, cubic-linux, cubic-linux-2.6.22, cubic-rfc9438,
//!                                     # cubic-linux-6, compound, vegas, vegas-ns2, dctcp, xcp, aimd, bbr1, bbr3, copa, ledbat,
//!                                     # omniscient, window:40 (packets), rate:2.5 (Mbit/s), an algorithm that comes with
//!                                     # the program, such as general-1, or a .dna file
//! runs = 16                           # of each contender, at each point where the scenario is a grid
//! duration_s = 100                    # simulated seconds of each
//! seed = 1
//!
//! [link]                              # exactly one of rate_mbps, trace, cellular
//! trace = "verizon.down"              # mahimahi's format, relative to this file
//! trace_offset = "random"             # where a run starts in it (default); or "none": at its beginning
//! told_mbps = 5.5                     # what routers that have to know the rate are told (XCP's); if left out, the mean
//! cellular = { mean_mbps = 9, max_mbps = 50, spread = 0.54, memory_s = 5, outage_per_s = 0.2, outage_mean_s = 0.25 }
//! queue = "droptail"                  # or red, step, codel, cobalt, sfqcodel, fqcodel, pie, xcp; or with settings, one of:
//! # queue = { red = { min_packets = 5, max_packets = 15, max_probability = 0.1, weight = 0.002, gentle = true,
//! #                   wait = true, ecn = false } }
//! # queue = { step = { packets = 65 } }
//! # queue = { codel = { target_ms = 5, interval_ms = 100, ecn = false } }
//! # queue = { cobalt = { target_ms = 5, interval_ms = 100, ecn = false } } # CoDel, and BLUE for what does not slow down
//! # queue = { sfqcodel = { bins = 1024, target_ms = 5, interval_ms = 100, ecn = false } }
//! # queue = { fqcodel = { queues = 1024, quantum_bytes = 1514, target_ms = 5, interval_ms = 100, ecn = false } }
//! # queue = { pie = { target_ms = 15, update_ms = 15, burst_ms = 150, ecn = false } }
//! # queue = { xcp = { alpha = 0.4, beta = 0.226, gamma = 0.1, capacity_mbps = 15 } }
//!
//! [path]
//! access = { rate_mbps = 1000, delay_ms = 1 }  # a link that each sender has to itself, before its route; part of the RTT
//! reordering = { probability = 0.01, delay_ms = 5 }  # packets that are held back, and overtaken
//!
//! [workload]
//! replay = { ns2 = 1 }                # on and off times of the authors' ns-2: our first run has those of their run 1 (`-run`
//!                                     # in Tao'14's scripts, `-seed` in Remy'13's, as the preset says), our second of run 2
//!
//! [[senders]]
//! scheme = "compound"                 # always; without it the contender's
//! workload = { on = "forever" }       # its own, with the fields of [workload]
//!
//! [transport]                         # a preset, and what differs from it
//! preset = "today"                    # or "remy13", "tao14": that of either paper's ns-2. What cubic, newreno and vegas are
//!                                     # follows from it: cubic is cubic-linux-6 today, cubic-linux-2.6.22 with ns-2's
//! connections = "fresh"               # a new one for each on-period; or "persistent"
//! opening = "data"                    # or "syn": a packet of 40 bytes goes an RTT ahead (remy13); "syn-and-data": and
//!                                     # the first data with it (remy13, Linux's modules)
//! initial_window = 10                 # packets
//! first_receive_window_bytes = 65535  # what receivers take before the first ACK (TCP's most: RFC 7323 §2.2); 0: everything
//! delayed_ack_ms = 40                 # 0: every packet is acknowledged at once
//! ack_packets = 2                     # that one ACK answers, at most (1 to 64): more, as where ACKs are thinned out
//! quick_acks = 16                     # the first ACKs, and those after a packet that came twice, are not delayed
//! rto_min_ms = 200
//! rto_initial_ms = 1000
//! clock_ms = 0                        # resolution of RTT samples
//! recovery = "rack"                   # or go-back-n, newreno, reno, tcp-linux, proportional, rational-remy13 and
//!                                     # rational-tao14 (of RemyCCs); ns-2's differ by scheme
//!                                     # what a recovery does not have is an error beside it: ns-2's have none of what
//!                                     # follows down to rtt_samples, no rto_min_ms and rto_initial_ms, and no
//!                                     # first_receive_window_bytes
//! dup_threshold = 3
//! adapts_to_reordering = true
//! grows_unused_windows = false
//! decays_when_idle = true             # a window is halved for each timeout of a pause, down to the initial one
//! pacing = false                      # spreads windows over an RTT, as Linux does over fq
//! ect_on_repairs = false              # packets sent again may be marked
//! idle_timer = false
//! rtt_samples = "packets"             # that set the timer: or echo, new-acks, timed; ns-2's differ by scheme
//! poll_ms = 5                         # senders are looked at so often (remy13; else not at all): a transfer ends when that sees it
//! packet_bytes = 1250                 # on the wire (remy13: 1260); 40 of them are headers, of ns-2's 50
//! ack_bytes = 0                       # ACKs take so long on the links' way back; 40 in ns-2
//! ecn = false                         # of NewReno and Cubic; other schemes have their way
//! ```
//!
//! A link without `queue` has the queue that the contender is made for (step for dctcp, xcp for xcp), else drop-tail.
//! The tables `[objective]`, `[[also]]` and `[design]` of a design model do not matter to an evaluation.
//!
//! A scenario gives concrete networks in three ways: drawn at random, as all corners of what it allows, and, where
//! every number is exact, a list or a grid, as all points of that grid.

mod bottleneck;
pub mod bounds;
mod checked;
mod contender;
mod document;
mod draw;
mod evaluation;
#[cfg(test)]
mod evaluation_tests;
mod group;
#[cfg(test)]
mod groups_tests;
mod imperfections;
mod mrg32k3a;
mod names;
pub mod neighbour;
pub mod objective;
mod quantity;
mod queues;
mod real;
pub mod replay;
#[cfg(test)]
mod replay_tests;
pub mod role;
mod routes;
mod senders;
mod shown;
mod specimens;
mod tables;
#[cfg(test)]
mod tests;
mod transport;
mod workload;
pub mod world;

use std::path::Path as FilePath;

use serde::Deserialize;

pub use bottleneck::{Bottleneck, ServiceTable};
use checked::{some_table, some_tables};
pub use contender::{Contender, SchemeAndQueue};
pub use document::Document;
pub use draw::DrawnWorld;
pub use evaluation::Evaluation;
use group::Groups;
pub use group::{Group, GroupScheme};
pub use imperfections::Imperfections;
pub use quantity::Quantity;
pub use queues::queue_by_name;
pub use senders::Senders;
pub use shown::Shown;
pub use tables::{BufferSize, Link, Path};
pub use transport::Transport;
pub use workload::{OffPeriod, OnPeriod, Replay, Workload};

use exmachina_hosts::nearest::or_nearest;
use exmachina_net::file_error::FileError;
use exmachina_net::network::Network;
use exmachina_net::random::Seed;
use neighbour::Neighbour;
use role::Role;

/// The most networks that a grid may have.
const MAX_GRID: usize = 100_000;

/// What a quantity counts as where there is none.
static NOTHING: Quantity = Quantity::Exact(0.0);

/// What is known about a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name; the file's own where the file does not say.
    pub name: String,
    /// What it is, in a person's words; may be empty.
    pub description: String,
    /// The bottleneck; or several, which routes lead through.
    pub links: Vec<Link>,
    /// Delay, and what clouds its measurement.
    pub path: Path,
    /// How many senders there are, and how they differ.
    pub groups: Vec<Senders>,
    /// When they have something to send.
    pub workload: Workload,
}

/// One network to simulate, and the key of its random streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Specimen {
    /// The network.
    pub network: Network,
    /// What each sender is; empty where all run the same table and strive for the same.
    pub roles: Vec<Role>,
    /// Others that send beside them: of no account, but for the room that they take.
    pub neighbours: Vec<Neighbour>,
    /// The `specimen` of its [`Stream`](exmachina_net::random::Stream)s.
    pub index: u64,
}

impl Specimen {
    /// A network whose senders all run the same, with nobody beside them.
    #[must_use]
    pub fn of(network: Network, index: u64) -> Specimen {
        Specimen { network, roles: Vec::new(), neighbours: Vec::new(), index }
    }

    /// Which random numbers its runs draw, in a set that has this root seed.
    #[must_use]
    pub fn seed(&self, root: u64) -> Seed {
        Seed { root, specimen: self.index }
    }
}

/// Networks to simulate, and the root seed of all their random streams.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecimenSet {
    /// The `root` of every [`Stream`](exmachina_net::random::Stream) of these specimens.
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
    #[serde(default, deserialize_with = "some_table")]
    link: Option<Link>,
    #[serde(default, deserialize_with = "some_tables")]
    links: Option<Vec<Link>>,
    #[serde(default, deserialize_with = "some_table")]
    path: Option<Path>,
    senders: Option<Groups<Senders>>,
    #[serde(default, deserialize_with = "some_table")]
    workload: Option<Workload>,
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
        let links = routes::links(file.link, file.links, document)?;
        let missing = |field| document.error(field, "missing; this field is required");
        let from_links = links.iter().all(|link| link.delay_ms.is_some());
        let path = match file.path {
            Some(path) if path.rtt_ms.is_none() && !from_links && !groups_have_rtts(file.senders.as_ref()) => {
                let message = "expected rtt_ms (one for all senders) or rtt_ms_each (one per sender), got neither";
                return Err(document.error("path", message));
            }
            Some(path) => path,
            None if from_links || groups_have_rtts(file.senders.as_ref()) => Path::default(),
            None => return Err(missing("path")),
        };
        let scenario = Self {
            name: names::name_of(file.name, document)?,
            description: file.description.unwrap_or_default(),
            groups: senders::groups(file.senders, &path, &links, document)?,
            links,
            path,
            workload: workload_of_design(file.workload, document)?,
        };
        scenario.check(document)?;
        Ok(scenario)
    }

    /// Refuses what each field allows and all of them together do not.
    fn check(&self, document: &Document<'_>) -> Result<(), FileError> {
        let longest = senders::longest_rtt(&self.groups, &self.path, &self.links);
        for (field, quantity) in [("path.jitter_ms", &self.path.jitter_ms), ("path.clock_ms", &self.path.clock_ms)] {
            let largest = quantity.extremes().1;
            if largest > longest {
                let message = format!("expected at most the largest RTT, {longest} ms, got {}", Shown(largest));
                return Err(document.error(field, message));
            }
        }
        let mut sizes = self.quantities().into_iter().map(|q| q.points().map(<[f64]>::len));
        let networks = sizes.try_fold(1, |product: usize, size| Some(product.saturating_mul(size?)));
        match networks {
            Some(n) if n > MAX_GRID => {
                Err(document.error("", format!("expected at most {MAX_GRID} combinations of lists and grids, got {n}")))
            }
            _ => Ok(()),
        }
    }

    /// The names of the tables that senders run, in order; one without a name where all run the same.
    #[must_use]
    pub fn classes(&self) -> Vec<&str> {
        senders::classes(&self.groups)
    }
}

/// The fields that only evaluations have: the design simulator knows constant-rate links with drop-tail queues.
const OF_EVALUATIONS: [&str; 13] = [
    "schemes",
    "runs",
    "duration_s",
    "seed",
    "transport",
    "link.trace",
    "link.trace_offset",
    "link.cellular",
    "link.queue",
    "link.told_mbps",
    "path.reordering",
    "senders.scheme",
    "senders.workload",
];

/// Says of a field of evaluations that it is one, where a design model has it.
fn of_evaluations(mut error: FileError) -> FileError {
    // Of lists, the field of an item is that of the table.
    let (list, item) = error.field.split_once('[').unwrap_or((&error.field, ""));
    let field = match item.split_once(']') {
        Some((_, field)) => format!("{}{field}", if list == "links" { "link" } else { list }),
        None => error.field.clone(),
    };
    if OF_EVALUATIONS.contains(&field.as_str()) {
        error.message = error.message.replace("unknown field", "for evaluations only, not for design models");
    }
    error
}

/// The workload of a design model.
fn workload_of_design(workload: Option<Workload>, document: &Document<'_>) -> Result<Workload, FileError> {
    match workload {
        None => Err(document.error("workload", "missing; this field is required")),
        Some(Workload { replay: Some(_), .. }) => {
            Err(document.error("workload.replay", "for evaluations only, not for design models"))
        }
        Some(workload) => Ok(workload),
    }
}

/// Whether all groups of senders say what their RTT is.
fn groups_have_rtts(groups: Option<&Groups<Senders>>) -> bool {
    groups.is_some_and(|Groups { groups, .. }| groups.iter().all(|group| group.rtt_ms.is_some()))
}

/// The name of a file without its folder and its ending.
fn stem(file: &str) -> String {
    FilePath::new(file).file_stem().map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
