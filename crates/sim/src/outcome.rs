//! What a run gave: deliveries, delays and times on; the two throughputs that can be read from them; and what it is worth.
//!
//! All runs give this: those of rule tables in the design simulator, those of people's schemes in the transport of
//! evaluations, and the omniscient reference. So they are accounted for alike, by the authors' rule: a packet counts when
//! its ACK is back at the sender, whether that is on or off by then, and not if the run is over by then; time counts while
//! the sender is on. ([`Deliveries`] has another rule.)

use crate::network::PACKET_BYTES;
use crate::objective::{Deliveries, Objective, ThroughputBasis};
use crate::role::{self, Fared, Role, Score};

/// One sender's totals over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Packets delivered.
    pub delivered: u64,
    /// Those of them that were delivered while the sender was off.
    pub late: u64,
    /// Packets sent; where lost ones are sent again, all transmissions.
    pub sent: u64,
    /// Sum of the RTTs of delivered packets, ns.
    pub delay_ns: u64,
    /// Sum of the RTTs of the late ones, ns.
    pub late_delay_ns: u64,
    /// Time on, s.
    pub on_s: f64,
    /// Sum of dt / (senders on at the time) while on, s.
    pub share_s: f64,
    /// RTT of an empty network without the packet's own transmission, ms.
    pub min_rtt_ms: f64,
}

/// All senders of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// By sender.
    pub flows: Vec<Flow>,
    /// Packets dropped by the queue or lost on the way.
    pub lost: u64,
    /// Packets on their way when the run ended.
    pub in_flight: u64,
    /// Link rate, Mbit/s; of the slowest link, where there are several: shares are of that one.
    pub rate_mbps: f64,
}

impl Flow {
    /// Whether it was ever on.
    #[must_use]
    pub fn was_on(&self) -> bool {
        self.on_s > 0.0
    }

    /// Throughput over the time on, Mbit/s (Remy'13 §5.1); 0 if never on.
    #[must_use]
    pub fn throughput_mbps(&self) -> f64 {
        if self.was_on() { self.delivered as f64 * PACKET_BYTES * 8e-6 / self.on_s } else { 0.0 }
    }

    /// Throughput over an equal share of the link (the authors' released code); 0 if never on.
    #[must_use]
    pub fn normalised_throughput(&self, rate_mbps: f64) -> f64 {
        if self.share_s > 0.0 { self.delivered as f64 * PACKET_BYTES * 8e-6 / (self.share_s * rate_mbps) } else { 0.0 }
    }

    /// What counts of it.
    #[must_use]
    pub fn counted(&self, deliveries: Deliveries) -> Flow {
        match deliveries {
            Deliveries::All => *self,
            Deliveries::WhileOn => {
                Flow { delivered: self.delivered - self.late, delay_ns: self.delay_ns - self.late_delay_ns, ..*self }
            }
        }
    }

    /// Packets delivered over packets sent, to this power.
    fn share_delivered(&self, power: f64) -> f64 {
        if power == 0.0 { 1.0 } else { libm::pow(self.delivered as f64 / self.sent.max(1) as f64, power) }
    }

    /// Mean RTT of its delivered packets, ms; none if nothing was delivered.
    #[must_use]
    pub fn mean_rtt_ms(&self) -> Option<f64> {
        (self.delivered > 0).then(|| self.delay_ns as f64 * 1e-6 / self.delivered as f64)
    }

    /// Mean RTT over min RTT.
    #[must_use]
    pub fn delay_ratio(&self) -> Option<f64> {
        self.mean_rtt_ms().map(|d| d / self.min_rtt_ms)
    }
}

impl Outcome {
    /// A sender's throughput and delay in the units of the objective; none if it was on and received nothing.
    fn measured(&self, flow: &Flow, objective: &Objective) -> Option<(f64, f64)> {
        let counted = flow.counted(objective.deliveries);
        let (throughput, delay) = match objective.throughput {
            ThroughputBasis::Share => (counted.normalised_throughput(self.rate_mbps), counted.delay_ratio()?),
            ThroughputBasis::OnTime => (counted.throughput_mbps(), counted.mean_rtt_ms()?),
        };
        Some((throughput * flow.share_delivered(objective.loss_weight), delay))
    }

    /// How each sender fared, by its own objective or that of all.
    #[must_use]
    pub fn fared(&self, roles: &[Role], objective: &Objective) -> Vec<Fared> {
        let fared = |(i, flow): (usize, &Flow)| {
            if !flow.was_on() {
                return Fared::NeverOn;
            }
            let objective = role::objective_of(roles, i, objective);
            let utility = self.measured(flow, objective).and_then(|(t, d)| objective.utility(t, d));
            utility.map_or(Fared::Starved, Fared::Utility)
        };
        self.flows.iter().enumerate().map(fared).collect()
    }

    /// What the run is worth (see [`role::score`]).
    #[must_use]
    pub fn score(&self, roles: &[Role], objective: &Objective) -> Score {
        role::score(&self.fared(roles, objective), roles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_cost_what_the_objective_says() {
        let flow = Flow {
            delivered: 500,
            sent: 1000,
            delay_ns: 500_000_000,
            on_s: 1.0,
            share_s: 1.0,
            min_rtt_ms: 1.0,
            ..Flow::default()
        };
        let outcome = Outcome { flows: vec![flow], rate_mbps: 5.0, ..Outcome::default() };
        let score = |alpha, loss_weight| {
            let objective = Objective { alpha, delta: 0.0, loss_weight, ..Objective::default() };
            outcome.score(&[], &objective).mean.unwrap()
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
            delay_ns: 1_500_000_000,
            late_delay_ns: 1_250_000_000,
            on_s: 1.0,
            share_s: 1.0,
            min_rtt_ms: 1.0,
        };
        let late = Flow { delivered: 250, ..flow };
        let outcome = Outcome { flows: vec![flow, late], rate_mbps: 5.0, ..Outcome::default() };
        let fared = |deliveries| outcome.fared(&[], &Objective { deliveries, ..Objective::default() });
        assert_eq!(fared(Deliveries::All)[0], Fared::Utility(-libm::log2(3.0)));
        // Half of the link, and 1 ms each.
        assert_eq!(fared(Deliveries::WhileOn), [Fared::Utility(-1.0), Fared::Starved]);
    }

    #[test]
    fn who_was_on_and_received_nothing_starved() {
        let flow = Flow { on_s: 1.0, share_s: 1.0, min_rtt_ms: 1.0, sent: 7, ..Flow::default() };
        let outcome = Outcome { flows: vec![flow, Flow::default()], rate_mbps: 5.0, ..Outcome::default() };
        for throughput in [ThroughputBasis::Share, ThroughputBasis::OnTime] {
            let objective = Objective { throughput, ..Objective::default() };
            assert_eq!(outcome.fared(&[], &objective), [Fared::Starved, Fared::NeverOn]);
            assert_eq!(outcome.score(&[], &objective), Score { mean: None, starved: 1, on: 1 });
        }
    }
}
