//! The design search (Remy'13 §4.3): from a model to a rule table, one resumable step after another.
//!
//! - `paper.rs`: the five steps of the paper, faithfully.
//! - `greedy.rs`: the default, which gets further with far less work; `race.rs` compares its candidates; `shifts.rs` changes whole
//!   tables; `tuning.rs`: what of it can be switched off.
//! - `measure.rs`: which of two tables is better on specimens that no candidate is chosen on.
//! - `policies.rs`: whole tables to begin with, each given by a few dozen numbers; `policy_search.rs` finds the best of them, by
//!   `evolution.rs` (CMA-ES). `laws.rs`: laws, given in the same way (`places.rs`), for models that ask for one.
//! - `clearance.rs`: keeps splits off what averages settle at.
//! - `moves.rs`: the changes to an action that both try; `splits.rs`: where ours splits a rule. `evaluator.rs`: runs tables on specimens;
//!   `batch.rs`: what of it others do; `meter.rs`: how much it is, and how long it takes.
//! - `answer.rs`: what a search hands over; `checkpoint.rs`: the whole state of a search as text.
//!
//! Where senders of several classes share the networks, each class has its table and its own procedure, and they take
//! turns: step n works on the table of class n (modulo their number), with the tables of the others as they are.
//!
//! Guarantees: the state after a step depends on the model, the settings and the number of steps alone: not on threads,
//! clocks, or on having been stopped and resumed.

mod answer;
mod batch;
mod checkpoint;
mod clearance;
mod evaluator;
mod evolution;
mod greedy;
mod laws;
mod measure;
mod meter;
mod moves;
mod paper;
mod places;
mod policies;
mod policy_search;
mod race;
mod shifts;
mod splits;
#[cfg(test)]
mod tests;
mod tuning;

use std::sync::atomic::{AtomicBool, Ordering};

use cpu_time::ProcessTime;
use exmachina_net::random::{Purpose, Stream};
use exmachina_rules::{FlatTable, RuleTable};
use exmachina_scenario::SpecimenSet;
use serde::{Deserialize, Serialize};

pub use batch::{Batch, Elsewhere, Unit, run_unit};
pub use checkpoint::DesignError;
pub use clearance::{NEAREST, nearest};
pub use evaluator::Stopped;
pub use evolution::{Draws, Evolution};
pub use laws::{OWN_NUMBERS, law_at, places_of};
pub use measure::Measure;
pub use meter::{Meter, Times};
pub use tuning::Tuning;

use evaluator::Evaluator;
use exmachina_run::usage::{Seen, Usage, memories_in, usage_in};
use greedy::Greedy;
use paper::Paper;
use policy_search::PolicySearch;

use crate::model::{Form, Model};

/// The table is measured again once the search has simulated this many times what the last measurement took.
const MEASURE_EVERY: u64 = 8;

/// Which procedure searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// The paper's five steps.
    Paper,
    /// Ours.
    #[default]
    Default,
}

/// What a design depends on beside the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Which procedure searches.
    pub search: Search,
    /// Root seed; the model's own if none.
    pub seed: Option<u64>,
    /// Parts of our procedure, to be switched off in measurements of what each is worth.
    #[serde(default)]
    pub tuning: Tuning,
    /// Which tables the search began with, in words, if not with one rule: a note for the finished table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<String>,
}

/// How far a search has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// Rules of the table, or of all together.
    pub rules: usize,
    /// How the table did on the validation specimens when it was measured last; none until it is.
    pub measure: Option<Measure>,
    /// CPU time, s.
    pub cpu_s: f64,
    /// Packets simulated.
    pub packets: u64,
    /// What the last step did.
    pub doing: String,
}

/// A point of the time-to-score curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    /// Steps done.
    pub step: u64,
    /// CPU time, s; the only thing in a design that a clock decides, and nothing depends on it.
    pub cpu_s: f64,
    /// Packets simulated.
    pub packets: u64,
    /// Rules of the table, or of all together.
    pub rules: usize,
    /// How that table did on the validation specimens.
    pub measure: Measure,
}

/// The state of a procedure beside the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Method {
    Paper(Box<Paper>),
    Default(Box<Greedy>),
}

/// What a step of a procedure did.
struct Done {
    /// The table, if it changed.
    table: Option<RuleTable>,
    /// In words.
    doing: String,
}

