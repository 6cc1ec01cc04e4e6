//! What a run is worth: how each sender fared by the objective, and the mean of that.

use exmachina_net::outcome::{Flow, Outcome};
use exmachina_scenario::objective::{Deliveries, Objective, ThroughputBasis};
use exmachina_scenario::role::{Role, Runs, objective_of};

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

/// What counts of a sender's deliveries.
#[must_use]
pub fn counted(flow: &Flow, deliveries: Deliveries) -> Flow {
    match deliveries {
        Deliveries::All => *flow,
        Deliveries::WhileOn => {
            Flow { delivered: flow.delivered - flow.late, delay: flow.delay - flow.late_delay, ..*flow }
        }
    }
}

/// Packets delivered over packets sent, to this power.
fn share_delivered(flow: &Flow, power: f64) -> f64 {
    if power == 0.0 { 1.0 } else { libm::pow(flow.delivered as f64 / flow.sent.max(1) as f64, power) }
}

/// A sender's throughput and delay in the units of the objective; none if it was on and received nothing.
fn measured(flow: &Flow, rate_mbps: f64, objective: &Objective) -> Option<(f64, f64)> {
    let counted = counted(flow, objective.deliveries);
    let (throughput, delay) = match objective.throughput {
        ThroughputBasis::Share => (counted.normalised_throughput(rate_mbps), counted.delay_ratio()?),
        ThroughputBasis::OnTime => (counted.throughput_mbps(), counted.mean_rtt_ms()?),
    };
    Some((throughput * share_delivered(flow, objective.loss_weight), delay))
}

/// How each sender fared, by its own objective or that of all.
#[must_use]
pub fn fared(outcome: &Outcome, roles: &[Role], objective: &Objective) -> Vec<Fared> {
    let fared = |(i, flow): (usize, &Flow)| {
        if !flow.was_on() {
            return Fared::NeverOn;
        }
        let objective = objective_of(roles, i, objective);
        let utility = measured(flow, outcome.rate_mbps, objective).and_then(|(t, d)| objective.utility(t, d));
        utility.map_or(Fared::Starved, Fared::Utility)
    };
    outcome.flows.iter().enumerate().map(fared).collect()
}

/// What a run is worth (see [`score_of`]).
#[must_use]
pub fn score(outcome: &Outcome, roles: &[Role], objective: &Objective) -> Score {
    score_of(&fared(outcome, roles, objective), roles)
}

/// The score of a run from how its senders fared: the mean utility of those that run tables, and, where some run AIMD, the
/// mean utility of those added to it (Tao'14 §4.5). No roles: all senders run one table.
#[must_use]
pub fn score_of(senders: &[Fared], roles: &[Role]) -> Score {
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
    use exmachina_net::time::Duration;

    use super::*;

    fn role(runs: Runs, delta: Option<f64>) -> Role {
        Role { runs, objective: delta.map(|delta| Objective { delta, ..Objective::default() }) }
    }

    #[test]
    fn aimd_senders_count_as_much_as_all_others_together() {
        let roles = [role(Runs::Table(0), None), role(Runs::Table(0), None), role(Runs::Aimd, None)];
        let fared = [Utility(-1.0), Utility(-3.0), Utility(-10.0)];
        assert_eq!(score_of(&fared, &roles).mean, Some(-12.0));
        assert_eq!(score_of(&fared[..2], &roles[..2]).mean, Some(-2.0));
        assert_eq!(score_of(&fared[..2], &[]).mean, Some(-2.0));
        assert_eq!(score_of(&[], &[]), Score { mean: Some(0.0), starved: 0, on: 0 });
    }

    #[test]
    fn starved_senders_are_counted_and_in_no_mean() {
        let score_of = |fared: &[Fared]| score_of(fared, &[]);
        assert_eq!(score_of(&[Utility(-1.0), Starved]), Score { mean: Some(-1.0), starved: 1, on: 2 });
        assert_eq!(score_of(&[Utility(-1.0), NeverOn, Starved]), Score { mean: Some(-0.5), starved: 1, on: 2 });
        // That nobody received anything is no perfect score.
        assert_eq!(score_of(&[NeverOn, Starved]), Score { mean: None, starved: 1, on: 1 });
        assert_eq!(score_of(&[NeverOn, NeverOn]), Score { mean: Some(0.0), starved: 0, on: 0 });
        assert_eq!((score_of(&[Starved; 3]).starved_share(), score_of(&[NeverOn]).starved_share()), (1.0, 0.0));
    }

    #[test]
    fn a_side_that_starves_leaves_no_score() {
        let roles = [role(Runs::Table(0), None), role(Runs::Aimd, None)];
        for fared in [[Utility(-1.0), Starved], [Starved, Utility(-1.0)]] {
            assert_eq!(score_of(&fared, &roles), Score { mean: None, starved: 1, on: 2 });
        }
        // Who was never on counts 0 on either side.
        assert_eq!(score_of(&[Utility(-1.0), NeverOn], &roles).mean, Some(-1.0));
    }

    #[test]
    fn losses_cost_what_the_objective_says() {
        let flow = Flow {
            delivered: 500,
            sent: 1000,
            delay: Duration::from_millis(500),
            on_s: 1.0,
            share_s: 1.0,
            min_rtt_ms: 1.0,
            ..Flow::default()
        };
        let outcome = Outcome { flows: vec![flow], rate_mbps: 5.0, ..Outcome::default() };
        let score = |alpha, loss_weight| {
            let objective = Objective { alpha, delta: 0.0, loss_weight, ..Objective::default() };
            super::score(&outcome, &[], &objective).mean.unwrap()
        };
        // 500 packets of 1250 bytes in a second are the whole link; half of what was sent arrived.
        assert_eq!((score(1.0, 0.0), score(1.0, 1.0), score(1.0, 2.0)), (0.0, -1.0, -2.0));
        assert_eq!((score(2.0, 0.0), score(2.0, 1.0)), (-1.0, -2.0));
    }

    #[test]
    fn what_is_delivered_while_off_counts_unless_the_objective_says_otherwise() {
        let flow = Flow {
            delivered: 500,
            late: 250,
            sent: 500,
            delay: Duration::from_millis(1500),
            late_delay: Duration::from_millis(1250),
            on_s: 1.0,
            share_s: 1.0,
            min_rtt_ms: 1.0,
        };
        let late = Flow { delivered: 250, ..flow };
        let outcome = Outcome { flows: vec![flow, late], rate_mbps: 5.0, ..Outcome::default() };
        let fared = |deliveries| fared(&outcome, &[], &Objective { deliveries, ..Objective::default() });
        assert_eq!(fared(Deliveries::All)[0], Utility(-libm::log2(3.0)));
        // Half of the link, and 1 ms each.
        assert_eq!(fared(Deliveries::WhileOn), [Utility(-1.0), Starved]);
    }

    #[test]
    fn who_was_on_and_received_nothing_starved() {
        let flow = Flow { on_s: 1.0, share_s: 1.0, min_rtt_ms: 1.0, sent: 7, ..Flow::default() };
        let outcome = Outcome { flows: vec![flow, Flow::default()], rate_mbps: 5.0, ..Outcome::default() };
        for throughput in [ThroughputBasis::Share, ThroughputBasis::OnTime] {
            let objective = Objective { throughput, ..Objective::default() };
            assert_eq!(fared(&outcome, &[], &objective), [Starved, NeverOn]);
            assert_eq!(super::score(&outcome, &[], &objective), Score { mean: None, starved: 1, on: 1 });
        }
    }
}
