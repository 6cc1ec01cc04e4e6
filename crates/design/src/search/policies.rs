//! Whole tables, each given by a few dozen numbers: what is known of a good congestion control before anything is simulated. Pace by the rate
//! at which ACKs return, faster than it while there is no queue, slower where there is a long one; and begin boldly.
//!
//! A greedy search that begins with one rule takes long to find this, if it does: each rule of such a table is worth
//! something only beside the others. So few numbers can be searched all together (`policy_search.rs`), and the greedy search
//! goes on from the best.

use exmachina_rules::{Action, RuleTable, SIGNALS, Signal};

use super::moves;
use super::places::Places;
use crate::model::Model;

/// Numbers of a policy.
pub const NUMBERS: usize = 37;
/// Boxes along the rate of ACKs, at most.
const MOST_BOXES: f64 = 16.0;
/// Boxes of a beginning, and lengths of a queue that are told apart.
const BEGINNINGS: usize = 3;
const QUEUES: usize = 3;
/// Of these the shorter, where young flows, and fast ones, do otherwise.
const SHORT_QUEUES: usize = 2;
/// Networks that a model is looked at with.
const LOOK_AT: usize = 64;

/// A policy. Paces are times between sends over the time between ACKs; windows are in packets that the ACKs' rate has on its way.
struct Policy {
    /// Width of a box along the time between ACKs, as a factor; and where the first begins, in packet times of the fastest link.
    width: f64,
    first: f64,
    /// RTT ratio less 1 from which there is a queue, at the middle of all rates; the power of the time between ACKs that it goes with;
    /// and how many times that a long queue is.
    queue: f64,
    queue_tilt: f64,
    long_queue: f64,
    levels: [Level; QUEUES],
    young: Young,
    fast: Fast,
    begin: Beginning,
}

/// What a flow does at a length of the queue.
struct Level {
    /// Its pace, at the middle of all rates, and the power of the time between ACKs that it goes with.
    pace: f64,
    tilt: f64,
    step: Step,
    /// The window that it rests at.
    rest: f64,
}

/// What an ACK does to the window.
enum Step {
    /// So many packets are added at most; the power of the time between ACKs that this goes with.
    Packets(f64, f64),
    /// So large a share of the way to where it rests.
    Share(f64),
}

/// A flow is young while its slow average is less than so large a share of the time between ACKs; what it does otherwise, as factors.
struct Young {
    share: f64,
    paces: [f64; SHORT_QUEUES],
    growth: f64,
    rest: f64,
}

/// A flow is fast while it sends in less than so large a share of the time between ACKs; its paces as factors.
struct Fast {
    share: f64,
    paces: [f64; SHORT_QUEUES],
}

/// While ACKs seem to come faster than any link sends: at the beginning of a flow, when averages that begin at 0 are small.
struct Beginning {
    /// Where a box ends, as a share of the end of the next.
    ends: [f64; BEGINNINGS - 1],
    /// Pace and resting window, in packet times and packets of the fastest link; packets that an ACK adds at most.
    paces: [f64; BEGINNINGS],
    growth: [f64; BEGINNINGS],
    rests: [f64; BEGINNINGS],
}