/// What a procedure works with in one step.
struct Bench<'a> {
    model: &'a Model,
    evaluator: &'a Evaluator<'a>,
    /// The present table, and its flat form.
    table: &'a RuleTable,
    flat: &'a FlatTable,
    /// Names the specimens of all measurements.
    validation: u64,
    /// Names the specimens of this step; no other step has it.
    root: u64,
}

impl Bench<'_> {
    /// Random numbers for this step's candidates.
    fn stream(&self) -> Stream {
        Stream::new(self.root, 0, 0, Purpose::Candidates)
    }

    /// How a table is used by the senders that it is designed for.
    fn usage(&self, table: &FlatTable, set: &SpecimenSet, seconds: f64) -> Result<Usage, Stopped> {
        let count = || usage_in(self.evaluator.assignment(table), table, set, seconds, self.evaluator.stop);
        let usage = self.evaluator.meter.batch(set.specimens.len(), count);
        self.evaluator.go_on().map(|()| usage)
    }

    /// Memories that a rule of the present table fires at.
    fn memories(&self, rule: usize, set: &SpecimenSet, seconds: f64) -> Result<Vec<Seen>, Stopped> {
        let Evaluator { meter, stop, .. } = self.evaluator;
        let look = || memories_in(self.evaluator.assignment(self.flat), (self.flat, rule), set, seconds, stop);
        let seen = meter.batch(set.specimens.len(), look);
        self.evaluator.go_on().map(|()| seen)
    }

    /// How a table does on specimens that no candidate is chosen on.
    fn measure(&self, table: &RuleTable) -> Result<Measure, Stopped> {
        let flat = FlatTable::new(table).expect("a search makes usable tables");
        self.evaluator.measure(&flat, self.validation)
    }
}

/// The search for one table: that of all senders, or of one class of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Part {
    #[serde(with = "checkpoint::table")]
    table: RuleTable,
    method: Method,
}

impl Part {
    /// A search that begins with a table, or with a policy in place of one rule.
    fn new(search: Search, mut table: RuleTable, policies: bool) -> Part {
        table.provenance = None;
        let method = match search {
            Search::Paper => Method::Paper(Box::default()),
            Search::Default => Method::Default(Box::new(Greedy::from(&table, policies))),
        };
        Part { table, method }
    }
}

/// A search.
#[derive(Clone, Debug)]
pub struct Designer {
    model: Model,
    settings: Settings,
    /// One for each class of senders.
    parts: Vec<Part>,
    step: u64,
    cpu_s: f64,
    packets: u64,
    /// Packets that the next measurement waits for.
    measure_at: u64,
    doing: String,
    history: Vec<HistoryPoint>,
}

impl Designer {
    /// A search that begins with one rule, or with two, a policy or a law where these suit the model.
    #[must_use]
    pub fn new(model: Model, settings: Settings) -> Designer {
        let mut table = RuleTable::single(&model.design.signals, moves::first_action(&model.design));
        // Several classes of senders get along by growing together: from one rule each.
        let policies = model.scenario.classes().len() == 1 && PolicySearch::suits(&model);
        let policies = policies && (settings.tuning.policies || model.design.form == Form::Law);
        if !policies && settings.search == Search::Default && settings.tuning.two_rules {
            splits::split_at_the_queue(&mut table, &model);
        }
        Designer::begin(model, settings, &[table], policies)
    }

    /// A search that begins with given tables: one for all, or one for each class of senders. Laws begin with laws.
    ///
    /// # Errors
    /// If a table looks at a signal that the model does not name, or is a law where the model asks for tables, or the other way
    /// round, or there are more or fewer tables.
    pub fn with_start(model: Model, settings: Settings, tables: &[RuleTable]) -> Result<Designer, DesignError> {
        let classes = model.scenario.classes().len();
        if tables.len() != 1 && tables.len() != classes {
            return Err(DesignError::Starts { expected: classes, got: tables.len() });
        }
        let laws = model.design.form == Form::Law;
        if tables.iter().any(|table| table.law.is_some() != laws) {
            return Err(DesignError::OtherForm { laws });
        }
        let mut signals = tables.iter().flat_map(|table| &table.signals);
        match signals.find(|s| !model.design.signals.contains(s)) {
            Some(signal) => Err(DesignError::Signal(signal.name())),
            None => Ok(Designer::begin(model, settings, tables, laws)),
        }
    }

