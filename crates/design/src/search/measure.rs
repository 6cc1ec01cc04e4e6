//! How good a table is on specimens that no candidate is chosen on, and which of two is better where both run on the same.
//!
//! That senders starve is no number that could be weighed against others: of two tables the one that starves fewer is
//! better, and where they are alike the one of the higher worth. One specimen alone does not decide that.

use std::cmp::Ordering;

use exmachina_run::scoring::{mean, starved_share};
use exmachina_run::worth::Score;
use exmachina_scenario::SpecimenSet;
use serde::{Deserialize, Serialize};

use crate::model::Model;

/// A table on the specimens of all measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Mean score on the specimens of the model itself; none where nobody received anything there.
    pub score: Option<f64>,
    /// Share of the senders that were on and received nothing, of those that were on, there.
    pub starved: f64,
}

impl Measure {
    /// From what a table is worth on each specimen.
    pub fn new(model: &Model, set: &SpecimenSet, worths: &[Score]) -> Measure {
        let own = set.specimens.iter().zip(worths).filter(|(specimen, _)| model.is_own(specimen));
        let own: Vec<Score> = own.map(|(_, score)| *score).collect();
        Measure { score: mean(&own), starved: starved_share(&own) }
    }
}

/// None is worse than any number.
pub fn by_number(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.is_some().cmp(&b.is_some()),
    }
}

/// A table on specimens that several are compared on, as the paper compares them: all count, the same for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// Senders that starved.
    pub starved: u64,
    /// Sum of what the specimens are worth.
    pub worth: f64,
}

impl Total {
    /// From what a table is worth on each specimen.
    pub fn new(worths: &[Score]) -> Total {
        let starved = worths.iter().map(|score| u64::from(score.starved)).sum();
        Total { starved, worth: worths.iter().filter_map(|score| score.mean).sum() }
    }

    /// From worse to better.
    pub fn compare(&self, other: &Total) -> Ordering {
        other.starved.cmp(&self.starved).then(self.worth.total_cmp(&other.worth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_the_mean_of_what_received_something_and_says_what_starved() {
        let text = "[link]\nrate_mbps = 8\n[path]\nrtt_ms = 60\n[senders]\ncount = 2\n[workload]\n\
                    on = { seconds = 1 }\noff = { seconds = 1 }\n";
        let model = Model::parse(text, "m.toml").unwrap();
        let set = model.specimens(1, 4);
        let measure = |starved: [u32; 4]| {
            let worths = starved.map(|starved| Score { mean: (starved < 2).then_some(-0.9), starved, on: 2 });
            Measure::new(&model, &set, &worths)
        };
        assert_eq!(measure([0, 2, 0, 0]), Measure { score: Some(-0.9), starved: 0.25 });
        assert_eq!(measure([2, 2, 2, 2]), Measure { score: None, starved: 1.0 });
    }

    #[test]
    fn totals_are_by_starved_senders_first() {
        let total = |starved, worth| Total { starved, worth };
        let ordered = [total(2, 5.0), total(1, -3.0), total(0, -70.0), total(0, -69.0)];
        assert!(ordered.is_sorted_by(|a, b| a.compare(b) == Ordering::Less));
        let worths = [Score { mean: Some(-1.0), starved: 1, on: 2 }, Score { mean: None, starved: 2, on: 2 }];
        assert_eq!(Total::new(&worths), total(3, -1.0));
    }
}
