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

/// The objective that sender number `i` is scored by: its own, or that of all.
#[must_use]
pub fn objective_of<'o>(roles: &'o [Role], i: usize, all: &'o Objective) -> &'o Objective {
    roles.get(i).and_then(|role| role.objective.as_ref()).unwrap_or(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_objective_or_that_of_all() {
        let own = Objective { delta: 10.0, ..Objective::default() };
        let roles =
            [Role { runs: Runs::Table(0), objective: Some(own) }, Role { runs: Runs::Table(1), objective: None }];
        let all = Objective::default();
        assert_eq!([0, 1, 2].map(|i| objective_of(&roles, i, &all).delta), [10.0, 1.0, 1.0]);
    }
}
