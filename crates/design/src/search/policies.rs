//! Beginnings that know what a congestion control is: pace by the rate at which ACKs return, faster than it while there
//! is no queue, slower where there is a long one.
//!
//! A greedy search that begins with one rule takes long to find this, if it does: each rule of such a table is worth
//! something only beside the others. A policy is the whole table, given by a dozen numbers; so few can be searched at random,
//! and the greedy search goes on from the best.

use exmachina_net::random::Stream;
use exmachina_rules::{Action, RuleTable, SIGNALS, Signal};
use serde::{Deserialize, Serialize};

use super::moves;
use crate::model::Model;

/// Numbers of a policy.
const NUMBERS: usize = 12;
/// Boxes along the rate of ACKs, at most.
const MOST_BOXES: f64 = 12.0;
/// Share of the numbers that differ between a policy and one nearby.
const CHANGED: f64 = 0.4;

/// A policy, as the places of its numbers within their ranges, 0 to 1 each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy([f64; NUMBERS]);

/// The numbers of a policy themselves.
struct Numbers {
    /// Width of a box along the time between ACKs, as a factor.
    step: f64,
    /// RTT ratios from which there is a queue, and a long one.
    queue: [f64; 2],
    /// Time between sends over time between ACKs: without a queue, with one, with a long one.
    pace: [f64; 3],
    /// Window multiple and increment likewise.
    multiple: [f64; 3],
    increment: [f64; 3],
    /// Time between sends (ms) and window increment while ACKs seem to come faster than any link sends: at the
    /// beginning of a flow, when averages that begin at 0 are still small.
    first_pace: f64,
    first_increment: f64,
}

impl Policy {
    /// Any policy.
    pub fn draw(stream: &mut Stream) -> Policy {
        Policy(std::array::from_fn(|_| stream.between(0.0, 1.0)))
    }

    /// A policy like this one; `step_size` = 1 changes some of its numbers by as much as half their ranges.
    pub fn near(&self, step_size: f64, stream: &mut Stream) -> Policy {
        Policy(self.0.map(|place| {
            let (changes, by) = (stream.between(0.0, 1.0) < CHANGED, stream.between(-0.5, 0.5));
            if changes { (place + step_size * by).clamp(0.0, 1.0) } else { place }
        }))
    }

    fn numbers(&self, fastest_ms: f64, slowest_ms: f64) -> Numbers {
        let linear = |i: usize, lo: f64, hi: f64| lo + self.0[i] * (hi - lo);
        let log = |i: usize, lo: f64, hi: f64| lo * libm::pow(hi / lo, self.0[i]);
        let queue = log(0, 0.005, 0.3);
        Numbers {
            step: log(1, 1.3, 2.5).max(libm::pow(slowest_ms / fastest_ms, 1.0 / MOST_BOXES)),
            queue: [1.0 + queue, 1.0 + queue * log(2, 1.5, 6.0)],
            pace: [linear(3, 0.4, 1.0), linear(4, 0.7, 1.3), linear(5, 0.9, 2.5)],
            multiple: [1.0, 1.0 - log(6, 0.0005, 0.1), linear(7, 0.7, 1.0)],
            increment: [log(8, 1.0, 8.0), linear(9, 0.0, 1.0), 0.0],
            first_pace: log(10, fastest_ms, slowest_ms),
            first_increment: log(11, 1.0, 64.0),
        }
    }

    /// The table that follows this policy on the networks of a model; none if the model has no signal of rate.
    pub fn table(&self, model: &Model) -> Option<RuleTable> {
        let signals = &model.design.signals;
        let rate = [Signal::AckEwma, Signal::SendEwma].into_iter().find(|s| signals.contains(s))?;
        let (fastest_ms, slowest_ms) = packet_times_ms(model);
        let policy = self.numbers(fastest_ms, slowest_ms);
        let mut edges = vec![fastest_ms];
        while edges[edges.len() - 1] < slowest_ms {
            edges.push(edges[edges.len() - 1] * policy.step);
        }
        let first = action(1.0, policy.first_increment, policy.first_pace, model);
        let mut table = RuleTable::single(signals, first);
        cut(&mut table, 0, rate, &edges);
        for (i, &edge) in edges.iter().enumerate().rev() {
            let middle = edge * libm::sqrt(policy.step);
            let queues: &[f64] = if signals.contains(&Signal::RttRatio) { &policy.queue } else { &[] };
            cut(&mut table, i + 1, Signal::RttRatio, queues);
            for level in 0..=queues.len() {
                let action =
                    action(policy.multiple[level], policy.increment[level], policy.pace[level] * middle, model);
                table.set_action(i + 1 + level, action);
            }
        }
        Some(table)
    }
}

