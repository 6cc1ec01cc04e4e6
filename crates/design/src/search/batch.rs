//! Batches of runs that others may make: cut into units, as bytes, and what comes of each.
//!
//! A unit names tables by what is in them, and specimens by the root seed and their numbers, from which whoever makes the runs
//! draws them again. What a run gives depends on these alone, and is put back in its place: so the search goes the same way
//! wherever a batch is cut, whoever makes which runs, and however often.

use std::sync::atomic::{AtomicBool, Ordering};

use cpu_time::ThreadTime;
use exmachina_rules::FlatTable;
use exmachina_run::worth::Score;
use exmachina_scenario::SpecimenSet;
use prost::Message;
use rayon::prelude::*;

use super::evaluator::{Evaluator, Stopped};
use super::meter::Meter;
use crate::model::Model;

/// CPU time of a packet, about, s: for sizes, which need no more.
const PACKET_S: f64 = 25e-9;
/// A batch of less CPU time than this is not worth sending.
const WORTH_SENDING_S: f64 = 1.0;
/// Each unit has this share of what its worker would have of the rest, so that all end at about the same time.
const SHARE_OF_REST: f64 = 0.3;
/// The least of a unit, as a share of the most.
const LEAST_SHARE: f64 = 0.04;

/// Others who make runs.
pub trait Elsewhere: Sync {
    /// Has a batch run, and hands over what each of its units gave ([`run_unit`]), in order. If the search is stopped
    /// meanwhile, or a unit cannot be run, not all are handed over.
    fn run(&self, batch: &Batch<'_>, take: &mut dyn FnMut(&[u8]));
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What it is worth.
    pub score: Score,
    /// How often each rule fired; empty if that was not asked for.
    pub uses: Vec<u32>,
}

/// Runs to be made.
pub struct Batch<'a> {
    pub(super) evaluator: &'a Evaluator<'a>,
    pub(super) tables: &'a [FlatTable],
    pub(super) set: &'a SpecimenSet,
    /// Simulated seconds of each run, before what the model says of its length.
    pub(super) seconds: f64,
    /// Whether uses of rules are counted.
    pub(super) watch: bool,
    /// The places of the table and of the specimen of each run, table by table.
    pub(super) runs: Vec<(usize, usize)>,
}

/// Some of the runs of a batch.
pub struct Unit {
    /// For [`run_unit`].
    pub bytes: Vec<u8>,
    /// How many runs.
    pub runs: usize,
}

/// What all units of a step have in common.
#[derive(Clone, PartialEq, Message)]
struct SharedMessage {
    #[prost(string, tag = "1")]
    model: String,
    #[prost(uint64, tag = "2")]
    class: u64,
    #[prost(message, required, tag = "3")]
    others: TablesMessage,
}

/// Tables, of which neighbours may have their boxes in common.
#[derive(Clone, PartialEq, Message)]
struct TablesMessage {
    #[prost(bytes = "vec", repeated, tag = "1")]
    shapes: Vec<Vec<u8>>,
    /// The place of the shape of each.
    #[prost(uint64, repeated, tag = "2")]
    shape_of: Vec<u64>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    actions: Vec<Vec<u8>>,
}

/// Runs of some tables on some specimens.
#[derive(Clone, PartialEq, Message)]
struct UnitMessage {
    #[prost(message, required, tag = "1")]
    tables: TablesMessage,
    #[prost(uint64, tag = "2")]
    root: u64,
    #[prost(double, tag = "3")]
    seconds: f64,
    #[prost(bool, tag = "4")]
    watch: bool,
    /// The place of the table of each run.
    #[prost(uint64, repeated, tag = "5")]
    table_of: Vec<u64>,
    /// The number of the specimen of each run, of those that the root seed draws.
    #[prost(uint64, repeated, tag = "6")]
    specimen_of: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct RanMessage {
    #[prost(double, optional, tag = "1")]
    mean: Option<f64>,
    #[prost(uint32, tag = "2")]
    starved: u32,
    #[prost(uint32, tag = "3")]
    on: u32,
    #[prost(uint32, repeated, tag = "4")]
    uses: Vec<u32>,
}

#[derive(Clone, PartialEq, Message)]
struct ReportMessage {
    #[prost(message, repeated, tag = "1")]
    ran: Vec<RanMessage>,
    #[prost(uint64, tag = "2")]
    packets: u64,
    #[prost(uint64, tag = "3")]
    cpu_ns: u64,
}

impl Batch<'_> {
    /// Whether it is large enough to be sent: by what is in it, so that the search goes the same way for everybody.
    pub(super) fn is_worth_sending(&self) -> bool {
        self.cost_s() >= WORTH_SENDING_S
    }

    /// About how much CPU time it takes, s.
    #[must_use]
    pub fn cost_s(&self) -> f64 {
        self.runs.iter().map(|run| self.run_s(run)).sum()
    }

    fn run_s(&self, &(_, place): &(usize, usize)) -> f64 {
        let specimen = &self.set.specimens[place];
        let seconds = self.seconds * self.evaluator.model.duration_times(specimen);
        PACKET_S * seconds * specimen.network.packets_per_s()
    }

