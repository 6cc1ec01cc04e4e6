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

/// The score of a run: the mean utility of the senders that run tables, each by its own objective, and, where some run
/// AIMD, the mean utility of those added to it (Tao'14 §4.5). No roles: all senders run one table by one objective.
pub fn score(senders: usize, roles: &[Role], objective: &Objective, utility: impl Fn(usize, &Objective) -> f64) -> f64 {
    let mean = |which: &dyn Fn(&usize) -> bool| {
        let one = |i: usize| utility(i, roles.get(i).and_then(|role| role.objective.as_ref()).unwrap_or(objective));
        let count = (0..senders).filter(which).count();
        (0..senders).filter(which).map(one).sum::<f64>() / count.max(1) as f64
    };
    let is_aimd = |i: &usize| roles.get(*i).is_some_and(|role| role.runs == Runs::Aimd);
    let of_tables = mean(&|i| !is_aimd(i));
    if (0..senders).any(|i| is_aimd(&i)) { of_tables + mean(&is_aimd) } else { of_tables }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(runs: Runs, delta: Option<f64>) -> Role {
        Role { runs, objective: delta.map(|delta| Objective { delta, ..Objective::default() }) }
    }

    #[test]
    fn aimd_senders_count_as_much_as_all_others_together() {
        let roles = [role(Runs::Table(0), None), role(Runs::Table(0), None), role(Runs::Aimd, None)];
        let utility = |i: usize, _: &Objective| [-1.0, -3.0, -10.0][i];
        assert_eq!(score(3, &roles, &Objective::default(), utility), -12.0);
        assert_eq!(score(2, &roles[..2], &Objective::default(), utility), -2.0);
        assert_eq!(score(2, &[], &Objective::default(), utility), -2.0);
        assert_eq!(score(0, &[], &Objective::default(), utility), 0.0);
    }

    #[test]
    fn each_has_its_own_objective_or_that_of_all() {
        let roles = [role(Runs::Table(0), Some(10.0)), role(Runs::Table(1), None)];
        let utility = |_: usize, objective: &Objective| objective.utility(1.0, 2.0);
        assert_eq!(score(2, &roles, &Objective::default(), utility), (-10.0 - 1.0) / 2.0);
    }
}