impl Policy {
    fn at(places: &[f64]) -> Policy {
        let p = &mut Places::of(places);
        Policy {
            width: p.log(1.1, 2.5),
            first: p.log(0.7, 1.4),
            queue: p.log(0.001, 0.3),
            long_queue: p.log(1.5, 20.0),
            queue_tilt: p.between(-0.5, 1.0),
            levels: [
                Level {
                    pace: p.between(0.4, 1.1),
                    tilt: p.between(-0.3, 0.3),
                    step: Step::Packets(p.log(0.7, 8.0), p.between(-0.7, 0.7)),
                    rest: p.log(1.0, 1e4),
                },
                Level {
                    pace: p.between(0.7, 1.4),
                    tilt: p.between(-0.3, 0.3),
                    step: Step::Share(p.log(0.0002, 0.3)),
                    rest: p.log(0.3, 4.0),
                },
                Level {
                    pace: p.between(0.8, 2.5),
                    tilt: p.between(-0.3, 0.3),
                    step: Step::Share(p.log(0.003, 1.0)),
                    rest: p.log(0.1, 2.0),
                },
            ],
            young: Young {
                share: p.log(0.1, 1.2),
                paces: p.logs(0.4, 2.0),
                growth: p.log(0.3, 4.0),
                rest: p.log(0.2, 5.0),
            },
            fast: Fast { share: p.log(0.3, 1.3), paces: p.logs(0.6, 2.0) },
            begin: Beginning {
                ends: p.logs(0.1, 0.95),
                paces: p.logs(0.5, 100.0),
                growth: p.logs(1.0, 256.0),
                rests: p.logs(0.01, 10.0),
            },
        }
    }
}

/// The signal that says how fast ACKs return, of those that a model has; none if it has none.
pub fn rate_signal(model: &Model) -> Option<Signal> {
    [Signal::AckEwma, Signal::SendEwma].into_iter().find(|signal| model.design.signals.contains(signal))
}

/// Makes the tables of policies for a model.
pub struct Tables<'a> {
    model: &'a Model,
    rate: Signal,
    /// Between packets of the fastest link that is not shared, and of the slowest one that all senders share.
    fastest_ms: f64,
    slowest_ms: f64,
    /// The geometric mean of the RTTs.
    rtt_ms: f64,
}

impl Tables<'_> {
    /// For a model that has this signal of rate.
    pub fn of(model: &Model, rate: Signal) -> Tables<'_> {
        let ((slow, fast), most) = (model.scenario.rate_extremes(), model.scenario.most_senders());
        let ms = |rate_mbps: f64| exmachina_net::network::PACKET_BYTES * 8e-3 / rate_mbps;
        let some = model.specimens(0, LOOK_AT).specimens;
        let logs: Vec<f64> = some.iter().flat_map(|s| s.network.rtts_ms().map(libm::log)).collect();
        let rtt_ms = libm::exp(logs.iter().sum::<f64>() / logs.len() as f64);
        // All senders may be on at once; and a link that nobody shares leaves room for one box.
        Tables { model, rate, fastest_ms: ms(fast), slowest_ms: ms(slow) * most.max(2.0), rtt_ms }
    }

    /// The table of the policy with its numbers at these places.
    pub fn at(&self, places: &[f64]) -> RuleTable {
        let policy = Policy::at(places);
        let signals = &self.model.design.signals;
        let width = policy.width.max(libm::pow(self.slowest_ms / self.fastest_ms, 1.0 / MOST_BOXES));
        let mut edges = vec![self.fastest_ms * policy.first];
        while edges[edges.len() - 1] < self.slowest_ms {
            edges.push(edges[edges.len() - 1] * width);
        }
        let mut table = RuleTable::single(signals, self.first_action(&policy.begin, BEGINNINGS - 1));
        cut(&mut table, 0, self.rate, &edges);
        for (i, edge) in edges.iter().enumerate().rev() {
            self.fill(&mut table, i + 1, edge * libm::sqrt(width), &policy);
        }
        let mut end = edges[0];
        for (k, share) in policy.begin.ends.iter().enumerate().rev() {
            end *= share;
            cut(&mut table, 0, self.rate, &[end]);
            table.set_action(0, self.first_action(&policy.begin, k));
        }
        table
    }

    /// Cuts the box with this middle, in ms between ACKs, and says what is done in its parts.
    fn fill(&self, table: &mut RuleTable, rule: usize, middle: f64, policy: &Policy) {
        let with = |signal: Signal| signal != self.rate && self.model.design.signals.contains(&signal);
        let tilted = |by: f64| libm::pow(middle / libm::sqrt(self.fastest_ms * self.slowest_ms), by);
        let queue = policy.queue * tilted(policy.queue_tilt);
        let queues = [1.0 + queue, 1.0 + queue * policy.long_queue];
        let queues: &[f64] = if with(Signal::RttRatio) { &queues } else { &[] };
        cut(table, rule, Signal::RttRatio, queues);
        // The last first: what is cut moves those behind it.
        for (k, level) in policy.levels.iter().enumerate().take(queues.len() + 1).rev() {
            let pace = middle * level.pace * tilted(level.tilt);
            let act = |faster: f64, growth: f64, larger: f64| {
                let rest = level.rest * self.rtt_ms / middle * larger;
                let packets = match level.step {
                    Step::Packets(packets, tilt) => packets * tilted(tilt) * growth,
                    Step::Share(share) => rest * share,
                };
                self.action(packets, rest, pace * faster)
            };
            let mut ages = vec![(rule + k, 1.0, 1.0, 1.0)];
            if with(Signal::SlowAckEwma) && k < SHORT_QUEUES {
                let Young { share, paces, growth, rest } = policy.young;
                cut(table, rule + k, Signal::SlowAckEwma, &[middle * share]);
                ages = vec![(rule + k + 1, 1.0, 1.0, 1.0), (rule + k, paces[k], growth, rest)];
            }
            for (rule, faster, growth, larger) in ages {
                table.set_action(rule, act(faster, growth, larger));
                if with(Signal::SendEwma) && k < SHORT_QUEUES {
                    cut(table, rule, Signal::SendEwma, &[middle * policy.fast.share]);
                    table.set_action(rule, act(faster * policy.fast.paces[k], growth, larger));
                }
            }
        }
    }

    fn first_action(&self, begin: &Beginning, k: usize) -> Action {
        let rest = begin.rests[k] * self.rtt_ms / self.fastest_ms;
        self.action(begin.growth[k], rest, begin.paces[k] * self.fastest_ms)
    }

    /// An action that adds so many packets at most and rests at such a window.
    fn action(&self, packets: f64, rest: f64, intersend_ms: f64) -> Action {
        let packets = packets.round().max(1.0);
        let multiple = 1.0 - (packets / rest).min(1.0);
        moves::legal(Action { multiple, increment: packets as i32, intersend_ms }, &self.model.design)
    }
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

