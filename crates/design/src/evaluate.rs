//! What a table is worth: runs over specimens, on all threads, summed in a fixed order.

use exmachina_rules::FlatTable;
use exmachina_sim::engine::{Engine, Seed};
use exmachina_sim::objective::Objective;
use exmachina_sim::observe::Unwatched;
use exmachina_sim::outcome::Outcome;
use exmachina_sim::scenario::{Specimen, SpecimenSet};
use exmachina_sim::scheme::{Aimd, AnyScheme, Remy};
use exmachina_sim::time::from_s;
use rayon::prelude::*;

/// What can be scored on a model's specimens.
#[derive(Clone, Debug)]
pub enum Contender {
    /// A rule table.
    Table(Box<FlatTable>),
    /// The AIMD sender of Tao'14 §4.5.
    Aimd,
}

impl Contender {
    fn scheme(&self) -> AnyScheme<'_> {
        match self {
            Contender::Table(table) => AnyScheme::Remy(Remy::new(table)),
            Contender::Aimd => AnyScheme::Aimd(Aimd::default()),
        }
    }

    /// Runs all senders of a specimen under this scheme.
    #[must_use]
    pub fn run(&self, specimen: &Specimen, root_seed: u64, duration_s: f64) -> Outcome {
        let seed = Seed { root: root_seed, specimen: specimen.index };
        let mut engine = Engine::new(&specimen.network, seed, |_| self.scheme());
        engine.run(from_s(duration_s), &mut Unwatched);
        engine.outcome()
    }
}

/// The outcome of every specimen, in order.
#[must_use]
pub fn outcomes(contender: &Contender, set: &SpecimenSet, duration_s: f64) -> Vec<Outcome> {
    set.specimens.par_iter().map(|s| contender.run(s, set.seed, duration_s)).collect()
}

/// The score of every specimen, in order.
#[must_use]
pub fn scores(contender: &Contender, set: &SpecimenSet, objective: &Objective, duration_s: f64) -> Vec<f64> {
    outcomes(contender, set, duration_s).iter().map(|o| o.score(objective)).collect()
}
