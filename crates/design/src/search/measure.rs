//! How good the tables of a search are on specimens that no candidate is chosen on, and which of two is better.
//!
//! That senders starve is no number that could be weighed against others: of two tables the one that starves fewer is
//! better, and where they are alike the one of the higher worth. One specimen alone does not decide that.

use std::cmp::Ordering;
use std::fmt;

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
    /// Mean worth ([`Model::worth`]) on all specimens, which the search goes by.
    worth: Option<f64>,
    /// Senders that starved, on all specimens but the one that has most of them.
    starved_elsewhere: u64,
}

impl Measure {
    /// From what a table is worth on each specimen.
    pub fn new(model: &Model, set: &SpecimenSet, worths: &[Score]) -> Measure {
        let own = set.specimens.iter().zip(worths).filter(|(specimen, _)| model.is_own(specimen));
        let own: Vec<Score> = own.map(|(_, score)| *score).collect();
        let starved = || worths.iter().map(|score| u64::from(score.starved));
        Measure {
            score: mean(&own),
            starved: starved_share(&own),
            worth: mean(worths),
            starved_elsewhere: starved().sum::<u64>() - starved().max().unwrap_or(0),
        }
    }

    /// From worse to better.
    pub fn compare(&self, other: &Measure) -> Ordering {
        let fewer = other.starved_elsewhere.cmp(&self.starved_elsewhere);
        fewer.then(by_number(self.worth, other.worth))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.worth {
            Some(worth) => write!(f, "{worth:.4}"),
            None => write!(f, "nobody received anything"),
        }
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

    const fn measure(starved_elsewhere: u64, worth: Option<f64>) -> Measure {
        Measure { score: None, starved: 0.0, worth, starved_elsewhere }
    }

    #[test]
    fn measures_are_in_one_order() {
        let ordered = [
            measure(2, Some(9.0)),
            measure(1, Some(1.0)),
            measure(0, None),
            measure(0, Some(-1e9)),
            measure(0, Some(-0.5)),
        ];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(a.compare(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn one_unlucky_specimen_does_not_decide() {
        let text = "[link]\nrate_mbps = 8\n[path]\nrtt_ms = 60\n[senders]\ncount = 2\n[workload]\n\
                    on = { seconds = 1 }\noff = { seconds = 1 }\n";
        let model = Model::parse(text, "m.toml").unwrap();
        let set = model.specimens(1, 4);
        let measure = |starved: [u32; 4], mean| {
            let worths = starved.map(|starved| Score { mean: (starved < 2).then_some(mean), starved, on: 2 });
            Measure::new(&model, &set, &worths)
        };
        let (well, unlucky) = (measure([0, 0, 0, 0], -1.0), measure([0, 2, 0, 0], -0.9));
        assert_eq!((unlucky.score, unlucky.starved), (Some(-0.9), 0.25));
        assert_eq!(unlucky.compare(&well), Ordering::Greater);
        // Twice is no bad luck, and what is dropped from the mean does not help.
        assert_eq!(measure([1, 1, 0, 0], -0.1).compare(&well), Ordering::Less);
        assert_eq!(measure([2, 2, 2, 2], 0.0).score, None);
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
