//! Design models: a scenario, what to strive for on it, and how to search, read from one TOML file.
//!
//! A model file is a scenario file with three tables more, all optional:
//!
//! ```toml
//! [objective]
//! delta = 1                # weight of delay; of all senders whose group has no objective of its own
//! loss_weight = 0          # throughput counts times (packets delivered / sent) to this power
//! deliveries = "all"       # or "while-on": what is delivered after a sender was switched off does not count
//!
//! [[also]]                 # any number of them: other traffic or networks to train with as well
//! workload = { on = { bytes = 100_000 }, off = { seconds = 0.5 } }  # default, as of all of the scenario: the model's
//! objective = { delta = 3 }  # default: the model's
//! world = { loss = 0.01 }   # what its networks have besides (see below); default: what the model's have
//! duration_times = 1       # its runs are so many times as long as the model's, at most 1
//! weight = 1               # of its scores, against those of the model, in the search; scores shown are the model's own
//!
//! [design]
//! form = "table"           # or "law": numbers relative to a flow's own path, in place of boxes (crates/rules/src/law.rs)
//! signals = ["send_ewma", "ack_ewma", "rtt_ratio", "slow_ack_ewma"]
//! specimens = 16           # networks of one evaluation; or draws_per_point, for a scenario that is a grid
//! duration_s = 100         # simulated seconds of each, at most 3518: the paper's search compares at ten times that
//! seed = 1
//! world = {}                # what training networks have besides: see below
//! min_split_width = 0.001  # no rule is split narrower than this share of the value it is split at
//! increment = { min = 0, max = 256, smallest = 1, largest = 32, mult = 4, start = 1 }
//! multiple = { min = 0, max = 1, smallest = 0.01, largest = 0.5, mult = 4, start = 1 }
//! intersend_ms = { min = 0.25, max = 3, smallest = 0.05, largest = 1, mult = 4, start = 3 }
//! ```
//!
//! What training networks have besides what the model says; each a number or a distribution, as in a scenario. Scores are
//! on networks without it.
//!
//! ```toml
//! [design.world]
//! jitter_ms = 0.001        # uniform extra delay; all training networks have this much at least
//! jitter_every_ms = 0      # how long that takes to change, as behind a congested way back; 0: each packet has its own
//! batch_ms = 0             # packets arrive in batches, one in every so many ms; 0: one by one
//! clock_ms = 0             # resolution of the senders' clocks
//! pacing_late_ms = 0       # how late pacing timers are at most
//! ack_packets = 1          # receivers acknowledge so many packets at a time,
//! ack_delay_ms = 40        # or after so long
//! loss = 0                 # probability that a packet is lost for no reason of congestion
//! loss_burst = 1           # losses come in rows of so many on the mean
//! rate_wander = 0          # standard deviation of the logarithm of the link's rate, which wanders within a second
//! policed = 0              # 1: no packet waits; what the room would hold passes at once, and the rest is dropped
//! rtt_spread = 1           # each sender has an RTT of its own, the longest at most so many times the shortest
//! on_times = 1             # on-periods are so many times as long as the model's
//! buffer_bdp = 0           # room at the link, in bandwidth-delay products; 0: as the model has it
//! cubic = 0                # senders of Cubic, NewReno or BBR beside those designed for, which do not count for the score
//! newreno = 0
//! bbr = 0
//! flow_upset_s = 0         # mean time between instants at which a flow's window and averages are set elsewhere; 0: never
//! link_upset_s = 0         # mean time between instants at which the link stops for a while or changes its rate; 0: never
//! first_receive_window_packets = 0 # what receivers take until their first ACK of a flow; 0: all that comes
//! ```
//!
//! A network is worth the mean utility of its senders, each by its own objective; where some run AIMD, the mean utility of
//! those is added to that of the others ([`exmachina_scenario::role::score`]). Where there are several links, shares are of the
//! slowest: what a sender could have of its own links is that times a factor that no algorithm changes, which adds a
//! constant to utilities that are logarithms. Delay is over the sender's own minimum RTT.

mod also;
mod design_table;

pub use also::Also;
use design_table::DesignFile;
pub use design_table::{DesignTable, Form, StepRange};
use exmachina_net::file_error::FileError;
use exmachina_net::outcome::Outcome;
use exmachina_net::random::{Purpose, Strata, Stream};
use exmachina_run::worth::{Score, score};
use exmachina_scenario::objective::Objective;
use exmachina_scenario::{Document, Imperfections, Scenario, Specimen, SpecimenSet};

/// How much longer than the model's the longest runs of a search are: the paper's at the end of a round, ours in validation.
pub(crate) const LONGER: f64 = 10.0;

/// The first of the numbers that decide what a training network has besides; those before are the scenario's.
const WORLD_FIRST: u64 = 1 << 32;

/// What to design for, what to strive for, and how to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The networks.
    pub scenario: Scenario,
    /// What a good algorithm is.
    pub objective: Objective,
    /// What it must also do well with; only the search goes by this, and scores are without it.
    pub also: Vec<Also>,
    /// How to search for it.
    pub design: DesignTable,
    /// The text of the model file, which goes into every file that a design writes.
    pub text: String,
}