fn action(multiple: f64, increment: f64, intersend_ms: f64, model: &Model) -> Action {
    moves::legal(Action { multiple, increment: increment.round() as i32, intersend_ms }, &model.design)
}

/// Cuts a rule at ascending places along a signal, in the middle first so that the tree stays flat.
fn cut(table: &mut RuleTable, rule: usize, signal: Signal, places: &[f64]) {
    let Some(&place) = places.get(places.len() / 2) else { return };
    let mut at = [0.0; SIGNALS];
    at[signal as usize] = place;
    table.split(rule, &at, &[signal]);
    let (below, above) = (&places[..places.len() / 2], &places[places.len() / 2 + 1..]);
    cut(table, rule + 1, signal, above);
    cut(table, rule, signal, below);
}

/// Between packets of the fastest link that is not shared, and of the slowest one that all senders share, ms.
fn packet_times_ms(model: &Model) -> (f64, f64) {
    let ((slow, fast), most) = (model.scenario.rate_extremes(), model.scenario.most_senders());
    let ms = |rate_mbps: f64| exmachina_net::network::PACKET_BYTES * 8e-3 / rate_mbps;
    // Half of all senders are on, as a rule; and a link that nobody shares leaves room for one box.
    (ms(fast), ms(slow) * (most / 2.0).max(2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(signals: &str) -> Model {
        let text = format!(
            "[link]\nrate_mbps = {{ log_uniform = [10, 100] }}\n[path]\nrtt_ms = 150\n[senders]\ncount = 2\n[workload]\n\
             on = {{ seconds = 1 }}\noff = {{ seconds = 1 }}\n[design]\nsignals = [{signals}]\n\
             intersend_ms = {{ min = 0.01, max = 30, smallest = 0.01, largest = 30, mult = 4, start = 1 }}"
        );
        Model::parse(&text, "m.toml").unwrap()
    }

    #[test]
    fn a_law_paces_by_the_acks_and_by_the_queue() {
        let model = model("'ack_ewma', 'rtt_ratio'");
        for specimen in 0..50 {
            let policy = Policy::draw(&mut Stream::new(1, specimen, 0, exmachina_net::random::Purpose::Candidates));
            let table = policy.table(&model).unwrap();
            let action = |ack_ewma: f64, rtt_ratio: f64| {
                let mut at = [0.0; SIGNALS];
                (at[Signal::AckEwma as usize], at[Signal::RttRatio as usize]) = (ack_ewma, rtt_ratio);
                table.rules().into_iter().find(|(cell, _)| cell.contains(&at)).unwrap().1
            };
            // Faster than ACKs at 100 Mbit/s come: the beginning of a flow.
            assert_eq!(table.rules()[0].1, action(0.05, 1.0));
            for ack_ewma in [0.2, 0.5, 1.0] {
                let [none, some, long] = [1.0, 1.3, 3.0].map(|ratio| action(ack_ewma, ratio));
                assert!(none.intersend_ms < long.intersend_ms, "{none:?} {long:?}");
                assert!(none.multiple == 1.0 && some.multiple <= 1.0);
                // It shrinks, and mutes nobody.
                assert_eq!(long.increment, i32::from(long.multiple < 1.0));
                assert!(action(4.0 * ack_ewma, 1.0).intersend_ms > none.intersend_ms);
            }
        }
    }

    #[test]
    fn signals_that_a_model_leaves_out_are_left_out() {
        let policy = Policy([0.5; NUMBERS]);
        let rules = policy.table(&model("'ack_ewma', 'rtt_ratio'")).unwrap().len();
        let edges = (rules - 1) / 3;
        assert_eq!(policy.table(&model("'send_ewma'")).unwrap().len(), edges + 1);
        assert_eq!(policy.table(&model("'rtt_ratio'")), None);
    }

    #[test]
    fn near_is_near() {
        let stream = &mut Stream::new(1, 2, 3, exmachina_net::random::Purpose::Candidates);
        let policy = Policy([0.5; NUMBERS]);
        let other = policy.near(0.2, stream);
        assert!(other != policy && other.0.iter().all(|place| (place - 0.5).abs() <= 0.1));
        assert!(policy.near(100.0, stream).0.iter().all(|place| (0.0..=1.0).contains(place)));
    }
}
