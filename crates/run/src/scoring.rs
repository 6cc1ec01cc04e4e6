//! What a table is worth: runs over specimens, on all threads, summed in a fixed order.

use std::sync::atomic::{AtomicBool, Ordering};

use exmachina_hosts::scheme::{Aimd, Mixed};
use exmachina_net::observe::Unless;
use exmachina_net::outcome::Outcome;
use exmachina_rules::FlatTable;
use exmachina_scenario::objective::Objective;
use exmachina_scenario::{Specimen, SpecimenSet};
use rayon::prelude::*;

use crate::assignment::{Assignment, run_mixed};
use crate::worth::{Score, score};

/// What can be scored on a model's specimens.
#[derive(Clone, Debug)]
pub enum Scorable {
    /// A rule table, on all senders but those that always run AIMD.
    Table(Box<FlatTable>),
    /// A rule table for each class of senders.
    Tables(Vec<FlatTable>),
    /// The AIMD sender of Tao'14 §4.5, on all senders.
    Aimd,
}

impl Scorable {
    /// Runs all senders of a specimen under this scheme; once `stop` is set, not to the end.
    #[must_use]
    pub fn run(&self, specimen: &Specimen, root_seed: u64, duration_s: f64, stop: &AtomicBool) -> Outcome {
        // Nothing is simulated any more.
        let duration_s = if stop.load(Ordering::Relaxed) { 0.0 } else { duration_s };
        match self {
            Scorable::Table(table) => {
                Assignment::Everybody(table).run(specimen, root_seed, duration_s, &mut Unless(stop))
            }
            Scorable::Tables(tables) => {
                Assignment::Classes(tables).run(specimen, root_seed, duration_s, &mut Unless(stop))
            }
            Scorable::Aimd => {
                run_mixed(specimen, root_seed, |_| Mixed::Aimd(Aimd::default()), duration_s, &mut Unless(stop))
            }
        }
    }
}

/// The outcome of every specimen, in order. Once `stop` is set, what comes back is worth nothing.
#[must_use]
pub fn outcomes(contender: &Scorable, set: &SpecimenSet, duration_s: f64, stop: &AtomicBool) -> Vec<Outcome> {
    set.specimens.par_iter().map(|s| contender.run(s, set.seed, duration_s, stop)).collect()
}

/// The score of every specimen, in order.
#[must_use]
pub fn scores(contender: &Scorable, set: &SpecimenSet, objective: &Objective, duration_s: f64) -> Vec<Score> {
    let outcomes = outcomes(contender, set, duration_s, &AtomicBool::new(false));
    set.specimens.iter().zip(&outcomes).map(|(s, o)| score(o, &s.roles, objective)).collect()
}

/// The mean score of specimens, over those that have one: none where nobody received anything on any of them.
#[must_use]
pub fn mean(scores: &[Score]) -> Option<f64> {
    let count = scores.iter().filter(|score| score.mean.is_some()).count();
    (count > 0).then(|| scores.iter().filter_map(|score| score.mean).sum::<f64>() / count as f64)
}

/// Share of the senders that were on and received nothing, of those that were on.
#[must_use]
pub fn starved_share(scores: &[Score]) -> f64 {
    let count = |of: fn(&Score) -> u32| scores.iter().map(|score| f64::from(of(score))).sum::<f64>();
    count(|score| score.starved) / count(|score| score.on).max(1.0)
}
