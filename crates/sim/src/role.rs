//! Senders that are not all alike: which table each of them runs, or AIMD, and what each strives for.

use crate::objective::Objective;

/// What a sender runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The table of this class of senders.
    Table(usize),
    /// The AIMD sender of Tao'14 §4.5.
    Aimd,
}

/// What a sender is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Role {
    /// What it runs.
    pub runs: Runs,
    /// What it strives for; none: what the model says for all.
    pub objective: Option<Objective>,
}

impl Default for Role {
    fn default() -> Self {
        Role { runs: Runs::Table(0), objective: None }
    }
}

/// How a sender fared in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fared {
    /// It was never on: it counts 0 (as in the authors' code).
    NeverOn,
    /// It was on, and received nothing: it is counted, and has no part in a mean.
    Starved,
    /// It received something, which is worth this.
    Utility(f64),
}

/// What a run is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// The mean utility of the senders that did not starve; none where some starved and nobody received anything.
    pub mean: Option<f64>,
    /// Senders that were on and received nothing.
    pub starved: u32,
    /// Senders that were on.
    pub on: u32,
}

impl Score {
    /// Share of the senders that starved, of those that were on.
    #[must_use]
    pub fn starved_share(&self) -> f64 {
        f64::from(self.starved) / f64::from(self.on.max(1))
    }
}

/// The objective that sender number `i` is scored by: its own, or that of all.
#[must_use]
pub fn objective_of<'o>(roles: &'o [Role], i: usize, all: &'o Objective) -> &'o Objective {
    roles.get(i).and_then(|role| role.objective.as_ref()).unwrap_or(all)
}

/// The score of a run from how its senders fared: the mean utility of those that run tables, and, where some run AIMD, the
/// mean utility of those added to it (Tao'14 §4.5). No roles: all senders run one table.
#[must_use]
pub fn score(senders: &[Fared], roles: &[Role]) -> Score {
    let is_aimd = |i: &usize| roles.get(*i).is_some_and(|role| role.runs == Runs::Aimd);
    let count = |is: &dyn Fn(&Fared) -> bool| senders.iter().filter(|fared| is(fared)).count() as u32;
    let mean = |which: &dyn Fn(&usize) -> bool| {
        let value = |i: usize| match senders[i] {
            Fared::NeverOn => Some(0.0),
            Fared::Starved => None,
            Fared::Utility(utility) => Some(utility),
        };
        let those = || (0..senders.len()).filter(which);
        let received = those().any(|i| matches!(senders[i], Fared::Utility(_)));
        if !received && those().any(|i| senders[i] == Fared::Starved) {
            return None;
        }
        let count = those().filter_map(value).count();
        Some(those().filter_map(value).sum::<f64>() / count.max(1) as f64)
    };
    let of_tables = mean(&|i| !is_aimd(i));
    let of_all = if (0..senders.len()).any(|i| is_aimd(&i)) {
        of_tables.zip(mean(&is_aimd)).map(|(tables, aimd)| tables + aimd)
    } else {
        of_tables
    };
    let starved = count(&|fared| *fared == Fared::Starved);
    Score { mean: of_all, starved, on: count(&|fared| *fared != Fared::NeverOn) }
}

#[cfg(test)]
mod tests {
    use super::Fared::{NeverOn, Starved, Utility};
    use super::*;

    fn role(runs: Runs, delta: Option<f64>) -> Role {
        Role { runs, objective: delta.map(|delta| Objective { delta, ..Objective::default() }) }
    }

    #[test]
    fn aimd_senders_count_as_much_as_all_others_together() {
        let roles = [role(Runs::Table(0), None), role(Runs::Table(0), None), role(Runs::Aimd, None)];
        let fared = [Utility(-1.0), Utility(-3.0), Utility(-10.0)];
        assert_eq!(score(&fared, &roles).mean, Some(-12.0));
        assert_eq!(score(&fared[..2], &roles[..2]).mean, Some(-2.0));
        assert_eq!(score(&fared[..2], &[]).mean, Some(-2.0));
        assert_eq!(score(&[], &[]), Score { mean: Some(0.0), starved: 0, on: 0 });
    }

    #[test]
    fn each_has_its_own_objective_or_that_of_all() {
        let roles = [role(Runs::Table(0), Some(10.0)), role(Runs::Table(1), None)];
        let all = Objective::default();
        assert_eq!([0, 1, 2].map(|i| objective_of(&roles, i, &all).delta), [10.0, 1.0, 1.0]);
    }

    #[test]
    fn starved_senders_are_counted_and_in_no_mean() {
        let score = |fared: &[Fared]| score(fared, &[]);
        assert_eq!(score(&[Utility(-1.0), Starved]), Score { mean: Some(-1.0), starved: 1, on: 2 });
        assert_eq!(score(&[Utility(-1.0), NeverOn, Starved]), Score { mean: Some(-0.5), starved: 1, on: 2 });
        // That nobody received anything is no perfect score.
        assert_eq!(score(&[NeverOn, Starved]), Score { mean: None, starved: 1, on: 1 });
        assert_eq!(score(&[NeverOn, NeverOn]), Score { mean: Some(0.0), starved: 0, on: 0 });
        assert_eq!((score(&[Starved; 3]).starved_share(), score(&[NeverOn]).starved_share()), (1.0, 0.0));
    }

    #[test]
    fn a_side_that_starves_leaves_no_score() {
        let roles = [role(Runs::Table(0), None), role(Runs::Aimd, None)];
        for fared in [[Utility(-1.0), Starved], [Starved, Utility(-1.0)]] {
            assert_eq!(score(&fared, &roles), Score { mean: None, starved: 1, on: 2 });
        }
        // Who was never on counts 0 on either side.
        assert_eq!(score(&[Utility(-1.0), NeverOn], &roles).mean, Some(-1.0));
    }
}