#[cfg(test)]
mod tests {
    use exmachina_net::random::{Purpose, Stream};
    use exmachina_rules::FlatTable;

    use super::*;
    use crate::search::clearance::clear_table;
    use crate::search::policy_search::PolicySearch;

    fn model(signals: &str) -> Model {
        let text = format!(
            "[link]\nrate_mbps = {{ log_uniform = [10, 100] }}\n[path]\nrtt_ms = 150\n[senders]\ncount = 2\n[workload]\n\
             on = {{ seconds = 1 }}\noff = {{ seconds = 1 }}\n[design]\nsignals = [{signals}]\n\
             intersend_ms = {{ min = 0.01, max = 30, smallest = 0.01, largest = 30, mult = 4, start = 1 }}"
        );
        Model::parse(&text, "m.toml").unwrap()
    }

    fn table(places: &[f64], model: &Model) -> RuleTable {
        Tables::of(model, rate_signal(model).unwrap()).at(places)
    }

    #[test]
    fn a_policy_paces_by_the_acks_and_by_the_queue() {
        let model = model("'ack_ewma', 'rtt_ratio'");
        for specimen in 0..50 {
            let stream = &mut Stream::new(1, specimen, 0, Purpose::Candidates);
            let places: Vec<f64> = (0..NUMBERS).map(|_| stream.between(-0.2, 1.2)).collect();
            let table = table(&places, &model);
            let action = |ack_ewma: f64, rtt_ratio: f64| {
                let mut at = [0.0; SIGNALS];
                (at[Signal::AckEwma as usize], at[Signal::RttRatio as usize]) = (ack_ewma, rtt_ratio);
                table.rules().into_iter().find(|(cell, _)| cell.contains(&at)).unwrap().1
            };
            assert_eq!(table.rules()[0].1, action(0.0001, 1.0), "the beginning of a flow");
            for ack_ewma in [0.2, 0.5, 1.0] {
                let long = action(ack_ewma, 30.0);
                assert!(long.multiple < 1.0 && long.increment > 0, "it rests, and mutes nobody: {long:?}");
                // Boxes are at most 2.5 wide, and tilts at most 0.3.
                assert!(action(10.0 * ack_ewma, 1.0).intersend_ms > action(ack_ewma, 1.0).intersend_ms);
            }
        }
    }

