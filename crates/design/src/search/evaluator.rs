//! Where candidates are compared: each table on each specimen, on all threads, answers in a fixed order.
//!
//! The simulator is called from here only, so that here is where packets are counted and where a stop is heard; and where
//! a batch is sent to others, if there are any (`batch.rs`).

use std::sync::atomic::{AtomicBool, Ordering};

use exmachina_hosts::scheme::MayFollowRules;
use exmachina_net::observe::{Observer, Unless};
use exmachina_net::packet::Packet;
use exmachina_net::time::Instant;
use exmachina_rules::FlatTable;
use exmachina_run::assignment::{Assignment, Watches};
use exmachina_run::worth::Score;
use exmachina_scenario::{Specimen, SpecimenSet};
use rayon::prelude::*;

use super::batch::{Batch, Elsewhere, Ran};
use super::measure::Measure;
use super::meter::Meter;
use crate::model::{LONGER, Model};

/// Specimens on which the progress of a search is measured; `[[also]]` has its part of them.
pub(super) const VALIDATION: usize = 16;

/// The search was asked to stop: what the step had found so far is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Runs tables on specimens.
pub struct Evaluator<'a> {
    /// What a good outcome is.
    pub model: &'a Model,
    /// The class of senders whose table is being designed.
    pub class: usize,
    /// The present tables of all classes, which senders of the other classes run; none where there is one class.
    pub others: &'a [FlatTable],
    /// Set by whoever wants the search to stop.
    pub stop: &'a AtomicBool,
    /// Counts runs.
    pub meter: &'a Meter,
    /// Who makes the runs of large batches in place of this process, if anybody does.
    pub elsewhere: Option<&'a dyn Elsewhere>,
}

/// What one table is worth, and which of its rules fired, by specimen.
pub struct Watched {
    /// Worth by specimen.
    pub scores: Vec<Score>,
    /// How often each rule fired, by specimen.
    pub uses: Vec<Vec<u32>>,
}

impl Watched {
    /// Uses of each rule over all specimens (Remy'13 §4.3).
    pub fn total_uses(&self) -> Vec<u64> {
        self.sums(|uses, rule| u64::from(uses[rule]))
    }

    /// The share of each rule in the firings of a specimen, on the mean: a slow link counts as much as a fast one, which
    /// has a hundred times the packets and one say in the score.
    pub fn shares(&self) -> Vec<f64> {
        let total = |uses: &[u32]| uses.iter().map(|&count| u64::from(count)).sum::<u64>().max(1) as f64;
        let sums: Vec<f64> = self.sums(|uses, rule| f64::from(uses[rule]) / total(uses));
        sums.into_iter().map(|sum| sum / self.uses.len() as f64).collect()
    }

    fn sums<T: std::iter::Sum>(&self, of: impl Fn(&[u32], usize) -> T) -> Vec<T> {
        let rules = self.uses.first().map_or(0, Vec::len);
        (0..rules).map(|rule| self.uses.iter().map(|uses| of(uses, rule)).sum()).collect()
    }
}

/// Counts uses of rules by the senders that are watched (all, if none are named).
struct UseCounter<'s> {
    uses: Vec<u32>,
    watched: Vec<bool>,
    stop: &'s AtomicBool,
}

impl UseCounter<'_> {
    #[inline(always)]
    fn count(&mut self, sender: usize, state: &impl MayFollowRules) {
        if let Some(remy) = state.rules().filter(|_| self.watched.get(sender).copied().unwrap_or(true)) {
            self.uses[remy.controller.rule()] += 1;
        }
    }
}

impl<E: MayFollowRules> Observer<E> for UseCounter<'_> {
    const IN_ANY_ORDER: bool = true;

    fn abandoned(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn started(&mut self, _now: Instant, sender: usize, state: &E) {
        self.count(sender, state);
    }

    #[inline(always)]
    fn acked(&mut self, _now: Instant, sender: usize, _packet: &Packet, state: &E) {
        self.count(sender, state);
    }
}