    /// With these tables; or with policies in their place.
    fn begin(model: Model, settings: Settings, tables: &[RuleTable], policies: bool) -> Designer {
        // The paper's search knows no clearance.
        let table = |class: usize| match (&tables[class.min(tables.len() - 1)], settings.search) {
            (table, Search::Paper) => table.clone(),
            (table, _) if table.law.is_some() => table.clone(),
            (table, Search::Default) => clearance::clear_table(table, &model),
        };
        let classes = model.scenario.classes().len();
        let parts = (0..classes).map(|class| Part::new(settings.search, table(class), policies));
        Designer {
            parts: parts.collect(),
            model,
            settings,
            step: 0,
            cpu_s: 0.0,
            packets: 0,
            measure_at: 0,
            doing: "start".into(),
            history: Vec::new(),
        }
    }

    /// One step of the search: seconds at most in most models. Large batches of runs are made `elsewhere`, if anybody is
    /// there.
    ///
    /// # Errors
    /// [`Stopped`] if `stop` was set before the step was done, or what was elsewhere failed; the state is then that before the
    /// step.
    pub fn step(&mut self, stop: &AtomicBool, meter: &Meter, elsewhere: Option<&dyn Elsewhere>) -> Result<(), Stopped> {
        let (clock, before) = (ProcessTime::now(), meter.packets.load(Ordering::Relaxed));
        let simulated = || meter.packets.load(Ordering::Relaxed) - before;
        let ns_before = meter.elsewhere_ns.load(Ordering::Relaxed);
        let class = (self.step % self.parts.len() as u64) as usize;
        let flat = |part: &Part| FlatTable::new(&part.table).expect("a search makes usable tables");
        let flats: Vec<FlatTable> = self.parts.iter().map(flat).collect();
        let others = if flats.len() > 1 { &flats[..] } else { &[] };
        let evaluator = Evaluator { model: &self.model, class, others, stop, meter, elsewhere };
        let part = &self.parts[class];
        let bench = Bench {
            model: &self.model,
            evaluator: &evaluator,
            table: &part.table,
            flat: &flats[class],
            validation: root(self.seed(), 0),
            root: root(self.seed(), self.step + 1),
        };
        let mut method = part.method.clone();
        let done = match &mut method {
            Method::Paper(paper) => paper.step(&bench)?,
            Method::Default(ours) => ours.step(&bench, &self.settings.tuning)?,
        };
        let table = done.table.unwrap_or_else(|| part.table.clone());
        let packets = self.packets + simulated();
        let measure = if packets >= self.measure_at { Some(bench.measure(&table)?) } else { None };
        // Nothing fails from here on.
        let cost = self.packets + simulated() - packets;
        self.doing = match self.model.scenario.classes()[class] {
            "" => done.doing,
            name => format!("{name}: {}", done.doing),
        };
        let part = &mut self.parts[class];
        (part.method, part.table) = (method, table);
        self.step += 1;
        self.packets += simulated();
        let elsewhere_ns = meter.elsewhere_ns.load(Ordering::Relaxed) - ns_before;
        self.cpu_s += clock.elapsed().as_secs_f64() + 1e-9 * elsewhere_ns as f64;
        if let Some(measure) = measure {
            self.measure_at = self.measure_at.max(self.packets + MEASURE_EVERY * cost);
            let Progress { step, cpu_s, packets, rules, .. } = self.progress();
            self.history.push(HistoryPoint { step, cpu_s, packets, rules, measure });
        }
        Ok(())
    }

    /// How the table did when it was measured last; none until it is.
    fn measured(&self) -> Option<Measure> {
        self.history.last().map(|point| point.measure)
    }

    /// The root seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.settings.seed.unwrap_or(self.model.design.seed)
    }

    /// What the design depends on beside the model.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How far the search has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            step: self.step,
            rules: self.parts.iter().map(|part| part.table.len()).sum(),
            measure: self.measured(),
            cpu_s: self.cpu_s,
            packets: self.packets,
            doing: self.doing.clone(),
        }
    }

    /// The time-to-score curve so far.
    #[must_use]
    pub fn history(&self) -> &[HistoryPoint] {
        &self.history
    }
}

/// The root seed of the specimens of a step (0: those of the measurements). Even, so that no held-out set has it; the
/// steps' roots are far apart, because a seed's neighbours are other people's seeds.
fn root(seed: u64, step: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(step.wrapping_mul(0xd1b5_4a32_d192_ed03));
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (z ^ (z >> 29)) << 1
}