    /// Whatever the numbers, also beyond their ranges, and whatever signals, rates and senders a model has.
    #[test]
    fn every_policy_of_every_model_of_ours_is_a_sound_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/exmachina/models");
        let mut seen = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let model = Model::parse(&std::fs::read_to_string(&path).unwrap(), &path.to_string_lossy()).unwrap();
            let Some(rate) = rate_signal(&model).filter(|_| PolicySearch::suits(&model)) else { continue };
            let tables = Tables::of(&model, rate);
            for specimen in 0..20 {
                let stream = &mut Stream::new(1, specimen, 0, Purpose::Candidates);
                let places: Vec<f64> = (0..NUMBERS).map(|_| stream.between(-0.5, 1.5)).collect();
                let table = clear_table(&tables.at(&places), &model);
                assert!(table.check().is_ok() && FlatTable::new(&table).is_ok(), "{path:?} {places:?}");
                assert!(table.len() > BEGINNINGS, "{path:?}");
            }
            seen += 1;
        }
        assert!(seen >= 20, "{seen} models");
    }

    #[test]
    fn what_a_policy_says_is_what_its_table_does() {
        let model = model("'send_ewma', 'ack_ewma', 'rtt_ratio', 'slow_ack_ewma'");
        // In the middle of all ranges: paces of 0.75, 1.05 and 1.65; a young flow's are times 0.894, a fast one's 1.095.
        let table = table(&[0.5; NUMBERS], &model);
        let ms = libm::sqrt(0.12 * 2.4);
        let pace = |rtt_ratio: f64, send_ewma: f64, slow_ack_ewma: f64| {
            let mut at = [0.0; SIGNALS];
            for (signal, value) in Signal::ALL.into_iter().zip([send_ewma, ms, rtt_ratio, slow_ack_ewma]) {
                at[signal as usize] = value;
            }
            table.rules().into_iter().find(|(cell, _)| cell.contains(&at)).unwrap().1.intersend_ms
        };
        for (ratio, expected) in [(1.0, 0.75), (1.05, 1.05), (2.0, 1.65)] {
            // The time between ACKs is somewhere in its box.
            let found = pace(ratio, 9.0, 9.0) / ms;
            assert!((found / expected - 1.0).abs() < 0.3, "{ratio}: {found}");
        }
        for (send, slow, expected) in [(9.0, 0.0, 0.894), (0.0, 9.0, 1.095), (0.0, 0.0, 0.894 * 1.095)] {
            let found = pace(1.0, send, slow) / pace(1.0, 9.0, 9.0);
            assert!((found / expected - 1.0).abs() < 0.002, "{send} {slow}: {found}");
        }
    }

    #[test]
    fn signals_that_a_model_leaves_out_are_left_out() {
        let rules = |signals: &str| table(&[0.5; NUMBERS], &model(signals)).len() - BEGINNINGS;
        let boxes = rules("'send_ewma'");
        assert_eq!(rules("'ack_ewma', 'rtt_ratio'"), 3 * boxes);
        assert_eq!(rules("'ack_ewma', 'rtt_ratio', 'slow_ack_ewma'"), 5 * boxes);
        assert_eq!(rules("'ack_ewma', 'rtt_ratio', 'slow_ack_ewma', 'send_ewma'"), 9 * boxes);
        assert_eq!(rate_signal(&model("'rtt_ratio'")), None);
    }
}