impl Evaluator<'_> {
    /// What several tables are worth: for each, by specimen. `known(table, specimen)` may name runs whose worth is known to
    /// be the given one.
    pub fn scores(
        &self,
        tables: &[FlatTable],
        set: &SpecimenSet,
        seconds: f64,
        known: impl Fn(usize, usize) -> Option<Score> + Sync,
    ) -> Result<Vec<Vec<Score>>, Stopped> {
        let count = set.specimens.len();
        if let Some(elsewhere) = self.elsewhere {
            let unknown = |&(table, specimen): &(usize, usize)| known(table, specimen).is_none();
            let runs = (0..tables.len()).flat_map(|t| (0..count).map(move |s| (t, s))).filter(unknown).collect();
            let batch = Batch { evaluator: self, tables, set, seconds, watch: false, runs };
            if batch.is_worth_sending() {
                let mut ran = batch.run_on(elsewhere)?.into_iter();
                let next = |t, s| known(t, s).unwrap_or_else(|| ran.next().expect("a result of every run").score);
                return Ok(by_table(tables.len(), count, next));
            }
        }
        let tasks = 0..tables.len() * count;
        let score = |task: usize| {
            // Neighbouring tasks are the same network under different tables: alike in length, and warm in the cache.
            let (specimen, table) = (task / tables.len(), task % tables.len());
            if let Some(score) = known(table, specimen) {
                return Ok(score);
            }
            self.run_alone(&tables[table], &set.specimens[specimen], set.seed, seconds)
        };
        self.meter.begin();
        let flat: Vec<Score> = tasks.into_par_iter().with_max_len(1).map(score).collect::<Result<_, _>>()?;
        Ok(by_table(tables.len(), count, |t, s| flat[s * tables.len() + t]))
    }

    /// How a table does on the validation specimens, which this root seed names, in runs ten times as long as those that
    /// choose it: short ones flatter what is good at starting up, and what drifts has no time to.
    pub fn measure(&self, table: &FlatTable, root: u64) -> Result<Measure, Stopped> {
        let set = self.model.specimens(root, VALIDATION.next_multiple_of(self.model.group()));
        let tables = std::slice::from_ref(table);
        let scores = self.scores(tables, &set, LONGER * self.model.design.duration_s, |_, _| None)?;
        Ok(Measure::new(self.model, &set, &scores[0]))
    }

    /// What one table is worth, and the uses of its rules.
    pub fn watched(&self, table: &FlatTable, set: &SpecimenSet, seconds: f64) -> Result<Watched, Stopped> {
        let ran = self.watched_runs(table, set, seconds)?;
        let (scores, uses) = ran.into_iter().map(|Ran { score, uses }| (score, uses)).unzip();
        Ok(Watched { scores, uses })
    }

    fn watched_runs(&self, table: &FlatTable, set: &SpecimenSet, seconds: f64) -> Result<Vec<Ran>, Stopped> {
        if let Some(elsewhere) = self.elsewhere {
            let (tables, runs) = (std::slice::from_ref(table), (0..set.specimens.len()).map(|s| (0, s)).collect());
            let batch = Batch { evaluator: self, tables, set, seconds, watch: true, runs };
            if batch.is_worth_sending() {
                return batch.run_on(elsewhere);
            }
        }
        let run = |specimen: &Specimen| self.run_watched(table, specimen, set.seed, seconds);
        self.meter.begin();
        set.specimens.par_iter().with_max_len(1).map(run).collect()
    }

    /// Says whether the search was asked to stop.
    pub fn go_on(&self) -> Result<(), Stopped> {
        if self.stop.load(Ordering::Relaxed) { Err(Stopped) } else { Ok(()) }
    }

    /// Who runs what where a table is tried.
    pub fn assignment<'t>(&'t self, table: &'t FlatTable) -> Assignment<'t> {
        Assignment::Lead { class: self.class, table, others: self.others }
    }

    /// What a table is worth on one specimen, of the set that has this root seed.
    pub(super) fn run_alone(
        &self,
        table: &FlatTable,
        specimen: &Specimen,
        root: u64,
        seconds: f64,
    ) -> Result<Score, Stopped> {
        self.run(table, specimen, root, seconds, &mut Unless(self.stop))
    }

    /// The same, and the uses of its rules.
    pub(super) fn run_watched(
        &self,
        table: &FlatTable,
        specimen: &Specimen,
        root: u64,
        seconds: f64,
    ) -> Result<Ran, Stopped> {
        let watched = self.assignment(table).watched(specimen);
        let mut counter = UseCounter { uses: vec![0; table.len()], watched, stop: self.stop };
        let score = self.run(table, specimen, root, seconds, &mut counter)?;
        Ok(Ran { score, uses: counter.uses })
    }

    fn run<'t, W>(
        &'t self,
        table: &'t FlatTable,
        specimen: &Specimen,
        root: u64,
        seconds: f64,
        observer: &mut W,
    ) -> Result<Score, Stopped>
    where
        W: Watches<'t>,
    {
        self.go_on()?;
        self.meter.run(|| {
            let seconds = seconds * self.model.duration_times(specimen);
            let outcome = self.assignment(table).run(specimen, root, seconds, observer);
            // A run that was abandoned says nothing.
            self.go_on()?;
            self.meter.packets.fetch_add(outcome.flows.iter().map(|f| f.delivered).sum(), Ordering::Relaxed);
            self.meter.runs.fetch_add(1, Ordering::Relaxed);
            Ok(self.model.worth(specimen, &outcome))
        })
    }
}

/// Scores of so many tables on so many specimens: for each table, by specimen.
fn by_table(tables: usize, specimens: usize, mut score: impl FnMut(usize, usize) -> Score) -> Vec<Vec<Score>> {
    (0..tables).map(|t| (0..specimens).map(|s| score(t, s)).collect()).collect()
}