    /// What all units have in common, which a worker needs once.
    #[must_use]
    pub fn shared(&self) -> Vec<u8> {
        let Evaluator { model, class, others, .. } = self.evaluator;
        let others = TablesMessage::of(others.iter());
        SharedMessage { model: model.text.clone(), class: *class as u64, others }.encode_to_vec()
    }

    /// Cut for so many workers into units of at most so much CPU time, s: large ones first, and small ones at the end.
    #[must_use]
    pub fn cut(&self, workers: usize, most_s: f64) -> Vec<Unit> {
        let (mut units, mut rest, mut left_s) = (Vec::new(), &self.runs[..], self.cost_s());
        while !rest.is_empty() {
            let size_s = (SHARE_OF_REST * left_s / workers as f64).clamp(LEAST_SHARE * most_s, most_s);
            let (mut count, mut unit_s) = (0, 0.0);
            while count < rest.len() && (count == 0 || unit_s < size_s) {
                unit_s += self.run_s(&rest[count]);
                count += 1;
            }
            let (own, others) = rest.split_at(count);
            units.push(self.unit(own));
            (rest, left_s) = (others, left_s - unit_s);
        }
        units
    }

    fn unit(&self, runs: &[(usize, usize)]) -> Unit {
        let mut tables: Vec<usize> = runs.iter().map(|&(table, _)| table).collect();
        tables.dedup();
        let (first, number) = (tables[0], |place: usize| self.set.specimens[place].index);
        let message = UnitMessage {
            tables: TablesMessage::of(self.tables[first..=tables[tables.len() - 1]].iter()),
            root: self.set.seed,
            seconds: self.seconds,
            watch: self.watch,
            table_of: runs.iter().map(|&(table, _)| (table - first) as u64).collect(),
            specimen_of: runs.iter().map(|&(_, place)| number(place)).collect(),
        };
        Unit { bytes: message.encode_to_vec(), runs: runs.len() }
    }

    /// What its runs gave, in order, made by others.
    pub(super) fn run_on(&self, elsewhere: &dyn Elsewhere) -> Result<Vec<Ran>, Stopped> {
        let mut all = Vec::with_capacity(self.runs.len());
        elsewhere.run(self, &mut |bytes| {
            let report = ReportMessage::decode(bytes).expect("a report of the same program");
            let Meter { packets, runs, elsewhere_ns, .. } = self.evaluator.meter;
            packets.fetch_add(report.packets, Ordering::Relaxed);
            runs.fetch_add(report.ran.len() as u64, Ordering::Relaxed);
            elsewhere_ns.fetch_add(report.cpu_ns, Ordering::Relaxed);
            all.extend(report.ran.into_iter().map(Ran::from));
        });
        self.evaluator.go_on()?;
        if all.len() == self.runs.len() { Ok(all) } else { Err(Stopped) }
    }
}

/// Makes the runs of a unit on this process's threads, and reports on them in bytes.
///
/// # Errors
/// [`Stopped`] if `stop` is set meanwhile.
///
/// # Panics
/// If the bytes are not those of [`Batch::shared`] and [`Batch::cut`] of the same program.
pub fn run_unit(shared: &[u8], unit: &[u8], stop: &AtomicBool) -> Result<Vec<u8>, Stopped> {
    let shared = SharedMessage::decode(shared).expect("what units of the same program share");
    let unit = UnitMessage::decode(unit).expect("a unit of the same program");
    let model = Model::parse(&shared.model, "model").expect("a model that was read before");
    let (others, tables, meter) = (shared.others.tables(), unit.tables.tables(), Meter::default());
    let class = shared.class as usize;
    let evaluator = Evaluator { model: &model, class, others: &others, stop, meter: &meter, elsewhere: None };
    let most = unit.specimen_of.iter().max().map_or(0, |&number| number as usize + 1);
    let set = model.specimens(unit.root, most);
    let runs: Vec<(u64, u64)> = unit.table_of.iter().copied().zip(unit.specimen_of).collect();
    let run = |&(table, number): &(u64, u64)| {
        let (clock, table, specimen) = (ThreadTime::now(), &tables[table as usize], &set.specimens[number as usize]);
        let ran = if unit.watch {
            evaluator.run_watched(table, specimen, set.seed, unit.seconds)?
        } else {
            Ran { score: evaluator.run_alone(table, specimen, set.seed, unit.seconds)?, uses: Vec::new() }
        };
        Ok((RanMessage::from(ran), clock.elapsed().as_nanos() as u64))
    };
    let both: Vec<(RanMessage, u64)> = runs.par_iter().with_max_len(1).map(run).collect::<Result<_, _>>()?;
    let (ran, times): (Vec<_>, Vec<u64>) = both.into_iter().unzip();
    let packets = meter.packets.load(Ordering::Relaxed);
    Ok(ReportMessage { ran, packets, cpu_ns: times.iter().sum() }.encode_to_vec())
}

