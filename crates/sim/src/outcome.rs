//! What a run gave: deliveries, delays and times on, and the two throughputs that can be read from them.

use crate::network::PACKET_BYTES;
use crate::objective::{NOTHING_RECEIVED, Objective, ThroughputBasis};
use crate::role::{self, Role};

/// One sender's totals over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Packets delivered.
    pub delivered: u64,
    /// Packets sent.
    pub sent: u64,
    /// Sum of the RTTs of delivered packets, ns.
    pub delay_ns: u64,
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
        let (throughput, delay) = match objective.throughput {
            ThroughputBasis::Share => (flow.normalised_throughput(self.rate_mbps), flow.delay_ratio()?),
            ThroughputBasis::OnTime => (flow.throughput_mbps(), flow.mean_rtt_ms()?),
        };
        Some((throughput * flow.share_delivered(objective.loss_weight), delay))
    }

    /// What the run is worth (see [`role::score`]); a sender that was never on counts 0 (as in the authors' code).
    #[must_use]
    pub fn score(&self, roles: &[Role], objective: &Objective) -> f64 {
        let utility = |i: usize, objective: &Objective| {
            let flow = &self.flows[i];
            if !flow.was_on() {
                return 0.0;
            }
            self.measured(flow, objective).map_or(NOTHING_RECEIVED, |(t, d)| objective.utility(t, d))
        };
        role::score(self.flows.len(), roles, objective, utility)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_cost_what_the_objective_says() {
        let flow = Flow { delivered: 500, sent: 1000, delay_ns: 500_000_000, on_s: 1.0, share_s: 1.0, min_rtt_ms: 1.0 };
        let outcome = Outcome { flows: vec![flow], rate_mbps: 5.0, ..Outcome::default() };
        let score = |alpha, loss_weight| {
            outcome.score(&[], &Objective { alpha, delta: 0.0, loss_weight, ..Objective::default() })
        };
        // 500 packets of 1250 bytes in a second are the whole link; half of what was sent arrived.
        assert_eq!((score(1.0, 0.0), score(1.0, 1.0), score(1.0, 2.0)), (0.0, -1.0, -2.0));
        assert_eq!((score(2.0, 0.0), score(2.0, 1.0)), (-1.0, -2.0));
    }
}