impl Model {
    /// Reads a model from the text of a file.
    ///
    /// # Errors
    /// Where the text is no model, or an impossible one.
    pub fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        let mut document = Document::parse(text, file)?;
        let objective = document.take("objective")?;
        document.skip("also");
        let table: DesignFile = document.take("design")?;
        let scenario = Scenario::from_document(&document)?;
        let design = table.check(&scenario, &document)?;
        let also = Also::take(&mut document, objective, &scenario, &design.world)?;
        Ok(Self { scenario, objective, also, design, text: text.to_owned() })
    }

    /// What an entry of `[[also]]` asks, as a model of its own, which has none; none if there are not so many.
    #[must_use]
    pub fn also_model(&self, entry: usize) -> Option<Self> {
        let Also { scenario, world, duration_times, objective, .. } = self.also.get(entry)?.clone();
        let duration_s = duration_times * self.design.duration_s;
        let design = DesignTable { world, duration_s, ..self.design.clone() };
        Some(Self { scenario, objective, also: Vec::new(), design, text: self.text.clone() })
    }

    /// Networks that go together: the points of a grid, or one for each kind of traffic. Means are taken over whole
    /// groups.
    #[must_use]
    pub fn group(&self) -> usize {
        self.scenario.grid().map_or(1 + self.also.len(), |points| points.len())
    }

    /// Specimens to train on: of a grid, its points in turn; else random draws, spread evenly ([`Strata`]), each kind of
    /// traffic in turn. Those of a smaller count are the first of a larger one.
    #[must_use]
    pub fn specimens(&self, root: u64, count: usize) -> SpecimenSet {
        let mut set = self.scenario.spread_specimens(root, count);
        let kinds = 1 + self.also.len();
        for (k, also) in self.also.iter().enumerate() {
            let other = also.scenario.spread_specimens(root, count).specimens;
            for (specimen, other) in set.specimens.iter_mut().zip(other).skip(k + 1).step_by(kinds) {
                *specimen = other;
            }
        }
        for specimen in &mut set.specimens {
            let mut strata = Strata::new(root, specimen.index, WORLD_FIRST);
            self.world_of(specimen).add_to(specimen, &mut |quantity| quantity.at(strata.next_u64()));
        }
        set
    }

    /// Whether some training networks have more besides than what all have.
    #[must_use]
    pub fn is_rough(&self) -> bool {
        let mut worlds = self.also.iter().map(|also| &also.world).chain([&self.design.world]);
        worlds.any(|world| *world != Imperfections::default())
    }

    /// Whether training networks have senders of others beside those designed for.
    #[must_use]
    pub fn has_neighbours(&self) -> bool {
        let mut worlds = self.also.iter().map(|also| &also.world).chain([&self.design.world]);
        worlds.any(|world| [&world.cubic, &world.newreno, &world.bbr].iter().any(|count| count.extremes().1 > 0.0))
    }

    /// How many times as long as the model's a training specimen's runs are.
    #[must_use]
    pub fn duration_times(&self, specimen: &Specimen) -> f64 {
        self.kind(specimen).checked_sub(1).map_or(1.0, |k| self.also[k].duration_times)
    }

    /// What a training specimen has besides.
    fn world_of(&self, specimen: &Specimen) -> &Imperfections {
        self.kind(specimen).checked_sub(1).map_or(&self.design.world, |k| &self.also[k].world)
    }

    /// The same networks with what training networks have besides ([`DesignTable::world`]).
    #[must_use]
    pub fn in_world(&self, mut set: SpecimenSet) -> SpecimenSet {
        for specimen in &mut set.specimens {
            let mut stream = Stream::new(set.seed, specimen.index, 0, Purpose::Training);
            self.design.world.add_to(specimen, &mut |quantity| quantity.draw(&mut stream));
        }
        set
    }

    /// Whether a training specimen is of the model itself, and not of an [`Also`].
    #[must_use]
    pub fn is_own(&self, specimen: &Specimen) -> bool {
        self.kind(specimen) == 0
    }

    /// The kind of a training specimen: 0 is the model's own, k that of entry k - 1 of [`Also`].
    fn kind(&self, specimen: &Specimen) -> usize {
        specimen.index as usize % (1 + self.also.len())
    }

    /// What a training specimen's outcome is worth: its score, in an [`Also`] by the objective of that and times its weight.
    /// This is what a search goes by. The *score* of a table, which is what people are told, is the mean over specimens of
    /// the model itself.
    #[must_use]
    pub fn worth(&self, specimen: &Specimen, outcome: &Outcome) -> Score {
        let roles = &specimen.roles;
        match self.kind(specimen) {
            0 => score(outcome, roles, &self.objective),
            k => {
                let Also { objective, weight, .. } = &self.also[k - 1];
                let score = score(outcome, roles, objective);
                Score { mean: score.mean.map(|mean| weight * mean), ..score }
            }
        }
    }

    /// The specimens that candidates are scored on: all points of a grid, `draws_per_point` times, or random draws.
    #[must_use]
    pub fn training(&self, seed: u64) -> SpecimenSet {
        self.specimens(training_root(seed), self.design.specimens)
    }

    /// Specimens of the same scenario that no training set has: their root seeds are odd and those of training sets
    /// even, so that even with equal seeds no random number is shared. At least `count` of them: of a grid, every
    /// point has equally many.
    #[must_use]
    pub fn held_out(&self, seed: u64, count: usize) -> SpecimenSet {
        let count = count.next_multiple_of(self.scenario.grid().map_or(1, |points| points.len()));
        self.scenario.specimens(training_root(seed) | 1, count)
    }
}

/// The root seed of the training set of a seed; always even.
fn training_root(seed: u64) -> u64 {
    seed << 1
}

#[cfg(test)]
mod tests;