impl TablesMessage {
    fn of<'t>(tables: impl Iterator<Item = &'t FlatTable>) -> TablesMessage {
        let mut message = TablesMessage::default();
        for table in tables {
            let shape = table.shape_bytes();
            if message.shapes.last() != Some(&shape) {
                message.shapes.push(shape);
            }
            message.shape_of.push(message.shapes.len() as u64 - 1);
            message.actions.push(table.action_bytes());
        }
        message
    }

    fn tables(&self) -> Vec<FlatTable> {
        let shape = |bytes: &Vec<u8>| FlatTable::of_shape_bytes(bytes).expect("boxes of the same program");
        let shapes: Vec<FlatTable> = self.shapes.par_iter().map(shape).collect();
        let table = |(&shape, actions): (&u64, &Vec<u8>)| shapes[shape as usize].with_action_bytes(actions);
        let tables = self.shape_of.iter().zip(&self.actions).map(table);
        tables.collect::<Option<_>>().expect("actions of the same program")
    }
}

impl From<Ran> for RanMessage {
    fn from(Ran { score: Score { mean, starved, on }, uses }: Ran) -> Self {
        RanMessage { mean, starved, on, uses }
    }
}

impl From<RanMessage> for Ran {
    fn from(RanMessage { mean, starved, on, uses }: RanMessage) -> Self {
        Ran { score: Score { mean, starved, on }, uses }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_rules::{Action, RuleTable, Signal, first_signals};

    use super::*;

    const MODEL: &str = "[link]\nrate_mbps = { log_uniform = [1, 100] }\n[path]\nrtt_ms = 60\n[[senders]]\nname = 'a'\n\
                         count = 2\n[[senders]]\nname = 'b'\ncount = 1\n[workload]\non = { seconds = 1 }\n\
                         off = { seconds = 1 }\n[[also]]\nobjective = { delta = 3 }\nduration_times = 0.5\n";

    /// Makes the runs of so many workers, the last units first.
    struct Backwards(usize);

    impl Elsewhere for Backwards {
        fn run(&self, batch: &Batch<'_>, take: &mut dyn FnMut(&[u8])) {
            let (shared, units) = (batch.shared(), batch.cut(self.0, batch.cost_s() / 3.0));
            assert_eq!(units.iter().map(|unit| unit.runs).sum::<usize>(), batch.runs.len());
            let report = |unit: &Unit| run_unit(&shared, &unit.bytes, &AtomicBool::new(false)).unwrap();
            let mut reports: Vec<Vec<u8>> = units.iter().rev().map(report).collect();
            while let Some(report) = reports.pop() {
                take(&report);
            }
        }
    }

    fn tables() -> Vec<FlatTable> {
        let action = |intersend_ms| Action { multiple: 0.9, increment: 3, intersend_ms };
        let mut split = RuleTable::single(&Signal::ALL[..4], action(1.0));
        split.split(0, &first_signals(&[2.0, 2.0, 1.1, 2.0]), &[Signal::RttRatio]);
        let mut changed = split.clone();
        changed.set_action(1, action(2.0));
        let tables = [split, changed, RuleTable::single(&Signal::ALL[..4], action(0.3))];
        tables.iter().map(|table| FlatTable::new(table).unwrap()).collect()
    }

    #[test]
    fn what_runs_are_worth_does_not_depend_on_who_makes_them() {
        let (model, stop, tables) = (Model::parse(MODEL, "x.toml").unwrap(), AtomicBool::new(false), tables());
        let known = |table, place| (table == place).then_some(Score { mean: Some(0.5), starved: 1, on: 2 });
        // Not the first specimens of their seed, and long enough to be sent.
        let mut set = model.specimens(6, 9);
        set.specimens.drain(..3);
        let given = |elsewhere: Option<&dyn Elsewhere>| {
            let meter = Meter::default();
            let evaluator =
                Evaluator { model: &model, class: 1, others: &tables, stop: &stop, meter: &meter, elsewhere };
            let scores = evaluator.scores(&tables, &set, 3000.0, known).unwrap();
            let watched = evaluator.watched(&tables[0], &set, 9000.0).unwrap();
            assert!(watched.total_uses().iter().all(|&count| count > 0));
            let counts = [&meter.packets, &meter.runs].map(|count| count.load(Ordering::Relaxed));
            assert_eq!(meter.elsewhere_ns.load(Ordering::Relaxed) > 0, elsewhere.is_some());
            (scores, watched.scores, watched.uses, counts)
        };
        let here = given(None);
        assert_eq!(given(Some(&Backwards(1))), here);
        assert_eq!(given(Some(&Backwards(7))), here);
    }

    #[test]
    fn what_would_take_a_moment_is_not_sent() {
        let (model, stop, meter) = (Model::parse(MODEL, "x.toml").unwrap(), AtomicBool::new(false), Meter::default());
        let (tables, set) = (tables(), model.specimens(6, 2));
        let away: Option<&dyn Elsewhere> = Some(&Backwards(1));
        let evaluator =
            Evaluator { model: &model, class: 1, others: &tables, stop: &stop, meter: &meter, elsewhere: away };
        evaluator.scores(&tables, &set, 1.0, |_, _| None).unwrap();
        assert_eq!(meter.elsewhere_ns.load(Ordering::Relaxed), 0);
        assert!(meter.runs.load(Ordering::Relaxed) == 6);
    }
}
